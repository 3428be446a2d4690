/* ecc.h - what the codec does to a word, without decoding it: for simulations of whole
 * drives, which read millions of pages. Measured tables (channel.h, MODEL.md) become
 * integer curves once; then a decode costs two look-ups and no floating point.
 *
 * One code word, from the first read to the end of its ladder:
 *
 *     struct ldpc_retry r;       the ladder's steps and voltages, dsp.h
 *     struct ldpc_action a;
 *     struct ldpc_ecc_result d = {0};
 *     ldpc_retry_begin(&r, &ladder, last_good);
 *     while (!d.ok && ldpc_retry_next(&r, &a)) {
 *         struct ldpc_ecc_word w = {rber at a.volt in ppb, errors counted, u};
 *         ldpc_ecc_decode(&ecc, &ladder.costs, a.step, &w, &d);
 *         time += d.latency_ns; energy += d.energy_pj;
 *     }
 *
 * Below the measured points a curve is the fitted waterfall: an extrapolation that
 * knows no floor. Soft pages count as the Gaussian channel of the same hard RBER. */
#ifndef LDPC_ECC_H_
#define LDPC_ECC_H_

#include "ldpc/channel.h"
#include "ldpc/dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LDPC_ECC_POINTS = 1025, LDPC_ECC_ERRORS_UNKNOWN = 0x7fffffff };

/* By RBER, point i at i * step_ppb. */
struct ldpc_ecc_curve {
    uint32_t step_ppb, worst_ns; /* worst_ns: a decode that gives up */
    uint64_t fail[LDPC_ECC_POINTS]; /* P(failure) * 2^64; UINT64_MAX = certain */
    uint32_t mean_ns[LDPC_ECC_POINTS], p99_ns[LDPC_ECC_POINTS]; /* of decodes that succeed */
};

/* Curves of a code. Some 50 KB, the caller's memory, no pointers: copy freely. */
struct ldpc_ecc {
    uint32_t n, k;
    struct ldpc_ecc_curve soft[3];         /* 1, 2, 3 soft bits */
    uint32_t errors_max;                   /* more errors than that: certain failure */
    uint64_t fail_errors[LDPC_ECC_POINTS]; /* hard: P(failure | errors) * 2^64 */
};

/* The built-in table of a code ("4k", "etlc", "qlc", "tlc", "mlc") for 1, 2 or 3 soft
 * bits, the same as the committed file. Errors: EINVAL, ENAME. Cost: O(20 us). */
LDPC_API int ldpc_table_builtin(const char *code, unsigned soft_bits, struct ldpc_table *ret);

/* Curves from the built-in tables of a code. Cost: O(ms), floating point. Errors: EINVAL,
 * ENAME. */
LDPC_API int ldpc_ecc_open(const char *code, struct ldpc_ecc *ret);

/* Curves from three tables of one code, at 1, 2 and 3 soft bits, k data bits. Errors:
 * EINVAL (different codes, order, a hard waterfall steeper than binomial errors allow). */
LDPC_API int ldpc_ecc_from(const struct ldpc_table table[3], uint32_t k, struct ldpc_ecc *ret);

/* P(failure) * 2^64 at a hard RBER: ldpc_table_fer(), straight between the points of the
 * curve (within 1 % where the table is smooth, down to 1e-17), never falling. UINT64_MAX =
 * certain, also for soft_bits not 1..3. */
LDPC_API uint64_t ldpc_ecc_fail(const struct ldpc_ecc *e, unsigned soft_bits,
                                uint32_t rber_ppb);

/* The same for a hard decode of a word with a known number of wrong bits. Averaged over
 * binomial errors it is the fitted waterfall again (within a third at FER 1e-4, a factor of
 * 2 at 1e-6, where the binomial tail is skewed and the fit is not); words decoded with 322,
 * 335 and 350 errors fail as often as it says (tests/ldpc/test_ecc.c). */
LDPC_API uint64_t ldpc_ecc_fail_errors(const struct ldpc_ecc *e, uint32_t errors);

struct ldpc_ecc_word {
    uint32_t rber_ppb; /* hard RBER at the voltages of this read */
    uint32_t errors;   /* counted wrong bits, or LDPC_ECC_ERRORS_UNKNOWN: rber_ppb decides.
                        * Hard steps only: soft steps go by rber_ppb, never 0 by mistake. */
    uint64_t u;        /* uniform 64 bits of this word, the same for all its steps */
};

struct ldpc_ecc_result {
    uint8_t ok;
    uint32_t decode_ns; /* mean of decodes that succeed at this RBER; else worst_ns */
    uint64_t latency_ns, energy_pj; /* of the step: senses, transfers and decoder */
};

/* Does this step of the ladder bring the word back? ok = not (u < P(failure)): with one
 * u for all steps of a word, each step fails as often as its curve says and a word that
 * fails a better read has failed the worse ones (joint failures are as likely as the
 * curves permit; the safe side). costs as in dsp.h except that decode_ns is taken from
 * the table. RAID is priced and ok: whether the other pages decode is the caller's.
 * Integers only, no allocation, tens of ns. Errors: EINVAL. */
LDPC_API int ldpc_ecc_decode(const struct ldpc_ecc *e, const struct ldpc_costs *costs,
                             enum ldpc_step step, const struct ldpc_ecc_word *word,
                             struct ldpc_ecc_result *ret);

#ifdef __cplusplus
}
#endif
#endif
