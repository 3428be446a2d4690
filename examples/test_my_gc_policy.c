/* test_my_gc_policy.c - the policy as a function, and in a drive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ftl/ftl_testkit.h>

extern const struct ftl_gc_policy my_gc_policy;

static void test_spares_the_young(void **unused)
{
    static const struct tk_superblock sb[] = {
        {60, 0, 100, false}, {50, 0, 200, false}, {40, 0, 300, true}, {10, 0, 980, false}};
    struct ftl_gc_view v = {.units_per_superblock = 64, .host_units_written = 1000};
    uint64_t spared = 0;
    (void)unused;           /* 2 may not be taken, 3 is 20 units old */
    assert_int_equal(tk_gc_pick(&my_gc_policy, &spared, sb, 4, v), 1);
    assert_int_equal(spared, 1);
    v.host_units_written = 1108;    /* 128 units: half of the four */
    assert_int_equal(tk_gc_pick(&my_gc_policy, &spared, sb, 4, v), 3);
}

static void test_in_a_drive(void **unused)
{
    struct ftl_policies mine = FTL_POLICIES_INIT;
    struct tk_result r, greedy;
    (void)unused;
    mine.gc = &my_gc_policy;
    assert_int_equal(tk_try(NULL, 1, &greedy), 0);
    assert_int_equal(tk_try(&mine, 1, &r), 0);
    assert_string_equal(r.why, "");         /* TK_SOUND; else the step and what it broke */
    assert_int_equal(r.digest, greedy.digest);      /* the host read the same */
    assert_in_range(tk_wa_milli(&r), 1000, tk_wa_milli(&greedy) * 6 / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spares_the_young),
                                       cmocka_unit_test(test_in_a_drive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
