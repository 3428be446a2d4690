/* issue.c - reads and the way into every operation. */
#include "dev.h"

/* ---- reads ---------------------------------------------------------------- */

/* What a read of this page gives: an enum nand_status, or a negative error. Only
 * called when the block is flagged, the page is unwritten or faults are on. */
int nandi_read_outcome(const struct nand_dev *dev, size_t block, const struct nand_addr *addr)
{
    uint32_t word = dev->block[block].word;

    if (dev->die[addr->die].dead_mask >> addr->plane & 1)
        return NAND_FAIL;
    if (word & (BF_BAD | BF_TORN))
        return NAND_GARBAGE;
    if (!nandi_page_written(dev, word, addr->page))
        return dev->contents ? NAND_ERASED : NAND_EUNWRITTEN;
    if (word & BF_FAINT)
        return NAND_GARBAGE;
    if ((word & BF_DAMAGED) && nandi_damage_get(dev, block, addr->page) == DAMAGE_TORN)
        return NAND_GARBAGE;
    return NAND_OK;
}

/* The block or word line that a suspended operation is working on. */
static bool under_suspended(const struct nand_dev *dev, const struct nand_addr *addr)
{
    const struct die_state *die = &dev->die[addr->die];
    const struct flight *flight = &die->flight[0];
    size_t index = dev_plane_index(dev, addr->die, addr->plane);
    uint32_t word;

    if (!die->suspended || !(flight->mask >> addr->plane & 1) ||
        dev->input[index].flight_block[0] != addr->block)
        return false;
    word = dev->block[index * dev->prof.geo.blocks_per_plane + addr->block].word;
    return flight->erase || nandi_damage_key_page(dev, word, addr->page) ==
                                nandi_damage_key_page(dev, word, flight->first_page);
}

static nand_ns sense_ns(const struct nand_dev *dev, const struct nand_req *req, uint32_t word)
{
    const struct nand_timing *t = &dev->prof.time;
    nand_ns tr;

    if (req->op == NAND_OP_READ_PARTIAL)
        return t->tr_partial_ns;
    tr = word & BF_SLC ? t->slc_tr_ns : t->tr_ns[dev_page_type(dev, req->addr.page)];
    if (req->op == NAND_OP_READ_SOFT)
        tr += ((1u << req->soft_bits) - 2) * t->tsense_ns;
    return tr;
}

/* Address, kind and medium of a read: status >= 0 or a refusal. */
static int check_read(struct nand_dev *dev, const struct nand_req *req, size_t *ret_block)
{
    const struct nand_addr *addr = &req->addr;

    if (addr->die >= dev->prof.geo.dies || addr->plane >= dev->prof.geo.planes ||
        addr->block >= dev->prof.geo.blocks_per_plane || addr->page >= dev->pages_per_block ||
        req->read_level > NAND_RETRY_MAX)
        return NAND_EADDR;
    if (req->offsets && !nandi_offsets_ok(dev, req->offsets))
        return NAND_EINVAL;
    *ret_block = dev_block_index(dev, addr->die, addr->plane, addr->block);
    uint32_t word = dev->block[*ret_block].word;
    if (addr->page < word && word <= BF_STEPS && dev->prof.scheme == NAND_SCHEME_ONE_PASS &&
        !(dev->die[addr->die].dead_mask | dev->die[addr->die].suspended | dev->upset_ppm))
        return NAND_OK;
    if (addr->page >= nandi_block_pages(dev, word))
        return NAND_EADDR;
    if (under_suspended(dev, addr))
        return NAND_ESUSPEND;
    return nandi_read_outcome(dev, *ret_block, addr);
}

/* The medium's part of a read: passing upsets, error rates, the disturb it causes. */
static void follow_read(struct nand_dev *dev, const struct nand_req *req, size_t block,
                        nand_ns at, struct reg *reg)
{
    size_t index = dev_plane_index(dev, req->addr.die, req->addr.plane);

    if (reg->status == NAND_OK && dev->upset_ppm &&
        nandi_read_upset(dev, block, req->addr.page))
        reg->status = NAND_GARBAGE;
    if (!dev->reg_cells)
        return;
    nandi_cells_sense(dev, at, req, reg, &dev->reg_cells[index].data);
    nandi_cells_read(dev, block, req->addr.page);
}

static struct reg filled_register(const struct nand_dev *dev, const struct nand_req *req,
                                  int status)
{
    struct reg reg = {.limit = dev->page_total_bytes,
                      .block = req->addr.block,
                      .page = req->addr.page,
                      .status = (uint8_t)status,
                      .soft_bits = 1,
                      .level = req->read_level};

    if (req->op == NAND_OP_READ_PARTIAL)
        reg.limit = dev->prof.time.partial_bytes + dev->prof.geo.spare_bytes;
    if (req->op == NAND_OP_READ_SOFT) {
        reg.soft_bits = req->soft_bits;
        reg.limit *= req->soft_bits;
    }
    return reg;
}

static int check_read_kind(const struct nand_dev *dev, const struct nand_req *req)
{
    const struct nand_timing *t = &dev->prof.time;

    if (req->op == NAND_OP_READ_PARTIAL &&
        (t->tr_partial_ns == 0 || req->bytes > t->partial_bytes))
        return NAND_EPARTIAL;
    if (req->op == NAND_OP_READ_SOFT && t->tsense_ns == 0)
        return NAND_ENOTSUP;
    if (req->op == NAND_OP_READ_SOFT && req->soft_bits != 2 && req->soft_bits != 3)
        return NAND_EINVAL;
    return 0;
}

static int issue_read(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                      struct nand_res *res)
{
    size_t block;
    int status = check_read(dev, req, &block);
    int err = status < 0 ? status : check_read_kind(dev, req);
    if (err)
        return err;
    struct die_state *die = &dev->die[req->addr.die];
    struct plane_state *plane =
        &dev->plane[dev_plane_index(dev, req->addr.die, req->addr.plane)];
    if (die->array_until > now || plane->sense_until > now || plane->out_ready > now)
        return NAND_EBUSY;

    nand_ns tr = sense_ns(dev, req, dev->block[block].word);
    nand_ns start = dev_bus_take(dev, die->channel, now, dev->prof.time.tcmd_ns, res);
    nand_ns end = dev_array_start(dev, req->addr.die, start, tr, true) + tr;
    plane->sense_until = plane->out_ready = end;
    plane->out = filled_register(dev, req, status);
    if (dev->reg_cells || dev->upset_ppm)
        follow_read(dev, req, block, end, &plane->out);
    plane->data = plane->out;
    if (dev->reg_cells) {
        struct reg_cells *cells =
            &dev->reg_cells[dev_plane_index(dev, req->addr.die, req->addr.plane)];
        cells->out = cells->data;
    }
    if (dev->contents) {
        size_t index = dev_plane_index(dev, req->addr.die, req->addr.plane);
        nandi_contents_read(dev, index, block, req->addr.page, plane->out.status);
        nandi_contents_advance(dev, index);
    }
    die->sense_until = later(die->sense_until, end);
    res->done_at = res->ready_at = end;
    res->status = plane->out.status;
    res->energy_pj = dev->prof.energy.sense_pj;
    dev->stats.reads++;
    dev->stats.senses++;
    if (req->op == NAND_OP_READ_PARTIAL)
        dev->stats.partial_reads++;
    if (req->op == NAND_OP_READ_SOFT) {
        dev->stats.soft_reads++;
        dev->stats.senses += (1u << req->soft_bits) - 2;
        res->energy_pj *= (1u << req->soft_bits) - 1;
    }
    return 0;
}

/* The data register moves to the output register (tcbsy), then the array senses
 * addr.page. Legal while the previous sense still runs: the move waits for it. */
static int issue_read_cache(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                            struct nand_res *res)
{
    bool last = req->op == NAND_OP_READ_CACHE_END;
    size_t block = 0;
    int status = NAND_OK;

    if (req->addr.die >= dev->prof.geo.dies || req->addr.plane >= dev->prof.geo.planes)
        return NAND_EADDR;
    if (!last)
        status = check_read(dev, req, &block);
    if (status < 0)
        return status;
    size_t index = dev_plane_index(dev, req->addr.die, req->addr.plane);
    struct die_state *die = &dev->die[req->addr.die];
    struct plane_state *plane = &dev->plane[index];
    if (plane->data.limit == 0)
        return NAND_ENODATA;
    if (die->array_until > now || plane->out_ready > now)
        return NAND_EBUSY;

    nand_ns sent = dev_bus_take(dev, die->channel, now, dev->prof.time.tcmd_ns, res);
    plane->out_ready = later(sent, plane->sense_until) + dev->prof.time.tcbsy_ns;
    plane->sense_until = plane->out_ready;
    plane->out = plane->data;
    plane->data.limit = 0;
    res->status = plane->out.status;
    if (dev->reg_cells)
        dev->reg_cells[index].out = dev->reg_cells[index].data;
    if (dev->contents)
        nandi_contents_advance(dev, index);
    if (!last) {
        nand_ns tr = sense_ns(dev, req, dev->block[block].word);
        plane->sense_until =
            dev_array_start(dev, req->addr.die, plane->out_ready, tr, true) + tr;
        plane->data = filled_register(dev, req, status);
        if (dev->reg_cells || dev->upset_ppm)
            follow_read(dev, req, block, plane->sense_until, &plane->data);
        if (dev->contents)
            nandi_contents_read(dev, index, block, req->addr.page, plane->data.status);
        res->energy_pj = dev->prof.energy.sense_pj;
        dev->stats.reads++;
        dev->stats.senses++;
    }
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
    if (req->bytes == 0 || req->bytes > dev->page_total_bytes * 3u)
        return NAND_EBYTES;
    if (plane->out.limit == 0)
        return NAND_ENODATA;
    if (plane->out_ready > now)
        return NAND_EBUSY;
    if (req->bytes > plane->out.limit)
        return plane->out.limit < dev->page_total_bytes && req->bytes <= dev->page_total_bytes
                   ? NAND_EPARTIAL
                   : NAND_EBYTES;
    if (req->data && (req->offset > dev->page_total_bytes ||
                      req->bytes > dev->page_total_bytes - req->offset))
        return NAND_EBYTES;
    if (req->data && !dev->contents)
        return NAND_ENOTSUP;

    if (req->data)
        nandi_contents_register(dev, req->addr.die, req->addr.plane, req->offset, req->bytes,
                                req->data);
    res->done_at = res->ready_at =
        dev_bus_take(dev, dev->die[req->addr.die].channel, now,
                     dev->prof.time.tstatus_ns + dev_bus_ns(dev, req->bytes), res);
    res->status = plane->out.status;
    res->energy_pj = req->bytes * dev->prof.energy.bus_pj_per_byte;
    dev->stats.data_outs++;
    dev->stats.bus_bytes += req->bytes;
    return 0;
}

int nand_issue(nand_dev *dev, nand_ns now, const struct nand_req *req, struct nand_res *ret_res)
{
    if (!dev || !req || !ret_res)
        return NAND_EINVAL;
    if (dev->power_off)
        return NAND_EOFF;
    if (now < dev->now)
        return NAND_ETIME;
    switch (req->op) {
    case NAND_OP_READ:
    case NAND_OP_READ_PARTIAL:
    case NAND_OP_READ_SOFT:
        return issue_read(dev, now, req, ret_res);
    case NAND_OP_READ_CACHE:
    case NAND_OP_READ_CACHE_END:
        return issue_read_cache(dev, now, req, ret_res);
    case NAND_OP_DATA_OUT:
        return issue_data_out(dev, now, req, ret_res);
    case NAND_OP_DATA_IN:
        return nandi_issue_data_in(dev, now, req, ret_res);
    case NAND_OP_PROG:
        return nandi_issue_program(dev, now, req, ret_res, false);
    case NAND_OP_PROG_CACHE:
        return nandi_issue_program(dev, now, req, ret_res, true);
    case NAND_OP_ERASE:
        return nandi_issue_erase(dev, now, req, ret_res);
    case NAND_OP_COPYBACK:
        return nandi_issue_copyback(dev, now, req, ret_res);
    case NAND_OP_PROG_PARTIAL:
        return nandi_issue_partial(dev, now, req, ret_res);
    case NAND_OP_SUSPEND:
        return nandi_issue_suspend(dev, now, req, ret_res);
    case NAND_OP_RESUME:
        return nandi_issue_resume(dev, now, req, ret_res);
    case NAND_OP_RESET:
        return nandi_issue_reset(dev, now, req, ret_res);
    case NAND_OP_SET_FEATURE:
        return nandi_issue_feature(dev, now, req, ret_res);
    case NAND_OP_STATUS:
        return nandi_issue_status(dev, now, req, ret_res);
    default:
        return NAND_EINVAL;
    }
}
