/* fake_drive.h - a drive with the interface of ftl.h whose behaviour is known by
 * heart: every command takes FAKE_LATENCY_NS, whatever else is open. Tests of the
 * engine can then derive times, rates and counts by hand. */
#ifndef FAKE_DRIVE_H_
#define FAKE_DRIVE_H_

#include "ftl/ftl.h"

enum { FAKE_LATENCY_NS = 10000, FAKE_SUBMIT_NS = 1500, FAKE_SEEN_MAX = 1 << 20 };

/* What the drive was asked, in order; the first FAKE_SEEN_MAX commands. */
struct fake_seen {
    ftl_ns at;
    uint64_t lba;
    uint32_t lba_count;
    uint16_t stream;
    uint8_t opcode;
};

ftl_drive *fake_new(uint64_t lbas, uint32_t lba_bytes);
uint64_t fake_count(const ftl_drive *drive);
const struct fake_seen *fake_seen(const ftl_drive *drive);
/* Extents written untimed: the same list, at = FTL_NEVER. */
uint32_t fake_resets(const ftl_drive *drive);
/* Commands that may be seen as open at the same time so far. */
uint32_t fake_deepest(const ftl_drive *drive);

#endif
