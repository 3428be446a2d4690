/* gc.c - garbage collection: which superblock, when, and its pages.
 *
 * Pace: free slots (the inspected part of victims counts as free) are held between
 * free_floor and free_target. Below the target collection works; at the floor host
 * data waits. As each inspected page frees its dead units at once, both proceed in
 * small steps and IOPS stay smooth. */
#include "core/core.h"

uint32_t ftl_gc_draw(const struct ftl_gc_view *view, uint32_t k, uint32_t bound);

#include "sim/draw.h"

uint32_t ftl_gc_draw(const struct ftl_gc_view *view, uint32_t k, uint32_t bound)
{
    return draw_below(draw_mix(view->draw + k * UINT64_C(0x9e3779b97f4a7c15)), bound);
}

/* Any superblock to choose from? */
static bool any_collectable(const struct ftl_core *c)
{
    for (uint32_t i = 0; i < c->g.sb_count; i++)
        if (c->collectable[i])
            return true;
    return false;
}

/* 1 = chosen, 0 = none to choose from, < 0 the policy's fault. */
static int choose_victim(struct ftl_core *c)
{
    struct gc_state *gc = &c->gc;
    uint32_t sb = SB_NONE;

    if (!any_collectable(c))
        return 0;
    struct ftl_gc_view view = {
        .count = c->g.sb_count,
        .units_per_superblock = c->g.sb_units,
        .valid_units = c->valid,
        .collectable = c->collectable,
        .closed_at = c->closed_at,
        .erase_count = c->erases,
        .host_units_written = c->host_units,
        .draw = draw_u64(c->cfg->drive_seed, DRAW_GC_VICTIM, gc->picks++),
        .choices = (uint32_t)c->cfg->gc_choices,
    };
    if (c->gc_policy->pick(&view, &sb) < 0 || sb >= c->g.sb_count || !c->collectable[sb]) {
        c->error = FTL_EPOLICY;
        return FTL_EPOLICY;
    }
    c->state[sb] = SB_VICTIM;
    c->collectable[sb] = 0;
    c->count->gc_victims++;
    gc->victim = sb;
    gc->cursor = sb * c->g.sb_units + 1;
    gc->row = gc->data_die = gc->page = 0;
    return 1;
}

static inline uint32_t victim_end(const struct ftl_core *c)
{
    return (c->gc.victim + 1) * c->g.sb_units + 1;
}

static void prefetch_keys(const struct ftl_core *c, uint32_t slot, uint32_t end)
{
    for (; slot < end; slot++)
        __builtin_prefetch(&c->map[c->rmap[slot]], 1);
}

/* Slots [cursor, end) leave the log. */
static void leave_log(struct ftl_core *c, uint32_t slots)
{
    c->in_log -= slots;
    c->count->gc_units_scanned += slots;
}

/* ---- untimed ------------------------------------------------------------------ */

static void collect_chunk(struct ftl_core *c)
{
    uint32_t end = victim_end(c), from = c->gc.cursor;
    uint32_t to = end - from > GC_CHUNK ? from + GC_CHUNK : end;

    if (c->valid[c->gc.victim] == 0)
        to = end;
    else
        prefetch_keys(c, to, end - to > GC_CHUNK ? to + GC_CHUNK : end);
    if (c->valid[c->gc.victim] != 0)
        (void)core_relocate(c, from, to);
    leave_log(c, to - from);
    c->gc.cursor = to;
    if (to == end) {
        uint32_t sb = c->gc.victim;
        c->gc.victim = SB_NONE;
        core_release(c, sb);
    }
}

int core_gc_make_room(struct ftl_core *c, uint32_t n)
{
    /* A round over all superblocks that frees nothing will not do so later. */
    uint64_t limit = c->count->gc_victims + 2 * (uint64_t)c->g.sb_count + 2;

    while (core_host_room(c) < n) {
        if (c->gc.victim == SB_NONE) {
            int chosen = c->count->gc_victims < limit ? choose_victim(c) : 0;
            if (chosen <= 0) {
                c->error = FTL_EPOLICY;
                return FTL_EPOLICY;
            }
        }
        collect_chunk(c);
    }
    return 0;
}

/* ---- timed -------------------------------------------------------------------- */

/* Relocated data must be on the medium, or in a buffer with capacitors; and no
 * host read may still want the old place. */
static bool may_release(struct ftl_core *c, uint32_t sb)
{
    if (c->gc.reads[sb] != 0 || c->reads_in_flight[sb] != 0)
        return false;
    if (media_ops_free(c->media) < c->g.dies + c->wl_reserve)
        return false;
    if (c->cfg->power_plp)
        return true;
    if (c->gc.unprogrammed != 0 && c->wl_free_count > c->wl_reserve)
        (void)core_pad(c, &c->fr[c->gc_frontier]);
    return c->gc.unprogrammed == 0;
}

static void release_finished(struct ftl_core *c)
{
    struct gc_state *gc = &c->gc;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < gc->finishing_count; i++) {
        uint32_t sb = gc->finishing[i];
        if (may_release(c, sb))
            core_release(c, sb);
        else
            gc->finishing[kept++] = sb;
    }
    gc->finishing_count = kept;
}

static void next_page(struct ftl_core *c)
{
    struct gc_state *gc = &c->gc;
    gc->cursor += c->g.page_units;
    if (++gc->page < c->g.page_types * c->g.planes)
        return;
    gc->page = 0;
    if (++gc->data_die < c->g.data_dies)
        return;
    gc->data_die = 0;
    gc->row++;
}

static uint32_t live_in_page(const struct ftl_core *c, uint32_t slot)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < c->g.page_units; i++)
        live += c->map[c->rmap[slot + i]] == slot + i;
    return live;
}

static void issue_page(struct ftl_core *c, uint32_t live)
{
    struct gc_state *gc = &c->gc;
    uint32_t index = gc->page_free;
    struct gc_page *page = &gc->pages[index];

    gc->page_free = page->next;
    page->slot = gc->cursor;
    page->sb = gc->victim;
    page->gain = c->g.page_units - live;
    gc->pending_gain += page->gain;
    gc->in_flight++;
    gc->reads[gc->victim]++;
    gc->buffer_used += c->g.page_units;
    uint32_t type = gc->page / c->g.planes;
    media_read(c->media, c->ctx->now, MEDIA_GC_READ,
               geometry_data_die(&c->g, gc->row, gc->data_die), gc->page - type * c->g.planes,
               gc->victim, gc->row * c->g.page_types + type, live, index);
}

/* May one more page be read and its units placed? */
static bool page_fits(const struct ftl_core *c)
{
    const struct gc_state *gc = &c->gc;
    const struct frontier *f = &c->fr[c->gc_frontier];
    uint64_t space = (f->sb == SB_NONE ? 0 : f->sb_end - f->next) +
                     (uint64_t)c->free_count * c->g.sb_units;

    return gc->in_flight < gc->window && gc->buffer_used + c->g.page_units <= gc->buffer_limit &&
           c->wl_free_count > c->wl_reserve && media_ops_free(c->media) > c->wl_reserve &&
           space >= ((uint64_t)gc->in_flight + 1) * c->g.page_units;
}

/* Takes the victim's next page; false when it was the last or must wait. */
static bool step_victim(struct ftl_core *c)
{
    struct gc_state *gc = &c->gc;
    uint32_t end = victim_end(c);

    if (c->valid[gc->victim] == 0) {        /* nothing to read any more */
        leave_log(c, end - gc->cursor);
        gc->cursor = end;
    } else {
        uint32_t live = live_in_page(c, gc->cursor);
        if (live == 0)
            leave_log(c, c->g.page_units);
        else if (page_fits(c))
            issue_page(c, live);
        else
            return false;
        prefetch_keys(c, gc->cursor + 4 * c->g.page_units < end ? gc->cursor + 4 * c->g.page_units : end,
                      gc->cursor + 5 * c->g.page_units < end ? gc->cursor + 5 * c->g.page_units : end);
        next_page(c);
    }
    if (gc->cursor == end) {
        gc->finishing[gc->finishing_count++] = gc->victim;
        gc->victim = SB_NONE;
        release_finished(c);
    }
    return true;
}

void core_gc_issue(struct ftl_core *c)
{
    if (c->gc.finishing_count != 0)
        release_finished(c);
    while (core_free_slots(c) + c->gc.pending_gain < c->free_target) {
        if (c->gc.victim == SB_NONE && choose_victim(c) <= 0)
            return;
        if (!step_victim(c))
            return;
    }
}

uint64_t core_gc_page_in(struct ftl_core *c, uint32_t index)
{
    struct gc_state *gc = &c->gc;
    struct gc_page *page = &gc->pages[index];
    uint32_t slot = page->slot;

    uint64_t due = core_write_path(c, live_in_page(c, slot) * c->cfg->fw_gc_unit_ns);
    c->dispatch_at = due;
    gc->reads[page->sb]--;
    uint32_t moved = core_relocate(c, slot, slot + c->g.page_units);
    leave_log(c, c->g.page_units);
    gc->unprogrammed += moved;
    gc->buffer_used -= c->g.page_units - moved;
    gc->pending_gain -= page->gain;
    page->next = gc->page_free;
    gc->page_free = index;
    return due;
}

void core_gc_page_out(struct ftl_core *c)
{
    c->gc.in_flight--;
}

bool core_gc_idle(const struct ftl_core *c)
{
    return c->gc.in_flight == 0 && c->gc.finishing_count == 0;
}
