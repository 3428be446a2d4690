/* kern_packed.h - vector kernels on packed bits, written once for any width.
 *
 * The including file defines the vector type and its operations:
 *   V, VW (64-bit words), V_TARGET (function attribute)
 *   v_loadu v_storeu v_zero v_any(v) v_xor v_or v_and
 *   v_srl64(v, n) v_sll64(v, n)     n = 64 gives 0
 *   sign_word(p, neg, zero)         64 bytes -> their signs and which are 0
 *   spread_word(bits, mag, p)       64 bits -> 64 bytes, 0 -> mag, 1 -> -mag
 * and includes this file. Nothing in here depends on the width except through
 * these names, so the wide build differs from the one under test only in them. */

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

/* Which energies occur in a block: bit planes summed by OR, highest first. */
struct levels {
    V l5, l4, l3, l2, l1;
};

V_TARGET static inline V check_read(const struct ldpc_code *c, const struct ws *w,
                                    const struct entry *e, uint32_t word)
{
    const uint64_t *dbl = w->sd + (size_t)e->at * c->ds;
    return e->shift ? rot_read(dbl, c->z - e->shift, word) : v_loadu(dbl + word);
}

V_TARGET static inline void energy_vec(const struct ldpc_code *c, struct ws *w, uint32_t col,
                                       uint32_t word, const uint64_t *mask, struct levels *l)
{
    const struct entry *e = c->col_ent + c->col_at[col];
    size_t at = (size_t)col * c->xs + word;
    V s0 = check_read(c, w, e, word), s1 = check_read(c, w, e + 1, word);
    V s2 = check_read(c, w, e + 2, word), s3;
    V d = v_xor(v_loadu(w->x + at), v_loadu(w->y + at));
    V t = v_xor(s0, s1), both = v_and(s0, s1);
    if (c->col_at[col + 1] - c->col_at[col] == 4)
        s3 = check_read(c, w, e + 3, word);
    else
        s3 = v_and(both, s2);
    V sum = v_xor(t, s2), carry = v_or(both, v_and(t, s2));
    V u = v_xor(sum, s3), p0 = v_xor(u, d);
    V carry2 = v_or(v_and(sum, s3), v_and(u, d));
    V p1 = v_xor(carry, carry2), p2 = v_and(carry, carry2);
    if (mask) {
        V keep = v_loadu(mask + word);
        p0 = v_and(p0, keep);
        p1 = v_and(p1, keep);
        p2 = v_and(p2, keep);
    }
    v_storeu(w->e[0] + at, p0);
    v_storeu(w->e[1] + at, p1);
    v_storeu(w->e[2] + at, p2);
    l->l5 = v_or(l->l5, v_and(p2, p0));
    l->l4 = v_or(l->l4, p2);
    l->l3 = v_or(l->l3, v_and(p1, p0));
    l->l2 = v_or(l->l2, p1);
    l->l1 = v_or(l->l1, p0);
}

V_TARGET static uint8_t energy_block(const struct ldpc_code *c, struct ws *w, uint32_t col,
                                     const uint64_t *mask)
{
    struct levels l = {v_zero(), v_zero(), v_zero(), v_zero(), v_zero()};
    for (uint32_t word = 0; word < c->zw; word += VW)
        energy_vec(c, w, col, word, mask, &l);
    return v_any(l.l5) ? 5 : v_any(l.l4) ? 4 : v_any(l.l3) ? 3 : v_any(l.l2) ? 2
           : v_any(l.l1) ? 1 : 0;
}

V_TARGET static void energy_v(const struct ldpc_code *c, struct ws *w)
{
    uint64_t mask[16384 / 64 + 8];
    if (c->dv_max > 4 || c->dv_min < 3) {
        energy_c(c, w);
        return;
    }
    for (uint32_t col = 0; col < c->cols; col++) {
        uint32_t bits = valid_bits(c, col);
        bool masked = bits < c->z || c->z % (64 * VW);
        if (masked)
            for (uint32_t i = 0; i < c->xs; i++)
                mask[i] = bits <= 64 * i        ? 0
                          : bits >= 64 * i + 64 ? ~0ull
                                                : ~0ull >> (64 - (bits - 64 * i));
        w->emax[col] = energy_block(c, w, col, masked ? mask : NULL);
    }
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
    }
}

V_TARGET static void spread_v(const struct ldpc_code *c, struct ws *w, int8_t mag)
{
    for (uint32_t col = 0; col < c->cols; col++)
        for (uint32_t i = 0; i < c->zw; i++)
            spread_word(w->y[(size_t)col * c->xs + i], mag,
                        w->p + (size_t)col * p_stride(c) + 64 * i);
}

V_TARGET static uint32_t distance_v(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint64_t n = 0;
    for (size_t i = 0; i < words; i++)
        n += (uint64_t)_mm_popcnt_u64(a[i] ^ b[i]);
    return (uint32_t)n;
}
