/* raid.h - pages rebuilt from their stripe, and units that could not be. */
#ifndef FTL_CORE_RAID_H
#define FTL_CORE_RAID_H

#include <stdbool.h>
#include <stdint.h>

#include "core/geometry.h"
#include "media/media.h"

struct ftl_core;

enum { RAID_JOBS = 32 };            /* pages being rebuilt at once */
#define RAID_REF UINT32_C(0x80000000)   /* marks the reads of a rebuild; the rest is the job */

struct raid_job {
    struct media_done done;         /* the read that failed */
    uint32_t pending, next;
    bool lost;
};

struct raid {
    struct raid_job jobs[RAID_JOBS];
    uint32_t free_head;             /* RAID_JOBS = none */
    struct media_done *waiting;     /* a ring: failed reads beyond that many */
    uint32_t wait_first, wait_count, wait_limit;
    uint8_t *lost;                  /* bit per key: read as an error until written */
    size_t lost_bytes;
    uint64_t lost_count;
    bool any_dead;                  /* some plane is */
    uint8_t *scratch;               /* one page */
};

int core_raid_init(struct ftl_core *c, uint32_t waiting);
uint64_t core_raid_memory(const struct ftl_config *cfg, uint32_t waiting);
/* A read failed. True: it ended at once, *ret says how; false: later. */
bool core_raid_begin(struct ftl_core *c, const struct media_done *done, struct media_done *ret);
/* A read of a rebuild ended. True: *ret = the read that had failed. */
bool core_raid_part(struct ftl_core *c, const struct media_done *part, struct media_done *ret);
/* The same for failed reads that waited, after one of the above. */
bool core_raid_next(struct ftl_core *c, struct media_done *ret);
/* Without time: bytes of a page that the medium does not give. */
bool core_raid_peek(const struct ftl_core *c, const struct ftl_place *p, uint32_t offset,
                    uint32_t n, uint8_t *ret);
/* A live slot on a dead plane whose stripe cannot give it back. */
bool core_raid_unreadable(const struct ftl_core *c, uint32_t slot);
void core_lose_unreadable(struct ftl_core *c, uint32_t slot, uint32_t n);
static inline bool core_is_lost(const struct raid *r, uint32_t key)
{
    return r != NULL && r->lost_count != 0 && (r->lost[key / 8] >> key % 8 & 1);
}
/* Are the bytes of a key lost, out of reach, or not what was written? */
bool core_is_broken(const struct ftl_core *c, uint32_t key);
/* The live ones of n slots are lost. */
void core_lose(struct ftl_core *c, uint32_t slot, uint32_t n);
/* A key was written or trimmed. */
void core_found(struct ftl_core *c, uint32_t key);
void core_forget_lost(struct ftl_core *c);

#endif
