/* upset.h - soft errors in the memories of the controller (memory.upset_ppm, or armed).
 *
 * Each memory is (72,64)-coded word by word; a pass may hit one word. What SECDED mends is mended;
 * what it sees but cannot mend, and what it takes for something else, is found and reported. */
#ifndef FTL_CORE_UPSET_H
#define FTL_CORE_UPSET_H

#include <stdbool.h>
#include <stdint.h>

#include "ftl/ftl_media.h"

struct ftl_core;
struct frontier;

struct upset {
    bool on;                    /* a rate, or one was armed once */
    uint64_t damaged;           /* units that went to the medium with a guard that is wrong */
    struct {
        uint64_t passes;
        uint64_t at;            /* armed: strikes at this pass; flips 0 = none */
        uint32_t flips;
    } memory[FTL_MEMORIES];
};

enum upset_outcome {
    UPSET_MENDED,
    UPSET_SEEN,                 /* beyond correction: the word is as it was hit */
    UPSET_MISTAKEN              /* taken for another single error: the word is wrong */
};

/* One pass of a memory: bits that are flipped, mostly 0. *ret_draw: for what follows. */
uint32_t core_upset_pass(struct ftl_core *c, enum ftl_memory memory, uint64_t *ret_draw);
/* Flips 1 to 3 bits of the word and its check bits, and decodes it. */
enum upset_outcome core_upset_hit(uint8_t word[8], uint32_t flips, uint64_t draw);
/* The word line that f has filled leaves the buffer. */
void core_upset_word_line(struct ftl_core *c, const struct frontier *f);
/* The map entry of a key is looked up: false = it could not be believed, and was loaded anew. */
bool core_upset_map(struct ftl_core *c, uint32_t key);
/* The table of valid counts is used; counts that cannot be believed are counted anew. */
void core_upset_table(struct ftl_core *c);
/* ftl_fault_arm(): FTL_EINVAL. */
int core_upset_arm(struct ftl_core *c, const struct ftl_fault *fault);

#endif
