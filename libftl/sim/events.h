/* events.h - the event queue and delay lines.
 *
 * Total order of events at one time: delay lines before the queue, lines in the
 * order the run loop lists them, entries of one line or of the queue in the order
 * they were added. A delay line is a ring for a stage whose end times never
 * decrease, which needs no queue. All memory is taken at init.
 *
 * The queue is a calendar of buckets of 256 ns over the next 4 ms, where nearly all
 * NAND operations end, and a 4-ary heap for what lies beyond. Both are looked at by each
 * pop, so where an event lies decides nothing but time spent. */
#ifndef FTL_SIM_EVENTS_H
#define FTL_SIM_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/mem.h"

#define SIM_NEVER UINT64_MAX

struct sim_event {
    uint64_t time;
    uint32_t seq;           /* order of adding, wraps: compared by difference */
    uint32_t kind : 4, arg : 28;
};

enum { SIM_BUCKET_SHIFT = 8, SIM_BUCKETS = 16384 };

struct sim_node {
    struct sim_event event;
    uint32_t next;
};

struct sim_heap {
    struct sim_event *events;       /* the heap */
    uint32_t count, limit, seq;
    struct sim_node *nodes;         /* the calendar: a sorted list per bucket */
    uint32_t *heads;                /* what an empty bucket has here means nothing */
    uint32_t node_free, node_count;
    uint64_t *bits;                 /* one per bucket: not empty */
    uint64_t base;                  /* bucket of the last pop, counted from time 0: the window's
                                     * first */
    uint64_t first;                 /* the earliest in use */
    uint64_t near;                  /* time of its first event; SIM_NEVER = none */
    uint64_t next;                  /* of both; SIM_NEVER = none */
};

/* At most limit events at once. */
int sim_heap_init(struct sim_heap *h, struct sim_mem *mem, uint32_t limit);
/* time is never before that of the last event popped. */
void sim_heap_push(struct sim_heap *h, uint64_t time, uint32_t kind, uint32_t arg);
/* The earliest; sim_heap_next() must not be SIM_NEVER. */
struct sim_event sim_heap_pop(struct sim_heap *h);

static inline uint64_t sim_heap_next(const struct sim_heap *h)
{
    return h->next;
}

struct sim_line_entry {
    uint64_t time;
    uint32_t arg;
};

struct sim_line {
    struct sim_line_entry *ring;
    uint32_t head, tail, mask;      /* tail - head entries */
    uint64_t last;                  /* time of the newest entry */
    uint64_t next;                  /* of the oldest; SIM_NEVER = none */
};

/* limit is rounded up to a power of two. */
int sim_line_init(struct sim_line *l, struct sim_mem *mem, uint32_t limit);

static inline bool sim_line_empty(const struct sim_line *l)
{
    return l->head == l->tail;
}

static inline uint64_t sim_line_next(const struct sim_line *l)
{
    return l->next;
}

static inline void sim_line_push(struct sim_line *l, uint64_t time, uint32_t arg)
{
    if (__builtin_expect(l->tail - l->head > l->mask || time < l->last, 0))
        abort();                    /* sized for its users, fed in order: our fault */
    if (l->head == l->tail)
        l->next = time;
    l->last = time;
    l->ring[l->tail++ & l->mask] = (struct sim_line_entry){time, arg};
}

static inline struct sim_line_entry sim_line_pop(struct sim_line *l)
{
    struct sim_line_entry e = l->ring[l->head++ & l->mask];
    l->next = sim_line_empty(l) ? SIM_NEVER : l->ring[l->head & l->mask].time;
    return e;
}

#endif
