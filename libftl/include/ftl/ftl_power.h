/* ftl_power.h - losing power, and what is left.
 *
 * In layers, each enough by itself:
 *
 *  1. Off and on again.      ftl_power_off, ftl_power_on: a clean shutdown and a clean start.
 *  2. Sudden loss.           ftl_power_cut, ftl_power_on: commands that were open are lost; what
 *                            was acknowledged is there again, by the promise of power.plp.
 *  3. Loss at an operation.  ftl_power_arm: at the n-th program or erase from now, also in the
 *                            middle of a capacitor flush or of the recovery itself.
 *  4. Many losses.           ftl_fork: a second drive in the same state, for one more case.
 *
 * The promise. power.plp = 1: every completed write, TRIM and FLUSH is there. power.plp = 0: an
 * LBA reads as at the last completed FLUSH or as a write or TRIM accepted later, never older; a
 * completed FUA write is there. In both: a command of up to power.atomic_units units is there as
 * a whole or not at all, as long as it does not cross units partly (NVMe AWUPF).
 *
 * All of this needs media.payload = 1 and journal.enabled = 1 (FTL_EINVAL otherwise): the
 * recovery reads NAND and nothing else. While the power is off every call that needs the drive
 * returns FTL_EPOWER; ftl_power_on, ftl_fork, ftl_destroy and the readers
 * (counters, status, clock) work. */
#ifndef FTL_FTL_POWER_H_
#define FTL_FTL_POWER_H_

#include "ftl/ftl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What becomes of the operation in which the power ends (nand_model: enum nand_cut_mode, the
 * same numbers). A mode of programs that meets an erase acts as the one of erases of its kind. */
enum ftl_cut_mode {
    FTL_CUT_BEFORE,             /* it never reached the medium */
    FTL_CUT_AFTER,              /* it ended, nobody saw its status */
    FTL_CUT_TORN_PROG,          /* its pages read as garbage */
    FTL_CUT_FAINT_PROG,         /* they look erased and are not clean */
    FTL_CUT_TORN_ERASE,         /* the block reads as garbage until erased again */
    FTL_CUT_FAINT_ERASE,        /* it looks erased; what is programmed is garbage */
    FTL_CUT_PAIRED_PAGE,        /* TORN_PROG, and the lower page of the word line is lost */
    FTL_CUT_MODES
};
/* What becomes of other operations under way at that moment. */
enum ftl_cut_others { FTL_OTHERS_END, FTL_OTHERS_TORN, FTL_OTHERS_DRAWN };

struct ftl_power_cut {
    uint32_t struct_size;       /* sizeof(struct ftl_power_cut) */
    uint8_t  mode;              /* enum ftl_cut_mode */
    uint8_t  others;            /* enum ftl_cut_others */
    uint16_t reserved;          /* 0 */
    uint64_t seed;              /* of FTL_OTHERS_DRAWN */
    uint64_t energy_ppm;        /* power.plp = 1: part of the modelled energy that the capacitors
                                 * deliver, at most 1000000; 0 = they fail at once. Ignored with
                                 * power.plp = 0 */
};

enum ftl_start { FTL_START_NONE, FTL_START_CLEAN, FTL_START_FLUSHED, FTL_START_SCAN };

enum { FTL_POWER_STEPS_MAX = 16 };
struct ftl_power_step {
    const char *name;           /* static storage */
    ftl_ns ns;                  /* virtual time that it took */
    uint64_t items;             /* pages, entries or units that it looked at */
};

/* What the last loss and the last start of a drive did. A call fills the part of its own and
 * leaves the other 0. */
struct ftl_power_report {
    uint32_t struct_size;       /* sizeof(struct ftl_power_report), set by the caller */
    /* ftl_power_off, ftl_power_cut, a loss by ftl_power_arm */
    uint32_t commands_lost;     /* open, without a completion */
    uint64_t units_flushed;     /* buffered units written to reserved blocks */
    uint64_t units_lost;        /* acknowledged, and not saved: the energy ran out */
    uint64_t flush_bytes;       /* programmed for the flush, metadata included */
    uint64_t flush_pages;
    ftl_ns   flush_ns;          /* loss of power to the end of the flush */
    uint64_t energy_need_nj;    /* used; with units lost, what was used until then */
    uint64_t energy_have_nj;    /* in the bank at the loss */
    /* ftl_power_on */
    uint32_t start;             /* enum ftl_start */
    uint32_t step_count;
    struct ftl_power_step steps[FTL_POWER_STEPS_MAX];
    ftl_ns   ready_ns;          /* sum of the steps */
    uint64_t pages_scanned;     /* page reads of the recovery */
    uint64_t journal_pages, journal_entries;
    uint64_t units_restored;    /* from the flush of the capacitors back into the buffer */
    uint64_t units_dropped;     /* found and not used: parts of commands that were not whole */
    uint64_t duplicates;        /* older copies of a unit that lost to a newer one */
    uint64_t torn_wordlines;    /* unreadable, or not to be trusted: closed */
    uint64_t padded_wordlines;  /* programmed with filler to close rows */
    uint64_t erased_again;      /* superblocks whose erase was not known to have ended */
};

/* Clean shutdown (NVMe CC.SHN): ends what is open, flushes, and writes a clean mark;
 * power is then off. ret_report may be NULL, here and below. FTL_EBUSY with open commands. */
FTL_API int ftl_power_off(ftl_drive *drive, struct ftl_power_report *ret_report);
/* Sudden loss at this moment of virtual time. */
FTL_API int ftl_power_cut(ftl_drive *drive, const struct ftl_power_cut *how,
                          struct ftl_power_report *ret_report);
/* Loss at the n-th program or erase from now (1 = the next). With power.plp = 1 the capacitors
 * flush then, with what `how` gives them; with energy_ppm = 0 or power.plp = 0 that operation is
 * cut. The call during which it strikes (ftl_run, ftl_drain, ftl_power_on, ...) returns
 * FTL_EPOWER and the drive is off. `how` NULL disarms. A loss disarms. */
FTL_API int ftl_power_arm(ftl_drive *drive, uint64_t operation, const struct ftl_power_cut *how);
/* Programs and erases that the drive's NAND has seen so far. */
FTL_API uint64_t ftl_power_operations(const ftl_drive *drive);
FTL_API bool ftl_power_is_on(const ftl_drive *drive);
/* Report of the last loss (also one that ftl_power_arm brought) or start. */
FTL_API void ftl_power_last(const ftl_drive *drive, struct ftl_power_report *ret_report);
/* Forgets all that was in memory, recovers from NAND, and is ready: virtual time moves on by
 * ready_ns. Counters and configuration stay. FTL_EPOWER: armed, and lost again. FTL_EMEDIA: the
 * medium holds no drive that could be recovered; the drive stays off, ftl_power_last says more. */
FTL_API int ftl_power_on(ftl_drive *drive, struct ftl_power_report *ret_report);

/* ---- the capacitor bank --------------------------------------------------------------
 * Flush energy = power.base_mw x (power.detect_ns + bytes / power.drain_mb_s) +
 * power.flush_pj_per_byte x bytes, bytes = both buffers and power.flush_extra_bytes. Usable =
 * 1/2 C (power.cap_mv^2 - power.cap_min_mv^2) x efficiency x health. A new bank that holds less
 * than a flush needs is refused at configuration; one that ages below it shrinks the buffers,
 * and in the end power.on_weak decides. POWER.md has the sources. */
struct ftl_bank {
    uint8_t  present;           /* 0 with power.plp = 0; all else is 0 then */
    uint8_t  failed;            /* cannot carry the smallest buffers: power.on_weak applies */
    uint16_t reserved;
    uint32_t health_ppm;        /* capacitance now, of the new bank's */
    uint32_t measured_ppm;      /* what the last health test read */
    uint64_t tests;             /* health tests so far */
    uint64_t usable_nj;         /* what it delivers now */
    uint64_t need_nj;           /* what a flush of full buffers takes now */
    uint64_t margin_ppm;        /* usable / need x 1e6 */
    uint64_t flush_bytes;
    ftl_ns   flush_ns;          /* from the loss of power to the end of the flush */
    ftl_ns   hold_up_ns;        /* usable energy at the base power alone */
    uint64_t buffer_bytes, buffer_gc_bytes; /* as far as the bank allows */
};
FTL_API int ftl_bank_get(const ftl_drive *drive, struct ftl_bank *ret_bank);

/* ---- by arithmetic ---------------------------------------------------------------------
 * The bank and the start of a drive from its configuration alone, without a drive: for sizes
 * that no memory holds. POWER.md has the formulas. A start with a mark follows a clean shutdown
 * or a flush of the capacitors (both cost the same), one without scans. Each just after a
 * checkpoint ended, and in the worst case: the log full, every superblock rewritten since. */
enum { FTL_ESTIMATE_MARK, FTL_ESTIMATE_SCAN, FTL_ESTIMATE_MARK_WORST, FTL_ESTIMATE_SCAN_WORST,
       FTL_ESTIMATES };
struct ftl_start_estimate {
    uint32_t step_count, reserved;
    struct ftl_power_step steps[FTL_POWER_STEPS_MAX];
    ftl_ns   ready_ns;          /* sum of the steps */
    uint64_t superblocks_scanned, superblocks_erased;
};
struct ftl_power_estimate {
    uint32_t struct_size;       /* sizeof(struct ftl_power_estimate), set by the caller */
    uint32_t log_fits;          /* 1 = the blocks beyond ftl.superblocks hold the log */
    /* a new bank; all 0 with power.plp = 0. Units as in struct ftl_bank */
    uint64_t usable_nj, need_nj, margin_ppm, flush_bytes;
    ftl_ns   flush_ns, hold_up_ns;
    uint64_t life_health_ppm, life_usable_nj;   /* after 5 years at 70 C */
    uint64_t units;             /* of the map */
    uint64_t checkpoint_bytes;  /* 4 per unit, 24 per superblock */
    uint64_t checkpoint_pages;  /* of the log, at most: word lines of all planes of a die */
    uint64_t segment_pages;
    struct ftl_start_estimate start[FTL_ESTIMATES];
};
/* cfg as it is: finish it with scale 1 for the full drive; journal.enabled need not be set.
 * FTL_EINVAL: a configuration that ftl_config_check() refuses, or struct_size. O(1). */
FTL_API int ftl_power_estimate(const struct ftl_config *cfg, struct ftl_power_estimate *ret);

/* A second drive in the same state, commands and events under way included; the data pointers of
 * open commands are shared with the first. Both belong to one thread. O(memory of the drive
 * without page contents, which are shared until changed). */
FTL_API int ftl_fork(const ftl_drive *drive, ftl_drive **ret_copy);

#ifdef __cplusplus
}
#endif
#endif
