/* test_assembly.c - superblocks assembled by wear: the part's own erase counts are looked at. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "ftl/ftl_media.h"
#include "ftl/ftl_policy.h"
#include "ftl/ftl_power.h"
#include "nvme/drive.h"

enum { DIES = 4, PLANES = 2, SUPERBLOCKS = 24, BLOCKS = 40, LBA = 4096 };

/* 3 dies of data and one of parity, SLC, 4 rows: 24 slots per superblock; 16 spares in a plane, less
 * what is bad from the factory. */
static struct ftl_config small(const char *by_wear, const char *payload)
{
    return make_config("wa-reference", 1, "nand.preset", "pslc", "nand.channels", "2",
                       "nand.dies", "4", "nand.planes", "2", "nand.wordlines_per_block", "4",
                       "nand.page_bytes", "4096", "nand.spare_bytes", "600",
                       "nand.blocks_per_plane", "40", "ftl.superblocks", "24",
                       "raid.parity", "1", "drive.user_bytes", "786432", "drive.lba_bytes",
                       "4096", "buffer.bytes", "65536", "buffer.gc_bytes", "65536",
                       "media.payload", payload, "media.faults", "1", "wear.assembly", by_wear, NULL);
}

struct wear {
    uint32_t most, least, blocks;
    uint64_t sum;
};

static struct wear wear_of(const ftl_drive *d, uint32_t die, uint32_t plane)
{
    struct wear w = {.least = UINT32_MAX};

    for (uint32_t b = 0; b < BLOCKS; b++) {
        struct nand_block_info info;
        assert_int_equal(nand_block_info(d->media.nand, die, plane, b, &info), 0);
        if (info.bad)
            continue;
        w.blocks++;
        w.sum += info.erase_count;
        w.most = info.erase_count > w.most ? info.erase_count : w.most;
        w.least = info.erase_count < w.least ? info.erase_count : w.least;
    }
    return w;
}

static void write_timed(ftl_drive *d, struct rand64 *r, uint32_t *version, uint64_t n)
{
    uint8_t bytes[LBA];
    for (uint64_t i = 0; i < n; i++) {
        uint64_t lba = draw_to(r, ftl_lba_count(d));
        stamp(bytes, lba, ++version[lba]);
        (void)do_command(d, FTL_WRITE, lba, 1, bytes);
    }
}

static void read_all(ftl_drive *d, const uint32_t *version)
{
    uint8_t got[LBA], want[LBA];
    for (uint64_t lba = 0; lba < ftl_lba_count(d); lba++) {
        if (version[lba] == 0)
            continue;
        (void)do_command(d, FTL_READ, lba, 1, got);
        stamp(want, lba, version[lba]);
        assert_memory_equal(got, want, LBA);
    }
}

/* As good blocks of a plane are G and a superblock takes one, 24 of G are in use at a time. By number
 * the others rest at 0 erases. By wear all of a plane are within 2 erases of each other, so
 * none has more than sum / G + 2. */
static void expect_wear(const ftl_drive *d, bool by_wear)
{
    struct wear first = wear_of(d, 0, 0);
    print_message("%s: %u to %u erases a block, %.1f in the mean of %u\n", by_wear ? "by wear" : "by number",
                  first.least, first.most, (double)first.sum / first.blocks, first.blocks);
    for (uint32_t die = 0; die < DIES; die++)
        for (uint32_t plane = 0; plane < PLANES; plane++) {
            struct wear w = wear_of(d, die, plane);
            assert_in_range(w.blocks, SUPERBLOCKS + 8, BLOCKS);
            assert_true(w.sum > 20 * SUPERBLOCKS);
            if (by_wear) {
                assert_in_range(w.most - w.least, 0, 2);
                assert_true(w.most <= w.sum / w.blocks + 2);
            } else {
                assert_int_equal(w.least, 0);
                assert_true(w.most >= w.sum / SUPERBLOCKS);
            }
        }
}

static void test_timed(void **state)
{
    (void)state;
    for (int by_wear = 0; by_wear < 2; by_wear++) {
        struct ftl_config cfg = small(by_wear ? "1" : "0", "1");
        ftl_drive *d = make_drive(&cfg);
        struct rand64 r = {5};
        uint32_t *version = calloc(ftl_lba_count(d), sizeof *version);
        assert_non_null(version);
        write_timed(d, &r, version, 60 * ftl_lba_count(d));
        assert_int_equal(ftl_drain(d), 0);
        assert_sound(d);
        expect_wear(d, by_wear);
        assert_true((health_of(d).blocks_exchanged != 0) == by_wear);
        read_all(d, version);
        free(version);
        ftl_destroy(d);
    }
}

/* Without time the part is told when time starts, with bytes at once. */
static void test_untimed(void **state)
{
    (void)state;
    for (int by_wear = 0; by_wear < 2; by_wear++)
        for (int payload = 0; payload < 2; payload++) {
            static uint8_t bytes[LBA];
            struct ftl_config cfg = small(by_wear ? "1" : "0", payload ? "1" : "0");
            ftl_drive *d = make_drive(&cfg);
            struct rand64 r = {5};
            random_writes(d, &r, 60 * ftl_lba_count(d));
            (void)do_command(d, FTL_READ, 0, 1, payload ? bytes : NULL);
            assert_sound(d);
            expect_wear(d, by_wear);
            ftl_destroy(d);
        }
}

/* Blocks that fail leave the circle; every byte is there, and blocks add up (ftl_check). */
static void test_failures(void **state)
{
    struct ftl_config cfg = small("1", "1");
    ftl_drive *d = make_drive(&cfg);
    struct rand64 r = {9};
    uint32_t *version = calloc(ftl_lba_count(d), sizeof *version);

    (void)state;
    assert_non_null(version);
    for (uint32_t i = 0; i < 30; i++) {
        struct ftl_fault f = {.kind = i % 2 ? FTL_FAULT_PROGRAM : FTL_FAULT_ERASE, .after = 10 + i};
        assert_int_equal(ftl_fault_arm(d, &f), 0);
        write_timed(d, &r, version, 5 * ftl_lba_count(d));
        assert_sound(d);
    }
    read_all(d, version);
    assert_int_equal(ftl_format(d), 0);
    assert_sound(d);
    memset(version, 0, ftl_lba_count(d) * sizeof *version);
    write_timed(d, &r, version, 2 * ftl_lba_count(d));
    read_all(d, version);
    assert_sound(d);
    assert_true(health_of(d).blocks_retired >= 8);
    assert_int_equal(health_of(d).lost_units, 0);
    free(version);
    ftl_destroy(d);
}

/* ---- policies of one's own ------------------------------------------------------------ */

static int keep(void *state, const struct ftl_assembly_view *v, uint32_t *ret)
{
    (void)state;
    *ret = v->is_gone ? 0 : v->spares;
    return 0;
}
static int outside(void *state, const struct ftl_assembly_view *v, uint32_t *ret)
{
    (void)state;
    *ret = v->spares + 1;
    return 0;
}
static int never(void *state, const struct ftl_assembly_view *v, uint32_t *ret)
{
    (void)state;
    *ret = v->spares;
    return 0;
}
static int give_up(void *state, const struct ftl_assembly_view *v, uint32_t *ret)
{
    (void)state, (void)v, (void)ret;
    return -3;
}

/* The built-in one but for its third hook. */
static struct ftl_wear_policy with_hook(const char *name,
                                        int (*hook)(void *, const struct ftl_assembly_view *, uint32_t *))
{
    struct ftl_wear_policy p = *ftl_wear_policy_find("least-worn");
    p.head.name = name;
    p.assemble = hook;
    return p;
}

static ftl_drive *make_with(const struct ftl_config *cfg, const struct ftl_wear_policy *wear)
{
    struct ftl_policies p = FTL_POLICIES_INIT;
    char why[FTL_WHY_MAX] = "";
    ftl_drive *d = NULL;

    p.wear = wear;
    if (ftl_create_with(cfg, &p, &d, why, sizeof why) != 0)
        fail_msg("%s", why);
    return d;
}

/* One that keeps every block: spares rest as they do by number. */
static void test_policy(void **state)
{
    struct ftl_config cfg = small("1", "1");
    struct ftl_wear_policy policy = with_hook("keep", keep);
    ftl_drive *d = make_with(&cfg, &policy);
    struct rand64 r = {5};
    (void)state;

    random_writes(d, &r, 60 * ftl_lba_count(d));
    assert_int_equal(ftl_drain(d), 0);
    assert_sound(d);
    expect_wear(d, false);
    assert_int_equal(health_of(d).blocks_exchanged, 0);
    ftl_destroy(d);
}

static void test_nonsense(void **state)
{
    static const struct {
        const char *name, *what;
        int (*hook)(void *, const struct ftl_assembly_view *, uint32_t *);
    } rows[] = {
        {"outside", "wear policy outside: takes spare ", outside},
        {"lazy", "wear policy lazy: gave up with -3 where there was a choice", give_up},
        {"never", "wear policy never: takes no spare for a block that is gone", never},
    };
    char why[FTL_WHY_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ftl_config cfg = small("1", "1");
        struct ftl_wear_policy policy = with_hook(rows[i].name, rows[i].hook);
        struct ftl_fault fault = {.kind = FTL_FAULT_PROGRAM, .after = 3};
        ftl_drive *d = make_with(&cfg, &policy);
        struct rand64 r = {5};
        uint8_t bytes[LBA] = {0};
        int err = 0;
        assert_int_equal(ftl_fault_arm(d, &fault), 0);
        for (uint64_t n = 0; n < 60 * ftl_lba_count(d) && err >= 0; n++) {
            struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = draw_to(&r, ftl_lba_count(d)),
                                  .lba_count = 1, .data = bytes};
            struct ftl_cpl cpl;
            if (ftl_submit(d, &cmd) == 0)
                err = ftl_run(d, FTL_NEVER);
            (void)ftl_poll(d, &cpl, 1);
        }
        if (err != FTL_EPOLICY)
            fail_msg("%s: %d", rows[i].name, err);
        assert_int_equal(ftl_policy_fault(d, why, sizeof why), FTL_EPOLICY);
        if (strncmp(why, rows[i].what, strlen(rows[i].what)) != 0)
            fail_msg("\"%s\" is not \"%s\"", why, rows[i].what);
        ftl_destroy(d);
    }
}

/* A copy goes on by itself, also when the first is gone. */
static void test_fork(void **state)
{
    struct ftl_config cfg = small("1", "1");
    ftl_drive *d = make_drive(&cfg), *copy = NULL;
    struct rand64 r = {5}, again;
    uint32_t *version = calloc(ftl_lba_count(d), sizeof *version);
    (void)state;

    assert_non_null(version);
    write_timed(d, &r, version, 20 * ftl_lba_count(d));
    assert_int_equal(ftl_fork(d, &copy), 0);
    again = r;
    write_timed(d, &r, version, 20 * ftl_lba_count(d));
    struct wear first = wear_of(d, 1, 1);
    uint64_t exchanged = health_of(d).blocks_exchanged;
    ftl_destroy(d);
    write_timed(copy, &again, version, 20 * ftl_lba_count(copy));
    struct wear second = wear_of(copy, 1, 1);
    assert_int_equal(first.sum, second.sum);
    assert_int_equal(first.most, second.most);
    assert_int_equal(first.least, second.least);
    assert_int_equal(health_of(copy).blocks_exchanged, exchanged);
    assert_sound(copy);
    free(version);
    ftl_destroy(copy);
}

static void test_refused(void **state)
{
    char why[FTL_WHY_MAX];
    struct ftl_config cfg = make_config("wa-reference", 1, NULL);
    (void)state;
    cfg.wear_assembly = 1;
    assert_int_equal(ftl_config_check(&cfg, why, sizeof why), FTL_ECONFIG);
    assert_string_equal(why, "wear.assembly=1: needs media.faults=1: without it superblocks have no spares");
    cfg = small("1", "1");
    struct ftl_wear_policy two = with_hook("two", NULL);
    struct ftl_policies p = FTL_POLICIES_INIT;
    ftl_drive *d = NULL;
    p.wear = &two;
    assert_int_equal(ftl_create_with(&cfg, &p, &d, why, sizeof why), FTL_EINVAL);
    assert_string_equal(why, "wear policy two: has no assemble(), which wear.assembly=1 asks for");
    assert_null(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timed),
        cmocka_unit_test(test_untimed),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_policy),
        cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
