/* test_trap.c - failing sets and importance sampling where direct simulation works. */
#include <math.h>

#include "common.h"
#include "ldpc/channel.h"

/* Bit flipping alone fails often and on small sets: a decoder with a floor that can
 * be reached by counting. */
static struct ldpc_mc setup(const struct ldpc_channel *ch)
{
    struct ldpc_mc mc = {
        .struct_size = sizeof mc,
        .payload = LDPC_WORD_ZERO,
        .seed = 8,
        .channel = ch,
        .opts = {.struct_size = sizeof mc.opts, .decoder = LDPC_DEC_GDBF, .flips_max = 30}};
    return mc;
}

enum { SETS = 400 };

static void test_sets_are_failures(void **st)
{
    (void)st;
    ldpc_code *code = test_open("1k");
    struct ldpc_channel ch;
    static struct ldpc_trap trap[SETS];
    size_t count = 0;
    void *ws = test_workspace(code);
    assert_int_equal(ldpc_channel_awgn(0.0045, 1, &ch), LDPC_OK);
    struct ldpc_mc mc = setup(&ch);
    assert_int_equal(ldpc_trap_collect(code, &mc, 0, 3000, trap, SETS, &count), LDPC_OK);
    assert_true(count > 3);
    for (size_t i = 0; i < count; i++) {
        uint8_t seen[1152] = {0}, got[1152];
        unsigned ones = 0;
        assert_int_equal(trap[i].copies, 256); /* no shortening: every rotation counts */
        ldpc_channel_flip(mc.seed, trap[i].frame, ldpc_prob_from_double(0.0045), seen, 9216);
        struct ldpc_opts o = mc.opts;
        o.hard_llr = 20;
        assert_int_equal(ldpc_decode_hard(code, ws, seen, got, &o, NULL), LDPC_EUNCORR);
        for (unsigned v = 0; v < 9216; v++)
            ones += (unsigned)bit_at(got, v);
        assert_int_equal(ones, trap[i].bits);
        for (uint32_t b = 0; b < trap[i].bits; b++)
            assert_true(bit_at(got, trap[i].bit[b]));
    }
    free(ws);
    ldpc_code_close(code);
}

/* A single set, its failures counted directly at a rate where they are common, and
 * estimated with its bits biased: the same number within its own error. */
static void test_estimate_agrees_with_counting(void **st)
{
    (void)st;
    ldpc_code *code = test_open("1k");
    struct ldpc_channel ch;
    double direct, direct_sd, biased, biased_sd;
    assert_int_equal(ldpc_channel_awgn(0.005, 1, &ch), LDPC_OK);
    struct ldpc_mc mc = setup(&ch);
    struct ldpc_trap t = {.bits = 3, .bit = {5, 700, 4000}, .copies = 1};
    /* bias = the channel's own rate: plain counting of "fails with a bit of t wrong" */
    assert_int_equal(ldpc_trap_estimate(code, &mc, &t, 0.005, 0, 30000, &direct, &direct_sd),
                     LDPC_OK);
    assert_int_equal(ldpc_trap_estimate(code, &mc, &t, 0.3, 40000, 30000, &biased, &biased_sd),
                     LDPC_OK);
    assert_true(direct > 0 && biased > 0);
    assert_true(fabs(direct - biased) < 4 * (direct_sd + biased_sd));
    assert_true(biased_sd < direct_sd); /* what the bias is for */
    ldpc_code_close(code);
}

static void test_misuse(void **st)
{
    (void)st;
    ldpc_code *code = test_open("1k");
    struct ldpc_channel hard, soft;
    struct ldpc_trap t = {.bits = 1, .bit = {0}, .copies = 1};
    double fer, sd;
    size_t count;
    assert_int_equal(ldpc_channel_awgn(0.005, 1, &hard), LDPC_OK);
    assert_int_equal(ldpc_channel_awgn(0.005, 2, &soft), LDPC_OK);
    struct ldpc_mc mc = setup(&soft);
    assert_int_equal(ldpc_trap_collect(code, &mc, 0, 1, &t, 1, &count), LDPC_EINVAL);
    mc = setup(&hard);
    assert_int_equal(ldpc_trap_estimate(code, &mc, &t, 0, 0, 1, &fer, &sd), LDPC_EINVAL);
    assert_int_equal(ldpc_trap_estimate(code, &mc, &t, NAN, 0, 1, &fer, &sd), LDPC_EINVAL);
    t.bits = 0;
    assert_int_equal(ldpc_trap_estimate(code, &mc, &t, 0.5, 0, 1, &fer, &sd), LDPC_EINVAL);
    ldpc_code_close(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_are_failures),
        cmocka_unit_test(test_estimate_agrees_with_counting),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
