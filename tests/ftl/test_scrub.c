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
    uint8_t got[LBA], want[LBA];
    uint64_t errors = 0;

    for (uint64_t lba = 0; lba < ftl_lba_count(d); lba++) {
        stamp(want, lba, 1);
        (void)do_command(d, FTL_WRITE, lba, 1, want);
    }
    assert_int_equal(ftl_drain(d), 0);
    assert_int_equal(ftl_run(d, ftl_now(d) + 10 * 8766 * HOUR), 0);
    assert_sound(d);
    for (uint64_t lba = 0; lba < ftl_lba_count(d); lba++) {
        struct ftl_cmd cmd = {.opcode = FTL_READ, .lba = lba, .lba_count = 1, .data = got};
        struct ftl_cpl cpl = complete(d, &cmd);
        stamp(want, lba, 1);
        if (cpl.status == 0)
            assert_memory_equal(got, want, LBA);
        else
            errors++;
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_retention)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
