/* ecc.h - what decoding makes of a page: the retry ladder (media.ecc).
 *
 * The NAND model says how many bits of each codeword are wrong at the read voltages
 * used; the decoder's measured curves (ldpc/ecc.h) say how often so many are too many, or
 * the decoder itself is given the bits (ecc_decode.h). A read that fails is repeated: at lowered
 * voltages until three attempts in a row brought no fewer errors, then with 2 and with 3 bits per
 * cell bit at the best of them. Every attempt is an operation on the die. */
#ifndef FTL_MEDIA_ECC_H
#define FTL_MEDIA_ECC_H

#include <stdbool.h>
#include <stdint.h>

#include "ftl/ftl_media.h"

struct media;
struct media_op;
struct sim_mem;

struct ldpc_ecc;

struct media_ecc {
    struct ldpc_ecc *curves;    /* NULL without media.ecc */
    uint8_t *level;             /* per superblock and die: the last good retry level */
    uint32_t *reads;            /* per block: page reads since its erase */
    uint64_t decode_ns, refresh_reads, refresh_retries, refresh_bits;
    uint64_t seed;
    uint64_t steps[FTL_ECC_STEPS];  /* pages by the step that decoded them */
    uint64_t attempts[FTL_ECC_ATTEMPTS];    /* pages by attempts; the last is "or more" */
    uint64_t again;             /* reads repeated */
    const char *code;           /* its name */
};

/* FTL_ECONFIG when no code has words of this many bits. */
int media_ecc_init(struct media *m, const struct ftl_config *cfg, struct sim_mem *mem,
                   char *ret_why, size_t why_size);
uint64_t media_ecc_memory(const struct ftl_config *cfg);
void media_ecc_erased(struct media *m, uint32_t sb, uint32_t die);
/* The read is out of the register. True: it is over, op->failed says how; false: it is
 * read again. */
bool media_ecc_judge(struct media *m, uint64_t now, uint32_t op);

#endif
