/* holes.c - word lines that cannot be written, and data of programs that failed.
 *
 * A stripe is one word line of one plane on every die of a row. Its members are the
 * dies whose block takes the row; the last raid.parity of them, in the order data
 * die 0.. then parity die 0.., hold parity, the others data. With all blocks there
 * that is the rotation of geometry.c; a missing parity member thus moves parity to
 * the last data member, and stripes stay protected. Slots of missing members and of
 * moved parity are holes: the frontier jumps over them, they count as in the log
 * and name no key. */
#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline const struct media_blocks *blocks_of(const struct ftl_core *c)
{
    return &c->media->blocks;
}

static uint32_t plane_units(const struct ftl_core *c)
{
    return c->g.page_types * c->g.group_units;
}

/* Rows that a die's block takes; `lasting`: after its replacement, if there is one. */
static uint32_t rows_of(const struct media_blocks *b, uint32_t sb, uint32_t die, uint32_t plane,
                        bool lasting)
{
    size_t i = media_blocks_index(b, sb, die, plane);
    if (!lasting)
        return b->hole_row[i];
    return b->block[i] == BLOCK_NONE || b->dead[(size_t)die * b->planes + plane] ? 0 : b->rows;
}

/* Rows beyond `from`, summed over the dies but the raid.parity with the most. */
static uint64_t sum_without_largest(const struct ftl_core *c, uint32_t sb, uint32_t plane,
                                    uint32_t from, bool lasting)
{
    const struct media_blocks *b = blocks_of(c);
    uint32_t top[8] = {0};          /* raid.parity is at most 8 */
    uint64_t sum = 0;

    for (uint32_t d = 0; d < c->g.dies; d++) {
        uint32_t h = rows_of(b, sb, d, plane, lasting);
        h = h > from ? h - from : 0;
        sum += h;
        for (uint32_t i = 0; i < c->g.parity_dies; i++)
            if (h > top[i]) {
                uint32_t t = top[i];
                top[i] = h;
                h = t;
            }
    }
    for (uint32_t i = 0; i < c->g.parity_dies; i++)
        sum -= top[i];
    return sum;
}

/* Slots of a superblock that hold data in rows from `row` on. m members of a stripe
 * hold m - k units of data; over all rows that is the sum of all hole rows but the
 * k largest. */
static uint32_t usable_from(const struct ftl_core *c, uint32_t sb, uint32_t row, bool lasting)
{
    uint64_t rows = 0;
    for (uint32_t p = 0; p < c->g.planes; p++)
        rows += sum_without_largest(c, sb, p, row, lasting);
    return (uint32_t)(rows * plane_units(c));
}

/* Planes whose stripe of this row has more members than parity. */
static uint32_t stripes_with_data(const struct ftl_core *c, uint32_t sb, uint32_t row)
{
    uint32_t planes = 0;
    for (uint32_t p = 0; p < c->g.planes; p++) {
        uint32_t members = 0;
        for (uint32_t d = 0; d < c->g.dies && members <= c->g.parity_dies; d++)
            members += row < blocks_of(c)->hole_row[media_blocks_index(blocks_of(c), sb, d, p)];
        planes |= (uint32_t)(members > c->g.parity_dies) << p;
    }
    return planes;
}

/* Planes of data die `d` of a row that hold data (or parity moved to it). */
static uint32_t data_planes(const struct ftl_core *c, uint32_t sb, uint32_t row, uint32_t d,
                            uint32_t *ret_parity)
{
    const struct ftl_geometry *g = &c->g;
    const struct media_blocks *b = blocks_of(c);
    uint32_t here = stripes_with_data(c, sb, row), parity = 0;

    here &= media_blocks_mask(b, sb, geometry_data_die(g, row, d), row);
    for (uint32_t p = 0; p < g->planes; p++) {
        uint32_t after = 0;
        if (!(here >> p & 1))
            continue;
        for (uint32_t k = 0; k < g->parity_dies; k++)
            after += row < b->hole_row[media_blocks_index(b, sb, geometry_parity_die(g, row, k), p)];
        for (uint32_t i = d + 1; i < g->data_dies && after < g->parity_dies; i++)
            after += row < b->hole_row[media_blocks_index(b, sb, geometry_data_die(g, row, i), p)];
        if (after < g->parity_dies)
            parity |= UINT32_C(1) << p;
    }
    *ret_parity = parity;
    return here & ~parity;
}

uint32_t core_parity_planes(const struct ftl_core *c, uint32_t sb, uint32_t row, uint32_t die)
{
    return media_blocks_mask(blocks_of(c), sb, die, row) & stripes_with_data(c, sb, row);
}

/* ---- counts ------------------------------------------------------------------- */

/* Hole slots of the open superblock from next on. */
static uint32_t holes_ahead(const struct ftl_core *c, const struct frontier *f)
{
    uint32_t used = 0, parity, end = f->sb_end;

    if (f->row < c->g.rows) {
        used = usable_from(c, f->sb, f->row + 1, false);
        for (uint32_t d = f->data_die; d < c->g.data_dies; d++) {
            uint32_t planes = data_planes(c, f->sb, f->row, d, &parity);
            uint32_t first = geometry_first_slot(&c->g, f->sb, f->row, d);
            for (uint32_t i = 0; i < c->g.wl_units; i += c->g.group_units) {
                uint32_t at = first + i, page_end = at + c->g.group_units;
                if (planes >> (i / c->g.group_units % c->g.planes) & 1 && page_end > f->next)
                    used += page_end - (at > f->next ? at : f->next);
            }
        }
    }
    return end - f->next - used;
}

static struct frontier *frontier_of(struct ftl_core *c, uint32_t sb)
{
    for (uint32_t i = 0; i < c->frontier_count; i++)
        if (c->fr[i].sb == sb)
            return &c->fr[i];
    return NULL;
}

/* What a superblock adds to holes_ahead and free_usable in its present state. */
static void count_in(struct ftl_core *c, uint32_t sb, bool in)
{
    const struct frontier *f = frontier_of(c, sb);
    uint32_t holes = c->holes[sb];

    if (c->state[sb] == SB_OPEN)
        holes = f->holes;
    else if (c->state[sb] == SB_CLOSED)
        holes = 0;
    c->holes_ahead = in ? c->holes_ahead + holes : c->holes_ahead - holes;
    c->holes_total = in ? c->holes_total + c->holes[sb] : c->holes_total - c->holes[sb];
    c->lasting_total =
        in ? c->lasting_total + c->lasting[sb] : c->lasting_total - c->lasting[sb];
    if (c->state[sb] != SB_FREE)
        return;
    uint32_t usable = c->g.sb_units - c->holes[sb];
    c->free_usable = in ? c->free_usable + usable : c->free_usable - usable;
}

/* Superblocks that keep less than this are given up. */
static uint32_t usable_least(const struct ftl_core *c)
{
    return c->g.sb_units / 4 + 1;
}

static void find_usable_min(struct ftl_core *c)
{
    c->usable_min = c->g.sb_units;
    for (uint32_t sb = 0; c->holes_total != 0 && sb < c->g.sb_count; sb++)
        if (c->state[sb] != SB_DEAD && c->g.sb_units - c->holes[sb] < c->usable_min)
            c->usable_min = c->g.sb_units - c->holes[sb];
    /* open and closed ones may have less than what is given up at their next use */
    if (c->usable_min < usable_least(c))
        c->usable_min = usable_least(c);
    uint64_t need = c->user_units + geometry_spare_needed(c->cfg) * c->g.sb_units;
    if (c->g.total_units - c->lasting_total < need)
        c->read_only = true;
}

/* Counts a superblock again after its hole rows, or its state, changed. `before` was
 * count_in(.., false). */
static void recount(struct ftl_core *c, uint32_t sb)
{
    struct frontier *f = frontier_of(c, sb);

    c->holes[sb] = c->g.sb_units - usable_from(c, sb, 0, false);
    c->lasting[sb] = c->g.sb_units - usable_from(c, sb, 0, true);
    if (f != NULL)
        f->holes = holes_ahead(c, f);
    if (c->state[sb] == SB_FREE && c->g.sb_units - c->holes[sb] < usable_least(c)) {
        c->state[sb] = SB_DEAD;
        c->free_count--;
    }
    if (c->state[sb] == SB_DEAD)
        c->holes[sb] = c->lasting[sb] = c->g.sb_units;
    count_in(c, sb, true);
}

void core_holes_init(struct ftl_core *c)
{
    c->free_usable = 0;
    c->holes_ahead = c->holes_total = c->lasting_total = 0;
    c->usable_min = c->g.sb_units;
    if (blocks_of(c)->block == NULL) {
        c->free_usable = c->g.total_units - c->cache.slots;
        return;
    }
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++)
        recount(c, sb);
    find_usable_min(c);
}

static void turn(struct ftl_core *c, uint32_t sb)
{
    media_blocks_turn(&c->media->blocks, sb);
    core_care_forget(c, sb);
    for (uint32_t p = 0; p < c->g.planes; p++)
        c->broken[(size_t)sb * c->g.planes + p] = (struct row_range){0, 0};
}

void core_holes_turn(struct ftl_core *c, uint32_t sb)
{
    count_in(c, sb, false);
    turn(c, sb);
    recount(c, sb);
    find_usable_min(c);
}

void core_holes_format(struct ftl_core *c)
{
    for (uint32_t sb = 0; blocks_of(c)->block != NULL && sb < c->g.sb_count; sb++)
        turn(c, sb);
    c->care.sb = SB_NONE;
    core_holes_init(c);
}

/* ---- the frontier ---------------------------------------------------------------- */

/* Jumps from next to slot `to`, the end of `page`, which holds moved parity or nothing. */
static void jump(struct ftl_core *c, struct frontier *f, uint32_t to, uint32_t page, bool parity)
{
    uint32_t n = to - f->next;

    if (n == c->g.group_units) {     /* a page begun before its plane failed stays data */
        f->jumped |= UINT64_C(1) << page;
        f->parity_pages |= (uint64_t)parity << page;
    }

    for (uint32_t slot = f->next; slot < to; slot++)
        c->rmap[slot] = 0;
    f->next = to;
    f->holes -= n;
    c->holes_ahead -= n;
    c->in_log += n;
    if (parity)
        f->parity_units += n;
    else
        f->hole_units += n;
}

/* Stands on a usable page of the word line, or at its end. */
static void find_run(struct ftl_core *c, struct frontier *f)
{
    uint32_t parity, planes = data_planes(c, f->sb, f->row, f->data_die, &parity);
    uint32_t begin = f->wl_end - c->g.wl_units;

    while (f->next < f->wl_end) {
        uint32_t page = (f->next - begin) / c->g.group_units, plane = page % c->g.planes;
        uint32_t page_end = begin + (page + 1) * c->g.group_units;
        if (planes >> plane & 1)
            break;
        jump(c, f, page_end, page, parity >> plane & 1);
    }
    uint32_t page = (f->next - begin) / c->g.group_units, end = f->next;
    while (end < f->wl_end && planes >> (page % c->g.planes) & 1)
        end = begin + ++page * c->g.group_units;
    f->run_end = end;
}

void core_frontier_settle(struct ftl_core *c, struct frontier *f)
{
    /* at most once per word line of the superblock */
    while (f->sb != SB_NONE && f->holes != 0) {
        find_run(c, f);
        if (f->next < f->wl_end)
            return;
        core_word_line_end(c, f);
    }
    if (f->sb != SB_NONE)
        f->run_end = f->wl_end;
}

/* ---- failures --------------------------------------------------------------------- */

static void add_broken(struct row_range *r, uint32_t from, uint32_t to)
{
    if (from >= to)
        return;
    if (r->from == r->to)
        *r = (struct row_range){from, to};
    r->from = from < r->from ? from : r->from;
    r->to = to > r->to ? to : r->to;
}

/* Rows in which something may have been placed. */
static uint32_t rows_begun(struct ftl_core *c, uint32_t sb)
{
    const struct frontier *f = frontier_of(c, sb);
    if (f != NULL)
        return f->row + 1 < c->g.rows ? f->row + 1 : c->g.rows;
    return c->state[sb] == SB_CLOSED || c->state[sb] == SB_VICTIM ? c->g.rows : 0;
}

/* Planes of a die take no more from this row of the superblock on. */
static void blocks_failed(struct ftl_core *c, uint32_t sb, uint32_t die, uint32_t planes,
                          uint32_t row)
{
    struct frontier *f = frontier_of(c, sb);

    count_in(c, sb, false);
    media_blocks_fail(&c->media->blocks, sb, die, planes, row);
    for (uint32_t p = 0; p < c->g.planes; p++)
        if (planes >> p & 1)
            add_broken(&c->broken[(size_t)sb * c->g.planes + p], row, rows_begun(c, sb));
    if (rows_begun(c, sb) != 0)
        core_care_want(c, sb);
    recount(c, sb);
    if (f != NULL)
        core_frontier_settle(c, f);
}

static void plane_dead(struct ftl_core *c, uint32_t die, uint32_t plane)
{
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        uint32_t row = 0;
        if (c->state[sb] != SB_FREE && c->state[sb] != SB_DEAD)
            row = c->rows_programmed[(size_t)sb * c->g.dies + die];
        blocks_failed(c, sb, die, UINT32_C(1) << plane, row);
    }
}

void core_count_retired(struct ftl_core *c, uint32_t sb, uint32_t units)
{
    uint64_t bytes = (uint64_t)units << c->g.unit_shift;

    if (c->wear.moved[sb]) {
        c->count->wear_bytes -= bytes;
    } else {
        c->count->gc_units_moved -= units;
        c->count->gc_bytes -= bytes;
    }
    if (c->leave[sb] == LEAVE_ALL)
        c->count->refresh_bytes += bytes;
    else
        c->count->retire_bytes += bytes;
}

/* Slots of a word line that its failed planes hold, moved away as far as room goes.
 * False: some are left. */
bool core_rewrite_failed(struct ftl_core *c, const struct wordline *wl)
{
    const struct ftl_geometry *g = &c->g;
    uint32_t planes = media_blocks_mask(blocks_of(c), wl->sb, wl->die, wl->row);
    uint32_t d = geometry_data_die_of(g, wl->row, wl->die);

    if (FTL_PLANT(failed_program_kept, 2) || d >= g->data_dies || planes == (UINT32_C(1) << g->planes) - 1)
        return true;            /* parity, or nothing failed */
    uint32_t slot = geometry_first_slot(g, wl->sb, wl->row, d);
    for (uint32_t i = 0; i < g->wl_units; i += g->group_units, slot += g->group_units) {
        if (planes >> (i / g->group_units % g->planes) & 1)
            continue;
        uint32_t live = core_live(c, slot, g->group_units);
        if (live == 0)
            continue;
        if (core_rewrite_room(c, c->sb_class[wl->sb]) < live)
            return false;
        if (c->payload != NULL)
            c->payload->page = core_payload_sector(c, slot, 0);
        core_relocate(c, slot, slot + g->group_units);
        if (c->payload != NULL)
            c->payload->page = NULL;
        c->gc.buffer_used += live;
        core_count_retired(c, wl->sb, live);
    }
    return true;
}

void core_planes_dead(struct ftl_core *c, const struct media_done *done)
{
    c->failures++;
    c->raid->any_dead |= done->dead != 0;
    for (uint32_t p = 0; p < c->g.planes; p++)
        if (done->dead >> p & 1)
            plane_dead(c, done->die, p);
    find_usable_min(c);
}

void core_program_failed(struct ftl_core *c, uint32_t index, const struct media_done *done)
{
    const struct wordline *wl = &c->wls[index];

    c->failures++;
    c->count->program_failures++;
    blocks_failed(c, wl->sb, done->die, done->failed, wl->row);
    find_usable_min(c);
    if (done->dead != 0)
        core_planes_dead(c, done);
}

void core_erase_failed(struct ftl_core *c, const struct media_done *done)
{
    const struct media_blocks *b = blocks_of(c);
    uint32_t sb = done->ref, gone = 0;

    c->failures++;
    c->count->erase_failures++;
    for (uint32_t p = 0; p < c->g.planes; p++)
        if ((done->failed >> p & 1) &&
            b->block[media_blocks_index(b, sb, done->die, p)] == BLOCK_NONE)
            gone |= UINT32_C(1) << p;
    blocks_failed(c, sb, done->die, gone, 0);
    find_usable_min(c);
    if (done->dead != 0)
        core_planes_dead(c, done);
}

void core_continue_failed(struct ftl_core *c)
{
    uint32_t *link = &c->failed_wl;

    while (*link != WL_NONE) {
        uint32_t index = *link;
        if (!core_rewrite_failed(c, &c->wls[index]))
            return;
        *link = c->wls[index].next;
        core_wl_give(c, index);
    }
}

/* ---- invariants ------------------------------------------------------------------- */

static int wrong(char *why, size_t size, const char *what, uint64_t got, uint64_t want)
{
    if (why != NULL && size > 0)
        (void)snprintf(why, size, "%s: %llu, the count says %llu", what, (unsigned long long)got,
                       (unsigned long long)want);
    return FTL_ECHECK;
}

/* Each block of a plane is a spare or in one superblock; each place has a block or a
 * hole from row 0. */
static int check_plane(const struct ftl_core *c, uint32_t die, uint32_t plane, uint8_t *seen,
                       uint64_t *used_sum, char *why, size_t size)
{
    const struct media_blocks *b = blocks_of(c);
    size_t at = (size_t)die * b->planes + plane;
    uint32_t used = 0;

    memset(seen, 0, b->spare_room);
    for (uint32_t i = 0; i < b->spare_count[at]; i++)
        used += !seen[b->spare[at * b->spare_room + i]]++;
    for (uint32_t sb = 0; sb < b->sb_count; sb++) {
        size_t i = media_blocks_index(b, sb, die, plane);
        if (b->block[i] != BLOCK_NONE)
            used += !seen[b->block[i]]++;
        else if (b->hole_row[i] != 0)
            return wrong(why, size, "blocks: a row without a block", b->hole_row[i], 0);
        if (b->hole_row[i] > b->rows)
            return wrong(why, size, "blocks: hole row beyond the block", b->hole_row[i], b->rows);
    }
    for (uint32_t k = 0; k < b->spare_room; k++) {
        struct nand_block_info info;
        if (seen[k] > 1)
            return wrong(why, size, "blocks: one block in two places", seen[k], 1);
        if (seen[k] == 0 || b->erases == NULL || c->medium_stale ||
            nand_block_info(c->media->nand, die, plane, k, &info) != 0)
            continue;
        uint32_t worn = media_blocks_worn(b, die, plane, k, 0);
        /* the part counts an erase as it begins */
        if (info.erase_count - worn > (c->media->dies[die].array_op != MEDIA_NONE))
            return wrong(why, size, "blocks: erases counted, and of the part", worn, info.erase_count);
    }
    *used_sum += used;
    return 0;
}

/* Every block of the drive is somewhere: in a superblock, a spare, or gone for good. */
static int check_blocks(const struct ftl_core *c, char *why, size_t size)
{
    const struct media_blocks *b = blocks_of(c);
    uint64_t used = 0, all = (uint64_t)b->dies * b->planes * b->spare_room;
    uint8_t *seen = malloc(b->spare_room);
    int err = seen == NULL ? FTL_ENOMEM : 0;

    for (uint32_t at = 0; at < b->dies * b->planes && err == 0; at++)
        err = check_plane(c, at / b->planes, at % b->planes, seen, &used, why, size);
    free(seen);
    if (err == 0 && used + b->factory_bad + b->retired != all)
        err = wrong(why, size, "blocks: placed, spare, bad and retired ones",
                    used + b->factory_bad + b->retired, all);
    return err;
}

int core_check_holes(const struct ftl_core *c, char *why, size_t size)
{
    uint64_t ahead = 0, usable = 0, total = 0;

    if (blocks_of(c)->block == NULL)
        return c->holes_total == 0 ? 0 : wrong(why, size, "holes", c->holes_total, 0);
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        uint32_t holes = c->g.sb_units - usable_from(c, sb, 0, false);
        if (c->state[sb] == SB_DEAD)
            holes = c->g.sb_units;
        if (holes != c->holes[sb])
            return wrong(why, size, "holes of a superblock", holes, c->holes[sb]);
        total += holes;
        if (c->state[sb] == SB_FREE)
            usable += c->g.sb_units - holes;
        if (c->state[sb] == SB_FREE || c->state[sb] == SB_DEAD || c->state[sb] == SB_VICTIM)
            ahead += holes;
    }
    for (uint32_t i = 0; i < c->frontier_count; i++) {
        const struct frontier *f = &c->fr[i];
        if (f->sb == SB_NONE)
            continue;
        if (f->holes != holes_ahead(c, f))
            return wrong(why, size, "holes ahead of a frontier", holes_ahead(c, f), f->holes);
        ahead += f->holes;
    }
    if (ahead != c->holes_ahead)
        return wrong(why, size, "holes ahead", ahead, c->holes_ahead);
    if (usable != c->free_usable)
        return wrong(why, size, "usable free slots", usable, c->free_usable);
    if (total != c->holes_total)
        return wrong(why, size, "holes", total, c->holes_total);
    uint32_t leaving = 0;
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++)
        leaving += c->leave[sb] != LEAVE_NOT;
    if (leaving != c->care.waiting)
        return wrong(why, size, "superblocks to be left", leaving, c->care.waiting);
    return check_blocks(c, why, size);
}
