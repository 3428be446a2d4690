/* test_table.c - the integer path against the direct formula, and draws against rates. */
#include <math.h>

#include "help.h"

static double uniform(uint64_t i, uint64_t k)
{
    return (double)(nand_draw(7, k, i, 0) >> 11) * 0x1p-53;
}

struct sample {
    struct nand_cell_use use;
    struct nand_cell_point point;
};

static struct sample draw_sample(const struct nand_cell *cell, uint64_t i)
{
    struct sample s = {NAND_CELL_USE_INIT, NAND_CELL_POINT_INIT};

    s.use.pe = floor(cell->pe_max * uniform(i, 1) * uniform(i, 2));
    s.use.hours = floor(exp(uniform(i, 3) * 10) - 1);
    s.use.celsius = 20 + 40 * uniform(i, 4);
    s.use.reads = floor(exp(uniform(i, 5) * 13) - 1);
    s.use.program_celsius = floor(80 * uniform(i, 6));
    s.use.read_celsius = floor(80 * uniform(i, 7));
    s.use.width_ln = .3 * (uniform(i, 8) - .5);
    s.use.neighbor_state = (int32_t)(uniform(i, 9) * (cell->states + 1)) - 1;
    s.point.pe = (uint32_t)s.use.pe;
    s.point.slow_s =
        (uint64_t)(s.use.hours * 3600 * nand_cell_acceleration(cell->ea_slow, s.use.celsius) +
                   .5);
    s.point.fast_s =
        (uint64_t)(s.use.hours * 3600 * nand_cell_acceleration(cell->ea_fast, s.use.celsius) +
                   .5);
    s.point.dose_q4 = (uint64_t)s.use.reads * 16;
    s.point.read_minus_program_mk =
        (int32_t)(s.use.read_celsius - s.use.program_celsius) * 1000;
    s.point.width_q16 = (uint32_t)(exp(s.use.width_ln) * 65536 + .5);
    s.point.neighbor_state = s.use.neighbor_state;
    return s;
}

static double worst_disagreement(const struct nand_cell *cell, uint32_t samples)
{
    nand_cell_table *table;
    double worst = 0;

    assert_int_equal(nand_cell_table_create(cell, NAND_LAW_VTH, &table), 0);
    for (uint32_t i = 0; i < samples; i++) {
        struct sample s = draw_sample(cell, i);
        struct nand_cell_dist dist;
        struct nand_cell_volts volts;
        int32_t q24[NAND_BOUNDS_MAX];
        assert_int_equal(nand_cell_dist(cell, &s.use, &dist, NULL, 0), 0);
        if (i % 3 == 0)
            nand_cell_optimum(&dist, &volts);
        else
            nand_cell_retry(cell, (uint32_t)(40 * uniform(i, 10)), &volts);
        nand_cell_volts_q24(&volts, q24);
        for (uint32_t type = 0; type < dist.page_types; type++) {
            struct nand_cell_errors direct;
            struct nand_cell_rates fast;
            nand_cell_page_errors(&dist, type, &volts, &direct);
            nand_cell_table_rates(table, &s.point, type, q24, &fast);
            double off = fabs((double)fast.rber_q48 * 0x1p-48 / direct.rber - 1);
            if (direct.rber >= 1e-8 && off > worst)
                worst = off;
        }
    }
    nand_cell_table_destroy(table);
    return worst;
}

static void table_agrees_within_one_percent(void **state)
{
    (void)state;
    for (uint32_t k = 0; nand_cell_name(k); k++) {
        double worst = worst_disagreement(nand_cell_find(nand_cell_name(k)), 1500);
        printf("%-5s worst disagreement of table and formula: %.4f %%\n", nand_cell_name(k),
               100 * worst);
        assert_true(worst < 0.01);
    }
}

static void published_laws_by_table(void **state)
{
    const struct nand_cell *tlc = nand_cell_find("tlc");
    nand_cell_table *table;
    (void)state;

    assert_int_equal(nand_cell_table_create(nand_cell_find("qlc"), NAND_LAW_FAST19, &table),
                     NAND_EINVAL);
    assert_int_equal(nand_cell_table_create(tlc, NAND_LAW_FAST19, &table), 0);
    for (uint64_t i = 0; i < 300; i++) {
        struct nand_cell_point point = NAND_CELL_POINT_INIT;
        struct nand_cell_rates rates;
        double direct;
        point.pe = (uint32_t)(15000 * uniform(i, 1));
        point.slow_s = 86400 * (uint64_t)(300 * uniform(i, 2));
        point.dose_q4 = 16 * (uint64_t)(3000 * uniform(i, 3));
        assert_int_equal(nand_fast19_rber(point.pe, (double)point.slow_s / 86400,
                                          (double)point.dose_q4 / 16, &direct),
                         0);
        nand_cell_table_rates(table, &point, 0, NULL, &rates);
        if (direct < 0.4)
            assert_true(fabs((double)rates.rber_q48 * 0x1p-48 / direct - 1) < 0.01);
    }
    nand_cell_table_destroy(table);

    assert_int_equal(nand_cell_table_create(tlc, NAND_LAW_PLANAR_TLC, &table), 0);
    for (double hours = 24; hours <= 8760; hours *= 1.37) {
        struct nand_cell_dist dist;
        struct nand_cell_volts volts;
        struct nand_cell_point point = NAND_CELL_POINT_INIT;
        int32_t q24[NAND_BOUNDS_MAX];
        double seconds = floor(hours * 3600);
        point.slow_s = (uint64_t)seconds;
        assert_int_equal(nand_planar_tlc_dist(seconds / 3600, &dist), 0);
        nand_cell_optimum(&dist, &volts);
        nand_cell_volts_q24(&volts, q24);
        for (uint32_t type = 0; type < 3; type++) {
            struct nand_cell_errors direct;
            struct nand_cell_rates fast;
            nand_cell_page_errors(&dist, type, &volts, &direct);
            nand_cell_table_rates(table, &point, type, q24, &fast);
            assert_true(fabs((double)fast.rber_q48 * 0x1p-48 / direct.rber - 1) < 0.01);
        }
    }
    nand_cell_table_destroy(table);
}

/* ---- draws -------------------------------------------------------------------------- */

/* ln of the binomial probability, by lgamma: not the way the library goes. */
static double binomial_ln(double n, double k, double p)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p);
}

/* Chi-square over cells of at least 20 expected counts; critical value for 1e-4 by the
 * Wilson-Hilferty approximation. */
static void binomial_fits(double p, uint64_t seed)
{
    enum { TRIALS = 37184, DRAWS = 40000, MOST = 2000 };
    static uint32_t seen[MOST];
    uint64_t rate = (uint64_t)(p * 0x1p48 + .5);
    double chi2 = 0, expected = 0, got = 0, freedom = -1, left = DRAWS;

    memset(seen, 0, sizeof seen);
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint32_t k = nand_binomial(TRIALS, rate, nand_draw(seed, 77, i, 0));
        seen[k < MOST ? k : MOST - 1]++;
    }
    for (uint32_t k = 0; k < MOST; k++) {
        double e = DRAWS * exp(binomial_ln(TRIALS, k, p));
        expected += e;
        got += seen[k];
        if (expected < 20 || left - expected < 20)
            continue;
        chi2 += (got - expected) * (got - expected) / expected;
        left -= expected;
        expected = got = 0;
        freedom++;
    }
    expected = left > expected ? left : expected;
    chi2 += (got - expected) * (got - expected) / expected;
    freedom++;
    double t = 1 - 2 / (9 * freedom) + 3.719 * sqrt(2 / (9 * freedom));
    printf("p %.0e: chi-square %.1f with %.0f degrees of freedom, limit %.1f\n", p, chi2,
           freedom, freedom * t * t * t);
    assert_true(chi2 < freedom * t * t * t);
}

static void binomial_passes_chi_square(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        binomial_fits(1e-2, seed);
        binomial_fits(1e-3, seed);
        binomial_fits(1e-4, seed);
    }
}

/* n = 2, p = 1/4: 9/16 no success, 6/16 one, 1/16 two; exact edges of the inversion. */
static void binomial_by_hand(void **state)
{
    const uint64_t quarter = (uint64_t)1 << 46, sixteenth = (uint64_t)1 << 60;
    (void)state;

    assert_int_equal(nand_binomial(2, quarter, 0), 0);
    assert_int_equal(nand_binomial(2, quarter, 9 * sixteenth - 4096), 0);
    assert_int_equal(nand_binomial(2, quarter, 9 * sixteenth + 4096), 1);
    assert_int_equal(nand_binomial(2, quarter, 15 * sixteenth - 4096), 1);
    assert_int_equal(nand_binomial(2, quarter, 15 * sixteenth + 4096), 2);
    assert_int_equal(nand_binomial(2, quarter, UINT64_MAX), 2);
    assert_int_equal(nand_binomial(0, quarter, 1), 0);
    assert_int_equal(nand_binomial(100, 0, UINT64_MAX), 0);
    assert_int_equal(nand_binomial(100, (uint64_t)1 << 48, 0), 100);
}

/* The tail beyond three times the mean, some 5e-4 of it. */
static void binomial_tail(void **state)
{
    uint32_t seen = 0;
    (void)state;

    for (uint64_t i = 0; i < 2000000; i++)
        seen += nand_binomial(37184, (uint64_t)(1e-4 * 0x1p48), nand_draw(5, 78, i, 0)) >= 12;
    double expected = 0;
    for (int k = 12; k < 60; k++)
        expected += 2e6 * exp(binomial_ln(37184, k, 1e-4));
    printf("tail beyond 12: %u, expected %.0f\n", seen, expected);
    assert_true(fabs(seen - expected) < 5 * sqrt(expected));
}

/* More errors at a higher rate for the same draw, never fewer. */
/* Draws of one in 2^40 and less: the value whose tail probability the draw stands for.
 * n = 37184, p = 1e-4, tails summed from far out by lgamma. */
static void binomial_far_tail(void **state)
{
    static const int exponents[] = {40, 50, 60, 63};
    static const double rates[] = {1e-4, 1e-3, 1e-2};
    (void)state;

    for (size_t r = 0; r < COUNT(rates); r++)
        for (size_t i = 0; i < COUNT(exponents); i++) {
            uint64_t rate = (uint64_t)(rates[r] * 0x1p48 + .5);
            double p = (double)rate * 0x1p-48, tail = 0, v = ldexp(1, -exponents[i]);
            int k = 2000;
            /* smallest k with P(X > k) < v */
            while (tail + exp(binomial_ln(37184, k, p)) < v)
                tail += exp(binomial_ln(37184, k--, p));
            assert_int_equal(
                nand_binomial(37184, rate, UINT64_MAX - (UINT64_MAX >> exponents[i])), k);
        }
}

static void binomial_is_monotone(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t u = nand_draw(9, 79, i, 0);
        uint32_t last = 0;
        for (int step = 1; step <= 20; step++) {
            uint32_t k = nand_binomial(37184, (uint64_t)(step * step * 2e-4 * 0x1p48), u);
            assert_true(k >= last);
            last = k;
        }
    }
}

static void draws_depend_on_every_argument(void **state)
{
    const uint64_t base = nand_draw(1, 2, 3, 4);
    double bits = 0;
    (void)state;

    assert_true(nand_draw(1, 2, 3, 4) == base);
    assert_true(nand_draw(2, 2, 3, 4) != base);
    assert_true(nand_draw(1, 3, 3, 4) != base);
    assert_true(nand_draw(1, 2, 4, 4) != base);
    assert_true(nand_draw(1, 2, 3, 5) != base);
    assert_true(nand_draw(1, 2, 4, 3) != nand_draw(1, 2, 3, 4));
    for (uint64_t i = 0; i < 10000; i++) /* one input bit flips half of the output bits */
        bits += __builtin_popcountll(nand_draw(1, 2, i, 0) ^
                                     nand_draw(1, 2, i ^ (uint64_t)1 << i % 64, 0));
    assert_true(fabs(bits / 10000 - 32) < 5 * 4.0 / 100);
}

/* One number over many integer results and double results of the model. It was taken from
 * gcc 12 at -O3 and must come out of every compiler, optimisation and CPU. */
static void same_bits_everywhere(void **state)
{
    uint64_t hash = 0;
    (void)state;

    for (uint32_t k = 0; nand_cell_name(k); k++) {
        const struct nand_cell *cell = nand_cell_find(nand_cell_name(k));
        nand_cell_table *table;
        struct nand_cell_volts volts;
        int32_t q24[NAND_BOUNDS_MAX];
        assert_int_equal(nand_cell_table_create(cell, NAND_LAW_VTH, &table), 0);
        nand_cell_retry(cell, 5, &volts);
        nand_cell_volts_q24(&volts, q24);
        for (uint64_t i = 0; i < 500; i++) {
            struct nand_cell_use use = NAND_CELL_USE_INIT;
            struct nand_cell_point point = NAND_CELL_POINT_INIT;
            struct nand_cell_rates rates;
            struct nand_cell_dist dist;
            use.pe = point.pe = (uint32_t)i * 17;
            use.hours = (double)i * 3;
            point.slow_s = i * i * 1000;
            point.fast_s = i * i * 700;
            point.dose_q4 = i * 9999;
            nand_cell_table_rates(table, &point, 0, q24, &rates);
            assert_int_equal(nand_cell_dist(cell, &use, &dist, NULL, 0), 0);
            double mean = nand_cell_mean_rber(&dist, &volts);
            uint64_t bits;
            memcpy(&bits, &mean, sizeof bits);
            hash = nand_draw(hash, rates.zero_to_one_q48, rates.one_to_zero_q48, bits);
        }
        nand_cell_table_destroy(table);
    }
    printf("hash of model results: 0x%016llx\n", (unsigned long long)hash);
    assert_true(hash == 0x569b687ad3ee1beb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_agrees_within_one_percent),
        cmocka_unit_test(published_laws_by_table),
        cmocka_unit_test(binomial_passes_chi_square),
        cmocka_unit_test(binomial_by_hand),
        cmocka_unit_test(binomial_tail),
        cmocka_unit_test(binomial_far_tail),
        cmocka_unit_test(binomial_is_monotone),
        cmocka_unit_test(draws_depend_on_every_argument),
        cmocka_unit_test(same_bits_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
