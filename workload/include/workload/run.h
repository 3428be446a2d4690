/* run.h - runs the jobs of a file on a drive, in virtual time.
 *
 * Threads: one run = one thread at a time. The drive is borrowed and must not be
 * used by others during a call. No wall clock is read.
 * Errors:  0 or a negative enum wl_err with one line in ret_why. */
#ifndef WORKLOAD_RUN_H_
#define WORKLOAD_RUN_H_

#include "ftl/ftl.h"
#include "workload/jobs.h"
#include "workload/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far a run is; rates are left to the caller, who has a clock. */
struct wl_progress {
    uint64_t done_ppm;          /* of the present step */
    uint64_t virtual_ns;        /* since the start of the run */
    uint64_t accesses;          /* completed, or written when untimed */
    bool untimed;               /* preconditioning */
};
/* Called every some thousand accesses; a result other than 0 ends the run early. */
typedef int wl_progress_fn(void *user, const struct wl_progress *progress);

struct wl_run_options {
    uint64_t seed;
    uint64_t scale;             /* of the drive, for messages */
    uint64_t submit_ns;         /* the drive's host.submit_ns: shown as slat */
    const char *log_directory;  /* NULL = the present one */
    wl_progress_fn *progress;   /* NULL = none */
    void *user;
};

typedef struct wl_run wl_run;

/* Fits the jobs to the drive: sizes, percentages, distributions; opens the logs
 * under temporary names. WL_EJOB with "FILE:LINE: key: rule" when a job does not
 * fit. Jobs and drive must outlive the run. */
WL_API int wl_run_new(ftl_drive *drive, const wl_jobs *jobs, const struct wl_run_options *options,
                      wl_run **ret_run, char *ret_why, size_t why_size);
WL_API void wl_run_free(wl_run *run);   /* removes logs that were not kept; NULL is fine */

/* ---- untimed preconditioning ---------------------------------------------------
 * `spec` is a list as "seq:1,rand:3,self:0.5": drive writes of 128 KiB in order, of
 * uniform random 4 KiB units, of the write mix of the job file itself (its jobs in
 * proportion to their iodepth * numjobs). At most 16 steps of at most 1000 writes. */
enum { WL_STEPS_MAX = 16 };
enum wl_fill { WL_FILL_SEQ, WL_FILL_RAND, WL_FILL_SELF };
struct wl_precondition {
    uint32_t count;
    struct {
        uint8_t fill;           /* enum wl_fill */
        uint64_t writes_micro;  /* drive writes in millionths */
    } steps[WL_STEPS_MAX];
};
WL_API int wl_precondition_parse(const char *spec, struct wl_precondition *ret, char *ret_why,
                                 size_t why_size);
/* Carries the steps out and resets the drive's counters. */
WL_API int wl_run_precondition(wl_run *run, const struct wl_precondition *steps, char *ret_why,
                               size_t why_size);

/* ---- the timed run ----------------------------------------------------- */
/* Runs all jobs to their end. May be called once. */
WL_API int wl_run_go(wl_run *run, char *ret_why, size_t why_size);
/* Gives the logs their names. Without it wl_run_free() removes them. */
WL_API int wl_run_keep_logs(wl_run *run, char *ret_why, size_t why_size);

struct wl_dir_report {
    uint64_t ios, bytes;
    uint64_t runtime_ns;                /* longest thread; 0 without accesses */
    struct wl_sum slat, clat, lat;      /* ns */
    uint64_t slat_bins[WL_BINS], clat_bins[WL_BINS];
    uint64_t lat_bins[WL_BINS];         /* only with lat_percentiles */
    struct wl_sum bw, iops;             /* samples: KiB/s and accesses/s */
};

enum { WL_LAT_NS = 10, WL_LAT_US = 10, WL_LAT_MS = 12, WL_DEPTHS = 7 };

struct wl_report {
    const struct wl_job *job;           /* of the first thread */
    uint32_t job_index;
    uint32_t group;
    uint32_t threads;
    uint64_t errors;                    /* accesses that ended with an NVMe error */
    uint64_t elapsed_ns;                /* ramp included */
    uint64_t job_runtime_ns;            /* summed over threads */
    struct wl_dir_report dir[WL_DIRS];
    struct wl_sum sync;                 /* flushes, ns */
    uint64_t depth[WL_DEPTHS];          /* submissions at depth 1, 2-3, 4-7, ... 64 and more */
    uint64_t submissions;
    /* completions below 2 4 10 20 50 100 250 500 750 1000 of the unit; ms goes on
     * with 2000 and above */
    uint64_t lat_ns[WL_LAT_NS], lat_us[WL_LAT_US], lat_ms[WL_LAT_MS];
    struct {
        bool used, attained;
        uint32_t duration, samples;     /* s; entries in the arrays, oldest first */
        const uint64_t *iops, *bw;      /* owned by the run */
        double criterion, slope, deviation, bw_mean, iops_mean;
    } ss;
};
WL_API uint32_t wl_run_report_count(const wl_run *run);
/* NULL past the end. */
WL_API const struct wl_report *wl_run_report(const wl_run *run, uint32_t index);
WL_API bool wl_run_interrupted(const wl_run *run);
WL_API uint64_t wl_run_accesses(const wl_run *run);         /* simulated, uncounted ones included */
WL_API uint64_t wl_run_filled(const wl_run *run);           /* extents written by preconditioning */

#ifdef __cplusplus
}
#endif
#endif
