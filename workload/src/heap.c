#include "heap.h"

#include <stdbool.h>
#include <stdlib.h>

int wl_heap_init(struct wl_heap *h, uint32_t count)
{
    h->count = count;
    h->time = malloc(count * sizeof *h->time);
    h->order = malloc(count * sizeof *h->order);
    h->place = malloc(count * sizeof *h->place);
    if (h->time == NULL || h->order == NULL || h->place == NULL) {
        wl_heap_free(h);
        return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        h->time[i] = UINT64_MAX;
        h->order[i] = h->place[i] = i;
    }
    return 0;
}

void wl_heap_free(struct wl_heap *h)
{
    free(h->time);
    free(h->order);
    free(h->place);
    *h = (struct wl_heap){0};
}

static bool before(const struct wl_heap *h, uint32_t a, uint32_t b)
{
    return h->time[a] != h->time[b] ? h->time[a] < h->time[b] : a < b;
}

static void put(struct wl_heap *h, uint32_t at, uint32_t id)
{
    h->order[at] = id;
    h->place[id] = at;
}

static uint32_t rise(struct wl_heap *h, uint32_t at, uint32_t id)
{
    while (at > 0 && before(h, id, h->order[(at - 1) / 2])) {
        put(h, at, h->order[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    return at;
}

static uint32_t sink(struct wl_heap *h, uint32_t at, uint32_t id)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= h->count)
            return at;
        if (child + 1 < h->count && before(h, h->order[child + 1], h->order[child]))
            child++;
        if (!before(h, h->order[child], id))
            return at;
        put(h, at, h->order[child]);
        at = child;
    }
}

void wl_heap_set(struct wl_heap *h, uint32_t id, uint64_t time)
{
    if (h->time[id] == time)
        return;
    h->time[id] = time;
    put(h, sink(h, rise(h, h->place[id], id), id), id);
}
