/* fork.c - a second drive in the same state. */
#include <stdlib.h>
#include <string.h>

#include "ftl/ftl_power.h"
#include "nvme/drive.h"

/* Pointers of the drive into itself; those to arrays are sim_mem's. */
static void drive_aim(ftl_drive *d)
{
    struct ftl_core *c = &d->core;

    c->ctx = &d->ctx;
    c->media = &d->media;
    c->cfg = &d->cfg;
    c->count = &d->count;
    core_aim(c);
    d->media.ctx = &d->ctx;
    d->media.heap = &d->heap;
    d->media.slc = c->cache.slc;
    d->media.blocks.assemble_user = c;
    d->media.program_bytes = c->payload != NULL ? c->payload->bytes : NULL;
}

struct both {
    uint8_t *to;
    const uint8_t *from;
};

static void copy_part(void *user, uint64_t at, size_t bytes, bool used)
{
    const struct both *b = user;
    if (used)
        memcpy(b->to + at, b->from + at, bytes);
}

int ftl_fork(const ftl_drive *from, ftl_drive **ret)
{
    if (from == NULL || ret == NULL)
        return FTL_EINVAL;
    ftl_drive *d = malloc(sizeof *d);
    if (d == NULL)
        return FTL_ENOMEM;
    memcpy(d, from, sizeof *d);
    if (sim_mem_copy(&d->ctx.mem, &from->ctx.mem) < 0) {
        free(d);
        return FTL_ENOMEM;
    }
    drive_aim(d);
    if (d->core.payload != NULL) {
        struct both b = {d->core.payload->bytes, from->core.payload->bytes};
        core_payload_parts(&from->core, &b, copy_part);
    }
    if (media_fork(&d->media, &from->media) < 0) {
        sim_mem_free(&d->ctx.mem);
        free(d);
        return FTL_ENOMEM;
    }
    *ret = d;
    return 0;
}
