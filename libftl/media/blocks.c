#include "media/blocks.h"

#include <stdlib.h>

#include "ftl/ftl.h"
#include "sim/plant.h"

uint64_t media_blocks_memory(uint64_t dies, uint64_t planes, uint64_t blocks, uint64_t sb_count,
                             bool by_wear)
{
    return dies * planes * (sb_count * 8 + (blocks + 4) * 4 + 9) +
           (by_wear ? (dies * planes + 1) * blocks * 4 : 0);
}

static bool is_bad(const nand_dev *nand, uint32_t die, uint32_t plane, uint32_t block)
{
    struct nand_block_info info;
    return nand_block_info(nand, die, plane, block, &info) != 0 || info.bad != 0;
}

static uint32_t worn_of(const nand_dev *nand, uint32_t die, uint32_t plane, uint32_t block)
{
    struct nand_block_info info;
    return nand_block_info(nand, die, plane, block, &info) == 0 ? info.erase_count : 0;
}

static void spare_push(struct media_blocks *b, size_t plane, uint32_t block)
{
    b->spare[plane * b->spare_room + b->spare_count[plane]++] = block;
}

/* The spare that takes the place of a block, which may be gone; NULL = none. */
static uint32_t *choose_spare(struct media_blocks *b, uint32_t sb, uint32_t die, uint32_t plane, bool gone)
{
    size_t at = media_blocks_plane(b, die, plane);
    uint32_t *spare = &b->spare[at * b->spare_room];
    struct media_spares s = {.sb = sb, .die = die, .plane = plane, .count = b->spare_count[at],
                             .gone = gone, .erases = b->offered};

    if (s.count == 0)
        return NULL;
    if (b->assemble == NULL)
        return gone ? &spare[s.count - 1] : NULL;
    const uint32_t *erases = &b->erases[at * b->spare_room];
    for (uint32_t k = 0; k < s.count; k++)
        b->offered[k] = erases[spare[k]];
    if (!gone)
        s.block_erases = erases[b->block[media_blocks_index(b, sb, die, plane)]];
    uint32_t k = b->assemble(b->assemble_user, &s);
    return k < s.count ? &spare[k] : NULL;
}

/* A spare for one block, or a hole. */
static void fill_place(struct media_blocks *b, uint32_t sb, uint32_t die, uint32_t plane)
{
    size_t i = media_blocks_index(b, sb, die, plane), at = media_blocks_plane(b, die, plane);

    b->block[i] = BLOCK_NONE;
    b->hole_row[i] = 0;
    uint32_t *taken = b->dead[at] ? NULL : choose_spare(b, sb, die, plane, true);
    if (taken == NULL)
        return;
    b->block[i] = *taken;
    *taken = b->spare[at * b->spare_room + --b->spare_count[at]];
    b->hole_row[i] = b->rows;
}

static void place_plane(struct media_blocks *b, const nand_dev *nand, uint32_t die,
                        uint32_t plane)
{
    size_t at = (size_t)die * b->planes + plane;

    /* the stack gives low numbers first */
    for (uint32_t k = b->spare_room; k > b->sb_count; k--) {
        if (is_bad(nand, die, plane, k - 1))
            b->factory_bad++;
        else
            spare_push(b, at, k - 1);
    }
    for (uint32_t sb = 0; sb < b->sb_count; sb++) {
        size_t i = media_blocks_index(b, sb, die, plane);
        b->block[i] = sb;
        b->hole_row[i] = b->rows;
        if (is_bad(nand, die, plane, sb)) {
            b->factory_bad++;
            fill_place(b, sb, die, plane);
        }
    }
    b->spare_begin[at] = b->spare_count[at];
}

int media_blocks_init(struct media_blocks *b, struct sim_mem *mem, const nand_dev *nand,
                      uint32_t sb_count, uint32_t rows, bool by_wear)
{
    const struct nand_geometry *g = &nand_dev_profile(nand)->geo;
    size_t places = (size_t)sb_count * g->dies * g->planes, planes = (size_t)g->dies * g->planes;

    *b = (struct media_blocks){.dies = g->dies, .planes = g->planes, .rows = rows,
                               .sb_count = sb_count, .spare_room = g->blocks_per_plane};
    if (SIM_TAKE(mem, b->block, places) < 0 || SIM_TAKE(mem, b->hole_row, places) < 0 ||
        SIM_TAKE(mem, b->spare, planes * b->spare_room) < 0 ||
        SIM_TAKE(mem, b->spare_count, planes) < 0 || SIM_TAKE(mem, b->spare_begin, planes) < 0 ||
        SIM_TAKE(mem, b->dead, planes) < 0 ||
        (by_wear && (SIM_TAKE(mem, b->erases, planes * b->spare_room) < 0 ||
                     SIM_TAKE(mem, b->offered, b->spare_room) < 0)))
        return FTL_ENOMEM;
    for (uint32_t d = 0; d < b->dies; d++)
        for (uint32_t p = 0; p < b->planes; p++) {
            for (uint32_t k = 0; by_wear && k < b->spare_room; k++)
                b->erases[media_blocks_plane(b, d, p) * b->spare_room + k] = worn_of(nand, d, p, k);
            place_plane(b, nand, d, p);
        }
    return 0;
}

uint32_t media_blocks_mask(const struct media_blocks *b, uint32_t sb, uint32_t die, uint32_t row)
{
    const uint32_t *hole = &b->hole_row[media_blocks_index(b, sb, die, 0)];
    uint32_t mask = 0;

    for (uint32_t p = 0; p < b->planes; p++)
        mask |= (uint32_t)(row < hole[p]) << p;
    return mask;
}

void media_blocks_fail(struct media_blocks *b, uint32_t sb, uint32_t die, uint32_t planes,
                       uint32_t row)
{
    for (uint32_t p = 0; p < b->planes; p++) {
        uint32_t *hole = &b->hole_row[media_blocks_index(b, sb, die, p)];
        if (planes >> p & 1 && row < *hole)
            *hole = row;
    }
}

void media_blocks_replace(struct media_blocks *b, uint32_t sb, uint32_t die, uint32_t planes)
{
    for (uint32_t p = 0; p < b->planes; p++) {
        if (!(planes >> p & 1))
            continue;
        b->retired += b->block[media_blocks_index(b, sb, die, p)] != BLOCK_NONE;
        fill_place(b, sb, die, p);
    }
}

void media_blocks_turn(struct media_blocks *b, uint32_t sb)
{
    for (uint32_t d = 0; d < b->dies; d++) {
        uint32_t good = media_blocks_mask(b, sb, d, b->rows - 1);
        for (uint32_t p = 0; p < b->planes; p++)
            if (b->dead[(size_t)d * b->planes + p])
                good &= ~(UINT32_C(1) << p);
        media_blocks_replace(b, sb, d, ~good & ((UINT32_C(1) << b->planes) - 1));
    }
}

void media_blocks_erased(struct media_blocks *b, uint32_t sb, uint32_t die, uint32_t failed)
{
    if (__builtin_expect(b->erases == NULL, 1))
        return;
    for (uint32_t p = 0; p < b->planes; p++) {
        size_t at = media_blocks_plane(b, die, p);
        size_t i = media_blocks_index(b, sb, die, p);
        uint32_t *block = &b->block[i], *erases = &b->erases[at * b->spare_room];
        /* one that failed is replaced for good, before its erase or after a format */
        if (b->hole_row[i] != b->rows || failed >> p & 1 || b->dead[at])
            continue;
        erases[*block]++;
        uint32_t *spare = choose_spare(b, sb, die, p, false), worn = *block;
        if (spare == NULL)
            continue;
        *block = *spare;
        *spare = FTL_PLANT(spare_twice, 3) ? *spare : worn;
        b->exchanged++;
    }
}

uint32_t media_blocks_found_dead(struct media_blocks *b, uint32_t die, uint32_t planes)
{
    uint32_t fresh = 0;

    for (uint32_t p = 0; p < b->planes; p++) {
        size_t at = (size_t)die * b->planes + p;
        if (!(planes >> p & 1) || b->dead[at])
            continue;
        b->retired += b->spare_count[at];
        b->spare_count[at] = 0;
        b->dead[at] = 1;
        fresh |= UINT32_C(1) << p;
    }
    return fresh;
}

uint32_t media_blocks_spare_percent(const struct media_blocks *b)
{
    uint64_t least = 100;

    if (b->block == NULL)
        return 100;
    for (size_t at = 0; at < (size_t)b->dies * b->planes; at++) {
        if (b->dead[at])
            continue;
        uint64_t begin = b->spare_begin[at];
        uint64_t percent = begin == 0 ? 0 : (uint64_t)b->spare_count[at] * 100 / begin;
        least = percent < least ? percent : least;
    }
    return (uint32_t)least;
}
