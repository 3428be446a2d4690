/* geometry.h - the shape of superblocks, derived once from the configuration.
 *
 * A unit is the 4 KiB that the map addresses. A superblock is one block of every
 * plane of every die. Its slots number the data units alone, in writing order:
 * row (one word line on every die), data die, then page type, plane and the units
 * of a page. Parity dies of a row hold no slots. */
#ifndef FTL_CORE_GEOMETRY_H
#define FTL_CORE_GEOMETRY_H

#include "ftl/ftl.h"

enum { FTL_UNIT_BYTES = 4096 };

struct ftl_geometry {
    uint32_t dies, data_dies, parity_dies, planes, page_types;
    uint32_t page_units;         /* units of a page */
    uint32_t wl_units;           /* units of one word line in all planes of a die */
    uint32_t row_units;          /* data units of one row */
    uint32_t rows;               /* word lines of a block */
    uint32_t sb_units, sb_count;
    uint64_t total_units;
    uint64_t sb_inverse;         /* floor(2^64 / sb_units) + 1, for slot / sb_units */
};

/* Where a slot lies. */
struct ftl_place {
    uint32_t sb, row, data_die, die, page_type, plane, unit;
};

/* 0, or -1 when slots do not fit 32 bits or a superblock has fewer than two. */
int geometry_make(struct ftl_geometry *ret, const struct ftl_config *cfg);
/* Superblocks that collection keeps free. */
uint64_t geometry_free_kept(const struct ftl_config *cfg);
/* Superblocks of spare below which collection could run out of room. */
uint64_t geometry_spare_needed(const struct ftl_config *cfg);
void geometry_place(const struct ftl_geometry *g, uint32_t slot, struct ftl_place *ret);
/* The die that holds data die d, or parity k, of a row: parity rotates by row. */
uint32_t geometry_data_die(const struct ftl_geometry *g, uint32_t row, uint32_t d);
uint32_t geometry_parity_die(const struct ftl_geometry *g, uint32_t row, uint32_t k);

__extension__ typedef unsigned __int128 ftl_u128;

/* slot / sb_units, exact for every 32-bit slot: the inverse exceeds 2^64 / d by at
 * most 1, an error below 2^-32 of a unit. */
static inline uint32_t geometry_superblock(const struct ftl_geometry *g, uint32_t slot)
{
    return (uint32_t)(((ftl_u128)slot * g->sb_inverse) >> 64);
}

#endif
