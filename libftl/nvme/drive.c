/* drive.c - life of a drive, and the depth without time. */
#include "nvme/drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ftl_strerror(int err)
{
    static const char *const text[] = {
        "success",
        "a documented precondition was broken",
        "out of memory",
        "too many open commands",
        "configuration refused",
        "LBA range beyond the drive",
        "a policy made an illegal choice",
        "an invariant is broken",
        "a file could not be read",
        "commands are open",
        "the power is off",
        "the medium holds no drive that could be recovered",
        "the drive is at the end of its life and read-only",
        "not a snapshot that can be loaded",
    };
    int i = -err;
    return i >= 0 && i < (int)(sizeof text / sizeof text[0]) ? text[i] : "unknown error";
}

/* Page reads kept for partial writes. */
static uint32_t rmw_parts(const struct ftl_config *cfg)
{
    uint32_t parts = 2 * (uint32_t)cfg->host_open_max;
    return parts > RMW_PARTS_EACH ? parts : RMW_PARTS_EACH;
}

/* Page reads of host commands that may be under way. */
static uint32_t drive_parts(const struct ftl_config *cfg)
{
    uint32_t reads = READ_PARTS_EACH * (uint32_t)cfg->host_open_max;
    return (reads < READ_PARTS_MAX ? reads : READ_PARTS_MAX) + rmw_parts(cfg);
}

/* Operations that media may hold: every word line, erases, reads of both kinds. */
static uint32_t ops_limit(const struct ftl_core *core)
{
    uint32_t passes = core->coarse_wl != NULL ? 2 : 1;
    uint32_t rebuild = core->cfg->media_faults ? RAID_JOBS * core->g.dies : 0;
    uint32_t maps = core->g.pages_on_medium != 0 ? (uint32_t)core->cfg->host_open_max + MAP_FLUSH_WINDOW
                                                 : 0;
    return rebuild + maps + core->wl_count * passes + 16 * core->g.dies +
           core->gc.window * core->g.group_pages + core->wl_reserve + drive_parts(core->cfg) +
           core_journal_ops(core) + (core->cfg->media_patrol_hours != 0);
}

/* Reads that may fail at one time. */
static uint32_t raid_waiting(const struct ftl_core *core)
{
    return drive_parts(core->cfg) + core->gc.window * core->g.group_pages;
}

static uint64_t fixed_memory(const struct ftl_config *cfg)
{
    return cfg->host_open_max * (uint64_t)(sizeof(struct command) + 4 * sizeof(struct sim_line_entry)) +
           drive_parts(cfg) *
               (uint64_t)(sizeof(struct read_part) + sizeof(struct media_op) +
                          sizeof(struct sim_event));
}

uint64_t ftl_memory_needed(const struct ftl_config *cfg)
{
    struct nand_profile p;
    if (cfg == NULL || ftl_config_check(cfg, NULL, 0) < 0 || media_profile(&p, cfg) < 0)
        return UINT64_MAX;
    uint64_t rebuild = cfg->media_faults ? core_raid_memory(cfg, drive_parts(cfg)) : 0;
    rebuild += media_ecc_memory(cfg);
    return core_memory(cfg) + rebuild + nand_memory_needed(&p) + fixed_memory(cfg) + ahead_memory(cfg);
}

/* Payload bytes per microsecond: GT/s x lanes, 128b/130b from generation 3 and
 * 8b/10b before [P: PCIe base specification], times the payload share. Generation 6
 * is flit-coded (242 of 256 bytes) [P]. */
static uint64_t link_rate(const struct ftl_config *c)
{
    static const uint32_t mts[] = {0, 2500, 5000, 8000, 16000, 32000, 64000};
    uint64_t raw = mts[c->link_gen] * c->link_lanes; /* Mbit/s */
    raw = c->link_gen < 3 ? raw * 8 / 10 : c->link_gen < 6 ? raw * 128 / 130 : raw * 242 / 256;
    uint64_t rate = raw * c->link_payload_ppm / 8 / 1000000;
    return rate > 0 ? rate : 1;
}

static int take_memory(ftl_drive *d)
{
    const uint32_t parts = drive_parts(&d->cfg);
    struct sim_mem *mem = &d->ctx.mem;
    const uint32_t open = (uint32_t)d->cfg.host_open_max;

    if (SIM_TAKE(mem, d->commands, open) < 0 || SIM_TAKE(mem, d->parts, parts) < 0 ||
        sim_line_init(&d->gc_out, mem, d->core.gc.window) < 0 ||
        sim_line_init(&d->reads_in, mem, open) < 0 ||
        sim_line_init(&d->writes_in, mem, open) < 0 ||
        sim_line_init(&d->done_reads, mem, open) < 0 ||
        sim_line_init(&d->done_writes, mem, open) < 0)
        return FTL_ENOMEM;
    for (uint32_t i = 0; i < open; i++)
        d->commands[i].next = i + 1;
    for (uint32_t i = 0; i < parts; i++)
        d->parts[i].next = i + 1;
    d->parts_free_count = parts;
    d->rmw_parts = rmw_parts(&d->cfg);
    d->read_parts = parts - d->rmw_parts;
    d->wait_head = d->read_wait = d->rmw_wait = d->flush_head = CMD_NONE;
    d->idle_at = SIM_NEVER;
    return ahead_init(d);
}

/* The copy of the configuration names the policies that decide. */
static void name_policies(ftl_drive *d)
{
    (void)snprintf(d->cfg.gc_policy, sizeof d->cfg.gc_policy, "%s",
                   d->core.policy.gc->head.name);
    (void)snprintf(d->cfg.wear_policy, sizeof d->cfg.wear_policy, "%s",
                   d->core.policy.wear->head.name);
    (void)snprintf(d->cfg.gc_pacing, sizeof d->cfg.gc_pacing, "%s",
                   d->core.policy.pace->head.name);
}

int drive_build(ftl_drive *d, const struct ftl_policies *policies, char *why, size_t why_size)
{
    int err = core_init(&d->core, &d->cfg, &d->ctx, &d->media, &d->count);
    if (err == 0)
        err = core_policy_bind(&d->core, policies, why, why_size);
    if (err < 0)
        return err;
    name_policies(d);
    uint32_t ops = ops_limit(&d->core);
    if (sim_heap_init(&d->heap, &d->ctx.mem, media_events_limit(&d->cfg, ops)) < 0)
        return FTL_ENOMEM;
    err = media_init(&d->media, &d->cfg, &d->heap, &d->ctx, ops, why, why_size);
    d->media.program_bytes = d->core.payload != NULL ? d->core.payload->bytes : NULL;
    d->media.blocks.assemble = d->cfg.wear_assembly ? core_wear_assemble : NULL;
    d->media.blocks.assemble_user = &d->core;
    if (err == 0)
        err = take_memory(d);
    if (err == 0 && d->cfg.media_faults)
        err = core_raid_init(&d->core, raid_waiting(&d->core));
    core_patrol_init(&d->core);
    d->patrol_at = core_patrol_next(&d->core);
    d->core.upset.on = d->cfg.memory_upset_ppm != 0;
    d->media.slc = d->core.cache.slc;
    if (err == 0)
        core_cache_start(&d->core);
    if (err == 0)
        core_holes_init(&d->core);
    if (err == 0 && d->core.read_only) {
        if (why != NULL)
            (void)snprintf(why, why_size, "drive.user_bytes=%llu: not enough good blocks: %llu are "
                           "bad from the factory", (unsigned long long)d->cfg.drive_user_bytes,
                           (unsigned long long)d->media.blocks.factory_bad);
        return FTL_ECONFIG;
    }
    if (err == 0)
        bank_test(d);
    return err;
}

int ftl_create(const struct ftl_config *cfg, ftl_drive **ret_drive, char *why, size_t why_size)
{
    return ftl_create_with(cfg, NULL, ret_drive, why, why_size);
}

int drive_create(const struct ftl_config *cfg, const struct ftl_policies *policies,
                 ftl_drive **ret_drive, char *why, size_t why_size)
{
    if (cfg == NULL || ret_drive == NULL)
        return FTL_EINVAL;
    int err = ftl_config_check(cfg, why, why_size);
    if (err < 0)
        return err;
    ftl_drive *d = calloc(1, sizeof *d);
    if (d == NULL)
        return FTL_ENOMEM;
    d->cfg = *cfg;
    d->ctx.seed = cfg->drive_seed;
    d->lba_bytes = (uint32_t)cfg->drive_lba_bytes;
    d->lbas_per_unit = (uint32_t)cfg->map_unit_bytes / d->lba_bytes;
    d->lba_cw_shift = d->lba_bytes == CODEWORD_BYTES ? 0 : 3;
    d->link_bytes_per_us = link_rate(cfg);
    err = drive_build(d, policies, why, why_size);
    if (err < 0) {
        if (err == FTL_ENOMEM && why != NULL)
            (void)snprintf(why, why_size, "no memory for %llu bytes",
                           (unsigned long long)ftl_memory_needed(cfg));
        ftl_destroy(d);
        return err;
    }
    d->lba_unit_shift = d->lba_cw_shift + d->core.g.cw_shift;
    d->lba_count = (uint64_t)d->core.user_units << d->lba_unit_shift;
    d->link_unit_ns = link_ns_of(d, d->core.g.unit_bytes);
    *ret_drive = d;
    return 0;
}

int ftl_create_with(const struct ftl_config *cfg, const struct ftl_policies *policies,
                    ftl_drive **ret_drive, char *why, size_t why_size)
{
    int err = drive_create(cfg, policies, ret_drive, why, why_size);
    if (err == 0 && (*ret_drive)->core.journal != NULL)
        core_journal_format(&(*ret_drive)->core);
    return err;
}

void ftl_destroy(ftl_drive *d)
{
    if (d == NULL)
        return;
    media_free(&d->media);
    sim_mem_free(&d->ctx.mem);
    free(d);
}

uint64_t ftl_lba_count(const ftl_drive *d)
{
    return d->lba_count;
}

uint32_t ftl_lba_bytes(const ftl_drive *d)
{
    return d->lba_bytes;
}

/* ---- without time --------------------------------------------------------------- */

/* Without time nothing fails: planes that died unnoticed are found now. */
void drive_look_at_dies(ftl_drive *d)
{
    for (uint32_t die = 0; die < d->core.g.dies; die++) {
        struct media_done done = {.die = (uint16_t)die,
                                  .dead = (uint16_t)media_probe(&d->media, die)};
        if (done.dead != 0)
            core_planes_dead(&d->core, &done);
    }
}

int drive_settle(ftl_drive *d)
{
    if (d->power.off)
        return FTL_EPOWER;
    if (d->open != 0)
        return FTL_EBUSY;
    if (d->core.raid != NULL)
        drive_look_at_dies(d);
    int err = ftl_drain(d);
    if (err < 0)
        return err;
    if (d->core.raid != NULL) {
        drive_look_at_dies(d);
        core_continue_failed(&d->core);
        err = ftl_drain(d);
    }
    if (err < 0)
        return err;
    if (d->core.failed_wl != WL_NONE)
        return FTL_EBUSY;       /* data of failed programs found no room yet */
    d->core.timed = false;
    if (d->core.coarse_wl != NULL)
        core_passes_settle(&d->core);
    d->idle_at = SIM_NEVER;
    core_pace_idle(&d->core, false);
    core_gc_settle(&d->core);
    d->core.medium_stale = true;
    return 0;
}

void drive_go_timed(ftl_drive *d)
{
    if (d->core.medium_stale)
        core_sync_medium(&d->core);
    d->core.timed = true;
}

enum { SMALL_SHARE = 64 };
/* Has the map page of a unit cached and, as it may not stay, places the unit at once. */
static int place_mapped(ftl_drive *d, uint32_t class, const uint32_t *key, bool follows)
{
    struct ftl_core *core = &d->core;
    uint32_t t = map_page_of(&core->dftl, *key);

    int err = core_dftl_use_untimed(core, t, !follows);
    if (err == 0 && core->dftl.on_medium)
        err = core_gc_make_room(core, class, 1);
    if (err < 0)
        return err;
    core_dftl_changed(core, t);
    if (core->dftl.on_medium)
        core_place_host(core, class, key, 1);
    return 0;
}

/* Places a batch; core_host_room is asked once for all of it. */
static int place_batch(ftl_drive *d, uint32_t class, const uint32_t *keys, uint32_t n)
{
    for (uint32_t i = 0; d->core.dftl.on && i < n; i++) {
        int err = place_mapped(d, class, &keys[i], i > 0 && keys[i] == keys[i - 1] + 1);
        if (err < 0 || (d->core.dftl.on_medium && i + 1 == n))
            return err;
    }
    while (n > 0) {
        uint32_t room = core_host_room(&d->core, class);
        if (room < n && room < d->core.g.sb_units) {
            /* a batch counts for little in a large superblock; in a small one it would
             * gather what several victims leave, apart from host data */
            int err = core_gc_make_room(&d->core, class,
                                        n * SMALL_SHARE <= d->core.g.sb_units ? n : 1);
            if (err < 0)
                return err;
            room = core_host_room(&d->core, class);
        }
        uint32_t k = room < n ? room : n;
        core_place_host(&d->core, class, keys, k);
        keys += k;
        n -= k;
    }
    return 0;
}

enum { BATCH = 32 };                /* keys in flight: map entries being fetched */

struct batch {
    uint32_t keys[BATCH], count;
};

static int batch_add(ftl_drive *d, struct batch *b, uint32_t class, uint32_t key)
{
    __builtin_prefetch(&d->core.map[key], 1);
    b->keys[b->count++] = key;
    if (b->count < BATCH)
        return 0;
    b->count = 0;
    return place_batch(d, class, b->keys, BATCH);
}

/* Is there something to read back? Batched keys are as good as mapped. */
static bool holds_data(const ftl_drive *d, const struct batch *batches, uint32_t key)
{
    if (d->core.map[key] != 0)
        return true;
    for (uint32_t k = 0; k < d->core.classes; k++)
        for (uint32_t i = 0; i < batches[k].count; i++)
            if (batches[k].keys[i] == key)
                return true;
    return false;
}

/* Bytes of edge units that the extent does not cover are read back and rewritten. */
static void count_edges(ftl_drive *d, const struct batch *batches, const struct ftl_extent *e)
{
    const uint64_t mask = d->lbas_per_unit - 1, end = e->lba + e->lba_count;
    uint32_t first = (uint32_t)(e->lba >> d->lba_unit_shift) + 1;
    uint32_t last = (uint32_t)((end - 1) >> d->lba_unit_shift) + 1;
    bool head = (e->lba & mask) != 0, tail = (end & mask) != 0;
    uint64_t rest = (e->lba & mask) + (-end & mask);

    if (head || (tail && first == last))
        d->count.rmw_reads += holds_data(d, batches, first);
    if (tail && first != last)
        d->count.rmw_reads += holds_data(d, batches, last);
    d->count.rmw_bytes += rest * d->lba_bytes;
    d->count.host_bytes -= rest * d->lba_bytes;
}

int ftl_write_untimed(ftl_drive *d, const struct ftl_extent *extents, size_t count)
{
    if (d == NULL || (extents == NULL && count != 0))
        return FTL_EINVAL;
    for (size_t i = 0; i < count; i++) {
        if (extents[i].lba_count == 0 || extents[i].lba >= d->lba_count ||
            extents[i].lba_count > d->lba_count - extents[i].lba)
            return FTL_ERANGE;
    }
    int err = drive_settle(d);
    if (err == 0 && d->core.read_only)
        err = FTL_EROFS;
    struct batch batches[CLASSES_MAX];
    for (uint32_t k = 0; k < d->core.classes; k++)
        batches[k].count = 0;
    const uint32_t shift = d->lba_unit_shift, mask = d->lbas_per_unit - 1;
    for (size_t i = 0; i < count && err == 0; i++) {
        const struct ftl_extent *e = &extents[i];
        uint64_t bytes = (uint64_t)e->lba_count * d->lba_bytes;
        d->count.host_writes++;
        d->count.host_write_bytes += bytes;
        if (((e->lba | e->lba_count) & mask) != 0)
            count_edges(d, batches, e);
        uint32_t key = (uint32_t)(e->lba >> shift) + 1;
        uint32_t last = (uint32_t)((e->lba + e->lba_count - 1) >> shift) + 1;
        uint32_t class = drive_class(d, e->stream);
        for (; key <= last && err == 0; key++)
            err = batch_add(d, &batches[class], class, key);
    }
    for (uint32_t k = 0; k < d->core.classes && err == 0; k++)
        err = place_batch(d, k, batches[k].keys, batches[k].count);
    return err;
}

int ftl_trim_untimed(ftl_drive *d, uint64_t lba, uint64_t lba_count)
{
    if (d == NULL)
        return FTL_EINVAL;
    if (lba > d->lba_count || lba_count > d->lba_count - lba)
        return FTL_ERANGE;
    int err = drive_settle(d);
    if (err < 0)
        return err;
    uint64_t from = (lba + d->lbas_per_unit - 1) / d->lbas_per_unit;
    uint64_t to = (lba + lba_count) / d->lbas_per_unit;
    if (to > from) {
        if (d->core.dftl.on)
            err = core_dftl_unmap_untimed(&d->core, from, to - from);
        else
            core_unmap(&d->core, from, to - from);
        if (d->core.journal != NULL)
            core_journal_trim(&d->core, from, to - from);
        d->count.host_trim_bytes += (to - from) << d->core.g.unit_shift;
    }
    d->count.host_trims++;
    return err;
}

int ftl_format(ftl_drive *d)
{
    if (d == NULL)
        return FTL_EINVAL;
    int err = drive_settle(d);
    if (err == 0)
        core_format(&d->core);
    return err;
}

/* ---- what happened ---------------------------------------------------------------- */

void ftl_counters_get(const ftl_drive *d, struct ftl_counters *ret)
{
    *ret = d->count;
    ret->nand_page_reads = d->media.page_reads;
    ret->nand_gc_page_reads = d->media.gc_page_reads;
    ret->nand_erases += d->media.erases;
    ret->nand_suspends = d->media.suspends;
    ret->shared_page_reads = d->media.shared_reads;
    ret->events = d->ctx.events;
}

void ftl_counters_reset(ftl_drive *d)
{
    d->count = (struct ftl_counters){0};
    media_reset(&d->media, d->ctx.now);
    d->core.log_sum = 0;
    d->core.log_weight = 0;
    d->core.buffer_peak = d->core.buffer_used;
    d->core.write_path_busy_ns = 0;
    d->core.open_before = (int64_t)core_open_units(&d->core);
    d->front_end.busy_ns = d->link_in.busy_ns = d->link_out.busy_ns = 0;
    d->since = d->ctx.now;
}

void ftl_status_get(const ftl_drive *d, struct ftl_status *s)
{
    const struct ftl_core *c = &d->core;
    *s = (struct ftl_status){
        .unit_bytes = c->g.unit_bytes,
        .user_units = c->user_units,
        .physical_units = c->g.total_units,
        .mapped_units = c->mapped,
        .superblock_units = c->g.sb_units,
        .superblocks = c->g.sb_count,
        .superblocks_free = c->free_count,
        .erases_min = UINT64_MAX,
        .buffer_units = c->buffer_allowed,
        .buffer_units_used = c->buffer_used,
        .buffer_units_peak = c->buffer_peak,
        .since = d->since,
        .die_busy_ns = media_busy_ns(&d->media, d->ctx.now),
        .channel_busy_ns = d->media.channel_busy_ns,
        .link_busy_ns = d->link_in.busy_ns + d->link_out.busy_ns,
        .write_path_busy_ns = c->write_path_busy_ns,
        .front_end_busy_ns = d->front_end.busy_ns,
        .dies = c->g.dies,
        .channels = d->media.channel_count,
        .streams_in_use = !c->roam ? c->classes
                                    : (uint32_t)__builtin_popcount(
                                          c->streams_used | c->streams_used_before),
        .memory_bytes = ftl_memory_needed(&d->cfg) + c->policy.state_bytes -
                        core_streams_memory(&d->cfg),
    };
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        uint32_t e = c->erases[sb];
        s->erases_sum += e;
        s->erases_min = e < s->erases_min ? e : s->erases_min;
        s->erases_max = e > s->erases_max ? e : s->erases_max;
    }
    if (c->log_weight != 0)
        s->a_effective_ppm =
            (uint64_t)(c->log_sum / c->log_weight * 1000000 / c->user_units);
}

int ftl_policy_fault(const ftl_drive *d, char *why, size_t why_size)
{
    if (d == NULL || d->core.policy.fault[0] == '\0')
        return 0;
    if (why != NULL && why_size > 0)
        (void)snprintf(why, why_size, "%s", d->core.policy.fault);
    return FTL_EPOLICY;
}

int ftl_check(const ftl_drive *d, char *why, size_t why_size)
{
    return d == NULL ? FTL_EINVAL : core_check(&d->core, why, why_size);
}
