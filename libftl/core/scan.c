/* scan.c - the superblocks after a loss: what they hold, which copy of a unit counts, and what
 * becomes of each. Steps of recover.c. */
#include <stdlib.h>
#include <string.h>

#include "core/recover.h"

/* ---- what is there --------------------------------------------------------------------------- */

int core_peek_tag(const struct ftl_core *c, uint32_t slot, struct payload_tag *ret)
{
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
    uint32_t slot = geometry_first_slot(&c->g, sb, row, data_die);

    r->step_reads += c->g.page_types * c->g.planes;
    for (uint32_t i = 0; i < c->g.wl_units; i++, slot++) {
        struct payload_tag tag;
        if (core_peek_tag(c, slot, &tag) != NAND_OK)
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
            .atomic_count = tag.atomic_count, .atomic_back = tag.atomic_back};
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

/* What records told of a word line, or nothing where the checkpoint knew it. Entries move to the
 * front: no more were found than slots were passed. */
static void take_told(struct recovery *r, uint32_t sb, uint32_t row, uint32_t data_die)
{
    struct ftl_core *c = r->c;
    uint32_t slot = geometry_first_slot(&c->g, sb, row, data_die);

    for (uint32_t i = 0; i < c->g.wl_units; i++, slot++) {
        struct found_unit u = c->journal->found[slot - 1];
        if (u.slot != slot || u.key == 0 || u.key > core_keys(c))
            continue;
        c->rmap[slot] = u.key;
        c->journal->found[r->found++] = u;
    }
}

/* Of a programmed one: did the checkpoint know it, or a record tell of it? */
static bool is_told(const struct ftl_core *c, uint32_t sb, uint32_t row, uint32_t die, uint32_t data_die)
{
    uint32_t slot = geometry_first_slot(&c->g, sb, row, data_die);

    return row < c->journal->known[(size_t)sb * c->g.dies + die] ||
           c->journal->found[slot - 1].slot == slot;
}

static void scan_torn(struct recovery *r, uint32_t sb)
{
    r->out->torn_wordlines++;
    r->c->gc.reads[sb] = 1;     /* for now: not whole */
}

/* The next word line of a die, if it is not erased. */
static void scan_die(struct recovery *r, uint32_t sb, uint32_t row, uint32_t die, uint32_t data_die)
{
    struct ftl_core *c = r->c;
    uint32_t *rows = &c->rows_programmed[(size_t)sb * c->g.dies + die];
    int status;

    if (*rows > row) {
        if (data_die == UINT32_MAX)     /* parity has no tags */
            return;
        if (is_told(c, sb, row, die, data_die))
            take_told(r, sb, row, data_die);
        else if (!scan_word_line(r, sb, row, data_die))
            scan_torn(r, sb);
        return;
    }
    if (*rows != row || *recover_void(r, sb, die) || !word_line_status(r, sb, die, row, &status))
        return;
    ++*rows;
    if (status != NAND_OK || (data_die != UINT32_MAX && !scan_word_line(r, sb, row, data_die)))
        scan_torn(r, sb);
}

/* Is the block that records told of still in that life? Parity, in the first row of some dies, has
 * no tag. */
static bool is_in_life(struct recovery *r, uint32_t sb, uint32_t die)
{
    struct ftl_core *c = r->c;
    uint32_t d = geometry_data_die_of(&c->g, 0, die);
    struct payload_tag tag;
    int status;

    r->step_reads++;
    if (*recover_void(r, sb, die) || !word_line_status(r, sb, die, 0, &status) ||
        status != NAND_OK)
        return false;
    if (d == UINT32_MAX)
        return true;
    if (core_peek_tag(c, sb * c->g.sb_units + d * c->g.wl_units + 1, &tag) != NAND_OK ||
        tag.erases != c->erases[sb])
        return false;
    c->sb_frontier[sb] = tag.frontier;
    if (c->state[sb] != SB_CLOSED)      /* else the table says it */
        c->sb_class[sb] = core_class_of_tag(c, tag.class);
    return true;
}

/* Reads what the rows of a superblock hold, on each die up to the first erased one; what the log
 * told of it, if all of that still holds, is not read. */
static void scan_superblock(struct recovery *r, uint32_t sb)
{
    struct ftl_core *c = r->c;
    uint32_t *rows = &c->rows_programmed[(size_t)sb * c->g.dies];
    bool told = false, holds = true;

    for (uint32_t die = 0; die < c->g.dies && holds; die++) {
        told = told || rows[die] != 0;
        holds = rows[die] == 0 || is_in_life(r, sb, die);
    }
    if (!holds)
        core_tags_forget(c, sb);
    else if (told)
        r->life_sb = sb;
    for (uint32_t row = 0; row < c->g.rows; row++) {
        for (uint32_t d = 0; d < c->g.data_dies; d++)
            scan_die(r, sb, row, geometry_data_die(&c->g, row, d), d);
        for (uint32_t k = 0; k < c->g.parity_dies; k++)
            scan_die(r, sb, row, geometry_parity_die(&c->g, row, k), UINT32_MAX);
    }
    r->step_reads += c->g.dies;
}

/* Is a superblock that was full still in the life that the table knows, on every die? An erase
 * may have reached some of them. */
static bool is_same_life(struct recovery *r, uint32_t sb)
{
    for (uint32_t die = 0; die < r->c->g.dies; die++)
        if (!is_in_life(r, sb, die))
            return false;
    return true;
}

int recover_scan(struct recovery *r)
{
    struct ftl_core *c = r->c;

    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        uint32_t erases = c->erases[sb];
        if (c->state[sb] == SB_CLOSED && is_same_life(r, sb)) {
            for (uint32_t d = 0; d < c->g.dies; d++)
                c->rows_programmed[(size_t)sb * c->g.dies + d] = c->g.rows;
            continue;
        }
        bool was_full = c->state[sb] == SB_CLOSED;
        if (was_full)
            core_tags_forget(c, sb);
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
    uint64_t seq = u->seq - u->atomic_back + i;
    uint32_t key = u->key - u->atomic_first + i;

    if (j->seqs[key] >= seq)
        return true;
    for (uint32_t k = 0; k < r->found; k++)
        if (j->found[k].key == key && j->found[k].seq >= seq)
            return true;
    return false;
}

static bool command_is_whole(struct recovery *r, const struct found_unit *u)
{
    if (recover_is_still(r) || u->atomic_count < 2 || u->atomic_first >= u->atomic_count ||
        u->key <= u->atomic_first || u->key - u->atomic_first + u->atomic_count - 1 > r->c->user_units)
        return true;
    for (uint32_t i = 0; i < u->atomic_count; i++)
        if (!member_is_there(r, u, i))
            return false;
    return true;
}

/* The greatest sequence number counts. */
int recover_resolve(struct recovery *r)
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

/* ---- what becomes of it ----------------------------------------------------------------------- */

bool recover_is_there(const struct recovery *r, uint32_t key, uint32_t slot)
{
    const struct ftl_core *c = r->c;
    if (slot == 0)
        return false;
    uint32_t sb = geometry_superblock(&c->g, slot - 1);
    return c->collectable[sb] ? c->rmap[slot] == key || core_tags_known(c, slot)
                              : c->state[sb] == SB_CLOSED;
}

/* Map entries whose unit is not there are dropped; live units are counted. With a mark its records
 * tell them, so the pass takes no time: it makes rmap, for which a drive has the tags, and sees
 * that the records are right. */
int recover_count(struct recovery *r)
{
    struct ftl_core *c = r->c;
    bool told = recover_is_still(r) && r->counts == c->g.sb_count;

    for (uint32_t key = 1; key <= core_keys(c); key++) {
        uint32_t slot = c->map[key];
        if (slot == 0)
            continue;
        uint32_t sb = geometry_superblock(&c->g, slot - 1);
        if (!recover_is_there(r, key, slot)) {
            c->map[key] = 0;
            r->out->units_lost += key <= c->user_units;
            told = false;               /* the records were of a medium without damage */
            continue;
        }
        c->rmap[slot] = key;
        c->valid[sb]++;
        c->mapped += key <= c->user_units;
    }
    r->step_reads = told ? c->g.sb_count : c->user_units;
    return told && memcmp(c->valid, c->journal->live, c->g.sb_count * sizeof *c->valid) != 0
               ? FTL_EMEDIA
               : 0;
}

void recover_empty(struct recovery *r, uint32_t sb)
{
    struct ftl_core *c = r->c;
    memset(recover_void(r, sb, 0), 1, c->g.dies);
    memset(&c->rows_programmed[(size_t)sb * c->g.dies], 0, c->g.dies * sizeof *c->rows_programmed);
}

void recover_free(struct recovery *r, uint32_t sb)
{
    struct ftl_core *c = r->c;
    recover_empty(r, sb);
    c->erases[sb]++;
    c->state[sb] = SB_FREE;
    c->free_count++;
}

/* Nothing live is in it. Blank for sure after a mark, but for blocks whose erase was waiting; else
 * all of it is erased once more. */
static void settle_void(struct recovery *r, uint32_t sb, bool scanned)
{
    struct ftl_core *c = r->c;

    core_payload_forget_superblock(c, sb);
    core_payload_erased(c, sb);
    if (!scanned || !core_is_blank(c, sb) || !recover_is_still(r)) {
        recover_free(r, sb);
        return;
    }
    c->state[sb] = SB_FREE;
    c->free_count++;
}

/* Superblocks with a free state, closed ones, and those that are written on. */
int recover_settle(struct recovery *r)
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
            settle_void(r, sb, scanned);
        } else if (!scanned || torn || !recover_is_still(r) ||
                   (core_is_whole(c, sb) && !core_payload_holds(c, sb))) {
            if (core_payload_holds(c, sb))
                return FTL_EMEDIA;
            r->out->padded_wordlines += scanned && !core_is_whole(c, sb);
            core_close_found(c, sb);
        } else if (core_is_contiguous(c, sb)) {
            c->state[sb] = SB_OPEN;
        } else {
            return FTL_EMEDIA;
        }
    }
    return 0;
}
