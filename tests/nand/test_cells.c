/* test_cells.c - the cell model against published figures and against independent sums.
 *
 * "calibrated" marks a figure that constants were fitted to: agreement shows that the
 * equations are coded as fitted, not that the model predicts. */
#include <math.h>

#include "help.h"

#define WITHIN(value, target, part) within(#value, value, target, part)

static void within(const char *what, double value, double target, double part)
{
    if (!(fabs(value / target - 1) <= part))
        fail_msg("%s = %.6g, not within %.2f %% of %.6g", what, value, 100 * part, target);
}

static struct nand_cell_dist dist_of(const char *cell, double pe, double hours, double celsius)
{
    struct nand_cell_use use = NAND_CELL_USE_INIT;
    struct nand_cell_dist dist;
    char why[160];

    use.pe = pe;
    use.hours = hours;
    use.celsius = celsius;
    if (nand_cell_dist(nand_cell_find(cell), &use, &dist, why, sizeof why) != 0)
        fail_msg("%s", why);
    return dist;
}

static double rber_at_optimum(const struct nand_cell_dist *dist)
{
    struct nand_cell_volts volts;

    nand_cell_optimum(dist, &volts);
    return nand_cell_mean_rber(dist, &volts);
}

/* Published distributions of planar TLC; the ten means were derived from them apart from
 * this code (Gaussian states, Gray code). */
static void planar_table_gives_its_ten_means(void **state)
{
    static const double hours[5] = {24, 168, 720, 2160, 8760};
    static const double optimum[5] = {3.9e-4, 9.9e-4, 1.5e-3, 2.4e-3, 3.8e-3};
    static const double frozen[5] = {3.9e-4, 1.1e-3, 1.75e-3, 3.3e-3, 6.2e-3};
    struct nand_cell_volts first;
    (void)state;

    for (int i = 0; i < 5; i++) {
        struct nand_cell_dist dist;
        assert_int_equal(nand_planar_tlc_dist(hours[i], &dist), 0);
        if (i == 0)
            nand_cell_optimum(&dist, &first);
        printf("planar TLC, %4.0f h: optimum %.3e (%.2e)  frozen %.3e (%.2e)\n", hours[i],
               rber_at_optimum(&dist), optimum[i], nand_cell_mean_rber(&dist, &first),
               frozen[i]);
        WITHIN(rber_at_optimum(&dist), optimum[i], 0.03);
        WITHIN(nand_cell_mean_rber(&dist, &first), frozen[i], 0.03);
    }
    struct nand_cell_dist dist;
    assert_int_equal(nand_planar_tlc_dist(23.9, &dist), NAND_EINVAL);
    assert_int_equal(nand_planar_tlc_dist(9000, &dist), NAND_EINVAL);
}

/* 96 h at 66 C against 91 days at 40 C, 1.1 eV. */
static void arrhenius_clock(void **state)
{
    double days = 96.0 / 24 * nand_cell_acceleration(1.1, 66) / nand_cell_acceleration(1.1, 40);
    (void)state;

    printf("96 h at 66 C = %.2f days at 40 C\n", days);
    WITHIN(days, 91.0, 0.01);
    WITHIN(nand_cell_acceleration(1.1, 30), 1.0, 1e-12);
    WITHIN(nand_cell_acceleration(0, 90), 1.0, 1e-12);
    /* by hand: exp(12765.3 * (1/303.15 - 1/313.15)) = exp(1.34467) */
    WITHIN(nand_cell_acceleration(1.1, 40), 3.8370, 1e-3);
}

/* Calibrated. */
static void mean_rber_of_etlc(void **state)
{
    static const struct {
        double pe, hours, celsius, rber;
    } rows[] = {{0, 0, 30, 5.5e-5},
                {7000, 0, 30, 2.3e-4},
                {7000, 2160, 40, 1.3e-3},
                {10000, 2160, 40, 1.9e-3}};
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct nand_cell_dist dist =
            dist_of("etlc", rows[i].pe, rows[i].hours, rows[i].celsius);
        printf("etlc %5.0f P/E %4.0f h %2.0f C: %.3e (%.1e)\n", rows[i].pe, rows[i].hours,
               rows[i].celsius, rber_at_optimum(&dist), rows[i].rber);
        WITHIN(rber_at_optimum(&dist), rows[i].rber, 0.03);
    }
}

/* A read succeeds once 1.6 RBER stays within 72 bits of 8192. */
static uint32_t retries(double pe, double hours)
{
    struct nand_cell_dist dist = dist_of("tlc", pe, hours, 30);
    struct nand_cell_volts volts;

    for (uint32_t level = 0; level <= NAND_RETRY_MAX; level++) {
        nand_cell_retry(nand_cell_find("tlc"), level, &volts);
        if (1.6 * nand_cell_mean_rber(&dist, &volts) * 8192 <= 72)
            return level;
    }
    return UINT32_MAX;
}

/* Calibrated. */
static void retry_counts(void **state)
{
    uint32_t fresh = retries(0, 90 * 24), worn = retries(1000, 90 * 24),
             old = retries(2000, 365 * 24);
    (void)state;

    printf("retries: %u, %u, %u (3, 11, 20)\n", fresh, worn, old);
    assert_in_range(fresh, 2, 4);
    assert_in_range(worn, 10, 12);
    assert_in_range(old, 19, 21);
}

/* Reads until the worst page of a 1,000-cycle TLC block passes the limit, by bisection.
 * The block has 512 word lines: a uniform read falls on one of two neighbours with 2/512
 * and on the page's own line with 1/512. Calibrated by the first, the second follows from
 * the weight 8.4 and the law's exponent, which was set by their ratio. */
static double reads_to_limit(double elsewhere, double next)
{
    const struct nand_cell *cell = nand_cell_find("tlc");
    struct nand_cell_use use = NAND_CELL_USE_INIT;
    struct nand_cell_volts volts;
    double low = 0, high = 1e7;

    nand_cell_default(cell, &volts);
    use.pe = 1000;
    for (int i = 0; i < 60; i++) {
        double mid = 0.5 * (low + high), worst = 0;
        struct nand_cell_dist dist;
        use.reads = mid * elsewhere;
        use.neighbor_reads = mid * next;
        assert_int_equal(nand_cell_dist(cell, &use, &dist, NULL, 0), 0);
        for (uint32_t t = 0; t < 3; t++) {
            struct nand_cell_errors e;
            nand_cell_page_errors(&dist, t, &volts, &e);
            worst = e.rber > worst ? e.rber : worst;
        }
        if (1.6 * 8192 * worst > 72)
            high = mid;
        else
            low = mid;
    }
    return low;
}

static void read_disturb_counts(void **state)
{
    double uniform = reads_to_limit(509.0 / 512, 2.0 / 512), single = reads_to_limit(0, 1);
    const struct nand_cell *cell = nand_cell_find("tlc");
    (void)state;

    printf("reads: %.0f uniform (518420), %.0f on one neighbour (54560)\n", uniform, single);
    WITHIN(uniform, 518420, 0.01);
    WITHIN(single, 54560, 0.01);
    /* equal numbers of reads shift 8.4 times as far next door */
    WITHIN(pow(cell->rd_neighbor, cell->rd_exp), 8.4, 0.002);
}

static void fast19_law_is_as_printed(void **state)
{
    double rber;
    (void)state;

    assert_int_equal(nand_fast19_rber(0, 0, 0, &rber), 0);
    WITHIN(rber, 1.48e-3, 1e-12);
    assert_int_equal(nand_fast19_rber(3000, 90, 1000, &rber), 0);
    WITHIN(rber,
           1.48e-3 + 3.90e-10 * pow(3000, 2.05) + 6.28e-5 * pow(3000, .14) * pow(90, .54) +
               3.73e-9 * pow(3000, .33) * pow(1000, 1.71),
           1e-10);
    assert_int_equal(nand_fast19_rber(-1, 0, 0, &rber), NAND_EINVAL);
    assert_int_equal(nand_fast19_rber(0, -1, 0, &rber), NAND_EINVAL);
    assert_int_equal(nand_fast19_rber(0, 0, 1e8, &rber), NAND_EINVAL);
}

/* Independent of the library's own tail: libm's erfc, boundaries one by one. Holds where
 * the tails of far states do not matter; here they do not. */
static void mean_rber_against_erfc(void **state)
{
    struct nand_cell_dist dist = dist_of("etlc", 7000, 2160, 40);
    struct nand_cell_volts v;
    double sum = 0;
    (void)state;

    nand_cell_optimum(&dist, &v);
    for (int b = 0; b < 7; b++)
        for (int side = 0; side < 2; side++) {
            double z = side ? (dist.mu[b + 1] - v.v[b]) / dist.sigma[b + 1]
                            : (v.v[b] - dist.mu[b]) / dist.sigma[b];
            sum += (1 - dist.tail_w) * 0.5 * erfc(z / sqrt(2)) +
                   0.5 * dist.tail_w * exp(-dist.tail_kap * z);
        }
    WITHIN(nand_cell_mean_rber(&dist, &v), sum / 8 / 3, 0.002);
}

/* Each boundary belongs to one page: 2-3-2 for TLC, 3-4-5-3 for QLC, 1-2 for MLC. */
static void maps_spread_boundaries(void **state)
{
    static const struct {
        const char *cell;
        uint32_t count[4];
    } rows[] = {{"slc", {1}},
                {"mlc", {1, 2}},
                {"tlc", {2, 3, 2}},
                {"etlc", {2, 3, 2}},
                {"qlc", {3, 4, 5, 3}}};
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct nand_cell *cell = nand_cell_find(rows[i].cell);
        uint32_t count[4] = {0};
        for (uint32_t b = 0; b + 1 < cell->states; b++)
            count[cell->map[b] - '0']++;
        assert_memory_equal(count, rows[i].count, sizeof count);
        assert_int_equal(nand_cell_check(cell, NULL, 0), 0);
    }
}

static void optimum_has_fewest_errors(void **state)
{
    struct nand_cell_dist dist = dist_of("qlc", 800, 2160, 40);
    struct nand_cell_volts best, moved;
    double least;
    (void)state;

    nand_cell_optimum(&dist, &best);
    least = nand_cell_mean_rber(&dist, &best);
    for (int b = 0; b < 15; b++)
        for (int sign = -1; sign <= 1; sign += 2) {
            moved = best;
            moved.v[b] += sign * 0.01;
            assert_true(nand_cell_mean_rber(&dist, &moved) > least);
        }
}

static void bins_are_probabilities(void **state)
{
    static const char *const cells[] = {"slc", "mlc", "tlc", "qlc"};
    (void)state;

    for (size_t c = 0; c < COUNT(cells); c++) {
        struct nand_cell_dist dist = dist_of(cells[c], 1000, 720, 40);
        struct nand_cell_volts volts;
        nand_cell_optimum(&dist, &volts);
        for (uint32_t type = 0; type < dist.page_types; type++) {
            struct nand_cell_errors errors;
            double last = -1;
            nand_cell_page_errors(&dist, type, &volts, &errors);
            for (uint32_t bits = 1; bits <= 3; bits++) {
                struct nand_cell_bins bins;
                double sum0 = 0, sum1 = 0, wrong0 = 0, llr[NAND_BINS_MAX];
                assert_int_equal(nand_cell_sense(&dist, type, &volts, bits, 0.08, &bins), 0);
                assert_int_equal(bins.bins, 1u << bits);
                nand_cell_llr(&bins, llr);
                for (uint32_t i = 0; i < bins.bins; i++) {
                    sum0 += bins.p0[i];
                    sum1 += bins.p1[i];
                    wrong0 += i >= bins.bins / 2 ? bins.p0[i] : 0;
                    if (i > 0)
                        assert_true(llr[i] < llr[i - 1]); /* surest 0 to surest 1 */
                }
                WITHIN(sum0, 1, 1e-9);
                WITHIN(sum1, 1, 1e-9);
                WITHIN(wrong0, errors.zero_to_one, 1e-6); /* soft bins hold the hard bit */
                assert_true(nand_cell_information(&bins) > last);
                last = nand_cell_information(&bins);
            }
        }
    }
}

static void llr_of_two_bins_by_hand(void **state)
{
    const struct nand_cell_bins bins = {.bins = 2, .p0 = {0.99, 0.01}, .p1 = {0.02, 0.98}};
    double llr[NAND_BINS_MAX];
    int8_t small_llr[NAND_BINS_MAX];
    (void)state;

    nand_cell_llr(&bins, llr);
    WITHIN(llr[0], 3.901973, 1e-6);  /* ln(0.99 / 0.02) */
    WITHIN(llr[1], -4.584967, 1e-6); /* ln(0.01 / 0.98) */
    nand_cell_llr_int8(&bins, 8, 31, small_llr);
    assert_int_equal(small_llr[0], 31);
    assert_int_equal(small_llr[1], -31); /* -36.7 clipped */
    nand_cell_llr_int8(&bins, 2, 31, small_llr);
    assert_int_equal(small_llr[0], 8);  /* 7.8 */
    assert_int_equal(small_llr[1], -9); /* -9.2 */
    /* binary symmetric channel at 11 %: 1 - h(0.11) = 0.5 bit to 4 digits */
    const struct nand_cell_bins bsc = {.bins = 2, .p0 = {.89, .11}, .p1 = {.11, .89}};
    assert_true(fabs(nand_cell_information(&bsc) - 0.50008) < 1e-4);
}

/* Lost charge makes 1-to-0 and 0-to-1 errors uneven at old voltages: what firmware uses to
 * find its way. The lower page of MLC has one boundary and holds 0 above it, so cells that
 * fall read 1. At the optimum both kinds even out. */
static void asymmetry_points_to_the_shift(void **state)
{
    struct nand_cell_dist dist = dist_of("mlc", 10000, 8760, 55);
    struct nand_cell_volts fresh, best;
    struct nand_cell_errors at_default, at_best;
    (void)state;

    nand_cell_default(nand_cell_find("mlc"), &fresh);
    nand_cell_optimum(&dist, &best);
    nand_cell_page_errors(&dist, 0, &fresh, &at_default);
    nand_cell_page_errors(&dist, 0, &best, &at_best);
    assert_true(at_default.zero_to_one > 5 * at_default.one_to_zero);
    assert_true(at_best.one_to_zero < 1.5 * at_best.zero_to_one);
    assert_true(at_best.zero_to_one < 1.5 * at_best.one_to_zero);
}

static double rber_with(struct nand_cell_use use)
{
    const struct nand_cell *cell = nand_cell_find("etlc");
    struct nand_cell_dist dist;
    struct nand_cell_volts volts;

    assert_int_equal(nand_cell_dist(cell, &use, &dist, NULL, 0), 0);
    nand_cell_default(cell, &volts);
    return nand_cell_mean_rber(&dist, &volts);
}

static void everything_bad_raises_errors(void **state)
{
    const struct nand_cell_use base = {3000, 24, 40, 0, 0, 40, 40, 0, NAND_NEIGHBOR_RANDOM};
    double least = rber_with(base);
    struct nand_cell_use use;
    (void)state;

    use = base, use.pe = 6000;
    assert_true(rber_with(use) > least);
    use = base, use.hours = 240;
    assert_true(rber_with(use) > least);
    use = base, use.celsius = 70;
    assert_true(rber_with(use) > least);
    use = base, use.reads = 300000;
    assert_true(rber_with(use) > least);
    use = base, use.width_ln = 0.05;
    assert_true(rber_with(use) > least);
    use = base, use.read_celsius = 85; /* programmed at 40 */
    assert_true(rber_with(use) > least);
    use = base, use.neighbor_reads = 30000;
    double next_door = rber_with(use);
    use = base, use.reads = 30000;
    assert_true(next_door > rber_with(use));
}

/* Knowing what the neighbour was programmed to narrows the states: the sum over known
 * neighbours at their own optimum is below the blind one. */
static void knowing_the_neighbour_helps(void **state)
{
    const struct nand_cell *cell = nand_cell_find("etlc");
    struct nand_cell_use use = {7000, 2160, 40, 0, 0, 30, 30, 0, NAND_NEIGHBOR_RANDOM};
    struct nand_cell_dist dist;
    double blind, known = 0;
    (void)state;

    assert_int_equal(nand_cell_dist(cell, &use, &dist, NULL, 0), 0);
    blind = rber_at_optimum(&dist);
    for (int j = 0; j < 8; j++) {
        use.neighbor_state = j;
        assert_int_equal(nand_cell_dist(cell, &use, &dist, NULL, 0), 0);
        known += rber_at_optimum(&dist) / 8;
    }
    printf("neighbour known: RBER %.3e against %.3e\n", known, blind);
    assert_true(known < 0.97 * blind);
}

/* A die's layers differ by 4 to 6 times in RBER, the outer ones being worse, and its blocks
 * by about 2 times (plus and minus one sigma). Calibrated. */
static void layers_and_blocks_differ(void **state)
{
    enum { BLOCKS = 60, LAYERS = 232 };
    struct nand_profile p = small("etlc-x3-9070", 1, 1, BLOCKS, 928);
    double layer[LAYERS] = {0}, block[BLOCKS] = {0}, edge = 0, middle = 0, sum = 0, square = 0;
    nand_ns now = 0;
    (void)state;

    p.geo.planes = 1;
    nand_dev *dev = make(&p, 5, NAND_WITH_CELLS);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        assert_int_equal(nand_block_set(dev, 0, 0, b, 2784, 3000), 0);
        for (uint32_t w = 0; w < 928; w++) {
            struct nand_errors e;
            now = must(dev, now, op_at(NAND_OP_READ, 0, 0, b, 3 * w + 1)).done_at;
            assert_int_equal(nand_register_errors(dev, 0, 0, 0, &e), 0);
            layer[w / 4] += (double)e.rber_q48;
            block[b] += (double)e.rber_q48;
        }
    }
    double most = layer[0], least = layer[0];
    for (int l = 0; l < LAYERS; l++) {
        most = layer[l] > most ? layer[l] : most;
        least = layer[l] < least ? layer[l] : least;
        edge += l < 20 || l >= LAYERS - 20 ? layer[l] : 0;
        middle += l >= LAYERS / 2 - 20 && l < LAYERS / 2 + 20 ? layer[l] : 0;
    }
    for (int b = 0; b < BLOCKS; b++) {
        sum += log(block[b]) / BLOCKS;
        square += log(block[b]) * log(block[b]) / BLOCKS;
    }
    double spread = exp(2 * sqrt(square - sum * sum));
    printf("layers: %.2f times between best and worst, outer to middle %.2f; blocks: %.2f\n",
           most / least, edge / middle, spread);
    assert_true(most / least >= 4 && most / least <= 6);
    assert_true(edge > 1.2 * middle);
    assert_true(spread > 1.5 && spread < 2.5);
    nand_destroy(dev);
}

/* On a device: n reads of a neighbour word line weigh as much as 9.8105 n reads far away,
 * and half as many weigh less. */
enum { EVERY_WORDLINE = 512 };

static uint64_t rate_after_reads(uint32_t wordline, uint32_t reads)
{
    struct nand_profile p = small("tlc-128l", 1, 1, 2, 512);
    struct nand_errors e;
    nand_ns now = 0;

    p.geo.planes = 1;
    p.geo.strings = 1;
    nand_dev *dev = make(&p, 1, NAND_WITH_CELLS);
    assert_int_equal(nand_block_set(dev, 0, 0, 0, 1536, 1000), 0);
    for (uint32_t i = 0; i < reads; i++) {
        uint32_t at = wordline == EVERY_WORDLINE ? i % 512 : wordline;
        now = must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, 3 * at)).done_at;
    }
    (void)must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, 3 * 100));
    assert_int_equal(nand_register_errors(dev, 0, 0, 0, &e), 0);
    nand_destroy(dev);
    return e.rber_q48;
}

static void device_counts_neighbour_reads(void **state)
{
    double near = (double)rate_after_reads(101, 30000);
    (void)state;

    WITHIN((double)rate_after_reads(99, 30000), near, 1e-6);
    WITHIN((double)rate_after_reads(400, 294315), near, 0.005);
    assert_true((double)rate_after_reads(102, 30000) < 0.8 * near);
    /* spread evenly, 2 of 512 reads are next door: 300000 (1 + 8.8105 * 2 / 512) far ones */
    WITHIN((double)rate_after_reads(EVERY_WORDLINE, 300000),
           (double)rate_after_reads(400, 310325), 0.002);
    assert_true((double)rate_after_reads(101, 15000) < 0.9 * near);
}

/* On a device: the best voltages after 90 days at 40 C are where the formula has them (the
 * page's width moves them by a few 1/1000 pitch), and time passes by temperature. */
static void device_ages_by_its_clock(void **state)
{
    struct nand_profile p = small("etlc-x3-9070", 1, 1, 2, 16);
    struct nand_cell_dist dist = dist_of("etlc", 5000, 90 * 24, 40);
    struct nand_cell_volts best, usual;
    int16_t offsets[15];
    (void)state;

    nand_cell_optimum(&dist, &best);
    nand_cell_default(nand_cell_find("etlc"), &usual);
    for (int halves = 1; halves <= 2; halves++) {
        nand_dev *dev = make(&p, 1, NAND_WITH_CELLS);
        nand_ns now = 0, day = (nand_ns)86400 * 1000000000;
        assert_int_equal(nand_set_temperature(dev, now, 40000), 0);
        assert_int_equal(nand_block_set(dev, 0, 0, 0, 48, 5000), 0);
        for (int i = 0; i < halves; i++) {
            now += 90 / halves * day;
            assert_int_equal(nand_set_temperature(dev, now, 40000), 0);
        }
        (void)must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, 24));
        assert_int_equal(nand_register_optimum(dev, 0, 0, offsets), 0);
        for (int b = 1; b < 7; b++)
            assert_true(fabs(offsets[b] - 1000 * (best.v[b] - usual.v[b])) < 12);
        nand_destroy(dev);
    }
}

/* Own constants without any variation: the device's rates are those of the formula, and
 * survive a snapshot. */
struct one_file {
    uint8_t bytes[1 << 18];
    size_t size, at;
};

static int file_sink(void *ctx, const void *bytes, size_t size)
{
    struct one_file *f = ctx;

    if (size > sizeof f->bytes - f->size)
        return 1;
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
    return 0;
}

static int file_source(void *ctx, void *ret_bytes, size_t size)
{
    struct one_file *f = ctx;

    if (size > f->size - f->at)
        return 1;
    memcpy(ret_bytes, f->bytes + f->at, size);
    f->at += size;
    return 0;
}

static void device_with_own_constants(void **state)
{
    static struct one_file file;
    struct nand_profile p = small("etlc-x3-9070", 1, 1, 2, 64);
    struct nand_cell cell = *nand_cell_find("etlc");
    struct nand_options options = {.flags = NAND_WITH_CELLS, .cell = &cell};
    struct nand_cell_use use = {2500, 1000, 55, 0, 0, 55, 55, 0, NAND_NEIGHBOR_RANDOM};
    struct nand_cell_dist dist;
    struct nand_cell_volts volts;
    nand_ns now = (nand_ns)1000 * 3600 * 1000000000;
    nand_dev *dev, *loaded;
    (void)state;

    cell.s0 = 0.14;
    cell.var_chip = cell.var_block = cell.var_layer = cell.var_page = cell.layer_edge = 0;
    assert_int_equal(nand_create_with(&p, 1, &options, &dev), 0);
    assert_int_equal(nand_set_temperature(dev, 0, 55000), 0);
    assert_int_equal(nand_block_set(dev, 0, 0, 0, 192, 2500), 0);
    assert_int_equal(nand_save(dev, file_sink, &file), 0);
    assert_int_equal(nand_load(file_source, &file, &loaded), 0);
    assert_int_equal(nand_cell_dist(&cell, &use, &dist, NULL, 0), 0);
    nand_cell_retry(&cell, 7, &volts);
    for (int i = 0; i < 2; i++)
        for (uint32_t type = 0; type < 3; type++) {
            nand_dev *each = i ? loaded : dev;
            struct nand_req read = op_at(NAND_OP_READ, 0, 0, 0, 60 + type);
            struct nand_cell_errors direct;
            struct nand_errors e;
            read.read_level = 7;
            (void)must(each, now + 1000000 * type, read);
            assert_int_equal(nand_register_errors(each, 0, 0, 3, &e), 0);
            nand_cell_page_errors(&dist, type, &volts, &direct);
            WITHIN((double)e.rber_q48 * 0x1p-48, direct.rber, 0.002);
        }
    /* an open block: word line 20 is the last one, 24 next to it in its string is erased */
    struct nand_req edge = op_at(NAND_OP_READ, 0, 1, 0, 61);
    struct nand_cell_errors at_edge, inside;
    struct nand_errors e;
    edge.read_level = 7;
    assert_int_equal(nand_block_set(loaded, 0, 1, 0, 63, 2500), 0);
    use.hours = 0;
    assert_int_equal(nand_cell_dist(&cell, &use, &dist, NULL, 0), 0);
    nand_cell_page_errors(&dist, 1, &volts, &inside);
    use.neighbor_state = NAND_NEIGHBOR_ERASED;
    assert_int_equal(nand_cell_dist(&cell, &use, &dist, NULL, 0), 0);
    nand_cell_page_errors(&dist, 1, &volts, &at_edge);
    (void)must(loaded, now + 10000000, edge);
    assert_int_equal(nand_register_errors(loaded, 0, 1, 0, &e), 0);
    WITHIN((double)e.rber_q48 * 0x1p-48, at_edge.rber, 0.002);
    assert_true(fabs(at_edge.rber / inside.rber - 1) > 0.05);
    nand_destroy(dev);
    nand_destroy(loaded);
    cell.s0 = 0;
    assert_int_equal(nand_create_with(&p, 1, &options, &dev), NAND_EINVAL);
    cell = *nand_cell_find("qlc");
    assert_int_equal(nand_create_with(&p, 1, &options, &dev), NAND_EINVAL);
}

/* A profile may name a published law: the device then follows it. Variation is set to
 * nothing; 90 days at 30 C; voltages frozen at the optimum of the first day for the table. */
static double mean_rate_of_law(enum nand_cell_law law, uint32_t pe, uint32_t reads)
{
    struct nand_profile p = small("tlc-128l", 1, 1, 2, 64);
    struct nand_cell cell = *nand_cell_find("tlc");
    struct nand_options options = {.flags = NAND_WITH_CELLS, .cell = &cell};
    nand_ns now = (nand_ns)90 * 86400 * 1000000000;
    nand_dev *dev;
    double sum = 0;

    cell.var_chip = cell.var_block = cell.var_layer = cell.var_page = cell.layer_edge = 0;
    cell.rd_neighbor = 1;
    p.law = law;
    assert_int_equal(nand_create_with(&p, 1, &options, &dev), 0);
    assert_int_equal(nand_block_set(dev, 0, 0, 0, 192, pe), 0);
    for (uint32_t i = 0; i < reads; i++)
        now = must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, 0)).done_at;
    for (uint32_t type = 0; type < 3; type++) {
        struct nand_errors e;
        now = must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, 60 + type)).done_at;
        assert_int_equal(nand_register_errors(dev, 0, 0, 0, &e), 0);
        sum += (double)e.rber_q48 * 0x1p-48 / 3;
    }
    nand_destroy(dev);
    return sum;
}

static void devices_follow_published_laws(void **state)
{
    double rber;
    (void)state;

    WITHIN(mean_rate_of_law(NAND_LAW_PLANAR_TLC, 2000, 0), 3.3e-3, 0.03);
    assert_int_equal(nand_fast19_rber(3000, 90, 2001, &rber), 0);
    WITHIN(mean_rate_of_law(NAND_LAW_FAST19, 3000, 2000), rber, 0.005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planar_table_gives_its_ten_means),
        cmocka_unit_test(arrhenius_clock),
        cmocka_unit_test(mean_rber_of_etlc),
        cmocka_unit_test(retry_counts),
        cmocka_unit_test(read_disturb_counts),
        cmocka_unit_test(fast19_law_is_as_printed),
        cmocka_unit_test(mean_rber_against_erfc),
        cmocka_unit_test(maps_spread_boundaries),
        cmocka_unit_test(optimum_has_fewest_errors),
        cmocka_unit_test(bins_are_probabilities),
        cmocka_unit_test(llr_of_two_bins_by_hand),
        cmocka_unit_test(asymmetry_points_to_the_shift),
        cmocka_unit_test(everything_bad_raises_errors),
        cmocka_unit_test(knowing_the_neighbour_helps),
        cmocka_unit_test(layers_and_blocks_differ),
        cmocka_unit_test(device_counts_neighbour_reads),
        cmocka_unit_test(device_ages_by_its_clock),
        cmocka_unit_test(device_with_own_constants),
        cmocka_unit_test(devices_follow_published_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
