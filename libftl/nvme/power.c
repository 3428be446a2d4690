/* power.c - losing power and starting again. */
#include <string.h>

#include "ftl/ftl_power.h"
#include "nvme/drive.h"
#include "core/energy.h"

static bool is_possible(const ftl_drive *d)
{
    return d != NULL && d->core.journal != NULL && d->core.payload != NULL;
}

static bool is_sound(const struct ftl_power_cut *how)
{
    return how != NULL && how->struct_size == sizeof *how && how->mode < FTL_CUT_MODES &&
           how->others <= FTL_OTHERS_DRAWN && how->reserved == 0 && how->energy_ppm <= 1000000;
}

static void hand_out(const ftl_drive *d, struct ftl_power_report *ret)
{
    if (ret != NULL && ret->struct_size == sizeof *ret)
        *ret = d->power.last;
}

static bool capacitors_deliver(const ftl_drive *d, const struct ftl_power_cut *how)
{
    return d->cfg.power_plp && how->energy_ppm != 0;
}

/* What is not on the medium, as far as the firmware knows: units in the buffer, those that
 * collection moves among them, as their old place may be erased; TRIMs. */
static uint64_t buffered(const struct ftl_core *c)
{
    uint64_t n = core_journal_trims(c) + core_open_cause(c, CAUSE_HOST) +
                 core_open_cause(c, CAUSE_GC);
    for (uint32_t i = 0; i < c->wl_count; i++)
        if (c->wls[i].seq != 0)
            n += c->wls[i].units[CAUSE_HOST] + c->wls[i].units[CAUSE_GC];
    return n;
}

/* The capacitors carry on: what is under way ends, the buffer goes to the log. */
static void flush(ftl_drive *d, const struct ftl_power_cut *how, struct ftl_power_report *r)
{
    struct ftl_core *c = &d->core;
    struct journal *j = c->journal;
    struct journal_flush f = {0, 0, 0};
    uint64_t at = d->ctx.now + d->cfg.power_detect_ns;
    media_resume_all(&d->media, at);
    uint64_t idle = media_idle_at(&d->media);

    uint64_t usable = energy_usable_nj(&d->cfg, energy_health_ppm(&d->cfg, d->ctx.now));
    r->energy_have_nj = usable * how->energy_ppm / (1000000 << FTL_PLANT(half_energy, 1));
    j->from = d->ctx.now;
    j->base_mw = d->cfg.power_base_mw;
    j->budget_pj = r->energy_have_nj * 1000;
    j->energy_pj = 0;
    j->pages_now = 0;
    j->cut = false;
    j->cut_mode = how->mode;
    j->cut_others = how->others;
    j->cut_seed = how->seed;
    j->at = &at;
    if (idle > at)
        at = idle;
    if (j->base_mw * (at - j->from) > j->budget_pj) {   /* not even what is under way can end */
        uint64_t end = d->ctx.now + j->budget_pj / j->base_mw;
        media_cut_now(&d->media, end, how->others, how->seed);
        r->units_lost = buffered(c);
        r->energy_need_nj = r->energy_have_nj;
        d->ctx.now = end;
        return;
    }
    core_journal_flush(c, MARK_FLUSHED, &f);
    r->units_flushed = f.units;
    r->units_lost = f.lost;
    r->flush_pages = f.pages;
    r->flush_bytes = f.pages * j->page_bytes;
    idle = media_idle_at(&d->media);
    if (!j->cut && idle > at)
        at = idle;
    r->flush_ns = at - d->ctx.now;
    r->energy_need_nj = (j->energy_pj + j->base_mw * (at - j->from)) / 1000;
    if (!j->cut)
        media_cut_now(&d->media, at, FTL_OTHERS_END, 0);
    d->ctx.now = at;
}

static void lose(ftl_drive *d, const struct ftl_power_cut *how)
{
    struct ftl_power_report *r = &d->power.last;
    struct ftl_core *c = &d->core;

    *r = (struct ftl_power_report){.struct_size = sizeof *r, .commands_lost = d->open};
    d->media.strike_at = 0;
    if (capacitors_deliver(d, how)) {
        flush(d, how, r);
    } else {
        media_cut_now(&d->media, d->ctx.now, how->others, how->seed);
        r->units_lost = d->cfg.power_plp ? buffered(c) : 0;
    }
    media_go_dark(&d->media);
    d->power.off = true;
    d->power.armed = false;
    d->power.open_units = core_open_units(c);
}

int drive_power_lost(ftl_drive *d)
{
    lose(d, &d->power.how);
    return FTL_EPOWER;
}

int ftl_power_cut(ftl_drive *d, const struct ftl_power_cut *how, struct ftl_power_report *ret)
{
    if (!is_possible(d) || !is_sound(how))
        return FTL_EINVAL;
    if (d->power.off)
        return FTL_EPOWER;
    lose(d, how);
    hand_out(d, ret);
    return 0;
}

/* As the state asks: with power and capacitors a strike, else a cut of the operation itself. */
static int aim(ftl_drive *d)
{
    const struct ftl_power_cut *how = &d->power.how;
    bool strike = !d->power.off && capacitors_deliver(d, how);

    d->media.strike_at = d->power.armed && strike ? d->power.armed_at : 0;
    d->media.watched = d->power.armed || d->power.off;
    return media_arm(&d->media, d->power.armed && !strike ? d->power.armed_at : 0, how->mode,
                     how->others, how->seed);
}

int ftl_power_off(ftl_drive *d, struct ftl_power_report *ret)
{
    if (!is_possible(d))
        return FTL_EINVAL;
    if (d->power.off)
        return FTL_EPOWER;
    if (d->open != 0)
        return FTL_EBUSY;
    int err = ftl_drain(d);
    /* without capacitors nothing may wait in the buffer again after the start; the second time is for
     * pages of the map that were being read */
    d->core.gc.held = !d->cfg.power_plp;
    for (int i = 0; i < 8 && err == 0 && !d->cfg.power_plp && core_open_units(&d->core) != 0; i++) {
        d->core.dispatch_at = d->ctx.now;
        for (uint32_t k = 0; k < d->core.frontier_count; k++)
            core_pad(&d->core, &d->core.fr[k]);
        err = ftl_drain(d);
    }
    d->core.gc.held = false;
    if (err < 0)
        return err;
    FTL_ASSERT(&d->ctx, d->cfg.power_plp || core_open_units(&d->core) == 0);
    struct ftl_power_report *r = &d->power.last;
    struct journal *j = d->core.journal;
    struct journal_flush f = {0, 0, 0};
    uint64_t at = d->ctx.now;
    *r = (struct ftl_power_report){.struct_size = sizeof *r};
    j->budget_pj = j->base_mw = j->energy_pj = j->pages_now = 0;
    j->cut = false;
    j->at = &at;
    core_journal_flush(&d->core, MARK_CLEAN, &f);
    uint64_t idle = media_idle_at(&d->media);
    at = !j->cut && idle > at ? idle : at;
    r->units_flushed = f.units;
    r->units_lost = f.lost;
    r->flush_pages = f.pages;
    r->flush_bytes = f.pages * j->page_bytes;
    r->flush_ns = at - d->ctx.now;
    d->ctx.now = at;
    if (!j->cut)
        media_cut_now(&d->media, at, FTL_OTHERS_END, 0);
    err = j->cut ? FTL_EPOWER : 0;      /* an armed loss struck in the middle */
    media_go_dark(&d->media);
    d->power.off = true;
    d->power.armed = d->power.armed && !j->cut;
    d->power.open_units = core_open_units(&d->core);
    (void)aim(d);                       /* a loss to come may strike at the start */
    hand_out(d, ret);
    return err;
}

int ftl_power_arm(ftl_drive *d, uint64_t operation, const struct ftl_power_cut *how)
{
    if (!is_possible(d) || (how != NULL && (!is_sound(how) || operation == 0)))
        return FTL_EINVAL;
    d->power.armed = how != NULL;
    if (how != NULL) {
        d->power.how = *how;
        d->power.armed_at = media_operations(&d->media) + operation;
    }
    return aim(d) < 0 ? FTL_EINVAL : 0;
}

uint64_t ftl_power_operations(const ftl_drive *d)
{
    return d != NULL ? media_operations(&d->media) : 0;
}

bool ftl_power_is_on(const ftl_drive *d)
{
    return d != NULL && !d->power.off;
}

void ftl_power_last(const ftl_drive *d, struct ftl_power_report *ret)
{
    if (d != NULL)
        hand_out(d, ret);
}

/* ---- start ------------------------------------------------------------------------------ */

/* All that was in memory is as on the day of creation; counters go on. */
static int forget(ftl_drive *d)
{
    struct ftl_policies policies = {.version = FTL_POLICY_VERSION,
                                    .struct_size = sizeof policies,
                                    .gc = d->core.policy.gc, .wear = d->core.policy.wear,
                                    .pace = d->core.policy.pace,
                                    .stream = d->core.policy.stream};
    struct media was = d->media;
    int64_t open_before = d->core.open_before - (int64_t)d->power.open_units;
    ftl_u128 log_sum = d->core.log_sum;
    uint64_t log_weight = d->core.log_weight;

    sim_mem_again(&d->ctx.mem);
    int err = drive_build(d, &policies, NULL, 0);
    d->ctx.mem.again = false;
    d->open = 0;
    d->command_free = 0;
    d->part_free = 0;
    d->front_end.free_at = d->link_in.free_at = d->link_out.free_at = 0;
    d->media.page_reads = was.page_reads;
    d->media.gc_page_reads = was.gc_page_reads;
    d->media.programs = was.programs;
    d->media.erases = was.erases;
    d->media.die_busy_ns = was.die_busy_ns;
    d->media.channel_busy_ns = was.channel_busy_ns;
    d->core.open_before = open_before;
    d->core.log_sum = log_sum;
    d->core.log_weight = log_weight;
    return err;
}

static void tell(struct ftl_power_report *r, const struct core_recovered *o)
{
    *r = (struct ftl_power_report){.struct_size = sizeof *r};
    r->start = o->mark == 0 ? FTL_START_SCAN
                            : o->mark == MARK_CLEAN ? FTL_START_CLEAN : FTL_START_FLUSHED;
    r->step_count = o->step_count;
    for (uint32_t i = 0; i < o->step_count; i++) {
        r->steps[i] = (struct ftl_power_step){o->step[i].name, o->step[i].ns, o->step[i].items};
        r->ready_ns += o->step[i].ns;
    }
    r->pages_scanned = o->pages_scanned;
    r->journal_pages = o->journal_pages;
    r->journal_entries = o->journal_entries;
    r->units_restored = o->units_restored;
    r->units_dropped = o->units_dropped + o->units_lost;
    r->duplicates = o->duplicates;
    r->torn_wordlines = o->torn_wordlines;
    r->padded_wordlines = o->padded_wordlines;
    r->erased_again = o->erased_again;
}

/* No drive came up: the power is off as before. */
static int stay_off(ftl_drive *d, uint64_t at, int err)
{
    d->power.off = true;
    d->power.open_units = 0;        /* what the loss before left, left */
    d->power.armed = d->power.armed && err != FTL_EPOWER;
    if (err != FTL_EPOWER)
        media_cut_now(&d->media, at, FTL_OTHERS_END, 0);
    media_go_dark(&d->media);
    return err;
}

/* The last steps, with power on and capacitors charged: a loss now is one like any other. */
static int reopen(ftl_drive *d, uint64_t *at, struct core_recovered *out)
{
    d->power.off = false;
    (void)aim(d);
    int err = core_reopen(&d->core, at, out);
    tell(&d->power.last, out);
    d->ctx.now = *at;
    if (err < 0)
        return stay_off(d, *at, err);
    d->core.open_before += (int64_t)core_open_units(&d->core);
    bool struck = d->media.strike_at != 0 && media_operations(&d->media) >= d->media.strike_at;
    if (!struck && !d->core.journal->cut) {
        drive_collect(d);
        return 0;
    }
    lose(d, &d->power.how);
    return FTL_EPOWER;
}

int ftl_power_on(ftl_drive *d, struct ftl_power_report *ret)
{
    if (!is_possible(d) || !d->power.off)
        return FTL_EINVAL;
    struct core_recovered out;
    uint64_t at = d->ctx.now;
    int err = media_power_on(&d->media, at) < 0 ? FTL_EINVAL : forget(d);
    if (err < 0)
        return err;
    err = core_recover(&d->core, &at, &out);
    d->ctx.now = at;
    if (err == 0) {
        err = reopen(d, &at, &out);
    } else {
        tell(&d->power.last, &out);
        (void)stay_off(d, at, err);
    }
    hand_out(d, ret);
    return err;
}
