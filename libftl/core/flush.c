/* flush.c - what the write buffer holds goes to the log: when the power is lost or taken away, and
 * again when a start has restored it. */
#include <string.h>

#include "core/log.h"

/* ---- the flush of the capacitors ------------------------------------------------------------- */

/* Pages that were queued and not programmed when the power went, at their old places. */
static void finish_pages(struct ftl_core *c)
{
    struct journal *j = c->journal;

    for (;;) {
        int32_t first = -1;
        for (int32_t i = 0; i < JOURNAL_BUFFERS; i++)
            if (j->in_flight[i] && (first < 0 || j->first_number[i] < j->first_number[first]))
                first = i;
        if (first < 0)
            return;
        struct log_place at = core_journal_place(c, j->segment_of[first], j->page_of[first]);
        uint8_t byte;
        if (media_peek(c->media, at.die, 0, at.block, at.page, 0, 1, &byte) == NAND_ERASED)
            core_log_program_now(c, at, first);
        j->in_flight[first] = 0;
    }
}

static bool add_unit(struct ftl_core *c, uint32_t frontier, uint32_t slot, bool sent)
{
    struct journal *j = c->journal;
    for (uint32_t cw = FTL_PLANT(unit_unsaved, 3) ? c->g.unit_cws : 0; cw < c->g.unit_cws && !j->cut;
         cw++) {
        const uint8_t *sector = core_payload_sector(c, slot, cw);
        struct payload_tag tag;
        (void)core_payload_there(sector, &tag);
        memcpy(core_log_sector(c), sector, JOURNAL_BODY);
        core_log_close_sector(c, sent ? JK_UNIT_SENT : JK_UNIT, (uint8_t)(frontier << 4 | cw), tag.key,
                              slot, tag.seq | (tag.cause == CAUSE_GC ? JOURNAL_MOVED : 0));
    }
    return !j->cut;
}

/* ---- which erases are to come ------------------------------------------------- */

static void note_erase(void *user, uint32_t die, uint32_t block)
{
    struct ftl_core *c = user;
    if (block < c->g.sb_count)
        c->journal->voids[(size_t)block * c->g.dies + die] = 1;
}

static void add_life(struct ftl_core *c, uint32_t sb)
{
    const uint8_t *voids = &c->journal->voids[(size_t)sb * c->g.dies];
    uint32_t bytes = LIFE_HEAD + (c->g.dies + 7) / 8;
    uint8_t *r = core_log_append(c, JR_LIFE, bytes);

    memset(r, 0, bytes);
    core_put(r, sb, 4);
    core_put(r + 4, c->erases[sb], 4);
    r[8] = sb == c->journal->gathered ? JR_LIFE_GATHERED : 0;
    for (uint32_t d = 0; d < c->g.dies; d++)
        r[LIFE_HEAD + d / 8] |= (uint8_t)(voids[d] << d % 8);
}

/* The life of each superblock that is being written, or whose erase has not ended. */
static void add_lives(struct ftl_core *c)
{
    const struct journal *j = c->journal;
    for (uint32_t sb = 0; sb < c->g.sb_count && !j->cut; sb++) {
        bool written = c->state[sb] == SB_OPEN || c->wl_in_flight[sb] != 0;
        if (written || memchr(&j->voids[(size_t)sb * c->g.dies], 1, c->g.dies) != NULL)
            add_life(c, sb);
    }
}

/* Live units of each superblock, the buffer's among them: a start with the mark need not count. */
static void add_counts(struct ftl_core *c)
{
    for (uint32_t sb = 0, n; sb < c->g.sb_count && !c->journal->cut; sb += n) {
        n = c->g.sb_count - sb < COUNTS_MOST ? c->g.sb_count - sb : COUNTS_MOST;
        uint8_t *r = core_log_append(c, JR_COUNTS, COUNTS_HEAD + 4 * n);
        core_put(r, sb, 4);
        core_put(r + 4, n, 4);
        for (uint32_t i = 0; i < n; i++)
            core_put(r + COUNTS_HEAD + 4 * i, c->valid[sb + i] - FTL_PLANT(count_stale, 3), 4);
    }
}

/* ---- what the buffer holds ------------------------------------------------------ */

/* Units of a word line that are there: the open one has none at its end. */
static void save_word_line(struct ftl_core *c, uint32_t slot, bool sent, struct journal_flush *f)
{
    uint32_t frontier = c->sb_frontier[geometry_superblock(&c->g, slot - 1)];
    struct payload_tag tag;

    for (uint32_t i = 0; i < c->g.wl_units; i++) {
        if (!core_payload_there(core_payload_sector(c, slot + i, 0), &tag))
            break;
        if (add_unit(c, frontier, slot + i, sent))
            f->units++;
        else
            f->lost++;
    }
}

/* A block whose erase is still to come may hold a word line of its life before. */
static bool is_programmed(const struct ftl_core *c, uint32_t slot)
{
    struct payload_tag held, there;

    return core_peek_tag(c, slot, &there) == NAND_OK &&
           core_payload_there(core_payload_sector(c, slot, 0), &held) && there.seq == held.seq;
}

/* Twice: one may be lost. It speaks of what has ended. */
static void add_mark(struct ftl_core *c, enum journal_mark mark, uint64_t first,
                     const struct journal_flush *f)
{
    struct journal *j = c->journal;

    for (uint32_t copy = 0; copy < 2 && !j->cut; copy++) {
        uint8_t *body = core_log_sector(c);
        uint64_t idle = media_idle_at(c->media);
        *j->at = idle > *j->at ? idle : *j->at;
        memset(body, 0, JOURNAL_BODY);
        core_put(body, first, 8);
        core_put(body + 8, j->begun ? j->checkpoint_number : 0, 8);
        core_put(body + 16, copy, 1);
        core_log_close_sector(c, JK_MARK, (uint8_t)mark, (uint32_t)f->units, 0, c->payload->seq);
    }
    if (!j->cut)
        core_log_end_page(c);
}

/* Word lines in the order of their first units, then the mark, without which none of it counts. */
static void save_buffer(struct ftl_core *c, enum journal_mark mark, struct journal_flush *f)
{
    struct journal *j = c->journal;
    uint64_t trims = core_journal_trims(c), seq = 0;
    bool sent = false;

    add_counts(c);
    add_lives(c);
    core_log_close_records(c);
    uint64_t first = j->next_number;
    /* no more groups than the payload has */
    for (uint32_t i = 0; i < c->payload->count; i++) {
        uint32_t slot = core_payload_after(c, seq, &seq, &sent);
        if (slot == 0)
            break;
        if (!is_programmed(c, slot))
            save_word_line(c, slot, sent, f);
    }
    if (!j->cut)
        add_mark(c, mark, first, f);
    if (j->cut) {
        f->lost += f->units + trims;
        f->units = 0;
    }
    f->pages = j->pages_now;
}

void core_journal_flush(struct ftl_core *c, enum journal_mark mark, struct journal_flush *f)
{
    struct journal *j = c->journal;

    j->way = WAY_NOW;
    j->running = j->begun = false;
    memset(j->voids, 0, (size_t)c->g.sb_count * c->g.dies);
    media_erases_queued(c->media, note_erase, c);
    finish_pages(c);
    save_buffer(c, mark, f);
}

uint64_t core_journal_trims(const struct ftl_core *c)
{
    const struct journal *j = c->journal;
    uint64_t n = 0;
    for (int32_t i = 0; i < JOURNAL_BUFFERS; i++)
        if (j->in_flight[i] || i == j->open)
            n += j->trims[i];
    return n;
}

/* Checkpoint and buffer in one: the last page makes both count. */
void core_journal_rewrite(struct ftl_core *c)
{
    struct journal *j = c->journal;
    struct journal_flush f = {0, 0, 0};

    j->open = -1;
    j->used = 0;
    core_log_begin_segment(c);
    core_log_add_segment(c);
    while (j->rows_at < c->g.sb_count)
        core_log_add_rows(c);
    while (j->table_at < c->g.sb_count)
        core_log_add_table(c);
    while (core_log_add_map(c))
        ;
    j->running = false;
    c->restoring = true;
    save_buffer(c, MARK_STARTED, &f);
    c->restoring = false;
    j->begun = false;
    if (!j->cut)
        core_log_erase_next(c);
}

void core_journal_opened(struct ftl_core *c)
{
    (void)core_log_append(c, JR_OPENED, 0);
    core_journal_send(c);
}

