/* jobs.h - fio job files: parsed, checked, resolved.
 *
 * Threads: one wl_jobs = one thread at a time. Nothing global is kept.
 * Errors:  functions return 0 or a negative enum wl_err and write one line to
 *          ret_why: "FILE:LINE: key: rule". Outputs are written on success only.
 * Strings: belong to the wl_jobs they came from and live as long as it does.
 * Units:   bytes, nanoseconds of virtual time; percentages in millionths of a
 *          percent where a job file may give fractions. */
#ifndef WORKLOAD_JOBS_H_
#define WORKLOAD_JOBS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#define WL_API __attribute__((visibility("default")))
#else
#define WL_API
#endif

enum wl_err {
    WL_OK      = 0,
    WL_EINVAL  = -1,            /* a documented precondition was broken */
    WL_ENOMEM  = -2,
    WL_EJOB    = -3,            /* the job file is refused */
    WL_EIO     = -4,            /* a file could not be read or written */
    WL_EDRIVE  = -5             /* the drive reported an error */
};

enum { WL_READ = 0, WL_WRITE = 1, WL_TRIM = 2, WL_DIRS = 3 };
enum { WL_SPLITS_MAX = 64, WL_ZONES_MAX = 256, WL_PERCENTILES_MAX = 20, WL_STREAMS_MAX = 128 };
#define WL_PCT UINT64_C(1000000)        /* one percent */
#define WL_NO_VALUE UINT64_MAX

/* A size that may be given in percent of the drive. */
struct wl_amount {
    uint64_t value;             /* bytes, or millionths of a percent */
    bool percent, set;
};

struct wl_split {
    uint64_t bytes;
    uint64_t share;             /* millionths of a percent; 100 % in all */
};

enum wl_dist_kind {
    WL_DIST_RANDOM, WL_DIST_ZIPF, WL_DIST_PARETO, WL_DIST_NORMAL, WL_DIST_ZONED, WL_DIST_ZONED_ABS
};

struct wl_zone {
    uint64_t share;             /* of the accesses, millionths of a percent */
    uint64_t size;              /* zoned: millionths of a percent; zoned_abs: bytes */
};

struct wl_dist {
    uint8_t kind;               /* enum wl_dist_kind */
    uint64_t parameter;         /* theta, h or deviation (percent), in millionths */
    uint64_t centre;            /* 0..1 in millionths; WL_NO_VALUE = not given */
    uint32_t zone_count;
    struct wl_zone zones[WL_ZONES_MAX];
};

enum wl_ss_kind {
    WL_SS_NONE, WL_SS_IOPS, WL_SS_IOPS_SLOPE, WL_SS_BW, WL_SS_BW_SLOPE, WL_SS_LAT, WL_SS_LAT_SLOPE
};

/* One job section with everything [global] gave it. Plain data. */
struct wl_job {
    const char *name;
    const char *description;    /* NULL = none */
    const char *ioengine;       /* NULL = not given */
    uint32_t line;              /* of the section in the job file */

    /* what is asked */
    bool dir[WL_DIRS];          /* directions that occur */
    bool random;
    bool trimwrite;             /* each block is trimmed, then written */
    const char *rw;             /* as fio names it, without a modifier */
    uint64_t rw_every;          /* rw=randX:N: a new offset every N accesses; 0 and 1 = each */
    int64_t rw_skip;            /* rw=X:BYTES: added after each sequential access */
    uint64_t rw_sequencer;      /* 0 = sequential, 1 = identical */
    uint64_t bs_min[WL_DIRS], bs_max[WL_DIRS];
    uint64_t align[WL_DIRS];    /* of random offsets; 0 = bs_min */
    struct wl_split split[WL_DIRS][WL_SPLITS_MAX];
    uint32_t split_count[WL_DIRS];      /* 0 = uniform over bs_min..bs_max */
    bool bs_unaligned;
    uint64_t rwmixread;         /* percent */
    uint64_t percentage_random[WL_DIRS];
    struct wl_dist dist[WL_DIRS];
    bool norandommap;
    uint64_t randseed;

    /* where and how much */
    struct wl_amount size, offset, offset_increment, io_size, filesize;
    uint64_t offset_align;
    uint64_t number_ios;        /* 0 = no limit */
    uint64_t loops;

    /* when */
    uint64_t iodepth;
    uint64_t numjobs;
    uint64_t runtime_ns;        /* 0 = no limit */
    bool time_based;
    uint64_t ramp_ns;
    uint64_t delay_min_ns, delay_max_ns;
    uint64_t rate[WL_DIRS];     /* bytes/s, 0 = free */
    uint64_t rate_iops[WL_DIRS];
    uint64_t rate_process;      /* 0 = linear, 1 = poisson */
    bool rate_ignore_thinktime;
    uint64_t think_ns;
    uint64_t think_blocks;
    uint64_t think_type;        /* 0 = count completions, 1 = count submissions */
    uint64_t fsync, fdatasync;  /* a flush after so many writes; 0 = never */
    bool end_fsync;
    uint64_t flow, flow_id;     /* weight; 0 = no flow control */

    /* order and groups */
    bool stonewall, new_group, exitall, group_reporting;

    /* streams */
    bool fdp;
    uint32_t streams[WL_STREAMS_MAX];
    uint32_t stream_count;

    /* reports */
    uint64_t percentiles[WL_PERCENTILES_MAX];   /* millionths of a percent, ascending */
    uint32_t percentile_count;
    bool lat_percentiles, slat_percentiles, clat_percentiles;
    bool disable_lat, disable_clat, disable_slat, disable_bw;
    uint64_t unit_base;         /* 0 = by value, 1 = bits, 8 = bytes */
    uint64_t kb_base;           /* 1024 or 1000 */
    const char *bw_log, *iops_log, *lat_log;    /* file name stems, NULL = none */
    uint64_t log_avg_ns;        /* 0 = every access */
    bool log_max, log_offset, per_job_logs;
    uint64_t bw_avg_ns, iops_avg_ns;

    /* steady state */
    uint8_t ss_kind;            /* enum wl_ss_kind */
    bool ss_percent;
    uint64_t ss_limit;          /* millionths, of a percent when ss_percent, else of a unit */
    uint64_t ss_duration_ns, ss_ramp_ns;
};

struct wl_pair { const char *key, *value; };    /* as the job file gives them */

typedef struct wl_jobs wl_jobs;

/* Reads a job file. `sections` (may be NULL with count 0) names the sections to
 * take, as fio's --section does; [global] is always read. A missing environment
 * variable, an unknown option or a rule broken is WL_EJOB; an unreadable file
 * WL_EIO. */
WL_API int wl_jobs_load(const char *path, const char *const *sections, size_t section_count,
                        wl_jobs **ret_jobs, char *ret_why, size_t why_size);
/* The same from memory; `name` stands for the file in messages. */
WL_API int wl_jobs_parse(const char *name, const char *text, size_t size,
                         const char *const *sections, size_t section_count,
                         wl_jobs **ret_jobs, char *ret_why, size_t why_size);
WL_API void wl_jobs_free(wl_jobs *jobs);                /* NULL is fine */

WL_API const char *wl_jobs_file(const wl_jobs *jobs);
WL_API uint32_t wl_jobs_count(const wl_jobs *jobs);
/* NULL past the end. */
WL_API const struct wl_job *wl_jobs_get(const wl_jobs *jobs, uint32_t index);
/* The options that section `index` itself gave, in order and without doubles;
 * index = wl_jobs_count() stands for [global]. */
WL_API const struct wl_pair *wl_jobs_pairs(const wl_jobs *jobs, uint32_t index,
                                           uint32_t *ret_count);
/* What the reader should know, one line each; NULL past the end. */
WL_API const char *wl_jobs_note(const wl_jobs *jobs, uint32_t index);

/* ---- the option table -------------------------------------------------- */
enum wl_option_status { WL_SUPPORTED, WL_ACCEPTED, WL_REFUSED };
struct wl_option {
    const char *name;
    const char *aliases;        /* comma separated, "" = none */
    const char *type;           /* "size", "time", ... */
    const char *text;           /* meaning; why it has none here; why it is refused */
    uint8_t status;             /* enum wl_option_status */
};
WL_API uint32_t wl_option_count(void);
/* WL_EINVAL past the end. */
WL_API int wl_option_get(uint32_t index, struct wl_option *ret_option);

#ifdef __cplusplus
}
#endif
#endif
