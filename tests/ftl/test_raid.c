/* test_raid.c - a drive that loses a die and a plane returns every byte. */
#include "common.h"
#include "ftl/ftl_media.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LBA = 4096 };

/* 8 dies (7 + 1) of 2 planes, TLC, 4 rows. */
static struct ftl_config small(const char *parity)
{
    return make_config("wa-reference", 1, "nand.preset", "tlc-128l", "nand.channels", "2",
                       "nand.dies", "8", "nand.planes", "2", "nand.wordlines_per_block", "4",
                       "nand.page_bytes", "16384", "nand.spare_bytes", "1952",
                       "nand.blocks_per_plane", "40", "ftl.superblocks", "32", "raid.parity",
                       parity, "drive.user_bytes", "33554432", "drive.lba_bytes", "4096",
                       "buffer.bytes", "1048576", "buffer.gc_bytes", "1048576", "media.payload",
                       "1", "media.faults", "1", NULL);
}

struct verified {
    ftl_drive *drive;
    struct rand64 rand;
    uint64_t lbas, lost;
    uint32_t *version, next;
    uint8_t *gone;
};

static void begin(struct verified *v, const struct ftl_config *cfg)
{
    *v = (struct verified){.drive = make_drive(cfg), .rand = {11}};
    v->lbas = ftl_lba_count(v->drive);
    v->version = calloc(v->lbas, sizeof *v->version);
    v->gone = calloc(v->lbas, 1);
    assert_true(v->version != NULL && v->gone != NULL);
}

static void end(struct verified *v)
{
    free(v->version);
    free(v->gone);
    ftl_destroy(v->drive);
}

static uint16_t one(struct verified *v, uint8_t opcode, uint64_t lba, uint8_t *bytes)
{
    struct ftl_cmd cmd = {.opcode = opcode, .lba = lba, .lba_count = 1, .data = bytes};
    struct ftl_cpl cpl = complete(v->drive, &cmd);
    return cpl.status;
}

static void write_one(struct verified *v, uint64_t lba)
{
    uint8_t bytes[LBA];
    stamp(bytes, lba, ++v->next);
    assert_int_equal(one(v, FTL_WRITE, lba, bytes), 0);
    v->version[lba] = v->next;
    v->gone[lba] = 0;
}

/* Right bytes, or where the drive may lose data its error. Never wrong bytes. */
static void read_one(struct verified *v, uint64_t lba, bool may_lose)
{
    uint8_t got[LBA], want[LBA];
    uint16_t status = one(v, FTL_READ, lba, got);

    if (status != 0) {
        assert_true(may_lose);
        assert_int_equal(status, 0x281);
        v->lost += !v->gone[lba];
        v->gone[lba] = 1;
        return;
    }
    stamp(want, lba, v->version[lba]);
    if (v->gone[lba] || memcmp(got, want, LBA) != 0)
        fail_msg("LBA %llu", (unsigned long long)lba);
}

/* Writes and reads mixed, every read checked. */
static void work(struct verified *v, uint32_t n, bool may_lose)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t lba = draw_to(&v->rand, v->lbas);
        if (i % 3 == 0)
            read_one(v, lba, may_lose);
        else
            write_one(v, lba);
    }
    assert_sound(v->drive);
}

static void read_all(struct verified *v, bool may_lose)
{
    for (uint64_t lba = 0; lba < v->lbas; lba++)
        read_one(v, lba, may_lose);
    assert_sound(v->drive);
}

static void lose(struct verified *v, uint32_t kind, uint32_t die, uint32_t plane)
{
    struct ftl_fault f = {.kind = kind, .die = die, .plane = plane};
    assert_int_equal(ftl_fault_arm(v->drive, &f), 0);
}

static struct ftl_health health(const struct verified *v)
{
    struct ftl_health h;
    assert_int_equal(ftl_health_get(v->drive, &h), 0);
    return h;
}

static double wa(const struct ftl_counters *a, const struct ftl_counters *b)
{
    uint64_t host = b->host_bytes - a->host_bytes;
    uint64_t all = host + b->gc_bytes - a->gc_bytes + b->retire_bytes - a->retire_bytes +
                   b->padding_bytes - a->padding_bytes;
    return (double)all / (double)host;
}

static void report(struct verified *v, const char *what, const struct ftl_counters *a,
                   uint64_t care_ns)
{
    struct ftl_counters b;
    ftl_counters_get(v->drive, &b);
    printf("%s: WA %.3f, rebuilt in %.3f s: %.1f MiB moved, %llu pages from %llu reads\n", what,
           wa(a, &b), (double)care_ns / 1e9,
           (double)(b.retire_bytes - a->retire_bytes) / 1048576,
           (unsigned long long)(b.raid_pages - a->raid_pages),
           (unsigned long long)(b.raid_reads - a->raid_reads));
}

/* A die dies in the middle of verified work, is rebuilt; then a plane of another. */
static void test_die_then_plane(void **state)
{
    struct ftl_config cfg = small("1");
    struct ftl_counters at[3];
    struct verified v;
    (void)state;
    begin(&v, &cfg);
    for (uint64_t lba = 0; lba < v.lbas; lba++)
        write_one(&v, lba);
    work(&v, 10000, false);
    ftl_counters_get(v.drive, &at[0]);
    lose(&v, FTL_FAULT_DIE, 3, 0);
    work(&v, 30000, false);
    struct ftl_health h = health(&v);
    assert_int_equal(h.planes_dead, 2);
    assert_int_equal(h.leaving, 0);
    assert_int_equal(h.read_only, 0);
    report(&v, "die lost  ", &at[0], h.care_ns);
    read_all(&v, false);

    ftl_counters_get(v.drive, &at[1]);
    uint64_t before = h.care_ns;
    lose(&v, FTL_FAULT_PLANE, 6, 1);
    work(&v, 30000, false);
    h = health(&v);
    assert_int_equal(h.planes_dead, 3);
    assert_int_equal(h.leaving, 0);
    report(&v, "plane lost", &at[1], h.care_ns - before);
    read_all(&v, false);
    ftl_counters_get(v.drive, &at[2]);
    assert_true(at[2].raid_pages > 0);
    assert_int_equal(at[2].lost_units, 0);
    /* stripes of 7 other members at most */
    assert_true(at[2].raid_reads <= at[2].raid_pages * 7);
    end(&v);
}

/* All that is read before anything was rebuilt comes from the stripes. */
static void test_reads_at_once(void **state)
{
    struct ftl_config cfg = small("1");
    struct verified v;
    (void)state;
    begin(&v, &cfg);
    for (uint64_t lba = 0; lba < v.lbas; lba++)
        write_one(&v, lba);
    work(&v, 3000, false);
    assert_int_equal(ftl_drain(v.drive), 0);
    lose(&v, FTL_FAULT_DIE, 0, 0);
    write_one(&v, 0);
    read_all(&v, false);
    end(&v);
}

/* Without parity, or with two dies lost at once, what cannot be had is an error on its
 * LBAs alone, until they are written again. */
static void lose_for_good(const char *parity, uint32_t dies)
{
    struct ftl_config cfg = small(parity);
    struct verified v;
    begin(&v, &cfg);
    for (uint64_t lba = 0; lba < v.lbas; lba++)
        write_one(&v, lba);
    assert_int_equal(ftl_drain(v.drive), 0);
    for (uint32_t d = 0; d < dies; d++)
        lose(&v, FTL_FAULT_DIE, 2 + d, 0);
    read_all(&v, true);
    work(&v, 20000, true);
    read_all(&v, true);
    /* what is lost stays lost, what is not stays good */
    uint64_t lost = v.lost;
    read_all(&v, true);
    assert_int_equal(lost, v.lost);
    assert_in_range(v.lost, 1, v.lbas / 2);
    for (uint64_t lba = 0; lba < v.lbas; lba++)
        if (v.gone[lba])
            write_one(&v, lba);
    read_all(&v, false);
    assert_int_equal(health(&v).lost_units, 0);
    end(&v);
}

static void test_no_parity(void **state)
{
    (void)state;
    lose_for_good("0", 1);
}

static void test_two_dies(void **state)
{
    (void)state;
    lose_for_good("1", 2);
}

/* A die is lost and its data moved; nothing is overwritten. Then a plane of another die goes: what lay
 * in stripes with the first has no parity any more, unless it was written anew. LBAs lost. */
static uint64_t second_loss(uint64_t restripe)
{
    struct ftl_config cfg = small("1");
    struct verified v;
    cfg.media_restripe = restripe;
    begin(&v, &cfg);
    for (uint64_t lba = 0; lba < v.lbas; lba++)
        write_one(&v, lba);
    assert_int_equal(ftl_drain(v.drive), 0);
    lose(&v, FTL_FAULT_DIE, 3, 0);
    work(&v, 600, false);               /* it is found dead */
    assert_int_equal(ftl_run(v.drive, ftl_now(v.drive) + UINT64_C(5000000000)), 0);
    assert_int_equal(health(&v).leaving, 0);
    lose(&v, FTL_FAULT_PLANE, 6, 1);
    work(&v, 600, restripe == 0);
    read_all(&v, restripe == 0);
    uint64_t lost = v.lost;
    printf("media.restripe=%llu: %llu of %llu LBAs lost with the second plane\n",
           (unsigned long long)restripe, (unsigned long long)lost, (unsigned long long)v.lbas);
    end(&v);
    return lost;
}

static void test_restripe(void **state)
{
    (void)state;
    assert_true(second_loss(0) > 0);
    assert_int_equal(second_loss(1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restripe),
        cmocka_unit_test(test_die_then_plane),
        cmocka_unit_test(test_reads_at_once),
        cmocka_unit_test(test_no_parity),
        cmocka_unit_test(test_two_dies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
