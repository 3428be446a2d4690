/* health.c - the state of the media for the host, and faults for tests. */
#include "ftl/ftl_media.h"
#include <string.h>

#include "nvme/drive.h"

enum { WARN_SPARE = 1, WARN_READ_ONLY = 8, WARN_BACKUP = 16 };    /* SMART / Health log, NVMe base 2.0 */

int ftl_health_get(const ftl_drive *d, struct ftl_health *ret)
{
    if (d == NULL || ret == NULL)
        return FTL_EINVAL;
    const struct media_blocks *b = &d->media.blocks;
    *ret = (struct ftl_health){
        .available_spare_percent = media_blocks_spare_percent(b),
        .spare_threshold_percent = (uint32_t)d->cfg.media_spare_threshold,
        .read_only = d->core.read_only,
        .blocks_factory_bad = b->factory_bad,
        .blocks_retired = b->retired,
        .blocks_exchanged = b->exchanged,
        .hole_units = d->core.lasting_total,
        .leaving = d->core.care.waiting,
        .care_ns = d->core.care.busy_ns +
                   (d->core.care.waiting != 0 ? d->ctx.now - d->core.care.since : 0),
        .lost_units = d->core.raid != NULL ? d->core.raid->lost_count : 0,
    };
    memcpy(ret->ecc_steps, d->media.ecc.steps, sizeof ret->ecc_steps);
    memcpy(ret->ecc_attempts, d->media.ecc.attempts, sizeof ret->ecc_attempts);
    ret->ecc_again = d->media.ecc.again;
    ret->ecc_corrected_bits = d->media.decoder.corrected_bits;
    ret->ecc_miscorrected = d->media.decoder.miscorrected;
    ret->nand_energy_pj = media_energy_pj(&d->media);
    for (size_t at = 0; b->block != NULL && at < (size_t)b->dies * b->planes; at++) {
        ret->blocks_spare += b->spare_count[at];
        ret->planes_dead += b->dead[at];
    }
    for (uint32_t i = d->core.failed_wl; i != WL_NONE; i = d->core.wls[i].next)
        ret->waiting_units += d->core.wls[i].units[CAUSE_HOST] + d->core.wls[i].units[CAUSE_GC];
    if (ret->available_spare_percent < ret->spare_threshold_percent)
        ret->critical_warning |= WARN_SPARE;
    if (ret->read_only)
        ret->critical_warning |= WARN_READ_ONLY;
    if (d->bank.failed)
        ret->critical_warning |= WARN_BACKUP;
    return 0;
}

int ftl_fault_arm(ftl_drive *d, const struct ftl_fault *f)
{
    if (d == NULL || f == NULL)
        return FTL_EINVAL;
    return f->kind == FTL_FAULT_MEMORY ? core_upset_arm(&d->core, f) : media_fault_arm(&d->media, f);
}
