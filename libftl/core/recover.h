/* recover.h - what the steps of a start share; recover.c has their table. */
#ifndef FTL_CORE_RECOVER_H
#define FTL_CORE_RECOVER_H

#include "core/core.h"

/* The last mark of the log, and the sectors of units before it. */
struct mark_seen {
    uint64_t number, from, units, saved;
    uint32_t kind;
};

struct recovery {
    struct ftl_core *c;
    struct core_recovered *out;
    struct segment_seen seen[8];
    uint32_t order[8], order_count;         /* all, the newest first; then base and those after it */
    uint32_t base;              /* whose checkpoint counts */
    uint64_t mark, mark_from;   /* number of the mark that ends the log, of its first unit; 0 */
    uint32_t mark_kind;
    struct mark_seen last_mark;
    uint64_t saved;             /* sectors of saved units since the log was opened */
    uint32_t saved_segment, saved_page;     /* where the first of them is */
    uint32_t counts;            /* superblocks whose live units the mark's records tell */
    uint64_t seq;
    bool map_pages;             /* units taken from the log are map pages, or those of the host */
    uint32_t found, life_sb;    /* life_sb: whose erase count a tag has told */
    uint64_t step_reads;
};

/* false = enough. */
typedef bool (*recover_sector_fn)(struct recovery *r, uint32_t segment, uint32_t page,
                                  uint8_t *sector, const struct journal_trailer *t);

/* The sound sectors of a segment from a page on, in their order. */
void recover_walk(struct recovery *r, uint32_t segment, uint32_t page, recover_sector_fn fn);

/* No data was programmed since the mark: NAND is as it left it, but for erases it names. */
static inline bool recover_is_still(const struct recovery *r)
{
    return r->mark != 0;
}

/* May this block be under erase? Then it counts as blank, and is erased before its next use. */
static inline uint8_t *recover_void(const struct recovery *r, uint32_t sb, uint32_t die)
{
    return &r->c->journal->voids[(size_t)sb * r->c->g.dies + die];
}

/* ---- scan.c: steps on superblocks ---- */
int recover_scan(struct recovery *r);
int recover_resolve(struct recovery *r);
int recover_count(struct recovery *r);
int recover_settle(struct recovery *r);
/* All of a superblock is to be erased; and it is free. */
void recover_empty(struct recovery *r, uint32_t sb);
void recover_free(struct recovery *r, uint32_t sb);
/* ---- gather.c ---- */
int recover_gather(struct recovery *r);
int recover_program(struct recovery *r);
/* After the scan: does this slot hold the unit, or may it (in a superblock not scanned)? */
bool recover_is_there(const struct recovery *r, uint32_t key, uint32_t slot);

#endif
