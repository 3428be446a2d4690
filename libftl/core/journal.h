/* journal.h - metadata on NAND: a log of records, checkpoints in it. FORMAT.md has the bytes.
 *
 * The log lives in blocks beyond those of the superblocks, used with one bit per cell where the
 * part offers it. They form segments, used in turn; a segment begins with a checkpoint (the table
 * of superblocks, then the map in slices), so all before it is void once that is complete. Then
 * come records of what followed. The unit of the log is a sector: 4 KiB and a trailer with
 * number, kind and checksum. A page of the log is one program: a word line of all planes. */
#ifndef FTL_CORE_JOURNAL_H
#define FTL_CORE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

/* Little-endian; compilers make one access of it. */
static inline void core_put(uint8_t *at, uint64_t v, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

static inline uint64_t core_get(const uint8_t *at, uint32_t bytes)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < bytes; i++)
        v |= (uint64_t)at[i] << 8 * i;
    return v;
}

enum { JOURNAL_BODY = 4096, JOURNAL_TRAILER = 32, JOURNAL_BUFFERS = 12 };
enum { JOURNAL_FRONTIERS = 16, JOURNAL_TABLE_ENTRY = 24 };
enum { LOG_LEAVES = 6 };        /* buffers that a checkpoint leaves to records: one open, the others on their way */
/* Pages on their way at a loss leave gaps in a segment, no longer ones than this. */
static inline uint32_t journal_gap_most(uint32_t dies)
{
    return JOURNAL_BUFFERS + dies;
}

enum { JOURNAL_REF = 0x08000000 };      /* in refs of media: buffer of the journal */

enum journal_kind { JK_RECORDS = 1, JK_UNIT, JK_MARK, JK_FILLER, JK_UNIT_SENT };
enum journal_record {
    JR_END, JR_SEGMENT, JR_TABLE, JR_SLICE, JR_COMPLETE, JR_TRIM, JR_ERASE, JR_LIFE, JR_OPENED,
    JR_COUNTS, JR_ROWS, JR_TAGS
};
enum { JR_LIFE_GATHERED = 1 };  /* flags of JR_LIFE */
/* After a mark no data is programmed before JR_OPENED is on the medium. The third is what a start
 * writes to keep what it restored. */
enum journal_mark { MARK_CLEAN = 1, MARK_FLUSHED, MARK_STARTED };
enum journal_way { WAY_QUEUES, WAY_NOW };   /* through media's queues, or without time */

#define JOURNAL_MOVED (UINT64_C(1) << 63)       /* in the number of a unit: by relocation */
struct journal_trailer {
    uint8_t kind, param;        /* param: unit: frontier << 4 | codeword; mark: its kind */
    bool recovering;            /* written by a start: void until its checkpoint is complete */
    uint32_t a, b;              /* records: bytes used; unit: key, slot; mark: units */
    uint64_t number;            /* of the sector in the log, from 1 */
    uint64_t seq;               /* of the unit; records: last one given out */
    bool moved;
};

struct journal {
    bool slc;
    uint32_t first_block, segment_blocks, segments, pages_per_segment;
    uint32_t sectors;           /* of a page */
    uint32_t page_bytes, page_total, sector_bytes, page_cws;
    uint32_t flush_pages;       /* that a flush of the buffers may take */
    uint64_t buffers_at;        /* of the buffers, in the payload's memory */
    uint8_t *own;               /* without media.payload: pages being built, thrown away then */

    uint32_t segment, page;     /* the next to be written */
    uint64_t next_number;
    uint8_t in_flight[JOURNAL_BUFFERS]; /* 1 = on its way */
    uint64_t first_number[JOURNAL_BUFFERS];
    uint32_t segment_of[JOURNAL_BUFFERS], page_of[JOURNAL_BUFFERS];
    int32_t open;               /* buffer being filled; -1 = none */
    uint32_t open_sectors;      /* of it, closed */
    uint32_t used;              /* bytes of its open sector; 0 = none */
    /* checkpoint under way */
    bool running, begun;
    uint64_t closings;          /* superblocks closed when the last one began */
    uint32_t rows_at, table_at, slice_at;
    uint32_t page_at, key_at, key_end;  /* map pages whose entries are due; of them, the keys */
    uint64_t checkpoint_number; /* its first sector */
    uint64_t checkpoint_sectors, part_sectors;  /* at most; so far */
    uint64_t waiting_most, waiting;     /* units not on the medium that slices name; UINT64_MAX: all */
    uint64_t complete_number;   /* the last sector of the last checkpoint */
    bool erase_due;             /* of the segment after this one, when that has landed */
    uint32_t erase_at, erases_queued;   /* blocks of it on each die: the next to be erased; not ended */
    bool trims_pending;         /* TRIM records since the last send */
    uint32_t trims[JOURNAL_BUFFERS];    /* TRIM records in each */
    uint32_t gathered;          /* superblock that a start rewrites; SB_NONE */
    uint8_t *voids;             /* per superblock and die: 1 = its block waits for an erase */
    bool recovering;            /* this checkpoint belongs to a start */
    enum journal_way way;
    uint64_t *at;               /* WAY_NOW: time */
    bool cut;                   /* WAY_NOW: the power went */
    uint64_t energy_pj, budget_pj, base_mw, from;   /* WAY_NOW: of a flush */
    uint64_t pages_now;
    uint32_t cut_mode, cut_others;
    uint64_t cut_seed;
    /* recovery */
    uint64_t *seqs;             /* per key: of what the map names */
    uint32_t *live;             /* per superblock: live units, as the mark's records tell */
    struct found_unit *found;   /* per slot what records tell; then those found, in a row */
    uint32_t *known;            /* per superblock and die: rows that the checkpoint knew */
};

/* Number of the last sector that was sent. What the open page holds besides TRIMs nobody waits
 * for: it may stay there for ever. */
static inline uint64_t journal_sent(const struct journal *j)
{
    return (j->open >= 0 ? j->first_number[j->open] : j->next_number) - 1;
}

/* Of the sector with the last TRIM, or a later one that is on its way as well. */
static inline uint64_t journal_trimmed(const struct journal *j)
{
    return !j->trims_pending ? journal_sent(j) : j->used != 0 ? j->next_number : j->next_number - 1;
}

/* What a start finds of a segment. */
struct segment_seen {
    uint64_t first, last, complete, from;   /* numbers; complete 0 = its checkpoint is not */
    uint64_t sectors;           /* of its checkpoint that are there */
    uint64_t newest;            /* number of the last one that is no filler */
    uint64_t all;               /* sectors seen */
    bool recovering, stopped;   /* stopped: the newest is the mark of a drive that was running */
};

struct log_place {
    uint32_t die, block, page;
};

/* A unit that the scan met. */
struct found_unit {
    uint64_t seq;
    uint32_t key, slot, atomic_first, atomic_count, atomic_back;
};

struct journal_flush {
    uint64_t units, lost, pages;
};

#endif
