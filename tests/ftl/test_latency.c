/* test_latency.c - times of single commands and limits of throughput, from the
 * configuration by hand. */
#include "common.h"

#include <stdio.h>

static uint64_t up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* PCIe 5.0 x4, 128b/130b, 94.8 % payload: bytes per microsecond, rounded down. */
static uint64_t link_rate(void)
{
    return 32000ULL * 4 * 128 / 130 * 948000 / 8 / 1000000;
}

static void test_link_rate(void **state)
{
    (void)state;
    assert_int_equal(link_rate(), 14934);    /* 15.7538 GB/s x 0.948 */
}

/* Host, fetch, front end, firmware; sense and transfer of one 4 KiB codeword;
 * decode, link, completion, host. */
static uint64_t read_ns(const struct ftl_config *c, uint64_t tr)
{
    uint64_t codeword = 4096 + c->nand_spare_bytes / 4;
    uint64_t bus = c->nand_tstatus_ns + up(codeword * 1000, c->nand_bus_mts);
    return c->host_submit_ns + c->fe_fetch_ns + c->fe_cmd_ns + c->fw_read_ns + c->nand_tcmd_ns +
           tr + bus + c->fw_decode_ns + up(4096 * 1000, link_rate()) + c->fe_completion_ns +
           c->host_complete_ns;
}

static void test_read_qd1(void **state)
{
    struct ftl_config cfg = make_config("uh812a-7.68", 464, NULL);
    ftl_drive *d = make_drive(&cfg);
    uint64_t tr[3] = {cfg.nand_tr0_ns, cfg.nand_tr1_ns, cfg.nand_tr2_ns}, sum = 0;
    (void)state;
    sequential_fill(d);
    /* one word line of a die: 24 units of each page type, in the order written */
    for (uint32_t unit = 0; unit < 72; unit++) {
        ftl_ns t = do_command(d, FTL_READ, unit * 8, 8, NULL);
        assert_int_equal(t, read_ns(&cfg, tr[unit / 24]));
        sum += t;
    }
    print_message("QD1 read: mean %.2f us\n", (double)sum / 72 / 1000);
    assert_near((double)sum / 72, 55000, 0.05);     /* published: 55 us */
    ftl_destroy(d);
}

static void test_write_qd1(void **state)
{
    struct ftl_config cfg = make_config("uh812a-7.68", 464, NULL);
    ftl_drive *d = make_drive(&cfg);
    uint64_t want = cfg.host_submit_ns + cfg.fe_fetch_ns + cfg.fe_cmd_ns +
                    up(4096 * 1000, link_rate()) + cfg.fw_write_ns + cfg.fw_write_cmd_ns +
                    cfg.fw_write_unit_ns + cfg.fw_commit_ns + cfg.fe_completion_ns +
                    cfg.host_complete_ns;
    (void)state;
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(do_command(d, FTL_WRITE, i * 8 * 97, 8, NULL), want);
    print_message("QD1 write: %.3f us\n", (double)want / 1000);
    assert_near((double)want, 6000, 0.05);          /* published: 6 us */
    ftl_destroy(d);
}

/* An LBA that holds no data, and one still in the buffer, need no NAND read. */
static void test_read_without_nand(void **state)
{
    struct ftl_config cfg = make_config("uh812a-7.68", 464, NULL);
    ftl_drive *d = make_drive(&cfg);
    struct ftl_counters n;
    uint64_t want = cfg.host_submit_ns + cfg.fe_fetch_ns + cfg.fe_cmd_ns + cfg.fw_read_ns +
                    up(4096 * 1000, link_rate()) + cfg.fe_completion_ns + cfg.host_complete_ns;
    (void)state;
    assert_int_equal(do_command(d, FTL_READ, 800, 8, NULL), want);
    (void)do_command(d, FTL_WRITE, 800, 8, NULL);
    assert_int_equal(do_command(d, FTL_READ, 800, 8, NULL), want);
    (void)do_command(d, FTL_TRIM, 800, 8, NULL);
    assert_int_equal(do_command(d, FTL_READ, 800, 8, NULL), want);
    ftl_counters_get(d, &n);
    assert_int_equal(n.unmapped_reads, 2);
    assert_int_equal(n.buffer_read_hits, 1);
    assert_int_equal(n.nand_page_reads, 0);
    ftl_destroy(d);
}

static double run_many(ftl_drive *d, uint8_t opcode, uint32_t units, uint32_t depth, uint64_t n,
                       bool random)
{
    struct rand64 r = {9};
    uint64_t span = ftl_lba_count(d) / 8 / units, sent = 0, done = 0, first = 0;
    struct ftl_cpl cpl[64];
    ftl_ns start = ftl_now(d);

    while (done < n) {
        for (; sent < n && sent - done < depth; sent++) {
            uint64_t at = random ? draw_to(&r, span) : sent % span;
            struct ftl_cmd cmd = {.opcode = opcode, .lba = at * units * 8, .lba_count = units * 8};
            assert_int_equal(ftl_submit(d, &cmd), 0);
        }
        assert_int_equal(ftl_run(d, FTL_NEVER), 1);
        done += ftl_poll(d, cpl, 64);
        if (first == 0 && done >= n / 2) {  /* the first half fills queues and buffer */
            first = done;
            start = ftl_now(d);
        }
    }
    return (double)(n - first) * units * 4096 * 1e9 / (double)(ftl_now(d) - start);
}

/* Published figures of the 7.68 TB drive: 14.9 and 10.5 GB/s, 3.5 M IOPS. */
static void test_throughput(void **state)
{
    struct ftl_config cfg = make_config("uh812a-7.68", 256, NULL);
    ftl_drive *d = make_drive(&cfg);
    (void)state;
    double sw = run_many(d, FTL_WRITE, 32, 64, 60000, false);
    sequential_fill(d);
    double sr = run_many(d, FTL_READ, 32, 64, 20000, false);
    double rr = run_many(d, FTL_READ, 1, 2048, 200000, true) / 4096;
    print_message("sequential write %.2f GB/s, read %.2f GB/s, random read %.0f kIOPS\n", sw / 1e9,
                  sr / 1e9, rr / 1e3);
    assert_near(sw, 10.5e9, 0.05);
    assert_near(sr, 14.9e9, 0.05);
    assert_near(rr, 3.5e6, 0.05);
    /* and never above what link and front end allow */
    assert_true(sr <= (double)link_rate() * 1e6 * 1.002);   /* 64 of 10,000 may straddle */
    assert_true(rr <= 1e9 / (double)cfg.fe_cmd_ns * 1.002);
    ftl_destroy(d);
}

/* 16 dies program 15 x 288 KiB of data per word line and parity: 3.0 GB/s. */
static void test_nand_bound_write(void **state)
{
    struct ftl_config cfg = make_config("uh812a-1.92", 256, NULL);
    ftl_drive *d = make_drive(&cfg);
    uint64_t page = cfg.nand_page_bytes + cfg.nand_spare_bytes;
    uint64_t wl = 3 * (6 * cfg.nand_tcmd_ns + up(6 * page * 1000, cfg.nand_bus_mts)) +
                  cfg.nand_tcmd_ns + cfg.nand_tprog_ns;
    double bound = 15.0 * 72 * 4096 / (double)wl * 1e9;
    (void)state;
    double sw = run_many(d, FTL_WRITE, 32, 64, 40000, false);
    print_message("sequential write %.3f GB/s, word-line bound %.3f\n", sw / 1e9, bound / 1e9);
    assert_near(sw, bound, 0.02);
    assert_near(sw, 3.0e9, 0.05);                   /* published */
    ftl_destroy(d);
}

/* Same hardware, less user capacity: 470 K [fitted] and 1 M IOPS [predicted]. */
static void test_steady_random_write(void **state)
{
    static const struct {
        const char *drive;
        double iops, within;
    } rows[] = {{"uh812a-7.68", 470e3, 0.05}, {"uh832a-6.4", 1000e3, 0.10}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct ftl_config cfg = make_config(rows[i].drive, 256, NULL);
        ftl_drive *d = make_drive(&cfg);
        struct rand64 r = {4};
        sequential_fill(d);
        random_writes(d, &r, ftl_lba_count(d) / 8 * 3);
        (void)timed_random_writes(d, &r, 512, 300000);
        ftl_counters_reset(d);
        double iops = timed_random_writes(d, &r, 512, 600000);
        print_message("%s: 4K random write %.1f kIOPS, WA %.3f\n", rows[i].drive, iops / 1e3,
                      wa_gc(d));
        assert_near(iops, rows[i].iops, rows[i].within);
        ftl_destroy(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_link_rate),        cmocka_unit_test(test_read_qd1),
        cmocka_unit_test(test_write_qd1),        cmocka_unit_test(test_read_without_nand),
        cmocka_unit_test(test_throughput),       cmocka_unit_test(test_nand_bound_write),
        cmocka_unit_test(test_steady_random_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
