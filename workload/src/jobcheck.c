/* jobcheck.c - rules between the options of one job. */
#include <string.h>

#include "jobfile.h"

static int check_engine(struct wl_jobs *jobs, struct wl_entry *e)
{
    static const char *const synchronous[] = {"sync",   "psync",   "vsync",
                                              "pvsync", "pvsync2", "mmap"};
    struct wl_job *job = &e->job;
    for (size_t i = 0; job->ioengine != NULL && i < sizeof synchronous / sizeof synchronous[0];
         i++)
        if (strcmp(job->ioengine, synchronous[i]) == 0 && job->iodepth > 1) {
            wl_jobs_add_note(jobs, "ioengine=%s is synchronous: iodepth is 1", job->ioengine);
            job->iodepth = 1;
        }
    return WL_OK;
}

static int check_rates(struct wl_jobs *jobs, struct wl_entry *e, char *why, size_t size)
{
    for (int d = 0; d < WL_DIRS; d++)
        if (e->job.rate[d] != 0 && e->job.rate_iops[d] != 0)
            return wl_entry_refuse(jobs, e, WL_OPT_RATE_IOPS, why, size,
                                   "rate and rate_iops exclude each other");
    return WL_OK;
}

static int check_steady(struct wl_jobs *jobs, struct wl_entry *e, char *why, size_t size)
{
    const struct wl_job *job = &e->job;
    const uint64_t second = UINT64_C(1000000000);
    if (job->ss_kind == WL_SS_NONE)
        return WL_OK;
    if (job->ss_duration_ns < second || job->ss_duration_ns > 86400 * second)
        return wl_entry_refuse(jobs, e, WL_OPT_STEADYSTATE_DURATION, why, size,
                               "steadystate needs a duration of 1 s to 1 day");
    if (job->runtime_ns != 0 && job->ss_duration_ns + job->ss_ramp_ns > job->runtime_ns)
        return wl_entry_refuse(jobs, e, WL_OPT_STEADYSTATE_DURATION, why, size,
                               "duration and ramp time are longer than runtime");
    return WL_OK;
}

/* The map of fio would cut accesses of mixed sizes; see docs/fio-options.md. */
static void check_map(struct wl_jobs *jobs, struct wl_entry *e)
{
    struct wl_job *job = &e->job;
    uint64_t size = 0;
    bool mixed = false, skewed = false, partly = false;
    for (int d = 0; d < WL_DIRS; d++) {
        if (!job->dir[d])
            continue;
        uint64_t align = job->align[d] != 0 ? job->align[d] : job->bs_min[d];
        mixed |= job->bs_min[d] != job->bs_max[d] || align != job->bs_min[d] ||
                 (size != 0 && size != job->bs_min[d]);
        size = job->bs_min[d];
        skewed |= job->dist[d].kind != WL_DIST_RANDOM;
        partly |= job->percentage_random[d] != 100;
    }
    if (!job->random || job->norandommap)
        return;
    if (mixed)
        wl_jobs_add_note(
            jobs, "sizes are mixed: offsets are drawn independently, as with norandommap");
    job->norandommap = mixed || skewed || partly || job->rw_every > 1;
}

int wl_entry_check(struct wl_jobs *jobs, struct wl_entry *e, char *why, size_t size)
{
    struct wl_job *job = &e->job;
    int err = check_engine(jobs, e);
    if (err == WL_OK)
        err = check_rates(jobs, e, why, size);
    if (err == WL_OK)
        err = check_steady(jobs, e, why, size);
    if (err != WL_OK)
        return err;
    if (job->fdp && job->stream_count == 0)
        return wl_entry_refuse(jobs, e, WL_OPT_FDP, why, size,
                               "needs fdp_pli, the indices to use");
    if (job->time_based && job->runtime_ns == 0) {
        wl_jobs_add_note(jobs, "time_based without runtime has no effect");
        job->time_based = false;
    }
    if (job->rw_sequencer == 1 && job->rw_every == 0 && job->rw_skip == 0 &&
        e->line[WL_OPT_RW_SEQUENCER] != 0)
        wl_jobs_add_note(jobs, "rw_sequencer without a number after rw has no effect");
    const char **logs[] = {&job->bw_log, &job->iops_log, &job->lat_log};
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++)
        if (*logs[i] != NULL && **logs[i] == '\0')
            *logs[i] = job->name;
    check_map(jobs, e);
    return WL_OK;
}
