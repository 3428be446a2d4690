/* test_dsp.c - read voltages, soft values and the ladder, against worked cases and
 * against a Gaussian cell model computed here with libm. */
#include <math.h>

#include "common.h"
#include "ldpc/dsp.h"

static const struct ldpc_shape TLC = {7, {350, 458, 567, 675, 783, 892, 1000}};

static double q_of(double x)
{
    return 0.5 * erfc(x / sqrt(2));
}

static void test_shift(void **st)
{
    (void)st;
    struct ldpc_volt v;
    assert_int_equal(ldpc_volt_shift(&TLC, -100, &v), LDPC_OK);
    static const int want[] = {-35, -46, -57, -68, -78, -89, -100}; /* half away from 0 */
    for (unsigned b = 0; b < 7; b++)
        assert_int_equal(v.off_mp[b], want[b]);
    assert_int_equal(v.off_mp[7], 0);
    assert_int_equal(ldpc_volt_shift(&TLC, 2001, &v), LDPC_EINVAL);
    struct ldpc_shape bad = TLC;
    bad.share_permille[3] = 1001;
    assert_int_equal(ldpc_volt_shift(&bad, 0, &v), LDPC_EINVAL);
    bad.bounds = 0;
    assert_int_equal(ldpc_volt_shift(&bad, 0, &v), LDPC_EINVAL);
    /* table step 21.5 mp: entry 3 lowers the top by 64.5 -> 65 */
    assert_int_equal(ldpc_retry_entry(&TLC, 3, 215, &v), LDPC_OK);
    assert_int_equal(v.off_mp[6], -65);
    assert_int_equal(ldpc_retry_entry(&TLC, 0, 215, &v), LDPC_OK);
    assert_int_equal(v.off_mp[6], 0);
    assert_int_equal(ldpc_retry_entry(&TLC, 256, 215, &v), LDPC_EINVAL);
}

static void test_store(void **st)
{
    (void)st;
    assert_int_equal(ldpc_vstore_entries(10, 232, 3), 6960);
    assert_int_equal(ldpc_vstore_entries(0, 232, 3), 0);
    assert_int_equal(ldpc_vstore_entries(1u << 20, 65536, 4), 0);
    int16_t mem[24] = {0};
    struct ldpc_vstore s = {2, 4, 3, mem};
    int top = 1;
    for (uint32_t g = 0; g < 2; g++)
        for (uint32_t l = 0; l < 4; l++)
            for (uint32_t t = 0; t < 3; t++)
                assert_int_equal(ldpc_vstore_put(&s, g, l, t, -(int)(100 * g + 10 * l + t)), 0);
    assert_int_equal(ldpc_vstore_get(&s, 1, 3, 2, &top), 0);
    assert_int_equal(top, -132);
    assert_int_equal(ldpc_vstore_get(&s, 0, 0, 0, &top), 0);
    assert_int_equal(top, 0);
    assert_int_equal(ldpc_vstore_put(&s, 1, 1, 1, -5000), 0);
    assert_int_equal(ldpc_vstore_get(&s, 1, 1, 1, &top), 0);
    assert_int_equal(top, -LDPC_OFFSET_MAX_MP);
    assert_int_equal(ldpc_vstore_get(&s, 2, 0, 0, &top), LDPC_EINVAL);
    assert_int_equal(ldpc_vstore_put(&s, 0, 4, 0, 1), LDPC_EINVAL);
}

static void test_track_step(void **st)
{
    (void)st;
    assert_int_equal(ldpc_track_step(30, 10, 40, 8), -20); /* 40 * (10 - 30) / 40 */
    assert_int_equal(ldpc_track_step(10, 30, 40, 8), 20);
    assert_int_equal(ldpc_track_step(20, 20, 40, 8), 0);
    assert_int_equal(ldpc_track_step(7, 0, 40, 8), 0); /* too few to tell */
    assert_int_equal(ldpc_track_step(0, 0, 40, 0), 0);
    assert_int_equal(ldpc_track_step(UINT32_MAX, 0, 40, 8), -40);
}

/* Two Gaussian states of 100000 cells each: tracking and valley search both find
 * the point where the densities cross, wherever they start. */
enum { CELLS = 100000 };
static const double LOWER = 0, UPPER = 870, SIGMA = 150; /* the upper one has sunk by 130 */

static uint32_t cells_below(double v)
{
    return (uint32_t)(CELLS * (1 - q_of((v - LOWER) / SIGMA)) +
                      CELLS * (1 - q_of((v - UPPER) / SIGMA)) + 0.5);
}

static void test_tracking_converges(void **st)
{
    (void)st;
    for (int start = 335; start <= 600; start += 53) {
        int v = start;
        for (unsigned i = 0; i < 60; i++) {
            uint32_t down = (uint32_t)(CELLS * q_of((v - LOWER) / SIGMA) + 0.5);
            uint32_t up = (uint32_t)(CELLS * (1 - q_of((v - UPPER) / SIGMA)) + 0.5);
            v += ldpc_track_step(up, down, 30, 16);
        }
        assert_in_range(v, 430, 440); /* midpoint 435 of two equal states */
    }
}

static void test_valley(void **st)
{
    (void)st;
    uint32_t below[31];
    int mp = 0;
    for (int start = 130; start <= 230; start += 10) {
        for (int i = 0; i < 31; i++)
            below[i] = cells_below(start + 17 * i);
        assert_int_equal(ldpc_valley(below, 31, start, 17, &mp), LDPC_OK);
        assert_in_range(mp, 425, 445);
    }
    assert_int_equal(ldpc_valley(below, 4, 0, 17, &mp), LDPC_EINVAL);
    below[9] = below[8] - 1;
    assert_int_equal(ldpc_valley(below, 31, 0, 17, &mp), LDPC_EINVAL);
}

/* Sentinels learn slope from shifts 0..-120 and then place an unseen one. */
static void test_sentinel(void **st)
{
    (void)st;
    struct ldpc_sentinel s = {0, 0};
    assert_int_equal(ldpc_sentinel_offset(&s, 10, 0, 100), 0);
    for (int shift = 0; shift <= 120; shift += 20) {
        double upper = 1000 - shift, mid = 500; /* read at the old midpoint */
        uint32_t up = (uint32_t)(CELLS * (1 - q_of((mid - upper) / 250)) + 0.5);
        uint32_t down = (uint32_t)(CELLS * q_of(mid / 250) + 0.5);
        ldpc_sentinel_learn(&s, up, down, CELLS, -shift / 2);
    }
    double upper = 1000 - 90;
    uint32_t up = (uint32_t)(CELLS * (1 - q_of((500 - upper) / 250)) + 0.5);
    uint32_t down = (uint32_t)(CELLS * q_of(500.0 / 250) + 0.5);
    int off = ldpc_sentinel_offset(&s, up, down, CELLS);
    assert_in_range(-off, 40, 50); /* best is 45 lower */
}

static void test_neighbour(void **st)
{
    (void)st;
    int sum = 0;
    for (uint32_t state = 0; state < 8; state++)
        sum += ldpc_neighbour_offset(state, 8, 20);
    assert_int_equal(sum, 0);                              /* around the mean */
    assert_int_equal(ldpc_neighbour_offset(7, 8, 20), 70); /* 3.5 pitches * 2 % */
    assert_int_equal(ldpc_neighbour_offset(8, 8, 20), 0);
    const uint8_t r0[] = {0x0f, 0xff}, r1[] = {0xf0, 0x00}, r2[] = {0xaa, 0x55};
    const uint8_t m0[] = {0x03, 0x00}, m1[] = {0xc0, 0xf0}, m2[] = {0x00, 0x0f};
    const uint8_t *reads[] = {r0, r1, r2}, *masks[] = {m0, m1, m2};
    uint8_t out[2];
    assert_int_equal(ldpc_neighbour_merge(3, reads, masks, 2, out), LDPC_OK);
    assert_int_equal(out[0], 0xcf); /* top two bits from r1, the rest from r0 */
    assert_int_equal(out[1], 0x05); /* high nibble r1, low nibble r2 */
    const uint8_t *overlap[] = {m0, m1, m1};
    assert_int_equal(ldpc_neighbour_merge(3, reads, overlap, 2, out), LDPC_EINVAL);
}

static void test_llr_count(void **st)
{
    (void)st;
    static const struct {
        uint32_t zeros, ones, scale_x16;
    } at[] = {{1000, 10, 64},  {10, 1000, 64},      {77, 77, 160}, {0, 0, 16},
              {123456, 7, 48}, {UINT32_MAX, 0, 16}, {3, 2, 320}};
    for (unsigned i = 0; i < 7; i++) {
        double want = at[i].scale_x16 / 16.0 * log((at[i].zeros + 1.0) / (at[i].ones + 1.0));
        want = want > 31 ? 31 : want < -31 ? -31 : want;
        int got = ldpc_llr_count(at[i].zeros, at[i].ones, at[i].scale_x16);
        assert_true(fabs(got - want) <= 0.52); /* rounding, and ln to 1/4096 */
        assert_int_equal(ldpc_llr_count(at[i].ones, at[i].zeros, at[i].scale_x16), -got);
    }
}

static void test_llr_model(void **st)
{
    (void)st;
    struct ldpc_valley_model m = {{0, 1000}, {200, 200}, 3, {400, 500, 600}, 1};
    int8_t llr[8];
    double p[8][2];
    assert_int_equal(ldpc_llr_model(&m, 28, llr, p), LDPC_OK);
    assert_int_equal(llr[0], -28); /* lower state holds 1: negative */
    assert_int_equal(llr[3], 28);
    assert_int_equal(llr[1], -llr[2]);
    assert_true(fabs(p[0][0] - (1 - q_of(2))) < 1e-12);
    assert_true(fabs(p[1][1] - (q_of(2.5) - q_of(3))) < 1e-12);
    double weak = log((q_of(2) - q_of(2.5)) / (q_of(2.5) - q_of(3)));
    double strong = log((1 - q_of(2)) / q_of(3));
    assert_int_equal(llr[2], (int)(28 * weak / strong + 0.5));
    m.read_mp[1] = 400;
    assert_int_equal(ldpc_llr_model(&m, 28, llr, p), LDPC_EINVAL);
    m.read_mp[1] = 500;
    m.sigma_mp[0] = 0;
    assert_int_equal(ldpc_llr_model(&m, 28, llr, p), LDPC_EINVAL);
}

static struct ldpc_ladder ladder(void)
{
    struct ldpc_ladder l = {.shape = TLC,
                            .costs = {.sense_ns = 40000,
                                      .extra_sense_ns = 10000,
                                      .transfer_ns = 2000,
                                      .decode_ns = {3000, 8000, 9000},
                                      .sense_pj = 1000,
                                      .extra_sense_pj = 300,
                                      .transfer_pj = 100,
                                      .decode_pj = {50, 80, 90},
                                      .raid_pages = 15},
                            .retries = 3,
                            .step_mp_x10 = 215,
                            .track_gain_mp = 40,
                            .track_min_errors = 8};
    memset(l.enabled, 1, sizeof l.enabled);
    return l;
}

static void test_ladder_order_and_cost(void **st)
{
    (void)st;
    static const struct {
        enum ldpc_step step;
        uint32_t senses;
        int top;
        uint64_t ns, pj;
    } want[] = {
        {LDPC_STEP_DEFAULT, 1, 0, 45000, 1150},
        {LDPC_STEP_TRACKED, 1, -80, 45000, 1150},
        {LDPC_STEP_RETRY, 1, -22, 45000, 1150},
        {LDPC_STEP_RETRY, 1, -43, 45000, 1150},
        {LDPC_STEP_RETRY, 1, -65, 45000, 1150},
        {LDPC_STEP_SOFT2, 3, -80, 72000, 1880},  /* 40 + 2*10 + 2*2 + 8 us */
        {LDPC_STEP_SOFT3, 7, -80, 115000, 3190}, /* 40 + 6*10 + 3*2 + 9 us */
        {LDPC_STEP_NEIGHBOUR, 7, -80, 160000, 4340},
        {LDPC_STEP_RAID, 1, -80, 73000, 17250}, /* 45 + 14*2 us; 15 pages */
    };
    struct ldpc_ladder l = ladder();
    struct ldpc_retry r;
    struct ldpc_action a;
    uint64_t ns = 0;
    assert_int_equal(ldpc_retry_begin(&r, &l, -80), LDPC_OK);
    for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++) {
        assert_int_equal(ldpc_retry_next(&r, &a), 1);
        assert_int_equal(a.step, want[i].step);
        assert_int_equal(a.senses, want[i].senses);
        assert_int_equal(a.volt.off_mp[6], want[i].top);
        assert_int_equal(a.latency_ns, want[i].ns);
        assert_int_equal(a.energy_pj, want[i].pj);
        ns += want[i].ns;
    }
    assert_int_equal(ldpc_retry_next(&r, &a), 0);
    assert_int_equal(ldpc_retry_next(&r, &a), 0);
    assert_int_equal(r.latency_ns, ns);
}

static void test_ladder_skips(void **st)
{
    (void)st;
    struct ldpc_ladder l = ladder();
    struct ldpc_retry r;
    struct ldpc_action a;
    l.enabled[LDPC_STEP_SOFT2] = 0;
    l.retries = 0;
    assert_int_equal(ldpc_retry_begin(&r, &l, 0), LDPC_OK);
    assert_int_equal(ldpc_retry_next(&r, &a), 1);
    assert_int_equal(a.step, LDPC_STEP_DEFAULT);
    assert_int_equal(ldpc_retry_next(&r, &a), 1); /* tracked at 0 would repeat it */
    assert_int_equal(a.step, LDPC_STEP_SOFT3);
    assert_int_equal(ldpc_retry_success(&r, 30, 10), -20);
    assert_int_equal(ldpc_retry_success(&r, 0, 0), 0);
    memset(l.enabled, 0, sizeof l.enabled);
    assert_int_equal(ldpc_retry_begin(&r, &l, -5), LDPC_OK);
    assert_int_equal(ldpc_retry_next(&r, &a), 0);
    assert_int_equal(ldpc_retry_begin(&r, &l, -5000), LDPC_EINVAL);
    assert_int_equal(ldpc_retry_begin(&r, NULL, 0), LDPC_EINVAL);
    assert_string_equal(ldpc_step_name(LDPC_STEP_SOFT3), "soft3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shift),        cmocka_unit_test(test_store),
        cmocka_unit_test(test_track_step),   cmocka_unit_test(test_tracking_converges),
        cmocka_unit_test(test_valley),       cmocka_unit_test(test_sentinel),
        cmocka_unit_test(test_neighbour),    cmocka_unit_test(test_llr_count),
        cmocka_unit_test(test_llr_model),    cmocka_unit_test(test_ladder_order_and_cost),
        cmocka_unit_test(test_ladder_skips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
