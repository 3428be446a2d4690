/* test_log.c - the log where no bytes are kept: its programs are timed and counted all the same. */
#include "common.h"

#include <string.h>

#include "ftl/ftl_power.h"

/* One die, one plane: a page of the log is one sector of 4 KiB, a superblock has 64 units. */
static struct ftl_config small(const char *payload, const char *interval)
{
    return make_config("wa-reference", 1, "nand.preset", "pslc", "nand.channels", "1", "nand.dies",
                       "1", "nand.planes", "1", "nand.page_types", "1",
                       "nand.wordlines_per_block", "64", "nand.page_bytes", "4096",
                       "nand.spare_bytes", "600", "nand.blocks_per_plane", "1024",
                       "ftl.superblocks", "120", "raid.parity", "0", "media.payload", payload,
                       "drive.user_bytes", "16M", "buffer.bytes", "65536", "buffer.gc_bytes",
                       "65536", "drive.lba_bytes", "4096", "journal.enabled", "1",
                       "journal.checkpoint_superblocks", interval, NULL);
}

static struct ftl_counters counters(const ftl_drive *d)
{
    struct ftl_counters n;
    ftl_counters_get(d, &n);
    return n;
}

/* A checkpoint of 4,096 units and 120 superblocks: begin and table in one sector (36 + 2,892
 * bytes), ceil(4096 / 1016) = 5 slices, the end behind the last. */
enum { CHECKPOINT = 6, SB_UNITS = 64 };

static void test_first_checkpoint(void **state)
{
    (void)state;
    struct ftl_config cfg = small("0", "0");
    ftl_drive *d = make_drive(&cfg);
    struct ftl_power_cut cut = {.struct_size = sizeof cut};
    assert_int_equal(counters(d).metadata_programs, CHECKPOINT);
    assert_int_equal(counters(d).metadata_bytes, CHECKPOINT * 4096);
    /* there is nothing that could be recovered */
    assert_int_equal(ftl_power_cut(d, &cut, NULL), FTL_EINVAL);
    assert_int_equal(ftl_power_off(d, NULL), FTL_EINVAL);
    ftl_destroy(d);
}

/* The drive is written in order ten times: 640 superblocks are closed. Free ones last for about the
 * first 100; from then on one is erased for each that is closed, and at every 16th of these a
 * checkpoint begins: (640 - 100) / 16 = 33, less or more by the two that collection keeps ahead.
 * 40,960 word lines of one unit take a record of 4 + 24 + 8 bytes each, 113 in a sector; 540
 * erases one of 12: 363 + 2 pages. A checkpoint sends the open page before it, and may end in the middle of one.
 * The same with time, a command per unit. */
enum { RECORD_PAGES = 40960 / 113 + 1 + 2 };

static void test_interval(void **state)
{
    static uint8_t data[4096];
    (void)state;
    for (int timed = 0; timed < 2; timed++)
        for (int payload = 0; payload < 2; payload++) {
            struct ftl_config cfg = small(payload ? "1" : "0", "16");
            ftl_drive *d = make_drive(&cfg);
            for (uint32_t round = 0; round < 10; round++) {
                if (!timed)
                    sequential_fill(d);
                for (uint64_t lba = 0; timed && lba < ftl_lba_count(d); lba++)
                    (void)do_command(d, FTL_WRITE, lba, 1, payload ? data : NULL);
            }
            assert_int_equal(ftl_drain(d), 0);
            uint64_t programs = counters(d).metadata_programs - CHECKPOINT;
            assert_in_range(programs, RECORD_PAGES + 31 * CHECKPOINT - 1,
                            RECORD_PAGES + 35 * (CHECKPOINT + 2));
            assert_int_equal(counters(d).metadata_bytes, (programs + CHECKPOINT) * 4096);
            assert_sound(d);
            ftl_destroy(d);
        }
}

/* 4 superblocks are filled, 256 pages, after the checkpoint. Their records are in the log, so a start
 * reads one page of each for its life, and the end of all 120; and it has the live counts. Without
 * the mark it counts all units. */
static void test_start_reads(void **state)
{
    static uint8_t data[4096];
    (void)state;
    for (int mark = 0; mark < 2; mark++) {
        struct ftl_config cfg = small("1", "0");
        struct ftl_power_cut cut = {.struct_size = sizeof cut, .energy_ppm = mark ? 1000000 : 0};
        struct ftl_power_report r = {.struct_size = sizeof r};
        ftl_drive *d = make_drive(&cfg);
        for (uint32_t lba = 0; lba < 4 * SB_UNITS; lba++) {
            memset(data, (int)lba, sizeof data);
            assert_true(do_command(d, FTL_WRITE, lba, 1, data) > 0);
        }
        assert_int_equal(ftl_drain(d), 0);
        assert_int_equal(ftl_power_cut(d, &cut, NULL), 0);
        assert_int_equal(ftl_power_on(d, &r), 0);
        assert_int_equal(r.start, mark ? FTL_START_FLUSHED : FTL_START_SCAN);
        /* what a loss without energy left in the open page has to be read: 256 records, 113 in a sector */
        uint64_t late = mark ? 0 : 256 % 113;
        assert_int_equal(step_items(&r, "scan superblocks"), 120 + 4 + late);
        assert_int_equal(step_items(&r, "count live units"), mark ? 120 : 4096);
        for (uint32_t lba = 0; lba < 4 * SB_UNITS; lba++) {
            assert_true(do_command(d, FTL_READ, lba, 1, data) > 0);
            assert_int_equal(data[17], (uint8_t)lba);
        }
        assert_sound(d);
        ftl_destroy(d);
    }
}

/* A word line of 3 units takes one command of 2: without capacitors the next begins another, behind a
 * unit of filler; with them it goes on. */
static void test_atomic(void **state)
{
    static uint8_t data[2 * 4096];
    (void)state;
    for (int plp = 0; plp < 2; plp++) {
        struct ftl_config cfg =
            make_config("wa-reference", 1, "nand.preset", "tlc-128l", "nand.channels", "1", "nand.dies", "1",
                        "nand.planes", "1", "nand.page_types", "3", "nand.wordlines_per_block", "8",
                        "nand.page_bytes", "4096", "nand.spare_bytes", "600", "nand.blocks_per_plane", "512",
                        "ftl.superblocks", "40", "raid.parity", "0", "media.payload", "1",
                        "drive.user_bytes", "1M", "buffer.bytes", "65536", "buffer.gc_bytes", "65536",
                        "drive.lba_bytes", "4096", "journal.enabled", "1", "power.plp", plp ? "1" : "0",
                        "power.atomic_units", "3", NULL);
        ftl_drive *d = make_drive(&cfg);
        for (uint32_t lba = 0; lba < 8; lba += 2)
            assert_true(do_command(d, FTL_WRITE, lba, 2, data) > 0);
        assert_int_equal(counters(d).padding_bytes, plp ? 0 : 3 * 4096);
        assert_sound(d);
        ftl_destroy(d);
    }
}

/* When a segment is full its open page goes to the next, before the record that begins a checkpoint. A start
 * after a flush, or after a shutdown, took that for damage. */
static void test_page_before_checkpoint(void **state)
{
    (void)state;
    for (int interval = 0; interval <= 16; interval += 16)
        for (int clean = 0; clean < 2; clean++) {
            struct ftl_config cfg = four_dies("1M", interval != 0 ? "16" : "0");
            struct ftl_power_cut cut = {.struct_size = sizeof cut, .energy_ppm = 1000000};
            ftl_drive *d = written_at_random(&cfg, 5, 24);
            assert_int_equal(clean ? ftl_power_off(d, NULL) : ftl_power_cut(d, &cut, NULL), 0);
            assert_int_equal(ftl_power_on(d, NULL), 0);
            assert_sound(d);
            ftl_destroy(d);
        }
}

/* A loss while the next segment is being erased, when a checkpoint is already due there. */
static void test_checkpoint_awaits_erases(void **state)
{
    struct ftl_config cfg = four_dies("256K", "3");
    struct ftl_power_cut cut = {.struct_size = sizeof cut, .energy_ppm = 1000000};
    struct ftl_power_report r = {.struct_size = sizeof r};
    (void)state;

    ftl_drive *d = written_at_random(&cfg, 6, 32);
    assert_int_equal(ftl_power_cut(d, &cut, &r), 0);
    assert_int_equal(r.units_lost, 0);
    assert_int_equal(ftl_power_on(d, NULL), 0);
    assert_sound(d);
    ftl_destroy(d);
}

static void test_refused(void **state)
{
    char why[FTL_WHY_MAX];
    (void)state;
    struct ftl_config cfg = small("0", "16");
    cfg.journal_enabled = 0;
    assert_int_equal(ftl_config_check(&cfg, why, sizeof why), FTL_ECONFIG);
    assert_string_equal(why, "journal.checkpoint_superblocks=16: needs journal.enabled=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_checkpoint),
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_start_reads),
        cmocka_unit_test(test_atomic),
        cmocka_unit_test(test_page_before_checkpoint),
        cmocka_unit_test(test_checkpoint_awaits_erases),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
