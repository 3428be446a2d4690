/* my_gc_policy.c - a garbage-collection policy: greedy, but patient with the young.
 *
 * Data written lately is likely to be overwritten soon, so a superblock closed within the last
 * half drive of host writes may wait; of the rest the emptiest goes. */
#include <ftl/ftl_policy.h>

struct patience {                       /* kept by the drive, zeroed at create */
    uint64_t spared;                    /* times that a younger one had fewer valid units */
};

static int pick(void *state, const struct ftl_gc_view *v, uint32_t *ret_superblock)
{
    struct patience *mine = state;
    uint32_t young = UINT32_MAX, old = UINT32_MAX;

    for (uint32_t i = 0; i < v->count; i++) {
        uint64_t age = v->host_units_written - v->closed_at_write[i];
        uint32_t *best = age < v->count / 2 * (uint64_t)v->units_per_superblock ? &young : &old;
        if (v->collectable[i] && (*best == UINT32_MAX || v->valid_units[i] < v->valid_units[*best]))
            *best = i;
    }
    if (old == UINT32_MAX || v->valid_units[old] == v->units_per_superblock)
        old = young != UINT32_MAX ? young : old;    /* nothing to gain from the old ones */
    else if (young != UINT32_MAX && v->valid_units[young] < v->valid_units[old])
        mine->spared++;
    *ret_superblock = old;
    return 0;
}

const struct ftl_gc_policy my_gc_policy;
const struct ftl_gc_policy my_gc_policy = {
    FTL_POLICY_HEAD(struct ftl_gc_policy, "patient", sizeof(struct patience), 0), pick};
FTL_GC_POLICY_EXPORT(my_gc_policy)
