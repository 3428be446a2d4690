/* test_commands.c - what commands promise: refusals, bytes by cause, TRIM, FLUSH. */
#include "common.h"

#include <string.h>

static ftl_drive *small(const char *key, const char *value)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "drive.lba_bytes", "512",
                                        "media.payload", "1", key, value, NULL);
    return make_drive(&cfg);
}

static void test_refusals(void **state)
{
    ftl_drive *d = small("power.plp", "1");
    uint64_t n = ftl_lba_count(d);
    const struct {
        struct ftl_cmd cmd;
        int err;
    } rows[] = {
        {{.opcode = FTL_READ, .lba = n, .lba_count = 1}, FTL_ERANGE},
        {{.opcode = FTL_READ, .lba = n - 1, .lba_count = 2}, FTL_ERANGE},
        {{.opcode = FTL_WRITE, .lba = UINT64_MAX, .lba_count = 8}, FTL_ERANGE},
        {{.opcode = FTL_WRITE, .lba = 0, .lba_count = 0}, FTL_ERANGE},
        {{.opcode = FTL_TRIM, .lba = 0, .lba_count = 0}, FTL_ERANGE},
        {{.opcode = FTL_FLUSH, .lba_count = 1}, FTL_EINVAL},
        {{.opcode = 0x55, .lba_count = 1}, FTL_EINVAL},
        {{.opcode = FTL_READ, .lba_count = 1, .flags = 1}, FTL_EINVAL},
        {{.opcode = FTL_READ, .lba_count = (1u << 24) + 1}, FTL_EINVAL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(ftl_submit(d, &rows[i].cmd), rows[i].err);
    assert_int_equal(ftl_open_commands(d), 0);
    assert_int_equal(ftl_next_event(d), FTL_NEVER);
    struct ftl_extent e = {.lba = n - 1, .lba_count = 2};
    assert_int_equal(ftl_write_untimed(d, &e, 1), FTL_ERANGE);
    assert_int_equal(ftl_submit(NULL, NULL), FTL_EINVAL);
    ftl_destroy(d);
}

static void test_queue_full(void **state)
{
    ftl_drive *d = small("power.plp", "1");
    struct ftl_cmd cmd = {.opcode = FTL_READ, .lba_count = 8};
    struct ftl_cpl cpl;
    (void)state;
    for (uint32_t i = 0; i < FTL_OPEN_MAX; i++)
        assert_int_equal(ftl_submit(d, &cmd), 0);
    assert_int_equal(ftl_submit(d, &cmd), FTL_EAGAIN);
    struct ftl_extent e = {.lba = 0, .lba_count = 8};
    assert_int_equal(ftl_write_untimed(d, &e, 1), FTL_EBUSY);
    assert_int_equal(ftl_format(d), FTL_EBUSY);
    uint32_t done = 0;
    while (ftl_open_commands(d) > 0) {
        assert_int_equal(ftl_run(d, FTL_NEVER), 1);
        done += ftl_poll(d, &cpl, 1);
    }
    assert_int_equal(done, FTL_OPEN_MAX);
    ftl_destroy(d);
}

/* 512 bytes into a 4 KiB unit: 512 host bytes and 3,584 of read-modify-write. */
static void test_partial_write_bytes(void **state)
{
    ftl_drive *d = small("power.plp", "1");
    uint8_t data[512 * 20], back[512 * 20];
    struct ftl_counters n;
    (void)state;
    memset(data, 0xA5, sizeof data);
    (void)do_command(d, FTL_WRITE, 9, 1, data);
    ftl_counters_get(d, &n);
    assert_int_equal(n.host_bytes, 512);
    assert_int_equal(n.rmw_bytes, 3584);
    assert_int_equal(n.rmw_reads, 0);           /* nothing there yet to read */
    /* LBAs 5..24 touch units 0..3: 3 + 8 + 8 + 1 of theirs */
    for (uint32_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i / 512 + 1);
    (void)do_command(d, FTL_WRITE, 5, 20, data);
    ftl_counters_get(d, &n);
    assert_int_equal(n.host_bytes, 512 + 20 * 512);
    assert_int_equal(n.rmw_bytes, 3584 + 5 * 512 + 7 * 512);
    assert_int_equal(n.rmw_reads, 0);           /* units 0 and 3 hold no data either */
    (void)do_command(d, FTL_WRITE, 5, 1, data);
    ftl_counters_get(d, &n);
    assert_int_equal(n.rmw_reads, 1);
    (void)do_command(d, FTL_READ, 5, 20, back);
    assert_memory_equal(data, back, sizeof data);
    assert_int_equal(n.host_write_bytes, 22 * 512);
    assert_sound(d);
    ftl_destroy(d);
}

/* A partly covered unit keeps its data, whole ones read as zeros. */
static void test_trim(void **state)
{
    ftl_drive *d = small("power.plp", "1");
    uint8_t data[512 * 32], back[512 * 32];
    struct ftl_counters n;
    (void)state;
    memset(data, 0x11, sizeof data);
    (void)do_command(d, FTL_WRITE, 0, 32, data);
    (void)do_command(d, FTL_TRIM, 4, 20, NULL);     /* units 1 and 2 whole */
    (void)do_command(d, FTL_READ, 0, 32, back);
    memset(data + 8 * 512, 0, 16 * 512);
    assert_memory_equal(data, back, sizeof data);
    ftl_counters_get(d, &n);
    assert_int_equal(n.host_trim_bytes, 2 * 4096);
    assert_int_equal(ftl_format(d), 0);
    (void)do_command(d, FTL_READ, 0, 32, back);
    for (size_t i = 0; i < sizeof back; i++)
        assert_int_equal(back[i], 0);
    assert_sound(d);
    ftl_destroy(d);
}

/* With capacitors FLUSH is quick and programs nothing; without, it pads the open word
 * line (4 pages of 4 units here hold 1 unit, 3 are filler) and waits for tPROG. */
static void test_flush(void **state)
{
    (void)state;
    for (int plp = 0; plp < 2; plp++) {
        ftl_drive *d = small("power.plp", plp ? "1" : "0");
        struct ftl_config cfg = make_config("wa-reference", 1, NULL);
        struct ftl_counters n;
        (void)do_command(d, FTL_WRITE, 0, 8, NULL);
        ftl_ns t = do_command(d, FTL_FLUSH, 0, 0, NULL);
        ftl_counters_get(d, &n);
        assert_int_equal(n.padding_bytes, plp ? 0 : 3 * 4096);
        assert_int_equal(n.nand_programs, plp ? 0 : 1);
        assert_true(plp ? t < cfg.nand_tprog_ns : t > cfg.nand_tprog_ns);
        assert_int_equal(n.host_flushes, 1);
        t = do_command(d, FTL_FLUSH, 0, 0, NULL);   /* nothing left to program */
        assert_true(t < cfg.nand_tprog_ns);
        assert_sound(d);
        ftl_destroy(d);
    }
}

/* Sequential overwrites free whole superblocks: nothing is relocated, WA is 1 and
 * parity adds its die's share. */
static void test_sequential_wa(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "raid.parity", "1", "op", "0.2",
                                        "gc.frontiers", "2", NULL);
    ftl_drive *d = make_drive(&cfg);
    struct ftl_counters n;
    (void)state;
    for (int i = 0; i < 4; i++)
        sequential_fill(d);
    ftl_counters_get(d, &n);
    assert_int_equal(n.gc_bytes, 0);
    assert_true(n.gc_victims > 0);
    /* 15 data dies and one of parity: a 15th more, within one row */
    assert_near((double)n.parity_bytes, (double)n.host_bytes / 15, 0.001);
    assert_sound(d);
    ftl_destroy(d);
}

/* Untimed writes pass no buffer; timed ones never hold more than its size. */
static void test_buffer_peak(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, NULL);
    ftl_drive *d = make_drive(&cfg);
    struct rand64 r = {1};
    struct ftl_status s;
    (void)state;
    sequential_fill(d);
    ftl_counters_reset(d);
    (void)do_command(d, FTL_WRITE, 0, 1, NULL);
    ftl_status_get(d, &s);
    assert_true(s.buffer_units_peak <= 16);     /* one unit beside an open word line's */
    (void)timed_random_writes(d, &r, 2000, 5000);
    ftl_status_get(d, &s);
    assert_int_equal(s.buffer_units, 256);      /* 1 MiB */
    assert_true(s.buffer_units_peak > 200 && s.buffer_units_peak <= 256);
    ftl_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),            cmocka_unit_test(test_queue_full),
        cmocka_unit_test(test_partial_write_bytes), cmocka_unit_test(test_trim),
        cmocka_unit_test(test_flush),               cmocka_unit_test(test_sequential_wa),
        cmocka_unit_test(test_buffer_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
