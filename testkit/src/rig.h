/* rig.h - what the parts of the kit share. */
#ifndef TESTKIT_RIG_H
#define TESTKIT_RIG_H

#include "ftl/ftl_testkit.h"

enum { TK_OPEN_MAX = 24 };

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014 [P]). */
struct tk_rand {
    uint64_t state;
};

static inline uint64_t tk_draw(struct tk_rand *r)
{
    uint64_t x = (r->state += UINT64_C(0x9e3779b97f4a7c15));
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* [0, bound), bound > 0 */
static inline uint64_t tk_below(struct tk_rand *r, uint64_t bound)
{
    return (tk_draw(r) >> 11) % bound;
}

/* ---- pattern.c: what an LBA holds ------------------------------------------- */
/* `bytes` (a multiple of 16) hold (LBA, version) over and over; version 0 is zeros. */
void tk_pattern(uint8_t *ret_bytes, uint32_t bytes, uint64_t lba, uint32_t version);
/* The version that a block holds, when all of it is this LBA's pattern; false if not. */
bool tk_pattern_version(const uint8_t *block, uint32_t bytes, uint64_t lba,
                        uint32_t *ret_version);
/* What is wrong with a block that the oracle refused, and a sentence about it. `newest` =
 * last version given out on the drive. */
enum tk_verdict tk_pattern_judge(const uint8_t *block, uint32_t bytes, uint64_t lba,
                                 uint64_t lbas, uint32_t newest, char *ret_why,
                                 size_t why_size);

#endif
