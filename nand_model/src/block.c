/* block.c - order of programming inside a block, and what an erase resets. */
#include <string.h>

#include "dev.h"

/* PAGED and TWO_PASS visit each word line twice, the second time after the first
 * visit of the next one: L0 L1 U0 L2 U1 .. L(n-1) U(n-2) U(n-1). */
uint32_t nandi_sequence_lower(uint32_t wordline)
{
    return wordline == 0 ? 0 : 2 * wordline - 1;
}

uint32_t nandi_sequence_upper(uint32_t wordline, uint32_t wordlines)
{
    return wordline + 1 == wordlines ? 2 * wordlines - 1 : 2 * wordline + 2;
}

static bool two_visits(const struct nand_dev *dev, uint32_t word)
{
    return dev->prof.scheme != NAND_SCHEME_ONE_PASS && !(word & BF_SLC);
}

uint32_t nandi_block_pages(const struct nand_dev *dev, uint32_t word)
{
    return word & BF_SLC ? dev->prof.geo.wordlines_per_block : dev->pages_per_block;
}

bool nandi_page_written(const struct nand_dev *dev, uint32_t word, uint32_t page)
{
    uint32_t steps = word & BF_STEPS, wordline = dev_wordline(dev, page);

    if (!two_visits(dev, word))
        return page < steps;
    if (dev->prof.scheme == NAND_SCHEME_PAGED && dev_page_type(dev, page) == 0)
        return nandi_sequence_lower(wordline) < steps;
    return nandi_sequence_upper(wordline, dev->prof.geo.wordlines_per_block) < steps;
}

/* Write pointer that leaves exactly the first `pages` pages written. PAGED counts
 * pages in its order; TWO_PASS ends right after the fine pass of the last one. */
uint32_t nandi_steps_of_pages(const struct nand_dev *dev, uint32_t pages)
{
    uint32_t wordlines;

    if (dev->prof.scheme != NAND_SCHEME_TWO_PASS)
        return pages;
    wordlines = dev_wordline(dev, pages);
    return wordlines == 0
               ? 0
               : nandi_sequence_upper(wordlines - 1, dev->prof.geo.wordlines_per_block) + 1;
}

uint32_t nandi_pages_of_steps(const struct nand_dev *dev, uint32_t steps)
{
    uint32_t wordlines = dev->prof.geo.wordlines_per_block;

    if (dev->prof.scheme != NAND_SCHEME_TWO_PASS)
        return steps;
    if (steps == 2 * wordlines)
        return dev->pages_per_block;
    /* fine passes end at steps 3, 5, 7 ..; a lone coarse pass counts for nothing */
    return steps < 3 ? 0 : (steps - 1) / 2 * dev->prof.geo.page_types;
}

void nandi_block_erased(struct nand_dev *dev, size_t block, uint32_t keep_flags)
{
    uint32_t word = dev->block[block].word;

    if (word & BF_DAMAGED)
        nandi_damage_clear_block(dev, block);
    if (dev->contents)
        nandi_contents_drop_block(dev, block);
    dev->block[block].word = word & keep_flags;
    if (dev->cells)
        memset(&dev->cells[block], 0, sizeof dev->cells[block]);
}
