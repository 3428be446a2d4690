/* contents.c - bytes of pages: allocated when loaded, shared by forks, compressed cold.
 *
 * A page is a counted, immutable buffer from DATA_IN on; a block is a counted table
 * of pages that is copied before it is changed while shared. NULL = all ones. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "dev.h"
#include "hash.h"

enum { PAGE_MOST = 65536 + 16384 }; /* bounds of nand_profile_check() */

/* ---- pages ------------------------------------------------------------------------- */

struct page_data *nandi_page_new(struct nand_dev *dev, uint32_t bytes)
{
    struct page_data *page;

    if (dev->contents_bytes_max && dev->contents_bytes + bytes > dev->contents_bytes_max)
        return NULL;
    page = malloc(sizeof *page + bytes);
    if (!page)
        return NULL;
    *page = (struct page_data){.refs = 1, .stored_bytes = bytes};
    return page;
}

void nandi_page_release(struct nand_dev *dev, struct page_data *page)
{
    (void)dev;
    if (page && --page->refs == 0)
        free(page);
}

static void account(struct nand_dev *dev, const struct page_data *page, int sign)
{
    if (!page)
        return;
    dev->contents_pages += (uint64_t)(int64_t)sign;
    dev->contents_bytes += (uint64_t)((int64_t)sign * (int64_t)page->stored_bytes);
    dev->contents_compressed += (uint64_t)(int64_t)(page->compressed ? sign : 0);
}

void nandi_contents_unpack(const struct nand_dev *dev, const struct page_data *page,
                           uint8_t *ret)
{
    if (!page) {
        memset(ret, 0xff, dev->page_total_bytes);
    } else if (page->compressed) {
        size_t n = ZSTD_decompress(ret, dev->page_total_bytes, page->bytes, page->stored_bytes);
        assert(n == dev->page_total_bytes);
    } else {
        assert(page->stored_bytes == dev->page_total_bytes);
        memcpy(ret, page->bytes, page->stored_bytes);
    }
}

/* ---- input registers ------------------------------------------------------------------ */

void nandi_contents_forget_input(struct nand_dev *dev, size_t plane)
{
    for (uint32_t t = 0; t < NAND_PAGE_TYPES_MAX; t++) {
        nandi_page_release(dev, dev->in_data[plane * NAND_PAGE_TYPES_MAX + t]);
        dev->in_data[plane * NAND_PAGE_TYPES_MAX + t] = NULL;
    }
}

int nandi_contents_load(struct nand_dev *dev, size_t plane, uint32_t type, const void *data,
                        uint32_t offset, uint32_t bytes)
{
    struct page_data **slot = &dev->in_data[plane * NAND_PAGE_TYPES_MAX + type];
    struct page_data *page = NULL;

    if (data) {
        page = nandi_page_new(dev, dev->page_total_bytes);
        if (!page)
            return NAND_ENOMEM;
        memset(page->bytes, 0xff, offset);
        memcpy(page->bytes + offset, data, bytes);
        memset(page->bytes + offset + bytes, 0xff, dev->page_total_bytes - offset - bytes);
        page->xxh = XXH3_64bits(page->bytes, dev->page_total_bytes);
    }
    nandi_page_release(dev, *slot);
    *slot = page;
    return 0;
}

/* ---- blocks ------------------------------------------------------------------------ */

static void block_release(struct nand_dev *dev, struct block_data *data)
{
    if (!data || --data->refs)
        return;
    for (uint32_t i = 0; i < data->count; i++)
        nandi_page_release(dev, data->page[i]);
    free(data);
}

void nandi_contents_drop_block(struct nand_dev *dev, size_t block)
{
    struct block_data *data = dev->contents[block];

    for (uint32_t i = 0; data && i < data->count; i++)
        account(dev, data->page[i], -1);
    block_release(dev, data);
    dev->contents[block] = NULL;
}

/* Makes the table of a block ours alone, before anything is changed. */
int nandi_contents_reserve(struct nand_dev *dev, size_t block)
{
    struct block_data *old = dev->contents[block], *data;
    uint32_t count = dev->pages_per_block;

    if (old && old->refs == 1)
        return 0;
    data = calloc(1, sizeof *data + count * sizeof data->page[0]);
    if (!data)
        return NAND_ENOMEM;
    data->refs = 1;
    data->count = count;
    for (uint32_t i = 0; old && i < count; i++) {
        data->page[i] = old->page[i];
        if (data->page[i])
            data->page[i]->refs++;
    }
    block_release(dev, old);
    dev->contents[block] = data;
    return 0;
}

int nandi_contents_flip(struct nand_dev *dev, size_t block, uint32_t page, uint32_t offset,
                        uint8_t mask)
{
    struct page_data *fresh = nandi_page_new(dev, dev->page_total_bytes), **slot;

    if (!fresh || nandi_contents_reserve(dev, block) != 0) {
        nandi_page_release(dev, fresh);
        return NAND_ENOMEM;
    }
    slot = &dev->contents[block]->page[page];
    nandi_contents_unpack(dev, *slot, fresh->bytes);
    fresh->bytes[offset] ^= mask;
    fresh->xxh = XXH3_64bits(fresh->bytes, dev->page_total_bytes);
    account(dev, *slot, -1);
    nandi_page_release(dev, *slot);
    *slot = fresh;
    account(dev, fresh, 1);
    return 0;
}

/* A further part of a partially programmed page: cells only go from 1 to 0. */
static void merge_page(struct nand_dev *dev, struct page_data *fresh,
                       const struct page_data *old)
{
    uint8_t bytes[PAGE_MOST];

    nandi_contents_unpack(dev, old, bytes);
    for (uint32_t i = 0; i < dev->page_total_bytes; i++)
        fresh->bytes[i] &= bytes[i];
    fresh->xxh = XXH3_64bits(fresh->bytes, dev->page_total_bytes);
}

void nandi_contents_program(struct nand_dev *dev, size_t block, size_t plane,
                            uint32_t first_page, uint32_t types, bool merge)
{
    struct block_data *data = dev->contents[block];

    assert(data && data->refs == 1);
    for (uint32_t t = 0; t < NAND_PAGE_TYPES_MAX; t++) {
        struct page_data **from = &dev->in_data[plane * NAND_PAGE_TYPES_MAX + t];
        struct page_data **to;
        if (!(types >> t & 1))
            continue;
        to = &data->page[first_page + t];
        if (merge && *from && *to)
            merge_page(dev, *from, *to);
        else if (merge && !*from)
            continue; /* all ones: nothing to add */
        account(dev, *to, -1);
        nandi_page_release(dev, *to);
        *to = *from;
        *from = NULL;
        account(dev, *to, 1);
    }
    if ((dev->flags & NAND_COMPRESS) &&
        nandi_page_written(dev, dev->block[block].word,
                           nandi_block_pages(dev, dev->block[block].word) - 1))
        nandi_contents_compress_block(dev, block);
}

struct page_data *nandi_contents_page(const struct nand_dev *dev, size_t block, uint32_t page)
{
    const struct block_data *data = dev->contents[block];

    return data ? data->page[page] : NULL;
}

static struct page_data *compress_page(struct nand_dev *dev, struct page_data *page)
{
    uint8_t packed[PAGE_MOST];
    uint32_t limit = dev->page_total_bytes - dev->page_total_bytes / 8;
    size_t n = ZSTD_compress(packed, limit, page->bytes, page->stored_bytes, 1);
    struct page_data *small;

    if (ZSTD_isError(n)) /* does not fit: not worth it */
        return page;
    small = malloc(sizeof *small + n);
    if (!small)
        return page;
    *small = (struct page_data){
        .refs = 1, .stored_bytes = (uint32_t)n, .xxh = page->xxh, .compressed = 1};
    memcpy(small->bytes, packed, n);
    account(dev, page, -1);
    account(dev, small, 1);
    nandi_page_release(dev, page);
    return small;
}

/* Pages that a fork or a register shares stay as they are. */
void nandi_contents_compress_block(struct nand_dev *dev, size_t block)
{
    struct block_data *data = dev->contents[block];

    if (!data || data->refs != 1)
        return;
    for (uint32_t i = 0; i < data->count; i++)
        if (data->page[i] && !data->page[i]->compressed && data->page[i]->refs == 1)
            data->page[i] = compress_page(dev, data->page[i]);
}

/* ---- output registers ------------------------------------------------------------------ */

void nandi_contents_read(struct nand_dev *dev, size_t plane, size_t block, uint32_t page,
                         int status)
{
    struct page_data **slot = &dev->reg_data[plane * 2 + 1];
    struct page_data *found = NULL;

    if (status == NAND_OK || status == NAND_GARBAGE)
        found = nandi_contents_page(dev, block, page);
    if (found)
        found->refs++;
    nandi_page_release(dev, *slot);
    *slot = found;
}

void nandi_contents_advance(struct nand_dev *dev, size_t plane)
{
    struct page_data **slot = &dev->reg_data[plane * 2];

    nandi_page_release(dev, slot[0]);
    slot[0] = slot[1];
    if (slot[0])
        slot[0]->refs++;
}

void nandi_contents_forget_output(struct nand_dev *dev, size_t plane)
{
    for (size_t i = 0; i < 2; i++) {
        nandi_page_release(dev, dev->reg_data[plane * 2 + i]);
        dev->reg_data[plane * 2 + i] = NULL;
    }
}

/* Flips `zero_to_one` zeros and `one_to_zero` ones of a codeword. The order in which
 * cells fail depends on the page alone, so fewer errors are a subset of more. */
static void flip_bits(const struct nand_dev *dev, uint64_t key, uint64_t count,
                      const struct nand_errors *errors, uint8_t *bytes, uint8_t *touched)
{
    uint32_t left[2] = {errors->zero_to_one, errors->one_to_zero};
    uint64_t tries = 64 * (uint64_t)(left[0] + left[1]) + 4096;

    memset(touched, 0, errors->bits / 8);
    for (uint64_t i = 0; i < tries && (left[0] || left[1]); i++) {
        uint64_t draw = nand_draw(dev->seed, DRAW_POSITION, key, count << 32 | i) >> 32;
        uint32_t bit = (uint32_t)(draw * errors->bits >> 32);
        uint8_t mask = (uint8_t)(1u << (bit & 7));
        uint32_t value = (bytes[bit >> 3] & mask) != 0;
        if ((touched[bit >> 3] & mask) || left[value] == 0)
            continue;
        touched[bit >> 3] |= mask;
        bytes[bit >> 3] ^= mask;
        left[value]--;
    }
}

static void apply_errors(const struct nand_dev *dev, uint32_t die, uint32_t plane,
                         uint32_t offset, uint32_t bytes, uint8_t *page)
{
    size_t index = dev_plane_index(dev, die, plane);
    const struct reg *reg = &dev->plane[index].out;
    uint64_t key = nandi_page_key(dev, die, plane, reg->block, reg->page);
    uint8_t touched[PAGE_MOST];

    for (uint32_t c = 0; c < dev->codewords; c++) {
        uint32_t first, span = nandi_codeword_span(dev, c, &first);
        struct nand_errors errors;
        if (first + span <= offset || first >= offset + bytes)
            continue;
        (void)nandi_codeword_errors(dev, die, plane, c, &errors);
        flip_bits(dev, key, (uint64_t)dev->reg_cells[index].out.point.pe << 8 | c, &errors,
                  page + first, touched);
    }
}

static void make_garbage(const struct nand_dev *dev, uint64_t key, uint64_t count,
                         uint8_t *page)
{
    for (uint32_t i = 0; i < dev->page_total_bytes; i += 8) {
        uint64_t noise = nand_draw(dev->seed, DRAW_GARBAGE, key, count << 32 | i);
        for (uint32_t k = 0; k < 8 && i + k < dev->page_total_bytes; k++)
            page[i + k] ^= (uint8_t)(noise >> 8 * k);
    }
}

void nandi_contents_register(const struct nand_dev *dev, uint32_t die, uint32_t plane,
                             uint32_t offset, uint32_t bytes, uint8_t *ret)
{
    size_t index = dev_plane_index(dev, die, plane);
    const struct reg *reg = &dev->plane[index].out;
    const struct page_data *held = dev->reg_data[index * 2];
    uint8_t page[PAGE_MOST];

    if (reg->status == NAND_OK && !dev->reg_cells && held && !held->compressed) {
        memcpy(ret, held->bytes + offset, bytes);   /* as it was programmed */
        return;
    }
    nandi_contents_unpack(dev, held, page);
    if (reg->status == NAND_GARBAGE || reg->status == NAND_FAIL)
        make_garbage(dev, nandi_page_key(dev, die, plane, reg->block, reg->page), dev->op_count,
                     page);
    else if (reg->status == NAND_OK && dev->reg_cells)
        apply_errors(dev, die, plane, offset, bytes, page);
    memcpy(ret, page + offset, bytes);
}

/* ---- life --------------------------------------------------------------------------- */

int nandi_contents_create(struct nand_dev *dev)
{
    size_t planes = (size_t)dev->prof.geo.dies * dev->prof.geo.planes;

    if (!(dev->flags & NAND_WITH_CONTENTS))
        return 0;
    dev->contents = calloc(dev->block_count, sizeof(struct block_data *));
    dev->in_data = calloc(planes * NAND_PAGE_TYPES_MAX, sizeof(struct page_data *));
    dev->reg_data = calloc(planes * 2, sizeof(struct page_data *));
    return dev->contents && dev->in_data && dev->reg_data ? 0 : NAND_ENOMEM;
}

void nandi_contents_destroy(struct nand_dev *dev)
{
    size_t planes = (size_t)dev->prof.geo.dies * dev->prof.geo.planes;

    for (size_t b = 0; dev->contents && b < dev->block_count; b++)
        block_release(dev, dev->contents[b]);
    for (size_t p = 0; dev->in_data && dev->reg_data && p < planes; p++) {
        nandi_contents_forget_input(dev, p);
        nandi_contents_forget_output(dev, p);
    }
    free(dev->contents);
    free(dev->in_data);
    free(dev->reg_data);
    dev->contents = NULL;
    dev->in_data = dev->reg_data = NULL;
}

static struct page_data **share_pages(struct page_data *const *from, size_t count)
{
    struct page_data **to = malloc(count * sizeof(struct page_data *));

    for (size_t i = 0; to && i < count; i++) {
        to[i] = from[i];
        if (to[i])
            to[i]->refs++;
    }
    return to;
}

int nandi_contents_copy(struct nand_dev *to, const struct nand_dev *from)
{
    size_t planes = (size_t)from->prof.geo.dies * from->prof.geo.planes;

    to->contents = malloc(from->block_count * sizeof(struct block_data *));
    to->in_data = share_pages(from->in_data, planes * NAND_PAGE_TYPES_MAX);
    to->reg_data = share_pages(from->reg_data, planes * 2);
    for (size_t b = 0; to->contents && b < from->block_count; b++) {
        to->contents[b] = from->contents[b];
        if (to->contents[b])
            to->contents[b]->refs++;
    }
    return to->contents && to->in_data && to->reg_data ? 0 : NAND_ENOMEM;
}
