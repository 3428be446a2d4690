/* erase.c - erasing a block in every plane of the mask. */
#include "dev.h"

static bool erase_block(struct nand_dev *dev, size_t block, bool slc)
{
    bool failed = (dev->block[block].word & BF_STAY) != 0;

    nandi_block_erased(dev, block, BF_STAY);
    dev->block[block].erase_count++;
    if (slc)
        dev->block[block].word |= BF_SLC;
    if (dev->flags & NAND_WITH_FAULTS)
        failed |= nandi_wear_erase_fails(dev, block);
    return failed;
}

int nandi_issue_erase(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                      struct nand_res *res)
{
    bool slc = req->flags & NAND_F_SLC;
    uint32_t fail = 0;
    int err = nandi_check_mask(dev, req);
    if (err)
        return err;
    if (slc && dev->prof.time.slc_tprog_ns == 0)
        return NAND_ENOTSUP;
    struct die_state *die = &dev->die[req->addr.die];
    if (die->suspended)
        return NAND_ESUSPEND;
    if (die->array_until > now || die->sense_until > now)
        return NAND_EBUSY;
    err = nandi_reserve_damage(dev);
    if (err)
        return err;

    dev->op_count++;
    dev->stats.erases++;
    if (nandi_cut_is_due(dev) && dev->cut.mode == NAND_CUT_BEFORE)
        return nandi_cut_before(dev, now, res);
    if (dev->op_count >= dev->next_armed_op || die->dead_mask)
        fail = nandi_fault_planes(dev, req->addr.die, req->plane_mask, true);
    dev->any_slc |= slc;
    nand_ns start = dev_bus_take(dev, die->channel, now, dev->prof.time.tcmd_ns, res);
    start = dev_array_start(dev, req->addr.die, start, dev->prof.time.tbers_ns, false);
    res->done_at = res->ready_at = die->array_until = start + dev->prof.time.tbers_ns;
    die->work = DIE_ERASE;
    dev_flight_begin(die, start, req->plane_mask, 0, 0, true);
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask), b = dev_mask_block(req, p);
        size_t block = dev_block_index(dev, req->addr.die, p, b);
        dev_flight_block(&dev->input[dev_plane_index(dev, req->addr.die, p)], b);
        if (erase_block(dev, block, slc))
            fail |= 1u << p;
        if (fail >> p & 1)
            dev->block[block].word |= BF_TORN | BF_WORN;
        dev->stats.plane_erases++;
        res->energy_pj += dev->prof.energy.erase_pj;
    }
    res->fail_mask = fail;
    res->status = fail ? NAND_FAIL : NAND_OK;
    if (nandi_cut_is_due(dev))
        nandi_cut_strike(dev, req->addr.die, res);
    else if (dev->op_count >= dev->next_armed_op)
        nandi_next_armed(dev);
    return 0;
}
