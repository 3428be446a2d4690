/* ftl_media.h - the health of a drive's media, and faults to try it with.
 *
 * Errors and threads: as in ftl.h. */
#ifndef FTL_FTL_MEDIA_H_
#define FTL_FTL_MEDIA_H_

#include "ftl/ftl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a page was decoded (media.ecc). */
enum ftl_ecc_step {
    FTL_ECC_FIRST,              /* by the first read, at the voltages that were good before */
    FTL_ECC_RETRY,              /* at other voltages */
    FTL_ECC_SOFT2, FTL_ECC_SOFT3,   /* with 3 and with 7 senses */
    FTL_ECC_FAILED,             /* not at all: rebuilt from its stripe, or lost */
    FTL_ECC_STEPS
};
enum { FTL_ECC_ATTEMPTS = 32 };

/* What an NVMe drive reports in its SMART / Health log, page 02h, and what lies
 * behind it. Without media.faults all is well: 100 % spare. */
struct ftl_health {
    uint32_t available_spare_percent;   /* of the plane that has the fewest; 0..100 */
    uint32_t spare_threshold_percent;   /* media.spare_threshold_percent */
    uint8_t  critical_warning;          /* NVMe bits: 1 = spare below threshold, 8 = read-only,
                                         * 16 = capacitors cannot carry the write buffer */
    uint8_t  read_only;
    uint64_t blocks_factory_bad, blocks_retired, blocks_spare;  /* one per plane */
    uint64_t blocks_exchanged;  /* wear.assembly: times an erased one gave way to a spare */
    uint32_t planes_dead;
    uint64_t hole_units;        /* 4 KiB slots of superblocks without a block, for good */
    uint64_t leaving;           /* superblocks with data to be moved out of failed blocks */
    uint64_t care_ns;           /* time in which there were some, since creation */
    uint64_t lost_units;        /* read as Unrecovered Read Error until written again */
    uint64_t ecc_steps[FTL_ECC_STEPS];      /* page reads by the step that gave them */
    uint64_t ecc_attempts[FTL_ECC_ATTEMPTS];/* the same by repeated reads: 0, 1 .. or more */
    uint64_t ecc_again;         /* array reads beyond the first of each */
    uint64_t nand_energy_pj;    /* array and bus since creation */
    uint64_t waiting_units;     /* units whose program failed, not placed again yet */
    uint64_t ecc_corrected_bits;    /* media.ecc = decoder: wrong bits of words that decoded */
    uint64_t ecc_miscorrected;  /* the same: words that decoded to others, found by their CRC */
};
/* FTL_EINVAL for a null pointer. O(planes + open word lines). */
FTL_API int ftl_health_get(const ftl_drive *drive, struct ftl_health *ret_health);

/* ---- faults -----------------------------------------------------------------
 * Programs and erases, counted together over all dies, run on the medium in timed
 * depth only; untimed work meets no fault before the first timed command. */
enum ftl_fault_kind {
    FTL_FAULT_PROGRAM = 1,      /* that operation fails, if it is a program */
    FTL_FAULT_ERASE = 2,        /* the same for an erase */
    FTL_FAULT_PLANE = 3,        /* from then on `plane` of `die` answers nothing */
    FTL_FAULT_DIE = 4,          /* all planes of `die` */
    FTL_FAULT_MEMORY = 5        /* bits of a word of `memory` flip */
};
/* Memories of the controller; what counts as a pass. */
enum ftl_memory {
    FTL_MEMORY_DATA,            /* data of commands: 4 KiB on their way to or from the host */
    FTL_MEMORY_BUFFER,          /* write buffer: a unit leaves it for the medium */
    FTL_MEMORY_MAP,             /* map: the first entry that a read or write looks up */
    FTL_MEMORY_TABLE,           /* bookkeeping of superblocks: once per write */
    FTL_MEMORIES
};
struct ftl_fault {
    uint32_t kind;              /* enum ftl_fault_kind */
    uint32_t die, plane;        /* FTL_FAULT_DIE and _PLANE */
    uint64_t after;             /* strikes at the operation after so many; 0 = the next.
                                 * FTL_FAULT_MEMORY: at the pass of that memory */
    uint32_t memory, flips;     /* FTL_FAULT_MEMORY: enum ftl_memory; 1..3 bits of one word */
};
/* Arms one fault; 16 may be armed at a time. FTL_EINVAL (null pointer, kind, no such
 * plane, media.faults = 0; no such memory, no payload in the buffer, a journal), FTL_EAGAIN (16 are
 * armed, or one of that memory is). */
FTL_API int ftl_fault_arm(ftl_drive *drive, const struct ftl_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
