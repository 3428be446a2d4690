/* power.c - peak-power cap: how many array operations run at one time.
 *
 * Each cap is a set of slots that hold end times; an operation takes the slot that
 * frees first and starts no earlier. A suspended operation keeps its slot. */
#include "dev.h"

static uint32_t earliest(const nand_ns *slots, uint32_t count)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < count; i++)
        if (slots[i] < slots[best])
            best = i;
    return best;
}

nand_ns nandi_power_start(struct nand_dev *dev, uint32_t die, nand_ns start, nand_ns duration,
                          bool sense)
{
    const struct nand_power *cap = &dev->prof.power;
    nand_ns *die_slot = NULL, *drive_slot = NULL;
    nand_ns begin = start;

    if (sense && cap->die_ops_max) {
        nand_ns *slots = &dev->power_die[(size_t)die * cap->die_ops_max];
        die_slot = &slots[earliest(slots, cap->die_ops_max)];
        begin = later(begin, *die_slot);
    }
    if (cap->drive_ops_max) {
        drive_slot = &dev->power_drive[earliest(dev->power_drive, cap->drive_ops_max)];
        begin = later(begin, *drive_slot);
    }
    if (die_slot)
        *die_slot = begin + duration;
    if (drive_slot)
        *drive_slot = begin + duration;
    dev->stats.power_wait_ns += begin - start;
    return begin;
}
