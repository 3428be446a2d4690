/* kern_common_x86.h - what is the same at any width: GF(2) products with the carry-less
 * multiplier, and counting ones. */

V_TARGET static void poly_mul_clmul(const uint64_t *a, const uint64_t *b, uint32_t words,
                                    uint64_t *acc)
{
    /* Sum by diagonals: word w collects low halves of i + j = w and high halves
     * of i + j = w - 1; even and odd alignments are kept apart by storing 128-bit
     * partial sums per diagonal. */
    __m128i carry = _mm_setzero_si128();
    for (uint32_t d = 0; d + 1 < 2 * words; d++) {
        uint32_t lo = d < words ? 0 : d - words + 1, hi = d < words ? d : words - 1;
        __m128i sum = carry;
        for (uint32_t i = lo; i <= hi; i++)
            sum = _mm_xor_si128(
                sum, _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)a[i]),
                                          _mm_cvtsi64_si128((long long)b[d - i]), 0));
        acc[d] ^= (uint64_t)_mm_cvtsi128_si64(sum);
        carry = _mm_srli_si128(sum, 8);
    }
    acc[2 * words - 1] ^= (uint64_t)_mm_cvtsi128_si64(carry);
}

/* Ones of a ^ b: nibble look-up, 32 bytes at a time (words is a multiple of 4). */
V_TARGET static uint32_t distance_v(const uint64_t *a, const uint64_t *b, size_t words)
{
    const __m256i ones = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1,
                                          1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    __m256i sum = zero;
    for (size_t i = 0; i < words; i += 4) {
        __m256i x =
            _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(a + i)),
                             _mm256_loadu_si256((const __m256i *)(const void *)(b + i)));
        __m256i n = _mm256_add_epi8(
            _mm256_shuffle_epi8(ones, _mm256_and_si256(x, low)),
            _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(n, zero));
    }
    uint64_t part[4];
    _mm256_storeu_si256((__m256i *)(void *)part, sum);
    return (uint32_t)(part[0] + part[1] + part[2] + part[3]);
}
