/* channel.h - noise, Monte-Carlo runs and limits for ldpc.h codes.
 *
 * Noise is counter based: bit v of frame f under seed s is one number, whoever
 * asks and in whatever order, so that threads never change a result and never
 * repeat each other's noise. Probabilities are 64-bit fixed point (p * 2^64), so
 * the draws are the same on every machine. */
#ifndef LDPC_CHANNEL_H_
#define LDPC_CHANNEL_H_

#include "ldpc/ldpc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* p * 2^64. p must be in [0, 1); anything else, NaN included, gives UINT64_MAX,
 * which the functions below refuse. */
LDPC_API uint64_t ldpc_prob_from_double(double p);

/* Flip each of the first n packed bits with probability p / 2^64.
 * Errors: EINVAL (null, p = UINT64_MAX). Cost: about 9 draws per 64 bits. */
LDPC_API int ldpc_channel_flip(uint64_t seed, uint64_t frame, uint64_t p, uint8_t *bits,
                               uint32_t n);

/* ---- quantised soft channel --------------------------------------------------- */

enum { LDPC_REGIONS_MAX = 16 };

/* What a cell bit looks like through `regions` - 1 read voltages. Region 0 is
 * where a 0 is surest, the last where a 1 is. Symmetric: a 1 sees the same
 * probabilities from the other end. */
struct ldpc_channel {
    uint32_t regions;                /* 2 (hard), 4 (2-bit), 8 (3-bit); even */
    uint64_t upto[LDPC_REGIONS_MAX]; /* P(region <= i | bit 0) * 2^64; the last unused */
    int8_t llr[LDPC_REGIONS_MAX];    /* value given to the decoder; antisymmetric */
    double p[LDPC_REGIONS_MAX];      /* P(region = i | bit 0), for the limits */
};

/* Signal +-1 in Gaussian noise whose hard decision has error rate rber, seen
 * through the usual thresholds: soft_bits 1: {0}; 2: {0, +-0.33};
 * 3: {0, +-0.14, +-0.32, +-0.58} (1, 3, 7 senses).
 * Errors: EINVAL (rber not in (0, 0.5], NaN, soft_bits not 1..3). */
LDPC_API int ldpc_channel_awgn(double rber, unsigned soft_bits, struct ldpc_channel *ret);

/* Any symmetric channel from region probabilities given bit 0 (sum 1 within
 * 1e-9). llr may be NULL: then log-likelihood ratios scaled so that the largest
 * is `peak` (1..31). Errors: EINVAL. */
LDPC_API int ldpc_channel_set(uint32_t regions, const double *p, const int8_t *llr, int peak,
                              struct ldpc_channel *ret);

/* Decoder input of a packed word sent through the channel: llr[n]. */
LDPC_API int ldpc_channel_soft(const struct ldpc_channel *ch, uint64_t seed, uint64_t frame,
                               const uint8_t *bits, uint32_t n, int8_t *ret_llr);

/* ---- limits --------------------------------------------------------------------- */

/* Best possible frame error rate at block length n, k data bits, by the normal
 * approximation (Polyanskiy, Poor, Verdu 2010, with the log n / 2 term):
 * Q((n C - k + log2(n) / 2) / sqrt(n V)). A decoder below it is broken. */
LDPC_API double ldpc_limit_fer(const struct ldpc_channel *ch, uint32_t n, uint32_t k);

/* Capacity in bits per use. */
LDPC_API double ldpc_limit_capacity(const struct ldpc_channel *ch);

/* Largest rber at which the limit allows `fer` (0 < fer < 1); 0 if none. */
LDPC_API double ldpc_limit_rber(unsigned soft_bits, uint32_t n, uint32_t k, double fer);

/* ---- Monte-Carlo ----------------------------------------------------------------- */

enum ldpc_payload { LDPC_WORD_ZERO = 0, LDPC_WORD_ONES = 1, LDPC_WORD_RANDOM = 2 };

struct ldpc_mc {
    uint32_t struct_size; /* sizeof(struct ldpc_mc) */
    uint32_t payload;     /* enum ldpc_payload */
    uint64_t seed;
    const struct ldpc_channel *channel;
    struct ldpc_opts opts; /* opts.struct_size must be set */
};

enum { LDPC_MC_BINS = 64 };

struct ldpc_mc_result {
    uint64_t frames;
    uint64_t frame_errors; /* decoded word differs from the sent one */
    uint64_t undetected;   /* of these: the decoder said success */
    uint64_t bit_errors_in, bit_errors_out;
    uint64_t iterations; /* sums over frames */
    uint64_t flip_rounds;
    /* Frames by work; the last bin is "or more". */
    uint64_t by_iterations[LDPC_MC_BINS]; /* all frames, by min-sum iterations */
    uint64_t by_flips[LDPC_MC_BINS];      /* stages 0 and 1, by bit-flipping rounds */
    uint64_t after_flips[LDPC_MC_BINS];   /* by_iterations of those that flipping handed on */
    uint64_t by_stage[3];
};

/* Decode frames [first, first + count) and add to *sum (zero it before the first
 * call). Sums over disjoint ranges may be added in any order: same total.
 * Errors: EINVAL, ENOMEM, ESINGULAR (random payload without encoder). */
LDPC_API int ldpc_mc_run(const ldpc_code *code, const struct ldpc_mc *mc, uint64_t first,
                         uint64_t count, struct ldpc_mc_result *sum);

/* Iterations that a share of the frames, 1..1000 permille, does not exceed. */
LDPC_API uint32_t ldpc_mc_iterations(const struct ldpc_mc_result *r, uint32_t permille);

/* Speed of a hardware decoder. It belongs to a controller, not to a code: the times
 * below are assumed, see MODEL.md, and every table states those it was made with. */
struct ldpc_pace {
    uint32_t start_ns;     /* word in, syndrome, word out: every word */
    uint32_t round_ns;     /* one round of bit flipping */
    uint32_t iteration_ns; /* one min-sum iteration */
};

/* The assumed engine: 200 ns to start, 1600 edges per ns while flipping, 400 per ns of
 * min-sum (512 lanes at 800 MHz), at the code's number of edges. Errors: EINVAL. */
LDPC_API int ldpc_pace_default(const ldpc_code *code, struct ldpc_pace *ret);

struct ldpc_latency {
    uint64_t mean_ps; /* from the sums: exact */
    uint32_t p50_ns, p99_ns, worst_ns;
};

/* Decoding times of the frames of a run; flips_max is what its options say (0 = 40).
 * Frames in a last bin count as that bin. Errors: EINVAL (no frames). */
LDPC_API int ldpc_mc_latency(const struct ldpc_mc_result *r, const struct ldpc_pace *pace,
                             uint32_t flips_max, struct ldpc_latency *ret);

/* Exact (Clopper-Pearson) two-sided 95 % interval of errors / frames. */
LDPC_API void ldpc_interval95(uint64_t errors, uint64_t frames, double *ret_low,
                              double *ret_high);

/* ---- error floor: trapping sets and importance sampling --------------------------- */

enum { LDPC_TRAP_BITS = 64 };

/* A small set of bits on which a decoder got stuck. For a circulant code its z
 * rotations are as likely; `copies` says for how many sets it stands. */
struct ldpc_trap {
    uint32_t bits;
    uint32_t bit[LDPC_TRAP_BITS]; /* positions in the code word, ascending */
    uint32_t copies;              /* z, or less where shortening breaks the rotation */
    uint64_t frame;               /* the frame that showed it */
};

/* Decode frames [first, first + count) of mc (hard channel only) and keep the wrong
 * bits of those that fail with at most LDPC_TRAP_BITS of them: sets with equal
 * rotations are kept once. *ret_count: sets in ret[room], in order of frames.
 * Errors: EINVAL, ENOMEM. */
LDPC_API int ldpc_trap_collect(const ldpc_code *code, const struct ldpc_mc *mc, uint64_t first,
                               uint64_t count, struct ldpc_trap *ret, size_t room,
                               size_t *ret_count);

/* Estimate how often, at the hard error rate of mc->channel, the decoder fails
 * because of this set or a rotation of it: its bits are wrong with probability
 * bias instead, and every failure that leaves some bit of the set wrong counts
 * with the likelihood ratio. Result: contribution to the FER and its standard
 * error; both already times copies. Unbiased for the event "fails with a wrong bit
 * in this set", a lower bound for the FER with one set, an estimate of the floor
 * summed over all. 0 < bias < 1. Errors: EINVAL, ENOMEM. */
LDPC_API int ldpc_trap_estimate(const ldpc_code *code, const struct ldpc_mc *mc,
                                const struct ldpc_trap *trap, double bias, uint64_t first,
                                uint64_t count, double *ret_fer, double *ret_sd);

/* The whole FER at the hard error rate of mc->channel, by importance sampling: nine frames
 * of ten have the bits of one rotation of one set, drawn at random, wrong with probability
 * bias. Unbiased for all failures, in the sets or not, detected or not; the sets only make
 * it converge. A failure outside of every set weighs up to 10, so ret_sd is too small as
 * long as none of these was met. traps may be 0 (plain counting). mc->payload is not used:
 * the decoder is symmetric. Errors: EINVAL, ENOMEM. */
LDPC_API int ldpc_floor_estimate(const ldpc_code *code, const struct ldpc_mc *mc,
                                 const struct ldpc_trap *trap, size_t traps, double bias,
                                 uint64_t first, uint64_t count, double *ret_fer,
                                 double *ret_sd);

/* ---- tables -------------------------------------------------------------------------- */

enum { LDPC_TABLE_POINTS = 64 };

struct ldpc_point {
    double rber;
    uint64_t frames, errors;
    double flips_mean, iterations_mean;
    uint32_t iterations_p50, iterations_p99; /* not exceeded by 50 and 99 % of the frames */
    uint32_t latency_mean_ns, latency_p50_ns, latency_p99_ns; /* at the table's pace */
};

/* A measured waterfall. Text format: MODEL.md. */
struct ldpc_table {
    char code[LDPC_NAME_MAX + 1];
    uint32_t soft_bits, iterations_max, points;
    uint64_t seed;
    struct ldpc_pace pace;
    char decoder[16];
    struct ldpc_point at[LDPC_TABLE_POINTS]; /* rber rising */
    double fit_p0, fit_alpha; /* FER = Q((p0 - p) sqrt(n) / (alpha sqrt(p (1 - p)))) */
    uint32_t n;
};

/* Parse a table and fit its waterfall. Checks version, hash and order.
 * On error msg (may be NULL) gets one line. Errors: EINVAL, EFORMAT. */
LDPC_API int ldpc_table_parse(const char *text, size_t bytes, struct ldpc_table *ret, char *msg,
                              size_t room);

/* FER at an RBER: between measured points with errors by straight lines in ln FER, outside by
 * the fit (an extrapolation of the waterfall; it knows no floor). 0..1. */
LDPC_API double ldpc_table_fer(const struct ldpc_table *t, double rber);

/* Largest RBER with at most that FER (1e-30 < fer < 1), by the fit: an extrapolation
 * below the smallest measured FER. */
LDPC_API double ldpc_table_rber(const struct ldpc_table *t, double fer);

/* Hash of a table's body lines: FNV-1a, 64 bit. */
LDPC_API uint64_t ldpc_table_hash(const char *body, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
