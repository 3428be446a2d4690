/* Bins, percentiles, sums, steady state: values by hand or from fio's own output. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "workload/stats.h"

/* Middles of bins that a real fio 3.33 printed in json+, and latencies inside. */
static void bins_are_those_of_fio(void **state)
{
    static const struct {
        uint64_t ns, shown;
    } real[] = {
        {0, 0},
        {1, 1},
        {127, 127},
        {140, 141},
        {141, 141},
        {262, 262},
        {270, 270},
        {524, 524},
        {1003, 1004},
        {1032, 1032},
        {2064, 2064},
        {8093, 8096},
        {9024, 9024},
        {128512, 128512},
        {1531904, 1531904},
        {8028160, 8028160},
        {16107079, 16056320},
    };
    (void)state;
    for (size_t i = 0; i < sizeof real / sizeof real[0]; i++)
        assert_int_equal(wl_bin_value(wl_bin_index(real[i].ns)), real[i].shown);
}

/* Every bin: its middle lies in it, and bins follow one another without gaps. */
static void bins_cover_the_line(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WL_BINS; i++)
        assert_int_equal(wl_bin_index(wl_bin_value(i)), i);
    for (uint32_t i = 1; i < WL_BINS; i++)
        assert_true(wl_bin_value(i) > wl_bin_value(i - 1));
    for (uint64_t ns = 1; ns < 100000; ns++) {
        uint32_t step = wl_bin_index(ns) - wl_bin_index(ns - 1);
        assert_true(step <= 1);
        double error = fabs((double)wl_bin_value(wl_bin_index(ns)) - (double)ns);
        assert_true(error <= (double)ns / 128.0);
    }
    assert_int_equal(wl_bin_index(UINT64_MAX), WL_BINS - 1);
}

static uint64_t bins[WL_BINS];

static void percentiles_by_hand(void **state)
{
    (void)state;
    memset(bins, 0, sizeof bins);
    for (uint64_t ns = 1; ns <= 100; ns++) /* one sample each of 1..100 ns */
        bins[wl_bin_index(ns)]++;
    assert_int_equal(wl_percentile(bins, 100, 1 * WL_PCT), 1);
    assert_int_equal(wl_percentile(bins, 100, 50 * WL_PCT), 50);
    assert_int_equal(wl_percentile(bins, 100, 50 * WL_PCT + 1), 51);
    assert_int_equal(wl_percentile(bins, 100, 99 * WL_PCT), 99);
    assert_int_equal(wl_percentile(bins, 100, 99999999), 100);
    assert_int_equal(wl_percentile(bins, 100, 100 * WL_PCT), 100);
    assert_int_equal(wl_percentile(bins, 0, 50 * WL_PCT), 0);
    /* 999,999 samples at 10 ns and one at 1,000 ns: five nines are still 10 ns */
    memset(bins, 0, sizeof bins);
    bins[10] = 999999;
    bins[wl_bin_index(1000)] = 1;
    assert_int_equal(wl_percentile(bins, 1000000, 99999900), 10);
    assert_int_equal(wl_percentile(bins, 1000000, 99999901), 1004);
}

static void sums_are_exact(void **state)
{
    struct wl_sum s = {0};
    (void)state;
    assert_true(wl_sum_mean(&s) == 0.0 && wl_sum_stddev(&s) == 0.0);
    /* 2 4 4 4 5 5 7 9: mean 5, squared deviations 32, of a sample sqrt(32 / 7) */
    static const uint64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    for (size_t i = 0; i < 8; i++)
        wl_sum_add(&s, values[i]);
    assert_int_equal(s.min, 2);
    assert_int_equal(s.max, 9);
    assert_true(wl_sum_mean(&s) == 5.0);
    assert_true(fabs(wl_sum_stddev(&s) - sqrt(32.0 / 7.0)) < 1e-12);
    /* the same deviations around 10^15 ns: a sum of squares in double would lose them */
    struct wl_sum far = {0};
    for (size_t i = 0; i < 8; i++)
        wl_sum_add(&far, UINT64_C(1000000000000000) + values[i]);
    assert_true(fabs(wl_sum_stddev(&far) - sqrt(32.0 / 7.0)) < 1e-9);
}

/* The table of the test specification's rule, verdicts worked out by hand. */
static void steady_state_table(void **state)
{
    static const struct {
        double y[5];
        int verdict;
    } rows[] = {
        {{100, 101, 99, 100, 100}, WL_STEADY},
        {{90, 95, 100, 105, 110}, WL_SLOPE},  /* range 20 %, at its limit; slope 20 % */
        {{91, 110, 91, 110, 91}, WL_STEADY},  /* range 19.3 %, slope 0 */
        {{85, 104, 104, 104, 103}, WL_SLOPE}, /* range 19 %, slope 3.6 * 4 = 14.4 % */
        {{110, 107, 103, 100, 98}, WL_SLOPE}, /* slope 3.1 * 4 / 103.6 = 12.0 % */
        {{0.025, 0.026, 0.027, 0.028, 0.029}, WL_SLOPE},
        {{0, 0, 0, 0, 0}, WL_NO_DATA},
        {{80, 100, 100, 100, 100}, WL_RANGE},     /* 20.8 % */
        {{90, 100, 110, 100, 90}, WL_RANGE},      /* mean 98, range 20.4 % */
        {{95, 97.5, 100, 102.5, 105}, WL_STEADY}, /* slope exactly 10 %: inclusive */
        {{90, 100, 100, 100, 110}, WL_SLOPE},     /* range exactly 20 %, slope 4 * 4 = 16 % */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(wl_steady_pts(rows[i].y, NULL), rows[i].verdict);
    struct wl_steady s;
    wl_steady_pts(rows[3].y, &s);
    assert_true(fabs(s.mean - 100.0) < 1e-12);
    assert_true(fabs(s.slope - 3.6) < 1e-12);
    assert_true(fabs(s.slope_percent - 14.4) < 1e-9);
    assert_true(fabs(s.range_percent - 19.0) < 1e-9);
}

/* Units must not decide: the table again at any power of two. */
static void verdicts_do_not_depend_on_units(void **state)
{
    static const double y[][5] = {
        {100, 101, 99, 100, 100}, {85, 104, 104, 104, 103}, {95, 97.5, 100, 102.5, 105}};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int e = -40; e <= 40; e++) {
            double scaled[5];
            for (int k = 0; k < 5; k++)
                scaled[k] = ldexp(y[i][k], e);
            assert_int_equal(wl_steady_pts(scaled, NULL), wl_steady_pts(y[i], NULL));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_those_of_fio),
        cmocka_unit_test(bins_cover_the_line),
        cmocka_unit_test(percentiles_by_hand),
        cmocka_unit_test(sums_are_exact),
        cmocka_unit_test(steady_state_table),
        cmocka_unit_test(verdicts_do_not_depend_on_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
