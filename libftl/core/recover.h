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

/* ---- what the steps use ---- */
/* remap.c: the map of a drive that keeps it on the medium; c->g.pages_on_medium != 0 */
/* The log is replayed: where pages begin. */
void core_remap_begin(struct ftl_core *c);
/* A copy of page `key` that the log saved. */
void core_remap_saved(struct ftl_core *c, uint32_t key, uint32_t slot, uint64_t seq);
/* Units found by the scan, by number; tells which pages begin with one of them. */
void core_remap_find(struct ftl_core *c, uint32_t found);
/* Entries of the pages to begin with into the map; returns pages read. */
uint32_t core_remap_read(struct ftl_core *c);
/* All is in place: pages that the map has moved on from are dirty. */
void core_remap_compare(struct ftl_core *c);
/* replay.c: records of a checkpoint; are no, are all rows of a superblock programmed? */
void core_replay_table(struct ftl_core *c, const uint8_t *at, uint32_t bytes);
void core_replay_slice(struct ftl_core *c, const uint8_t *at, uint32_t bytes);
void core_replay_trim(struct ftl_core *c, const uint8_t *at);
void core_replay_rows(struct ftl_core *c, const uint8_t *at, uint32_t bytes);
void core_replay_tags(struct ftl_core *c, const uint8_t *at, uint32_t bytes);
/* What the log tells of a superblock holds for this erase count and later ones. */
void core_learn_life(struct ftl_core *c, uint32_t sb, uint32_t erases);
/* tags.c: all that was told of a superblock was of a life that is over. */
void core_tags_forget(struct ftl_core *c, uint32_t sb);
/* Does the checkpoint name what counts of this word line? */
bool core_tags_known(const struct ftl_core *c, uint32_t slot);
/* Live units of superblocks; returns of how many. */
uint32_t core_replay_counts(struct ftl_core *c, const uint8_t *at, uint32_t bytes);
/* Is something missing that was written? Told of a drive that stopped in order alone. */
bool core_log_is_damaged(const struct ftl_core *c, const struct segment_seen *seen,
                         const uint32_t *order, uint32_t count);
uint64_t core_reads_ns(const struct ftl_core *c, uint64_t pages);   /* of a start */
bool core_is_blank(const struct ftl_core *c, uint32_t sb);
bool core_is_whole(const struct ftl_core *c, uint32_t sb);
bool core_is_contiguous(const struct ftl_core *c, uint32_t sb);
void core_close_found(struct ftl_core *c, uint32_t sb);
bool core_is_frontier(const struct ftl_core *c, uint32_t sb);
int core_resume_frontier(struct ftl_core *c, uint32_t sb, uint64_t *reads);
/* Frontiers stand where they stood, word lines that were full are sent. FTL_EMEDIA */
int core_resume(struct ftl_core *c, uint64_t *ret_reads);

#endif
