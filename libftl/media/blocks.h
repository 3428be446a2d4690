/* blocks.h - which physical block stands for a superblock in each plane.
 *
 * Superblocks beyond ftl.superblocks are spares of their plane. A block that is
 * factory bad, or that failed, is replaced by a spare of its plane when its
 * superblock is erased next; without one the plane has a hole there. Indices are
 * (superblock, die, plane). Off (media.faults = 0): `block` is NULL and every
 * superblock has the block of its own number everywhere.
 *
 * A hole may begin in the middle of a block: rows below hole_row hold data. */
#ifndef FTL_MEDIA_BLOCKS_H
#define FTL_MEDIA_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nand/nand.h"
#include "sim/mem.h"

#define BLOCK_NONE UINT32_MAX

/* The spares of a plane, for a superblock's block there that was erased, or is gone. */
struct media_spares {
    uint32_t sb, die, plane, block_erases, count;
    bool gone;
    const uint32_t *erases;     /* of each */
};
/* Which takes the block's place; count = none, unless it is gone. */
typedef uint32_t (*media_assemble_fn)(void *user, const struct media_spares *spares);

struct media_blocks {
    uint32_t *block;            /* BLOCK_NONE = the plane has none */
    uint32_t *hole_row;         /* first row that cannot be written; rows = none such */
    uint32_t *spare;            /* per die and plane: a stack of `spare_room` */
    uint32_t *spare_count, *spare_begin;    /* now, and after the factory's bad ones */
    uint8_t *dead;              /* per die and plane: 1 = it answers no more */
    uint32_t *erases;           /* wear.assembly: per die, plane and block; else NULL */
    uint32_t *offered;          /* the same: of the spares that are offered */
    media_assemble_fn assemble; /* the same; set by the owner */
    void *assemble_user;
    uint32_t dies, planes, rows, sb_count, spare_room;
    uint64_t factory_bad, retired;      /* blocks; of dead planes too */
    uint64_t exchanged;                 /* blocks that gave way to a spare for their wear */
};

/* Takes the factory's bad blocks out; `by_wear`: assemble() will be set. 0, or
 * FTL_ENOMEM. O(blocks). */
int media_blocks_init(struct media_blocks *b, struct sim_mem *mem, const nand_dev *nand, uint32_t sb_count,
                      uint32_t rows, bool by_wear);
uint64_t media_blocks_memory(uint64_t dies, uint64_t planes, uint64_t blocks, uint64_t sb_count,
                             bool by_wear);

static inline size_t media_blocks_index(const struct media_blocks *b, uint32_t sb, uint32_t die,
                                        uint32_t plane)
{
    return ((size_t)sb * b->dies + die) * b->planes + plane;
}

/* The block behind a superblock in one plane; also when off. */
static inline uint32_t media_blocks_at(const struct media_blocks *b, uint32_t sb, uint32_t die,
                                       uint32_t plane)
{
    return b->block == NULL ? sb : b->block[media_blocks_index(b, sb, die, plane)];
}

/* The same for all planes of a die. */
static inline const uint32_t *media_blocks_row(const struct media_blocks *b, uint32_t sb,
                                               uint32_t die)
{
    return &b->block[media_blocks_index(b, sb, die, 0)];
}

static inline size_t media_blocks_plane(const struct media_blocks *b, uint32_t die, uint32_t plane)
{
    return (size_t)die * b->planes + plane;
}

/* Erases of a block, as this table counts them; else as its superblock does. */
static inline uint32_t media_blocks_worn(const struct media_blocks *b, uint32_t die, uint32_t plane,
                                         uint32_t block, uint32_t of_superblock)
{
    return b->erases == NULL ? of_superblock
                             : b->erases[media_blocks_plane(b, die, plane) * b->spare_room + block];
}

/* Planes of a die whose block of this superblock takes this row. */
uint32_t media_blocks_mask(const struct media_blocks *b, uint32_t sb, uint32_t die, uint32_t row);
/* Nothing can be written there from this row on. */
void media_blocks_fail(struct media_blocks *b, uint32_t sb, uint32_t die, uint32_t planes,
                       uint32_t row);
/* Before the erase of a superblock: failed blocks give way to spares. */
void media_blocks_turn(struct media_blocks *b, uint32_t sb);
/* The erase of a superblock's blocks on a die has ended, but for the planes where it failed. With
 * wear.assembly each counts it, and gives way to the spare that assemble() names; both are
 * blank. O(spares). */
void media_blocks_erased(struct media_blocks *b, uint32_t sb, uint32_t die, uint32_t failed);
/* Its erase failed: the same for these planes. */
void media_blocks_replace(struct media_blocks *b, uint32_t sb, uint32_t die, uint32_t planes);
/* These planes of a die are lost, their spares with them; data rows stay listed.
 * Returns those that were not known to be. */
uint32_t media_blocks_found_dead(struct media_blocks *b, uint32_t die, uint32_t planes);
/* Spares left of those after the factory's bad ones, in the plane that has the fewest,
 * 0..100, dead planes left out; 0 when there were none. */
uint32_t media_blocks_spare_percent(const struct media_blocks *b);

#endif
