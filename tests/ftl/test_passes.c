/* test_passes.c - word lines programmed in two passes: order, times, and where data is. */
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "nvme/drive.h"

/* One channel, four dies of two planes, one of them for parity: a word line holds 32 units
 * (2 planes x 4 page types x 4), a row 96. No time but that of the medium. */
static struct ftl_config config(const char *payload)
{
    return make_config(
        "wa-reference", 1, "nand.preset", "qlc-2pass", "nand.channels", "1", "nand.dies", "4",
        "nand.planes", "2", "nand.page_types", "4", "nand.wordlines_per_block", "6",
        "nand.page_bytes", "16384", "nand.spare_bytes", "2208", "nand.blocks_per_plane", "16",
        "ftl.superblocks", "16", "raid.parity", "1", "gc.frontiers", "2", "drive.user_bytes",
        "18874368", "buffer.bytes", "2M", "buffer.gc_bytes", "2M", "media.payload", payload, NULL);
}

enum { WL = 32, ROW = 96 };

static void write_units(ftl_drive *d, uint64_t from, uint32_t n)
{
    (void)do_command(d, FTL_WRITE, from, n, NULL);
}

static uint32_t buffered(const ftl_drive *d)
{
    struct ftl_status s;
    ftl_status_get(d, &s);
    return (uint32_t)s.buffer_units_used;
}

static uint32_t pages_written(const ftl_drive *d, uint32_t die)
{
    struct nand_block_info info;
    assert_int_equal(nand_block_info(d->media.nand, die, 0, 0, &info), 0);
    return info.pages_written;
}

/* The fine pass of a row follows the coarse pass of the next; until then its units are in the
 * buffer and are read there. */
static void test_order(void **state)
{
    struct ftl_config cfg = config("0");
    ftl_drive *d = make_drive(&cfg);
    struct ftl_counters n;
    struct nand_stats stats;
    (void)state;
    write_units(d, 0, ROW);
    assert_int_equal(ftl_drain(d), 0);
    assert_int_equal(nand_stats_get(d->media.nand, &stats), 0);
    assert_int_equal(stats.programs, 4);        /* C0 on three data dies and the parity die */
    assert_int_equal(buffered(d), ROW);
    for (uint32_t die = 0; die < 4; die++)
        assert_int_equal(pages_written(d, die), 0);
    (void)do_command(d, FTL_READ, 5, 1, NULL);
    ftl_counters_get(d, &n);
    assert_int_equal(n.buffer_read_hits, 1);
    assert_int_equal(n.nand_page_reads, 0);
    assert_int_equal(n.nand_programs, 4);       /* word lines, however many passes they take */

    /* row 1, first word line: data die 0 of row 1 is die 2 (parity on die 1): C1 F0 there */
    write_units(d, ROW, WL);
    assert_int_equal(ftl_drain(d), 0);
    assert_int_equal(nand_stats_get(d->media.nand, &stats), 0);
    assert_int_equal(stats.programs, 6);
    assert_int_equal(pages_written(d, 2), 4);
    assert_int_equal(buffered(d), ROW);         /* one word line came, one went */
    assert_sound(d);

    /* the rest of the superblock: with its last row everything ends */
    write_units(d, ROW + WL, 5 * ROW - WL);
    assert_int_equal(ftl_drain(d), 0);
    assert_int_equal(nand_stats_get(d->media.nand, &stats), 0);
    assert_int_equal(stats.programs, 2 * 4 * 6);
    assert_int_equal(buffered(d), 0);
    for (uint32_t die = 0; die < 4; die++)
        assert_int_equal(pages_written(d, die), 24);
    (void)do_command(d, FTL_READ, 5, 1, NULL);
    ftl_counters_get(d, &n);
    assert_int_equal(n.nand_page_reads, 1);
    /* a word line of a plane costs its energy once, whatever the passes */
    const struct nand_profile *p = nand_dev_profile(d->media.nand);
    assert_int_equal(nand_stats_get(d->media.nand, &stats), 0);
    assert_int_equal(stats.energy_pj - stats.senses * p->energy.sense_pj -
                         stats.bus_bytes * p->energy.bus_pj_per_byte,
                     4 * 6 * 2 * p->energy.prog_pj);
    assert_sound(d);
    ftl_destroy(d);
}

/* One die: C0, C1, F0, C2, F1 .. one behind the other, each with its data on the bus before it:
 * four page types for two planes at 1,600 MB/s, 23,240 ns each and two commands. */
static void test_times(void **state)
{
    struct ftl_config cfg = config("0");
    cfg.nand_dies = 1;
    cfg.raid_parity = 0;
    cfg.drive_user_bytes = 6 * 6 * WL * 4096;
    ftl_drive *d = make_drive(&cfg);
    const uint64_t load = 4 * (2 * 500 + 23240), coarse = load + 500 + 2000000,
                   fine = load + 500 + 4500000;
    (void)state;
    write_units(d, 0, WL);
    ftl_ns begin = ftl_now(d);
    assert_int_equal(ftl_drain(d), 0);
    /* the last unit left the write path before the command ended; its way to the host is the
     * commit, completion and host.complete */
    ftl_ns sent = begin - cfg.fw_commit_ns - cfg.fe_completion_ns - cfg.host_complete_ns;
    assert_int_equal(ftl_now(d), sent + coarse);
    ftl_ns at = ftl_now(d);
    write_units(d, WL, WL);
    begin = ftl_now(d);
    assert_true(begin > at);
    assert_int_equal(ftl_drain(d), 0);
    sent = begin - cfg.fw_commit_ns - cfg.fe_completion_ns - cfg.host_complete_ns;
    assert_int_equal(ftl_now(d), sent + coarse + fine);
    ftl_destroy(d);
}

/* Going untimed, what waited for its fine pass is on the medium; bytes and all. */
static void test_untimed(void **state)
{
    struct ftl_config cfg = config("1");
    ftl_drive *d = make_drive(&cfg);
    uint8_t bytes[4096], back[4096];
    (void)state;
    for (uint32_t round = 0; round < 40; round++) {
        for (uint64_t i = 0; i < 40; i++) {
            memset(bytes, (int)(round * 3 + i), sizeof bytes);
            (void)do_command(d, FTL_WRITE, (round * 29 + i) % 400, 1, bytes);
        }
        struct ftl_extent e = {.lba = 500 + round, .lba_count = 30};
        if (round % 3 == 2)
            assert_int_equal(ftl_write_untimed(d, &e, 1), 0);
        assert_sound(d);
        for (uint64_t i = 0; i < 40; i++) {
            memset(bytes, (int)(round * 3 + i), sizeof bytes);
            (void)do_command(d, FTL_READ, (round * 29 + i) % 400, 1, back);
            assert_memory_equal(bytes, back, sizeof bytes);
        }
    }
    ftl_destroy(d);
}

static void refused(const char *preset, const char *key, const char *value, const char *part)
{
    char why[FTL_WHY_MAX] = "";
    struct ftl_config cfg;
    ftl_setup *s = ftl_setup_new();
    assert_non_null(s);
    assert_int_equal(ftl_setup_load(s, "wa-reference", why, sizeof why), 0);
    assert_int_equal(ftl_setup_set(s, "nand.preset", preset, "test", why, sizeof why), 0);
    assert_int_equal(ftl_setup_set(s, "nand.wordlines_per_block", "4", "test", why, sizeof why), 0);
    assert_int_equal(ftl_setup_set(s, key, value, "test", why, sizeof why), 0);
    assert_int_equal(ftl_setup_finish(s, 0, &cfg, why, sizeof why), FTL_ECONFIG);
    if (strstr(why, part) == NULL)
        fail_msg("%s", why);
    ftl_setup_free(s);
}

static void test_refusals(void **state)
{
    (void)state;
    refused("mlc-25nm-paged", "gc.policy", "greedy", "lower and upper pages apart");
    refused("qlc-2pass", "nand.tprog_ns", "6000000", "must make nand.tprog_ns");
    refused("qlc-2pass", "nand.tcoarse_ns", "0", "must make nand.tprog_ns");
    refused("qlc", "nand.tfine_ns", "1000", "must make 0, as the part has one pass");
    refused("qlc-2pass", "power.plp", "0", "needs power.plp=1");
    /* 17 word lines of 4 planes x 4 types x 4 units, for 16 dies and the open one */
    refused("qlc-2pass", "buffer.bytes", "4456447", "in two passes, per die, 4456448");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order), cmocka_unit_test(test_times),
        cmocka_unit_test(test_untimed), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
