/* compare.h - a tournament: policies against each other over workloads and spare ratios.
 *
 * Each contestant plays each workload at each ratio on a drive of its own: a sequential
 * fill, `warm` drive writes and `measure` drive writes of the workload untimed (write
 * amplification), then timed 4 KiB writes at a fixed depth (latency). All contestants see
 * the same writes. Nothing reads a wall clock: same options, same table.
 *
 * Threads: one wl_compare = one thread at a time.
 * Errors:  0 or a negative enum wl_err with one line in ret_why. */
#ifndef WORKLOAD_COMPARE_H_
#define WORKLOAD_COMPARE_H_

#include "workload/run.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wl_compare_options {
    const char *drive;                  /* name or file, as ftl_setup_load() */
    uint64_t scale, seed;               /* scale 0 = the drive's own */
    const char *const *sets;            /* KEY=VALUE for every contestant */
    size_t set_count;
    /* Contestants: parts joined by '+', each a victim policy (name or FILE.so) or
     * KEY=VALUE, where KEY may be one of a policy and VALUE a FILE.so too:
     * "greedy", "./mine.so", "greedy+gc.frontiers=2+gc.pacing=idle". None = all built-in
     * victim policies. */
    const char *const *policies;
    size_t policy_count;
    const char *const *workloads;       /* names of wl_compare_workload(); none = all */
    size_t workload_count;
    const char *const *ops;             /* spare ratios as "0.07"; none = 0.07 and 0.28 */
    size_t op_count;
    uint64_t warm_micro, measure_micro; /* drive writes in millionths */
    uint64_t timed;                     /* timed writes; 0 = no latencies */
    uint32_t depth;
    /* done_ppm of the whole tournament; a result other than 0 ends it */
    wl_progress_fn *progress;
    void *user;
};
/* Fills in the defaults: wa-reference, 4 and 2 drive writes, 50,000 writes at depth 32. */
WL_API void wl_compare_defaults(struct wl_compare_options *ret_options);

struct wl_compare_row {
    const char *policy, *workload, *op; /* owned by the wl_compare */
    double wa;                          /* (host + relocated) / host, without parity */
    double wear;                        /* erases of a superblock, largest / mean */
    double iops;
    uint64_t p99_ns, p999_ns;           /* of timed writes; 0 = none */
};

/* The best of each workload and ratio is 100; a policy's score is the geometric mean of
 * (best / own) over all of them. */
struct wl_compare_score {
    const char *policy;
    double wa, wear, tail;              /* tail: the 99.9th percentile; 0 = not timed */
};

typedef struct wl_compare wl_compare;

/* Plays all. WL_EJOB for what is refused, before the first run; WL_EDRIVE names the
 * policy that broke a rule. */
WL_API int wl_compare_run(const struct wl_compare_options *options, wl_compare **ret_compare,
                          char *ret_why, size_t why_size);
WL_API void wl_compare_free(wl_compare *compare);       /* NULL is fine */
/* NULL past the end. Rows come by workload, ratio and contestant; scores best WA first. */
WL_API const struct wl_compare_row *wl_compare_row(const wl_compare *compare, size_t index);
WL_API const struct wl_compare_score *wl_compare_score(const wl_compare *compare, size_t index);
WL_API bool wl_compare_interrupted(const wl_compare *compare);

/* The workloads: name and what it writes; NULL past the end. */
WL_API const char *wl_compare_workload(uint32_t index, const char **ret_text);

#ifdef __cplusplus
}
#endif
#endif
