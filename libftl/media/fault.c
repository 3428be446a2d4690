/* fault.c - faults of the caller's, armed on the NAND model. */
#include "nand/fault.h"
#include "media/media.h"

int media_fault_arm(struct media *m, const struct ftl_fault *f)
{
    static const enum nand_fault_kind kinds[] = {
        [FTL_FAULT_PROGRAM] = NAND_FAULT_PROG_FAIL,
        [FTL_FAULT_ERASE] = NAND_FAULT_ERASE_FAIL,
        [FTL_FAULT_PLANE] = NAND_FAULT_PLANE_STUCK,
        [FTL_FAULT_DIE] = NAND_FAULT_DIE_DEAD,
    };
    if (m->blocks.block == NULL || f->kind < FTL_FAULT_PROGRAM || f->kind > FTL_FAULT_DIE ||
        f->after > UINT64_MAX / 2)
        return FTL_EINVAL;
    struct nand_fault fault = {.kind = kinds[f->kind], .die = f->die, .plane = f->plane,
                               .at_op = nand_op_count(m->nand) + 1 + f->after};
    int err = nand_fault_arm(m->nand, &fault);
    return err == 0 ? 0 : err == NAND_ENOMEM ? FTL_EAGAIN : FTL_EINVAL;
}

uint64_t media_energy_pj(const struct media *m)
{
    struct nand_stats s;
    return nand_stats_get(m->nand, &s) == 0 ? s.energy_pj : 0;
}
