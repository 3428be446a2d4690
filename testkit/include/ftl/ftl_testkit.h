/* ftl_testkit.h - test an FTL policy like any function.
 *
 * A case is plain data: a drive and a script of steps. Playing it sends the steps
 * to a drive, runs ftl_check() after every one and compares each byte that is read
 * with an oracle, which knows the values that each LBA may have. A case that fails
 * can be printed, parsed back and shrunk to the few steps that matter.
 *
 * Errors:  negative enum ftl_err for misuse and lack of memory; how the drive did is
 *          a verdict in struct tk_result, never an error.
 * Threads: as ftl.h. No static state, no clock: a case gives the same result for ever.
 * docs/testkit.md is the tutorial. */
#ifndef FTL_FTL_TESTKIT_H_
#define FTL_FTL_TESTKIT_H_

#include "ftl/ftl.h"
#include "ftl/ftl_policy.h"
#include "ftl/ftl_power.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- steps and scripts ------------------------------------------------------ */
enum tk_op {
    TK_WRITE, TK_READ, TK_TRIM,     /* lba, lba_count; the command is only submitted */
    TK_FLUSH,
    TK_RUN,             /* time goes on by `lba` ns; 0 = to the next event */
    TK_WAIT,            /* until every open command has ended */
    TK_DRAIN,           /* the same, and background work too */
    TK_WRITE_UNTIMED,   /* whole units around the range, without data: they read as zeros */
    TK_TRIM_UNTIMED,
    TK_FORMAT,
    TK_READ_ALL,        /* every LBA, one command after the other */
    TK_OFF_ON,          /* clean shutdown and start */
    TK_CUT,             /* sudden loss now, and start; `lba` seeds what becomes of operations
                         * under way. These two do nothing where ftl_power.h cannot be used */
    TK_FAULT,           /* media.faults = 1: arms a fault of kind lba_count (enum ftl_fault_kind)
                         * on die and plane `lba`, after `stream` operations; a plane or die only
                         * where parity gives all of it back */
    TK_MOUNT,           /* idle, saved, loaded with the built-in policies that `lba` draws */
    TK_OPS
};

/* Ranges beyond the drive are folded and clipped when played, so that one script
 * suits drives of any size. */
struct tk_step {
    uint8_t op;                     /* enum tk_op */
    uint8_t reserved;
    uint16_t stream;                /* placement hint of writes */
    uint32_t lba_count;
    uint64_t lba;
};

/* A growing list. Start from {0}; tk_script_free() gives the memory back. */
struct tk_script {
    struct tk_step *steps;
    size_t count, room;
};
FTL_API void tk_script_free(struct tk_script *s);
/* 0 or FTL_ENOMEM. */
FTL_API int tk_add(struct tk_script *s, enum tk_op op, uint64_t lba, uint32_t lba_count,
                   uint16_t stream);

/* Fill patterns. All are timed commands of io_lbas LBAs; `depth` of them are sent
 * before the script waits for all. Random ones depend on the seed alone. */
struct tk_load {
    uint64_t lbas;                  /* of the drive: ftl_lba_count() */
    uint32_t io_lbas, depth;
    uint64_t seed;
};
FTL_API int tk_add_fill(struct tk_script *s, const struct tk_load *load);
FTL_API int tk_add_uniform(struct tk_script *s, const struct tk_load *load, uint64_t ios);
/* hot_writes percent of the writes go to the first hot_space percent of the drive;
 * streams = 1 hints hot data as stream 2 and the rest as stream 1. */
FTL_API int tk_add_hot_cold(struct tk_script *s, const struct tk_load *load, uint64_t ios,
                            uint32_t hot_writes, uint32_t hot_space, int streams);
/* Random TRIMs of random lengths, up to an eighth of the drive, and writes between them. */
FTL_API int tk_add_trim_storm(struct tk_script *s, const struct tk_load *load, uint64_t ios);

/* Random steps of every kind. A weight of 0 leaves a kind out. */
struct tk_mix {
    uint32_t weight[TK_OPS];
    uint32_t lbas_max;              /* of one command */
    uint32_t run_ns_max;            /* of one TK_RUN that is not "to the next event" */
    uint32_t streams;               /* hints 0 .. streams */
};
/* A swarm's choice: some kinds rare, some left out (Groce et al., ISSTA 2012 [P]). */
FTL_API void tk_mix_draw(struct tk_mix *ret_mix, uint64_t seed);
FTL_API int tk_add_random(struct tk_script *s, const struct tk_mix *mix, uint64_t lbas,
                          uint64_t seed, uint64_t steps);

/* ---- cases ------------------------------------------------------------------- */
/* The smallest drive with all parts, at most 1 MiB, bytes kept, and pairs "key", "value",
 * ..., NULL set on top (see ftl_setup_set). Errors as ftl_setup_finish. */
FTL_API int tk_tiny(struct ftl_config *ret_cfg, char *ret_why, size_t why_size, ...);

struct tk_case {
    struct ftl_config cfg;          /* drive.scale = 1 */
    struct tk_script script;
};
/* "key=value ... | step step ...": settings that differ from their defaults, then
 * w12+8 write 8 LBAs from 12 (@2 for stream 2), r read, t TRIM, f flush, n run to the
 * next event, n500 run 500 ns, d wait, q drain, W T untimed, F format, a read all, o off
 * and on, c7 cut and on with seed 7, x3+4@9 die 3 is lost after 9 operations, m7 loaded with the
 * policies of seed 7.
 * Allocated; free() it. NULL on lack of memory or a scale other than 1. */
FTL_API char *tk_case_print(const struct tk_case *c);
/* The inverse. The script of *ret_case is replaced: give {0} or a used one. */
FTL_API int tk_case_parse(struct tk_case *ret_case, const char *text, char *ret_why,
                          size_t why_size);

/* ---- playing ------------------------------------------------------------------- */
/* What went wrong. The first five are the failure classes of Zheng, Tucek, Qin and
 * Lillibridge, FAST 2013 [P]; they need no power cut to occur. */
enum tk_verdict {
    TK_SOUND,
    TK_BIT_CORRUPTION,              /* bytes that nobody wrote */
    TK_SHORN_WRITE,                 /* part of one write, part of another */
    TK_UNSERIALISABLE,              /* a value older than one that was promised */
    TK_METADATA_CORRUPTION,         /* another LBA's data, or mapped data gone */
    TK_DEAD_DEVICE,                 /* commands fail or never end, power-on fails */
    TK_INVARIANT,                   /* ftl_check() */
    TK_POLICY,                      /* a policy answered nonsense (ftl_policy_fault) */
    TK_CRASH,                       /* assertion or signal (tk_play_apart) */
    TK_VERDICTS
};
FTL_API const char *tk_verdict_name(enum tk_verdict v);     /* never NULL */

struct tk_result {
    enum tk_verdict verdict;
    uint64_t step;                  /* index of the step that failed */
    uint64_t digest;                /* of all values read, whatever order they came in */
    uint64_t reads, writes;         /* commands that ended */
    struct ftl_counters counters;   /* of the drive at the end: WA and more */
    char why[FTL_WHY_MAX];
};

struct tk_options {
    uint32_t check_every;           /* steps between calls of ftl_check(); 0 = 1 */
    const struct ftl_policies *policies;    /* yours; NULL = those that the settings name */
};

/* Plays a case on a new drive; at its end waits for all, reads every LBA and checks.
 * options may be NULL. 0, or negative enum ftl_err with the reason in ret->why. */
FTL_API int tk_play(const struct tk_case *c, const struct tk_options *options,
                    struct tk_result *ret);
/* The same in a process of its own: an assertion of the library, a crash of a policy
 * or no end within `seconds` become verdicts. POSIX systems. */
FTL_API int tk_play_apart(const struct tk_case *c, const struct tk_options *options,
                          uint32_t seconds, struct tk_result *ret);

/* Removes and shortens steps while fails() returns true, by delta debugging (Zeller and
 * Hildebrandt, IEEE TSE 2002 [P]), with at most runs_max calls. Returns the number of calls. */
typedef bool (*tk_fails_fn)(void *user, const struct tk_case *c);
FTL_API uint32_t tk_shrink(struct tk_case *c, tk_fails_fn fails, void *user, uint32_t runs_max);

/* ---- a policy under test ------------------------------------------------------------
 * What most tests of a policy consist of: it answers on a picture worked out by hand, and it
 * runs a drive. */
struct tk_superblock {
    uint32_t valid_units, erases;
    uint64_t closed_at_write;       /* the write clock when it was closed */
    bool taken;                     /* open, free or being collected: no answer may name it */
};
#define TK_NO_ANSWER UINT32_MAX
/* The superblock that the policy picks of `count`, at most 256, which were closed in the order
 * of closed_at_write; TK_NO_ANSWER when it gives up or names one out of range or taken. Of
 * `more`, units_per_superblock, host_units_written, draw, choices and window count. `state` as
 * the drive would give it: head.state_bytes of zeros at first. */
FTL_API uint32_t tk_gc_pick(const struct ftl_gc_policy *policy, void *state,
                            const struct tk_superblock *superblocks, uint32_t count,
                            struct ftl_gc_view more);
/* Plays the tiny drive: a fill, 5,000 writes (80 % of them to a fifth), a storm of TRIMs; checks
 * and compares as tk_play(). policies may be NULL; one for streams gets two classes. Errors as
 * tk_play; the verdict is in *ret. */
FTL_API int tk_try(const struct ftl_policies *policies, uint64_t seed, struct tk_result *ret);
/* (host + relocated) / host in thousandths, rounded; 0 = nothing was written. */
FTL_API uint64_t tk_wa_milli(const struct tk_result *result);

/* ---- step by step ---------------------------------------------------------------- */
/* A drive with its oracle. */
typedef struct tk_rig tk_rig;
FTL_API int tk_rig_new(const struct ftl_config *cfg, const struct tk_options *options,
                       tk_rig **ret_rig, char *ret_why, size_t why_size);
FTL_API void tk_rig_free(tk_rig *rig);              /* NULL is fine */
/* 0, or the verdict (> 0), which stays: later steps return it again. */
FTL_API int tk_rig_step(tk_rig *rig, const struct tk_step *step);
/* Waits, reads everything, checks. */
FTL_API int tk_rig_end(tk_rig *rig);
FTL_API void tk_rig_result(const tk_rig *rig, struct tk_result *ret);
/* A second rig in the same state, from now on apart (ftl_fork). Commands under way share
 * their buffers: run one of the two to their end, or cut it, before the other goes on. */
FTL_API int tk_rig_fork(const tk_rig *rig, tk_rig **ret_rig);
/* Power goes at the n-th program or erase from now; the step in which it strikes returns 0 and
 * leaves the rig off: later steps do nothing until tk_rig_on(). NULL disarms. 0 or negative. */
FTL_API int tk_rig_arm(tk_rig *rig, uint64_t operation, const struct ftl_power_cut *how);
FTL_API bool tk_rig_is_on(const tk_rig *rig);
/* Starts the drive and checks everything: ftl_check(), each LBA against the oracle, whole
 * commands. 0, a verdict, or off again when it was armed and struck. */
FTL_API int tk_rig_on(tk_rig *rig);
/* The drive, to look at; commands sent past the rig are unknown to its oracle. */
FTL_API ftl_drive *tk_rig_drive(tk_rig *rig);

/* ---- the crash explorer --------------------------------------------------------------
 * Plays a case once and cuts the power at every program and erase, on forks: with every cut
 * mode, with operations on other dies ended, torn or drawn, with full, short and no energy.
 * Each cut drive recovers, half of them through a second cut during the recovery; then every LBA
 * is compared with the oracle, writing goes on, power goes again and comes back, and all is
 * compared once more. An id PLAN/SEED/OPERATION/VARIANT repeats one such chain; operation 0 is
 * the case itself, without a cut. */
struct tk_explored {
    uint64_t operations, done;      /* programs and erases of the case; explored so far */
    uint64_t chains;                /* forks played to their end */
    uint64_t cuts;                  /* losses of power, each with a recovery */
    uint64_t by_mode[FTL_CUT_MODES], failed_by_mode[FTL_CUT_MODES]; /* chains, by the first cut */
    uint64_t in_recovery;           /* of the cuts: while the drive recovered */
    uint64_t short_energy;          /* of the cuts: acknowledged units were lost, and counted */
    uint64_t verdicts[TK_VERDICTS]; /* chains */
    char current_id[96];            /* of the chain being played: for a handler of crashes */
    char first_id[96];              /* of the first failure */
    struct tk_result first;
};
/* Called after each operation; true stops. */
typedef bool (*tk_explore_fn)(void *user, const struct tk_explored *so_far);

struct tk_explore {
    const struct tk_case *c;        /* media.payload = 1, journal.enabled = 1 */
    const struct tk_options *options;   /* may be NULL */
    const char *name;               /* PLAN of ids */
    uint64_t seed;
    uint32_t variants;              /* chains per operation; 0 = 21: each mode with each fate of
                                     * other operations */
    uint64_t only_operation;        /* 0 = all; else this one and .. */
    uint32_t only_variant;
    tk_explore_fn progress;         /* may be NULL */
    void *user;
};
/* 0, or negative enum ftl_err. Sums are added to *ret: start with zeros. A step of the case
 * itself that fails counts as a failure of an id without an operation. */
FTL_API int tk_explore(const struct tk_explore *x, struct tk_explored *ret, char *ret_why,
                       size_t why_size);

/* Built-in plans: tiny drives from SLC to QLC, with and without capacitors, parity and
 * streams. NULL past the end. */
FTL_API const char *tk_plan_name(uint32_t index);
FTL_API const char *tk_plan_settings(uint32_t index);
/* The case of a plan and a seed: a fill and random commands. FTL_EINVAL = unknown plan. */
FTL_API int tk_plan_case(const char *name, uint64_t seed, struct tk_case *ret_case,
                         char *ret_why, size_t why_size);
/* Plays the chain of an id of a built-in plan. */
FTL_API int tk_explore_id(const char *id, struct tk_explored *ret, char *ret_why,
                          size_t why_size);

/* ---- the oracle --------------------------------------------------------------------
 * Knows which versions each LBA may hold. A version is a number that the caller gives to
 * a write; 0 is "reads as zeros". Ticks order the begin and the end of commands. */
typedef struct tk_oracle tk_oracle;
/* depth: versions remembered for each LBA, >= 2. plp: acknowledged means durable; without it
 * only what a completed flush covers is. NULL on lack of memory. */
FTL_API tk_oracle *tk_oracle_new(uint64_t lbas, uint32_t depth, bool plp);
FTL_API tk_oracle *tk_oracle_copy(const tk_oracle *o);
FTL_API void tk_oracle_free(tk_oracle *o);
/* A new tick: the begin of a read or a flush. */
FTL_API uint32_t tk_oracle_tick(tk_oracle *o);
/* Forgets what no command begun at `oldest` or later and no power cut can bring back;
 * true = each LBA of the range has room for one more version. */
FTL_API bool tk_oracle_room(tk_oracle *o, uint64_t lba, uint64_t n, uint32_t oldest);
/* A write (version > 0) or TRIM (0) was accepted. Needs room. Returns its begin. */
FTL_API uint32_t tk_oracle_begin(tk_oracle *o, uint64_t lba, uint64_t n, uint32_t version);
/* It was acknowledged. */
FTL_API void tk_oracle_end(tk_oracle *o, uint64_t lba, uint64_t n, uint32_t begin);
/* It was refused: any part of it may have happened. */
FTL_API void tk_oracle_refused(tk_oracle *o, uint64_t lba, uint64_t n, uint32_t begin);
FTL_API void tk_oracle_flushed(tk_oracle *o, uint32_t begin);
/* All LBAs read as zeros, durably. */
FTL_API void tk_oracle_clear(tk_oracle *o);
/* Power was lost: commands under way are gone, each LBA may have any value that the
 * promise leaves open. */
FTL_API void tk_oracle_cut(tk_oracle *o);
/* May a read begun at `begin` that ends now return this version? If so and no write is
 * under way, the LBA has this value from now on. */
FTL_API bool tk_oracle_read(tk_oracle *o, uint64_t lba, uint32_t version, uint32_t begin);
/* The LBA holds this version, durably: the caller knows better. */
FTL_API void tk_oracle_set(tk_oracle *o, uint64_t lba, uint32_t version);
/* The newest version that a write brought there, 0 = none. */
FTL_API uint32_t tk_oracle_newest(const tk_oracle *o, uint64_t lba);

#ifdef __cplusplus
}
#endif
#endif
