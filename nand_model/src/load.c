/* load.c - bringing data into the input registers. */
#include "dev.h"

int nandi_check_mask(const struct nand_dev *dev, const struct nand_req *req)
{
    if (req->addr.die >= dev->prof.geo.dies || req->addr.page >= dev->pages_per_block)
        return NAND_EADDR;
    if (req->plane_mask == 0 || (req->plane_mask & ~dev->planes_mask))
        return NAND_EMASK;
    if (!req->plane_block)
        return req->addr.block < dev->prof.geo.blocks_per_plane ? 0 : NAND_EADDR;
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1)
        if (req->plane_block[__builtin_ctz(mask)] >= dev->prof.geo.blocks_per_plane)
            return NAND_EADDR;
    return 0;
}

/* ---- loading ------------------------------------------------------------------- */

struct page_place {
    uint32_t type, first_page;
};

/* Where a page sits in the input registers. All blocks of the mask must agree on
 * the number of bits per cell. */
static int place_page(const struct nand_dev *dev, const struct nand_req *req,
                      struct page_place *ret)
{
    uint32_t slc = 0, count = 0;

    ret->type = dev_page_type(dev, req->addr.page);
    ret->first_page = req->addr.page - ret->type;
    if (!dev->any_slc)
        return 0;
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1, count++) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        size_t b = dev_block_index(dev, req->addr.die, p, dev_mask_block(req, p));
        slc += (dev->block[b].word & BF_SLC) != 0;
    }
    if (slc == 0)
        return 0;
    if (slc != count)
        return NAND_EMODE;
    ret->type = 0;
    ret->first_page = req->addr.page;
    return req->addr.page < dev->prof.geo.wordlines_per_block ? 0 : NAND_EADDR;
}

/* Without branches: which planes already hold a part of the word line is hard to guess. */
static inline void mark_loaded(struct plane_input *input, uint64_t key, uint32_t type_bit)
{
    input->types = (input->types & -(uint32_t)(input->key == key)) | type_bit;
    input->key = key;
}

/* Bytes go into the registers before the state changes: the only step that can
 * run out of memory. What it replaces was overwritten anyway. */
static int load_bytes(struct nand_dev *dev, const struct nand_req *req, uint32_t type)
{
    const uint8_t *data = req->data;

    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        int err = nandi_contents_load(dev, dev_plane_index(dev, req->addr.die, p), type, data,
                                      req->offset, req->bytes);
        if (err)
            return err;
        if (data)
            data += req->bytes;
    }
    return 0;
}

int nandi_issue_data_in(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                        struct nand_res *res)
{
    struct page_place place;
    int err = nandi_check_mask(dev, req);
    if (!err)
        err = place_page(dev, req, &place);
    if (err)
        return err;
    if (req->bytes == 0 || req->offset > dev->page_total_bytes ||
        req->bytes > dev->page_total_bytes - req->offset)
        return NAND_EBYTES;
    const struct die_state *die = &dev->die[req->addr.die];
    if (die->in_ready > now)
        return NAND_EBUSY;
    if (dev->contents) {
        err = load_bytes(dev, req, place.type);
        if (err)
            return err;
    }

    struct plane_input *input = &dev->input[dev_plane_index(dev, req->addr.die, 0)];
    const uint32_t *blocks = req->plane_block;
    uint32_t count = dev_mask_count(req->plane_mask), bit = 1u << place.type;
    for (uint32_t mask = req->plane_mask, p; mask; mask &= mask - 1) {
        p = (uint32_t)__builtin_ctz(mask);
        mark_loaded(&input[p],
                    dev_input_key(blocks ? blocks[p] : req->addr.block, place.first_page), bit);
    }
    res->done_at = res->ready_at =
        dev_bus_take(dev, die->channel, now,
                     count * dev->prof.time.tcmd_ns + dev_bus_ns(dev, count * req->bytes), res);
    res->energy_pj = (uint64_t)count * req->bytes * dev->prof.energy.bus_pj_per_byte;
    dev->stats.data_ins++;
    dev->stats.bus_bytes += (uint64_t)count * req->bytes;
    return 0;
}

int nandi_issue_copyback(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                         struct nand_res *res)
{
    struct nand_req one = *req;
    struct page_place place;

    if (req->addr.die >= dev->prof.geo.dies || req->addr.plane >= dev->prof.geo.planes)
        return NAND_EADDR;
    one.plane_mask = 1u << req->addr.plane;
    one.plane_block = NULL;
    int err = nandi_check_mask(dev, &one);
    if (!err)
        err = place_page(dev, &one, &place);
    if (err)
        return err;
    size_t index = dev_plane_index(dev, req->addr.die, req->addr.plane);
    const struct plane_state *plane = &dev->plane[index];
    const struct die_state *die = &dev->die[req->addr.die];
    if (plane->out.limit == 0)
        return NAND_ENODATA;
    if (plane->out_ready > now || die->in_ready > now)
        return NAND_EBUSY;
    if (plane->out.limit != dev->page_total_bytes)
        return NAND_EPARTIAL;
    if (dev->contents) {
        uint8_t page[65536 + 16384]; /* the profile check's bounds */
        nandi_contents_register(dev, req->addr.die, req->addr.plane, 0, dev->page_total_bytes,
                                page);
        err = nandi_contents_load(dev, index, place.type, page, 0, dev->page_total_bytes);
        if (err)
            return err;
    }
    mark_loaded(&dev->input[index], dev_input_key(req->addr.block, place.first_page),
                1u << place.type);
    res->done_at = res->ready_at =
        dev_bus_take(dev, die->channel, now, dev->prof.time.tcmd_ns, res);
    dev->stats.copybacks++;
    return 0;
}
