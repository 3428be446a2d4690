/* test_config.c - drive files and settings: what is taken, what is refused and why. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char why[FTL_WHY_MAX];

static void assert_refused(int err, const char *part)
{
    assert_true(err < 0);
    if (strstr(why, part) == NULL)
        fail_msg("message \"%s\" lacks \"%s\"", why, part);
    assert_null(strchr(why, '\n'));
}

static ftl_setup *reference(void)
{
    ftl_setup *s = ftl_setup_new();
    assert_non_null(s);
    assert_int_equal(ftl_setup_load(s, "wa-reference", why, sizeof why), 0);
    return s;
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } rows[] = {
        {"4096", 4096}, {"4K", 4096}, {"1MiB", 1048576}, {"2G", UINT64_C(2147483648)},
        {"7.68TB", UINT64_C(7680000000000)}, {"6.5K", 6656}, {"64MB", 64000000},
    };
    ftl_setup *s = reference();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[32];
        struct ftl_origin o;
        assert_int_equal(ftl_setup_set(s, "buffer.gc_bytes", rows[i].text, "--set", why, sizeof why),
                         rows[i].value > (UINT64_C(1) << 36) ? FTL_ECONFIG : 0);
        for (uint32_t k = 0; k < ftl_key_count() && rows[i].value <= (UINT64_C(1) << 36); k++) {
            struct ftl_key key;
            assert_int_equal(ftl_key_get(k, &key), 0);
            if (strcmp(key.key, "buffer.gc_bytes") != 0)
                continue;
            assert_int_equal(ftl_setup_value(s, NULL, k, text, sizeof text, &o), 0);
            assert_true(strtoull(text, NULL, 10) == rows[i].value);
            assert_string_equal(o.where, "--set");
        }
    }
    ftl_setup_free(s);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *key, *value, *part;
    } rows[] = {
        {"gc.nothing", "1", "unknown key"},
        {"nand.channels", "0", "must be 1 to 64"},
        {"nand.channels", "-1", "not a number"},
        {"nand.channels", "3.5", "not a number"},
        {"nand.channels", "18446744073709551617", "not a number"},
        {"nand.channels", "", "not a number"},
        {"nand.channels", "4x", "not a number"},
        {"drive.user_bytes", "99999999999T", "not a number"},
        {"drive.user_bytes", "100T", "must be 4096 to"},
        {"nand.preset", "no-such", "unknown preset"},
        {"op", "0", "a fraction above 0"},
        {"op", "nan", "a fraction above 0"},
        {"op", "inf", "a fraction above 0"},
        {"op", "0.12345678", "six decimals"},
        {"drive.name", "", "text of 1 to"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ftl_setup *s = reference();
        int err = ftl_setup_set(s, rows[i].key, rows[i].value, "--set", why, sizeof why);
        assert_refused(err, rows[i].part);
        assert_non_null(strstr(why, rows[i].key));
        assert_non_null(strstr(why, "--set"));
        ftl_setup_free(s);
    }
}

/* Values that are fine alone and impossible together. */
static void test_impossible(void **state)
{
    static const struct {
        const char *key, *value, *part;
    } rows[] = {
        {"drive.lba_bytes", "520", "must be 512 or 4096"},
        {"nand.dies", "15", "multiple of nand.channels=4"},
        {"nand.page_bytes", "5000", "multiple of 4096"},
        {"map.page_entries", "100", "power of two"},
        {"map.unit_bytes", "12288", "power of two"},
        {"map.unit_bytes", "32K", "word line of all planes, 16384 bytes, must hold a whole number"},
        {"raid.parity", "8", "above the physical capacity of 1073741824"},
        {"ftl.superblocks", "4096", "more than nand.blocks_per_plane"},
        {"link.lanes", "3", "1, 2, 4, 8 or 16"},
        {"buffer.bytes", "4096", "less than one word line"},
        /* 4 units of a word line and 255 more */
        {"power.atomic_units", "256", "power.atomic_units - 1, 1060864"},
        {"buffer.gc_bytes", "16K", "less than one word line of all planes per stream and one more, 32768"},
        {"drive.user_bytes", "2G", "above the physical capacity of 2147483648"},
        {"drive.user_bytes", "2147000000", "need"},
        {"nand.wordlines_per_block", "65536", "2^32"},
        {"gc.reserve_superblocks", "64", NULL},
        {"streams.count", "8", NULL},
        {"media.ecc", "1", "needs media.faults=1"},
        {"media.ecc", "decoder", "needs media.faults=1"},
        {"media.refresh_hours", "1", "need media.ecc=1"},
        {"media.patrol_hours", "1", "need media.ecc=1"},
        {"media.refresh_bits", "1", "need media.ecc=1"},
        {"media.restripe", "1", "needs media.faults=1 and raid.parity=1"},
        {"media.celsius", "40", "need media.ecc=1"},
        {"media.care_pages", "9", "need media.faults=1"},
        {"memory.multi_ppm", "1", "needs memory.upset_ppm"},
        {"streams.mode", "hints", "streams.mode=hints: must be host or auto"},
        {"streams.mode", "auto", "needs streams.count of at least 2, is 1"},
        {"streams.chunk_units", "3", "must be a power of two"},
        {"streams.chunk_units", "2", "needs streams.mode=auto"},
    };
    struct ftl_config cfg;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ftl_setup *s = reference();
        if (strcmp(rows[i].key, "drive.user_bytes") == 0 && strcmp(rows[i].value, "2G") == 0)
            assert_int_equal(ftl_setup_set(s, rows[i].key, "2147487744", "t", why, sizeof why), 0);
        else
            assert_int_equal(ftl_setup_set(s, rows[i].key, rows[i].value, "t", why, sizeof why), 0);
        int err = ftl_setup_finish(s, 1, &cfg, why, sizeof why);
        if (rows[i].part != NULL)
            assert_refused(err, rows[i].part);
        else
            assert_int_equal(err, 0);
        ftl_setup_free(s);
    }
}

/* The demand-cached map takes room; what it cannot go with is in test_pairs.c. */
static void test_map_cache(void **state)
{
    static const struct {
        const char *key, *value, *part;
    } rows[] = {
        {"buffer.bytes", "16K", "less than one word line"},
        {"map.page_entries", "1024", NULL},
    };
    struct ftl_config cfg;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ftl_setup *s = reference();
        assert_int_equal(ftl_setup_set(s, "map.cache_ppm", "10000", "t", why, sizeof why), 0);
        assert_int_equal(ftl_setup_set(s, rows[i].key, rows[i].value, "t", why, sizeof why), 0);
        int err = ftl_setup_finish(s, 1, &cfg, why, sizeof why);
        if (rows[i].part != NULL)
            assert_refused(err, rows[i].part);
        else
            assert_int_equal(err, 0);
        ftl_setup_free(s);
    }
}

/* The message says how many superblocks are needed; with exactly so many it runs. */
static void test_spare_needed(void **state)
{
    /* 2,048 superblocks of 256 units; one frontier keeps one free, two hold dead units */
    const uint64_t least = 3 * 256;
    char text[32];
    struct ftl_config cfg;
    (void)state;
    for (int more = 0; more < 2; more++) {
        ftl_setup *s = reference();
        (void)snprintf(text, sizeof text, "%llu",
                       (unsigned long long)((2048 * 256 - least + (more ? 0 : 1)) * 4096));
        assert_int_equal(ftl_setup_set(s, "drive.user_bytes", text, "t", why, sizeof why), 0);
        int err = ftl_setup_finish(s, 1, &cfg, why, sizeof why);
        if (!more) {
            assert_refused(err, "need 3 (3145728 bytes)");
        } else {
            assert_int_equal(err, 0);
            ftl_drive *d = make_drive(&cfg);
            struct rand64 r = {1};
            sequential_fill(d);
            random_writes(d, &r, 3000);
            (void)timed_random_writes(d, &r, 16, 500);
            assert_sound(d);
            ftl_destroy(d);
        }
        ftl_setup_free(s);
    }
}

/* A command that is whole or not at all fits into the rest of a superblock and one more, and
 * into what open word lines leave of the buffer: with the least of both it ends. */
static void test_atomic(void **state)
{
    static const char *const rows[][3] = {
        {"5", "65536", "power.atomic_units=5: more than a superblock holds, 4 units"},
        {"4", "28671", "power.atomic_units - 1, 28672"},    /* 4 units of a word line and 3 more */
        {"4", "28672", NULL}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        static const char *const keys[][2] = {{"nand.channels", "1"}, {"nand.dies", "1"},
                                              {"nand.wordlines_per_block", "1"}, {"op", "1"}};
        ftl_setup *s = reference();
        struct ftl_config cfg;
        for (int k = 0; k < 4; k++)
            assert_int_equal(ftl_setup_set(s, keys[k][0], keys[k][1], "t", why, sizeof why), 0);
        assert_int_equal(ftl_setup_set(s, "power.atomic_units", rows[i][0], "t", why, sizeof why), 0);
        assert_int_equal(ftl_setup_set(s, "buffer.bytes", rows[i][1], "t", why, sizeof why), 0);
        int err = ftl_setup_finish(s, 1, &cfg, why, sizeof why);
        ftl_setup_free(s);
        if (rows[i][2] != NULL) {
            assert_refused(err, rows[i][2]);
            continue;
        }
        assert_int_equal(err, 0);
        ftl_drive *d = make_drive(&cfg);
        for (uint32_t n = 1; n <= 4; n++)
            for (uint32_t k = 0; k < 30; k++)
                (void)do_command(d, FTL_WRITE, k % 7, n, NULL);
        assert_sound(d);
        ftl_destroy(d);
    }
}

static void test_scale(void **state)
{
    struct ftl_config one = make_config("uh812a-7.68", 1, NULL);
    struct ftl_config many = make_config("uh812a-7.68", 64, NULL);
    ftl_setup *s = reference();
    struct ftl_config cfg;
    (void)state;
    /* 928 word lines / 64 = 14.5, rounded to 15; capacity in the same ratio */
    assert_int_equal(one.nand_wordlines_per_block, 928);
    assert_int_equal(many.nand_wordlines_per_block, 15);
    assert_int_equal(one.drive_user_bytes, UINT64_C(7681501126656));
    assert_int_equal(many.drive_user_bytes, UINT64_C(7681501126656) / 4096 * 15 / 928 * 4096);
    assert_int_equal(many.nand_tbers_ns, UINT64_C(3500000) * 15 / 928);
    assert_int_equal(many.ftl_superblocks, one.ftl_superblocks);
    assert_refused(ftl_setup_finish(s, 64, &cfg, why, sizeof why), "leaves no word line");
    ftl_setup_free(s);
}

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void test_files(void **state)
{
    static const struct {
        const char *bytes, *part;
    } rows[] = {
        {"[drive]\r\ninherit = wa-reference\r\n[gc]\r\npolicy = fifo\r\n", NULL},   /* CRLF */
        {"[drive]\ninherit = wa-reference\n[gc]\npolicy = fifo", NULL},    /* no last newline */
        {"; comment\n[drive]\ninherit = wa-reference [D] of the same hardware\n", NULL},
        {"[drive]\ninherit = wa-reference\n[gc]\npolcy = fifo\n", ".ini:4: gc.polcy: unknown key"},
        {"[nand]\nchannels = 0 [A]\n", ".ini:2: nand.channels=0: must be"},
        {"[nand]\nchannels = 4 [Q] guess\n", "tag [Q]"},
        {"[nand]\nchannels\n", ".ini:2: expected"},
        {"[drive]\ninherit = nobody\n", "nobody: unknown drive"},
        {"", "empty"},
        {"[drive]\nname = \x01\x02\n", "not a text file"},
    };
    char path[64];
    struct ftl_config cfg;
    (void)state;
    (void)snprintf(path, sizeof path, "test-drive-%ld.ini", (long)getpid());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ftl_setup *s = ftl_setup_new();
        assert_non_null(s);
        write_file(path, rows[i].bytes, strlen(rows[i].bytes));
        int err = ftl_setup_load(s, path, why, sizeof why);
        if (rows[i].part != NULL) {
            assert_refused(err, rows[i].part);
        } else {
            assert_int_equal(err, 0);
            assert_int_equal(ftl_setup_finish(s, 0, &cfg, why, sizeof why), 0);
        }
        ftl_setup_free(s);
    }
    write_file(path, "a\0b", 3);
    ftl_setup *s = ftl_setup_new();
    assert_refused(ftl_setup_load(s, path, why, sizeof why), "binary");
    (void)remove(path);
    assert_refused(ftl_setup_load(s, path, why, sizeof why), "No such file");
    assert_refused(ftl_setup_load(s, "no-such-drive", why, sizeof why), "unknown drive");
    ftl_setup_free(s);
}

/* A file that fails half-way leaves the set-up as it was. */
static void test_no_half_load(void **state)
{
    char path[64], before[32], after[32];
    (void)state;
    (void)snprintf(path, sizeof path, "test-half-%ld.ini", (long)getpid());
    write_file(path, "[buffer]\nbytes = 8M\n[gc]\nnothing = 1\n", 37);
    ftl_setup *s = reference();
    for (uint32_t k = 0; k < ftl_key_count(); k++) {
        struct ftl_key key;
        assert_int_equal(ftl_key_get(k, &key), 0);
        if (strcmp(key.key, "buffer.bytes") != 0)
            continue;
        assert_int_equal(ftl_setup_value(s, NULL, k, before, sizeof before, NULL), 0);
        assert_true(ftl_setup_load(s, path, why, sizeof why) < 0);
        assert_int_equal(ftl_setup_value(s, NULL, k, after, sizeof after, NULL), 0);
        assert_string_equal(before, after);
        assert_string_equal(after, "1048576");
    }
    (void)remove(path);
    ftl_setup_free(s);
}

static void test_op(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "op", "0.28", NULL);
    (void)state;
    /* 2,048 x 256 units / 1.28 = 409,600 */
    assert_int_equal(cfg.drive_user_bytes, UINT64_C(409600) * 4096);
}

static void test_create_refuses(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, NULL);
    ftl_drive *d = NULL;
    (void)state;
    cfg.nand_dies = 0;
    assert_refused(ftl_create(&cfg, &d, why, sizeof why), "nand.dies=0");
    cfg = make_config("wa-reference", 1, NULL);
    (void)snprintf(cfg.gc_policy, sizeof cfg.gc_policy, "best");
    assert_refused(ftl_create(&cfg, &d, why, sizeof why), "gc.policy=best: unknown policy");
    cfg.struct_size = 8;
    assert_refused(ftl_create(&cfg, &d, why, sizeof why), "struct_size");
    assert_null(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_impossible), cmocka_unit_test(test_map_cache),  cmocka_unit_test(test_spare_needed),
        cmocka_unit_test(test_atomic),
        cmocka_unit_test(test_scale),       cmocka_unit_test(test_files),
        cmocka_unit_test(test_no_half_load), cmocka_unit_test(test_op),
        cmocka_unit_test(test_create_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
