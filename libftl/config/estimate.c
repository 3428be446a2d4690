/* estimate.c - the capacitors and the start of a drive by arithmetic alone; see POWER.md. */
#include "core/core.h"
#include "core/energy.h"
#include "ftl/ftl_power.h"
#include "nand/nand.h"

enum { TABLE_MOST = 168, SLICE_WORTH = 1016, LIFE_HOURS = 5 * 8760, LIFE_CELSIUS = 70 };

struct shape {
    const struct ftl_config *cfg;
    struct ftl_geometry g;
    struct journal j;
    uint32_t log_reads;         /* plane pages of a page of the log */
    uint64_t user_units, slc_tprog_ns;
};

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* Array and bus work side by side; `pages` are pages of one plane. */
static uint64_t pages_ns(const struct shape *s, uint64_t pages, uint64_t array_ns)
{
    const struct ftl_config *c = s->cfg;
    uint64_t array = ceil_div(pages, c->nand_dies * c->nand_planes) * (c->nand_tcmd_ns + array_ns);
    uint64_t bus = pages * (c->nand_tcmd_ns + c->nand_tstatus_ns +
                            (c->nand_page_bytes + c->nand_spare_bytes) * 1000 / c->nand_bus_mts) /
                   c->nand_channels;
    return array > bus ? array : bus;
}

/* Programs on all dies; what they bring fills `pages` pages of one plane. */
static uint64_t programs_ns(const struct shape *s, uint64_t programs, uint64_t tprog_ns, uint64_t pages)
{
    uint64_t array = ceil_div(programs, s->g.dies) * (s->cfg->nand_tcmd_ns + tprog_ns);
    uint64_t bus = pages_ns(s, pages, 0);
    return array > bus ? array : bus;
}

static uint64_t buffered_units(const struct shape *s)
{
    return (s->cfg->buffer_bytes + s->cfg->buffer_gc_bytes) >> s->g.unit_shift;
}

static void add(struct ftl_start_estimate *e, const char *name, uint64_t items, uint64_t ns)
{
    e->steps[e->step_count++] = (struct ftl_power_step){name, ns, items};
    e->ready_ns += ns;
}

static void add_reads(const struct shape *s, struct ftl_start_estimate *e, const char *name,
                      uint64_t pages)
{
    add(e, name, pages, pages_ns(s, pages, s->cfg->nand_tr0_ns));
}

/* Superblocks that fill up while a checkpoint is written: its pages, as many at a time as it may have
 * on their way, each wait for a program of data; a superblock takes a program per row. */
static uint64_t meanwhile(const struct shape *s, uint64_t pages)
{
    uint64_t turns = ceil_div(pages, JOURNAL_BUFFERS - LOG_LEAVES);
    return ceil_div(turns * (s->cfg->nand_tprog_ns + s->slc_tprog_ns),
                    s->g.rows * s->cfg->nand_tprog_ns);
}

/* What is left to scan: how many superblocks, and the records that tell of them. */
struct since {
    uint64_t superblocks, pages, late;  /* late: word lines whose records are not on the medium */
};

/* worst: a checkpoint is due and all but complete; the one before tells of none of the
 * superblocks closed since. */
static struct since since_checkpoint(const struct shape *s, uint64_t checkpoint, bool mark, bool worst)
{
    const struct ftl_geometry *g = &s->g;
    uint64_t in_page = core_tags_in_sector(g) * s->j.sectors, wls = (uint64_t)g->rows * g->data_dies;
    uint64_t buffered = buffered_units(s) / g->wl_units;
    struct since r = {.superblocks = meanwhile(s, checkpoint)};

    r.late = buffered + (mark ? 0 : JOURNAL_BUFFERS * in_page);
    if (worst && s->cfg->journal_checkpoint != 0)
        r.superblocks += s->cfg->journal_checkpoint;
    else if (worst)         /* the segment is full of records */
        r.superblocks = (s->j.pages_per_segment - checkpoint) * (in_page > 0 ? in_page : 1) / wls;
    if (in_page == 0)       /* a word line has more units than a record takes */
        r.late += r.superblocks * wls;
    else
        r.pages = ceil_div(r.superblocks * wls, in_page);
    return r;
}

/* Pages that a start reads behind the last of a segment before it takes the rest for blank. */
static uint64_t blank_pages(const struct shape *s)
{
    return journal_gap_most(s->g.dies) + 1;
}

/* Units that a start may have to write anew for room, when it had to close what was open: they are read
 * one by one, saved with the checkpoint and programmed. */
static uint64_t gathered(const struct shape *s, bool mark)
{
    uint64_t units = buffered_units(s);
    return mark ? 0 : units < s->g.sb_units ? units : s->g.sb_units;
}

/* Worst: as above. Else the checkpoint has just ended. */
static void start(const struct shape *s, const struct ftl_power_estimate *all, bool mark,
                  bool worst, struct ftl_start_estimate *e)
{
    const struct ftl_config *c = s->cfg;
    const struct ftl_geometry *g = &s->g;
    struct since since = since_checkpoint(s, all->checkpoint_pages, mark, worst);
    uint64_t flush = mark ? s->j.flush_pages : 0, last = all->checkpoint_pages + flush;
    uint64_t gather = gathered(s, mark), new_wls = ceil_div(gather, g->wl_units);
    /* the last checkpoint was not complete: its segment is read, the one before, then itself again */
    uint64_t log = last + since.pages + (worst ? all->checkpoint_pages + last : 0);
    uint64_t saved = last + ceil_div(gather << g->cw_shift, s->j.sectors);
    uint64_t blank = geometry_free_kept(c) + (c->journal_enabled ? 0 : 1);
    uint64_t scanned = since.superblocks + geometry_frontiers(c) + blank;
    uint64_t units = since.superblocks * g->sb_units, wl_pages = g->planes * g->page_types;

    scanned = scanned < g->sb_count ? scanned : g->sb_count;
    e->superblocks_scanned = scanned;
    /* a mark names the erases that were under way: of what is kept free at most */
    e->superblocks_erased = mark ? (worst ? blank : 1) : worst ? scanned : blank;
    add_reads(s, e, "find the segments of the log",     /* of a new drive all but one are blank */
              (1 + (s->j.segments - 1) * blank_pages(s)) * s->log_reads);
    add_reads(s, e, "replay the log", (log + (worst ? 3 : 1) * blank_pages(s)) * s->log_reads);
    add_reads(s, e, "scan superblocks", (g->sb_count + scanned) * g->dies +
              since.late * wl_pages);
    add(e, "resolve by sequence", units, units * c->journal_entry_ns);
    add_reads(s, e, "restore the buffer", flush * s->log_reads);
    uint64_t counted = mark ? g->sb_count : s->user_units;
    add(e, "count live units", counted, counted * c->journal_entry_ns);
    add_reads(s, e, "gather what leaves no room", gather << g->cw_shift);
    uint64_t segment_ns = s->j.segment_blocks * c->nand_tbers_ns;
    /* one segment before, one after */
    add(e, "write a checkpoint", saved,
        2 * segment_ns + programs_ns(s, saved, s->slc_tprog_ns, saved * s->log_reads));
    add(e, "erase what is void", e->superblocks_erased, e->superblocks_erased * c->nand_tbers_ns);
    add(e, "program what was gathered", new_wls,
        programs_ns(s, new_wls, c->nand_tprog_ns, new_wls * wl_pages));
    uint64_t in_ns = c->nand_tcmd_ns + (c->nand_page_bytes + c->nand_spare_bytes) * 1000 / c->nand_bus_mts;
    add(e, "open the log", 1, s->log_reads * in_ns + c->nand_tcmd_ns + s->slc_tprog_ns);
    /* rows that are programmed in part, about as many word lines as the buffers hold of others */
    add_reads(s, e, "resume open superblocks",
              mark ? buffered_units(s) / g->wl_units * wl_pages : 0);
}

static void bank(const struct ftl_config *cfg, struct ftl_power_estimate *e)
{
    struct ftl_config old = *cfg;

    if (!cfg->power_plp)
        return;
    old.power_cap_age_hours = LIFE_HOURS;
    old.power_cap_celsius = LIFE_CELSIUS;
    e->life_health_ppm = energy_health_ppm(&old, 0);
    e->life_usable_nj = energy_usable_nj(cfg, (uint32_t)e->life_health_ppm);
    e->flush_bytes = cfg->buffer_bytes + cfg->buffer_gc_bytes + cfg->power_flush_extra_bytes;
    e->flush_ns = energy_flush_ns(cfg, e->flush_bytes);
    e->usable_nj = energy_usable_nj(cfg, 1000000);
    e->need_nj = energy_need_nj(cfg, e->flush_bytes, e->flush_ns);
    e->margin_ppm = e->usable_nj * 1000000 / (e->need_nj > 0 ? e->need_nj : 1);
    e->hold_up_ns = e->usable_nj * 1000 / cfg->power_base_mw;
}

int ftl_power_estimate(const struct ftl_config *cfg, struct ftl_power_estimate *ret)
{
    struct shape s = {.cfg = cfg};

    if (ret == NULL || ret->struct_size != sizeof *ret || ftl_config_check(cfg, NULL, 0) < 0 ||
        geometry_make(&s.g, cfg) < 0)
        return FTL_EINVAL;
    const struct nand_profile *part = nand_profile_find(cfg->nand_preset);
    struct ftl_power_estimate e = {.struct_size = sizeof e};
    e.log_fits = core_journal_shape(&s.j, cfg, &s.g) == 0 ? 1 : 0;
    s.log_reads = s.j.sectors / s.j.page_cws;
    s.user_units = cfg->drive_user_bytes >> s.g.unit_shift;
    s.slc_tprog_ns = s.j.slc ? part->time.slc_tprog_ns : cfg->nand_tprog_ns;
    uint64_t sectors = 2 + ceil_div(s.g.sb_count, TABLE_MOST) +
                       ceil_div(s.user_units + 3 * buffered_units(&s), SLICE_WORTH);
    e.checkpoint_pages = ceil_div(sectors, s.j.sectors);
    e.checkpoint_bytes = 4 * s.user_units + 24 * (uint64_t)s.g.sb_count;
    e.segment_pages = s.j.pages_per_segment;
    e.units = s.user_units;
    bank(cfg, &e);
    for (int i = 0; i < FTL_ESTIMATES; i++)
        start(&s, &e, i == FTL_ESTIMATE_MARK || i == FTL_ESTIMATE_MARK_WORST,
              i == FTL_ESTIMATE_MARK_WORST || i == FTL_ESTIMATE_SCAN_WORST, &e.start[i]);
    *ret = e;
    return 0;
}
