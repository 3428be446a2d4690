/* test_map_power.c - a map on the medium and its journal: what a checkpoint takes, what a start
 * finds, and which atomic commands are possible. */
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "ftl/ftl_power.h"

/* One die, one plane: a page of the log is one sector of 4 KiB. */
static struct ftl_config small(const char *ppm, const char *entries, const char *plp,
                               const char *user, const char *superblocks)
{
    return make_config("wa-reference", 1, "nand.preset", "pslc", "nand.channels", "1", "nand.dies",
                       "1", "nand.planes", "1", "nand.page_types", "1",
                       "nand.wordlines_per_block", "64", "nand.page_bytes", "4096",
                       "nand.spare_bytes", "600", "nand.blocks_per_plane", "1024",
                       "ftl.superblocks", superblocks, "raid.parity", "0", "media.payload", "1",
                       "drive.user_bytes", user, "buffer.bytes", "65536", "buffer.gc_bytes",
                       "65536", "drive.lba_bytes", "4096", "journal.enabled", "1", "power.plp", plp,
                       "map.cache_ppm", ppm, "map.page_entries", entries, NULL);
}

static uint64_t log_pages(const ftl_drive *d)
{
    struct ftl_counters n;
    ftl_counters_get(d, &n);
    assert_int_equal(n.metadata_bytes, n.metadata_programs * 4096);
    return n.metadata_programs;
}

/* 4,096 user units on 120 superblocks. A slice is 16 bytes and 4 per key, behind 4 bytes of the
 * record; a key in waiting would be 12 more, for which room is kept: (4096 - 4 - 16 - 12) / 4 = 1,016
 * keys. Begin and table (4 + 32, 4 + 8 + 120 x 24) share a sector, the end fits behind a slice.
 * Flat: 1 + ceil(4096 / 1016) = 6 sectors. With 512 map pages of 8 entries, all of them
 * empty, the directory is one slice, 2. */
static void test_checkpoint(void **state)
{
    static const struct {
        const char *ppm;
        uint64_t pages;
    } rows[] = {{"0", 6}, {"1000", 2}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct ftl_config cfg = small(rows[i].ppm, "8", "1", "16M", "120");
        ftl_drive *d = make_drive(&cfg);
        assert_int_equal(log_pages(d), rows[i].pages);
        ftl_destroy(d);
    }
}

/* Both steps look through the saved units, page by page of the log. */
static uint64_t map_pages_read(const struct ftl_power_report *r)
{
    return step_items(r, "read the map") - step_items(r, "restore the buffer");
}

enum { UNITS = 256, ENTRIES = 8 };

static void write_all(ftl_drive *d, uint64_t version, uint32_t step)
{
    uint8_t data[4096];
    for (uint32_t lba = 0; lba < UNITS; lba += step) {
        stamp(data, lba, version);
        (void)do_command(d, FTL_WRITE, lba, 1, data);
    }
}

static void assert_version(ftl_drive *d, uint32_t lba, uint64_t version)
{
    uint8_t data[4096], want[4096];
    stamp(want, lba, version);
    (void)do_command(d, FTL_READ, lba, 1, data);
    if (memcmp(data, want, sizeof data) != 0)
        fail_msg("LBA %u is not version %llu", lba, (unsigned long long)version);
}

/* 256 units in 32 map pages, two of them cached. Everything is written, the odd pages are
 * trimmed; then a shutdown, or without capacitors a FLUSH and a loss. The checkpoint is that of an
 * empty drive, so the first start has no page to read: all comes from tags. The later ones begin
 * with its checkpoint and read pages: of the 16 with something in them all but two that may be in
 * the cache, and none of those trimmed. */
static void test_start(void **state)
{
    static const char *const plp[] = {"0", "1"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct ftl_config cfg = small("1", "8", plp[k], "1M", "20");
        ftl_drive *d = make_drive(&cfg);
        struct ftl_power_cut cut = {.struct_size = sizeof cut};
        struct ftl_power_report r = {.struct_size = sizeof r};
        write_all(d, 1, 1);
        for (uint32_t t = 1; t < UNITS / ENTRIES; t += 2)
            (void)do_command(d, FTL_TRIM, t * ENTRIES, ENTRIES, NULL);
        (void)do_command(d, FTL_FLUSH, 0, 0, NULL);
        if (k == 0)
            assert_int_equal(ftl_power_cut(d, &cut, NULL), 0);
        else
            assert_int_equal(ftl_power_off(d, NULL), 0);
        for (uint64_t start = 0; start < 3; start++) {
            assert_int_equal(ftl_power_on(d, &r), 0);
            uint64_t read = map_pages_read(&r);
            if (start == 0)
                assert_int_equal(read, 0);
            assert_true(read <= UNITS / ENTRIES / 2);
            assert_sound(d);
            for (uint32_t lba = 0; lba < UNITS; lba++)
                assert_version(d, lba, lba / ENTRIES % 2 == 0);
            assert_int_equal(ftl_drain(d), 0);
            assert_int_equal(ftl_power_off(d, NULL), 0);
        }
        /* by now all pages but those in the cache were written back */
        assert_true(map_pages_read(&r) >= UNITS / ENTRIES / 2 - 2);
        assert_int_equal(ftl_power_on(d, NULL), 0);
        write_all(d, 2, 3);
        for (uint32_t lba = 0; lba < UNITS; lba++)
            assert_version(d, lba, lba % 3 == 0 ? 2 : lba / ENTRIES % 2 == 0);
        assert_sound(d);
        ftl_destroy(d);
    }
}

/* Two cached pages of 8 entries: 9 units that follow each other are never on three pages, 10
 * may be (1 + 8 + 1). */
static void test_atomic(void **state)
{
    char why[FTL_WHY_MAX];
    (void)state;
    struct ftl_config cfg = small("1", "8", "0", "1M", "20");
    cfg.power_atomic_units = 2;
    assert_int_equal(ftl_config_check(&cfg, why, sizeof why), FTL_ECONFIG);
    assert_string_equal(why, "power.atomic_units=2: without capacitors more than a word line holds, 1 units");
    cfg = small("1", "8", "1", "1M", "20");
    cfg.power_atomic_units = 9;
    assert_int_equal(ftl_config_check(&cfg, why, sizeof why), 0);
    cfg.power_atomic_units = 10;
    assert_int_equal(ftl_config_check(&cfg, why, sizeof why), FTL_ECONFIG);
    assert_string_equal(why, "power.atomic_units=10: with map.cache_ppm=1 a command must find its map "
                             "pages in the cache, which holds 2 of map.page_entries=8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkpoint),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_atomic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
