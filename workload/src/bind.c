/* bind.c - jobs onto a drive: regions, amounts, groups, logs. */
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

#define ULL(x) ((unsigned long long)(x))

struct fit {
    struct wl_run *run;
    const struct wl_entry *entry;
    uint64_t start, length; /* the thread's region, bytes */
    char *why;
    size_t why_size;
};

#define refuse(f, option, ...)                                                                 \
    wl_entry_refuse((f)->run->jobs, (f)->entry, option, (f)->why, (f)->why_size, __VA_ARGS__)

static uint64_t part_of(const struct wl_amount *a, uint64_t whole)
{
    return a->percent ? (uint64_t)((wl_u128)whole * a->value / (100 * WL_PCT)) : a->value;
}

static uint64_t smallest_bs(const struct wl_job *job)
{
    uint64_t least = UINT64_MAX;
    for (int d = 0; d < WL_DIRS; d++)
        if (job->dir[d] && job->bs_min[d] < least)
            least = job->bs_min[d];
    return least;
}

/* ---- sizes of accesses against the LBA --------------------------------- */
static int check_size(struct fit *f, int dir, uint64_t bytes, uint32_t option)
{
    uint32_t lba = f->run->lba_bytes;
    uint64_t most = dir == WL_TRIM ? UINT32_MAX : UINT64_C(1) << 24;
    if (bytes % lba != 0)
        return refuse(f, option, "%llu bytes is not a multiple of the drive's LBA of %u bytes",
                      ULL(bytes), lba);
    if (bytes / lba > most)
        return refuse(f, option, "%llu bytes is more than one command takes (%llu)", ULL(bytes),
                      ULL(most * lba));
    return WL_OK;
}

static uint32_t size_option(const struct wl_entry *e)
{
    /* the option given last rules; its line is where to look */
    uint32_t option = WL_OPT_BS;
    if (e->line[WL_OPT_BSRANGE] > e->line[option])
        option = WL_OPT_BSRANGE;
    if (e->line[WL_OPT_BSSPLIT] > e->line[option])
        option = WL_OPT_BSSPLIT;
    return option;
}

static int check_sizes(struct fit *f)
{
    const struct wl_job *job = &f->entry->job;
    uint32_t option = size_option(f->entry);
    for (int d = 0; d < WL_DIRS; d++) {
        if (!job->dir[d])
            continue;
        int err = check_size(f, d, job->bs_min[d], option);
        if (err == WL_OK)
            err = check_size(f, d, job->bs_max[d], option);
        for (uint32_t i = 0; err == WL_OK && i < job->split_count[d]; i++)
            err = check_size(f, d, job->split[d][i].bytes, option);
        if (err == WL_OK && job->align[d] % f->run->lba_bytes != 0)
            err = refuse(f, WL_OPT_BA,
                         "%llu bytes is not a multiple of the drive's LBA of %u bytes",
                         ULL(job->align[d]), f->run->lba_bytes);
        if (err == WL_OK && job->rw_skip % (int64_t)f->run->lba_bytes != 0)
            err = refuse(f, WL_OPT_RW,
                         "the number after rw is not a multiple of the drive's LBA of %u bytes",
                         f->run->lba_bytes);
        if (err != WL_OK)
            return err;
    }
    return WL_OK;
}

/* ---- region ------------------------------------------------------------ */
static int fit_start(struct fit *f, uint64_t drive, uint32_t clone)
{
    const struct wl_job *job = &f->entry->job;
    uint64_t align = job->offset_align != 0 ? job->offset_align : smallest_bs(job);
    wl_u128 start = (wl_u128)part_of(&job->offset, drive) +
                    (wl_u128)part_of(&job->offset_increment, drive) * clone;
    if (job->offset.percent || job->offset_increment.percent)
        start = (start + align - 1) / align * align;
    if (start >= drive)
        return refuse(f, WL_OPT_OFFSET,
                      "job '%s' starts at byte %llu, the drive has %llu at scale %llu",
                      job->name, ULL(start > UINT64_MAX ? UINT64_MAX : (uint64_t)start),
                      ULL(drive), ULL(f->run->options.scale));
    f->start = (uint64_t)start;
    if (f->start % f->run->lba_bytes != 0)
        return refuse(f, WL_OPT_OFFSET,
                      "byte %llu is not a multiple of the drive's LBA of %u bytes",
                      ULL(f->start), f->run->lba_bytes);
    return WL_OK;
}

static int fit_length(struct fit *f, uint64_t drive)
{
    const struct wl_job *job = &f->entry->job;
    uint32_t option = job->filesize.set ? WL_OPT_FILESIZE : WL_OPT_SIZE;
    const struct wl_amount *size = job->filesize.set ? &job->filesize : &job->size;
    uint64_t room = drive - f->start, least = smallest_bs(job), largest = 0;

    f->length = size->set ? part_of(size, drive) : room;
    if (size->set && size->percent) {
        f->length = f->length < room ? f->length : room;
        if (f->length >= least)
            f->length -= f->length % least;
    }
    if (f->length > room)
        return refuse(
            f, option,
            "job '%s' needs %llu bytes from byte %llu on, the drive has %llu at scale %llu",
            job->name, ULL(f->length), ULL(f->start), ULL(drive), ULL(f->run->options.scale));
    f->length -= f->length % f->run->lba_bytes;
    for (int d = 0; d < WL_DIRS; d++) {
        uint64_t need = job->bs_max[d] > job->align[d] ? job->bs_max[d] : job->align[d];
        if (job->dir[d] && need > largest)
            largest = need;
    }
    if (largest > f->length)
        return refuse(f, size_option(f->entry),
                      "an access of %llu bytes does not fit into the %llu bytes of job '%s', "
                      "the drive has %llu at scale %llu",
                      ULL(largest), ULL(f->length), job->name, ULL(drive),
                      ULL(f->run->options.scale));
    return WL_OK;
}

/* ---- amount ------------------------------------------------------------ */
/* A walk with holes, or backwards, passes the region once with fewer accesses. */
static uint64_t walk_bytes(const struct wl_job *job, uint64_t length, uint64_t size)
{
    int64_t stride = (int64_t)size + job->rw_skip;
    uint64_t step = (uint64_t)(stride < 0 ? -stride : stride);
    return step == 0 ? length : ((length - size) / step + 1) * size;
}

static void set_amount(struct fit *f, struct wl_thread *t)
{
    const struct wl_job *job = t->job;
    uint64_t pass = f->length, least = smallest_bs(job);
    bool one_size = true;
    for (int d = 0; d < WL_DIRS; d++)
        one_size &= !job->dir[d] || (job->bs_min[d] == least && job->bs_max[d] == least);
    if (job->rw_skip != 0 && one_size)
        pass = walk_bytes(job, f->length, least);
    if (job->filesize.set && job->size.set)
        pass = part_of(&job->size, f->length);
    if (job->io_size.set)
        pass = part_of(&job->io_size, f->length);
    if (one_size)
        pass -= pass % least; /* a rest smaller than an access is left out, as in fio */
    wl_u128 lbas = (wl_u128)(pass / f->run->lba_bytes) * job->loops;
    t->lbas_total = job->time_based || lbas > UINT64_MAX ? UINT64_MAX : (uint64_t)lbas;
    t->lbas_left = t->lbas_total;
    t->ios_left = job->number_ios != 0 ? job->number_ios : UINT64_MAX;
}

static bool is_limited(const struct wl_job *job)
{
    bool limited =
        job->think_ns != 0 || job->flow != 0 || job->fsync != 0 || job->fdatasync != 0;
    for (int d = 0; d < WL_DIRS; d++)
        limited |= job->rate[d] != 0 || job->rate_iops[d] != 0;
    return limited;
}

static int open_logs(struct fit *f, struct wl_thread *t)
{
    const struct wl_job *job = t->job;
    struct wl_run *run = f->run;
    if (job->bw_log == NULL && job->iops_log == NULL && job->lat_log == NULL)
        return WL_OK;
    struct wl_thread_logs *l = t->logs = calloc(1, sizeof *l);
    if (l == NULL)
        return WL_ENOMEM;
    *l = (struct wl_thread_logs){.avg_ns = job->log_avg_ns,
                                 .max = job->log_max,
                                 .offset = job->log_offset,
                                 .next = WL_NO_VALUE};
    const struct {
        const char *stem, *kind;
        struct wl_log **log;
        bool off;
    } all[] = {
        {job->bw_log, "bw", &l->bw, job->disable_bw},
        {job->iops_log, "iops", &l->iops, job->disable_bw},
        {job->lat_log, "lat", &l->lat, job->disable_lat},
        {job->lat_log, "slat", &l->slat, job->disable_slat},
        {job->lat_log, "clat", &l->clat, job->disable_clat},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].stem == NULL || all[i].off)
            continue;
        int err =
            wl_logs_open(&run->logs, run->options.log_directory, all[i].stem, all[i].kind,
                         job->per_job_logs ? t->index + 1 : 0, all[i].log, f->why, f->why_size);
        if (err != WL_OK)
            return err;
    }
    return WL_OK;
}

static struct wl_flow_state *join_flow(struct wl_run *run, const struct wl_job *job)
{
    uint32_t i = 0;
    if (job->flow == 0)
        return NULL;
    while (i < run->flow_count && run->flows[i].id != job->flow_id)
        i++;
    if (i == run->flow_count)
        run->flows[run->flow_count++].id = job->flow_id;
    run->flows[i].weights += job->flow;
    return &run->flows[i];
}

static int init_thread(struct fit *f, struct wl_thread *t, uint32_t clone)
{
    struct wl_run *run = f->run;
    const struct wl_job *job = t->job;
    uint64_t drive = run->lbas * run->lba_bytes;
    int dir = 0, err = fit_start(f, drive, clone);
    if (err == WL_OK)
        err = fit_length(f, drive);
    if (err != WL_OK)
        return err;
    t->state = WL_WAITING;
    t->depth = (uint32_t)job->iodepth;
    t->limited = is_limited(job);
    t->hinted = job->fdp;
    t->wake = t->end = t->ramp_end = t->began = WL_NO_VALUE;
    t->flow = join_flow(run, job);
    t->rate_rng = wl_rng_make(run->options.seed, WL_FOR_RATE, t->index);
    set_amount(f, t);
    err = wl_gen_init(&t->gen, job, f->start, f->length, run->lba_bytes, run->options.seed,
                      t->index, &dir);
    if (err == WL_EINVAL)
        return refuse(f, WL_OPT_RANDOM_DISTRIBUTION,
                      "the zones need more than the %llu bytes of job '%s'", ULL(f->length),
                      job->name);
    return err != WL_OK ? err : open_logs(f, t);
}

/* ---- groups, as fio counts them ---------------------------------------- */
struct grouping {
    uint32_t group, phase, members;
    int64_t last;   /* group of the last report */
    uint64_t depth; /* of the present phase */
};

static struct wl_group_state *place(struct wl_run *run, struct wl_thread *t, struct grouping *g,
                                    bool first)
{
    const struct wl_job *job = t->job;
    if (first && (job->stonewall || job->new_group) && g->members > 0) {
        g->members = 0;
        g->group++;
    }
    if (first && job->stonewall && t->index > 0) {
        g->phase++;
        g->depth = 0;
    }
    t->phase = g->phase;
    g->members++;
    g->depth += job->iodepth;
    if (job->group_reporting && g->last == (int64_t)g->group)
        return &run->groups[run->group_count - 1];
    g->last = g->group;
    struct wl_group_state *state = &run->groups[run->group_count++];
    state->report.job = job;
    state->report.job_index = t->job_index;
    state->report.group = g->group;
    state->lat_bins = job->lat_percentiles;
    state->measured_from = WL_NO_VALUE;
    return state;
}

static int init_steady(struct wl_group_state *g, const struct wl_job *job)
{
    if (job->ss_kind == WL_SS_NONE || g->report.ss.used)
        return WL_OK;
    uint32_t n = (uint32_t)(job->ss_duration_ns / UINT64_C(1000000000));
    g->report.ss.used = true;
    g->report.ss.duration = n;
    g->ss_job = job;
    g->ss_iops = calloc(n, sizeof *g->ss_iops);
    g->ss_bw = calloc(n, sizeof *g->ss_bw);
    g->ss_lat = calloc(n, sizeof *g->ss_lat);
    g->ss_scratch = calloc(n, sizeof *g->ss_scratch);
    return g->ss_iops == NULL || g->ss_bw == NULL || g->ss_lat == NULL || g->ss_scratch == NULL
               ? WL_ENOMEM
               : WL_OK;
}

static int allocate(struct wl_run *run, const struct fit *f)
{
    uint64_t threads = 0;
    for (uint32_t i = 0; i < run->jobs->count; i++)
        threads += run->jobs->entries[i].job.numjobs;
    if (threads > WL_THREADS_MAX) {
        snprintf(f->why, f->why_size, "%s:1: numjobs: %llu threads in all, at most %d",
                 run->jobs->file, ULL(threads), WL_THREADS_MAX);
        return WL_EJOB;
    }
    run->threads = calloc(threads, sizeof *run->threads);
    run->groups = calloc(threads, sizeof *run->groups); /* untouched pages cost nothing */
    run->flows = calloc(threads, sizeof *run->flows);
    return run->threads == NULL || run->groups == NULL || run->flows == NULL ? WL_ENOMEM
                                                                             : WL_OK;
}

static int add_thread(struct fit *f, struct grouping *g, uint32_t job_index, uint32_t clone)
{
    struct wl_run *run = f->run;
    struct wl_thread *t = &run->threads[run->thread_count];
    t->index = run->thread_count++;
    t->job = &f->entry->job;
    t->job_index = job_index;
    t->group = place(run, t, g, clone == 0);
    t->group->report.threads++;
    t->group->unfinished++;
    if (g->depth > FTL_OPEN_MAX)
        return refuse(f, WL_OPT_IODEPTH,
                      "%llu accesses would be open at once, the drive takes %d", ULL(g->depth),
                      FTL_OPEN_MAX);
    int err = init_steady(t->group, t->job);
    return err != WL_OK ? err : init_thread(f, t, clone);
}

int wl_bind_threads(struct wl_run *run, char *ret_why, size_t why_size)
{
    struct fit f = {.run = run, .why = ret_why, .why_size = why_size};
    struct grouping g = {.last = -1};
    int err = allocate(run, &f);
    for (uint32_t i = 0; err == WL_OK && i < run->jobs->count; i++) {
        f.entry = &run->jobs->entries[i];
        err = check_sizes(&f);
        for (uint32_t c = 0; err == WL_OK && c < f.entry->job.numjobs; c++)
            err = add_thread(&f, &g, i, c);
    }
    if (err == WL_OK && wl_heap_init(&run->timers, run->thread_count + run->group_count) < 0)
        err = WL_ENOMEM;
    if (err == WL_ENOMEM)
        snprintf(ret_why, why_size, "%s:1: numjobs: out of memory for %u threads",
                 run->jobs->file, run->thread_count);
    run->unfinished = run->thread_count;
    return err;
}
