/* dftl.h - the demand-cached map: which pages of the map are in DRAM (MAPPING.md).
 *
 * The map is cut into pages of map.page_entries. Page t is a unit like any other, with the
 * key first_key + t behind the host's keys: its entry of the core's map says where it
 * lies (the global translation directory), collection relocates it, its superblocks form
 * a class of their own. The array behind core->map stays the truth; what is kept here
 * decides which parts of it the drive may look at, and when a page must be written.
 *
 * Everything is an index, so that a copy of the arrays is a copy of the state. */
#ifndef FTL_CORE_DFTL_H
#define FTL_CORE_DFTL_H

#include <stdbool.h>
#include <stdint.h>

#define MAP_PAGE_NONE UINT32_MAX
enum {
    MAP_CACHED = 1,             /* in DRAM */
    MAP_DIRTY = 2,              /* cached, and newer than on the medium */
    MAP_LOADING = 4,            /* being read for the host, or waiting for a place */
    MAP_FLUSHING = 8,           /* being read to merge relocated entries */
    MAP_WANTED = 16,            /* a command waits for it */
    MAP_SLICED = 32,            /* the checkpoint under way takes its entries, not its place */
    MAP_BASE = 64               /* at a start: the page to begin with is found */
};
enum { MAP_FLUSH_WINDOW = 32, MAP_PAGE_ENTRIES_MAX = 1024, MAP_LIVE_SHARE = 8 };

struct map_page {
    uint32_t newer, older;      /* in the cache: order of use; loaded: next to be cached */
    uint32_t next_moved, last_moved;    /* with relocated entries: in the order of the first */
    uint32_t moved;             /* relocated entries that its copy on the medium misses */
    uint32_t waiting, waiting_last;     /* the caller's: commands that wait for it */
    uint32_t read_sb;           /* superblock it is being read from; MAP_PAGE_NONE = no read */
    uint8_t flags;
};

struct dftl {
    bool on;                    /* else the whole map is in DRAM */
    bool on_medium;             /* pages are written: the cache does not hold all */
    uint32_t shift;             /* 2^shift entries in a page */
    uint32_t first_key, count, limit, used;
    struct map_page *pages;
    uint32_t newest, oldest;    /* of the cache */
    uint32_t loaded, loaded_last; /* read, not yet cached: first come first served */
    uint32_t pinned, pinned_last; /* not to be evicted: a write is about to use them */
    uint32_t moved_first, moved_last, moved_pages;
    uint64_t moved, moved_limit;
    uint32_t flushing;          /* reads under way for it, and pages waiting for them */
    uint8_t *offered;           /* per superblock: what a policy may choose from */
    /* with a journal, per page at a start: the copy to begin with and what it is as new as */
    uint32_t *base_slot;
    uint64_t *base_seq;
};

static inline uint32_t map_page_of(const struct dftl *m, uint32_t key)
{
    return (key - 1) >> m->shift;
}

/* Units from this key to the end of its page. */
static inline uint32_t map_page_rest(const struct dftl *m, uint32_t key)
{
    return (1u << m->shift) - ((key - 1) & ((1u << m->shift) - 1));
}

#endif
