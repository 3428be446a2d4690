/* engine.h - threads, groups and timers of a run. */
#ifndef WL_ENGINE_H_
#define WL_ENGINE_H_

#include "gen.h"
#include "heap.h"
#include "jobfile.h"
#include "logs.h"
#include "stats_inline.h"
#include "workload/run.h"

enum wl_state {
    WL_WAITING,                     /* for earlier jobs or its delay */
    WL_RUNNING,
    WL_DRAINING,                    /* asks nothing more, accesses are open */
    WL_FINISHED
};

enum { WL_THREADS_MAX = 65535, WL_POLL_MAX = 256 };

struct wl_window {                  /* of a thread's logs */
    uint64_t ios, bytes;            /* at the start of the window */
    struct wl_sum lat;              /* whole latencies in the window */
};

struct wl_thread_logs {
    struct wl_log *bw, *iops, *lat, *slat, *clat;
    uint64_t avg_ns, next;          /* 0: every access is a line */
    uint64_t began;                 /* of the present window */
    bool max, offset;
    struct wl_window window[WL_DIRS];
};

struct wl_group_state {
    struct wl_report report;
    const struct wl_job *ss_job;    /* whose criterion counts; NULL = none */
    uint64_t measured_from;         /* WL_NO_VALUE until a thread measures */
    uint64_t bw_next, iops_next, ss_next;
    uint64_t bw_bytes[WL_DIRS], iops_ios[WL_DIRS];  /* at the last sample */
    uint64_t ss_ios, ss_bytes, ss_lat_n;
    wl_u128 ss_lat_sum;
    uint64_t *ss_iops, *ss_bw;      /* rings of ss_duration samples */
    double *ss_lat, *ss_scratch;
    uint32_t ss_count;              /* samples taken */
    uint32_t unfinished;
    bool lat_bins;                  /* whole latencies are counted in bins too */
};

struct wl_flow_state {
    uint64_t id, total;             /* accesses of all members that still run */
    uint64_t weights;
    bool waiting;                   /* a member is held back */
};

struct wl_thread {
    const struct wl_job *job;
    struct wl_group_state *group;
    struct wl_thread_logs *logs;    /* NULL = none */
    struct wl_flow_state *flow;     /* NULL = none */
    uint32_t index, job_index, phase;
    uint8_t state;
    bool measuring, limited;        /* limited: rate, pauses, flow or flushes */
    bool hinted;                    /* writes carry a placement hint */
    bool paused, held, has_pending, flushed;
    uint8_t pending;                /* direction chosen and held back by its rate */
    uint32_t depth, open;
    uint64_t began, ramp_end, end;  /* virtual time; WL_NO_VALUE = never */
    uint64_t wake;                  /* rate or pause; WL_NO_VALUE = none */
    uint64_t lbas_left, ios_left;   /* of the job's amount */
    uint64_t lbas_total;
    uint64_t rate_from;             /* rates count from here */
    uint64_t rate_ios[WL_DIRS], rate_bytes[WL_DIRS], rate_next[WL_DIRS];
    struct wl_rng rate_rng;
    uint64_t think_count, writes_since_flush, flow_count;
    uint32_t next_stream;
    uint64_t done_ios[WL_DIRS], done_bytes[WL_DIRS];
    uint64_t finished_at;
    struct wl_gen gen;
};

struct wl_run {
    ftl_drive *drive;
    const wl_jobs *jobs;
    struct wl_run_options options;
    uint32_t lba_bytes, lba_shift;
    uint64_t lbas;
    struct wl_thread *threads;
    uint32_t thread_count;
    struct wl_group_state *groups;
    uint32_t group_count;
    struct wl_flow_state *flows;
    uint32_t flow_count;
    struct wl_heap timers;          /* threads, then groups */
    struct wl_logs logs;
    uint64_t began;
    uint32_t unfinished, phase, phase_unfinished;
    uint64_t accesses, next_progress;
    uint64_t filled;                /* extents written untimed */
    bool ran, interrupted;
    int err;                        /* of the drive, while running */
    struct ftl_cpl cpls[WL_POLL_MAX];
};

/* ---- precondition.c: the same as wl_run_precondition(); the counters of the last step
 * go to ret, which may be NULL */
int wl_run_measure(wl_run *run, const struct wl_precondition *steps, struct ftl_counters *ret,
                   char *ret_why, size_t why_size);

/* ---- bind.c: jobs onto a drive */
int wl_bind_threads(struct wl_run *run, char *ret_why, size_t why_size);

static inline void wl_account_depth(struct wl_thread *t)
{
    unsigned level = 31u - (unsigned)__builtin_clz(t->open);
    t->group->report.depth[level < WL_DEPTHS ? level : WL_DEPTHS - 1]++;
    t->group->report.submissions++;
}

/* ---- account.c: what a completion adds */
void wl_account(struct wl_run *run, struct wl_thread *t, const struct ftl_cpl *cpl, unsigned dir);
void wl_logs_window(struct wl_run *run, struct wl_thread *t, uint64_t now, bool last);
/* Samples, then sets the group's timer. True when steady state was reached. */
bool wl_group_tick(struct wl_run *run, struct wl_group_state *g, uint64_t now);
void wl_group_start(struct wl_run *run, struct wl_group_state *g, uint64_t now);
void wl_group_finish(struct wl_run *run, struct wl_group_state *g);

/* ---- steady.c */
bool wl_ss_sample(struct wl_group_state *g, const struct wl_job *job, uint64_t iops, uint64_t bw,
                  double lat);
void wl_ss_report(struct wl_group_state *g);

/* ---- issue.c */
/* Asks for as much as the thread may. Sets run->err when the drive refuses. */
void wl_thread_pump(struct wl_run *run, struct wl_thread *t, uint64_t now);
void wl_thread_completed(struct wl_run *run, struct wl_thread *t, uint64_t now);

#endif
