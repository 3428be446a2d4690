/* geometry.h - the shape of superblocks, derived once from the configuration.
 *
 * A unit is what the map addresses: map.unit_bytes. A superblock is one block of every
 * plane of every die. Its slots number the data units alone, in writing order:
 * row (one word line on every die), data die, then page type and plane, whose pages
 * the units fill one after the other: a page may hold several units, and a unit may
 * span pages. Parity dies of a row hold no slots.
 *
 * Inside of a page the smallest thing that can be read and decoded is a codeword of
 * 4 KiB. Collection goes by groups: the fewest pages that hold whole units. */
#ifndef FTL_CORE_GEOMETRY_H
#define FTL_CORE_GEOMETRY_H

#include <stdbool.h>

#include "ftl/ftl.h"

enum { CODEWORD_BYTES = 4096, UNIT_BYTES_MAX = 65536, GROUP_PAGES_MAX = 16 };
enum { MAP_CACHE_LEAST = 2, MAP_RESERVE = 4 };  /* pages; superblocks */

struct ftl_geometry {
    uint32_t dies, data_dies, parity_dies, planes, page_types;
    uint32_t unit_bytes, unit_shift; /* 2^unit_shift bytes */
    uint32_t unit_cws, cw_shift; /* codewords of a unit, 2^cw_shift */
    uint32_t page_cws;           /* codewords of a page */
    uint32_t group_units, group_pages;
    uint32_t wl_units;           /* units of one word line in all planes of a die */
    uint32_t row_units;          /* data units of one row */
    uint32_t rows;               /* word lines of a block */
    uint32_t sb_units, sb_count;
    uint64_t total_units;
    uint32_t map_pages, map_page_shift; /* pages of the map, 2^shift entries in one */
    uint32_t cache_pages;        /* of them in DRAM; 0 = all, without bookkeeping */
    uint32_t pages_on_medium;    /* units that map pages take there */
    uint64_t sb_inverse;         /* floor(2^64 / sb_units) + 1, for slot / sb_units */
};

/* Where a slot lies. */
struct ftl_place {
    uint32_t sb, row, data_die, die, page_type, plane, cw;
};

/* 0, or -1 when slots do not fit 32 bits, a superblock has fewer than two, or a word
 * line of all planes holds no whole number of units. */
int geometry_make(struct ftl_geometry *ret, const struct ftl_config *cfg);
/* Superblocks that may be open at once: per class of the host, the same again for
 * relocation apart (what it gathers shares one), one for data that is moved for wear's
 * sake. */
uint64_t geometry_frontiers(const struct ftl_config *cfg);
/* streams.mode = auto? */
bool geometry_streams_auto(const struct ftl_config *cfg);
/* Superblocks that collection keeps free. */
uint64_t geometry_free_kept(const struct ftl_config *cfg);
/* Superblocks of spare below which collection could run out of room. */
uint64_t geometry_spare_needed(const struct ftl_config *cfg);
/* Codeword cw < unit_cws of a slot, which here counts from 0. */
void geometry_place(const struct ftl_geometry *g, uint32_t slot, uint32_t cw,
                    struct ftl_place *ret);
/* The die that holds data die d, or parity k, of a row: parity rotates by row. */
uint32_t geometry_data_die(const struct ftl_geometry *g, uint32_t row, uint32_t d);
uint32_t geometry_parity_die(const struct ftl_geometry *g, uint32_t row, uint32_t k);
/* The data die that a die is in a row; UINT32_MAX = it holds parity. */
uint32_t geometry_data_die_of(const struct ftl_geometry *g, uint32_t row, uint32_t die);

__extension__ typedef unsigned __int128 ftl_u128;

/* The first of a word line, from 1 as in the map. */
static inline uint32_t geometry_first_slot(const struct ftl_geometry *g, uint32_t sb, uint32_t row,
                                           uint32_t data_die)
{
    return sb * g->sb_units + row * g->row_units + data_die * g->wl_units + 1;
}

/* slot / sb_units, exact for every 32-bit slot: the inverse exceeds 2^64 / d by at
 * most 1, an error below 2^-32 of a unit. */
static inline uint32_t geometry_superblock(const struct ftl_geometry *g, uint32_t slot)
{
    return (uint32_t)(((ftl_u128)slot * g->sb_inverse) >> 64);
}

/* Units that each write buffer must hold at least: each class may leave one word line almost
 * full, and relocation needs one more (two with static wear levelling). */
void geometry_least_buffers(const struct ftl_geometry *g, const struct ftl_config *cfg,
                            uint64_t *ret_host, uint64_t *ret_gc);

#endif
