/* ftl_policy.h - plug your own decisions into the FTL.
 *
 * A policy decides, the core acts. It gets a const view, and answers with an
 * index. Hooks must not allocate, block, read clocks or keep pointers of the view.
 * The core checks every answer: an illegal one ends the run with FTL_EPOLICY. */
#ifndef FTL_FTL_POLICY_H_
#define FTL_FTL_POLICY_H_

#include "ftl/ftl_config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Superblocks, as arrays of `count`. All numbers are in 4 KiB units; the write
 * clock counts units placed for the host. */
struct ftl_gc_view {
    uint32_t count, units_per_superblock;
    const uint32_t *valid_units;
    const uint8_t *collectable;      /* 1 = closed, wholly programmed, not being collected */
    const uint64_t *closed_at;       /* order of closing: larger is younger */
    const uint64_t *closed_at_write; /* the write clock when it was closed */
    const uint32_t *erase_count;
    uint64_t host_units_written;     /* the write clock now */
    uint64_t draw;                   /* 64 fresh random bits; derive more with ftl_gc_draw */
    uint32_t choices;                /* gc.choices */
    uint32_t window;                 /* gc.window */
};
/* The k-th random number in [0, bound) of this decision, bound > 0. */
FTL_API uint32_t ftl_gc_draw(const struct ftl_gc_view *view, uint32_t k, uint32_t bound);

struct ftl_gc_policy {
    uint32_t struct_size;
    const char *name;
    /* Writes the superblock to collect. At least one is collectable. 0, or negative
     * to give up, which ends the run. Cost: called once per superblock collected. */
    int (*pick)(const struct ftl_gc_view *view, uint32_t *ret_superblock);
};

/* Built-in policies by name; NULL = unknown.
 *   greedy           fewest valid units
 *   fifo             closed longest ago
 *   random           any, uniformly
 *   d-choices        fewest valid units of gc.choices random draws
 *   cost-benefit     largest (1 - u) age / (2 u), u = valid share, age on the write clock
 *                    (Rosenblum and Ousterhout, TOCS 1992 [P])
 *   windowed-greedy  fewest valid units among the gc.window closed longest ago
 *                    (Hu et al., SYSTOR 2009 [P])
 *   cat              smallest u / (1 - u) x erases / age: cost, age and times
 *                    (Chiang and Chang, J. Systems and Software 1999 [P]) */
FTL_API const struct ftl_gc_policy *ftl_gc_policy_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
