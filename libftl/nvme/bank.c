/* bank.c - the capacitor bank of a drive: health tests, and what follows from a weak one.
 *
 * A flush must carry both buffers and the tables. While the bank does, they have their full
 * size; below that both shrink in proportion; when even the smallest buffers that the FTL can work
 * with are too much, the drive stops to accept what it could not keep (power.on_weak). */
#include "core/energy.h"
#include "ftl/ftl_power.h"
#include "nvme/drive.h"

#include <string.h>

static uint64_t buffer_bytes_now(const ftl_drive *d)
{
    const struct ftl_core *c = &d->core;
    return ((uint64_t)c->buffer_allowed + c->gc.buffer_limit) << c->g.unit_shift;
}

/* `units` of a buffer that gets num / den of its size, but not less than `least`. */
static uint32_t share(uint32_t units, uint64_t num, uint64_t den, uint64_t least)
{
    __extension__ typedef unsigned __int128 u128;
    u128 n = (u128)units * num / den;
    return (uint32_t)(n < least ? least : n);
}

/* Sizes the buffers for what the last test found. */
static void fit_buffers(ftl_drive *d)
{
    struct ftl_core *c = &d->core;
    const struct ftl_config *cfg = &d->cfg;
    uint64_t full = cfg->buffer_bytes + cfg->buffer_gc_bytes;
    uint64_t fits = energy_flush_bytes(cfg, energy_usable_nj(cfg, d->bank.measured_ppm));
    uint64_t least, gc_least;

    fits = fits > cfg->power_flush_extra_bytes ? fits - cfg->power_flush_extra_bytes : 0;
    if (fits >= full)
        return;
    geometry_least_buffers(&c->g, cfg, &least, &gc_least);
    uint32_t host = (uint32_t)(cfg->buffer_bytes >> c->g.unit_shift);
    uint32_t gc = (uint32_t)(cfg->buffer_gc_bytes >> c->g.unit_shift);
    host = share(host, fits, full, least);
    gc = share(gc, fits, full, gc_least);
    /* capacitors do not grow again: a luckier reading gives nothing back */
    c->buffer_allowed = host < c->buffer_allowed ? host : c->buffer_allowed;
    c->gc.buffer_limit = gc < c->gc.buffer_limit ? gc : c->gc.buffer_limit;
    if (buffer_bytes_now(d) <= fits)
        return;
    /* host data can do without a bank, relocated data cannot: its old place is erased early */
    bool carries_gc = gc_least << c->g.unit_shift <= fits;
    d->bank.failed = true;
    if (carries_gc && strcmp(cfg->power_on_weak, "write-through") == 0)
        c->write_through = true;
    else
        c->read_only = true;
}

void bank_test(ftl_drive *d)
{
    uint64_t period = d->cfg.power_cap_test_hours * UINT64_C(3600000000000);

    if (!d->cfg.power_plp) {
        d->bank.next_test_at = FTL_NEVER;
        return;
    }
    d->bank.measured_ppm = energy_measured_ppm(&d->cfg, d->ctx.now);
    d->bank.tests++;
    d->bank.next_test_at = (d->ctx.now / period + 1) * period;
    fit_buffers(d);
}

int ftl_bank_get(const ftl_drive *d, struct ftl_bank *ret)
{
    if (d == NULL || ret == NULL)
        return FTL_EINVAL;
    *ret = (struct ftl_bank){0};
    if (!d->cfg.power_plp)
        return 0;
    const struct ftl_config *cfg = &d->cfg;
    uint64_t bytes = buffer_bytes_now(d) + cfg->power_flush_extra_bytes;

    ret->present = 1;
    ret->failed = d->bank.failed;
    ret->health_ppm = energy_health_ppm(cfg, d->ctx.now);
    ret->measured_ppm = d->bank.measured_ppm;
    ret->tests = d->bank.tests;
    ret->usable_nj = energy_usable_nj(cfg, ret->health_ppm);
    ret->flush_bytes = bytes;
    ret->flush_ns = energy_flush_ns(cfg, bytes);
    ret->need_nj = energy_need_nj(cfg, bytes, ret->flush_ns);
    ret->hold_up_ns = (uint64_t)((ftl_u128)ret->usable_nj * 1000 / cfg->power_base_mw);
    ret->margin_ppm = (uint64_t)((ftl_u128)ret->usable_nj * 1000000 /
                                 (ret->need_nj > 0 ? ret->need_nj : 1));
    ret->buffer_bytes = (uint64_t)d->core.buffer_allowed << d->core.g.unit_shift;
    ret->buffer_gc_bytes = (uint64_t)d->core.gc.buffer_limit << d->core.g.unit_shift;
    return 0;
}
