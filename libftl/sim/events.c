#include "sim/events.h"

int sim_heap_init(struct sim_heap *h, uint32_t limit)
{
    *h = (struct sim_heap){.limit = limit};
    h->events = malloc((size_t)limit * sizeof *h->events);
    return h->events != NULL ? 0 : -1;
}

void sim_heap_free(struct sim_heap *h)
{
    free(h->events);
    h->events = NULL;
}

static inline bool before(const struct sim_event *a, const struct sim_event *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return (int32_t)(a->seq - b->seq) < 0;
}

void sim_heap_push(struct sim_heap *h, uint64_t time, uint32_t kind, uint32_t arg)
{
    if (__builtin_expect(h->count == h->limit, 0))
        abort();                    /* sized for its users at init: our fault */
    struct sim_event e = {.time = time, .seq = h->seq++, .kind = kind & 15, .arg = arg & 0xFFFFFFF};
    uint32_t i = h->count++;

    while (i > 0) {
        uint32_t parent = (i - 1) / 4;
        if (!before(&e, &h->events[parent]))
            break;
        h->events[i] = h->events[parent];
        i = parent;
    }
    h->events[i] = e;
}

struct sim_event sim_heap_pop(struct sim_heap *h)
{
    struct sim_event top = h->events[0];
    struct sim_event e = h->events[--h->count];
    uint32_t n = h->count, i = 0;

    for (uint32_t child = 1; child < n; child = i * 4 + 1) {
        uint32_t least = child, end = child + 4 < n ? child + 4 : n;
        for (uint32_t c = child + 1; c < end; c++)
            if (before(&h->events[c], &h->events[least]))
                least = c;
        if (!before(&h->events[least], &e))
            break;
        h->events[i] = h->events[least];
        i = least;
    }
    if (n > 0)
        h->events[i] = e;
    return top;
}

int sim_line_init(struct sim_line *l, uint32_t limit)
{
    uint32_t size = 1;
    while (size < limit && size < (UINT32_C(1) << 30))
        size *= 2;
    *l = (struct sim_line){.mask = size - 1};
    l->ring = malloc((size_t)size * sizeof *l->ring);
    return l->ring != NULL ? 0 : -1;
}

void sim_line_free(struct sim_line *l)
{
    free(l->ring);
    l->ring = NULL;
}
