/* resume.c - an open superblock is written on after a start: its frontier, the word lines that
 * were on their way, the parity of its last rows. */
#include "core/recover.h"

bool core_is_frontier(const struct ftl_core *c, uint32_t sb)
{
    for (uint32_t i = 0; i < c->frontier_count; i++)
        if (c->fr[i].sb == sb)
            return true;
    return false;
}

static bool row_is_programmed(const struct ftl_core *c, uint32_t sb, uint32_t row)
{
    for (uint32_t d = 0; d < c->g.dies; d++)
        if (c->rows_programmed[(size_t)sb * c->g.dies + d] <= row)
            return false;
    return true;
}

/* A programmed word line of a row whose parity is not: its bytes are needed once more. */
static int load_word_line(struct ftl_core *c, struct frontier *f, uint32_t die, uint64_t *reads)
{
    uint8_t *to = core_payload_open(c, f, f->next);
    uint32_t page_bytes = c->payload->page_bytes;

    *reads += c->g.page_types * c->g.planes;
    for (uint32_t t = 0; t < c->g.page_types; t++)
        for (uint32_t p = 0; p < c->g.planes; p++, to += page_bytes)
            if (media_peek(c->media, die, p, f->sb, f->row * c->g.page_types + t, 0, page_bytes,
                           to) != NAND_OK)
                return FTL_EMEDIA;
    return 0;
}

/* The units of the word line at `begin` that are in the buffer, by cause; sent = all of it is. */
static uint32_t count_units(const struct ftl_core *c, struct frontier *f, uint32_t begin,
                            bool *ret_sent)
{
    uint32_t n = 0;
    *ret_sent = core_payload_was_sent(c, begin);
    for (; n < c->g.wl_units; n++) {
        struct payload_tag tag;
        if (!core_payload_tag(core_payload_sector(c, begin + n, 0), &tag))
            break;
        if (tag.key != 0)
            f->wl_units[tag.cause & 1]++;
    }
    return n;
}

/* Need a word line not be sent: is it on the medium, or put there now, before the start ends? */
bool core_resume_skips(struct ftl_core *c, const struct frontier *f, uint32_t die, int32_t group)
{
    uint32_t *rows = &c->rows_programmed[(size_t)f->sb * c->g.dies + die];
    struct journal *j = c->journal;

    if (*rows > f->row)
        return true;
    if (j->way != WAY_NOW)
        return false;
    if (!j->cut)
        j->cut = media_program_now(c->media, j->at, die, f->sb, f->row * c->g.page_types, false,
                                   core_payload_group(c, group)).status == NAND_CUT;
    *rows = f->row + 1;
    c->count->nand_programs++;
    return true;
}

int core_resume_frontier(struct ftl_core *c, uint32_t sb, uint64_t *reads)
{
    const struct ftl_geometry *g = &c->g;
    struct frontier *f = &c->fr[c->sb_frontier[sb]];
    const bool now = c->journal->way == WAY_NOW;

    *f = (struct frontier){.sb = sb};
    f->next = sb * g->sb_units + 1;
    f->sb_end = f->next + g->sb_units;
    f->run_end = f->wl_end = f->next + g->wl_units;
    if (f - c->fr != c->wear.frontier)      /* there tags say it: it takes any class */
        c->sb_class[sb] = c->fr_class[f - c->fr];
    c->restoring = true;
    const struct ftl_counters was = *c->count;  /* what was sent before was counted then */
    int err = 0;
    while (err == 0 && f->sb == sb) {
        if (f->data_die == 0 && row_is_programmed(c, sb, f->row) && f->row + 1 < g->rows) {
            f->row++;
            f->next += g->row_units;
            f->run_end = f->wl_end = f->next + g->wl_units;
            continue;
        }
        uint32_t die = geometry_data_die(g, f->row, f->data_die);
        bool sent = true;
        if (c->rows_programmed[(size_t)sb * g->dies + die] > f->row) {
            err = load_word_line(c, f, die, reads);
        } else if (core_payload_sector(c, f->next, 0) == NULL) {
            break;                      /* nothing was placed here yet */
        } else {
            core_payload_adopt(c, f, f->next);
            uint32_t n = count_units(c, f, f->next, &sent);
            if (!now) {
                c->buffer_used += f->wl_units[CAUSE_HOST];
                c->gc.buffer_used += f->wl_units[CAUSE_GC];
            }
            if (!sent || n < g->wl_units) {
                f->next += n;
                break;
            }
        }
        f->next = f->wl_end;
        core_word_line_end(c, f);
    }
    c->restoring = false;
    if (!now || c->journal->cut) {
        c->count->nand_programs = was.nand_programs;
        c->count->parity_bytes = was.parity_bytes;
        c->count->hole_bytes = was.hole_bytes;
    }
    c->in_log += f->sb == sb ? f->next - (sb * g->sb_units + 1) : g->sb_units;
    return err;
}

static uint64_t first_seq(const struct ftl_core *c, uint32_t sb)
{
    struct payload_tag tag;
    uint32_t slot = sb * c->g.sb_units + 1;
    const uint8_t *sector = core_payload_sector(c, slot, 0);

    if (sector != NULL)
        return core_payload_tag(sector, &tag) ? tag.seq : 0;
    return core_peek_tag(c, slot, &tag) == NAND_OK ? tag.seq : 0;
}

/* The oldest first: a superblock may be wholly sent, and its frontier stand in another. */
static int resume_frontiers(struct ftl_core *c, uint64_t *reads)
{
    for (;;) {
        uint32_t best = SB_NONE;
        uint64_t best_seq = UINT64_MAX;
        for (uint32_t sb = 0; sb < c->g.sb_count; sb++)
            if (c->state[sb] == SB_OPEN && !core_is_frontier(c, sb) &&
                first_seq(c, sb) < best_seq) {
                best = sb;
                best_seq = first_seq(c, sb);
            }
        if (best == SB_NONE)
            return 0;
        if (c->sb_frontier[best] >= c->frontier_count ||
            c->fr[c->sb_frontier[best]].sb != SB_NONE || core_resume_frontier(c, best, reads) < 0)
            return FTL_EMEDIA;
    }
}

/* Counts that follow from the states of superblocks. */
static void recount(struct ftl_core *c)
{
    uint32_t best = SB_NONE;

    c->free_usable = (uint64_t)c->free_count * c->g.sb_units;
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        c->collectable[sb] = c->state[sb] == SB_CLOSED && c->wl_in_flight[sb] == 0;
        if (c->collectable[sb] && (best == SB_NONE || c->valid[sb] < c->valid[best]))
            best = sb;
        if (c->state[sb] == SB_FREE)
            c->wear.freed_at[sb] = ++c->wear.freed;
    }
    c->medium_stale = false;
    /* a victim was under way when this is so; the one with the fewest live units fits where the
     * rest of that one did, whatever the policy would take */
    if (best != SB_NONE && core_free_slots(c) < c->free_floor) {
        c->state[best] = SB_VICTIM;
        c->collectable[best] = 0;
        c->count->gc_victims++;
        c->gc.victim = best;
        c->gc.cursor = best * c->g.sb_units + 1;
        c->gc.row = c->gc.data_die = c->gc.page = 0;
    }
}

int core_resume(struct ftl_core *c, uint64_t *ret_reads)
{
    int err = resume_frontiers(c, ret_reads);
    recount(c);
    return err;
}
