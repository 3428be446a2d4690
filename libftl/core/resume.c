/* resume.c - an open superblock is written on after a start: its frontier, the word lines that
 * were on their way, the parity of its last rows. */
#include "core/core.h"

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
static int load_word_line(struct ftl_core *c, struct frontier *f, uint32_t die)
{
    uint8_t *to = core_payload_open(c, f, f->next);
    uint32_t page_bytes = c->payload->page_bytes;

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

int core_resume_frontier(struct ftl_core *c, uint32_t sb)
{
    const struct ftl_geometry *g = &c->g;
    struct frontier *f = &c->fr[c->sb_frontier[sb]];

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
            err = load_word_line(c, f, die);
        } else if (core_payload_sector(c, f->next, 0) == NULL) {
            break;                      /* nothing was placed here yet */
        } else {
            core_payload_adopt(c, f, f->next);
            uint32_t n = count_units(c, f, f->next, &sent);
            c->buffer_used += f->wl_units[CAUSE_HOST];
            c->gc.buffer_used += f->wl_units[CAUSE_GC];
            if (!sent || n < g->wl_units) {
                f->next += n;
                break;
            }
        }
        f->next = f->wl_end;
        core_word_line_end(c, f);
    }
    c->restoring = false;
    c->count->nand_programs = was.nand_programs;
    c->count->parity_bytes = was.parity_bytes;
    c->count->hole_bytes = was.hole_bytes;
    c->in_log += f->sb == sb ? f->next - (sb * g->sb_units + 1) : g->sb_units;
    return err;
}

/* Counts that follow from the states of superblocks. */
void core_free_recount(struct ftl_core *c)
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
    c->timed = true;
    c->medium_stale = false;
    c->buffer_used = core_open_cause(c, CAUSE_HOST);    /* the rest was stored by now */
    c->gc.buffer_used = core_open_cause(c, CAUSE_GC);
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
