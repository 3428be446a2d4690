/* land.c - writes that must be on the medium: FLUSH without capacitors, FUA, write-through. */
#include "nvme/drive.h"

static bool journal_rests(const struct ftl_core *core)
{
    return core->journal == NULL ||
           (!core->journal->trims_pending &&
            core_journal_durable(core, journal_sent(core->journal)));
}

/* Records that wait go to the medium; false = no room yet. */
static bool close_journal(struct ftl_core *core)
{
    if (core->journal == NULL || !core->journal->trims_pending)
        return true;
    if (!core_journal_room(core))
        return false;
    core_journal_send(core);
    return true;
}

/* Sends the open word line of a class; false when there is no room for its filler yet. */
bool front_pad_word_line(ftl_drive *d, uint32_t class)
{
    struct ftl_core *core = &d->core;
    struct frontier *f = &core->fr[class];

    if (core_host_room(core, class) < f->wl_end - f->next ||
        core->wl_free_count <= core->wl_reserve)
        return false;
    core->dispatch_at = max_u64(core->write_path_free_at, d->ctx.now);
    core_pad(core, f);
    return true;
}

/* The same when host data waits in it. */
bool front_close_word_line(ftl_drive *d, uint32_t class)
{
    return d->core.fr[class].wl_units[CAUSE_HOST] == 0 || front_pad_word_line(d, class);
}

/* The command ends when all word lines sent so far are programmed. */
void front_await_word_lines(ftl_drive *d, uint32_t index)
{
    struct command *c = &d->commands[index];

    c->wl_seq = d->core.wl_seq;
    c->journal_number = d->core.journal != NULL ? journal_sent(d->core.journal) : 0;
    c->pending = 0;
    c->next = d->flush_head;
    d->flush_head = index;
    front_word_line_done(d);
}

/* Must the write be on the medium before it ends? */
bool front_must_land(const ftl_drive *d, const struct command *c)
{
    if (__builtin_expect(d->core.write_through, 0))
        return true;
    return (c->cmd.flags & FTL_FUA) != 0 && !d->cfg.power_plp;
}

bool front_flush_step(ftl_drive *d, uint32_t index)
{
    struct command *c = &d->commands[index];
    struct ftl_core *core = &d->core;

    d->count.host_flushes += c->cursor == 0;
    c->cursor = 1;
    if (core->cfg->power_plp || (core->buffer_used == 0 && journal_rests(core)) ||
        FTL_PLANT(flush_nowait, 1)) {
        front_write_complete(d, index, d->ctx.now + d->cfg.fw_commit_ns);
        return true;
    }
    if (!close_journal(core))
        return false;
    for (uint32_t k = 0; k < core->classes; k++)
        if (!front_close_word_line(d, k))
            return false;
    front_await_word_lines(d, index);
    return true;
}

/* FLUSH commands end when no word line from before them is under way. */
void front_word_line_done(ftl_drive *d)
{
    uint32_t *link = &d->flush_head;
    while (*link != CMD_NONE) {
        uint32_t index = *link;
        struct command *c = &d->commands[index];
        if (core_oldest_wl(&d->core) > c->wl_seq &&
            (d->core.journal == NULL || core_journal_durable(&d->core, c->journal_number))) {
            *link = c->next;
            front_write_complete(d, index, d->ctx.now);
        } else {
            link = &c->next;
        }
    }
}
