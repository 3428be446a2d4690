/* issue.c - a thread asks for accesses: amount, rate, pauses, flow, flushes. */
#include "engine.h"
#include "fixmath.h"

static const uint64_t second = UINT64_C(1000000000);

static uint64_t user_of(const struct wl_thread *t, unsigned dir, uint64_t lba)
{
    return t->index | (uint64_t)dir << 16 | lba << 24;
}

static bool submit(struct wl_run *run, struct wl_thread *t, const struct ftl_cmd *cmd)
{
    int r = ftl_submit(run->drive, cmd);
    if (r < 0) {
        run->err = r;
        return false;
    }
    t->open++;
    return true;
}

static bool submit_flush(struct wl_run *run, struct wl_thread *t)
{
    struct ftl_cmd cmd = {.opcode = FTL_FLUSH, .user = user_of(t, WL_DIRS, 0)};
    t->writes_since_flush = 0;
    return submit(run, t, &cmd);
}

static uint16_t next_stream(struct wl_thread *t)
{
    const struct wl_job *job = t->job;
    uint16_t stream = (uint16_t)job->streams[t->next_stream];
    t->next_stream = t->next_stream + 1 == job->stream_count ? 0 : t->next_stream + 1;
    return stream;
}

/* One access in a direction. False when the amount is done or the drive refuses. */
static bool issue(struct wl_run *run, struct wl_thread *t, uint8_t dir, struct wl_access *ret)
{
    static const uint8_t opcodes[WL_DIRS] = {FTL_READ, FTL_WRITE, FTL_TRIM};
    if (t->lbas_left < t->gen.dir[dir].min_count || t->ios_left == 0) {
        t->state = WL_DRAINING;
        return false;
    }
    wl_gen_access(&t->gen, dir, t->lbas_left, ret);
    struct ftl_cmd cmd = {
        .opcode = opcodes[dir],
        .lba_count = ret->count,
        .lba = ret->lba,
        .user = user_of(t, dir, ret->lba),
        .stream = dir == WL_WRITE && t->hinted ? next_stream(t) : 0,
    };
    if (!submit(run, t, &cmd))
        return false;
    if (t->measuring)
        wl_account_depth(t);
    t->ios_left--;
    if (dir == WL_WRITE || !t->gen.trimwrite) /* the trim of a pair is not counted again */
        t->lbas_left -= ret->count;
    return true;
}

/* ---- rates ------------------------------------------------------------- */
static uint64_t due_at(const struct wl_thread *t, uint8_t dir)
{
    const struct wl_job *job = t->job;
    wl_u128 after;
    if (job->rate[dir] == 0 && job->rate_iops[dir] == 0)
        return 0;
    if (job->rate_process == 1)
        return t->rate_next[dir];
    if (job->rate[dir] != 0)
        after = (wl_u128)t->rate_bytes[dir] * second / job->rate[dir];
    else
        after = (wl_u128)t->rate_ios[dir] * second / job->rate_iops[dir];
    return t->rate_from + (uint64_t)after;
}

/* fio's rule: a direction that is ahead of its rate gives way to the other one. */
static uint8_t choose_due(const struct wl_thread *t, uint8_t dir, uint64_t now,
                          uint64_t *ret_due)
{
    *ret_due = due_at(t, dir);
    if (*ret_due <= now || !t->gen.mixed)
        return dir;
    uint8_t other = dir == WL_READ ? WL_WRITE : WL_READ;
    bool wanted = other == WL_READ ? t->gen.mix_read > 0 : t->gen.mix_read < 100;
    uint64_t due = due_at(t, other);
    if (!wanted || due >= *ret_due)
        return dir;
    *ret_due = due;
    return other;
}

static void count_rate(struct wl_run *run, struct wl_thread *t, const struct wl_access *a)
{
    const struct wl_job *job = t->job;
    uint64_t bytes = (uint64_t)a->count << run->lba_shift;
    t->rate_ios[a->dir]++;
    t->rate_bytes[a->dir] += bytes;
    if (job->rate_process != 1)
        return;
    uint64_t mean = job->rate[a->dir] != 0
                        ? (uint64_t)((wl_u128)bytes * second / job->rate[a->dir])
                    : job->rate_iops[a->dir] != 0 ? second / job->rate_iops[a->dir]
                                                  : 0;
    /* imported from the integer logarithm, so that arrivals are the same everywhere */
    uint64_t wait_q32 = wl_exponential_q32(wl_rng_next(&t->rate_rng) | 1);
    t->rate_next[a->dir] += (uint64_t)((wl_u128)mean * wait_q32 >> 32);
}

/* ---- flow -------------------------------------------------------------- */
static bool flow_ahead(const struct wl_thread *t)
{
    const struct wl_flow_state *f = t->flow;
    return (wl_u128)t->flow_count * f->weights > (wl_u128)f->total * t->job->flow;
}

/* ---- asking ------------------------------------------------------------ */
static bool flush_is_due(const struct wl_thread *t)
{
    const struct wl_job *job = t->job;
    return (job->fsync != 0 && t->writes_since_flush >= job->fsync) ||
           (job->fdatasync != 0 && t->writes_since_flush >= job->fdatasync);
}

static void count_issue(struct wl_run *run, struct wl_thread *t, const struct wl_access *a)
{
    count_rate(run, t, a);
    t->writes_since_flush += a->dir == WL_WRITE;
    if (t->flow != NULL) {
        t->flow_count++;
        t->flow->total++;
    }
    if (t->job->think_ns != 0 && t->job->think_type == 1 &&
        ++t->think_count >= t->job->think_blocks)
        t->paused = true;
}

/* One step of a thread with limits; false when it must wait or has ended. */
static bool issue_limited(struct wl_run *run, struct wl_thread *t, uint64_t now)
{
    struct wl_access a;
    uint64_t due;
    if (t->paused)
        return false;
    if (flush_is_due(t))
        return submit_flush(run, t);
    if (t->flow != NULL && flow_ahead(t)) {
        t->held = true;
        t->flow->waiting = true;
        return false;
    }
    uint8_t dir = t->has_pending ? t->pending : wl_gen_direction(&t->gen);
    dir = choose_due(t, dir, now, &due);
    if (due > now) {
        t->pending = dir;
        t->has_pending = true;
        t->wake = due;
        return false;
    }
    t->has_pending = false;
    if (!issue(run, t, dir, &a))
        return false;
    count_issue(run, t, &a);
    return true;
}

static void ask(struct wl_run *run, struct wl_thread *t, uint64_t now)
{
    struct wl_access a;
    if (!t->limited) {
        while (t->open < t->depth && issue(run, t, wl_gen_direction(&t->gen), &a))
            ;
        return;
    }
    while (t->open < t->depth && issue_limited(run, t, now))
        ;
    if (t->paused && t->open == 0 && t->wake == WL_NO_VALUE)
        t->wake = now + t->job->think_ns;
}

void wl_thread_pump(struct wl_run *run, struct wl_thread *t, uint64_t now)
{
    if (t->state == WL_RUNNING)
        ask(run, t, now);
    if (t->state == WL_DRAINING && t->open == 0 && t->job->end_fsync && t->job->dir[WL_WRITE] &&
        !t->flushed) {
        t->flushed = true;
        submit_flush(run, t);
    }
}

void wl_thread_completed(struct wl_run *run, struct wl_thread *t, uint64_t now)
{
    if (t->job->think_ns != 0 && t->job->think_type == 0 && !t->paused &&
        ++t->think_count >= t->job->think_blocks)
        t->paused = true;
    wl_thread_pump(run, t, now);
}
