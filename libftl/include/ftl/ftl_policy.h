/* ftl_policy.h - plug your own decisions into the FTL.
 *
 * A policy decides, the core acts. A hook gets const views and answers with a number.
 * It is called once per superblock or block, never per page.
 *
 * Rules for hooks: do not allocate, block, read clocks or keep pointers of a view; keep
 * what must last in the state. They are called on the drive's thread.
 * State:   head.state_bytes + head.state_bytes_per_superblock x superblocks, zeroed at
 *          create, aligned for any type, owned by the core. It must hold no pointers:
 *          it is copied and saved with the drive.
 * Answers: the core checks each one. An illegal one ends the run with FTL_EPOLICY;
 *          ftl_policy_fault() then names the policy and what it did.
 * Use:     ftl_create_with() takes policies of your program; `ftlsim run --gc FILE.so`
 *          takes them from a shared object. Built-in ones have no other door. */
#ifndef FTL_FTL_POLICY_H_
#define FTL_FTL_POLICY_H_

#include "ftl/ftl_config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever a structure of this file changes: a policy of another version is
 * refused, never called. */
#define FTL_POLICY_VERSION 1u

/* Every policy begins with this. */
struct ftl_policy_head {
    uint32_t version;                /* FTL_POLICY_VERSION */
    uint32_t struct_size;            /* of the whole policy */
    const char *name;                /* shown in reports and faults; 1 to 63 characters */
    uint32_t state_bytes, state_bytes_per_superblock;
};
#define FTL_POLICY_HEAD(type, name, state_bytes, per_superblock)                               \
    {FTL_POLICY_VERSION, sizeof(type), name, state_bytes, per_superblock}

/* ---- garbage collection: which superblock next ----------------------------------- */

/* Superblocks, as arrays of `count`. All numbers are in mapping units
 * (map.unit_bytes); the write clock counts units placed for the host. */
struct ftl_gc_view {
    uint32_t count, units_per_superblock;
    const uint32_t *valid_units;
    const uint8_t *collectable;      /* 1 = closed, wholly programmed, not being collected */
    const uint64_t *closed_at;       /* order of closing: larger is younger */
    const uint64_t *closed_at_write; /* the write clock when it was closed */
    const uint32_t *erase_count;
    uint64_t host_units_written;     /* the write clock now */
    uint64_t draw;                   /* 64 fresh random bits; derive more with ftl_gc_draw */
    uint32_t choices;                /* gc.choices */
    uint32_t window;                 /* gc.window */
};
/* The k-th random number in [0, bound) of this decision, bound > 0. */
FTL_API uint32_t ftl_gc_draw(const struct ftl_gc_view *view, uint32_t k, uint32_t bound);

struct ftl_gc_policy {
    struct ftl_policy_head head;
    /* Writes the superblock to collect. At least one is collectable. 0, or negative
     * to give up, which ends the run. Called once per superblock collected. */
    int (*pick)(void *state, const struct ftl_gc_view *view, uint32_t *ret_superblock);
};

/* Built-in policies by name; NULL = unknown.
 *   greedy           fewest valid units
 *   fifo             closed longest ago
 *   random           any, uniformly
 *   d-choices        fewest valid units of gc.choices random draws
 *   cost-benefit     largest (1 - u) age / (2 u), u = valid share, age on the write clock
 *                    (Rosenblum and Ousterhout, TOCS 1992 [P])
 *   windowed-greedy  fewest valid units among the gc.window closed longest ago
 *                    (Hu et al., SYSTOR 2009 [P])
 *   cat              smallest u / (1 - u) x erases / age: cost, age and times
 *                    (Chiang and Chang, J. Systems and Software 1999 [P]) */
FTL_API const struct ftl_gc_policy *ftl_gc_policy_find(const char *name);
/* The index-th built-in policy, NULL past the end. */
FTL_API const struct ftl_gc_policy *ftl_gc_policy_get(uint32_t index);

/* ---- pacing: when collection works ------------------------------------------------ */

/* Numbers in mapping units. The drive keeps `floor_units` free at any price: there the
 * host waits. Collection works while fewer than floor + ahead units are free. */
struct ftl_pace_view {
    uint32_t superblocks, units_per_superblock;
    uint32_t dies, word_line_units;  /* one program of all planes of a die */
    uint64_t free_units, floor_units;
    uint64_t dead_units;             /* overwritten or trimmed, not yet collected */
    uint64_t least_ahead_units, most_ahead_units;   /* bounds of the answers */
    uint32_t least_gain_units;       /* bound of idle_gain_units */
    uint32_t idle_superblocks;       /* gc.idle_superblocks; 0 = the policy's own */
    uint64_t idle_after_ns;          /* gc.idle_after_ns; 0 = the policy's own */
    uint32_t pace_ppm;               /* gc.pace_ppm; 0 = the policy's own */
    uint64_t host_units_written;     /* the write clock */
};

struct ftl_pace {
    uint64_t ahead_units;            /* under load */
    /* Idle time begins idle_after_ns after the last command ended; it ends when the
     * next one reaches the firmware, or for the want of a victim that has at least
     * idle_gain_units dead. */
    uint64_t idle_ahead_units;       /* 0 = no collection in idle time */
    uint64_t idle_after_ns;
    uint32_t idle_gain_units;        /* superblock / 16 < idle_gain_units <= superblock */
    uint32_t idle_units;             /* under way in idle time: read, not yet programmed; a
                                      * command may find that many in its way; 0 = as under
                                      * load, few are raised to what open word lines need */
};

struct ftl_pace_policy {
    struct ftl_policy_head head;
    /* Writes how far collection goes; comes filled for `threshold`. 0, or negative to end
     * the run. Asked at create and whenever a superblock is opened. */
    int (*pace)(void *state, const struct ftl_pace_view *view, struct ftl_pace *ret_pace);
};

/* Built-in policies by name; NULL = unknown.
 *   threshold     as late as possible: the least ahead (a quarter of a row, at most an
 *                 eighth of a superblock)
 *   idle          the same, and gc.idle_superblocks ahead in idle time, from victims that
 *                 are a quarter dead, on an eighth of the dies; 0 = a 64th of all, and one
 *   proportional  the least and gc.pace_ppm of all that is free or dead above the floor;
 *                 0 = 5 % */
FTL_API const struct ftl_pace_policy *ftl_pace_policy_find(const char *name);
FTL_API const struct ftl_pace_policy *ftl_pace_policy_get(uint32_t index);

/* ---- wear levelling: which free superblock, which data to move ------------------- */

/* Whose data comes: the host's; what collection found live; what is moved because it
 * has been cold for long. */
enum ftl_wear_use { FTL_USE_HOST, FTL_USE_RELOCATION, FTL_USE_COLD };

/* Superblocks, as arrays of `count`. */
struct ftl_wear_view {
    uint32_t count, units_per_superblock;
    uint32_t use;                    /* enum ftl_wear_use */
    uint32_t spread;                 /* wear.spread */
    const uint32_t *erase_count;
    const uint8_t *is_free;          /* 1 = erased, may be opened */
    const uint64_t *freed_at;        /* order of becoming free, 0 = from the start */
    const uint8_t *collectable;      /* 1 = may be moved */
    const uint32_t *valid_units;
    const uint64_t *closed_at, *closed_at_write;
    uint64_t host_units_written;     /* the write clock now */
    uint64_t draw;                   /* 64 fresh random bits */
};

/* A block of a superblock in one plane of a die, just erased, and the erased spares of that
 * plane, of which one may take its place: the block is a spare then. */
struct ftl_assembly_view {
    uint32_t superblock, die, plane;
    uint32_t block_erases;
    uint32_t is_gone;                /* 1 = the block failed: a spare must take its place */
    uint32_t spares;                 /* 1 or more */
    const uint32_t *spare_erases;
};

struct ftl_wear_policy {
    struct ftl_policy_head head;
    /* Dynamic: writes the free superblock to open. At least one is free. 0, or negative
     * to give up, which ends the run. Called once per superblock opened. */
    int (*open)(void *state, const struct ftl_wear_view *view, uint32_t *ret_superblock);
    /* Static: writes the superblock whose live data moves elsewhere, so that it comes
     * into circulation, or `count` for none. Asked once per superblock collected when
     * wear.spread > 0; may be NULL when that is 0. 0, or negative to end the run. */
    int (*move)(void *state, const struct ftl_wear_view *view, uint32_t *ret_superblock);
    /* Assembly: writes which spare takes the block's place, or `spares` for none. Asked per
     * block erased when wear.assembly = 1; may be NULL when that is 0. 0, or negative to end
     * the run. */
    int (*assemble)(void *state, const struct ftl_assembly_view *view, uint32_t *ret_spare);
};

/* Built-in policies by name; NULL = unknown. All move the data of the least worn
 * superblock when the most worn one has over wear.spread erases more, and take the least
 * worn spare for a block that is more worn.
 *   least-worn  opens the free superblock with the fewest erases, for cold data the one
 *               with the most
 *   fifo        the one free for the longest time
 *   most-worn   the one with the most erases: for contrast, it spreads wear apart */
FTL_API const struct ftl_wear_policy *ftl_wear_policy_find(const char *name);
FTL_API const struct ftl_wear_policy *ftl_wear_policy_get(uint32_t index);

/* ---- streams: which class of data a unit belongs to --------------------------------
 * With streams.mode = auto the policy sorts units into streams.count classes. Each class
 * has an open superblock for host data, and with gc.frontiers = 2 one for relocated data.
 * Neighbouring classes should be the most alike: when no superblock is free for a class,
 * its units go to the nearest that has one open (counter stream_mixed_units). */

/* Where the units of a batch come from. */
enum ftl_stream_origin {
    FTL_STREAM_HOST,                 /* written; an older copy, if any, dies by this */
    FTL_STREAM_RELOCATION,           /* still alive in a superblock under collection */
    FTL_STREAM_TRIM                  /* deallocated by the host; answers are ignored */
};

struct ftl_stream_view {
    uint32_t user_units;             /* units are numbered from 0 to user_units - 1 */
    uint32_t classes;                /* streams.count */
    uint32_t chunk_shift;            /* 2^chunk_shift = streams.chunk_units */
    uint32_t superblocks, units_per_superblock;
    uint64_t host_units_written;     /* the write clock, this batch included */
};

struct ftl_stream_batch {
    uint32_t origin;                 /* enum ftl_stream_origin */
    uint32_t count;                  /* 1 to 64; a unit may occur twice */
    const uint32_t *units;
    uint32_t from_class;             /* relocation: of the superblock, ... */
    uint64_t from_age;               /* ... and host units written since it was closed */
};

struct ftl_stream_policy {
    struct ftl_policy_head head;
    uint32_t state_bytes_per_chunk;  /* state besides, x user_units / chunk, rounded up */
    /* Writes a class below view->classes for each unit. 0, or negative to give up, which
     * ends the run. Called per batch, never per unit. */
    int (*place)(void *state, const struct ftl_stream_view *view,
                 const struct ftl_stream_batch *batch, uint8_t *ret_class);
};

/* Built-in policies by name; NULL = unknown.
 *   update-rate   classes of like death rate, from a counter of rewrites per chunk that is
 *                 halved once per user capacity written */
FTL_API const struct ftl_stream_policy *ftl_stream_policy_find(const char *name);

/* ---- all of a drive -------------------------------------------------------------- */

/* NULL = the built-in policy that the configuration names. The policies must outlive
 * the drive. */
struct ftl_policies {
    uint32_t version, struct_size;   /* FTL_POLICY_VERSION, sizeof(struct ftl_policies) */
    const struct ftl_gc_policy *gc;
    const struct ftl_wear_policy *wear;
    const struct ftl_pace_policy *pace;
    const struct ftl_stream_policy *stream; /* needs streams.mode = auto */
};
#define FTL_POLICIES_INIT {FTL_POLICY_VERSION, sizeof(struct ftl_policies), NULL, NULL, NULL, NULL}

/* ---- shared objects --------------------------------------------------------------
 * A shared object exports a function per kind of policy that it brings. The macro
 * defines it: FTL_GC_POLICY_EXPORT(my_policy) once, at file scope. */
#define FTL_GC_POLICY_EXPORT(policy)                                                           \
    FTL_API const struct ftl_gc_policy *ftl_gc_policy_export(void);                            \
    const struct ftl_gc_policy *ftl_gc_policy_export(void)                                     \
    {                                                                                          \
        return &(policy);                                                                      \
    }
#define FTL_PACE_POLICY_EXPORT(policy)                                                         \
    FTL_API const struct ftl_pace_policy *ftl_pace_policy_export(void);                        \
    const struct ftl_pace_policy *ftl_pace_policy_export(void)                                 \
    {                                                                                          \
        return &(policy);                                                                      \
    }
#define FTL_WEAR_POLICY_EXPORT(policy)                                                         \
    FTL_API const struct ftl_wear_policy *ftl_wear_policy_export(void);                        \
    const struct ftl_wear_policy *ftl_wear_policy_export(void)                                 \
    {                                                                                          \
        return &(policy);                                                                      \
    }

#define FTL_STREAM_POLICY_EXPORT(policy)                                                       \
    FTL_API const struct ftl_stream_policy *ftl_stream_policy_export(void);                    \
    const struct ftl_stream_policy *ftl_stream_policy_export(void)                             \
    {                                                                                          \
        return &(policy);                                                                      \
    }

#ifdef __cplusplus
}
#endif
#endif
