/* store.c - what store.h offers besides snapshots. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "dev.h"

int nand_fork(const nand_dev *dev, nand_dev **ret_copy)
{
    struct nand_dev *copy;
    int err = 0;

    if (!dev || !ret_copy)
        return NAND_EINVAL;
    copy = aligned_alloc(64, dev->flat_bytes);
    if (!copy)
        return NAND_ENOMEM;
    memcpy(copy, dev, dev->flat_bytes);
    nandi_set_pointers(copy);
    nandi_tables_share(copy);
    copy->contents = NULL;
    copy->in_data = copy->reg_data = NULL;
    copy->damage = NULL;
    copy->damage_room = 0;
    if (dev->contents)
        err = nandi_contents_copy(copy, dev);
    if (!err && dev->damage_count) {
        copy->damage_count = 0;
        err = nandi_damage_reserve(copy, dev->damage_count);
        if (!err)
            memcpy(copy->damage, dev->damage, dev->damage_count * sizeof *dev->damage);
        copy->damage_count = dev->damage_count;
    }
    if (err) {
        nand_destroy(copy);
        return err;
    }
    *ret_copy = copy;
    return 0;
}

static int find_page(const nand_dev *dev, const struct nand_addr *addr, size_t *ret_block)
{
    if (addr->die >= dev->prof.geo.dies || addr->plane >= dev->prof.geo.planes ||
        addr->block >= dev->prof.geo.blocks_per_plane)
        return NAND_EADDR;
    *ret_block = dev_block_index(dev, addr->die, addr->plane, addr->block);
    if (addr->page >= nandi_block_pages(dev, dev->block[*ret_block].word))
        return NAND_EADDR;
    if (!dev->contents)
        return NAND_ENOTSUP;
    return nandi_page_written(dev, dev->block[*ret_block].word, addr->page) ? 0
                                                                            : NAND_EUNWRITTEN;
}

static uint64_t hash_of(const nand_dev *dev, size_t block, uint32_t page_number)
{
    const struct page_data *page = nandi_contents_page(dev, block, page_number);
    uint8_t ones[65536 + 16384];

    if (page)
        return page->xxh;
    memset(ones, 0xff, dev->page_total_bytes);
    return XXH3_64bits(ones, dev->page_total_bytes);
}

int nand_page_hash(const nand_dev *dev, const struct nand_addr *addr, uint64_t *ret_hash)
{
    size_t block;
    int err;

    if (!dev || !addr || !ret_hash)
        return NAND_EINVAL;
    err = find_page(dev, addr, &block);
    if (err)
        return err;
    *ret_hash = hash_of(dev, block, addr->page);
    return 0;
}

int nand_page_verify(const nand_dev *dev, const struct nand_addr *addr, const void *data)
{
    size_t block;
    int err;

    if (!dev || !addr || !data)
        return NAND_EINVAL;
    err = find_page(dev, addr, &block);
    if (err)
        return err;
    return XXH3_64bits(data, dev->page_total_bytes) == hash_of(dev, block, addr->page);
}

int nand_contents_get(const nand_dev *dev, struct nand_contents *ret)
{
    if (!dev || !ret)
        return NAND_EINVAL;
    *ret = (struct nand_contents){.pages = dev->contents_pages,
                                  .bytes = dev->contents_bytes,
                                  .compressed_pages = dev->contents_compressed};
    return 0;
}

int nand_contents_compress(nand_dev *dev)
{
    if (!dev)
        return NAND_EINVAL;
    if (!dev->contents)
        return NAND_ENOTSUP;
    for (size_t b = 0; b < dev->block_count; b++) {
        uint32_t word = dev->block[b].word;
        if (nandi_page_written(dev, word, nandi_block_pages(dev, word) - 1))
            nandi_contents_compress_block(dev, b);
    }
    return 0;
}
