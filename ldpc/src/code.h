/* code.h - the code object as the files of this library see it. */
#ifndef LDPC_CODE_H_
#define LDPC_CODE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ldpc/ldpc.h"

enum {
    ROWS_MAX = 65536,      /* block rows (unstructured codes: checks) */
    COLS_MAX = 131072,     /* block columns */
    EDGES_MAX = 2097152,   /* base entries */
    ROW_WEIGHT_MAX = 1024, /* base entries of a row: bounds the kernels' scratch */
    BYTE_ROWS_MAX = 8,     /* codes of more block rows flip bits by the C kernel */
    GAP_ROWS = 4           /* block rows of the fast encoder's structure */
};

enum encoder_kind { ENC_NONE, ENC_GAP2, ENC_DENSE };

/* One circulant seen from a row or from a column: check j of the row touches
 * bit (j + shift) mod z of the column. */
struct entry {
    uint32_t at;    /* block column (in row lists) or block row (in column lists) */
    uint32_t shift; /* 0..z-1 */
};

struct ldpc_code {
    char name[LDPC_NAME_MAX + 1];
    uint32_t z, rows, cols;
    uint32_t m;     /* rows * z */
    uint32_t nfull; /* cols * z, shortened bits included */
    uint32_t k;     /* data bits in use */
    uint32_t kfull; /* data bits with the shortened ones */
    uint32_t n;     /* transmitted bits = k + (nfull - kfull) */
    uint32_t rank;
    uint32_t edges; /* base entries */
    uint32_t dv_min, dv_max, dc_min, dc_max;
    uint32_t girth;
    uint64_t cycles6;
    uint32_t flip_weight; /* syndromes up to this weight go to bit flipping first */
    uint8_t rmax;         /* clip of a check message: |P| <= 31 + dv_max * rmax <= 127 */

    uint32_t *row_at, *col_at; /* rows+1, cols+1 offsets */
    struct entry *row_ent, *col_ent;
    /* Per column entry: where it reads its check's syndrome, rotated by z - shift, as a byte
     * offset into ws.sd. byte_use: bit k of a row = its copy moved by k bits is read. */
    uint32_t *back;
    uint8_t byte_use[BYTE_ROWS_MAX];
    uint16_t *wrap_order; /* per row: its slots by falling shift, the order in which
                           * a walk over the checks passes the end of the block */

    /* Packed geometry. A block of z bits takes zw words. A plain block has
     * stride xs words; a doubled block (bits 0..z-1 twice, so that a rotation is
     * one read at a bit offset) has stride ds words. */
    uint32_t zw, xs, ds;
    uint64_t tail_mask; /* valid bits of the last word of a block */

    enum encoder_kind enc;
    uint64_t *phi_inv;   /* ENC_GAP2: 2 x 2 polynomials of xs words, row major */
    uint64_t *dense_inv; /* ENC_DENSE: m rows of dense_words words */
    uint32_t dense_words;
};

/* Where ws.sd, doubled syndromes, holds row r moved down by `bits` (0..7), in words; moved
 * copies exist in codes of up to BYTE_ROWS_MAX rows. */
static inline size_t sd_copy(const struct ldpc_code *code, uint32_t r, uint32_t bits)
{
    size_t first = (size_t)r * code->ds, moved = (size_t)code->rows * code->ds + 8;
    return bits ? moved + (7 * first) + (size_t)(bits - 1) * code->ds : first;
}

/* Words of ws.sd, with room to read 8 words past a row's end. */
static inline size_t sd_words(const struct ldpc_code *code)
{
    return sd_copy(code, code->rows <= BYTE_ROWS_MAX ? code->rows : 0, 1) + 8;
}

/* Allocate and index a code from its row lists; takes ownership of nothing.
 * ent[row_at[r] .. row_at[r+1]) must have ascending, distinct block columns. */
int ldpci_code_new(const char *name, uint32_t z, uint32_t rows, uint32_t cols, uint32_t k,
                   const uint32_t *row_at, const struct entry *ent, struct ldpc_code **ret);

enum { FLIP_RBER_MAX_PPB = 5800000 }; /* above, flipping mostly wastes its time (measured) */
/* Syndrome weight expected at FLIP_RBER_MAX_PPB. */
uint32_t ldpci_flip_weight(const struct ldpc_code *code);

/* Counts 4- and 6-cycles of the base matrix into girth and cycles6. */
int ldpci_code_count_cycles(struct ldpc_code *code);

/* Finds the encoder: the two-gap structure, else a dense inverse when the last
 * m bits allow it and m is small enough, else none. Sets rank. */
int ldpci_encoder_prepare(struct ldpc_code *code);

/* Rank of the full matrix by elimination. Cost O(m^2 n / 64). */
int ldpci_code_rank(const struct ldpc_code *code, uint32_t *ret_rank);

/* p(x)^-1 modulo x^z + 1 over GF(2); zw words each. EBROKEN if none. */
int ldpci_poly_inverse(uint32_t z, const uint64_t *p, uint64_t *ret_inv);

/* ---- packed helpers (pack.c) ------------------------------------------------- */

/* Read `bits` bits from byte array src at bit `at` into words (tail zeroed). */
void ldpci_bits_load(const uint8_t *src, size_t src_bytes, size_t at, uint32_t bits,
                     uint64_t *dst);
/* OR `bits` bits into dst at bit `at`; the target bits must be zero. */
void ldpci_bits_or(uint8_t *dst, size_t at, uint32_t bits, const uint64_t *src);
/* Doubled block from a plain one; words past 2 z keep what they hold. */
void ldpci_block_double(const struct ldpc_code *code, const uint64_t *plain, uint64_t *dbl);
/* Code word bytes <-> plain blocks (shortened bits = 0). */
void ldpci_word_load(const struct ldpc_code *code, const uint8_t *bits, uint64_t *plain);
void ldpci_word_store(const struct ldpc_code *code, const uint64_t *plain, uint8_t *bits);
/* First transmitted bit of block c and how many of its bits are transmitted. */
static inline uint32_t block_span(const struct ldpc_code *code, uint32_t c, size_t *ret_at)
{
    uint32_t lo = c * code->z;
    if (lo >= code->kfull) {
        *ret_at = code->k + (size_t)(lo - code->kfull);
        return code->z;
    }
    *ret_at = lo;
    return lo >= code->k ? 0 : code->k - lo < code->z ? code->k - lo : code->z;
}

/* Index in the full code of transmitted bit v. */
static inline uint32_t full_index(const struct ldpc_code *code, uint32_t v)
{
    return v < code->k ? v : v + (code->kfull - code->k);
}

static inline uint32_t rot_back(uint32_t z, uint32_t shift)
{
    return shift ? z - shift : 0;
}

/* 64 bits of a doubled block from bit offset `at`. */
static inline uint64_t funnel(const uint64_t *dbl, uint32_t at)
{
    uint32_t w = at >> 6, r = at & 63;
    return (dbl[w] >> r) | ((dbl[w + 1] << 1) << (63 - r));
}

static inline uint32_t popcount64(uint64_t x)
{
#if defined __GNUC__
    return (uint32_t)__builtin_popcountll(x);
#else
    uint32_t n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
#endif
}

static inline uint32_t lowest_bit(uint64_t x)
{
#if defined __GNUC__
    return (uint32_t)__builtin_ctzll(x);
#else
    uint32_t n = 0;
    while (!(x & 1)) {
        x >>= 1;
        n++;
    }
    return n;
#endif
}

/* Counter-based draw: the same (key, counter) is the same number everywhere.
 * The finaliser is splitmix64's (Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t mix64(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 31;
    return x;
}

static inline uint64_t draw64(uint64_t key, uint64_t counter)
{
    return mix64(mix64(key + 0x9e3779b97f4a7c15u) ^ (counter * 0x9e3779b97f4a7c15u));
}

#endif
