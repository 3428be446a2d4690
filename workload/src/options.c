/* options.c - the option table, look-up, and the simple types. */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "spec.h"
#include "value.h"

struct option {
    const char *name, *aliases, *text;
    uint64_t min, max;
    size_t offset;
    uint8_t type, status;
};

static const struct option table[WL_OPT_COUNT] = {
#define SUP(id, name, aliases, type, member, min, max, text)                                   \
    [WL_OPT_##                                                                                 \
        id] = {name,        aliases,     text, min, max, offsetof(struct wl_job, member),      \
               WL_T_##type, WL_SUPPORTED},
#define ACC(id, name, aliases, text)                                                           \
    [WL_OPT_##id] = {name, aliases, text, 0, 0, 0, WL_T_none, WL_ACCEPTED},
#define REF(id, name, aliases, text)                                                           \
    [WL_OPT_##id] = {name, aliases, text, 0, 0, 0, WL_T_none, WL_REFUSED},
#include "options.def"
#undef SUP
#undef ACC
#undef REF
};

static const char *const type_names[] = {
    [WL_T_str] = "text",
    [WL_T_flag] = "0 or 1",
    [WL_T_uint] = "number",
    [WL_T_uint3] = "number[,number][,number]",
    [WL_T_size] = "size",
    [WL_T_size3] = "size[,size][,size]",
    [WL_T_amount] = "size or percent",
    [WL_T_sec] = "time, s",
    [WL_T_msec] = "time, ms",
    [WL_T_usec] = "time, us",
    [WL_T_delay] = "time or range, s",
    [WL_T_choice] = "word",
    [WL_T_rw] = "word",
    [WL_T_bs] = "size[,size][,size]",
    [WL_T_range] = "range[,range][,range]",
    [WL_T_split] = "sizes and percents",
    [WL_T_mixread] = "percent",
    [WL_T_mixwrite] = "percent",
    [WL_T_dist] = "distribution",
    [WL_T_ss] = "criterion",
    [WL_T_plis] = "list of numbers",
    [WL_T_percentiles] = "list of percents",
    [WL_T_none] = "any",
};

static bool has_name(const struct option *o, struct wl_span name)
{
    struct wl_span aliases = wl_span_of(o->aliases), alias;
    if (wl_span_equals(name, o->name))
        return true;
    while (wl_span_cut(&aliases, ',', &alias))
        if (alias.len > 0 && alias.len == name.len && memcmp(alias.at, name.at, name.len) == 0)
            return true;
    return false;
}

uint32_t wl_option_find(const char *name)
{
    struct wl_span s = wl_span_of(name);
    for (uint32_t i = 0; i < WL_OPT_COUNT; i++)
        if (has_name(&table[i], s))
            return i;
    return WL_OPT_COUNT;
}

/* Levenshtein distance, cut off at names of 47 characters. */
static uint32_t distance(const char *a, struct wl_span b)
{
    uint32_t row[48];
    size_t n = b.len < 47 ? b.len : 47;
    for (uint32_t j = 0; j <= n; j++)
        row[j] = j;
    for (uint32_t i = 1; a[i - 1] != '\0'; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            uint32_t best = diagonal + (a[i - 1] != b.at[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

const char *wl_option_nearest(const char *name)
{
    const char *best = NULL;
    uint32_t best_distance = strlen(name) > 5 ? 4 : 2; /* beyond that it is no typing error */
    for (uint32_t i = 0; i < WL_OPT_COUNT; i++) {
        struct wl_span rest = wl_span_of(table[i].aliases), word = wl_span_of(table[i].name);
        do {
            uint32_t d = distance(name, word);
            if (word.len > 0 && d < best_distance) {
                best_distance = d;
                best = table[i].name;
            }
        } while (wl_span_cut(&rest, ',', &word));
    }
    return best;
}

const char *wl_option_name(uint32_t id)
{
    return table[id].name;
}

uint8_t wl_option_state(uint32_t id)
{
    return table[id].status;
}

bool wl_option_is_flag(uint32_t id)
{
    return table[id].type == WL_T_flag;
}

const char *wl_option_text(uint32_t id)
{
    return table[id].text;
}

uint32_t wl_option_count(void)
{
    return WL_OPT_COUNT;
}

int wl_option_get(uint32_t index, struct wl_option *ret_option)
{
    if (index >= WL_OPT_COUNT || ret_option == NULL)
        return WL_EINVAL;
    const struct option *o = &table[index];
    *ret_option =
        (struct wl_option){o->name, o->aliases, type_names[o->type], o->text, o->status};
    return WL_OK;
}

void wl_job_defaults(struct wl_job *job)
{
    static const uint64_t percentiles[] = {1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99};
    static const uint64_t tails[] = {99500000, 99900000, 99950000, 99990000};
    const uint64_t half_second = UINT64_C(500000000);
    uint32_t n = 0;

    *job = (struct wl_job){
        .rw = "read",
        .dir = {true, false, false},
        .rwmixread = 50,
        .loops = 1,
        .iodepth = 1,
        .numjobs = 1,
        .think_blocks = 1,
        .clat_percentiles = true,
        .kb_base = 1024,
        .per_job_logs = true,
        .bw_avg_ns = half_second,
        .iops_avg_ns = half_second,
    };
    for (int d = 0; d < WL_DIRS; d++) {
        job->bs_min[d] = job->bs_max[d] = 4096;
        job->percentage_random[d] = 100;
        job->dist[d].centre = WL_NO_VALUE;
    }
    for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++)
        job->percentiles[n++] = percentiles[i] * WL_PCT;
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++)
        job->percentiles[n++] = tails[i];
    job->percentile_count = n;
}

/* ---- simple types ------------------------------------------------------ */
static const char *check_bounds(const struct option *o, uint64_t v, char *rule)
{
    if (v >= o->min && v <= o->max)
        return NULL;
    if (o->max == UINT64_MAX)
        snprintf(rule, WL_RULE_MAX, "must be at least %llu", (unsigned long long)o->min);
    else
        snprintf(rule, WL_RULE_MAX, "must be %llu to %llu, is %llu", (unsigned long long)o->min,
                 (unsigned long long)o->max, (unsigned long long)v);
    return rule;
}

static const char *apply_uint(const struct option *o, struct wl_span value,
                              const struct wl_job *job, uint64_t *ret, char *rule)
{
    uint64_t v;
    const char *bad = wl_value_size(value, job->kb_base, &v);
    if (bad == NULL)
        bad = check_bounds(o, v, rule);
    if (bad == NULL)
        *ret = v;
    return bad;
}

/* One value for each direction. The last one counts for those after it; an empty
 * place keeps what is there, so "76m," speaks of reads only. */
static const char *apply_triple(const struct option *o, struct wl_span value,
                                const struct wl_job *job, uint64_t *ret, char *rule)
{
    struct wl_span part = {"", 0};
    bool list = memchr(value.at, ',', value.len) != NULL;
    int d = 0;
    for (; wl_span_cut(&value, ',', &part); d++) {
        if (d >= WL_DIRS)
            return "at most three values: reads,writes,trims";
        part = wl_span_trim(part);
        if (part.len == 0 && list)
            continue;
        const char *bad = apply_uint(o, part, job, &ret[d], rule);
        if (bad != NULL)
            return bad;
    }
    for (; d < WL_DIRS && part.len > 0; d++)
        ret[d] = ret[d - 1];
    return NULL;
}

static const char *apply_flag(struct wl_span value, bool *ret)
{
    uint64_t v;
    if (wl_span_is(value, "true") || wl_span_is(value, "false")) {
        *ret = wl_span_is(value, "true");
        return NULL;
    }
    if (wl_value_size(value, 1024, &v) != NULL || v > 1)
        return "must be 0 or 1";
    *ret = v == 1;
    return NULL;
}

static const char *apply_amount(const struct option *o, struct wl_span value,
                                const struct wl_job *job, struct wl_amount *ret)
{
    struct wl_amount a = {.set = true};
    const char *bad;
    if (value.len > 0 && value.at[value.len - 1] == '%') {
        value.len--;
        a.percent = true;
        bad = wl_value_micro(value, &a.value);
        if (bad == NULL && a.value > 100 * WL_PCT)
            bad = "must not be over 100 %";
    } else {
        bad = wl_value_size(value, job->kb_base, &a.value);
        if (bad == NULL && a.value > UINT64_C(1) << 56)
            bad = "too large";
    }
    if (bad == NULL && a.value < o->min)
        bad = "must not be 0";
    if (bad == NULL)
        *ret = a;
    return bad;
}

static const char *apply_time(struct wl_span value, uint64_t unit_ns, uint64_t *ret)
{
    uint64_t ns;
    const char *bad = wl_value_time(value, unit_ns, &ns);
    if (bad == NULL && ns > UINT64_C(1) << 58)
        bad = "longer than nine years";
    if (bad == NULL)
        *ret = ns;
    return bad;
}

static const char *apply_choice(const struct option *o, struct wl_span value, uint64_t *ret,
                                char *rule)
{
    struct wl_span words = wl_span_of(strrchr(o->text, ':') + 1), word;
    for (uint64_t i = 0; wl_span_cut(&words, '|', &word); i++) {
        word = wl_span_trim(word);
        if (word.len == value.len && memcmp(word.at, value.at, word.len) == 0) {
            *ret = i;
            return NULL;
        }
    }
    snprintf(rule, WL_RULE_MAX, "must be one of%s", strrchr(o->text, ':') + 1);
    return rule;
}

static const char *apply_delay(struct wl_span value, struct wl_job *job)
{
    struct wl_span low, rest = value;
    char sep = memchr(value.at, '-', value.len) != NULL ? '-' : ':';
    uint64_t a, b;
    wl_span_cut(&rest, sep, &low);
    const char *bad = apply_time(low, 1000000000, &a);
    b = a;
    if (bad == NULL && rest.at != NULL)
        bad = apply_time(rest, 1000000000, &b);
    if (bad == NULL) {
        job->delay_min_ns = a < b ? a : b;
        job->delay_max_ns = a < b ? b : a;
    }
    return bad;
}

static const char *apply_simple(const struct option *o, const char *text, struct wl_job *job,
                                char *rule)
{
    struct wl_span value = wl_span_of(text);
    void *field = (char *)job + o->offset;
    switch (o->type) {
    case WL_T_str:
        *(const char **)field = text;
        return value.len < o->min ? "must not be empty" : NULL;
    case WL_T_flag:
        return apply_flag(value, field);
    case WL_T_uint:
    case WL_T_size:
        return apply_uint(o, value, job, field, rule);
    case WL_T_uint3:
    case WL_T_size3:
        return apply_triple(o, value, job, field, rule);
    case WL_T_amount:
        return apply_amount(o, value, job, field);
    case WL_T_sec:
        return apply_time(value, 1000000000, field);
    case WL_T_msec:
        return apply_time(value, 1000000, field);
    case WL_T_usec:
        return apply_time(value, 1000, field);
    case WL_T_choice:
        return apply_choice(o, value, field, rule);
    default:
        return apply_delay(value, job);
    }
}

/* Options that more than their own field depends on. */
static const char *after(uint32_t id, struct wl_job *job)
{
    switch (id) {
    case WL_OPT_KB_BASE:
        return job->kb_base == 1000 || job->kb_base == 1024 ? NULL : "must be 1000 or 1024";
    case WL_OPT_UNIT_BASE:
        return job->unit_base <= 1 || job->unit_base == 8 ? NULL : "must be 0, 1 or 8";
    case WL_OPT_BWAVGTIME:
    case WL_OPT_IOPSAVGTIME:
        return job->bw_avg_ns >= 1000000 && job->iops_avg_ns >= 1000000
                   ? NULL
                   : "must be at least 1 ms";
    default:
        return NULL;
    }
}

int wl_option_apply(uint32_t id, const char *value, struct wl_job *job,
                    char ret_rule[WL_RULE_MAX])
{
    const struct option *o = &table[id];
    char rule[WL_RULE_MAX];
    const char *bad = o->type >= WL_T_rw ? wl_spec_apply(o->type, wl_span_of(value), job, rule)
                                         : apply_simple(o, value, job, rule);
    if (bad == NULL)
        bad = after(id, job);
    if (bad == NULL)
        return 0;
    if (bad != ret_rule)
        snprintf(ret_rule, WL_RULE_MAX, "%s", bad);
    return -1;
}
