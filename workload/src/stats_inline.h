/* stats_inline.h - the parts of stats.h that run for every access. */
#ifndef WL_STATS_INLINE_H_
#define WL_STATS_INLINE_H_

#include "rng.h"
#include "workload/stats.h"

enum { WL_BIN_BITS = 6, WL_BIN_VALUES = 1 << WL_BIN_BITS };

static inline uint32_t wl_bin_of(uint64_t ns)
{
    uint32_t top = 63u - (uint32_t)__builtin_clzll(ns | 1);
    if (top <= WL_BIN_BITS)
        return (uint32_t)ns;
    uint32_t dropped = top - WL_BIN_BITS;
    uint32_t index = ((dropped + 1) << WL_BIN_BITS) +
                     ((uint32_t)(ns >> dropped) & (WL_BIN_VALUES - 1));
    return index < WL_BINS ? index : WL_BINS - 1;
}

static inline void wl_sum_put(struct wl_sum *s, uint64_t value)
{
    wl_u128 square = (wl_u128)value * value;
    wl_u128 sum = ((wl_u128)s->sum_high << 64 | s->sum_low) + value;
    wl_u128 squares = ((wl_u128)s->squares_high << 64 | s->squares_low) + square;
    s->sum_low = (uint64_t)sum;
    s->sum_high = (uint64_t)(sum >> 64);
    s->squares_low = (uint64_t)squares;
    s->squares_high = (uint64_t)(squares >> 64);
    s->min = s->n == 0 || value < s->min ? value : s->min;
    s->max = value > s->max ? value : s->max;
    s->n++;
}

#endif
