/* ftl.h - an NVMe SSD in software: commands, FTL, NAND, one virtual clock.
 *
 * Threads: one drive = one thread at a time; drives share no state.
 * Errors:  functions return 0 or a negative enum ftl_err. ret_* outputs are
 *          written on success only. How a command ended is not an error of the
 *          call: see ftl_cpl.status. A fault of our own ends the program with a
 *          line that names the rule, the seed, the event and the virtual time.
 * Memory:  all bookkeeping is taken in ftl_create(); only kept user data
 *          (media.payload) grows later.
 * Time:    ftl_ns, virtual nanoseconds from 0. Nothing reads a wall clock.
 * Repeat:  same configuration and calls => same results, on every compiler and
 *          CPU.
 *
 * Simple use:   ftl_config_init, ftl_create, ftl_submit, ftl_run, ftl_poll.
 * Outer clock:  ftl_next_event tells when the drive wants to run next. */
#ifndef FTL_FTL_H_
#define FTL_FTL_H_

#include "ftl/ftl_config.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FTL_API_VERSION 0x000100u   /* 0xMMmmpp */

enum ftl_err {
    FTL_OK       = 0,
    FTL_EINVAL   = -1,              /* a documented precondition was broken */
    FTL_ENOMEM   = -2,              /* no memory, or more than the limit given */
    FTL_EAGAIN   = -3,              /* too many open commands: run, poll, retry */
    FTL_ECONFIG  = -4,              /* configuration refused */
    FTL_ERANGE   = -5,              /* LBA range beyond the drive */
    FTL_EPOLICY  = -6,              /* a policy made an illegal choice */
    FTL_ECHECK   = -7,              /* ftl_check() found a broken invariant */
    FTL_EIO      = -8,              /* file could not be read */
    FTL_EBUSY    = -9,              /* commands are open; the call needs a quiet drive */
    FTL_EPOWER   = -10,             /* the power is off, or went during this call */
    FTL_EMEDIA   = -11,             /* the medium holds no drive that could be recovered */
    FTL_EROFS    = -12,             /* end of life: the drive is read-only */
    FTL_ESNAPSHOT = -13             /* not a snapshot that can be loaded: damaged, another version */
};
FTL_API const char *ftl_strerror(int err);     /* never NULL, static storage */

typedef uint64_t ftl_ns;
#define FTL_NEVER UINT64_MAX

/* ---- life cycle --------------------------------------------------------- */
typedef struct ftl_drive ftl_drive;

/* Bytes that ftl_create() will take for this configuration. */
FTL_API uint64_t ftl_memory_needed(const struct ftl_config *cfg);
/* A formatted drive, fresh out of the box, powered, at time 0. The
 * configuration is copied. On FTL_ECONFIG ret_why (may be NULL) says why. */
FTL_API int  ftl_create(const struct ftl_config *cfg, ftl_drive **ret_drive,
                        char *ret_why, size_t why_size);
/* The same with policies of the caller's (ftl_policy.h), which must outlive the drive;
 * NULL, or a NULL member, is the built-in policy that cfg names. FTL_EINVAL with
 * ret_why when one was made for another version. Their state comes on top of
 * ftl_memory_needed(). */
struct ftl_policies;
FTL_API int  ftl_create_with(const struct ftl_config *cfg, const struct ftl_policies *policies,
                             ftl_drive **ret_drive, char *ret_why, size_t why_size);
FTL_API void ftl_destroy(ftl_drive *drive);    /* NULL is fine */

FTL_API uint64_t ftl_lba_count(const ftl_drive *drive);
FTL_API uint32_t ftl_lba_bytes(const ftl_drive *drive);

/* ---- commands, in virtual time ------------------------------------------- */
enum ftl_opcode { FTL_FLUSH = 0x00, FTL_WRITE = 0x01, FTL_READ = 0x02, FTL_TRIM = 0x09 };

enum { FTL_FUA = 1 };               /* force unit access: the write ends when it would survive a
                                     * loss of power; capacitors make that no difference */

struct ftl_cmd {
    uint8_t  opcode;                /* enum ftl_opcode */
    uint8_t  flags;                 /* 0, or FTL_FUA with FTL_WRITE */
    uint16_t stream;                /* placement hint, 0 = none; see streams.count */
    uint32_t lba_count;             /* 1-based; 0 only with FTL_FLUSH. At most 2^24 for
                                     * reads and writes; TRIM takes any length */
    uint64_t lba;
    uint64_t user;                  /* handed back untouched */
    void    *data;                  /* lba_count * lba_bytes, borrowed until completion;
                                     * NULL = timing only. Needs media.payload = 1 */
};

struct ftl_cpl {
    uint64_t user;
    ftl_ns   submitted_at, done_at; /* host's clock: before host.submit_ns, after host.complete_ns */
    uint16_t status;                /* NVMe status field, 0 = success */
    uint8_t  opcode;
    uint8_t  reserved;
    uint32_t lba_count;
};

/* Commands that may be open at once, at most and by default; see host.open_max. */
enum { FTL_OPEN_MAX = 65536 };

/* Accepts a command at the present time. FTL_EAGAIN when host.open_max are open;
 * FTL_ERANGE or FTL_EINVAL refuse it without effect. */
FTL_API int ftl_submit(ftl_drive *drive, const struct ftl_cmd *cmd);
/* Takes up to max completions, in order of done_at. Returns how many. */
FTL_API uint32_t ftl_poll(ftl_drive *drive, struct ftl_cpl *ret_cpls, uint32_t max);
FTL_API uint32_t ftl_open_commands(const ftl_drive *drive);  /* submitted, not yet polled */

/* ---- the clock: the caller drives ---------------------------------------- */
FTL_API ftl_ns ftl_now(const ftl_drive *drive);
FTL_API ftl_ns ftl_next_event(const ftl_drive *drive);       /* FTL_NEVER = nothing to do */
/* Runs events up to and including time t and stops early, at the event's time,
 * as soon as a completion can be polled; without one the clock ends at t.
 * Returns 1 when completions wait, 0 when the clock reached t, < 0 on error.
 * t = FTL_NEVER runs until a completion or until nothing is left to do (the
 * clock then stays where the last event was). */
FTL_API int ftl_run(ftl_drive *drive, ftl_ns t);
/* Runs until background work has ended too. Completions stay to be polled. */
FTL_API int ftl_drain(ftl_drive *drive);

/* ---- untimed depth --------------------------------------------------------
 * The same mapping, placement and garbage collection at memory speed; virtual
 * time stands still. Needs a drive without open commands (FTL_EBUSY). A partly covered
 * unit of map.unit_bytes counts as read, merged and rewritten. */
/* Extents of different streams may change places within a batch of some dozen
 * units; the last write to an LBA still decides where it lies for its stream. */
struct ftl_extent { uint64_t lba; uint32_t lba_count, stream; };
FTL_API int ftl_write_untimed(ftl_drive *drive, const struct ftl_extent *extents, size_t count);
FTL_API int ftl_trim_untimed(ftl_drive *drive, uint64_t lba, uint64_t lba_count);
/* NVMe Format: all data gone, all superblocks erased, counters kept. */
FTL_API int ftl_format(ftl_drive *drive);

/* ---- what happened ---------------------------------------------------------
 * Reading never changes state, time or a counter. Counters are cumulative; take
 * two snapshots and subtract, or reset. */
struct ftl_counters {
#define X(name, unit, text) uint64_t name;
#include "ftl/ftl_counters.def"
#undef X
};
FTL_API void ftl_counters_get(const ftl_drive *drive, struct ftl_counters *ret_counters);
FTL_API void ftl_counters_reset(ftl_drive *drive);   /* utilisation and a_effective too */

struct ftl_status {
    uint64_t user_units, physical_units;  /* mapping units; physical without parity */
    uint64_t mapped_units;
    uint64_t superblock_units;
    uint32_t superblocks, superblocks_free;
    uint64_t erases_min, erases_max, erases_sum; /* per superblock */
    uint64_t a_effective_ppm;    /* mean written, not yet collected units per user unit x 1e6,
                                  * since the last reset; 0 = nothing was written */
    uint64_t buffer_units, buffer_units_used, buffer_units_peak;
    ftl_ns   since;              /* time of the last reset */
    uint64_t die_busy_ns;        /* array operations, summed over dies (a die reading in any
                                  * plane counts once), since the last reset */
    uint64_t channel_busy_ns;    /* summed over channels */
    uint64_t link_busy_ns, write_path_busy_ns, front_end_busy_ns;
    uint32_t dies, channels;
    uint32_t unit_bytes;         /* of a mapping unit, here and in the counters */
    uint64_t memory_bytes;
    uint32_t streams_in_use;     /* streams.mode = auto: classes that host data went to within
                                  * the last eighth of a drive write; else streams.count */
};
FTL_API void ftl_status_get(const ftl_drive *drive, struct ftl_status *ret_status);

/* After FTL_EPOLICY: the policy's name and what it did, one line, in ret_why (may be
 * NULL). Returns FTL_EPOLICY, or 0 when no policy broke a rule. */
FTL_API int ftl_policy_fault(const ftl_drive *drive, char *ret_why, size_t why_size);

/* A hash of the drive's logical state (map, superblocks, counters, clock): equal
 * for equal histories on every machine. O(user units). */
FTL_API uint64_t ftl_state_hash(const ftl_drive *drive);
/* All invariants. 0, or FTL_ECHECK with the broken one in ret_why. O(units). */
FTL_API int ftl_check(const ftl_drive *drive, char *ret_why, size_t why_size);

#ifdef __cplusplus
}
#endif
#endif
