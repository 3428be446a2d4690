/* permute.c - a Feistel network over rows x columns: each round adds to one half a
 * hash of the other, modulo that half's size, so every round can be undone and the
 * whole is a bijection. Values beyond n are sent through again until one is inside
 * (cycle walking): few exist, rows * columns exceeds n by less than 2 sqrt(n) + 1. */
#include "permute.h"

#include "rng.h"

static uint64_t root_above(uint64_t n)
{
    uint64_t low = 1, high = UINT64_C(1) << 31; /* 2^62 = (2^31)^2 */
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (mid * mid >= n)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

void wl_permute_init(struct wl_permute *p, uint64_t n, uint64_t key)
{
    p->n = n;
    p->columns = root_above(n);
    p->rows = (n + p->columns - 1) / p->columns;
    for (unsigned i = 0; i < 4; i++)
        p->key[i] = wl_mix64(key + (i + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

static inline uint64_t add_mod(uint64_t a, uint64_t b, uint64_t n)
{
    uint64_t sum = a + b;
    return sum >= n ? sum - n : sum;
}

static uint64_t once(const struct wl_permute *p, uint64_t index)
{
    uint64_t row = index / p->columns, column = index % p->columns;
    row = add_mod(row, wl_below(wl_mix64(column ^ p->key[0]), p->rows), p->rows);
    column = add_mod(column, wl_below(wl_mix64(row ^ p->key[1]), p->columns), p->columns);
    row = add_mod(row, wl_below(wl_mix64(column ^ p->key[2]), p->rows), p->rows);
    column = add_mod(column, wl_below(wl_mix64(row ^ p->key[3]), p->columns), p->columns);
    return row * p->columns + column;
}

uint64_t wl_permute_at(const struct wl_permute *p, uint64_t index)
{
    /* the values beyond n bound the walk: a longer one would repeat a value */
    uint64_t limit = p->rows * p->columns - p->n + 1;
    do {
        index = once(p, index);
    } while (index >= p->n && limit-- > 0);
    return index;
}
