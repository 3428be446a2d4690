/* dsp.c - read voltages and soft values. */
#include <string.h>

#include "dmath.h"
#include "ldpc/dsp.h"

static int clamp_mp(int64_t x)
{
    return x > LDPC_OFFSET_MAX_MP    ? LDPC_OFFSET_MAX_MP
           : x < -LDPC_OFFSET_MAX_MP ? -LDPC_OFFSET_MAX_MP
                                     : (int)x;
}

/* x / d to nearest, halves away from 0; d > 0. */
static int64_t round_div(int64_t x, int64_t d)
{
    return x >= 0 ? (x + d / 2) / d : -((-x + d / 2) / d);
}

static int shape_valid(const struct ldpc_shape *s)
{
    if (!s || !s->bounds || s->bounds > LDPC_BOUNDS_MAX)
        return 0;
    for (unsigned b = 0; b < s->bounds; b++)
        if (s->share_permille[b] > 1000)
            return 0;
    return 1;
}

int ldpc_volt_shift(const struct ldpc_shape *shape, int top_mp, struct ldpc_volt *ret)
{
    if (!shape_valid(shape) || !ret || top_mp != clamp_mp(top_mp))
        return LDPC_EINVAL;
    memset(ret, 0, sizeof *ret);
    for (unsigned b = 0; b < shape->bounds; b++)
        ret->off_mp[b] = (int16_t)round_div((int64_t)top_mp * shape->share_permille[b], 1000);
    return LDPC_OK;
}

int ldpc_retry_entry(const struct ldpc_shape *shape, uint32_t n, uint32_t step_mp_x10,
                     struct ldpc_volt *ret)
{
    if (n > 255 || step_mp_x10 > 10000)
        return LDPC_EINVAL;
    return ldpc_volt_shift(shape, clamp_mp(-round_div((int64_t)n * step_mp_x10, 10)), ret);
}

size_t ldpc_vstore_entries(uint32_t groups, uint32_t layers, uint32_t types)
{
    if (!groups || !layers || !types || layers > 65536 || types > 4 ||
        (uint64_t)groups * layers * types > 1u << 28)
        return 0;
    return (size_t)groups * layers * types;
}

static int slot(const struct ldpc_vstore *s, uint32_t g, uint32_t l, uint32_t t, size_t *ret)
{
    if (!s || !s->top_mp || g >= s->groups || l >= s->layers || t >= s->types)
        return LDPC_EINVAL;
    *ret = ((size_t)g * s->layers + l) * s->types + t;
    return LDPC_OK;
}

int ldpc_vstore_get(const struct ldpc_vstore *s, uint32_t group, uint32_t layer, uint32_t type,
                    int *ret_top_mp)
{
    size_t at;
    int err = ret_top_mp ? slot(s, group, layer, type, &at) : LDPC_EINVAL;
    if (!err)
        *ret_top_mp = s->top_mp[at];
    return err;
}

int ldpc_vstore_put(struct ldpc_vstore *s, uint32_t group, uint32_t layer, uint32_t type,
                    int top_mp)
{
    size_t at;
    int err = slot(s, group, layer, type, &at);
    if (!err)
        s->top_mp[at] = (int16_t)clamp_mp(top_mp);
    return err;
}

int ldpc_track_step(uint32_t up, uint32_t down, uint32_t gain_mp, uint32_t min_errors)
{
    int64_t all = (int64_t)up + down, gain = clamp_mp(gain_mp);
    if (!all || all < min_errors)
        return 0;
    return (int)round_div(gain * ((int64_t)down - up), all);
}

int ldpc_valley(const uint32_t *below, uint32_t count, int start_mp, uint32_t step_mp,
                int *ret_mp)
{
    int64_t h[LDPC_SWEEP_MAX], s[LDPC_SWEEP_MAX];
    if (!below || !ret_mp || count < 5 || count > LDPC_SWEEP_MAX || !step_mp || step_mp > 1000)
        return LDPC_EINVAL;
    uint32_t bins = count - 1, low = 1;
    for (uint32_t i = 0; i < bins; i++) {
        if (below[i + 1] < below[i])
            return LDPC_EINVAL;
        h[i] = below[i + 1] - below[i];
    }
    for (uint32_t i = 1; i + 1 < bins; i++) {
        s[i] = h[i - 1] + 2 * h[i] + h[i + 1];
        if (s[i] < s[low])
            low = i;
    }
    /* Bin i is centred half a step behind voltage i. Vertex of the parabola
     * through three bins: (left - right) / (2 (left - 2 mid + right)) bins. */
    int64_t at2 = (int64_t)(2 * low + 1) * step_mp, bend = 0, lean = 0;
    if (low > 1 && low + 2 < bins) {
        bend = s[low - 1] - 2 * s[low] + s[low + 1];
        lean = s[low - 1] - s[low + 1];
    }
    int64_t fine = bend > 0 ? round_div(lean * step_mp, 2 * bend) : 0;
    *ret_mp = (int)(start_mp + at2 / 2 + fine);
    return LDPC_OK;
}

/* Asymmetry of sentinel errors in 1e-4 of the cells. */
static int64_t asymmetry(uint32_t up, uint32_t down, uint32_t cells)
{
    return cells ? round_div(((int64_t)down - up) * 10000, cells) : 0;
}

void ldpc_sentinel_learn(struct ldpc_sentinel *s, uint32_t up, uint32_t down, uint32_t cells,
                         int best_mp)
{
    int64_t x = asymmetry(up, down, cells);
    s->sum_xy += x * clamp_mp(best_mp);
    s->sum_xx += x * x;
}

int ldpc_sentinel_offset(const struct ldpc_sentinel *s, uint32_t up, uint32_t down,
                         uint32_t cells)
{
    if (!s || s->sum_xx <= 0)
        return 0;
    /* slope in 2^-16: bounded because |sum_xy| < 2^47 for a million lessons */
    int64_t slope = round_div(s->sum_xy * 65536, s->sum_xx);
    return clamp_mp(round_div(slope * asymmetry(up, down, cells), 65536));
}

int ldpc_neighbour_offset(uint32_t state, uint32_t states, uint32_t coupling_permille)
{
    if (states < 2 || states > 16 || state >= states)
        return 0;
    int64_t from_mean_x2 = 2 * (int64_t)state - (states - 1); /* pitches, doubled */
    return clamp_mp(round_div(from_mean_x2 * coupling_permille, 2));
}

int ldpc_neighbour_merge(uint32_t classes, const uint8_t *const *reads,
                         const uint8_t *const *mask, size_t bytes, uint8_t *ret)
{
    if (!classes || classes > 16 || !reads || !mask || !ret)
        return LDPC_EINVAL;
    for (size_t i = 0; i < bytes; i++) {
        uint8_t seen = 0;
        for (uint32_t c = 0; c < classes; c++) {
            if (seen & mask[c][i])
                return LDPC_EINVAL;
            seen |= mask[c][i];
        }
    }
    for (size_t i = 0; i < bytes; i++) {
        uint8_t out = reads[0][i];
        for (uint32_t c = 1; c < classes; c++)
            out = (uint8_t)((out & ~mask[c][i]) | (reads[c][i] & mask[c][i]));
        ret[i] = out;
    }
    return LDPC_OK;
}

/* ln(x) * 4096 by repeated squaring of the mantissa: base-2 digits, then ln 2. */
static int64_t ln_x4096(uint64_t x)
{
    int64_t log2_q16 = 0;
    uint64_t m = x;
    while (m >= 1ull << 32) {
        m >>= 1;
        log2_q16 += 65536;
    }
    while (m < 1ull << 31) {
        m <<= 1;
        log2_q16 -= 65536;
    }
    log2_q16 += 31 * 65536;
    for (int64_t bit = 32768; bit; bit >>= 1) {
        m = m * m >> 31;
        if (m >= 1ull << 32) {
            m >>= 1;
            log2_q16 += bit;
        }
    }
    return log2_q16 * 2839 / 65536; /* 4096 ln 2 = 2839.1 */
}

int8_t ldpc_llr_count(uint32_t zeros, uint32_t ones, uint32_t scale_x16)
{
    int64_t ln = ln_x4096((uint64_t)zeros + 1) - ln_x4096((uint64_t)ones + 1);
    int64_t v = round_div(ln * scale_x16, 16 * 4096);
    return (int8_t)(v > LDPC_LLR_MAX ? LDPC_LLR_MAX : v < -LDPC_LLR_MAX ? -LDPC_LLR_MAX : v);
}

static int model_valid(const struct ldpc_valley_model *m)
{
    if (!m || m->reads < 1 || m->reads > 7 || m->bit_below > 1 ||
        m->mean_mp[0] >= m->mean_mp[1] || m->mean_mp[1] - m->mean_mp[0] > 100000)
        return 0;
    for (unsigned i = 0; i < 2; i++)
        if (m->sigma_mp[i] < 1 || m->sigma_mp[i] > 2000)
            return 0;
    for (unsigned i = 1; i < m->reads; i++)
        if (m->read_mp[i] <= m->read_mp[i - 1])
            return 0;
    return 1;
}

int ldpc_llr_model(const struct ldpc_valley_model *m, int peak, int8_t *ret_llr,
                   double (*ret_p)[2])
{
    double p[8][2], l[8], top = 1e-9;
    if (!model_valid(m) || !ret_llr || peak < 1 || peak > LDPC_LLR_MAX)
        return LDPC_EINVAL;
    for (unsigned s = 0; s < 2; s++) {
        double above = 1; /* P(cell above the region's lower edge) */
        for (unsigned r = 0; r <= m->reads; r++) {
            double next = 0;
            if (r < m->reads)
                next = ldpci_q((double)(m->read_mp[r] - m->mean_mp[s]) / m->sigma_mp[s]);
            p[r][s] = above - next;
            above = next;
        }
    }
    for (unsigned r = 0; r <= m->reads; r++) {
        l[r] = ldpci_log((p[r][0] > 1e-12 ? p[r][0] : 1e-12) /
                         (p[r][1] > 1e-12 ? p[r][1] : 1e-12));
        double a = l[r] < 0 ? -l[r] : l[r];
        top = a > top ? a : top;
    }
    for (unsigned r = 0; r <= m->reads; r++) {
        double v = l[r] / top * peak * (m->bit_below ? -1 : 1);
        ret_llr[r] = (int8_t)(v < 0 ? v - 0.5 : v + 0.5);
        if (ret_p) {
            ret_p[r][0] = p[r][0];
            ret_p[r][1] = p[r][1];
        }
    }
    return LDPC_OK;
}
