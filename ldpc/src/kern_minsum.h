/* kern_minsum.h - the vector min-sum, 64 lanes at a time.
 *
 * The including file defines the type W of 64 bytes and its operations; with
 * AVX-512 W is one register, with AVX2 a pair of registers. Both run this very
 * text with the same layout, so only the operations below can differ:
 *   WB (64), V_TARGET
 *   w_load w_loadu w_store w_storeu w_zero w_set8(x)
 *   w_xor w_sub8 w_add8 w_abs8 w_minu8 w_maxu8 w_shr8(w, n)
 *   w_pick(a, m1, n1, n2)      bytes: a == m1 ? n2 : n1
 *   w_signs(s)                 bytes with the sign of s that make w_sign work
 *   w_sign(mag, x)             bytes: x < 0 ? -mag : mag, for x = t ^ w_signs(s),
 *                              where |t| < 127: inputs are posteriors (|P| <= 127)
 *                              less a message, so below 127 - rmax
 *   w_head(j)                  bytes: first j (1..63) bytes 0xff, the others 0
 *   w_blend(mask, a, b)        bytes: mask ? a : b */

/* Positions of a row's blocks while walking over its checks. Vector g of slot i
 * is at at[i] + g * WB. Each block has room for a mirror of its first WB bytes past
 * its end, so the one vector that straddles the end reads and writes there; at
 * then moves back by z. Mirrors hold only while a row is walked over. */
struct walk {
    int8_t *at[ROW_WEIGHT_MAX];
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
        k->at[i] = base + e[i].shift;
    }
    for (uint32_t i = 0; i < k->dc; i++)
        k->step[i] = (c->z - e[k->order[i]].shift + WB - 1) / WB;
}

/* Before a row: the mirrors that its straddling vectors read. After it: what they wrote
 * there goes to the front. */
V_TARGET static void mirror_fill(const struct ldpc_code *c, int8_t *p, uint32_t r)
{
    const struct entry *e = c->row_ent + c->row_at[r], *end = c->row_ent + c->row_at[r + 1];
    for (; e < end; e++) {
        int8_t *base = p + (size_t)e->at * p_stride(c);
        if ((c->z - e->shift) % WB)
            w_storeu(base + c->z, w_load(base));
    }
}

V_TARGET static void mirror_fold(const struct ldpc_code *c, int8_t *p, uint32_t r,
                                 uint32_t groups)
{
    const struct entry *e = c->row_ent + c->row_at[r], *end = c->row_ent + c->row_at[r + 1];
    for (; e < end; e++) {
        int8_t *base = p + (size_t)e->at * p_stride(c);
        uint32_t left = c->z - e->shift, inside = left % WB;
        if (inside && left / WB < groups)
            w_store(base, w_blend(w_head(WB - inside), w_loadu(base + c->z), w_load(base)));
    }
}

V_TARGET static inline W scale_w(W m, struct norm n)
{
    return w_minu8(w_add8(w_shr8(m, n.a), w_shr8(m, n.b)), w_set8((char)n.rmax));
}

/* Between the two loops the inputs t wait in the place of the old messages, which
 * nothing needs any more: no scratch, no cache line more than the result takes. The
 * second loop fetches what the groups to come will read: values and messages are larger
 * than a first-level cache, and no hardware prefetcher follows 36 streams. */
V_TARGET static inline void minsum_group(int8_t *const *at, size_t step, int8_t *msg,
                                         uint32_t dc, struct norm n, bool first)
{
    W m1 = w_set8(127), m2 = m1, sign = w_zero();
    V_UNROLL
    for (uint32_t i = 0; i < dc; i++) {
        W x = w_loadu(at[i] + step);
        if (!first)
            x = w_sub8(x, w_load(msg + (size_t)i * WB));
        W a = w_abs8(x);
        w_store(msg + (size_t)i * WB, x);
        m2 = w_minu8(m2, w_maxu8(m1, a));
        m1 = w_minu8(m1, a);
        sign = w_xor(sign, x);
    }
    W n1 = scale_w(m1, n), n2 = scale_w(m2, n);
    sign = w_signs(sign);
    V_UNROLL
    for (uint32_t i = 0; i < dc; i++) {
        __builtin_prefetch(at[i] + step + 2 * WB);
        __builtin_prefetch(msg + (size_t)(i + dc) * WB);
        W x = w_load(msg + (size_t)i * WB);
        W r = w_sign(w_pick(w_abs8(x), m1, n1, n2), w_xor(x, sign));
        w_store(msg + (size_t)i * WB, r);
        w_storeu(at[i] + step, w_add8(x, r));
    }
}

V_TARGET static void minsum_layer(const struct ldpc_code *c, struct ws *w, uint32_t r,
                                  struct norm n, bool first)
{
    struct walk k;
    uint32_t groups = c->z / WB;
    mirror_fill(c, w->p, r);
    walk_start(c, w->p, r, &k);
    int8_t *msg = w->r + r_group(c, r, 0, WB);
    for (uint32_t g = 0; g < groups; g++) {
        for (; k.next < k.dc && k.step[k.next] <= g; k.next++)
            k.at[k.order[k.next]] -= c->z;
        if (first)
            minsum_group(k.at, (size_t)g * WB, msg, k.dc, n, true);
        else
            minsum_group(k.at, (size_t)g * WB, msg, k.dc, n, false);
        msg += (size_t)k.dc * WB;
    }
    mirror_fold(c, w->p, r, groups);
    if (c->z % WB) { /* what is left over changes fronts once more */
        ldpci_minsum_rows(c, w->p, w->r, r, groups * WB, c->z, WB, n, first);
    }
}

V_TARGET static void minsum_v(const struct ldpc_code *c, struct ws *w, struct norm n,
                              bool first)
{
    for (uint32_t r = 0; r < c->rows; r++)
        minsum_layer(c, w, r, n, first);
}
