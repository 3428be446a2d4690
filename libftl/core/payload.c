/* payload.c - user bytes, one 4 KiB cell per slot, taken when first written.
 *
 * Cells move with relocation and die with their superblock, so a wrong map entry,
 * a lost relocation or an early erase shows up as wrong bytes. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

int core_payload_write(struct ftl_core *c, uint32_t key, uint32_t offset, uint32_t bytes,
                       const uint8_t *data)
{
    uint32_t slot = c->map[key];
    FTL_ASSERT(c->ctx, slot != 0 && c->rmap[slot] == key);
    if (c->payload[slot] == NULL) {
        c->payload[slot] = calloc(1, FTL_UNIT_BYTES);
        if (c->payload[slot] == NULL)
            return FTL_ENOMEM;
    }
    memcpy(c->payload[slot] + offset, data, bytes);
    return 0;
}

void core_payload_read(const struct ftl_core *c, uint32_t key, uint32_t offset, uint32_t bytes,
                       uint8_t *ret_data)
{
    uint32_t slot = c->map[key];
    if (slot == 0 || c->payload[slot] == NULL) {
        memset(ret_data, 0, bytes);
        return;
    }
    FTL_ASSERT(c->ctx, c->rmap[slot] == key);
    memcpy(ret_data, c->payload[slot] + offset, bytes);
}

void core_payload_drop(struct ftl_core *c, uint32_t sb)
{
    if (c->payload == NULL)
        return;
    uint8_t **cell = &c->payload[(size_t)sb * c->g.sb_units + 1];
    for (uint32_t i = 0; i < c->g.sb_units; i++) {
        free(cell[i]);
        cell[i] = NULL;
    }
}
