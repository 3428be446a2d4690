/* cache.c - a write cache of superblocks with one bit per cell (pslc.superblocks).
 *
 * The host writes to cache superblocks alone. Each word line of one holds its first page type;
 * the slots of the others are holes that the frontier jumps over. Folding moves what is still
 * live to the frontier of relocation, oldest superblock first, when the cache is full and when
 * no command has been open for pslc.idle_ns. For the rest of the drive folding is what the
 * host is elsewhere: it stops at the floor, and collection makes room for it. PSLC.md has
 * the proof that neither waits for the other for ever. */
#include "core/core.h"

#include <stdio.h>

uint64_t core_cache_memory(const struct ftl_config *cfg)
{
    return cfg->pslc_superblocks != 0 ? cfg->nand_blocks_per_plane : 0;
}

int core_cache_init(struct ftl_core *c)
{
    struct cache_state *k = &c->cache;

    if (c->cfg->pslc_superblocks == 0)
        return 0;
    if (SIM_TAKE(&c->ctx->mem, k->slc, c->cfg->nand_blocks_per_plane) < 0)
        return FTL_ENOMEM;
    k->least = k->count = k->free_count = (uint32_t)c->cfg->pslc_superblocks;
    k->slots = (uint64_t)k->count * c->g.sb_units;
    k->wl_units = c->g.wl_units / c->g.page_types;
    k->sb_units = c->g.sb_units / c->g.page_types;
    for (uint32_t sb = 0; sb < k->count; sb++)
        k->slc[sb] = 1;
    return 0;
}

/* The blocks of the cache take one bit per cell from the start. */
void core_cache_start(struct ftl_core *c)
{
    for (uint32_t sb = 0; sb < c->cache.count; sb++)
        media_erase_untimed(c->media, sb, 0);
}

/* ---- its size ---------------------------------------------------------------------- */

/* Free slots that must be left for the cache to take a superblock, and below which one that
 * becomes free is given back: what collection wants, and one superblock to fold. */
static uint64_t slots_wanted(const struct ftl_core *c)
{
    return c->free_target + c->cache.sb_units;
}

/* Free superblocks that the cache may take now. */
static uint32_t growth(const struct ftl_core *c)
{
    const struct cache_state *k = &c->cache;
    uint64_t most = k->least + c->cfg->pslc_dynamic - k->count, n = c->g.sb_units;
    uint64_t wanted = slots_wanted(c), free_slots = core_free_slots(c);

    if (most == 0 || free_slots < wanted + n)
        return 0;
    uint64_t spare = (free_slots - wanted) / n, needs = core_gc_needs(c, UINT32_MAX) + 1;
    most = most < spare ? most : spare;
    spare = c->free_count > needs ? c->free_count - needs : 0;
    if (c->timed)               /* each is erased once more */
        needs = (media_ops_free(c->media) - c->wl_reserve) / c->g.dies;
    if (c->timed && media_ops_free(c->media) < c->wl_reserve)
        needs = 0;
    spare = c->timed && needs < spare ? needs : spare;
    return (uint32_t)(most < spare ? most : spare);
}

static void erase(struct ftl_core *c, uint32_t sb)
{
    c->erases[sb]++;
    c->wear.freed_at[sb] = ++c->wear.freed;
    if (c->timed) {
        for (uint32_t d = 0; d < c->g.dies; d++)
            media_erase(c->media, c->ctx->now, d, sb, sb);
        return;
    }
    c->count->nand_erases += (uint64_t)c->g.dies * c->g.planes;
    if (c->payload != NULL)
        media_erase_untimed(c->media, sb, c->erases[sb]);
}

/* A free superblock joins the cache, or leaves it. */
static void change_side(struct ftl_core *c, uint32_t sb, bool joins)
{
    struct cache_state *k = &c->cache;
    uint32_t n = c->g.sb_units;

    k->slc[sb] = joins;
    k->count += joins ? 1 : UINT32_MAX;
    k->slots = (uint64_t)k->count * n;
    c->free_count += joins ? UINT32_MAX : 1;
    c->free_usable = joins ? c->free_usable - n : c->free_usable + n;
}

static void grow(struct ftl_core *c)
{
    uint32_t sb = core_wear_open(c, c->gc_first);

    change_side(c, sb, true);
    c->cache.free_count++;
    erase(c, sb);
}

void core_cache_release(struct ftl_core *c, uint32_t sb)
{
    c->cache.folding--;
    if (c->cache.count > c->cache.least && core_free_slots(c) < slots_wanted(c))
        change_side(c, sb, false);
    else
        c->cache.free_count++;
}

void core_cache_format(struct ftl_core *c)
{
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        uint8_t want = sb < c->cache.least;
        if (c->cache.slc[sb] == want)
            continue;
        c->cache.slc[sb] = want;
        if (c->state[sb] == SB_FREE)
            erase(c, sb);
    }
    c->cache.count = c->cache.free_count = c->cache.least;
    c->cache.slots = (uint64_t)c->cache.count * c->g.sb_units;
    c->cache.closed = c->cache.folding = 0;
}

void core_cache_prepare(struct ftl_core *c)
{
    if (c->cache.free_count == 0)
        grow(c);
}

void core_cache_open(struct ftl_core *c, struct frontier *f)
{
    f->skip = c->g.wl_units - c->cache.wl_units;
    f->run_end -= f->skip;
    c->cache.free_count--;
}

uint32_t core_cache_room(const struct ftl_core *c)
{
    const struct frontier *f = &c->fr[0];
    uint64_t room = (c->cache.free_count + (uint64_t)growth(c)) * c->cache.sb_units;

    if (f->sb != SB_NONE)
        room += f->run_end - f->next +
                (uint64_t)(f->sb_end - f->wl_end) / c->g.wl_units * c->cache.wl_units;
    return room > UINT32_MAX ? UINT32_MAX : (uint32_t)room;
}

uint64_t core_cache_live(const struct ftl_core *c)
{
    uint64_t live = 0;
    for (uint32_t sb = 0; c->cache.count != 0 && sb < c->g.sb_count; sb++)
        live += c->cache.slc[sb] ? c->valid[sb] : 0;
    return live;
}

/* The superblock to fold next: one without live data, else the one closed longest ago. */
static uint32_t next_fold(const struct ftl_core *c)
{
    uint32_t best = SB_NONE;

    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        if (!c->cache.slc[sb] || c->state[sb] != SB_CLOSED || c->wl_in_flight[sb] != 0)
            continue;
        if (c->valid[sb] == 0)
            return sb;
        if (best == SB_NONE || c->closed_at[sb] < c->closed_at[best])
            best = sb;
    }
    return best;
}

/* When the cache is full one superblock is folded at a time. */
static bool is_due(const struct ftl_core *c)
{
    return c->cache.idle || (c->cache.folding == 0 && core_cache_room(c) == 0);
}

bool core_cache_wants(const struct ftl_core *c)
{
    if (c->gc.victim != SB_NONE && c->cache.slc[c->gc.victim])
        return true;            /* under way: to its end */
    return c->cache.closed != 0 && is_due(c) && next_fold(c) != SB_NONE;
}

uint32_t core_cache_victim(struct ftl_core *c)
{
    uint32_t sb = c->cache.closed != 0 && is_due(c) ? next_fold(c) : SB_NONE;
    uint64_t flight = (uint64_t)c->gc.in_flight * c->g.group_units;

    c->cache.need = 0;
    if (sb == SB_NONE)
        return SB_NONE;
    if (core_free_slots(c) < c->free_floor + flight + c->valid[sb]) {
        c->cache.need = c->valid[sb];
        return SB_NONE;         /* collection first */
    }
    c->gc.idle_picks = 0;       /* progress without the host */
    c->cache.closed--;
    c->cache.folding++;
    c->count->folds++;
    return sb;
}

int core_cache_check(const struct ftl_core *c, char *why, size_t why_size)
{
    const struct cache_state *k = &c->cache;
    uint32_t free_count = 0, closed = 0, count = 0;

    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        count += k->slc[sb];
        free_count += k->slc[sb] && c->state[sb] == SB_FREE;
        closed += k->slc[sb] && c->state[sb] == SB_CLOSED;
        if (k->slc[sb] && c->valid[sb] > k->sb_units) {
            if (why != NULL)
                (void)snprintf(why, why_size, "cache superblock %u: %u live units, it holds %u", sb,
                               c->valid[sb], k->sb_units);
            return FTL_ECHECK;
        }
    }
    if (c->free_usable != (uint64_t)c->free_count * c->g.sb_units) {
        if (why != NULL)
            (void)snprintf(why, why_size, "cache: %u superblocks beyond it are free, with %llu slots",
                           c->free_count, (unsigned long long)c->free_usable);
        return FTL_ECHECK;
    }
    if (count == k->count && free_count == k->free_count && closed == k->closed &&
        count >= k->least && count <= k->least + c->cfg->pslc_dynamic &&
        k->slots == (uint64_t)count * c->g.sb_units)
        return 0;
    if (why != NULL)
        (void)snprintf(why, why_size, "cache: %u superblocks, %u free, %u closed; the counts say %u, %u, "
                       "%u", count, free_count, closed, k->count, k->free_count, k->closed);
    return FTL_ECHECK;
}
