/* cmd_ldpc_life.c - `ftlsim ldpc lifetime`: P/E cycles that each ladder reaches.
 *
 * For a cell preset after a retention time, the page types' error rates (hard) or
 * mutual information (soft) follow from the cell model; the measured waterfalls
 * turn them into frame error rates; the life is the last cycle count at which the
 * mean FER over the page types stays below UBER times the data bits of a word.
 * A soft page is as good as the Gaussian channel of equal information. FERs of
 * 1e-13 and below are extrapolated waterfalls: no floor is in them. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_ldpc.h"
#include "nand/cell.h"

enum { SOFT_MAX = 3, UBERS = 3, BCH_T = 72, BCH_DATA = 8192, BCH_BITS = 8192 + 14 * 72 };
static const double UBER[UBERS] = {1e-18, 1e-17, 1e-16};
static const double COARSE_LEFT =
    0.3; /* part of the optimal shift that a coarse table misses */

enum volts { V_DEFAULT, V_COARSE, V_TABLE, V_TRACKED, V_NEIGHBOUR };

struct rung {
    const char *name;
    enum volts volts;
    unsigned soft_bits; /* 0 = BCH */
};
static const struct rung RUNGS[] = {
    {"BCH t=72/1KiB, coarse table", V_COARSE, 0},
    {"hard, default voltages", V_DEFAULT, 1},
    {"hard, coarse table", V_COARSE, 1},
    {"hard, full retry table", V_TABLE, 1},
    {"2-bit, full retry table", V_TABLE, 2},
    {"3-bit, full retry table", V_TABLE, 3},
    {"3-bit, tracking", V_TRACKED, 3},
    {"3-bit, tracking, neighbour", V_NEIGHBOUR, 3},
};
enum { RUNG_COUNT = sizeof RUNGS / sizeof RUNGS[0], BASELINE = 2 };

struct life {
    const struct nand_cell *cell;
    const char *code_name, *tables, *json;
    double days, celsius, sigmas;
    ldpc_code *code;
    struct ldpc_facts facts;
    struct ldpc_table table[SOFT_MAX + 1];
};

/* P(more than t of n bits wrong), summed from the largest term on. */
static double bch_fer(double p)
{
    if (p <= 0)
        return 0;
    double log_term = lgamma(BCH_BITS + 1.0) - lgamma(BCH_T + 2.0) - lgamma(BCH_BITS - BCH_T) +
                      (BCH_T + 1) * log(p) + (BCH_BITS - BCH_T - 1) * log1p(-p);
    double term = exp(log_term), sum = 0;
    for (int i = BCH_T + 1; i <= BCH_BITS && term > sum * 1e-17; i++) {
        sum += term;
        term *= (double)(BCH_BITS - i) / (i + 1) * p / (1 - p);
    }
    return p * BCH_BITS > BCH_T ? 1 : sum;
}

/* Hard error rate of the Gaussian channel whose `bits`-bit output carries `info`. */
static double equivalent_rber(unsigned bits, double info)
{
    double lo = 1e-9, hi = 0.5;
    for (int i = 0; i < 50; i++) {
        double mid = sqrt(lo * hi);
        struct ldpc_channel ch;
        ldpc_channel_awgn(mid, bits, &ch);
        if (ldpc_limit_capacity(&ch) > info)
            lo = mid;
        else
            hi = mid;
    }
    return sqrt(lo * hi);
}

static int distribution(const struct life *l, double pe, int neighbour,
                        struct nand_cell_dist *dist)
{
    struct nand_cell_use use = NAND_CELL_USE_INIT;
    char why[160];
    use.pe = pe;
    use.hours = l->days * 24;
    use.celsius = l->celsius;
    use.neighbor_state = neighbour;
    const struct nand_cell *c = l->cell;
    use.width_ln = l->sigmas * sqrt(c->var_chip * c->var_chip + c->var_block * c->var_block +
                                    c->var_layer * c->var_layer + c->var_page * c->var_page);
    if (nand_cell_dist(l->cell, &use, dist, why, sizeof why))
        return cli_refuse("ldpc: cell model: %s", why);
    return CLI_OK;
}

static void voltages(const struct life *l, const struct nand_cell_dist *dist, enum volts which,
                     struct nand_cell_volts *v)
{
    struct nand_cell_volts best, fresh;
    nand_cell_optimum(dist, &best);
    nand_cell_default(l->cell, &fresh);
    *v = which == V_DEFAULT ? fresh : best;
    if (which == V_COARSE)
        for (unsigned b = 0; b + 1 < l->cell->states; b++)
            v->v[b] = best.v[b] + COARSE_LEFT * (fresh.v[b] - best.v[b]);
    if (which == V_TABLE) {
        double least = 2;
        for (uint32_t level = 0; level <= NAND_RETRY_MAX; level++) {
            struct nand_cell_volts x;
            nand_cell_retry(l->cell, level, &x);
            double rber = nand_cell_mean_rber(dist, &x);
            if (rber < least) {
                least = rber;
                *v = x;
            }
        }
    }
}

/* Hard error rate, or information, of one page type at these voltages. *spacing of
 * the soft senses is found on first use (0) and kept. */
static int quality(const struct nand_cell_dist *dist, uint32_t type,
                   const struct nand_cell_volts *v, unsigned bits, double *spacing, double *ret)
{
    if (bits <= 1) {
        struct nand_cell_errors e;
        nand_cell_page_errors(dist, type, v, &e);
        *ret = e.rber;
        return CLI_OK;
    }
    struct nand_cell_bins bins;
    if (*spacing <= 0)
        *spacing = nand_cell_best_spacing(dist, type, v, bits);
    if (nand_cell_sense(dist, type, v, bits, *spacing, &bins))
        return cli_refuse("ldpc: cell model: sensing refused");
    *ret = nand_cell_information(&bins);
    return CLI_OK;
}

static double fer_of(const struct life *l, unsigned bits, double q)
{
    if (bits == 0)
        return bch_fer(q);
    return ldpc_table_fer(&l->table[bits], bits == 1 ? q : equivalent_rber(bits, q));
}

/* Mean FER over the page types at pe; negative after a refusal. */
static double fer_at(const struct life *l, const struct rung *r, double pe)
{
    struct nand_cell_dist dist;
    struct nand_cell_volts v;
    double sum = 0;
    bool split = r->volts == V_NEIGHBOUR;
    if (distribution(l, pe, NAND_NEIGHBOR_RANDOM, &dist))
        return -1;
    for (uint32_t type = 0; type < dist.page_types; type++) {
        double q = 0, part = 0, spacing = 0;
        int states = split ? (int)l->cell->states : 1;
        for (int n = 0; n < states; n++) { /* each neighbour state is equally frequent */
            if (distribution(l, pe, split ? n : NAND_NEIGHBOR_RANDOM, &dist))
                return -1;
            voltages(l, &dist, split ? V_TRACKED : r->volts, &v);
            if (quality(&dist, type, &v, r->soft_bits, &spacing, &part))
                return -1;
            q += part / states;
        }
        sum += fer_of(l, r->soft_bits, q);
    }
    return sum / dist.page_types;
}

/* Last P/E with FER <= target; pe_max when the model ends first; -1 on refusal. */
static double reach(const struct life *l, const struct rung *r, double target)
{
    double lo = 0, hi = l->cell->pe_max, f = fer_at(l, r, 0);
    if (f < 0 || f > target)
        return f < 0 ? -1 : 0;
    for (int i = 0; i < 12; i++) { /* to pe_max / 4096 */
        double mid = 0.5 * (lo + hi);
        f = fer_at(l, r, mid);
        if (f < 0)
            return -1;
        if (f <= target)
            lo = mid;
        else
            hi = mid;
    }
    return lo > l->cell->pe_max * 0.999 ? l->cell->pe_max : lo;
}

static int load_tables(struct life *l)
{
    for (unsigned bits = 1; bits <= SOFT_MAX; bits++) {
        char path[512], msg[160] = "", *text = NULL;
        size_t bytes;
        const char *name = strcmp(l->code_name, "qlc") ? l->code_name : "etlc"; /* same code */
        snprintf(path, sizeof path, "%s/%s-soft%u.csv", l->tables, name, bits);
        int rc = ldpc_read_file(path, &text, &bytes);
        if (rc)
            return rc;
        int err = ldpc_table_parse(text, bytes, &l->table[bits], msg, sizeof msg);
        free(text);
        if (err || l->table[bits].soft_bits != bits || strcmp(l->table[bits].code, name))
            return cli_refuse("ldpc: %s: %s", path,
                              msg[0] ? msg : "table of another code or input");
    }
    return CLI_OK;
}

static int take(struct life *l, int argc, char **argv)
{
    const char *cell = "etlc";
    struct ldpc_args a;
    *l = (struct life){.tables = "ldpc/tables", .days = 90, .celsius = 40, .sigmas = 0};
    ldpc_args_start(&a, argc, argv);
    while (ldpc_args_next(&a)) {
        if (ldpc_args_is(&a, "cell"))
            cell = a.value;
        else if (ldpc_args_is(&a, "code"))
            l->code_name = a.value;
        else if (ldpc_args_is(&a, "tables"))
            l->tables = a.value;
        else if (ldpc_args_is(&a, "json"))
            l->json = a.value;
        else if (ldpc_args_is(&a, "days"))
            l->days = ldpc_args_double(&a, 0, 3650);
        else if (ldpc_args_is(&a, "sigmas"))
            l->sigmas = ldpc_args_double(&a, -3, 3);
        else if (ldpc_args_is(&a, "celsius"))
            l->celsius = ldpc_args_double(&a, -40, 125);
        else
            ldpc_args_unknown(&a);
    }
    if (a.failed)
        return CLI_REFUSED;
    l->cell = nand_cell_find(cell);
    if (!l->cell)
        return cli_refuse("ldpc: --cell %s: unknown preset", cell);
    if (!l->code_name)
        l->code_name = strcmp(cell, "slc") ? cell : "etlc";
    int err = ldpc_code_open(l->code_name, &l->code);
    if (err)
        return cli_refuse("ldpc: --code %s: %s", l->code_name, ldpc_strerror(err));
    ldpc_code_facts(l->code, &l->facts);
    return load_tables(l);
}

static void print_head(const struct life *l)
{
    printf("cell %s, code %s (rate %.4f), %g days at %g C, pages %g sigma wider; P/E reached\n",
           l->cell->name, l->facts.name, (double)l->facts.k / l->facts.n, l->days, l->celsius,
           l->sigmas);
    printf("%-30s", "ladder");
    for (unsigned u = 0; u < UBERS; u++)
        printf("  UBER %.0e", UBER[u]);
    printf("   factor at 1e-18\n");
}

static json_t *rung_json(unsigned r, const double pe[UBERS], const double base[UBERS],
                         double pe_max)
{
    json_t *o =
        json_pack("{s:s,s:i}", "ladder", RUNGS[r].name, "soft_bits", (int)RUNGS[r].soft_bits);
    for (unsigned u = 0; u < UBERS; u++) {
        char key[32];
        snprintf(key, sizeof key, "pe_at_uber_%.0e", UBER[u]);
        json_object_set_new(o, key, json_real(pe[u]));
    }
    json_object_set_new(o, "factor", base[0] > 0 ? json_real(pe[0] / base[0]) : json_null());
    json_object_set_new(o, "model_ends_first", json_boolean(pe[0] >= pe_max));
    return o;
}

static int study(const struct life *l, double pe[RUNG_COUNT][UBERS])
{
    for (unsigned r = 0; r < RUNG_COUNT; r++)
        for (unsigned u = 0; u < UBERS; u++) {
            double bits = RUNGS[r].soft_bits ? l->facts.k : BCH_DATA;
            pe[r][u] = reach(l, &RUNGS[r], UBER[u] * bits);
            if (pe[r][u] < 0)
                return CLI_REFUSED;
        }
    return CLI_OK;
}

static void print_study(const struct life *l, double pe[RUNG_COUNT][UBERS])
{
    print_head(l);
    for (unsigned r = 0; r < RUNG_COUNT; r++) {
        printf("%-30s", RUNGS[r].name);
        for (unsigned u = 0; u < UBERS; u++)
            printf(" %s%10.0f", pe[r][u] >= l->cell->pe_max ? ">" : " ", pe[r][u]);
        bool ends = pe[r][0] >= l->cell->pe_max;
        if (pe[BASELINE][0] > 0)
            printf("  %s%6.2f x%s", ends ? ">=" : "  ", pe[r][0] / pe[BASELINE][0],
                   r == BASELINE ? " (baseline)" : "");
        else
            printf("   the baseline reaches 0: no factor");
        putchar('\n');
    }
    printf("cycles beyond %.0f (3 PE_ref) are outside of what the cell model was fitted to.\n",
           3 * l->cell->pe_ref);
    printf("baseline: %s (%.0f %% of the optimal shift left), %g days at %g C, UBER 1e-18.\n"
           "FERs below the tables are extrapolated waterfalls without floor; the cell model is "
           "calibrated, not measured.\n",
           RUNGS[BASELINE].name, 100 * COARSE_LEFT, l->days, l->celsius);
}

int cmd_ldpc_lifetime(int argc, char **argv)
{
    struct life *l = malloc(sizeof *l);
    double pe[RUNG_COUNT][UBERS];
    if (!l)
        return cli_refuse("ldpc: out of memory");
    int rc = take(l, argc, argv);
    if (!rc)
        rc = study(l, pe);
    if (!rc && (!l->json || strcmp(l->json, "-")))
        print_study(l, pe);
    if (!rc && l->json) {
        json_t *list = json_array();
        for (unsigned r = 0; r < RUNG_COUNT; r++)
            json_array_append_new(list, rung_json(r, pe[r], pe[BASELINE], l->cell->pe_max));
        json_t *root = json_pack("{s:s,s:s,s:f,s:f,s:s,s:o}", "cell", l->cell->name, "code",
                                 l->facts.name, "days", l->days, "celsius", l->celsius,
                                 "baseline", RUNGS[BASELINE].name, "ladders", list);
        if (!root || (strcmp(l->json, "-") ? json_dump_file(root, l->json, JSON_INDENT(2))
                                           : json_dumpf(root, stdout, JSON_INDENT(2))))
            rc = cli_refuse("ldpc: %s: cannot be written", l->json);
        json_decref(root);
    }
    ldpc_code_close(l->code);
    free(l);
    return rc;
}
