/* kern_packed.h - vector kernels on packed bits, written once for any width.
 *
 * The including file defines the vector type and its operations:
 *   V, VW (64-bit words), V_TARGET (function attribute)
 *   v_loadu v_storeu v_zero v_set64 v_any(v) v_xor v_or v_and v_andnot
 *   v_srl64x(v, n) v_sll64x(v, n)   n in an __m128i; 64 gives 0
 *   v_lanes(v)                      bit i: word i of v is not 0
 *   sign_word(p, neg, zero)         64 bytes -> their signs and which are 0
 *   spread_word(bits, mag, p)       64 bits -> 64 bytes, 0 -> mag, 1 -> -mag
 * and includes this file. Nothing in here depends on the width except through
 * these names, so the wide build differs from the one under test only in them. */

#if defined __clang__
#define V_UNROLL _Pragma("clang loop unroll_count(4)")
#else
#define V_UNROLL _Pragma("GCC unroll 4")
#endif

#define v_srl64(v, n) v_srl64x(v, _mm_cvtsi32_si128((int)(n)))
#define v_sll64(v, n) v_sll64x(v, _mm_cvtsi32_si128((int)(n)))

V_TARGET static inline V rot_read(const uint64_t *dbl, uint32_t at, uint32_t w)
{
    const uint64_t *p = dbl + (at >> 6) + w;
    uint32_t r = at & 63;
    return v_or(v_srl64(v_loadu(p), r), v_sll64(v_loadu(p + 1), 64 - r));
}

V_TARGET static void syndrome_row(const struct ldpc_code *c, const uint64_t *xd, uint32_t r,
                                  uint64_t *out)
{
    const struct entry *e0 = c->row_ent + c->row_at[r], *e1 = c->row_ent + c->row_at[r + 1];
    uint32_t w = 0;
    for (; w + 2 * VW <= c->xs; w += 2 * VW) {
        V a = v_zero(), b = v_zero();
        for (const struct entry *e = e0; e < e1; e++) {
            const uint64_t *dbl = xd + (size_t)e->at * c->ds;
            if (!e->shift) {
                a = v_xor(a, v_loadu(dbl + w));
                b = v_xor(b, v_loadu(dbl + w + VW));
            } else {
                a = v_xor(a, rot_read(dbl, e->shift, w));
                b = v_xor(b, rot_read(dbl, e->shift, w + VW));
            }
        }
        v_storeu(out + w, a);
        v_storeu(out + w + VW, b);
    }
    for (; w < c->xs; w += VW) {
        V a = v_zero();
        for (const struct entry *e = e0; e < e1; e++)
            a = v_xor(a, rot_read(xd + (size_t)e->at * c->ds, e->shift, w));
        v_storeu(out + w, a);
    }
}

V_TARGET static void syndrome_v(const struct ldpc_code *c, const uint64_t *xd, uint64_t *s)
{
    for (uint32_t r = 0; r < c->rows; r++) {
        uint64_t *out = s + (size_t)r * c->xs;
        syndrome_row(c, xd, r, out);
        out[c->zw - 1] &= c->tail_mask;
        for (uint32_t w = c->zw; w < c->xs; w++)
            out[w] = 0;
    }
}

/* ---- bit flipping ------------------------------------------------------------ */

/* A rotated doubled block, ready to be read vector by vector. */
struct rotated {
    const uint64_t *at;
    __m128i right, left;
};

V_TARGET static inline struct rotated rotated_open(const uint64_t *sd, const struct back *b)
{
    return (struct rotated){sd + b->word, _mm_cvtsi32_si128((int)b->bit),
                            _mm_cvtsi32_si128(64 - (int)b->bit)};
}

V_TARGET static inline V rotated_read(const struct rotated *r, uint32_t word)
{
    return v_or(v_srl64x(v_loadu(r->at + word), r->right),
                v_sll64x(v_loadu(r->at + word + 1), r->left));
}

/* What a block's energy needs: its flips so far and where the planes go. */
struct block {
    const uint64_t *sd, *x;
    uint64_t *e0, *e1, *e2;
    const struct back *back;
};

/* Adds the checks of a block's bits and the channel's disagreement; four = false
 * puts "all three failed" in the place of the missing fourth check; aligned = the
 * first check's block is not rotated. Returns 4, or 0 for anything less. */
V_TARGET static inline uint8_t energy_block(const struct block *k, uint32_t zw,
                                            const uint64_t *mask, bool four, bool aligned)
{
    const struct rotated r0 = rotated_open(k->sd, k->back);
    const struct rotated r1 = rotated_open(k->sd, k->back + 1);
    const struct rotated r2 = rotated_open(k->sd, k->back + 2);
    const struct rotated r3 = rotated_open(k->sd, k->back + (four ? 3 : 2));
    const uint64_t *x = k->x;
    uint64_t *e0 = k->e0, *e1 = k->e1, *e2 = k->e2;
    V any4 = v_zero();
    V_UNROLL
    for (uint32_t i = 0; i < zw; i += VW) {
        V s0 = aligned ? v_loadu(r0.at + i) : rotated_read(&r0, i), s1 = rotated_read(&r1, i);
        V s2 = rotated_read(&r2, i), d = v_loadu(x + i);
        V t = v_xor(s0, s1), both = v_and(s0, s1);
        V s3 = four ? rotated_read(&r3, i) : v_and(both, s2);
        V sum = v_xor(t, s2), carry = v_or(both, v_and(t, s2));
        V u = v_xor(sum, s3), p0 = v_xor(u, d);
        V carry2 = v_or(v_and(sum, s3), v_and(u, d));
        V p1 = v_xor(carry, carry2), p2 = v_and(carry, carry2);
        p0 = v_andnot(p2, p0);
        if (mask) {
            V keep = v_loadu(mask + i);
            p0 = v_and(p0, keep);
            p1 = v_and(p1, keep);
            p2 = v_and(p2, keep);
        }
        v_storeu(e0 + i, p0);
        v_storeu(e1 + i, p1);
        v_storeu(e2 + i, p2);
        any4 = v_or(any4, p2);
    }
    return v_any(any4) ? 4 : 0;
}

/* Largest energy of a block known to hold none above 3. */
V_TARGET static uint8_t energy_low(const struct ldpc_code *c, const struct ws *w, uint32_t col)
{
    size_t base = (size_t)col * c->xs;
    V l3 = v_zero(), l2 = l3, l1 = l3;
    for (uint32_t i = 0; i < c->zw; i += VW) {
        V p0 = v_loadu(w->e[0] + base + i), p1 = v_loadu(w->e[1] + base + i);
        l3 = v_or(l3, v_and(p1, p0));
        l2 = v_or(l2, p1);
        l1 = v_or(l1, p0);
    }
    return v_any(l3) ? 3 : v_any(l2) ? 2 : v_any(l1) ? 1 : 0;
}

/* Words of a block with the bits that may flip; the rest of the stride is 0. */
static void flip_mask(const struct ldpc_code *c, uint32_t bits, uint64_t *mask)
{
    for (uint32_t i = 0; i < c->xs; i++)
        mask[i] = bits <= 64 * i        ? 0
                  : bits >= 64 * i + 64 ? ~0ull
                                        : ~0ull >> (64 - (bits - 64 * i));
}

V_TARGET static void energy_v(const struct ldpc_code *c, struct ws *w)
{
    uint64_t mask[16384 / 64 + 8];
    if (c->dv_max > 4 || c->dv_min < 3) {
        ldpci_energy_c(c, w);
        return;
    }
    uint8_t max = 0;
    struct block k = {w->sd, w->x, w->e[0], w->e[1], w->e[2], c->back};
    for (uint32_t col = 0; col < c->cols; col++) {
        uint32_t bits = valid_bits(c, col), dv = c->col_at[col + 1] - c->col_at[col];
        bool masked = bits < c->z || c->z % (64 * VW);
        if (masked)
            flip_mask(c, bits, mask);
        if (dv == 4 && !masked && !k.back->bit && c->zw == 16) /* most blocks of code 4k */
            w->emax[col] = energy_block(&k, 16, NULL, true, true);
        else if (dv == 4)
            w->emax[col] = energy_block(&k, c->zw, masked ? mask : NULL, true, false);
        else
            w->emax[col] = energy_block(&k, c->zw, masked ? mask : NULL, false, false);
        max |= w->emax[col];
        k.back += dv;
        k.x += c->xs;
        k.e0 += c->xs;
        k.e1 += c->xs;
        k.e2 += c->xs;
    }
    for (uint32_t col = 0; !max && col < c->cols; col++)
        w->emax[col] = energy_low(c, w, col);
}

/* Hits are sparse and unpredictable, so a block's words are tested without a branch
 * and only the loop over those that hold some is left to guess. */
V_TARGET static uint32_t collect_v(const struct ldpc_code *c, const struct ws *w,
                                   unsigned level)
{
    V not [3];
    uint32_t n = 0;
    for (unsigned b = 0; b < 3; b++)
        not [b] = v_set64(level >> b & 1 ? 0 : ~0ull);
    for (uint32_t col = 0; col < c->cols; col++) {
        if (w->emax[col] != level)
            continue;
        size_t base = (size_t)col * c->xs;
        const uint64_t *e0 = w->e[0] + base, *e1 = w->e[1] + base, *e2 = w->e[2] + base;
        for (uint32_t at = 0; at < c->zw; at += 64) {
            uint32_t end = at + 64 < c->zw ? at + 64 : c->zw;
            uint64_t word[64], some = 0;
            for (uint32_t i = at; i < end; i += VW) {
                V hit = v_and(
                    v_and(v_xor(v_loadu(e0 + i), not [0]), v_xor(v_loadu(e1 + i), not [1])),
                    v_xor(v_loadu(e2 + i), not [2]));
                v_storeu(word + (i - at), hit);
                some |= (uint64_t)v_lanes(hit) << (i - at);
            }
            some &= end - at < 64 ? (1ull << (end - at)) - 1 : ~0ull;
            for (; some; some &= some - 1) {
                uint32_t l = lowest_bit(some);
                w->hits[n++] = (struct hit){word[l], col, at + l};
            }
        }
    }
    return n;
}

/* ---- decisions ---------------------------------------------------------------- */

V_TARGET static void harden_v(const struct ldpc_code *c, struct ws *w)
{
    for (uint32_t col = 0; col < c->cols; col++) {
        const int8_t *p = w->p + (size_t)col * p_stride(c);
        uint64_t *x = w->x + (size_t)col * c->xs;
        const uint64_t *y = w->y + (size_t)col * c->xs;
        for (uint32_t i = 0; i < c->zw; i++) {
            uint64_t neg[1], zero[1];
            sign_word(p + 64 * i, neg, zero);
            x[i] = neg[0] | (zero[0] & y[i]);
        }
        x[c->zw - 1] &= c->tail_mask;
        for (uint32_t i = c->zw; i < c->xs; i++) /* counted over whole strides */
            x[i] = 0;
    }
}

V_TARGET static void spread_v(const struct ldpc_code *c, struct ws *w, int8_t mag)
{
    for (uint32_t col = 0; col < c->cols; col++)
        for (uint32_t i = 0; i < c->zw; i++)
            spread_word(w->y[(size_t)col * c->xs + i], mag,
                        w->p + (size_t)col * p_stride(c) + 64 * i);
}
