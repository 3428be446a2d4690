/* test_preread.c - sequential pre-read: times by hand, streams, and that nothing stale is read. */
#include "common.h"

#include <stdio.h>
#include <string.h>

static uint64_t up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

enum { PAGE_UNITS = 4, LINK_NS = 275 };     /* 4,096 B at 14.934 GB/s: 274.3 ns */

/* A read that needs no NAND: host, fetch, front end, firmware, link, completion, host. */
static uint64_t hit_ns(const struct ftl_config *c)
{
    return c->host_submit_ns + c->fe_fetch_ns + c->fe_cmd_ns + c->fw_read_ns + LINK_NS +
           c->fe_completion_ns + c->host_complete_ns;
}

/* The same with one sense and the transfer of one unit before the decoder. */
static uint64_t miss_ns(const struct ftl_config *c, uint64_t tr)
{
    return hit_ns(c) + c->nand_tcmd_ns + tr + c->nand_tstatus_ns +
           up((4096 + c->nand_spare_bytes / 4) * 1000, c->nand_bus_mts) + c->fw_decode_ns;
}

static struct ftl_config config(const char *cache)
{
    return make_config("uh812a-7.68", 464, "preread.cache_bytes", cache, NULL);
}

static uint64_t read_unit(ftl_drive *d, uint64_t unit)
{
    return do_command(d, FTL_READ, unit * 8, 8, NULL);
}

/* Reads in order at depth 1. Two that continue the first make a stream; the third brings its
 * page in whole, and the pages of the next 128 KiB start behind it. One page lasts for four
 * reads of 7.1 us, so that even the first of them is there in time. */
static void test_depth_one(void **state)
{
    struct ftl_config cfg = config("4M");
    ftl_drive *d = make_drive(&cfg);
    struct ftl_counters n;
    uint64_t page_bytes = cfg.nand_page_bytes + cfg.nand_spare_bytes;
    uint64_t whole = miss_ns(&cfg, cfg.nand_tr0_ns) + up(page_bytes * 1000, cfg.nand_bus_mts) -
                     up(page_bytes / 4 * 1000, cfg.nand_bus_mts);
    (void)state;
    sequential_fill(d);
    for (uint64_t i = 0; i < 2; i++)
        assert_int_equal(read_unit(d, i), miss_ns(&cfg, cfg.nand_tr0_ns));
    assert_int_equal(read_unit(d, 2), whole);
    for (uint64_t i = 3; i < 4000; i++)
        assert_int_equal(read_unit(d, i), hit_ns(&cfg));
    ftl_counters_get(d, &n);
    assert_int_equal(n.preread_misses, 1);          /* the third */
    assert_int_equal(n.preread_hits, 4000 - 3);
    assert_int_equal(n.preread_unused, 0);
    /* 32 units ahead of unit 4,000, no page twice */
    assert_int_equal(n.preread_pages, (4000 + 32) / PAGE_UNITS);
    assert_int_equal(n.nand_page_reads, 2 + n.preread_pages);
    print_message("sequential 4 KiB reads, depth 1: %.2f us without, %.2f us with pre-read\n",
                  (double)(miss_ns(&cfg, cfg.nand_tr0_ns) + miss_ns(&cfg, cfg.nand_tr1_ns) +
                           miss_ns(&cfg, cfg.nand_tr2_ns)) / 3000, (double)hit_ns(&cfg) / 1000);
    assert_sound(d);
    ftl_destroy(d);
}

/* The map on the medium: 4,000 units lie on map pages of 1,024. The first read waits for its own,
 * the three behind it are sent for when the units ahead reach them, 32 reads before they are
 * asked for. */
static void test_cached_map(void **state)
{
    struct ftl_config cfg = config("4M");
    struct ftl_counters n;
    (void)state;
    cfg.map_cache_ppm = 10000;
    ftl_drive *d = make_drive(&cfg);
    sequential_fill(d);
    (void)read_unit(d, 100000);
    assert_int_equal(ftl_drain(d), 0);
    ftl_counters_reset(d);
    for (uint64_t i = 0; i < 4000; i++)
        (void)read_unit(d, i);
    ftl_counters_get(d, &n);
    assert_int_equal(n.map_cache_misses, 1);
    assert_int_equal(n.map_cache_hits, 3999);
    assert_int_equal(n.translation_reads, 4);
    assert_int_equal(n.preread_hits, 4000 - 3);
    assert_sound(d);
    ftl_destroy(d);
}

/* Sixteen streams at once are followed; a seventeenth pushes out the one seen longest ago. */
static void test_streams(void **state)
{
    (void)state;
    for (uint64_t streams = 16; streams <= 17; streams++) {
        struct ftl_config cfg = config("16M");
        ftl_drive *d = make_drive(&cfg);
        struct ftl_counters n;
        uint64_t apart = ftl_lba_count(d) / 8 / streams / 4096 * 4096;
        sequential_fill(d);
        for (uint64_t i = 0; i < 200; i++)
            for (uint64_t s = 0; s < streams; s++)
                (void)read_unit(d, s * apart + i);
        ftl_counters_get(d, &n);
        if (streams == 16)
            assert_int_equal(n.preread_hits, 16 * (200 - 3));
        else
            assert_int_equal(n.preread_pages, 0);
        ftl_destroy(d);
    }
}

/* Random reads are no stream. */
static void test_random(void **state)
{
    struct ftl_config cfg = config("4M");
    ftl_drive *d = make_drive(&cfg);
    struct rand64 r = {5};
    struct ftl_counters n;
    (void)state;
    sequential_fill(d);
    for (int i = 0; i < 2000; i++)
        (void)read_unit(d, draw_to(&r, ftl_lba_count(d) / 8));
    ftl_counters_get(d, &n);
    assert_int_equal(n.preread_pages, 0);
    assert_int_equal(n.preread_hits + n.preread_misses, 0);
    ftl_destroy(d);
}

static void write_unit(ftl_drive *d, uint64_t unit, uint8_t value)
{
    uint8_t bytes[4096];
    memset(bytes, value, sizeof bytes);
    (void)do_command(d, FTL_WRITE, unit * 8, 8, bytes);
}

static uint8_t value_of(ftl_drive *d, uint64_t unit)
{
    uint8_t bytes[4096];
    (void)do_command(d, FTL_READ, unit * 8, 8, bytes);
    for (int i = 1; i < 4096; i++)
        assert_int_equal(bytes[i], bytes[0]);
    return bytes[0];
}

/* Units that lie in the cache are overwritten and trimmed, then the drive is written over and
 * over, so that their slots hold other data: never an old byte. */
static void test_nothing_stale(void **state)
{
    struct ftl_config cfg = make_config(
        "wa-reference", 1, "media.payload", "1", "preread.cache_bytes", "1M",
        "ftl.superblocks", "24", "nand.blocks_per_plane", "24", "drive.user_bytes",
        "16777216", "drive.lba_bytes", "512", NULL);
    ftl_drive *d = make_drive(&cfg);
    uint64_t units = ftl_lba_count(d) / 8;
    struct ftl_counters before, after;
    uint8_t value = 0;
    (void)state;
    for (int round = 0; round < 6; round++) {
        value++;
        for (uint64_t i = 0; i < units; i++)
            write_unit(d, i, value);
        assert_int_equal(ftl_drain(d), 0);
        ftl_counters_get(d, &before);
        for (uint64_t i = 0; i < 40; i++)
            assert_int_equal(value_of(d, i), value);
        ftl_counters_get(d, &after);
        assert_true(after.preread_hits - before.preread_hits > 20);
        write_unit(d, 41, 200);                     /* 40 to 71 were read ahead */
        (void)do_command(d, FTL_TRIM, 42 * 8, 8, NULL);
        assert_int_equal(value_of(d, 40), value);
        assert_int_equal(value_of(d, 41), 200);
        assert_int_equal(value_of(d, 42), 0);
        assert_int_equal(value_of(d, 43), value);
    }
    assert_true(after.nand_erases > 24 * 16);
    assert_sound(d);
    ftl_destroy(d);
}

static void test_config(void **state)
{
    char why[FTL_WHY_MAX];
    struct ftl_config cfg = config("4M");
    (void)state;
    cfg.preread_cache_bytes = 65536;        /* four pages, but 128 KiB are read ahead */
    assert_int_equal(ftl_config_check(&cfg, why, sizeof why), FTL_ECONFIG);
    assert_non_null(strstr(why, "preread.cache_bytes=65536"));
    cfg.preread_ahead_bytes = 32768;
    assert_int_equal(ftl_config_check(&cfg, why, sizeof why), 0);
    uint64_t with = ftl_memory_needed(&cfg);
    cfg.preread_cache_bytes = 0;
    assert_true(ftl_memory_needed(&cfg) < with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depth_one), cmocka_unit_test(test_streams),
        cmocka_unit_test(test_random),    cmocka_unit_test(test_nothing_stale),
        cmocka_unit_test(test_config),    cmocka_unit_test(test_cached_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
