/* check.c - what must hold between any two operations. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/core.h"

struct report {
    char *why;
    size_t size;
};

static int broken(const struct report *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int broken(const struct report *r, const char *format, ...)
{
    va_list args;
    if (r->why != NULL && r->size > 0) {
        va_start(args, format);
        (void)vsnprintf(r->why, r->size, format, args);
        va_end(args);
    }
    return FTL_ECHECK;
}

/* End of the written part of a superblock, as a slot id. */
static uint32_t written_end(const struct ftl_core *c, uint32_t sb)
{
    uint32_t first = sb * c->g.sb_units + 1;
    if (c->state[sb] == SB_FREE)
        return first;
    for (uint32_t i = 0; i < c->frontier_count; i++)
        if (c->fr[i].sb == sb)
            return c->fr[i].next;
    return first + c->g.sb_units;
}

/* Map and reverse map agree, live slots are written ones, counts add up. */
static int check_map(const struct ftl_core *c, const struct report *r, uint32_t *live)
{
    enum { AHEAD = 32 };            /* entries of the reverse map being fetched */
    uint64_t mapped = 0;

    const uint32_t keys = c->user_units + (c->dftl.on ? c->dftl.count : 0);

    for (uint32_t key = 1; key <= keys; key++) {
        uint32_t slot = c->map[key];
        uint32_t later = key + AHEAD <= keys ? c->map[key + AHEAD] : 0;
        if (later <= c->g.total_units)
            __builtin_prefetch(&c->rmap[later]);
        if (slot == 0)
            continue;
        mapped += key <= c->user_units;
        if (slot > c->g.total_units)
            return broken(r, "map: LPN %u points to slot %u beyond the drive", key - 1, slot);
        uint32_t sb = geometry_superblock(&c->g, slot - 1);
        if (c->rmap[slot] != key)
            return broken(r, "map: LPN %u points to slot %u, which names LPN %u", key - 1, slot,
                          c->rmap[slot] - 1);
        if (slot >= written_end(c, sb))
            return broken(r, "map: LPN %u points to slot %u, not written in superblock %u",
                          key - 1, slot, sb);
        live[sb]++;
    }
    if (mapped != c->mapped)
        return broken(r, "map: %llu LPNs are mapped, the count says %llu",
                      (unsigned long long)mapped, (unsigned long long)c->mapped);
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++)
        if (live[sb] != c->valid[sb])
            return broken(r, "superblock %u: %u live units, the count says %u", sb, live[sb],
                          c->valid[sb]);
    return 0;
}

static bool is_finishing(const struct ftl_core *c, uint32_t sb)
{
    for (uint32_t i = 0; i < c->gc.finishing_count; i++)
        if (c->gc.finishing[i].sb == sb)
            return true;
    return false;
}

static bool is_frontier(const struct ftl_core *c, uint32_t sb)
{
    for (uint32_t i = 0; i < c->frontier_count; i++)
        if (c->fr[i].sb == sb)
            return true;
    return false;
}

/* Every superblock is in one state, and the states account for the log. */
static int check_superblocks(const struct ftl_core *c, const struct report *r)
{
    uint64_t log = 0, flight = 0;
    uint32_t free_count = 0, open = 0;

    for (uint32_t i = 0; i < c->gc.finishing_count; i++)
        if (!core_is_slc(c, c->gc.finishing[i].sb))
            flight += (uint64_t)c->gc.reads[c->gc.finishing[i].sb] * c->g.group_units;
    if (c->gc.victim != SB_NONE && !core_is_slc(c, c->gc.victim))
        flight += (uint64_t)c->gc.reads[c->gc.victim] * c->g.group_units;
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        uint32_t first = sb * c->g.sb_units + 1;
        bool frontier = is_frontier(c, sb);
        free_count += c->state[sb] == SB_FREE && !core_is_slc(c, sb);
        open += c->state[sb] == SB_OPEN;
        if (frontier != (c->state[sb] == SB_OPEN))
            return broken(r, "superblock %u: open state and frontiers disagree", sb);
        if (c->collectable[sb] &&
            (c->state[sb] != SB_CLOSED || (c->timed && c->wl_in_flight[sb] != 0)))
            return broken(r, "superblock %u: collectable but not closed and programmed", sb);
        if (c->state[sb] == SB_FREE && c->valid[sb] != 0)
            return broken(r, "superblock %u: free with %u live units", sb, c->valid[sb]);
        if (c->state[sb] == SB_VICTIM && sb != c->gc.victim && !is_finishing(c, sb))
            return broken(r, "superblock %u: a victim that nobody collects", sb);
        if (core_is_slc(c, sb))
            continue;           /* never in the log */
        if (c->state[sb] == SB_OPEN || c->state[sb] == SB_CLOSED)
            log += written_end(c, sb) - first;
        else if (sb == c->gc.victim)
            log += first + c->g.sb_units - c->gc.cursor;
    }
    if (free_count != c->free_count)
        return broken(r, "%u superblocks are free, the count says %u", free_count, c->free_count);
    if (log + flight != c->in_log)
        return broken(r, "log holds %llu slots, the count says %llu",
                      (unsigned long long)(log + flight), (unsigned long long)c->in_log);
    if (open > c->frontier_count)
        return broken(r, "%u superblocks are open", open);
    return 0;
}

/* Programmed bytes by cause: what word lines held since the last reset. */
static int check_bytes(const struct ftl_core *c, const struct report *r)
{
    const struct ftl_counters *n = c->count;
    uint64_t placed = n->host_bytes + n->rmw_bytes + n->gc_bytes + n->wear_bytes +
                      n->refresh_bytes + n->metadata_bytes + n->padding_bytes + n->fold_bytes +
                      n->parity_bytes + n->retire_bytes + n->translation_bytes;
    uint64_t programmed = (n->nand_programs - n->metadata_programs) * c->g.wl_units *
                              c->g.unit_bytes + n->metadata_bytes - n->hole_bytes;
    int64_t open = (int64_t)core_open_units(c) - c->open_before;

    if (placed != programmed + (uint64_t)(open * c->g.unit_bytes))
        return broken(r, "bytes: causes sum to %llu, programs to %llu, %lld units are open",
                      (unsigned long long)placed, (unsigned long long)programmed,
                      (long long)open);
    return 0;
}

int core_check(const struct ftl_core *c, char *why, size_t why_size)
{
    struct report r = {why, why_size};
    uint32_t *live = calloc(c->g.sb_count, sizeof *live);
    if (live == NULL)
        return FTL_ENOMEM;
    int err = check_map(c, &r, live);
    free(live);
    if (err == 0)
        err = check_superblocks(c, &r);
    if (err == 0)
        err = check_bytes(c, &r);
    if (err == 0)
        err = core_check_holes(c, why, why_size);
    if (err == 0 && c->cache.count != 0)
        err = core_cache_check(c, why, why_size);
    if (err == 0 && c->coarse_wl != NULL)
        err = core_passes_check(c, why, why_size);
    if (err == 0)
        err = core_check_streams(c, why, why_size);
    const char *why_map = err == 0 && c->dftl.on ? core_dftl_check(c) : NULL;
    if (why_map != NULL)
        err = broken(&r, "map cache: %s", why_map);
    if (err == 0 && c->timed) {
        uint64_t host = core_open_cause(c, CAUSE_HOST);
        if (c->buffer_used < host || c->buffer_used > c->buffer_limit)
            err = broken(&r, "buffer: %u host units held, %llu in open word lines, limit %u",
                         c->buffer_used, (unsigned long long)host, c->buffer_limit);
    }
    return err;
}
