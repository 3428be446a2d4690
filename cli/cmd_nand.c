/* cmd_nand.c - `ftlsim nand`: the NAND model by itself, in tables. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nand/cell.h"
#include "nand_cli.h"

static const char help[] =
    "usage: ftlsim nand rber|vth|retention|disturb|timing [options] [steps]\n"
    "\n"
    "  rber       bit error rate of each page type\n"
    "  vth        density of each state over the threshold voltage (for gnuplot)\n"
    "  retention  error rates and retries over the time since programming\n"
    "  disturb    error rates over reads, spread over the block or next door\n"
    "  timing     time line of steps on one die, each issued as early as legal\n"
    "\n"
    "  --cell NAME       slc mlc tlc etlc qlc (default etlc)\n"
    "  --law NAME        vth (default), fast19, planar: published laws, rber only\n"
    "  --pe LIST         program/erase cycles            LIST: 0,1000,7000\n"
    "  --hours LIST      since programming                  or first:last:step\n"
    "  --days LIST       the same in days\n"
    "  --celsius LIST    temperature meanwhile (default 40)\n"
    "  --reads LIST      reads of other word lines of the block\n"
    "  --near LIST       reads of the word line next to it\n"
    "  --read-celsius N, --program-celsius N   (default 30)\n"
    "  --width N         ln of the page's width against a typical one (default 0)\n"
    "  --voltages V      default, optimum (default), retry:N\n"
    "  --points N        vth: points of the curve (default 600)\n"
    "  --format F        csv (default) or json\n"
    "  --profile NAME    timing: a part (default etlc-x3-9070); names below\n"
    "\n"
    "  steps: read:PAGE pread:PAGE cread:PAGE cend soft2:PAGE soft3:PAGE out:BYTES\n"
    "         prog cprog erase suspend resume reset feature status\n"
    "         die:N plane:N wait:MICROSECONDS   (pages of a filled block are read)\n"
    "  parts:";

struct options {
    const char *cell_name, *law, *voltages, *profile;
    const struct nand_cell *cell;
    struct nand_list pe, hours, celsius, reads, near_reads;
    double program_celsius, read_celsius, width;
    long points;
    bool json;
};

static int print_help(void)
{
    fputs(help, stdout);
    for (uint32_t i = 0; nand_profile_name(i); i++)
        printf(" %s", nand_profile_name(i));
    putchar('\n');
    return 0;
}

/* ---- options ------------------------------------------------------------------- */

enum key {
    K_CELL = 256, K_LAW, K_PE, K_HOURS, K_DAYS, K_CELSIUS, K_READS, K_NEAR, K_READ_C, K_PROG_C,
    K_WIDTH, K_VOLTAGES, K_POINTS, K_FORMAT, K_PROFILE
};

static const struct option long_options[] = {
    {"cell", 1, NULL, K_CELL},         {"law", 1, NULL, K_LAW},
    {"pe", 1, NULL, K_PE},             {"hours", 1, NULL, K_HOURS},
    {"days", 1, NULL, K_DAYS},         {"celsius", 1, NULL, K_CELSIUS},
    {"reads", 1, NULL, K_READS},       {"near", 1, NULL, K_NEAR},
    {"read-celsius", 1, NULL, K_READ_C}, {"program-celsius", 1, NULL, K_PROG_C},
    {"width", 1, NULL, K_WIDTH},       {"voltages", 1, NULL, K_VOLTAGES},
    {"points", 1, NULL, K_POINTS},     {"format", 1, NULL, K_FORMAT},
    {"profile", 1, NULL, K_PROFILE},   {"help", 0, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int take_list(const char *name, const char *text, struct nand_list *list)
{
    free(list->value);
    if (nand_list_parse(text, list))
        return 0;
    return cli_refuse("nand: --%s %s: must be a,b,c or first:last:step, at most %d values", name,
                      text, NAND_LIST_MOST);
}

static int take_number(const char *name, const char *text, double low, double high, double *ret)
{
    char *end;

    *ret = strtod(text, &end);
    if (*end || end == text || !(*ret >= low && *ret <= high))
        return cli_refuse("nand: --%s %s: must be %g..%g", name, text, low, high);
    return 0;
}

static int take_option(struct options *o, int key, const char *text)
{
    double number;
    int err = 0;

    switch (key) {
    case K_CELL: o->cell_name = text; break;
    case K_LAW: o->law = text; break;
    case K_PE: return take_list("pe", text, &o->pe);
    case K_HOURS: return take_list("hours", text, &o->hours);
    case K_DAYS:
        err = take_list("days", text, &o->hours);
        for (size_t i = 0; !err && i < o->hours.count; i++)
            o->hours.value[i] *= 24;
        break;
    case K_CELSIUS: return take_list("celsius", text, &o->celsius);
    case K_READS: return take_list("reads", text, &o->reads);
    case K_NEAR: return take_list("near", text, &o->near_reads);
    case K_READ_C: return take_number("read-celsius", text, -55, 150, &o->read_celsius);
    case K_PROG_C: return take_number("program-celsius", text, -55, 150, &o->program_celsius);
    case K_WIDTH: return take_number("width", text, -.5, .5, &o->width);
    case K_VOLTAGES: o->voltages = text; break;
    case K_POINTS:
        err = take_number("points", text, 2, 100000, &number);
        o->points = err ? 0 : (long)number;
        break;
    case K_FORMAT:
        if (strcmp(text, "csv") != 0 && strcmp(text, "json") != 0)
            return cli_refuse("nand: --format %s: must be csv or json", text);
        o->json = text[0] == 'j';
        break;
    case K_PROFILE: o->profile = text; break;
    default: return cli_refuse("nand: see `ftlsim nand --help`");
    }
    return err;
}

static int set_default(struct nand_list *list, const char *text)
{
    return list->value ? 0 : take_list("default", text, list);
}

static void free_options(struct options *o)
{
    free(o->pe.value);
    free(o->hours.value);
    free(o->celsius.value);
    free(o->reads.value);
    free(o->near_reads.value);
}

/* ---- one point of the model ---------------------------------------------------------- */

static struct nand_cell_use use_of(const struct options *o, double pe, double hours,
                                   double celsius, double reads, double near_reads)
{
    struct nand_cell_use use = NAND_CELL_USE_INIT;

    use.pe = pe;
    use.hours = hours;
    use.celsius = celsius;
    use.reads = reads;
    use.neighbor_reads = near_reads;
    use.program_celsius = o->program_celsius;
    use.read_celsius = o->read_celsius;
    use.width_ln = o->width;
    return use;
}

static int dist_of(const struct options *o, const struct nand_cell_use *use,
                   struct nand_cell_dist *ret)
{
    char why[160];

    if (strcmp(o->law, "planar") == 0) {
        if (nand_planar_tlc_dist(use->hours, ret) != 0)
            return cli_refuse("nand: hours=%g: the planar table spans 24..8760", use->hours);
        return 0;
    }
    if (nand_cell_dist(o->cell, use, ret, why, sizeof why) != 0)
        return cli_refuse("nand: %s", why);
    return 0;
}

static int volts_of(const struct options *o, const struct nand_cell_dist *dist,
                    struct nand_cell_volts *ret)
{
    char *end;
    long level;

    if (strcmp(o->voltages, "optimum") == 0) {
        nand_cell_optimum(dist, ret);
        return 0;
    }
    if (strcmp(o->voltages, "default") == 0) {
        nand_cell_default(o->cell, ret);
        return 0;
    }
    if (strncmp(o->voltages, "retry:", 6) == 0) {
        level = strtol(o->voltages + 6, &end, 10);
        if (*end == 0 && end != o->voltages + 6 && level >= 0 && level <= NAND_RETRY_MAX) {
            nand_cell_retry(o->cell, (uint32_t)level, ret);
            return 0;
        }
    }
    return cli_refuse("nand: --voltages %s: must be default, optimum or retry:0..%d", o->voltages,
                       NAND_RETRY_MAX);
}

/* First retry level at which a read succeeds: 1.6 RBER within 72 bits of 8192, the limit
 * that the retry constants were fitted with; -1 = none. */
static double retries_of(const struct options *o, const struct nand_cell_dist *dist)
{
    struct nand_cell_volts volts;

    for (uint32_t level = 0; level <= NAND_RETRY_MAX; level++) {
        nand_cell_retry(o->cell, level, &volts);
        if (1.6 * 8192 * nand_cell_mean_rber(dist, &volts) <= 72)
            return level;
    }
    return -1;
}

/* ---- tables ---------------------------------------------------------------------------- */

static const char *const page_names[] = {"lower", "middle", "upper", "top"};

/* Calls `row` for every combination of the lists; stops at the first refusal. */
typedef int (*row_writer)(const struct options *o, struct nand_out *out,
                          const struct nand_cell_use *use);

static int for_all(const struct options *o, struct nand_out *out, row_writer row)
{
    int err = 0;

    for (size_t a = 0; a < o->pe.count && !err; a++)
        for (size_t b = 0; b < o->hours.count && !err; b++)
            for (size_t c = 0; c < o->celsius.count && !err; c++)
                for (size_t d = 0; d < o->reads.count && !err; d++)
                    for (size_t e = 0; e < o->near_reads.count && !err; e++) {
                        struct nand_cell_use use =
                            use_of(o, o->pe.value[a], o->hours.value[b], o->celsius.value[c],
                                   o->reads.value[d], o->near_reads.value[e]);
                        err = row(o, out, &use);
                    }
    return err;
}

/* Tries every row before the first is written, so that bad input writes nothing. */
static int table(const struct options *o, const char *const *columns, size_t count,
                 row_writer row)
{
    struct nand_out out = {.dry = true};
    int err = for_all(o, &out, row);

    if (err)
        return err;
    nand_out_begin(&out, o->json, columns, count);
    (void)for_all(o, &out, row);
    return nand_out_end(&out);
}

static int fast19_row(const struct nand_cell_use *use, struct nand_out *out)
{
    const char *words[10] = {NULL, NULL, NULL, NULL, NULL, "any", "-", NULL, NULL, NULL};
    double days = use->hours / 24 * nand_cell_acceleration(1.1, use->celsius), rber;

    if (nand_fast19_rber(use->pe, days, use->reads + use->neighbor_reads, &rber) != 0)
        return cli_refuse("nand: pe=%g hours=%g reads=%g: fast19 spans pe 0..20000, 3650 days "
                          "at 30 C, reads 0..1e7", use->pe, use->hours, use->reads);
    const double numbers[10] = {use->pe, use->hours, use->celsius, use->reads,
                                use->neighbor_reads, 0, 0, rber, rber, rber};
    nand_out_row(out, words, numbers);
    return 0;
}

static int rber_row(const struct options *o, struct nand_out *out,
                    const struct nand_cell_use *use)
{
    struct nand_cell_dist dist;
    struct nand_cell_volts volts;
    int err;

    if (strcmp(o->law, "fast19") == 0)
        return fast19_row(use, out);
    err = dist_of(o, use, &dist);
    if (!err)
        err = volts_of(o, &dist, &volts);
    for (uint32_t t = 0; !err && t < dist.page_types; t++) {
        struct nand_cell_errors e;
        nand_cell_page_errors(&dist, t, &volts, &e);
        const char *words[10] = {NULL, NULL, NULL, NULL, NULL, page_names[t], o->voltages};
        const double numbers[10] = {use->pe, use->hours, use->celsius, use->reads,
                                    use->neighbor_reads, 0, 0, e.rber, e.zero_to_one,
                                    e.one_to_zero};
        nand_out_row(out, words, numbers);
    }
    return err;
}

static int cmd_rber(const struct options *o)
{
    static const char *const columns[] = {"pe", "hours", "celsius", "reads", "near_reads", "page",
                                          "voltages", "rber", "zero_to_one", "one_to_zero"};

    return table(o, columns, 10, rber_row);
}

/* Rates at the default and at the best voltages, and the retries in between. */
static int both_row(const struct options *o, struct nand_out *out,
                    const struct nand_cell_use *use)
{
    static const char *const words[9] = {NULL};
    struct nand_cell_dist dist;
    struct nand_cell_volts fresh, best;
    int err = dist_of(o, use, &dist);

    if (err)
        return err;
    nand_cell_default(o->cell, &fresh);
    nand_cell_optimum(&dist, &best);
    const double numbers[9] = {use->pe, use->hours, use->celsius, use->reads,
                               use->neighbor_reads, dist.mu[dist.states - 1],
                               nand_cell_mean_rber(&dist, &fresh),
                               nand_cell_mean_rber(&dist, &best), retries_of(o, &dist)};
    nand_out_row(out, words, numbers);
    return 0;
}

static int cmd_both(const struct options *o)
{
    static const char *const columns[] = {"pe", "hours", "celsius", "reads", "near_reads",
                                          "top_state", "rber_default", "rber_optimum",
                                          "retries"};

    return table(o, columns, 9, both_row);
}

static int cmd_vth(const struct options *o)
{
    static const char *const names[] = {"voltage", "er", "p1", "p2", "p3", "p4", "p5", "p6", "p7",
                                        "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15"};
    static const char *const words[NAND_STATES_MAX + 1] = {NULL};
    struct nand_cell_use use = use_of(o, o->pe.value[0], o->hours.value[0], o->celsius.value[0],
                                      o->reads.value[0], o->near_reads.value[0]);
    struct nand_cell_dist dist;
    struct nand_out out;
    int err = dist_of(o, &use, &dist);

    if (err)
        return err;
    nand_out_begin(&out, o->json, names, dist.states + 1);
    double low = dist.mu[0] - 3 * dist.sigma[0], high = dist.states - 1 + 0.8;
    for (long i = 0; i < o->points; i++) {
        double numbers[NAND_STATES_MAX + 1];
        numbers[0] = low + (high - low) * (double)i / (double)(o->points - 1);
        for (uint32_t s = 0; s < dist.states; s++)
            numbers[s + 1] = nand_cell_density(&dist, s, numbers[0]) / dist.states;
        nand_out_row(&out, words, numbers);
    }
    return nand_out_end(&out);
}

/* ---- the command ------------------------------------------------------------------------ */

static int check_names(struct options *o)
{
    struct nand_cell_dist dist;
    struct nand_cell_volts volts;
    const struct nand_cell_use fresh = NAND_CELL_USE_INIT;

    o->cell = nand_cell_find(o->cell_name);
    if (!o->cell)
        return cli_refuse("nand: --cell %s: must be slc, mlc, tlc, etlc or qlc", o->cell_name);
    if (strcmp(o->law, "vth") != 0 && strcmp(o->law, "fast19") != 0 &&
        strcmp(o->law, "planar") != 0)
        return cli_refuse("nand: --law %s: must be vth, fast19 or planar", o->law);
    if (nand_cell_dist(o->cell, &fresh, &dist, NULL, 0) != 0)
        return cli_refuse("nand: --cell %s: refused", o->cell_name);
    return volts_of(o, &dist, &volts);
}

/* What a table shows when nothing was asked for. */
static int fill_defaults(struct options *o, const char *what)
{
    bool over_time = strcmp(what, "retention") == 0, over_reads = strcmp(what, "disturb") == 0;
    bool rber = strcmp(what, "rber") == 0;
    bool planar = strcmp(o->law, "planar") == 0; /* its one wear */
    int err = set_default(&o->pe, planar      ? "2000"
                                  : rber      ? "0,1000,3000,7000,10000"
                                  : over_time ? "0,7000"
                                              : "0");

    if (!err)
        err = set_default(&o->hours, over_time            ? "0,1,24,168,720,2160,8760"
                                     : planar             ? "24,168,720,2160,8760"
                                     : rber               ? "0,2160"
                                                          : "0");
    if (!err)
        err = set_default(&o->celsius, "40");
    if (!err)
        err = set_default(&o->reads, over_reads ? "0,1000,10000,100000,500000,1000000" : "0");
    if (!err)
        err = set_default(&o->near_reads, "0");
    return err;
}

static int run(struct options *o, const char *what)
{
    int err = check_names(o);

    if (!err)
        err = fill_defaults(o, what);
    if (err)
        return err;
    if (strcmp(what, "rber") == 0)
        return cmd_rber(o);
    if (strcmp(o->law, "fast19") == 0)
        return cli_refuse("nand: --law fast19: has no voltages; use it with rber");
    if (strcmp(what, "vth") == 0)
        return cmd_vth(o);
    return cmd_both(o);
}

int cmd_nand(int argc, char **argv)
{
    static const char *const tables[] = {"rber", "vth", "retention", "disturb", "timing"};
    struct options o = {.cell_name = "etlc", .law = "vth", .voltages = "optimum",
                        .profile = "etlc-x3-9070", .program_celsius = 30, .read_celsius = 30,
                        .points = 600};
    const char *what = argc > 1 ? argv[1] : "--help";
    int key, err = 0;
    size_t known = 0;

    if (strcmp(what, "--help") == 0 || strcmp(what, "-h") == 0 || strcmp(what, "help") == 0)
        return print_help();
    while (known < 5 && strcmp(what, tables[known]) != 0)
        known++;
    if (known == 5)
        return cli_refuse("nand: %s: must be rber, vth, retention, disturb or timing", what);
    optind = 1;
    opterr = 0;
    while (!err && (key = getopt_long(argc - 1, argv + 1, "h", long_options, NULL)) != -1) {
        if (key == 'h')
            return print_help();
        if (key == '?')
            err = cli_refuse("nand: %s: unknown option or value missing", argv[optind]);
        else
            err = take_option(&o, key, optarg);
    }
    if (!err && known == 4) {
        struct nand_timeline_options line = {o.profile, o.json, argv + 1 + optind,
                                             argc - 1 - optind};
        err = nand_timeline(&line);
    } else if (!err && optind < argc - 1) {
        err = cli_refuse("nand: %s: unexpected; only timing takes steps", argv[1 + optind]);
    } else if (!err) {
        err = run(&o, what);
    }
    free_options(&o);
    return err;
}
