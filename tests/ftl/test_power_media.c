/* test_power_media.c - a damaged log: found, and repaired from what is left, or refused. */
#include "common.h"

#include <string.h>

#include "core/core.h"
#include "nand/store.h"
#include "nvme/drive.h"

enum { PAGE = 4096 + 600, ROWS = 4, DIES = 2 };

static struct ftl_config tiny(void)
{
    return make_config("wa-reference", 1, "nand.preset", "tlc-128l", "nand.channels", "1",
                       "nand.dies", "2", "nand.planes", "1", "nand.page_types", "3",
                       "nand.wordlines_per_block", "4", "nand.page_bytes", "4096",
                       "nand.spare_bytes", "600", "nand.blocks_per_plane", "80",
                       "ftl.superblocks", "14", "raid.parity", "0", "media.payload", "1",
                       "drive.user_bytes", "131072", "buffer.bytes", "65536", "buffer.gc_bytes",
                       "65536", "drive.lba_bytes", "4096", "journal.enabled", "1",
                       "host.open_max", "32", NULL);
}

/* The block of one die again, with one byte of one page changed. */
static void damage(ftl_drive *d, uint32_t die, uint32_t block, uint32_t page, uint32_t byte)
{
    static uint8_t pages[ROWS][PAGE];
    uint32_t count = 0;
    struct nand_addr addr = {.block = block, .die = (uint16_t)die};
    for (; count < ROWS; count++) {
        addr.page = count;
        if (nand_page_get(d->media.nand, &addr, 0, PAGE, pages[count]) != NAND_OK)
            break;
    }
    assert_true(page < count);
    pages[page][byte] ^= 0x10;
    assert_int_equal(nand_block_put(d->media.nand, die, 0, block, NAND_F_SLC, 0), 0);
    for (uint32_t i = 0; i < count; i++) {
        const void *one[1] = {pages[i]};
        addr.page = i;
        assert_int_equal(nand_wordline_put(d->media.nand, &addr, one), 0);
    }
}

static ftl_drive *written(void)
{
    struct ftl_config cfg = tiny();
    ftl_drive *d = make_drive(&cfg);
    uint8_t data[4096];
    for (uint32_t i = 0; i < 200; i++) {
        memset(data, (int)(i % 251), sizeof data);
        (void)do_command(d, FTL_WRITE, i % 32, 1, data);
    }
    return d;
}

/* The first block of the log that is written: its first page, on die 0, begins the checkpoint. */
static uint32_t log_begin(const ftl_drive *d)
{
    uint8_t byte;
    struct nand_addr addr = {.block = 14};
    while (nand_page_get(d->media.nand, &addr, 0, 1, &byte) != NAND_OK)
        addr.block++;
    return addr.block;
}

static void test_checkpoint(void **state)
{
    (void)state;
    ftl_drive *base = written();
    assert_int_equal(ftl_power_off(base, NULL), 0);
    for (uint32_t byte = 0; byte < 4128; byte += byte < 64 || byte >= 4096 ? 1 : 61) {
        ftl_drive *d;
        assert_int_equal(ftl_fork(base, &d), 0);
        damage(d, 0, log_begin(d), 0, byte);
        if (ftl_power_on(d, NULL) != FTL_EMEDIA)
            fail_msg("byte %u of the checkpoint's first sector: not refused", byte);
        assert_false(ftl_power_is_on(d));
        ftl_destroy(d);
    }
    ftl_destroy(base);
}

/* The bytes beyond the trailer are ECC's: they do not count. */
static void test_sound(void **state)
{
    (void)state;
    ftl_drive *d = written();
    assert_int_equal(ftl_power_off(d, NULL), 0);
    damage(d, 0, log_begin(d), 0, 4128);
    assert_int_equal(ftl_power_on(d, NULL), 0);
    uint8_t data[4096];
    for (uint32_t lba = 0; lba < 32; lba++) {
        (void)do_command(d, FTL_READ, lba, 1, data);
        assert_int_equal(data[77], (lba < 8 ? 192 : 160) + lba);
    }
    assert_sound(d);
    ftl_destroy(d);
}

/* A sum by hand: 2000 uF from 28 V to 6 V at 85 % are 0.6358 J; the flush uses some of it. */
static void test_flush_energy(void **state)
{
    (void)state;
    ftl_drive *d = written();
    struct ftl_power_cut how = {.struct_size = sizeof how, .energy_ppm = 1000000};
    struct ftl_power_report r = {.struct_size = sizeof r};
    uint8_t data[4096] = {9};
    (void)do_command(d, FTL_WRITE, 5, 1, data);
    assert_int_equal(ftl_power_cut(d, &how, &r), 0);
    assert_int_equal(r.energy_have_nj, 635800000);
    assert_int_equal(r.units_lost, 0);
    assert_true(r.units_flushed > 0 && r.flush_pages > 0);
    assert_int_equal(r.flush_bytes, r.flush_pages * 4096);
    /* at least base power for the time, and not twice that for these few programs */
    uint64_t base = d->cfg.power_base_mw * r.flush_ns / 1000;
    assert_in_range(r.energy_need_nj, base, base * 2);
    assert_int_equal(ftl_power_on(d, &r), 0);
    assert_int_equal(r.start, FTL_START_FLUSHED);
    (void)do_command(d, FTL_READ, 5, 1, data);
    assert_int_equal(data[0], 9);
    ftl_destroy(d);
}

/* A bank that gives nothing: what was in the buffer is counted as lost. */
static void test_no_energy(void **state)
{
    (void)state;
    ftl_drive *d = written();
    struct ftl_power_cut how = {.struct_size = sizeof how, .energy_ppm = 0};
    struct ftl_power_report r = {.struct_size = sizeof r};
    struct ftl_status s;
    ftl_status_get(d, &s);
    assert_true(s.buffer_units_used > 0);
    assert_int_equal(ftl_power_cut(d, &how, &r), 0);
    assert_int_equal(r.units_lost, s.buffer_units_used);
    assert_int_equal(ftl_power_on(d, &r), 0);
    assert_int_equal(r.start, FTL_START_SCAN);
    assert_sound(d);
    ftl_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkpoint), cmocka_unit_test(test_sound),
        cmocka_unit_test(test_flush_energy), cmocka_unit_test(test_no_energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
