/* pace.c - decoding times: the work counted by a run, at a given speed of hardware. */
#include <stdlib.h>

#include "code.h"
#include "ldpc/channel.h"

enum { START_NS = 200, FLIP_EDGES_PER_NS = 1600, EDGES_PER_NS = 400, FLIPS_DEFAULT = 40 };

int ldpc_pace_default(const ldpc_code *code, struct ldpc_pace *ret)
{
    if (!code || !ret)
        return LDPC_EINVAL;
    uint32_t edges = code->edges * code->z;
    *ret = (struct ldpc_pace){START_NS, (edges + FLIP_EDGES_PER_NS - 1) / FLIP_EDGES_PER_NS,
                              (edges + EDGES_PER_NS - 1) / EDGES_PER_NS};
    return LDPC_OK;
}

uint32_t ldpc_mc_iterations(const struct ldpc_mc_result *r, uint32_t permille)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; r && i < LDPC_MC_BINS; i++) {
        seen += r->by_iterations[i];
        if (seen * 1000 >= permille * r->frames)
            return i;
    }
    return LDPC_MC_BINS - 1;
}

struct share {
    uint64_t ns, frames;
};

static int by_ns(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static uint32_t at_permille(const struct share *s, size_t count, uint64_t frames,
                            uint32_t permille)
{
    uint64_t seen = 0, last = 0;
    for (size_t i = 0; i < count; i++) {
        seen += s[i].frames;
        last = s[i].frames ? s[i].ns : last;
        if (seen * 1000 >= permille * frames)
            break;
    }
    return last > UINT32_MAX ? UINT32_MAX : (uint32_t)last;
}

/* Flipping either ends a word or uses up all its rounds, so three lists of counts say
 * for every frame how much of both kinds of work it took. */
int ldpc_mc_latency(const struct ldpc_mc_result *r, const struct ldpc_pace *pace,
                    uint32_t flips_max, struct ldpc_latency *ret)
{
    struct share s[3 * LDPC_MC_BINS];
    if (!r || !pace || !ret || !r->frames || flips_max > LDPC_ITER_MAX)
        return LDPC_EINVAL;
    uint64_t handed = (uint64_t)(flips_max ? flips_max : FLIPS_DEFAULT) * pace->round_ns;
    for (uint32_t i = 0; i < LDPC_MC_BINS; i++) {
        uint64_t least = i ? 0 : r->by_stage[0] + r->by_stage[1]; /* they iterate 0 times */
        uint64_t sum = pace->start_ns + (uint64_t)i * pace->iteration_ns;
        s[3 * i] = (struct share){sum, r->by_iterations[i] - r->after_flips[i] - least};
        s[3 * i + 1] = (struct share){sum + handed, r->after_flips[i]};
        s[3 * i + 2] =
            (struct share){pace->start_ns + (uint64_t)i * pace->round_ns, r->by_flips[i]};
    }
    qsort(s, 3 * LDPC_MC_BINS, sizeof *s, by_ns);
    double work =
        (double)r->flip_rounds * pace->round_ns + (double)r->iterations * pace->iteration_ns;
    *ret = (struct ldpc_latency){
        .mean_ps = (uint64_t)(1000 * (pace->start_ns + work / (double)r->frames) + 0.5),
        .p50_ns = at_permille(s, 3 * LDPC_MC_BINS, r->frames, 500),
        .p99_ns = at_permille(s, 3 * LDPC_MC_BINS, r->frames, 990),
        .worst_ns = at_permille(s, 3 * LDPC_MC_BINS, r->frames, 1000)};
    return LDPC_OK;
}
