/* fast.c - bit error rates by table and integer arithmetic.
 *
 * The state means and widths are sums of terms that each depend on one variable,
 * so one-dimensional tables are enough: wear, ln(time), dose, 1/sqrt, tail. The
 * sum over states and boundaries is the one of sense.c.
 *
 * Fixed point: voltages Q24 pitch, variances Q48, z Q20, probabilities Q56. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dist.h"
#include "dmath.h"
#include "laws.h"
#include "nand/cell.h"
#include "octave.h"

enum {
    STEPS = 256, /* table steps per factor of 2 in log2 and rsqrt */
    PE_BITS = 18,
    DOSE_BITS = 34,
    TIME_BITS = 40,
    TAIL_STEPS = 256, /* per sigma */
    TAIL_REACH = 16   /* sigma */
};

struct fast_state {   /* one state of a page under one condition */
    int64_t mu, rsig; /* Q24, 1/sigma Q20 */
};

struct nand_cell_table {
    enum nand_cell_law law;
    uint32_t states, page_types;
    uint32_t pe_max;
    uint32_t bound_count[NAND_PAGE_TYPES_MAX];
    uint8_t bound[NAND_PAGE_TYPES_MAX][NAND_BOUNDS_MAX]; /* ascending indexes */
    uint8_t bit[NAND_PAGE_TYPES_MAX][NAND_STATES_MAX];
    int64_t lo_q16[NAND_STATES_MAX];
    int64_t rho_q16, er_up_q16, fast_q16, rd_wear_q32, xt_shift_q24, xt_wide_q24, er_sigma_q24;
    int64_t couple_shift[NAND_STATES_MAX];      /* Q24, by neighbour state */
    uint64_t couple_var;                        /* Q48 */
    uint64_t tail[TAIL_STEPS * TAIL_REACH + 2]; /* Q56 */
    uint64_t rsqrt[STEPS * 4 + 2];              /* 2^20 / sqrt(i / 1024) */
    uint64_t log2[STEPS + 2];                   /* ln, Q24, of 1 + i / STEPS */
    uint64_t width[OCTAVE_SIZE(PE_BITS)];       /* Q24 */
    uint64_t loss[OCTAVE_SIZE(PE_BITS)];        /* Q32 per unit of u */
    uint64_t er_rise[OCTAVE_SIZE(PE_BITS)];     /* Q24, added to er */
    uint64_t rise[OCTAVE_SIZE(DOSE_BITS)];      /* Q24 */
    int64_t er;                                 /* Q24 */
    int64_t planar_mu[PLANAR_ROWS][8], planar_sigma[PLANAR_ROWS][8], planar_ln[PLANAR_ROWS];
    uint64_t f19_wear[OCTAVE_SIZE(PE_BITS)];    /* Q48 */
    uint64_t f19_time_pe[OCTAVE_SIZE(PE_BITS)]; /* Q48 */
    uint64_t f19_read_pe[OCTAVE_SIZE(PE_BITS)]; /* Q48 */
    uint64_t f19_time[OCTAVE_SIZE(TIME_BITS)];  /* Q16 */
    uint64_t f19_read[OCTAVE_SIZE(DOSE_BITS)];  /* Q0 */
};

static uint64_t fixed(double x, double unit)
{
    x = x * unit + 0.5;
    return x < 0 ? 0 : x > 0x1p46 ? (uint64_t)1 << 46 : (uint64_t)x;
}

static int64_t signed_fixed(double x, double unit)
{
    return x < 0 ? -(int64_t)fixed(-x, unit) : (int64_t)fixed(x, unit);
}

/* ---- building ------------------------------------------------------------------ */

static void build_common(struct nand_cell_table *t, double tail_w, double tail_kap)
{
    struct nand_cell_dist shape = {.tail_w = tail_w, .tail_kap = tail_kap};

    for (uint32_t i = 0; i < TAIL_STEPS * TAIL_REACH + 2; i++)
        t->tail[i] = (uint64_t)(nand_dist_tail(&shape, i / (double)TAIL_STEPS) * 0x1p56 + 0.5);
    for (uint32_t i = STEPS; i < STEPS * 4 + 2; i++)
        t->rsqrt[i] = fixed(1 / nandi_sqrt(i / (double)(STEPS * 4)), 0x1p20);
    for (uint32_t i = 0; i < STEPS + 2; i++)
        t->log2[i] = fixed(nandi_log(1 + i / (double)STEPS), 0x1p24);
}

static void build_map(struct nand_cell_table *t, const char *map)
{
    struct nand_cell_dist shape = {.states = t->states};

    memcpy(shape.map, map, sizeof shape.map);
    for (uint32_t type = 0; type < t->page_types; type++) {
        for (uint32_t b = 0; b + 1 < t->states; b++)
            if ((uint32_t)(map[b] - '0') == type)
                t->bound[type][t->bound_count[type]++] = (uint8_t)b;
        for (uint32_t s = 0; s < t->states; s++)
            t->bit[type][s] = (uint8_t)nand_dist_bit(&shape, s, type);
    }
}

static void build_couple(struct nand_cell_table *t, const struct nand_cell *c)
{
    double mean = 0, square = 0;

    for (uint32_t j = 0; j < c->states; j++) {
        double r = j == 0 ? 0 : j - c->er;
        mean += r / c->states;
        square += r * r / c->states;
    }
    for (uint32_t j = 0; j < c->states; j++)
        t->couple_shift[j] =
            signed_fixed(c->couple * ((j == 0 ? 0 : j - c->er) - mean), 0x1p24);
    t->couple_var = fixed(c->couple * c->couple * (square - mean * mean), 0x1p48);
}

static void build_vth(struct nand_cell_table *t, const struct nand_cell *c)
{
    for (uint32_t i = 0; i < OCTAVE_SIZE(PE_BITS); i++) {
        double p = (double)octave_x(i) / c->pe_ref;
        t->width[i] = fixed(c->s0 * (1 + c->s_wear * nandi_pow(p, 0.8)), 0x1p24);
        t->loss[i] = fixed(c->beta * (1 + c->b * nandi_pow(p, c->m)), 0x1p32);
        t->er_rise[i] = fixed(c->er_wear * nandi_sqrt(p), 0x1p24);
    }
    for (uint32_t i = 0; i < OCTAVE_SIZE(DOSE_BITS); i++) {
        double rise = c->rd_amp * nandi_pow((double)octave_x(i) / 16, c->rd_exp);
        t->rise[i] = fixed(rise > 16 ? 16 : rise, 0x1p24);
    }
    for (uint32_t i = 0; i < c->states; i++)
        t->lo_q16[i] = signed_fixed(c->lo + (1 - c->lo) * i / (c->states - 1), 0x1p16);
    t->rho_q16 = signed_fixed(c->rho, 0x1p16);
    t->er = signed_fixed(c->er, 0x1p24);
    t->er_sigma_q24 = signed_fixed(c->er_sigma, 0x1p24);
    t->er_up_q16 = signed_fixed(c->er_up, 0x1p16);
    t->fast_q16 = signed_fixed(c->fast_share, 0x1p16);
    t->rd_wear_q32 = signed_fixed(c->rd_wear / c->pe_ref, 0x1p32);
    t->xt_shift_q24 = signed_fixed(c->xt_shift, 0x1p24);
    t->xt_wide_q24 = signed_fixed(c->xt_wide, 0x1p24);
    build_couple(t, c);
}

static void build_planar(struct nand_cell_table *t)
{
    for (int r = 0; r < PLANAR_ROWS; r++) {
        t->planar_ln[r] = signed_fixed(nandi_log(nand_planar_rows[r].hours * 3600), 0x1p24);
        for (int s = 0; s < 8; s++) {
            t->planar_mu[r][s] =
                signed_fixed(nand_planar_rows[r].mu[s] / nand_planar_pitch, 0x1p24);
            t->planar_sigma[r][s] =
                signed_fixed(nand_planar_rows[r].sigma[s] / nand_planar_pitch, 0x1p24);
        }
    }
}

static void build_fast19(struct nand_cell_table *t)
{
    for (uint32_t i = 0; i < OCTAVE_SIZE(PE_BITS); i++) {
        double pe = (double)octave_x(i);
        t->f19_wear[i] = fixed(1.48e-3 + 3.90e-10 * nandi_pow(pe, 2.05), 0x1p48);
        t->f19_time_pe[i] = fixed(6.28e-5 * (pe > 0 ? nandi_pow(pe, 0.14) : 0), 0x1p48);
        t->f19_read_pe[i] = fixed(3.73e-9 * (pe > 0 ? nandi_pow(pe, 0.33) : 0), 0x1p48);
    }
    for (uint32_t i = 0; i < OCTAVE_SIZE(TIME_BITS); i++)
        t->f19_time[i] = fixed(nandi_pow((double)octave_x(i) / 86400, 0.54), 0x1p16);
    for (uint32_t i = 0; i < OCTAVE_SIZE(DOSE_BITS); i++)
        t->f19_read[i] = fixed(nandi_pow((double)octave_x(i) / 16, 1.71), 1);
}

int nand_cell_table_create(const struct nand_cell *cell, enum nand_cell_law law,
                           nand_cell_table **ret_table)
{
    struct nand_cell_table *t;

    if (!ret_table || nand_cell_check(cell, NULL, 0) != 0)
        return NAND_EINVAL;
    if (law != NAND_LAW_VTH && law != NAND_LAW_FAST19 && law != NAND_LAW_PLANAR_TLC)
        return NAND_EINVAL;
    if (law != NAND_LAW_VTH && cell->states != 8)
        return NAND_EINVAL;
    t = calloc(1, sizeof *t);
    if (!t)
        return NAND_ENOMEM;
    t->law = law;
    t->states = cell->states;
    t->pe_max = (uint32_t)cell->pe_max;
    while ((1u << t->page_types) < t->states)
        t->page_types++;
    build_map(t, cell->map);
    build_common(t, law == NAND_LAW_VTH ? cell->tail_w : 0, cell->tail_kap);
    if (law == NAND_LAW_VTH)
        build_vth(t, cell);
    else if (law == NAND_LAW_PLANAR_TLC)
        build_planar(t);
    else
        build_fast19(t);
    *ret_table = t;
    return 0;
}

void nand_cell_table_destroy(nand_cell_table *table)
{
    free(table);
}

void nand_cell_volts_q24(const struct nand_cell_volts *volts, int32_t ret_q24[NAND_BOUNDS_MAX])
{
    for (int b = 0; b < NAND_BOUNDS_MAX; b++)
        ret_q24[b] = (int32_t)signed_fixed(volts->v[b], 0x1p24);
}

/* ---- one query -------------------------------------------------------------------- */

/* ln(x), Q24, for x >= 1. */
static int64_t ln_q24(const struct nand_cell_table *t, uint64_t x)
{
    const int64_t ln2_q24 = 11629080; /* round(ln 2 * 2^24) */
    uint32_t e = 63 - (uint32_t)__builtin_clzll(x);
    uint64_t m = x << (63 - e); /* 1.63 */
    uint32_t i = (uint32_t)(m >> 55) - STEPS;
    uint64_t part = (m >> 39) & 0xffff;

    return e * ln2_q24 + (int64_t)(t->log2[i] + ((t->log2[i + 1] - t->log2[i]) * part >> 16));
}

static int64_t log_time_q24(const struct nand_cell_table *t,
                            const struct nand_cell_point *point)
{
    const uint64_t t0 = 3600, top = (uint64_t)1 << TIME_BITS;
    int64_t ln_t0 = ln_q24(t, t0);
    int64_t slow = ln_q24(t, t0 + (point->slow_s < top ? point->slow_s : top)) - ln_t0;
    int64_t fast = ln_q24(t, t0 + (point->fast_s < top ? point->fast_s : top)) - ln_t0;

    return slow + ((fast - slow) * t->fast_q16 >> 16);
}

/* 1/sigma Q20 from sigma^2 Q48 by a table over a factor of 4 and even shifts. */
static int64_t inverse_sigma(const struct nand_cell_table *t, uint64_t variance)
{
    uint32_t shift, i;
    uint64_t m, part, value;

    variance |= 1;
    shift = (uint32_t)__builtin_clzll(variance) & ~1u;
    m = variance << shift; /* m / 2^64 in [1/4, 1) */
    i = (uint32_t)(m >> 54);
    part = (m >> 38) & 0xffff;
    value = t->rsqrt[i] - ((t->rsqrt[i] - t->rsqrt[i + 1]) * part >> 16);
    /* variance / 2^48 = m / 2^64 * 2^(16 - shift) */
    return shift >= 16 ? (int64_t)(value << ((shift - 16) / 2))
                       : (int64_t)(value >> ((16 - shift) / 2));
}

static uint64_t tail_q56(const struct nand_cell_table *t, int64_t z_q20)
{
    uint64_t i = (uint64_t)z_q20 >> 12, part = (uint64_t)z_q20 & 0xfff;

    if (i >= TAIL_STEPS * TAIL_REACH)
        return 0;
    return t->tail[i] - ((t->tail[i] - t->tail[i + 1]) * part >> 12);
}

struct condition {
    int64_t loss, width, kelvin_shift, neighbor_shift;
    uint64_t wide2, neighbor_var;
    int64_t er_mu, er_sigma;
};

static void condition_vth(const struct nand_cell_table *t, const struct nand_cell_point *p,
                          struct condition *ret)
{
    uint32_t pe = p->pe < t->pe_max ? p->pe : t->pe_max;
    int64_t mk = p->read_minus_program_mk;
    mk = mk > 205000 ? 205000 : mk < -205000 ? -205000 : mk;
    int64_t wide = t->xt_wide_q24 * (mk < 0 ? -mk : mk) / 1000;
    uint64_t rise = octave_lookup(t->rise, DOSE_BITS, p->dose_q4);

    ret->loss =
        (int64_t)(octave_lookup(t->loss, PE_BITS, pe) * (uint64_t)log_time_q24(t, p) >> 32);
    ret->width = (int64_t)(octave_lookup(t->width, PE_BITS, pe) * p->width_q16 >> 16);
    ret->kelvin_shift = t->xt_shift_q24 * mk / 1000;
    ret->wide2 = (uint64_t)(wide * wide);
    ret->neighbor_shift = 0;
    ret->neighbor_var = 0;
    if (p->neighbor_state >= 0 && (uint32_t)p->neighbor_state < t->states) {
        ret->neighbor_shift = t->couple_shift[p->neighbor_state];
        ret->neighbor_var = t->couple_var;
    }
    ret->er_mu = t->er + (int64_t)octave_lookup(t->er_rise, PE_BITS, pe) +
                 (t->er_up_q16 * ret->loss >> 16) +
                 (int64_t)(rise + (rise * ((uint64_t)t->rd_wear_q32 * pe >> 16) >> 16));
    ret->er_sigma = t->er_sigma_q24 * p->width_q16 >> 16;
}

static void state_vth(const struct nand_cell_table *t, const struct condition *c, uint32_t s,
                      struct fast_state *ret)
{
    uint64_t variance;

    if (s == 0) {
        ret->mu = c->er_mu;
        variance = (uint64_t)(c->er_sigma * c->er_sigma);
    } else {
        int64_t d = c->loss * t->lo_q16[s] >> 16;
        int64_t smear = d * t->rho_q16 >> 16;
        ret->mu = ((int64_t)s << 24) - d;
        variance = (uint64_t)(c->width * c->width + smear * smear);
    }
    ret->mu += c->neighbor_shift - c->kelvin_shift;
    variance += c->wide2;
    if (c->neighbor_var) {
        uint64_t least = variance / 4;
        variance = variance > least + c->neighbor_var ? variance - c->neighbor_var : least;
    }
    ret->rsig = inverse_sigma(t, variance);
}

static void states_planar(const struct nand_cell_table *t, const struct nand_cell_point *p,
                          struct fast_state *ret)
{
    int64_t ln = ln_q24(t, p->slow_s < 3600 ? 3600 : p->slow_s);
    int row = 0;

    while (row < PLANAR_ROWS - 2 && ln > t->planar_ln[row + 1])
        row++;
    ln = ln < t->planar_ln[0] ? t->planar_ln[0] : ln;
    ln = ln > t->planar_ln[PLANAR_ROWS - 1] ? t->planar_ln[PLANAR_ROWS - 1] : ln;
    int64_t part =
        ((ln - t->planar_ln[row]) << 16) / (t->planar_ln[row + 1] - t->planar_ln[row]);
    for (int s = 0; s < 8; s++) {
        const int64_t *mu = &t->planar_mu[row][s], *sigma = &t->planar_sigma[row][s];
        int64_t width = sigma[0] + ((sigma[8] - sigma[0]) * part >> 16);
        ret[s].mu = mu[0] + ((mu[8] - mu[0]) * part >> 16);
        width = width * p->width_q16 >> 16;
        ret[s].rsig = inverse_sigma(t, (uint64_t)(width * width));
    }
}

/* Probability that a cell of this state reads wrong: alternating sums of tails away
 * from the region that holds the mean (sense.c sums the same regions). */
static uint64_t wrong_q56(const struct nand_cell_table *t, const struct fast_state *state,
                          uint32_t own, uint32_t type, const int32_t *volts)
{
    const uint8_t *bound = t->bound[type];
    uint32_t count = t->bound_count[type], above = 0;
    uint64_t escape = 0;

    while (above < count && volts[bound[above]] < state->mu)
        above++;
    for (uint32_t i = above, add = 1; i < count; i++, add ^= 1) {
        uint64_t q = tail_q56(t, (volts[bound[i]] - state->mu) * state->rsig >> 24);
        if (q == 0)
            break;
        escape = add ? escape + q : escape - q;
    }
    for (uint32_t i = above, add = 1; i > 0; i--, add ^= 1) {
        uint64_t q = tail_q56(t, (state->mu - volts[bound[i - 1]]) * state->rsig >> 24);
        if (q == 0)
            break;
        escape = add ? escape + q : escape - q;
    }
    if (escape >> 56) /* rounding, or boundaries out of order */
        escape = escape >> 63 ? 0 : (uint64_t)1 << 56;
    /* the region below the first boundary reads 1, then values alternate */
    return (1u ^ (above & 1)) == own ? escape : ((uint64_t)1 << 56) - escape;
}

static void rates_fast19(const struct nand_cell_table *t, const struct nand_cell_point *p,
                         struct nand_cell_rates *ret)
{
    const uint64_t half = (uint64_t)1 << 47;
    uint64_t pe = p->pe < t->pe_max ? p->pe : t->pe_max, product;
    uint64_t sum = octave_lookup(t->f19_wear, PE_BITS, pe);

    sum += octave_lookup(t->f19_time_pe, PE_BITS, pe) *
               octave_lookup(t->f19_time, TIME_BITS, p->slow_s) >>
           16;
    if (__builtin_mul_overflow(octave_lookup(t->f19_read_pe, PE_BITS, pe),
                               octave_lookup(t->f19_read, DOSE_BITS, p->dose_q4), &product) ||
        product > half)
        product = half;
    sum += product;
    sum = sum < half ? sum : half;
    *ret = (struct nand_cell_rates){sum, sum, sum};
}

void nand_cell_table_rates(const nand_cell_table *t, const struct nand_cell_point *point,
                           uint32_t page_type, const int32_t *volts_q24,
                           struct nand_cell_rates *ret_rates)
{
    struct fast_state states[NAND_STATES_MAX] = {{0, 0}};
    struct condition condition = {0};
    uint64_t wrong[2] = {0, 0};

    if (t->law == NAND_LAW_FAST19) {
        rates_fast19(t, point, ret_rates);
        return;
    }
    if (t->law == NAND_LAW_PLANAR_TLC)
        states_planar(t, point, states);
    else
        condition_vth(t, point, &condition);
    for (uint32_t s = 0; s < t->states; s++) {
        uint32_t own = t->bit[page_type][s];
        if (t->law == NAND_LAW_VTH)
            state_vth(t, &condition, s, &states[s]);
        wrong[own] += wrong_q56(t, &states[s], own, page_type, volts_q24);
    }
    /* half of the states carry each bit: divide by states / 2 and go to Q48 */
    ret_rates->zero_to_one_q48 = wrong[0] >> (t->page_types - 1 + 8);
    ret_rates->one_to_zero_q48 = wrong[1] >> (t->page_types - 1 + 8);
    ret_rates->rber_q48 = (wrong[0] + wrong[1]) >> (t->page_types + 8);
}
