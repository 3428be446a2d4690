/* stream_so.c - a stream policy as a shared object, right or wrong (STREAM_SO_...). */
#include "ftl/ftl_policy.h"

/* The first half of the drive is class 1, the rest class 0, wherever the unit comes from. */
static int place(void *state, const struct ftl_stream_view *v, const struct ftl_stream_batch *b,
                 uint8_t *ret_class)
{
    (void)state;
    for (uint32_t i = 0; i < b->count; i++)
#ifdef STREAM_SO_CLASS
        ret_class[i] = (uint8_t)v->classes;
#else
        ret_class[i] = b->units[i] < v->user_units / 2;
#endif
    return 0;
}

#if defined STREAM_SO_VERSION
#define HEAD {FTL_POLICY_VERSION + 1, sizeof(struct ftl_stream_policy), "halves", 0, 0}
#elif defined STREAM_SO_SIZE
#define HEAD {FTL_POLICY_VERSION, sizeof(struct ftl_stream_policy) + 8, "halves", 0, 0}
#elif defined STREAM_SO_TAKEN
#define HEAD {FTL_POLICY_VERSION, sizeof(struct ftl_stream_policy), "update-rate", 0, 0}
#else
#define HEAD FTL_POLICY_HEAD(struct ftl_stream_policy, "halves", 0, 0)
#endif
extern const struct ftl_stream_policy stream_so;
const struct ftl_stream_policy stream_so = {HEAD, 0, place};
FTL_STREAM_POLICY_EXPORT(stream_so)
