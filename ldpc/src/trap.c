/* trap.c - failing sets and importance sampling of the error floor. */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "dmath.h"
#include "ldpc/channel.h"

enum { PURPOSE_BIAS = 0x62696173 };

struct bench {
    const struct ldpc_code *code;
    void *mem, *ws;
    uint8_t *seen, *got;
    size_t bytes;
};

static void bench_free(struct bench *b)
{
    free(b->mem);
    free(b->seen);
    free(b->got);
}

static int bench_init(struct bench *b, const struct ldpc_code *code)
{
    *b = (struct bench){.code = code, .bytes = ldpc_code_bytes(code)};
    b->mem = malloc(ldpc_workspace_bytes(code) + 64);
    b->ws = (void *)(((uintptr_t)b->mem + 63) & ~(uintptr_t)63);
    b->seen = malloc(b->bytes);
    b->got = malloc(b->bytes);
    return b->mem && b->seen && b->got ? LDPC_OK : LDPC_ENOMEM;
}

static bool get(const uint8_t *bits, uint32_t v)
{
    return bits[v >> 3] >> (v & 7) & 1;
}

/* The all-zero word through the channel, decoded; the decoder is symmetric, so it
 * speaks for every word. Wrong bits of the answer are its ones. */
static int decode_zero(struct bench *b, const struct ldpc_mc *mc)
{
    struct ldpc_opts o = mc->opts;
    if (!o.hard_llr && mc->channel->llr[0] <= LDPC_LLR_MAX)
        o.hard_llr = (uint8_t)mc->channel->llr[0];
    return ldpc_decode_hard(b->code, b->ws, b->seen, b->got, &o, NULL);
}

/* Ones of the answer as a set; false if there are none or too many. */
static bool read_set(const struct bench *b, struct ldpc_trap *t)
{
    t->bits = 0;
    for (uint32_t v = 0; v < b->code->n; v++) {
        if (!get(b->got, v))
            continue;
        if (t->bits == LDPC_TRAP_BITS)
            return false;
        t->bit[t->bits++] = v;
    }
    return t->bits > 0;
}

static int u32_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The set rotated by `by` within every block; false if it meets a shortened bit. */
static bool rotate(const struct ldpc_code *c, const struct ldpc_trap *t, uint32_t by,
                   uint32_t *bit)
{
    for (uint32_t i = 0; i < t->bits; i++) {
        uint32_t f = full_index(c, t->bit[i]), at = f / c->z * c->z + (f % c->z + by) % c->z;
        if (at >= c->k && at < c->kfull)
            return false;
        bit[i] = at < c->k ? at : at - (c->kfull - c->k);
    }
    qsort(bit, t->bits, sizeof *bit, u32_order);
    return true;
}

static bool is_rotation(const struct ldpc_code *c, const struct ldpc_trap *a,
                        const struct ldpc_trap *b)
{
    uint32_t bit[LDPC_TRAP_BITS];
    if (a->bits != b->bits)
        return false;
    for (uint32_t by = 0; by < c->z; by++)
        if (rotate(c, a, by, bit) && !memcmp(bit, b->bit, a->bits * sizeof *bit))
            return true;
    return false;
}

static uint32_t count_copies(const struct ldpc_code *c, const struct ldpc_trap *t)
{
    uint32_t bit[LDPC_TRAP_BITS], n = 0;
    for (uint32_t by = 0; by < c->z; by++)
        n += rotate(c, t, by, bit);
    return n;
}

static int arguments(const ldpc_code *code, const struct ldpc_mc *mc)
{
    return code && mc && mc->struct_size == sizeof *mc && mc->channel &&
                   mc->channel->regions == 2 && mc->opts.struct_size == sizeof mc->opts
               ? LDPC_OK
               : LDPC_EINVAL;
}

static void keep(const struct ldpc_code *c, struct ldpc_trap *t, struct ldpc_trap *ret,
                 size_t room, size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        if (is_rotation(c, t, &ret[i]))
            return;
    if (*count < room) {
        t->copies = count_copies(c, t);
        ret[(*count)++] = *t;
    }
}

int ldpc_trap_collect(const ldpc_code *code, const struct ldpc_mc *mc, uint64_t first,
                      uint64_t count, struct ldpc_trap *ret, size_t room, size_t *ret_count)
{
    struct bench b;
    struct ldpc_trap t;
    size_t kept = 0;
    if (arguments(code, mc) || !ret || !ret_count)
        return LDPC_EINVAL;
    int err = bench_init(&b, code);
    for (uint64_t f = first; !err && f < first + count; f++) {
        memset(b.seen, 0, b.bytes);
        ldpc_channel_flip(mc->seed, f, ~mc->channel->upto[0] + 1, b.seen, code->n);
        err = decode_zero(&b, mc);
        if (err == LDPC_EUNCORR) {
            err = LDPC_OK;
            t.frame = f;
            if (read_set(&b, &t))
                keep(code, &t, ret, room, &kept);
        }
    }
    bench_free(&b);
    if (!err)
        *ret_count = kept;
    return err;
}

/* Redraw the set's bits at probability bias; returns the log likelihood ratio. */
static double redraw(struct bench *b, const struct ldpc_mc *mc, const struct ldpc_trap *t,
                     double bias, uint64_t frame)
{
    uint64_t key = draw64(draw64(mc->seed, PURPOSE_BIAS), frame);
    uint64_t limit = ldpc_prob_from_double(bias);
    double p = mc->channel->p[1], wrong = ldpci_log(p / bias),
           right = ldpci_log((1 - p) / (1 - bias));
    double sum = 0;
    for (uint32_t i = 0; i < t->bits; i++) {
        bool flip = draw64(key, i) < limit;
        uint8_t mask = (uint8_t)(1u << (t->bit[i] & 7));
        if (flip)
            b->seen[t->bit[i] >> 3] |= mask;
        else
            b->seen[t->bit[i] >> 3] &= (uint8_t)~mask;
        sum += flip ? wrong : right;
    }
    return sum;
}

int ldpc_trap_estimate(const ldpc_code *code, const struct ldpc_mc *mc,
                       const struct ldpc_trap *trap, double bias, uint64_t first,
                       uint64_t count, double *ret_fer, double *ret_sd)
{
    struct bench b;
    double sum = 0, square = 0;
    if (arguments(code, mc) || !trap || !trap->bits || trap->bits > LDPC_TRAP_BITS ||
        !(bias > 0 && bias < 1) || !count || !ret_fer || !ret_sd)
        return LDPC_EINVAL;
    int err = bench_init(&b, code);
    for (uint64_t f = first; !err && f < first + count; f++) {
        memset(b.seen, 0, b.bytes);
        ldpc_channel_flip(mc->seed, f, ~mc->channel->upto[0] + 1, b.seen, code->n);
        double ratio = redraw(&b, mc, trap, bias, f);
        err = decode_zero(&b, mc);
        if (err != LDPC_EUNCORR)
            continue;
        err = LDPC_OK;
        bool hit = false;
        for (uint32_t i = 0; i < trap->bits; i++)
            hit |= get(b.got, trap->bit[i]);
        double w = hit ? ldpci_exp(ratio) : 0;
        sum += w;
        square += w * w;
    }
    bench_free(&b);
    if (err)
        return err;
    double mean = sum / (double)count, var = square / (double)count - mean * mean;
    *ret_fer = mean * trap->copies;
    *ret_sd = ldpci_sqrt(var > 0 ? var / (double)count : 0) * trap->copies;
    return LDPC_OK;
}
