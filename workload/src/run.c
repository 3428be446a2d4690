/* run.c - the loop: events of the drive, timers of threads and groups. */
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

enum { PROGRESS_EVERY = 16384 };

/* ---- life cycle -------------------------------------------------------- */
static uint32_t log2_of(uint32_t x)
{
    return 31u - (uint32_t)__builtin_clz(x);
}

int wl_run_new(ftl_drive *drive, const wl_jobs *jobs, const struct wl_run_options *options,
               wl_run **ret_run, char *ret_why, size_t why_size)
{
    if (drive == NULL || jobs == NULL || options == NULL || ret_run == NULL || ret_why == NULL)
        return WL_EINVAL;
    struct wl_run *run = calloc(1, sizeof *run);
    if (run == NULL) {
        snprintf(ret_why, why_size, "out of memory");
        return WL_ENOMEM;
    }
    run->drive = drive;
    run->jobs = jobs;
    run->options = *options;
    run->lba_bytes = ftl_lba_bytes(drive);
    run->lba_shift = log2_of(run->lba_bytes);
    run->lbas = ftl_lba_count(drive);
    int err = wl_bind_threads(run, ret_why, why_size);
    if (err != WL_OK) {
        wl_run_free(run);
        return err;
    }
    *ret_run = run;
    return WL_OK;
}

void wl_run_free(wl_run *run)
{
    if (run == NULL)
        return;
    for (uint32_t i = 0; run->threads != NULL && i < run->thread_count; i++) {
        wl_gen_free(&run->threads[i].gen);
        free(run->threads[i].logs);
    }
    for (uint32_t i = 0; run->groups != NULL && i < run->group_count; i++) {
        free(run->groups[i].ss_iops);
        free(run->groups[i].ss_bw);
        free(run->groups[i].ss_lat);
        free(run->groups[i].ss_scratch);
    }
    wl_logs_close(&run->logs);
    wl_heap_free(&run->timers);
    free(run->threads);
    free(run->groups);
    free(run->flows);
    free(run);
}

/* ---- states of a thread ------------------------------------------------ */
static void set_timer(struct wl_run *run, struct wl_thread *t)
{
    uint64_t next = WL_NO_VALUE;
    if (t->state == WL_WAITING && t->phase == run->phase)
        next = t->began;
    if (t->state == WL_RUNNING) {
        next = t->end < t->wake ? t->end : t->wake;
        if (!t->measuring && t->ramp_end < next)
            next = t->ramp_end;
    }
    if (t->state <= WL_DRAINING && t->logs != NULL && t->logs->next < next)
        next = t->logs->next;
    wl_heap_set(&run->timers, t->index, next);
}

static void start_measuring(struct wl_run *run, struct wl_thread *t, uint64_t now)
{
    t->measuring = true;
    t->rate_from = now;
    for (int d = 0; d < WL_DIRS; d++) {
        t->rate_ios[d] = t->rate_bytes[d] = 0;
        t->rate_next[d] = now;
    }
    wl_group_start(run, t->group, now);
    if (t->logs != NULL && t->logs->avg_ns != 0) {
        t->logs->began = now;
        t->logs->next = now + t->logs->avg_ns;
    }
}

static void start_thread(struct wl_run *run, struct wl_thread *t, uint64_t now)
{
    const struct wl_job *job = t->job;
    t->state = WL_RUNNING;
    t->began = now;
    t->ramp_end = now + job->ramp_ns;
    t->end = job->runtime_ns != 0 ? t->ramp_end + job->runtime_ns : WL_NO_VALUE;
    t->rate_from = now;
    for (int d = 0; d < WL_DIRS; d++)
        t->rate_next[d] = now;
    if (job->ramp_ns == 0)
        start_measuring(run, t, now);
}

static void start_phase(struct wl_run *run, uint64_t now)
{
    run->phase_unfinished = 0;
    for (uint32_t i = 0; i < run->thread_count; i++) {
        struct wl_thread *t = &run->threads[i];
        if (t->phase != run->phase || t->state != WL_WAITING)
            continue;
        const struct wl_job *job = t->job;
        struct wl_rng rng = wl_rng_make(run->options.seed, WL_FOR_DELAY, t->index);
        uint64_t span = job->delay_max_ns - job->delay_min_ns;
        t->began =
            now + job->delay_min_ns + (span > 0 ? wl_below(wl_rng_next(&rng), span + 1) : 0);
        run->phase_unfinished++;
        set_timer(run, t);
    }
}

static void stop_all(struct wl_run *run, const struct wl_group_state *group);

static void leave_flow(struct wl_thread *t)
{
    if (t->flow == NULL)
        return;
    t->flow->weights -= t->job->flow;
    t->flow->total -= t->flow_count;
    t->flow = NULL;
}

static void add_runtime(struct wl_thread *t, uint64_t now)
{
    struct wl_report *r = &t->group->report;
    uint64_t from = t->measuring ? t->ramp_end : now;
    for (int d = 0; d < WL_DIRS; d++)
        if (t->done_ios[d] > 0 && now - from > r->dir[d].runtime_ns)
            r->dir[d].runtime_ns = now - from;
    r->job_runtime_ns += now - from;
    if (now - t->began > r->elapsed_ns)
        r->elapsed_ns = now - t->began;
}

static void finish_thread(struct wl_run *run, struct wl_thread *t, uint64_t now)
{
    bool started = t->state != WL_WAITING;
    t->state = WL_FINISHED;
    t->finished_at = now;
    if (started)
        add_runtime(t, now);
    if (t->logs != NULL && t->measuring && t->logs->avg_ns != 0)
        wl_logs_window(run, t, now, true);
    leave_flow(t);
    set_timer(run, t);
    run->unfinished--;
    if (--t->group->unfinished == 0)
        wl_group_finish(run, t->group);
    if (t->phase == run->phase)
        run->phase_unfinished--;
    if (t->job->exitall && !run->interrupted)
        stop_all(run, NULL);
}

/* Lets go on, rests when nothing is open any more, keeps the timer right. */
static void settle(struct wl_run *run, struct wl_thread *t, uint64_t now)
{
    if (t->state == WL_DRAINING && t->open == 0)
        finish_thread(run, t, now);
    else
        set_timer(run, t);
}

/* Ends the running threads of one group, or of all. */
static void stop_all(struct wl_run *run, const struct wl_group_state *group)
{
    for (uint32_t i = 0; i < run->thread_count; i++) {
        struct wl_thread *t = &run->threads[i];
        if ((group == NULL || t->group == group) && t->state == WL_RUNNING) {
            t->state = WL_DRAINING;
            /* a timer at once: the loop settles it */
            if (t->open == 0)
                wl_heap_set(&run->timers, t->index, ftl_now(run->drive));
        }
    }
}

/* ---- events ------------------------------------------------------------ */
static void complete(struct wl_run *run, const struct ftl_cpl *cpl, uint64_t now)
{
    struct wl_thread *t = &run->threads[cpl->user & 0xffff];
    unsigned dir = (unsigned)(cpl->user >> 16) & 0xff;
    t->open--;
    if (t->measuring)
        wl_account(run, t, cpl, dir);
    if (t->limited) {
        wl_thread_completed(run, t, now);
        settle(run, t, now);
        return;
    }
    wl_thread_pump(run, t, now);
    if (t->state != WL_RUNNING)
        settle(run, t, now);
}

static void end_pause(struct wl_thread *t)
{
    t->paused = false;
    t->think_count = 0;
    if (t->job->rate_ignore_thinktime) {
        t->rate_from += t->job->think_ns;
        for (int d = 0; d < WL_DIRS; d++)
            t->rate_next[d] += t->job->think_ns;
    }
}

static void thread_timer(struct wl_run *run, struct wl_thread *t, uint64_t now)
{
    if (t->state == WL_WAITING)
        start_thread(run, t, now);
    if (t->state == WL_RUNNING && !t->measuring && t->ramp_end <= now)
        start_measuring(run, t, now);
    if (t->logs != NULL && t->logs->next <= now)
        wl_logs_window(run, t, now, false);
    if (t->wake <= now) {
        t->wake = WL_NO_VALUE;
        if (t->paused)
            end_pause(t);
    }
    if (t->state == WL_RUNNING && t->end <= now)
        t->state = WL_DRAINING;
    wl_thread_pump(run, t, now);
    settle(run, t, now);
}

static void fire_timers(struct wl_run *run, uint64_t now)
{
    while (wl_heap_time(&run->timers) <= now && run->err == 0) {
        uint32_t id = wl_heap_first(&run->timers);
        if (id < run->thread_count)
            thread_timer(run, &run->threads[id], now);
        else if (wl_group_tick(run, &run->groups[id - run->thread_count], now))
            stop_all(run, &run->groups[id - run->thread_count]);
    }
}

/* Members that were ahead of their share look again, as long as one gets on. */
static void release_flows(struct wl_run *run, uint64_t now)
{
    for (uint32_t f = 0; f < run->flow_count; f++) {
        bool again = run->flows[f].waiting;
        while (again) {
            again = false;
            run->flows[f].waiting = false;
            for (uint32_t i = 0; i < run->thread_count; i++) {
                struct wl_thread *t = &run->threads[i];
                if (t->flow != &run->flows[f] || !t->held)
                    continue;
                uint64_t before = t->flow_count;
                t->held = false;
                wl_thread_pump(run, t, now);
                again |= t->flow_count != before;
                settle(run, t, now);
            }
        }
    }
}

/* ---- progress ---------------------------------------------------------- */
static uint64_t thread_done_ppm(const struct wl_thread *t, uint64_t now)
{
    uint64_t by_time = 0, by_amount = 0;
    if (t->state == WL_FINISHED)
        return 1000000;
    if (t->state == WL_WAITING)
        return 0;
    if (t->end != WL_NO_VALUE)
        by_time = now >= t->end ? 1000000
                                : (now - t->began) * 1000 / ((t->end - t->began) / 1000 + 1);
    if (t->lbas_total != UINT64_MAX)
        by_amount =
            (uint64_t)((wl_u128)(t->lbas_total - t->lbas_left) * 1000000 / (t->lbas_total + 1));
    return by_time > by_amount ? by_time : by_amount;
}

static void drop_waiting(struct wl_run *run, uint64_t now)
{
    for (uint32_t i = 0; i < run->thread_count; i++)
        if (run->threads[i].state == WL_WAITING)
            finish_thread(run, &run->threads[i], now);
}

static void report_progress(struct wl_run *run, uint64_t now)
{
    uint64_t sum = 0;
    run->next_progress = run->accesses + PROGRESS_EVERY;
    if (run->options.progress == NULL)
        return;
    for (uint32_t i = 0; i < run->thread_count; i++)
        sum += thread_done_ppm(&run->threads[i], now);
    struct wl_progress p = {sum / run->thread_count, now - run->began, run->accesses, false};
    if (run->options.progress(run->options.user, &p) == 0 || run->interrupted)
        return;
    run->interrupted = true;
    stop_all(run, NULL);
    drop_waiting(run, now);
}

/* ---- the loop ---------------------------------------------------------- */
static int step(struct wl_run *run)
{
    int r = ftl_run(run->drive, wl_heap_time(&run->timers));
    if (r < 0)
        return r;
    uint32_t n = ftl_poll(run->drive, run->cpls, WL_POLL_MAX);
    uint64_t now = ftl_now(run->drive);
    if (n == 0 && wl_heap_time(&run->timers) == WL_NO_VALUE)
        return FTL_EAGAIN; /* nothing to come and jobs not at their end */
    for (uint32_t i = 0; i < n && run->err == 0; i++)
        complete(run, &run->cpls[i], now);
    run->accesses += n;
    fire_timers(run, now);
    if (run->flow_count > 0)
        release_flows(run, now);
    if (run->accesses >= run->next_progress)
        report_progress(run, now);
    return run->err;
}

int wl_run_go(wl_run *run, char *ret_why, size_t why_size)
{
    if (run->ran)
        return WL_EINVAL;
    run->ran = true;
    run->began = ftl_now(run->drive);
    run->next_progress = PROGRESS_EVERY;
    run->phase = 0;
    start_phase(run, run->began);
    if (run->interrupted)           /* while it was preconditioned */
        drop_waiting(run, run->began);
    while (run->unfinished > 0) {
        int r = step(run);
        if (r < 0) {
            char fault[FTL_WHY_MAX / 2];
            const char *what = r == FTL_EAGAIN ? "no event is left, jobs are not at their end"
                                               : ftl_strerror(r);
            if (ftl_policy_fault(run->drive, fault, sizeof fault) < 0)
                what = fault;
            snprintf(ret_why, why_size, "the drive stopped at %llu ns: %s",
                     (unsigned long long)ftl_now(run->drive), what);
            return WL_EDRIVE;
        }
        while (run->unfinished > 0 && run->phase_unfinished == 0) {
            run->phase++;
            start_phase(run, ftl_now(run->drive));
        }
    }
    return WL_OK;
}

int wl_run_keep_logs(wl_run *run, char *ret_why, size_t why_size)
{
    return wl_logs_keep(&run->logs, ret_why, why_size);
}

uint32_t wl_run_report_count(const wl_run *run)
{
    return run->group_count;
}

const struct wl_report *wl_run_report(const wl_run *run, uint32_t index)
{
    return index < run->group_count ? &run->groups[index].report : NULL;
}

bool wl_run_interrupted(const wl_run *run)
{
    return run->interrupted;
}

uint64_t wl_run_accesses(const wl_run *run)
{
    return run->accesses;
}

uint64_t wl_run_filled(const wl_run *run)
{
    return run->filled;
}
