/* ftl_snapshot.h - a drive in a file: precondition once, run many; or mount what NAND holds.
 *
 * Two kinds, one format (libftl/FORMAT.md has its bytes):
 *
 *  state  Everything, DRAM and events under way included. The loaded drive goes on exactly as
 *         the saved one would have: same times, same counters, same bytes. For any drive
 *         without open commands. A state belongs to one build of the library: any other
 *         refuses it, as its arrays are stored as they lie in memory.
 *  media  What NAND holds, and nothing else: DRAM is lost, as in a loss of power. The drive
 *         has to be off (ftl_power_off, or any loss of power, which may be an unclean one);
 *         the loaded drive is off too, and ftl_power_on() recovers it. Needs media.payload = 1
 *         and journal.enabled = 1. Any build on any machine reads it.
 *
 * A file is checksummed in every byte, written beside its name and renamed: there is a whole
 * one or none. The configuration is inside. A caller's own may differ from it where nothing
 * stored depends on it:
 *   both   gc.policy, gc.choices, gc.window, gc.pacing, gc.idle_*, gc.pace_ppm, wear.policy,
 *          drive.name, drive.family. A policy of another name starts with zeroed state.
 *   media  link.*, fe.*, fw.*, sched.* without sched.gc_reads, preread.*, host.submit_ns,
 *          host.complete_ns, journal.entry_ns too.
 * Any other difference is refused (FTL_ECONFIG) with the key and both values.
 *
 * Trust: damage of any kind is found and refused (FTL_ESNAPSHOT). A media snapshot made to
 * deceive is judged like NAND contents are; a state made to deceive can do what a program's own
 * memory can: load only states that you trust.
 *
 * Errors of all calls: one line in ret_why (may be NULL), nothing returned.
 * Cost: O(bookkeeping memory); unused memory costs next to nothing in the file. */
#ifndef FTL_FTL_SNAPSHOT_H_
#define FTL_FTL_SNAPSHOT_H_

#include "ftl/ftl_power.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ftl_snapshot_kind { FTL_SNAPSHOT_STATE = 1, FTL_SNAPSHOT_MEDIA = 2 };
enum { FTL_NOTE_MAX = 256 };        /* of the caller's text, with its end */

/* Saves to a file. note: a line of the caller's, handed back by ftl_snapshot_info(); NULL =
 * none. FTL_EBUSY: commands are open (state), the power is on (media); FTL_EINVAL: a kind that
 * this drive does not offer, a note too long; FTL_EPOLICY: a policy ended the run; FTL_EIO. */
FTL_API int ftl_snapshot_save(const ftl_drive *drive, enum ftl_snapshot_kind kind,
                              const char *path, const char *note, char *ret_why,
                              size_t why_size);
/* Loads either kind. cfg: NULL = as it was saved; else that one, see above. policies: as in
 * ftl_create_with(). FTL_ESNAPSHOT: damaged, not a snapshot, another version or build;
 * FTL_ECONFIG, FTL_ENOMEM, FTL_EIO. */
FTL_API int ftl_snapshot_load(const char *path, const struct ftl_config *cfg,
                              const struct ftl_policies *policies, ftl_drive **ret_drive,
                              char *ret_why, size_t why_size);
/* A media snapshot, loaded and powered on. report: of the recovery, NULL = not wanted. Besides
 * the errors above FTL_EMEDIA: the medium holds no drive that could be recovered. */
FTL_API int ftl_mount(const char *path, const struct ftl_config *cfg,
                      const struct ftl_policies *policies, ftl_drive **ret_drive,
                      struct ftl_power_report *ret_report, char *ret_why, size_t why_size);

struct ftl_snapshot_info {
    uint32_t struct_size;           /* sizeof(struct ftl_snapshot_info), set by the caller */
    uint32_t version;               /* of the format */
    uint32_t kind;                  /* enum ftl_snapshot_kind */
    bool     loadable;              /* by this build; always for media */
    uint64_t seed;                  /* drive.seed */
    ftl_ns   now;                   /* virtual time */
    char     note[FTL_NOTE_MAX];
    struct ftl_config config;
};
/* What a file says of itself, without its contents. O(1). */
FTL_API int ftl_snapshot_info(const char *path, struct ftl_snapshot_info *ret_info,
                              char *ret_why, size_t why_size);

/* ---- the same over the caller's own bytes ------------------------------------------ */
/* Writes all of `size` bytes; non-zero stops with FTL_EIO. */
typedef int (*ftl_sink)(void *user, const void *bytes, size_t size);
/* Fills all of `size` bytes; non-zero (too few are left, too) stops with FTL_ESNAPSHOT. */
typedef int (*ftl_source)(void *user, void *ret_bytes, size_t size);
FTL_API int ftl_snapshot_write(const ftl_drive *drive, enum ftl_snapshot_kind kind,
                               const char *note, ftl_sink sink, void *user, char *ret_why,
                               size_t why_size);
/* Reads up to the end of the snapshot and no further. */
FTL_API int ftl_snapshot_read(ftl_source source, void *user, const struct ftl_config *cfg,
                              const struct ftl_policies *policies, ftl_drive **ret_drive,
                              char *ret_why, size_t why_size);

#ifdef __cplusplus
}
#endif
#endif
