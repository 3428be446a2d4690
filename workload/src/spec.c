/* spec.c - rw, sizes, mixes, distributions, criteria, lists. */
#include "spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

#define FULL (100 * WL_PCT)

/* ---- rw ---------------------------------------------------------------- */
static const struct {
    const char *name, *shown;
    bool read, write, trim, random, trimwrite;
} patterns[] = {
    {"read", "read", true, false, false, false, false},
    {"write", "write", false, true, false, false, false},
    {"trim", "trim", false, false, true, false, false},
    {"randread", "randread", true, false, false, true, false},
    {"randwrite", "randwrite", false, true, false, true, false},
    {"randtrim", "randtrim", false, false, true, true, false},
    {"rw", "rw", true, true, false, false, false},
    {"readwrite", "rw", true, true, false, false, false},
    {"randrw", "randrw", true, true, false, true, false},
    {"trimwrite", "trimwrite", false, true, true, false, true},
    {"randtrimwrite", "randtrimwrite", false, true, true, true, true},
};

static const char *apply_rw_modifier(struct wl_span text, struct wl_job *job)
{
    uint64_t n;
    bool negative = text.len > 0 && text.at[0] == '-';
    if (negative) {
        text.at++;
        text.len--;
    }
    const char *bad = wl_value_size(text, job->kb_base, &n);
    if (bad != NULL)
        return bad;
    if (n == 0 || n > UINT64_C(1) << 46)
        return "the number after rw must be 1 to 64t";
    if (job->random && negative)
        return "the number after rw must not be negative";
    job->rw_every = job->random ? n : 0;
    job->rw_skip = job->random ? 0 : negative ? -(int64_t)n : (int64_t)n;
    return NULL;
}

static const char *apply_rw(struct wl_span value, struct wl_job *job, char *rule)
{
    struct wl_span word;
    wl_span_cut(&value, ':', &word);
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        if (!wl_span_equals(word, patterns[i].name))
            continue;
        job->rw = patterns[i].shown;
        job->dir[WL_READ] = patterns[i].read;
        job->dir[WL_WRITE] = patterns[i].write;
        job->dir[WL_TRIM] = patterns[i].trim;
        job->random = patterns[i].random;
        job->trimwrite = patterns[i].trimwrite;
        job->rw_every = 0;
        job->rw_skip = 0;
        return value.at != NULL ? apply_rw_modifier(value, job) : NULL;
    }
    snprintf(rule, WL_RULE_MAX,
             "'%.*s' is none of read, write, trim, randread, randwrite, randtrim, rw, "
             "randrw, trimwrite, randtrimwrite",
             (int)(word.len < 40 ? word.len : 40), word.at);
    return rule;
}

/* ---- sizes of an access ------------------------------------------------ */
static const char *read_block(struct wl_span s, const struct wl_job *job, uint64_t *ret)
{
    const char *bad = wl_value_size(s, job->kb_base, ret);
    if (bad == NULL && *ret == 0)
        bad = "must not be 0";
    if (bad == NULL && *ret > UINT64_C(1) << 46)
        bad = "too large";
    return bad;
}

/* Calls read_part for each direction; the last part counts for those after it. */
static const char *for_directions(struct wl_span value, struct wl_job *job, char *rule,
                                  const char *(*read_part)(struct wl_span, struct wl_job *, int,
                                                           char *))
{
    struct wl_span part = {"", 0};
    int d = 0;
    for (; wl_span_cut(&value, ',', &part); d++) {
        if (d >= WL_DIRS)
            return "at most three parts: reads,writes,trims";
        part = wl_span_trim(part);
        if (part.len == 0 && (d > 0 || value.at != NULL))
            continue; /* an empty place keeps what is there */
        const char *bad = read_part(part, job, d, rule);
        if (bad != NULL)
            return bad;
    }
    for (; d < WL_DIRS && part.len > 0; d++) {
        const char *bad = read_part(part, job, d, rule);
        if (bad != NULL)
            return bad;
    }
    return NULL;
}

static const char *read_bs(struct wl_span part, struct wl_job *job, int d, char *rule)
{
    uint64_t v;
    (void)rule;
    const char *bad = read_block(part, job, &v);
    if (bad != NULL)
        return bad;
    job->bs_min[d] = job->bs_max[d] = v;
    job->split_count[d] = 0;
    return NULL;
}

static const char *read_range(struct wl_span part, struct wl_job *job, int d, char *rule)
{
    struct wl_span low;
    uint64_t a, b;
    (void)rule;
    wl_span_cut(&part, memchr(part.at, '-', part.len) != NULL ? '-' : ':', &low);
    if (part.at == NULL)
        return "must be smallest-largest";
    const char *bad = read_block(low, job, &a);
    if (bad == NULL)
        bad = read_block(part, job, &b);
    if (bad != NULL)
        return bad;
    job->bs_min[d] = a < b ? a : b;
    job->bs_max[d] = a < b ? b : a;
    job->split_count[d] = 0;
    return NULL;
}

/* Shares what is missing to 100 % among the blanks. */
static const char *complete_shares(struct wl_split *list, uint32_t n, uint64_t sum,
                                   uint32_t blanks, char *rule)
{
    if (sum > FULL) {
        snprintf(rule, WL_RULE_MAX, "percentages add up to %" PRIu64 ".%06" PRIu64 ", over 100",
                 sum / WL_PCT, sum % WL_PCT);
        return rule;
    }
    uint64_t left = FULL - sum;
    if (blanks == 0 && left > 2 * WL_PCT) {
        snprintf(rule, WL_RULE_MAX, "percentages add up to %" PRIu64 ".%06" PRIu64 ", not 100",
                 sum / WL_PCT, sum % WL_PCT);
        return rule;
    }
    if (blanks == 0) {
        list[n - 1].share += left; /* rounding in the file, as 33/33/33; fio does the same */
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].share != WL_NO_VALUE)
            continue;
        list[i].share = left / blanks;
        left -= list[i].share;
        blanks--;
    }
    return NULL;
}

static const char *read_split(struct wl_span part, struct wl_job *job, int d, char *rule)
{
    struct wl_split list[WL_SPLITS_MAX];
    struct wl_span item, size;
    uint32_t n = 0, blanks = 0;
    uint64_t sum = 0, low = UINT64_MAX, high = 0;

    while (wl_span_cut(&part, ':', &item)) {
        if (n >= WL_SPLITS_MAX)
            return "at most 64 sizes";
        wl_span_cut(&item, '/', &size);
        const char *bad = read_block(size, job, &list[n].bytes);
        if (bad != NULL)
            return bad;
        list[n].share = WL_NO_VALUE;
        if (item.at != NULL && wl_span_trim(item).len > 0) {
            bad = wl_value_micro(item, &list[n].share);
            if (bad != NULL)
                return bad;
            if (list[n].share > FULL)
                return "a percentage is over 100";
            sum += list[n].share;
        } else {
            blanks++;
        }
        low = list[n].bytes < low ? list[n].bytes : low;
        high = list[n].bytes > high ? list[n].bytes : high;
        n++;
    }
    const char *bad = complete_shares(list, n, sum, blanks, rule);
    if (bad != NULL)
        return bad;
    memcpy(job->split[d], list, n * sizeof list[0]);
    job->split_count[d] = n;
    job->bs_min[d] = low;
    job->bs_max[d] = high;
    return NULL;
}

static const char *apply_mix(struct wl_span value, bool writes, struct wl_job *job)
{
    uint64_t v;
    const char *bad = wl_value_size(value, 1024, &v);
    if (bad == NULL && v > 100)
        bad = "must be 0 to 100";
    if (bad == NULL)
        job->rwmixread = writes ? 100 - v : v;
    return bad;
}

/* ---- distributions ----------------------------------------------------- */
static const char *read_zone_size(struct wl_span s, const struct wl_job *job, bool absolute,
                                  uint64_t *ret)
{
    const char *bad = absolute ? wl_value_size(s, job->kb_base, ret) : wl_value_micro(s, ret);
    return bad == NULL && *ret == 0 ? "a zone must not be empty" : bad;
}

static const char *read_zones(struct wl_span rest, struct wl_job *job, struct wl_dist *dist)
{
    struct wl_span item, share;
    bool absolute = dist->kind == WL_DIST_ZONED_ABS;
    uint64_t shares = 0, sizes = 0;

    while (wl_span_cut(&rest, ':', &item)) {
        if (dist->zone_count >= WL_ZONES_MAX)
            return "at most 256 zones";
        struct wl_zone *z = &dist->zones[dist->zone_count++];
        wl_span_cut(&item, '/', &share);
        if (item.at == NULL)
            return "a zone must be accesses/size";
        const char *bad = wl_value_micro(share, &z->share);
        if (bad == NULL)
            bad = read_zone_size(item, job, absolute, &z->size);
        if (bad != NULL)
            return bad;
        if (z->share > FULL || z->size > (absolute ? UINT64_C(1) << 56 : FULL))
            return "a percentage is over 100";
        shares += z->share;
        sizes += z->size;
    }
    if (shares != FULL)
        return shares > FULL ? "accesses add up to over 100 %"
                             : "accesses add up to less than 100 %";
    if (!absolute && sizes > FULL)
        return "sizes add up to over 100 %";
    return NULL;
}

static const char *read_curve(struct wl_span rest, struct wl_dist *dist)
{
    struct wl_span value;
    if (!wl_span_cut(&rest, ':', &value))
        return "needs a parameter after ':'";
    const char *bad = wl_value_micro(value, &dist->parameter);
    if (bad == NULL && rest.at != NULL) {
        bad = wl_value_micro(rest, &dist->centre);
        if (bad == NULL && dist->centre > 1000000)
            bad = "the centre must be 0 to 1";
    }
    if (bad != NULL)
        return bad;
    if (dist->kind == WL_DIST_ZIPF && (dist->parameter == 0 || dist->parameter > 10000000))
        return "theta must be above 0 and at most 10";
    if (dist->kind == WL_DIST_PARETO && (dist->parameter == 0 || dist->parameter >= 1000000))
        return "h must be between 0 and 1";
    if (dist->kind == WL_DIST_NORMAL && (dist->parameter == 0 || dist->parameter > 100000000))
        return "the deviation must be above 0 and at most 100";
    return NULL;
}

static const char *read_dist(struct wl_span part, struct wl_job *job, int d, char *rule)
{
    static const char *const names[] = {"random", "zipf",  "pareto",
                                        "normal", "zoned", "zoned_abs"};
    struct wl_dist dist = {.centre = WL_NO_VALUE};
    struct wl_span word;
    const char *bad;

    wl_span_cut(&part, ':', &word);
    while (dist.kind <= WL_DIST_ZONED_ABS && !wl_span_equals(word, names[dist.kind]))
        dist.kind++;
    if (dist.kind > WL_DIST_ZONED_ABS) {
        snprintf(rule, WL_RULE_MAX,
                 "'%.*s' is none of random, zipf, pareto, normal, zoned, zoned_abs",
                 (int)(word.len < 40 ? word.len : 40), word.at);
        return rule;
    }
    if (dist.kind == WL_DIST_RANDOM)
        bad = NULL;
    else if (dist.kind >= WL_DIST_ZONED)
        bad = part.at == NULL ? "needs zones: accesses/size:accesses/size..."
                              : read_zones(part, job, &dist);
    else
        bad = read_curve(part, &dist);
    if (bad == NULL)
        job->dist[d] = dist;
    return bad;
}

/* ---- criteria and lists ------------------------------------------------ */
static const char *apply_ss(struct wl_span value, struct wl_job *job)
{
    static const char *const names[] = {"iops",     "iops_slope", "bw",
                                        "bw_slope", "lat",        "lat_slope"};
    struct wl_span word;
    uint8_t kind = 0;
    wl_span_cut(&value, ':', &word);
    while (kind < 6 && !wl_span_equals(word, names[kind]))
        kind++;
    if (kind == 6)
        return "must be iops, iops_slope, bw, bw_slope, lat or lat_slope, then ':limit'";
    if (value.at == NULL || value.len == 0)
        return "needs a limit after ':'";
    bool percent = value.at[value.len - 1] == '%';
    if (percent)
        value.len--;
    uint64_t limit;
    const char *bad = wl_value_micro(value, &limit);
    if (bad != NULL)
        return bad;
    job->ss_kind = (uint8_t)(kind + WL_SS_IOPS);
    job->ss_percent = percent;
    job->ss_limit = limit;
    return NULL;
}

static const char *apply_plis(struct wl_span value, struct wl_job *job)
{
    struct wl_span item;
    uint32_t n = 0;
    uint64_t v;
    while (wl_span_cut(&value, ',', &item)) {
        if (n >= WL_STREAMS_MAX)
            return "at most 128 indices";
        const char *bad = wl_value_size(item, 1024, &v);
        if (bad != NULL)
            return bad;
        if (v > UINT16_MAX - 1)
            return "an index must be 0 to 65534";
        job->streams[n++] = (uint32_t)v + 1;
    }
    job->stream_count = n;
    return NULL;
}

static const char *apply_percentiles(struct wl_span value, struct wl_job *job)
{
    uint64_t list[WL_PERCENTILES_MAX];
    struct wl_span item;
    uint32_t n = 0;
    while (wl_span_cut(&value, ':', &item)) {
        uint64_t v;
        if (n >= WL_PERCENTILES_MAX)
            return "at most 20 percentiles";
        const char *bad = wl_value_micro(item, &v);
        if (bad != NULL)
            return bad;
        if (v == 0 || v > FULL)
            return "a percentile must be above 0 and at most 100";
        uint32_t at = n++;
        for (; at > 0 && list[at - 1] > v; at--)
            list[at] = list[at - 1];
        list[at] = v;
    }
    memcpy(job->percentiles, list, n * sizeof list[0]);
    job->percentile_count = n;
    return NULL;
}

const char *wl_spec_apply(uint8_t type, struct wl_span value, struct wl_job *job,
                          char rule[WL_RULE_MAX])
{
    switch (type) {
    case WL_T_rw:
        return apply_rw(value, job, rule);
    case WL_T_bs:
        return for_directions(value, job, rule, read_bs);
    case WL_T_range:
        return for_directions(value, job, rule, read_range);
    case WL_T_split:
        return for_directions(value, job, rule, read_split);
    case WL_T_dist:
        return for_directions(value, job, rule, read_dist);
    case WL_T_mixread:
    case WL_T_mixwrite:
        return apply_mix(value, type == WL_T_mixwrite, job);
    case WL_T_ss:
        return apply_ss(value, job);
    case WL_T_plis:
        return apply_plis(value, job);
    default:
        return apply_percentiles(value, job);
    }
}
