/* decode.c - the three stages and the choice between them.
 *
 * A word is checked first; a light syndrome goes to bit flipping, which hands
 * over to min-sum when it gives up; a heavy one goes to min-sum at once. */
#include <string.h>

#include "kern.h"

enum { ITER_DEFAULT = 40, FLIPS_DEFAULT = 40, HARD_LLR_DEFAULT = 20 };

struct job {
    const struct ldpc_code *code;
    const struct kern *kern;
    struct ws w;
    struct ldpc_opts o;
    struct ldpc_info info;
};

static void *carve(uint8_t **at, size_t bytes)
{
    void *p = *at;
    *at += (bytes + 63) & ~(size_t)63;
    return p;
}

size_t ldpci_ws_layout(const struct ldpc_code *c, void *mem, struct ws *w)
{
    uint8_t *at = mem;
    size_t plain = (size_t)c->cols * c->xs * 8, p = (size_t)c->cols * p_stride(c);
    size_t rows = (size_t)c->rows * 8;
    w->x = carve(&at, plain);
    w->y = carve(&at, plain);
    w->xd = carve(&at, (size_t)c->cols * c->ds * 8 + 64);
    w->s = carve(&at, rows * c->xs);
    w->sd = carve(&at, sd_words(c) * 8);
    for (unsigned b = 0; b < 3; b++)
        w->e[b] = carve(&at, plain);
    w->emax = carve(&at, c->cols);
    w->hits = carve(&at, ((size_t)c->cols * c->zw + 8) * sizeof *w->hits);
    w->p = carve(&at, p + 64);
    w->r = carve(&at, r_bytes(c));
    w->poly = carve(&at, (size_t)8 * c->xs * 8);
    return (size_t)(at - (uint8_t *)mem);
}

size_t ldpc_workspace_bytes(const ldpc_code *code)
{
    static uint8_t base[64]; /* any address: only differences are used */
    struct ws w;
    return code ? ldpci_ws_layout(code, base, &w) : 0;
}

int ldpc_decoder_find(const char *name, enum ldpc_decoder *ret)
{
    static const char *const names[] = {"auto", "gdbf", "pgdbf", "minsum"};
    if (!name || !ret)
        return LDPC_EINVAL;
    for (unsigned i = 0; i < 4; i++)
        if (!strcmp(name, names[i])) {
            *ret = (enum ldpc_decoder)i;
            return LDPC_OK;
        }
    return LDPC_ENAME;
}

/* P(odd) = (1 - (1-2p)^dc) / 2 of m checks, p in 1e-9, in Q32: integers only. */
static uint64_t expected_weight(const struct ldpc_code *c, uint64_t ppb)
{
    uint64_t q = ((1000000000 - 2 * ppb) << 32) / 1000000000, pow = 1ull << 32;
    for (uint32_t i = 0; i < c->dc_max; i++)
        pow = pow * q >> 32;
    return ((1ull << 32) - pow) * c->m / 2 >> 32;
}

uint32_t ldpci_flip_weight(const struct ldpc_code *c)
{
    return (uint32_t)expected_weight(c, FLIP_RBER_MAX_PPB);
}

uint32_t ldpc_rber_estimate_ppb(const ldpc_code *code, uint32_t weight)
{
    uint64_t lo = 0, hi = 500000000; /* the expected weight rises with p: bisection */
    if (!code)
        return 0;
    for (unsigned step = 0; step < 30 && lo < hi; step++) {
        uint64_t mid = (lo + hi) / 2;
        if (expected_weight(code, mid) < weight)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (uint32_t)lo;
}

/* ---- syndrome ------------------------------------------------------------------ */

static uint32_t syndrome_weight(struct job *j)
{
    static const uint64_t none[256];
    const struct ldpc_code *c = j->code;
    size_t words = (size_t)c->rows * c->xs;
    uint32_t n = 0;
    for (size_t w = 0; w < words; w += 256)
        n += j->kern->distance(j->w.s + w, none, words - w < 256 ? words - w : 256);
    return n;
}

/* Syndrome of the decisions in ws.x. */
static uint32_t syndrome(struct job *j, const uint64_t *x)
{
    const struct ldpc_code *c = j->code;
    for (uint32_t b = 0; b < c->cols; b++)
        ldpci_block_double(c, x + (size_t)b * c->xs, j->w.xd + (size_t)b * c->ds);
    j->kern->syndrome(c, j->w.xd, j->w.s);
    return syndrome_weight(j);
}

/* A decision of 1 on a bit known to be 0 is a failure even if every check holds. */
static bool shortened_clean(const struct job *j)
{
    const struct ldpc_code *c = j->code;
    for (uint32_t v = c->k; v < c->kfull; v++) {
        uint32_t b = v / c->z, i = v % c->z;
        if (j->w.x[(size_t)b * c->xs + (i >> 6)] >> (i & 63) & 1)
            return false;
    }
    return true;
}

/* ---- bit flipping ---------------------------------------------------------------- */

/* PGDBF: three flips of four are taken, drawn by round and place. */
static uint64_t thinned(const struct job *j, const struct hit *h, uint32_t round)
{
    uint64_t at = (uint64_t)h->block * j->code->zw + h->word;
    uint64_t ctr = ((uint64_t)round << 32 | at) * 2;
    return h->bits & (draw64(j->o.seed, ctr) | draw64(j->o.seed, ctr + 1));
}

static void flip_bits(struct job *j, const struct hit *h, uint64_t bits)
{
    const struct ldpc_code *c = j->code;
    const struct entry *e0 = c->col_ent + c->col_at[h->block];
    const struct entry *e1 = c->col_ent + c->col_at[h->block + 1];
    uint64_t *s = j->w.s;
    uint32_t z = c->z, xs = c->xs;
    j->w.x[(size_t)h->block * c->xs + h->word] ^= bits;
    for (; bits; bits &= bits - 1) {
        uint32_t i = h->word * 64 + lowest_bit(bits);
        for (const struct entry *e = e0; e < e1; e++) {
            uint32_t at = i - e->shift;
            at += i < e->shift ? z : 0;
            s[(size_t)e->at * xs + (at >> 6)] ^= 1ull << (at & 63);
        }
    }
}

static uint32_t flip_round(struct job *j, uint32_t weight, uint32_t round)
{
    const struct ldpc_code *c = j->code;
    unsigned level = 0;
    for (uint32_t r = 0; r < c->rows; r++)
        ldpci_block_double(c, j->w.s + (size_t)r * c->xs, j->w.sd + (size_t)r * c->ds);
    j->kern->energy(c, &j->w);
    for (uint32_t b = 0; b < c->cols; b++)
        level = j->w.emax[b] > level ? j->w.emax[b] : level;
    if (!level)
        return weight;
    uint32_t hits = j->kern->collect(c, &j->w, level);
    for (uint32_t i = 0; i < hits; i++) {
        const struct hit *h = &j->w.hits[i];
        flip_bits(j, h, j->o.decoder == LDPC_DEC_PGDBF ? thinned(j, h, round) : h->bits);
    }
    return syndrome_weight(j);
}

static uint32_t bit_flipping(struct job *j, uint32_t weight)
{
    size_t words = (size_t)j->code->cols * j->code->xs;
    memset(j->w.x, 0, words * sizeof *j->w.x); /* flips, until the end */
    j->info.stage = 1;
    for (uint32_t round = 0; weight && round < j->o.flips_max; round++) {
        weight = flip_round(j, weight, round);
        j->info.flip_rounds++;
    }
    uint64_t *restrict x = j->w.x;
    const uint64_t *restrict y = j->w.y;
    for (size_t i = 0; i < words; i++)
        x[i] ^= y[i];
    return weight;
}

/* ---- min-sum ----------------------------------------------------------------------- */

static struct norm norm_of(const struct job *j)
{
    unsigned rule = j->o.rule;
    if (rule == LDPC_RULE_AUTO)
        rule = LDPC_RULE_NMS12;
    struct norm n = {1, 3, j->code->rmax};
    if (rule == LDPC_RULE_NMS12)
        n.b = 2;
    else if (rule == LDPC_RULE_PLAIN)
        n = (struct norm){0, 7, j->code->rmax};
    return n;
}

static uint32_t min_sum(struct job *j)
{
    struct norm n = norm_of(j);
    uint32_t weight = 0;
    j->info.stage = 2;
    for (uint32_t it = 0; it < j->o.iterations_max; it++) {
        j->kern->minsum(j->code, &j->w, n, it == 0);
        j->info.iterations++;
        if (j->o.no_early_stop && it + 1 < j->o.iterations_max)
            continue;
        j->kern->harden(j->code, &j->w);
        weight = syndrome(j, j->w.x);
        if (!weight && shortened_clean(j))
            break;
    }
    return weight;
}

/* Bits known to be 0 start, and stay, at the largest value. */
static void shortened_values(struct job *j)
{
    const struct ldpc_code *c = j->code;
    for (uint32_t v = c->k; v < c->kfull; v++)
        j->w.p[(size_t)(v / c->z) * p_stride(c) + v % c->z] = LDPC_LLR_MAX;
}

/* ---- entry points -------------------------------------------------------------------- */

static int opts_take(const struct ldpc_code *c, const struct ldpc_opts *opts,
                     struct ldpc_opts *o)
{
    *o = (struct ldpc_opts){.struct_size = sizeof *o};
    if (opts) {
        if (opts->struct_size != sizeof *o)
            return LDPC_EINVAL;
        *o = *opts;
    }
    if (!o->iterations_max)
        o->iterations_max = ITER_DEFAULT;
    if (!o->flips_max)
        o->flips_max = FLIPS_DEFAULT;
    if (!o->hard_llr)
        o->hard_llr = HARD_LLR_DEFAULT;
    if (o->iterations_max > LDPC_ITER_MAX || o->flips_max > LDPC_ITER_MAX ||
        o->hard_llr > LDPC_LLR_MAX || o->decoder > LDPC_DEC_MINSUM || o->rule > LDPC_RULE_PLAIN)
        return LDPC_EINVAL;
    return c->dv_max > LDPC_WEIGHT_MAX ? LDPC_ELIMIT : LDPC_OK;
}

static int job_start(struct job *j, const struct ldpc_code *code, void *workspace,
                     const struct ldpc_opts *opts)
{
    if (!code || !workspace || ((uintptr_t)workspace & 63))
        return LDPC_EINVAL;
    int err = opts_take(code, opts, &j->o);
    if (err)
        return err;
    j->code = code;
    j->kern = ldpci_kern_now();
    j->info = (struct ldpc_info){0};
    ldpci_ws_layout(code, workspace, &j->w);
    return LDPC_OK;
}

static int job_finish(struct job *j, uint32_t weight, uint8_t *ret_bits,
                      struct ldpc_info *ret_info)
{
    const struct ldpc_code *c = j->code;
    bool ok = !weight && shortened_clean(j);
    j->info.flipped_bits = j->kern->distance(j->w.x, j->w.y, (size_t)c->cols * c->xs);
    j->info.unsatisfied = weight;
    ldpci_word_store(c, j->w.x, ret_bits);
    if (ret_info)
        *ret_info = j->info;
    return ok ? LDPC_OK : LDPC_EUNCORR;
}

static bool flip_first(const struct job *j, uint32_t weight)
{
    if (j->o.decoder != LDPC_DEC_AUTO)
        return j->o.decoder != LDPC_DEC_MINSUM;
    return j->code->dv_max <= FLIP_WEIGHT_MAX && !j->o.no_early_stop &&
           weight <= j->code->flip_weight;
}

int ldpc_decode_hard(const ldpc_code *code, void *workspace, const uint8_t *bits,
                     uint8_t *ret_bits, const struct ldpc_opts *opts,
                     struct ldpc_info *ret_info)
{
    struct job j;
    if (!bits || !ret_bits)
        return LDPC_EINVAL;
    int err = job_start(&j, code, workspace, opts);
    if (err)
        return err;
    bool flips_only = j.o.decoder == LDPC_DEC_GDBF || j.o.decoder == LDPC_DEC_PGDBF;
    if (flips_only && code->dv_max > FLIP_WEIGHT_MAX)
        return LDPC_ELIMIT;
    ldpci_word_load(code, bits, j.w.y);
    uint32_t weight = j.info.syndrome_in = syndrome(&j, j.w.y);
    if (!weight && !j.o.no_early_stop) { /* a clean word: nothing more to do */
        memmove(ret_bits, bits, ldpc_code_bytes(code));
        if (ret_info)
            *ret_info = j.info;
        return LDPC_OK;
    }
    if ((weight || j.o.no_early_stop) && flip_first(&j, weight))
        weight = bit_flipping(&j, weight);
    if ((weight || j.o.no_early_stop) && !flips_only) {
        j.kern->spread(code, &j.w, (int8_t)j.o.hard_llr);
        shortened_values(&j);
        weight = min_sum(&j);
    }
    return job_finish(&j, weight, ret_bits, ret_info);
}

/* Clip the channel values into ws.p and their signs into ws.y. */
static void soft_values(struct job *j, const int8_t *llr)
{
    const struct ldpc_code *c = j->code;
    shortened_values(j);
    for (uint32_t b = 0; b < c->cols; b++) {
        size_t at;
        uint32_t span = block_span(c, b, &at), clipped = 0;
        int8_t *p = j->w.p + (size_t)b * p_stride(c);
        for (uint32_t i = 0; i < span; i++) {
            int x = llr[at + i];
            int y = x > LDPC_LLR_MAX ? LDPC_LLR_MAX : x < -LDPC_LLR_MAX ? -LDPC_LLR_MAX : x;
            clipped += x != y;
            p[i] = (int8_t)y;
        }
        j->info.clipped += clipped;
    }
}

int ldpc_decode(const ldpc_code *code, void *workspace, const int8_t *llr, uint8_t *ret_bits,
                const struct ldpc_opts *opts, struct ldpc_info *ret_info)
{
    struct job j;
    if (!llr || !ret_bits)
        return LDPC_EINVAL;
    int err = job_start(&j, code, workspace, opts);
    if (err)
        return err;
    if (j.o.decoder == LDPC_DEC_GDBF || j.o.decoder == LDPC_DEC_PGDBF)
        return LDPC_EINVAL;
    size_t plain = (size_t)code->cols * code->xs * sizeof *j.w.x;
    soft_values(&j, llr);
    memset(j.w.y, 0, plain);
    j.kern->harden(code, &j.w); /* an unknown bit (0) starts as 0 */
    memcpy(j.w.y, j.w.x, plain);
    uint32_t weight = j.info.syndrome_in = syndrome(&j, j.w.x);
    if (weight || j.o.no_early_stop)
        weight = min_sum(&j);
    return job_finish(&j, weight, ret_bits, ret_info);
}

int ldpc_syndrome_weight(const ldpc_code *code, void *workspace, const uint8_t *bits,
                         uint32_t *ret_weight)
{
    struct job j;
    if (!bits || !ret_weight)
        return LDPC_EINVAL;
    int err = job_start(&j, code, workspace, NULL);
    if (err)
        return err;
    ldpci_word_load(code, bits, j.w.x);
    *ret_weight = syndrome(&j, j.w.x);
    return LDPC_OK;
}
