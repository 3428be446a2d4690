/* payload.h - user bytes (media.payload = 1): the write buffer's cells, what a unit looks like
 * on the medium.
 *
 * A page is a row of sectors: a codeword of 4 KiB, the tag of its unit, the rest for ECC. FORMAT.md gives
 * every byte. Units not yet programmed live in groups, one per word line that is open or on its
 * way, laid out as the pages will be; a row's parity is summed up in groups too. A group is found
 * by the number of its word line, (slot - 1) / wl_units. */
#ifndef FTL_CORE_PAYLOAD_H
#define FTL_CORE_PAYLOAD_H

#include <stdbool.h>
#include <stdint.h>

enum { PAYLOAD_TAG_BYTES = 32, GROUP_NONE = -1, PAYLOAD_PARITY_MAX = 8 };

/* The tag of a unit in the spare area. */
struct payload_tag {
    uint64_t seq;               /* order of placement in this drive's life, from 1 */
    uint32_t key;               /* LPN + 1; 0 = filler */
    uint32_t erases;            /* of its superblock: which life of it this is */
    uint32_t atomic_first, atomic_count;    /* place in its command; see power.atomic_units */
    uint32_t atomic_back;       /* seq less that of the command's first unit; copies keep it true */
    uint8_t class, cause, frontier;
};

struct payload {
    uint32_t page_bytes;        /* with spare */
    uint32_t sector_bytes, page_cws, wl_bytes;
    uint32_t count, free_head;
    uint8_t *bytes;             /* wl_bytes per group */
    uint32_t *wl;               /* word line of a group */
    int32_t *next;              /* of the bucket, or free */
    int32_t *bucket;
    uint32_t bucket_mask;
    int32_t *open, *parity;     /* per frontier; per frontier and parity die */
    uint64_t seq;
    uint32_t *prev;             /* per group and unit: where the key lay before */
    uint8_t *sent;              /* per group, after a start: its word line was full */
    uint32_t atomic_first, atomic_count;    /* of the unit to be placed */
    const uint8_t *incoming;    /* bytes of the unit to be placed; NULL = zeros */
    const uint8_t *page;        /* under relocation; NULL = taken from the medium */
};

#endif
