/* encode.c - parity by back-substitution, or by a dense inverse for imports.
 *
 * With R_s the rotation (R_s v)_j = v_(j+s), the parity part reads
 *   row 0: R_a0 p0          + R_c0 p2 + R_d0 p3 = s0
 *   row 1: R_a1 p0 + R_b1 p1          + R_d1 p3 = s1
 *   row 2: R_a2 p0 + R_b2 p1 + R_c2 p2          = s2
 *   row 3: R_a3 p0 + R_b3 p1 + R_c3 p2 + R_d3 p3 = s3
 * Rows 0 and 1 give p0 and p1 once p2 and p3 are known; putting them into rows 2
 * and 3 leaves a 2 x 2 system phi (p2, p3) = u whose entries are sums of a few
 * rotations. Its inverse (polynomials modulo x^z + 1) is made once per code. */
#include <stdlib.h>
#include <string.h>

#include "gf2.h"
#include "kern.h"

enum { DENSE_M_MAX = 8192 };

static void xor_rot(const struct ldpc_code *c, uint64_t *dst, const uint64_t *src,
                    uint32_t shift, uint64_t *dbl)
{
    ldpci_block_double(c, src, dbl);
    for (uint32_t w = 0; w < c->zw; w++)
        dst[w] ^= funnel(dbl, shift + 64 * w);
    dst[c->zw - 1] &= c->tail_mask;
}

static uint32_t par_shift(const struct ldpc_code *c, uint32_t row, uint32_t p)
{
    return (uint32_t)ldpc_code_shift(c, row, c->cols - GAP_ROWS + p);
}

/* s (4 plain blocks) becomes the parity (4 plain blocks p0..p3). */
static void gap2_solve(const struct ldpc_code *c, const struct kern *k, uint64_t *s,
                       uint64_t *dbl, uint64_t *poly)
{
    uint32_t z = c->z, xs = c->xs;
    uint64_t *s0 = s, *s1 = s + xs, *s2 = s + 2 * xs, *s3 = s + 3 * xs;
    uint32_t a0 = rot_back(z, par_shift(c, 0, 0)), b1 = rot_back(z, par_shift(c, 1, 1));
    uint64_t *q0 = poly, *q1 = poly + xs; /* p0 and p1 as if p2 = p3 = 0 */
    memset(poly, 0, (size_t)8 * xs * sizeof *poly);
    xor_rot(c, q0, s0, a0, dbl);
    uint64_t *tmp = poly + 2 * xs;
    memcpy(tmp, s1, xs * sizeof *s1);
    xor_rot(c, tmp, q0, par_shift(c, 1, 0), dbl);
    xor_rot(c, q1, tmp, b1, dbl);
    xor_rot(c, s2, q0, par_shift(c, 2, 0), dbl);
    xor_rot(c, s2, q1, par_shift(c, 2, 1), dbl);
    xor_rot(c, s3, q0, par_shift(c, 3, 0), dbl);
    xor_rot(c, s3, q1, par_shift(c, 3, 1), dbl);

    uint64_t *acc = poly + 2 * xs, *p2 = poly + 4 * xs, *p3 = poly + 5 * xs;
    memset(acc, 0, (size_t)2 * xs * sizeof *acc);
    k->polymul(c->phi_inv, s2, c->zw, acc);
    k->polymul(c->phi_inv + xs, s3, c->zw, acc);
    ldpci_poly_fold(z, acc, p2);
    memset(acc, 0, (size_t)2 * xs * sizeof *acc);
    k->polymul(c->phi_inv + 2 * xs, s2, c->zw, acc);
    k->polymul(c->phi_inv + 3 * xs, s3, c->zw, acc);
    ldpci_poly_fold(z, acc, p3);

    /* p0 = R_-a0 (s0 + R_c0 p2 + R_d0 p3), p1 = R_-b1 (s1 + R_a1 p0 + R_d1 p3) */
    xor_rot(c, s0, p2, par_shift(c, 0, 2), dbl);
    xor_rot(c, s0, p3, par_shift(c, 0, 3), dbl);
    memset(q0, 0, xs * sizeof *q0);
    xor_rot(c, q0, s0, a0, dbl);
    xor_rot(c, s1, q0, par_shift(c, 1, 0), dbl);
    xor_rot(c, s1, p3, par_shift(c, 1, 3), dbl);
    memset(q1, 0, xs * sizeof *q1);
    xor_rot(c, q1, s1, b1, dbl);
    memcpy(s0, q0, xs * sizeof *s0);
    memcpy(s1, q1, xs * sizeof *s1);
    memcpy(s2, p2, xs * sizeof *s2);
    memcpy(s3, p3, xs * sizeof *s3);
}

static bool has_gap2(const struct ldpc_code *c)
{
    if (c->rows != GAP_ROWS || c->cols < GAP_ROWS)
        return false;
    for (uint32_t p = 0; p < GAP_ROWS; p++)
        for (uint32_t r = 0; r < GAP_ROWS; r++)
            if ((ldpc_code_shift(c, r, c->cols - GAP_ROWS + p) < 0) != (p && r == p - 1))
                return false;
    return true;
}

/* Toggle x^-(shift sum): R_s is multiplication by x^-s. */
static void add_term(const struct ldpc_code *c, uint64_t *poly, int64_t shift)
{
    uint32_t e = (uint32_t)((4 * (int64_t)c->z - shift) % c->z);
    poly[e >> 6] ^= 1ull << (e & 63);
}

static void phi_entries(const struct ldpc_code *c, uint64_t *phi)
{
    int64_t s[GAP_ROWS][GAP_ROWS];
    for (uint32_t r = 0; r < GAP_ROWS; r++)
        for (uint32_t p = 0; p < GAP_ROWS; p++)
            s[r][p] = ldpc_code_shift(c, r, c->cols - GAP_ROWS + p);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t j = 0; j < 2; j++) {
            uint32_t r = 2 + i, p = 2 + j;
            uint64_t *f = phi + (size_t)(2 * i + j) * c->xs;
            int64_t via0 = s[0][p] - s[0][0]; /* p0 seen from column p */
            if (s[r][p] >= 0)
                add_term(c, f, s[r][p]);
            add_term(c, f, s[r][0] + via0);
            add_term(c, f, s[r][1] - s[1][1] + s[1][0] + via0);
            if (s[1][p] >= 0)
                add_term(c, f, s[r][1] - s[1][1] + s[1][p]);
        }
}

static int gap2_prepare(struct ldpc_code *c)
{
    uint32_t z = c->z, xs = c->xs;
    uint64_t *phi = calloc((size_t)xs * 8, sizeof *phi);
    c->phi_inv = calloc((size_t)xs * 4, sizeof *c->phi_inv);
    if (!phi || !c->phi_inv) {
        free(phi);
        return LDPC_ENOMEM;
    }
    uint64_t *acc = phi + 4 * xs, *det = phi + 6 * xs, *inv = phi + 7 * xs;
    phi_entries(c, phi);
    ldpci_poly_mul_c(phi, phi + 3 * xs, c->zw, acc);
    ldpci_poly_mul_c(phi + xs, phi + 2 * xs, c->zw, acc);
    ldpci_poly_fold(z, acc, det);
    int err = ldpci_poly_inverse(z, det, inv);
    static const uint8_t adjugate[4] = {3, 1, 2, 0};
    for (unsigned i = 0; i < 4 && !err; i++) {
        memset(acc, 0, (size_t)2 * xs * sizeof *acc);
        ldpci_poly_mul_c(phi + adjugate[i] * xs, inv, c->zw, acc);
        ldpci_poly_fold(z, acc, c->phi_inv + i * xs);
    }
    free(phi);
    return err == LDPC_EBROKEN ? LDPC_ESINGULAR : err;
}

static int dense_prepare(struct ldpc_code *c)
{
    uint32_t m = c->m, words = (2 * m + 63) / 64, first = c->nfull - m;
    uint64_t *a = calloc((size_t)m * words, sizeof *a);
    if (!a)
        return LDPC_ENOMEM;
    for (uint32_t i = 0; i < m; i++) {
        uint32_t r = i / c->z, j = i % c->z;
        for (uint32_t e = c->row_at[r]; e < c->row_at[r + 1]; e++) {
            uint32_t v = c->row_ent[e].at * c->z + (j + c->row_ent[e].shift) % c->z;
            if (v >= first)
                a[(size_t)i * words + ((v - first) >> 6)] |= 1ull << ((v - first) & 63);
        }
        a[(size_t)i * words + ((m + i) >> 6)] |= 1ull << ((m + i) & 63);
    }
    uint32_t got = ldpci_gf2_eliminate(a, m, words, m, true);
    if (got < m) {
        free(a);
        return LDPC_ESINGULAR;
    }
    c->dense_words = (m + 63) / 64;
    c->dense_inv = calloc((size_t)m * c->dense_words, sizeof *a);
    for (uint32_t i = 0; c->dense_inv && i < m; i++)
        for (uint32_t w = 0; w < c->dense_words; w++) {
            size_t at = (size_t)i * words + ((m + 64 * w) >> 6);
            uint32_t sh = m & 63;
            uint64_t x = a[at] >> sh;
            if (sh && (m + 64 * w) / 64 + 1 < words)
                x |= a[at + 1] << (64 - sh);
            c->dense_inv[(size_t)i * c->dense_words + w] = x;
        }
    free(a);
    return c->dense_inv ? LDPC_OK : LDPC_ENOMEM;
}

int ldpci_code_rank(const struct ldpc_code *c, uint32_t *ret_rank)
{
    uint32_t words = (c->nfull + 63) / 64;
    if ((uint64_t)c->m * c->m * words > 1ull << 36)
        return LDPC_ELIMIT;
    uint64_t *a = calloc((size_t)c->m * words, sizeof *a);
    if (!a)
        return LDPC_ENOMEM;
    for (uint32_t i = 0; i < c->m; i++) {
        uint32_t r = i / c->z, j = i % c->z;
        for (uint32_t e = c->row_at[r]; e < c->row_at[r + 1]; e++) {
            uint32_t v = c->row_ent[e].at * c->z + (j + c->row_ent[e].shift) % c->z;
            a[(size_t)i * words + (v >> 6)] ^= 1ull << (v & 63);
        }
    }
    *ret_rank = ldpci_gf2_eliminate(a, c->m, words, c->nfull, false);
    free(a);
    return LDPC_OK;
}

int ldpci_encoder_prepare(struct ldpc_code *c)
{
    int err = LDPC_ESINGULAR;
    if (has_gap2(c)) {
        err = gap2_prepare(c);
        if (!err)
            c->enc = ENC_GAP2;
    } else if (c->m <= DENSE_M_MAX) {
        err = dense_prepare(c);
        if (!err)
            c->enc = ENC_DENSE;
    }
    if (!err)
        c->rank = c->m; /* an invertible m x m part proves it */
    return err;
}

static void dense_solve(const struct ldpc_code *c, uint64_t *s, uint64_t *tmp)
{
    uint32_t words = c->dense_words;
    memset(tmp, 0, (size_t)words * 2 * sizeof *tmp);
    uint64_t *flat = tmp, *out = tmp + words;
    for (uint32_t i = 0; i < c->m; i++) {
        uint32_t r = i / c->z, j = i % c->z;
        flat[i >> 6] |= (s[(size_t)r * c->xs + (j >> 6)] >> (j & 63) & 1) << (i & 63);
    }
    for (uint32_t i = 0; i < c->m; i++) {
        uint64_t x = 0;
        for (uint32_t w = 0; w < words; w++)
            x ^= c->dense_inv[(size_t)i * words + w] & flat[w];
        out[i >> 6] |= (uint64_t)(popcount64(x) & 1) << (i & 63);
    }
    memset(s, 0, (size_t)c->rows * c->xs * sizeof *s);
    for (uint32_t i = 0; i < c->m; i++) {
        uint32_t r = i / c->z, j = i % c->z;
        s[(size_t)r * c->xs + (j >> 6)] |= (out[i >> 6] >> (i & 63) & 1) << (j & 63);
    }
}

static void data_load(const struct ldpc_code *c, const uint8_t *data, struct ws *w)
{
    size_t bytes = ((size_t)c->k + 7) / 8;
    uint32_t data_cols = c->cols - c->rows;
    for (uint32_t b = 0; b < c->cols; b++) {
        uint32_t span = b < data_cols ? valid_bits(c, b) : 0;
        memset(w->x, 0, c->xs * sizeof *w->x);
        if (span)
            ldpci_bits_load(data, bytes, (size_t)b * c->z, span, w->x);
        ldpci_block_double(c, w->x, w->xd + (size_t)b * c->ds);
    }
}

static void parity_store(const struct ldpc_code *c, const uint64_t *s, uint8_t *out)
{
    memset(out, 0, ((size_t)c->m + 7) / 8);
    for (uint32_t b = 0; b < c->rows; b++)
        ldpci_bits_or(out, (size_t)b * c->z, c->z, s + (size_t)b * c->xs);
}

int ldpc_encode(const ldpc_code *code, void *workspace, const uint8_t *data,
                uint8_t *ret_parity)
{
    if (!code || !workspace || !data || !ret_parity || ((uintptr_t)workspace & 63))
        return LDPC_EINVAL;
    if (code->enc == ENC_NONE)
        return LDPC_ESINGULAR;
    const struct kern *k = ldpci_kern_now();
    struct ws w;
    ldpci_ws_layout(code, workspace, &w);
    data_load(code, data, &w);
    k->syndrome(code, w.xd, w.s);
    if (code->enc == ENC_GAP2)
        gap2_solve(code, k, w.s, w.xd, w.poly);
    else
        dense_solve(code, w.s, w.xd);
    parity_store(code, w.s, ret_parity);
    return LDPC_OK;
}
