/* media.h - when NAND operations run: queues per die, priorities, the bus.
 *
 * The caller queues operations and feeds events back; media issues them to the
 * passive NAND model when their die or plane is free, and reports each end.
 *
 * A die programs or erases, or its planes read. Reads go first until the die has
 * spent sched.program_wait_ns on them since its last program or erase; then the next
 * of those goes. Among reads of a plane the urgent class goes first, and each other
 * class gets a turn after so many turns of others. With sched.suspend a host read
 * interrupts what programs or erases. SCHEDULING.md has rules, bounds and figures. */
#ifndef FTL_MEDIA_MEDIA_H
#define FTL_MEDIA_MEDIA_H

#include "ftl/ftl_media.h"
#include "media/blocks.h"
#include "media/ecc_decode.h"
#include "media/ecc.h"
#include "nand/nand.h"
#include "sim/events.h"
#include "sim/fatal.h"

/* Reads from the most urgent class to the least, then what occupies a whole die. */
enum media_kind {
    MEDIA_HOST_READ,
    MEDIA_AHEAD_READ,           /* what a host may read next */
    MEDIA_GC_READ,
    MEDIA_SCRUB_READ,
    MEDIA_PROGRAM,
    MEDIA_ERASE
};
enum { MEDIA_READ_CLASSES = 4 };

/* Of a word line that is programmed twice; MEDIA_WHOLE otherwise. */
enum media_pass { MEDIA_WHOLE, MEDIA_COARSE, MEDIA_FINE, MEDIA_SLC /* one page, one bit per cell */ };

/* Whose program: every second may be the log's; with sched.host_write_first those of the host overtake. */
enum media_writer { MEDIA_FOR_HOST, MEDIA_FOR_GC, MEDIA_FOR_LOG, MEDIA_WRITERS };

struct media_op {
    uint8_t kind, plane, step;  /* step: transfers done so far */
    uint8_t units;              /* reads: 4 KiB units to transfer */
    uint16_t die;
    uint8_t riders;             /* reads: operations behind `rider` */
    bool whole;                 /* reads: the whole page is sensed */
    bool hurried;               /* pre-reads: the host waits for it */
    uint8_t pass;               /* programs: enum media_pass */
    uint16_t wrong;             /* media.ecc: most wrong bits of a code word */
    uint16_t codewords;         /* media.ecc = decoder: those still wanted, bit per code word */
    uint32_t block, page;       /* page: first page of the word line for programs */
    uint32_t ref;               /* the caller's, handed back */
    uint16_t planes;            /* programs and erases: those that take part */
    uint16_t failed;            /* those that failed; reads: 1 = no page to be had */
    uint8_t attempt, level, soft;   /* media.ecc: reads so far, and how the next is done */
    uint8_t best_level, stale;
    bool effort;
    uint32_t best_errors, best_ppb;
    uint32_t next;
    uint32_t rider;             /* host read of the same page that shares the sense */
};

struct media_queue {
    uint32_t head, tail;
};

struct media_plane {
    struct media_queue reads[MEDIA_READ_CLASSES];
    uint32_t waiting;           /* bit per class: its queue is not empty */
    uint32_t active;            /* operation in its register, or MEDIA_NONE */
    uint32_t turn;              /* reads begun from the queues */
    uint32_t since[MEDIA_READ_CLASSES]; /* turn at which the head of the class came up */
};

/* What a die with an array operation is doing. Without sched.suspend: the first two. */
enum media_phase {
    MEDIA_IDLE,
    MEDIA_ARRAY,                /* transfer, program or erase: the die is taken */
    MEDIA_LOADING,              /* data of a program comes in; host reads may run */
    MEDIA_LOADED,               /* the same; the program waits for host reads */
    MEDIA_SUSPENDING,           /* not yet accepted */
    MEDIA_SUSPENDED             /* host reads run */
};

struct media_die {
    uint32_t array_op;          /* program or erase under way, or MEDIA_NONE */
    uint32_t reads_active, reads_queued, host_queued;
    uint32_t turn;              /* reads begun from the queues */
    uint32_t last[MEDIA_READ_CLASSES];  /* turn of the class's last one */
    struct media_queue writes[MEDIA_WRITERS];
    uint64_t reads_since;       /* end of the last program or erase */
    uint32_t writes_queued;     /* in all of `writes` */
    uint64_t write_waits_since; /* when the first of them came up */
    uint64_t gc_head_since;     /* when the head of writes[MEDIA_FOR_GC] came up */
    uint64_t busy_since;
    bool read_begun;            /* since the last program or erase */
    bool gc_went;               /* the last write was an overdue one of GC */
    bool log_went;              /* it was one of the log */
    /* sched.suspend alone */
    uint8_t phase;
    bool end_event;             /* the event of array_op's end is in the queue */
    bool control_event;         /* so is the die's own */
    uint32_t suspends;          /* of array_op */
    uint64_t array_end;         /* of array_op's step; SIM_NEVER = not running */
    uint64_t may_suspend_at;    /* least progress made */
    uint64_t hold_since;        /* reads run instead of array_op */
};

#define MEDIA_NONE UINT32_MAX
/* media_op.step: the page is to be read once more; its decode is over. */
enum { MEDIA_STEP_AGAIN = 200, MEDIA_STEP_DECODED };
enum { MEDIA_EVENT_KIND = 1 };

struct media {
    nand_dev *nand;
    struct media_blocks blocks;
    struct media_ecc ecc;
    struct media_decoder decoder;
    uint16_t next_codewords;
    struct sim_heap *heap;
    struct sim_context *ctx;
    struct media_op *ops;
    uint32_t free_head, free_count, op_count;
    struct media_die *dies;
    struct media_plane *planes; /* die * plane_count + plane */
    uint32_t die_count, plane_count, channel_count, page_types, page_units, page_bytes;
    uint32_t unit_bus_bytes, page_bus_bytes;
    uint64_t prog_wait_ns;
    bool partial_read, host_write_first, suspend, coalesce;
    const uint8_t *slc;         /* the caller's, per block: 1 = one bit per cell; NULL = none */
    uint64_t gc_write_wait_ns, suspend_window_ns;
    uint32_t suspend_budget;
    const struct nand_timing *time;
    /* media.payload = 1, else NULL */
    uint8_t *plane_bytes;       /* per plane: the page that its last read brought */
    const uint8_t *program_bytes;   /* what the offsets below start from */
    uint64_t *program_data;     /* per operation: its pages, in the order of DATA_IN */
    uint64_t next_program;
    uint8_t *packed;            /* pages of one transfer that leaves planes out */
    /* power: see power.c */
    bool watched, struck;       /* a loss is armed or there; it is there */
    uint64_t strike_at;         /* after this operation of the NAND; 0 = none */
    /* since the last reset */
    uint64_t die_busy_ns, channel_busy_ns;
    uint64_t page_reads, gc_page_reads, programs, erases, suspends, shared_reads;
};

/* What an event ended: kind and the caller's ref; ref MEDIA_NONE = nothing yet. */
struct media_done {
    uint32_t kind, ref;
    uint32_t block, page;       /* of reads */
    uint16_t die, plane;
    uint16_t failed;            /* planes that failed; reads: 1 = the plane is dead */
    uint16_t dead;              /* planes found dead just now */
    bool effort;                /* a read that took much: the data should be moved */
};

/* ops_limit operations may be queued at once. ret_why for a refused NAND profile. */
int media_init(struct media *m, const struct ftl_config *cfg, struct sim_heap *heap,
               struct sim_context *ctx, uint32_t ops_limit, char *ret_why, size_t why_size);
void media_free(struct media *m);
/* A plain copy of `from` gets a NAND of its own in the same state. 0 or FTL_ENOMEM. */
int media_fork(struct media *m, const struct media *from);
/* snapshot.c: NAND as nand_save() writes it; loaded, it takes the place of m's. A result other
 * than 0 of a callback is handed back, or becomes FTL_ESNAPSHOT like NAND of another part. */
int media_save(const struct media *m, int (*sink)(void *, const void *, size_t), void *user);
int media_load(struct media *m, int (*source)(void *, void *, size_t), void *user);
/* Every pointer of a struct media that sim_mem does not know: taken from another one, or NULL
 * when `from` is. A new one belongs here too; test_snapshot tells. */
void media_point(struct media *m, const struct media *from);
/* Memory that means nothing between two events, or is a table of the library. */
bool media_is_scratch(const struct media *m, const void *array);
/* The profile that a configuration describes; *ret points into cfg's strings. */
int media_profile(struct nand_profile *ret, const struct ftl_config *cfg);
bool media_has_two_passes(const struct ftl_config *cfg);
/* Events that media may have in the queue at once. */
uint32_t media_events_limit(const struct ftl_config *cfg, uint32_t ops_limit);

static inline uint32_t media_ops_free(const struct media *m)
{
    return m->free_count;
}

/* media.ecc = decoder: the read queued next wants n code words from `first` on; without this it
 * wants all of its page. */
static inline void media_want(struct media *m, uint32_t first, uint32_t n)
{
    m->next_codewords = (uint16_t)(((UINT32_C(1) << n) - 1) << first);
}
static inline bool media_decodes(const struct media *m)
{
    return m->decoder.code != NULL;
}
/* All need media_ops_free() > 0. kind: one of the reads. */
void media_read(struct media *m, uint64_t now, uint32_t kind, uint32_t die, uint32_t plane,
                uint32_t block, uint32_t page, uint32_t units, uint32_t ref);
void media_program(struct media *m, uint64_t now, enum media_writer writer, uint32_t die,
                   uint32_t block, uint32_t first_page, enum media_pass pass, uint32_t ref);
/* media.payload = 1: the program queued next carries the pages (page type, plane) at
 * program_bytes + offset, which stay until it has ended. */
static inline void media_program_data(struct media *m, uint64_t offset)
{
    m->next_program = offset;
}
/* Page (and spare area) of the host or GC read that the last media_event() ended. */
static inline const uint8_t *media_page_bytes(const struct media *m, uint32_t die, uint32_t plane)
{
    return m->plane_bytes + (size_t)(die * m->plane_count + plane) * m->page_bus_bytes;
}
static inline uint8_t *media_page_room(struct media *m, uint32_t die, uint32_t plane)
{
    return m->plane_bytes + (size_t)(die * m->plane_count + plane) * m->page_bus_bytes;
}
/* Without time: the word line is on the medium; part of a page as it was programmed, with
 * the enum nand_status that a read would have; the block is erased. */
int media_put(struct media *m, uint32_t die, uint32_t block, uint32_t first_page,
              const uint8_t *pages);
int media_peek(const struct media *m, uint32_t die, uint32_t plane, uint32_t block, uint32_t page,
               uint32_t offset, uint32_t bytes, void *ret_data);
/* Blocks used with one bit per cell; only where media_has_slc(). */
void media_erase_slc(struct media *m, uint64_t now, uint32_t die, uint32_t block, uint32_t ref);
bool media_has_slc(const struct ftl_config *cfg);

/* ---- power.c: losing power, and operations one after the other, without the queues ---- */
/* Nothing is issued any more; what is under way is left to the NAND. */
void media_go_dark(struct media *m);
/* Programs (pages as of DATA_IN) and erases with the die's last operation awaited: *at is the
 * time before and the time at which the next may be issued after; the result's done_at is its
 * end. status NAND_CUT: the power went. */
struct nand_res media_program_now(struct media *m, uint64_t *at, uint32_t die, uint32_t block,
                                  uint32_t page, bool slc, const uint8_t *pages);
struct nand_res media_erase_now(struct media *m, uint64_t *at, uint32_t die, uint32_t block,
                                bool slc);
/* Operation at_op of the NAND is cut; 0 = none is. -1: it is in the past. Modes and others have
 * the numbers of nand_model and of ftl_power.h. */
int media_arm(struct media *m, uint64_t at_op, uint32_t mode, uint32_t others, uint64_t seed);
/* The next one is. */
void media_arm_cut(struct media *m, uint32_t mode, uint32_t others, uint64_t seed);
/* The power goes, if it is on; it comes. */
void media_cut_now(struct media *m, uint64_t now, uint32_t others, uint64_t seed);
int media_power_on(struct media *m, uint64_t now);
uint64_t media_operations(const struct media *m);   /* programs and erases so far */
/* Blocks whose erase waits, or is the die's present operation: what is not known to have ended. */
void media_erases_queued(const struct media *m, void (*fn)(void *user, uint32_t die, uint32_t block),
                         void *user);
/* Programs and erases that reads held up go on. */
void media_resume_all(struct media *m, uint64_t now);
/* End of everything under way. */
uint64_t media_idle_at(const struct media *m);
/* Without time, for blocks with one bit per cell or not. */
int media_put_meta(struct media *m, uint32_t die, uint32_t block, uint32_t page, bool slc,
                   const uint8_t *pages);
void media_erase_meta(struct media *m, uint32_t block, bool slc, uint32_t erases);
void media_erase_untimed(struct media *m, uint32_t block, uint32_t erases);
/* Without bytes the medium is told when time starts; what superblocks are made of changes now. */
void media_count_erase(struct media *m, uint32_t block);
/* A block of one bit per cell with so many pages. */
void media_set_slc(struct media *m, uint32_t die, uint32_t block, uint32_t pages, uint32_t erases);
void media_erase_die_untimed(struct media *m, uint32_t die, uint32_t block, uint32_t erases);
void media_erase(struct media *m, uint64_t now, uint32_t die, uint32_t block, uint32_t ref);
/* The host wants this page, which is being read ahead: the read counts as the host's. */
void media_hurry(struct media *m, uint64_t now, uint32_t die, uint32_t plane, uint32_t block,
                 uint32_t page);

/* Planes of a die found dead just now: firmware resets the die and reads its identity,
 * which costs no array time. Needs media.faults. */
uint32_t media_probe(struct media *m, uint32_t die);
uint64_t media_energy_pj(const struct media *m);
/* See ftl_fault_arm(). */
int media_fault_arm(struct media *m, const struct ftl_fault *f);

/* Array time summed over dies since the last reset, operations under way included. */
uint64_t media_busy_ns(const struct media *m, uint64_t now);
void media_reset(struct media *m, uint64_t now);

/* Is the event that of a page of collection in its register, about to be sent out? */
static inline bool media_is_sensed(const struct media *m, uint32_t arg)
{
    return arg < m->op_count && m->ops[arg].kind == MEDIA_GC_READ && m->ops[arg].step == 0;
}

struct media_done media_event(struct media *m, uint64_t now, uint32_t arg);

#endif
