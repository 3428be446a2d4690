/* test_power.c - losses of power by hand, and many of them against an oracle. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ftl/ftl_power.h"

static struct ftl_config tiny(const char *preset, const char *types, const char *plp,
                              const char *parity)
{
    return make_config("wa-reference", 1, "nand.preset", preset, "nand.channels", "1", "nand.dies",
                       "3", "nand.planes", "1", "nand.page_types", types,
                       "nand.wordlines_per_block", "4", "nand.page_bytes", "4096",
                       "nand.spare_bytes", "600", "nand.blocks_per_plane", "64",
                       "ftl.superblocks", "14", "raid.parity", parity, "media.payload", "1",
                       "gc.frontiers", "2", "drive.user_bytes", "131072", "buffer.bytes", "65536",
                       "buffer.gc_bytes", "65536", "drive.lba_bytes", "4096", "power.plp", plp,
                       "journal.enabled", "1", "host.open_max", "32", NULL);
}

static void fill(uint8_t *data, uint32_t lba, uint32_t version)
{
    uint32_t words[2] = {version != 0 ? lba : 0, version};
    for (uint32_t i = 0; i < 4096; i += 8)
        memcpy(data + i, words, 8);
}

static uint32_t version_of(ftl_drive *d, uint32_t lba)
{
    uint8_t data[4096], want[4096];
    (void)do_command(d, FTL_READ, lba, 1, data);
    uint32_t version;
    memcpy(&version, data + 4, 4);
    fill(want, lba, version);
    assert_memory_equal(data, want, 4096);
    return version;
}

static void test_off_on(void **state)
{
    (void)state;
    static const char *const plp[] = {"0", "1"};
    for (int k = 0; k < 2; k++) {
        struct ftl_config cfg = tiny("tlc-128l", "3", plp[k], "1");
        ftl_drive *d = make_drive(&cfg);
        uint8_t data[4096];
        struct ftl_power_report r = {.struct_size = sizeof r};
        for (uint32_t round = 1; round < 9; round++) {
            for (uint32_t lba = 0; lba < 32; lba += round) {
                fill(data, lba, round);
                (void)do_command(d, FTL_WRITE, lba, 1, data);
            }
            (void)do_command(d, FTL_TRIM, round, 1, NULL);
            assert_int_equal(ftl_power_off(d, &r), 0);
            assert_int_equal(r.units_lost, 0);
            assert_int_equal(ftl_power_off(d, &r), FTL_EPOWER);
            assert_int_equal(ftl_power_on(d, &r), 0);
            assert_int_equal(r.start, FTL_START_CLEAN);
            assert_sound(d);
            for (uint32_t lba = 0; lba < 32; lba++) {
                uint32_t want = 0;
                for (uint32_t v = 1; v <= round; v++)
                    want = lba == v ? 0 : lba % v == 0 ? v : want;
                if (version_of(d, lba) != want)
                    fail_msg("plp %d round %u LBA %u: version %u, want %u", k, round, lba,
                             version_of(d, lba), want);
            }
        }
        ftl_destroy(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_off_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
