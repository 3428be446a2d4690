/* out_terse.c - terse version 3 of fio: one line a report, fields between ';'. */
#include "cli.h"

static void put_latency(FILE *out, const struct wl_sum *s)
{
    fprintf(out, ";%llu;%llu;%f;%f", (unsigned long long)(s->min / 1000),
            (unsigned long long)(s->max / 1000), wl_sum_mean(s) / 1000.0,
            wl_sum_stddev(s) / 1000.0);
}

static void put_percentiles(FILE *out, const struct wl_job *job, const struct wl_dir_report *d)
{
    const uint64_t *bins =
        job->clat_percentiles || !job->lat_percentiles ? d->clat_bins : d->lat_bins;
    for (uint32_t i = 0; i < WL_PERCENTILES_MAX; i++) {
        if (i >= job->percentile_count) {
            fputs(";0%=0", out);
            continue;
        }
        fprintf(out, ";%f%%=%llu", (double)job->percentiles[i] / 1e6,
                (unsigned long long)(wl_percentile(bins, d->ios, job->percentiles[i]) / 1000));
    }
}

static void put_direction(FILE *out, const struct wl_report *r, const struct wl_dir_report *d)
{
    double bw = cli_per_second(d->bytes, d->runtime_ns), kib = bw / 1024.0;
    double agg = kib > 0.0 ? 100.0 * wl_sum_mean(&d->bw) / kib : 0.0;
    fprintf(out, ";%llu;%llu;%llu;%llu", (unsigned long long)(d->bytes >> 10),
            (unsigned long long)kib, (unsigned long long)cli_per_second(d->ios, d->runtime_ns),
            (unsigned long long)(d->runtime_ns / 1000000));
    put_latency(out, &d->slat);
    put_latency(out, &d->clat);
    put_percentiles(out, r->job, d);
    put_latency(out, &d->lat);
    fprintf(out, ";%llu;%llu;%f%%;%f;%f", (unsigned long long)d->bw.min,
            (unsigned long long)d->bw.max, agg > 100.0 ? 100.0 : agg, wl_sum_mean(&d->bw),
            wl_sum_stddev(&d->bw));
}

static void put_levels(FILE *out, const struct wl_report *r)
{
    uint64_t total = r->dir[WL_READ].ios + r->dir[WL_WRITE].ios + r->dir[WL_TRIM].ios,
             below_us = 0;
    for (int i = 0; i < WL_DEPTHS; i++)
        fprintf(out, ";%3.1f%%", cli_visible_share(r->depth[i], r->submissions, 0.1));
    for (int i = 0; i < WL_LAT_NS; i++)
        below_us += r->lat_ns[i];
    for (int i = 0; i < WL_LAT_US; i++) /* version 3 has no nanoseconds: they count as 2 us */
        fprintf(out, ";%3.2f%%",
                cli_visible_share(r->lat_us[i] + (i == 0 ? below_us : 0), total, 0.01));
    for (int i = 0; i < WL_LAT_MS; i++)
        fprintf(out, ";%3.2f%%", cli_visible_share(r->lat_ms[i], total, 0.01));
}

void out_terse(FILE *out, const struct cli_report *report)
{
    for (uint32_t i = 0; i < wl_run_report_count(report->run); i++) {
        const struct wl_report *r = wl_run_report(report->run, i);
        fprintf(out, "3;fio-3.33;%s;%u;%llu", r->job->name, r->group,
                (unsigned long long)r->errors);
        put_direction(out, r, &r->dir[WL_READ]);
        put_direction(out, r, &r->dir[WL_WRITE]);
        fprintf(out, ";%f%%;%f%%;0;0;0", 0.0, 0.0);
        put_levels(out, r);
        if (r->job->description != NULL)
            fprintf(out, ";%s", r->job->description);
        fputc('\n', out);
    }
}
