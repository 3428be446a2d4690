/* gc.c - garbage collection: which superblock, when, and its pages.
 *
 * Pace: free slots (the inspected part of victims counts as free) are held between
 * free_floor and free_target. Below the target collection works; at the floor host
 * data waits. As each inspected page frees its dead units at once, both proceed in
 * small steps and IOPS stay smooth. */
#include "core/core.h"
#include "core/direct.h"
#include "sim/draw.h"

uint32_t ftl_gc_draw(const struct ftl_gc_view *view, uint32_t k, uint32_t bound)
{
    return draw_below(draw_mix(view->draw + k * UINT64_C(0x9e3779b97f4a7c15)), bound);
}

/* Rounds over all superblocks without a host unit placed after which collection is
 * taken to lead nowhere: far above what a policy that frees anything needs. */
enum { IDLE_ROUNDS = 32, FUTILE_ROUNDS = 2 };

/* Any superblock whose collection gains a slot? On a small drive all dead units may lie in
 * open ones; moving live superblocks then would go on for ever. */
static bool any_gain(const struct ftl_core *c)
{
    for (uint32_t i = 0; i < c->g.sb_count; i++)
        if (c->collectable[i] && c->valid[i] < c->g.sb_units)
            return true;
    return false;
}

static const char *why_not(const struct ftl_core *c, uint32_t sb)
{
    switch (c->state[sb]) {
    case SB_FREE:
        return "free";
    case SB_OPEN:
        return "open";
    case SB_VICTIM:
        return "being collected already";
    default:
        return c->collectable[sb] ? "kept back for its map pages"
                                  : "not wholly programmed yet";
    }
}

/* Asks the policy. The superblock, or SB_NONE after a fault. */
static uint32_t ask_policy(struct ftl_core *c, const struct ftl_gc_view *view)
{
    const struct ftl_gc_policy *p = c->policy.gc;
    uint32_t sb = SB_NONE;
    int answer = p->pick(c->policy.gc_state, view, &sb);

    if (answer < 0)
        (void)core_policy_fault(c, "gc", &p->head, "gave up with %d where there was a choice",
                                answer);
    else if (sb >= c->g.sb_count)
        (void)core_policy_fault(c, "gc", &p->head, "chose superblock %u of %u", sb,
                                c->g.sb_count);
    else if (!view->collectable[sb])
        (void)core_policy_fault(c, "gc", &p->head, "chose superblock %u, which is %s", sb,
                                why_not(c, sb));
    else
        return sb;
    return SB_NONE;
}

/* What a victim gives is its slots less its live ones less those that no spare mends. */
static const uint32_t *valid_view(struct ftl_core *c)
{
    if (c->lasting_total == 0)
        return c->valid;
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++)
        c->gc.cost[sb] = c->valid[sb] + c->lasting[sb] < c->g.sb_units
                             ? c->valid[sb] + c->lasting[sb]
                             : c->g.sb_units;
    return c->gc.cost;
}

static void take_victim(struct ftl_core *c, uint32_t sb)
{
    struct gc_state *gc = &c->gc;
    c->state[sb] = SB_VICTIM;
    c->collectable[sb] = 0;
    c->holes_ahead += c->holes[sb];
    gc->victim = sb;
    gc->cursor = sb * c->g.sb_units + 1;
    gc->row = gc->data_die = gc->page = 0;
}

/* 1 = chosen, 0 = none to choose from, < 0 the policy's fault. */
static int choose_victim(struct ftl_core *c)
{
    struct gc_state *gc = &c->gc;

    if (!any_gain(c))
        return 0;
    /* a move for wear's sake repays nothing */
    uint32_t sb = c->map_frontier != SB_NONE && core_dftl_owes(c) ? SB_NONE : core_wear_victim(c);
    if (sb != SB_NONE) {
        take_victim(c, sb);
        return 1;
    }
    uint64_t placed = c->host_units + c->count->map_evictions_dirty;
    if (gc->idle_host_units != placed) {
        gc->idle_host_units = placed;
        gc->idle_picks = 0;
    }
    /* the host may go on: no need to reach the target at any price. (Untimed, collection
     * is asked only when the host may not.) */
    if (c->timed && gc->idle_picks > FUTILE_ROUNDS * (uint64_t)c->g.sb_count &&
        core_free_slots(c) > c->free_floor + c->cache.need)
        return 0;
    if (gc->idle_picks++ > IDLE_ROUNDS * (uint64_t)c->g.sb_count)
        return core_policy_fault(c, "gc", &c->policy.gc->head,
                                 "chose %llu superblocks in a row that freed no room for the "
                                 "host", (unsigned long long)gc->idle_picks - 1);
    struct ftl_gc_view view = {
        .count = c->g.sb_count,
        .units_per_superblock = c->g.sb_units,
        .valid_units = valid_view(c),
        .collectable = core_dftl_choice(c),
        .closed_at = c->closed_at,
        .closed_at_write = c->closed_at_write,
        .erase_count = c->erases,
        .host_units_written = c->host_units,
        .draw = draw_u64(c->cfg->drive_seed, DRAW_GC_VICTIM, gc->picks++),
        .choices = (uint32_t)c->cfg->gc_choices,
        .window = (uint32_t)c->cfg->gc_window,
    };
    sb = CORE_DIRECT ? direct_greedy(c) : ask_policy(c, &view);
    if (sb == SB_NONE)
        return FTL_EPOLICY;
    if (core_pace_declines(c, sb))
        return 0;
    c->count->gc_victims++;
    c->wear.due = c->cfg->wear_spread != 0;
    take_victim(c, sb);
    return 1;
}

/* The same, superblocks of the cache among them. */
static int choose_next(struct ftl_core *c)
{
    if (c->cache.count != 0) {
        uint32_t sb = core_cache_victim(c);
        if (sb != SB_NONE) {
            take_victim(c, sb);
            return 1;
        }
    }
    return choose_victim(c);
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

/* Slots of a victim leave the log; those of the cache were never in it. */
static void leave_log(struct ftl_core *c, uint32_t sb, uint32_t slots)
{
    if (core_is_slc(c, sb))
        return;
    c->in_log -= slots;
    c->gc.gain += slots;
    c->count->gc_units_scanned += slots;
}

/* ---- untimed ------------------------------------------------------------------ */

static void collect_chunk(struct ftl_core *c)
{
    /* whole groups: time may start at any of these boundaries */
    const uint32_t chunk = GC_CHUNK - GC_CHUNK % c->g.group_units;
    uint32_t end = victim_end(c), from = c->gc.cursor;
    uint32_t to = end - from > chunk ? from + chunk : end;

    if (c->valid[c->gc.victim] == 0)
        to = end;
    else
        prefetch_keys(c, to, end - to > GC_CHUNK ? to + GC_CHUNK : end);
    if (c->raid != NULL && c->raid->any_dead)
        core_lose_unreadable(c, from, to - from);
    if (c->valid[c->gc.victim] != 0)
        (void)core_relocate(c, from, to);
    leave_log(c, c->gc.victim, to - from);
    c->gc.cursor = to;
    if (c->dftl.on_medium)
        core_dftl_flush_untimed(c);
    if (to == end) {
        uint32_t sb = c->gc.victim;
        if (c->wear.extra != 0 && c->wear.moved[sb])
            core_wear_step(c, 0);
        c->gc.victim = SB_NONE;
        core_release(c, sb);
    }
}

int core_gc_make_room(struct ftl_core *c, uint32_t class, uint32_t n)
{
    if (c->cache.count != 0)
        n = 1;                  /* its open superblock may be all that is ever free */
    while (core_host_room(c, class) < n) {
        if (c->gc.victim == SB_NONE) {
            int chosen = choose_next(c);
            if (chosen <= 0)
                return chosen < 0 ? chosen
                                  : core_policy_fault(c, "gc", &c->policy.gc->head,
                                                      "left nothing to collect");
        }
        collect_chunk(c);
    }
    return 0;
}

/* ---- timed -------------------------------------------------------------------- */

void core_gc_resume(struct ftl_core *c)
{
    struct ftl_place p;
    if (c->gc.victim == SB_NONE)
        return;
    geometry_place(&c->g, c->gc.cursor - 1, 0, &p);
    c->gc.row = p.row;
    c->gc.data_die = p.data_die;
    c->gc.page = p.page_type * c->g.planes + p.plane;
}

/* Slots that relocation of the victim can reach. */
static uint64_t space(const struct ftl_core *c)
{
    if (c->roam)
        return core_stream_reach(c);
    const struct frontier *f = &c->fr[core_victim_frontier(c, c->gc.victim)];
    return frontier_left(f) + c->free_usable;
}

/* Without capacitors: is all on the medium that made the units of this superblock dead? */
static bool may_forget(const struct ftl_core *c, const struct gc_finishing *f)
{
    return core_payload_oldest(c) > f->placed && core_journal_durable(c, f->logged);
}

/* May a superblock inspected to its end be erased? No read may still want its pages;
 * its data must be on the medium, or in a buffer that capacitors protect. */
static bool may_release(const struct ftl_core *c, const struct gc_finishing *f)
{
    if (FTL_PLANT(early_release, 1))
        return c->gc.reads[f->sb] == 0;
    if (c->gc.reads[f->sb] != 0 || c->reads_in_flight[f->sb] != 0)
        return false;
    if (media_ops_free(c->media) < c->g.dies + c->wl_reserve)
        return false;
    return c->cfg->power_plp || (f->wl_seq != 0 && core_oldest_wl(c) > f->wl_seq &&
                                 (c->journal == NULL || may_forget(c, f)));
}

static void release_finished(struct ftl_core *c)
{
    struct gc_state *gc = &c->gc;
    uint32_t kept = 0;

    if (c->journal != NULL && c->journal->trims_pending && !c->cfg->power_plp &&
        core_journal_room(c))
        core_journal_send(c);
    for (uint32_t i = 0; i < gc->finishing_count; i++) {
        struct gc_finishing f = gc->finishing[i];
        if (may_release(c, &f))
            core_release(c, f.sb);
        else
            gc->finishing[kept++] = f;
    }
    gc->finishing_count = kept;
}

void core_gc_word_line(struct ftl_core *c, uint32_t frontier, uint64_t seq)
{
    for (uint32_t i = 0; i < c->gc.finishing_count; i++) {
        struct gc_finishing *f = &c->gc.finishing[i];
        if (f->wl_seq == 0 && c->gc.reads[f->sb] == 0 &&
            core_victim_frontier(c, f->sb) == frontier)
            f->wl_seq = seq;
    }
}

/* All of the victim was inspected. Its last units lie in a word line still open, or
 * else in ones already sent. */
static void finish_victim(struct ftl_core *c)
{
    struct gc_state *gc = &c->gc;
    gc->finishing[gc->finishing_count++] = (struct gc_finishing){
        .sb = gc->victim, .placed = c->payload != NULL ? c->payload->seq : 0,
        .logged = c->journal != NULL ? journal_trimmed(c->journal) : 0};
    gc->victim = SB_NONE;
    release_finished(c);
}

static void next_group(struct ftl_core *c)
{
    struct gc_state *gc = &c->gc;
    gc->cursor += c->g.group_units;
    gc->page += c->g.group_pages;
    if (gc->page < c->g.page_types * c->g.planes)
        return;
    gc->page = 0;
    if (++gc->data_die < c->g.data_dies)
        return;
    gc->data_die = 0;
    gc->row++;
}

static uint32_t live_in_group(const struct ftl_core *c, uint32_t slot)
{
    return core_live(c, slot, c->g.group_units);
}

static void read_page(struct ftl_core *c, uint32_t in_group, uint32_t cws, uint32_t index)
{
    struct gc_state *gc = &c->gc;
    uint32_t type = (gc->page + in_group) / c->g.planes;

    gc->pages[index].pending++;
    media_read(c->media, c->ctx->now, MEDIA_GC_READ,
               geometry_data_die(&c->g, gc->row, gc->data_die),
               gc->page + in_group - type * c->g.planes, gc->victim,
               core_is_slc(c, gc->victim) ? gc->row : gc->row * c->g.page_types + type, cws,
               index);
}

/* Reads what the group's pages hold of live units. */
static void read_group(struct ftl_core *c, uint32_t live, uint32_t index)
{
    uint32_t slot = c->gc.cursor;

    if (c->g.group_pages == 1) {
        if (media_decodes(c->media))
            core_want_live(c, slot);
        read_page(c, 0, live << c->g.cw_shift, index);
        return;
    }
    uint32_t cws[GROUP_PAGES_MAX] = {0};
    for (uint32_t i = 0; i < c->g.group_units; i++)
        for (uint32_t w = 0; c->map[c->rmap[slot + i]] == slot + i && w < c->g.unit_cws; w++)
            cws[((i << c->g.cw_shift) + w) / c->g.page_cws]++;
    for (uint32_t p = 0; p < c->g.group_pages; p++)
        if (cws[p] != 0)
            read_page(c, p, cws[p], index);
}

static void issue_group(struct ftl_core *c, uint32_t live)
{
    struct gc_state *gc = &c->gc;
    uint32_t index = gc->page_free;
    struct gc_page *page = &gc->pages[index];

    gc->page_free = page->next;
    page->slot = gc->cursor;
    page->sb = gc->victim;
    page->pending = 0;
    page->care = false;
    page->gain = core_is_slc(c, gc->victim) ? 0 : c->g.group_units - live;
    gc->pending_gain += page->gain;
    gc->flight_frontier = core_victim_frontier(c, gc->victim);
    gc->in_flight++;
    gc->reads[gc->victim]++;
    gc->buffer_used += c->g.group_units;
    read_group(c, live, index);
}

/* Is there room for the map pages that relocating this group may change, too? */
static bool map_fits(const struct ftl_core *c, uint32_t live)
{
    const struct gc_state *gc = &c->gc;
    uint32_t n = c->g.sb_units, class = c->sb_class[gc->victim];
    uint64_t flight = (uint64_t)gc->in_flight * c->g.group_units + live;
    uint64_t pages = core_map_claim(c, class == c->classes ? 0 : flight);
    uint64_t page_left = frontier_left(&c->fr[c->map_frontier]);

    if (class == c->classes)        /* both go to the same frontier */
        return page_left + (uint64_t)c->free_count * n >= flight + pages;
    if (c->dftl.moved + flight > c->dftl.moved_limit)
        return false;
    uint64_t left = frontier_left(&c->fr[core_victim_frontier(c, gc->victim)]);
    uint64_t open = flight > left ? (flight - left + n - 1) / n : 0;
    open += pages > page_left ? (pages - page_left + n - 1) / n : 0;
    return open <= c->free_count;
}

/* May one more group be read at all? */
static inline bool may_read(const struct ftl_core *c)
{
    const struct gc_state *gc = &c->gc;

    return gc->in_flight < gc->window && gc->buffer_used + c->g.group_units <= gc->buffer_now &&
           c->wl_free_count > c->wl_reserve &&
           media_ops_free(c->media) >= c->wl_reserve + c->g.group_pages &&
           /* pages of one frontier at a time: each may need to open a superblock */
           (gc->in_flight == 0 || gc->flight_frontier == core_victim_frontier(c, gc->victim) ||
            c->roam);
}

/* And its live units placed? */
static inline bool group_fits(const struct ftl_core *c, uint32_t live)
{
    uint64_t flight = (uint64_t)c->gc.in_flight * c->g.group_units;
    return (!c->dftl.on_medium || map_fits(c, live)) && space(c) >= flight + live &&
           core_log_admits(c) >= c->g.group_units;
}

/* Does the group hold a live unit? */
static inline bool any_live(const struct ftl_core *c, uint32_t slot)
{
    for (uint32_t end = slot + c->g.group_units; slot < end; slot++)
        if (c->map[c->rmap[slot]] == slot)
            return true;
    return false;
}

/* Groups whose map entries are being fetched; slots until the one whose key is. */
enum { GROUPS_AHEAD = 4, KEYS_AHEAD = 128 };

/* Takes the victim's next group of pages; false when it was the last or must wait. */
static bool step_victim(struct ftl_core *c)
{
    struct gc_state *gc = &c->gc;
    uint32_t end = victim_end(c);

    if (c->valid[gc->victim] == 0) {        /* nothing to read any more */
        leave_log(c, gc->victim, end - gc->cursor);
        gc->cursor = end;
    } else {
        bool room = may_read(c);
        if (!room && any_live(c, gc->cursor))
            return false;           /* the usual end: collection is at its limit */
        uint32_t live = room ? live_in_group(c, gc->cursor) : 0;
        if (live == 0)
            leave_log(c, gc->victim, c->g.group_units);
        else if (group_fits(c, live))
            issue_group(c, live);
        else
            return false;
        uint32_t ahead = gc->cursor + GROUPS_AHEAD * c->g.group_units;
        if (ahead < end)
            prefetch_keys(c, ahead, ahead + c->g.group_units);
        if (gc->cursor + KEYS_AHEAD < end)
            __builtin_prefetch(&c->rmap[gc->cursor + KEYS_AHEAD]);
        next_group(c);
    }
    if (c->wear.extra != 0 && c->wear.moved[gc->victim])
        core_wear_step(c, end - gc->cursor);
    if (gc->cursor == end)
        finish_victim(c);
    return true;
}

static bool is_hungry(const struct ftl_core *c)
{
    if (c->read_only && c->gc.victim == SB_NONE)
        return false;           /* nothing will be written: what is there stays there */
    return core_free_slots(c) + c->gc.pending_gain < c->free_target + c->care_units ||
           (c->roam && core_stream_hungry(c));
}

/* Does a finished victim wait for this frontier's open word line? */
static bool is_awaited(const struct ftl_core *c, uint32_t i)
{
    if (c->journal != NULL && !c->cfg->power_plp)       /* host data may have replaced units */
        return c->gc.finishing_count != 0 && c->fr[i].sb != SB_NONE &&
               c->fr[i].wl_units[CAUSE_GC] + c->fr[i].wl_units[CAUSE_HOST] != 0;
    if (c->fr[i].wl_units[CAUSE_GC] == 0)
        return false;
    for (uint32_t k = 0; k < c->gc.finishing_count; k++)
        if (c->gc.finishing[k].wl_seq == 0 &&
            core_victim_frontier(c, c->gc.finishing[k].sb) == i)
            return true;
    return false;
}

static uint32_t open_filler(const struct ftl_core *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->frontier_count; i++)
        if (is_awaited(c, i))
            n += c->fr[i].wl_end - c->fr[i].next;
    return n;
}

/* Without capacitors superblocks wait until a word line with their last units is
 * full. Do they hold the space that the host could have, so that a FLUSH could not
 * even pad its word line, a command that goes as a whole not be placed, or no map page be
 * written? (Streams need capacitors: there is one class.) */
static bool is_starved(const struct ftl_core *c)
{
    uint64_t least = c->cfg->power_atomic_units;
    least = least > c->g.wl_units ? least : c->g.wl_units;
    return c->gc.finishing_count != 0 && !c->cfg->power_plp &&
           core_free_slots(c) >= c->free_floor + least &&
           (core_host_room(c, 0) < least ||
            (c->map_frontier != SB_NONE && core_host_room(c, c->classes) == 0));
}

/* Do programs under way give superblocks back soon? Then it is no dead end yet: filler
 * now would strand few live units in a word line each, and collecting one such word line
 * while the others are being programmed gains just the filler of the next. All that was
 * waited for was sent before, so the wait is one of programs, not of the host. */
static bool is_release_due(const struct ftl_core *c)
{
    const uint64_t oldest = core_oldest_wl(c);

    for (uint32_t k = 0; k < c->gc.finishing_count; k++) {
        const struct gc_finishing *f = &c->gc.finishing[k];
        /* with a journal programs of host data, and pages of the log, may be what is waited for */
        if (f->wl_seq != 0 &&
            (oldest <= f->wl_seq || (c->journal != NULL && core_payload_unsent(c) > f->placed)))
            return c->failed_wl == WL_NONE;     /* else they may wait for room themselves */
    }
    return false;
}

/* Sends the open word line as it is. Filler must cost less than collection gained
 * since, else padding and collecting it again could go on for ever; at a dead end
 * (`forced`) it is cheap: the word line is nearly full, or nothing can be collected. */
static void send_open_word_line(struct ftl_core *c, bool forced)
{
    uint32_t filler = open_filler(c);

    if (c->gc.in_flight != 0 || c->wl_free_count <= c->wl_reserve ||
        (c->gc.gain <= filler && !forced))
        return;
    c->gc.gain -= c->gc.gain < filler ? c->gc.gain : filler;
    c->dispatch_at = c->write_path_free_at;
    for (uint32_t i = 0; i < c->frontier_count; i++)
        if (is_awaited(c, i))
            core_pad(c, &c->fr[i]);
    for (uint32_t k = 0; k < c->frontier_count; k++)
        core_gc_word_line(c, k, c->wl_seq);     /* all is sent, if it was not before */
    release_finished(c);
}

void core_gc_issue(struct ftl_core *c)
{
    bool blocked = false;

    if (__builtin_expect(c->failed_wl != WL_NONE, 0))
        core_continue_failed(c);
    if (c->gc.finishing_count != 0)
        release_finished(c);
    if (__builtin_expect(c->gc.held, 0))
        return;
    while (!blocked &&
           (is_hungry(c) || (is_starved(c) && c->gc.gain <= open_filler(c)) ||
            (c->cache.count != 0 && core_cache_wants(c)))) {
        blocked = (c->gc.victim == SB_NONE && choose_next(c) <= 0) || !step_victim(c);
        if (blocked && c->dftl.on_medium && core_dftl_flush(c, c->gc.window))
            blocked = false;
    }
    if (c->dftl.on_medium)
        (void)core_dftl_flush(c, c->gc.window);
    if (c->gc.finishing_count != 0 && !c->cfg->power_plp &&
        (blocked || is_starved(c)) && !is_release_due(c))
        send_open_word_line(c, blocked);
    if (__builtin_expect(c->care.waiting != 0, 0))
        core_care(c);
}

void core_gc_settle(struct ftl_core *c)
{
    for (uint32_t i = 0; i < c->gc.finishing_count; i++)
        core_release(c, c->gc.finishing[i].sb);
    c->gc.finishing_count = 0;
    c->gc.gain = 0;
}

static const uint8_t *page_bytes_at(const struct ftl_core *c, uint32_t slot)
{
    struct ftl_place at;
    geometry_place(&c->g, slot - 1, 0, &at);
    return media_page_bytes(c->media, at.die, at.plane);
}

/* Superblocks that were free when the page was asked for may have died since. */
static bool can_land(const struct ftl_core *c, const struct gc_page *page)
{
    const struct frontier *f = &c->fr[core_victim_frontier(c, page->sb)];
    return frontier_left(f) + c->free_usable >= live_in_group(c, page->slot);
}

/* A superblock under collection keeps its data: all of it is in the log again. */
static void keep_victim(struct ftl_core *c, uint32_t sb)
{
    struct gc_state *gc = &c->gc;
    uint32_t first = sb * c->g.sb_units + 1, inspected = c->g.sb_units;

    if (sb == gc->victim) {
        inspected = gc->cursor - first;
        gc->victim = SB_NONE;
    }
    for (uint32_t i = 0; i < gc->finishing_count; i++)
        if (gc->finishing[i].sb == sb)
            gc->finishing[i--] = gc->finishing[--gc->finishing_count];
    c->in_log += inspected - (uint64_t)gc->reads[sb] * c->g.group_units;
    c->holes_ahead -= c->holes[sb];
    c->state[sb] = SB_CLOSED;
}

/* No room for a page that was read: it stays where it is, and so do those of its
 * superblock that come after it. Nothing can be written any more. */
static uint64_t give_up(struct ftl_core *c, struct gc_page *page, uint32_t index)
{
    struct gc_state *gc = &c->gc;

    c->read_only = true;
    if (c->state[page->sb] == SB_VICTIM)
        keep_victim(c, page->sb);
    c->care.in_flight -= page->care;
    c->collectable[page->sb] = --gc->reads[page->sb] == 0;
    gc->buffer_used -= c->g.group_units;
    gc->pending_gain -= page->gain;
    page->next = gc->page_free;
    gc->page_free = index;
    return c->ctx->now;
}

/* The last page of a superblock came in. What the host replaced meanwhile counts, too. */
static void reads_ended(struct ftl_core *c, uint32_t sb, uint32_t to)
{
    struct gc_state *gc = &c->gc;

    for (uint32_t i = 0; c->payload != NULL && i < gc->finishing_count; i++)
        if (gc->finishing[i].sb == sb)
            gc->finishing[i].placed = c->payload->seq;
    if (c->fr[to].wl_units[CAUSE_GC] == 0)
        core_gc_word_line(c, to, c->wl_seq);
}

uint64_t core_gc_page_in(struct ftl_core *c, uint32_t index, bool failed)
{
    struct gc_state *gc = &c->gc;
    struct gc_page *page = &gc->pages[index];
    uint32_t slot = page->slot;

    if (failed)
        core_lose(c, slot, c->g.group_units);
    if (--page->pending != 0)
        return SIM_NEVER;
    if (__builtin_expect(c->failures != 0, 0) && !can_land(c, page))
        return give_up(c, page, index);
    uint64_t cws = (uint64_t)live_in_group(c, slot) << c->g.cw_shift;
    uint64_t due = core_write_path(c, cws * c->cfg->fw_gc_unit_ns);
    c->dispatch_at = due;
    /* with one page to a group its bytes are in the plane's register; other planes of a
     * larger group may have read on meanwhile */
    if (c->payload != NULL && c->g.group_pages == 1)
        c->payload->page = page_bytes_at(c, slot);
    uint32_t moved = core_relocate(c, slot, slot + c->g.group_units);
    if (c->payload != NULL)
        c->payload->page = NULL;
    /* only now: a word line filled on the way may not hold the victim's last unit */
    uint32_t to = core_victim_frontier(c, page->sb);
    if (--gc->reads[page->sb] == 0 && gc->finishing_count != 0)
        reads_ended(c, page->sb, to);
    if (page->care || c->state[page->sb] == SB_CLOSED) {
        c->care.in_flight -= page->care;
        c->collectable[page->sb] = gc->reads[page->sb] == 0;
        core_count_retired(c, page->sb, moved);
        gc->idle_picks = 0;     /* room for these is room well used */
    } else {
        leave_log(c, page->sb, c->g.group_units);
        gc->gain -= moved;
    }
    gc->buffer_used -= c->g.group_units - moved;
    gc->pending_gain -= page->gain;
    page->next = gc->page_free;
    gc->page_free = index;
    return due;
}

void core_gc_page_out(struct ftl_core *c)
{
    c->gc.in_flight--;
}
