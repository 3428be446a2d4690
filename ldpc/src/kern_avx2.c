/* kern_avx2.c - 32-byte kernels. */
#include "kern.h"

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>

#define V_TARGET __attribute__((target("avx2,pclmul,popcnt")))
#define V __m256i
enum { VW = 4, WB = 64 };
#define v_load(p) _mm256_load_si256((const __m256i *)(const void *)(p))
#define v_loadu(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define v_store(p, v) _mm256_store_si256((__m256i *)(void *)(p), v)
#define v_storeu(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define v_zero() _mm256_setzero_si256()
#define v_set8(x) _mm256_set1_epi8(x)
#define v_set64(x) _mm256_set1_epi64x((long long)(x))
#define v_any(v) (!_mm256_testz_si256(v, v))
#define v_lanes(v)                                                                             \
    (15u ^ (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(v, v_zero()))))
#define v_xor(a, b) _mm256_xor_si256(a, b)
#define v_or(a, b) _mm256_or_si256(a, b)
#define v_andnot(a, b) _mm256_andnot_si256(a, b)
#define v_and(a, b) _mm256_and_si256(a, b)
#define v_srl64x(v, n) _mm256_srl_epi64(v, n)
#define v_sll64x(v, n) _mm256_sll_epi64(v, n)

typedef struct {
    __m256i a, b;
} W;
#define W_BOTH(expr_a, expr_b) ((W){expr_a, expr_b})
#define w_load(p) W_BOTH(v_load(p), v_load((p) + 32))
#define w_loadu(p) W_BOTH(v_loadu(p), v_loadu((p) + 32))
#define w_zero() W_BOTH(v_zero(), v_zero())
#define w_set8(x) W_BOTH(_mm256_set1_epi8(x), _mm256_set1_epi8(x))
#define W_ONES 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255
#define W_OP(name, op)                                                                         \
    V_TARGET static inline W name(W x, W y)                                                    \
    {                                                                                          \
        return W_BOTH(op(x.a, y.a), op(x.b, y.b));                                             \
    }
W_OP(w_xor, _mm256_xor_si256)
W_OP(w_sub8, _mm256_sub_epi8)
W_OP(w_add8, _mm256_add_epi8)
W_OP(w_minu8, _mm256_min_epu8)
W_OP(w_maxu8, _mm256_max_epu8)

V_TARGET static inline void w_store(int8_t *p, W x)
{
    v_store(p, x.a);
    v_store(p + 32, x.b);
}

V_TARGET static inline void w_storeu(int8_t *p, W x)
{
    v_storeu(p, x.a);
    v_storeu(p + 32, x.b);
}

V_TARGET static inline W w_abs8(W x)
{
    return W_BOTH(_mm256_abs_epi8(x.a), _mm256_abs_epi8(x.b));
}

V_TARGET static inline W w_shr8(W x, int n)
{
    __m128i by = _mm_cvtsi32_si128(n);
    __m256i keep = _mm256_set1_epi8((char)(0xff >> n));
    return W_BOTH(v_and(_mm256_srl_epi16(x.a, by), keep),
                  v_and(_mm256_srl_epi16(x.b, by), keep));
}

V_TARGET static inline W w_pick(W a, W m1, W n1, W n2)
{
    return W_BOTH(_mm256_blendv_epi8(n1.a, n2.a, _mm256_cmpeq_epi8(a.a, m1.a)),
                  _mm256_blendv_epi8(n1.b, n2.b, _mm256_cmpeq_epi8(a.b, m1.b)));
}

/* psignb gives 0 for x = 0, where + is meant. 0x7f and 0x80 have the wanted signs
 * and differ from every t, so that t ^ w_signs(s) is never 0. */
V_TARGET static inline W w_signs(W s)
{
    __m256i top = _mm256_set1_epi8(0x7f), zero = v_zero();
    return W_BOTH(v_xor(_mm256_cmpgt_epi8(zero, s.a), top),
                  v_xor(_mm256_cmpgt_epi8(zero, s.b), top));
}

V_TARGET static inline W w_sign(W mag, W x)
{
    return W_BOTH(_mm256_sign_epi8(mag.a, x.a), _mm256_sign_epi8(mag.b, x.b));
}

V_TARGET static inline W w_head(uint32_t j)
{
    static const uint8_t edge[128] = {W_ONES, W_ONES, W_ONES, W_ONES};
    return w_loadu(edge + 64 - j);
}

V_TARGET static inline W w_blend(W mask, W x, W y)
{
    return W_BOTH(_mm256_blendv_epi8(y.a, x.a, mask.a), _mm256_blendv_epi8(y.b, x.b, mask.b));
}

V_TARGET static inline void sign_word(const int8_t *p, uint64_t *neg, uint64_t *zero)
{
    V a = v_load(p), b = v_load(p + 32);
    V a0 = _mm256_cmpeq_epi8(a, v_zero()), b0 = _mm256_cmpeq_epi8(b, v_zero());
    *neg = (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b)
                                                   << 32;
    *zero = 0;
    if (v_any(v_or(a0, b0))) /* ties are rare */
        *zero = (uint32_t)_mm256_movemask_epi8(a0) |
                (uint64_t)(uint32_t)_mm256_movemask_epi8(b0) << 32;
}

V_TARGET static inline void spread_word(uint64_t bits, int8_t mag, int8_t *p)
{
    const V low =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const V high = v_or(low, _mm256_set1_epi8(4));
    const V bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    const V plus = _mm256_set1_epi8(mag), minus = _mm256_set1_epi8((char)-mag);
    V all = v_set64(bits);
    V a = v_and(_mm256_shuffle_epi8(all, low), bit),
      b = v_and(_mm256_shuffle_epi8(all, high), bit);
    v_store(p, _mm256_blendv_epi8(plus, minus, _mm256_cmpeq_epi8(a, bit)));
    v_store(p + 32, _mm256_blendv_epi8(plus, minus, _mm256_cmpeq_epi8(b, bit)));
}

#include "kern_packed.h"
#include "kern_minsum.h"
#include "kern_common_x86.h"

const struct kern ldpci_kern_avx2 = {
    "avx2",   WB,       syndrome_v, energy_v,   collect_v,
    minsum_v, harden_v, spread_v,   distance_v, poly_mul_clmul};
#else
const struct kern ldpci_kern_avx2 = {0};
#endif
