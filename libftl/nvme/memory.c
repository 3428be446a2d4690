/* memory.c - soft errors of the controller's memories on the way of commands (core/upset.h), and
 * the check of data that goes out to the host.
 *
 * Each 4 KiB that a command moves may be hit once: one bit of a 72-bit word, or two or three of the
 * same. What the code corrects is counted; what it detects, and what it takes for something else and
 * the guard finds, ends the command with an error. */
#include <string.h>

#include "nvme/drive.h"
#include "sim/crc.h"
#include "sim/draw.h"
#include "sim/plant.h"
#include "sim/secded.h"

/* NVMe status fields: Internal Error; End-to-end Guard, and Reference Tag, Check Error. */
enum { STATUS_INTERNAL = 0x006, STATUS_GUARD = 0x282, STATUS_REFERENCE = 0x284 };

/* One hit of `flips` bits of the word at `at`; the status it leaves. */
static uint16_t hit(ftl_drive *d, uint8_t *at, uint32_t flips, uint64_t draw)
{
    uint8_t was[8];
    uint32_t guard = sim_crc32c(at, 8);

    memcpy(was, at, 8);
    enum upset_outcome outcome = core_upset_hit(at, flips, draw);
    d->count.memory_upsets++;
    if (outcome != UPSET_SEEN && FTL_PLANT(flip_uncorrected, 1)) {
        at[0] ^= 1;
        d->count.memory_corrected++;
        return 0;
    }
    if (outcome != UPSET_SEEN && sim_crc32c(at, 8) == guard) {
        d->count.memory_corrected++;
        return 0;
    }
    memcpy(at, was, 8);                 /* the word is given up, not handed on */
    *(outcome == UPSET_SEEN ? &d->count.memory_detected : &d->count.memory_guarded) += 1;
    return outcome == UPSET_SEEN ? STATUS_INTERNAL : STATUS_GUARD;
}

uint16_t memory_pass(ftl_drive *d, uint8_t *bytes, uint64_t n)
{
    uint16_t status = 0;

    for (uint64_t at = 0; at < n; at += CODEWORD_BYTES) {
        uint64_t draw, room = n - at < CODEWORD_BYTES ? n - at : CODEWORD_BYTES;
        uint32_t flips = core_upset_pass(&d->core, FTL_MEMORY_DATA, &draw);
        uint8_t any[8];
        if (flips == 0)
            continue;
        memcpy(any, &draw, 8);
        uint8_t *word = bytes == NULL
                            ? any : bytes + at + draw_below(draw_mix(draw), (uint32_t)(room / 8)) * 8;
        uint16_t one = hit(d, word, flips, draw);
        status = one != 0 ? one : status;
    }
    return status;
}

bool memory_judge(ftl_drive *d, struct command *c, const uint8_t *sector, uint32_t key)
{
    struct payload_tag tag;

    if (core_payload_is(sector, key))
        return true;
    FTL_ASSERT(&d->ctx, d->core.upset.damaged != 0);
    core_payload_tag_of(sector + CODEWORD_BYTES, &tag);
    d->count.guard_errors++;
    c->status = tag.key == key ? STATUS_GUARD : STATUS_REFERENCE;
    return false;
}

uint16_t memory_read(ftl_drive *d, const struct command *c)
{
    return core_upset_map(&d->core, c->first_key) ? 0 : STATUS_INTERNAL;
}

uint16_t memory_write(ftl_drive *d, const struct command *c)
{
    uint16_t status = memory_pass(d, c->cmd.data, (uint64_t)c->cmd.lba_count * d->lba_bytes);

    core_upset_table(&d->core);
    return status != 0 ? status : memory_read(d, c);
}
