/* cmd_policy.c - ftlsim policy compare: arguments, progress, tables. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli.h"
#include "workload/compare.h"

static const char help[] =
    "usage: ftlsim policy compare [options] [POLICY ...]\n"
    "\n"
    "  POLICY is a victim policy, built in or FILE.so, and further settings joined by\n"
    "  '+', as greedy+gc.frontiers=2+gc.pacing=idle. None: all built-in ones.\n"
    "\n"
    "  --workload NAME,...  uniform, 80-20, 90-10, zipf, sequential (default: all)\n"
    "  --op RATIO,...       spare over user capacity (default 0.07,0.28)\n"
    "  --drive NAME|FILE    default wa-reference with 512 superblocks\n"
    "  --set KEY=VALUE      one setting for all; may be given again\n"
    "  --scale N, --seed N  as in ftlsim run\n"
    "  --warm N             drive writes before measuring (default 4)\n"
    "  --measure N          drive writes measured (default 2)\n"
    "  --timed N            timed 4K writes for latency (default 50000, 0 = none)\n"
    "  --depth N            their queue depth (default 32)\n"
    "  --format F           table, json or csv\n"
    "  --output FILE        into FILE instead of standard output\n"
    "\n"
    "WA is (host + relocated) / host, wear the largest erase count over the mean,\n"
    "p99.9 of timed writes. Score: 100 is the best of each line, geometric mean.\n";

enum { LIST_MAX = 64 };
enum format { TABLE, JSON, CSV };

struct args {
    struct wl_compare_options o;
    const char *sets[LIST_MAX], *workloads[LIST_MAX], *ops[LIST_MAX], *output;
    enum format format;
    bool help;
};

/* ---- arguments --------------------------------------------------------------------- */

static int read_count(const char *option, const char *text, uint64_t most, uint64_t *ret)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || v > most)
        return cli_refuse("--%s: %s: a whole number from 0 to %llu is needed", option, text,
                          (unsigned long long)most);
    *ret = v;
    return CLI_OK;
}

static int read_writes(const char *option, const char *text, uint64_t *ret_micro)
{
    char *end;
    double v = strtod(text, &end);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || !(v > 0.0 && v <= 1000.0))
        return cli_refuse("--%s: %s: drive writes above 0, at most 1000, are needed", option, text);
    *ret_micro = (uint64_t)(v * 1e6 + 0.5);
    return CLI_OK;
}

/* Splits in place. */
static int read_list(const char *option, char *text, const char **list, size_t *count)
{
    *count = 0;
    for (char *item = text;; item++) {
        char *end = item + strcspn(item, ",");
        if (end == item || *count == LIST_MAX)
            return cli_refuse("--%s: an empty item, or more than %d", option, LIST_MAX);
        list[(*count)++] = item;
        if (*end == '\0')
            return CLI_OK;
        *end = '\0';
        item = end;
    }
}

static int read_format(const char *text, enum format *ret)
{
    static const char *const names[] = {"table", "json", "csv"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *ret = (enum format)i;
            return CLI_OK;
        }
    return cli_refuse("--format: %s: is none of table, json, csv", text);
}

static int read_option(struct args *a, int c, char *text)
{
    uint64_t depth = 0;
    switch (c) {
    case 'w':
        a->o.workloads = a->workloads;
        return read_list("workload", text, a->workloads, &a->o.workload_count);
    case 'p':
        a->o.ops = a->ops;
        return read_list("op", text, a->ops, &a->o.op_count);
    case 'd':
        a->o.drive = text;
        return CLI_OK;
    case 's':
        if (strchr(text, '=') == NULL || a->o.set_count == LIST_MAX)
            return cli_refuse("--set: %s: KEY=VALUE is needed, at most %d", text, LIST_MAX);
        a->sets[a->o.set_count++] = text;
        return CLI_OK;
    case 'n':
        return read_count("scale", text, 65536, &a->o.scale);
    case 'e':
        return read_count("seed", text, INT64_MAX, &a->o.seed);
    case 'W':
        return read_writes("warm", text, &a->o.warm_micro);
    case 'm':
        return read_writes("measure", text, &a->o.measure_micro);
    case 't':
        return read_count("timed", text, 1000000000, &a->o.timed);
    case 'q':
        if (read_count("depth", text, FTL_OPEN_MAX, &depth) != CLI_OK)
            return CLI_REFUSED;
        a->o.depth = (uint32_t)depth;
        return depth != 0 ? CLI_OK : cli_refuse("--depth: 0: must be at least 1");
    case 'f':
        return read_format(text, &a->format);
    case 'o':
        a->output = text;
        return CLI_OK;
    default:
        a->help = true;
        return CLI_OK;
    }
}

static int read_args(int argc, char **argv, struct args *a)
{
    static const struct option options[] = {
        {"workload", required_argument, NULL, 'w'}, {"op", required_argument, NULL, 'p'},
        {"drive", required_argument, NULL, 'd'},    {"set", required_argument, NULL, 's'},
        {"scale", required_argument, NULL, 'n'},    {"seed", required_argument, NULL, 'e'},
        {"warm", required_argument, NULL, 'W'},     {"measure", required_argument, NULL, 'm'},
        {"timed", required_argument, NULL, 't'},    {"depth", required_argument, NULL, 'q'},
        {"format", required_argument, NULL, 'f'},   {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
    };
    int c, status = CLI_OK;
    opterr = 0;
    *a = (struct args){0};
    wl_compare_defaults(&a->o);
    a->o.sets = a->sets;
    while (status == CLI_OK && (c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (c == ':')
            return cli_refuse("%s: needs a value", argv[optind - 1]);
        if (c == '?')
            return cli_refuse("%s: unknown option; see ftlsim policy --help", argv[optind - 1]);
        status = read_option(a, c, optarg);
    }
    if (status != CLI_OK || a->help)
        return status;
    if (optind == argc || strcmp(argv[optind], "compare") != 0)
        return cli_refuse("policy: %s; see ftlsim policy --help",
                          optind == argc ? "what to do?" : argv[optind]);
    a->o.policies = (const char *const *)argv + optind + 1;
    a->o.policy_count = (size_t)(argc - optind - 1);
    return CLI_OK;
}

/* ---- progress ---------------------------------------------------------------------- */

static int tick(void *user, const struct wl_progress *w)
{
    struct cli_progress *p = user;
    if (cli_progress_due(p))
        cli_progress_draw(p, (double)w->done_ppm / 1e6, "%s", "");
    return cli_interrupted();
}

/* ---- reports ----------------------------------------------------------------------- */

static int name_width(const wl_compare *c)
{
    size_t most = 6;
    const struct wl_compare_row *r;
    for (size_t i = 0; (r = wl_compare_row(c, i)) != NULL; i++)
        most = strlen(r->policy) > most ? strlen(r->policy) : most;
    return most < 36 ? (int)most : 36;    /* lines of 100 columns */
}

static void put_table(FILE *out, const wl_compare *c)
{
    int width = name_width(c);
    const struct wl_compare_row *r, *last = NULL;
    const struct wl_compare_score *s;

    r = wl_compare_row(c, 0);
    fprintf(out, "%-10s %-6s %-*s %8s %6s%s\n", "workload", "op", width, "policy", "WA", "wear",
            r != NULL && r->p999_ns != 0 ? "      IOPS    p99 us  p99.9 us" : "");
    for (size_t i = 0; (r = wl_compare_row(c, i)) != NULL; i++, last = r) {
        if (last != NULL && (last->workload != r->workload || last->op != r->op))
            fputc('\n', out);
        fprintf(out, "%-10s %-6.6s %-*.*s %8.3f %6.3f", r->workload, r->op, width, width,
                r->policy, r->wa, r->wear);
        if (r->p999_ns != 0)
            fprintf(out, " %9.0f %9.1f %9.1f", r->iops, (double)r->p99_ns / 1e3,
                    (double)r->p999_ns / 1e3);
        fputc('\n', out);
    }
    s = wl_compare_score(c, 0);
    fprintf(out, "\n%-4s %-*s %9s %10s%s\n", "rank", width, "policy", "WA score", "wear score",
            s != NULL && s->tail > 0.0 ? "  tail score" : "");
    for (size_t i = 0; (s = wl_compare_score(c, i)) != NULL; i++) {
        fprintf(out, "%-4zu %-*.*s %9.1f %10.1f", i + 1, width, width, s->policy, s->wa, s->wear);
        if (s->tail > 0.0)
            fprintf(out, " %11.1f", s->tail);
        fputc('\n', out);
    }
}

static void put_csv(FILE *out, const wl_compare *c)
{
    const struct wl_compare_row *r;
    fputs("workload,op,policy,wa,wear_max_over_mean,iops,p99_ns,p999_ns\n", out);
    for (size_t i = 0; (r = wl_compare_row(c, i)) != NULL; i++)
        fprintf(out, "%s,%s,%s,%.6f,%.6f,%.3f,%llu,%llu\n", r->workload, r->op, r->policy, r->wa,
                r->wear, r->iops, (unsigned long long)r->p99_ns, (unsigned long long)r->p999_ns);
}

/* -1 on lack of memory. */
static int put_json(FILE *out, const wl_compare *c)
{
    const struct wl_compare_row *r;
    const struct wl_compare_score *s;
    json_t *rows = json_array(), *scores = json_array();
    for (size_t i = 0; (r = wl_compare_row(c, i)) != NULL; i++)
        json_array_append_new(
            rows, json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:I, s:I}", "workload", r->workload,
                            "op", r->op, "policy", r->policy, "wa", r->wa, "wear_max_over_mean",
                            r->wear, "iops", r->iops, "p99_ns", (json_int_t)r->p99_ns, "p999_ns",
                            (json_int_t)r->p999_ns));
    for (size_t i = 0; (s = wl_compare_score(c, i)) != NULL; i++)
        json_array_append_new(scores, json_pack("{s:s, s:f, s:f, s:f}", "policy", s->policy,
                                                "wa_score", s->wa, "wear_score", s->wear,
                                                "tail_score", s->tail));
    json_t *all = json_pack("{s:o, s:o}", "rows", rows, "scores", scores);
    int bad = all == NULL || json_dumpf(all, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0;
    fputc('\n', out);
    json_decref(all);
    return bad ? -1 : 0;
}

static int deliver(const struct args *a, const wl_compare *c)
{
    struct cli_text t;
    int bad = 0;
    cli_text_open(&t);
    if (t.stream == NULL)
        return cli_refuse("out of memory");
    if (a->format == TABLE)
        put_table(t.stream, c);
    else if (a->format == CSV)
        put_csv(t.stream, c);
    else
        bad = put_json(t.stream, c);
    if (bad == 0)
        return cli_text_deliver(&t, a->output);
    cli_text_drop(&t);
    return cli_refuse("out of memory");
}

static int compare(struct args *a)
{
    struct cli_progress p;
    char why[FTL_WHY_MAX] = "";
    wl_compare *c = NULL;
    int status = a->output != NULL ? cli_text_try(a->output) : CLI_OK;

    if (status != CLI_OK)
        return status;
    a->o.progress = tick;
    a->o.user = &p;
    cli_catch_interrupt();
    cli_progress_start(&p);
    int err = wl_compare_run(&a->o, &c, why, sizeof why);
    cli_progress_clear(&p);
    if (err < 0) {
        cli_refuse("%s", why);
        return err == WL_EDRIVE ? CLI_BROKEN : CLI_REFUSED;
    }
    status = wl_compare_interrupted(c) ? CLI_INTERRUPTED : deliver(a, c);
    wl_compare_free(c);
    return status;
}

int cmd_policy(int argc, char **argv)
{
    struct args *a = calloc(1, sizeof *a);
    struct cli_text t;
    if (a == NULL)
        return cli_refuse("out of memory");
    int status = read_args(argc, argv, a);
    if (status == CLI_OK && a->help) {
        cli_text_open(&t);
        if (t.stream != NULL)
            fputs(help, t.stream);
        status = cli_text_deliver(&t, NULL);
    } else if (status == CLI_OK) {
        status = compare(a);
    }
    free(a);
    return status;
}
