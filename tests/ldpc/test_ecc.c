/* test_ecc.c - the integer curves: against the tables they come from, against counting,
 * and against decoding words with a known number of errors. */
#include <math.h>
#include <stdio.h>

#include "common.h"
#include "ldpc/ecc.h"

static const double Q64 = 18446744073709551616.0;

static const struct ldpc_costs COSTS = {.sense_ns = 60000,
                                        .extra_sense_ns = 20000,
                                        .transfer_ns = 4000,
                                        .sense_pj = 100,
                                        .extra_sense_pj = 30,
                                        .transfer_pj = 10,
                                        .decode_pj = {1, 2, 3},
                                        .raid_pages = 8};

static void test_same_as_the_table(void **st)
{
    (void)st;
    static const char *const codes[] = {"4k", "etlc", "qlc", "tlc", "mlc"};
    static struct ldpc_ecc e;
    for (unsigned c = 0; c < 5; c++) {
        assert_int_equal(ldpc_ecc_open(codes[c], &e), LDPC_OK);
        for (unsigned soft = 1; soft <= 3; soft++) {
            struct ldpc_table t;
            uint64_t before = 0;
            double most = 0; /* of the table so far: the curve never falls */
            assert_int_equal(ldpc_table_builtin(codes[c], soft, &t), LDPC_OK);
            for (uint32_t ppb = 500000; ppb < 40000000; ppb += 3331) {
                uint64_t f = ldpc_ecc_fail(&e, soft, ppb);
                double step = e.soft[soft - 1].step_ppb, got = (double)f / Q64;
                double low = ldpc_table_fer(&t, (ppb - 2 * step) / 1e9);
                double high = ldpc_table_fer(&t, (ppb + step) / 1e9);
                most = fmax(most, high);
                assert_true(f >= before);
                before = f;
                if (low > 1e-17 && ppb < 1.4e9 * t.fit_p0)
                    assert_true(got > low * 0.93 && got < most * 1.01);
            }
            assert_true(before == UINT64_MAX);
        }
    }
}

/* Summed over the binomial number of errors, the curve by errors is the waterfall. */
static void test_errors_give_the_waterfall(void **st)
{
    (void)st;
    static struct ldpc_ecc e;
    static const double rbers[] = {.0070, .0076, .0082, .0090};
    static const double most[] = {2.2, 1.35, 1.2, 1.2}; /* the binomial tail is skewed */
    struct ldpc_table t;
    assert_int_equal(ldpc_ecc_open("4k", &e), LDPC_OK);
    assert_int_equal(ldpc_table_builtin("4k", 1, &t), LDPC_OK);
    for (unsigned i = 0; i < 4; i++) {
        double p = rbers[i], n = 36864, sum = 0;
        for (uint32_t k = 1; k < 1000; k++)
            sum += (double)ldpc_ecc_fail_errors(&e, k) / Q64 *
                   exp(lgamma(n + 1) - lgamma(k + 1.0) - lgamma(n - k + 1) + k * log(p) +
                       (n - k) * log1p(-p));
        double z = (t.fit_p0 - p) * sqrt(n) / (t.fit_alpha * sqrt(p * (1 - p)));
        double want = erfc(z / sqrt(2)) / 2;
        assert_true(sum > want * 0.8 && sum < want * most[i]);
    }
}

static uint64_t decode_errors(const ldpc_code *code, uint32_t errors, uint32_t words)
{
    struct ldpc_facts f;
    ldpc_code_facts(code, &f);
    uint8_t *seen = malloc(f.n / 8), *got = malloc(f.n / 8);
    void *ws = test_workspace(code);
    uint64_t s = 1, failed = 0;
    for (uint32_t w = 0; w < words; w++) {
        memset(seen, 0, f.n / 8);
        for (uint32_t placed = 0; placed < errors;) {
            uint32_t v = (uint32_t)(test_rand(&s) >> 32) % f.n;
            placed += !bit_at(seen, v);
            seen[v >> 3] |= (uint8_t)(1u << (v & 7));
        }
        failed += ldpc_decode_hard(code, ws, seen, got, NULL, NULL) != LDPC_OK;
    }
    free(seen);
    free(got);
    free(ws);
    return failed;
}

/* Words with so many errors fail as often as the curve says: the real decoder, counted. */
static void test_errors_against_decoding(void **st)
{
    (void)st;
    enum { WORDS = 1500 };
    static const uint32_t errors[] = {322, 335, 350};
    static struct ldpc_ecc e;
    ldpc_code *code = test_open("4k");
    assert_int_equal(ldpc_ecc_open("4k", &e), LDPC_OK);
    for (unsigned i = 0; i < 3; i++) {
        double low, high, want = (double)ldpc_ecc_fail_errors(&e, errors[i]) / Q64;
        ldpc_interval95(decode_errors(code, errors[i], WORDS), WORDS, &low, &high);
        print_message("%u errors: curve %.4f, decoded %.4f..%.4f\n", errors[i], want, low,
                      high);
        assert_true(want > low / 1.6 && want < high * 1.6); /* the fit is one of FER(RBER) */
    }
    ldpc_code_close(code);
}

/* The share of failing draws is the curve; with one u the better read never loses what
 * the worse one had. */
static void test_draws(void **st)
{
    (void)st;
    enum { DRAWS = 40000 };
    static struct ldpc_ecc e;
    uint64_t s = 5;
    unsigned failed[2] = {0, 0};
    assert_int_equal(ldpc_ecc_open("etlc", &e), LDPC_OK);
    for (unsigned i = 0; i < DRAWS; i++) {
        struct ldpc_ecc_word w = {8600000, LDPC_ECC_ERRORS_UNKNOWN, test_rand(&s)};
        struct ldpc_ecc_result hard, soft;
        assert_int_equal(ldpc_ecc_decode(&e, &COSTS, LDPC_STEP_DEFAULT, &w, &hard), LDPC_OK);
        assert_int_equal(ldpc_ecc_decode(&e, &COSTS, LDPC_STEP_SOFT2, &w, &soft), LDPC_OK);
        assert_true(soft.ok >= hard.ok);
        failed[0] += !hard.ok;
        failed[1] += !soft.ok;
    }
    double want = (double)ldpc_ecc_fail(&e, 1, 8600000) / Q64 * DRAWS;
    assert_true(fabs(failed[0] - want) < 5 * sqrt(want)); /* etlc-soft1: 7.8 % */
    assert_int_equal(failed[1], 0); /* 2-bit at .0086 is far below its waterfall */
}

static void test_price(void **st)
{
    (void)st;
    static struct ldpc_ecc e;
    struct ldpc_ecc_result r;
    assert_int_equal(ldpc_ecc_open("4k", &e), LDPC_OK);
    /* The assumed engine on 144,384 edges: 91 ns a round, 361 an iteration. */
    assert_int_equal(e.soft[0].worst_ns, 200 + 40 * 361);
    struct ldpc_ecc_word w = {0, LDPC_ECC_ERRORS_UNKNOWN, 1ull << 63};
    assert_int_equal(ldpc_ecc_decode(&e, &COSTS, LDPC_STEP_DEFAULT, &w, &r), LDPC_OK);
    assert_true(r.ok && r.decode_ns == 200);
    assert_int_equal(r.latency_ns, 60000 + 4000 + 200);
    assert_int_equal(r.energy_pj, 100 + 10 + 1);
    w.rber_ppb = 500000000;
    assert_int_equal(ldpc_ecc_decode(&e, &COSTS, LDPC_STEP_SOFT3, &w, &r), LDPC_OK);
    assert_true(!r.ok);
    assert_int_equal(r.latency_ns, 60000 + 6 * 20000 + 3 * 4000 + 200 + 40 * 361);
    assert_int_equal(r.energy_pj, 100 + 6 * 30 + 3 * 10 + 3);
    w.errors = 100; /* counted errors rule hard steps, not soft ones */
    assert_int_equal(ldpc_ecc_decode(&e, &COSTS, LDPC_STEP_RETRY, &w, &r), LDPC_OK);
    assert_true(r.ok);
    assert_int_equal(ldpc_ecc_decode(&e, &COSTS, LDPC_STEP_SOFT2, &w, &r), LDPC_OK);
    assert_true(!r.ok);
    assert_int_equal(ldpc_ecc_decode(&e, &COSTS, LDPC_STEP_RAID, &w, &r), LDPC_OK);
    assert_true(r.ok);
    assert_int_equal(r.latency_ns, 60000 + 4000 + 200 + 7 * 4000);
    /* Decoding gets slower as errors grow, and is measured at the table's points. */
    uint32_t before = 0;
    for (w.errors = 0; w.errors < 280; w.errors += 20) {
        assert_int_equal(ldpc_ecc_decode(&e, &COSTS, LDPC_STEP_DEFAULT, &w, &r), LDPC_OK);
        before = r.decode_ns > before ? r.decode_ns : before;
        assert_in_range(r.decode_ns, 200, 5000);
    }
    assert_true(before > 2000);
}

/* The loop of ecc.h: a page beyond hard decoding comes back by a soft step, and what it
 * cost is the sum of the steps that the ladder itself prices. */
static void test_ladder(void **st)
{
    (void)st;
    static struct ldpc_ecc e;
    struct ldpc_ladder l = {.shape = {7, {100, 200, 300, 500, 700, 850, 1000}},
                            .costs = COSTS,
                            .retries = 2,
                            .step_mp_x10 = 50,
                            .enabled = {1, 1, 1, 1, 1, 1, 1}};
    struct ldpc_retry r;
    struct ldpc_action a = {0};
    struct ldpc_ecc_result d = {0};
    uint64_t ns = 0, steps = 0;
    assert_int_equal(ldpc_ecc_open("etlc", &e), LDPC_OK);
    assert_int_equal(ldpc_retry_begin(&r, &l, 0), LDPC_OK);
    while (!d.ok && ldpc_retry_next(&r, &a)) {
        struct ldpc_ecc_word w = {14000000, 521, 0x8000000000000000u};
        assert_int_equal(ldpc_ecc_decode(&e, &l.costs, a.step, &w, &d), LDPC_OK);
        ns += d.latency_ns - d.decode_ns;
        steps++;
    }
    assert_int_equal(a.step, LDPC_STEP_SOFT2);
    assert_int_equal(steps, 4);         /* default, retry 1, retry 2, soft2 */
    assert_int_equal(ns, r.latency_ns); /* the ladder's costs have no decoder time here */
}

static void test_misuse(void **st)
{
    (void)st;
    static struct ldpc_ecc e;
    struct ldpc_table t[3];
    struct ldpc_ecc_word w = {0, 0, 0};
    struct ldpc_ecc_result r;
    assert_int_equal(ldpc_ecc_open("1k", &e), LDPC_ENAME); /* no table is committed */
    assert_int_equal(ldpc_ecc_open("none", &e), LDPC_ENAME);
    assert_int_equal(ldpc_ecc_open(NULL, &e), LDPC_EINVAL);
    assert_int_equal(ldpc_table_builtin("4k", 4, t), LDPC_EINVAL);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(ldpc_table_builtin(i == 1 ? "tlc" : "4k", i + 1, &t[i]), LDPC_OK);
    assert_int_equal(ldpc_ecc_from(t, 32768, &e), LDPC_EINVAL); /* two codes */
    assert_int_equal(ldpc_table_builtin("4k", 2, &t[1]), LDPC_OK);
    assert_int_equal(ldpc_ecc_from(t, 32768, &e), LDPC_OK);
    t[2] = t[1];
    assert_int_equal(ldpc_ecc_from(t, 32768, &e), LDPC_EINVAL); /* 3 soft bits missing */
    assert_int_equal(ldpc_ecc_decode(&e, &COSTS, LDPC_STEPS, &w, &r), LDPC_EINVAL);
    assert_int_equal(ldpc_ecc_decode(&e, NULL, LDPC_STEP_RAID, &w, &r), LDPC_EINVAL);
    assert_true(ldpc_ecc_fail(&e, 4, 1) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_the_table),
        cmocka_unit_test(test_errors_give_the_waterfall),
        cmocka_unit_test(test_errors_against_decoding),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_price),
        cmocka_unit_test(test_ladder),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
