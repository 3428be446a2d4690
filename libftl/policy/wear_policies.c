/* wear_policies.c - the built-in choices of a free superblock, and of data to move. */
#include <stdbool.h>
#include <string.h>

#include "ftl/ftl_policy.h"

static int open_most(void *state, const struct ftl_wear_view *v, uint32_t *ret)
{
    uint32_t best = UINT32_MAX, most = 0;

    (void)state;
    for (uint32_t i = 0; i < v->count; i++)
        if (v->is_free[i] && (best == UINT32_MAX || v->erase_count[i] > most)) {
            most = v->erase_count[i];
            best = i;
        }
    *ret = best;
    return 0;
}

/* Fewest erases; the lowest index of equals. Cold data rests a worn one. */
static int open_least(void *state, const struct ftl_wear_view *v, uint32_t *ret)
{
    uint32_t best = UINT32_MAX, least = UINT32_MAX;

    if (v->use == FTL_USE_COLD)
        return open_most(state, v, ret);
    for (uint32_t i = 0; i < v->count; i++)
        if (v->is_free[i] && (best == UINT32_MAX || v->erase_count[i] < least)) {
            least = v->erase_count[i];
            best = i;
        }
    *ret = best;
    return 0;
}

/* The one free for the longest time; the lowest index of those free from the start. */
static int open_fifo(void *state, const struct ftl_wear_view *v, uint32_t *ret)
{
    uint32_t best = UINT32_MAX;
    uint64_t oldest = UINT64_MAX;

    (void)state;
    for (uint32_t i = 0; i < v->count; i++)
        if (v->is_free[i] && (best == UINT32_MAX || v->freed_at[i] < oldest)) {
            oldest = v->freed_at[i];
            best = i;
        }
    *ret = best;
    return 0;
}

/* Written once over since it was closed: collection passes by. A superblock that is
 * merely little worn may be one moved just before, back in circulation with hot data. */
static bool is_cold(const struct ftl_wear_view *v, uint32_t i)
{
    return v->host_units_written - v->closed_at_write[i] >=
           (uint64_t)v->count * v->units_per_superblock;
}

/* Data of the least worn cold superblock, when the most worn one is wear.spread ahead:
 * what has stayed there while others were erased will stay where it is put. Of equals
 * the one closed first. */
static int move_coldest(void *state, const struct ftl_wear_view *v, uint32_t *ret)
{
    uint32_t best = v->count, most = 0;

    (void)state;
    for (uint32_t i = 0; i < v->count; i++)
        most = v->erase_count[i] > most ? v->erase_count[i] : most;
    for (uint32_t i = 0; i < v->count; i++)
        if (v->collectable[i] && most - v->erase_count[i] > v->spread && is_cold(v, i) &&
            (best == v->count || v->erase_count[i] < v->erase_count[best] ||
             (v->erase_count[i] == v->erase_count[best] && v->closed_at[i] < v->closed_at[best])))
            best = i;
    *ret = best;
    return 0;
}

/* The least worn spare, the last of several, if the block is more worn than that. */
static int assemble_least(void *state, const struct ftl_assembly_view *v, uint32_t *ret)
{
    uint32_t best = v->spares - 1;

    (void)state;
    for (uint32_t k = best; k-- > 0;)
        if (v->spare_erases[k] < v->spare_erases[best])
            best = k;
    *ret = v->is_gone || v->spare_erases[best] < v->block_erases ? best : v->spares;
    return 0;
}

#define POLICY(name, open)                                                                     \
    {FTL_POLICY_HEAD(struct ftl_wear_policy, name, 0, 0), open, move_coldest, assemble_least}
static const struct ftl_wear_policy policies[] = {
    POLICY("least-worn", open_least),
    POLICY("fifo", open_fifo),
    POLICY("most-worn", open_most),
};

const struct ftl_wear_policy *ftl_wear_policy_get(uint32_t index)
{
    return index < sizeof policies / sizeof policies[0] ? &policies[index] : NULL;
}

const struct ftl_wear_policy *ftl_wear_policy_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof policies / sizeof policies[0]; i++)
        if (strcmp(policies[i].head.name, name) == 0)
            return &policies[i];
    return NULL;
}
