#include "core/geometry.h"
#include "sim/plant.h"

#include <string.h>

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* user capacity above the physical one is refused later */
static uint32_t map_pages(const struct ftl_config *c)
{
    uint64_t units = c->drive_user_bytes / c->map_unit_bytes;
    uint64_t pages = (units + c->map_page_entries - 1) / c->map_page_entries;
    return pages < UINT32_MAX ? (uint32_t)pages : UINT32_MAX;
}

static uint32_t cache_pages(const struct ftl_config *c)
{
    uint64_t cached = (map_pages(c) * c->map_cache_ppm + 999999) / 1000000;
    return c->map_cache_ppm == 0      ? 0
           : cached < MAP_CACHE_LEAST ? MAP_CACHE_LEAST
                                      : (uint32_t)cached;
}

static uint32_t pages_on_medium(const struct ftl_config *c)
{
    return c->map_cache_ppm != 0 && cache_pages(c) < map_pages(c) ? map_pages(c) : 0;
}

static void make_map_pages(struct ftl_geometry *g, const struct ftl_config *c)
{
    while (UINT64_C(1) << g->map_page_shift < c->map_page_entries)
        g->map_page_shift++;
    g->map_pages = map_pages(c);
    g->cache_pages = cache_pages(c);
    g->pages_on_medium = pages_on_medium(c);
}

int geometry_make(struct ftl_geometry *g, const struct ftl_config *c)
{
    *g = (struct ftl_geometry){
        .dies = (uint32_t)c->nand_dies,
        .parity_dies = (uint32_t)c->raid_parity,
        .data_dies = (uint32_t)(c->nand_dies - c->raid_parity),
        .planes = (uint32_t)c->nand_planes,
        .page_types = (uint32_t)c->nand_page_types,
        .unit_bytes = (uint32_t)c->map_unit_bytes,
        .unit_cws = (uint32_t)(c->map_unit_bytes / CODEWORD_BYTES),
        .page_cws = (uint32_t)(c->nand_page_bytes / CODEWORD_BYTES),
        .rows = (uint32_t)c->nand_wordlines_per_block,
        .sb_count = (uint32_t)c->ftl_superblocks,
    };
    uint32_t wl_cws = g->planes * g->page_types * g->page_cws;
    if (wl_cws % g->unit_cws != 0)
        return -1;
    for (uint32_t n = g->unit_cws; n > 1; n >>= 1)
        g->cw_shift++;
    g->unit_shift = 12 + g->cw_shift;
    g->wl_units = wl_cws >> g->cw_shift;
    g->group_units = g->page_cws / gcd(g->page_cws, g->unit_cws);
    g->group_pages = (g->group_units << g->cw_shift) / g->page_cws;
    /* bounds of the keys: 1024 dies x 16 x 4 x 16 x 65536 rows < 2^37 */
    uint64_t sb = (uint64_t)g->wl_units * g->data_dies * g->rows;
    /* one unit would make sb_inverse overflow, and is of no use */
    if (sb < 2 || sb >= UINT32_MAX || sb * g->sb_count >= UINT32_MAX)
        return -1;
    g->row_units = g->wl_units * g->data_dies;
    g->sb_units = (uint32_t)sb;
    g->total_units = sb * g->sb_count;
    g->sb_inverse = UINT64_MAX / g->sb_units + 1;
    make_map_pages(g, c);
    return 0;
}

/* Room for what the buffers hold at most, when its programs fail; MEDIA.md. */
static uint64_t failed_kept(const struct ftl_config *c)
{
    uint64_t sb = c->nand_planes * c->nand_page_types * c->nand_page_bytes *
                  (c->nand_dies - c->raid_parity) * c->nand_wordlines_per_block;
    return c->media_faults ? 2 + (c->buffer_bytes + c->buffer_gc_bytes) / sb : 0;
}

uint64_t geometry_frontiers(const struct ftl_config *c)
{
    uint64_t gathered = c->streams_initial > 1 ? c->streams_initial - 1 : 0;
    return c->gc_frontiers * c->streams_count - gathered + (c->wear_spread != 0) +
           (pages_on_medium(c) != 0);
}

bool geometry_streams_auto(const struct ftl_config *c)
{
    return strcmp(c->streams_mode, "auto") == 0;
}

/* A start after a loss closes open superblocks as they are. Apart, each was counted with the rest
 * of a superblock to spare; of a pool that is so of one. */
static uint64_t journal_kept(const struct ftl_config *c)
{
    return !c->journal_enabled ? 0 : geometry_streams_auto(c) ? geometry_frontiers(c) : 1;
}

/* One free superblock per frontier beyond the first keeps the host from waiting for
 * an erase (DESIGN.md has the argument). Without capacitors victims wait for a full
 * word line: one superblock for those held, one for units that run over into it. */
uint64_t geometry_free_kept(const struct ftl_config *c)
{
    /* automatic streams make all frontiers one pool: STREAMS.md */
    uint64_t open = geometry_streams_auto(c) ? 1 : geometry_frontiers(c);
    return c->gc_reserve + open - 1 + (c->power_plp ? 0 : 2) + failed_kept(c) +
           journal_kept(c) +
           (pages_on_medium(c) != 0 ? MAP_RESERVE : 0);
}

/* Besides, more dead units than the open superblocks can hold, so that a victim with
 * something to gain always exists: one superblock per frontier, at least two. */
uint64_t geometry_spare_needed(const struct ftl_config *c)
{
    uint64_t open = geometry_frontiers(c);
    /* the cache, and room above the floor for one superblock of it */
    uint64_t cache = c->pslc_superblocks != 0 ? c->pslc_superblocks + 1 : 0;
    if (geometry_streams_auto(c))
        return geometry_free_kept(c) + open + 2;
    return geometry_free_kept(c) + (open < 2 ? 2 : open) + cache;
}

void geometry_least_buffers(const struct ftl_geometry *g, const struct ftl_config *cfg,
                            uint64_t *ret_host, uint64_t *ret_gc)
{
    /* in two passes each die holds one word line more */
    uint64_t each = (cfg->nand_tcoarse_ns != 0 ? 1 + cfg->nand_dies : 1) * g->wl_units;
    bool pool = geometry_streams_auto(cfg);  /* data of both kinds at each frontier */
    uint64_t host = cfg->streams_count + (g->pages_on_medium != 0);
    uint64_t open = (pool ? geometry_frontiers(cfg) : host) * each;
    /* open word lines may stay all but full; an atomic command needs its room at once */
    *ret_host = open + cfg->power_atomic_units - 1;
    *ret_gc = open + (cfg->wear_spread != 0 && !pool ? each : 0) + g->wl_units;
}

uint32_t geometry_data_die(const struct ftl_geometry *g, uint32_t row, uint32_t d)
{
    return (row + g->parity_dies + d) % g->dies;
}

uint32_t geometry_data_die_of(const struct ftl_geometry *g, uint32_t row, uint32_t die)
{
    uint32_t first = geometry_data_die(g, row, 0), d = (die + g->dies - first) % g->dies;
    return d < g->data_dies ? d : UINT32_MAX;
}

uint32_t geometry_parity_die(const struct ftl_geometry *g, uint32_t row, uint32_t k)
{
    return (row + k + FTL_PLANT(wrong_parity_die, 10)) % g->dies;
}

void geometry_place(const struct ftl_geometry *g, uint32_t slot, uint32_t cw,
                    struct ftl_place *p)
{
    p->sb = geometry_superblock(g, slot);
    uint32_t in_sb = slot - p->sb * g->sb_units;
    p->row = in_sb / g->row_units;
    uint32_t in_row = in_sb - p->row * g->row_units;
    p->data_die = in_row / g->wl_units;
    p->die = geometry_data_die(g, p->row, p->data_die);
    uint32_t in_wl = ((in_row - p->data_die * g->wl_units) << g->cw_shift) + cw;
    uint32_t page = in_wl / g->page_cws;
    p->cw = in_wl - page * g->page_cws;
    p->page_type = page / g->planes;
    p->plane = page - p->page_type * g->planes;
}
