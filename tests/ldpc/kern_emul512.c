/* kern_emul512.c - the 64-byte kernel text run on pairs of 32-byte registers.
 *
 * The AVX-512 kernel is kern_packed.h and kern_minsum.h with 64-byte vectors. A
 * CPU without AVX-512 can still run that text: here every 64-byte operation is
 * two 32-byte ones. Whether each AVX-512 intrinsic in kern_avx512.c does what its
 * name says needs such a CPU, or scripts/avx512_bochs.py. */
#include "kern.h"

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>

#define V_TARGET __attribute__((target("avx2,pclmul,popcnt")))
enum { VW = 8, WB = 64 };

typedef struct {
    __m256i a, b;
} PAIR;
#define V PAIR
#define W PAIR

#define MAP2(name, op)                                                                         \
    V_TARGET static inline PAIR name(PAIR x, PAIR y)                                           \
    {                                                                                          \
        return (PAIR){op(x.a, y.a), op(x.b, y.b)};                                             \
    }
MAP2(w_xor, _mm256_xor_si256)
MAP2(v_or, _mm256_or_si256)
MAP2(v_and, _mm256_and_si256)
MAP2(v_andnot, _mm256_andnot_si256)
MAP2(w_sub8, _mm256_sub_epi8)
MAP2(w_add8, _mm256_add_epi8)
MAP2(w_minu8, _mm256_min_epu8)
MAP2(w_maxu8, _mm256_max_epu8)

V_TARGET static inline PAIR w_loadu(const void *p)
{
    return (PAIR){_mm256_loadu_si256((const __m256i *)p),
                  _mm256_loadu_si256((const __m256i *)p + 1)};
}

V_TARGET static inline void w_storeu(void *p, PAIR x)
{
    _mm256_storeu_si256((__m256i *)p, x.a);
    _mm256_storeu_si256((__m256i *)p + 1, x.b);
}

V_TARGET static inline PAIR w_set8(int x)
{
    return (PAIR){_mm256_set1_epi8((char)x), _mm256_set1_epi8((char)x)};
}

V_TARGET static inline PAIR v_set64(uint64_t x)
{
    return (PAIR){_mm256_set1_epi64x((long long)x), _mm256_set1_epi64x((long long)x)};
}

V_TARGET static inline int v_any(PAIR x)
{
    __m256i both = _mm256_or_si256(x.a, x.b);
    return !_mm256_testz_si256(both, both);
}

V_TARGET static inline unsigned v_lanes(PAIR x)
{
    uint64_t word[8];
    unsigned lanes = 0;
    w_storeu(word, x);
    for (unsigned i = 0; i < 8; i++)
        lanes |= (unsigned)(word[i] != 0) << i;
    return lanes;
}

V_TARGET static inline PAIR v_srl64x(PAIR x, __m128i n)
{
    return (PAIR){_mm256_srl_epi64(x.a, n), _mm256_srl_epi64(x.b, n)};
}

V_TARGET static inline PAIR v_sll64x(PAIR x, __m128i n)
{
    return (PAIR){_mm256_sll_epi64(x.a, n), _mm256_sll_epi64(x.b, n)};
}

V_TARGET static inline PAIR w_abs8(PAIR x)
{
    return (PAIR){_mm256_abs_epi8(x.a), _mm256_abs_epi8(x.b)};
}

V_TARGET static inline PAIR w_shr8(PAIR x, int n)
{
    return v_and(v_srl64x(x, _mm_cvtsi32_si128(n)), w_set8(0xff >> n));
}

/* Byte by byte, as the mask registers of AVX-512 do it. */
V_TARGET static inline PAIR w_pick(PAIR a, PAIR m1, PAIR n1, PAIR n2)
{
    return (PAIR){_mm256_blendv_epi8(n1.a, n2.a, _mm256_cmpeq_epi8(a.a, m1.a)),
                  _mm256_blendv_epi8(n1.b, n2.b, _mm256_cmpeq_epi8(a.b, m1.b))};
}

V_TARGET static inline PAIR w_sign(PAIR mag, PAIR x)
{
    __m256i zero = _mm256_setzero_si256();
    return (PAIR){_mm256_blendv_epi8(mag.a, _mm256_sub_epi8(zero, mag.a), x.a),
                  _mm256_blendv_epi8(mag.b, _mm256_sub_epi8(zero, mag.b), x.b)};
}

V_TARGET static inline PAIR w_head(uint32_t j)
{
    uint8_t m[64];
    for (uint32_t i = 0; i < 64; i++)
        m[i] = i < j ? 0xff : 0;
    return w_loadu(m);
}

V_TARGET static inline PAIR w_blend(PAIR mask, PAIR x, PAIR y)
{
    return (PAIR){_mm256_blendv_epi8(y.a, x.a, mask.a), _mm256_blendv_epi8(y.b, x.b, mask.b)};
}

#define w_signs(s) (s)
#define v_loadu w_loadu
#define v_storeu w_storeu
#define v_xor w_xor
#define w_load w_loadu
#define w_store w_storeu
#define v_zero() w_set8(0)
#define w_zero() w_set8(0)

static void sign_word(const int8_t *p, uint64_t *neg, uint64_t *zero)
{
    *neg = *zero = 0;
    for (int i = 0; i < 64; i++) {
        *neg |= (uint64_t)(p[i] < 0) << i;
        *zero |= (uint64_t)(p[i] == 0) << i;
    }
}

static void spread_word(uint64_t bits, int8_t mag, int8_t *p)
{
    for (int i = 0; i < 64; i++)
        p[i] = bits >> i & 1 ? (int8_t)-mag : mag;
}

#define V_KEEP(a, b, c, d, e) (void)0 /* two registers each: nothing to keep */
#include "kern_packed.h"
#include "kern_minsum.h"
#include "kern_common_x86.h"

extern const struct kern kern_emul512;
const struct kern kern_emul512 = {"emul512", WB,       syndrome_v, energy_v,   collect_v,
                                  minsum_v,  harden_v, spread_v,   distance_v, poly_mul_clmul};
#else
extern const struct kern kern_emul512;
const struct kern kern_emul512 = {0};
#endif
