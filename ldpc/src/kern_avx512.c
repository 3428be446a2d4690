/* kern_avx512.c - 64-byte kernels (AVX-512 F and BW). */
#include "kern.h"

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>

#define V_TARGET __attribute__((target("avx512f,avx512bw,avx2,pclmul,popcnt")))
#define V __m512i
#define W __m512i
enum { VW = 8, WB = 64 };
#define w_load(p) _mm512_load_si512((const void *)(p))
#define w_loadu(p) _mm512_loadu_si512((const void *)(p))
#define w_store(p, v) _mm512_store_si512((void *)(p), v)
#define w_storeu(p, v) _mm512_storeu_si512((void *)(p), v)
#define w_zero() _mm512_setzero_si512()
#define w_set8(x) _mm512_set1_epi8(x)
#define w_xor(a, b) _mm512_xor_si512(a, b)
#define v_loadu(p) _mm512_loadu_si512((const void *)(p))
#define v_storeu(p, v) _mm512_storeu_si512((void *)(p), v)
#define v_zero() _mm512_setzero_si512()
#define v_set64(x) _mm512_set1_epi64((long long)(x))
#define v_any(v) (_mm512_test_epi64_mask(v, v) != 0)
#define v_lanes(v) _mm512_test_epi64_mask(v, v)
#define v_xor(a, b) _mm512_xor_si512(a, b)
#define v_or(a, b) _mm512_or_si512(a, b)
#define v_andnot(a, b) _mm512_andnot_si512(a, b)
#define v_and(a, b) _mm512_and_si512(a, b)
#define v_srl64x(v, n) _mm512_srl_epi64(v, n)
#define v_sll64x(v, n) _mm512_sll_epi64(v, n)
#define w_sub8(a, b) _mm512_sub_epi8(a, b)
#define w_add8(a, b) _mm512_add_epi8(a, b)
#define w_abs8(a) _mm512_abs_epi8(a)
#define w_minu8(a, b) _mm512_min_epu8(a, b)
#define w_maxu8(a, b) _mm512_max_epu8(a, b)
#define w_shr8(v, n)                                                                           \
    _mm512_and_si512(_mm512_srl_epi16(v, _mm_cvtsi32_si128(n)),                                \
                     _mm512_set1_epi8((char)(0xff >> (n))))
#define w_pick(a, m1, n1, n2) _mm512_mask_mov_epi8(n1, _mm512_cmpeq_epi8_mask(a, m1), n2)
#define w_signs(s) (s)
#define w_sign(mag, x)                                                                         \
    _mm512_mask_sub_epi8(mag, _mm512_movepi8_mask(x), _mm512_setzero_si512(), mag)
#define w_head(j) _mm512_movm_epi8(~0ull >> (64 - (j)))
#define w_blend(mask, a, b) _mm512_mask_mov_epi8(b, _mm512_movepi8_mask(mask), a)

V_TARGET static inline void sign_word(const int8_t *p, uint64_t *neg, uint64_t *zero)
{
    V a = w_load(p);
    *neg = _mm512_movepi8_mask(a);
    *zero = _mm512_testn_epi8_mask(a, a);
}

V_TARGET static inline void spread_word(uint64_t bits, int8_t mag, int8_t *p)
{
    w_store(p, _mm512_mask_mov_epi8(_mm512_set1_epi8(mag), bits, _mm512_set1_epi8((char)-mag)));
}

#include "kern_packed.h"
#include "kern_minsum.h"
#include "kern_common_x86.h"

const struct kern ldpci_kern_avx512 = {
    "avx512", WB,       syndrome_v, energy_v,   collect_v,
    minsum_v, harden_v, spread_v,   distance_v, poly_mul_clmul};
#else
const struct kern ldpci_kern_avx512 = {0};
#endif
