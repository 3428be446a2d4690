/* gc_policies.c - the built-in choices of a victim. */
#include <stdbool.h>
#include <string.h>

#include "ftl/ftl_policy.h"

/* Fewest valid units; the lowest index of equals. */
static int pick_greedy(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    (void)state;
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
static int pick_fifo(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    (void)state;
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

static int pick_random(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    (void)state;
    *ret = nth(v, ftl_gc_draw(v, 0, candidates(v)));
    return 0;
}

/* Fewest valid units of `choices` draws with repetition. Draws index the whole
 * array and step on to the next collectable one, which is a uniform choice as
 * long as nearly all are collectable, at a cost that does not grow with count. */
static int pick_d_choices(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    (void)state;
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

__extension__ typedef unsigned __int128 u128;

/* Writes since the superblock was closed: at least 1, one just closed must not make
 * all ratios equal; below 2^36, more than a full drive's life of waiting. */
static uint64_t age(const struct ftl_gc_view *v, uint32_t i)
{
    uint64_t a = v->host_units_written - v->closed_at_write[i], limit = UINT64_C(1) << 36;
    return a == 0 ? 1 : a < limit ? a : limit;
}

/* The largest gain / cost, compared by cross products: exact, nothing divides. Gains
 * stay below 2^32 x 2^36 and costs below 2^33 x 2^26, so products fit 128 bits. */
static int pick_best_ratio(const struct ftl_gc_view *v, uint32_t *ret,
                           void (*ratio)(const struct ftl_gc_view *v, uint32_t i, u128 *gain,
                                         uint64_t *cost))
{
    u128 best_gain = 0;
    uint64_t best_cost = 1;
    bool any = false;

    for (uint32_t i = 0; i < v->count; i++) {
        u128 gain;
        uint64_t cost;
        if (!v->collectable[i])
            continue;
        ratio(v, i, &gain, &cost);
        if (!any || gain * best_cost > best_gain * cost) {
            best_gain = gain;
            best_cost = cost;
            *ret = i;
            any = true;
        }
    }
    return 0;
}

/* (1 - u) age / (2 u); an empty superblock costs half a unit, so it beats all others. */
static void cost_benefit(const struct ftl_gc_view *v, uint32_t i, u128 *gain, uint64_t *cost)
{
    *gain = (u128)(v->units_per_superblock - v->valid_units[i]) * age(v, i);
    *cost = 2 * (uint64_t)v->valid_units[i] + (v->valid_units[i] == 0);
}

static int pick_cost_benefit(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    (void)state;
    return pick_best_ratio(v, ret, cost_benefit);
}

/* u / (1 - u) x erases / age, turned over: the largest is wanted. */
static void cat(const struct ftl_gc_view *v, uint32_t i, u128 *gain, uint64_t *cost)
{
    *gain = (u128)(v->units_per_superblock - v->valid_units[i]) * age(v, i);
    *cost = (2 * (uint64_t)v->valid_units[i] + (v->valid_units[i] == 0)) *
            ((uint64_t)(v->erase_count[i] < 0x3FFFFFF ? v->erase_count[i] : 0x3FFFFFF) + 1);
}

static int pick_cat(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    (void)state;
    return pick_best_ratio(v, ret, cat);
}

/* Age below which the window ends: the window-th smallest order of closing, found by
 * bisection over the order, which needs no sorted copy. */
static uint64_t window_end(const struct ftl_gc_view *v)
{
    uint64_t low = 0, high = 0;

    for (uint32_t i = 0; i < v->count; i++)
        if (v->collectable[i] && v->closed_at[i] > high)
            high = v->closed_at[i];
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        uint32_t n = 0;
        for (uint32_t i = 0; i < v->count; i++)
            n += v->collectable[i] && v->closed_at[i] <= mid;
        if (n >= v->window)
            high = mid;
        else
            low = mid + 1;
    }
    return high;
}

static int pick_windowed(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    (void)state;
    uint64_t end = window_end(v);
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < v->count; i++)
        if (v->collectable[i] && v->closed_at[i] <= end && v->valid_units[i] < least) {
            least = v->valid_units[i];
            *ret = i;
        }
    return 0;
}

#define POLICY(name, pick) {FTL_POLICY_HEAD(struct ftl_gc_policy, name, 0, 0), pick}
static const struct ftl_gc_policy policies[] = {
    POLICY("greedy", pick_greedy),
    POLICY("fifo", pick_fifo),
    POLICY("random", pick_random),
    POLICY("d-choices", pick_d_choices),
    POLICY("cost-benefit", pick_cost_benefit),
    POLICY("windowed-greedy", pick_windowed),
    POLICY("cat", pick_cat),
};

const struct ftl_gc_policy *ftl_gc_policy_get(uint32_t index)
{
    return index < sizeof policies / sizeof policies[0] ? &policies[index] : NULL;
}

const struct ftl_gc_policy *ftl_gc_policy_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof policies / sizeof policies[0]; i++)
        if (strcmp(policies[i].head.name, name) == 0)
            return &policies[i];
    return NULL;
}
