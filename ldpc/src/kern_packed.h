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

/* Values in registers from here on: gcc would read memory again instead. */
#ifndef V_KEEP
#define V_KEEP(a, b, c, d, e) __asm__("" : "+v"(a), "+v"(b), "+v"(c), "+v"(d), "+v"(e))
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

/* Copies of the doubled syndromes moved down by 1..7 bits: with them every rotation is one
 * unaligned read. */
V_TARGET static void syndrome_copies(const struct ldpc_code *c, uint64_t *sd)
{
    const uint32_t ds = c->ds, words = 2 * c->zw + 1;
    for (uint32_t r = 0; r < c->rows; r++) {
        const uint64_t *in = sd + (size_t)r * ds;
        uint64_t *out = sd + sd_copy(c, r, 1);
        for (uint32_t i = 0; c->byte_use[r] > 1 && i < words; i += VW) {
            V low = v_loadu(in + i), high = v_loadu(in + i + 1);
            for (int k = 1; k < 8; k++)
                v_storeu(out + (size_t)(k - 1) * ds + i,
                         v_or(v_srl64(low, k), v_sll64(high, 64 - k)));
        }
    }
}

/* Adds the checks of a block's bits and the channel's disagreement; four = false
 * puts "all three failed" in the place of the missing fourth check. plane = words from one
 * bit plane to the next. Returns 4, 3, or 0 for anything less. */
V_TARGET static inline uint8_t energy_block(const uint8_t *sd, const uint32_t *back,
                                            const uint64_t *x, uint64_t *e, size_t plane,
                                            uint32_t zw, const uint64_t *mask, bool four)
{
    const uint8_t *r0 = sd + back[0], *r1 = sd + back[1], *r2 = sd + back[2];
    const uint8_t *r3 = sd + back[four ? 3 : 2];
    V any4 = v_zero(), any3 = any4;
    V_UNROLL
    for (uint32_t i = 0; i < zw; i += VW) {
        V s0 = v_loadu(r0 + 8 * i), s1 = v_loadu(r1 + 8 * i), s2 = v_loadu(r2 + 8 * i);
        V d = v_loadu(x + i), s3 = v_loadu(r3 + 8 * i);
        V_KEEP(s0, s1, s2, s3, d);
        V t = v_xor(s0, s1), both = v_and(s0, s1);
        s3 = four ? s3 : v_and(both, s2);
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
        v_storeu(e + i, p0);
        v_storeu(e + plane + i, p1);
        v_storeu(e + 2 * plane + i, p2);
        any4 = v_or(any4, p2);
        any3 = v_or(any3, v_and(p1, p0));
    }
    return v_any(any4) ? 4 : v_any(any3) ? 3 : 0;
}

/* Largest energy of a block known to hold none above 2. */
V_TARGET static uint8_t energy_low(const struct ldpc_code *c, const struct ws *w, uint32_t col)
{
    size_t base = (size_t)col * c->xs;
    V l2 = v_zero(), l1 = l2;
    for (uint32_t i = 0; i < c->zw; i += VW) {
        l2 = v_or(l2, v_loadu(w->e[1] + base + i));
        l1 = v_or(l1, v_loadu(w->e[0] + base + i));
    }
    return v_any(l2) ? 2 : v_any(l1) ? 1 : 0;
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
    if (c->dv_max > 4 || c->dv_min < 3 || c->rows > BYTE_ROWS_MAX) {
        ldpci_energy_c(c, w);
        return;
    }
    const uint8_t *sd = (const uint8_t *)w->sd;
    const uint32_t *back = c->back;
    const size_t plane = (size_t)(w->e[1] - w->e[0]);
    uint8_t max = 0;
    syndrome_copies(c, w->sd);
    for (uint32_t col = 0; col < c->cols; col++) {
        uint32_t bits = valid_bits(c, col), dv = c->col_at[col + 1] - c->col_at[col];
        bool masked = bits < c->z || c->z % (64 * VW);
        const uint64_t *x = w->x + (size_t)col * c->xs, *m = masked ? mask : NULL;
        uint64_t *e = w->e[0] + (size_t)col * c->xs;
        uint8_t most;
        if (masked)
            flip_mask(c, bits, mask);
        if (dv == 4 && !masked && c->zw == 16) /* most blocks of code 4k */
            most = energy_block(sd, back, x, e, plane, 16, NULL, true);
        else
            most = dv == 4 ? energy_block(sd, back, x, e, plane, c->zw, m, true)
                           : energy_block(sd, back, x, e, plane, c->zw, m, false);
        w->emax[col] = most;
        max |= most;
        back += dv;
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
