/* wear.c - wear levelling: which free superblock is opened, which data moves off little
 * worn ones. The wear policy decides; here is what its decisions cost and when they
 * are carried out.
 *
 * A superblock that is moved for wear's sake frees nothing. With time, collection
 * therefore first saves up one superblock of free slots, a little with every unit of
 * the host; then the move spends them at the host's own pace. Neither stops the host. */
#include "core/core.h"
#include "core/direct.h"
#include "sim/draw.h"

enum { SAVE_PART = 2 };         /* host units per unit saved up */

static struct ftl_wear_view view_of(struct ftl_core *c, uint32_t use)
{
    /* bytes alone, and apart from all else: the compiler takes sixteen at a time */
    uint8_t *restrict is_free = c->wear.is_free;
    const uint8_t *restrict state = c->state;
    for (uint32_t i = 0, n = c->g.sb_count; i < n; i++)
        is_free[i] = state[i] == SB_FREE || (state[i] == SB_OPEN && FTL_PLANT(reuse_open, 20));
    bool cache = use == FTL_USE_HOST;
    for (uint32_t i = 0; c->cache.count != 0 && i < c->g.sb_count; i++)
        is_free[i] &= core_is_slc(c, i) == cache;
    return (struct ftl_wear_view){
        .count = c->g.sb_count,
        .units_per_superblock = c->g.sb_units,
        .use = use,
        .spread = (uint32_t)c->cfg->wear_spread,
        .erase_count = c->erases,
        .is_free = c->wear.is_free,
        .freed_at = c->wear.freed_at,
        .collectable = c->collectable,
        .valid_units = c->valid,
        .closed_at = c->closed_at,
        .closed_at_write = c->closed_at_write,
        .host_units_written = c->host_units,
        .draw = draw_u64(c->cfg->drive_seed, DRAW_WEAR, c->wear.asked++),
    };
}

uint32_t core_wear_open(struct ftl_core *c, uint32_t frontier)
{
    if (CORE_DIRECT)
        return direct_least_worn(c);
    const struct ftl_wear_policy *p = c->policy.wear;
    uint32_t use = frontier == c->wear.frontier ? FTL_USE_COLD
                   : frontier >= c->classes     ? FTL_USE_RELOCATION
                                                : FTL_USE_HOST;
    struct ftl_wear_view view = view_of(c, use);
    uint32_t sb = SB_NONE;
    int answer = p->open(c->policy.wear_state, &view, &sb);

    if (answer >= 0 && sb < c->g.sb_count && c->wear.is_free[sb])
        return sb;
    if (answer < 0)
        (void)core_policy_fault(c, "wear", &p->head, "gave up with %d where there was a choice",
                                answer);
    else if (sb >= c->g.sb_count)
        (void)core_policy_fault(c, "wear", &p->head, "opened superblock %u of %u", sb,
                                c->g.sb_count);
    else
        (void)core_policy_fault(c, "wear", &p->head, "opened superblock %u, which is not free",
                                sb);
    /* the run ends with this call; until then any free one keeps the core sound */
    for (sb = 0; !c->wear.is_free[sb]; sb++)
        FTL_ASSERT(c->ctx, sb + 1 < c->g.sb_count);
    return sb;
}

uint32_t core_wear_assemble(void *user, const struct media_spares *spares)
{
    struct ftl_core *c = user;
    const struct ftl_wear_policy *p = c->policy.wear;
    struct ftl_assembly_view view = {
        .superblock = spares->sb, .die = spares->die, .plane = spares->plane,
        .block_erases = spares->block_erases, .is_gone = spares->gone,
        .spares = spares->count, .spare_erases = spares->erases,
    };
    uint32_t k = UINT32_MAX;
    int answer = p->assemble(c->policy.wear_state, &view, &k);

    if (answer >= 0 && (k < view.spares || (k == view.spares && !view.is_gone)))
        return k;
    if (answer < 0)
        (void)core_policy_fault(c, "wear", &p->head, "gave up with %d where there was a choice",
                                answer);
    else if (k == view.spares)
        (void)core_policy_fault(c, "wear", &p->head, "takes no spare for a block that is gone");
    else
        (void)core_policy_fault(c, "wear", &p->head, "takes spare %u of %u", k, view.spares);
    return view.is_gone ? 0 : view.spares;
}

/* The superblock to move, or SB_NONE. */
static uint32_t ask_move(struct ftl_core *c)
{
    const struct ftl_wear_policy *p = c->policy.wear;
    struct ftl_wear_view view = view_of(c, FTL_USE_COLD);
    uint32_t sb = SB_NONE;
    int answer = p->move(c->policy.wear_state, &view, &sb);

    if (answer < 0)
        (void)core_policy_fault(c, "wear", &p->head, "gave up with %d where it may move none",
                                answer);
    else if (sb == c->g.sb_count)
        return SB_NONE;
    else if (sb > c->g.sb_count)
        (void)core_policy_fault(c, "wear", &p->head, "moves superblock %u of %u", sb,
                                c->g.sb_count);
    else if (!c->collectable[sb])
        (void)core_policy_fault(c, "wear", &p->head,
                                "moves superblock %u, which may not be collected", sb);
    else
        return sb;
    return SB_NONE;
}

static void set_extra(struct ftl_core *c, uint64_t extra)
{
    c->free_target += extra - c->wear.extra;
    c->wear.extra = extra;
}

/* With time, the slots that the move will keep from the host are saved up first. */
static bool is_saved_up(struct ftl_core *c)
{
    uint64_t n = c->g.sb_units;
    if (!c->timed)
        return true;
    if (!c->wear.saving) {
        c->wear.saving = true;
        c->wear.saving_since = c->host_units;
    }
    uint64_t extra = (c->host_units - c->wear.saving_since) / SAVE_PART;
    set_extra(c, extra < n ? extra : n);
    return extra >= n && core_free_slots(c) + n / 4 >= c->free_target;
}

uint32_t core_wear_victim(struct ftl_core *c)
{
    if (!c->wear.due)
        return SB_NONE;
    c->wear.due = false;            /* at most one move per collected superblock */
    uint32_t sb = ask_move(c);
    if (sb == SB_NONE) {
        c->wear.saving = false;
        set_extra(c, 0);
        return SB_NONE;
    }
    if (!is_saved_up(c))
        return SB_NONE;
    c->wear.saving = false;
    /* classes never share a superblock: behind another's data it goes to its own; so do map pages
     * always, or cold data would find them there every time */
    const struct frontier *f = &c->fr[c->wear.frontier];
    bool is_map = c->map_frontier != SB_NONE && c->sb_class[sb] == c->classes;
    bool apart = !is_map && (f->sb == SB_NONE || c->sb_class[f->sb] == c->sb_class[sb]);
    c->wear.moved[sb] = apart ? 1 : 2;
    set_extra(c, c->timed ? c->g.sb_units : 0);
    return sb;
}

void core_wear_step(struct ftl_core *c, uint32_t slots_left)
{
    if (slots_left < c->wear.extra)
        set_extra(c, slots_left);
}

void core_wear_format(struct ftl_core *c)
{
    c->wear.saving = c->wear.due = false;
    set_extra(c, 0);
    for (uint32_t i = 0; i < c->g.sb_count; i++)
        c->wear.moved[i] = 0;
}
