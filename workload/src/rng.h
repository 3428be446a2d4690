/* rng.h - counter-based random draws: a draw depends on (seed, purpose, job) and on
 * how many came before it in its own stream, on nothing else. */
#ifndef WL_RNG_H_
#define WL_RNG_H_

#include <stdint.h>

__extension__ typedef unsigned __int128 wl_u128;

/* Each purpose is a stream of its own, so that one more draw of one kind never
 * shifts another kind. Numbers are part of the results: never reuse one. */
enum wl_purpose {
    WL_FOR_DIRECTION = 1, WL_FOR_SIZE = 2, WL_FOR_OFFSET = 3, WL_FOR_SEEK = 4, WL_FOR_RATE = 5,
    WL_FOR_DELAY = 6, WL_FOR_MAP = 7, WL_FOR_SCATTER = 8, WL_FOR_FILL = 9, WL_FOR_SELF = 10
};

struct wl_rng {
    uint64_t key, count;
};

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64 bits. */
static inline uint64_t wl_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline struct wl_rng wl_rng_make(uint64_t seed, enum wl_purpose purpose, uint64_t job)
{
    const uint64_t gamma = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t key = wl_mix64(seed + gamma);
    key = wl_mix64(key ^ ((uint64_t)purpose * gamma));
    key = wl_mix64(key ^ (job + 1) * UINT64_C(0xd1342543de82ef95));
    return (struct wl_rng){key, 0};
}

static inline uint64_t wl_rng_next(struct wl_rng *r)
{
    return wl_mix64(r->key + ++r->count * UINT64_C(0x9e3779b97f4a7c15));
}

/* 0..n-1, n > 0. The bias is below n / 2^64. */
static inline uint64_t wl_below(uint64_t draw, uint64_t n)
{
    return (uint64_t)((wl_u128)draw * n >> 64);
}

#endif
