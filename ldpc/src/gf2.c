/* gf2.c - polynomials modulo x^z + 1 and dense elimination over GF(2). */
#include "gf2.h"

#include <stdlib.h>
#include <string.h>

void ldpci_poly_mul_c(const uint64_t *a, const uint64_t *b, uint32_t words, uint64_t *acc)
{
    for (uint32_t i = 0; i < words; i++)
        for (uint64_t left = b[i]; left; left &= left - 1) {
            uint32_t r = lowest_bit(left);
            uint64_t carry = 0;
            for (uint32_t w = 0; w < words; w++) {
                acc[i + w] ^= a[w] << r | carry;
                carry = (a[w] >> 1) >> (63 - r);
            }
            acc[i + words] ^= carry;
        }
}

void ldpci_poly_fold(uint32_t z, const uint64_t *acc, uint64_t *ret)
{
    uint32_t zw = (z + 63) / 64, r = z & 63, hi = z >> 6;
    for (uint32_t w = 0; w < zw; w++) {
        uint64_t x = hi + w < 2 * zw ? acc[hi + w] : 0;
        if (r) {
            uint64_t y = hi + w + 1 < 2 * zw ? acc[hi + w + 1] : 0;
            x = x >> r | y << (64 - r);
        }
        ret[w] = acc[w] ^ x;
    }
    if (r)
        ret[zw - 1] &= ~0ull >> (64 - r);
}

static int degree(const uint64_t *p, uint32_t words)
{
    for (uint32_t w = words; w-- > 0;)
        if (p[w]) {
            int d = (int)w * 64;
            for (uint64_t x = p[w]; x >>= 1;)
                d++;
            return d;
        }
    return -1;
}

static void xor_shifted(uint64_t *dst, const uint64_t *src, uint32_t words, uint32_t shift)
{
    uint32_t ws = shift >> 6, r = shift & 63;
    for (uint32_t w = words; w-- > ws;) {
        uint64_t x = src[w - ws] << r;
        if (r && w > ws)
            x |= src[w - ws - 1] >> (64 - r);
        dst[w] ^= x;
    }
}

int ldpci_poly_inverse(uint32_t z, const uint64_t *p, uint64_t *ret_inv)
{
    uint32_t zw = (z + 63) / 64, words = zw + 1;
    uint64_t *mem = calloc((size_t)words * 4, sizeof *mem);
    if (!mem)
        return LDPC_ENOMEM;
    uint64_t *r0 = mem, *r1 = mem + words, *t0 = r1 + words, *t1 = t0 + words;
    r0[0] = 1;
    r0[z >> 6] |= 1ull << (z & 63);
    memcpy(r1, p, zw * sizeof *p);
    t1[0] = 1;
    int d0 = (int)z, d1 = degree(r1, words);
    while (d1 >= 0) { /* each turn lowers d0: at most 2z turns */
        if (d0 < d1) {
            uint64_t *s = r0;
            r0 = r1;
            r1 = s;
            s = t0;
            t0 = t1;
            t1 = s;
            int d = d0;
            d0 = d1;
            d1 = d;
            continue;
        }
        xor_shifted(r0, r1, words, (uint32_t)(d0 - d1));
        xor_shifted(t0, t1, words, (uint32_t)(d0 - d1));
        d0 = degree(r0, words);
        if (d0 < 0) { /* gcd is r1 */
            d0 = d1;
            d1 = -1;
            t0 = t1;
        }
    }
    int err = d0 == 0 ? LDPC_OK : LDPC_EBROKEN;
    if (!err) {
        if (z & 63 ? t0[z >> 6] >> (z & 63) & 1 : t0[zw] & 1) { /* degree z: reduce */
            t0[z >> 6] ^= 1ull << (z & 63);
            t0[0] ^= 1;
        }
        memcpy(ret_inv, t0, zw * sizeof *t0);
    }
    free(mem);
    return err;
}

/* Gauss-Jordan on `rows` rows of `words` words, pivots in the first `cols`
 * columns. Returns the number of pivots; pivot p ends in row p. */
uint32_t ldpci_gf2_eliminate(uint64_t *a, uint32_t rows, uint32_t words, uint32_t cols,
                             bool full)
{
    uint32_t rank = 0;
    for (uint32_t c = 0; c < cols && rank < rows; c++) {
        uint32_t p = rank;
        while (p < rows && !(a[(size_t)p * words + (c >> 6)] >> (c & 63) & 1))
            p++;
        if (p == rows)
            continue;
        uint64_t *top = a + (size_t)rank * words, *piv = a + (size_t)p * words;
        uint32_t from = full ? 0 : c >> 6;
        if (p != rank)
            for (uint32_t w = from; w < words; w++) {
                uint64_t t = top[w];
                top[w] = piv[w];
                piv[w] = t;
            }
        for (uint32_t r = full ? 0 : rank + 1; r < rows; r++) {
            uint64_t *row = a + (size_t)r * words;
            if (r == rank || !(row[c >> 6] >> (c & 63) & 1))
                continue;
            for (uint32_t w = from; w < words; w++)
                row[w] ^= top[w];
        }
        rank++;
    }
    return rank;
}
