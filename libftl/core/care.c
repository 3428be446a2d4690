/* care.c - data that should not stay where it is, moved in the background.
 *
 * A superblock with leave[] set holds data in failed blocks, on dead planes, or in rows
 * whose stripes are broken. Its live units there are read (or rebuilt) and placed with
 * relocation's frontier, a few pages at a time (media.care_pages); the rest stays. In
 * terms of room it is a host: it never takes what collection needs to finish. */
#include "core/core.h"

static uint32_t window(const struct ftl_core *c)
{
    uint64_t fits = c->g.sb_units / c->g.group_units, most = c->cfg->media_care_pages;
    fits = fits < 1 ? 1 : fits;
    return (uint32_t)(most < fits ? most : fits);
}

static void want(struct ftl_core *c, uint32_t sb, enum leave_reason reason)
{
    if (c->leave[sb] >= reason)
        return;
    bool fresh = c->leave[sb] == LEAVE_NOT;
    c->leave[sb] = (uint8_t)reason;
    if (c->care.sb == sb)       /* from the start: more of it is wanted */
        c->care.slot = sb * c->g.sb_units + 1;
    if (!fresh)
        return;
    if (c->care.waiting++ == 0) {
        c->care.since = c->ctx->now;
        c->care_units = (uint64_t)window(c) * c->g.group_units;
    }
}

void core_care_want(struct ftl_core *c, uint32_t sb)
{
    want(c, sb, LEAVE_BLOCKS);
}

void core_refresh_want(struct ftl_core *c, uint32_t sb)
{
    if (FTL_PLANT(refresh_skipped, 1))
        return;
    if (c->state[sb] == SB_CLOSED && c->valid[sb] != 0 && c->leave[sb] != LEAVE_ALL) {
        c->count->refreshes++;
        want(c, sb, LEAVE_ALL);
    }
}

void core_patrol(struct ftl_core *c)
{
    uint64_t age = c->cfg->media_refresh_hours * UINT64_C(3600000000000);

    for (uint32_t sb = 0; sb < c->g.sb_count; sb++)
        if (c->ctx->now - c->closed_at_ns[sb] >= age)
            core_refresh_want(c, sb);
}

void core_care_forget(struct ftl_core *c, uint32_t sb)
{
    if (!c->leave[sb])
        return;
    c->leave[sb] = 0;
    if (--c->care.waiting != 0)
        return;
    c->care.busy_ns += c->ctx->now - c->care.since;
    c->care_units = 0;
}

/* What cannot be read goes first, then what no stripe covers any more. */
static bool choose(struct ftl_core *c)
{
    uint32_t best = SB_NONE;

    for (uint32_t sb = 0; sb < c->g.sb_count; sb++)
        if (c->leave[sb] && c->collectable[sb]) {
            best = best == SB_NONE || c->leave[best] == LEAVE_STRIPES ? sb : best;
            if (c->leave[best] != LEAVE_STRIPES)
                break;
        }
    if (best == SB_NONE)
        return false;
    c->care.sb = best;
    c->care.slot = best * c->g.sb_units + 1;
    return true;
}

/* Did the stripe of a row lose a member that was written? */
static bool is_exposed(const struct ftl_core *c, uint32_t sb, uint32_t plane, uint32_t row)
{
    const struct media_blocks *b = &c->media->blocks;

    for (uint32_t d = 0; d < c->g.dies; d++)
        if (b->dead[(size_t)d * b->planes + plane] &&
            row < b->hole_row[media_blocks_index(b, sb, d, plane)])
            return true;
    return false;
}

/* What was lost of it has moved; media.restripe: the rest follows into whole stripes. */
static void restripe(struct ftl_core *c, uint32_t sb, uint8_t reason)
{
    if (!c->cfg->media_restripe || reason != LEAVE_BLOCKS || c->valid[sb] == 0)
        return;
    for (uint32_t p = 0; p < c->g.planes; p++)
        if (is_exposed(c, sb, p, 0))
            want(c, sb, LEAVE_STRIPES);
}

/* Should data of this place leave it? */
static bool is_wanted(const struct ftl_core *c, const struct ftl_place *p)
{
    const struct media_blocks *b = &c->media->blocks;
    const struct row_range *r = &c->broken[(size_t)p->sb * c->g.planes + p->plane];

    return c->leave[p->sb] == LEAVE_ALL ||
           (c->leave[p->sb] == LEAVE_STRIPES && is_exposed(c, p->sb, p->plane, p->row)) ||
           b->dead[(size_t)p->die * b->planes + p->plane] ||
           b->hole_row[media_blocks_index(b, p->sb, p->die, p->plane)] < b->rows ||
           (p->row >= r->from && p->row < r->to);
}

static bool fits(const struct ftl_core *c, uint32_t live)
{
    const struct gc_state *gc = &c->gc;
    uint32_t class = c->sb_class[c->care.sb];

    if (c->care.in_flight >= window(c) || gc->in_flight >= gc->window)
        return false;
    if (gc->in_flight != 0 && gc->flight_frontier != core_victim_frontier(c, c->care.sb))
        return false;           /* pages of one frontier at a time */
    if (gc->victim != SB_NONE && c->sb_class[gc->victim] != class &&
        core_free_slots(c) < c->free_target)
        return false;           /* collection of another class goes first */
    return gc->buffer_used + c->g.group_units <= gc->buffer_limit &&
           core_free_slots(c) > c->free_floor + (c->care.in_flight + 1) * c->g.group_units &&
           core_rewrite_room(c, class) >= live + c->g.group_units;
}

void core_want_live(struct ftl_core *c, uint32_t slot)
{
    c->media->next_codewords = 0;
    for (uint32_t i = 0; i < c->g.group_units; i++)
        if (c->map[c->rmap[slot + i]] == slot + i)
            c->media->next_codewords |=
                (uint16_t)(((UINT32_C(1) << c->g.unit_cws) - 1) << (i << c->g.cw_shift));
}

static void issue(struct ftl_core *c, const struct ftl_place *p, uint32_t live)
{
    struct gc_state *gc = &c->gc;
    uint32_t index = gc->page_free;
    struct gc_page *page = &gc->pages[index];

    gc->page_free = page->next;
    *page = (struct gc_page){.slot = c->care.slot, .sb = p->sb, .pending = 1, .care = true};
    gc->flight_frontier = core_victim_frontier(c, p->sb);
    gc->in_flight++;
    gc->reads[p->sb]++;
    gc->buffer_used += c->g.group_units;
    c->care.in_flight++;
    c->collectable[p->sb] = 0;  /* not as long as pages are on their way */
    if (media_decodes(c->media))
        core_want_live(c, c->care.slot);
    media_read(c->media, c->ctx->now, MEDIA_SCRUB_READ, p->die, p->plane, p->sb,
               p->row * c->g.page_types + p->page_type, live << c->g.cw_shift, index);
}

/* One page further; false = it must wait. */
static bool step(struct ftl_core *c)
{
    uint32_t sb = c->care.sb;
    struct ftl_place p;

    if (c->care.slot == (sb + 1) * c->g.sb_units + 1 || c->valid[sb] == 0) {
        if (c->gc.reads[sb] != 0)
            return false;
        uint8_t reason = c->leave[sb];
        core_care_forget(c, sb);
        restripe(c, sb, reason);
        c->care.sb = SB_NONE;
        return true;
    }
    geometry_place(&c->g, c->care.slot - 1, 0, &p);
    uint32_t live = core_live(c, c->care.slot, c->g.group_units);
    if (live != 0 && is_wanted(c, &p)) {
        if (!fits(c, live))
            return false;
        issue(c, &p, live);
    }
    c->care.slot += c->g.group_units;
    return true;
}

void core_care(struct ftl_core *c)
{
    /* bounded: each step goes on by a page, each superblock is left once */
    while (c->care.waiting != 0) {
        if (c->care.sb != SB_NONE && c->state[c->care.sb] != SB_CLOSED)
            c->care.sb = SB_NONE;   /* collection took it: all of its data moves */
        if (c->care.sb == SB_NONE && !choose(c))
            return;
        if (!step(c))
            return;
    }
}
