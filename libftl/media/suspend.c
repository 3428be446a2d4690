/* suspend.c - host reads while a die programs or erases (sched.suspend).
 *
 * A host read suspends the operation when that is worth it (the wait spared exceeds
 * the array time lost), legal (least progress made) and within the budget. Then
 * host reads run until none is left or the window is over, and the operation is
 * resumed. A program whose data is still coming in, or has just come, lets host reads
 * go first in the same way, without a suspend.
 *
 * The event of an operation's end is never taken out of the queue. When it comes too
 * early it is put off to the end known then, so there is one per operation; each die
 * has one event of its own besides: suspend accepted, or time to try again. */
#include "media/queue.h"

static bool is_erase(const struct media *m, const struct media_die *d)
{
    return m->ops[d->array_op].kind == MEDIA_ERASE;
}

void media_hold_started(struct media *m, struct media_die *d, const struct nand_res *res,
                        bool in_array)
{
    d->array_end = res->done_at;
    d->end_event = true;
    if (!in_array) {
        d->phase = MEDIA_LOADING;
        return;
    }
    uint64_t ns = media_array_ns(m, &m->ops[d->array_op]);
    d->phase = MEDIA_ARRAY;
    d->suspends = 0;
    d->may_suspend_at = res->done_at - ns + m->time->tprogress_ns;
}

/* The die's own event. One at a time: a try is never due after the end of the
 * operation it is for, nor a suspend before the try. */
static void control_at(struct media *m, struct media_die *d, uint64_t at)
{
    FTL_ASSERT(m->ctx, !d->control_event);
    d->control_event = true;
    sim_heap_push(m->heap, at, MEDIA_EVENT_KIND, m->op_count + (uint32_t)(d - m->dies));
}

static void suspend(struct media *m, uint64_t now, struct media_die *d)
{
    struct nand_req req = {.op = NAND_OP_SUSPEND, .addr = {.die = (uint16_t)(d - m->dies)}};
    struct nand_res res = media_issue(m, now, &req);

    if (res.done_at >= d->array_end)
        return;                 /* the bus was not free in time: the operation is over first */
    d->phase = MEDIA_SUSPENDING;
    d->array_end = SIM_NEVER;
    d->suspends++;
    m->suspends++;
    control_at(m, d, res.done_at);
}

static void try_suspend(struct media *m, uint64_t now, struct media_die *d)
{
    const struct nand_timing *t = m->time;
    uint64_t lost = t->tcmd_ns + t->tresume_ns;

    if (d->host_queued == 0 || d->suspends >= m->suspend_budget || d->control_event)
        return;
    lost += is_erase(m, d) ? t->tsusp_erase_ns : t->tsusp_prog_ns + t->treverify_ns;
    uint64_t at = now > d->may_suspend_at ? now : d->may_suspend_at;
    if (at + lost >= d->array_end)
        return;
    if (at > now)
        control_at(m, d, at);
    else
        suspend(m, now, d);
}

/* Starts the host reads that may run now; true while one is under way. */
static bool run_reads(struct media *m, uint64_t now, uint32_t die)
{
    struct media_die *d = &m->dies[die];
    struct media_plane *pl = &m->planes[die * m->plane_count];
    bool open = d->phase == MEDIA_LOADING || now - d->hold_since < m->suspend_window_ns;

    for (uint32_t p = 0; open && d->host_queued != 0 && p < m->plane_count; p++, pl++) {
        uint32_t op = pl->active == MEDIA_NONE ? media_next_host_read(m, d, pl) : MEDIA_NONE;
        if (op != MEDIA_NONE)
            media_start_read(m, now, pl, op);
    }
    return d->reads_active != 0;
}

static void resume(struct media *m, uint64_t now, struct media_die *d)
{
    const struct nand_timing *t = m->time;
    struct nand_req req = {.op = NAND_OP_RESUME, .addr = {.die = (uint16_t)(d - m->dies)}};
    struct nand_res res = media_issue(m, now, &req);

    d->phase = MEDIA_ARRAY;
    d->array_end = res.done_at;
    d->may_suspend_at = res.bus_free_at + t->tresume_ns + t->tprogress_ns;
    if (!d->end_event) {
        d->end_event = true;
        sim_heap_push(m->heap, d->array_end, MEDIA_EVENT_KIND, d->array_op);
    }
}

void media_hold_kick(struct media *m, uint64_t now, uint32_t die)
{
    struct media_die *d = &m->dies[die];

    if (media_reads_may_run(d) && run_reads(m, now, die))
        return;
    if (d->phase == MEDIA_SUSPENDED)
        resume(m, now, d);
    else if (d->phase == MEDIA_LOADED)
        media_start_write(m, now, d, d->array_op);
    if (d->phase == MEDIA_ARRAY)
        try_suspend(m, now, d);
}

bool media_hold_ended(struct media *m, uint64_t now, struct media_die *d)
{
    if (now == d->array_end) {
        d->phase = MEDIA_IDLE;
        return true;
    }
    d->end_event = d->array_end != SIM_NEVER;
    if (d->end_event)
        sim_heap_push(m->heap, d->array_end, MEDIA_EVENT_KIND, d->array_op);
    return false;
}

void media_hold_loaded(struct media *m, uint64_t now, uint32_t die)
{
    m->dies[die].phase = MEDIA_LOADED;
    m->dies[die].hold_since = now;
    media_hold_kick(m, now, die);
}

void media_hold_control(struct media *m, uint64_t now, uint32_t die)
{
    struct media_die *d = &m->dies[die];

    d->control_event = false;
    if (d->phase == MEDIA_SUSPENDING) {
        d->phase = MEDIA_SUSPENDED;
        d->hold_since = now;
    }
    if (d->phase != MEDIA_IDLE)
        media_hold_kick(m, now, die);
}
