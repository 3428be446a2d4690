/* test_pslc.c - the write cache of superblocks with one bit per cell: the cliff, what folding
 * costs, and when it happens. Times by hand from those of the part. */
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "nvme/drive.h"

/* One die of two planes, tlc-128l: a cache superblock of 12 word lines holds 12 x 2 x 4 = 96
 * units, a final one three times that. */
enum { ROWS = 12, CACHE_SB = 96, SB = 288, CACHE = 3, UNITS = 8 * SB };

static struct ftl_config config(const char *payload, const char *idle_ns)
{
    return make_config(
        "wa-reference", 1, "nand.preset", "tlc-128l", "nand.channels", "1", "nand.dies", "1",
        "nand.planes", "2", "nand.wordlines_per_block", "12", "nand.blocks_per_plane", "20",
        "ftl.superblocks", "20", "gc.frontiers", "2", "pslc.superblocks", "3", "pslc.idle_ns",
        idle_ns, "drive.user_bytes", "9437184", "buffer.bytes", "256K", "buffer.gc_bytes", "512K",
        "media.payload", payload, NULL);
}

/* The part: 1,600 MB/s, pages of 18,336 B. */
enum {
    CMD = 500,
    LOAD = 2 * CMD + 22920,         /* one page type of two planes: 36,672 B */
    SLC = LOAD + CMD + 300000,      /* a word line of the cache: 8 units */
    TLC = 3 * LOAD + CMD + 1200000, /* a final one: 24 units */
    SENSE = 30000,
    OUT = 300 + 11460
};

static struct ftl_counters counters(const ftl_drive *d)
{
    struct ftl_counters n;
    ftl_counters_get(d, &n);
    return n;
}

/* Writes units in order, as many open as the drive takes; *ret gets the end of each. */
static void write_in_order(ftl_drive *d, uint64_t from, uint32_t n, ftl_ns *ret)
{
    struct ftl_cpl cpl[32];
    uint32_t sent = 0, done = 0;

    while (done < n) {
        for (; sent < n && sent - done < 64; sent++) {
            struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = from + sent, .lba_count = 1};
            assert_int_equal(ftl_submit(d, &cmd), 0);
        }
        assert_int_equal(ftl_run(d, FTL_NEVER), 1);
        for (uint32_t k = ftl_poll(d, cpl, 32), i = 0; i < k; i++)
            ret[done++] = cpl[i].done_at;
    }
}

/* The burst lasts for exactly the cache: 8 units per cache word line. The next unit comes
 * when the first superblock is folded and erased. From then on each superblock costs its
 * filling and its folding. */
static void test_cliff(void **state)
{
    static ftl_ns end[8 * CACHE_SB];
    struct ftl_config cfg = config("0", "1000000000000");
    ftl_drive *d = make_drive(&cfg);
    const uint32_t burst = CACHE * CACHE_SB, buffer = 64;
    (void)state;
    write_in_order(d, 0, 8 * CACHE_SB, end);
    /* a full buffer is emptied word line by word line */
    for (uint32_t i = buffer; i + 8 < burst; i += 8)
        if (i >= 2 * buffer)
            assert_int_equal(end[i + 8] - end[i], SLC);
    double rate = (double)(burst - 8 - 2 * buffer) * 1e9 / (double)(end[burst - 8] - end[2 * buffer]);
    assert_near(rate, 8e9 / SLC, 1e-9);
    /* folding 96 units: 24 page reads in pairs, four final word lines, the erase */
    uint64_t fold = 12 * (CMD + SENSE) + 4 * TLC + CMD + cfg.nand_tbers_ns;
    assert_true(end[burst] - end[burst - 1] > 12 * (CMD + SENSE));  /* all of it was read first */
    /* steady: one superblock per filling and folding; reads hide part of their transfers
     * behind each other */
    uint64_t steady = (end[7 * CACHE_SB] - end[4 * CACHE_SB]) / 3;
    uint64_t least = 12 * SLC + fold, most = least + 12 * (CMD + 2 * OUT);
    print_message("burst %.1f MB/s for %u units, then %.1f MB/s (by hand %.1f to %.1f)\n",
                  rate * 4096 / 1e6, burst, CACHE_SB * 4096e3 / (double)steady,
                  CACHE_SB * 4096e3 / (double)most, CACHE_SB * 4096e3 / (double)least);
    assert_true(steady >= least && steady <= most);
    struct ftl_counters n = counters(d);
    assert_int_equal(n.folds, 6);                   /* the last unit filled the cache again */
    assert_true(n.fold_bytes >= UINT64_C(5) * CACHE_SB * 4096 &&
                n.fold_bytes <= UINT64_C(6) * CACHE_SB * 4096);
    assert_int_equal(n.gc_bytes, 0);
    assert_sound(d);
    ftl_destroy(d);
}

/* One unit less than the cache holds folds nothing, however long the drive waits for it; the
 * last one does. */
static void test_exact(void **state)
{
    static ftl_ns end[CACHE * CACHE_SB];
    struct ftl_config cfg = config("0", "1000000000000");
    ftl_drive *d = make_drive(&cfg);
    (void)state;
    write_in_order(d, 0, CACHE * CACHE_SB - 1, end);
    assert_int_equal(ftl_run(d, ftl_now(d) + 1000000000), 0);
    assert_int_equal(counters(d).folds, 0);
    write_in_order(d, CACHE * CACHE_SB - 1, 1, end);
    assert_int_equal(ftl_run(d, ftl_now(d) + 1000000000), 0);
    assert_int_equal(counters(d).folds, 1);
    assert_int_equal(counters(d).fold_bytes, CACHE_SB * 4096);
    ftl_destroy(d);
}

/* The host stops; after pslc.idle_ns folding begins, and ends with an empty cache but for the
 * open superblock. A command in between starts the wait anew. */
static void test_idle(void **state)
{
    static ftl_ns end[2 * CACHE_SB + 8];
    struct ftl_config cfg = config("0", "5000000");
    ftl_drive *d = make_drive(&cfg);
    (void)state;
    write_in_order(d, 0, 2 * CACHE_SB + 8, end);
    ftl_ns polled = ftl_now(d);
    assert_int_equal(ftl_run(d, polled + 4999999), 0);
    assert_int_equal(counters(d).folds, 0);
    (void)do_command(d, FTL_READ, 5, 1, NULL);
    polled = ftl_now(d);
    assert_int_equal(ftl_run(d, polled + 4999999), 0);
    assert_int_equal(counters(d).folds, 0);
    assert_int_equal(ftl_run(d, polled + 5000000), 0);
    assert_int_equal(counters(d).folds, 1);
    assert_int_equal(ftl_drain(d), 0);
    assert_int_equal(counters(d).folds, 2);
    assert_int_equal(counters(d).fold_bytes, 2 * CACHE_SB * 4096);
    assert_int_equal(d->core.cache.free_count, 2);
    assert_sound(d);
    ftl_destroy(d);
}

/* What is trimmed or overwritten in the cache is not folded. */
static void test_dead_data(void **state)
{
    static ftl_ns end[CACHE * CACHE_SB];
    struct ftl_config cfg = config("0", "0");
    ftl_drive *d = make_drive(&cfg);
    (void)state;
    cfg.pslc_idle_ns = UINT64_C(1000000000);
    ftl_destroy(d);
    d = make_drive(&cfg);
    write_in_order(d, 0, 2 * CACHE_SB, end);
    (void)do_command(d, FTL_TRIM, 0, CACHE_SB + 40, NULL);
    assert_int_equal(ftl_drain(d), 0);
    assert_int_equal(counters(d).folds, 2);
    assert_int_equal(counters(d).fold_bytes, (CACHE_SB - 40) * 4096);
    ftl_counters_reset(d);
    for (int round = 0; round < 12; round++)        /* 288 units, 24 of them live */
        write_in_order(d, 500, 24, end);
    assert_int_equal(ftl_drain(d), 0);
    assert_int_equal(counters(d).folds, 3);
    assert_int_equal(counters(d).fold_bytes, 24 * 4096);
    assert_int_equal(counters(d).host_bytes, 288 * 4096);
    assert_sound(d);
    ftl_destroy(d);
}

/* Blocks of the cache are in SLC mode for life; energy and wear are theirs. */
static void test_medium(void **state)
{
    static ftl_ns end[8 * CACHE_SB];
    struct ftl_config cfg = config("0", "1000000");
    ftl_drive *d = make_drive(&cfg);
    struct nand_block_info info;
    struct nand_stats stats;
    (void)state;
    write_in_order(d, 0, 8 * CACHE_SB, end);
    assert_int_equal(ftl_drain(d), 0);
    for (uint32_t sb = 0; sb < 20; sb++) {
        assert_int_equal(nand_block_info(d->media.nand, 0, 1, sb, &info), 0);
        assert_int_equal(info.slc, sb < CACHE);
        assert_int_equal(info.erase_count, d->core.erases[sb]);
        assert_true(sb < CACHE ? info.erase_count >= 2 : info.erase_count == 0);
    }
    assert_int_equal(nand_stats_get(d->media.nand, &stats), 0);
    assert_int_equal(stats.slc_plane_programs, 8 * CACHE_SB / 4);
    assert_int_equal(stats.plane_programs, 8 * CACHE_SB / 12);
    ftl_destroy(d);
}

/* On an empty drive the cache takes four superblocks besides its three; when the drive is
 * full of data they are given back. Those that join and those that leave cost an erase. */
static void test_dynamic(void **state)
{
    static ftl_ns end[8 * CACHE_SB];
    struct ftl_config cfg = config("0", "1000000000000");
    struct rand64 r = {8};
    (void)state;
    cfg.ftl_superblocks = 16;
    cfg.pslc_dynamic = 4;
    ftl_drive *d = make_drive(&cfg);
    write_in_order(d, 0, 7 * CACHE_SB - 1, end);
    assert_int_equal(ftl_run(d, ftl_now(d) + 1000000000), 0);
    assert_int_equal(counters(d).folds, 0);
    assert_int_equal(counters(d).nand_erases, 4 * 2);
    write_in_order(d, 7 * CACHE_SB - 1, 1, end);
    assert_int_equal(ftl_run(d, ftl_now(d) + 1000000000), 0);
    assert_int_equal(counters(d).folds, 1);
    assert_int_equal(d->core.cache.count, 7);
    /* 2,304 units in 13 superblocks of 288: above the floor there is no room for the four */
    sequential_fill(d);
    random_writes(d, &r, 3 * UNITS);
    assert_int_equal(d->core.cache.count, 3);
    assert_sound(d);
    (void)timed_random_writes(d, &r, 16, 2000);
    assert_int_equal(d->core.cache.count, 3);
    assert_int_equal(ftl_format(d), 0);
    assert_int_equal(d->core.cache.count, 3);
    assert_sound(d);
    write_in_order(d, 0, 7 * CACHE_SB - 1, end);
    assert_int_equal(d->core.cache.count, 7);
    assert_sound(d);
    ftl_destroy(d);
}

/* Untimed filling goes through the cache too; both depths hold the same bytes. */
static void test_payload(void **state)
{
    static const char *const presets[] = {"tlc-128l", "qlc-2pass"};
    (void)state;
    for (int p = 0; p < 2; p++) {
        struct ftl_config cfg = config("1", "300000");
        cfg.ftl_superblocks = 16;       /* the least */
        if (p == 1)
            cfg = make_config(
                "wa-reference", 1, "nand.preset", presets[p], "nand.channels", "1", "nand.dies",
                "3", "nand.planes", "2", "nand.wordlines_per_block", "4", "raid.parity", "1",
                "nand.blocks_per_plane", "20", "ftl.superblocks", "16", "gc.frontiers", "2",
                "pslc.superblocks", "2", "pslc.idle_ns", "300000", "drive.user_bytes", "9437184",
                "buffer.bytes", "1M", "buffer.gc_bytes", "1M", "media.payload", "1", NULL);
        ftl_drive *d = make_drive(&cfg);
        uint32_t units = (uint32_t)ftl_lba_count(d);
        uint8_t *version = calloc(units, 1), bytes[4096], back[4096];
        struct rand64 r = {77};
        assert_non_null(version);
        for (uint32_t step = 0; step < 9000; step++) {
            uint32_t at = (uint32_t)draw_to(&r, draw_to(&r, 2) ? units : units / 8);
            if (draw_to(&r, 3) == 0) {
                memset(bytes, version[at], sizeof bytes);
                (void)do_command(d, FTL_READ, at, 1, back);
                assert_memory_equal(bytes, back, sizeof back);
                continue;
            }
            memset(bytes, ++version[at], sizeof bytes);
            (void)do_command(d, FTL_WRITE, at, 1, bytes);
            if (step % 1000 == 999)
                assert_int_equal(ftl_drain(d), 0);
            if (step % 1500 == 1499) {
                struct ftl_extent e = {.lba = units - 40, .lba_count = 40};
                assert_int_equal(ftl_write_untimed(d, &e, 1), 0);
                memset(version + units - 40, 0, 40);
            }
        }
        assert_true(counters(d).folds > 20 && counters(d).gc_victims > 5);
        assert_sound(d);
        free(version);
        ftl_destroy(d);
    }
}

static void refused(struct ftl_config cfg, const char *part)
{
    char why[FTL_WHY_MAX] = "";
    assert_int_equal(ftl_config_check(&cfg, why, sizeof why), FTL_ECONFIG);
    if (strstr(why, part) == NULL)
        fail_msg("%s", why);
}

static void test_refusals(void **state)
{
    struct ftl_config good = config("0", "0"), cfg;
    char why[FTL_WHY_MAX];
    (void)state;
    cfg = good, cfg.gc_frontiers = 1;
    refused(cfg, "pslc.superblocks=3: needs gc.frontiers=2");
    cfg = good, cfg.power_plp = 0;
    refused(cfg, "pslc.superblocks=3: needs power.plp=1");
    cfg = good, cfg.media_faults = 1;
    refused(cfg, "pslc.superblocks=3: needs media.faults=0");
    cfg = make_config("wa-reference", 1, "gc.frontiers", "2", NULL);
    cfg.pslc_superblocks = 3;
    refused(cfg, "one bit per cell");
    cfg = good, cfg.map_unit_bytes = 65536;         /* eight pages, of two planes */
    refused(cfg, "map.unit_bytes");
    cfg = good, cfg.pslc_superblocks = 0, cfg.pslc_dynamic = 1;
    refused(cfg, "pslc.dynamic_superblocks=1: needs pslc.superblocks");
    /* 8 superblocks for the user; 2 free, 2 open, 3 of the cache, 1 to fold into: 16 of 20 */
    cfg = good, cfg.ftl_superblocks = 16;
    assert_int_equal(ftl_config_check(&cfg, why, sizeof why), 0);
    cfg.ftl_superblocks = 15;
    refused(cfg, "open and reserved ones need 8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cliff),  cmocka_unit_test(test_exact),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_dead_data), cmocka_unit_test(test_medium),
        cmocka_unit_test(test_dynamic), cmocka_unit_test(test_payload), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
