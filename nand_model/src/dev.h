/* dev.h - inside of a device, private to nand_model.
 *
 * All state is flat arrays in one allocation, indexed by die, by plane
 * (die * planes + plane) and by block (plane index * blocks_per_plane + block),
 * so that a timed operation touches two or three cache lines. */
#ifndef NAND_SRC_DEV_H_
#define NAND_SRC_DEV_H_

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nand/nand.h"

#ifdef NDEBUG
#error "assertions of nand_model stay on: build with -Db_ndebug=false"
#endif

enum die_work { DIE_IDLE, DIE_PROG, DIE_PROG_CACHE, DIE_ERASE };

struct die_state {
    nand_ns array_until;    /* program or erase over */
    nand_ns sense_until;    /* last plane of the die done sensing */
    nand_ns in_ready;       /* input registers free for DATA_IN and the next program */
    uint32_t channel;
    uint32_t work;          /* enum die_work of the operation that ends at array_until */
};

struct plane_state {
    nand_ns sense_until;    /* data register holds its page */
    nand_ns out_ready;      /* output (cache) register may be sent */
    uint32_t in_block;      /* word line whose pages are being loaded */
    uint32_t in_first_page;
    uint32_t out_limit;     /* bytes that may be taken from the output register, 0 = empty */
    uint32_t data_limit;    /* the same for the data register behind it */
    uint32_t in_types;      /* page types loaded, one bit each */
    uint32_t spare;
};

struct block_state {
    uint32_t pages_written; /* the write pointer: pages below it are programmed */
    uint32_t erase_count;
};

struct nand_dev {
    struct nand_profile prof;
    char name[64];
    char cell[8];
    uint64_t seed;
    nand_ns now;
    /* derived once, so that the hot path neither divides nor multiplies twice */
    uint32_t pages_per_block;
    uint32_t page_total_bytes;      /* user part and spare */
    uint32_t all_types;             /* bit mask of all page types */
    uint64_t type_inv;              /* ceil(2^32 / page_types) */
    uint64_t bus_inv;               /* ceil(2^bus_shift / bus_mts) */
    uint32_t bus_shift;
    uint32_t planes_mask;
    uint64_t block_count;
    nand_ns *channel_free;
    struct die_state *die;
    struct plane_state *plane;
    struct block_state *block;
};

/* Exact for page < 2^31: the error of type_inv is below page_types / 2^32. */
static inline uint32_t dev_wordline(const struct nand_dev *dev, uint32_t page)
{
    return (uint32_t)((page * dev->type_inv) >> 32);
}

static inline uint32_t dev_page_type(const struct nand_dev *dev, uint32_t page)
{
    return page - dev_wordline(dev, page) * dev->prof.geo.page_types;
}

static inline size_t dev_plane_index(const struct nand_dev *dev, uint32_t die, uint32_t plane)
{
    return (size_t)die * dev->prof.geo.planes + plane;
}

static inline struct block_state *dev_block(const struct nand_dev *dev, uint32_t die,
                                            uint32_t plane, uint32_t block)
{
    return &dev->block[dev_plane_index(dev, die, plane) * dev->prof.geo.blocks_per_plane +
                       block];
}

#endif
