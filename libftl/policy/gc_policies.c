/* gc_policies.c - the built-in choices of a victim. */
#include <string.h>

#include "ftl/ftl_policy.h"

/* Fewest valid units; the lowest index of equals. */
static int pick_greedy(const struct ftl_gc_view *v, uint32_t *ret)
{
    uint32_t best = UINT32_MAX, least = UINT32_MAX;

    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t key = v->collectable[i] ? v->valid_units[i] : UINT32_MAX;
        if (key < least) {
            least = key;
            best = i;
        }
    }
    *ret = best;
    return 0;
}

/* The one closed longest ago. */
static int pick_fifo(const struct ftl_gc_view *v, uint32_t *ret)
{
    uint64_t oldest = UINT64_MAX;

    for (uint32_t i = 0; i < v->count; i++)
        if (v->collectable[i] && v->closed_at[i] < oldest) {
            oldest = v->closed_at[i];
            *ret = i;
        }
    return 0;
}

/* The n-th collectable superblock, or count. */
static uint32_t nth(const struct ftl_gc_view *v, uint32_t n)
{
    for (uint32_t i = 0; i < v->count; i++)
        if (v->collectable[i] && n-- == 0)
            return i;
    return v->count;
}

static uint32_t candidates(const struct ftl_gc_view *v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->count; i++)
        n += v->collectable[i];
    return n;
}

static int pick_random(const struct ftl_gc_view *v, uint32_t *ret)
{
    *ret = nth(v, ftl_gc_draw(v, 0, candidates(v)));
    return 0;
}

/* Fewest valid units of `choices` draws with repetition. Draws index the whole
 * array and step on to the next collectable one, which is a uniform choice as
 * long as nearly all are collectable, at a cost that does not grow with count. */
static int pick_d_choices(const struct ftl_gc_view *v, uint32_t *ret)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t k = 0; k < v->choices; k++) {
        uint32_t i = ftl_gc_draw(v, k, v->count);
        for (uint32_t step = 0; step < v->count && !v->collectable[i]; step++)
            i = i + 1 < v->count ? i + 1 : 0;
        if (best == UINT32_MAX || v->valid_units[i] < v->valid_units[best])
            best = i;
    }
    *ret = best;
    return 0;
}

static const struct ftl_gc_policy policies[] = {
    {sizeof(struct ftl_gc_policy), "greedy", pick_greedy},
    {sizeof(struct ftl_gc_policy), "fifo", pick_fifo},
    {sizeof(struct ftl_gc_policy), "random", pick_random},
    {sizeof(struct ftl_gc_policy), "d-choices", pick_d_choices},
};

const struct ftl_gc_policy *ftl_gc_policy_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof policies / sizeof policies[0]; i++)
        if (strcmp(policies[i].name, name) == 0)
            return &policies[i];
    return NULL;
}
