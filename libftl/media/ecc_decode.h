/* ecc_decode.h - real code words (media.ecc = decoder): pages are encoded on their way to the NAND,
 * and the bits that a read brings go through the decoder.
 *
 * A sector is one code word: a unit and its tag, padding, a CRC-32C of both, parity of the code
 * over all of it. What precedes parity is made random by its place first, as cells and code expect
 * it. The decoder may settle on a wrong word; the CRC tells, and the ladder goes on. */
#ifndef FTL_MEDIA_ECC_DECODE_H
#define FTL_MEDIA_ECC_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ldpc_code;
struct media;
struct media_op;
struct nand_profile;
struct sim_mem;

enum { MEDIA_SECTOR_BYTES = 4096 + 32 };    /* unit and tag, core/payload.h */

struct media_decoder {
    struct ldpc_code *code;     /* NULL without media.ecc = decoder */
    uint32_t start_ns, round_ns, iteration_ns;  /* of its hardware: struct ldpc_pace */
    uint32_t sector_bytes, data_bytes;
    int8_t llr_of[2][8];        /* value of each region, with 2 and 3 soft bits */
    uint8_t *space;             /* workspace of the code, to be aligned to 64 bytes */
    uint8_t *word, *bins;       /* one code word, one byte per bit of it */
    int8_t *llr;
    uint64_t corrected_bits;    /* of words that decoded */
    uint64_t miscorrected;      /* words that decoded to something else */
};

struct media_decoded {
    uint64_t unsatisfied;       /* checks that the words read violate: fewer = a better read */
    uint32_t flipped;           /* most wrong bits of a word that decoded */
    uint32_t ns;                /* of the slowest word: all of a page are decoded side by side */
    bool good;                  /* all that the operation wants is there */
    bool blind;                 /* so many wrong bits that their checks say nothing of how many */
};

/* `name`: of the code. FTL_ECONFIG when a sector has no room for the CRC, or the part's cells have no
 * voltages; FTL_ENOMEM. Cost: some ms. */
int media_decoder_init(struct media_decoder *d, const struct nand_profile *part, const char *name,
                       struct sim_mem *mem, char *ret_why, size_t why_size);
void media_decoder_free(struct media_decoder *d);
/* A copy of the drive: a code of its own. 0, or FTL_ENOMEM. */
int media_decoder_fork(struct media_decoder *d, const char *name);
/* Names a page: what makes its bytes random follows from it. */
uint64_t media_decoder_key(uint32_t die, uint32_t plane, uint32_t block, uint32_t page);
/* Completes the code words of a page of n bytes. O(0.1 ms). */
void media_decoder_seal(const struct media_decoder *d, uint64_t key, uint8_t *page, uint32_t n);
/* n bytes of a page from `offset` on become random, or plain again; parity is left alone. */
void media_decoder_stir(const struct media_decoder *d, uint64_t key, uint32_t offset, uint8_t *bytes,
                        uint32_t n);
/* Decodes the page in the plane's register: the words that the operation still wants, soft where
 * op->soft says so. Words that come out go to the plane's page and are wanted no more. */
struct media_decoded media_decode(struct media *m, struct media_op *op);

#endif
