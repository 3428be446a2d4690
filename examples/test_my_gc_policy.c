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
    static const uint32_t valid[] = {60, 50, 40, 10};
    static const uint8_t collectable[] = {1, 1, 0, 1};
    static const uint64_t closed[] = {100, 200, 300, 980};
    struct ftl_gc_view v = {.count = 4, .units_per_superblock = 64, .valid_units = valid,
                            .collectable = collectable, .closed_at_write = closed,
                            .host_units_written = 1000};
    uint64_t spared = 0;
    uint32_t sb = 99;
    (void)unused;
    assert_int_equal(my_gc_policy.pick(&spared, &v, &sb), 0);
    assert_int_equal(sb, 1);        /* 2 may not be taken, 3 is 20 units old */
    assert_int_equal(spared, 1);
    v.host_units_written = 1108;    /* 128 units: half of the four */
    assert_int_equal(my_gc_policy.pick(&spared, &v, &sb), 0);
    assert_int_equal(sb, 3);
}

static void test_in_a_drive(void **unused)
{
    struct ftl_policies policies = FTL_POLICIES_INIT;
    struct tk_options options = {.policies = &policies};
    struct tk_load load = {.lbas = 96, .io_lbas = 1, .depth = 8, .seed = 1};
    struct tk_case c = {0};
    struct tk_result r;
    (void)unused;
    policies.gc = &my_gc_policy;
    assert_int_equal(tk_tiny(&c.cfg, r.why, sizeof r.why, NULL), 0);
    assert_int_equal(tk_add_fill(&c.script, &load), 0);
    assert_int_equal(tk_add_hot_cold(&c.script, &load, 5000, 80, 20, 0), 0);
    assert_int_equal(tk_add_trim_storm(&c.script, &load, 500), 0);
    assert_int_equal(tk_play(&c, &options, &r), 0);
    assert_string_equal(r.why, "");
    assert_int_equal(r.verdict, TK_SOUND);
    tk_script_free(&c.script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spares_the_young),
                                       cmocka_unit_test(test_in_a_drive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
