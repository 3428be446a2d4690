/* test_bad_media.c - a log that does not read as it was written: a start repairs it or refuses. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nand/store.h"
#include "nvme/drive.h"

enum { SPARE = 600, SECTOR_BYTES = 4096 + SPARE, UNITS_MAX = 3072 };

struct world {
    struct ftl_config cfg;
    ftl_drive *d;
    struct rand64 r;
    uint32_t units;
    uint32_t version[UNITS_MAX];    /* 0 = trimmed or never written */
    uint32_t next;
};

static struct world *make_world(const char *dies, const char *superblocks, const char *user, const char *plp)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->cfg = make_config("wa-reference", 1, "nand.preset", "tlc-128l", "nand.channels", "1", "nand.dies",
                         dies, "nand.planes", "1", "nand.page_types", "3", "nand.wordlines_per_block", "8",
                         "nand.page_bytes", "4096", "nand.spare_bytes", "600", "nand.blocks_per_plane",
                         "128", "ftl.superblocks", superblocks, "media.payload", "1", "gc.frontiers", "2",
                         "drive.user_bytes", user, "buffer.bytes", "65536", "buffer.gc_bytes", "65536",
                         "drive.lba_bytes", "4096", "power.plp", plp, "journal.enabled", "1",
                         "host.open_max", "16", NULL);
    w->d = make_drive(&w->cfg);
    w->units = (uint32_t)ftl_lba_count(w->d);
    assert_true(w->units <= UNITS_MAX);
    w->r.state = 77;
    return w;
}

static void write_on(struct world *w, uint32_t n)
{
    uint8_t data[4096];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lba = (uint32_t)draw_to(&w->r, w->units);
        bool trim = draw_to(&w->r, 8) == 0;
        w->version[lba] = trim ? 0 : ++w->next;
        stamp(data, lba, w->version[lba]);
        (void)do_command(w->d, trim ? FTL_TRIM : FTL_WRITE, lba, 1, trim ? NULL : data);
    }
}

/* First LBA that does not read as it was acknowledged; units = all do. */
static uint32_t first_wrong(const struct world *w, const ftl_drive *d)
{
    uint8_t data[4096], want[4096];
    for (uint32_t lba = 0; lba < w->units; lba++) {
        memset(data, 0, sizeof data);
        if (d->core.map[lba + 1] != 0)
            core_payload_read(&d->core, lba + 1, data);
        stamp(want, lba, w->version[lba]);
        if (memcmp(data, want, sizeof want) != 0)
            return lba;
    }
    return w->units;
}

struct tally {
    uint32_t cases, right, refused, wrong;
};

static void one_case(const struct world *w, const struct nand_addr *a, uint32_t offset, uint8_t mask,
                     uint8_t kind, struct tally *t)
{
    ftl_drive *f = NULL;
    assert_int_equal(ftl_fork(w->d, &f), 0);
    assert_int_equal(nand_page_flip(f->media.nand, a, offset, mask), 0);
    int err = ftl_power_on(f, NULL);
    t->cases++;
    if (err == FTL_EMEDIA) {
        t->refused++;
    } else if (err != 0) {
        fail_msg("block %u page %u byte %u: %d", a->block, a->page, offset, err);
    } else {
        char why[FTL_WHY_MAX] = "";
        uint32_t lba = ftl_check(f, why, sizeof why) < 0 ? UINT32_MAX : first_wrong(w, f);
        if (lba != w->units && t->wrong++ < 4)
            print_message("wrong: die %u block %u page %u byte %u kind %u: LBA %u %s\n", a->die, a->block,
                          a->page, offset, kind, lba, why);
        t->right += lba == w->units;
    }
    ftl_destroy(f);
}

/* Every sector of the log, `step` bytes apart in its trailer and a few in its body. */
static void damage_log(const struct world *w, uint32_t step, struct tally *t)
{
    const struct journal *j = &w->d->core.log;
    for (uint32_t segment = 0; segment < j->segments; segment++)
        for (uint32_t page = 0; page < j->pages_per_segment; page++) {
            struct log_place at = core_journal_place(&w->d->core, segment, page);
            struct nand_addr a = {.block = at.block, .page = at.page, .die = (uint16_t)at.die};
            uint8_t sector[JOURNAL_BODY + JOURNAL_TRAILER];
            if (nand_page_get(w->d->media.nand, &a, 0, sizeof sector, sector) != NAND_OK)
                continue;
            for (uint32_t i = 0; i < JOURNAL_TRAILER; i += step)
                one_case(w, &a, JOURNAL_BODY + i, (uint8_t)(1u << draw_to((struct rand64 *)&w->r, 8)),
                         sector[JOURNAL_BODY + 2], t);
            one_case(w, &a, 0, 1, sector[JOURNAL_BODY + 2], t);
            one_case(w, &a, 30, 0x80, sector[JOURNAL_BODY + 2], t);
        }
}

static void run(const char *dies, const char *superblocks, const char *user, const char *plp,
                uint32_t rounds, uint32_t writes, uint32_t step)
{
    struct world *w = make_world(dies, superblocks, user, plp);
    struct tally t = {0, 0, 0, 0};
    for (uint32_t round = 0; round < rounds; round++) {
        write_on(w, writes);
        assert_int_equal(ftl_power_off(w->d, NULL), 0);
        damage_log(w, step, &t);
        assert_int_equal(ftl_power_on(w->d, NULL), 0);
        assert_int_equal(first_wrong(w, w->d), w->units);
    }
    print_message("%u cases: %u repaired or not needed, %u refused, %u wrong\n", t.cases, t.right,
                  t.refused, t.wrong);
    assert_int_equal(t.wrong, 0);
    assert_true(t.right > 0 && t.refused > 0);
    ftl_destroy(w->d);
    free(w);
}

/* FORMAT.md: a log of version 2 began with these bytes, and its segments lie elsewhere. */
static void test_other_version(void **state)
{
    struct world *w = make_world("2", "14", "131072", "1");
    struct journal_trailer ret;
    uint8_t t[JOURNAL_TRAILER];
    (void)state;

    assert_int_equal(ftl_power_off(w->d, NULL), 0);
    struct log_place at = core_journal_place(&w->d->core, w->d->core.log.segment, 0);
    struct nand_addr a = {.block = at.block, .page = at.page, .die = (uint16_t)at.die};
    assert_int_equal(nand_page_get(w->d->media.nand, &a, JOURNAL_BODY, sizeof t, t), NAND_OK);
    assert_true(core_journal_trailer(t, &ret));
    assert_int_equal(t[1], 3);
    t[1] = 2;
    assert_false(core_journal_trailer(t, &ret));
    t[0] = 'F', t[1] = 'J';
    assert_false(core_journal_trailer(t, &ret));
    ftl_destroy(w->d);
    free(w);
}

static void test_small_log(void **state)
{
    (void)state;
    run("2", "14", "131072", "1", 4, 60, 1);
    run("2", "14", "131072", "0", 4, 60, 1);
}

static void test_large_map(void **state)
{
    (void)state;
    run("2", "56", "8388608", "1", 3, 3000, 8);
}

/* The power goes while a checkpoint of several pages is on its way, a little later each time: its
 * tables may be there and its slices not, and the older checkpoint counts. */
static void test_cut_in_checkpoint(void **state)
{
    (void)state;
    struct world *w = make_world("2", "56", "8388608", "0");
    struct ftl_power_cut cut = {.struct_size = sizeof cut};
    uint32_t under_way = 0;

    write_on(w, 3000);
    for (uint32_t i = 0; i < 12; i++) {
        write_on(w, 150);                   /* some superblocks more are full */
        (void)do_command(w->d, FTL_FLUSH, 0, 0, NULL);
        if (w->d->core.log.running)
            continue;
        for (uint32_t k = 0; k < 24; k++) {
            ftl_drive *f = NULL;
            assert_int_equal(ftl_fork(w->d, &f), 0);
            core_journal_checkpoint(&f->core);
            assert_int_equal(ftl_run(f, ftl_now(f) + k * 50000), 0);
            under_way += f->core.log.running || f->core.log.erase_due;
            cut.others = k % 2 ? FTL_OTHERS_TORN : FTL_OTHERS_DRAWN;
            cut.seed = i * 100 + k;
            assert_int_equal(ftl_power_cut(f, &cut, NULL), 0);
            assert_int_equal(ftl_power_on(f, NULL), 0);
            assert_int_equal(first_wrong(w, f), w->units);
            assert_sound(f);
            ftl_destroy(f);
        }
    }
    assert_true(under_way > 100);
    ftl_destroy(w->d);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_version),
        cmocka_unit_test(test_small_log),
        cmocka_unit_test(test_large_map),
        cmocka_unit_test(test_cut_in_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
