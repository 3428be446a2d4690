/* untimed.c - blocks that are erased or written without time. */
#include "media/queue.h"

void media_set_slc(struct media *m, uint32_t die, uint32_t block, uint32_t pages, uint32_t erases)
{
    for (uint32_t p = 0; p < m->plane_count; p++) {
        int err = nand_block_set_slc(m->nand, die, p, block, pages, erases);
        FTL_ASSERT(m->ctx, err == 0);
    }
}

void media_erase_die_untimed(struct media *m, uint32_t die, uint32_t block, uint32_t erases)
{
    if (media_is_slc(m, block)) {
        media_set_slc(m, die, block, 0, erases);
        return;
    }
    for (uint32_t p = 0; p < m->plane_count; p++) {
        uint32_t at = media_blocks_at(&m->blocks, block, die, p);
        if (at == BLOCK_NONE)
            continue;
        uint32_t worn = media_blocks_worn(&m->blocks, die, p, at, erases);
        int err = nand_block_set(m->nand, die, p, at, 0, worn + (m->blocks.erases != NULL));
        FTL_ASSERT(m->ctx, err == 0);
    }
    media_blocks_erased(&m->blocks, block, die, 0);
}

void media_erase_untimed(struct media *m, uint32_t block, uint32_t erases)
{
    for (uint32_t d = 0; m->ecc.curves != NULL && d < m->die_count; d++)
        media_ecc_erased(m, block, d);
    for (uint32_t d = 0; d < m->die_count; d++)
        media_erase_die_untimed(m, d, block, erases);
}

void media_count_erase(struct media *m, uint32_t block)
{
    for (uint32_t d = 0; m->blocks.erases != NULL && d < m->die_count; d++)
        media_blocks_erased(&m->blocks, block, d, 0);
}
