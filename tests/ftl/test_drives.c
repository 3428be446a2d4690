/* test_drives.c - the built-in drives: capacities, families, figures published. */
#include "common.h"

#include <stdio.h>
#include <string.h>

/* User capacity of G decimal gigabytes by IDEMA LBA1-03 [P], 512-byte LBAs. */
static uint64_t idema_bytes(uint64_t g)
{
    return (UINT64_C(97696368) + UINT64_C(1953504) * (g - 50)) * 512;
}

static void test_capacities(void **state)
{
    static const struct {
        const char *name;
        uint64_t gb;
    } rows[] = {
        {"uh812a-1.92", 1920},  {"uh812a-3.84", 3840},   {"uh812a-7.68", 7680},
        {"uh812a-15.36", 15360}, {"uh832a-1.6", 1600},   {"uh832a-3.2", 3200},
        {"uh832a-6.4", 6400},   {"uh832a-12.8", 12800},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ftl_config cfg = make_config(rows[i].name, 1, NULL);
        assert_int_equal(cfg.drive_user_bytes, idema_bytes(rows[i].gb));
        assert_string_equal(cfg.drive_name, rows[i].name);
    }
}

/* The 832a drives change the capacity and nothing that affects speed. */
static void test_pairs(void **state)
{
    static const char *const pairs[][2] = {{"uh812a-1.92", "uh832a-1.6"},
                                           {"uh812a-3.84", "uh832a-3.2"},
                                           {"uh812a-7.68", "uh832a-6.4"},
                                           {"uh812a-15.36", "uh832a-12.8"}};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct ftl_config a = make_config(pairs[i][0], 1, NULL);
        struct ftl_config b = make_config(pairs[i][1], 1, NULL);
        assert_true(b.drive_user_bytes < a.drive_user_bytes);
        b.drive_user_bytes = a.drive_user_bytes;
        memcpy(b.drive_name, a.drive_name, sizeof b.drive_name);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

/* Every built-in drive can be made, written and checked at a large scale. */
static void test_all_run(void **state)
{
    const char *name;
    uint32_t n = 0;
    (void)state;
    for (; (name = ftl_drive_name(n)) != NULL; n++) {
        uint64_t scale = strcmp(name, "wa-reference") == 0 ? 1 : 464;
        struct ftl_config cfg = make_config(name, scale, NULL);
        ftl_drive *d = make_drive(&cfg);
        struct rand64 r = {n};
        struct ftl_status s;
        ftl_status_get(d, &s);
        assert_true(ftl_memory_needed(&cfg) > (s.user_units + s.physical_units) * 4);
        random_writes(d, &r, 20000);
        (void)timed_random_writes(d, &r, 64, 2000);
        assert_sound(d);
        ftl_destroy(d);
    }
    assert_int_equal(n, 10);
}

/* A full-size 7.68 TB drive fits in 20 GB; the two map arrays are 8 bytes per 4 KiB. */
static void test_memory_of_full_drive(void **state)
{
    struct ftl_config cfg = make_config("uh812a-7.68", 1, NULL);
    uint64_t need = ftl_memory_needed(&cfg);
    (void)state;
    assert_true(need < UINT64_C(20000000000));
    assert_true(need > UINT64_C(7681501126656) / 4096 * 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capacities), cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_all_run), cmocka_unit_test(test_memory_of_full_drive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
