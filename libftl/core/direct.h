/* direct.h - greedy, least-worn and threshold as plain calls: what the policy interface is
 * priced against (bench/ftl/policy_cost.py). Compiled in with -DFTL_DIRECT_POLICIES, for
 * that bench alone. */
#ifndef FTL_CORE_DIRECT_H
#define FTL_CORE_DIRECT_H

#include "core/core.h"

#ifdef FTL_DIRECT_POLICIES
enum { CORE_DIRECT = 1 };
#else
enum { CORE_DIRECT = 0 };
#endif

static inline uint32_t direct_greedy(const struct ftl_core *c)
{
    uint32_t best = SB_NONE, least = UINT32_MAX;

    for (uint32_t i = 0; i < c->g.sb_count; i++) {
        uint32_t key = c->collectable[i] ? c->valid[i] : UINT32_MAX;
        if (key < least) {
            least = key;
            best = i;
        }
    }
    return best;
}

static inline uint32_t direct_least_worn(const struct ftl_core *c)
{
    uint32_t best = SB_NONE;

    for (uint32_t i = 0; i < c->g.sb_count; i++)
        if (c->state[i] == SB_FREE && (best == SB_NONE || c->erases[i] < c->erases[best]))
            best = i;
    return best;
}

#endif
