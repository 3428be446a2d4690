/* pace_policies.c - the built-in answers to: when does collection work? */
#include <stddef.h>
#include <string.h>

#include "ftl/ftl_policy.h"

static uint64_t bounded(const struct ftl_pace_view *v, uint64_t units)
{
    if (units < v->least_ahead_units)
        return v->least_ahead_units;
    return units < v->most_ahead_units ? units : v->most_ahead_units;
}

/* As late as possible: each collected superblock has the longest time to lose units. */
static int pace_threshold(void *state, const struct ftl_pace_view *v, struct ftl_pace *ret)
{
    (void)state;
    ret->ahead_units = v->least_ahead_units;
    return 0;
}

/* The same under load; in idle time as many free superblocks as a burst may take, from
 * victims that are at least a quarter dead; most dies stay ready for a command. */
static int pace_idle(void *state, const struct ftl_pace_view *v, struct ftl_pace *ret)
{
    uint64_t sbs = v->idle_superblocks != 0 ? v->idle_superblocks : v->superblocks / 64 + 1;

    (void)state;
    ret->ahead_units = v->least_ahead_units;
    ret->idle_ahead_units = bounded(v, sbs * v->units_per_superblock);
    ret->idle_after_ns = v->idle_after_ns != 0 ? v->idle_after_ns : 2000000;
    ret->idle_gain_units = v->units_per_superblock / 4 + 1;
    ret->idle_units = (v->dies / 8 + 1) * v->word_line_units;
    return 0;
}

/* The more there is to gain, the earlier: a share of what is dead stays collected. */
static int pace_proportional(void *state, const struct ftl_pace_view *v, struct ftl_pace *ret)
{
    uint64_t ppm = v->pace_ppm != 0 ? v->pace_ppm : 50000;
    uint64_t spare = v->free_units + v->dead_units;

    (void)state;
    spare = spare > v->floor_units ? spare - v->floor_units : 0;
    ret->ahead_units = bounded(v, v->least_ahead_units + spare / 1000000 * ppm +
                                      spare % 1000000 * ppm / 1000000);
    return 0;
}

#define POLICY(name, pace) {FTL_POLICY_HEAD(struct ftl_pace_policy, name, 0, 0), pace}
static const struct ftl_pace_policy policies[] = {
    POLICY("threshold", pace_threshold),
    POLICY("idle", pace_idle),
    POLICY("proportional", pace_proportional),
};

const struct ftl_pace_policy *ftl_pace_policy_get(uint32_t index)
{
    return index < sizeof policies / sizeof policies[0] ? &policies[index] : NULL;
}

const struct ftl_pace_policy *ftl_pace_policy_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof policies / sizeof policies[0]; i++)
        if (strcmp(policies[i].head.name, name) == 0)
            return &policies[i];
    return NULL;
}
