/* kern_c.c - the C reference of every kernel: plain loops that define the result. */
#include <string.h>

#include "gf2.h"
#include "kern.h"

static void syndrome_c(const struct ldpc_code *c, const uint64_t *xd, uint64_t *s)
{
    for (uint32_t r = 0; r < c->rows; r++) {
        uint64_t *out = s + (size_t)r * c->xs;
        memset(out, 0, c->xs * sizeof *out);
        for (uint32_t e = c->row_at[r]; e < c->row_at[r + 1]; e++) {
            const uint64_t *dbl = xd + (size_t)c->row_ent[e].at * c->ds;
            for (uint32_t w = 0; w < c->zw; w++)
                out[w] ^= funnel(dbl, c->row_ent[e].shift + 64 * w);
        }
        out[c->zw - 1] &= c->tail_mask;
    }
}

static uint64_t word_mask(uint32_t bits, uint32_t w)
{
    uint32_t lo = w * 64;
    return bits <= lo ? 0 : bits - lo >= 64 ? ~0ull : ~0ull >> (64 - (bits - lo));
}

/* Energy of a bit: its failing checks, plus 1 if it differs from the channel.
 * A weight-3 column with all checks failing gets 1 more, as if a fourth check
 * failed with them; else parity bits would always be flipped last. */
static unsigned energy_word(const struct ldpc_code *c, const struct ws *w, uint32_t col,
                            uint32_t word, uint64_t plane[3])
{
    uint32_t e0 = c->col_at[col], dv = c->col_at[col + 1] - e0;
    uint64_t all = ~0ull, in[FLIP_WEIGHT_MAX + 2];
    size_t at = (size_t)col * c->xs + word;
    for (uint32_t i = 0; i < dv; i++) {
        const uint64_t *dbl = w->sd + (size_t)c->col_ent[e0 + i].at * c->ds;
        in[i] = funnel(dbl, rot_back(c->z, c->col_ent[e0 + i].shift) + 64 * word);
        all &= in[i];
    }
    in[dv] = w->x[at];
    in[dv + 1] = dv == 3 ? all : 0;
    plane[0] = plane[1] = plane[2] = 0;
    for (uint32_t i = 0; i < dv + 2; i++) {
        uint64_t carry = plane[0] & in[i], carry1 = plane[1] & carry;
        plane[0] ^= in[i];
        plane[1] ^= carry;
        plane[2] ^= carry1;
    }
    uint64_t mask = word_mask(valid_bits(c, col), word);
    if (c->dv_max <= 4) /* 5 counts as 4 */
        plane[0] &= ~plane[2];
    unsigned max = 0;
    for (unsigned v = 1; v < 8; v++) {
        uint64_t hit = mask;
        for (unsigned b = 0; b < 3; b++)
            hit &= v >> b & 1 ? plane[b] : ~plane[b];
        max = hit ? v : max;
    }
    for (unsigned b = 0; b < 3; b++)
        plane[b] &= mask;
    return max;
}

void ldpci_energy_c(const struct ldpc_code *c, struct ws *w)
{
    for (uint32_t col = 0; col < c->cols; col++) {
        unsigned max = 0;
        for (uint32_t word = 0; word < c->zw; word++) {
            uint64_t plane[3];
            unsigned m = energy_word(c, w, col, word, plane);
            max = m > max ? m : max;
            for (unsigned b = 0; b < 3; b++)
                w->e[b][(size_t)col * c->xs + word] = plane[b];
        }
        w->emax[col] = (uint8_t)max;
    }
}

static uint32_t collect_c(const struct ldpc_code *c, const struct ws *w, unsigned level)
{
    uint32_t n = 0;
    for (uint32_t col = 0; col < c->cols; col++)
        for (uint32_t i = 0; w->emax[col] == level && i < c->zw; i++) {
            size_t at = (size_t)col * c->xs + i;
            uint64_t hit = ~0ull;
            for (unsigned b = 0; b < 3; b++)
                hit &= level >> b & 1 ? w->e[b][at] : ~w->e[b][at];
            if (hit)
                w->hits[n++] = (struct hit){hit, col, i};
        }
    return n;
}

static int scale(int m, struct norm n)
{
    int v = (m >> n.a) + (m >> n.b);
    return v > n.rmax ? n.rmax : v;
}

/* One check: value to check t_i = P_i - R_i; message back = product of the other
 * signs (0 counts as +) times the scaled smallest other magnitude. */
static void minsum_check(int8_t *const *p, int8_t *const *msg, uint32_t dc, struct norm n,
                         bool first)
{
    int t[ROW_WEIGHT_MAX], m1 = 127, m2 = 127;
    unsigned odd = 0;
    for (uint32_t i = 0; i < dc; i++) {
        t[i] = *p[i] - (first ? 0 : *msg[i]);
        int a = t[i] < 0 ? -t[i] : t[i];
        m2 = a < m1 ? m1 : a < m2 ? a : m2;
        m1 = a < m1 ? a : m1;
        odd ^= t[i] < 0;
    }
    int n1 = scale(m1, n), n2 = scale(m2, n);
    for (uint32_t i = 0; i < dc; i++) {
        int a = t[i] < 0 ? -t[i] : t[i];
        int mag = a == m1 ? n2 : n1;
        int r = odd ^ (t[i] < 0) ? -mag : mag;
        *msg[i] = (int8_t)r;
        *p[i] = (int8_t)(t[i] + r);
    }
}

void ldpci_minsum_rows(const struct ldpc_code *c, int8_t *p, int8_t *rmsg, uint32_t r,
                       uint32_t from, uint32_t to, unsigned lanes, struct norm n, bool first)
{
    uint32_t e0 = c->row_at[r], dc = c->row_at[r + 1] - e0;
    int8_t *pp[ROW_WEIGHT_MAX], *rr[ROW_WEIGHT_MAX];
    for (uint32_t j = from; j < to; j++) {
        int8_t *group = rmsg + r_group(c, r, j / lanes, lanes) + j % lanes;
        for (uint32_t i = 0; i < dc; i++) {
            const struct entry *e = &c->row_ent[e0 + i];
            pp[i] = p + (size_t)e->at * p_stride(c) + (j + e->shift) % c->z;
            rr[i] = group + (size_t)i * lanes;
        }
        minsum_check(pp, rr, dc, n, first);
    }
}

static void minsum_c(const struct ldpc_code *c, struct ws *w, struct norm n, bool first)
{
    for (uint32_t r = 0; r < c->rows; r++)
        ldpci_minsum_rows(c, w->p, w->r, r, 0, c->z, 1, n, first);
}

static void harden_c(const struct ldpc_code *c, struct ws *w)
{
    for (uint32_t col = 0; col < c->cols; col++) {
        const int8_t *p = w->p + (size_t)col * p_stride(c);
        uint64_t *x = w->x + (size_t)col * c->xs, *y = w->y + (size_t)col * c->xs;
        memset(x, 0, c->xs * sizeof *x);
        for (uint32_t i = 0; i < c->z; i++) {
            uint64_t bit = p[i] ? p[i] < 0 : y[i >> 6] >> (i & 63) & 1;
            x[i >> 6] |= bit << (i & 63);
        }
    }
}

static void spread_c(const struct ldpc_code *c, struct ws *w, int8_t mag)
{
    for (uint32_t col = 0; col < c->cols; col++) {
        const uint64_t *y = w->y + (size_t)col * c->xs;
        int8_t *p = w->p + (size_t)col * p_stride(c);
        for (uint32_t i = 0; i < c->z; i++)
            p[i] = y[i >> 6] >> (i & 63) & 1 ? (int8_t)-mag : mag;
    }
}

static uint32_t distance_c(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint32_t n = 0;
    for (size_t i = 0; i < words; i++)
        n += popcount64(a[i] ^ b[i]);
    return n;
}

const struct kern ldpci_kern_c = {
    "c",      1,        syndrome_c, ldpci_energy_c, collect_c,
    minsum_c, harden_c, spread_c,   distance_c,     ldpci_poly_mul_c};
