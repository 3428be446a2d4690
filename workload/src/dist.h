/* dist.h - skewed distributions as pieces of uniform ones.
 *
 * The range is cut into pieces with integer weights; a piece is drawn by the alias
 * method, then a place in it. Weights come from integer logarithms and powers, so
 * the same block is drawn on every machine. */
#ifndef WL_DIST_H_
#define WL_DIST_H_

#include "permute.h"
#include "rng.h"
#include "workload/jobs.h"

struct wl_piece {
    uint64_t start, length;
    uint64_t keep;                  /* draws below it stay here, the others go to alias */
    uint32_t alias;
};

struct wl_dist_table {
    uint64_t n;                     /* blocks drawn from */
    struct wl_piece *pieces;
    uint32_t count;
    bool scatter;                   /* ranks are spread over the range by `map` */
    uint64_t shift;                 /* else: added to a rank, modulo n */
    struct wl_permute map;
};

/* block_bytes: what zoned_abs sizes are counted in; key: of the scatter. WL_OK,
 * WL_ENOMEM, or WL_EINVAL when zones lie beyond the n blocks. */
int wl_dist_init(struct wl_dist_table *t, const struct wl_dist *spec, uint64_t n,
                 uint64_t block_bytes, uint64_t key);
void wl_dist_free(struct wl_dist_table *t);

static inline uint64_t wl_dist_draw(const struct wl_dist_table *t, struct wl_rng *rng)
{
    wl_u128 wide = (wl_u128)wl_rng_next(rng) * t->count;
    const struct wl_piece *p = &t->pieces[(uint32_t)(wide >> 64)];
    if ((uint64_t)wide >= p->keep)
        p = &t->pieces[p->alias];
    uint64_t rank = p->start + wl_below(wl_rng_next(rng), p->length);
    if (t->scatter)
        return wl_permute_at(&t->map, rank);
    rank += t->shift;
    return rank >= t->n ? rank - t->n : rank;
}

#endif
