/* test_bank.c - the capacitor bank: energies computed here in floating point from the textbook
 * formulas, ageing, the refusal of a bank too small, and what a weak one does to a drive. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "ftl/ftl_media.h"
#include "ftl/ftl_power.h"

static struct ftl_bank bank_of(const ftl_drive *d)
{
    struct ftl_bank b;
    assert_int_equal(ftl_bank_get(d, &b), 0);
    return b;
}

/* 1/2 C (V1^2 - V2^2) x 0.85, in mJ, C in uF. */
static double usable_mj(double uf, double v1, double v2)
{
    return uf * 1e-6 / 2 * (v1 * v1 - v2 * v2) * .85 * 1e3;
}

/* A U.2 bank of 2000 uF at 28 V: 0.64 J, 32 ms at 20 W. */
static void test_usable_energy(void **state)
{
    struct ftl_config cfg = make_config("uh812a-7.68", 1024, "power.base_mw", "20000",
                                        "buffer.bytes", "16M", "buffer.gc_bytes", "16M", NULL);
    ftl_drive *d = make_drive(&cfg);
    struct ftl_bank b = bank_of(d);
    (void)state;

    assert_int_equal(b.present, 1);
    assert_int_equal(b.failed, 0);
    assert_int_equal(b.health_ppm, 1000000);
    assert_near((double)b.usable_nj / 1e6, 635.8, .0001);
    assert_near((double)b.usable_nj / 1e6, usable_mj(2000, 28, 6), .0001);
    assert_near((double)b.hold_up_ns / 1e6, 635.8 / 20, .0001);
    ftl_destroy(d);
}

/* 8 MB of buffer and 4 MB of journal at 2 GB/s and 7 W: 6.05 ms x 7 W + 12 x 0.4 mJ = 47 mJ. */
static void test_flush_energy(void **state)
{
    struct ftl_config cfg =
        make_config("uh812a-7.68", 1024, "power.base_mw", "7000", "buffer.bytes", "4096000",
                    "buffer.gc_bytes", "3907584", "power.flush_extra_bytes", "3996416", NULL);
    ftl_drive *d = make_drive(&cfg);
    struct ftl_bank b = bank_of(d);
    (void)state;

    assert_int_equal(b.flush_bytes, 12000000);
    assert_near((double)b.flush_ns / 1e6, 6.05, .0001);
    assert_near((double)b.need_nj / 1e6, 6.05 * 7 + 12 * .4, .0001);
    assert_near((double)b.margin_ppm / 1e6, 635.8 / 47.15, .001);
    ftl_destroy(d);
}

static uint32_t health(const char *kind, const char *celsius, const char *hours)
{
    struct ftl_config cfg = make_config(
        "wa-reference", 1, "power.cap_kind", kind, "power.cap_celsius", celsius,
        "power.cap_age_hours", hours, "power.flush_extra_bytes", "0", NULL);
    ftl_drive *d = make_drive(&cfg);
    uint32_t ppm = bank_of(d).health_ppm;
    ftl_destroy(d);
    return ppm;
}

/* 30 % lost in 5 years at 70 C, half of that 10 C cooler; tantalum 5 %. */
static void test_ageing(void **state)
{
    (void)state;
    assert_int_equal(health("electrolytic", "70", "43800"), 700000);
    assert_int_equal(health("electrolytic", "60", "43800"), 850000);
    assert_int_equal(health("electrolytic", "40", "43800"), 962500);
    assert_int_equal(health("electrolytic", "80", "21900"), 700000);
    assert_int_equal(health("electrolytic", "70", "21900"), 850000);
    assert_int_equal(health("tantalum", "70", "43800"), 950000);
    /* 2^0.5 = 1.41421: 5 C cooler */
    assert_near(1e6 - health("electrolytic", "65", "43800"), 300000 / 1.41421, .0001);
    /* beyond its life: nothing left, no wrap */
    assert_int_equal(health("electrolytic", "105", "1000000"), 0);
}

/* Reading the bank costs it nothing; tests come once a period and stay within their error. */
static void test_health_tests(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "power.cap_celsius", "70",
                                        "power.cap_test_error_ppm", "30000", NULL);
    const ftl_ns hour = UINT64_C(3600000000000);
    ftl_drive *d = make_drive(&cfg);
    uint32_t below = 0, above = 0;
    (void)state;

    for (uint32_t day = 0; day < 60; day++) {
        struct ftl_bank b = bank_of(d);
        assert_int_equal(b.tests, day + 1);
        assert_true(b.measured_ppm >= b.health_ppm * .9699 && b.measured_ppm <= b.health_ppm * 1.0301);
        below += b.measured_ppm < b.health_ppm;
        above += b.measured_ppm > b.health_ppm;
        assert_true(ftl_run(d, (day + 1) * 24 * hour) >= 0);
        (void)do_command(d, FTL_WRITE, day, 1, NULL);
        (void)do_command(d, FTL_WRITE, day, 1, NULL);
    }
    assert_true(below > 10 && above > 10);
    assert_near(1e6 - bank_of(d).health_ppm, 300000. * 60 * 24 / 43800, .01);
    ftl_destroy(d);
}

static void assert_refused(const char *key, const char *value, const char *part)
{
    char why[FTL_WHY_MAX] = "";
    struct ftl_config cfg;
    ftl_setup *s = ftl_setup_new();

    assert_non_null(s);
    assert_int_equal(ftl_setup_load(s, "uh812a-7.68", why, sizeof why), 0);
    assert_int_equal(ftl_setup_set(s, key, value, "test", why, sizeof why), 0);
    assert_int_equal(ftl_setup_finish(s, 1024, &cfg, why, sizeof why), FTL_ECONFIG);
    if (strstr(why, part) == NULL)
        fail_msg("message \"%s\" lacks \"%s\"", why, part);
    ftl_setup_free(s);
}

/* The message shows the sum: 2 x 64 MiB and 4 MiB are 138.4 MB, 69.3 ms, 450.2 + 55.4 = 505.5 mJ. */
static void test_refused(void **state)
{
    (void)state;
    assert_refused("power.cap_uf", "1000", "138.4 MB in 69.3 ms, needs 505.5 mJ");
    assert_refused("power.cap_uf", "1000", "6.5 W base power 450.2, programs 55.4");
    assert_refused("power.cap_uf", "1000", "delivers 317.9 mJ");
    assert_refused("power.cap_min_mv", "28000", "must be below power.cap_mv=28000");
    assert_refused("power.cap_kind", "paper", "electrolytic or tantalum");
    assert_refused("power.on_weak", "hope", "read-only or write-through");
}

/* A bank that ages to 70 %: 80 uF hold 25.43 mJ new, 17.80 mJ then. Less 0.325 mJ of detection,
 * at 6.5 W / 2 GB/s + 0.4 nJ = 3.65 nJ a byte, that is 4.788 MB, 0.594 MB more than the tables. */
static void test_shrinks(void **state)
{
    struct ftl_config cfg =
        make_config("wa-reference", 1, "power.cap_uf", "80", "power.cap_celsius", "70",
                    "power.cap_age_hours", "43800", "power.cap_test_error_ppm", "0", NULL);
    ftl_drive *d = make_drive(&cfg);
    struct ftl_bank b = bank_of(d);
    struct rand64 r = {1};
    struct ftl_status s;
    (void)state;

    double fits = (usable_mj(80, 28, 6) * .7 - .325) / 3.65e-6 - 4194304;
    assert_near((double)b.buffer_bytes, fits / 2, .01);
    assert_near((double)b.buffer_gc_bytes, fits / 2, .01);
    assert_int_equal(b.failed, 0);
    assert_true(b.need_nj <= b.usable_nj && b.need_nj > b.usable_nj / 100 * 99);
    sequential_fill(d);
    (void)timed_random_writes(d, &r, 256, 20000);
    ftl_status_get(d, &s);
    assert_int_equal(s.buffer_units, b.buffer_bytes / 4096);
    assert_true(s.buffer_units_peak <= s.buffer_units && s.buffer_units_peak > 60);
    assert_sound(d);
    ftl_destroy(d);
}

static ftl_drive *weak_drive(const char *on_weak, const char *hours)
{
    struct ftl_config cfg = make_config(
        "wa-reference", 1, "buffer.bytes", "65536", "buffer.gc_bytes", "65536", "power.cap_uf", "3",
        "power.cap_celsius", "70", "power.cap_age_hours", hours, "power.cap_test_error_ppm", "0",
        "power.flush_extra_bytes", "0", "power.on_weak", on_weak, NULL);
    return make_drive(&cfg);
}

static uint16_t status_of(ftl_drive *d, uint8_t opcode, uint64_t lba)
{
    struct ftl_cmd cmd = {.opcode = opcode, .lba = lba, .lba_count = 1};
    struct ftl_cpl cpl = complete(d, &cmd);
    return cpl.status;
}

static void test_read_only(void **state)
{
    /* 3 uF hold 0.954 mJ new, 0.474 mJ at 49.75 %: 40 KiB; the smallest buffers are 48 KiB */
    ftl_drive *d = weak_drive("read-only", "73365");
    struct ftl_health h;
    (void)state;

    assert_int_equal(bank_of(d).failed, 1);
    assert_int_equal(status_of(d, FTL_WRITE, 5), 0x182);
    assert_int_equal(status_of(d, FTL_READ, 5), 0);
    assert_int_equal(ftl_health_get(d, &h), 0);
    assert_int_equal(h.critical_warning & 16, 16);
    ftl_destroy(d);
}

/* 32 KiB of relocation fit, host data does not: a write ends when its word line is programmed. */
static void test_write_through(void **state)
{
    ftl_drive *d = weak_drive("write-through", "73365");
    struct rand64 r = {2};
    struct ftl_counters n;
    struct ftl_config fresh = make_config("wa-reference", 1, NULL);
    (void)state;

    assert_int_equal(bank_of(d).failed, 1);
    assert_true(do_command(d, FTL_WRITE, 5, 1, NULL) >= fresh.nand_tprog_ns);
    ftl_counters_get(d, &n);
    assert_int_equal(n.nand_programs, 1);
    assert_int_equal(n.padding_bytes, 3 * 4096);
    sequential_fill(d);
    (void)timed_random_writes(d, &r, 64, 20000);
    assert_sound(d);
    ftl_destroy(d);
    /* at 41 % not even relocation fits */
    d = weak_drive("write-through", "86140");
    assert_int_equal(status_of(d, FTL_WRITE, 5), 0x182);
    ftl_destroy(d);
}

static ftl_ns latency(ftl_drive *d, uint8_t flags, uint64_t lba)
{
    struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = lba, .lba_count = 1, .flags = flags};
    struct ftl_cpl cpl = complete(d, &cmd);
    assert_int_equal(cpl.status, 0);
    return cpl.done_at - cpl.submitted_at;
}

/* FUA costs a program without capacitors and nothing with them. */
static void test_fua(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "power.plp", "0", NULL);
    struct ftl_cmd read = {.opcode = FTL_READ, .lba_count = 1, .flags = FTL_FUA};
    (void)state;

    ftl_drive *d = make_drive(&cfg);
    assert_true(latency(d, 0, 1) < cfg.nand_tprog_ns);
    assert_true(latency(d, FTL_FUA, 2) >= cfg.nand_tprog_ns);
    assert_true(latency(d, 0, 3) < cfg.nand_tprog_ns);
    assert_int_equal(ftl_submit(d, &read), FTL_EINVAL);
    ftl_destroy(d);
    cfg.power_plp = 1;
    d = make_drive(&cfg);
    assert_int_equal(latency(d, FTL_FUA, 1), latency(d, 0, 2));
    ftl_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usable_energy), cmocka_unit_test(test_flush_energy),
        cmocka_unit_test(test_ageing),        cmocka_unit_test(test_health_tests),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_shrinks),
        cmocka_unit_test(test_read_only),     cmocka_unit_test(test_write_through),
        cmocka_unit_test(test_fua),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
