/* queue.h - inside media: lists of operations, and what its files ask of each other. */
#ifndef FTL_MEDIA_QUEUE_H
#define FTL_MEDIA_QUEUE_H

#include "media/media.h"

static inline void queue_init(struct media_queue *q)
{
    q->head = q->tail = MEDIA_NONE;
}

static inline void queue_add(struct media *m, struct media_queue *q, uint32_t op)
{
    m->ops[op].next = MEDIA_NONE;
    if (q->head == MEDIA_NONE)
        q->head = op;
    else
        m->ops[q->tail].next = op;
    q->tail = op;
}

static inline uint32_t queue_take(struct media *m, struct media_queue *q)
{
    uint32_t op = q->head;
    q->head = m->ops[op].next;
    return op;
}

/* ---- media.c ---- */
/* Issues one step; returns the result. A refusal would be a fault of ours. */
struct nand_res media_issue(struct media *m, uint64_t now, const struct nand_req *req);
void media_start_read(struct media *m, uint64_t now, struct media_plane *pl, uint32_t op);
static inline bool media_is_slc(const struct media *m, uint32_t block)
{
    return m->slc != NULL && m->slc[block];
}

/* Array time of a program or erase. */
uint64_t media_array_ns(const struct media *m, const struct media_op *op);
/* The next step of the die's program or erase. */
void media_start_write(struct media *m, uint64_t now, struct media_die *d, uint32_t op);

/* ---- turns.c: which operation is next ---- */
/* The next read of a plane, taken out of its queue; MEDIA_NONE = none waits. */
uint32_t media_next_read(struct media *m, struct media_die *d, struct media_plane *pl);
/* The same for the host's alone. */
uint32_t media_next_host_read(struct media *m, struct media_die *d, struct media_plane *pl);
/* The waiting pre-read of a page, taken out of its queue; MEDIA_NONE = none waits. */
uint32_t media_take_ahead(struct media *m, struct media_plane *pl, uint32_t block, uint32_t page);
/* Takes the next program or erase; one must wait. */
uint32_t media_next_write(struct media *m, uint64_t now, struct media_die *d);
/* Joins a host read to one of the same page that waits or is being sensed. */
bool media_share(struct media *m, const struct media_plane *pl, uint32_t op);

/* ---- suspend.c ---- */
/* A step of the die's array operation was issued and ends at `res`. */
void media_hold_started(struct media *m, struct media_die *d, const struct nand_res *res,
                        bool in_array);
/* A host read came, or one ended, while the die is taken. */
void media_hold_kick(struct media *m, uint64_t now, uint32_t die);
/* The event of array_op's end came: true when that is now. */
bool media_hold_ended(struct media *m, uint64_t now, struct media_die *d);
/* The data of a program is in: start it, or let host reads go first. */
void media_hold_loaded(struct media *m, uint64_t now, uint32_t die);
/* The die's own event. */
void media_hold_control(struct media *m, uint64_t now, uint32_t die);

static inline bool media_reads_may_run(const struct media_die *d)
{
    return d->phase == MEDIA_LOADING || d->phase == MEDIA_LOADED || d->phase == MEDIA_SUSPENDED;
}

#endif
