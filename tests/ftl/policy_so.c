/* policy_so.c - one shared object per way of being right or wrong (POLICY_SO_...). */
#include "ftl/ftl_policy.h"

/* Closed longest ago, and a count of its own decisions. */
static int pick(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    uint64_t oldest = UINT64_MAX;
    ++*(uint64_t *)state;
    for (uint32_t i = 0; i < v->count; i++)
#ifdef POLICY_SO_OPEN
        if (!v->collectable[i])
            *ret = i;
#else
        if (v->collectable[i] && v->closed_at[i] < oldest) {
            oldest = v->closed_at[i];
            *ret = i;
        }
#endif
    (void)oldest;
    return 0;
}

#if defined POLICY_SO_VERSION
#define HEAD {FTL_POLICY_VERSION + 1, sizeof(struct ftl_gc_policy), "oldest", 8, 0}
#elif defined POLICY_SO_SIZE
#define HEAD {FTL_POLICY_VERSION, sizeof(struct ftl_gc_policy) + 8, "oldest", 8, 0}
#elif defined POLICY_SO_NAME
#define HEAD {FTL_POLICY_VERSION, sizeof(struct ftl_gc_policy), "", 8, 0}
#elif defined POLICY_SO_TAKEN
#define HEAD {FTL_POLICY_VERSION, sizeof(struct ftl_gc_policy), "greedy", 8, 0}
#else
#define HEAD FTL_POLICY_HEAD(struct ftl_gc_policy, "oldest", 8, 0)
#endif
extern const struct ftl_gc_policy policy_so;
const struct ftl_gc_policy policy_so = {HEAD, pick};

#if defined POLICY_SO_NULL
FTL_API const struct ftl_gc_policy *ftl_gc_policy_export(void);
const struct ftl_gc_policy *ftl_gc_policy_export(void)
{
    return NULL;
}
#elif !defined POLICY_SO_SYMBOL
FTL_GC_POLICY_EXPORT(policy_so)
#endif
