/* rig.h - what the parts of the kit share. */
#ifndef TESTKIT_RIG_H
#define TESTKIT_RIG_H

#include "ftl/ftl_testkit.h"

enum { TK_OPEN_MAX = 24, TK_RECENT = 64 };

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

/* A command under way; the memory of its data stays with the slot. */
struct open_cmd {
    bool used, borrowed;            /* borrowed: data is another rig's */
    uint8_t opcode;
    uint32_t lba_count, begin;
    uint64_t lba, number;
    uint64_t from, to;              /* LBAs that it writes or trims */
    uint8_t *data;
    size_t data_size;
};

/* A write of whole units, small enough to be there as a whole or not at all. */
struct recent_write {
    uint64_t lba;
    uint32_t lba_count, version;
};

struct tk_rig {
    ftl_drive *drive;
    tk_oracle *oracle;
    struct tk_options options;
    bool payload, journal;
    uint32_t lba_bytes, unit_lbas, version;
    uint64_t lbas, steps;
    struct open_cmd open[TK_OPEN_MAX];
    struct recent_write recent[TK_RECENT];  /* a ring: what may have been torn */
    uint32_t recent_next, atomic_lbas;
    struct ftl_config cfg;
    uint32_t lost_die;              /* + 1; 0 = none */
    bool program_fails;
    bool off, weak;                 /* weak: acknowledged units were lost, see power.c */
    struct tk_result result;
};

/* Internal results of steps: 0, an enum tk_verdict, power went, or there is no room. */
enum { TK_LOST = -1, TK_SKIP = -2 };
int tk_rig_fail(tk_rig *r, enum tk_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int tk_rig_read_all(tk_rig *r);
int tk_rig_check(tk_rig *r);
int tk_rig_wait(tk_rig *r);
/* Power is gone: open commands are no more, the oracle knows. */
void tk_rig_lost(tk_rig *r);
/* A clean shutdown and start; a loss at this moment and a start. */
/* All commands and background work are done. */
int tk_rig_drain(tk_rig *r);
int tk_rig_fault(tk_rig *r, const struct tk_step *step);
/* A drive without spare takes no writes and no untimed work. */
bool tk_rig_is_read_only(const tk_rig *r);
/* Two members of a stripe may be gone: a plane, and a word line whose program failed. */
bool tk_rig_may_lose(const tk_rig *r);
int tk_rig_mount(tk_rig *r, uint64_t seed);
int tk_rig_off_on(tk_rig *r);
int tk_rig_cut_on(tk_rig *r, uint64_t how);


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
