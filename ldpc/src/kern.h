/* kern.h - the function table that instruction sets fill in.
 *
 * One table per instruction set, all bit-exact with the C one. Masked or padded
 * words of packed blocks may hold anything after a call unless stated. */
#ifndef LDPC_KERN_H_
#define LDPC_KERN_H_

#include "code.h"

enum { FLIP_WEIGHT_MAX = 6 }; /* energy <= weight + 1 fits three bit planes */

struct hit {
    uint64_t bits;
    uint32_t block, word;
};

/* Scratch of a decode or encode call, laid out in the caller's workspace. */
struct ws {
    uint64_t *x;      /* cols plain blocks: decision, or its difference from y */
    uint64_t *y;      /* cols plain blocks: channel hard bits */
    uint64_t *xd;     /* cols doubled blocks */
    uint64_t *s;      /* rows plain blocks: syndrome */
    uint64_t *sd;     /* rows doubled blocks; then a kernel's own: sd_copy() */
    uint64_t *e[3];   /* cols plain blocks: bit planes of the flip energy */
    uint8_t *emax;    /* cols: largest energy in a block */
    struct hit *hits; /* cols x zw: words with bits to flip */
    int8_t *p;        /* cols x pstride: posterior values */
    int8_t *r;        /* check messages */
    uint64_t *poly;   /* 4 x 2 x xs words for the encoder */
};

struct norm {
    uint8_t a, b; /* message = (m >> a) + (m >> b), then clipped to rmax */
    uint8_t rmax;
};

struct kern {
    const char *name;
    unsigned lanes; /* bytes of a vector: groups of the message layout */
    /* s = H x from doubled blocks; tail words come out clean. */
    void (*syndrome)(const struct ldpc_code *code, const uint64_t *xd, uint64_t *s);
    /* Energy planes of every block into ws->e, from ws->sd and ws->x, which while
     * flipping holds the bits flipped so far. ws->emax is exact for the blocks that
     * hold the largest energy, at most that for the others. */
    void (*energy)(const struct ldpc_code *code, struct ws *w);
    /* Words of blocks with emax == level that hold bits of that energy, in order. */
    uint32_t (*collect)(const struct ldpc_code *code, const struct ws *w, unsigned level);
    /* One layered min-sum iteration over ws->p and ws->r; first: messages are 0
     * and ws->r is not read, so that it needs no clearing. */
    void (*minsum)(const struct ldpc_code *code, struct ws *w, struct norm norm, bool first);
    /* Sign bits of ws->p into ws->x; a zero keeps the channel bit in ws->y. The
     * unused words of a stride become 0. */
    void (*harden)(const struct ldpc_code *code, struct ws *w);
    /* Posterior values from hard bits: +mag for 0, -mag for 1; ws->y into ws->p. */
    void (*spread)(const struct ldpc_code *code, struct ws *w, int8_t mag);
    /* Ones of a ^ b; words is a multiple of 8. */
    uint32_t (*distance)(const uint64_t *a, const uint64_t *b, size_t words);
    /* acc[2 * words] ^= a * b over GF(2). */
    void (*polymul)(const uint64_t *a, const uint64_t *b, uint32_t words, uint64_t *acc);
};

extern const struct kern ldpci_kern_c, ldpci_kern_avx2, ldpci_kern_avx512;
const struct kern *ldpci_kern_now(void);

/* Bytes between the posterior values of two block columns: z and a mirror of
 * the first vector, so that a rotated vector read never wraps. */
static inline uint32_t p_stride(const struct ldpc_code *code)
{
    return ((code->z + 63) & ~63u) + 64;
}

/* Bytes of ws.r for any vector width. */
static inline size_t r_bytes(const struct ldpc_code *code)
{
    return (size_t)code->edges * ((code->z + 63) & ~63u);
}

/* Where the messages of row r, group g (lanes wide) start: [row][group][slot][lane]. */
static inline size_t r_group(const struct ldpc_code *code, uint32_t r, uint32_t g,
                             unsigned lanes)
{
    uint32_t groups = (code->z + lanes - 1) / lanes;
    uint32_t e = code->row_at[r], dc = code->row_at[r + 1] - e;
    return ((size_t)e * groups + (size_t)g * dc) * lanes;
}

/* Scalar update of checks [from, to) of row r, with messages laid out for `lanes`.
 * The C kernel uses it for everything, the others for what a vector leaves over. */
void ldpci_minsum_rows(const struct ldpc_code *code, int8_t *p, int8_t *rmsg, uint32_t r,
                       uint32_t from, uint32_t to, unsigned lanes, struct norm norm,
                       bool first);
/* Energy by ripple counters, any column weight up to FLIP_WEIGHT_MAX. */
void ldpci_energy_c(const struct ldpc_code *code, struct ws *w);

/* 1-bits of the words of a block that may be flipped (0 for shortened bits), as
 * the number of leading valid bits of block c. */
static inline uint32_t valid_bits(const struct ldpc_code *code, uint32_t c)
{
    uint32_t lo = c * code->z;
    if (lo >= code->kfull || lo + code->z <= code->k)
        return code->z;
    return lo >= code->k ? 0 : code->k - lo;
}

size_t ldpci_ws_layout(const struct ldpc_code *code, void *mem, struct ws *w);

#endif
