/* nand.c - life of a device, block state seen and set from outside. */
#include <stdlib.h>
#include <string.h>

#include "dev.h"

const char *nand_strerror(int err)
{
    switch (err) {
    case NAND_OK: return "ok";
    case NAND_EINVAL: return "null pointer or unknown operation";
    case NAND_ENOMEM: return "out of memory";
    case NAND_EPROFILE: return "profile refused";
    case NAND_EADDR: return "die, plane, block or page out of range";
    case NAND_EMASK: return "plane mask empty or beyond the die";
    case NAND_EBUSY: return "die, plane or register still busy";
    case NAND_EORDER: return "page is not the next one of its block";
    case NAND_ENOTERASED: return "page already programmed: erase the block first";
    case NAND_ENODATA: return "register empty: page not read or not loaded";
    case NAND_EBYTES: return "byte count is zero or beyond page and spare area";
    case NAND_EPARTIAL: return "partial read not offered or too long";
    case NAND_ETIME: return "time goes backwards";
    case NAND_EUNWRITTEN: return "page not programmed since the last erase";
    default: return "unknown error";
    }
}

static size_t align_up(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

struct layout {
    size_t channel, die, plane, block, total;
};

/* The profile has passed nand_profile_check(), whose bounds keep every product
 * below 2^40. */
static struct layout dev_layout(const struct nand_geometry *geo)
{
    struct layout at;
    size_t planes = (size_t)geo->dies * geo->planes;

    at.channel = align_up(sizeof(struct nand_dev));
    at.die = at.channel + align_up(geo->channels * sizeof(nand_ns));
    at.plane = at.die + align_up(geo->dies * sizeof(struct die_state));
    at.block = at.plane + align_up(planes * sizeof(struct plane_state));
    at.total =
        at.block + align_up(planes * geo->blocks_per_plane * sizeof(struct block_state));
    return at;
}

size_t nand_memory_needed(const struct nand_profile *p)
{
    if (!p || nand_profile_check(p, NULL, 0) != 0)
        return 0;
    return dev_layout(&p->geo).total;
}

/* Division by bus_mts as multiply and shift: with n < 2^31, 2^l >= d and
 * m = ceil(2^(31+l) / d), floor(n * m >> (31+l)) == n / d exactly, and n * m
 * stays below 2^63. */
static void derive_bus_inverse(struct nand_dev *dev)
{
    uint32_t log2 = 0;
    uint64_t divisor = dev->prof.time.bus_mts;

    while (((uint64_t)1 << log2) < divisor)
        log2++;
    dev->bus_shift = 31 + log2;
    dev->bus_inv = (((uint64_t)1 << dev->bus_shift) + divisor - 1) / divisor;
}

static void derive(struct nand_dev *dev)
{
    const struct nand_geometry *geo = &dev->prof.geo;

    dev->pages_per_block = geo->wordlines_per_block * geo->page_types;
    dev->page_total_bytes = geo->page_bytes + geo->spare_bytes;
    dev->all_types = (1u << geo->page_types) - 1;
    dev->type_inv = (((uint64_t)1 << 32) + geo->page_types - 1) / geo->page_types;
    dev->planes_mask = (1u << geo->planes) - 1;
    dev->block_count = (uint64_t)geo->dies * geo->planes * geo->blocks_per_plane;
    derive_bus_inverse(dev);
    for (uint32_t d = 0; d < geo->dies; d++)
        dev->die[d].channel = d % geo->channels;
}

int nand_create(const struct nand_profile *p, uint64_t seed, nand_dev **ret_dev)
{
    struct layout at;
    struct nand_dev *dev;
    char *base;

    if (!p || !ret_dev)
        return NAND_EINVAL;
    if (nand_profile_check(p, NULL, 0) != 0)
        return NAND_EPROFILE;
    at = dev_layout(&p->geo);
    base = aligned_alloc(64, at.total);
    if (!base)
        return NAND_ENOMEM;
    memset(base, 0, at.total);
    dev = (struct nand_dev *)(void *)base;
    dev->prof = *p;
    strcpy(dev->name, p->name); /* lengths were checked with the profile */
    strcpy(dev->cell, p->cell);
    dev->prof.name = dev->name;
    dev->prof.cell = dev->cell;
    dev->seed = seed;
    dev->channel_free = (nand_ns *)(void *)(base + at.channel);
    dev->die = (struct die_state *)(void *)(base + at.die);
    dev->plane = (struct plane_state *)(void *)(base + at.plane);
    dev->block = (struct block_state *)(void *)(base + at.block);
    derive(dev);
    *ret_dev = dev;
    return 0;
}

void nand_destroy(nand_dev *dev)
{
    free(dev);
}

const struct nand_profile *nand_dev_profile(const nand_dev *dev)
{
    return dev ? &dev->prof : NULL;
}

int nand_block_info(const nand_dev *dev, uint32_t die, uint32_t plane, uint32_t block,
                    struct nand_block_info *ret_info)
{
    const struct block_state *state;

    if (!dev || !ret_info)
        return NAND_EINVAL;
    if (die >= dev->prof.geo.dies || plane >= dev->prof.geo.planes ||
        block >= dev->prof.geo.blocks_per_plane)
        return NAND_EADDR;
    state = dev_block(dev, die, plane, block);
    *ret_info = (struct nand_block_info){.pages_written = state->pages_written,
                                         .erase_count = state->erase_count};
    return 0;
}

static int block_set_check(const nand_dev *dev, uint32_t die, uint32_t block,
                           uint32_t pages_written)
{
    if (!dev)
        return NAND_EINVAL;
    if (die >= dev->prof.geo.dies || block >= dev->prof.geo.blocks_per_plane ||
        pages_written > dev->pages_per_block)
        return NAND_EADDR;
    if (dev_page_type(dev, pages_written) != 0)
        return NAND_EORDER;
    return 0;
}

int nand_block_set(nand_dev *dev, uint32_t die, uint32_t plane, uint32_t block,
                   uint32_t pages_written, uint32_t erase_count)
{
    if (dev && plane >= dev->prof.geo.planes)
        return NAND_EADDR;
    return nand_block_set_planes(dev, die, 1u << plane, block, NULL, pages_written,
                                 erase_count);
}

int nand_block_set_planes(nand_dev *dev, uint32_t die, uint32_t plane_mask, uint32_t block,
                          const uint32_t *plane_block, uint32_t pages_written,
                          uint32_t erase_count)
{
    int err = block_set_check(dev, die, plane_block ? 0 : block, pages_written);

    if (err)
        return err;
    if (plane_mask == 0 || (plane_mask & ~dev->planes_mask))
        return NAND_EMASK;
    for (uint32_t p = 0; plane_block && p < dev->prof.geo.planes; p++)
        if ((plane_mask >> p & 1) && plane_block[p] >= dev->prof.geo.blocks_per_plane)
            return NAND_EADDR;
    for (uint32_t p = 0; p < dev->prof.geo.planes; p++) {
        if (!(plane_mask >> p & 1))
            continue;
        struct block_state *b = dev_block(dev, die, p, plane_block ? plane_block[p] : block);
        b->pages_written = pages_written;
        b->erase_count = erase_count;
    }
    return 0;
}
