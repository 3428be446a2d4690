/* test_bad_blocks.c - blocks that are bad, that fail, and the end of a drive's life.
 * What is checked: every byte comes back, and the blocks add up by hand. */
#include "common.h"
#include "ftl/ftl_media.h"

#include <stdlib.h>
#include <string.h>

enum { DIES = 4, PLANES = 2, SUPERBLOCKS = 24, LBA = 4096 };

/* 4 dies (3 + 1 parity) of 2 planes, SLC, 4 rows: 24 slots per superblock. */
static struct ftl_config small(const char *blocks)
{
    return make_config("wa-reference", 1, "nand.preset", "pslc", "nand.channels", "2",
                       "nand.dies", "4", "nand.planes", "2", "nand.wordlines_per_block", "4",
                       "nand.page_bytes", "4096", "nand.spare_bytes", "600",
                       "nand.blocks_per_plane", blocks, "ftl.superblocks", "24",
                       "raid.parity", "1", "drive.user_bytes", "786432", "drive.lba_bytes",
                       "4096", "buffer.bytes", "65536", "buffer.gc_bytes", "65536",
                       "media.payload", "1", "media.faults", "1", NULL);
}

struct verified {
    ftl_drive *drive;
    struct rand64 rand;
    uint64_t lbas;
    uint32_t *version, *other;      /* a refused write may have been placed or not */
    uint64_t refused;
};

static void begin(struct verified *v, const struct ftl_config *cfg)
{
    *v = (struct verified){.drive = make_drive(cfg), .rand = {7}};
    v->lbas = ftl_lba_count(v->drive);
    v->version = calloc(v->lbas, sizeof *v->version);
    v->other = calloc(v->lbas, sizeof *v->other);
    assert_true(v->version != NULL && v->other != NULL);
}

static void end(struct verified *v)
{
    free(v->version);
    free(v->other);
    ftl_destroy(v->drive);
}

/* n single writes at random, one at a time; every completion is looked at. */
static void write_some(struct verified *v, uint64_t n, uint32_t *next_version)
{
    uint8_t bytes[LBA];
    for (uint64_t i = 0; i < n; i++) {
        struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = draw_to(&v->rand, v->lbas),
                              .lba_count = 1, .data = bytes};
        struct ftl_cpl cpl;
        stamp(bytes, cmd.lba, ++*next_version);
        cpl = complete(v->drive, &cmd);
        if (cpl.status == 0) {
            v->version[cmd.lba] = *next_version;
        } else {
            assert_int_equal(cpl.status, 0x182);
            v->refused++;
        }
    }
}

static void read_all(struct verified *v)
{
    uint8_t got[LBA], want[LBA];
    for (uint64_t lba = 0; lba < v->lbas; lba++) {
        (void)do_command(v->drive, FTL_READ, lba, 1, got);
        stamp(want, lba, v->version[lba]);
        if (memcmp(got, want, LBA) != 0)
            fail_msg("LBA %llu", (unsigned long long)lba);
    }
    assert_sound(v->drive);
}

static void arm(struct verified *v, uint32_t kind, uint64_t after)
{
    struct ftl_fault f = {.kind = kind, .after = after};
    assert_int_equal(ftl_fault_arm(v->drive, &f), 0);
}

static struct ftl_health health(const struct verified *v)
{
    struct ftl_health h;
    assert_int_equal(ftl_health_get(v->drive, &h), 0);
    return h;
}

/* 1 % of the blocks of the full-size drive are bad from the factory. Blocks of all
 * planes = in superblocks + spare + bad. */
static void test_factory_bad(void **state)
{
    struct ftl_config cfg = make_config("uh812a-7.68", 464, "media.faults", "1", "ftl.superblocks",
                                        "490", "op", "0.12", NULL);
    struct verified v;
    (void)state;
    begin(&v, &cfg);
    struct ftl_health h = health(&v);
    uint64_t all = cfg.nand_dies * cfg.nand_planes * cfg.nand_blocks_per_plane;
    assert_near((double)h.blocks_factory_bad, (double)all / 100, 0.1);
    assert_int_equal(h.hole_units, 0);
    assert_int_equal(h.blocks_spare,
                     all - h.blocks_factory_bad - cfg.nand_dies * cfg.nand_planes * 490);
    assert_int_equal(h.available_spare_percent, 100);
    sequential_fill(v.drive);
    random_writes(v.drive, &v.rand, 20000);
    assert_sound(v.drive);
    (void)timed_random_writes(v.drive, &v.rand, 64, 20000);
    assert_sound(v.drive);
    end(&v);
}

/* A failed program costs one block in each plane, and no data. */
static void test_program_fails(void **state)
{
    struct ftl_config cfg = small("40");
    struct verified v;
    uint32_t version = 0;
    (void)state;
    begin(&v, &cfg);
    struct ftl_health before = health(&v);
    for (int i = 0; i < 6; i++) {
        arm(&v, FTL_FAULT_PROGRAM, draw_to(&v.rand, 8));
        write_some(&v, 300, &version);
        assert_sound(v.drive);
    }
    assert_int_equal(ftl_drain(v.drive), 0);
    read_all(&v);
    struct ftl_counters n;
    ftl_counters_get(v.drive, &n);
    assert_in_range(n.program_failures, 3, 6);      /* an armed operation may be an erase */
    /* at most the two blocks, and the two rows of all dies that lost members */
    assert_in_range(n.retire_bytes, LBA, n.program_failures * (8 + 2 * 6) * LBA);
    write_some(&v, 3000, &version);     /* every superblock is used again */
    struct ftl_health after = health(&v);
    assert_int_equal(after.leaving, 0);
    assert_in_range(after.blocks_retired - before.blocks_retired, PLANES,
                    n.program_failures * PLANES);
    assert_int_equal(before.blocks_spare - after.blocks_spare,
                     after.blocks_retired - before.blocks_retired);
    assert_int_equal(after.hole_units, 0);
    read_all(&v);
    end(&v);
}

/* The erase fails, a spare takes the block's place at once. */
static void test_erase_fails(void **state)
{
    struct ftl_config cfg = small("40");
    struct verified v;
    uint32_t version = 0;
    (void)state;
    begin(&v, &cfg);
    write_some(&v, 1000, &version);
    for (int i = 0; i < 40; i++) {
        arm(&v, FTL_FAULT_ERASE, 0);
        write_some(&v, 40, &version);
    }
    struct ftl_counters n;
    ftl_counters_get(v.drive, &n);
    assert_in_range(n.erase_failures, 2, 40);
    assert_int_equal(health(&v).blocks_retired, n.erase_failures * PLANES);
    read_all(&v);
    end(&v);
}

/* Without spares failed blocks leave holes; when too little is left for the user's
 * capacity, writes are refused and every byte stays readable. */
static void test_end_of_life(void **state)
{
    struct ftl_config cfg = small("26");
    struct verified v;
    uint32_t version = 0, rounds = 0;
    uint64_t holes = 0;
    (void)state;
    begin(&v, &cfg);
    write_some(&v, 1000, &version);
    while (v.refused == 0 && ++rounds < 2000) {
        arm(&v, draw_to(&v.rand, 2) ? FTL_FAULT_PROGRAM : FTL_FAULT_ERASE, draw_to(&v.rand, 4));
        write_some(&v, 20, &version);
        assert_sound(v.drive);
        if (!health(&v).read_only)
            holes = health(&v).hole_units;
    }
    struct ftl_health h = health(&v);
    assert_int_equal(h.read_only, 1);
    assert_int_equal(h.critical_warning, 1 | 8);
    assert_int_equal(h.available_spare_percent, 0);
    assert_true(holes > 0);             /* it lived on with holes before */
    assert_int_equal(h.waiting_units, 0);
    read_all(&v);
    /* 24 superblocks of 24 units hold 192 units and what the FTL needs free */
    assert_true(h.hole_units <= SUPERBLOCKS * 24 - 192);
    struct ftl_extent e = {.lba = 0, .lba_count = 1};
    assert_int_equal(ftl_write_untimed(v.drive, &e, 1), FTL_EROFS);
    end(&v);
}

static void test_refusals(void **state)
{
    struct ftl_config cfg = small("40");
    struct ftl_fault f = {.kind = FTL_FAULT_DIE, .die = DIES};
    struct verified v;
    (void)state;
    begin(&v, &cfg);
    assert_int_equal(ftl_fault_arm(v.drive, &f), FTL_EINVAL);
    f = (struct ftl_fault){.kind = 0};
    assert_int_equal(ftl_fault_arm(v.drive, &f), FTL_EINVAL);
    end(&v);
    cfg.media_faults = 0;
    begin(&v, &cfg);
    f.kind = FTL_FAULT_PROGRAM;
    assert_int_equal(ftl_fault_arm(v.drive, &f), FTL_EINVAL);
    assert_int_equal(health(&v).available_spare_percent, 100);
    end(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factory_bad), cmocka_unit_test(test_program_fails),
        cmocka_unit_test(test_erase_fails), cmocka_unit_test(test_end_of_life),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
