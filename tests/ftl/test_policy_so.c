/* test_policy_so.c - policies from shared objects: used, or refused with the reason. */
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "workload/policy.h"

static const char *folder;
static char why[FTL_WHY_MAX];

static int load_kind(wl_policies *p, ftl_setup *s, const char *key, const char *file)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    why[0] = '\0';
    return wl_policies_set(p, key, path, s, "test", why, sizeof why);
}

static int load(wl_policies *p, ftl_setup *s, const char *file)
{
    return load_kind(p, s, "gc.policy", file);
}

static ftl_drive *drive_of(wl_policies *p, ftl_setup *s)
{
    struct ftl_config cfg;
    ftl_drive *d = NULL;
    if (ftl_setup_finish(s, 1, &cfg, why, sizeof why) < 0 ||
        ftl_create_with(&cfg, wl_policies_get(p), &d, why, sizeof why) < 0)
        fail_msg("%s", why);
    return d;
}

static ftl_setup *small_setup(void)
{
    ftl_setup *s = ftl_setup_new();
    assert_non_null(s);
    assert_int_equal(ftl_setup_load(s, "wa-reference", why, sizeof why), 0);
    assert_int_equal(ftl_setup_set(s, "op", "0.2", "test", why, sizeof why), 0);
    return s;
}

/* The object's policy is fifo by another name: the drives must not differ. */
static void test_good(void **state)
{
    uint64_t hash[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        wl_policies *p = wl_policies_new();
        ftl_setup *s = small_setup();
        struct rand64 r = {4};
        char text[FTL_NAME_MAX];
        if (i == 0)
            assert_int_equal(load(p, s, "policy_good.so"), 0);
        else
            assert_int_equal(wl_policies_set(p, "gc.policy", "fifo", s, "--gc", why, sizeof why),
                             0);
        for (uint32_t k = 0; k < ftl_key_count(); k++) {
            struct ftl_key key;
            assert_int_equal(ftl_key_get(k, &key), 0);
            if (strcmp(key.key, "gc.policy") == 0)
                assert_int_equal(ftl_setup_value(s, NULL, k, text, sizeof text, NULL), 0);
        }
        assert_string_equal(text, i == 0 ? "oldest" : "fifo");
        ftl_drive *d = drive_of(p, s);
        sequential_fill(d);
        random_writes(d, &r, 1000000);
        assert_sound(d);
        hash[i] = ftl_state_hash(d);
        ftl_destroy(d);
        ftl_setup_free(s);
        wl_policies_free(p);
    }
    assert_true(hash[0] == hash[1]);
}

static void test_refused(void **state)
{
    static const struct {
        const char *file, *part;
        int err;
    } rows[] = {
        {"policy_version.so", "made for version 2 of ftl_policy.h, this program takes 1", WL_EJOB},
        {"policy_size.so", "its struct ftl_gc_policy has ", WL_EJOB},
        {"policy_symbol.so", "exports no ftl_gc_policy_export()", WL_EIO},
        {"policy_null.so", "ftl_gc_policy_export() returned no policy", WL_EJOB},
        {"policy_name.so", "name must have 1 to 63 characters", WL_EJOB},
        {"no_such.so", "no_such.so", WL_EIO},
    };
    (void)state;
    wl_policies *p = wl_policies_new();
    ftl_setup *s = small_setup();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(load(p, s, rows[i].file), rows[i].err);
        if (strstr(why, rows[i].part) == NULL || strchr(why, '\n') != NULL)
            fail_msg("%s: \"%s\" lacks \"%s\"", rows[i].file, why, rows[i].part);
    }
    assert_int_equal(wl_policies_set(p, "gc.window", "3", s, "--gc", why, sizeof why), WL_EINVAL);
    assert_null(wl_policies_get(p)->gc);    /* nothing of them was kept */
    ftl_setup_free(s);
    wl_policies_free(p);
}

/* Loaded, but refused or stopped by the drive. */
static void test_stopped(void **state)
{
    struct ftl_config cfg;
    ftl_drive *d = NULL;
    (void)state;
    wl_policies *p = wl_policies_new();
    ftl_setup *s = small_setup();
    assert_int_equal(load(p, s, "policy_taken.so"), 0);
    assert_int_equal(ftl_setup_finish(s, 1, &cfg, why, sizeof why), 0);
    assert_int_equal(ftl_create_with(&cfg, wl_policies_get(p), &d, why, sizeof why), FTL_EINVAL);
    assert_non_null(strstr(why, "gc policy greedy: the name is that of a built-in policy"));

    assert_int_equal(load(p, s, "policy_open.so"), 0);
    d = drive_of(p, s);
    struct rand64 r = {4};
    int err = 0;
    for (uint64_t i = 0; i < 1000000 && err == 0; i++) {
        struct ftl_extent e = {.lba = draw_to(&r, ftl_lba_count(d)), .lba_count = 1};
        err = ftl_write_untimed(d, &e, 1);
    }
    assert_int_equal(err, FTL_EPOLICY);
    assert_int_equal(ftl_policy_fault(d, why, sizeof why), FTL_EPOLICY);
    assert_non_null(strstr(why, "gc policy oldest: chose superblock"));
    ftl_destroy(d);
    ftl_setup_free(s);
    wl_policies_free(p);
}

static ftl_setup *stream_setup(void)
{
    ftl_setup *s = small_setup();
    assert_int_equal(ftl_setup_set(s, "streams.mode", "auto", "test", why, sizeof why), 0);
    assert_int_equal(ftl_setup_set(s, "streams.count", "2", "test", why, sizeof why), 0);
    assert_int_equal(ftl_setup_set(s, "gc.frontiers", "2", "test", why, sizeof why), 0);
    return s;
}

/* The first half of the units gets nine writes of ten. A superblock with units of both
 * halves dies slowly; only if the object was asked are the halves apart. */
static void test_streams(void **state)
{
    double wa[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        wl_policies *p = wl_policies_new();
        ftl_setup *s = stream_setup();
        struct ftl_status now;
        struct rand64 r = {4};
        if (i == 0)
            assert_int_equal(load_kind(p, s, "streams.policy", "stream_good.so"), 0);
        else
            assert_int_equal(ftl_setup_set(s, "streams.mode", "host", "test", why, sizeof why), 0);
        ftl_drive *d = drive_of(p, s);
        uint64_t n = ftl_lba_count(d);
        sequential_fill(d);
        for (uint64_t k = 0; k < 6 * n; k++) {
            bool hot = draw_to(&r, 10) != 0;
            struct ftl_extent e = {.lba = hot ? draw_to(&r, n / 2) : n / 2 + draw_to(&r, n - n / 2),
                                   .lba_count = 1};
            if (k == 4 * n)
                ftl_counters_reset(d);
            assert_int_equal(ftl_write_untimed(d, &e, 1), 0);
        }
        assert_sound(d);
        wa[i] = wa_gc(d);
        ftl_status_get(d, &now);
        assert_int_equal(now.streams_in_use, 2);
        ftl_destroy(d);
        ftl_setup_free(s);
        wl_policies_free(p);
    }
    assert_true(wa[0] < 0.97 * wa[1]);
}

static void test_streams_refused(void **state)
{
    static const struct {
        const char *key, *file, *part;
        int err;
    } rows[] = {
        {"streams.policy", "stream_version.so",
         "made for version 2 of ftl_policy.h, this program takes 1", WL_EJOB},
        {"streams.policy", "stream_size.so", "its struct ftl_stream_policy has ", WL_EJOB},
        {"streams.policy", "policy_good.so", "exports no ftl_stream_policy_export()", WL_EIO},
        {"gc.policy", "stream_good.so", "exports no ftl_gc_policy_export()", WL_EIO},
    };
    struct ftl_config cfg;
    ftl_drive *d = NULL;
    (void)state;
    wl_policies *p = wl_policies_new();
    ftl_setup *s = stream_setup();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(load_kind(p, s, rows[i].key, rows[i].file), rows[i].err);
        if (strstr(why, rows[i].part) == NULL || strchr(why, '\n') != NULL)
            fail_msg("%s: \"%s\" lacks \"%s\"", rows[i].file, why, rows[i].part);
    }
    assert_null(wl_policies_get(p)->stream);
    assert_int_equal(ftl_setup_set(s, "streams.policy", "best", "t", why, sizeof why), 0);
    assert_int_equal(ftl_setup_finish(s, 1, &cfg, why, sizeof why), 0);
    assert_int_equal(ftl_create(&cfg, &d, why, sizeof why), FTL_ECONFIG);
    assert_string_equal(why, "streams.policy=best: unknown policy");
    assert_int_equal(load_kind(p, s, "streams.policy", "stream_taken.so"), 0);
    assert_int_equal(ftl_setup_finish(s, 1, &cfg, why, sizeof why), 0);
    assert_int_equal(ftl_create_with(&cfg, wl_policies_get(p), &d, why, sizeof why), FTL_EINVAL);
    assert_non_null(strstr(why, "stream policy update-rate: the name is that of a built-in"));
    assert_int_equal(load_kind(p, s, "streams.policy", "stream_class.so"), 0);
    d = drive_of(p, s);
    struct ftl_extent e = {.lba = 7, .lba_count = 1};
    int err = 0;
    for (int i = 0; i < 100 && err == 0; i++)       /* asked per batch, not per unit */
        err = ftl_write_untimed(d, &e, 1);
    assert_int_equal(err, FTL_EPOLICY);
    assert_int_equal(ftl_policy_fault(d, why, sizeof why), FTL_EPOLICY);
    assert_non_null(strstr(why, "stream policy halves: "));
    ftl_destroy(d);
    ftl_setup_free(s);
    wl_policies_free(p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_stopped),
                                       cmocka_unit_test(test_streams),
                                       cmocka_unit_test(test_streams_refused)};
    folder = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
