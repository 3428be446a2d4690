/* floor.c - the whole frame error rate by importance sampling over known failing sets.
 *
 * A frame is drawn by first choosing a component: with probability PLAIN none, else one
 * rotation of one set, all alike. The component's bits are wrong with probability `bias`,
 * all others as the channel has it. Dividing by the density of the mixture, not by that of
 * the component chosen (Veach and Guibas 1995, the balance heuristic), makes the estimate
 * unbiased for every failure, whichever sets overlap, and bounds each weight by 1 / PLAIN. */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "dmath.h"
#include "ldpc/channel.h"

enum { PURPOSE_CHOICE = 0x63686f73, PURPOSE_BITS = 0x62697473 };
static const double PLAIN = 0.1;

struct spot { /* a bit of a set, seen from its block */
    uint32_t set, offset;
};

struct mix {
    const struct ldpc_code *code;
    const struct ldpc_mc *mc;
    const struct ldpc_trap *trap;
    uint32_t sets, z;
    double wrong, right; /* ln of the density ratio of one bit */
    uint32_t *spot_at;   /* cols + 1 */
    struct spot *spot;   /* of each block */
    uint32_t *component; /* set * z + rotation of those that exist */
    uint32_t components;
    uint8_t *valid;    /* by set * z + rotation */
    uint16_t *hits;    /* wrong bits, by set * z + rotation */
    uint32_t *touched; /* whose hits are not 0 */
    void *mem, *ws;
    uint8_t *seen, *got;
    size_t bytes;
};

static void mix_free(struct mix *m)
{
    free(m->spot_at);
    free(m->spot);
    free(m->component);
    free(m->valid);
    free(m->hits);
    free(m->touched);
    free(m->mem);
    free(m->seen);
    free(m->got);
}

static bool rotated_bit(const struct ldpc_code *c, uint32_t v, uint32_t by, uint32_t *ret)
{
    uint32_t f = full_index(c, v), at = f / c->z * c->z + (f % c->z + by) % c->z;
    *ret = at < c->k ? at : at - (c->kfull - c->k);
    return at < c->k || at >= c->kfull;
}

static void index_sets(struct mix *m)
{
    const struct ldpc_code *c = m->code;
    for (uint32_t s = 0; s < m->sets; s++)
        for (uint32_t i = 0; i < m->trap[s].bits; i++)
            m->spot_at[full_index(c, m->trap[s].bit[i]) / c->z + 1]++;
    for (uint32_t b = 0; b < c->cols; b++)
        m->spot_at[b + 1] += m->spot_at[b];
    uint32_t *fill = m->touched; /* not in use yet, and larger */
    memcpy(fill, m->spot_at, c->cols * sizeof *fill);
    for (uint32_t s = 0; s < m->sets; s++)
        for (uint32_t i = 0; i < m->trap[s].bits; i++) {
            uint32_t f = full_index(c, m->trap[s].bit[i]);
            m->spot[fill[f / c->z]++] = (struct spot){s, f % c->z};
        }
    for (uint32_t s = 0; s < m->sets; s++)
        for (uint32_t by = 0; by < c->z; by++) {
            bool whole = true;
            for (uint32_t i = 0, v; i < m->trap[s].bits; i++)
                whole &= rotated_bit(c, m->trap[s].bit[i], by, &v);
            m->valid[s * c->z + by] = whole;
            if (whole)
                m->component[m->components++] = s * c->z + by;
        }
}

static int mix_init(struct mix *m, double bias)
{
    const struct ldpc_code *c = m->code;
    size_t bits = 0, all = (size_t)m->sets * c->z;
    for (uint32_t s = 0; s < m->sets; s++) {
        if (!m->trap[s].bits || m->trap[s].bits > LDPC_TRAP_BITS)
            return LDPC_EINVAL;
        for (uint32_t i = 0; i < m->trap[s].bits; i++)
            if (m->trap[s].bit[i] >= c->n)
                return LDPC_EINVAL;
        bits += m->trap[s].bits;
    }
    double p = m->mc->channel->p[1];
    m->wrong = ldpci_log(bias / p);
    m->right = ldpci_log((1 - bias) / (1 - p));
    m->z = c->z;
    m->bytes = ldpc_code_bytes(c);
    m->spot_at = calloc((size_t)c->cols + 1, sizeof *m->spot_at);
    m->spot = malloc(bits * sizeof *m->spot);
    m->component = malloc(all * sizeof *m->component);
    m->valid = malloc(all);
    m->hits = calloc(all, sizeof *m->hits);
    m->touched = malloc((all + c->cols) * sizeof *m->touched);
    m->mem = malloc(ldpc_workspace_bytes(c) + 64);
    m->ws = (void *)(((uintptr_t)m->mem + 63) & ~(uintptr_t)63);
    m->seen = malloc(m->bytes);
    m->got = malloc(m->bytes);
    if (!m->spot_at || !m->spot || !m->component || !m->valid || !m->hits || !m->touched ||
        !m->mem || !m->seen || !m->got)
        return LDPC_ENOMEM;
    index_sets(m);
    return LDPC_OK;
}

/* Noise of one frame: the channel's, then the chosen component's bits anew. */
static void draw_frame(struct mix *m, double bias, uint64_t frame)
{
    const struct ldpc_code *c = m->code;
    uint64_t key = draw64(draw64(m->mc->seed, PURPOSE_CHOICE), frame);
    uint64_t limit = ldpc_prob_from_double(bias);
    memset(m->seen, 0, m->bytes);
    ldpc_channel_flip(m->mc->seed, frame, ~m->mc->channel->upto[0] + 1, m->seen, c->n);
    if (!m->components || draw64(key, 0) < ldpc_prob_from_double(PLAIN))
        return;
    uint32_t pick = m->component[draw64(key, 1) % m->components];
    const struct ldpc_trap *t = &m->trap[pick / m->z];
    uint64_t bits = draw64(key, PURPOSE_BITS);
    for (uint32_t i = 0; i < t->bits; i++) {
        uint32_t v = 0;
        rotated_bit(c, t->bit[i], pick % m->z, &v);
        uint8_t mask = (uint8_t)(1u << (v & 7));
        m->seen[v >> 3] &= (uint8_t)~mask;
        if (draw64(bits, i) < limit)
            m->seen[v >> 3] |= mask;
    }
}

/* The channel's density over the mixture's, at the noise drawn. Components without a
 * wrong bit differ by their size only. */
static double weight(struct mix *m)
{
    const struct ldpc_code *c = m->code;
    uint32_t touched = 0;
    double sum = 0;
    for (uint32_t v = 0; v < c->n; v++) {
        if (!(m->seen[v >> 3] >> (v & 7) & 1))
            continue;
        uint32_t f = full_index(c, v), block = f / c->z;
        for (uint32_t i = m->spot_at[block]; i < m->spot_at[block + 1]; i++) {
            uint32_t by = (f % c->z + c->z - m->spot[i].offset) % c->z;
            uint32_t at = m->spot[i].set * c->z + by;
            if (m->valid[at] && !m->hits[at]++)
                m->touched[touched++] = at;
        }
    }
    for (uint32_t s = 0; s < m->sets; s++)
        sum += m->trap[s].copies * ldpci_exp(m->trap[s].bits * m->right);
    for (uint32_t i = 0; i < touched; i++) {
        uint32_t at = m->touched[i], bits = m->trap[at / m->z].bits, k = m->hits[at];
        sum += ldpci_exp(k * m->wrong + (bits - k) * m->right) - ldpci_exp(bits * m->right);
        m->hits[at] = 0;
    }
    return m->components ? 1 / (PLAIN + (1 - PLAIN) * sum / m->components) : 1;
}

static int run(struct mix *m, double bias, uint64_t first, uint64_t count, double *sum,
               double *square)
{
    struct ldpc_opts o = m->mc->opts;
    if (!o.hard_llr && m->mc->channel->llr[0] <= LDPC_LLR_MAX)
        o.hard_llr = (uint8_t)m->mc->channel->llr[0];
    for (uint64_t f = first; f < first + count; f++) {
        draw_frame(m, bias, f);
        int err = ldpc_decode_hard(m->code, m->ws, m->seen, m->got, &o, NULL);
        if (err && err != LDPC_EUNCORR)
            return err;
        bool wrong = err != LDPC_OK;
        for (size_t i = 0; i < m->bytes && !wrong; i++)
            wrong = m->got[i] != 0; /* the all-zero word was sent */
        double w = wrong ? weight(m) : 0;
        *sum += w;
        *square += w * w;
    }
    return LDPC_OK;
}

int ldpc_floor_estimate(const ldpc_code *code, const struct ldpc_mc *mc,
                        const struct ldpc_trap *trap, size_t traps, double bias, uint64_t first,
                        uint64_t count, double *ret_fer, double *ret_sd)
{
    enum { COMPONENTS_MAX = 1 << 24 };
    if (!code || !mc || mc->struct_size != sizeof *mc || !mc->channel ||
        mc->channel->regions != 2 || mc->opts.struct_size != sizeof mc->opts ||
        (traps && !trap) || traps > COMPONENTS_MAX / code->z || !(bias > 0 && bias < 1) ||
        !count || !ret_fer || !ret_sd)
        return LDPC_EINVAL;
    struct mix m = {.code = code, .mc = mc, .trap = trap, .sets = (uint32_t)traps};
    double sum = 0, square = 0;
    int err = mix_init(&m, bias);
    if (!err)
        err = run(&m, bias, first, count, &sum, &square);
    mix_free(&m);
    if (err)
        return err;
    double mean = sum / (double)count, var = square / (double)count - mean * mean;
    *ret_fer = mean;
    *ret_sd = ldpci_sqrt(var > 0 ? var / (double)count : 0);
    return LDPC_OK;
}
