/* place.c - units into word lines of open superblocks, and word lines to the medium. */
#include "core/core.h"

/* ---- word lines on their way ---------------------------------------------- */

static struct wordline *wl_take(struct ftl_core *c, uint32_t *ret_index)
{
    FTL_ASSERT(c->ctx, c->wl_free_count > 0);
    struct wordline *wl = &c->wls[c->wl_free];
    *ret_index = c->wl_free;
    c->wl_free = wl->next;
    c->wl_free_count--;
    return wl;
}

static void wl_send(struct ftl_core *c, const struct frontier *f, uint32_t die,
                    const uint32_t units[2], int32_t group, bool is_parity)
{
    uint32_t index;
    struct wordline *wl = wl_take(c, &index);

    *wl = (struct wordline){.sb = f->sb, .units = {units[0], units[1]}, .row = f->row,
                            .die = (uint16_t)die, .is_parity = is_parity, .group = group,
                            .writer = f - c->fr < c->classes ? MEDIA_FOR_HOST : MEDIA_FOR_GC,
                            .seq = ++c->wl_seq};
    c->wl_in_flight[f->sb]++;
    sim_line_push(&c->wl_out, c->dispatch_at > c->ctx->now ? c->dispatch_at : c->ctx->now, index);
}

void core_wl_program(struct ftl_core *c, uint32_t index, enum media_pass pass)
{
    const struct wordline *wl = &c->wls[index];
    if (c->payload != NULL)
        media_program_data(c->media, (uint64_t)wl->group * c->payload->wl_bytes);
    uint32_t page = core_is_slc(c, wl->sb) ? wl->row : wl->row * c->g.page_types;
    media_program(c->media, c->ctx->now, wl->writer, wl->die, wl->sb, page, pass,
                  pass == MEDIA_COARSE ? MEDIA_NONE : index);
}

void core_wl_ready(struct ftl_core *c)
{
    uint32_t index = sim_line_pop(&c->wl_out).arg;
    if (c->coarse_wl != NULL && !core_is_slc(c, c->wls[index].sb))
        core_passes_ready(c, index);
    else
        core_wl_program(c, index, MEDIA_WHOLE);
}

void core_wl_done(struct ftl_core *c, uint32_t index)
{
    struct wordline *wl = &c->wls[index];

    /* a die programs the rows of a superblock in order: data of one, parity of another */
    c->rows_programmed[(size_t)wl->sb * c->g.dies + wl->die] = wl->row + 1;
    if (c->journal != NULL)
        core_log_tags(c, wl->sb, wl->row, wl->die);
    if (__builtin_expect(c->failures != 0, 0) && !core_rewrite_failed(c, wl)) {
        wl->next = c->failed_wl;
        c->failed_wl = index;
        return;
    }
    core_wl_give(c, index);
}

void core_wl_give(struct ftl_core *c, uint32_t index)
{
    struct wordline *wl = &c->wls[index];
    uint32_t sb = wl->sb;

    c->buffer_used -= wl->units[CAUSE_HOST];
    c->gc.buffer_used -= wl->units[CAUSE_GC];
    if (--c->wl_in_flight[sb] == 0 && c->state[sb] == SB_CLOSED)
        c->collectable[sb] = !core_is_slc(c, sb);
    if (c->payload != NULL)
        core_payload_release(c, wl->group, !wl->is_parity);
    wl->seq = 0;
    wl->next = c->wl_free;
    c->wl_free = index;
    c->wl_free_count++;
}

uint64_t core_oldest_wl(const struct ftl_core *c)
{
    uint64_t oldest = UINT64_MAX;
    for (uint32_t i = 0; i < c->wl_count; i++)
        if (c->wls[i].seq != 0 && c->wls[i].seq < oldest)
            oldest = c->wls[i].seq;
    return oldest;
}

/* ---- frontiers ------------------------------------------------------------ */

static void close_superblock(struct ftl_core *c, struct frontier *f)
{
    c->state[f->sb] = SB_CLOSED;
    c->closed_at[f->sb] = ++c->closings;
    c->closed_at_write[f->sb] = c->host_units;
    c->closed_at_ns[f->sb] = c->ctx->now;
    if (core_is_slc(c, f->sb))
        c->cache.closed++;
    else
        c->collectable[f->sb] = c->wl_in_flight[f->sb] == 0;
    f->sb = SB_NONE;
}

/* Sends a word line on its way; untimed, its bytes are on the medium at once. */
static void emit(struct ftl_core *c, const struct frontier *f, uint32_t die,
                 const uint32_t units[2], int32_t group, bool is_parity)
{
    if (__builtin_expect(c->restoring, 0) && core_resume_skips(c, f, die, group)) {
        core_payload_release(c, group, !is_parity);
        return;
    }
    c->count->nand_programs++;
    if (c->timed)
        wl_send(c, f, die, units, group, is_parity);
    else if (c->payload != NULL)
        core_payload_store(c, f, die, group, !is_parity);
    else if (c->journal != NULL) {
        core_log_tags(c, f->sb, f->row, die);
        core_journal_step(c);
    }
}

/* Parity die k of the row that is now full. */
static void send_parity(struct ftl_core *c, const struct frontier *f, uint32_t k)
{
    static const uint32_t none[2] = {0, 0};
    uint32_t die = geometry_parity_die(&c->g, f->row, k), units = c->g.wl_units - f->skip;

    int32_t group = c->payload != NULL ? core_payload_parity(c, f, k) : GROUP_NONE;

    if (__builtin_expect(c->holes_total != 0, 0)) {
        uint32_t planes = core_parity_planes(c, f->sb, f->row, die);
        if (planes == 0) {          /* nothing to protect, or nowhere to put it */
            if (group != GROUP_NONE)
                core_payload_release(c, group, false);
            return;
        }
        units = (uint32_t)__builtin_popcount(planes) * (units / c->g.planes);
    }
    c->count->parity_bytes += (uint64_t)units * c->g.unit_bytes;
    c->count->hole_bytes += (uint64_t)(c->g.wl_units - units) * c->g.unit_bytes;
    emit(c, f, die, none, group, true);
}

/* Data die of the row: programmed unless all of it was jumped over. */
static void send_data(struct ftl_core *c, const struct frontier *f)
{
    if (__builtin_expect(f->hole_units + f->parity_units != 0, 0)) {
        if (f->hole_units == c->g.wl_units)
            return;
        c->count->hole_bytes += (uint64_t)f->hole_units * c->g.unit_bytes;
        c->count->parity_bytes += (uint64_t)f->parity_units * c->g.unit_bytes;
    }
    int32_t group = c->payload != NULL ? core_payload_full(c, f) : GROUP_NONE;
    emit(c, f, geometry_data_die(&c->g, f->row, f->data_die), f->wl_units, group, false);
}

/* The word line is full: on to the next die, after the last one to the parity of
 * the row and the next row. */
void core_word_line_end(struct ftl_core *c, struct frontier *f)
{
    const struct ftl_geometry *g = &c->g;

    send_data(c, f);
    if (c->gc.finishing_count != 0 && f->wl_units[CAUSE_GC] != 0)
        core_gc_word_line(c, (uint32_t)(f - c->fr), c->wl_seq);
    f->wl_units[CAUSE_HOST] = f->wl_units[CAUSE_GC] = 0;
    f->hole_units = f->parity_units = 0;
    f->jumped = f->parity_pages = 0;
    f->wl_end += g->wl_units;
    f->run_end = f->wl_end - f->skip;
    if (++f->data_die < g->data_dies)
        return;
    for (uint32_t k = 0; k < g->parity_dies; k++)
        send_parity(c, f, k);
    f->data_die = 0;
    f->row++;
    if (f->next == f->sb_end)
        close_superblock(c, f);
}

void core_run_end(struct ftl_core *c, struct frontier *f)
{
    if (f->next + f->skip == f->wl_end) {
        f->next = f->wl_end;
        f->hole_units += f->skip;
        core_word_line_end(c, f);
    }
    if (__builtin_expect(f->holes != 0 && f->sb != SB_NONE, 0))
        core_frontier_settle(c, f);
}

void core_pad(struct ftl_core *c, struct frontier *f)
{
    uint32_t wl_end = f->wl_end, sb = f->sb;

    if (sb == SB_NONE || f->wl_units[CAUSE_HOST] + f->wl_units[CAUSE_GC] == 0)
        return;
    while (f->sb == sb && f->wl_end == wl_end) {    /* once, but for holes */
        uint32_t n = f->run_end - f->next;
        if (c->payload != NULL)
            core_payload_fill(c, f, f->next, n);
        for (uint32_t i = 0; i < n; i++)
            c->rmap[f->next++] = 0;
        c->in_log += f->skip == 0 ? n : 0;
        if (!FTL_PLANT(filler_uncounted, 3))
            c->count->padding_bytes += (uint64_t)n << c->g.unit_shift;
        core_run_end(c, f);
    }
}

/* ---- host ------------------------------------------------------------------ */

/* What relocation must still be able to place with this frontier: pages in flight, and
 * the rest of the victim. Without one, the next may be wholly live. */
static uint64_t gc_claim(const struct ftl_core *c, uint32_t frontier)
{
    uint64_t claim = 0;
    if (c->gc.in_flight != 0 && c->gc.flight_frontier == frontier)
        claim = (uint64_t)c->gc.in_flight * c->g.group_units;
    if (c->gc.victim != SB_NONE && core_victim_frontier(c, c->gc.victim) == frontier)
        claim += c->valid[c->gc.victim];
    return claim;
}

uint64_t core_map_claim(const struct ftl_core *c, uint64_t more)
{
    uint64_t claim = c->dftl.moved_pages + more;
    return claim < c->dftl.count ? claim : c->dftl.count;
}

/* The same of map pages: relocated ones, and those that relocation under way changes. */
static uint64_t map_claim(const struct ftl_core *c)
{
    uint64_t more = c->gc.victim == SB_NONE ? c->g.sb_units : 0;
    for (uint32_t k = c->gc_first; k < c->map_frontier; k++)
        more += gc_claim(c, k);
    return gc_claim(c, c->map_frontier) + core_map_claim(c, more);
}

uint32_t core_gc_needs(const struct ftl_core *c, uint32_t except)
{
    uint32_t need = c->gc.victim == SB_NONE;

    for (uint32_t k = c->gc_first; k < c->frontier_count; k++) {
        uint64_t claim = k == except ? 0 : k == c->map_frontier ? map_claim(c) : gc_claim(c, k);
        uint64_t left = frontier_left(&c->fr[k]);
        if (claim > left)
            need += (uint32_t)((claim - left + c->usable_min - 1) / c->usable_min);
    }
    return need;
}

uint32_t core_host_room(const struct ftl_core *c, uint32_t class)
{
    if (c->cache.count != 0)
        return core_cache_room(c);
    uint64_t free_slots = core_free_slots(c);
    uint64_t floor = c->free_floor + c->care_units;
    if (free_slots <= floor)
        return 0;
    uint64_t room = free_slots - floor, admitted = core_log_admits(c);
    room = room < admitted ? room : admitted;
    bool is_map = class == c->classes && c->map_frontier != SB_NONE;
    uint32_t frontier = is_map ? c->map_frontier : class;
    uint64_t reach = frontier_left(&c->fr[frontier]);

    if (c->roam) {
        uint64_t limit = core_stream_limit(c);
        reach = core_stream_room(c);
        reach = reach < limit ? reach : limit;
    } else if (c->gc_first != 0 && !is_map) {
        if (room <= reach)          /* the usual case: nothing to open */
            return (uint32_t)room;
        if (c->free_count > core_gc_needs(c, UINT32_MAX))
            reach += c->usable_min;
    } else {
        /* relocation of this class uses the same superblocks */
        uint32_t others = core_gc_needs(c, frontier);
        uint64_t claim = is_map ? map_claim(c) : gc_claim(c, class);
        if (c->free_count > others)
            reach += (uint64_t)(c->free_count - others) * c->usable_min;
        reach = reach > claim ? reach - claim : 0;
    }
    room = room < reach ? room : reach;
    return room > UINT32_MAX ? UINT32_MAX : (uint32_t)room;
}

uint64_t core_rewrite_room(const struct ftl_core *c, uint32_t class)
{
    uint32_t frontier = core_gc_frontier(c, class), others = core_gc_needs(c, frontier);
    uint64_t claim = gc_claim(c, frontier);
    uint64_t reach = frontier_left(&c->fr[frontier]);

    if (c->wl_free_count <= c->wl_reserve || media_ops_free(c->media) <= c->wl_reserve)
        return 0;
    if (c->roam)
        return core_stream_room(c);
    if (c->free_count > others)
        reach += (uint64_t)(c->free_count - others) * c->usable_min;
    return reach > claim ? reach - claim : 0;
}

void core_place_host(struct ftl_core *c, uint32_t class, const uint32_t *keys, uint32_t n)
{
    c->log_sum += (ftl_u128)c->in_log * n;
    c->log_weight += n;
    c->host_units += n;
    c->in_log += c->cache.count == 0 ? n : 0;
    if (c->timed) {
        c->buffer_used += n;
        if (c->buffer_used > c->buffer_peak)
            c->buffer_peak = c->buffer_used;
    }
    c->count->host_bytes += (uint64_t)n << c->g.unit_shift;
    if (c->roam)
        core_stream_place(c, keys, n);
    else
        core_place_run(c, class, keys, n);
}

void core_place_run(struct ftl_core *c, uint32_t want, const uint32_t *keys, uint32_t n)
{
    struct frontier *f = &c->fr[want];
    /* in locals: the compiler must take each store to the map for one to *c */
    uint32_t *map = c->map, *rmap = c->rmap, *valid = c->valid;

    while (n > 0) {
        if (c->roam)
            f = core_stream_frontier(c, want, CAUSE_HOST);
        else if (f->sb == SB_NONE)
            core_open(c, f);
        uint32_t k = f->run_end - f->next, slot = f->next;
        k = k < n ? k : n;
        if (c->roam)
            core_stream_note(c, f, want, k);
        uint32_t fresh = 0;
        if (c->payload != NULL)
            core_payload_before(c, f, keys, k);
        for (uint32_t i = 0; i < k; i++, slot++) {
            uint32_t old = map[keys[i]];
            map[keys[i]] = slot;
            rmap[slot] = keys[i];
            if (old == 0) {
                fresh++;
                if (__builtin_expect(c->raid != NULL, 0))
                    core_found(c, keys[i]);
            } else if (!FTL_PLANT(skip_invalidation, 200)) {
                valid[geometry_superblock(&c->g, old - 1)]--;
            }
        }
        if (c->payload != NULL)
            core_payload_place(c, f, f->next, k, CAUSE_HOST);
        c->mapped += fresh;
        valid[f->sb] += k;
        f->next = slot;
        f->wl_units[CAUSE_HOST] += k;
        if (slot == f->run_end)
            core_run_end(c, f);
        keys += k;
        n -= k;
    }
}

void core_place_map_page(struct ftl_core *c, uint32_t key, enum cause cause, const uint8_t *bytes)
{
    struct frontier *f = &c->fr[c->map_frontier];

    if (f->sb == SB_NONE)
        core_open(c, f);
    if (c->payload != NULL)
        core_payload_before(c, f, &key, 1);
    uint32_t slot = f->next++, old = c->map[key];
    c->map[key] = slot;
    c->rmap[slot] = key;
    if (old != 0)
        c->valid[geometry_superblock(&c->g, old - 1)]--;
    c->valid[f->sb]++;
    c->in_log++;
    f->wl_units[cause]++;
    if (c->timed && cause == CAUSE_HOST && ++c->buffer_used > c->buffer_peak)
        c->buffer_peak = c->buffer_used;
    c->count->translation_bytes += c->g.unit_bytes;
    if (c->payload != NULL) {
        c->payload->incoming = bytes;
        core_payload_place(c, f, slot, 1, cause);
        c->payload->incoming = NULL;
    }
    if (f->next == f->run_end)
        core_run_end(c, f);
}

void core_unmap(struct ftl_core *c, uint64_t lpn, uint64_t n)
{
    if (c->roam)
        core_stream_trim(c, lpn, n);
    for (uint64_t key = lpn + 1; key <= lpn + n - FTL_PLANT(trim_end, 3); key++) {
        uint32_t old = c->map[key];
        if (old == 0) {
            core_found(c, (uint32_t)key);
            continue;
        }
        c->map[key] = 0;
        c->valid[geometry_superblock(&c->g, old - 1)]--;
        c->mapped--;
    }
}

/* ---- relocation ------------------------------------------------------------- */

#ifdef FTL_WITH_PLANTS
/* stale_copy: a dead slot passes for the live one, with all counts right. */
static bool plant_stale(struct ftl_core *c, uint32_t slot)
{
    uint32_t live = c->map[c->rmap[slot]];
    if (c->rmap[slot] == 0 || live == 0 || !FTL_PLANT(stale_copy, 20))
        return false;
    c->valid[geometry_superblock(&c->g, live - 1)]--;
    c->valid[geometry_superblock(&c->g, slot - 1)]++;
    return true;
}
#else
#define plant_stale(c, slot) false
#endif

void core_count_moved(struct ftl_core *c, uint32_t from, uint32_t moved)
{
    uint64_t bytes = (uint64_t)moved << c->g.unit_shift;
    if (core_is_slc(c, from)) {
        c->count->fold_bytes += bytes;
    } else if (c->wear.moved[from]) {
        c->count->wear_bytes += bytes;
    } else {
        c->count->gc_units_moved += moved;
        c->count->gc_bytes += bytes;
    }
}

uint32_t core_relocate(struct ftl_core *c, uint32_t slot, uint32_t end)
{
    if (c->roam)
        return core_stream_relocate(c, slot, end);
    uint32_t *map = c->map, *rmap = c->rmap;
    uint32_t from = geometry_superblock(&c->g, slot - 1), moved = 0;
    struct frontier *f = &c->fr[core_victim_frontier(c, from)];
    if (FTL_PLANT(wrong_class, 30))
        f = &c->fr[core_gc_frontier(c, (c->sb_class[from] + 1U) % c->classes)];

    while (slot < end) {
        if (f->sb == SB_NONE) {
            while (map[rmap[slot]] != slot)
                if (++slot == end)
                    goto done;      /* nothing live left: open nothing */
            core_open(c, f);
            if (c->wear.moved[from] == 1)
                c->sb_class[f->sb] = c->sb_class[from];
        }
        uint32_t to = f->next, first = f->next;
        /* in locals: the compiler must take each store to the map for one to *f or *c */
        const uint32_t run_end = f->run_end;
        const bool keeps_bytes = c->payload != NULL;
        for (; slot < end && to < run_end; slot++) {
            uint32_t key = rmap[slot];
            if (map[key] != slot && !plant_stale(c, slot))
                continue;
            if (FTL_PLANT(lose_relocated, 50) || (core_is_slc(c, from) && FTL_PLANT(fold_lost, 20)))
                continue;
            map[key] = to;
            rmap[to] = key;
            if (keeps_bytes)
                core_payload_move(c, f, slot, to);
            to++;
        }
        for (uint32_t i = first; c->dftl.on && i < to; i++)
            core_dftl_moved(c, rmap[i]);
        uint32_t run = to - first;
        f->next = to;
        c->sb_handles[f->sb] |= c->sb_handles[from];
        c->valid[f->sb] += run + FTL_PLANT(valid_off_by_one, 20);
        f->wl_units[CAUSE_GC] += run;
        moved += run;
        if (to == run_end)
            core_run_end(c, f);
    }
done:
    c->valid[from] -= moved;
    c->in_log += moved;
    core_count_moved(c, from, moved);
    return moved;
}

/* ---- buffer and write path ---------------------------------------------------- */

bool core_in_buffer(const struct ftl_core *c, const struct ftl_place *p)
{
    if (c->state[p->sb] != SB_OPEN && c->wl_in_flight[p->sb] == 0)
        return false;
    if (FTL_PLANT(buffer_missed, 20))
        return false;
    /* live in a hole: its program failed, the data waits to be placed elsewhere */
    return p->row >= c->rows_programmed[(size_t)p->sb * c->g.dies + p->die] ||
           core_is_hole(c, p);
}
