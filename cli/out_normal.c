/* out_normal.c - the report for people: as fio's, 80 columns, and a block on the drive. */
#include <string.h>

#include "cli.h"

enum { FIGURES = 4 };

/* At most four figures with a unit prefix: 651k, 63.6Mi. `power2`: steps of 1024. */
static const char *figures(uint64_t value, bool power2, char *ret, size_t size)
{
    static const char *const si[] = {"", "k", "M", "G", "T", "P", "E"};
    static const char *const iec[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    const uint64_t step = power2 ? 1024 : 1000;
    uint64_t rest = 0;
    int prefix = 0;
    char digits[24];
    while (snprintf(digits, sizeof digits, "%llu", (unsigned long long)value) > FIGURES &&
           prefix < 6) {
        rest = value % step;
        value /= step;
        prefix++;
    }
    int room = FIGURES - (int)strlen(digits) - 1;
    if (prefix == 0 || room <= 0)
        snprintf(ret, size, "%llu%s",
                 (unsigned long long)(prefix > 0 && rest >= step / 2 ? value + 1 : value),
                 power2 ? iec[prefix] : si[prefix]);
    else
        snprintf(ret, size, "%.*f%s", room, (double)value + (double)rest / (double)step,
                 power2 ? iec[prefix] : si[prefix]);
    return ret;
}

static void put_bandwidth(FILE *out, const struct wl_job *job, uint64_t bytes_per_s)
{
    char a[24], b[24];
    bool bits = job->unit_base == 1;
    uint64_t v = bits ? 8 * bytes_per_s : bytes_per_s;
    fprintf(out, "BW=%s%s (%s%s)", figures(v, true, a, sizeof a), bits ? "bit/s" : "B/s",
            figures(v, false, b, sizeof b), bits ? "bit/s" : "B/s");
}

/* ns, us or ms, whichever shows a latency best. */
struct unit {
    const char *name;
    double divisor;
};

static struct unit unit_for(const struct wl_sum *s)
{
    if (s->min > 2000000 && s->max > 99999999)
        return (struct unit){"msec", 1e6};
    if (s->max > 99999)
        return (struct unit){"usec", 1e3};
    return (struct unit){"nsec", 1.0};
}

static void put_latency(FILE *out, const char *name, const struct wl_sum *s)
{
    struct unit u = unit_for(s);
    if (s->n == 0)
        return;
    fprintf(out, "    %4s (%s): min=%.*f, max=%.*f, avg=%.2f, stdev=%.2f\n", name, u.name,
            u.divisor > 1.0 ? 1 : 0, (double)s->min / u.divisor, u.divisor > 1.0 ? 1 : 0,
            (double)s->max / u.divisor, wl_sum_mean(s) / u.divisor,
            wl_sum_stddev(s) / u.divisor);
}

static void put_percentiles(FILE *out, const char *name, const struct wl_job *job,
                            const uint64_t *bins, const struct wl_sum *s)
{
    struct unit u = unit_for(s);
    if (s->n == 0)
        return;
    fprintf(out, "    %s percentiles (%s):\n     |", name, u.name);
    for (uint32_t i = 0; i < job->percentile_count; i++) {
        uint64_t value = wl_percentile(bins, s->n, job->percentiles[i]);
        char label[24];
        int length = snprintf(label, sizeof label, "%.4f", (double)job->percentiles[i] / 1e6);
        for (int least = length - 2; length > least && label[length - 1] == '0'; length--)
            label[length - 1] = '\0'; /* two decimals stay */
        fprintf(out, " %sth=[%7.0f]%s", label, (double)value / u.divisor,
                i + 1 == job->percentile_count ? "\n"
                : i % 3 == 2                   ? ",\n     |"
                                               : ",");
    }
}

static void put_samples(FILE *out, const struct wl_dir_report *d)
{
    if (d->bw.n > 0)
        fprintf(out, "   bw (KiB/s): min=%llu, max=%llu, avg=%.0f, stdev=%.0f, n=%llu\n",
                (unsigned long long)d->bw.min, (unsigned long long)d->bw.max,
                wl_sum_mean(&d->bw), wl_sum_stddev(&d->bw), (unsigned long long)d->bw.n);
    if (d->iops.n > 0)
        fprintf(out, "   iops      : min=%llu, max=%llu, avg=%.0f, stdev=%.0f, n=%llu\n",
                (unsigned long long)d->iops.min, (unsigned long long)d->iops.max,
                wl_sum_mean(&d->iops), wl_sum_stddev(&d->iops), (unsigned long long)d->iops.n);
}

static void put_direction(FILE *out, const struct wl_report *r, int dir)
{
    static const char *const names[] = {" read", "write", " trim"};
    const struct wl_dir_report *d = &r->dir[dir];
    char ios[24], bytes[24];
    if (d->ios == 0)
        return;
    fprintf(out, "  %s: IOPS=%s, ", names[dir],
            figures((uint64_t)cli_per_second(d->ios, d->runtime_ns), false, ios, sizeof ios));
    put_bandwidth(out, r->job, (uint64_t)cli_per_second(d->bytes, d->runtime_ns));
    fprintf(out, "(%sB/%llumsec)\n", figures(d->bytes, true, bytes, sizeof bytes),
            (unsigned long long)(d->runtime_ns / 1000000));
    put_latency(out, "slat", &d->slat);
    if (!r->job->disable_clat)
        put_latency(out, "clat", &d->clat);
    put_latency(out, "lat", &d->lat);
    if (r->job->clat_percentiles && !r->job->disable_clat)
        put_percentiles(out, "clat", r->job, d->clat_bins, &d->clat);
    if (r->job->lat_percentiles)
        put_percentiles(out, "lat", r->job, d->lat_bins, &d->lat);
    put_samples(out, d);
}

/* Levels that occur, six to a line. */
static void put_levels(FILE *out, const char *unit, const uint64_t *counts, int n,
                       uint64_t total)
{
    static const char *const keys[] = {"2",   "4",   "10",  "20",   "50",   "100",
                                       "250", "500", "750", "1000", "2000", ">=2000"};
    int shown = 0;
    for (int i = 0; i < n; i++) {
        if (counts[i] == 0)
            continue;
        if (shown % 5 == 0)
            fprintf(out, "%s  lat (%s)   : ", shown > 0 ? "\n" : "", unit);
        fprintf(out, "%s%s=%.2f%%", shown % 5 == 0 ? "" : ", ", keys[i],
                cli_visible_share(counts[i], total, 0.01));
        shown++;
    }
    if (shown > 0)
        fputc('\n', out);
}

static void put_depths(FILE *out, const struct wl_report *r)
{
    static const char *const keys[WL_DEPTHS] = {"1", "2", "4", "8", "16", "32", ">=64"};
    fputs("  IO depths    :", out);
    for (int i = 0; i < WL_DEPTHS; i++)
        fprintf(out, "%s %s=%.1f%%", i > 0 ? "," : "", keys[i],
                cli_visible_share(r->depth[i], r->submissions, 0.1));
    fputc('\n', out);
}

static void put_steady(FILE *out, const struct wl_report *r)
{
    char iops[24];
    if (!r->ss.used)
        return;
    fprintf(out, "  steadystate  : attained=%s, ", r->ss.attained ? "yes" : "no");
    put_bandwidth(out, r->job, (uint64_t)r->ss.bw_mean);
    fprintf(out, ", iops=%s, criterion=%.3f%s\n",
            figures((uint64_t)r->ss.iops_mean, false, iops, sizeof iops), r->ss.criterion,
            r->job->ss_percent ? "%" : "");
}

static void put_report(FILE *out, const struct wl_report *r)
{
    uint64_t total = r->dir[WL_READ].ios + r->dir[WL_WRITE].ios + r->dir[WL_TRIM].ios;
    fprintf(out, "%s: (groupid=%u, jobs=%u): err=%2llu: rw=%s, iodepth=%llu\n", r->job->name,
            r->group, r->threads, (unsigned long long)r->errors, r->job->rw,
            (unsigned long long)r->job->iodepth);
    if (r->job->description != NULL)
        fprintf(out, "  Description  : [%s]\n", r->job->description);
    for (int d = 0; d < WL_DIRS; d++)
        put_direction(out, r, d);
    if (r->sync.n > 0) {
        fprintf(out, "  flush: %llu\n", (unsigned long long)r->sync.n);
        put_latency(out, "lat", &r->sync);
    }
    put_levels(out, "nsec", r->lat_ns, WL_LAT_NS, total);
    put_levels(out, "usec", r->lat_us, WL_LAT_US, total);
    put_levels(out, "msec", r->lat_ms, WL_LAT_MS, total);
    put_depths(out, r);
    put_steady(out, r);
}

/* ---- groups ------------------------------------------------------------ */
/* All reports of one group in one direction. */
struct total {
    uint64_t bytes, low, high, shortest, longest; /* bytes/s and ns of single reports */
};

static struct total total_of(const struct cli_report *r, uint32_t group, int dir)
{
    struct total t = {.low = UINT64_MAX, .shortest = UINT64_MAX};
    for (uint32_t i = 0; i < wl_run_report_count(r->run); i++) {
        const struct wl_report *w = wl_run_report(r->run, i);
        const struct wl_dir_report *d = &w->dir[dir];
        if (w->group != group || d->ios == 0)
            continue;
        uint64_t rate = (uint64_t)cli_per_second(d->bytes, d->runtime_ns);
        t.bytes += d->bytes;
        t.low = rate < t.low ? rate : t.low;
        t.high = rate > t.high ? rate : t.high;
        t.shortest = d->runtime_ns < t.shortest ? d->runtime_ns : t.shortest;
        t.longest = d->runtime_ns > t.longest ? d->runtime_ns : t.longest;
    }
    return t;
}

static void put_total(FILE *out, const char *name, const struct total *t)
{
    char all[24], low[24], high[24], bytes[24];
    if (t->bytes == 0)
        return;
    uint64_t rate = (uint64_t)cli_per_second(t->bytes, t->longest);
    fprintf(out, "  %5s: bw=%sB/s, %sB/s-%sB/s, io=%sB, run=%llu-%llumsec\n", name,
            figures(rate, true, all, sizeof all), figures(t->low, true, low, sizeof low),
            figures(t->high, true, high, sizeof high),
            figures(t->bytes, true, bytes, sizeof bytes),
            (unsigned long long)(t->shortest / 1000000),
            (unsigned long long)(t->longest / 1000000));
}

static void put_groups(FILE *out, const struct cli_report *r)
{
    static const char *const names[] = {"READ", "WRITE", "TRIM"};
    uint32_t n = wl_run_report_count(r->run);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t group = wl_run_report(r->run, i)->group;
        if (i > 0 && wl_run_report(r->run, i - 1)->group == group)
            continue;
        fprintf(out, "\nRun status group %u (all jobs):\n", group);
        for (int d = 0; d < WL_DIRS; d++) {
            struct total t = total_of(r, group, d);
            put_total(out, names[d], &t);
        }
    }
}

/* ---- the drive --------------------------------------------------------- */
static void put_cause(FILE *out, const char *name, uint64_t bytes, int *column)
{
    char text[24];
    if (bytes == 0)
        return;
    if (*column >= 4) {
        fputs(",\n                ", out);
        *column = 0;
    }
    fprintf(out, "%s%s=%sB", *column > 0 ? ", " : "", name,
            figures(bytes, true, text, sizeof text));
    ++*column;
}

static void put_bytes(FILE *out, const struct ftl_counters *c)
{
    int column = 0;
    fputs("  programmed   : ", out);
    for (uint32_t i = 0; i < CLI_CAUSES; i++)
        put_cause(out, cli_causes[i].name, cli_cause_bytes(c, i), &column);
    fputs(column == 0 ? "nothing\n" : "\n", out);
}

static void put_wa(FILE *out, const struct ftl_counters *c)
{
    struct cli_wa w = cli_wa_of(c);
    char above[24], below[24];
    if (!w.known) {
        fputs("  WA           : no host data reached the medium\n", out);
        return;
    }
    fprintf(out, "  WA           : %.4f = %sB programmed / %sB host\n", w.wa,
            figures(w.programmed, true, above, sizeof above),
            figures(w.host, true, below, sizeof below));
    fprintf(out, "  WA (GC)      : %.4f = %sB host and relocated / %sB host\n", w.wa_gc,
            figures(w.host + w.relocated, true, above, sizeof above),
            figures(w.host, true, below, sizeof below));
}

/* What stays 0 unless a setting asks for it. */
static void put_more(FILE *out, const struct ftl_counters *c)
{
#define C(name) {#name, c->name}
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        C(folds),            C(nand_suspends),      C(shared_page_reads),   C(stream_mixed_units),
        C(preread_pages),    C(preread_hits),       C(preread_misses),      C(preread_unused),
        C(program_failures), C(erase_failures),     C(raid_pages),          C(raid_reads),
        C(lost_units),       C(refreshes),          C(memory_upsets),       C(memory_corrected),
        C(memory_detected),  C(memory_guarded),     C(map_cache_hits),      C(map_cache_misses),
        C(translation_reads), C(translation_writes), C(metadata_programs),
    };
#undef C
    int column = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].value == 0)
            continue;
        fputs(column == 0 ? "  more         : " : column % 3 == 0 ? ",\n                 " : ", ", out);
        fprintf(out, "%s=%llu", rows[i].name, (unsigned long long)rows[i].value);
        column++;
    }
    if (column != 0)
        fputc('\n', out);
}

static void put_drive(FILE *out, const struct cli_report *r)
{
    const struct ftl_status *s = &r->status;
    const struct ftl_counters *c = &r->counters;
    fprintf(out, "\nssd: %s, scale %llu, seed %llu, %.3f s of virtual time\n",
            r->config->drive_name, (unsigned long long)r->config->drive_scale,
            (unsigned long long)r->seed, (double)r->end_ns / 1e9);
    if (r->precondition != NULL)
        fprintf(out, "  precondition : %s\n", r->precondition);
    put_wa(out, c);
    if (s->a_effective_ppm > 0)
        fprintf(out, "  a effective  : %.4f = written, not collected units / user units\n",
                (double)s->a_effective_ppm / 1e6);
    put_bytes(out, c);
    fprintf(out, "  NAND         : page reads=%llu (GC %llu), programs=%llu, erases=%llu\n",
            (unsigned long long)c->nand_page_reads, (unsigned long long)c->nand_gc_page_reads,
            (unsigned long long)c->nand_programs, (unsigned long long)c->nand_erases);
    fprintf(out, "  GC           : superblocks=%llu, units moved=%llu\n",
            (unsigned long long)c->gc_victims, (unsigned long long)c->gc_units_moved);
    fprintf(out, "  buffer       : peak=%llu of %llu units, read hits=%llu, waits=%llu\n",
            (unsigned long long)s->buffer_units_peak, (unsigned long long)s->buffer_units,
            (unsigned long long)c->buffer_read_hits, (unsigned long long)c->buffer_waits);
    fprintf(out,
            "  busy         : die=%.1f%%, channel=%.1f%%, link=%.1f%%, write path=%.1f%%\n",
            100.0 * cli_utilisation(s->die_busy_ns, s->dies, r),
            100.0 * cli_utilisation(s->channel_busy_ns, s->channels, r),
            100.0 * cli_utilisation(s->link_busy_ns, 1, r),
            100.0 * cli_utilisation(s->write_path_busy_ns, 1, r));
    put_more(out, c);
    fprintf(out, "  state        : %016llx\n", (unsigned long long)r->state_hash);
}

void out_normal(FILE *out, const struct cli_report *r)
{
    for (uint32_t i = 0; i < wl_run_report_count(r->run); i++)
        put_report(out, wl_run_report(r->run, i));
    put_groups(out, r);
    put_drive(out, r);
}
