/* store.c - what store.h offers besides snapshots. */
#include <stdlib.h>
#include <string.h>

#include "dev.h"
#include "hash.h"

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

static int locate(const nand_dev *dev, const struct nand_addr *addr, size_t *ret_block)
{
    if (!dev || !addr)
        return NAND_EINVAL;
    if (!dev->contents)
        return NAND_ENOTSUP;
    if (addr->die >= dev->prof.geo.dies || addr->plane >= dev->prof.geo.planes ||
        addr->block >= dev->prof.geo.blocks_per_plane)
        return NAND_EADDR;
    *ret_block = dev_block_index(dev, addr->die, addr->plane, addr->block);
    return addr->page < nandi_block_pages(dev, dev->block[*ret_block].word) ? 0 : NAND_EADDR;
}

int nand_wordline_put(nand_dev *dev, const struct nand_addr *addr, const void *const *pages)
{
    size_t block;
    int err = locate(dev, addr, &block);
    if (err)
        return err;
    uint32_t word = dev->block[block].word;
    uint32_t types = word & BF_SLC ? 1 : dev->prof.geo.page_types;
    uint32_t first = word & BF_SLC ? addr->page : addr->page - dev_page_type(dev, addr->page);
    uint32_t before = word & BF_SLC ? first : nandi_steps_of_pages(dev, first);
    uint32_t after = word & BF_SLC ? first + 1 : nandi_steps_of_pages(dev, first + types);
    size_t plane = dev_plane_index(dev, addr->die, addr->plane);

    if (!pages)
        return NAND_EINVAL;
    if ((word & BF_STEPS) != before)
        return NAND_EORDER;
    nandi_contents_forget_input(dev, plane);
    dev->input[plane].types = 0;
    err = nandi_contents_reserve(dev, block);
    for (uint32_t t = 0; t < types && !err; t++)
        err = nandi_contents_load(dev, plane, t, pages[t], 0, dev->page_total_bytes);
    if (err)
        return err;
    dev->block[block].word = (word & ~(uint32_t)(BF_STEPS | BF_PARTIAL)) | after;
    nandi_contents_program(dev, block, plane, first, (1u << types) - 1, false);
    if (dev->cells)
        nandi_cells_programmed(dev, dev->now, block, first == 0);
    return 0;
}

int nand_block_put(nand_dev *dev, uint32_t die, uint32_t plane, uint32_t block, uint32_t flags,
                   uint32_t erase_count)
{
    if (dev && (flags & NAND_F_SLC) && dev->prof.time.slc_tprog_ns == 0)
        return NAND_ENOTSUP;
    int err = nand_block_set(dev, die, plane, block, 0, erase_count);
    if (err || !(flags & NAND_F_SLC))
        return err;
    dev->block[dev_block_index(dev, die, plane, block)].word |= BF_SLC;
    dev->any_slc = 1;
    return 0;
}

int nand_page_flip(nand_dev *dev, const struct nand_addr *addr, uint32_t offset, uint8_t mask)
{
    size_t block;
    int err = locate(dev, addr, &block);
    if (err)
        return err;
    if (offset >= dev->page_total_bytes)
        return NAND_EBYTES;
    if (!nandi_contents_page(dev, block, addr->page))
        return NAND_EUNWRITTEN;
    return nandi_contents_flip(dev, block, addr->page, offset, mask);
}

int nand_page_get(const nand_dev *dev, const struct nand_addr *addr, uint32_t offset,
                  uint32_t bytes, void *ret_data)
{
    size_t block;
    int status = locate(dev, addr, &block);
    if (status)
        return status;
    if (offset > dev->page_total_bytes || bytes > dev->page_total_bytes - offset)
        return NAND_EBYTES;
    status = nandi_read_outcome(dev, block, addr);
    if (status != NAND_OK && status != NAND_ERASED)
        return status;
    const struct page_data *page =
        status == NAND_OK ? nandi_contents_page(dev, block, addr->page) : NULL;
    if (!page) {
        memset(ret_data, 0xff, bytes);
    } else if (!page->compressed) {
        memcpy(ret_data, page->bytes + offset, bytes);
    } else {
        uint8_t whole[65536 + 16384]; /* bounds of nand_profile_check() */
        nandi_contents_unpack(dev, page, whole);
        memcpy(ret_data, whole + offset, bytes);
    }
    return status;
}

int nand_register_get(const nand_dev *dev, uint32_t die, uint32_t plane, uint32_t offset,
                      uint32_t bytes, void *ret_data)
{
    if (!dev || !ret_data)
        return NAND_EINVAL;
    if (!dev->contents)
        return NAND_ENOTSUP;
    if (die >= dev->prof.geo.dies || plane >= dev->prof.geo.planes)
        return NAND_EADDR;
    if (dev->plane[dev_plane_index(dev, die, plane)].out.limit == 0)
        return NAND_ENODATA;
    if (offset > dev->page_total_bytes || bytes > dev->page_total_bytes - offset)
        return NAND_EBYTES;
    nandi_contents_register(dev, die, plane, offset, bytes, ret_data);
    return 0;
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
