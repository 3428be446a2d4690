/* try.c - a policy as a function, and in a drive: what most tests of a policy need. */
#include <stdio.h>
#include <string.h>

#include "rig.h"

enum { PICTURE_MAX = 256 };

uint32_t tk_gc_pick(const struct ftl_gc_policy *policy, void *state,
                    const struct tk_superblock *sb, uint32_t count, struct ftl_gc_view more)
{
    uint32_t valid[PICTURE_MAX], erases[PICTURE_MAX], chosen = TK_NO_ANSWER;
    uint8_t collectable[PICTURE_MAX];
    uint64_t closed_at[PICTURE_MAX], at_write[PICTURE_MAX];

    if (count == 0 || count > PICTURE_MAX)
        return TK_NO_ANSWER;
    for (uint32_t i = 0; i < count; i++) {
        valid[i] = sb[i].valid_units;
        erases[i] = sb[i].erases;
        collectable[i] = !sb[i].taken;
        at_write[i] = sb[i].closed_at_write;
        closed_at[i] = 0;
        for (uint32_t k = 0; k < count; k++)    /* closed in the order of the write clock */
            closed_at[i] += sb[k].closed_at_write < sb[i].closed_at_write;
    }
    more.count = count;
    more.valid_units = valid;
    more.collectable = collectable;
    more.closed_at = closed_at;
    more.closed_at_write = at_write;
    more.erase_count = erases;
    if (policy->pick(state, &more, &chosen) < 0 || chosen >= count || sb[chosen].taken)
        return TK_NO_ANSWER;
    return chosen;
}

int tk_try(const struct ftl_policies *policies, uint64_t seed, struct tk_result *ret)
{
    struct tk_options options = {.policies = policies};
    struct tk_case c = {0};
    bool streams = policies != NULL && policies->stream != NULL;

    memset(ret, 0, sizeof *ret);
    int err = tk_tiny(&c.cfg, ret->why, sizeof ret->why, "streams.count", streams ? "2" : "1",
                      "streams.mode", streams ? "auto" : "host", NULL);
    struct tk_load load = {.lbas = err == 0 ? c.cfg.drive_user_bytes / c.cfg.drive_lba_bytes : 0,
                           .io_lbas = 1, .depth = 8, .seed = seed};
    if (err == 0)
        err = tk_add_fill(&c.script, &load);
    if (err == 0)
        err = tk_add_hot_cold(&c.script, &load, 5000, 80, 20, 0);
    if (err == 0)
        err = tk_add_trim_storm(&c.script, &load, 500);
    if (err == 0)
        err = tk_play(&c, &options, ret);
    tk_script_free(&c.script);
    return err;
}

uint64_t tk_wa_milli(const struct tk_result *r)
{
    const struct ftl_counters *n = &r->counters;
    uint64_t all = n->host_bytes + n->gc_bytes + n->wear_bytes;
    return n->host_bytes == 0 ? 0 : (all * 1000 + n->host_bytes / 2) / n->host_bytes;
}
