/* soft.c - soft values of a codeword whose bytes are known. */
#include <string.h>

#include "dev.h"
#include "dist.h"
#include "dmath.h"

/* Distribution behind the register's page, for the exact bin probabilities. */
static void register_dist(const struct nand_dev *dev, const struct nand_cell_point *point,
                          bool slc, struct nand_cell_dist *ret)
{
    const struct nand_cell *cell = nandi_cell_of(dev, slc);
    struct nand_cell_use use = NAND_CELL_USE_INIT;
    double u = (1 - cell->fast_share) * nandi_log1p((double)point->slow_s / 3600) +
               cell->fast_share * nandi_log1p((double)point->fast_s / 3600);

    if (dev->prof.law == NAND_LAW_PLANAR_TLC && !slc) {
        double hours = (double)point->slow_s / 3600;
        (void)nand_planar_tlc_dist(hours < 24 ? 24 : hours > 8760 ? 8760 : hours, ret);
        return;
    }
    use.pe = point->pe < cell->pe_max ? point->pe : cell->pe_max;
    use.hours = nandi_exp(u) - 1; /* at 30 C both clocks run alike */
    use.hours = use.hours < 0 ? 0 : use.hours > 1e6 ? 1e6 : use.hours;
    use.reads = (double)point->dose_q4 / 16;
    use.reads = use.reads > 1e9 ? 1e9 : use.reads;
    use.program_celsius = 30;
    use.read_celsius = 30 + point->read_minus_program_mk / 1000.0;
    use.read_celsius = use.read_celsius > 150   ? 150
                       : use.read_celsius < -55 ? -55
                                                : use.read_celsius;
    use.width_ln = nandi_log(point->width_q16 / 65536.0);
    use.neighbor_state = point->neighbor_state;
    (void)nand_cell_dist(cell, &use, ret, NULL, 0);
}

/* P(confidence <= c | stored bit, read bit), 2^32 = 1. */
struct confidence {
    uint64_t upto[2][2][NAND_BINS_MAX / 2];
};

static void confidences(const struct nand_cell_bins *bins, struct confidence *ret)
{
    uint32_t half = bins->bins / 2;

    for (uint32_t stored = 0; stored < 2; stored++) {
        const double *p = stored ? bins->p1 : bins->p0;
        for (uint32_t read = 0; read < 2; read++) {
            double sum = 0, total = 0;
            for (uint32_t c = 0; c < half; c++)
                total += p[read ? half + c : half - 1 - c];
            for (uint32_t c = 0; c < half; c++) {
                sum += p[read ? half + c : half - 1 - c];
                ret->upto[stored][read][c] =
                    total > 0 ? (uint64_t)(sum / total * 4294967296.0) : 4294967296u;
            }
        }
    }
}

static uint32_t draw_bin(const struct confidence *table, uint32_t half, uint32_t stored,
                         uint32_t read, uint64_t draw)
{
    uint32_t c = 0;

    while (c + 1 < half && (draw >> 32) >= table->upto[stored][read][c])
        c++;
    return read ? half + c : half - 1 - c;
}

static int check_register(const nand_dev *dev, uint32_t die, uint32_t plane)
{
    if (die >= dev->prof.geo.dies || plane >= dev->prof.geo.planes)
        return NAND_EADDR;
    if (!dev->reg_cells || dev->prof.law == NAND_LAW_FAST19)
        return NAND_ENOTSUP;
    return dev->plane[dev_plane_index(dev, die, plane)].out.limit == 0 ? NAND_ENODATA : 0;
}

static void bin_table(const struct nand_dev *dev, const struct sensed *sensed,
                      const struct reg *reg, struct confidence *ret)
{
    uint32_t type = sensed->slc ? 0 : dev_page_type(dev, reg->page);
    struct nand_cell_dist dist;
    struct nand_cell_volts volts;
    struct nand_cell_bins bins;
    double spacing;
    int err;

    register_dist(dev, &sensed->point, sensed->slc, &dist);
    for (int b = 0; b < NAND_BOUNDS_MAX; b++)
        volts.v[b] = sensed->volts_q24[b] / 16777216.0;
    spacing = nand_cell_best_spacing(&dist, type, &volts, reg->soft_bits);
    err = nand_cell_sense(&dist, type, &volts, reg->soft_bits, spacing, &bins);
    assert(err == 0);
    confidences(&bins, ret);
}

int nand_register_soft(const nand_dev *dev, uint32_t die, uint32_t plane, uint32_t codeword,
                       uint8_t *ret_bins, uint32_t *ret_bits)
{
    uint8_t truth[65536 + 16384], seen[65536 + 16384];
    struct confidence table;
    uint32_t first, span, half;

    if (!dev || !ret_bins || !ret_bits)
        return NAND_EINVAL;
    int err = check_register(dev, die, plane);
    if (err)
        return err;
    size_t index = dev_plane_index(dev, die, plane);
    const struct reg *reg = &dev->plane[index].out;
    if (codeword >= dev->codewords)
        return NAND_EADDR;
    if (!dev->contents)
        return NAND_ENOTSUP;
    if (reg->soft_bits < 2)
        return NAND_ENODATA;
    uint64_t key = nandi_page_key(dev, die, plane, reg->block, reg->page);
    bin_table(dev, &dev->reg_cells[index].out, reg, &table);
    span = nandi_codeword_span(dev, codeword, &first);
    half = 1u << (reg->soft_bits - 1);
    nandi_contents_unpack(dev, dev->reg_data[index * 2], truth);
    nandi_contents_register(dev, die, plane, first, span, seen);
    for (uint32_t i = 0; i < span * 8; i++) {
        uint32_t stored = truth[first + i / 8] >> (i & 7) & 1;
        uint32_t read = seen[i / 8] >> (i & 7) & 1;
        uint64_t draw = nand_draw(dev->seed, DRAW_SOFT, key, (uint64_t)codeword << 32 | i);
        ret_bins[i] = (uint8_t)draw_bin(&table, half, stored, read, draw);
    }
    *ret_bits = span * 8;
    return 0;
}

int nand_register_optimum(const nand_dev *dev, uint32_t die, uint32_t plane,
                          int16_t ret_offsets[15])
{
    struct nand_cell_dist dist;
    struct nand_cell_volts best;
    int32_t usual[NAND_BOUNDS_MAX];

    if (!dev || !ret_offsets)
        return NAND_EINVAL;
    int err = check_register(dev, die, plane);
    if (err)
        return err;
    const struct sensed *sensed = &dev->reg_cells[dev_plane_index(dev, die, plane)].out;
    register_dist(dev, &sensed->point, sensed->slc, &dist);
    nand_cell_optimum(&dist, &best);
    nandi_default_volts(dev, sensed->slc, usual);
    for (uint32_t b = 0; b < NAND_BOUNDS_MAX; b++) {
        double milli = (best.v[b] - usual[b] / 16777216.0) * 1000;
        milli = milli > 2000 ? 2000 : milli < -2000 ? -2000 : milli;
        ret_offsets[b] = (int16_t)(milli < 0 ? milli - 0.5 : milli + 0.5);
        if (b + 1 >= dist.states)
            ret_offsets[b] = 0;
    }
    return 0;
}
