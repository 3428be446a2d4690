/* payload.c - user bytes, one 4 KiB cell per written slot.
 *
 * Cells move with relocation and die with their superblock, so a wrong map entry,
 * a lost relocation or an early erase shows up as wrong bytes. Contents are sparse
 * next to the slots of a drive: a hash table per superblock holds them. */
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
/* the table undoes an insertion it has no memory for and calls this */
#define uthash_nonfatal_oom(cell) ((cell)->lost = true)
#include <uthash.h>

#include "core/core.h"

struct payload_cell {
    uint32_t slot;
    bool lost;
    UT_hash_handle hh;
    uint8_t bytes[FTL_UNIT_BYTES];
};

static struct payload_cell **table_of(const struct ftl_core *c, uint32_t slot)
{
    return &c->payload[geometry_superblock(&c->g, slot - 1)];
}

static struct payload_cell *find(const struct ftl_core *c, uint32_t slot)
{
    struct payload_cell *table = *table_of(c, slot), *cell = NULL;
    HASH_FIND(hh, table, &slot, sizeof slot, cell);
    return cell;
}

static int insert(struct ftl_core *c, struct payload_cell *cell, uint32_t slot)
{
    struct payload_cell **table = table_of(c, slot);
    cell->slot = slot;
    cell->lost = false;
    HASH_ADD(hh, *table, slot, sizeof cell->slot, cell);
    if (!cell->lost)
        return 0;
    free(cell);
    return FTL_ENOMEM;
}

int core_payload_init(struct ftl_core *c)
{
    c->payload = calloc(c->g.sb_count, sizeof *c->payload);
    return c->payload != NULL ? 0 : FTL_ENOMEM;
}

void core_payload_free(struct ftl_core *c)
{
    for (uint32_t sb = 0; c->payload != NULL && sb < c->g.sb_count; sb++)
        core_payload_drop(c, sb);
    free(c->payload);
}

int core_payload_write(struct ftl_core *c, uint32_t key, uint32_t offset, uint32_t bytes,
                       const uint8_t *data)
{
    uint32_t slot = c->map[key];
    FTL_ASSERT(c->ctx, slot != 0 && c->rmap[slot] == key);
    struct payload_cell *cell = find(c, slot);
    if (cell == NULL) {
        cell = calloc(1, sizeof *cell);
        if (cell == NULL || insert(c, cell, slot) < 0)
            return FTL_ENOMEM;
    }
    memcpy(cell->bytes + offset, data, bytes);
    return 0;
}

void core_payload_read(const struct ftl_core *c, uint32_t key, uint32_t offset, uint32_t bytes,
                       uint8_t *ret_data)
{
    uint32_t slot = c->map[key];
    const struct payload_cell *cell = slot != 0 ? find(c, slot) : NULL;

    if (cell == NULL) {             /* never written, trimmed, or written without data */
        memset(ret_data, 0, bytes);
        return;
    }
    FTL_ASSERT(c->ctx, c->rmap[slot] == key);
    memcpy(ret_data, cell->bytes + offset, bytes);
}

void core_payload_move(struct ftl_core *c, uint32_t from, uint32_t to)
{
    struct payload_cell *cell = find(c, from);
    if (cell == NULL)
        return;
    HASH_DEL(*table_of(c, from), cell);
    if (insert(c, cell, to) < 0)
        c->error = FTL_ENOMEM;      /* bytes are lost: the run ends */
}

void core_payload_drop(struct ftl_core *c, uint32_t sb)
{
    if (c->payload == NULL)
        return;
    struct payload_cell *cell, *next;
    HASH_ITER(hh, c->payload[sb], cell, next) {
        HASH_DEL(c->payload[sb], cell);
        free(cell);
    }
}
