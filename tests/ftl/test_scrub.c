/* test_scrub.c - data that is written anew before it fades. */
#include "common.h"
#include "ftl/ftl_media.h"

#include <stdio.h>
#include <string.h>

enum { LBA = 4096 };
#define HOUR UINT64_C(3600000000000)

static struct ftl_config resting(const char *hours, const char *reads)
{
    return make_config("wa-reference", 1, "nand.preset", "etlc-x3-9070", "nand.channels", "2",
                       "nand.dies", "4", "nand.planes", "1", "nand.wordlines_per_block", "8",
                       "nand.blocks_per_plane", "40", "ftl.superblocks", "32", "raid.parity", "0",
                       "drive.user_bytes", "12582912", "drive.lba_bytes", "4096", "buffer.bytes",
                       "1048576", "buffer.gc_bytes", "1048576", "media.payload", "1",
                       "media.faults", "1", "media.ecc", "1", "media.start_cycles", "20000",
                       "media.refresh_retries", "64", "media.celsius", "60", "media.refresh_hours", hours,
                       "media.refresh_reads", reads, NULL);
}

/* Written, left alone for ten years, read: LBAs that are lost. */
static uint64_t after_years(const char *hours, struct ftl_counters *ret, struct ftl_health *h)
{
    struct ftl_config cfg = resting(hours, "0");
    ftl_drive *d = make_drive(&cfg);
    stamp_all(d);
    assert_int_equal(ftl_run(d, ftl_now(d) + 10 * 8766 * HOUR), 0);
    assert_sound(d);
    uint64_t errors = read_stamps(d, NULL);
    ftl_counters_get(d, ret);
    assert_int_equal(ftl_health_get(d, h), 0);
    printf("refresh every %s h: %llu of %llu LBAs lost, %.1f MiB rewritten, steps %llu %llu %llu %llu "
           "%llu\n",
           hours, (unsigned long long)errors, (unsigned long long)ftl_lba_count(d),
           (double)ret->refresh_bytes / 1048576, (unsigned long long)h->ecc_steps[0],
           (unsigned long long)h->ecc_steps[1], (unsigned long long)h->ecc_steps[2],
           (unsigned long long)h->ecc_steps[3], (unsigned long long)h->ecc_steps[4]);
    assert_sound(d);
    ftl_destroy(d);
    return errors;
}

static void test_retention(void **state)
{
    struct ftl_counters n;
    struct ftl_health h;
    (void)state;
    assert_true(after_years("0", &n, &h) > 0);
    assert_int_equal(after_years("4383", &n, &h), 0);
    /* every half a year, found within a sixteenth of it: 18 to 20 times in ten years */
    assert_in_range(n.refresh_bytes, 17 * UINT64_C(12582912) * 8 / 10, 20 * UINT64_C(12582912));
}

/* Ten years under a patrol that judges superblocks by their worst word lines. MiB rewritten. */
static double patrolled(uint64_t cycles, uint64_t celsius, uint64_t hours, uint64_t bits)
{
    struct ftl_config cfg = resting("0", "0");
    struct ftl_counters n;
    struct ftl_health h;
    cfg.media_start_cycles = cycles;
    cfg.media_celsius = celsius;
    cfg.media_patrol_hours = hours;
    cfg.media_refresh_bits = bits;
    ftl_drive *d = make_drive(&cfg);
    stamp_all(d);
    assert_int_equal(ftl_run(d, ftl_now(d) + 10 * 8766 * HOUR), 0);
    uint64_t errors = read_stamps(d, NULL);
    ftl_counters_get(d, &n);
    assert_int_equal(ftl_health_get(d, &h), 0);
    printf("%llu P/E, %llu C, patrol every %llu h: %llu LBAs lost, %llu patrol reads, %.1f MiB rewritten\n",
           (unsigned long long)cycles, (unsigned long long)celsius, (unsigned long long)hours,
           (unsigned long long)errors, (unsigned long long)n.patrol_reads,
           (double)n.refresh_bytes / 1048576);
    assert_int_equal(errors, 0);
    /* 2 word lines x 4 dies x 3 page types of each closed superblock, at most once a patrol */
    assert_true(n.patrol_reads > 0 && n.patrol_reads <= 24 * 32 * (10 * 8766 / hours + 1));
    assert_sound(d);
    ftl_destroy(d);
    return (double)n.refresh_bytes / 1048576;
}

static void test_patrol(void **state)
{
    (void)state;
    /* hot and worn cells, of which 1,008 LBAs are lost without care */
    assert_true(patrolled(20000, 60, 730, 0) > 0);
    /* cells that last need nothing: the patrol sees it, an age limit would not */
    assert_true(patrolled(7000, 40, 730, 0) == 0);
    assert_true(patrolled(7000, 40, 730, 250) > 0);
}

/* One LBA is read again and again: the others of its block suffer. Returns those that are lost. */
static uint64_t hammered(const char *limit, uint64_t reads, struct ftl_counters *ret)
{
    struct ftl_config cfg = resting("0", limit);
    uint8_t got[LBA];
    cfg.media_celsius = 30;
    ftl_drive *d = make_drive(&cfg);
    stamp_all(d);
    for (uint64_t i = 0; i < reads; i++)
        (void)do_command(d, FTL_READ, 500, 1, got);
    assert_int_equal(ftl_run(d, ftl_now(d) + HOUR / 3600), 0);
    uint64_t errors = read_stamps(d, NULL);
    ftl_counters_get(d, ret);
    printf("%llu reads of one LBA, limit %s: %llu others lost, %llu refreshes\n",
           (unsigned long long)reads, limit, (unsigned long long)errors,
           (unsigned long long)ret->refreshes);
    assert_sound(d);
    ftl_destroy(d);
    return errors;
}

static void test_disturb(void **state)
{
    struct ftl_counters n;
    (void)state;
    assert_true(hammered("0", 200000, &n) > 0);
    assert_int_equal(hammered("20000", 200000, &n), 0);
    assert_in_range(n.refreshes, 200000 / 20000 - 1, 200000 / 20000 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_retention), cmocka_unit_test(test_patrol),
                                       cmocka_unit_test(test_disturb)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
