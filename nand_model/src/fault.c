/* fault.c - failures that come with wear, and failures that a caller arms. */
#include "dev.h"

/* ---- from the factory and from wear (NAND_WITH_FAULTS) ------------------------- */

void nandi_mark_factory_bad(struct nand_dev *dev)
{
    uint64_t limit = (uint64_t)dev->prof.wearout.factory_bad_ppm;

    for (uint64_t b = 0; b < dev->block_count; b++) {
        uint64_t draw = nand_draw(dev->seed, DRAW_FACTORY_BAD, b, 0) >> 32;
        if (draw * 1000000 >> 32 < limit) {
            dev->block[b].word |= BF_BAD;
            dev->fault_seen[NAND_FAULT_FACTORY_BAD]++;
        }
    }
}

/* Each block has its own number of cycles at which it fails (Weibull, see
 * nandi_wear_limit()); half of them fail to erase, half to program. */
bool nandi_wear_erase_fails(struct nand_dev *dev, size_t block)
{
    uint64_t limit = nandi_wear_limit(dev, nand_draw(dev->seed, DRAW_WEAR_LIMIT, block, 0));

    if (dev->block[block].erase_count < limit)
        return false;
    if (nand_draw(dev->seed, DRAW_WEAR_KIND, block, 0) & 1) {
        dev->block[block].word |= BF_WILL_FAIL;
        return false;
    }
    dev->fault_seen[NAND_FAULT_WEAR_ERASE]++;
    return true;
}

bool nandi_wear_program_fails(struct nand_dev *dev, size_t block, uint32_t page)
{
    uint32_t word = dev->block[block].word, wordlines = dev->prof.geo.wordlines_per_block;
    uint64_t draw;

    if (word & (BF_BAD | BF_WORN))
        return true;
    if (!(word & BF_WILL_FAIL))
        return false;
    draw = nand_draw(dev->seed, DRAW_WEAR_PAGE, block, dev->block[block].erase_count) >> 32;
    if (!(word & BF_SLC))
        page = dev_wordline(dev, page);
    if (page < draw * wordlines >> 32)
        return false;
    dev->block[block].word &= ~(uint32_t)BF_WILL_FAIL;
    dev->fault_seen[NAND_FAULT_WEAR_PROG]++;
    return true;
}

bool nandi_read_upset(struct nand_dev *dev, size_t block, uint32_t page)
{
    uint64_t draw =
        nand_draw(dev->seed, DRAW_UPSET, (uint64_t)block << 24 | page, dev->upset_draws++) >>
        32;

    if (draw * 1000000 >> 32 >= dev->upset_ppm)
        return false;
    dev->fault_seen[NAND_FAULT_READ_UPSET]++;
    return true;
}

/* ---- armed ----------------------------------------------------------------------- */

/* First operation that needs a look. Faults that stay on live in die.dead_mask. */
void nandi_next_armed(struct nand_dev *dev)
{
    dev->next_armed_op = UINT64_MAX;
    if (dev->cut_armed)
        dev->next_armed_op = dev->cut.at_op;
    for (uint32_t i = 0; i < dev->fault_count_armed; i++)
        if (dev->fault[i].at_op < dev->next_armed_op)
            dev->next_armed_op = dev->fault[i].at_op;
}

static void disarm(struct nand_dev *dev, uint32_t i)
{
    dev->fault[i] = dev->fault[--dev->fault_count_armed];
    dev->fault[dev->fault_count_armed] = (struct nand_fault){.at_op = 0};
}

/* Runs with op_count already counted. Planes that fail in this operation. */
uint32_t nandi_fault_planes(struct nand_dev *dev, uint32_t die, uint32_t mask, bool erase)
{
    uint32_t fail = 0;

    for (uint32_t i = 0; i < dev->fault_count_armed;) {
        const struct nand_fault fault = dev->fault[i];
        if (fault.at_op > dev->op_count) {
            i++;
            continue;
        }
        disarm(dev, i);
        if (fault.kind == NAND_FAULT_READ_UPSET) {
            dev->upset_ppm = fault.rate_ppm;
            continue; /* counted when a read is hit */
        }
        if (fault.kind == NAND_FAULT_PLANE_STUCK)
            dev->die[fault.die].dead_mask |= 1u << fault.plane;
        else if (fault.kind == NAND_FAULT_DIE_DEAD)
            dev->die[fault.die].dead_mask = dev->planes_mask;
        else if ((fault.kind == NAND_FAULT_ERASE_FAIL) == erase)
            fail |= mask;
        else
            continue; /* the operation was of the other kind */
        dev->fault_seen[fault.kind]++;
    }
    return fail | (mask & dev->die[die].dead_mask);
}

int nand_fault_arm(nand_dev *dev, const struct nand_fault *fault)
{
    if (!dev || !fault)
        return NAND_EINVAL;
    if (fault->rate_ppm > 1000000)
        return NAND_EINVAL;
    if (fault->kind == NAND_FAULT_READ_UPSET && fault->at_op == 0) {
        dev->upset_ppm = fault->rate_ppm;
        return 0;
    }
    if (fault->kind < NAND_FAULT_PROG_FAIL || fault->kind > NAND_FAULT_READ_UPSET ||
        fault->at_op <= dev->op_count)
        return NAND_EINVAL;
    if (fault->die >= dev->prof.geo.dies || fault->plane >= dev->prof.geo.planes)
        return NAND_EADDR;
    if (dev->fault_count_armed == NAND_FAULTS_MAX)
        return NAND_ENOMEM;
    dev->fault[dev->fault_count_armed++] = *fault;
    nandi_next_armed(dev);
    return 0;
}

uint64_t nand_fault_count(const nand_dev *dev, enum nand_fault_kind kind)
{
    return dev && (unsigned)kind < NAND_FAULT_KINDS ? dev->fault_seen[kind] : 0;
}
