/* turns.c - which operation of a die is next.
 *
 * The most urgent class of reads goes first, but for two counts. Share: after so many
 * turns of others on the die a class goes first at the next plane where it waits. All
 * planes feed that count and any of them may win the turn, so that one plane could
 * lose for ever; a read that was passed over `limit` times at its own plane goes too. */
#include "media/queue.h"

enum { LOOK = 32 };             /* waiting reads searched for one of the same page */
enum { RIDERS_MAX = 7 };

static const uint32_t share[MEDIA_READ_CLASSES] = {0, 4, 4, 16};
static const uint32_t limit[MEDIA_READ_CLASSES] = {8, 32, 32, 64};

/* The class whose turn it is among several that wait. Of those over their limit the one
 * that waits longest: by urgency, turns that only the host may have (while a program is
 * suspended) would keep all of them over it, and only the first would ever go. */
static uint32_t choose_class(const struct media_die *d, const struct media_plane *pl)
{
    uint32_t chosen = MEDIA_READ_CLASSES, first = (uint32_t)__builtin_ctz(pl->waiting);

    for (uint32_t k = first, most = 0; k < MEDIA_READ_CLASSES; k++) {
        uint32_t passed = pl->turn - pl->since[k];
        if ((pl->waiting >> k & 1) && passed >= limit[k] && passed > most) {
            most = passed;
            chosen = k;
        }
    }
    for (uint32_t k = first + 1; chosen == MEDIA_READ_CLASSES && k < MEDIA_READ_CLASSES; k++)
        if ((pl->waiting >> k & 1) && d->turn - d->last[k] >= share[k])
            chosen = k;
    return chosen == MEDIA_READ_CLASSES ? first : chosen;
}

static uint32_t take(struct media *m, struct media_die *d, struct media_plane *pl, uint32_t k)
{
    uint32_t op = queue_take(m, &pl->reads[k]);

    if (pl->reads[k].head == MEDIA_NONE)
        pl->waiting &= ~(1u << k);
    d->last[k] = ++d->turn;
    pl->since[k] = ++pl->turn;
    return op;
}

uint32_t media_next_read(struct media *m, struct media_die *d, struct media_plane *pl)
{
    if (pl->waiting == 0)
        return MEDIA_NONE;
    bool several = (pl->waiting & (pl->waiting - 1)) != 0;
    return take(m, d, pl, several ? choose_class(d, pl) : (uint32_t)__builtin_ctz(pl->waiting));
}

uint32_t media_next_host_read(struct media *m, struct media_die *d, struct media_plane *pl)
{
    return pl->waiting >> MEDIA_HOST_READ & 1 ? take(m, d, pl, MEDIA_HOST_READ) : MEDIA_NONE;
}

/* Takes op, which follows `before` (MEDIA_NONE: it is the head), out of its queue. */
static void queue_remove(struct media *m, struct media_queue *q, uint32_t before, uint32_t op)
{
    if (before == MEDIA_NONE)
        q->head = m->ops[op].next;
    else
        m->ops[before].next = m->ops[op].next;
    if (q->tail == op)
        q->tail = before;
}

/* The waiting pre-read of a page, out of its queue; MEDIA_NONE = it is under way. */
uint32_t media_take_ahead(struct media *m, struct media_plane *pl, uint32_t block, uint32_t page)
{
    struct media_queue *q = &pl->reads[MEDIA_AHEAD_READ];
    uint32_t before = MEDIA_NONE, op = q->head;

    while (op != MEDIA_NONE && (m->ops[op].block != block || m->ops[op].page != page)) {
        before = op;
        op = m->ops[op].next;
    }
    if (op == MEDIA_NONE)
        return op;
    queue_remove(m, q, before, op);
    if (q->head == MEDIA_NONE)
        pl->waiting &= ~(1u << MEDIA_AHEAD_READ);
    return op;
}

/* ---- programs and erases --------------------------------------------------------- */

/* The erase that a program's block still waits for; MEDIA_NONE = none. It may overtake
 * what waits with it, which belongs to other blocks. */
static uint32_t take_erase_of(struct media *m, struct media_queue *q, uint32_t block)
{
    uint32_t before = MEDIA_NONE, op = q->head;

    while (op != MEDIA_NONE && (m->ops[op].kind != MEDIA_ERASE || m->ops[op].block != block)) {
        before = op;
        op = m->ops[op].next;
    }
    if (op != MEDIA_NONE)
        queue_remove(m, q, before, op);
    return op;
}

static uint32_t take_gc(struct media *m, uint64_t now, struct media_die *d)
{
    d->gc_head_since = now;
    return queue_take(m, &d->writes[MEDIA_FOR_GC]);
}

uint32_t media_next_write(struct media *m, uint64_t now, struct media_die *d)
{
    struct media_queue *host = &d->writes[MEDIA_FOR_HOST], *gc = &d->writes[MEDIA_FOR_GC];
    bool overdue = now - d->gc_head_since >= m->gc_write_wait_ns && !d->gc_went;

    d->writes_queued--;
    d->log_went = d->writes[MEDIA_FOR_LOG].head != MEDIA_NONE &&
                  (!d->log_went || (host->head == MEDIA_NONE && gc->head == MEDIA_NONE));
    if (d->log_went)
        return queue_take(m, &d->writes[MEDIA_FOR_LOG]);
    if (gc->head == MEDIA_NONE)
        return queue_take(m, host);
    if (host->head == MEDIA_NONE || overdue) {
        d->gc_went = host->head != MEDIA_NONE;
        return take_gc(m, now, d);
    }
    d->gc_went = false;
    uint32_t first = gc->head, erase = take_erase_of(m, gc, m->ops[host->head].block);
    if (erase == first)
        d->gc_head_since = now;
    return erase != MEDIA_NONE ? erase : queue_take(m, host);
}

/* ---- several commands, one sense -------------------------------------------------- */

static bool same_page(const struct media_op *a, const struct media_op *b)
{
    return a->block == b->block && a->page == b->page;
}

/* Appends op to the riders of `first`; the chain is short. */
static void ride(struct media *m, uint32_t first, uint32_t op)
{
    uint32_t at = first;
    while (m->ops[at].rider != MEDIA_NONE)
        at = m->ops[at].rider;
    m->ops[at].rider = op;
    m->ops[first].riders++;
    m->shared_reads++;
}

bool media_share(struct media *m, const struct media_plane *pl, uint32_t op)
{
    const struct media_op *o = &m->ops[op];
    uint32_t at = pl->active;

    if (at != MEDIA_NONE && m->ops[at].whole && same_page(&m->ops[at], o) &&
        m->ops[at].riders < RIDERS_MAX) {
        ride(m, at, op);
        return true;
    }
    at = pl->reads[MEDIA_HOST_READ].head;
    for (uint32_t i = 0; i < LOOK && at != MEDIA_NONE; i++, at = m->ops[at].next) {
        if (!same_page(&m->ops[at], o) || m->ops[at].riders >= RIDERS_MAX)
            continue;
        ride(m, at, op);
        return true;
    }
    return false;
}
