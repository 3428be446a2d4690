/* kern_avx2.c - 32-byte kernels. */
#include "kern.h"

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>

#define V_TARGET __attribute__((target("avx2,pclmul")))
#define V __m256i
enum { VB = 32, VW = 4 };
#define v_load(p) _mm256_load_si256((const __m256i *)(const void *)(p))
#define v_loadu(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define v_store(p, v) _mm256_store_si256((__m256i *)(void *)(p), v)
#define v_storeu(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define v_zero() _mm256_setzero_si256()
#define v_set8(x) _mm256_set1_epi8(x)
#define v_any(v) (!_mm256_testz_si256(v, v))
#define v_xor(a, b) _mm256_xor_si256(a, b)
#define v_or(a, b) _mm256_or_si256(a, b)
#define v_and(a, b) _mm256_and_si256(a, b)
#define v_srl64(v, n) _mm256_srl_epi64(v, _mm_cvtsi32_si128((int)(n)))
#define v_sll64(v, n) _mm256_sll_epi64(v, _mm_cvtsi32_si128((int)(n)))
#define v_sub8(a, b) _mm256_sub_epi8(a, b)
#define v_add8(a, b) _mm256_add_epi8(a, b)
#define v_abs8(a) _mm256_abs_epi8(a)
#define v_minu8(a, b) _mm256_min_epu8(a, b)
#define v_maxu8(a, b) _mm256_max_epu8(a, b)
#define v_shr8(v, n)                                                                        \
    _mm256_and_si256(_mm256_srl_epi16(v, _mm_cvtsi32_si128(n)),                             \
                     _mm256_set1_epi8((char)(0xff >> (n))))
#define v_pick(a, m1, n1, n2) _mm256_blendv_epi8(n1, n2, _mm256_cmpeq_epi8(a, m1))
/* psignb gives 0 for x = 0, where + is meant: set the lowest bit of x. */
#define v_sign(mag, x) _mm256_sign_epi8(mag, _mm256_or_si256(x, _mm256_set1_epi8(1)))
#define v_blend(mask, a, b) _mm256_blendv_epi8(b, a, mask)

V_TARGET static inline V v_head(uint32_t j)
{
    const V lane = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
                                    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    return _mm256_cmpgt_epi8(_mm256_set1_epi8((char)j), lane);
}

V_TARGET static inline void sign_word(const int8_t *p, uint64_t *neg, uint64_t *zero)
{
    V a = v_load(p), b = v_load(p + 32);
    *neg = (uint32_t)_mm256_movemask_epi8(a) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
    *zero = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, v_zero())) |
            (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, v_zero())) << 32;
}

#include "kern_simd.h"
#include "kern_clmul.h"

const struct kern kern_avx2 = {"avx2", VB, syndrome_v, energy_v, minsum_v, harden_v,
                               poly_mul_clmul};
#else
const struct kern kern_avx2 = {0};
#endif
