/* table.c - reading measured waterfalls and carrying them on.
 *
 * The fit is the scaling law of a code of length n: the number of errors that a
 * word can bear is roughly normal, so that z = Q^-1(FER) is straight in
 * (p0 - p) sqrt(n / (p (1 - p))). Straight lines in ln FER would bend the wrong
 * way beyond the last point. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "dmath.h"
#include "ldpc/channel.h"

uint64_t ldpc_table_hash(const char *body, size_t bytes)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ (uint8_t)body[i]) * 0x100000001b3u;
    return h;
}

static int fail(char *msg, size_t room, const char *what, unsigned line)
{
    if (msg && room)
        snprintf(msg, room, "FER table: %s (line %u)", what, line);
    return LDPC_EFORMAT;
}

static double fer_of(const struct ldpc_point *p)
{
    return (double)p->errors / (double)p->frames;
}

static double spread_at(double p, double n)
{
    return ldpci_sqrt(p * (1 - p) / n);
}

/* Least squares of z alpha + p / s = p0 / s over points with 3 errors or more and
 * FER below one half, weighted by the errors seen: two unknowns. */
static int fit(struct ldpc_table *t)
{
    double sw = 0, sz = 0, sp = 0, szz = 0, szp = 0;
    unsigned used = 0;
    for (uint32_t i = 0; i < t->points; i++) {
        double f = fer_of(&t->at[i]), p = t->at[i].rber;
        if (t->at[i].errors < 3 || f >= 0.5)
            continue;
        double x = ldpci_qinv(f) * spread_at(p, t->n), w = (double)t->at[i].errors;
        w = w > 200 ? 200 : w;
        sw += w;
        sz += w * x;
        sp += w * p;
        szz += w * x * x;
        szp += w * x * p;
        used++;
    }
    double det = sw * szz - sz * sz;
    if (used < 2 || det <= 0)
        return LDPC_EFORMAT;
    double slope = (sw * szp - sz * sp) / det; /* p = p0 - alpha x */
    t->fit_alpha = -slope;
    t->fit_p0 = (sp - slope * sz) / sw;
    return t->fit_alpha > 0 ? LDPC_OK : LDPC_EFORMAT;
}

static double fit_fer(const struct ldpc_table *t, double p)
{
    return p <= 0 ? 0 : ldpci_q((t->fit_p0 - p) / (t->fit_alpha * spread_at(p, t->n)));
}

/* Copies line `at` into buf without its newline; returns where the next begins. */
static size_t take_line(const char *text, size_t bytes, size_t at, char *buf, size_t room)
{
    size_t end = at;
    while (end < bytes && text[end] != '\n')
        end++;
    size_t len = end - at < room - 1 ? end - at : room - 1;
    memcpy(buf, text + at, len);
    buf[len] = 0;
    return end < bytes ? end + 1 : end;
}

/* The mean time must be what pace and mean work say, within their rounding. */
static bool latency_fits(const struct ldpc_table *t, const struct ldpc_point *p)
{
    double ns = t->pace.start_ns + p->flips_mean * t->pace.round_ns +
                p->iterations_mean * t->pace.iteration_ns;
    double slack = 1 + 0.001 * ((double)t->pace.round_ns + t->pace.iteration_ns);
    return p->latency_mean_ns >= ns - slack && p->latency_mean_ns <= ns + slack &&
           p->latency_p50_ns <= p->latency_p99_ns;
}

static int read_point(const char *line, struct ldpc_table *t)
{
    struct ldpc_point p = {0};
    unsigned long long ppb, frames, errors, flips, milli;
    char rest;
    if (t->points == LDPC_TABLE_POINTS ||
        sscanf(line, "%llu,%llu,%llu,%llu,%llu,%u,%u,%u,%u,%u%c", &ppb, &frames, &errors,
               &flips, &milli, &p.iterations_p50, &p.iterations_p99, &p.latency_mean_ns,
               &p.latency_p50_ns, &p.latency_p99_ns, &rest) != 10)
        return LDPC_EFORMAT;
    p.rber = (double)ppb / 1e9;
    p.frames = frames;
    p.errors = errors;
    p.flips_mean = (double)flips / 1000;
    p.iterations_mean = (double)milli / 1000;
    if (!frames || errors > frames || !ppb || ppb > 500000000 ||
        (t->points && p.rber <= t->at[t->points - 1].rber) || !latency_fits(t, &p))
        return LDPC_EFORMAT;
    t->at[t->points++] = p;
    return LDPC_OK;
}

int ldpc_table_parse(const char *text, size_t bytes, struct ldpc_table *ret, char *msg,
                     size_t room)
{
    struct ldpc_table t = {0};
    char line[256];
    unsigned number = 1;
    unsigned long long hash = 0, seed = 0;
    bool known = false, paced = false;
    if (!text || !ret)
        return LDPC_EINVAL;
    size_t at = take_line(text, bytes, 0, line, sizeof line);
    if (strcmp(line, "# ldpc-fer-table 2"))
        return fail(msg, room, "not a table of version 2", number);
    while (at < bytes && text[at] == '#') {
        at = take_line(text, bytes, at, line, sizeof line);
        number++;
        if (sscanf(line, "# code=%31[^ ] n=%u soft=%u decoder=%15[^ ] iterations=%u seed=%llu",
                   t.code, &t.n, &t.soft_bits, t.decoder, &t.iterations_max, &seed) == 6)
            known = true;
        if (sscanf(line, "# pace start_ns=%u round_ns=%u iteration_ns=%u", &t.pace.start_ns,
                   &t.pace.round_ns, &t.pace.iteration_ns) == 3)
            paced = true;
        sscanf(line, "# hash=%16llx", &hash);
    }
    t.seed = seed;
    if (!known || !t.n || t.soft_bits < 1 || t.soft_bits > 3)
        return fail(msg, room, "no line that names code and decoder", number);
    if (!paced || !t.pace.iteration_ns)
        return fail(msg, room, "no line that names the decoder's pace", number);
    if (ldpc_table_hash(text + at, bytes - at) != hash)
        return fail(msg, room, "the hash does not match the body", number);
    at = take_line(text, bytes, at, line, sizeof line); /* column names */
    number++;
    while (at < bytes) {
        at = take_line(text, bytes, at, line, sizeof line);
        number++;
        if (read_point(line, &t))
            return fail(msg, room, "not a point, not rising, or a latency against the pace",
                        number);
    }
    if (fit(&t))
        return fail(msg, room, "too few points with errors to fit", number);
    *ret = t;
    return LDPC_OK;
}

double ldpc_table_fer(const struct ldpc_table *t, double rber)
{
    if (!t || !(rber > 0))
        return 0;
    for (uint32_t i = 0; i + 1 < t->points; i++) {
        const struct ldpc_point *a = &t->at[i], *b = a + 1;
        if (!a->errors || rber < a->rber || rber > b->rber)
            continue;
        double la = ldpci_log(fer_of(a)), lb = ldpci_log(fer_of(b));
        return ldpci_exp(la + (lb - la) * (rber - a->rber) / (b->rber - a->rber));
    }
    return fit_fer(t, rber);
}

double ldpc_table_rber(const struct ldpc_table *t, double fer)
{
    double lo = 1e-7, hi = 0.5;
    if (!t || !(fer > 1e-30 && fer < 1))
        return 0;
    for (int i = 0; i < 60; i++) {
        double mid = 0.5 * (lo + hi);
        if (fit_fer(t, mid) > fer)
            hi = mid;
        else
            lo = mid;
    }
    return lo;
}
