/* account.c - what completions and samples add to reports and logs. */
#include "engine.h"

static const uint64_t second = UINT64_C(1000000000);

static unsigned lat_bucket(uint64_t v) /* v < 1000 */
{
    if (v < 50)
        return v < 4 ? (v < 2 ? 0 : 1) : v < 10 ? 2 : v < 20 ? 3 : 4;
    return v < 250 ? (v < 100 ? 5 : 6) : v < 500 ? 7 : v < 750 ? 8 : 9;
}

static void count_latency(struct wl_report *r, uint64_t ns)
{
    if (ns < 1000)
        r->lat_ns[lat_bucket(ns)]++;
    else if (ns < 1000000)
        r->lat_us[lat_bucket(ns / 1000)]++;
    else if (ns < 1000000000)
        r->lat_ms[lat_bucket(ns / 1000000)]++;
    else
        r->lat_ms[ns < 2 * second ? 10 : 11]++;
}

static uint64_t per_second(uint64_t amount, uint64_t ns)
{
    return ns == 0 ? 0 : (uint64_t)((wl_u128)amount * second / ns);
}

/* ---- logs -------------------------------------------------------------- */
static uint64_t log_ms(const struct wl_thread *t, uint64_t now)
{
    return (now - t->began) / 1000000;
}

static void log_lat(struct wl_run *run, struct wl_thread_logs *l, uint64_t ms, uint64_t lat,
                    unsigned dir, uint64_t bytes, uint64_t offset)
{
    uint64_t slat = lat < run->options.submit_ns ? lat : run->options.submit_ns;
    if (l->slat != NULL)
        wl_log_line(l->slat, ms, slat, dir, bytes, offset);
    if (l->clat != NULL)
        wl_log_line(l->clat, ms, lat - slat, dir, bytes, offset);
    if (l->lat != NULL)
        wl_log_line(l->lat, ms, lat, dir, bytes, offset);
}

static void log_access(struct wl_run *run, struct wl_thread *t, const struct ftl_cpl *cpl,
                       unsigned dir)
{
    struct wl_thread_logs *l = t->logs;
    uint64_t lat = cpl->done_at - cpl->submitted_at,
             bytes = (uint64_t)cpl->lba_count << run->lba_shift;
    if (l->avg_ns != 0) {
        wl_sum_put(&l->window[dir].lat, lat);
        return;
    }
    uint64_t ms = log_ms(t, cpl->done_at);
    uint64_t offset = l->offset ? (cpl->user >> 24) << run->lba_shift : WL_NO_VALUE;
    log_lat(run, l, ms, lat, dir, bytes, offset);
    if (l->bw != NULL)
        wl_log_line(l->bw, ms, per_second(bytes, lat) / 1024, dir, bytes, offset);
    if (l->iops != NULL)
        wl_log_line(l->iops, ms, 1, dir, bytes, offset);
}

static void log_rates(struct wl_thread *t, unsigned dir, uint64_t ms, uint64_t span)
{
    struct wl_thread_logs *l = t->logs;
    const struct wl_window *w = &l->window[dir];
    uint64_t offset = l->offset ? 0 : WL_NO_VALUE;
    if (t->done_bytes[dir] == w->bytes)
        return;
    if (l->bw != NULL)
        wl_log_line(l->bw, ms, per_second(t->done_bytes[dir] - w->bytes, span) / 1024, dir, 0,
                    offset);
    if (l->iops != NULL)
        wl_log_line(l->iops, ms, per_second(t->done_ios[dir] - w->ios, span), dir, 0, offset);
}

void wl_logs_window(struct wl_run *run, struct wl_thread *t, uint64_t now, bool last)
{
    struct wl_thread_logs *l = t->logs;
    for (unsigned dir = 0; dir < WL_DIRS; dir++) {
        struct wl_window *w = &l->window[dir];
        if (!last) /* fio leaves a part of an interval out of its rate logs */
            log_rates(t, dir, log_ms(t, now), now - l->began);
        if (w->lat.n > 0)
            log_lat(run, l, log_ms(t, now),
                    l->max ? w->lat.max : (uint64_t)wl_sum_mean(&w->lat), dir, 0,
                    l->offset ? 0 : WL_NO_VALUE);
        *w = (struct wl_window){.ios = t->done_ios[dir], .bytes = t->done_bytes[dir]};
    }
    l->began = now;
    l->next = last ? WL_NO_VALUE : now + l->avg_ns;
}

/* ---- every access ------------------------------------------------------ */
void wl_account(struct wl_run *run, struct wl_thread *t, const struct ftl_cpl *cpl,
                unsigned dir)
{
    struct wl_report *r = &t->group->report;
    uint64_t lat = cpl->done_at - cpl->submitted_at;
    uint64_t clat = lat > run->options.submit_ns ? lat - run->options.submit_ns : 0;
    uint64_t bytes = (uint64_t)cpl->lba_count << run->lba_shift;

    if (dir == WL_DIRS) { /* a flush */
        wl_sum_put(&r->sync, lat);
        return;
    }
    struct wl_dir_report *d = &r->dir[dir];
    d->ios++;
    d->bytes += bytes;
    wl_sum_put(&d->clat, clat);
    d->clat_bins[wl_bin_of(clat)]++;
    if (t->group->lat_bins)
        d->lat_bins[wl_bin_of(lat)]++;
    count_latency(r, clat);
    r->errors += cpl->status != 0;
    t->done_ios[dir]++;
    t->done_bytes[dir] += bytes;
    if (t->logs != NULL)
        log_access(run, t, cpl, dir);
}

/* ---- samples of a group ------------------------------------------------ */
static void sample_bw(struct wl_group_state *g, uint64_t span)
{
    for (int d = 0; d < WL_DIRS; d++) {
        uint64_t delta = g->report.dir[d].bytes - g->bw_bytes[d];
        if (delta > 0) /* as fio: an interval without data is no sample */
            wl_sum_put(&g->report.dir[d].bw, per_second(delta, span) / 1024);
        g->bw_bytes[d] = g->report.dir[d].bytes;
    }
}

static void sample_iops(struct wl_group_state *g, uint64_t span)
{
    for (int d = 0; d < WL_DIRS; d++) {
        uint64_t delta = g->report.dir[d].ios - g->iops_ios[d];
        if (delta > 0)
            wl_sum_put(&g->report.dir[d].iops, per_second(delta, span));
        g->iops_ios[d] = g->report.dir[d].ios;
    }
}

/* Totals over the directions; latencies as whole ones, without slat. */
static void totals(const struct wl_report *r, uint64_t *ios, uint64_t *bytes, wl_u128 *lat)
{
    *ios = *bytes = 0;
    *lat = 0;
    for (int d = 0; d < WL_DIRS; d++) {
        *ios += r->dir[d].ios;
        *bytes += r->dir[d].bytes;
        *lat += (wl_u128)r->dir[d].clat.sum_high << 64 | r->dir[d].clat.sum_low;
    }
}

static bool sample_steady(struct wl_run *run, struct wl_group_state *g)
{
    uint64_t ios, bytes;
    wl_u128 lat;
    totals(&g->report, &ios, &bytes, &lat);
    uint64_t n = ios - g->ss_ios;
    double mean = n == 0 ? 0.0
                         : (double)(uint64_t)(lat - g->ss_lat_sum) / (double)n +
                               (double)run->options.submit_ns;
    bool attained = wl_ss_sample(g, g->ss_job, n, bytes - g->ss_bytes, mean);
    g->ss_ios = ios;
    g->ss_bytes = bytes;
    g->ss_lat_sum = lat;
    return attained;
}

static void set_group_timer(struct wl_run *run, struct wl_group_state *g)
{
    uint64_t next = g->bw_next < g->iops_next ? g->bw_next : g->iops_next;
    next = g->ss_next < next ? g->ss_next : next;
    wl_heap_set(&run->timers, run->thread_count + (uint32_t)(g - run->groups), next);
}

void wl_group_start(struct wl_run *run, struct wl_group_state *g, uint64_t now)
{
    const struct wl_job *job = g->report.job;
    if (g->measured_from != WL_NO_VALUE)
        return;
    g->measured_from = now;
    g->bw_next = job->disable_bw ? WL_NO_VALUE : now + job->bw_avg_ns;
    g->iops_next = job->disable_bw ? WL_NO_VALUE : now + job->iops_avg_ns;
    g->ss_next = WL_NO_VALUE;
    if (g->ss_job != NULL) /* the end of the ramp is where the first interval starts */
        g->ss_next = now + (g->ss_job->ss_ramp_ns > 0 ? g->ss_job->ss_ramp_ns : second);
    set_group_timer(run, g);
}

bool wl_group_tick(struct wl_run *run, struct wl_group_state *g, uint64_t now)
{
    const struct wl_job *job = g->report.job;
    bool attained = false;
    if (g->bw_next <= now) {
        sample_bw(g, job->bw_avg_ns);
        g->bw_next += job->bw_avg_ns;
    }
    if (g->iops_next <= now) {
        sample_iops(g, job->iops_avg_ns);
        g->iops_next += job->iops_avg_ns;
    }
    if (g->ss_next <= now) {
        if (g->ss_next == g->measured_from + g->ss_job->ss_ramp_ns)
            totals(&g->report, &g->ss_ios, &g->ss_bytes, &g->ss_lat_sum);
        else
            attained = sample_steady(run, g);
        g->ss_next += second;
    }
    set_group_timer(run, g);
    return attained;
}

/* ---- the end ----------------------------------------------------------- */
/* Adds a constant to every sample of a sum, exactly. */
static struct wl_sum shifted(const struct wl_sum *s, uint64_t by)
{
    struct wl_sum r = *s;
    wl_u128 sum = (wl_u128)s->sum_high << 64 | s->sum_low;
    wl_u128 squares = (wl_u128)s->squares_high << 64 | s->squares_low;
    squares += 2 * (wl_u128)by * sum + (wl_u128)by * by * s->n;
    sum += (wl_u128)by * s->n;
    if (s->n > 0) {
        r.min += by;
        r.max += by;
    }
    r.sum_low = (uint64_t)sum;
    r.sum_high = (uint64_t)(sum >> 64);
    r.squares_low = (uint64_t)squares;
    r.squares_high = (uint64_t)(squares >> 64);
    return r;
}

void wl_group_finish(struct wl_run *run, struct wl_group_state *g)
{
    const struct wl_job *job = g->report.job;
    uint64_t slat = run->options.submit_ns;
    for (int i = 0; i < WL_DIRS; i++) {
        struct wl_dir_report *d = &g->report.dir[i];
        struct wl_sum nothing = {.n = d->clat.n};
        if (!job->disable_lat)
            d->lat = shifted(&d->clat, slat);
        if (!job->disable_slat)
            d->slat = shifted(&nothing, slat);
        if (d->slat.n > 0)
            d->slat_bins[wl_bin_of(slat)] = d->slat.n;
    }
    wl_ss_report(g);
    wl_heap_set(&run->timers, run->thread_count + (uint32_t)(g - run->groups), WL_NO_VALUE);
}
