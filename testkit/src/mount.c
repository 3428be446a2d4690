/* mount.c - a drive through a snapshot, and faults of its media. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ftl/ftl_media.h"
#include "ftl/ftl_snapshot.h"
#include "rig.h"

/* ---- other policies at a mount ------------------------------------------------------ */

struct bytes {
    uint8_t *data;
    size_t used, room, at;
};

static int sink(void *user, const void *from, size_t size)
{
    struct bytes *b = user;
    if (b->room - b->used < size) {
        size_t room = 2 * b->room + size;
        uint8_t *data = realloc(b->data, room);
        if (data == NULL)
            return -1;
        b->data = data;
        b->room = room;
    }
    memcpy(b->data + b->used, from, size);
    b->used += size;
    return 0;
}

static int source(void *user, void *to, size_t size)
{
    struct bytes *b = user;
    if (b->used - b->at < size)
        return -1;
    memcpy(to, b->data + b->at, size);
    b->at += size;
    return 0;
}

static void draw_policies(struct ftl_config *cfg, uint64_t seed)
{
    struct tk_rand r = {seed};
    uint32_t gc = 0, pace = 0, wear = 0;

    while (ftl_gc_policy_get(gc) != NULL)
        gc++;
    while (ftl_pace_policy_get(pace) != NULL)
        pace++;
    while (ftl_wear_policy_get(wear) != NULL)
        wear++;
    (void)snprintf(cfg->gc_policy, sizeof cfg->gc_policy, "%s",
                   ftl_gc_policy_get((uint32_t)tk_below(&r, gc))->head.name);
    (void)snprintf(cfg->gc_pacing, sizeof cfg->gc_pacing, "%s",
                   ftl_pace_policy_get((uint32_t)tk_below(&r, pace))->head.name);
    (void)snprintf(cfg->wear_policy, sizeof cfg->wear_policy, "%s",
                   ftl_wear_policy_get((uint32_t)tk_below(&r, wear))->head.name);
    cfg->gc_pace_ppm = cfg->gc_idle_superblocks = cfg->gc_idle_after_ns = 0;
}

int tk_rig_mount(tk_rig *r, uint64_t seed)
{
    struct bytes b = {0};
    char why[FTL_WHY_MAX] = "";
    ftl_drive *next = NULL;
    int err = tk_rig_drain(r);

    if (err != 0)
        return err;
    draw_policies(&r->cfg, seed);
    int done = ftl_snapshot_write(r->drive, FTL_SNAPSHOT_STATE, NULL, sink, &b, why, sizeof why);
    if (done == 0)
        done = ftl_snapshot_read(source, &b, &r->cfg, r->options.policies, &next, why, sizeof why);
    free(b.data);
    if (done < 0)
        return tk_rig_fail(r, TK_DEAD_DEVICE, "mount: %s", why);
    ftl_destroy(r->drive);
    r->drive = next;
    return 0;
}

/* ---- faults -------------------------------------------------------------------------- */

int tk_rig_fault(tk_rig *r, const struct tk_step *s)
{
    uint32_t die = (uint32_t)(s->lba % r->cfg.nand_dies);
    struct ftl_fault f = {.kind = s->lba_count <= FTL_FAULT_DIE ? s->lba_count : FTL_FAULT_PROGRAM,
                          .die = die, .plane = (uint32_t)(s->lba / r->cfg.nand_dies %
                                                          r->cfg.nand_planes),
                          .after = s->stream};
    f.kind = f.kind == 0 ? FTL_FAULT_PROGRAM : f.kind;
    if (!r->cfg.media_faults)
        return 0;
    if (f.kind >= FTL_FAULT_PLANE) {    /* parity gives back what one die held, not two */
        if (r->cfg.raid_parity == 0 || (r->lost_die != 0 && r->lost_die != die + 1))
            return 0;
        r->lost_die = die + 1;
    }
    r->program_fails = r->program_fails || f.kind == FTL_FAULT_PROGRAM;
    int err = ftl_fault_arm(r->drive, &f);
    return err == 0 || err == FTL_EAGAIN
               ? 0
               : tk_rig_fail(r, TK_DEAD_DEVICE, "fault: %s", ftl_strerror(err));
}

bool tk_rig_is_read_only(const tk_rig *r)
{
    struct ftl_health h;
    return r->cfg.media_faults && ftl_health_get(r->drive, &h) == 0 && h.read_only;
}

bool tk_rig_may_lose(const tk_rig *r)
{
    return r->lost_die != 0 && r->program_fails;
}
