/* out_json.c - json and json+ with the keys of fio 3.33. */
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "out_json.h"

json_t *json_count(uint64_t v)
{
    return json_integer((json_int_t)(v <= INT64_MAX ? v : INT64_MAX));
}

/* Six decimals, as fio prints. */
json_t *json_decimal(double v)
{
    double scaled = v * 1e6;
    return json_real(fabs(scaled) < 9e15 ? nearbyint(scaled) / 1e6 : v);
}

/* ---- one direction ----------------------------------------------------- */
static json_t *percentiles_of(const struct wl_job *job, const uint64_t *bins, uint64_t n)
{
    json_t *o = json_object();
    char key[32];
    for (uint32_t i = 0; i < job->percentile_count; i++) {
        uint64_t p = job->percentiles[i];
        snprintf(key, sizeof key, "%llu.%06llu", (unsigned long long)(p / WL_PCT),
                 (unsigned long long)(p % WL_PCT));
        json_object_set_new(o, key, json_count(wl_percentile(bins, n, p)));
    }
    return o;
}

static json_t *bins_of(const uint64_t *bins)
{
    json_t *o = json_object();
    char key[32];
    for (uint32_t i = 0; i < WL_BINS; i++) {
        if (bins[i] == 0)
            continue;
        snprintf(key, sizeof key, "%llu", (unsigned long long)wl_bin_value(i));
        json_object_set_new(o, key, json_count(bins[i]));
    }
    return o;
}

static json_t *latency(const struct wl_sum *s)
{
    json_t *o = json_object();
    json_object_set_new(o, "min", json_count(s->min));
    json_object_set_new(o, "max", json_count(s->max));
    json_object_set_new(o, "mean", json_decimal(wl_sum_mean(s)));
    json_object_set_new(o, "stddev", json_decimal(wl_sum_stddev(s)));
    json_object_set_new(o, "N", json_count(s->n));
    return o;
}

static json_t *latency_with(const struct wl_sum *s, const struct wl_job *job, bool wanted,
                            const uint64_t *bins, bool plus)
{
    json_t *o = latency(s);
    if (!wanted || s->n == 0)
        return o;
    json_object_set_new(o, "percentile", percentiles_of(job, bins, s->n));
    if (plus)
        json_object_set_new(o, "bins", bins_of(bins));
    return o;
}

static void add_samples(json_t *o, const struct wl_sum *bw, const struct wl_sum *iops,
                        double bw_all)
{
    double agg = bw_all > 0.0 ? 100.0 * wl_sum_mean(bw) / bw_all : 0.0;
    json_object_set_new(o, "bw_min", json_count(bw->min));
    json_object_set_new(o, "bw_max", json_count(bw->max));
    json_object_set_new(o, "bw_agg", json_decimal(agg > 100.0 ? 100.0 : agg));
    json_object_set_new(o, "bw_mean", json_decimal(wl_sum_mean(bw)));
    json_object_set_new(o, "bw_dev", json_decimal(wl_sum_stddev(bw)));
    json_object_set_new(o, "bw_samples", json_count(bw->n));
    json_object_set_new(o, "iops_min", json_count(iops->min));
    json_object_set_new(o, "iops_max", json_count(iops->max));
    json_object_set_new(o, "iops_mean", json_decimal(wl_sum_mean(iops)));
    json_object_set_new(o, "iops_stddev", json_decimal(wl_sum_stddev(iops)));
    json_object_set_new(o, "iops_samples", json_count(iops->n));
}

static json_t *direction(const struct wl_report *r, const struct wl_dir_report *d, bool plus)
{
    const struct wl_job *job = r->job;
    json_t *o = json_object();
    double bw = cli_per_second(d->bytes, d->runtime_ns);
    json_object_set_new(o, "io_bytes", json_count(d->bytes));
    json_object_set_new(o, "io_kbytes", json_count(d->bytes >> 10));
    json_object_set_new(o, "bw_bytes", json_count((uint64_t)bw));
    json_object_set_new(o, "bw", json_count((uint64_t)bw >> 10));
    json_object_set_new(o, "iops", json_decimal(cli_per_second(d->ios, d->runtime_ns)));
    json_object_set_new(o, "runtime", json_count(d->runtime_ns / 1000000));
    json_object_set_new(o, "total_ios", json_count(d->ios));
    json_object_set_new(o, "short_ios", json_count(0));
    json_object_set_new(o, "drop_ios", json_count(0));
    json_object_set_new(o, "slat_ns",
                        latency_with(&d->slat, job, job->slat_percentiles, d->slat_bins, plus));
    struct wl_sum nothing = {0};
    const struct wl_sum *clat = job->disable_clat ? &nothing : &d->clat;
    json_object_set_new(o, "clat_ns",
                        latency_with(clat, job, job->clat_percentiles, d->clat_bins, plus));
    json_object_set_new(o, "lat_ns",
                        latency_with(&d->lat, job, job->lat_percentiles, d->lat_bins, plus));
    add_samples(o, &d->bw, &d->iops, bw / 1024.0);
    return o;
}

/* ---- distributions ----------------------------------------------------- */
static json_t *depth_levels(const struct wl_report *r)
{
    static const char *const keys[WL_DEPTHS] = {"1", "2", "4", "8", "16", "32", ">=64"};
    json_t *o = json_object();
    for (int i = 0; i < WL_DEPTHS; i++)
        json_object_set_new(o, keys[i],
                            json_decimal(cli_visible_share(r->depth[i], r->submissions, 0.1)));
    return o;
}

/* Accesses are submitted and taken one by one: all stand under "4", fio's 1 to 4. */
static json_t *batches(const struct wl_report *r)
{
    static const char *const keys[] = {"0", "4", "8", "16", "32", "64", ">=64"};
    json_t *o = json_object();
    for (int i = 0; i < 7; i++)
        json_object_set_new(o, keys[i],
                            json_decimal(i == 1 && r->submissions > 0 ? 100.0 : 0.0));
    return o;
}

static json_t *latency_levels(const uint64_t *counts, int n, uint64_t total)
{
    static const char *const keys[] = {"2",   "4",   "10",  "20",   "50",   "100",
                                       "250", "500", "750", "1000", "2000", ">=2000"};
    json_t *o = json_object();
    for (int i = 0; i < n; i++)
        json_object_set_new(o, keys[i],
                            json_decimal(cli_visible_share(counts[i], total, 0.01)));
    return o;
}

static json_t *steady_state(const struct wl_report *r)
{
    static const char *const names[] = {"",         "iops", "iops_slope", "bw",
                                        "bw_slope", "lat",  "lat_slope"};
    const struct wl_job *job = r->job;
    json_t *o = json_object(), *data = json_object(), *iops = json_array(), *bw = json_array();
    char text[64];
    snprintf(text, sizeof text, "%s:%llu.%06llu%s", names[job->ss_kind],
             (unsigned long long)(job->ss_limit / 1000000),
             (unsigned long long)(job->ss_limit % 1000000), job->ss_percent ? "%" : "");
    json_object_set_new(o, "ss", json_string(text));
    json_object_set_new(o, "duration", json_count(r->ss.duration));
    json_object_set_new(o, "attained", json_count(r->ss.attained));
    snprintf(text, sizeof text, "%f%s", r->ss.criterion, job->ss_percent ? "%" : "");
    json_object_set_new(o, "criterion", json_string(text));
    json_object_set_new(o, "max_deviation", json_decimal(r->ss.deviation));
    json_object_set_new(o, "slope", json_decimal(r->ss.slope));
    for (uint32_t i = 0; i < r->ss.samples; i++) {
        json_array_append_new(iops, json_count(r->ss.iops[i]));
        json_array_append_new(bw, json_count(r->ss.bw[i]));
    }
    json_object_set_new(data, "bw_mean", json_count((uint64_t)r->ss.bw_mean));
    json_object_set_new(data, "iops_mean", json_count((uint64_t)r->ss.iops_mean));
    json_object_set_new(data, "iops", iops);
    json_object_set_new(data, "bw", bw);
    json_object_set_new(o, "data", data);
    return o;
}

/* ---- jobs -------------------------------------------------------------- */
static const char *global_value(const wl_jobs *jobs, const char *key)
{
    uint32_t n;
    const struct wl_pair *pairs = wl_jobs_pairs(jobs, wl_jobs_count(jobs), &n);
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(pairs[i].key, key) == 0)
            return pairs[i].value;
    return NULL;
}

/* A size in the shortest form a job file knows. */
static void size_text(uint64_t bytes, char *ret, size_t size)
{
    static const char units[] = " kmgt";
    int unit = 0;
    while (unit < 4 && bytes > 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(ret, size, "%llu", (unsigned long long)bytes);
    else
        snprintf(ret, size, "%llu%c", (unsigned long long)bytes, units[unit]);
}

static void add_default(json_t *o, const wl_jobs *jobs, const char *key, const char *value)
{
    const char *given = global_value(jobs, key);
    if (json_object_get(o, key) == NULL)
        json_object_set_new(o, key, json_string(given != NULL ? given : value));
}

/* rw, bs, iodepth and numjobs are there always: plotters fail without them. */
static json_t *job_options(const struct cli_report *r, const struct wl_report *report)
{
    const struct wl_job *job = report->job;
    json_t *o = json_object();
    char low[24], high[24], text[64];
    uint32_t n;
    const struct wl_pair *pairs = wl_jobs_pairs(r->jobs, report->job_index, &n);
    for (uint32_t i = 0; i < n; i++)
        json_object_set_new(o, pairs[i].key, json_string(pairs[i].value));
    int dir = job->dir[WL_READ] ? WL_READ : job->dir[WL_WRITE] ? WL_WRITE : WL_TRIM;
    size_text(job->bs_min[dir], low, sizeof low);
    size_text(job->bs_max[dir], high, sizeof high);
    snprintf(text, sizeof text, "%s%s%s", low, strcmp(low, high) != 0 ? "-" : "",
             strcmp(low, high) != 0 ? high : "");
    add_default(o, r->jobs, "rw", job->rw);
    add_default(o, r->jobs, "bs", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)job->iodepth);
    add_default(o, r->jobs, "iodepth", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)job->numjobs);
    add_default(o, r->jobs, "numjobs", text);
    return o;
}

static uint64_t accesses_of(const struct wl_report *r)
{
    return r->dir[WL_READ].ios + r->dir[WL_WRITE].ios + r->dir[WL_TRIM].ios;
}

static json_t *sync_of(const struct wl_report *r)
{
    json_t *o = json_object();
    json_object_set_new(o, "total_ios", json_count(r->sync.n));
    json_object_set_new(o, "lat_ns", latency(&r->sync));
    return o;
}

static json_t *job_object(const struct cli_report *r, const struct wl_report *report, bool plus)
{
    static const char *const names[] = {"read", "write", "trim"};
    static const char *const host[] = {"ctx", "majf", "minf"};
    json_t *o = json_object();
    uint64_t total = accesses_of(report);
    json_object_set_new(o, "jobname", json_string(report->job->name));
    json_object_set_new(o, "groupid", json_count(report->group));
    json_object_set_new(o, "error", json_count(report->errors));
    json_object_set_new(o, "eta", json_count(0));
    json_object_set_new(o, "elapsed", json_count(report->elapsed_ns / 1000000000 + 1));
    json_object_set_new(o, "job options", job_options(r, report));
    for (int d = 0; d < WL_DIRS; d++)
        json_object_set_new(o, names[d], direction(report, &report->dir[d], plus));
    json_object_set_new(o, "sync", sync_of(report));
    json_object_set_new(o, "job_runtime", json_count(report->job_runtime_ns / 1000000));
    json_object_set_new(o, "usr_cpu",
                        json_decimal(0.0)); /* the host's processor is not modelled */
    json_object_set_new(o, "sys_cpu", json_decimal(0.0));
    for (int i = 0; i < 3; i++)
        json_object_set_new(o, host[i], json_count(0));
    json_object_set_new(o, "iodepth_level", depth_levels(report));
    json_object_set_new(o, "iodepth_submit", batches(report));
    json_object_set_new(o, "iodepth_complete", batches(report));
    json_object_set_new(o, "latency_ns", latency_levels(report->lat_ns, WL_LAT_NS, total));
    json_object_set_new(o, "latency_us", latency_levels(report->lat_us, WL_LAT_US, total));
    json_object_set_new(o, "latency_ms", latency_levels(report->lat_ms, WL_LAT_MS, total));
    json_object_set_new(o, "latency_depth", json_count(report->job->iodepth));
    json_object_set_new(o, "latency_target", json_count(0));
    json_object_set_new(o, "latency_percentile", json_decimal(100.0));
    json_object_set_new(o, "latency_window", json_count(0));
    if (report->job->description != NULL)
        json_object_set_new(o, "desc", json_string(report->job->description));
    if (report->ss.used)
        json_object_set_new(o, "steadystate", steady_state(report));
    return o;
}

/* ---- the whole --------------------------------------------------------- */
static json_t *global_options(const wl_jobs *jobs)
{
    uint32_t n;
    const struct wl_pair *pairs = wl_jobs_pairs(jobs, wl_jobs_count(jobs), &n);
    json_t *o = json_object();
    for (uint32_t i = 0; i < n; i++)
        json_object_set_new(o, pairs[i].key, json_string(pairs[i].value));
    return o;
}

/* Time stamps are virtual: the run starts in 1970, on every machine. */
static void add_time(json_t *o, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;
    char text[64] = "";
    if (gmtime_r(&seconds, &tm) != NULL)
        strftime(text, sizeof text, "%a %b %d %H:%M:%S %Y", &tm);
    json_object_set_new(o, "timestamp", json_count(ns / 1000000000));
    json_object_set_new(o, "timestamp_ms", json_count(ns / 1000000));
    json_object_set_new(o, "time", json_string(text));
}

int out_json(FILE *out, const struct cli_report *r, bool plus)
{
    json_t *root = json_object(), *jobs = json_array();
    json_object_set_new(root, "fio version", json_string("fio-3.33"));
    add_time(root, r->end_ns);
    json_object_set_new(root, "global options", global_options(r->jobs));
    for (uint32_t i = 0; i < wl_run_report_count(r->run); i++)
        json_array_append_new(jobs, job_object(r, wl_run_report(r->run, i), plus));
    json_object_set_new(root, "jobs", jobs);
    json_object_set_new(root, "ssd", out_ssd(r));
    int err =
        root != NULL ? json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : -1;
    fputc('\n', out);
    json_decref(root);
    return err;
}
