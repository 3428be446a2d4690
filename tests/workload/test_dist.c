/* Integer logarithms against libm, permutations against their definition,
 * distributions against formulas computed here in floating point. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dist.h"
#include "fixmath.h"
#include "permute.h"

static void logarithms_agree_with_libm(void **state)
{
    struct wl_rng rng = wl_rng_make(1, WL_FOR_OFFSET, 0);
    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint64_t x = wl_rng_next(&rng) >> (i % 64) | 1;
        double got = (double)wl_log2_q32(x) / 4294967296.0;
        assert_true(fabs(got - log2((double)x)) < 1e-9);
        int64_t y = (int64_t)(wl_rng_next(&rng) >> 28) - (INT64_C(1) << 35); /* -8 .. 8 */
        double power = exp2((double)y / 4294967296.0) * 1099511627776.0;
        assert_true(fabs((double)wl_exp2_q32(y, 40) / power - 1.0) < 1e-8);
        double e = -log((double)x / 18446744073709551616.0);
        assert_true(fabs((double)wl_exponential_q32(x) / 4294967296.0 - e) < 1e-8);
    }
    assert_int_equal(wl_log2_q32(1), 0);
    assert_int_equal(wl_log2_q32(1024), UINT64_C(10) << 32);
    assert_int_equal(wl_exp2_q32(INT64_C(3) << 32, 0), 8);
    assert_int_equal(wl_exp2_q32(-(INT64_C(70) << 32), 40), 0);
    assert_true(wl_exp2_q32(INT64_C(70) << 32, 0) == UINT64_MAX);
}

/* Each value exactly once, for every small size and for odd, prime, square ones. */
static void permutations_hit_each_value_once(void **state)
{
    static const uint64_t sizes[] = {1023, 1024, 1025, 9973, 65536, 65537, 100000, 999983};
    (void)state;
    uint8_t *seen = malloc(1000000);
    assert_non_null(seen);
    for (uint64_t i = 1; i < 300 + 8; i++) {
        uint64_t n = i < 300 ? i : sizes[i - 300];
        struct wl_permute p;
        wl_permute_init(&p, n, i * 77);
        memset(seen, 0, n);
        for (uint64_t k = 0; k < n; k++) {
            uint64_t at = wl_permute_at(&p, k);
            assert_true(at < n);
            assert_int_equal(seen[at]++, 0);
        }
    }
    free(seen);
}

/* Chi-square of pairs (index block, value block): 16 x 16 cells, 225 degrees of
 * freedom, mean 225 and standard deviation 21.2; 5 deviations allowed. */
static void permutations_look_random(void **state)
{
    enum { N = 1 << 18 };
    (void)state;
    for (uint64_t key = 0; key < 4; key++) {
        uint32_t cell[16][16] = {{0}};
        struct wl_permute p;
        double chi = 0.0, expected = N / 256.0;
        wl_permute_init(&p, N - 5, key);
        for (uint64_t k = 0; k < N - 5; k++)
            cell[k * 16 / (N - 5)][wl_permute_at(&p, k) * 16 / (N - 5)]++;
        for (int i = 0; i < 256; i++)
            chi += (cell[i / 16][i % 16] - expected) * (cell[i / 16][i % 16] - expected) /
                   expected;
        assert_true(chi > 225 - 5 * 21.2 && chi < 225 + 5 * 21.2);
    }
}

static struct wl_dist_table table_of(uint8_t kind, uint64_t parameter, uint64_t centre,
                                     uint64_t n)
{
    struct wl_dist spec = {.kind = kind, .parameter = parameter, .centre = centre};
    struct wl_dist_table t;
    assert_int_equal(wl_dist_init(&t, &spec, n, 4096, 99), WL_OK);
    return t;
}

enum { DRAWS = 1000000 };

/* The share of draws that land on ranks below `limit`; centre 0 leaves ranks in order. */
static double share_below(const struct wl_dist_table *t, uint64_t limit)
{
    struct wl_rng rng = wl_rng_make(7, WL_FOR_OFFSET, 3);
    uint64_t hits = 0;
    for (int i = 0; i < DRAWS; i++) {
        uint64_t at = wl_dist_draw(t, &rng);
        assert_true(at < t->n);
        hits += at < limit;
    }
    return (double)hits / DRAWS;
}

static double within(double share) /* five standard deviations of a share of DRAWS */
{
    return 5.0 * sqrt(share * (1.0 - share) / DRAWS) + 1e-5;
}

static void zipf_has_its_mass_function(void **state)
{
    static const double thetas[] = {0.4, 0.8, 0.99, 1.2, 2.5};
    static const uint64_t limits[] = {1, 2, 10, 100, 300, 1000, 20000, 150000};
    const uint64_t n = 200003;
    (void)state;
    for (size_t k = 0; k < 5; k++) {
        struct wl_dist_table t =
            table_of(WL_DIST_ZIPF, (uint64_t)(thetas[k] * 1e6 + 0.5), 0, n);
        double *cumulative = malloc((n + 1) * sizeof *cumulative);
        assert_non_null(cumulative);
        cumulative[0] = 0.0;
        for (uint64_t i = 1; i <= n; i++)
            cumulative[i] = cumulative[i - 1] + pow((double)i, -thetas[k]);
        for (size_t i = 0; i < 8; i++) {
            double want = cumulative[limits[i]] / cumulative[n];
            assert_true(fabs(share_below(&t, limits[i]) - want) < within(want));
        }
        free(cumulative);
        wl_dist_free(&t);
    }
}

static void pareto_gives_h_of_the_blocks_the_rest_of_the_accesses(void **state)
{
    static const double hs[] = {0.1, 0.2, 0.4};
    const uint64_t n = 1000000;
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct wl_dist_table t = table_of(WL_DIST_PARETO, (uint64_t)(hs[k] * 1e6 + 0.5), 0, n);
        double first = share_below(&t, (uint64_t)(hs[k] * (double)n));
        double inner = share_below(&t, (uint64_t)(hs[k] * hs[k] * (double)n));
        double both = (1.0 - hs[k]) * (1.0 - hs[k]);
        assert_true(fabs(first - (1.0 - hs[k])) < within(1.0 - hs[k]));
        assert_true(fabs(inner - both) < within(both));
        wl_dist_free(&t);
    }
}

static void normal_has_its_quantiles(void **state)
{
    const uint64_t n = 10000000;
    (void)state;
    struct wl_dist_table t = table_of(WL_DIST_NORMAL, 5000000, WL_NO_VALUE, n); /* sigma 5 % */
    static const double sigmas[] = {-2, -1, -0.5, 0, 0.5, 1, 2};
    for (size_t i = 0; i < 7; i++) {
        double want = 0.5 * erfc(-sigmas[i] / sqrt(2.0));
        uint64_t limit = (uint64_t)((0.5 + 0.05 * sigmas[i]) * (double)n);
        assert_true(fabs(share_below(&t, limit) - want) < within(want) + 1e-4);
    }
    wl_dist_free(&t);
    t = table_of(WL_DIST_NORMAL, 50000000, 900000, 64); /* wide, clipped, few blocks */
    assert_true(share_below(&t, 64) == 1.0);
    wl_dist_free(&t);
}

static void zones_get_their_shares(void **state)
{
    struct wl_dist spec = {.kind = WL_DIST_ZONED,
                           .centre = WL_NO_VALUE,
                           .zone_count = 3,
                           .zones = {{50 * WL_PCT, 5 * WL_PCT},
                                     {30 * WL_PCT, 15 * WL_PCT},
                                     {20 * WL_PCT, 80 * WL_PCT}}};
    struct wl_dist_table t;
    (void)state;
    assert_int_equal(wl_dist_init(&t, &spec, 100000, 4096, 1), WL_OK);
    assert_true(fabs(share_below(&t, 5000) - 0.5) < within(0.5));
    assert_true(fabs(share_below(&t, 20000) - 0.8) < within(0.8));
    assert_true(fabs(share_below(&t, 2500) - 0.25) < within(0.25));
    assert_true(fabs(share_below(&t, 60000) - 0.9) < within(0.9));
    wl_dist_free(&t);
    spec.kind = WL_DIST_ZONED_ABS;
    spec.zone_count = 2;
    spec.zones[0] = (struct wl_zone){70 * WL_PCT, 4096 * 100};
    spec.zones[1] = (struct wl_zone){30 * WL_PCT, 4096 * 900};
    assert_int_equal(wl_dist_init(&t, &spec, 1000, 4096, 1), WL_OK);
    assert_true(fabs(share_below(&t, 100) - 0.7) < within(0.7));
    wl_dist_free(&t);
    assert_int_equal(wl_dist_init(&t, &spec, 999, 4096, 1), WL_EINVAL);
}

/* Scattered, the hottest block still takes the share of rank 1, wherever it is. */
static void scattering_keeps_the_shares(void **state)
{
    enum { N = 10000 };
    uint32_t *hits = calloc(N, sizeof *hits);
    struct wl_dist_table t = table_of(WL_DIST_ZIPF, 1200000, WL_NO_VALUE, N);
    struct wl_rng rng = wl_rng_make(11, WL_FOR_OFFSET, 0);
    double sum = 0.0;
    uint32_t top = 0, below_half = 0;
    (void)state;
    assert_non_null(hits);
    for (int i = 0; i < DRAWS; i++)
        hits[wl_dist_draw(&t, &rng)]++;
    for (int i = 1; i <= N; i++)
        sum += pow(i, -1.2);
    for (uint32_t i = 0; i < N; i++) {
        top = hits[i] > top ? hits[i] : top;
        below_half += i < N / 2 && hits[i] > 0;
    }
    assert_true(fabs((double)top / DRAWS - 1.0 / sum) < within(1.0 / sum));
    assert_true(below_half > N / 4);
    free(hits);
    wl_dist_free(&t);
}

/* The draws are part of the results: this one must never change silently. */
static void streams_are_fixed(void **state)
{
    struct wl_rng a = wl_rng_make(1, WL_FOR_OFFSET, 0), b = wl_rng_make(1, WL_FOR_OFFSET, 1),
                  c = wl_rng_make(2, WL_FOR_OFFSET, 0), d = wl_rng_make(1, WL_FOR_SIZE, 0);
    uint64_t first = wl_rng_next(&a);
    (void)state;
    assert_true(first != wl_rng_next(&b));
    assert_true(first != wl_rng_next(&c));
    assert_true(first != wl_rng_next(&d));
    /* SplitMix64 from state 0 (its authors' reference): the first output is the
     * finaliser of one step of gamma */
    assert_true(wl_mix64(UINT64_C(0x9e3779b97f4a7c15)) == UINT64_C(0xe220a8397b1dcdaf));
    assert_int_equal(wl_below(0, 10), 0);
    assert_int_equal(wl_below(UINT64_MAX, 10), 9);
    assert_int_equal(wl_below(UINT64_C(1) << 63, 10), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms_agree_with_libm),
        cmocka_unit_test(permutations_hit_each_value_once),
        cmocka_unit_test(permutations_look_random),
        cmocka_unit_test(zipf_has_its_mass_function),
        cmocka_unit_test(pareto_gives_h_of_the_blocks_the_rest_of_the_accesses),
        cmocka_unit_test(normal_has_its_quantiles),
        cmocka_unit_test(zones_get_their_shares),
        cmocka_unit_test(scattering_keeps_the_shares),
        cmocka_unit_test(streams_are_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
