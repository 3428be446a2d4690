/* permute.h - a keyed bijection of 0..n-1 without memory: the random map. */
#ifndef WL_PERMUTE_H_
#define WL_PERMUTE_H_

#include <stdint.h>

struct wl_permute {
    uint64_t n, rows, columns;      /* rows * columns >= n, both near sqrt(n) */
    uint64_t key[4];
};

/* n is 1 to 2^62. */
void wl_permute_init(struct wl_permute *p, uint64_t n, uint64_t key);
/* index is 0..n-1. About 20 ns. */
uint64_t wl_permute_at(const struct wl_permute *p, uint64_t index);

#endif
