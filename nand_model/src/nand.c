/* nand.c - life of a device, block state seen and set from outside. */
#include <stdlib.h>
#include <string.h>

#include "dev.h"

const char *nand_strerror(int err)
{
    switch (err) {
    case NAND_OK:
        return "ok";
    case NAND_EINVAL:
        return "null pointer or unknown operation";
    case NAND_ENOMEM:
        return "out of memory";
    case NAND_EPROFILE:
        return "profile refused";
    case NAND_EADDR:
        return "die, plane, block or page out of range";
    case NAND_EMASK:
        return "plane mask empty or beyond the die";
    case NAND_EBUSY:
        return "die, plane or register still busy";
    case NAND_EORDER:
        return "page is not the next one of its block";
    case NAND_ENOTERASED:
        return "page already programmed: erase the block first";
    case NAND_ENODATA:
        return "register empty: page not read or not loaded";
    case NAND_EBYTES:
        return "byte count is zero or beyond page and spare area";
    case NAND_EPARTIAL:
        return "partial read not offered or too long";
    case NAND_ETIME:
        return "time goes backwards";
    case NAND_EUNWRITTEN:
        return "page not programmed since the last erase";
    case NAND_ENOTSUP:
        return "operation or mode not offered by this profile or device";
    case NAND_ESUSPEND:
        return "nothing to suspend or resume, or target is suspended";
    case NAND_ELIMIT:
        return "too many suspends or too little progress since the last";
    case NAND_EPASS:
        return "two-pass order broken";
    case NAND_EMODE:
        return "SLC-mode and normal blocks in one operation";
    case NAND_EOFF:
        return "power is off";
    case NAND_ENOP:
        return "partial programs of this page are used up";
    case NAND_EFORMAT:
        return "not a snapshot of this version";
    case NAND_ECORRUPT:
        return "snapshot damaged";
    default:
        return "unknown error";
    }
}

static size_t align_up(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

struct layout {
    size_t channel, die, plane, input, block, cells, reg_cells, power_drive, power_die, offsets,
        total;
};

static size_t take(size_t *at, size_t bytes)
{
    size_t here = *at;

    *at += align_up(bytes);
    return here;
}

/* The profile has passed nand_profile_check(), whose bounds keep every product
 * below 2^40. Arrays that are not needed take no room. */
static struct layout dev_layout(const struct nand_profile *p, uint32_t flags)
{
    const struct nand_geometry *geo = &p->geo;
    size_t planes = (size_t)geo->dies * geo->planes, blocks = planes * geo->blocks_per_plane;
    bool cells = (flags & NAND_WITH_CELLS) != 0;
    bool block_cells = cells || p->time.partial_programs > 1;
    struct layout at;

    at.total = align_up(sizeof(struct nand_dev));
    at.channel = take(&at.total, geo->channels * sizeof(nand_ns));
    at.die = take(&at.total, geo->dies * sizeof(struct die_state));
    at.plane = take(&at.total, planes * sizeof(struct plane_state));
    at.input = take(&at.total, planes * sizeof(struct plane_input));
    at.block = take(&at.total, blocks * sizeof(struct block_state));
    at.cells = take(&at.total, block_cells ? blocks * sizeof(struct block_cells) : 0);
    at.reg_cells = take(&at.total, cells ? planes * sizeof(struct reg_cells) : 0);
    at.power_drive = take(&at.total, p->power.drive_ops_max * sizeof(nand_ns));
    at.power_die = take(&at.total, (size_t)geo->dies * p->power.die_ops_max * sizeof(nand_ns));
    at.offsets = take(&at.total, (size_t)geo->dies * NAND_BOUNDS_MAX * sizeof(int16_t));
    return at;
}

/* Also called on a copy of the allocation, whose pointers still lead to the original. */
void nandi_set_pointers(struct nand_dev *dev)
{
    struct layout at = dev_layout(&dev->prof, dev->flags);
    char *base = (char *)dev;
    bool cells = (dev->flags & NAND_WITH_CELLS) != 0;

    dev->prof.name = dev->name;
    dev->prof.cell = dev->cell;
    dev->flat_bytes = at.total;
    dev->channel_free = (nand_ns *)(void *)(base + at.channel);
    dev->die = (struct die_state *)(void *)(base + at.die);
    dev->plane = (struct plane_state *)(void *)(base + at.plane);
    dev->input = (struct plane_input *)(void *)(base + at.input);
    dev->block = (struct block_state *)(void *)(base + at.block);
    dev->cells = cells || dev->prof.time.partial_programs > 1
                     ? (struct block_cells *)(void *)(base + at.cells)
                     : NULL;
    dev->reg_cells = cells ? (struct reg_cells *)(void *)(base + at.reg_cells) : NULL;
    dev->power_drive = (nand_ns *)(void *)(base + at.power_drive);
    dev->power_die = (nand_ns *)(void *)(base + at.power_die);
    dev->offsets = (int16_t *)(void *)(base + at.offsets);
}

size_t nand_memory_needed(const struct nand_profile *p)
{
    return nand_memory_needed_with(p, 0);
}

size_t nand_memory_needed_with(const struct nand_profile *p, uint32_t flags)
{
    if (!p || nand_profile_check(p, NULL, 0) != 0)
        return 0;
    return dev_layout(p, flags).total;
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
    dev->codewords = geo->page_bytes >= 4096 ? geo->page_bytes / 4096 : 1;
    dev->pass_pj =
        dev->prof.energy.prog_pj / (dev->prof.scheme == NAND_SCHEME_ONE_PASS ? 1 : 2);
    derive_bus_inverse(dev);
    for (uint32_t d = 0; d < geo->dies; d++)
        dev->die[d].channel = d % geo->channels;
    for (size_t p = 0; dev->reg_cells && p < (size_t)geo->dies * geo->planes; p++)
        dev->reg_cells[p].out.point = dev->reg_cells[p].data.point =
            (struct nand_cell_point)NAND_CELL_POINT_INIT;
}

int nand_create(const struct nand_profile *p, uint64_t seed, nand_dev **ret_dev)
{
    return nand_create_with(p, seed, NULL, ret_dev);
}

int nand_create_with(const struct nand_profile *p, uint64_t seed,
                     const struct nand_options *options, nand_dev **ret_dev)
{
    const uint32_t known =
        NAND_WITH_CELLS | NAND_WITH_CONTENTS | NAND_WITH_FAULTS | NAND_COMPRESS;
    uint32_t flags = options ? options->flags : 0;
    struct nand_dev *dev;
    size_t bytes;
    int err;

    if (!p || !ret_dev || (flags & ~known))
        return NAND_EINVAL;
    if (nand_profile_check(p, NULL, 0) != 0)
        return NAND_EPROFILE;
    bytes = dev_layout(p, flags).total;
    dev = aligned_alloc(64, bytes);
    if (!dev)
        return NAND_ENOMEM;
    memset(dev, 0, bytes);
    dev->prof = *p;
    strcpy(dev->name, p->name); /* lengths were checked with the profile */
    strcpy(dev->cell, p->cell);
    dev->seed = seed;
    dev->flags = flags;
    dev->contents_bytes_max = options ? options->contents_bytes_max : 0;
    dev->next_armed_op = UINT64_MAX;
    nandi_set_pointers(dev);
    derive(dev);
    err = nandi_cell_adopt(dev, options ? options->cell : NULL);
    if (!err) {
        nandi_clock_init(dev);
        err = nandi_tables_create(dev);
    }
    if (!err)
        err = nandi_contents_create(dev);
    if (err) {
        nand_destroy(dev);
        return err;
    }
    if (flags & NAND_WITH_FAULTS)
        nandi_mark_factory_bad(dev);
    *ret_dev = dev;
    return 0;
}

void nand_destroy(nand_dev *dev)
{
    if (!dev)
        return;
    nandi_contents_destroy(dev);
    nandi_tables_release(dev);
    free(dev->damage);
    free(dev);
}

const struct nand_profile *nand_dev_profile(const nand_dev *dev)
{
    return dev ? &dev->prof : NULL;
}

void nand_block_prefetch(const nand_dev *dev, uint32_t die, uint32_t plane, uint32_t block)
{
    const struct nand_geometry *geo = &dev->prof.geo;

    if (die < geo->dies && plane < geo->planes && block < geo->blocks_per_plane)
        __builtin_prefetch(&dev->block[dev_block_index(dev, die, plane, block)]);
}

int nand_block_info(const nand_dev *dev, uint32_t die, uint32_t plane, uint32_t block,
                    struct nand_block_info *ret_info)
{
    size_t at;
    uint32_t word;

    if (!dev || !ret_info)
        return NAND_EINVAL;
    if (die >= dev->prof.geo.dies || plane >= dev->prof.geo.planes ||
        block >= dev->prof.geo.blocks_per_plane)
        return NAND_EADDR;
    at = dev_block_index(dev, die, plane, block);
    word = dev->block[at].word;
    *ret_info = (struct nand_block_info){.erase_count = dev->block[at].erase_count};
    ret_info->slc = (word & BF_SLC) != 0;
    ret_info->pages_written =
        ret_info->slc ? word & BF_STEPS : nandi_pages_of_steps(dev, word & BF_STEPS);
    ret_info->reads = dev->reg_cells ? dev->cells[at].reads : 0;
    ret_info->bad = word & BF_BAD ? 1 : word & BF_WORN ? 2 : 0;
    ret_info->torn = word & BF_TORN ? 1 : word & BF_FAINT ? 2 : 0;
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
    if (dev->prof.scheme != NAND_SCHEME_PAGED && dev_page_type(dev, pages_written) != 0)
        return NAND_EORDER;
    return 0;
}

static void block_set(nand_dev *dev, size_t at, uint32_t pages_written, uint32_t erase_count)
{
    nandi_block_erased(dev, at, BF_STAY);
    dev->block[at].word |= nandi_steps_of_pages(dev, pages_written);
    dev->block[at].erase_count = erase_count;
    if (dev->reg_cells && pages_written)
        nandi_cells_programmed(dev, dev->now, at, true);
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
    for (uint32_t p = 0; p < dev->prof.geo.planes; p++)
        if (plane_mask >> p & 1)
            block_set(dev, dev_block_index(dev, die, p, plane_block ? plane_block[p] : block),
                      pages_written, erase_count);
    return 0;
}

int nand_block_set_slc(nand_dev *dev, uint32_t die, uint32_t plane, uint32_t block,
                       uint32_t pages_written, uint32_t erase_count)
{
    int err = block_set_check(dev, die, block, 0);

    if (err)
        return err;
    if (plane >= dev->prof.geo.planes || pages_written > dev->prof.geo.wordlines_per_block)
        return NAND_EADDR;
    if (dev->prof.time.slc_tprog_ns == 0)
        return NAND_ENOTSUP;
    size_t at = dev_block_index(dev, die, plane, block);
    block_set(dev, at, 0, erase_count);
    dev->block[at].word |= BF_SLC | pages_written;
    dev->any_slc = 1;
    if (dev->reg_cells && pages_written)
        nandi_cells_programmed(dev, dev->now, at, true);
    return 0;
}

/* ---- counts --------------------------------------------------------------------- */

uint64_t nand_op_count(const nand_dev *dev)
{
    return dev ? dev->op_count : 0;
}

/* Energy follows from the counts, so that the hot path does not add it up. */
static uint64_t energy_pj(const nand_dev *dev, const struct nand_stats *s)
{
    const struct nand_energy *e = &dev->prof.energy;

    return s->senses * e->sense_pj + s->plane_programs * dev->pass_pj +
           s->slc_plane_programs * e->slc_prog_pj + s->plane_erases * e->erase_pj +
           s->bus_bytes * e->bus_pj_per_byte;
}

int nand_stats_get(const nand_dev *dev, struct nand_stats *ret_stats)
{
    if (!dev || !ret_stats)
        return NAND_EINVAL;
    *ret_stats = dev->stats;
    ret_stats->energy_pj = energy_pj(dev, &dev->stats);
    return 0;
}
