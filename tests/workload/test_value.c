/* Numbers as fio writes them; expected values from fio's documented suffix rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "value.h"

static uint64_t size_of(const char *text, uint64_t kb_base)
{
    uint64_t v = 0;
    const char *rule = wl_value_size(wl_span_of(text), kb_base, &v);
    if (rule != NULL)
        fail_msg("%s: %s", text, rule);
    return v;
}

static void sizes_follow_fio(void **state)
{
    (void)state;
    assert_int_equal(size_of("4096", 1024), 4096);
    assert_int_equal(size_of("4k", 1024), 4096);
    assert_int_equal(size_of("4K", 1024), 4096);
    assert_int_equal(size_of("4kb", 1024), 4096);
    assert_int_equal(size_of("4KB", 1024), 4096);
    assert_int_equal(size_of("4ki", 1024), 4000);
    assert_int_equal(size_of("4kib", 1024), 4000);
    assert_int_equal(size_of("4096b", 1024), 4096);
    assert_int_equal(size_of("1m", 1024), 1048576);
    assert_int_equal(size_of("2g", 1024), UINT64_C(2147483648));
    assert_int_equal(size_of("1t", 1024), UINT64_C(1099511627776));
    assert_int_equal(size_of("1.5k", 1024), 1536);
    assert_int_equal(size_of("0.5g", 1024), UINT64_C(536870912));
    assert_int_equal(size_of("0x1000", 1024), 4096);
    assert_int_equal(size_of(" 8k ", 1024), 8192);
    assert_int_equal(size_of("4k", 1000), 4000);
    assert_int_equal(size_of("4ki", 1000), 4096);
}

static void bad_sizes_are_refused(void **state)
{
    static const char *const bad[] = {
        "",          "k",  "4x",    "4kk", "-1", "4 k b", "18446744073709551616",
        "17000000p", "0x", "1.2.3", "four"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t v = 77;
        assert_non_null(wl_value_size(wl_span_of(bad[i]), 1024, &v));
        assert_int_equal(v, 77);
    }
}

static uint64_t time_of(const char *text, uint64_t unit)
{
    uint64_t v = 0;
    assert_null(wl_value_time(wl_span_of(text), unit, &v));
    return v;
}

static void times_have_units(void **state)
{
    const uint64_t s = UINT64_C(1000000000);
    (void)state;
    assert_int_equal(time_of("30", s), 30 * s);
    assert_int_equal(time_of("30", 1000), 30000);
    assert_int_equal(time_of("30s", 1000), 30 * s);
    assert_int_equal(time_of("250ms", s), 250000000);
    assert_int_equal(time_of("7us", s), 7000);
    assert_int_equal(time_of("2m", s), 120 * s);
    assert_int_equal(time_of("1.5h", s), 5400 * s);
    assert_int_equal(time_of("1d", s), 86400 * s);
    uint64_t v;
    assert_non_null(wl_value_time(wl_span_of("3 parsecs"), s, &v));
    assert_non_null(wl_value_time(wl_span_of("999999999999d"), s, &v));
}

static void fractions_are_exact(void **state)
{
    uint64_t v;
    (void)state;
    assert_null(wl_value_micro(wl_span_of("16.67"), &v));
    assert_int_equal(v, 16670000);
    assert_null(wl_value_micro(wl_span_of("0.000001"), &v));
    assert_int_equal(v, 1);
    assert_non_null(wl_value_micro(wl_span_of("0.0000001"), &v));
    assert_non_null(wl_value_micro(wl_span_of("5%"), &v));
}

static void spans_are_cut_at_separators(void **state)
{
    struct wl_span rest = wl_span_of("a,,b"), part;
    (void)state;
    assert_true(wl_span_cut(&rest, ',', &part));
    assert_true(wl_span_equals(part, "a"));
    assert_true(wl_span_cut(&rest, ',', &part));
    assert_int_equal(part.len, 0);
    assert_true(wl_span_cut(&rest, ',', &part));
    assert_true(wl_span_equals(part, "b"));
    assert_false(wl_span_cut(&rest, ',', &part));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_follow_fio),
        cmocka_unit_test(bad_sizes_are_refused),
        cmocka_unit_test(times_have_units),
        cmocka_unit_test(fractions_are_exact),
        cmocka_unit_test(spans_are_cut_at_separators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
