/* kern_simd.h - the vector kernels, written once for any width.
 *
 * The including file defines the vector type and its operations:
 *   V, VB (bytes), VW (64-bit words), V_TARGET (function attribute)
 *   v_load v_loadu v_store v_storeu v_zero v_set8(x) v_any(v)
 *   v_xor v_or v_and v_srl64(v, n) v_sll64(v, n)     n = 64 gives 0
 *   v_sub8 v_add8 v_abs8 v_minu8 v_maxu8 v_shr8(v, n)
 *   v_pick(a, m1, n1, n2)      bytes: a == m1 ? n2 : n1
 *   v_sign(mag, x)             bytes: x < 0 ? -mag : mag
 *   v_head(j)                  bytes: first j bytes 0xff, the others 0
 *   v_blend(mask, a, b)        bytes: mask ? a : b
 *   v_negbits(v, ret_words)    sign bits of VB bytes -> VB/64 words (VB/32 half words)
 *   v_zerobits(v, ret_words)   the same for bytes equal to 0
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

/* ---- min-sum ------------------------------------------------------------------- */

/* Positions of a row's blocks while walking over its checks. Vector g of slot i
 * is at p + off[i] + g * VB. Each block has a mirror of its first VB bytes past
 * its end, so the one vector that straddles the end reads and writes there; off
 * then moves back by z. mirror_in and mirror_out keep the two copies one. */
struct walk {
    int32_t off[ROW_WEIGHT_MAX]; /* below 0 once the first block has wrapped */
    uint32_t step[ROW_WEIGHT_MAX]; /* first group beyond the end, by wrap order */
    const uint16_t *order;
    uint32_t next, dc;
};

V_TARGET static void walk_start(const struct ldpc_code *c, int8_t *p, uint32_t r,
                                struct walk *k)
{
    const struct entry *e = c->row_ent + c->row_at[r];
    k->dc = c->row_at[r + 1] - c->row_at[r];
    k->order = c->wrap_order + c->row_at[r];
    k->next = 0;
    for (uint32_t i = 0; i < k->dc; i++) {
        int8_t *base = p + (size_t)e[i].at * p_stride(c);
        k->off[i] = (int32_t)(e[i].at * p_stride(c) + e[i].shift);
        v_storeu(base + c->z, v_load(base));
    }
    for (uint32_t i = 0; i < k->dc; i++)
        k->step[i] = (c->z - e[k->order[i]].shift + VB - 1) / VB;
}

V_TARGET static void walk_end(const struct ldpc_code *c, int8_t *p, uint32_t r, uint32_t groups)
{
    const struct entry *e = c->row_ent + c->row_at[r];
    for (uint32_t i = 0; i < c->row_at[r + 1] - c->row_at[r]; i++) {
        uint32_t over = (c->z - e[i].shift) % VB;
        if (!over || (c->z - e[i].shift) / VB >= groups)
            continue;
        int8_t *base = p + (size_t)e[i].at * p_stride(c);
        v_store(base, v_blend(v_head(VB - over), v_loadu(base + c->z), v_load(base)));
    }
}

V_TARGET static inline V scale_v(V m, struct norm n)
{
    return v_minu8(v_add8(v_shr8(m, n.a), v_shr8(m, n.b)), v_set8((char)n.rmax));
}

V_TARGET static inline void minsum_group(int8_t *p, int8_t *msg, int8_t *t,
                                         const int32_t *off, uint32_t dc, struct norm n,
                                         bool first)
{
    V m1 = v_set8(127), m2 = m1, sign = v_zero();
    for (uint32_t i = 0; i < dc; i++) {
        V x = v_loadu(p + off[i]);
        if (!first)
            x = v_sub8(x, v_load(msg + (size_t)i * VB));
        V a = v_abs8(x);
        v_store(t + (size_t)i * VB, x);
        m2 = v_minu8(m2, v_maxu8(m1, a));
        m1 = v_minu8(m1, a);
        sign = v_xor(sign, x);
    }
    V n1 = scale_v(m1, n), n2 = scale_v(m2, n);
    for (uint32_t i = 0; i < dc; i++) {
        V x = v_load(t + (size_t)i * VB);
        V r = v_sign(v_pick(v_abs8(x), m1, n1, n2), v_xor(x, sign));
        v_store(msg + (size_t)i * VB, r);
        v_storeu(p + off[i], v_add8(x, r));
    }
}

V_TARGET static void minsum_layer(const struct ldpc_code *c, struct ws *w, uint32_t r,
                                  struct norm n, bool first)
{
    struct walk k;
    uint32_t groups = c->z / VB;
    walk_start(c, w->p, r, &k);
    int8_t *msg = w->r + r_group(c, r, 0, VB);
    for (uint32_t g = 0; g < groups; g++) {
        for (; k.next < k.dc && k.step[k.next] <= g; k.next++)
            k.off[k.order[k.next]] -= (int32_t)c->z;
        if (first)
            minsum_group(w->p + g * VB, msg, w->t, k.off, k.dc, n, true);
        else
            minsum_group(w->p + g * VB, msg, w->t, k.off, k.dc, n, false);
        msg += (size_t)k.dc * VB;
    }
    walk_end(c, w->p, r, groups);
    if (c->z % VB)
        minsum_rows(c, w->p, w->r, r, groups * VB, c->z, VB, n, first);
}

V_TARGET static void minsum_v(const struct ldpc_code *c, struct ws *w, struct norm n, bool first)
{
    for (uint32_t r = 0; r < c->rows; r++)
        minsum_layer(c, w, r, n, first);
}

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
