/* drive.h - a whole drive: front end, core, media, one clock. */
#ifndef FTL_NVME_DRIVE_H
#define FTL_NVME_DRIVE_H

#include "core/core.h"
#include "ftl/ftl_power.h"
#include "nvme/ahead.h"

#define CMD_NONE UINT32_MAX
enum {
    READ_PARTS_MAX = 16384,     /* page reads of host reads queued in media at once */
    READ_PARTS_EACH = 16,       /* and per command that may be open */
    RMW_PARTS_EACH = 2 * GROUP_PAGES_MAX    /* a partial write reads up to two units */
};

/* An open command. The first and last of its units may be partly covered. */
struct command {
    struct ftl_cmd cmd;
    ftl_ns submitted_at;
    ftl_ns done_at;             /* latest end of its parts */
    uint32_t first_key, units;  /* keys it touches */
    uint32_t skip_cws, cws;     /* codewords of the first unit before it, and its own */
    uint32_t cursor;            /* codewords read or units placed so far */
    uint32_t pending;           /* page reads under way */
    uint32_t next;
    uint32_t class;             /* of its data */
    uint32_t map_page;          /* the last one looked up for it */
    uint32_t stream;            /* of reads that it continues, or AHEAD_STREAMS */
    uint16_t status;            /* NVMe status field */
    bool checked;               /* a write's data has passed the memory */
    bool whole;                 /* all of its units are covered */
    uint64_t wl_seq;            /* FLUSH, FUA: waits for word lines up to this one */
    uint64_t journal_number;    /* and for sectors of the journal up to this one */
};

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

struct server {                 /* one at a time, first come first served */
    uint64_t free_at, busy_ns;
};

/* What a page read of the host brings. */
struct read_part {
    uint32_t command, cws, sb, next;
    uint32_t first;             /* codeword of the command */
    uint16_t die;
    uint8_t plane, cw;          /* cw: first one within the page */
};

struct ftl_drive {
    struct ftl_config cfg;
    struct sim_context ctx;
    struct sim_heap heap;
    struct media media;
    struct ftl_core core;
    struct ftl_counters count;
    struct bank {
        uint64_t next_test_at, tests;
        uint32_t measured_ppm;
        bool failed;
    } bank;
    uint32_t lba_bytes, lbas_per_unit;
    uint32_t lba_unit_shift, lba_cw_shift;  /* LBAs of a unit and of a codeword */
    uint64_t lba_count;

    struct command *commands;
    uint32_t command_free, open;
    struct read_part *parts;
    uint32_t part_free, parts_free_count, rmw_parts, read_parts;
    struct ahead ahead;

    struct server front_end, link_in, link_out;
    uint64_t link_bytes_per_us, link_unit_ns;
    /* delay lines, in the order that breaks ties */
    struct sim_line gc_out;     /* relocated page leaves the write path */
    struct sim_line reads_in;   /* read command reaches the firmware */
    struct sim_line writes_in;  /* write, TRIM or FLUSH reaches the firmware */
    struct sim_line done_reads, done_writes;
    /* commands that wait, in order; the lines behind them stand still */
    uint32_t wait_head, wait_tail;      /* writes for buffer or space */
    uint32_t read_wait, read_wait_last; /* reads with parts left to issue */
    uint32_t rmw_wait;                  /* a partial write without room for its reads */
    uint32_t flush_head;                /* FLUSH commands waiting for programs */
    uint64_t idle_at;                   /* idle time begins; SIM_NEVER: a command is open */
    ftl_ns fold_at;             /* no command open: when the cache is folded */
    ftl_ns since;
    ftl_ns patrol_at;           /* next turn of the patrol; SIM_NEVER without one */
    struct {
        bool off, armed;
        uint64_t armed_at;      /* operation of the NAND */
        uint64_t open_units;    /* in open word lines at the loss */
        struct ftl_power_cut how;
        struct ftl_power_report last;
    } power;
};

/* bank.c: a health test, and what follows from it */
void bank_test(ftl_drive *d);

/* front.c */
/* The last command open may have ended: idle time begins a while after. */
void front_idle_from(ftl_drive *d, uint64_t at);
void front_read(ftl_drive *d, uint32_t command);
void front_write(ftl_drive *d, uint32_t command);
void front_read_part_done(ftl_drive *d, uint32_t part, bool failed);
void front_continue_reads(ftl_drive *d);    /* of host reads and partial writes */
void front_continue_writes(ftl_drive *d);
/* The command has its data in the buffer, or has failed: ends after the commit. */
void front_write_complete(ftl_drive *d, uint32_t command, uint64_t from);
/* land.c */
void front_word_line_done(ftl_drive *d);
bool front_pad_word_line(ftl_drive *d, uint32_t class);
bool front_close_word_line(ftl_drive *d, uint32_t class);
void front_await_word_lines(ftl_drive *d, uint32_t command);
bool front_must_land(const ftl_drive *d, const struct command *c);
bool front_flush_step(ftl_drive *d, uint32_t command);
/* What ahead.c shares: parts of reads, and the way of their data to the host. */
uint32_t front_part_take(ftl_drive *d);
void front_part_give(ftl_drive *d, uint32_t part);
void front_part_ended(ftl_drive *d, uint32_t command);
void front_hand_over(ftl_drive *d, struct command *c, const struct read_part *part,
                     const uint8_t *page);
void front_read_out(ftl_drive *d, struct command *c, uint64_t from, uint32_t units);
/* A read whose map page has come: now, or behind those that wait for room. */
void front_resume_read(ftl_drive *d, uint32_t command);
/* translate.c: all but is_map_read need core.dftl.on */
bool translate_is_map_read(uint32_t ref);
void translate_read_done(ftl_drive *d, uint32_t ref);
/* Is the map page of this key cached? Else the command waits for it and is resumed. */
bool translate_key(ftl_drive *d, uint32_t command, uint32_t key);
/* The same of all pages up to that of `last` for the head of the write line, which stays there;
 * they are kept cached until translate_release(). */
bool translate_held(ftl_drive *d, uint32_t command, uint32_t key, uint32_t last);
void translate_release(ftl_drive *d);
/* Has a map page read for which no command waits. */
void translate_ahead(ftl_drive *d, uint32_t t);
/* Caches pages that came and resumes commands; did any come? */
bool translate_continue(ftl_drive *d);
static inline uint64_t server_take(struct server *s, uint64_t from, uint64_t ns)
{
    uint64_t start = s->free_at > from ? s->free_at : from;
    s->busy_ns += ns;
    s->free_at = start + ns;
    return s->free_at;
}

static inline uint64_t link_ns_of(const ftl_drive *d, uint64_t bytes)
{
    return (bytes * 1000 + d->link_bytes_per_us - 1) / d->link_bytes_per_us;
}

/* The same; most are of one unit, which needs no division. */
static inline uint64_t link_ns(const ftl_drive *d, uint64_t bytes)
{
    return bytes == d->core.g.unit_bytes ? d->link_unit_ns : link_ns_of(d, bytes);
}

static inline uint32_t drive_class(const ftl_drive *d, uint32_t stream)
{
    return stream == 0 ? 0 : (stream - 1) % d->core.classes;
}

int drive_build(ftl_drive *d, const struct ftl_policies *policies, char *why, size_t why_size);
/* ftl_create_with() without a format of the journal. */
int drive_create(const struct ftl_config *cfg, const struct ftl_policies *policies,
                 ftl_drive **ret_drive, char *ret_why, size_t why_size);
int drive_power_lost(ftl_drive *d);     /* an armed loss struck: FTL_EPOWER */
/* Collection goes on by itself; after a start nothing has asked it to yet. */
void drive_collect(ftl_drive *d);
int drive_settle(ftl_drive *d);  /* before untimed work: quiet, untimed mode */
void drive_look_at_dies(ftl_drive *d);
/* memory.c: n bytes of a command (NULL: timing only) pass the controller's memory; the
 * NVMe status that soft errors leave. */
uint16_t memory_pass(ftl_drive *d, uint8_t *bytes, uint64_t n);
/* May this sector go out as the data of a key? Else the command's status says why it does not. */
bool memory_judge(ftl_drive *d, struct command *c, const uint8_t *sector, uint32_t key);
/* Before a read, or a write, does anything: its map entry; its data and the bookkeeping, too. */
uint16_t memory_read(ftl_drive *d, const struct command *c);
uint16_t memory_write(ftl_drive *d, const struct command *c);
void drive_go_timed(ftl_drive *d);

#endif
