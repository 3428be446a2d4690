/* ecc.c - measured waterfalls as integer curves, and a step of the ladder on them. */
#include "ldpc/ecc.h"

#include <stdbool.h>
#include <string.h>

#include "dmath.h"

/* Curves end at 1.5 times the threshold of the fit, where failure is certain. */
static const double REACH = 1.5;

static uint64_t q64(double p)
{
    return p >= 1 ? UINT64_MAX : p <= 0 ? 0 : (uint64_t)(p * 18446744073709551616.0);
}

/* What decodes that succeed take: failures, which take worst_ns, are taken out of the
 * mean; where they are most of it, one tells nothing of the other. */
static double success_ns(const struct ldpc_point *p, double worst)
{
    double fer = (double)p->errors / (double)p->frames;
    double ns = fer < 0.9 ? (p->latency_mean_ns - fer * worst) / (1 - fer) : worst;
    return ns > worst ? worst : ns;
}

struct span {
    double rber, mean, p99;
};

/* Measured point i, or the start of the curve (a clean word) before the first. */
static struct span span_at(const struct ldpc_table *t, uint32_t i, double worst)
{
    if (i == 0)
        return (struct span){0, t->pace.start_ns, t->pace.start_ns};
    const struct ldpc_point *p = &t->at[i - 1];
    return (struct span){p->rber, success_ns(p, worst), p->latency_p99_ns};
}

static void time_curve(const struct ldpc_table *t, struct ldpc_ecc_curve *c)
{
    double worst = t->pace.start_ns + (double)t->iterations_max * t->pace.iteration_ns;
    uint32_t at = 0;
    c->worst_ns = (uint32_t)worst;
    for (uint32_t i = 0; i < LDPC_ECC_POINTS; i++) {
        double p = (double)i * c->step_ppb / 1e9;
        while (at + 1 < t->points && p > t->at[at].rber)
            at++;
        struct span a = span_at(t, at, worst), b = span_at(t, at + 1, worst);
        double x = p > b.rber ? 1 : (p - a.rber) / (b.rber - a.rber);
        c->mean_ns[i] = (uint32_t)(a.mean + x * (b.mean - a.mean) + 0.5);
        c->p99_ns[i] = (uint32_t)(a.p99 + x * (b.p99 - a.p99) + 0.5);
    }
}

/* Where the fit meets the first measured point the two may cross: the curve never falls. */
static void curve(const struct ldpc_table *t, struct ldpc_ecc_curve *c)
{
    uint64_t most = 0;
    c->step_ppb = (uint32_t)(REACH * t->fit_p0 * 1e9 / (LDPC_ECC_POINTS - 1)) + 1;
    for (uint32_t i = 0; i + 1 < LDPC_ECC_POINTS; i++) {
        uint64_t f = q64(ldpc_table_fer(t, (double)i * c->step_ppb / 1e9));
        most = f > most ? f : most;
        c->fail[i] = most;
    }
    c->fail[LDPC_ECC_POINTS - 1] = UINT64_MAX;
    time_curve(t, c);
}

/* RBER of the fit at a FER, what that FER is in standard deviations, and the variance of
 * the share of wrong bits there. */
struct anchor {
    double p, z, var;
};

static struct anchor anchor_at(const struct ldpc_table *t, double fer)
{
    double p = ldpc_table_rber(t, fer);
    return (struct anchor){p, ldpci_qinv(fer), p * (1 - p) / t->n};
}

/* A word fails when its share of wrong bits exceeds what the decoder bears, which is
 * normal around `mean` with variance `var`, whatever the channel: then FER(p) is
 * Q((mean - p) / sqrt(var + p (1 - p) / n)). Both follow from the fit at two FERs; the
 * distance of the two RBERs grows with var, so bisection finds it. */
static int error_curve(const struct ldpc_table *t, struct ldpc_ecc *e)
{
    const struct anchor a = anchor_at(t, 1e-2), b = anchor_at(t, 1e-6);
    double low = 0, high = 1e-4;
    for (int i = 0; i < 80; i++) {
        double var = (low + high) / 2;
        if (b.z * ldpci_sqrt(var + b.var) - a.z * ldpci_sqrt(var + a.var) > a.p - b.p)
            high = var;
        else
            low = var;
    }
    if (low < 1e-12) /* steeper than the errors' own spread */
        return LDPC_EINVAL;
    double sd = ldpci_sqrt(low), mean = a.p + a.z * ldpci_sqrt(low + a.var);
    uint32_t most = (uint32_t)(REACH * mean * t->n);
    e->errors_max = most < LDPC_ECC_POINTS ? most : LDPC_ECC_POINTS - 1;
    e->fail_errors[0] = 0;
    for (uint32_t i = 1; i <= e->errors_max; i++) {
        double z = (mean - (double)i / t->n) / sd;
        e->fail_errors[i] = q64(ldpci_q(z < -37 ? -37 : z > 37 ? 37 : z));
    }
    return LDPC_OK;
}

int ldpc_ecc_from(const struct ldpc_table table[3], uint32_t k, struct ldpc_ecc *ret)
{
    if (!table || !ret)
        return LDPC_EINVAL;
    for (unsigned i = 0; i < 3; i++)
        if (table[i].soft_bits != i + 1 || table[i].n != table[0].n || !table[i].points ||
            k >= table[i].n || strcmp(table[i].code, table[0].code))
            return LDPC_EINVAL;
    memset(ret, 0, sizeof *ret);
    ret->n = table[0].n;
    ret->k = k;
    for (unsigned i = 0; i < 3; i++)
        curve(&table[i], &ret->soft[i]);
    return error_curve(&table[0], ret);
}

int ldpc_ecc_open(const char *code, struct ldpc_ecc *ret)
{
    struct ldpc_table t[3];
    ldpc_code *c = NULL;
    struct ldpc_facts f;
    int err = code && ret ? LDPC_OK : LDPC_EINVAL;
    for (unsigned i = 0; !err && i < 3; i++)
        err = ldpc_table_builtin(code, i + 1, &t[i]);
    if (!err)
        err = ldpc_code_open(code, &c);
    if (!err)
        err = ldpc_code_facts(c, &f);
    if (!err)
        err = ldpc_ecc_from(t, f.k, ret);
    ldpc_code_close(c);
    return err;
}

/* Point below rber_ppb and the way to the next, 0..step; false beyond the end. */
static bool locate(const struct ldpc_ecc_curve *c, uint32_t rber_ppb, uint32_t *i, uint32_t *x)
{
    *i = rber_ppb / c->step_ppb;
    *x = rber_ppb % c->step_ppb;
    return *i < LDPC_ECC_POINTS - 1;
}

uint64_t ldpc_ecc_fail(const struct ldpc_ecc *e, unsigned soft_bits, uint32_t rber_ppb)
{
    uint32_t i, x;
    if (!e || soft_bits < 1 || soft_bits > 3)
        return UINT64_MAX;
    const struct ldpc_ecc_curve *c = &e->soft[soft_bits - 1];
    if (!locate(c, rber_ppb, &i, &x))
        return UINT64_MAX;
    return c->fail[i] + (c->fail[i + 1] - c->fail[i]) / c->step_ppb * x;
}

uint64_t ldpc_ecc_fail_errors(const struct ldpc_ecc *e, uint32_t errors)
{
    return !e || errors > e->errors_max ? UINT64_MAX : e->fail_errors[errors];
}

static uint32_t mean_ns(const struct ldpc_ecc_curve *c, uint32_t rber_ppb)
{
    uint32_t i, x;
    if (!locate(c, rber_ppb, &i, &x))
        return c->worst_ns;
    int64_t a = c->mean_ns[i], b = c->mean_ns[i + 1];
    return (uint32_t)(a + (b - a) * x / c->step_ppb);
}

int ldpc_ecc_decode(const struct ldpc_ecc *e, const struct ldpc_costs *costs,
                    enum ldpc_step step, const struct ldpc_ecc_word *w,
                    struct ldpc_ecc_result *ret)
{
    if (!e || !costs || !w || !ret || (unsigned)step >= LDPC_STEPS)
        return LDPC_EINVAL;
    unsigned soft = ldpc_step_soft_bits(step);
    const struct ldpc_ecc_curve *c = &e->soft[soft - 1];
    bool counted = soft == 1 && w->errors != LDPC_ECC_ERRORS_UNKNOWN;
    uint64_t fail =
        counted ? ldpc_ecc_fail_errors(e, w->errors) : ldpc_ecc_fail(e, soft, w->rber_ppb);
    struct ldpc_costs priced = *costs;
    /* time by what is known of the word: its errors if they were counted */
    uint32_t rber = counted && w->errors <= e->errors_max
                        ? (uint32_t)((uint64_t)w->errors * 1000000000 / e->n)
                        : w->rber_ppb;
    ret->ok = step == LDPC_STEP_RAID || (fail != UINT64_MAX && w->u >= fail);
    ret->decode_ns = ret->ok ? mean_ns(c, rber) : c->worst_ns;
    if (step == LDPC_STEP_RAID) /* the words of the other pages: as good as new ones */
        ret->decode_ns = c->mean_ns[0];
    priced.decode_ns[0] = soft == 1 ? ret->decode_ns : c->mean_ns[0];
    priced.decode_ns[soft - 1] = ret->decode_ns;
    ldpc_step_price(&priced, step, &ret->latency_ns, &ret->energy_pj);
    return LDPC_OK;
}
