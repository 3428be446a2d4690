/* logshape.c - how much of the medium and of memory the log takes. */
#include "core/core.h"
#include "core/log.h"

/* Of the user's units, those that may wait during one checkpoint beyond what the buffers hold. */
enum { SLICE_LEAST = 250, SLICE_WORDS = 1012, WAITING_SHARE = 16 };

static uint32_t ceil_div(uint64_t a, uint64_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

/* Sectors of the superblocks that are being written: one open and one on its way per frontier, and
 * what the buffers may hold of others. */
static uint32_t rows_sectors(const struct ftl_geometry *g, uint64_t buffered)
{
    uint32_t in_sector = JOURNAL_BODY / (RECORD_HEAD + ROWS_HEAD + 4 * g->dies);
    uint64_t most = 2 * FRONTIERS_MAX + buffered / g->sb_units;
    return in_sector == 0 ? 0 : ceil_div(most < g->sb_count ? most : g->sb_count, in_sector);
}

/* A unit that waits takes three words beside its place. At most waiting_most do: core_log_admits().
 * With a map on the medium all may, and each of its pages may end a slice. */
static uint32_t slice_sectors(const struct journal *j, const struct ftl_geometry *g, uint64_t user_units)
{
    if (g->pages_on_medium != 0)
        return ceil_div(user_units, SLICE_LEAST) + ceil_div(g->pages_on_medium, SLICE_LEAST) +
               g->pages_on_medium;
    if (j->waiting_most == UINT64_MAX)
        return ceil_div(user_units, SLICE_LEAST);
    return ceil_div(user_units + 3 * j->waiting_most, SLICE_WORDS);
}

int core_journal_shape(struct journal *j, const struct ftl_config *cfg, const struct ftl_geometry *g)
{
    uint32_t types = media_has_slc(cfg) ? 1 : g->page_types;
    uint64_t units = (cfg->buffer_bytes + cfg->buffer_gc_bytes) >> g->unit_shift;

    *j = (struct journal){.slc = types == 1 && g->page_types > 1, .first_block = g->sb_count,
                          .segments = 3, .page_cws = g->page_cws, .open = -1,
                          .page_total = (uint32_t)(cfg->nand_page_bytes + cfg->nand_spare_bytes)};
    uint32_t lives = ceil_div(g->sb_count, JOURNAL_BODY / (RECORD_HEAD + LIFE_HEAD + g->dies / 8 + 1));
    j->sectors = types * g->planes * g->page_cws;
    j->page_bytes = types * g->planes * g->page_cws * JOURNAL_BODY;
    j->sector_bytes = j->page_total / j->page_cws;
    uint32_t counts = ceil_div(g->sb_count, COUNTS_MOST);
    j->flush_pages = JOURNAL_BUFFERS + 2 +
                     ceil_div((units << g->cw_shift) + counts + lives + 2, j->sectors);
    uint64_t user = cfg->drive_user_bytes >> g->unit_shift;
    j->waiting_most = g->pages_on_medium != 0 || units + user / WAITING_SHARE >= user
                          ? UINT64_MAX
                          : units + user / WAITING_SHARE;
    j->checkpoint_sectors = 2 + rows_sectors(g, units) +
                            ceil_div(g->sb_count, JOURNAL_BODY / JOURNAL_TABLE_ENTRY - 2) +
                            slice_sectors(j, g, user);
    uint64_t pages = 2 * (uint64_t)(ceil_div(j->checkpoint_sectors, j->sectors) +
                                    j->flush_pages + JOURNAL_BUFFERS);
    uint64_t per_block = (uint64_t)g->dies * g->rows;
    j->segment_blocks = ceil_div(pages, per_block);
    j->pages_per_segment = (uint32_t)(j->segment_blocks * per_block);
    return g->sb_count + (uint64_t)j->segments * j->segment_blocks <= cfg->nand_blocks_per_plane
               ? 0
               : -1;
}

uint32_t core_journal_ops(const struct ftl_core *c)
{
    return c->journal == NULL ? 0 : JOURNAL_BUFFERS + c->g.dies * c->journal->segment_blocks;
}

uint64_t core_journal_bytes(const struct ftl_core *c)
{
    struct journal j;
    if (!c->cfg->journal_enabled)
        return 0;
    (void)core_journal_shape(&j, c->cfg, &c->g);
    return (uint64_t)JOURNAL_BUFFERS * (j.sectors / j.page_cws) * j.page_total;
}
