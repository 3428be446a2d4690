/* streams.c - classes of data, and automatic streams. STREAMS.md has the argument why
 * collection always finds room. */
#include <stdio.h>

#include "core/core.h"

/* Units of one call to a policy, enough for an untimed step of collection. */
enum { STREAM_BATCH = GC_CHUNK };

/* ---- which frontier belongs to which class ---------------------------------------- */

void core_streams_init(struct ftl_core *c)
{
    uint32_t gathered = (uint32_t)c->cfg->streams_initial, n = c->classes;
    bool apart = c->cfg->gc_frontiers > 1;
    uint32_t first = gathered > 0 ? n + 1 : n;  /* frontier of the first class kept apart */

    c->roam = geometry_streams_auto(c->cfg);
    for (uint32_t k = 0; k < n; k++) {
        c->fr_class[k] = (uint8_t)k;
        c->gc_of[k] = (uint8_t)(!apart ? k : k < gathered ? n : first + k - gathered);
        if (apart && k >= gathered)
            c->fr_class[c->gc_of[k]] = (uint8_t)k;
    }
    if (gathered > 0) {             /* what relocation gathers is a class of its own */
        c->gc_of[n] = (uint8_t)n;
        c->fr_class[n] = (uint8_t)n;
    }
}

uint64_t core_streams_memory(const struct ftl_config *cfg)
{
    const struct ftl_stream_policy *p = ftl_stream_policy_find("update-rate");
    uint64_t units = cfg->drive_user_bytes / cfg->map_unit_bytes;
    uint64_t chunks = (units + cfg->streams_chunk_units - 1) / cfg->streams_chunk_units;

    if (!geometry_streams_auto(cfg))
        return 0;
    return p->head.state_bytes + p->head.state_bytes_per_superblock * cfg->ftl_superblocks +
           p->state_bytes_per_chunk * chunks;
}

/* ---- room --------------------------------------------------------------------------- */

uint64_t core_stream_reach(const struct ftl_core *c)
{
    uint64_t reach = c->free_usable;
    for (uint32_t i = 0; i < c->frontier_count; i++)
        reach += frontier_left(&c->fr[i]);
    return reach;
}

uint64_t core_stream_room(const struct ftl_core *c)
{
    uint64_t reach = core_stream_reach(c);
    uint64_t claim = (uint64_t)c->gc.in_flight * c->g.group_units;

    claim += c->gc.victim == SB_NONE ? c->g.sb_units : c->valid[c->gc.victim];
    return reach > claim ? reach - claim : 0;
}

bool core_stream_hungry(const struct ftl_core *c)
{
    return c->free_count + c->gc.finishing_count <= c->cfg->gc_reserve;
}

/* While the free superblocks are those of collection, every class in use must find room
 * where it has an open superblock. */
uint64_t core_stream_limit(const struct ftl_core *c)
{
    uint32_t used = c->streams_used | c->streams_used_before;
    uint64_t limit = UINT64_MAX;

    if (c->free_count > c->cfg->gc_reserve)
        return limit;
    for (uint32_t k = 0; k < c->classes; k++)
        if ((used >> k & 1) != 0 && frontier_left(&c->fr[k]) < limit)
            limit = frontier_left(&c->fr[k]);
    return limit;
}

/* The open frontier among those of the classes, the first at `from`, whose class is
 * nearest; NULL = none. */
static struct frontier *nearest(struct ftl_core *c, uint32_t from, uint32_t class)
{
    for (uint32_t d = 0; d < c->classes; d++) {
        if (class >= d && c->fr[from + class - d].sb != SB_NONE)
            return &c->fr[from + class - d];
        if (class + d < c->classes && c->fr[from + class + d].sb != SB_NONE)
            return &c->fr[from + class + d];
    }
    return NULL;
}

struct frontier *core_stream_frontier(struct ftl_core *c, uint32_t want, enum cause cause)
{
    struct frontier *f = &c->fr[want];
    uint32_t keep = cause == CAUSE_HOST ? (uint32_t)c->cfg->gc_reserve : 0;
    uint32_t class = c->fr_class[want], own = want < c->classes ? 0 : c->gc_first;

    if (f->sb != SB_NONE)
        return f;
    if (c->free_count <= keep) {
        struct frontier *other = nearest(c, own, class);
        if (other == NULL)
            other = nearest(c, c->gc_first - own, class);
        if (other == NULL && c->wear.frontier < FRONTIERS_MAX)
            other = &c->fr[c->wear.frontier];
        if (other != NULL && other->sb != SB_NONE)
            return other;
    }
    core_open(c, f);
    return f;
}

void core_stream_note(struct ftl_core *c, const struct frontier *f, uint32_t want, uint32_t units)
{
    if (f != &c->fr[want])
        c->count->stream_mixed_units += units;
    c->sb_handles[f->sb] |= (uint8_t)(1u << c->fr_class[want]);
}

/* ---- asking the policy ---------------------------------------------------------------- */

static uint32_t log2_u64(uint64_t v)
{
    uint32_t n = 0;
    for (; v > 1; v >>= 1)
        n++;
    return n;
}

/* Classes of a batch; after a policy's fault all are class 0. */
static void ask(struct ftl_core *c, const struct ftl_stream_batch *batch, uint8_t *ret_class)
{
    const struct ftl_stream_policy *p = c->policy.stream;
    const struct ftl_stream_view view = {
        .user_units = c->user_units, .classes = c->classes,
        .chunk_shift = log2_u64(c->cfg->streams_chunk_units), .superblocks = c->g.sb_count,
        .units_per_superblock = c->g.sb_units, .host_units_written = c->host_units,
    };

    for (uint32_t i = 0; i < batch->count; i++)
        ret_class[i] = 0;
    int answer = p->place(c->policy.stream_state, &view, batch, ret_class);
    if (answer < 0)
        (void)core_policy_fault(c, "stream", &p->head, "gave up with %d", answer);
    for (uint32_t i = 0; i < batch->count; i++)
        if (ret_class[i] >= c->classes) {
            (void)core_policy_fault(c, "stream", &p->head, "chose class %u of %u", ret_class[i],
                                    c->classes);
            ret_class[i] = 0;
        }
}

/* ---- host ------------------------------------------------------------------------------ */

/* Which classes are in use is noted for a sixteenth of the user units at a time. */
static void note_used(struct ftl_core *c, uint32_t used)
{
    if (c->host_units >= c->streams_period) {
        c->streams_period = c->host_units + c->user_units / 16 + 1;
        c->streams_used_before = c->streams_used;
        c->streams_used = 0;
    }
    c->streams_used |= (uint8_t)used;
}

static void place_batch(struct ftl_core *c, const uint32_t *keys, uint32_t n)
{
    uint32_t units[STREAM_BATCH], run[STREAM_BATCH], used = 0;
    uint8_t class[STREAM_BATCH];

    for (uint32_t i = 0; i < n; i++)
        units[i] = keys[i] - 1;
    ask(c, &(struct ftl_stream_batch){.origin = FTL_STREAM_HOST, .count = n, .units = units},
        class);
    for (uint32_t i = 0; i < n; i++)
        used |= 1u << class[i];
    note_used(c, used);
    for (uint32_t k = 0; k < c->classes; k++) {
        uint32_t count = 0;
        if ((used >> k & 1) == 0)
            continue;
        for (uint32_t i = 0; i < n; i++)
            if (class[i] == k)
                run[count++] = keys[i];
        core_place_run(c, k, run, count);
    }
}

void core_stream_place(struct ftl_core *c, const uint32_t *keys, uint32_t n)
{
    for (uint32_t k; n > 0; keys += k, n -= k) {
        k = n < STREAM_BATCH ? n : STREAM_BATCH;
        place_batch(c, keys, k);
    }
}

void core_stream_trim(struct ftl_core *c, uint64_t lpn, uint64_t n)
{
    uint32_t units[STREAM_BATCH];
    uint8_t class[STREAM_BATCH];

    for (uint64_t i = 0; i < n;) {
        struct ftl_stream_batch batch = {.origin = FTL_STREAM_TRIM, .units = units};
        for (; i < n && batch.count < STREAM_BATCH; i++)
            if (c->map[lpn + i + 1] != 0)
                units[batch.count++] = (uint32_t)(lpn + i);
        if (batch.count > 0)
            ask(c, &batch, class);
    }
}

/* ---- relocation ------------------------------------------------------------------------- */

static void move_unit(struct ftl_core *c, uint32_t slot, uint32_t want)
{
    uint32_t key = c->rmap[slot];
    struct frontier *f = core_stream_frontier(c, want, CAUSE_GC);
    uint32_t to = f->next;

    core_stream_note(c, f, want, 1);
    c->map[key] = to;
    c->rmap[to] = key;
    if (c->payload != NULL)
        core_payload_move(c, f, slot, to);
    c->valid[f->sb]++;
    f->wl_units[CAUSE_GC]++;
    if (++f->next == f->run_end)
        core_run_end(c, f);
}

uint32_t core_stream_relocate(struct ftl_core *c, uint32_t slot, uint32_t end)
{
    uint32_t from = geometry_superblock(&c->g, slot - 1), moved = 0;
    uint32_t units[STREAM_BATCH], slots[STREAM_BATCH];
    uint8_t class[STREAM_BATCH];

    while (slot < end) {
        uint32_t n = 0;
        for (; slot < end && n < STREAM_BATCH; slot++)
            if (c->map[c->rmap[slot]] == slot) {
                slots[n] = slot;
                units[n++] = c->rmap[slot] - 1;
            }
        if (n == 0)
            break;
        ask(c, &(struct ftl_stream_batch){.origin = FTL_STREAM_RELOCATION, .count = n,
                                          .units = units, .from_class = c->sb_class[from],
                                          .from_age = c->host_units - c->closed_at_write[from]},
            class);
        for (uint32_t i = 0; i < n; i++)
            move_unit(c, slots[i], c->wear.moved[from] == 1 ? c->wear.frontier
                                                            : core_gc_frontier(c, class[i]));
        moved += n;
    }
    c->valid[from] -= moved;
    c->in_log += moved;
    core_count_moved(c, from, moved);
    return moved;
}

/* ---- invariants --------------------------------------------------------------------------- */

/* Classes whose units a superblock of this class may hold; automatic streams promise
 * nothing, they count. */
static uint32_t allowed(const struct ftl_core *c, uint32_t class)
{
    if (c->roam)
        return (1u << c->classes) - 1;
    return class < c->classes ? 1u << class : (1u << c->cfg->streams_initial) - 1;
}

int core_check_streams(const struct ftl_core *c, char *why, size_t size)
{
    for (uint32_t i = 0; i < c->frontier_count; i++) {
        uint32_t sb = c->fr[i].sb;
        if (sb != SB_NONE && c->sb_class[sb] != c->fr_class[i] && i != c->wear.frontier) {
            if (why != NULL && size > 0)
                (void)snprintf(why, size, "superblock %u: of class %u, opened for class %u", sb,
                               c->sb_class[sb], c->fr_class[i]);
            return FTL_ECHECK;
        }
    }
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++)
        if (c->valid[sb] != 0 && (c->sb_handles[sb] & ~allowed(c, c->sb_class[sb])) != 0) {
            if (why != NULL && size > 0)
                (void)snprintf(why, size, "superblock %u: of class %u, holds units of classes %#x",
                               sb, c->sb_class[sb], c->sb_handles[sb]);
            return FTL_ECHECK;
        }
    return 0;
}
