/* heap.h - timers: a binary heap of (time, id), one timer for each id. Equal times
 * run in order of id, so the order is total. */
#ifndef WL_HEAP_H_
#define WL_HEAP_H_

#include <stdint.h>

struct wl_heap {
    uint64_t *time;                 /* by id; UINT64_MAX = off */
    uint32_t *order;                /* heap of ids */
    uint32_t *place;                /* by id: index in order */
    uint32_t count;
};

/* All timers off. 0, or -1 on lack of memory. */
int wl_heap_init(struct wl_heap *h, uint32_t count);
void wl_heap_free(struct wl_heap *h);
void wl_heap_set(struct wl_heap *h, uint32_t id, uint64_t time);    /* O(log count) */

static inline uint64_t wl_heap_time(const struct wl_heap *h)
{
    return h->time[h->order[0]];
}

static inline uint32_t wl_heap_first(const struct wl_heap *h)
{
    return h->order[0];
}

#endif
