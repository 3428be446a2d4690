/* recover.c - the state of a drive from NAND alone, as a table of steps.
 *
 * The map is that of the newest complete checkpoint, moved on by sequence numbers: a unit found
 * by the scan, a unit that the capacitors saved and a TRIM each have one, the greatest counts.
 * The scan reads the tags of every superblock that the checkpoint did not know as full. When the
 * log ends with a mark, what was in the buffer is there again and writing goes on where it
 * stopped; without one no superblock that was open is trusted for further writes: it is closed as
 * it is. At the end a checkpoint is written into the next segment of the log, together with what
 * is in the buffer; until its last page is there the old segment counts, so losing power in the
 * middle changes nothing. POWER.md has the argument. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

enum { SECTOR = JOURNAL_BODY + JOURNAL_TRAILER };

struct recovery {
    struct ftl_core *c;
    struct core_recovered *out;
    struct segment_seen seen[8];
    uint32_t order[8], order_count;         /* base and those after it */
    uint64_t mark, mark_from;   /* number of the mark that ends the log, of its first unit; 0 */
    uint32_t mark_kind, mark_units;
    uint64_t seq, newest;       /* number of the last sector that is no filler */
    uint64_t base;              /* the last of the checkpoint that counts */
    uint32_t found, life_sb;    /* life_sb: whose erase count a tag has told */
    bool map_pages;             /* units taken from the log are map pages, or those of the host */
    uint64_t step_reads;
};

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

typedef void (*sector_fn)(struct recovery *r, uint32_t segment, uint32_t page, uint8_t *sector,
                          const struct journal_trailer *t);

/* All sound sectors of a segment in their order. */
static void walk(struct recovery *r, uint32_t segment, sector_fn fn)
{
    const struct journal *j = r->c->journal;
    uint32_t blank = 0;
    uint8_t sector[SECTOR];

    for (uint32_t page = 0; page < j->pages_per_segment; page++) {
        for (uint32_t s = 0; s < j->sectors; s++) {
            struct journal_trailer t;
            int status = read_sector(r, segment, page, s, JOURNAL_BODY, JOURNAL_TRAILER,
                                     sector + JOURNAL_BODY);
            if (s == 0) {
                r->step_reads++;
                blank = status == NAND_ERASED ? blank + 1 : 0;
            }
            if (status != NAND_OK || !core_journal_trailer(sector + JOURNAL_BODY, &t))
                continue;
            if (t.kind == JK_FILLER)
                fn(r, segment, page, sector, &t);
            else if (read_sector(r, segment, page, s, 0, JOURNAL_BODY, sector) == NAND_OK &&
                core_journal_sound(sector))
                fn(r, segment, page, sector, &t);
        }
        /* pages on their way at the loss leave gaps, no longer ones than this */
        if (blank > JOURNAL_BUFFERS + r->c->g.dies)
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

static void see(struct recovery *r, uint32_t segment, uint32_t page, uint8_t *sector,
                const struct journal_trailer *t)
{
    struct segment_seen *s = &r->seen[segment];
    const uint8_t *at;

    (void)page;

    if (s->first == 0)
        s->first = t->number;
    s->sectors++;
    s->all++;
    if (t->kind == JK_MARK && core_get(sector + 16, 1) == 1 && t->number == s->last + 2) {
        s->sectors++;                       /* the mark itself is lost: this is its copy */
        s->all++;
    }
    s->last = t->number;
    if (t->kind == JK_FILLER)
        return;
    s->newest = t->number;
    s->stopped = t->kind == JK_MARK && t->param != MARK_STARTED;
    r->seq = t->seq > r->seq ? t->seq : r->seq;
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
            s->recovering = core_get(at + 24, 1) != 0;
        }
        if (type == JR_COMPLETE && core_get(at, 8) == s->from && s->from != 0 &&
            t->number - s->from + 1 == s->sectors)
            s->complete = t->number;
    }
}

/* ---- steps: the log ------------------------------------------------------------------------- */

/* Finds the newest complete checkpoint, and what was written after it. */
static int find_log(struct recovery *r)
{
    const struct journal *j = r->c->journal;
    uint32_t base = UINT32_MAX;

    for (uint32_t s = 0; s < j->segments; s++) {
        walk(r, s, see);
        if (r->seen[s].complete != 0 &&
            (base == UINT32_MAX || r->seen[s].complete > r->seen[base].complete))
            base = s;
    }
    if (base == UINT32_MAX)
        return FTL_EMEDIA;
    uint64_t newest = 0;
    r->base = r->seen[base].complete;
    for (uint64_t from = r->seen[base].first;;) {
        uint32_t next = UINT32_MAX;
        for (uint32_t s = 0; s < j->segments; s++)
            if (r->seen[s].first >= from && (s == base || !r->seen[s].recovering) &&
                (next == UINT32_MAX || r->seen[s].first < r->seen[next].first))
                next = s;
        if (next == UINT32_MAX)
            break;
        r->order[r->order_count++] = next;
        r->newest = r->seen[next].newest > r->newest ? r->seen[next].newest : r->newest;
        from = r->seen[next].first + 1;
    }
    for (uint32_t s = 0; s < j->segments; s++)
        newest = r->seen[s].last > newest ? r->seen[s].last : newest;
    r->c->journal->next_number = newest + 1;
    return core_log_is_damaged(r->c, r->seen, r->order, r->order_count) ? FTL_EMEDIA : 0;
}

static void apply(struct recovery *r, uint32_t segment, uint32_t page, uint8_t *sector,
                  const struct journal_trailer *t)
{
    struct ftl_core *c = r->c;
    const uint8_t *at;

    (void)segment, (void)page;
    r->out->journal_pages++;
    if (t->kind == JK_MARK && t->number == r->newest) {
        r->mark = t->number;
        r->mark_from = core_get(sector, 8);
        r->mark_kind = t->param;
        r->mark_units = t->a;
    }
    if (t->kind != JK_RECORDS)
        return;
    FOR_RECORDS(sector, t, type, at, bytes) {
        r->out->journal_entries++;
        if (type == JR_SEGMENT && bytes >= 32) {
            c->closings = core_get(at + 8, 8);
            c->host_units = core_get(at + 16, 8);
        } else if (type == JR_TABLE && bytes >= 8 && t->number <= r->base) {
            core_replay_table(c, at, bytes);
        } else if (type == JR_SLICE && bytes >= 16 && t->number <= r->base) {
            core_replay_slice(c, at, bytes);
        } else if (type == JR_TRIM && bytes >= 16) {
            core_replay_trim(c, at);
        } else if (type == JR_ERASE && bytes >= 8 && core_get(at, 4) < c->g.sb_count) {
            uint32_t sb = (uint32_t)core_get(at, 4), erases = (uint32_t)core_get(at + 4, 4);
            if (erases > c->erases[sb]) {
                c->erases[sb] = erases;
                c->state[sb] = SB_FREE;     /* a life that the table does not know: scan it */
            }
        }
    }
}

/* The base checkpoint and the records after it, in their order. */
static int replay(struct recovery *r)
{
    for (uint32_t i = 0; i < r->order_count; i++)
        walk(r, r->order[i], apply);
    if (r->c->g.pages_on_medium != 0)
        core_remap_begin(r->c);
    return 0;
}

/* ---- steps: the superblocks --------------------------------------------------------------------- */

static int peek_tag(struct recovery *r, uint32_t slot, struct payload_tag *ret)
{
    struct ftl_core *c = r->c;
    struct ftl_place at;
    uint8_t tag[PAYLOAD_TAG_BYTES];

    geometry_place(&c->g, slot - 1, 0, &at);
    int status = media_peek(c->media, at.die, at.plane, at.sb,
                            at.row * c->g.page_types + at.page_type,
                            at.cw * c->payload->sector_bytes + CODEWORD_BYTES, sizeof tag, tag);
    if (status == NAND_OK)
        core_payload_tag_of(tag, ret);
    return status;
}

/* Tags of a word line; false = it holds nothing that can be read. */
static bool scan_word_line(struct recovery *r, uint32_t sb, uint32_t row, uint32_t data_die)
{
    struct ftl_core *c = r->c;
    uint32_t slot = sb * c->g.sb_units + row * c->g.row_units + data_die * c->g.wl_units + 1;

    r->step_reads += c->g.page_types;
    for (uint32_t i = 0; i < c->g.wl_units; i++, slot++) {
        struct payload_tag tag;
        if (peek_tag(r, slot, &tag) != NAND_OK)
            return false;
        c->sb_frontier[sb] = tag.frontier;
        c->sb_class[sb] = core_class_of_tag(c, tag.class);
        /* an erase that was queued at the loss leaves word lines of the life before */
        if (tag.erases < c->erases[sb] || (r->life_sb == sb && tag.erases != c->erases[sb]))
            c->gc.reads[sb] = 1;
        c->erases[sb] = tag.erases > c->erases[sb] ? tag.erases : c->erases[sb];
        r->life_sb = sb;
        if (tag.key == 0 || tag.key > core_keys(c))
            continue;
        c->rmap[slot] = tag.key;
        c->journal->found[r->found++] = (struct found_unit){
            .seq = tag.seq, .key = tag.key, .slot = slot, .atomic_first = tag.atomic_first,
            .atomic_count = tag.atomic_count};
    }
    return true;
}

static bool word_line_status(struct recovery *r, uint32_t sb, uint32_t die, uint32_t row,
                             int *ret_status)
{
    uint8_t byte;
    *ret_status = media_peek(r->c->media, die, 0, sb, row * r->c->g.page_types, 0, 1, &byte);
    return *ret_status != NAND_ERASED;
}

/* Reads what the rows of a superblock hold, die by die, up to the first erased one. */
static void scan_superblock(struct recovery *r, uint32_t sb)
{
    struct ftl_core *c = r->c;
    uint32_t *rows = &c->rows_programmed[(size_t)sb * c->g.dies];

    for (uint32_t die = 0; die < c->g.dies; die++) {
        uint32_t row = 0;
        int status;
        for (; row < c->g.rows && word_line_status(r, sb, die, row, &status); row++) {
            uint32_t d = core_data_die_of(&c->g, row, die);
            if (status != NAND_OK || (d != UINT32_MAX && !scan_word_line(r, sb, row, d))) {
                r->out->torn_wordlines++;
                c->gc.reads[sb] = 1;    /* for now: not whole */
            }
        }
        rows[die] = row;
        r->step_reads++;
    }
}

/* Is a superblock that was full still in the life that the table knows, on every die? An erase
 * may have reached some of them. */
static bool is_same_life(struct recovery *r, uint32_t sb)
{
    const struct ftl_core *c = r->c;
    struct payload_tag tag;
    int status;

    for (uint32_t die = 0; die < c->g.dies; die++) {
        uint32_t d = core_data_die_of(&c->g, 0, die);
        r->step_reads++;
        if (!word_line_status(r, sb, die, 0, &status) || status != NAND_OK)
            return false;
        if (d != UINT32_MAX &&
            (peek_tag(r, sb * c->g.sb_units + d * c->g.wl_units + 1, &tag) != NAND_OK ||
             tag.erases != c->erases[sb]))
            return false;
    }
    return true;
}

static int scan(struct recovery *r)
{
    struct ftl_core *c = r->c;

    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        struct payload_tag tag;
        uint32_t erases = c->erases[sb];
        if (c->state[sb] == SB_CLOSED) {
            if (is_same_life(r, sb) && peek_tag(r, sb * c->g.sb_units + 1, &tag) == NAND_OK) {
                for (uint32_t d = 0; d < c->g.dies; d++)
                    c->rows_programmed[(size_t)sb * c->g.dies + d] = c->g.rows;
                c->sb_frontier[sb] = tag.frontier;
                continue;               /* still in the life that the table knows */
            }
        }
        bool was_full = c->state[sb] == SB_CLOSED;
        scan_superblock(r, sb);
        c->collectable[sb] = 1;         /* for now: scanned */
        if (was_full && c->erases[sb] == erases)
            c->gc.reads[sb] = 1;        /* closed before, its first word line unreadable */
        c->state[sb] = SB_FREE;
    }
    return 0;
}

static int by_seq(const void *a, const void *b)
{
    uint64_t x = ((const struct found_unit *)a)->seq, y = ((const struct found_unit *)b)->seq;
    return x < y ? -1 : x > y;
}

/* Is unit i of this one's command there, or replaced by something newer? */
static bool member_is_there(struct recovery *r, const struct found_unit *u, uint32_t i)
{
    const struct journal *j = r->c->journal;
    uint64_t seq = u->seq - u->atomic_first + i;
    uint32_t key = u->key - u->atomic_first + i;

    if (j->seqs[key] >= seq)
        return true;
    for (uint32_t k = 0; k < r->found; k++)
        if (j->found[k].key == key && j->found[k].seq >= seq)
            return true;
    return false;
}

/* NAND is as the mark left it. */
static bool is_still(const struct recovery *r)
{
    return r->mark != 0 && r->mark_kind != MARK_STARTED;
}

static bool command_is_whole(struct recovery *r, const struct found_unit *u)
{
    if (is_still(r) || u->atomic_count < 2 || u->atomic_first >= u->atomic_count ||
        u->key <= u->atomic_first || u->key - u->atomic_first + u->atomic_count - 1 > r->c->user_units)
        return true;
    for (uint32_t i = 0; i < u->atomic_count; i++)
        if (!member_is_there(r, u, i))
            return false;
    return true;
}

/* The greatest sequence number counts. */
static int resolve(struct recovery *r)
{
    struct ftl_core *c = r->c;
    struct journal *j = c->journal;

    qsort(j->found, r->found, sizeof *j->found, by_seq);
    for (uint32_t i = 0; i < r->found; i++)
        r->seq = j->found[i].seq > r->seq ? j->found[i].seq : r->seq;
    /* the newest first: what is dropped replaces nothing older */
    for (uint32_t i = r->found; i-- > 0;) {
        struct found_unit *u = &j->found[i];
        if (u->seq <= j->seqs[u->key] || command_is_whole(r, u))
            continue;
        u->key = 0;
        r->out->units_dropped++;
    }
    for (uint32_t i = 0; i < r->found; i++) {
        const struct found_unit *u = &j->found[i];
        if (u->key == 0)
            continue;
        if (u->seq <= j->seqs[u->key]) {
            r->out->duplicates += c->map[u->key] != u->slot;
            continue;
        }
        r->out->duplicates += c->map[u->key] != 0 && c->map[u->key] != u->slot;
        c->map[u->key] = u->slot;
        j->seqs[u->key] = u->seq;
    }
    r->step_reads = r->found;
    return 0;
}

/* ---- steps: the buffer ------------------------------------------------------------------------------ */

static void take_unit(struct recovery *r, uint32_t segment, uint32_t page, uint8_t *sector,
                      const struct journal_trailer *t)
{
    struct ftl_core *c = r->c;
    uint32_t cw = t->param & 15;

    (void)segment, (void)page;
    if (r->map_pages != (t->a > c->user_units))
        return;
    if ((t->kind != JK_UNIT && t->kind != JK_UNIT_SENT) || t->number < r->mark_from ||
        t->number > r->mark || t->b == 0 || t->b > c->g.total_units || cw >= c->g.unit_cws ||
        t->a > core_keys(c))
        return;
    uint32_t sb = geometry_superblock(&c->g, t->b - 1);
    c->sb_frontier[sb] = t->param >> 4;
    core_payload_restore(c, t->b, cw, t->a, t->seq, sector, t->kind == JK_UNIT_SENT);
    r->seq = t->seq > r->seq ? t->seq : r->seq;
    c->collectable[sb] = 1;
    if (cw != 0)
        return;
    r->out->units_restored++;
    c->rmap[t->b] = t->a;
    if (r->map_pages)
        core_remap_saved(c, t->a, t->b, t->seq);
    if (t->a != 0 && t->seq > c->journal->seqs[t->a]) {
        core_payload_set_prev(c, t->b, c->map[t->a]);
        c->map[t->a] = t->b;
        c->journal->seqs[t->a] = t->seq;
    }
}

static int restore_buffer(struct recovery *r)
{
    r->map_pages = false;
    for (uint32_t i = 0; i < r->order_count && r->mark != 0; i++)
        walk(r, r->order[i], take_unit);
    return 0;
}

/* With a map on the medium: entries that are no newer than its pages. */
static int read_map(struct recovery *r)
{
    if (r->c->g.pages_on_medium == 0)
        return 0;
    core_remap_find(r->c, r->found);
    r->map_pages = true;
    for (uint32_t i = 0; i < r->order_count && r->mark != 0; i++)
        walk(r, r->order[i], take_unit);
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

/* ---- steps: counts ------------------------------------------------------------------------------------- */

/* Map entries whose unit is not there are dropped; live units are counted. */
static int count(struct recovery *r)
{
    struct ftl_core *c = r->c;

    for (uint32_t key = 1; key <= core_keys(c); key++) {
        uint32_t slot = c->map[key];
        if (slot == 0)
            continue;
        uint32_t sb = geometry_superblock(&c->g, slot - 1);
        if (c->collectable[sb] ? c->rmap[slot] != key : c->state[sb] != SB_CLOSED) {
            c->map[key] = 0;
            r->out->units_lost += key <= c->user_units;
            continue;
        }
        c->rmap[slot] = key;
        c->valid[sb]++;
        c->mapped += key <= c->user_units;
    }
    r->step_reads = c->user_units;
    return 0;
}

static uint64_t first_seq(struct recovery *r, uint32_t sb)
{
    struct payload_tag tag;
    const uint8_t *sector = core_payload_sector(r->c, sb * r->c->g.sb_units + 1, 0);
    if (sector != NULL)
        return core_payload_tag(sector, &tag) ? tag.seq : 0;
    return peek_tag(r, sb * r->c->g.sb_units + 1, &tag) == NAND_OK ? tag.seq : 0;
}

/* Superblocks with a free state, closed ones, and those that are written on. */
static int settle(struct recovery *r)
{
    struct ftl_core *c = r->c;

    c->free_count = 0;
    c->in_log = 0;
    c->payload->seq = r->seq;
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        bool scanned = c->collectable[sb], torn = c->gc.reads[sb] != 0;
        c->collectable[sb] = 0;
        c->gc.reads[sb] = 0;
        if (c->valid[sb] == 0) {
            core_payload_forget_superblock(c, sb);
            /* erased for sure only when nothing can have been under way */
            if (scanned && core_is_blank(c, sb) && is_still(r)) {
                c->state[sb] = SB_FREE;
                c->free_count++;
            } else {
                c->state[sb] = SB_VICTIM;       /* for now: to be erased */
            }
        } else if (!scanned || torn || !is_still(r) || !core_is_contiguous(c, sb) ||
                   (core_is_whole(c, sb) && !core_payload_holds(c, sb))) {
            r->out->padded_wordlines += scanned && !core_is_whole(c, sb);
            core_close_found(c, sb);
        } else {
            c->state[sb] = SB_OPEN;
        }
    }
    return 0;
}

/* The oldest first: a superblock may be wholly sent, and its frontier stand in another. */
static int restore_frontiers(struct recovery *r)
{
    struct ftl_core *c = r->c;

    for (;;) {
        uint32_t best = SB_NONE;
        uint64_t best_seq = UINT64_MAX;
        for (uint32_t sb = 0; sb < c->g.sb_count; sb++)
            if (c->state[sb] == SB_OPEN && !core_is_frontier(c, sb) &&
                first_seq(r, sb) < best_seq) {
                best = sb;
                best_seq = first_seq(r, sb);
            }
        if (best == SB_NONE)
            return 0;
        if (c->sb_frontier[best] >= c->frontier_count ||
            c->fr[c->sb_frontier[best]].sb != SB_NONE || core_resume_frontier(c, best) < 0)
            return FTL_EMEDIA;
    }
}

static int erase_void(struct recovery *r)
{
    struct ftl_core *c = r->c;
    struct journal *j = c->journal;

    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        if (c->state[sb] != SB_VICTIM)
            continue;
        for (uint32_t d = 0; d < c->g.dies; d++) {
            if (media_erase_now(c->media, j->at, d, sb, false).status == NAND_CUT)
                return FTL_EPOWER;
            c->rows_programmed[(size_t)sb * c->g.dies + d] = 0;
        }
        r->out->erased_again++;
        c->erases[sb]++;
        c->state[sb] = SB_FREE;
        c->free_count++;
    }
    return 0;
}

/* While the mark of the loss is the newest, a blank superblock passes for erased: an erase cut
 * short must not make one. So these erases wait for the checkpoint, which ends that. */
static int erase_early(struct recovery *r)
{
    /* without capacitors a map page that was replaced may be the one that another start begins with */
    bool keeps = r->c->g.pages_on_medium != 0 && (r->mark == 0 || !r->c->cfg->power_plp);
    return is_still(r) || keeps ? 0 : erase_void(r);
}

static bool lies_on_nand(struct recovery *r, uint32_t slot, const struct payload_tag *held)
{
    struct payload_tag tag;
    return peek_tag(r, slot, &tag) == NAND_OK && tag.key == held->key && tag.seq == held->seq;
}

/* Units that the log saved for a superblock that is closed, and that are not on NAND there, go
 * to an open one. */
static int place_again(struct recovery *r)
{
    struct ftl_core *c = r->c;
    const struct ftl_counters was = *c->count;  /* all was counted when it was placed first */
    uint8_t unit[65536];

    c->free_usable = (uint64_t)c->free_count * c->g.sb_units;
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        if (c->state[sb] != SB_CLOSED || core_is_frontier(c, sb) || !core_payload_holds(c, sb))
            continue;
        uint32_t class = c->sb_class[sb];
        for (uint32_t slot = sb * c->g.sb_units + 1; slot <= (sb + 1) * c->g.sb_units; slot++) {
            const uint8_t *sector = core_payload_sector(c, slot, 0);
            struct payload_tag tag;
            if (sector == NULL || !core_payload_tag(sector, &tag) || tag.key == 0 ||
                c->map[tag.key] != slot || lies_on_nand(r, slot, &tag))
                continue;
            uint32_t to = tag.key > c->user_units ? c->map_frontier : class;
            if (c->fr[to].sb == SB_NONE && c->free_count == 0)
                return FTL_EMEDIA;
            for (uint32_t cw = 0; cw < c->g.unit_cws; cw++)
                memcpy(unit + (size_t)cw * CODEWORD_BYTES, core_payload_sector(c, slot, cw),
                       CODEWORD_BYTES);
            c->payload->incoming = unit;
            if (tag.key > c->user_units)
                core_place_map_page(c, tag.key, CAUSE_HOST, unit);
            else
                core_place_host(c, class, &tag.key, 1);
            c->payload->incoming = NULL;
            r->step_reads++;
        }
        core_payload_forget_superblock(c, sb);
    }
    *c->count = was;
    return 0;
}

/* A checkpoint of the result, and the buffer with it; see the head of the file. */
static int write_checkpoint(struct recovery *r)
{
    struct ftl_core *c = r->c;
    struct journal *j = c->journal;
    uint32_t next = (r->order[r->order_count - 1] + 1) % j->segments;

    j->segment = r->order[r->order_count - 1];
    j->recovering = 1;
    for (uint32_t b = 0; b < j->segment_blocks; b++)
        for (uint32_t d = 0; d < c->g.dies; d++)
            if (media_erase_now(c->media, j->at, d,
                                j->first_block + next * j->segment_blocks + b, j->slc)
                    .status == NAND_CUT)
                return FTL_EPOWER;
    core_journal_rewrite(c, r->mark != 0);
    j->recovering = 0;
    return j->cut ? FTL_EPOWER : 0;
}

/* ---- the table -------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*fn)(struct recovery *r);
    uint8_t reads;              /* what its items are: page reads; else work of the CPU */
} steps[] = {
    {"find the newest checkpoint", find_log, 1},
    {"replay the log", replay, 1},
    {"scan open superblocks", scan, 1},
    {"resolve by sequence", resolve, 0},
    {"read the map", read_map, 1},
    {"restore the buffer", restore_buffer, 1},
    {"count live units", count, 0},
    {"close and free superblocks", settle, 0},
    {"resume open superblocks", restore_frontiers, 1},
    {"erase what is void", erase_early, 0},
    {"place again what was torn", place_again, 1},
    {"compare the map", compare_map, 0},
    {"write a checkpoint", write_checkpoint, 0},
    {"erase what was kept for it", erase_void, 0},
};

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
        out->step[out->step_count++] = (struct core_step){steps[i].name, *at - began, r.step_reads};
        if (steps[i].reads)
            out->pages_scanned += r.step_reads;
    }
    out->mark = is_still(&r) ? r.mark_kind : 0;
    c->journal->way = WAY_QUEUES;
    if (err < 0)
        return err;
    core_free_recount(c);
    return 0;
}
