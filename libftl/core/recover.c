/* recover.c - the state of a drive from NAND alone, as a table of steps.
 *
 * The map is that of the newest complete checkpoint, moved on by sequence numbers: a unit found
 * by the scan, a unit that the capacitors saved and a TRIM each have one, the greatest counts.
 * Of superblocks that the checkpoint did not know as full the records of the log tell what word
 * lines hold; the scan reads the tags of the others. When the log ends with a mark, what was in the
 * buffer is there again and writing goes on where it stopped; without one no superblock that was
 * open is trusted for further writes: it is closed as it is.
 *
 * The first thing that changes is the next segment of the log: a checkpoint with what is in the
 * buffer and a mark. Until its last page is there the old segment counts, so losing power in the
 * middle changes nothing. Then come erases that the checkpoint names, and only after a record that
 * ends the mark's word, data is programmed again. POWER.md has the argument. */
#include <string.h>

#include "core/log.h"
#include "core/recover.h"

enum { SECTOR = JOURNAL_BODY + JOURNAL_TRAILER };

/* ---- reading the log --------------------------------------------------------------------- */

static int read_sector(struct recovery *r, uint32_t segment, uint32_t page, uint32_t s,
                       uint32_t from, uint32_t bytes, uint8_t *ret)
{
    const struct journal *j = r->c->journal;
    struct log_place at = core_journal_place(r->c, segment, page);
    uint32_t in_word_line = s / j->page_cws, planes = r->c->g.planes;

    return media_peek(r->c->media, at.die, in_word_line % planes, at.block,
                      at.page + in_word_line / planes, s % j->page_cws * j->sector_bytes + from,
                      bytes, ret);
}

void recover_walk(struct recovery *r, uint32_t segment, uint32_t page, recover_sector_fn fn)
{
    const struct journal *j = r->c->journal;
    uint32_t blank = 0;
    uint8_t sector[SECTOR];

    for (; page < j->pages_per_segment; page++) {
        for (uint32_t s = 0; s < j->sectors; s++) {
            struct journal_trailer t;
            int status = read_sector(r, segment, page, s, JOURNAL_BODY, JOURNAL_TRAILER,
                                     sector + JOURNAL_BODY);
            if (s == 0) {
                r->step_reads += j->sectors / j->page_cws;
                blank = status == NAND_ERASED ? blank + 1 : 0;
            }
            if (status != NAND_OK || !core_journal_trailer(sector + JOURNAL_BODY, &t))
                continue;
            if (t.kind != JK_FILLER &&
                (read_sector(r, segment, page, s, 0, JOURNAL_BODY, sector) != NAND_OK ||
                 !core_journal_sound(sector)))
                continue;
            if (!fn(r, segment, page, sector, &t))
                return;
        }
        if (blank > journal_gap_most(r->c->g.dies))
            break;
    }
}

/* Calls fn(type, bytes) for the records of a sector. */
#define FOR_RECORDS(sector, t, type, at, bytes)                                                 \
    for (uint32_t pos_ = 0, type, bytes; pos_ + 4 <= (t)->a &&                                  \
         (type = (uint32_t)core_get((sector) + pos_, 2),                                        \
          bytes = (uint32_t)core_get((sector) + pos_ + 2, 2), at = (sector) + pos_ + 4,         \
          type != JR_END && pos_ + 4 + bytes <= JOURNAL_BODY);                                  \
         pos_ += 4 + bytes)

/* The first sector of a segment tells its place in the log. */
static bool see_head(struct recovery *r, uint32_t segment, uint32_t page, uint8_t *sector,
                     const struct journal_trailer *t)
{
    (void)page, (void)sector;
    r->seen[segment].first = t->number;
    r->seen[segment].recovering = t->recovering;
    return false;
}

/* Is what belongs together there? */
static void see(struct recovery *r, uint32_t segment, const uint8_t *sector,
                const struct journal_trailer *t)
{
    struct segment_seen *s = &r->seen[segment];
    const uint8_t *at;

    s->sectors++;
    s->all++;
    if (t->kind == JK_MARK && core_get(sector + 16, 1) == 1 && t->number == s->last + 2) {
        s->sectors++;                       /* the mark itself is lost: this is its copy */
        s->all++;
    }
    s->last = t->number;
    s->recovering = s->recovering || t->recovering;
    if (t->kind == JK_FILLER)
        return;
    s->newest = t->number;
    s->stopped = t->kind == JK_MARK && t->param != MARK_STARTED;
    if (t->kind == JK_MARK) {
        uint64_t from = core_get(sector + 8, 8);
        if (from != 0 && from == s->from && t->number - from + 1 == s->sectors)
            s->complete = t->number;
        return;
    }
    if (t->kind != JK_RECORDS)
        return;
    FOR_RECORDS(sector, t, type, at, bytes) {
        if (type == JR_SEGMENT) {
            s->from = t->number;
            s->sectors = 1;
        }
        if (type == JR_COMPLETE && core_get(at, 8) == s->from && s->from != 0 &&
            t->number - s->from + 1 == s->sectors)
            s->complete = t->number;
    }
}

/* ---- steps: the log ------------------------------------------------------------------------- */

/* The segments, the newest first. */
static int find_log(struct recovery *r)
{
    const struct journal *j = r->c->journal;

    for (uint32_t s = 0; s < j->segments; s++) {
        recover_walk(r, s, 0, see_head);
        uint32_t i = r->order_count;
        if (r->seen[s].first == 0)
            continue;
        for (; i > 0 && r->seen[r->order[i - 1]].first < r->seen[s].first; i--)
            r->order[i] = r->order[i - 1];
        r->order[i] = s;
        r->order_count++;
    }
    return r->order_count == 0 ? FTL_EMEDIA : 0;
}

/* The last one is judged when all has been read. */
static void apply_mark(struct recovery *r, const uint8_t *sector, const struct journal_trailer *t)
{
    r->last_mark = (struct mark_seen){.number = t->number, .from = core_get(sector, 8), .units = t->a,
                                      .kind = t->param, .saved = r->saved};
}

/* A mark counts if all that it speaks of is there; it is the newest, or its copy is. */
static void judge_mark(struct recovery *r, uint64_t newest)
{
    const struct mark_seen *m = &r->last_mark;

    if (m->number == 0 || m->number != newest)
        return;
    if (m->saved == m->units << r->c->g.cw_shift) {
        r->mark = m->number;
        r->mark_from = m->from;
        r->mark_kind = m->kind;
    } else {
        r->out->units_lost += m->units;
    }
}

/* A superblock's present life, and the dies on which an erase for it was still to come. */
static void apply_life(struct recovery *r, const uint8_t *at, uint32_t bytes)
{
    struct ftl_core *c = r->c;
    uint32_t sb = (uint32_t)core_get(at, 4), erases = (uint32_t)core_get(at + 4, 4);

    if (sb >= c->g.sb_count || bytes < LIFE_HEAD + (c->g.dies + 7) / 8)
        return;
    core_learn_life(c, sb, erases);
    for (uint32_t d = 0; d < c->g.dies; d++)
        *recover_void(r, sb, d) = at[LIFE_HEAD + d / 8] >> d % 8 & 1;
    if (at[8] & JR_LIFE_GATHERED)
        c->journal->gathered = sb;
}

static void forget_lives(struct recovery *r)
{
    struct journal *j = r->c->journal;
    memset(j->voids, 0, (size_t)r->c->g.sb_count * r->c->g.dies);
    j->gathered = SB_NONE;
}

/* in_base: of the checkpoint that counts; another one in the log was not completed. */
static void apply_record(struct recovery *r, uint32_t type, const uint8_t *at, uint32_t bytes,
                         bool in_base)
{
    struct ftl_core *c = r->c;

    r->out->journal_entries++;
    if (type == JR_SEGMENT && bytes >= 24) {
        c->closings = core_get(at + 8, 8);
        c->host_units = core_get(at + 16, 8);
        r->saved = 0;
        r->counts = 0;
    } else if (type == JR_TABLE && bytes >= 8 && in_base) {
        core_replay_table(c, at, bytes);
    } else if (type == JR_SLICE && bytes >= 16 && in_base) {
        core_replay_slice(c, at, bytes);
    } else if (type == JR_ROWS && in_base) {
        core_replay_rows(c, at, bytes);
    } else if (type == JR_TAGS) {
        core_replay_tags(c, at, bytes);
    } else if (type == JR_TRIM && bytes >= 16) {
        core_replay_trim(c, at);
    } else if (type == JR_LIFE) {
        apply_life(r, at, bytes);
    } else if (type == JR_COUNTS) {
        r->counts = (core_get(at, 4) == 0 ? 0 : r->counts) + core_replay_counts(c, at, bytes);
    } else if (type == JR_OPENED) {
        r->saved = 0;
        forget_lives(r);
    } else if (type == JR_ERASE && bytes >= 8 && core_get(at, 4) < c->g.sb_count) {
        core_learn_life(c, (uint32_t)core_get(at, 4), (uint32_t)core_get(at + 4, 4));
    }
}

static bool apply(struct recovery *r, uint32_t segment, uint32_t page, uint8_t *sector,
                  const struct journal_trailer *t)
{
    const uint8_t *at;

    r->out->journal_pages++;
    r->seq = t->seq > r->seq && t->kind != JK_FILLER ? t->seq : r->seq;
    if (t->kind == JK_UNIT || t->kind == JK_UNIT_SENT) {
        if (r->saved++ == 0) {
            r->saved_segment = segment;
            r->saved_page = page;
        }
    }
    if (t->kind == JK_MARK)
        apply_mark(r, sector, t);
    if (t->kind != JK_RECORDS)
        return true;
    FOR_RECORDS(sector, t, type, at, bytes)
        apply_record(r, type, at, bytes, segment == r->base);
    return true;
}

/* Whether the checkpoint of a segment is complete shows when all of it was read; so both at once. */
static bool apply_base(struct recovery *r, uint32_t segment, uint32_t page, uint8_t *sector,
                       const struct journal_trailer *t)
{
    see(r, segment, sector, t);
    return apply(r, segment, page, sector, t);
}

/* What a checkpoint that was not complete has left. */
static void forget(struct recovery *r)
{
    struct ftl_core *c = r->c;
    struct journal *j = c->journal;

    memset(c->map, 0, (core_keys(c) + UINT64_C(1)) * sizeof *c->map);
    memset(j->seqs, 0, (core_keys(c) + UINT64_C(1)) * sizeof *j->seqs);
    memset(c->erases, 0, c->g.sb_count * sizeof *c->erases);
    memset(c->state, 0, c->g.sb_count * sizeof *c->state);
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++)
        core_tags_forget(c, sb);
    if (c->g.pages_on_medium != 0)
        memset(c->dftl.base_slot, 0, c->dftl.count * sizeof *c->dftl.base_slot);
    forget_lives(r);
    r->saved = 0;
    r->last_mark.number = 0;
    r->out->journal_pages = r->out->journal_entries = 0;
}

/* The newest checkpoint that is complete, and the records after it, in their order. */
static int replay(struct recovery *r)
{
    struct ftl_core *c = r->c;
    uint32_t order[sizeof r->order / sizeof r->order[0]], count = 0, i = 0;
    uint64_t newest = 0;

    for (; i < r->order_count; i++) {
        r->base = r->order[i];
        recover_walk(r, r->base, 0, apply_base);
        if (r->seen[r->base].last >= c->journal->next_number)
            c->journal->next_number = r->seen[r->base].last + 1;
        if (r->seen[r->base].complete != 0)
            break;
        forget(r);
    }
    if (i == r->order_count)
        return FTL_EMEDIA;
    order[count++] = r->base;
    while (i-- > 0)
        if (!r->seen[r->order[i]].recovering) {     /* what a start did not complete is void */
            order[count++] = r->order[i];
            recover_walk(r, r->order[i], 0, apply);
        }
    memcpy(r->order, order, sizeof order);
    r->order_count = count;
    for (i = 0; i < count; i++)
        newest = r->seen[order[i]].newest > newest ? r->seen[order[i]].newest : newest;
    if (core_log_is_damaged(c, r->seen, order, count))
        return FTL_EMEDIA;
    judge_mark(r, newest);
    if (r->mark == 0)           /* an erase may be anywhere */
        forget_lives(r);
    if (c->g.pages_on_medium != 0)
        core_remap_begin(c);
    return 0;
}

/* ---- steps: the buffer --------------------------------------------------------------------- */

static bool take_unit(struct recovery *r, uint32_t segment, uint32_t page, uint8_t *sector,
                      const struct journal_trailer *t)
{
    struct ftl_core *c = r->c;
    uint32_t cw = t->param & 15;

    (void)segment, (void)page;
    if (r->map_pages != (t->a > c->user_units))
        return true;
    if ((t->kind != JK_UNIT && t->kind != JK_UNIT_SENT) || t->number < r->mark_from ||
        t->number > r->mark || t->b == 0 || t->b > c->g.total_units || cw >= c->g.unit_cws ||
        t->a > core_keys(c))
        return true;
    uint32_t sb = geometry_superblock(&c->g, t->b - 1);
    c->sb_frontier[sb] = t->param >> 4;
    core_payload_restore(c, t->b, cw, t->a, t->seq, t->moved ? CAUSE_GC : CAUSE_HOST, sector,
                         t->kind == JK_UNIT_SENT);
    r->seq = t->seq > r->seq ? t->seq : r->seq;
    c->collectable[sb] = 1;
    if (cw != 0)
        return true;
    r->out->units_restored++;
    /* asked before this slot has a name: it may have held the same key in the life before */
    uint32_t before = recover_is_there(r, t->a, c->map[t->a]) ? c->map[t->a] : 0;
    c->rmap[t->b] = t->a;
    if (r->map_pages)
        core_remap_saved(c, t->a, t->b, t->seq);
    if (t->a != 0 && t->seq > c->journal->seqs[t->a]) {
        core_payload_set_prev(c, t->b, before);
        c->map[t->a] = t->b;
        c->journal->seqs[t->a] = t->seq;
    }
    return true;
}

/* A flush keeps to one segment. */
static void take_saved(struct recovery *r, bool map_pages)
{
    r->map_pages = map_pages;
    if (r->mark != 0 && r->saved != 0)
        recover_walk(r, r->saved_segment, r->saved_page, take_unit);
}

static int restore_buffer(struct recovery *r)
{
    take_saved(r, false);
    return 0;
}

/* With a map on the medium: entries that are no newer than its pages. */
static int read_map(struct recovery *r)
{
    if (r->c->g.pages_on_medium == 0)
        return 0;
    core_remap_find(r->c, r->found);
    take_saved(r, true);
    r->step_reads += core_remap_read(r->c);
    return 0;
}

static int compare_map(struct recovery *r)
{
    if (r->c->g.pages_on_medium != 0)
        core_remap_compare(r->c);
    r->step_reads = r->c->g.pages_on_medium;
    return 0;
}

/* ---- steps: what is written ------------------------------------------------------------------- */

/* A checkpoint of the result, and the buffer with it; see the head of the file. */
static int write_checkpoint(struct recovery *r)
{
    struct ftl_core *c = r->c;
    struct journal *j = c->journal;

    j->segment = r->order[r->order_count - 1];
    core_log_erase_next(c);
    if (j->cut)
        return FTL_EPOWER;
    j->recovering = true;
    core_journal_rewrite(c);
    j->recovering = false;
    return j->cut ? FTL_EPOWER : 0;
}

/* What the checkpoint named as void. Another start would find it named still. */
static int erase_void(struct recovery *r)
{
    struct ftl_core *c = r->c;

    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        bool any = false;
        for (uint32_t d = 0; d < c->g.dies; d++) {
            if (!*recover_void(r, sb, d))
                continue;
            if (media_erase_now(c->media, c->journal->at, d, sb, false).status == NAND_CUT)
                return FTL_EPOWER;
            *recover_void(r, sb, d) = 0;
            any = true;
        }
        r->out->erased_again += any;
    }
    return 0;
}

/* ---- the table -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*fn)(struct recovery *r);
    uint8_t reads;              /* what its items are: page reads; else work of the CPU */
} steps[] = {
    {"find the segments of the log", find_log, 1},
    {"replay the log", replay, 1},
    {"scan superblocks", recover_scan, 1},
    {"resolve by sequence", recover_resolve, 0},
    {"read the map", read_map, 1},
    {"restore the buffer", restore_buffer, 1},
    {"count live units", recover_count, 0},
    {"close and free superblocks", recover_settle, 0},
    {"gather what leaves no room", recover_gather, 1},
    {"compare the map", compare_map, 0},
    {"write a checkpoint", write_checkpoint, 0},
    {"erase what is void", erase_void, 0},
    {"program what was gathered", recover_program, 1},
};

static void end_step(struct core_recovered *out, const char *name, uint64_t ns, uint64_t items)
{
    out->step[out->step_count++] = (struct core_step){name, ns, items};
}

int core_recover(struct ftl_core *c, uint64_t *at, struct core_recovered *out)
{
    struct recovery r = {.c = c, .out = out, .life_sb = SB_NONE};
    int err = 0;

    *out = (struct core_recovered){.step_count = 0};
    c->journal->way = WAY_NOW;
    c->journal->at = at;
    for (uint32_t i = 0; i < sizeof steps / sizeof steps[0] && err == 0; i++) {
        uint64_t began = *at;
        r.step_reads = 0;
        err = steps[i].fn(&r);
        *at += steps[i].reads ? core_reads_ns(c, r.step_reads)
                              : r.step_reads * c->cfg->journal_entry_ns;
        uint64_t idle = media_idle_at(c->media);
        if (err == 0 && idle > *at)
            *at = idle;
        end_step(out, steps[i].name, *at - began, r.step_reads);
        if (steps[i].reads)
            out->pages_scanned += r.step_reads;
    }
    out->mark = r.mark_kind;
    return err;
}

int core_reopen(struct ftl_core *c, uint64_t *at, struct core_recovered *out)
{
    uint64_t began = *at, reads = 0;

    core_journal_opened(c);
    uint64_t idle = media_idle_at(c->media);
    *at = idle > *at ? idle : *at;
    end_step(out, "open the log", *at - began, 0);
    c->journal->way = WAY_QUEUES;
    c->timed = true;
    c->dispatch_at = *at;
    int err = core_resume(c, &reads);
    began = *at;
    *at += core_reads_ns(c, reads);
    end_step(out, "resume open superblocks", *at - began, reads);
    c->dispatch_at = *at;
    return err;
}
