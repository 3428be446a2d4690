/* core.h - the FTL proper: map, superblocks, placement, garbage collection.
 *
 * The same code serves two depths. Untimed: placement and collection happen at
 * once. Timed: collection reads pages through media, and full word lines become
 * program operations; the map moves when a unit is placed in the write buffer,
 * so the buffer is part of the log and needs no index of its own.
 *
 * Numbers: `key` = LPN + 1 and slot ids start at 1, so that 0 means none in both
 * directions and zeroed memory is an empty drive. rmap[slot] names the key written
 * there; the slot is live as long as map[key] == slot. */
#ifndef FTL_CORE_CORE_H
#define FTL_CORE_CORE_H

#include "core/dftl.h"
#include "core/geometry.h"
#include "core/journal.h"
#include "core/payload.h"
#include "core/raid.h"
#include "core/upset.h"
#include "ftl/ftl_policy.h"
#include "media/media.h"
#include "sim/plant.h"

/* SB_DEAD: too few of its blocks are left, it is not used any more. */
enum sb_state { SB_FREE, SB_OPEN, SB_CLOSED, SB_VICTIM, SB_DEAD };
enum cause { CAUSE_HOST, CAUSE_GC };
#define SB_NONE UINT32_MAX
#define WL_NONE UINT32_MAX
enum { CLASSES_MAX = 8, FRONTIERS_MAX = 2 * CLASSES_MAX + 1 };
enum { GC_CHUNK = 64 };         /* slots per untimed step, and prefetch distance */

/* An open superblock. Class k of the host writes to frontier k. Relocation of a class
 * writes to gc_of[class]: the same one, or with gc.frontiers = 2 one beyond those of the
 * host. Data that is moved for wear's sake has the last one (wear.spread > 0); else map
 * pages that are on the medium have it, which are one class more. Automatic streams
 * choose the class of relocated units anew: streams.c. */
struct frontier {
    uint32_t sb;                /* SB_NONE: the next unit opens one */
    uint32_t next, wl_end, sb_end;  /* slot ids */
    uint32_t row, data_die;     /* of the word line being filled */
    uint32_t wl_units[2];       /* units of each cause in it */
    uint32_t run_end;           /* next may go on to there without a hole; wl_end without any */
    uint32_t skip;              /* slots at the end of each word line that are none (cache) */
    uint32_t hole_units, parity_units;  /* jumped over in this word line */
    uint64_t jumped, parity_pages;  /* pages of this word line: not data; parity moved there */
    uint32_t holes;             /* slots of the superblock from next on that are holes */
};

/* failed blocks; stripes that lost a member; refresh */
enum leave_reason { LEAVE_NOT, LEAVE_BLOCKS, LEAVE_STRIPES, LEAVE_ALL };

struct row_range {
    uint32_t from, to;          /* [from, to), empty when equal */
};

/* A word line on its way to the medium. */
struct wordline {
    uint32_t sb, next;
    uint32_t units[2];
    uint32_t row;
    uint16_t die;
    uint8_t writer;             /* enum media_writer, by its superblock */
    bool is_parity;
    int32_t group;              /* its bytes, with media.payload */
    uint64_t seq;
};

/* Pages under relocation that hold whole units: one, unless a unit spans several. */
struct gc_page {
    uint32_t slot, sb, gain, next;
    uint32_t pending;           /* page reads under way */
    bool care;                  /* its superblock is not being collected */
};

struct gc_finishing {
    uint32_t sb;
    uint64_t wl_seq;            /* last word line with its data; 0 = still open */
    uint64_t placed;            /* journal: last sequence number given out before */
    uint64_t logged;            /* number of the sector with the last TRIM before */
};

struct gc_state {
    uint32_t victim;            /* SB_NONE: none */
    uint32_t cursor;            /* slot id of the next group to inspect */
    uint32_t row, data_die, page;   /* the same as a place */
    uint32_t flight_frontier;   /* of all groups of pages in flight */
    uint32_t in_flight;         /* groups being read, or waiting for the write path */
    uint32_t window;            /* their limit */
    uint32_t pending_gain;      /* dead slots among groups in flight */
    uint32_t buffer_used, buffer_limit; /* units read or to be read, not yet programmed */
    uint32_t buffer_now;        /* the present limit, less in idle time */
    uint64_t gain;              /* slots inspected less units moved and filler paid for */
    uint64_t picks;
    uint64_t idle_picks, idle_host_units; /* picks since the host last placed a unit */
    struct gc_page *pages;
    uint32_t page_free;
    uint32_t *cost;             /* per superblock: live units and holes, for policies */
    uint32_t *reads;            /* per superblock: groups being read */
    struct gc_finishing *finishing; /* inspected to the end, not yet free */
    uint32_t finishing_count;
    bool held;                  /* nothing more is collected: the power is being taken away */
};

/* Who decides. The state of all policies is one block without pointers, so that a copy
 * of the drive copies it. */
struct core_policies {
    const struct ftl_gc_policy *gc;
    const struct ftl_wear_policy *wear;
    const struct ftl_pace_policy *pace;
    const struct ftl_stream_policy *stream;  /* NULL: hints of the host decide */
    void *gc_state, *wear_state, *pace_state, *stream_state; /* inside of state */
    uint8_t *state;
    size_t state_bytes;
    char fault[192];            /* what one of them did wrong; "" = nothing */
};

/* Pacing (pace.c). */
struct pace_state {
    uint64_t least;             /* slots above the floor that collection needs to work at all */
    struct ftl_pace answer;
    bool idle;                  /* no host command is in the drive */
};

/* Wear levelling (wear.c). */
struct wear_state {
    uint8_t *is_free, *moved;   /* per superblock; moved: a victim for wear's sake, to */
    uint32_t frontier;          /* this frontier (1), or to that of its class (2) */
    uint64_t *freed_at, freed;  /* order of becoming free */
    uint64_t asked;             /* decisions so far */
    bool due;                   /* a victim was collected since it was asked for a move */
    bool saving;                /* free slots for a move are being saved up */
    uint64_t saving_since;      /* host units */
    uint64_t extra;             /* in free_target: slots saved up, or left of a move */
};

/* Moving data out of failed blocks; see care.c. */
struct care_state {
    uint32_t sb, slot;          /* where it stands; SB_NONE */
    uint32_t waiting;           /* superblocks with leave[] set */
    uint32_t in_flight;
    uint64_t since, busy_ns;    /* when the first of those came; time with some */
};

/* Reads that look after closed superblocks (patrol.c). */
struct patrol {
    uint64_t age_step, read_step;   /* ns; 0 = none */
    uint64_t age_at, read_at;
    uint32_t sb, page, erases;  /* under patrol: SB_NONE, or which page of its worst is next */
    uint32_t last;              /* superblock of the last turn */
};
#define PATROL_REF UINT32_C(0x40000000)

/* Write cache of superblocks with one bit per cell (cache.c); count 0 = none. */
struct cache_state {
    uint32_t count, free_count, closed; /* superblocks: all, free, closed */
    uint32_t folding;           /* chosen and not yet free again */
    uint32_t least;             /* pslc.superblocks: of all, those it always has */
    uint32_t wl_units, sb_units; /* what a word line and a superblock of it hold */
    uint64_t slots;             /* of all its superblocks, holes and all; never in the log */
    uint64_t need;              /* free slots above the floor that the next fold waits for */
    uint8_t *slc;               /* per superblock: 1 = of the cache; NULL = no cache */
    bool idle;                  /* the host is away */
};

struct ftl_core {
    struct ftl_geometry g;
    struct sim_context *ctx;
    struct media *media;
    const struct ftl_config *cfg;
    struct ftl_counters *count;
    struct core_policies policy;
    uint32_t *map, *rmap;
    uint32_t user_units;
    uint64_t mapped;

    uint32_t *valid;            /* per superblock, all of these */
    uint8_t *state, *collectable, *sb_class;
    uint8_t *sb_handles;        /* bit k: units of class k were placed there */
    uint64_t *closed_at, *closed_at_write;
    uint32_t *erases;
    uint32_t *wl_in_flight;     /* word lines not yet programmed */
    uint32_t *reads_in_flight;  /* host page reads */
    uint32_t *rows_programmed;  /* per superblock and die */
    /* the same, for word lines in two passes, else NULL: the one that waits for its fine
     * pass (WL_NONE: none), and the next row to get its coarse one */
    uint32_t *coarse_wl, *coarse_next;
    struct payload *payload;    /* &kept, or NULL without media.payload */
    struct payload kept;
    struct care_state care;
    struct patrol patrol;
    uint64_t care_units;        /* free slots that the host leaves for care.c */
    struct upset upset;
    struct raid *raid;          /* &raid_kept, or NULL without media.faults */
    struct raid raid_kept;
    struct journal *journal;    /* &log, or NULL without journal.enabled */
    struct journal log;
    uint8_t *sb_frontier;       /* per superblock: who writes or wrote it */
    bool restoring;             /* word lines already programmed are not sent again */
    /* holes.c: per superblock, what its next use finds */
    uint32_t *holes, *lasting;  /* slots that are holes; of these, ones that no spare mends */
    uint8_t *leave;             /* enum leave_reason: what of its data is to be moved */
    uint64_t *closed_at_ns;     /* when its last data was placed, for retention */
    struct row_range *broken;   /* and per plane: rows whose stripes lost a member unwritten */
    uint64_t holes_ahead;       /* holes of all but closed superblocks: free, yet no room */
    uint64_t holes_total, lasting_total;
    uint64_t free_usable;       /* usable slots of free superblocks */
    uint32_t usable_min;        /* the fewest of any superblock */
    uint32_t failed_wl;         /* list of word lines whose data waits for room; WL_NONE */
    uint64_t failures;          /* programs and erases that failed, dead planes */
    bool read_only;             /* too little is left: no writes any more */
    uint32_t free_count;
    uint64_t closings, host_units;

    struct frontier fr[FRONTIERS_MAX];
    uint32_t frontier_count, classes;   /* classes: of the host */
    uint32_t gc_first;          /* frontier of relocation of class 0 */
    uint8_t fr_class[FRONTIERS_MAX];    /* of the superblocks that it opens */
    uint8_t gc_of[CLASSES_MAX + 1];     /* frontier that relocation of a class writes to */
    uint8_t streams_used, streams_used_before; /* host classes, bit k: this period, the last */
    uint64_t streams_period;            /* write clock at the period's end */
    bool roam;                          /* automatic streams: units may change class */
    uint32_t map_frontier;      /* SB_NONE: map pages are not written */
    struct dftl dftl;
    struct gc_state gc;
    struct wear_state wear;
    struct pace_state pace;
    struct cache_state cache;

    uint64_t in_log;            /* slots written or padded and not yet collected */
    uint64_t free_floor;        /* free slots below which host data waits */
    uint64_t free_target;       /* below which collection works */
    ftl_u128 log_sum;           /* in_log summed over host units, for a_effective */
    uint64_t log_weight;

    struct wordline *wls;       /* seq 0 = not in use */
    uint32_t wl_count, wl_free, wl_free_count, wl_reserve;
    uint64_t wl_seq;
    struct sim_line wl_out;     /* full word lines still in the write path, in order */
    uint32_t buffer_used, buffer_limit, buffer_peak;  /* host units */
    uint32_t buffer_allowed;    /* <= buffer_limit: what the capacitors can carry */
    bool keeps_atomic;          /* without capacitors commands of several units are whole or not there */
    bool write_through;         /* they carry relocation alone: writes end on the medium */
    uint64_t write_path_free_at, write_path_busy_ns;
    uint64_t dispatch_at;       /* when word lines filled now may start */
    int64_t open_before;        /* units of open word lines that the counters miss: there at
                                 * their reset, less those that a format threw away */
    bool timed, medium_stale;
    int error;                  /* a policy's fault, returned by the next call */
    size_t map_bytes;
};

/* ---- core.c: life and superblocks ---- */
int core_init(struct ftl_core *c, const struct ftl_config *cfg, struct sim_context *ctx,
              struct media *media, struct ftl_counters *count);
uint64_t core_memory(const struct ftl_config *cfg);
/* After a plain copy whose arrays are copied: pointers into itself. */
void core_aim(struct ftl_core *c);
void core_format(struct ftl_core *c);
/* Brings the NAND model to the state that untimed work left. */
void core_sync_medium(struct ftl_core *c);
void core_open(struct ftl_core *c, struct frontier *f);
void core_release(struct ftl_core *c, uint32_t sb);     /* erased, free again */

/* Index of the frontier that relocation of a class writes to; the class of map pages is
 * c->classes. */
static inline uint32_t core_gc_frontier(const struct ftl_core *c, uint32_t class)
{
    return c->gc_of[class];
}

/* The same for the data of one victim. */
static inline uint32_t core_victim_frontier(const struct ftl_core *c, uint32_t sb)
{
    return c->wear.moved[sb] == 1 ? c->wear.frontier : core_gc_frontier(c, c->sb_class[sb]);
}

static inline uint32_t frontier_left(const struct frontier *f)
{
    return f->sb == SB_NONE ? 0 : f->sb_end - f->next - f->holes;
}

static inline uint64_t core_free_slots(const struct ftl_core *c)
{
    return c->g.total_units - c->cache.slots - c->in_log - c->holes_ahead;
}

static inline bool core_is_slc(const struct ftl_core *c, uint32_t sb)
{
    return c->cache.slc != NULL && c->cache.slc[sb];
}

/* Page of its block, as NAND counts them. */
static inline uint32_t core_page(const struct ftl_core *c, const struct ftl_place *p)
{
    return core_is_slc(c, p->sb) ? p->row : p->row * c->g.page_types + p->page_type;
}

/* Units in open word lines, of one cause or all: placed, not yet sent to the medium. */
uint32_t core_open_cause(const struct ftl_core *c, enum cause cause);
uint64_t core_open_units(const struct ftl_core *c);

/* Keys that name something: units of the host, and map pages that are on the medium. */
static inline uint32_t core_keys(const struct ftl_core *c)
{
    return c->user_units + c->g.pages_on_medium;
}

/* A class as a tag names it; 0 when it cannot be. */
static inline uint8_t core_class_of_tag(const struct ftl_core *c, uint8_t class)
{
    bool more = c->map_frontier != SB_NONE || c->cfg->streams_initial != 0;
    return class < c->classes || (class == c->classes && more) ? class : 0;
}

/* Free superblocks that relocation to all frontiers but `except` may have to open. */
uint32_t core_gc_needs(const struct ftl_core *c, uint32_t except);

/* ---- place.c: units into open superblocks ---- */
/* Places n keys for the host. The caller has made sure of core_host_room() >= n. */
void core_place_host(struct ftl_core *c, uint32_t class, const uint32_t *keys, uint32_t n);
/* Places map page `key`; bytes with media.payload. For the host it needs
 * core_host_room() of class c->classes. */
void core_place_map_page(struct ftl_core *c, uint32_t key, enum cause cause, const uint8_t *bytes);
/* Map pages that have to be written before relocation under way is done. */
uint64_t core_map_claim(const struct ftl_core *c, uint64_t more);
/* Units of this class that the host may place now, 0 when collection has to free some
 * first. */
uint32_t core_host_room(const struct ftl_core *c, uint32_t class);
/* Relocates the live slots of [slot, end); returns how many. */
uint32_t core_relocate(struct ftl_core *c, uint32_t slot, uint32_t end);
/* Fills and sends the open word line, if it holds anything. */
void core_pad(struct ftl_core *c, struct frontier *f);
void core_unmap(struct ftl_core *c, uint64_t lpn, uint64_t n);
bool core_in_buffer(const struct ftl_core *c, const struct ftl_place *p);
/* next is at run_end: over holes, to the next word line when this one is full. */
void core_run_end(struct ftl_core *c, struct frontier *f);
/* Ends the word line that next has reached the end of; may close the superblock. */
void core_word_line_end(struct ftl_core *c, struct frontier *f);
/* Live units of the failed word lines that may be placed now. */
uint64_t core_rewrite_room(const struct ftl_core *c, uint32_t class);
static inline uint32_t core_live(const struct ftl_core *c, uint32_t slot, uint32_t n)
{
    const uint32_t *map = c->map, *rmap = &c->rmap[slot];
    uint32_t live = 0;

    for (uint32_t i = 0; i < n; i++)
        live += map[rmap[i]] == slot + i;
    return live;
}
/* Queues a pass of a word line; a coarse one is not reported back. */
void core_wl_program(struct ftl_core *c, uint32_t wl, enum media_pass pass);
/* The oldest of wl_out is due. */
void core_wl_ready(struct ftl_core *c);
/* Programmed: buffer space returns. */
void core_wl_done(struct ftl_core *c, uint32_t wl);
/* Its data is safe, or placed elsewhere: it is free. */
void core_wl_give(struct ftl_core *c, uint32_t wl);
/* Sequence number of the oldest word line under way; UINT64_MAX = none. O(pool). */
uint64_t core_oldest_wl(const struct ftl_core *c);
/* Takes ns of the write path from now on; returns the end. */
static inline uint64_t core_write_path(struct ftl_core *c, uint64_t ns)
{
    uint64_t start = c->write_path_free_at > c->ctx->now ? c->write_path_free_at : c->ctx->now;
    c->write_path_busy_ns += ns;
    return c->write_path_free_at = start + ns;
}

/* ---- dftl.c: all but init, memory and forget need c->dftl.on ---- */
int core_dftl_init(struct ftl_core *c);
uint64_t core_dftl_memory(const struct ftl_geometry *g);
void core_dftl_forget(struct ftl_core *c);
/* Is page t cached? Then it becomes the newest. */
bool core_dftl_look(struct ftl_core *c, uint32_t t);
/* An entry of a cached page is about to change. */
void core_dftl_changed(struct ftl_core *c, uint32_t t);
/* Relocation changed the entry of this key. */
void core_dftl_moved(struct ftl_core *c, uint32_t key);
/* Untimed: makes page t cached. 0, or a policy's fault. */
int core_dftl_use_untimed(struct ftl_core *c, uint32_t t, bool counted);
int core_dftl_unmap_untimed(struct ftl_core *c, uint64_t lpn, uint64_t n);
/* TRIM of part of a page, which must be cached unless it goes as a whole. */
uint32_t core_dftl_part(const struct ftl_core *c, uint32_t key, uint64_t n);
bool core_dftl_is_whole(const struct ftl_core *c, uint32_t key, uint32_t n);
void core_dftl_unmap(struct ftl_core *c, uint32_t key, uint32_t n);
/* Timed: has page t read, with this ref; core_dftl_load_done() at its end. */
void core_dftl_load(struct ftl_core *c, uint32_t t, uint32_t ref);
void core_dftl_load_done(struct ftl_core *c, uint32_t t);
/* Caches the next page that was read, and returns it; MAP_PAGE_NONE = none, or the one that
 * would have to go cannot be written now. */
uint32_t core_dftl_settle(struct ftl_core *c);
/* Merges relocated entries into their pages on the medium, down to half of the limit.
 * Timed: page reads with ref_base + page; did it begin any? */
bool core_dftl_flush(struct ftl_core *c, uint32_t ref_base);
void core_dftl_flush_done(struct ftl_core *c, uint32_t t);
void core_dftl_flush_untimed(struct ftl_core *c);
/* The entries of page t as the map has them now: MAP_PAGE_ENTRIES_MAX of them. */
void core_dftl_content(const struct ftl_core *c, uint32_t t, uint32_t *ret);
/* What the policy may choose from; any drive. Map pages: is a superblock below the floor gone to them? */
const uint8_t *core_dftl_choice(struct ftl_core *c);
bool core_dftl_owes(const struct ftl_core *c);
const char *core_dftl_check(const struct ftl_core *c);  /* NULL = sound */
/* With a journal: is page t on the medium as the map is, and all units that it names? */
bool core_dftl_is_at_rest(const struct ftl_core *c, uint32_t t);
/* After a start: so many entries of page t are not as on the medium. */
void core_dftl_differs(struct ftl_core *c, uint32_t t, uint32_t entries);

/* ---- policy.c ---- */
/* core_aim() for the state of policies. */
void core_policy_aim(struct ftl_core *c);
/* After core_init(). `given` may be NULL. FTL_EINVAL, FTL_ECONFIG or FTL_ENOMEM. */
int core_policy_bind(struct ftl_core *c, const struct ftl_policies *given, char *ret_why,
                     size_t why_size);
/* Ends the run because of an illegal answer; returns c->error. The text follows the
 * policy's name. */
int core_policy_fault(struct ftl_core *c, const char *kind, const struct ftl_policy_head *head,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));
int core_policy_head_check(const struct ftl_policy_head *head, const char *kind, size_t size,
                           char *ret_why, size_t why_size);
/* ---- holes.c: missing blocks, and programs that failed ---- */
void core_holes_init(struct ftl_core *c);    /* the factory's bad blocks */
void core_holes_format(struct ftl_core *c);
/* A superblock is about to be erased: spares take the places of failed blocks. */
void core_holes_turn(struct ftl_core *c, uint32_t sb);
/* next of an open superblock moves over holes. */
void core_frontier_settle(struct ftl_core *c, struct frontier *f);
/* Planes of a parity die that hold parity of a row. */
uint32_t core_parity_planes(const struct ftl_core *c, uint32_t sb, uint32_t row, uint32_t die);
void core_program_failed(struct ftl_core *c, uint32_t wl, const struct media_done *done);
void core_erase_failed(struct ftl_core *c, const struct media_done *done);
/* done->dead: planes of done->die answer no more. */
void core_planes_dead(struct ftl_core *c, const struct media_done *done);
/* core_relocate() just moved these of sb, because of a failure. */
void core_count_retired(struct ftl_core *c, uint32_t sb, uint32_t units);
/* Word lines of failed programs: their data goes on, as far as there is room. */
void core_continue_failed(struct ftl_core *c);
bool core_rewrite_failed(struct ftl_core *c, const struct wordline *wl);
static inline bool core_is_hole(const struct ftl_core *c, const struct ftl_place *p)
{
    const struct media_blocks *b = &c->media->blocks;
    return b->block != NULL &&
           p->row >= b->hole_row[media_blocks_index(b, p->sb, p->die, p->plane)];
}

/* ---- pace.c ---- */
/* Asks the pace policy anew. 0, or FTL_EPOLICY for a fault of the policy's. */
int core_pace(struct ftl_core *c);
void core_pace_idle(struct ftl_core *c, bool idle);
/* Is this victim not worth collecting in idle time? Ends idle time then. */
bool core_pace_declines(struct ftl_core *c, uint32_t sb);

/* ---- wear.c ---- */
/* The free superblock to open for a frontier. */
uint32_t core_wear_open(struct ftl_core *c, uint32_t frontier);
/* A media_assemble_fn of the core: asks the policy. */
uint32_t core_wear_assemble(void *user, const struct media_spares *spares);
/* A victim for wear's sake, SB_NONE: none now. */
uint32_t core_wear_victim(struct ftl_core *c);
/* Of such a victim so many slots are left. */
void core_wear_step(struct ftl_core *c, uint32_t slots_left);
void core_wear_format(struct ftl_core *c);

/* ---- cache.c: superblocks of one bit per cell ---- */
uint64_t core_cache_memory(const struct ftl_config *cfg);
int core_cache_init(struct ftl_core *c);
void core_cache_start(struct ftl_core *c);   /* media is there */
/* The host is about to open a superblock of it: takes a free one when it has none. */
void core_cache_prepare(struct ftl_core *c);
void core_cache_open(struct ftl_core *c, struct frontier *f);
/* One of its superblocks is free and about to be erased: it may leave the cache. */
void core_cache_release(struct ftl_core *c, uint32_t sb);
/* Before a format: back to its least size. */
void core_cache_format(struct ftl_core *c);
/* Live units in it. */
uint64_t core_cache_live(const struct ftl_core *c);
uint32_t core_cache_room(const struct ftl_core *c);
/* Is something to be folded now? */
bool core_cache_wants(const struct ftl_core *c);
/* The superblock to fold, SB_NONE: none, or collection has to free cache.need slots first. */
uint32_t core_cache_victim(struct ftl_core *c);
int core_cache_check(const struct ftl_core *c, char *ret_why, size_t why_size);

/* ---- passes.c: word lines that are programmed twice ---- */
uint64_t core_passes_memory(const struct ftl_config *cfg, const struct ftl_geometry *g);
int core_passes_init(struct ftl_core *c);
void core_passes_open(struct ftl_core *c, uint32_t sb);
void core_passes_ready(struct ftl_core *c, uint32_t wl);
void core_passes_settle(struct ftl_core *c);
void core_passes_sync(struct ftl_core *c, uint32_t sb, uint32_t die, uint32_t rows);
int core_passes_check(const struct ftl_core *c, char *ret_why, size_t why_size);
/* Units that were relocated from a superblock, by cause. */
void core_count_moved(struct ftl_core *c, uint32_t from, uint32_t moved);
/* Places keys at frontier `want`, with automatic streams wherever there is room. */
void core_place_run(struct ftl_core *c, uint32_t want, const uint32_t *keys, uint32_t n);

/* ---- streams.c: classes, and automatic streams (roam) ---- */
void core_streams_init(struct ftl_core *c);
uint64_t core_streams_memory(const struct ftl_config *cfg);
/* Slots that any unit can reach: open superblocks and free ones. */
uint64_t core_stream_reach(const struct ftl_core *c);
/* The same, less what relocation under way must still be able to place. */
uint64_t core_stream_room(const struct ftl_core *c);
/* Must collection free a superblock, although there are slots enough? */
bool core_stream_hungry(const struct ftl_core *c);
/* Host units that may be placed without that. */
uint64_t core_stream_limit(const struct ftl_core *c);
/* Where a unit for frontier `want` goes: there, or where there is room. */
struct frontier *core_stream_frontier(struct ftl_core *c, uint32_t want, enum cause cause);
/* So many units for `want` go to f. */
void core_stream_note(struct ftl_core *c, const struct frontier *f, uint32_t want, uint32_t units);
void core_stream_place(struct ftl_core *c, const uint32_t *keys, uint32_t n);
uint32_t core_stream_relocate(struct ftl_core *c, uint32_t slot, uint32_t end);
void core_stream_trim(struct ftl_core *c, uint64_t lpn, uint64_t n);
int core_check_streams(const struct ftl_core *c, char *ret_why, size_t why_size);

/* ---- care.c ---- */
void core_care_want(struct ftl_core *c, uint32_t sb);
void core_care_forget(struct ftl_core *c, uint32_t sb);
/* All of a closed superblock is to be written anew. */
void core_refresh_want(struct ftl_core *c, uint32_t sb);
/* patrol.c: what is due now; when the next is; a read of it ended. */
void core_patrol_init(struct ftl_core *c);
uint64_t core_patrol_next(const struct ftl_core *c);
void core_patrol_turn(struct ftl_core *c);
void core_patrol_done(struct ftl_core *c, const struct media_done *done);
/* Those whose data is too old. O(superblocks). */
void core_patrol(struct ftl_core *c);
/* media_want() of the live units in the page that begins at this slot. */
void core_want_live(struct ftl_core *c, uint32_t slot);
/* Issues page reads as far as room and media.care_pages allow. */
void core_care(struct ftl_core *c);

/* ---- gc.c ---- */
/* Untimed: collects until n host units of this class may be placed. */
int core_gc_make_room(struct ftl_core *c, uint32_t class, uint32_t n);
/* Timed: issues page reads as far as space, window and buffer ask and allow. */
void core_gc_issue(struct ftl_core *c);
/* A page of it was sensed: its map entries are needed soon. */
static inline void core_gc_page_sensed(const struct ftl_core *c, uint32_t ref)
{
    const uint32_t *map = c->map, *rmap = &c->rmap[c->gc.pages[ref].slot];

    for (uint32_t i = 0; i < c->g.group_units; i++)
        __builtin_prefetch(&map[rmap[i]], 1);
}
/* A page read ended. Returns the time at which core_gc_page_out() is due; SIM_NEVER =
 * the units of its group still wait for other pages. */
uint64_t core_gc_page_in(struct ftl_core *c, uint32_t ref, bool failed);
void core_gc_page_out(struct ftl_core *c);
/* A word line with relocated data of this frontier was sent. */
void core_gc_word_line(struct ftl_core *c, uint32_t frontier, uint64_t seq);
/* Going timed: the next page of a victim that untimed work left half inspected. */
void core_gc_resume(struct ftl_core *c);
/* Going untimed: all programs have ended, finished victims are free. */
void core_gc_settle(struct ftl_core *c);

/* ---- payload.c: user bytes and their tags; all but init, memory and forget need
 * c->payload ---- */
int core_payload_init(struct ftl_core *c, uint32_t wordlines);
uint64_t core_payload_memory(const struct ftl_config *cfg, const struct ftl_geometry *g,
                             uint32_t wordlines);
void core_payload_forget(struct ftl_core *c);
/* Fills slots whose rmap entry is set with payload->incoming; with filler. */
void core_payload_place(struct ftl_core *c, const struct frontier *f, uint32_t slot, uint32_t n,
                        enum cause cause);
void core_payload_fill(struct ftl_core *c, const struct frontier *f, uint32_t slot, uint32_t n);
void core_payload_move(struct ftl_core *c, const struct frontier *f, uint32_t from, uint32_t to);
/* The unit as it is now, wherever it lies; no time passes. False: a guard is wrong. */
/* Can the bytes of a live slot be had? */
bool core_payload_readable(const struct ftl_core *c, uint32_t slot);
/* A sector from the medium, rebuilt if need be; false = it does not hold this key. */
bool core_payload_peek(const struct ftl_core *c, uint32_t slot, uint32_t cw, uint32_t key,
                       uint8_t *ret_sector);
/* Is all of the command on the medium that brought what a key has now? Else a part of it must not
 * be merged into a unit that could get there alone. */
bool core_payload_settled(const struct ftl_core *c, uint32_t key);
bool core_payload_read(const struct ftl_core *c, uint32_t key, uint8_t *ret_unit);
/* Sector (unit and tag) of a slot in the write buffer; NULL = it is on the medium. */
uint8_t *core_payload_sector(const struct ftl_core *c, uint32_t slot, uint32_t cw);
/* Decodes the tag of a sector; false = its checksum is wrong. */
bool core_payload_tag(const uint8_t *sector, struct payload_tag *ret_tag);
bool core_payload_is(const uint8_t *sector, uint32_t key);
/* The open word line, or parity k of its row, is complete: its group. */
/* The XOR of the word lines of the open row that are full; NULL = none is. */
const uint8_t *core_payload_sum(const struct ftl_core *c, const struct frontier *f);
int32_t core_payload_full(struct ftl_core *c, const struct frontier *f);
int32_t core_payload_parity(struct ftl_core *c, const struct frontier *f, uint32_t k);
uint8_t *core_payload_group(const struct ftl_core *c, int32_t group);
/* Untimed: onto the medium, and the group is free again. named: it holds data. */
void core_payload_store(struct ftl_core *c, const struct frontier *f, uint32_t die, int32_t group,
                        bool named);
void core_payload_put(struct ftl_core *c, uint32_t sb, uint32_t row, uint32_t die, int32_t group);
void core_payload_release(struct ftl_core *c, int32_t group, bool named);

/* Tag without a look at its checksum. */
void core_payload_tag_of(const uint8_t *tag, struct payload_tag *ret_tag);
/* The same of a sector in the buffer: is a unit there? */
bool core_payload_there(const uint8_t *sector, struct payload_tag *ret);
/* Where the keys that come next lay before; where the key of a buffered slot lay. */
void core_payload_before(struct ftl_core *c, const struct frontier *f, const uint32_t *keys,
                         uint32_t n);
uint32_t core_payload_prev(const struct ftl_core *c, uint32_t slot);
void core_payload_set_prev(struct ftl_core *c, uint32_t slot, uint32_t prev);
/* Nothing lies there any more: with capacitors units in the buffer may outlive what they replace. */
void core_payload_erased(struct ftl_core *c, uint32_t sb);
/* The least sequence number in the buffer, and in its open word lines; UINT64_MAX = none. */
uint64_t core_payload_oldest(const struct ftl_core *c);
uint64_t core_payload_unsent(const struct ftl_core *c);
/* All of payload->bytes in order, part by part; not used: what is there is never read. */
void core_payload_parts(const struct ftl_core *c, void *user,
                        void (*fn)(void *user, uint64_t at, size_t bytes, bool used));
/* After a start: units come back into their word lines. */
void core_payload_restore(struct ftl_core *c, uint32_t slot, uint32_t cw, uint32_t key,
                          uint64_t seq, enum cause cause, const uint8_t *body, bool sent);
bool core_payload_was_sent(const struct ftl_core *c, uint32_t slot);
/* First slot of the word line in the buffer whose first unit has the least number above `seq`;
 * *ret_sent: it is full. 0 = none. */
uint32_t core_payload_after(const struct ftl_core *c, uint64_t seq, uint64_t *ret_seq,
                            bool *ret_sent);
void core_payload_adopt(struct ftl_core *c, const struct frontier *f, uint32_t slot);
uint8_t *core_payload_open(struct ftl_core *c, const struct frontier *f, uint32_t slot);
bool core_payload_holds(const struct ftl_core *c, uint32_t sb);
void core_payload_forget_superblock(struct ftl_core *c, uint32_t sb);

/* ---- journal.c; all but shape, bytes and init need c->journal ---- */
/* -1: the blocks beyond the superblocks are too few; segments, segment_blocks say how many. */
int core_journal_shape(struct journal *j, const struct ftl_config *cfg,
                       const struct ftl_geometry *g);
uint64_t core_journal_bytes(const struct ftl_core *c);
int core_journal_init(struct ftl_core *c);
void core_journal_format(struct ftl_core *c);
/* Operations that the journal may have in media at once; c->journal may be NULL. */
uint32_t core_journal_ops(const struct ftl_core *c);
struct log_place core_journal_place(const struct ftl_core *c, uint32_t segment, uint32_t page);
bool core_journal_trailer(const uint8_t *trailer, struct journal_trailer *ret);
bool core_journal_sound(const uint8_t *sector);
bool core_journal_room(const struct ftl_core *c);   /* for one more record */
void core_journal_trim(struct ftl_core *c, uint64_t lpn, uint64_t n);
void core_journal_erase(struct ftl_core *c, uint32_t sb);
void core_journal_send(struct ftl_core *c);
bool core_journal_durable(const struct ftl_core *c, uint64_t number);
void core_journal_done(struct ftl_core *c, uint32_t buffer);
void core_journal_erased(struct ftl_core *c);
void core_journal_step(struct ftl_core *c);
void core_journal_checkpoint(struct ftl_core *c);
void core_journal_flush(struct ftl_core *c, enum journal_mark mark, struct journal_flush *f);
/* After a start: a checkpoint with the buffer in it, and its mark; later: the mark's word ends. */
void core_journal_rewrite(struct ftl_core *c);
void core_journal_opened(struct ftl_core *c);
/* TRIMs whose records are not on the medium. */
uint64_t core_journal_trims(const struct ftl_core *c);

/* ---- recover.c, scan.c, resume.c ---- */
enum { CORE_STEPS_MAX = 16 };
struct core_step {
    const char *name;
    uint64_t ns, items;
};
struct core_recovered {
    struct core_step step[CORE_STEPS_MAX];
    uint32_t step_count, mark;  /* enum journal_mark, or 0 */
    uint64_t pages_scanned, journal_pages, journal_entries, units_restored, units_dropped,
        units_lost, duplicates, torn_wordlines, padded_wordlines, erased_again;
};
/* On a core just initialised, with NAND as the loss left it; *at moves on. */
int core_recover(struct ftl_core *c, uint64_t *at, struct core_recovered *out);
/* Then, with power and capacitors in order: data may be programmed again, and what was on its way
 * is. Without power (journal->cut) the state in memory is complete all the same. */
int core_reopen(struct ftl_core *c, uint64_t *at, struct core_recovered *out);
/* Tag of a slot on the medium; enum nand_status. */
int core_peek_tag(const struct ftl_core *c, uint32_t slot, struct payload_tag *ret);
/* Is the word line on the medium, or put there now, as the drive starts? */
bool core_resume_skips(struct ftl_core *c, const struct frontier *f, uint32_t die, int32_t group);

/* ---- tags.c: what word lines hold, in the log ---- */
/* The word line is on the medium; its bytes are still in the buffer. */
void core_log_tags(struct ftl_core *c, uint32_t sb, uint32_t row, uint32_t die);
/* Word lines of one sector of records; 0 = they have more units than a record takes. */
uint32_t core_tags_in_sector(const struct ftl_geometry *g);
/* Units that may be placed now, if a checkpoint is under way: its segment has room for so many. */
static inline uint64_t core_log_admits(const struct ftl_core *c)
{
    const struct journal *j = c->journal;

    if (j == NULL || !j->running || j->waiting_most == UINT64_MAX)
        return UINT64_MAX;
    uint64_t used = j->waiting + c->buffer_used + c->gc.buffer_used;
    return used < j->waiting_most ? j->waiting_most - used : 0;
}

/* ---- check.c ---- */
int core_check(const struct ftl_core *c, char *ret_why, size_t why_size);
/* holes.c: blocks, spares and holes add up. */
int core_check_holes(const struct ftl_core *c, char *ret_why, size_t why_size);

#endif
