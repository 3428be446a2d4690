#include "fixmath.h"

#include "rng.h"

/* 2^(2^-k) * 2^63 for k = 1..32, rounded down. */
static const uint64_t roots[32] = {
    UINT64_C(0xb504f333f9de6484), UINT64_C(0x9837f0518db8a96f), UINT64_C(0x8b95c1e3ea8bd6e6),
    UINT64_C(0x85aac367cc487b14), UINT64_C(0x82cd8698ac2ba1d7), UINT64_C(0x8164d1f3bc030773),
    UINT64_C(0x80b1ed4fd999ab6c), UINT64_C(0x8058d7d2d5e5f6b0), UINT64_C(0x802c6436d0e04f50),
    UINT64_C(0x8016302f17467628), UINT64_C(0x800b179c82028fd0), UINT64_C(0x80058baf7fee3b5d),
    UINT64_C(0x8002c5d00fdcfcb6), UINT64_C(0x800162e61bed4a48), UINT64_C(0x8000b17292f702a3),
    UINT64_C(0x800058b92abbae02), UINT64_C(0x80002c5c8dade4d7), UINT64_C(0x8000162e44eaf636),
    UINT64_C(0x80000b1721fa7c18), UINT64_C(0x8000058b90de7e4c), UINT64_C(0x800002c5c8678f36),
    UINT64_C(0x80000162e431db9f), UINT64_C(0x800000b1721872d0), UINT64_C(0x80000058b90c1aa8),
    UINT64_C(0x8000002c5c8605a4), UINT64_C(0x800000162e4300e6), UINT64_C(0x8000000b17217ff8),
    UINT64_C(0x800000058b90bfdd), UINT64_C(0x80000002c5c85fe6), UINT64_C(0x8000000162e42ff1),
    UINT64_C(0x80000000b17217f8), UINT64_C(0x8000000058b90bfc),
};

uint64_t wl_log2_q32(uint64_t x)
{
    int top = 63 - __builtin_clzll(x);
    uint64_t m = x << (63 - top); /* [1, 2) in Q63 */
    uint64_t bits = 0;
    for (int i = 31; i >= 0; i--) { /* squaring doubles the logarithm */
        wl_u128 square = (wl_u128)m * m >> 63;
        if (square >> 64 != 0) {
            bits |= UINT64_C(1) << i;
            square >>= 1;
        }
        m = (uint64_t)square;
    }
    return ((uint64_t)top << 32) | bits;
}

uint64_t wl_exp2_q32(int64_t x, int frac_bits)
{
    int64_t whole = (x >> 32) + frac_bits; /* floor, also below zero */
    uint32_t part = (uint32_t)x;
    uint64_t m = UINT64_C(1) << 63;
    for (int i = 0; i < 32; i++)
        if (part >> (31 - i) & 1u)
            m = (uint64_t)((wl_u128)m * roots[i] >> 63);
    if (whole >= 64)
        return UINT64_MAX;
    if (whole < 0)
        return 0;
    return m >> (63 - whole);
}

uint64_t wl_exponential_q32(uint64_t u)
{
    const uint64_t ln2_q63 = UINT64_C(0x58b90bfbe8e7bcd5); /* ln 2 * 2^63, rounded down */
    uint64_t log2 = (UINT64_C(64) << 32) - wl_log2_q32(u);
    return (uint64_t)((wl_u128)log2 * ln2_q63 >> 63);
}
