/* test_mapping.c - mapping units of 4 to 64 KiB: what partial writes cost, which pages
 * are read, and that the bytes come back. Expected numbers are derived by hand. */
#include "common.h"

#include <stdio.h>
#include <string.h>

/* 4 dies of 4 planes with pages of 16 KiB: a word line holds 64 KiB. */
static ftl_drive *drive_with(const char *unit, const char *lba, const char *plp)
{
    struct ftl_config cfg =
        make_config("wa-reference", 1, "nand.dies", "4", "nand.planes", "4",
                    "nand.blocks_per_plane", "64", "ftl.superblocks", "64", "drive.user_bytes",
                    "48M", "drive.lba_bytes", lba, "media.payload", "1", "map.unit_bytes", unit,
                    "power.plp", plp, NULL);
    return make_drive(&cfg);
}

static struct ftl_counters counters(const ftl_drive *d)
{
    struct ftl_counters n;
    ftl_counters_get(d, &n);
    return n;
}

struct partial {
    const char *unit;
    uint64_t lba, lba_count;    /* of 4 KiB */
    uint64_t rmw_bytes, rmw_reads, page_reads;
};

/* Unit 16K = 4 LBAs = 1 page; unit 64K = 16 LBAs = 4 pages of 4. */
static const struct partial partials[] = {
    {"4K", 5, 1, 0, 0, 0},
    {"8K", 4, 2, 0, 0, 0},
    {"8K", 3, 1, 4096, 1, 1},
    {"8K", 3, 2, 2 * 4096, 2, 2},       /* LBAs 2 and 5, of units that share no page */
    {"16K", 4, 4, 0, 0, 0},             /* aligned: the whole unit, nothing to read */
    {"16K", 5, 1, 3 * 4096, 1, 1},
    {"16K", 6, 4, 4 * 4096, 2, 2},      /* half of units 1 and 2 */
    {"16K", 4, 12, 0, 0, 0},
    {"16K", 7, 9, 3 * 4096, 1, 1},      /* one LBA of unit 1, units 2 and 3 whole */
    {"64K", 16, 16, 0, 0, 0},
    {"64K", 17, 1, 15 * 4096, 1, 4},    /* its own page holds three old LBAs */
    {"64K", 20, 4, 12 * 4096, 1, 3},    /* one page is replaced whole */
    {"64K", 28, 8, 24 * 4096, 2, 6},    /* the last page of unit 1, the first of unit 2 */
    {"64K", 0, 48, 0, 0, 0},
};

static void test_partial_writes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof partials / sizeof partials[0]; i++) {
        const struct partial *p = &partials[i];
        struct ftl_extent e = {.lba = p->lba, .lba_count = (uint32_t)p->lba_count};
        for (int timed = 0; timed < 2; timed++) {
            ftl_drive *d = drive_with(p->unit, "4096", "1");
            sequential_fill(d);
            ftl_counters_reset(d);
            if (timed)
                (void)do_command(d, FTL_WRITE, p->lba, (uint32_t)p->lba_count, NULL);
            else
                assert_int_equal(ftl_write_untimed(d, &e, 1), 0);
            struct ftl_counters n = counters(d);
            assert_int_equal(n.host_bytes, p->lba_count * 4096);
            assert_int_equal(n.rmw_bytes, p->rmw_bytes);
            assert_int_equal(n.rmw_reads, p->rmw_reads);
            assert_int_equal(n.nand_page_reads, timed ? p->page_reads : 0);
            assert_sound(d);
            ftl_destroy(d);
        }
    }
}

/* 4 KiB after 4 KiB through a unit of 64 KiB: each write rewrites the other 15. Only
 * the first finds the old unit on the medium (4 pages), the others in the buffer. A
 * unit never written has nothing to read, but is written whole. */
static void test_sequential_pieces(void **state)
{
    (void)state;
    for (int fresh = 0; fresh < 2; fresh++) {
        ftl_drive *d = drive_with("64K", "4096", "1");
        if (!fresh)
            sequential_fill(d);
        ftl_counters_reset(d);
        /* 16 writes end long before the first program does */
        for (uint64_t lba = 0; lba < 16; lba++)
            (void)do_command(d, FTL_WRITE, lba, 1, NULL);
        struct ftl_counters n = counters(d);
        assert_int_equal(n.host_bytes, 16 * 4096);
        assert_int_equal(n.rmw_bytes, 16 * 15 * 4096);
        assert_int_equal(n.rmw_reads, fresh ? 15 : 16);
        assert_int_equal(n.nand_page_reads, fresh ? 0 : 4);
        ftl_destroy(d);
    }
}

/* Reads below a unit fetch the pages they need and no more. */
static void test_reads(void **state)
{
    static const struct {
        const char *unit;
        uint64_t lba;
        uint32_t lba_count, pages;
    } rows[] = {
        {"4K", 5, 1, 1},   {"8K", 5, 1, 1},   {"16K", 5, 1, 1},  {"64K", 5, 1, 1},
        {"64K", 4, 4, 1},  {"64K", 5, 4, 2},  {"64K", 3, 6, 3},  {"64K", 0, 32, 8},
        {"16K", 0, 16, 4}, {"16K", 2, 4, 2},  {"8K", 1, 2, 1},   {"8K", 3, 2, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ftl_drive *d = drive_with(rows[i].unit, "4096", "1");
        sequential_fill(d);
        ftl_counters_reset(d);
        (void)do_command(d, FTL_READ, rows[i].lba, rows[i].lba_count, NULL);
        assert_int_equal(counters(d).nand_page_reads, rows[i].pages);
        ftl_destroy(d);
    }
}

/* Random 4 KiB writes on units of 16 KiB. In units it is a uniform random load on
 * 2,048 superblocks of 256, whose greedy WA at a = 1.1454 an independent simulation
 * gives as 4.0753; each unit written carries four times the bytes that the host sent. */
static void test_write_amplification(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "nand.wordlines_per_block", "16",
                                        "map.unit_bytes", "16K", "op", "0.1454", NULL);
    ftl_drive *d = make_drive(&cfg);
    struct rand64 rand = {17};
    uint64_t units = ftl_lba_count(d) / 4;
    (void)state;
    assert_int_equal(units, UINT64_C(2048) * 256 * 1000000 / 1145400);
    sequential_fill(d);
    random_writes(d, &rand, units * 3);
    ftl_counters_reset(d);
    random_writes(d, &rand, units * 2);
    struct ftl_counters n = counters(d);
    double wa = (double)(n.host_bytes + n.rmw_bytes + n.gc_bytes) / (double)n.host_write_bytes;
    print_message("4K random on 16K units: WA %.3f, 4 x 4.0753 = 16.301\n", wa);
    assert_near(wa, 4 * 4.0753, 0.02);
    assert_int_equal(n.rmw_bytes, 3 * n.host_bytes);
    assert_int_equal(n.rmw_reads, n.host_writes);
    assert_sound(d);
    ftl_destroy(d);
}

/* Two words of 4 bytes per unit of user and of physical space. */
static void test_memory(void **state)
{
    static const char *const units[] = {"4K", "8K", "16K"};
    double bytes[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct ftl_config cfg = make_config("uh812a-7.68", 64, "map.unit_bytes", units[i], NULL);
        struct ftl_status s;
        ftl_drive *d = make_drive(&cfg);
        ftl_status_get(d, &s);
        assert_int_equal(s.unit_bytes, 4096 << i);
        bytes[i] = (double)(s.user_units + s.physical_units) * 4;
        assert_near(bytes[i] * (1 << i), bytes[0], 1e-5);
        if (i > 0) {
            double fallen = (double)ftl_memory_needed(&cfg);
            cfg.map_unit_bytes = 4096;
            fallen = (double)ftl_memory_needed(&cfg) - fallen;
            assert_near(fallen, bytes[0] - bytes[i], 0.001);
        }
        ftl_destroy(d);
    }
}

/* Every page of a live unit is read for relocation; what dies while it is read costs
 * a read too. */
static void test_relocation_reads(void **state)
{
    ftl_drive *d = drive_with("64K", "4096", "1");
    struct rand64 rand = {23};
    (void)state;
    sequential_fill(d);
    (void)timed_random_writes(d, &rand, 8, 3000);
    assert_int_equal(ftl_drain(d), 0);
    struct ftl_counters n = counters(d);
    assert_true(n.gc_units_moved > 2000);
    assert_true(n.nand_gc_page_reads >= 4 * n.gc_units_moved);
    assert_near((double)n.nand_gc_page_reads, 4.0 * (double)n.gc_units_moved, 0.01);
    assert_int_equal(n.gc_bytes, n.gc_units_moved * 65536);
    assert_sound(d);
    ftl_destroy(d);
}

/* More page reads at once than the drive keeps track of: commands behind wait, and all
 * end. 100 reads of 256 units scattered over as many pages. */
static void test_many_reads(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, NULL);
    ftl_drive *d = make_drive(&cfg);
    struct rand64 rand = {29};
    struct ftl_cpl cpl[8];
    uint32_t done = 0;
    (void)state;
    sequential_fill(d);
    random_writes(d, &rand, ftl_lba_count(d) * 3);
    for (uint32_t i = 0; i < 100; i++) {
        struct ftl_cmd cmd = {.opcode = FTL_READ, .lba = i * 256, .lba_count = 256};
        assert_int_equal(ftl_submit(d, &cmd), 0);
    }
    while (done < 100) {
        assert_int_equal(ftl_run(d, FTL_NEVER), 1);
        done += ftl_poll(d, cpl, 8);
    }
    assert_true(counters(d).nand_page_reads > 16384);
    ftl_destroy(d);
}

/* Pages of 12 KiB hold one and a half units of 8 KiB: bytes come back through partial
 * writes, TRIM of part of a unit, and collection. */
static void test_straddling(void **state)
{
    struct ftl_config cfg = make_config(
        "wa-reference", 1, "nand.dies", "4", "nand.planes", "2", "nand.page_bytes", "12288",
        "nand.blocks_per_plane", "32", "ftl.superblocks", "32", "drive.user_bytes", "8M",
        "drive.lba_bytes", "512", "media.payload", "1", "map.unit_bytes", "8K", NULL);
    ftl_drive *d = make_drive(&cfg);
    static uint8_t now[64 * 512], back[64 * 512], old[64 * 512];
    struct rand64 rand = {31};
    (void)state;
    for (size_t i = 0; i < sizeof old; i++)
        old[i] = (uint8_t)(i / 512 + i);
    (void)do_command(d, FTL_WRITE, 3, 64, old);     /* units 0 to 4, the edges in part */
    memset(now, 0xee, sizeof now);
    (void)do_command(d, FTL_WRITE, 20, 7, now);     /* inside of unit 1 */
    memcpy(old + 17 * 512, now, 7 * 512);
    (void)do_command(d, FTL_TRIM, 30, 19, NULL);    /* unit 2 whole, 2 LBAs of 1, 1 of 3 */
    memset(old + 29 * 512, 0, 16 * 512);
    sequential_fill(d);                             /* without data: all but ours go */
    (void)do_command(d, FTL_WRITE, 3, 64, old);
    for (int i = 0; i < 20000; i++) {
        uint64_t lba = 256 + draw_to(&rand, ftl_lba_count(d) - 512);
        (void)do_command(d, FTL_WRITE, lba, 1 + (uint32_t)draw_to(&rand, 40), NULL);
    }
    assert_true(counters(d).gc_units_moved > 1000);
    (void)do_command(d, FTL_READ, 3, 64, back);
    assert_memory_equal(old, back, sizeof old);
    assert_sound(d);
    ftl_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partial_writes),  cmocka_unit_test(test_sequential_pieces),
        cmocka_unit_test(test_reads),           cmocka_unit_test(test_write_amplification),
        cmocka_unit_test(test_memory),          cmocka_unit_test(test_relocation_reads),
        cmocka_unit_test(test_many_reads),      cmocka_unit_test(test_straddling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
