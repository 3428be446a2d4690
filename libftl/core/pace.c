/* pace.c - when collection works: how far above the floor the pace policy wants the free
 * slots, and how far in idle time. The floor itself is the core's: whatever a policy
 * answers, the host waits there, and collection has room to finish. */
#include "core/core.h"
#include "core/direct.h"

/* Units under way without which open word lines would not get full. */
static uint32_t least_units(const struct ftl_core *c)
{
    uint32_t frontiers = c->frontier_count - (c->roam ? 0 : c->gc_first);
    uint32_t held = c->coarse_wl != NULL ? 1 + c->g.dies : 1;
    return (frontiers * held + 1) * c->g.wl_units + c->g.group_units;
}

static void apply(struct ftl_core *c)
{
    const struct ftl_pace *a = &c->pace.answer;
    uint64_t ahead = c->pace.idle && a->idle_ahead_units > a->ahead_units ? a->idle_ahead_units
                                                                          : a->ahead_units;
    uint32_t units = c->pace.idle && a->idle_units != 0 ? a->idle_units : UINT32_MAX;

    units = units > least_units(c) ? units : least_units(c);
    c->free_target = c->free_floor + ahead + c->wear.extra;
    c->gc.buffer_now = units < c->gc.buffer_limit ? units : c->gc.buffer_limit;
}

/* The reason why an answer is refused, or NULL. */
static const char *judge(const struct ftl_pace *a, const struct ftl_pace_view *v)
{
    if (a->ahead_units < v->least_ahead_units || a->ahead_units > v->most_ahead_units)
        return "ahead_units";
    if (a->idle_ahead_units > v->most_ahead_units)
        return "idle_ahead_units";
    if (a->idle_ahead_units != 0 && (a->idle_gain_units < v->least_gain_units ||
                                     a->idle_gain_units > v->units_per_superblock))
        return "idle_gain_units";
    return NULL;
}

int core_pace(struct ftl_core *c)
{
    if (CORE_DIRECT && c->pace.answer.ahead_units != 0)
        return 0;
    const struct ftl_pace_policy *p = c->policy.pace;
    uint64_t n = c->g.sb_units, free_slots = core_free_slots(c);
    uint64_t open = c->roam ? c->frontier_count * n : 0;    /* may hold as many dead units */
    uint64_t reach = c->g.total_units - c->cache.slots - c->user_units - c->free_floor - open;
    struct ftl_pace_view view = {
        .superblocks = c->g.sb_count,
        .units_per_superblock = c->g.sb_units,
        .dies = c->g.dies,
        .word_line_units = c->g.wl_units,
        .free_units = free_slots,
        .floor_units = c->free_floor,
        .dead_units = c->in_log + core_cache_live(c) - c->mapped,
        .least_ahead_units = c->pace.least,
        .most_ahead_units = reach > n + c->pace.least ? reach - n : c->pace.least,
        .least_gain_units = (uint32_t)(n / 16 + 1),
        .host_units_written = c->host_units,
        .idle_superblocks = (uint32_t)c->cfg->gc_idle_superblocks,
        .idle_after_ns = c->cfg->gc_idle_after_ns,
        .pace_ppm = (uint32_t)c->cfg->gc_pace_ppm,
    };
    struct ftl_pace answer = {.ahead_units = c->pace.least};
    int err = p->pace(c->policy.pace_state, &view, &answer);
    const char *wrong = err < 0 ? NULL : judge(&answer, &view);

    if (err < 0)
        return core_policy_fault(c, "pace", &p->head, "gave up with %d", err);
    if (wrong != NULL)
        return core_policy_fault(c, "pace", &p->head,
                                 "answered %s beyond its bounds (ahead %llu, idle ahead %llu, both "
                                 "%llu to %llu, idle gain %u)", wrong,
                                 (unsigned long long)answer.ahead_units,
                                 (unsigned long long)answer.idle_ahead_units,
                                 (unsigned long long)view.least_ahead_units,
                                 (unsigned long long)view.most_ahead_units,
                                 answer.idle_gain_units);
    c->pace.answer = answer;
    apply(c);
    return 0;
}

void core_pace_idle(struct ftl_core *c, bool idle)
{
    c->pace.idle = idle;
    apply(c);
}

bool core_pace_declines(struct ftl_core *c, uint32_t sb)
{
    if (!c->pace.idle ||
        core_free_slots(c) < c->free_floor + c->pace.answer.ahead_units + c->wear.extra ||
        c->g.sb_units - c->valid[sb] >= c->pace.answer.idle_gain_units)
        return false;
    core_pace_idle(c, false);       /* until the host has been here again */
    return true;
}
