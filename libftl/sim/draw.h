/* draw.h - counter-based random draws: a function of (seed, purpose, count), so
 * that one more draw for one purpose never shifts another purpose's.
 *
 * Two rounds of the 64-bit finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA
 * 2014 [P]); the second keeps nearby counters of nearby purposes apart. */
#ifndef FTL_SIM_DRAW_H
#define FTL_SIM_DRAW_H

#include <stdint.h>

enum draw_purpose {
    DRAW_GC_VICTIM = 1,
    DRAW_MEMORY = 20,
    DRAW_ECC,
    DRAW_UPSET,
    DRAW_WEAR = 40,
    DRAW_CAP_TEST = 60
};

static inline uint64_t draw_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t draw_u64(uint64_t seed, uint32_t purpose, uint64_t count)
{
    uint64_t key = draw_mix(seed + purpose * UINT64_C(0x9e3779b97f4a7c15));
    return draw_mix(key ^ (count * UINT64_C(0xd1342543de82ef95) + 1));
}

/* [0, bound), bound > 0; multiply-shift, bias below bound / 2^64. */
static inline uint32_t draw_below(uint64_t draw, uint32_t bound)
{
    __extension__ typedef unsigned __int128 u128;
    return (uint32_t)(((u128)draw * bound) >> 64);
}

#endif
