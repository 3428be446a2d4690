#include "sim/events.h"

#define NO_NODE UINT32_MAX
enum { WORDS = SIM_BUCKETS / 64, BUCKET_MASK = SIM_BUCKETS - 1 };

int sim_heap_init(struct sim_heap *h, struct sim_mem *mem, uint32_t limit)
{
    *h = (struct sim_heap){.limit = limit, .near = SIM_NEVER, .next = SIM_NEVER};
    if (SIM_TAKE_RAW(mem, h->events, limit) < 0 || SIM_TAKE_RAW(mem, h->nodes, limit) < 0 ||
        SIM_TAKE_RAW(mem, h->heads, SIM_BUCKETS) < 0 || SIM_TAKE(mem, h->bits, WORDS) < 0)
        return -1;
    for (uint32_t i = 0; i < limit; i++)
        h->nodes[i].next = i + 1;
    return 0;
}

static inline bool before(const struct sim_event *a, const struct sim_event *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return (int32_t)(a->seq - b->seq) < 0;
}

/* ---- far: the heap ---------------------------------------------------------- */

static void far_push(struct sim_heap *h, struct sim_event e)
{
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

static struct sim_event far_pop(struct sim_heap *h)
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

/* ---- near: the calendar ------------------------------------------------------- */

/* Into its bucket's list, behind all that are not later: the newest of equals. */
static inline void near_push(struct sim_heap *h, uint64_t bucket, struct sim_event e)
{
    struct sim_node *nodes = h->nodes;
    uint32_t slot = (uint32_t)bucket & BUCKET_MASK, node = h->node_free;
    uint32_t *link = &h->heads[slot];
    uint64_t bit = UINT64_C(1) << (slot % 64);

    uint32_t behind = NO_NODE;

    h->node_free = nodes[node].next;
    if (h->bits[slot / 64] & bit) {     /* else its head need not be read: it may be far away */
        while (*link != NO_NODE && nodes[*link].event.time <= e.time)
            link = &nodes[*link].next;
        behind = *link;
    }
    h->bits[slot / 64] |= bit;
    nodes[node] = (struct sim_node){.event = e, .next = behind};
    *link = node;
    h->node_count++;
    if (e.time < h->near) {
        h->near = e.time;
        h->first = bucket;
        if (e.time < h->next)
            h->next = e.time;
    }
}

/* The next bucket in use from `first` on, at most once around: node_count says that there is
 * one. The time of its first event. */
static inline uint64_t near_search(struct sim_heap *h)
{
    uint32_t slot = (uint32_t)h->first & BUCKET_MASK, word = slot / 64;
    uint64_t bits = h->bits[word] >> (slot % 64) << (slot % 64);

    for (uint32_t i = 0; bits == 0; i++) {
        if (i == WORDS)
            abort();
        word = (word + 1) % WORDS;
        bits = h->bits[word];
    }
    uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(bits);
    h->first += (found - slot) & BUCKET_MASK;
    return h->nodes[h->heads[found]].event.time;
}

static inline struct sim_event near_pop(struct sim_heap *h)
{
    uint32_t slot = (uint32_t)h->first & BUCKET_MASK, node = h->heads[slot];
    struct sim_node n = h->nodes[node];

    h->heads[slot] = n.next;
    h->nodes[node].next = h->node_free;
    h->node_free = node;
    h->node_count--;
    if (n.next != NO_NODE) {
        h->near = h->nodes[n.next].event.time;
    } else {
        h->bits[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
        h->near = h->node_count != 0 ? near_search(h) : SIM_NEVER;
    }
    return n.event;
}

void sim_heap_push(struct sim_heap *h, uint64_t time, uint32_t kind, uint32_t arg)
{
    struct sim_event e = {.time = time, .seq = h->seq++, .kind = kind & 15, .arg = arg & 0xFFFFFFF};
    uint64_t bucket = time >> SIM_BUCKET_SHIFT;
    bool near = bucket - h->base < SIM_BUCKETS;

    if (__builtin_expect((near ? h->node_free : h->count) == h->limit, 0))
        abort();                    /* sized for its users at init: our fault */
    if (near) {
        near_push(h, bucket, e);
        return;
    }
    far_push(h, e);
    h->next = h->near < h->events[0].time ? h->near : h->events[0].time;
}

struct sim_event sim_heap_pop(struct sim_heap *h)
{
    struct sim_event e;
    bool far = h->count != 0 &&
               (h->near == SIM_NEVER ||
                before(&h->events[0], &h->nodes[h->heads[h->first & BUCKET_MASK]].event));

    e = far ? far_pop(h) : near_pop(h);
    h->base = e.time >> SIM_BUCKET_SHIFT;
    h->next = h->near;
    if (h->count != 0 && h->events[0].time < h->next)
        h->next = h->events[0].time;
    return e;
}

int sim_line_init(struct sim_line *l, struct sim_mem *mem, uint32_t limit)
{
    uint32_t size = 1;
    while (size < limit && size < (UINT32_C(1) << 30))
        size *= 2;
    *l = (struct sim_line){.mask = size - 1, .next = SIM_NEVER};
    return SIM_TAKE(mem, l->ring, size);
}
