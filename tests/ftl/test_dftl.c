/* test_dftl.c - the demand-cached map: hits, what eviction and relocation write, what a
 * miss costs, and that nothing else changes. */
#include "common.h"

#include <string.h>

static struct ftl_counters counters(const ftl_drive *d)
{
    struct ftl_counters n;
    ftl_counters_get(d, &n);
    return n;
}

/* 2,048 superblocks of 256 units, a = 1.1454: 457,733 user units. */
static ftl_drive *reference(const char *ppm, const char *entries)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "op", "0.1454", "map.cache_ppm", ppm,
                                        "map.page_entries", entries, NULL);
    return make_drive(&cfg);
}

static double hit_ratio(const struct ftl_counters *n)
{
    return (double)n->map_cache_hits / (double)(n->map_cache_hits + n->map_cache_misses);
}

/* Uniform look-ups find a page when it is one of the `cached` last used of `pages`, all
 * equally likely: cached / pages. 64 entries: 7,153 pages, of which 1 % are 72, 10 % 716. */
static void test_uniform_hits(void **state)
{
    static const struct {
        const char *ppm;
        double cached;
    } rows[] = {{"10000", 72}, {"100000", 716}, {"500000", 3577}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        ftl_drive *d = reference(rows[i].ppm, "64");
        struct rand64 rand = {3};
        sequential_fill(d);
        random_writes(d, &rand, 100000);
        ftl_counters_reset(d);
        random_writes(d, &rand, 1000000);
        struct ftl_counters n = counters(d);
        print_message("%s ppm: hit ratio %.5f, derived %.5f\n", rows[i].ppm, hit_ratio(&n),
                      rows[i].cached / 7153);
        /* a draw next to the one before counts with it */
        assert_near((double)(n.map_cache_hits + n.map_cache_misses), 1e6, 1e-4);
        assert_near(hit_ratio(&n), rows[i].cached / 7153, 0.03);
        /* only writes: what leaves the cache was written to, and is written back */
        assert_int_equal(n.map_evictions_dirty, n.map_cache_misses);
        assert_int_equal(n.map_evictions_clean, 0);
        assert_true(n.translation_writes >= n.map_evictions_dirty);
        assert_int_equal(n.translation_bytes, n.translation_writes * 4096);
        assert_sound(d);
        ftl_destroy(d);
    }
}

/* A cache of the whole map evicts nothing, writes nothing, changes nothing: all bytes,
 * programs and erases are those of the flat map. */
static void test_whole_map(void **state)
{
    struct ftl_counters n[2];
    (void)state;
    for (int full = 0; full < 2; full++) {
        ftl_drive *d = reference(full ? "1000000" : "0", "1024");
        struct rand64 rand = {5};
        sequential_fill(d);
        random_writes(d, &rand, 1200000);
        (void)timed_random_writes(d, &rand, 32, 50000);
        n[full] = counters(d);
        assert_sound(d);
        ftl_destroy(d);
    }
    assert_int_equal(n[1].translation_writes, 0);
    assert_true(n[1].map_cache_hits > 1000000);
    assert_int_equal(n[0].map_cache_hits, 0);
    n[1].map_cache_hits = n[1].map_cache_misses = 0;
    n[1].events = n[0].events;
    assert_memory_equal(&n[0], &n[1], sizeof n[0]);
}

/* One read alone on the drive: without its map page it takes one array read of a codeword
 * and its transfer longer. */
static void test_cost_of_a_miss(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "op", "0.1454", "map.cache_ppm",
                                        "10000", "map.page_entries", "64", NULL);
    ftl_drive *d = make_drive(&cfg);
    struct rand64 rand = {7};
    uint64_t bytes = 4096 + cfg.nand_spare_bytes / 4;
    uint64_t bus = (bytes * 1000 + cfg.nand_bus_mts - 1) / cfg.nand_bus_mts;
    uint64_t array = cfg.nand_tr_partial_ns != 0 ? cfg.nand_tr_partial_ns : cfg.nand_tr0_ns;
    (void)state;
    sequential_fill(d);
    random_writes(d, &rand, 500000);
    (void)do_command(d, FTL_READ, 0, 1, NULL);      /* collection catches up */
    assert_int_equal(ftl_drain(d), 0);
    for (uint64_t lba = 64 * 100; lba < 64 * 300; lba += 6400) {
        ftl_counters_reset(d);
        ftl_ns miss = do_command(d, FTL_READ, lba, 1, NULL);
        assert_int_equal(ftl_drain(d), 0);
        struct ftl_counters n = counters(d);
        assert_int_equal(n.map_cache_misses, 1);
        assert_int_equal(n.translation_reads, 1);
        assert_int_equal(n.nand_page_reads - n.nand_gc_page_reads, 2);
        ftl_ns hit = do_command(d, FTL_READ, lba, 1, NULL);
        n = counters(d);
        assert_int_equal(n.map_cache_hits, 1);
        assert_int_equal(n.nand_page_reads - n.nand_gc_page_reads, 3);
        uint64_t want = cfg.nand_tcmd_ns + array + cfg.nand_tstatus_ns + bus;
        assert_int_equal(miss - hit, want);
    }
    ftl_destroy(d);
}

static ftl_drive *small(const char *ppm)
{
    struct ftl_config cfg =
        make_config("wa-reference", 1, "nand.dies", "4", "nand.blocks_per_plane", "128",
                    "ftl.superblocks", "128", "drive.user_bytes", "26M", "media.payload", "1",
                    "drive.lba_bytes", "512", "map.cache_ppm", ppm, "map.page_entries", "32", NULL);
    return make_drive(&cfg);
}

/* The same commands on the flat map and on caches of 1 %, 10 % and all: every byte the same. */
static void test_identical_data(void **state)
{
    static const char *const ppms[] = {"0", "10000", "100000", "1000000"};
    static uint8_t data[64 * 512], all[4][64 * 512];
    ftl_drive *d[4];
    struct rand64 rand = {11};
    (void)state;
    for (int i = 0; i < 4; i++)
        d[i] = small(ppms[i]);
    uint64_t lbas = ftl_lba_count(d[0]);
    for (int step = 0; step < 6000; step++) {
        uint64_t lba = draw_to(&rand, lbas - 2048);
        uint32_t n = 1 + (uint32_t)draw_to(&rand, 64), what = (uint32_t)draw_to(&rand, 16);
        for (uint32_t i = 0; i < sizeof data; i += 8)
            memcpy(data + i, &(uint64_t){(uint64_t)step << 20 | i}, 8);
        for (int i = 0; i < 4; i++) {
            if (what == 0)
                (void)do_command(d[i], FTL_TRIM, lba, n * 32, NULL);
            else if (what < 12)
                (void)do_command(d[i], FTL_WRITE, lba, n, data);
            else
                (void)do_command(d[i], FTL_READ, lba, n, all[i]);
        }
        for (int i = 1; i < 4 && what >= 12; i++)
            assert_memory_equal(all[0], all[i], n * 512);
    }
    for (int i = 0; i < 4; i++) {
        assert_sound(d[i]);
        struct ftl_counters n = counters(d[i]);
        print_message("cache %s ppm: hit ratio %.3f, map pages written %llu, host units %llu\n",
                      ppms[i], i > 0 ? hit_ratio(&n) : 1.0,
                      (unsigned long long)n.translation_writes,
                      (unsigned long long)(n.host_bytes + n.rmw_bytes) / 4096);
        assert_true((n.translation_writes > 0) == (i == 1 || i == 2));
    }
    for (uint64_t lba = 0; lba + 64 <= lbas; lba += 64) {
        for (int i = 0; i < 4; i++)
            (void)do_command(d[i], FTL_READ, lba, 64, all[i]);
        for (int i = 1; i < 4; i++)
            assert_memory_equal(all[0], all[i], sizeof all[0]);
    }
    for (int i = 0; i < 4; i++)
        ftl_destroy(d[i]);
}

/* ---- figures ------------------------------------------------------------------------ */

struct figures {
    double hit, wa, wa_data, read_us;
};

static uint64_t pick(struct rand64 *r, uint64_t units, bool hot)
{
    uint64_t cold = units / 5;
    if (!hot)
        return draw_to(r, units);
    return draw_to(r, 10) < 8 ? draw_to(r, cold) : cold + draw_to(r, units - cold);
}

static struct figures measure(const char *ppm, bool hot)
{
    ftl_drive *d = reference(ppm, "1024");
    struct rand64 rand = {13};
    uint64_t units = ftl_lba_count(d), reads = 3000, ns = 0;

    sequential_fill(d);
    for (int round = 0; round < 2; round++) {
        ftl_counters_reset(d);
        for (uint64_t i = 0; i < units * 2; i++) {
            struct ftl_extent e = {.lba = pick(&rand, units, hot), .lba_count = 1};
            assert_int_equal(ftl_write_untimed(d, &e, 1), 0);
        }
    }
    struct ftl_counters n = counters(d);
    struct figures f = {.hit = n.map_cache_hits > 0 ? hit_ratio(&n) : 1};
    f.wa = (double)(n.host_bytes + n.gc_bytes + n.translation_bytes) / (double)n.host_bytes;
    f.wa_data = (double)(n.host_bytes + n.gc_bytes) / (double)n.host_bytes;
    for (uint64_t i = 0; i < reads; i++)
        ns += do_command(d, FTL_READ, pick(&rand, units, hot), 1, NULL);
    f.read_us = (double)ns / (double)reads / 1e3;
    ftl_destroy(d);
    return f;
}

/* What a smaller cache costs, uniform and with 80 % of the traffic on 20 % of the space. */
static void test_figures(void **state)
{
    static const char *const ppms[] = {"0", "1000000", "100000", "10000"};
    static const char *const names[] = {"flat", "100 %", "10 %", "1 %"};
    (void)state;
    for (int hot = 0; hot < 2; hot++) {
        struct figures f[4];
        print_message("%s\n  cache  hit ratio  WA  of it data and GC  QD1 read us\n",
                      hot ? "80/20" : "uniform");
        for (int i = 0; i < 4; i++) {
            f[i] = measure(ppms[i], hot);
            print_message("  %-6s %.4f  %.4f  %.4f  %.2f\n", names[i], f[i].hit, f[i].wa,
                          f[i].wa_data, f[i].read_us);
        }
        assert_true(f[1].wa == f[0].wa && f[1].read_us == f[0].read_us);
        assert_true(f[2].hit < f[1].hit && f[3].hit < f[2].hit);
        assert_true(f[2].wa > f[1].wa && f[3].wa > f[2].wa);
        assert_true(f[2].read_us > f[1].read_us && f[3].read_us > f[2].read_us);
        /* 80/20 by the characteristic time of Che et al. (2002): 45 pages are those used in
         * the last T look-ups, 90 (1 - exp(-0.8 T / 90)) + 358 (1 - exp(-0.2 T / 358)) = 45 at
         * T = 54.1, and 0.8 (1 - exp(-0.8 T / 90)) + 0.2 (1 - exp(-0.2 T / 358)) = 0.311 */
        assert_near(f[2].hit, hot ? 0.311 : 45.0 / 448, 0.03);
        assert_near(f[3].hit, hot ? f[3].hit : 5.0 / 448, 0.05);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform_hits),   cmocka_unit_test(test_whole_map),
        cmocka_unit_test(test_cost_of_a_miss), cmocka_unit_test(test_identical_data),
        cmocka_unit_test(test_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
