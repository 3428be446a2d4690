/* compare.c - policies against each other: the drives, the runs and the scores. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "workload/compare.h"
#include "workload/policy.h"

enum { LABEL_MAX = 96, PARTS_MAX = 256 };

static const struct workload {
    const char *name, *text, *job;
} workloads[] = {
    {"uniform", "every unit alike", "rw=randwrite\nnorandommap=1\n"},
    {"80-20", "80 % of the writes to 20 % of the drive",
     "rw=randwrite\nnorandommap=1\nrandom_distribution=zoned:80/20:20/80\n"},
    {"90-10", "90 % of the writes to 10 % of the drive",
     "rw=randwrite\nnorandommap=1\nrandom_distribution=zoned:90/10:10/90\n"},
    {"zipf", "zipf 0.99 over the whole drive",
     "rw=randwrite\nnorandommap=1\nrandom_distribution=zipf:0.99\n"},
    {"sequential", "in order, over and over", "rw=write\n"},
};
enum { WORKLOADS = sizeof workloads / sizeof workloads[0] };

struct wl_compare {
    char (*labels)[LABEL_MAX];
    char (*ops)[LABEL_MAX];
    struct wl_compare_row *rows;
    struct wl_compare_score *scores;
    size_t row_count, policy_count;
    bool interrupted;
};

/* One run. */
struct bout {
    const struct wl_compare_options *o;
    const struct workload *w;
    size_t index, total;
    ftl_setup *setup;
    wl_policies *policies;
    ftl_drive *drive;
    wl_jobs *jobs;
    wl_run *run;
    uint64_t steps_done;                /* of three: warm, measure, timed */
    bool stopped;
};

const char *wl_compare_workload(uint32_t index, const char **ret_text)
{
    if (index >= WORKLOADS)
        return NULL;
    if (ret_text != NULL)
        *ret_text = workloads[index].text;
    return workloads[index].name;
}

void wl_compare_defaults(struct wl_compare_options *o)
{
    static const char *const ops[] = {"0.07", "0.28"};
    *o = (struct wl_compare_options){.drive = "wa-reference", .seed = 1, .ops = ops, .op_count = 2,
                                     .warm_micro = 4000000, .measure_micro = 2000000,
                                     .timed = 50000, .depth = 32};
}

static const struct workload *find(const char *name)
{
    for (size_t i = 0; i < WORKLOADS; i++)
        if (strcmp(workloads[i].name, name) == 0)
            return &workloads[i];
    return NULL;
}

/* ---- a contestant's drive -------------------------------------------------------- */

static int set_pair(struct bout *b, const char *pair, const char *where, char *why, size_t size)
{
    static const char *const kinds[] = {"gc.policy", "gc.pacing", "wear.policy",
                                        "streams.policy"};
    char key[LABEL_MAX];
    const char *equals = strchr(pair, '=');
    if (equals == NULL || equals - pair >= (int)sizeof key) {
        snprintf(why, size, "%s: %s: KEY=VALUE is needed", where, pair);
        return WL_EJOB;
    }
    snprintf(key, sizeof key, "%.*s", (int)(equals - pair), pair);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i], key) == 0)
            return wl_policies_set(b->policies, key, equals + 1, b->setup, where, why, size);
    return ftl_setup_set(b->setup, key, equals + 1, where, why, size) < 0 ? WL_EJOB : WL_OK;
}

/* The parts of a contestant; the label names the policy of a shared object. */
static int set_contestant(struct bout *b, const char *text, char *label, char *why, size_t size)
{
    char part[PARTS_MAX], value[FTL_NAME_MAX];
    int err = WL_OK, used = 0;

    label[0] = '\0';
    while (err == WL_OK) {
        size_t n = strcspn(text, "+");
        if (n == 0 || n >= sizeof part) {
            snprintf(why, size, "policy: %s: a name, FILE.so or KEY=VALUE is needed", text);
            return WL_EJOB;
        }
        snprintf(part, sizeof part, "%.*s", (int)n, text);
        if (strchr(part, '=') != NULL) {
            err = set_pair(b, part, "policy", why, size);
            snprintf(value, sizeof value, "%.60s", part);
        } else {
            err = wl_policies_set(b->policies, "gc.policy", part, b->setup, part, why, size);
            const struct ftl_policies *p = wl_policies_get(b->policies);
            snprintf(value, sizeof value, "%.60s", p->gc != NULL ? p->gc->head.name : part);
        }
        int more = snprintf(label + used, LABEL_MAX - (size_t)used, "%s%s", used != 0 ? "+" : "",
                            value);
        used = used + more < LABEL_MAX ? used + more : LABEL_MAX - 1;
        if (text[n] == '\0')
            break;
        text += n + 1;
    }
    return err;
}

static int make_drive(struct bout *b, const char *policy, const char *op, char *label, char *why,
                      size_t size)
{
    const struct wl_compare_options *o = b->o;
    struct ftl_config cfg;
    char seed[24];

    b->setup = ftl_setup_new();
    b->policies = wl_policies_new();
    if (b->setup == NULL || b->policies == NULL) {
        snprintf(why, size, "out of memory");
        return WL_ENOMEM;
    }
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)o->seed);
    if (ftl_setup_load(b->setup, o->drive, why, size) < 0 ||
        ftl_setup_set(b->setup, "drive.seed", seed, "seed", why, size) < 0)
        return WL_EJOB;
    if (strcmp(o->drive, "wa-reference") == 0 &&        /* an eighth of it says as much */
        ftl_setup_set(b->setup, "ftl.superblocks", "512", "compare", why, size) < 0)
        return WL_EJOB;
    int err = WL_OK;
    for (size_t i = 0; i < o->set_count && err == WL_OK; i++)
        err = set_pair(b, o->sets[i], "set", why, size);
    if (err == WL_OK)
        err = set_contestant(b, policy, label, why, size);
    if (err < 0)
        return err;
    if (ftl_setup_set(b->setup, "op", op, "op", why, size) < 0 ||
        ftl_setup_finish(b->setup, o->scale, &cfg, why, size) < 0 ||
        ftl_create_with(&cfg, wl_policies_get(b->policies), &b->drive, why, size) < 0)
        return WL_EJOB;
    return WL_OK;
}

static void end_bout(struct bout *b)
{
    wl_run_free(b->run);
    ftl_destroy(b->drive);
    wl_policies_free(b->policies);
    ftl_setup_free(b->setup);
    wl_jobs_free(b->jobs);
}

/* ---- a run ------------------------------------------------------------------------- */

static int tick(void *user, const struct wl_progress *p)
{
    struct bout *b = user;
    struct wl_progress whole = *p;
    uint64_t ppm = (b->steps_done * 1000000 + p->done_ppm) / 3;
    whole.done_ppm = (b->index * 1000000 + ppm) / b->total;
    if (b->o->progress != NULL && b->o->progress(b->o->user, &whole) != 0)
        b->stopped = true;
    return b->stopped;
}

static int play(struct bout *b, struct wl_compare_row *row, char *why, size_t size)
{
    const struct wl_compare_options *o = b->o;
    struct wl_precondition steps = {
        .count = 3,
        .steps = {{WL_FILL_SEQ, 1000000}, {WL_FILL_SELF, o->warm_micro},
                  {WL_FILL_SELF, o->measure_micro}}};
    struct wl_run_options options = {.seed = o->seed, .scale = 1, .progress = tick, .user = b};
    struct ftl_counters n;
    struct ftl_status s;
    char text[512];

    snprintf(text, sizeof text, "[compare]\nbs=4k\niodepth=%u\nnumber_ios=%llu\n%s", o->depth,
             (unsigned long long)(o->timed != 0 ? o->timed : 1), b->w->job);
    int err = wl_jobs_parse("compare", text, strlen(text), NULL, 0, &b->jobs, why, size);
    if (err == WL_OK)
        err = wl_run_new(b->drive, b->jobs, &options, &b->run, why, size);
    if (err == WL_OK)
        err = wl_run_measure(b->run, &steps, &n, why, size);
    if (err < 0 || b->stopped)
        return err;
    ftl_status_get(b->drive, &s);
    row->wa = n.host_bytes == 0 ? 0.0
                                : (double)(n.host_bytes + n.gc_bytes + n.wear_bytes) /
                                      (double)n.host_bytes;
    row->wear = s.erases_sum == 0
                    ? 1.0
                    : (double)s.erases_max * (double)s.superblocks / (double)s.erases_sum;
    b->steps_done = 2;
    if (o->timed == 0)
        return WL_OK;
    err = wl_run_go(b->run, why, size);
    if (err < 0)
        return err;
    const struct wl_dir_report *r = &wl_run_report(b->run, 0)->dir[WL_WRITE];
    row->iops = r->runtime_ns == 0 ? 0.0 : (double)r->ios * 1e9 / (double)r->runtime_ns;
    row->p99_ns = wl_percentile(r->clat_bins, r->ios, 99 * WL_PCT);
    row->p999_ns = wl_percentile(r->clat_bins, r->ios, 99 * WL_PCT + 9 * WL_PCT / 10);
    return WL_OK;
}

/* ---- all of them ------------------------------------------------------------------- */

static double better(double best, double own)
{
    return own > 0.0 && best > 0.0 ? log(best / own) : 0.0;
}

/* Rows come in groups of one row per contestant. */
static void score(struct wl_compare *c)
{
    size_t n = c->policy_count, groups = c->row_count / n;

    for (size_t k = 0; k < n; k++) {
        double wa = 0.0, wear = 0.0, tail = 0.0;
        bool timed = false;
        for (size_t g = 0; g < groups; g++) {
            const struct wl_compare_row *rows = &c->rows[g * n], *own = &rows[k];
            double best_wa = own->wa, best_wear = own->wear, best_tail = (double)own->p999_ns;
            for (size_t i = 0; i < n; i++) {
                best_wa = fmin(best_wa, rows[i].wa);
                best_wear = fmin(best_wear, rows[i].wear);
                best_tail = fmin(best_tail, (double)rows[i].p999_ns);
            }
            wa += better(best_wa, own->wa);
            wear += better(best_wear, own->wear);
            tail += better(best_tail, (double)own->p999_ns);
            timed |= own->p999_ns != 0;
        }
        c->scores[k] = (struct wl_compare_score){c->labels[k], 100.0 * exp(wa / (double)groups),
                                                 100.0 * exp(wear / (double)groups),
                                                 timed ? 100.0 * exp(tail / (double)groups) : 0.0};
    }
    for (size_t i = 1; i < n; i++)      /* insertion: equals keep their order */
        for (size_t k = i; k > 0 && c->scores[k].wa > c->scores[k - 1].wa; k--) {
            struct wl_compare_score t = c->scores[k];
            c->scores[k] = c->scores[k - 1];
            c->scores[k - 1] = t;
        }
}

/* Plays the run of a row; with `try` only its drive is made. */
static int bout(struct wl_compare *c, struct bout *b, const char *policy, size_t k, const char *op,
                struct wl_compare_row *row, bool try, char *why, size_t size)
{
    int err = make_drive(b, policy, op, c->labels[k], why, size);
    if (err == WL_OK && !try) {
        *row = (struct wl_compare_row){.policy = c->labels[k], .workload = b->w->name, .op = op};
        err = play(b, row, why, size);
        c->interrupted |= b->stopped || (b->run != NULL && wl_run_interrupted(b->run));
    }
    end_bout(b);
    return err;
}

static int run_all(struct wl_compare *c, const struct wl_compare_options *o,
                   const char *const *policies, bool try, char *why, size_t size)
{
    size_t index = 0, n = c->policy_count, names = o->workload_count != 0 ? o->workload_count
                                                                          : (size_t)WORKLOADS;
    for (size_t w = 0; w < (try ? 1 : names); w++)
        for (size_t p = 0; p < o->op_count; p++)
            for (size_t k = 0; k < n; k++, index++) {
                const struct workload *what =
                    o->workload_count != 0 ? find(o->workloads[w]) : &workloads[w];
                struct bout b = {.o = o, .w = what, .index = index,
                                 .total = names * o->op_count * n};
                int err = bout(c, &b, policies[k], k, c->ops[p], try ? NULL : &c->rows[index], try,
                               why, size);
                if (err < 0)
                    return err;
                if (c->interrupted)
                    return WL_OK;
                c->row_count += !try;
            }
    return WL_OK;
}

static int check(const struct wl_compare_options *o, char *why, size_t size)
{
    for (size_t i = 0; i < o->workload_count; i++)
        if (find(o->workloads[i]) == NULL) {
            int n = snprintf(why, size, "workload: %.40s: is none of", o->workloads[i]);
            for (size_t k = 0; k < WORKLOADS && n > 0 && (size_t)n < size; k++)
                n += snprintf(why + n, size - (size_t)n, "%s %s", k != 0 ? "," : "",
                              workloads[k].name);
            return WL_EJOB;
        }
    if (o->op_count == 0 || o->depth == 0 || o->measure_micro == 0) {
        snprintf(why, size, "compare: a spare ratio, a depth and drive writes to measure are needed");
        return WL_EINVAL;
    }
    return WL_OK;
}

int wl_compare_run(const struct wl_compare_options *o, wl_compare **ret, char *why, size_t size)
{
    const char *built_in[64];
    const char *const *policies = o->policies;
    size_t n = o->policy_count;
    int err = check(o, why, size);

    if (err < 0)
        return err;
    if (n == 0) {
        const struct ftl_gc_policy *p;
        while (n < 64 && (p = ftl_gc_policy_get((uint32_t)n)) != NULL)
            built_in[n++] = p->head.name;
        policies = built_in;
    }
    size_t names = o->workload_count != 0 ? o->workload_count : (size_t)WORKLOADS;
    struct wl_compare *c = calloc(1, sizeof *c);
    if (c == NULL)
        return WL_ENOMEM;
    c->policy_count = n;
    c->labels = calloc(n, sizeof *c->labels);
    c->ops = calloc(o->op_count, sizeof *c->ops);
    c->rows = calloc(names * o->op_count * n, sizeof *c->rows);
    c->scores = calloc(n, sizeof *c->scores);
    if (c->labels == NULL || c->ops == NULL || c->rows == NULL || c->scores == NULL) {
        snprintf(why, size, "out of memory");
        err = WL_ENOMEM;
    }
    for (size_t i = 0; i < o->op_count && err == WL_OK; i++)
        snprintf(c->ops[i], sizeof c->ops[i], "%s", o->ops[i]);
    if (err == WL_OK)
        err = run_all(c, o, policies, true, why, size);     /* all refusals come first */
    if (err == WL_OK)
        err = run_all(c, o, policies, false, why, size);
    if (err < 0) {
        wl_compare_free(c);
        return err;
    }
    if (c->interrupted)
        c->policy_count = 0;            /* half a tournament has no winner */
    else
        score(c);
    *ret = c;
    return WL_OK;
}

void wl_compare_free(wl_compare *c)
{
    if (c == NULL)
        return;
    free(c->labels);
    free(c->ops);
    free(c->rows);
    free(c->scores);
    free(c);
}

const struct wl_compare_row *wl_compare_row(const wl_compare *c, size_t index)
{
    return index < c->row_count ? &c->rows[index] : NULL;
}

const struct wl_compare_score *wl_compare_score(const wl_compare *c, size_t index)
{
    return index < c->policy_count ? &c->scores[index] : NULL;
}

bool wl_compare_interrupted(const wl_compare *c)
{
    return c->interrupted;
}
