/* derive.c - from settings to a finished configuration: preset, scale, checks. */
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "core/core.h"
#include "core/energy.h"
#include "core/geometry.h"
#include "core/payload.h"
#include "nand/nand.h"

/* Largest number of mapping units that 32-bit slot numbers can name. */
#define UNITS_MAX (UINT64_C(0xFFFFFFFF) - 1)

/* Divides the word lines of a block, the user capacity in proportion, and the
 * time paid once per block, so that spare ratio and duty cycle stay. */
static int apply_scale(struct ftl_config *cfg, uint64_t scale, char *why, size_t why_size)
{
    uint64_t full = cfg->nand_wordlines_per_block;
    uint64_t wordlines = (full + scale / 2) / scale;

    if (wordlines == 0)
        return config_refuse(FTL_ECONFIG, why, why_size,
                             "scale %llu: leaves no word line of the block's %llu; at most %llu",
                             (unsigned long long)scale, (unsigned long long)full,
                             (unsigned long long)full * 2);
    cfg->drive_scale = scale;
    cfg->nand_wordlines_per_block = wordlines;
    /* user < 2^46 and word lines < 2^17: the product fits in 63 bits */
    cfg->drive_user_bytes = cfg->drive_user_bytes / 4096 * wordlines / full * 4096;
    cfg->nand_tbers_ns = cfg->nand_tbers_ns * wordlines / full;
    return 0;
}

static int check_streams(const struct ftl_config *c, char *why, size_t n)
{
    bool is_auto = geometry_streams_auto(c);
    unsigned long long count = c->streams_count, chunk = c->streams_chunk_units;
    unsigned long long initial = c->streams_initial;

    if (!is_auto && strcmp(c->streams_mode, "host") != 0)
        return config_refuse(FTL_ECONFIG, why, n, "streams.mode=%s: must be host or auto",
                             c->streams_mode);
    if (is_auto && count < 2)
        return config_refuse(FTL_ECONFIG, why, n,
                             "streams.mode=auto: needs streams.count of at least 2, is %llu", count);
    if ((chunk & (chunk - 1)) != 0)
        return config_refuse(FTL_ECONFIG, why, n,
                             "streams.chunk_units=%llu: must be a power of two", chunk);
    if (!is_auto && chunk != 1)
        return config_refuse(FTL_ECONFIG, why, n,
                             "streams.chunk_units=%llu: needs streams.mode=auto", chunk);
    if (initial == 0)
        return 0;
    if (initial < 2 || initial > count)
        return config_refuse(FTL_ECONFIG, why, n,
                             "streams.initially_isolated=%llu: must be 0, or 2 to "
                             "streams.count=%llu", initial, count);
    return 0;
}

/* Settings of media care that would do nothing. */
static int check_media(const struct ftl_config *c, char *why, size_t n)
{
    if (!c->media_ecc && ((c->media_start_cycles | c->media_refresh_reads |
                           c->media_refresh_hours | c->media_refresh_bits |
                           c->media_patrol_hours | (c->media_celsius ^ 30)) != 0 ||
                          c->media_refresh_retries != 16))
        return config_refuse(FTL_ECONFIG, why, n,
                             "media.start_cycles, media.celsius, media.refresh_*, media.patrol_hours: need "
                             "media.ecc=1: without it cells do not age");
    if (c->wear_assembly && !c->media_faults)
        return config_refuse(FTL_ECONFIG, why, n,
                             "wear.assembly=1: needs media.faults=1: without it superblocks have no spares");
    if (c->media_restripe && (!c->media_faults || c->raid_parity == 0))
        return config_refuse(FTL_ECONFIG, why, n,
                             "media.restripe=1: needs media.faults=1 and raid.parity=1: there are no "
                             "stripes to mend");
    if (!c->media_faults && (c->media_care_pages != 8 || c->media_spare_threshold != 10))
        return config_refuse(FTL_ECONFIG, why, n,
                             "media.care_pages, media.spare_threshold_percent: need "
                             "media.faults=1: without it no block fails");
    if (c->memory_upset_ppm == 0 && c->memory_multi_ppm != 10000)
        return config_refuse(FTL_ECONFIG, why, n,
                             "memory.multi_ppm=%llu: needs memory.upset_ppm above 0",
                             (unsigned long long)c->memory_multi_ppm);
    return 0;
}

static int check_shape(const struct ftl_config *c, char *why, size_t n)
{
    if (c->drive_lba_bytes != 512 && c->drive_lba_bytes != 4096)
        return config_refuse(FTL_ECONFIG, why, n, "drive.lba_bytes=%llu: must be 512 or 4096",
                             (unsigned long long)c->drive_lba_bytes);
    if (c->nand_page_bytes % CODEWORD_BYTES != 0)
        return config_refuse(FTL_ECONFIG, why, n,
                             "nand.page_bytes=%llu: must be a multiple of %d",
                             (unsigned long long)c->nand_page_bytes, CODEWORD_BYTES);
    if ((c->map_unit_bytes & (c->map_unit_bytes - 1)) != 0)
        return config_refuse(FTL_ECONFIG, why, n, "map.unit_bytes=%llu: must be a power of two",
                             (unsigned long long)c->map_unit_bytes);
    uint64_t wl = c->nand_planes * c->nand_page_types * c->nand_page_bytes;
    if (wl % c->map_unit_bytes != 0)
        return config_refuse(FTL_ECONFIG, why, n,
                             "map.unit_bytes=%llu: a word line of all planes, %llu bytes, must "
                             "hold a whole number of units",
                             (unsigned long long)c->map_unit_bytes, (unsigned long long)wl);
    if (c->nand_dies % c->nand_channels != 0)
        return config_refuse(FTL_ECONFIG, why, n,
                             "nand.dies=%llu: must be a multiple of nand.channels=%llu",
                             (unsigned long long)c->nand_dies,
                             (unsigned long long)c->nand_channels);
    if (c->raid_parity >= c->nand_dies)
        return config_refuse(FTL_ECONFIG, why, n,
                             "raid.parity=%llu: must be less than nand.dies=%llu",
                             (unsigned long long)c->raid_parity, (unsigned long long)c->nand_dies);
    if (c->ftl_superblocks > c->nand_blocks_per_plane)
        return config_refuse(FTL_ECONFIG, why, n,
                             "ftl.superblocks=%llu: more than nand.blocks_per_plane=%llu",
                             (unsigned long long)c->ftl_superblocks,
                             (unsigned long long)c->nand_blocks_per_plane);
    if (c->link_lanes != 1 && c->link_lanes != 2 && c->link_lanes != 4 && c->link_lanes != 8 &&
        c->link_lanes != 16)
        return config_refuse(FTL_ECONFIG, why, n, "link.lanes=%llu: must be 1, 2, 4, 8 or 16",
                             (unsigned long long)c->link_lanes);
    if ((c->map_page_entries & (c->map_page_entries - 1)) != 0)
        return config_refuse(FTL_ECONFIG, why, n, "map.page_entries=%llu: must be a power of two",
                             (unsigned long long)c->map_page_entries);
    int err = check_streams(c, why, n);
    if (err < 0)
        return err;
    uint64_t tags = c->nand_page_bytes / CODEWORD_BYTES * PAYLOAD_TAG_BYTES;
    if (c->media_payload && c->nand_spare_bytes < tags)
        return config_refuse(FTL_ECONFIG, why, n,
                             "nand.spare_bytes=%llu: media.payload=1 keeps a tag of %d bytes per "
                             "4 KiB there, %llu",
                             (unsigned long long)c->nand_spare_bytes, PAYLOAD_TAG_BYTES,
                             (unsigned long long)tags);
    if (c->preread_cache_bytes != 0 &&
        (c->preread_cache_bytes < 4 * c->nand_page_bytes ||
         c->preread_ahead_bytes > c->preread_cache_bytes / 2))
        return config_refuse(FTL_ECONFIG, why, n,
                             "preread.cache_bytes=%llu: must hold 4 pages and twice "
                             "preread.ahead_bytes=%llu",
                             (unsigned long long)c->preread_cache_bytes,
                             (unsigned long long)c->preread_ahead_bytes);
    if (c->media_faults && c->nand_page_bytes % c->map_unit_bytes != 0)
        return config_refuse(FTL_ECONFIG, why, n,
                             "media.faults=1: map.unit_bytes=%llu: must divide nand.page_bytes=%llu, "
                             "or a lost plane would tear units",
                             (unsigned long long)c->map_unit_bytes,
                             (unsigned long long)c->nand_page_bytes);
    if (strcmp(c->gc_policy, "d-choices") == 0 && c->gc_choices > c->ftl_superblocks)
        return config_refuse(FTL_ECONFIG, why, n,
                             "gc.choices=%llu: more than ftl.superblocks=%llu",
                             (unsigned long long)c->gc_choices,
                             (unsigned long long)c->ftl_superblocks);
    return 0;
}

/* How the part fills a word line. */
static int check_scheme(const struct ftl_config *c, char *why, size_t n)
{
    const struct nand_profile *part = nand_profile_find(c->nand_preset);
    bool two = part != NULL && part->scheme == NAND_SCHEME_TWO_PASS;

    if (part != NULL && part->scheme == NAND_SCHEME_PAGED)
        return config_refuse(FTL_ECONFIG, why, n,
                             "nand.preset=%s: programs lower and upper pages apart; a superblock is "
                             "written by whole word lines, in one pass or two", c->nand_preset);
    if (c->nand_tcoarse_ns + c->nand_tfine_ns != (two ? c->nand_tprog_ns : 0) ||
        (two && (c->nand_tcoarse_ns == 0 || c->nand_tfine_ns == 0)))
        return config_refuse(FTL_ECONFIG, why, n,
                             "nand.tcoarse_ns=%llu: with nand.tfine_ns=%llu must make %s",
                             (unsigned long long)c->nand_tcoarse_ns,
                             (unsigned long long)c->nand_tfine_ns,
                             two ? "nand.tprog_ns" : "0, as the part has one pass");
    return 0;
}

static int check_cache(const struct ftl_config *c, char *why, size_t n)
{
    const struct nand_profile *part = nand_profile_find(c->nand_preset);
    const char *rule = NULL;
    struct ftl_geometry g;

    if (c->pslc_superblocks == 0 && c->pslc_dynamic != 0)
        return config_refuse(FTL_ECONFIG, why, n,
                             "pslc.dynamic_superblocks=%llu: needs pslc.superblocks of at least 1",
                             (unsigned long long)c->pslc_dynamic);
    if (c->pslc_superblocks == 0 || geometry_make(&g, c) < 0)
        return 0;
    if (c->nand_page_types < 2 || (part != NULL && part->time.slc_tprog_ns == 0))
        rule = "the part has no mode of one bit per cell";
    else if (g.planes % g.group_pages != 0)
        rule = "units of map.unit_bytes must fill the pages of one type of a word line";
    if (rule == NULL)
        return 0;
    return config_refuse(FTL_ECONFIG, why, n, "pslc.superblocks=%llu: %s",
                         (unsigned long long)c->pslc_superblocks, rule);
}

static int check_space(const struct ftl_config *c, char *why, size_t n)
{
    struct ftl_geometry g;
    if (geometry_make(&g, c) < 0)
        return config_refuse(FTL_ECONFIG, why, n,
                             "ftl.superblocks=%llu: one must hold 2, and all at most 2^32, mapping "
                             "units of map.unit_bytes=%llu",
                             (unsigned long long)c->ftl_superblocks,
                             (unsigned long long)c->map_unit_bytes);
    uint64_t user = c->drive_user_bytes >> g.unit_shift;
    if (user == 0)
        return config_refuse(FTL_ECONFIG, why, n,
                             "drive.user_bytes=%llu: at least one unit of map.unit_bytes=%llu "
                             "after scaling",
                             (unsigned long long)c->drive_user_bytes,
                             (unsigned long long)c->map_unit_bytes);
    /* map pages take their units, and as many more before each is first written */
    user += 2 * (uint64_t)g.pages_on_medium;
    if (user > g.total_units)
        return config_refuse(FTL_ECONFIG, why, n,
                             "drive.user_bytes=%llu: above the physical capacity of %llu bytes",
                             (unsigned long long)c->drive_user_bytes,
                             (unsigned long long)g.total_units << g.unit_shift);
    uint64_t need = geometry_spare_needed(c) * g.sb_units;
    if (g.total_units - user < need)
        return config_refuse(
            FTL_ECONFIG, why, n,
            "drive.user_bytes=%llu: leaves %.2f superblocks of spare; open and reserved ones "
            "need %llu (%llu bytes)",
            (unsigned long long)c->drive_user_bytes,
            (double)(g.total_units - user) / (double)g.sb_units,
            (unsigned long long)(need / g.sb_units), (unsigned long long)need << g.unit_shift);
    if (c->power_atomic_units > g.sb_units)     /* one more superblock is opened for it at most */
        return config_refuse(FTL_ECONFIG, why, n,
                             "power.atomic_units=%llu: more than a superblock holds, %u units",
                             (unsigned long long)c->power_atomic_units, g.sb_units);
    if (!c->power_plp && c->journal_enabled && c->power_atomic_units > g.wl_units)
        return config_refuse(FTL_ECONFIG, why, n,
                             "power.atomic_units=%llu: without capacitors more than a word line holds, %u units",
                             (unsigned long long)c->power_atomic_units, g.wl_units);
    uint64_t units, gc_units;
    geometry_least_buffers(&g, c, &units, &gc_units);
    uint64_t least = units << g.unit_shift, gc_least = gc_units << g.unit_shift;
    const char *passes = c->nand_tcoarse_ns != 0 ? " and, in two passes, per die" : "";
    if (c->buffer_bytes < least)
        return config_refuse(FTL_ECONFIG, why, n,
                             "buffer.bytes=%llu: less than one word line of all planes per "
                             "stream%s%s, %llu",
                             (unsigned long long)c->buffer_bytes, passes,
                             c->power_atomic_units > 1 ? " and power.atomic_units - 1" : "",
                             (unsigned long long)least);
    if (c->buffer_gc_bytes < gc_least)
        return config_refuse(FTL_ECONFIG, why, n,
                             "buffer.gc_bytes=%llu: less than one word line of all planes per "
                             "stream%s and %s, %llu",
                             (unsigned long long)c->buffer_gc_bytes, passes,
                             c->wear_spread != 0 ? "two more" : "one more",
                             (unsigned long long)gc_least);
    return 0;
}

/* A new bank must carry a flush of both buffers. */
static int check_bank(const struct ftl_config *c, char *why, size_t n)
{
    if (strcmp(c->power_cap_kind, "electrolytic") != 0 && strcmp(c->power_cap_kind, "tantalum") != 0)
        return config_refuse(FTL_ECONFIG, why, n,
                             "power.cap_kind=%s: must be electrolytic or tantalum",
                             c->power_cap_kind);
    if (strcmp(c->power_on_weak, "read-only") != 0 && strcmp(c->power_on_weak, "write-through") != 0)
        return config_refuse(FTL_ECONFIG, why, n,
                             "power.on_weak=%s: must be read-only or write-through",
                             c->power_on_weak);
    if (c->power_cap_min_mv >= c->power_cap_mv)
        return config_refuse(FTL_ECONFIG, why, n,
                             "power.cap_min_mv=%llu: must be below power.cap_mv=%llu",
                             (unsigned long long)c->power_cap_min_mv,
                             (unsigned long long)c->power_cap_mv);
    if (!c->power_plp)
        return 0;
    uint64_t bytes = c->buffer_bytes + c->buffer_gc_bytes + c->power_flush_extra_bytes;
    uint64_t ns = energy_flush_ns(c, bytes), need = energy_need_nj(c, bytes, ns);
    uint64_t have = energy_usable_nj(c, 1000000);
    if (have >= need)
        return 0;
    return config_refuse(FTL_ECONFIG, why, n,
                         "power.cap_uf=%llu: a flush of buffer.bytes + buffer.gc_bytes + "
                         "power.flush_extra_bytes, %.1f MB in %.1f ms, needs %.1f mJ (%.1f W base "
                         "power %.1f, programs %.1f); the bank delivers %.1f mJ",
                         (unsigned long long)c->power_cap_uf, (double)bytes / 1e6,
                         (double)ns / 1e6, (double)need / 1e6, (double)c->power_base_mw / 1e3,
                         (double)energy_need_nj(c, 0, ns) / 1e6,
                         (double)energy_need_nj(c, bytes, 0) / 1e6, (double)have / 1e6);
}

static int check_bounds(const struct ftl_config *cfg, char *why, size_t why_size)
{
    for (uint32_t i = 0; i < key_row_count; i++) {
        const struct key_row *k = &key_rows[i];
        uint64_t v;
        if (k->is_string) {
            const char *text = (const char *)cfg + k->offset;
            if (memchr(text, 0, FTL_NAME_MAX) == NULL || text[0] == '\0')
                return config_refuse(FTL_ECONFIG, why, why_size, "%s: empty or unterminated",
                                     k->key);
            continue;
        }
        memcpy(&v, (const char *)cfg + k->offset, sizeof v);
        /* scaled erase time and capacity may fall below their unscaled minimum */
        if (v > k->max || (v < k->min && cfg->drive_scale == 1))
            return config_refuse(FTL_ECONFIG, why, why_size, "%s=%llu: must be %llu to %llu %s",
                                 k->key, (unsigned long long)v, (unsigned long long)k->min,
                                 (unsigned long long)k->max, k->unit);
    }
    return 0;
}

static int check_journal(const struct ftl_config *c, char *why, size_t n)
{
    struct ftl_geometry g;
    struct journal j;

    if (!c->journal_enabled && c->journal_checkpoint != 0)
        return config_refuse(FTL_ECONFIG, why, n,
                             "journal.checkpoint_superblocks=%llu: needs journal.enabled=1",
                             (unsigned long long)c->journal_checkpoint);
    if (!c->journal_enabled)
        return 0;
    (void)geometry_make(&g, c);
    if (core_journal_shape(&j, c, &g) < 0)
        return config_refuse(FTL_ECONFIG, why, n,
                             "nand.blocks_per_plane=%llu: journal.enabled=1 takes %u segments of %u "
                             "blocks beyond ftl.superblocks=%llu",
                             (unsigned long long)c->nand_blocks_per_plane, j.segments,
                             j.segment_blocks, (unsigned long long)c->ftl_superblocks);
    if (geometry_frontiers(c) > JOURNAL_FRONTIERS)
        return config_refuse(FTL_ECONFIG, why, n,
                             "journal.enabled=1: tags name %d open superblocks, and streams.count, "
                             "gc.frontiers and map.cache_ppm make %llu", JOURNAL_FRONTIERS,
                             (unsigned long long)geometry_frontiers(c));
    if (g.cache_pages != 0 && c->power_atomic_units > 1 + (g.cache_pages - 1) * c->map_page_entries)
        return config_refuse(FTL_ECONFIG, why, n,
                             "power.atomic_units=%llu: with map.cache_ppm=%llu a command must find "
                             "its map pages in the cache, which holds %u of map.page_entries=%llu",
                             (unsigned long long)c->power_atomic_units,
                             (unsigned long long)c->map_cache_ppm, g.cache_pages,
                             (unsigned long long)c->map_page_entries);
    return 0;
}

int ftl_config_check(const struct ftl_config *cfg, char *why, size_t why_size)
{
    if (cfg == NULL || cfg->struct_size != sizeof *cfg)
        return config_refuse(FTL_EINVAL, why, why_size, "struct_size: use ftl_config_init()");
    int err = check_bounds(cfg, why, why_size);
    if (err == 0)
        err = config_check_pairs(cfg, why, why_size);
    if (err == 0)
        err = check_media(cfg, why, why_size);
    if (err == 0)
        err = check_shape(cfg, why, why_size);
    if (err == 0)
        err = check_scheme(cfg, why, why_size);
    if (err == 0)
        err = check_cache(cfg, why, why_size);
    if (err == 0)
        err = check_space(cfg, why, why_size);
    if (err == 0)
        err = check_bank(cfg, why, why_size);
    if (err == 0)
        err = check_journal(cfg, why, why_size);
    return err;
}

int ftl_setup_finish(const ftl_setup *s, uint64_t scale, struct ftl_config *ret_cfg, char *why,
                     size_t why_size)
{
    if (s == NULL || ret_cfg == NULL)
        return FTL_EINVAL;
    struct ftl_config cfg = s->cfg;
    int err = check_bounds(&cfg, why, why_size);
    if (err == 0)
        err = config_check_pairs(&cfg, why, why_size);
    if (err == 0)
        err = check_shape(&cfg, why, why_size);
    if (err < 0)
        return err;
    if (scale == 0)
        scale = cfg.drive_scale;
    if (cfg.ftl_op_ppm != 0) {
        struct ftl_geometry g;
        if (geometry_make(&g, &cfg) == 0)
            cfg.drive_user_bytes =
                g.total_units * 1000000 / (1000000 + cfg.ftl_op_ppm) << g.unit_shift;
        else
            return check_space(&cfg, why, why_size);
    }
    err = apply_scale(&cfg, scale, why, why_size);
    if (err == 0)
        err = ftl_config_check(&cfg, why, why_size);
    if (err == 0)
        *ret_cfg = cfg;
    return err;
}

int ftl_config_init(struct ftl_config *ret_cfg, const char *drive, char *why, size_t why_size)
{
    ftl_setup *s = ftl_setup_new();
    if (s == NULL)
        return FTL_ENOMEM;
    int err = ftl_setup_load(s, drive, why, why_size);
    if (err == 0)
        err = ftl_setup_finish(s, 0, ret_cfg, why, why_size);
    ftl_setup_free(s);
    return err;
}
