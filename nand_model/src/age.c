/* age.c - wear, age and reads of a device's cells, and the errors they cause. */
#include <stdlib.h>
#include <string.h>

#include "dev.h"
#include "dmath.h"
#include "octave.h"

enum { Z_STEPS = 1024, EXP_STEPS = 256 };

/* Built once, shared by a device and its forks (one thread, see store.h). */
struct shared_tables {
    uint32_t refs;
    nand_cell_table *table[2]; /* normal, SLC mode */
    struct nand_cell own[2];
    const struct nand_cell *cell[2]; /* = own */
    int32_t volts_q24[2][NAND_BOUNDS_MAX];
    int32_t retry_q24[2][NAND_BOUNDS_MAX]; /* one retry level */
    int32_t z_q16[Z_STEPS];                /* normal quantiles */
    uint32_t exp_q16[EXP_STEPS + 2];       /* over ln -0.5..0.5 */
    int32_t var_q16[4], edge_q16;          /* chip, block, layer, page */
    uint64_t wear_limit[OCTAVE_SIZE(32)];  /* cycles by 32-bit draw */
};

static const struct nand_cell *device_cell(const struct nand_dev *dev)
{
    const struct nand_cell *cell =
        dev->own_cell.states ? &dev->own_cell : nand_cell_find(dev->cell);

    assert(cell); /* the profile check knows the names */
    return cell;
}

/* Before anything is built from it. */
int nandi_cell_adopt(struct nand_dev *dev, const struct nand_cell *cell)
{
    if (!cell)
        return 0;
    if (nand_cell_check(cell, NULL, 0) != 0 || cell->states != 1u << dev->prof.geo.page_types)
        return NAND_EINVAL;
    dev->own_cell = *cell;
    dev->own_cell.name = NULL; /* the caller's string may go away */
    return 0;
}

/* ---- tables ----------------------------------------------------------------------- */

static int build_law(struct shared_tables *t, int which, const struct nand_cell *cell,
                     uint32_t law)
{
    struct nand_cell_volts volts, one;

    t->own[which] = *cell;
    t->cell[which] = &t->own[which];
    if (t->cell[which]->states != 8)
        law = NAND_LAW_VTH;
    nand_cell_default(t->cell[which], &volts);
    if (law == NAND_LAW_PLANAR_TLC) { /* frozen at the optimum of the first row */
        struct nand_cell_dist first;
        (void)nand_planar_tlc_dist(24, &first);
        nand_cell_optimum(&first, &volts);
    }
    nand_cell_volts_q24(&volts, t->volts_q24[which]);
    nand_cell_default(t->cell[which], &volts);
    nand_cell_retry(t->cell[which], 1, &one);
    for (int b = 0; b < NAND_BOUNDS_MAX; b++)
        one.v[b] -= volts.v[b];
    nand_cell_volts_q24(&one, t->retry_q24[which]);
    return nand_cell_table_create(t->cell[which], (enum nand_cell_law)law, &t->table[which]);
}

static int32_t to_q16(double x)
{
    return (int32_t)(x < 0 ? x * 65536 - 0.5 : x * 65536 + 0.5);
}

static void build_draws(struct shared_tables *t)
{
    const struct nand_cell *c = t->cell[0];

    for (int i = 0; i < Z_STEPS; i++)
        t->z_q16[i] = to_q16(nandi_normal_quantile((i + 0.5) / Z_STEPS));
    for (int i = 0; i < EXP_STEPS + 2; i++)
        t->exp_q16[i] = (uint32_t)to_q16(nandi_exp((double)i / EXP_STEPS - 0.5));
    t->var_q16[0] = to_q16(c->var_chip);
    t->var_q16[1] = to_q16(c->var_block);
    t->var_q16[2] = to_q16(c->var_layer);
    t->var_q16[3] = to_q16(c->var_page);
    t->edge_q16 = to_q16(c->layer_edge);
}

/* Weibull quantiles: F(c) = 1 - exp(-(c / scale)^shape), F(rated) = grown part. */
static void build_wear(struct shared_tables *t, const struct nand_wearout *w)
{
    double shape = w->shape_milli / 1000.0, scale;

    for (uint32_t i = 0; i < OCTAVE_SIZE(32); i++)
        t->wear_limit[i] = (uint64_t)1 << 40;
    if (w->rated_pe == 0 || w->grown_bad_ppm == 0)
        return;
    scale = w->rated_pe / nandi_pow(-nandi_log1p(-(double)w->grown_bad_ppm / 1e6), 1 / shape);
    for (uint32_t i = 0; i < OCTAVE_SIZE(32); i++) {
        double u = ((double)octave_x(i) + 0.5) / 4294967808.0;
        double cycles =
            scale * nandi_pow(-nandi_log1p(-(u < 0.9999999 ? u : 0.9999999)), 1 / shape);
        t->wear_limit[i] = cycles < 1e12 ? (uint64_t)(cycles + 0.5) : (uint64_t)1 << 40;
    }
}

int nandi_tables_create(struct nand_dev *dev)
{
    struct shared_tables *t;
    int err;

    if (!(dev->flags & (NAND_WITH_CELLS | NAND_WITH_FAULTS)))
        return 0;
    t = calloc(1, sizeof *t);
    if (!t)
        return NAND_ENOMEM;
    t->refs = 1;
    dev->tables = t;
    err = build_law(t, 0, device_cell(dev), dev->prof.law);
    if (!err)
        err = build_law(t, 1, nand_cell_find("slc"), NAND_LAW_VTH);
    if (err)
        return err;
    build_draws(t);
    build_wear(t, &dev->prof.wearout);
    return 0;
}

void nandi_tables_share(struct nand_dev *dev)
{
    if (dev->tables)
        dev->tables->refs++;
}

void nandi_tables_release(struct nand_dev *dev)
{
    struct shared_tables *t = dev->tables;

    dev->tables = NULL;
    if (!t || --t->refs)
        return;
    nand_cell_table_destroy(t->table[0]);
    nand_cell_table_destroy(t->table[1]);
    free(t);
}

uint64_t nandi_wear_limit(const struct nand_dev *dev, uint64_t draw)
{
    return octave_lookup(dev->tables->wear_limit, 32, draw >> 32);
}

/* ---- the device's clock, weighted by temperature ------------------------------------ */

static void clock_rates(struct nand_dev *dev)
{
    const struct nand_cell *cell = device_cell(dev);
    double celsius = dev->clock.milli_celsius / 1000.0;

    dev->clock.slow_rate_q16 =
        (uint64_t)(nand_cell_acceleration(cell->ea_slow, celsius) * 65536 + 0.5);
    dev->clock.fast_rate_q16 =
        (uint64_t)(nand_cell_acceleration(cell->ea_fast, celsius) * 65536 + 0.5);
}

void nandi_clock_init(struct nand_dev *dev)
{
    dev->clock.milli_celsius = 30000;
    clock_rates(dev);
}

static uint64_t weighted_q16(uint64_t start, uint64_t rate, nand_ns span)
{
    const uint64_t second = 1000000000;
    uint64_t whole, sum;

    if (__builtin_mul_overflow(span / second, rate, &whole) ||
        __builtin_add_overflow(start, whole + span % second * (rate >> 4) / (second >> 4),
                               &sum))
        return UINT64_MAX; /* beyond 8 million years */
    return sum;
}

void nandi_clock_read(const struct nand_dev *dev, nand_ns now, uint64_t *slow_s,
                      uint64_t *fast_s)
{
    nand_ns span = now > dev->clock.since ? now - dev->clock.since : 0;

    *slow_s = weighted_q16(dev->clock.slow_q16, dev->clock.slow_rate_q16, span) >> 16;
    *fast_s = weighted_q16(dev->clock.fast_q16, dev->clock.fast_rate_q16, span) >> 16;
}

int nand_set_temperature(nand_dev *dev, nand_ns now, int32_t milli_celsius)
{
    struct clock_state *c;

    if (!dev || milli_celsius < -55000 || milli_celsius > 150000)
        return NAND_EINVAL;
    if (now < dev->now)
        return NAND_ETIME;
    c = &dev->clock;
    c->slow_q16 = weighted_q16(c->slow_q16, c->slow_rate_q16, now - c->since);
    c->fast_q16 = weighted_q16(c->fast_q16, c->fast_rate_q16, now - c->since);
    c->since = dev->now = now;
    c->milli_celsius = milli_celsius;
    clock_rates(dev);
    return 0;
}

/* ---- following a block -------------------------------------------------------------- */

void nandi_cells_programmed(struct nand_dev *dev, nand_ns at, size_t block, bool first)
{
    struct block_cells *c = &dev->cells[block];

    nandi_clock_read(dev, at, &c->slow_last, &c->fast_last);
    if (first) {
        c->slow_first = c->slow_last;
        c->fast_first = c->fast_last;
    }
    c->program_mc = dev->clock.milli_celsius;
}

static uint32_t page_wordline(const struct nand_dev *dev, uint32_t word, uint32_t page)
{
    return word & BF_SLC ? page : dev_wordline(dev, page);
}

/* One majority candidate per block: exact for a word line that takes more than half
 * of the reads, a lower bound for any other. */
void nandi_cells_read(struct nand_dev *dev, size_t block, uint32_t page)
{
    struct block_cells *c = &dev->cells[block];
    uint32_t wordline = page_wordline(dev, dev->block[block].word, page);

    if (c->reads != UINT32_MAX)
        c->reads++;
    if (c->hot_reads && c->hot_wordline == wordline)
        c->hot_reads += c->hot_reads != UINT32_MAX;
    else if (c->hot_reads)
        c->hot_reads--;
    else
        *c = (struct block_cells){c->slow_first,
                                  c->slow_last,
                                  c->fast_first,
                                  c->fast_last,
                                  c->reads,
                                  wordline,
                                  1,
                                  c->program_mc,
                                  c->partials,
                                  0};
}

/* Reads beyond those of the hot word line count as spread over the block: 2 in n of
 * them are next door. */
static uint64_t page_dose_q4(const struct nand_dev *dev, const struct block_cells *c,
                             const struct nand_cell *cell, uint32_t wordline)
{
    uint32_t strings = dev->prof.geo.strings ? dev->prof.geo.strings : 1;
    uint32_t n = dev->prof.geo.wordlines_per_block;
    uint64_t extra_q16 = (uint64_t)((cell->rd_neighbor - 1) * 65536 + 0.5);
    uint64_t spread = c->reads - c->hot_reads, next;
    bool beside =
        c->hot_wordline + strings == wordline || wordline + strings == c->hot_wordline;

    next = spread * 2 * 16 / n + (beside ? (uint64_t)c->hot_reads * 16 : 0);
    return (uint64_t)c->reads * 16 + (next * extra_q16 >> 16);
}

static int32_t draw_z(const struct nand_dev *dev, enum draw_purpose purpose, uint64_t address)
{
    return dev->tables->z_q16[nand_draw(dev->seed, purpose, address, 0) >> 54];
}

/* ln of the width against the typical page: chip, block, layer and page have their own
 * normal draws; outer layers are wider by a parabola with zero mean. */
static uint32_t page_width_q16(const struct nand_dev *dev, uint32_t die, size_t block,
                               uint32_t wordline)
{
    const struct shared_tables *t = dev->tables;
    uint32_t strings = dev->prof.geo.strings ? dev->prof.geo.strings : 1;
    uint32_t layers = (dev->prof.geo.wordlines_per_block + strings - 1) / strings;
    uint32_t layer = wordline / strings;
    int64_t x = layers > 1 ? ((int64_t)layer * 2 << 16) / (layers - 1) - 65536 : 0;
    int64_t ln, at;

    ln = (int64_t)draw_z(dev, DRAW_WIDTH_CHIP, die) * t->var_q16[0];
    ln += (int64_t)draw_z(dev, DRAW_WIDTH_BLOCK, block) * t->var_q16[1];
    ln += (int64_t)draw_z(dev, DRAW_WIDTH_LAYER, (uint64_t)die << 32 | layer) * t->var_q16[2];
    ln +=
        (int64_t)draw_z(dev, DRAW_WIDTH_PAGE, (uint64_t)block << 24 | wordline) * t->var_q16[3];
    ln += (int64_t)t->edge_q16 * ((x * x >> 16) - 21845);
    at = (ln >> 16) + 32768;
    at = at < 0 ? 0 : at > 65535 ? 65535 : at;
    uint32_t i = (uint32_t)at >> 8, part = (uint32_t)at & 255;
    return t->exp_q16[i] + ((t->exp_q16[i + 1] - t->exp_q16[i]) * part >> 8);
}

/* When the page was programmed: blocks fill evenly between first and last stamp. */
static uint64_t page_age(uint64_t now, uint64_t first, uint64_t last, uint32_t page,
                         uint32_t pages)
{
    uint64_t span = last - first, stamp;

    stamp = first + (pages > 1 ? span / pages * page + span % pages * page / pages : 0);
    return now > stamp ? now - stamp : 0;
}

static void page_point(const struct nand_dev *dev, nand_ns at, uint32_t die, size_t block,
                       uint32_t page, struct nand_cell_point *ret)
{
    const struct block_cells *c = &dev->cells[block];
    uint32_t word = dev->block[block].word, wordline = page_wordline(dev, word, page);
    uint32_t strings = dev->prof.geo.strings ? dev->prof.geo.strings : 1;
    uint32_t next = wordline + strings, pages = nandi_pages_of_steps(dev, word & BF_STEPS);
    const struct nand_cell *cell = dev->tables->cell[(word & BF_SLC) != 0];
    uint64_t slow, fast;

    nandi_clock_read(dev, at, &slow, &fast);
    ret->pe = dev->block[block].erase_count;
    ret->slow_s = page_age(slow, c->slow_first, c->slow_last, page, pages);
    ret->fast_s = page_age(fast, c->fast_first, c->fast_last, page, pages);
    ret->dose_q4 = page_dose_q4(dev, c, cell, wordline);
    ret->read_minus_program_mk = dev->clock.milli_celsius - c->program_mc;
    ret->width_q16 = page_width_q16(dev, die, block, wordline);
    ret->neighbor_state = NAND_NEIGHBOR_RANDOM;
    if (!(word & BF_SLC))
        next *= dev->prof.geo.page_types;
    if (next < nandi_block_pages(dev, word) && !nandi_page_written(dev, word, next))
        ret->neighbor_state = NAND_NEIGHBOR_ERASED;
}

const struct nand_cell *nandi_cell_of(const struct nand_dev *dev, bool slc)
{
    return dev->tables->cell[slc];
}

void nandi_default_volts(const struct nand_dev *dev, bool slc, int32_t ret_q24[NAND_BOUNDS_MAX])
{
    for (uint32_t b = 0; b < NAND_BOUNDS_MAX; b++)
        ret_q24[b] = dev->tables->volts_q24[slc][b];
}

/* Default voltages, lowered by the retry level, moved by the read's own offsets or else
 * by the die's. Senses go upwards: a boundary is never below the one before. */
static void sense_volts(const struct nand_dev *dev, const struct nand_req *req, bool slc,
                        int32_t ret_q24[NAND_BOUNDS_MAX])
{
    const struct shared_tables *t = dev->tables;
    const int16_t *offsets = &dev->offsets[(size_t)req->addr.die * NAND_BOUNDS_MAX];
    uint32_t bounds = slc ? 1 : (1u << dev->prof.geo.page_types) - 1;

    if (req->offsets)
        offsets = req->offsets;
    for (uint32_t b = 0; b < NAND_BOUNDS_MAX; b++) {
        ret_q24[b] = t->volts_q24[slc][b] + (int32_t)req->read_level * t->retry_q24[slc][b];
        if (b < bounds)
            ret_q24[b] += (int32_t)((int64_t)offsets[b] * 16777216 / 1000);
        if (b > 0 && b < bounds && ret_q24[b] < ret_q24[b - 1])
            ret_q24[b] = ret_q24[b - 1];
    }
}

/* ---- what a read sees --------------------------------------------------------------- */

void nandi_cells_sense(struct nand_dev *dev, nand_ns at, const struct nand_req *req,
                       const struct reg *reg, struct sensed *ret)
{
    const uint64_t half = (uint64_t)1 << 47;
    size_t block = dev_block_index(dev, req->addr.die, req->addr.plane, reg->block);
    bool slc = (dev->block[block].word & BF_SLC) != 0;

    ret->slc = slc;
    page_point(dev, at, req->addr.die, block, reg->page, &ret->point);
    sense_volts(dev, req, slc, ret->volts_q24);
    if (reg->status != NAND_OK) {
        uint64_t rate = reg->status == NAND_ERASED ? 0 : half;
        ret->rates = (struct nand_cell_rates){rate, rate, rate};
        return;
    }
    nand_cell_table_rates(dev->tables->table[slc], &ret->point,
                          slc ? 0 : dev_page_type(dev, reg->page), ret->volts_q24, &ret->rates);
}

uint32_t nand_codewords(const nand_dev *dev)
{
    return dev ? dev->codewords : 0;
}

/* Bytes of a codeword and where it begins. */
uint32_t nandi_codeword_span(const struct nand_dev *dev, uint32_t codeword, uint32_t *ret_first)
{
    uint32_t share = dev->page_total_bytes / dev->codewords;

    *ret_first = share * codeword;
    return codeword + 1 == dev->codewords ? dev->page_total_bytes - share * codeword : share;
}

uint64_t nandi_page_key(const struct nand_dev *dev, uint32_t die, uint32_t plane,
                        uint32_t block, uint32_t page)
{
    return (uint64_t)dev_block_index(dev, die, plane, block) << 24 | page;
}

int nandi_codeword_errors(const struct nand_dev *dev, uint32_t die, uint32_t plane,
                          uint32_t codeword, struct nand_errors *ret)
{
    size_t index = dev_plane_index(dev, die, plane);
    const struct reg *reg = &dev->plane[index].out;
    const struct nand_cell_rates *rates = &dev->reg_cells[index].out.rates;
    uint32_t first, bits = nandi_codeword_span(dev, codeword, &first) * 8;
    uint64_t key = nandi_page_key(dev, die, plane, reg->block, reg->page);
    uint64_t count = (uint64_t)dev->reg_cells[index].out.point.pe << 8 | codeword;

    ret->bits = bits;
    ret->rber_q48 = rates->rber_q48;
    ret->zero_to_one = nand_binomial(bits / 2, rates->zero_to_one_q48,
                                     nand_draw(dev->seed, DRAW_ERRORS_01, key, count));
    ret->one_to_zero = nand_binomial(bits - bits / 2, rates->one_to_zero_q48,
                                     nand_draw(dev->seed, DRAW_ERRORS_10, key, count));
    return 0;
}

int nand_register_errors(const nand_dev *dev, uint32_t die, uint32_t plane, uint32_t codeword,
                         struct nand_errors *ret_errors)
{
    if (!dev || !ret_errors)
        return NAND_EINVAL;
    if (die >= dev->prof.geo.dies || plane >= dev->prof.geo.planes ||
        codeword >= dev->codewords)
        return NAND_EADDR;
    if (!dev->reg_cells)
        return NAND_ENOTSUP;
    if (dev->plane[dev_plane_index(dev, die, plane)].out.limit == 0)
        return NAND_ENODATA;
    return nandi_codeword_errors(dev, die, plane, codeword, ret_errors);
}
