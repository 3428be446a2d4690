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
    return cfg->pslc_superblocks != 0 ? cfg->ftl_superblocks : 0;
}

int core_cache_init(struct ftl_core *c)
{
    struct cache_state *k = &c->cache;

    if (c->cfg->pslc_superblocks == 0)
        return 0;
    if (SIM_TAKE(&c->ctx->mem, k->slc, c->g.sb_count) < 0)
        return FTL_ENOMEM;
    k->count = k->free_count = (uint32_t)c->cfg->pslc_superblocks;
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

void core_cache_open(struct ftl_core *c, struct frontier *f)
{
    f->skip = c->g.wl_units - c->cache.wl_units;
    f->run_end -= f->skip;
    c->cache.free_count--;
}

uint32_t core_cache_room(const struct ftl_core *c)
{
    const struct frontier *f = &c->fr[0];
    uint64_t room = (uint64_t)c->cache.free_count * c->cache.sb_units;

    if (f->sb != SB_NONE)
        room += f->run_end - f->next +
                (uint64_t)(f->sb_end - f->wl_end) / c->g.wl_units * c->cache.wl_units;
    return room > UINT32_MAX ? UINT32_MAX : (uint32_t)room;
}

uint64_t core_cache_live(const struct ftl_core *c)
{
    uint64_t live = 0;
    for (uint32_t sb = 0; sb < c->cache.count; sb++)
        live += c->valid[sb];
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
    if (count == k->count && free_count == k->free_count && closed == k->closed)
        return 0;
    if (why != NULL)
        (void)snprintf(why, why_size, "cache: %u superblocks, %u free, %u closed; the counts say %u, %u, "
                       "%u", count, free_count, closed, k->count, k->free_count, k->closed);
    return FTL_ECHECK;
}
