/* issue.c - legality and time lines of one operation.
 *
 * Each operation is judged completely before anything is written, so that a
 * refusal leaves the device as it was. */
#include "dev.h"

/* Bus time of a transfer, ns, rounded up: ceil(1000 * bytes / (MT/s)). Exact,
 * see derive_bus_inverse(); the profile check keeps the numerator below 2^31. */
static inline nand_ns bus_ns(const struct nand_dev *dev, uint32_t bytes)
{
    uint64_t n = (uint64_t)bytes * 1000 + dev->prof.time.bus_mts - 1;
    return n * dev->bus_inv >> dev->bus_shift;
}

static inline nand_ns later(nand_ns a, nand_ns b)
{
    return a > b ? a : b;
}

/* Takes the channel for `hold` ns, first come first served. */
static inline nand_ns bus_take(struct nand_dev *dev, uint32_t channel, nand_ns now,
                               nand_ns hold, struct nand_res *res)
{
    res->start_at = later(now, dev->channel_free[channel]);
    res->bus_free_at = res->start_at + hold;
    dev->channel_free[channel] = res->bus_free_at;
    dev->now = now;
    res->status = NAND_OK;
    return res->bus_free_at;
}

static inline int check_plane_page(const struct nand_dev *dev, const struct nand_addr *addr)
{
    if (addr->die >= dev->prof.geo.dies || addr->plane >= dev->prof.geo.planes ||
        addr->block >= dev->prof.geo.blocks_per_plane || addr->page >= dev->pages_per_block)
        return NAND_EADDR;
    return 0;
}

static inline int check_mask(const struct nand_dev *dev, const struct nand_req *req)
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

static inline uint32_t mask_block(const struct nand_req *req, uint32_t plane)
{
    return req->plane_block ? req->plane_block[plane] : req->addr.block;
}

/* ---- reads ---------------------------------------------------------------- */

static int issue_read(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                      struct nand_res *res, bool partial)
{
    const struct nand_timing *t = &dev->prof.time;
    int err = check_plane_page(dev, &req->addr);
    if (err)
        return err;
    if (partial && (t->tr_partial_ns == 0 || req->bytes > t->partial_bytes))
        return NAND_EPARTIAL;
    size_t index = dev_plane_index(dev, req->addr.die, req->addr.plane);
    struct die_state *die = &dev->die[req->addr.die];
    struct plane_state *plane = &dev->plane[index];
    const struct block_state *block =
        &dev->block[index * dev->prof.geo.blocks_per_plane + req->addr.block];
    if (req->addr.page >= block->pages_written)
        return NAND_EUNWRITTEN;
    if (die->array_until > now || plane->sense_until > now || plane->out_ready > now)
        return NAND_EBUSY;

    nand_ns tr = partial ? t->tr_partial_ns : t->tr_ns[dev_page_type(dev, req->addr.page)];
    nand_ns end = bus_take(dev, die->channel, now, t->tcmd_ns, res) + tr;
    plane->sense_until = plane->out_ready = end;
    plane->out_limit = plane->data_limit =
        partial ? t->partial_bytes + dev->prof.geo.spare_bytes : dev->page_total_bytes;
    die->sense_until = later(die->sense_until, end);
    res->done_at = res->ready_at = end;
    return 0;
}

/* The data register moves to the output register (tcbsy), then the array senses
 * addr.page. Legal while the previous sense still runs: the move waits for it. */
static int issue_read_cache(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                            struct nand_res *res, bool last)
{
    const struct nand_timing *t = &dev->prof.time;
    int err = check_plane_page(dev, &req->addr);
    if (err)
        return err;
    size_t index = dev_plane_index(dev, req->addr.die, req->addr.plane);
    struct die_state *die = &dev->die[req->addr.die];
    struct plane_state *plane = &dev->plane[index];
    const struct block_state *block =
        &dev->block[index * dev->prof.geo.blocks_per_plane + req->addr.block];
    if (!last && req->addr.page >= block->pages_written)
        return NAND_EUNWRITTEN;
    if (plane->data_limit == 0)
        return NAND_ENODATA;
    if (die->array_until > now || plane->out_ready > now)
        return NAND_EBUSY;

    nand_ns sent = bus_take(dev, die->channel, now, t->tcmd_ns, res);
    plane->out_ready = later(sent, plane->sense_until) + t->tcbsy_ns;
    plane->out_limit = plane->data_limit;
    plane->data_limit = last ? 0 : dev->page_total_bytes;
    plane->sense_until = plane->out_ready;
    if (!last)
        plane->sense_until += t->tr_ns[dev_page_type(dev, req->addr.page)];
    die->sense_until = later(die->sense_until, plane->sense_until);
    res->ready_at = plane->out_ready;
    res->done_at = plane->sense_until;
    return 0;
}

static int issue_data_out(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                          struct nand_res *res)
{
    if (req->addr.die >= dev->prof.geo.dies || req->addr.plane >= dev->prof.geo.planes)
        return NAND_EADDR;
    const struct plane_state *plane =
        &dev->plane[dev_plane_index(dev, req->addr.die, req->addr.plane)];
    if (req->bytes == 0 || req->bytes > dev->page_total_bytes)
        return NAND_EBYTES;
    if (plane->out_limit == 0)
        return NAND_ENODATA;
    if (plane->out_ready > now)
        return NAND_EBUSY;
    if (req->bytes > plane->out_limit)
        return NAND_EPARTIAL;

    res->done_at = res->ready_at =
        bus_take(dev, dev->die[req->addr.die].channel, now,
                 dev->prof.time.tstatus_ns + bus_ns(dev, req->bytes), res);
    return 0;
}

/* ---- programs ------------------------------------------------------------- */

static int issue_data_in(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                         struct nand_res *res)
{
    int err = check_mask(dev, req);
    if (err)
        return err;
    if (req->bytes == 0 || req->bytes > dev->page_total_bytes)
        return NAND_EBYTES;
    const struct die_state *die = &dev->die[req->addr.die];
    if (die->in_ready > now)
        return NAND_EBUSY;

    uint32_t type = dev_page_type(dev, req->addr.page);
    uint32_t first_page = req->addr.page - type;
    struct plane_state *planes = &dev->plane[dev_plane_index(dev, req->addr.die, 0)];
    uint32_t count = 0;
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1, count++) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        uint32_t block = mask_block(req, p);
        if (planes[p].in_block != block || planes[p].in_first_page != first_page)
            planes[p].in_types = 0;
        planes[p].in_block = block;
        planes[p].in_first_page = first_page;
        planes[p].in_types |= 1u << type;
    }
    res->done_at = res->ready_at =
        bus_take(dev, die->channel, now,
                 count * dev->prof.time.tcmd_ns + bus_ns(dev, count * req->bytes), res);
    return 0;
}

static int check_program(const struct nand_dev *dev, const struct nand_req *req)
{
    size_t first = dev_plane_index(dev, req->addr.die, 0);

    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        const struct plane_state *plane = &dev->plane[first + p];
        uint32_t b = mask_block(req, p);
        const struct block_state *block =
            &dev->block[(first + p) * dev->prof.geo.blocks_per_plane + b];
        if (req->addr.page < block->pages_written)
            return NAND_ENOTERASED;
        if (req->addr.page - block->pages_written >= dev->prof.geo.page_types)
            return NAND_EORDER;
        if (plane->in_types != dev->all_types || plane->in_block != b ||
            plane->in_first_page != block->pages_written)
            return NAND_ENODATA;
    }
    return 0;
}

/* PROG may follow a running PROG_CACHE once the input registers are free; the
 * array then takes it up when it is done with the one before. */
static int issue_program(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                         struct nand_res *res, bool cache)
{
    const struct nand_timing *t = &dev->prof.time;
    int err = check_mask(dev, req);
    if (err)
        return err;
    struct die_state *die = &dev->die[req->addr.die];
    if (die->in_ready > now || die->sense_until > now ||
        (die->array_until > now && die->work != DIE_PROG_CACHE))
        return NAND_EBUSY;
    err = check_program(dev, req);
    if (err)
        return err;

    nand_ns start = later(bus_take(dev, die->channel, now, t->tcmd_ns, res), die->array_until);
    die->array_until = start + t->tprog_ns;
    die->in_ready = cache ? start + t->tcbsy_ns : die->array_until;
    die->work = cache ? DIE_PROG_CACHE : DIE_PROG;
    res->done_at = die->array_until;
    res->ready_at = die->in_ready;
    size_t first = dev_plane_index(dev, req->addr.die, 0);
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        size_t at = (first + p) * dev->prof.geo.blocks_per_plane + mask_block(req, p);
        dev->plane[first + p].in_types = 0;
        dev->block[at].pages_written += dev->prof.geo.page_types;
    }
    return 0;
}

static int issue_erase(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                       struct nand_res *res)
{
    int err = check_mask(dev, req);
    if (err)
        return err;
    struct die_state *die = &dev->die[req->addr.die];
    if (die->array_until > now || die->sense_until > now)
        return NAND_EBUSY;

    res->done_at = res->ready_at = die->array_until =
        bus_take(dev, die->channel, now, dev->prof.time.tcmd_ns, res) +
        dev->prof.time.tbers_ns;
    die->work = DIE_ERASE;
    size_t first = dev_plane_index(dev, req->addr.die, 0);
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        size_t at = (first + p) * dev->prof.geo.blocks_per_plane + mask_block(req, p);
        dev->block[at].pages_written = 0;
        dev->block[at].erase_count++;
    }
    return 0;
}

int nand_issue(nand_dev *dev, nand_ns now, const struct nand_req *req, struct nand_res *ret_res)
{
    if (!dev || !req || !ret_res)
        return NAND_EINVAL;
    if (now < dev->now)
        return NAND_ETIME;
    switch (req->op) {
    case NAND_OP_READ: return issue_read(dev, now, req, ret_res, false);
    case NAND_OP_READ_PARTIAL: return issue_read(dev, now, req, ret_res, true);
    case NAND_OP_READ_CACHE: return issue_read_cache(dev, now, req, ret_res, false);
    case NAND_OP_READ_CACHE_END: return issue_read_cache(dev, now, req, ret_res, true);
    case NAND_OP_DATA_OUT: return issue_data_out(dev, now, req, ret_res);
    case NAND_OP_DATA_IN: return issue_data_in(dev, now, req, ret_res);
    case NAND_OP_PROG: return issue_program(dev, now, req, ret_res, false);
    case NAND_OP_PROG_CACHE: return issue_program(dev, now, req, ret_res, true);
    case NAND_OP_ERASE: return issue_erase(dev, now, req, ret_res);
    default: return NAND_EINVAL;
    }
}
