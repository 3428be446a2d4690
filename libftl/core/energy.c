#include "core/energy.h"

#include <string.h>

#include "sim/draw.h"

__extension__ typedef unsigned __int128 u128;

enum { LIFE_HOURS = 5 * 8760, LIFE_CELSIUS = 70 };

/* 2^(tenths / 10) x 65536 */
static uint64_t pow2_q16(int tenths)
{
    static const uint32_t part[10] = {65536, 70239, 75281, 80684, 86475,
                                      92682, 99334, 106464, 114105, 122295};
    int whole = tenths / 10, rest = tenths % 10;
    if (rest < 0) {
        rest += 10;
        whole--;
    }
    return whole >= 0 ? (uint64_t)part[rest] << whole : part[rest] >> -whole;
}

uint32_t energy_health_ppm(const struct ftl_config *cfg, uint64_t now_ns)
{
    const uint64_t ns_per_hour = UINT64_C(3600000000000);
    uint64_t loss_at_life = strcmp(cfg->power_cap_kind, "tantalum") == 0 ? 50000 : 300000;
    uint64_t seconds = cfg->power_cap_age_hours * 3600 + now_ns / (ns_per_hour / 3600);
    uint64_t factor = pow2_q16(LIFE_CELSIUS - (int)cfg->power_cap_celsius);
    u128 loss = (u128)loss_at_life * seconds * 65536 / ((u128)LIFE_HOURS * 3600 * factor);
    return loss < 1000000 ? (uint32_t)(1000000 - loss) : 0;
}

uint32_t energy_measured_ppm(const struct ftl_config *cfg, uint64_t now_ns)
{
    uint32_t error = (uint32_t)cfg->power_cap_test_error_ppm;
    uint64_t test = now_ns / (cfg->power_cap_test_hours * UINT64_C(3600000000000));
    uint32_t draw = draw_below(draw_u64(cfg->drive_seed, DRAW_CAP_TEST, test), 2 * error + 1);
    uint64_t share = 1000000 - error + draw;
    return (uint32_t)(energy_health_ppm(cfg, now_ns) * share / 1000000);
}

uint64_t energy_usable_nj(const struct ftl_config *cfg, uint32_t health_ppm)
{
    uint64_t square = cfg->power_cap_mv * cfg->power_cap_mv -
                      cfg->power_cap_min_mv * cfg->power_cap_min_mv;
    /* uF x mV^2 = picojoule */
    u128 pj = (u128)cfg->power_cap_uf * square / 2;
    return (uint64_t)(pj * health_ppm / 1000000 * cfg->power_cap_efficiency_ppm / 1000000 / 1000);
}

uint64_t energy_need_nj(const struct ftl_config *cfg, uint64_t bytes, uint64_t ns)
{
    /* mW x ns = picojoule */
    u128 pj = (u128)cfg->power_base_mw * ns + (u128)cfg->power_flush_pj_per_byte * bytes;
    return (uint64_t)((pj + 999) / 1000);
}

uint64_t energy_flush_ns(const struct ftl_config *cfg, uint64_t bytes)
{
    return cfg->power_detect_ns + bytes * 1000 / cfg->power_drain_mb_s;
}

uint64_t energy_flush_bytes(const struct ftl_config *cfg, uint64_t nj)
{
    uint64_t fixed = energy_need_nj(cfg, 0, cfg->power_detect_ns);
    if (nj <= fixed)
        return 0;
    /* pJ per 1000 bytes, so that slow drains keep their digits */
    u128 each = (u128)cfg->power_flush_pj_per_byte * 1000 +
                (u128)cfg->power_base_mw * 1000000 / cfg->power_drain_mb_s;
    u128 bytes = (u128)(nj - fixed) * 1000000 / (each > 0 ? each : 1);
    return bytes < UINT64_MAX / 2 ? (uint64_t)bytes : UINT64_MAX / 2;
}
