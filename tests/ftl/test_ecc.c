/* test_ecc.c - the retry ladder: pages of worn and rested cells come back whole, at a
 * cost that shows. */
#include "common.h"
#include "ftl/ftl_media.h"

#include <stdio.h>
#include <string.h>

enum { LBA = 4096 };
#define HOUR UINT64_C(3600000000000)

/* 4 dies (3 + 1) of the enterprise TLC part, codewords of 37,184 bits. */
static struct ftl_config worn(const char *cycles, const char *parity)
{
    return make_config("wa-reference", 1, "nand.preset", "etlc-x3-9070", "nand.channels", "2",
                       "nand.dies", "4", "nand.planes", "1", "nand.wordlines_per_block", "8",
                       "nand.blocks_per_plane", "40", "ftl.superblocks", "32", "raid.parity",
                       parity, "drive.user_bytes", "12582912", "drive.lba_bytes", "4096",
                       "buffer.bytes", "1048576", "buffer.gc_bytes", "1048576", "media.payload",
                       "1", "media.faults", "1", "media.ecc", "1", "media.start_cycles", cycles,
                       NULL);
}

static void report(const char *what, const ftl_drive *d, double us)
{
    struct ftl_health h = health_of(d);
    printf("%-24s first %llu, retry %llu, soft2 %llu, soft3 %llu, failed %llu; read %.1f us\n", what,
           (unsigned long long)h.ecc_steps[0], (unsigned long long)h.ecc_steps[1],
           (unsigned long long)h.ecc_steps[2], (unsigned long long)h.ecc_steps[3],
           (unsigned long long)h.ecc_steps[4], us);
}

/* Fresh cells decode at once: the drive reads as fast as one without cells. */
static void test_fresh(void **state)
{
    struct ftl_config cfg = worn("0", "1"), plain = cfg;
    double us, plain_us;
    (void)state;
    ftl_drive *d = make_drive(&cfg);
    stamp_all(d);
    assert_int_equal(read_stamps(d, &us), 0);
    report("fresh", d, us);
    struct ftl_health h = health_of(d);
    assert_int_equal(h.ecc_again, 0);
    assert_int_equal(h.ecc_steps[FTL_ECC_FIRST], h.ecc_attempts[0]);
    ftl_destroy(d);
    plain.media_ecc = 0;
    d = make_drive(&plain);
    stamp_all(d);
    assert_int_equal(read_stamps(d, &plain_us), 0);
    assert_near(us, plain_us, 0.001);
    ftl_destroy(d);
}

/* 7,000 cycles and 90 days: read voltages have to follow the charge. The first read of a
 * block finds them, later ones begin there. */
static void test_rested(void **state)
{
    struct ftl_config cfg = worn("7000", "1");
    double first_us, again_us;
    (void)state;
    ftl_drive *d = make_drive(&cfg);
    stamp_all(d);
    assert_int_equal(ftl_run(d, ftl_now(d) + 90 * 24 * HOUR), 0);
    uint64_t pj = health_of(d).nand_energy_pj;
    assert_int_equal(read_stamps(d, &first_us), 0);
    report("7000 P/E, 90 d", d, first_us);
    struct ftl_health one = health_of(d);
    assert_true(one.ecc_again > 0);
    assert_int_equal(one.ecc_steps[FTL_ECC_FAILED], 0);
    uint64_t pages = 0, steps = 0, repeats = 0;
    for (int i = 0; i < FTL_ECC_ATTEMPTS; i++) {
        pages += one.ecc_attempts[i];
        repeats += one.ecc_attempts[i] * (uint64_t)i;
    }
    for (int i = 0; i < FTL_ECC_STEPS; i++)
        steps += one.ecc_steps[i];
    assert_int_equal(pages, steps);
    assert_true(repeats <= one.ecc_again);
    assert_int_equal(read_stamps(d, &again_us), 0);
    struct ftl_health two = health_of(d);
    assert_true(two.ecc_again - one.ecc_again < one.ecc_again / 2);
    assert_true(again_us < first_us);
    assert_true(one.nand_energy_pj > pj);
    assert_sound(d);
    ftl_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fresh),
                                       cmocka_unit_test(test_rested)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
