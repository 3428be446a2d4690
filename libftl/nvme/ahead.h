/* ahead.h - sequential pre-read: streams of host reads, and the pages read for them.
 *
 * A line holds one page as it lies on the medium, found by its number.
 * Overwriting or trimming moves the map away from the slot, so a stale unit is never
 * asked for; a line is good as long as its superblock was not erased. */
#ifndef FTL_NVME_AHEAD_H
#define FTL_NVME_AHEAD_H

#include "core/core.h"

enum { AHEAD_STREAMS = 16 };

struct ahead_line {
    uint64_t page;              /* 0 = empty */
    uint32_t sb, erases;        /* its superblock, and the erases of that */
    uint32_t hash_next, newer, older;   /* lines; LINE_NONE = none */
    uint32_t waiters;           /* parts of host reads; CMD_NONE = none */
    ftl_ns ready_at;            /* decoded */
    bool loading, used;
};

struct ahead_stream {
    uint64_t next;              /* LBA that would continue it */
    uint64_t ahead;             /* first codeword not looked at */
    uint32_t run;               /* reads that continued it */
    uint32_t seen;
};

struct ahead {
    struct ahead_line *lines;   /* NULL = off */
    uint8_t *bytes;             /* a page per line, with media.payload */
    uint32_t count, page_bytes;
    uint32_t *buckets;          /* by page; a power of two of them */
    uint32_t bucket_mask;
    uint32_t newest, oldest;    /* by last use */
    uint32_t cws;               /* codewords: how far ahead */
    uint32_t clock;
    struct ahead_stream streams[AHEAD_STREAMS];
};

struct command;

uint64_t ahead_memory(const struct ftl_config *cfg);
int ahead_init(ftl_drive *d);
/* Nothing is kept any more; no pre-read is under way. */
void ahead_forget(ftl_drive *d);
/* A read command begins: the stream it continues, or AHEAD_STREAMS. */
uint32_t ahead_note(ftl_drive *d, const struct command *c);
/* Number of the page, from 1, that holds codeword in_unit of a slot. */
uint64_t ahead_page(const ftl_drive *d, uint32_t slot, uint32_t in_unit);
/* Serves the next `cws` codewords of a command out of a line, now or when it has come;
 * false = no line has them. */
bool ahead_serve(ftl_drive *d, uint32_t command, uint32_t cws, uint64_t page,
                 const struct ftl_place *p);
/* Reads ahead for a stream as far as room allows. */
void ahead_go_on(ftl_drive *d, uint32_t stream);
void ahead_done(ftl_drive *d, uint32_t part, bool failed);

#endif
