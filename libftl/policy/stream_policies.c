/* stream_policies.c - the built-in choice of classes: how often is a unit rewritten?
 *
 * One byte per chunk of neighbouring units counts rewrites, and all counters are halved
 * once while the host writes the user capacity once: a hand goes round them, as many
 * steps as units are written. So a counter is about the rewrites of the last two rounds,
 * and a unit that is left alone cools by itself. Levels of the counter are fixed, in
 * powers; which levels share a class is learned. A sample of at most SAMPLES units tells
 * how often units of each level die; levels that die equally often are one class. Thus
 * uniform traffic ends with one class, and few classes are used where few would do.
 * STREAMS.md has the figures. */
#include <stdbool.h>
#include <string.h>

#include "ftl/ftl_policy.h"

enum { LEVELS = 8, SAMPLES = 65536, DEATHS_MIN = 16, NO_LEVEL = 0xFF };

__extension__ typedef unsigned __int128 u128;

struct rates {
    uint32_t hand, debt;        /* next counter to halve, in chunks; units not yet paid for */
    uint32_t sample_shift;      /* one unit of 2^shift is a sample */
    uint8_t step_shift;         /* of the levels: a factor of 2 or 4 */
    uint8_t class_of[LEVELS];
    bool begun;
    uint64_t judged_at;         /* write clock */
    uint64_t deaths[LEVELS], exposed[LEVELS];   /* samples that died; x units written */
    uint32_t alive[LEVELS];
    uint8_t level[SAMPLES];     /* 0 = not written yet, else level + 1 */
    /* counters follow */
};

static uint8_t *counters(struct rates *r)
{
    return (uint8_t *)(r + 1);
}

static void begin(struct rates *r, const struct ftl_stream_view *v)
{
    while ((v->user_units - 1) >> r->sample_shift >= SAMPLES)
        r->sample_shift++;
    /* five levels in powers of four use up eight bits; more classes need finer ones */
    r->step_shift = v->classes > 5 ? 1 : 2;
    for (uint32_t i = 0; i < LEVELS; i++)
        r->class_of[i] = (uint8_t)(i < v->classes ? i : v->classes - 1);
    r->begun = true;
}

/* 0 is the coldest. Bounds 1, 4, 16, 64 or 1, 2, 4, ... 64. */
static uint32_t level_of(const struct rates *r, uint32_t counter)
{
    uint32_t level = 0;
    for (uint32_t bound = 1; level < LEVELS - 1 && counter > bound; bound <<= r->step_shift)
        level++;
    return level;
}

/* Halves one counter for every chunk of units written. */
static void cool(struct rates *r, const struct ftl_stream_view *v, uint32_t units)
{
    uint8_t *count = counters(r);
    uint32_t chunks = ((v->user_units - 1) >> v->chunk_shift) + 1;

    r->debt += units;
    for (; r->debt >> v->chunk_shift != 0; r->debt -= UINT32_C(1) << v->chunk_shift) {
        count[r->hand] >>= 1;
        if (++r->hand == chunks)
            r->hand = 0;
    }
}

/* Levels join from the coldest on, until one dies half as often again as the class. */
static void judge(struct rates *r, const struct ftl_stream_view *v)
{
    uint64_t deaths = 0, exposed = 0;
    uint32_t class = 0;

    for (uint32_t i = 0; i < LEVELS; i++) {
        bool sure = r->deaths[i] >= DEATHS_MIN && deaths >= DEATHS_MIN;
        if (sure && class + 1 < v->classes &&
            (u128)2 * r->deaths[i] * exposed > (u128)3 * deaths * r->exposed[i]) {
            class++;
            deaths = exposed = 0;
        }
        r->class_of[i] = (uint8_t)class;
        deaths += r->deaths[i];
        exposed += r->exposed[i];
    }
    for (uint32_t i = 0; i < LEVELS; i++) {
        r->deaths[i] /= 2;
        r->exposed[i] /= 2;
    }
    r->judged_at = v->host_units_written;
}

/* The sample that a unit is, or SAMPLES: one of each 2^shift, scattered by a hash. */
static uint32_t sample_of(const struct rates *r, uint32_t unit)
{
    uint32_t group = unit >> r->sample_shift, mask = (UINT32_C(1) << r->sample_shift) - 1;
    return (unit & mask) == ((group * UINT32_C(2654435769)) >> 12 & mask) ? group : SAMPLES;
}

static void resample(struct rates *r, uint32_t sample, uint32_t level, bool died)
{
    uint32_t old = r->level[sample];
    if (old != 0) {
        r->alive[old - 1]--;
        r->deaths[old - 1] += died;
    }
    if (level != NO_LEVEL)
        r->alive[level]++;
    r->level[sample] = (uint8_t)(level != NO_LEVEL ? level + 1 : 0);
}

static int place(void *state, const struct ftl_stream_view *v, const struct ftl_stream_batch *b,
                 uint8_t *ret_class)
{
    struct rates *r = state;
    uint8_t *count = counters(r);
    bool host = b->origin == FTL_STREAM_HOST, trim = b->origin == FTL_STREAM_TRIM;

    if (!r->begun)
        begin(r, v);
    if (host) {
        cool(r, v, b->count);
        for (uint32_t i = 0; i < LEVELS; i++)
            r->exposed[i] += (uint64_t)r->alive[i] * b->count;
        if (v->host_units_written - r->judged_at > v->user_units / 4)
            judge(r, v);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        uint8_t *n = &count[b->units[i] >> v->chunk_shift];
        *n = (uint8_t)(*n + (host && *n < 255));
        uint32_t level = level_of(r, *n), sample = sample_of(r, b->units[i]);
        if (sample < SAMPLES)
            resample(r, sample, trim ? (uint32_t)NO_LEVEL : level, host || trim);
        ret_class[i] = r->class_of[level];
    }
    return 0;
}

static const struct ftl_stream_policy policies[] = {
    {FTL_POLICY_HEAD(struct ftl_stream_policy, "update-rate", sizeof(struct rates), 0), 1, place},
};

const struct ftl_stream_policy *ftl_stream_policy_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof policies / sizeof policies[0]; i++)
        if (strcmp(policies[i].head.name, name) == 0)
            return &policies[i];
    return NULL;
}
