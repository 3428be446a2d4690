/* steady.c - fio's steady state criteria: one sample a second, a window of them. */
#include <math.h>

#include "engine.h"

static double mean_of(const double *y, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++)
        sum += y[i];
    return sum / (double)n;
}

/* The tracked variable, oldest sample first. */
static uint32_t window(const struct wl_group_state *g, uint8_t kind, double *y)
{
    uint32_t size = g->report.ss.duration;
    uint32_t n = g->ss_count < size ? g->ss_count : size;
    uint32_t first = g->ss_count > size ? g->ss_count % size : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = (first + i) % size;
        y[i] = kind == WL_SS_IOPS || kind == WL_SS_IOPS_SLOPE ? (double)g->ss_iops[at]
               : kind == WL_SS_BW || kind == WL_SS_BW_SLOPE   ? (double)g->ss_bw[at]
                                                              : g->ss_lat[at];
    }
    return n;
}

/* Judges the full window; fills the report's numbers either way. */
static bool judge(struct wl_group_state *g, const struct wl_job *job)
{
    double *y = g->ss_scratch, limit = (double)job->ss_limit / 1e6, worst = 0.0;
    uint32_t n = window(g, job->ss_kind, y);
    double mean = mean_of(y, n);
    bool slope = job->ss_kind == WL_SS_IOPS_SLOPE || job->ss_kind == WL_SS_BW_SLOPE ||
                 job->ss_kind == WL_SS_LAT_SLOPE;
    if (mean <= 0.0)
        return false; /* nothing was done: no data is no steady state */
    for (uint32_t i = 0; i < n; i++)
        worst = fabs(y[i] - mean) > worst ? fabs(y[i] - mean) : worst;
    g->report.ss.slope = slope ? wl_slope(y, n) : 0.0;
    g->report.ss.deviation = slope ? 0.0 : worst;
    double value = slope ? g->report.ss.slope : worst;
    g->report.ss.criterion = job->ss_percent ? 100.0 * value / mean : value;
    return fabs(g->report.ss.criterion) < limit;
}

bool wl_ss_sample(struct wl_group_state *g, const struct wl_job *job, uint64_t iops,
                  uint64_t bw, double lat)
{
    uint32_t size = g->report.ss.duration, at = g->ss_count % size;
    g->ss_iops[at] = iops;
    g->ss_bw[at] = bw;
    g->ss_lat[at] = lat;
    g->ss_count++;
    if (g->ss_count < size || g->report.ss.attained)
        return false;
    g->report.ss.attained = judge(g, job);
    return g->report.ss.attained;
}

static void reverse(uint64_t *v, uint32_t from, uint32_t to)
{
    while (from + 1 < to) {
        uint64_t x = v[from];
        v[from++] = v[--to];
        v[to] = x;
    }
}

/* Turns a ring so that the oldest sample comes first. */
static void straighten(uint64_t *ring, uint32_t size, uint32_t first)
{
    reverse(ring, 0, first);
    reverse(ring, first, size);
    reverse(ring, 0, size);
}

void wl_ss_report(struct wl_group_state *g)
{
    uint32_t size = g->report.ss.duration;
    if (!g->report.ss.used)
        return;
    if (g->ss_count > size) {
        straighten(g->ss_iops, size, g->ss_count % size);
        straighten(g->ss_bw, size, g->ss_count % size);
    }
    uint32_t n = g->ss_count < size ? g->ss_count : size;
    double iops = 0.0, bw = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        iops += (double)g->ss_iops[i];
        bw += (double)g->ss_bw[i];
    }
    g->report.ss.samples = n;
    g->report.ss.iops = g->ss_iops;
    g->report.ss.bw = g->ss_bw;
    g->report.ss.iops_mean = n > 0 ? iops / (double)n : 0.0;
    g->report.ss.bw_mean = n > 0 ? bw / (double)n : 0.0;
}
