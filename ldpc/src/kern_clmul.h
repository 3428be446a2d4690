/* kern_clmul.h - GF(2) polynomial product with the carry-less multiplier. */

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
