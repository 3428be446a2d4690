/* core.c - life of the core, and of superblocks. */
#include "core/core.h"

#include <string.h>

static uint32_t min_u32(uint64_t a, uint64_t b)
{
    uint64_t m = a < b ? a : b;
    return m > UINT32_MAX ? UINT32_MAX : (uint32_t)m;
}

/* Word lines that may be on their way at once: what the buffers hold, their share
 * of parity, and what pages in flight may still fill. */
static uint32_t wl_limit(const struct ftl_geometry *g, const struct ftl_config *cfg,
                         uint32_t gc_window, uint32_t *ret_reserve)
{
    uint64_t units = (cfg->buffer_bytes + cfg->buffer_gc_bytes) >> g->unit_shift;
    uint64_t open = geometry_frontiers(cfg);
    uint64_t data = units / g->wl_units + 2 + open;
    if (cfg->pslc_superblocks != 0) /* its word lines hold less */
        data *= g->page_types;
    uint64_t parity = (data / g->data_dies + 4) * g->parity_dies;
    uint64_t reserve = (uint64_t)gc_window * g->group_units / g->wl_units + 2 + open;
    reserve += (reserve / g->data_dies + 2) * g->parity_dies;
    if (cfg->media_faults) {    /* a word line may have one plane left, and parity apart */
        uint64_t thin = g->planes * (1 + g->planes * g->parity_dies);
        data *= g->planes;
        parity = parity * g->planes * g->planes;
        reserve *= thin;
    }
    if (media_has_two_passes(cfg))  /* held back by open superblocks, parity among them */
        parity += open * g->dies;
    *ret_reserve = (uint32_t)reserve;
    return (uint32_t)(data + parity + reserve * 2);
}

/* Groups of pages under relocation at once. */
static uint32_t gc_window(const struct ftl_geometry *g, const struct ftl_config *cfg)
{
    uint64_t pages = cfg->sched_gc_reads;
    if (pages == 0)
        pages = (uint64_t)g->dies * g->planes * 2;
    uint64_t groups = pages / g->group_pages;
    uint64_t fits = (cfg->buffer_gc_bytes >> g->unit_shift) / g->group_units / 2;
    uint64_t in_sb = g->sb_units / g->group_units;
    groups = groups < fits ? groups : fits;
    groups = groups < in_sb ? groups : in_sb;
    return groups < 1 ? 1 : (uint32_t)groups;
}

static void set_space_limits(struct ftl_core *c)
{
    uint64_t n = c->g.sb_units;
    uint64_t keep = geometry_free_kept(c->cfg);
    uint64_t band = c->g.row_units / 4;
    band = band < 1 ? 1 : band < n / 8 ? band : n / 8 + 1;
    bool lands = !c->cfg->power_plp || strcmp(c->cfg->power_on_weak, "write-through") == 0;
    if (lands && band < c->g.wl_units)
        band = c->g.wl_units;       /* filler that a FLUSH or a FUA write may ask for at once */
    if (band < c->cfg->power_atomic_units)
        band = c->cfg->power_atomic_units;
    c->free_floor = keep * n + c->g.pages_on_medium;
    c->pace.least = band;
}

static int take_superblock_arrays(struct ftl_core *c)
{
    size_t n = c->g.sb_count;
    struct sim_mem *mem = &c->ctx->mem;
    return SIM_TAKE(mem, c->valid, n) < 0 || SIM_TAKE(mem, c->state, n) < 0 ||
                   SIM_TAKE(mem, c->collectable, n) < 0 || SIM_TAKE(mem, c->sb_class, n) < 0 ||
                   SIM_TAKE(mem, c->sb_handles, n) < 0 ||
                   SIM_TAKE(mem, c->sb_frontier, n) < 0 ||
                   SIM_TAKE(mem, c->closed_at, n) < 0 ||
                   SIM_TAKE(mem, c->closed_at_write, n) < 0 || SIM_TAKE(mem, c->erases, n) < 0 ||
                   SIM_TAKE(mem, c->wl_in_flight, n) < 0 ||
                   SIM_TAKE(mem, c->reads_in_flight, n) < 0 ||
                   SIM_TAKE(mem, c->gc.reads, n) < 0 || SIM_TAKE(mem, c->gc.finishing, n) < 0 ||
                   SIM_TAKE(mem, c->gc.cost, n) < 0 || SIM_TAKE(mem, c->holes, n) < 0 ||
                   SIM_TAKE(mem, c->lasting, n) < 0 || SIM_TAKE(mem, c->leave, n) < 0 ||
                   SIM_TAKE(mem, c->closed_at_ns, n) < 0 ||
                   SIM_TAKE(mem, c->broken, n * c->g.planes) < 0 ||
                   SIM_TAKE(mem, c->wear.is_free, n) < 0 ||
                   SIM_TAKE(mem, c->wear.moved, n) < 0 ||
                   SIM_TAKE(mem, c->wear.freed_at, n) < 0 ||
                   SIM_TAKE(mem, c->rows_programmed, n * c->g.dies) < 0
               ? FTL_ENOMEM
               : 0;
}

static int take_pools(struct ftl_core *c)
{
    c->gc.window = gc_window(&c->g, c->cfg);
    uint32_t limit = wl_limit(&c->g, c->cfg, c->gc.window, &c->wl_reserve);
    struct sim_mem *mem = &c->ctx->mem;
    if (SIM_TAKE(mem, c->wls, limit) < 0 || SIM_TAKE(mem, c->gc.pages, c->gc.window) < 0 ||
        sim_line_init(&c->wl_out, mem, limit) < 0)
        return FTL_ENOMEM;
    for (uint32_t i = 0; i < limit; i++)
        c->wls[i].next = i + 1;
    c->wl_count = c->wl_free_count = limit;
    for (uint32_t i = 0; i < c->gc.window; i++)
        c->gc.pages[i].next = i + 1;
    return 0;
}

uint64_t core_memory(const struct ftl_config *cfg)
{
    struct ftl_geometry g;
    uint32_t reserve;
    if (geometry_make(&g, cfg) < 0)
        return UINT64_MAX;
    uint64_t per_sb = 4 + 4 + 1 + 1 + 1 + 1 + 8 + 8 + 4 + 4 + 4 + 4 + 4 + 4 * (uint64_t)g.dies + 17 + 10 +
                      g.planes * (uint64_t)sizeof(struct row_range);
    uint64_t blocks = cfg->media_faults ? media_blocks_memory(g.dies, g.planes,
                                                              cfg->nand_blocks_per_plane,
                                                              g.sb_count, cfg->wear_assembly != 0)
                                        : 0;
    uint32_t wordlines = wl_limit(&g, cfg, gc_window(&g, cfg), &reserve);
    uint64_t payload = cfg->media_payload ? core_payload_memory(cfg, &g, wordlines) : 0;
    uint64_t directory = g.cache_pages != 0 ? g.map_pages : 0;
    return payload + core_passes_memory(cfg, &g) + core_streams_memory(cfg) + core_dftl_memory(&g) +
           core_cache_memory(cfg) +
           ((cfg->drive_user_bytes >> g.unit_shift) + directory + g.total_units + 2) * 4 +
           g.sb_count * per_sb + blocks +
           wordlines * (uint64_t)sizeof(struct wordline);
}

int core_init(struct ftl_core *c, const struct ftl_config *cfg, struct sim_context *ctx,
              struct media *media, struct ftl_counters *count)
{
    *c = (struct ftl_core){.ctx = ctx, .media = media, .cfg = cfg, .count = count};
    if (geometry_make(&c->g, cfg) < 0)
        return FTL_ECONFIG;
    c->user_units = (uint32_t)(cfg->drive_user_bytes >> c->g.unit_shift);
    c->buffer_limit = min_u32(cfg->buffer_bytes >> c->g.unit_shift, UINT32_MAX / 2);
    c->buffer_allowed = c->buffer_limit;
    c->gc.buffer_limit = min_u32(cfg->buffer_gc_bytes >> c->g.unit_shift, UINT32_MAX / 2);
    c->keeps_atomic = !cfg->power_plp && cfg->power_atomic_units > 1 && cfg->media_payload;
    c->classes = (uint32_t)cfg->streams_count;
    c->frontier_count = (uint32_t)geometry_frontiers(cfg);
    c->gc_first = cfg->gc_frontiers > 1 ? c->classes : 0;
    uint32_t last = c->frontier_count - (c->g.pages_on_medium != 0);    /* map pages have that one */
    c->wear.frontier = cfg->wear_spread != 0 ? last - 1 : FRONTIERS_MAX;
    core_streams_init(c);
    c->dftl.loaded = MAP_PAGE_NONE;
    c->map_frontier = SB_NONE;
    if (c->g.pages_on_medium != 0) {
        c->map_frontier = c->frontier_count - 1;
        c->gc_of[c->classes] = (uint8_t)c->map_frontier;
        c->fr_class[c->map_frontier] = (uint8_t)c->classes;
    }
    uint64_t keys = c->user_units + (c->g.cache_pages != 0 ? UINT64_C(1) * c->g.map_pages : 0);
    c->map_bytes = (size_t)(keys + 1) * sizeof *c->map;
    if (SIM_TAKE(&ctx->mem, c->map, keys + 1) < 0 ||
        SIM_TAKE(&ctx->mem, c->rmap, c->g.total_units + 1) < 0)
        return FTL_ENOMEM;
    int err = take_superblock_arrays(c);
    if (err == 0)
        err = take_pools(c);
    if (err == 0)
        err = core_passes_init(c);
    if (err == 0)
        err = core_cache_init(c);
    if (err == 0 && c->g.cache_pages != 0)
        err = core_dftl_init(c);
    if (err == 0 && cfg->media_payload)
        err = core_payload_init(c, c->wl_count);
    if (err == 0 && cfg->journal_enabled)
        err = core_journal_init(c);
    if (err < 0)
        return err;
    set_space_limits(c);
    c->free_count = c->g.sb_count - c->cache.count;
    c->gc.victim = SB_NONE;
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++)
        c->erases[sb] = (uint32_t)cfg->media_start_cycles;
    c->failed_wl = WL_NONE;
    c->care.sb = SB_NONE;
    for (uint32_t i = 0; i < FRONTIERS_MAX; i++)
        c->fr[i].sb = SB_NONE;
    return 0;
}

void core_aim(struct ftl_core *c)
{
    if (c->payload != NULL)
        c->payload = &c->kept;
    if (c->raid != NULL)
        c->raid = &c->raid_kept;
    if (c->journal != NULL)
        c->journal = &c->log;
    core_policy_aim(c);
}

void core_open(struct ftl_core *c, struct frontier *f)
{
    bool cache = c->cache.count != 0 && f == c->fr;
    if (cache)
        core_cache_prepare(c);
    FTL_ASSERT(c->ctx, f->sb == SB_NONE && (cache ? c->cache.free_count : c->free_count) > 0);
    uint32_t sb = core_wear_open(c, (uint32_t)(f - c->fr));

    c->state[sb] = SB_OPEN;
    c->sb_class[sb] = c->fr_class[f - c->fr];
    c->sb_handles[sb] = f - c->fr < c->classes ? (uint8_t)(1u << (f - c->fr)) : 0;
    c->sb_frontier[sb] = (uint8_t)(f - c->fr);
    c->free_count -= !cache;
    memset(&c->rows_programmed[(size_t)sb * c->g.dies], 0,
           c->g.dies * sizeof *c->rows_programmed);
    if (c->coarse_wl != NULL)
        core_passes_open(c, sb);
    *f = (struct frontier){.sb = sb};
    f->next = sb * c->g.sb_units + 1;
    f->sb_end = f->next + c->g.sb_units;
    f->run_end = f->wl_end = f->next + c->g.wl_units;
    if (cache) {
        core_cache_open(c, f);
        return;
    }
    f->holes = c->holes[sb];
    c->free_usable -= c->g.sb_units - f->holes;
    if (__builtin_expect(f->holes != 0, 0))
        core_frontier_settle(c, f);
    (void)core_pace(c);
}

static void erase_untimed(struct ftl_core *c, uint32_t sb)
{
    c->count->nand_erases += (uint64_t)c->g.dies * c->g.planes;
    if (c->payload != NULL)
        media_erase_untimed(c->media, sb, c->erases[sb]);
    else
        media_count_erase(c->media, sb);
}

void core_release(struct ftl_core *c, uint32_t sb)
{
    FTL_ASSERT(c->ctx, c->valid[sb] == 0 && c->wl_in_flight[sb] == 0);
    c->state[sb] = SB_FREE;
    c->collectable[sb] = 0;
    c->erases[sb]++;
    if (core_is_slc(c, sb)) {
        core_cache_release(c, sb);
    } else {
        c->free_count += !FTL_PLANT(free_leak, 10);
        c->free_usable += c->g.sb_units - c->holes[sb];
    }
    if (c->leave[sb] || c->failures != 0)
        core_holes_turn(c, sb);
    c->wear.freed_at[sb] = ++c->wear.freed;
    c->wear.moved[sb] = 0;
    if (c->journal != NULL) {
        if (c->payload != NULL)
            core_payload_erased(c, sb);
        core_journal_erase(c, sb);
    }
    if (!c->timed) {
        erase_untimed(c, sb);
        return;
    }
    for (uint32_t d = 0; d < c->g.dies; d++)
        media_erase(c->media, c->ctx->now, d, sb, sb);
}

uint64_t core_open_units(const struct ftl_core *c)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->frontier_count; i++)
        if (c->fr[i].sb != SB_NONE)
            n += c->fr[i].next - (c->fr[i].wl_end - c->g.wl_units) - c->fr[i].hole_units -
                 c->fr[i].parity_units;
    return n;
}

uint32_t core_open_cause(const struct ftl_core *c, enum cause cause)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->frontier_count; i++)
        n += c->fr[i].wl_units[cause];
    return n;
}

void core_format(struct ftl_core *c)
{
    c->open_before -= (int64_t)core_open_units(c);
    if (c->cache.count != 0)
        core_cache_format(c);
    memset(c->map, 0, c->map_bytes);
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        c->valid[sb] = 0;
        c->collectable[sb] = 0;
        if (c->state[sb] == SB_FREE || c->state[sb] == SB_DEAD)
            continue;
        c->state[sb] = SB_FREE;
        c->free_count += !core_is_slc(c, sb);
        c->wear.freed_at[sb] = ++c->wear.freed;
        c->erases[sb]++;
        erase_untimed(c, sb);
    }
    core_payload_forget(c);
    core_forget_lost(c);
    core_dftl_forget(c);
    c->mapped = c->in_log = 0;
    c->gc.victim = SB_NONE;
    c->gc.finishing_count = 0;
    c->gc.buffer_used = c->buffer_used = 0;
    for (uint32_t i = 0; i < FRONTIERS_MAX; i++)
        c->fr[i] = (struct frontier){.sb = SB_NONE};
    if (c->cache.count != 0)        /* its superblocks may have changed sides */
        c->free_count = c->g.sb_count - c->cache.count;
    core_holes_format(c);
    core_wear_format(c);
    core_pace_idle(c, false);
    if (c->journal != NULL)
        core_journal_format(c);
    c->medium_stale = true;
}

/* The same for planes with blocks of their own, as far as these take rows. */
static void sync_planes(struct ftl_core *c, uint32_t sb, uint32_t die, uint32_t rows)
{
    const struct media_blocks *b = &c->media->blocks;

    for (uint32_t p = 0; p < c->g.planes; p++) {
        size_t i = media_blocks_index(b, sb, die, p);
        if (b->block[i] == BLOCK_NONE)
            continue;
        uint32_t n = rows < b->hole_row[i] ? rows : b->hole_row[i];
        int err = nand_block_set(c->media->nand, die, p, b->block[i], n * c->g.page_types,
                                 media_blocks_worn(b, die, p, b->block[i], c->erases[sb]));
        FTL_ASSERT(c->ctx, err == 0);
    }
}

/* Spares that were in use meanwhile are blank and as worn as they are counted. */
static void sync_spares(struct ftl_core *c)
{
    const struct media_blocks *b = &c->media->blocks;

    for (uint32_t at = 0; b->erases != NULL && at < b->dies * b->planes; at++)
        for (uint32_t k = 0; k < b->spare_count[at]; k++) {
            uint32_t block = b->spare[(size_t)at * b->spare_room + k], die = at / b->planes;
            int err = nand_block_set(c->media->nand, die, at % b->planes, block, 0,
                                     media_blocks_worn(b, die, at % b->planes, block, 0));
            FTL_ASSERT(c->ctx, err == 0);
        }
}

/* Every die has the rows before the open one; those that the open row has reached
 * have one more. Parity of a row follows its last data die. */
static void sync_superblock(struct ftl_core *c, uint32_t sb)
{
    const struct ftl_geometry *g = &c->g;
    uint32_t *rows = &c->rows_programmed[(size_t)sb * g->dies];
    uint32_t row = c->state[sb] == SB_FREE ? 0 : g->rows;

    for (uint32_t i = 0; i < c->frontier_count; i++)
        if (c->fr[i].sb == sb)
            row = c->fr[i].row;
    for (uint32_t d = 0; d < g->dies; d++)
        rows[d] = row;
    for (uint32_t i = 0; i < c->frontier_count; i++)
        for (uint32_t k = 0; c->fr[i].sb == sb && k < c->fr[i].data_die; k++)
            rows[geometry_data_die(g, row, k)]++;
    for (uint32_t d = 0; d < g->dies && c->coarse_wl != NULL; d++)
        core_passes_sync(c, sb, d, rows[d]);
    /* with payload it is there already, bytes and all */
    for (uint32_t d = 0; d < g->dies && c->payload == NULL; d++) {
        if (c->media->blocks.block != NULL) {
            sync_planes(c, sb, d, rows[d]);
            continue;
        }
        if (core_is_slc(c, sb)) {
            media_set_slc(c->media, d, sb, rows[d], c->erases[sb]);
            continue;
        }
        int err = nand_block_set_planes(c->media->nand, d, (UINT32_C(1) << g->planes) - 1, sb,
                                        NULL, rows[d] * g->page_types, c->erases[sb]);
        FTL_ASSERT(c->ctx, err == 0);
    }
}

void core_sync_medium(struct ftl_core *c)
{
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++)
        sync_superblock(c, sb);
    sync_spares(c);
    core_gc_resume(c);
    /* units of open word lines are what the write buffer holds */
    c->buffer_used = core_open_cause(c, CAUSE_HOST);
    c->gc.buffer_used = core_open_cause(c, CAUSE_GC);
    if (c->buffer_peak < c->buffer_used)
        c->buffer_peak = c->buffer_used;
    c->medium_stale = false;
}
