#include "dist.h"

#include <stdlib.h>

#include "fixmath.h"

/* Ranks below FINE have a piece each; above, every octave has OCTAVE pieces: the
 * middle then stands for a piece with an error below theta^2 / (24 * OCTAVE^2). */
enum {
    FINE = 256,
    OCTAVE_LOG2 = 7,
    OCTAVE = 1 << OCTAVE_LOG2,
    PIECES_MAX = FINE + 56 * OCTAVE
};

/* Cuts 0..n-1 into pieces that grow with the rank. */
static uint32_t cut_by_rank(struct wl_piece *pieces, uint64_t n)
{
    uint32_t count = 0;
    uint64_t at = 0;
    while (at < n && count < PIECES_MAX) {
        uint64_t length = 1;
        if (at >= FINE)
            length = UINT64_C(1) << (63 - __builtin_clzll(at) - OCTAVE_LOG2);
        if (length > n - at)
            length = n - at;
        pieces[count++] = (struct wl_piece){.start = at, .length = length};
        at += length;
    }
    return count;
}

/* Weights 2^(log2w - max) * 2^48, log2w in Q32. */
static void from_logarithms(const int64_t *log2w, uint64_t *weight, uint32_t count)
{
    int64_t max = INT64_MIN;
    for (uint32_t i = 0; i < count; i++)
        max = log2w[i] > max ? log2w[i] : max;
    for (uint32_t i = 0; i < count; i++)
        weight[i] = wl_exp2_q32(log2w[i] - max, 48);
}

/* Rank k (from 1) has weight k^-theta. */
static uint32_t weigh_zipf(struct wl_piece *pieces, uint64_t *weight, int64_t *scratch,
                           uint64_t n, uint64_t theta)
{
    uint32_t count = cut_by_rank(pieces, n);
    for (uint32_t i = 0; i < count; i++) {
        const struct wl_piece *p = &pieces[i];
        uint64_t middle2 = 2 * p->start + p->length + 1; /* twice the middle of the ranks */
        uint64_t log2 = wl_log2_q32(middle2) - (UINT64_C(1) << 32);
        scratch[i] =
            (int64_t)wl_log2_q32(p->length) - (int64_t)((wl_u128)log2 * theta / 1000000);
    }
    from_logarithms(scratch, weight, count);
    return count;
}

/* A share h of the blocks takes a share 1 - h of the accesses, and so on within:
 * F(x) = x^e, e = log(1 - h) / log(h). */
static uint32_t weigh_pareto(struct wl_piece *pieces, uint64_t *weight, uint64_t n, uint64_t h)
{
    uint32_t count = cut_by_rank(pieces, n);
    uint64_t million = wl_log2_q32(1000000);
    uint64_t above = million - wl_log2_q32(1000000 - h), below = million - wl_log2_q32(h);
    uint64_t e_q32 = (uint64_t)(((wl_u128)above << 32) / (below > 0 ? below : 1));
    uint64_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t log2 = wl_log2_q32(n) - wl_log2_q32(pieces[i].start + pieces[i].length);
        wl_u128 power = (wl_u128)log2 * e_q32 >> 32;
        uint64_t f = power > (UINT64_C(64) << 32) ? 0 : wl_exp2_q32(-(int64_t)power, 58);
        weight[i] = f > last ? f - last : 0;
        last = f > last ? f : last;
    }
    return count;
}

/* Pieces of sigma / 128 within 8 sigma of the centre, clipped to the range. */
static uint32_t weigh_normal(struct wl_piece *pieces, uint64_t *weight, int64_t *scratch,
                             uint64_t n, uint64_t deviation, uint64_t centre)
{
    const uint64_t log2e_q31 = UINT64_C(3098164009); /* log2(e) * 2^31 */
    uint64_t sigma = (uint64_t)((wl_u128)n * deviation / 100000000);
    int64_t middle = (int64_t)((wl_u128)n * centre / 1000000);
    uint32_t count = 0;
    sigma = sigma > 0 ? sigma : 1;
    uint64_t step = sigma / 128 > 0 ? sigma / 128 : 1;
    int64_t at = middle - (int64_t)(step * 1024);
    for (int i = 0; i < 2048; i++, at += (int64_t)step) {
        int64_t from = at > 0 ? at : 0, to = at + (int64_t)step;
        to = to < (int64_t)n ? to : (int64_t)n;
        if (to <= from)
            continue;
        /* z^2 / 2 * log2(e), z the distance of the piece's middle in sigmas */
        uint64_t d2 = (uint64_t)(2 * middle > from + to ? 2 * middle - from - to
                                                        : from + to - 2 * middle);
        uint64_t z_q21 = (uint64_t)(((wl_u128)d2 << 20) / sigma);
        wl_u128 half_q42 = (wl_u128)z_q21 * z_q21 / 2;
        int64_t log2 = (int64_t)(half_q42 * log2e_q31 >> 41);
        pieces[count] =
            (struct wl_piece){.start = (uint64_t)from, .length = (uint64_t)(to - from)};
        scratch[count] = (int64_t)wl_log2_q32((uint64_t)(to - from)) - log2;
        count++;
    }
    from_logarithms(scratch, weight, count);
    return count;
}

/* 0 = the zones do not fit. Zones that round to nothing keep one block. */
static uint32_t weigh_zones(struct wl_piece *pieces, uint64_t *weight,
                            const struct wl_dist *spec, uint64_t n, uint64_t block_bytes)
{
    uint64_t at = 0, sizes = 0;
    for (uint32_t i = 0; i < spec->zone_count; i++) {
        uint64_t end;
        sizes += spec->zones[i].size;
        if (spec->kind == WL_DIST_ZONED_ABS)
            end = sizes / block_bytes;
        else
            end = (uint64_t)((wl_u128)n * sizes / (100 * WL_PCT));
        end = end > at ? end : at + 1;
        if (end > n)
            return 0;
        pieces[i] = (struct wl_piece){.start = at, .length = end - at};
        weight[i] = spec->zones[i].share;
        at = end;
    }
    return spec->zone_count;
}

/* Vose's alias method in integers: each column holds `mean` of weight, its own or
 * its own and one other's. */
static void build_alias(struct wl_piece *pieces, uint64_t *weight, uint32_t count,
                        uint32_t *small, uint32_t *large)
{
    uint32_t smalls = 0, larges = 0;
    wl_u128 total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += weight[i];
    /* weights are scaled by count, so that the mean is the total */
    while (total >> 62 != 0 || (total * count) >> 64 != 0) {
        total = 0;
        for (uint32_t i = 0; i < count; i++)
            total += weight[i] >>= 1;
    }
    uint64_t mean = (uint64_t)total;
    for (uint32_t i = 0; i < count; i++) {
        weight[i] *= count;
        if (weight[i] < mean)
            small[smalls++] = i;
        else
            large[larges++] = i;
    }
    while (smalls > 0 && larges > 0) {
        uint32_t s = small[--smalls], l = large[larges - 1];
        pieces[s].keep = (uint64_t)(((wl_u128)weight[s] << 64) / mean);
        pieces[s].alias = l;
        weight[l] -= mean - weight[s];
        if (weight[l] < mean) {
            larges--;
            small[smalls++] = l;
        }
    }
    while (larges > 0)
        pieces[large[--larges]].keep = UINT64_MAX;
    while (smalls > 0)
        pieces[small[--smalls]].keep = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++)
        if (pieces[i].keep == UINT64_MAX)
            pieces[i].alias = i;
}

struct work {
    struct wl_piece pieces[PIECES_MAX];
    uint64_t weight[PIECES_MAX];
    int64_t scratch[PIECES_MAX];
    uint32_t small[PIECES_MAX], large[PIECES_MAX];
};

static uint32_t weigh(struct work *w, const struct wl_dist *spec, uint64_t n,
                      uint64_t block_bytes)
{
    switch (spec->kind) {
    case WL_DIST_ZIPF:
        return weigh_zipf(w->pieces, w->weight, w->scratch, n, spec->parameter);
    case WL_DIST_PARETO:
        return weigh_pareto(w->pieces, w->weight, n, spec->parameter);
    case WL_DIST_NORMAL:
        return weigh_normal(w->pieces, w->weight, w->scratch, n, spec->parameter,
                            spec->centre == WL_NO_VALUE ? 500000 : spec->centre);
    default:
        return weigh_zones(w->pieces, w->weight, spec, n, block_bytes);
    }
}

int wl_dist_init(struct wl_dist_table *t, const struct wl_dist *spec, uint64_t n,
                 uint64_t block_bytes, uint64_t key)
{
    bool ranked = spec->kind == WL_DIST_ZIPF || spec->kind == WL_DIST_PARETO;
    struct work *w = malloc(sizeof *w);
    if (w == NULL)
        return WL_ENOMEM;
    *t = (struct wl_dist_table){.n = n};
    t->count = weigh(w, spec, n, block_bytes);
    if (t->count == 0) {
        free(w);
        return WL_EINVAL;
    }
    build_alias(w->pieces, w->weight, t->count, w->small, w->large);
    t->pieces = malloc(t->count * sizeof *t->pieces);
    if (t->pieces != NULL)
        for (uint32_t i = 0; i < t->count; i++)
            t->pieces[i] = w->pieces[i];
    free(w);
    if (t->pieces == NULL)
        return WL_ENOMEM;
    t->scatter = ranked && spec->centre == WL_NO_VALUE;
    if (t->scatter)
        wl_permute_init(&t->map, n, key);
    else if (ranked)
        t->shift = (uint64_t)((wl_u128)n * spec->centre / 1000000) % n;
    return WL_OK;
}

void wl_dist_free(struct wl_dist_table *t)
{
    free(t->pieces);
    t->pieces = NULL;
}
