/* ldpc.h - quasi-cyclic LDPC codec for NAND flash. Depends on libc only.
 *
 * Three layers, read as far as you need:
 *   simple     ldpc_code_open, ldpc_encode, ldpc_decode_hard, ldpc_decode
 *   explicit   struct ldpc_opts: choose the decoder, its rule and its limits
 *   advanced   alist import and export, construction, structural facts
 * Channel, Monte-Carlo and limits are in ldpc/channel.h; read voltages, retry
 * and soft-read tables in ldpc/dsp.h.
 *
 * Bits:    bit v of a packed word is bit (v % 8) of byte v / 8. A code word is
 *          data, then parity: ldpc_data_bytes() + ldpc_parity_bytes() bytes.
 * Threads: a code is immutable after open and may be shared; a workspace
 *          belongs to one thread at a time.
 * Results: integers only. Every kernel (C, AVX2, AVX-512) gives the same bytes
 *          and the same counters on every input; the CPU never decides a result.
 * Errors:  0 or a negative enum ldpc_err. A refused call leaves its outputs
 *          untouched. LDPC_EUNCORR is an answer, not a refusal: outputs are set. */
#ifndef LDPC_LDPC_H_
#define LDPC_LDPC_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#define LDPC_API __attribute__((visibility("default")))
#else
#define LDPC_API
#endif

#define LDPC_API_VERSION 0x000100u /* 0xMMmmpp */

typedef struct ldpc_code ldpc_code;

/* One code per rule, so that a refusal says which. */
enum ldpc_err {
    LDPC_OK = 0,
    LDPC_EINVAL = -1, /* null pointer, wrong struct_size, value out of its range */
    LDPC_ENOMEM = -2,
    LDPC_ENAME = -3,     /* no code or decoder of that name */
    LDPC_EUNCORR = -4,   /* decoded as far as allowed, some check still fails */
    LDPC_ESINGULAR = -5, /* the parity part has no inverse: no encoder */
    LDPC_EFORMAT = -6,   /* alist or table text is malformed, see the message */
    LDPC_ELIMIT = -7,    /* larger than this build handles */
    LDPC_EGIRTH = -8,    /* the construction found no code without 4-cycles */
    LDPC_EBROKEN = -9    /* a structural check failed: weights, girth or rank */
};

enum {
    LDPC_LLR_MAX = 31,    /* channel values beyond +-31 are clipped and counted */
    LDPC_NAME_MAX = 31,   /* bytes of a code name without the final zero */
    LDPC_ITER_MAX = 1000, /* largest iteration limit */
    LDPC_WEIGHT_MAX = 24  /* largest column weight that ldpc_decode takes */
};

/* Text for an error, static storage, never NULL. */
LDPC_API const char *ldpc_strerror(int err);

/* ---- simple ---------------------------------------------------------------- */

/* Names of the built-in codes, NULL after the last. Static storage. */
LDPC_API const char *const *ldpc_code_names(void);

/* Open a built-in code and check its structure (weights, girth >= 6, full rank
 * through the inverse of the parity part). On success *ret_code must be given
 * to ldpc_code_close. Cost: a few milliseconds, some hundred KiB.
 * Errors: EINVAL, ENOMEM, ENAME, EBROKEN, ESINGULAR. */
LDPC_API int ldpc_code_open(const char *name, ldpc_code **ret_code);

/* Frees the code; NULL is allowed. No workspace call may be running. */
LDPC_API void ldpc_code_close(ldpc_code *code);

LDPC_API size_t ldpc_data_bytes(const ldpc_code *code);   /* 0 if not whole bytes */
LDPC_API size_t ldpc_parity_bytes(const ldpc_code *code); /* 0 if not whole bytes */

/* Bytes of one workspace; it must be 64-byte aligned. Contents need no
 * initialisation and carry nothing from one call to the next. */
LDPC_API size_t ldpc_workspace_bytes(const ldpc_code *code);

/* Parity of data[ldpc_data_bytes()] into ret_parity[ldpc_parity_bytes()]. Any
 * alignment; the buffers must not overlap. workspace as above.
 * Errors: EINVAL, ESINGULAR (an imported code without encoder). */
LDPC_API int ldpc_encode(const ldpc_code *code, void *workspace, const uint8_t *data,
                         uint8_t *ret_parity);

/* ---- explicit ---------------------------------------------------------------- */

enum ldpc_decoder {
    LDPC_DEC_AUTO = 0,  /* by syndrome weight: nothing, bit flipping, min-sum */
    LDPC_DEC_GDBF = 1,  /* gradient-descent bit flipping, hard input only */
    LDPC_DEC_PGDBF = 2, /* the same, each flip taken with probability 3/4 */
    LDPC_DEC_MINSUM = 3 /* layered normalised min-sum */
};

enum ldpc_rule {
    LDPC_RULE_AUTO = 0, /* 12/16: best on every input we measured, see MODEL.md */
    LDPC_RULE_NMS10 = 1,
    LDPC_RULE_NMS12 = 2,
    LDPC_RULE_PLAIN = 3 /* unnormalised: far weaker on hard input, for study */
};

/* All zero (but struct_size) means the defaults. NULL options are the same. */
struct ldpc_opts {
    uint32_t struct_size;    /* sizeof(struct ldpc_opts) */
    uint16_t iterations_max; /* min-sum, 1..LDPC_ITER_MAX; 0 = 40 */
    uint16_t flips_max;      /* bit-flipping rounds, 1..LDPC_ITER_MAX; 0 = 40 */
    uint8_t decoder;         /* enum ldpc_decoder */
    uint8_t rule;            /* enum ldpc_rule */
    uint8_t hard_llr;        /* magnitude given to a hard bit, 1..31; 0 = 20 */
    uint8_t no_early_stop;   /* 1 = run all iterations: for benchmarks only */
    uint64_t seed;           /* PGDBF: which flips are taken */
};

struct ldpc_info {
    uint16_t iterations;   /* min-sum iterations run */
    uint16_t flip_rounds;  /* bit-flipping rounds run */
    uint32_t unsatisfied;  /* checks that still fail in ret_bits */
    uint32_t flipped_bits; /* bits where ret_bits differs from the hard input */
    uint32_t syndrome_in;  /* checks that failed in the input */
    uint32_t clipped;      /* channel values clipped to +-LDPC_LLR_MAX */
    uint8_t stage;         /* 0 = input was a code word, 1 = flipping, 2 = min-sum */
};

/* Decoder by name ("auto", "gdbf", "pgdbf", "minsum"). Errors: ENAME. */
LDPC_API int ldpc_decoder_find(const char *name, enum ldpc_decoder *ret_decoder);

/* Decode from soft values: llr[n], one per code bit (data then parity),
 * positive = bit 0 likelier; 0 = unknown. ret_bits gets the packed code word.
 * Always min-sum, except that an input whose signs satisfy every check returns
 * at once. Errors: EINVAL, ELIMIT; LDPC_EUNCORR with outputs set. */
LDPC_API int ldpc_decode(const ldpc_code *code, void *workspace, const int8_t *llr,
                         uint8_t *ret_bits, const struct ldpc_opts *opts,
                         struct ldpc_info *ret_info);

/* Decode packed hard bits (ldpc_code_bytes() bytes). ret_bits may be bits.
 * Otherwise as ldpc_decode. */
LDPC_API int ldpc_decode_hard(const ldpc_code *code, void *workspace, const uint8_t *bits,
                              uint8_t *ret_bits, const struct ldpc_opts *opts,
                              struct ldpc_info *ret_info);

/* Number of checks that packed bits violate: 0 = code word. */
LDPC_API int ldpc_syndrome_weight(const ldpc_code *code, void *workspace, const uint8_t *bits,
                                  uint32_t *ret_weight);

/* RBER estimate from a syndrome weight, in 1e-9: the weight is m times the
 * chance of an odd number of errors in a row. Saturates at 0.5. Integer only. */
LDPC_API uint32_t ldpc_rber_estimate_ppb(const ldpc_code *code, uint32_t syndrome_weight);

/* ---- advanced ---------------------------------------------------------------- */

struct ldpc_facts {
    char name[LDPC_NAME_MAX + 1];
    uint32_t n;    /* transmitted bits */
    uint32_t k;    /* data bits carried (shortened bits not counted) */
    uint32_t m;    /* checks */
    uint32_t rank; /* of the parity-check matrix */
    uint32_t z;    /* circulant size; 1 = no structure found */
    uint32_t block_rows, block_cols;
    uint32_t shortened; /* code bits fixed to 0 and not transmitted */
    uint32_t edges;     /* ones of the matrix, shortened columns included */
    uint32_t girth;     /* 4, 6, or 8 meaning "at least 8" */
    uint64_t cycles6;   /* number of 6-cycles; valid when girth >= 6 */
    uint32_t col_weight_min, col_weight_max, row_weight_min, row_weight_max;
    uint8_t has_encoder;
};

/* Cost: the rank of a code without encoder is O(m^2 n / 64) on the first call
 * path of import, so it is computed there, not here. Errors: EINVAL. */
LDPC_API int ldpc_code_facts(const ldpc_code *code, struct ldpc_facts *ret_facts);

/* Packed bytes of a code word, rounded up. */
LDPC_API size_t ldpc_code_bytes(const ldpc_code *code);

/* Code bits of check `check` (0..m-1), ascending, shortened ones left out.
 * Writes at most `room` entries and returns the full count, or EINVAL. */
LDPC_API int ldpc_code_row(const ldpc_code *code, uint32_t check, uint32_t *ret_bits,
                           size_t room);

/* What to build. Column weight is 4 with a masked parity part (4, 3, 3, 3). */
struct ldpc_build {
    const char *name;   /* 1..LDPC_NAME_MAX bytes */
    uint32_t z;         /* circulant size, 16..4096 */
    uint32_t data_bits; /* k; the last data block is shortened to fit */
    uint32_t sweeps;    /* improvement sweeps after the greedy pass, 0..1000 */
    uint64_t seed;
};

/* Progressive edge growth on circulants: block columns are placed one by one
 * where they close no 4-cycle and fewest 6-cycles, then re-placed in sweeps.
 * Cost: seconds. Errors: EINVAL, ENOMEM, EGIRTH, ESINGULAR, EBROKEN. */
LDPC_API int ldpc_code_build(const struct ldpc_build *build, ldpc_code **ret_code);

/* Shift of block (row, col), or -1 where there is none or out of range. */
LDPC_API int ldpc_code_shift(const ldpc_code *code, uint32_t row, uint32_t col);

/* Parse alist text (bytes need not end in zero). Lists with and without zero
 * padding, CRLF and a transposed header are understood; row list and column
 * list must agree. z_hint: circulant size to try, 0 = detect, 1 = none.
 * On error msg (room bytes, may be NULL) gets one line.
 * Errors: EINVAL, ENOMEM, EFORMAT, ELIMIT. */
LDPC_API int ldpc_alist_import(const char *text, size_t bytes, const char *name,
                               uint32_t z_hint, ldpc_code **ret_code, char *msg, size_t room);

/* Write alist text (zero padded, shortened columns left out) into text[room].
 * *ret_bytes gets the length without the final zero, also when room is too
 * small (then EINVAL and text is untouched). */
LDPC_API int ldpc_alist_export(const ldpc_code *code, char *text, size_t room,
                               size_t *ret_bytes);

/* ---- kernels ------------------------------------------------------------------- */

enum ldpc_cpu { LDPC_CPU_AVX2 = 1, LDPC_CPU_AVX512 = 2 };

/* Restrict the instruction sets that later calls may use; ~0u (the start value)
 * allows all that the CPU has, 0 = plain C. Not thread safe against decoding. */
LDPC_API void ldpc_set_cpu_mask(unsigned mask);

/* The kernel that the next call will use: "c", "avx2" or "avx512". */
LDPC_API const char *ldpc_kernel_name(void);

#ifdef __cplusplus
}
#endif
#endif
