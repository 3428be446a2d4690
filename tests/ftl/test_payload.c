/* test_payload.c - user bytes and tags as they lie on NAND, read through nand_model alone. */
#include "common.h"

#include <string.h>
#include <xxhash.h>

#include "core/core.h"
#include "nand/store.h"
#include "nvme/drive.h"

enum { PAGE = 4096 + 600 };

static struct ftl_config tiny(const char *parity)
{
    return make_config("wa-reference", 1, "nand.preset", "tlc-128l", "nand.channels", "1",
                       "nand.dies", "3", "nand.planes", "1", "nand.page_types", "3",
                       "nand.wordlines_per_block", "2", "nand.page_bytes", "4096",
                       "nand.spare_bytes", "600", "nand.blocks_per_plane", "8",
                       "ftl.superblocks", "8", "raid.parity", parity, "media.payload", "1",
                       "drive.user_bytes", "24576", "buffer.bytes", "49152", "buffer.gc_bytes",
                       "98304", "drive.lba_bytes", "4096", "power.plp", "1", NULL);
}

static void page_of(const ftl_drive *d, uint32_t die, uint32_t block, uint32_t page, uint8_t *ret)
{
    struct nand_addr addr = {.block = block, .page = page, .die = (uint16_t)die};
    assert_int_equal(nand_page_get(d->media.nand, &addr, 0, PAGE, ret), NAND_OK);
}

/* The first word line goes to die 1 (die 0 holds the parity of row 0), block 0. Bytes 8..11 of
 * the tag are LPN + 1, bytes 0..7 the sequence number, little-endian. */
static void write_row(ftl_drive *d, bool timed)
{
    uint8_t data[4096];
    for (uint32_t lba = 0; lba < 6; lba++) {
        memset(data, (int)(lba * 17 + 1), sizeof data);
        struct ftl_extent e = {.lba = lba, .lba_count = 1};
        if (timed)
            (void)do_command(d, FTL_WRITE, lba, 1, data);
        else
            assert_int_equal(ftl_write_untimed(d, &e, 1), 0);
    }
    assert_int_equal(ftl_drain(d), 0);
}

/* Bit by bit: the polynomial of RFC 3720, reflected. */
static uint32_t crc32c(const uint8_t *bytes, uint32_t n)
{
    uint32_t crc = UINT32_MAX;
    for (uint32_t i = 0; i < 8 * n; i++) {
        uint32_t bit = (crc ^ bytes[i / 8] >> i % 8) & 1;
        crc = crc >> 1 ^ (bit ? UINT32_C(0x82f63b78) : 0);
    }
    return ~crc;
}

static void test_bytes_on_nand(void **state)
{
    (void)state;
    struct ftl_config cfg = tiny("1");
    for (int timed = 0; timed < 2; timed++) {
        ftl_drive *d = make_drive(&cfg);
        uint8_t page[PAGE];
        write_row(d, timed);
        for (uint32_t u = 0; u < 6; u++) {
            page_of(d, 1 + u / 3, 0, u % 3, page);
            assert_int_equal(page[0], timed ? u * 17 + 1 : 0);
            assert_int_equal(page[4095], timed ? u * 17 + 1 : 0);
            const uint8_t tag[16] = {(uint8_t)(u + 1), 0, 0, 0, 0, 0, 0, 0, (uint8_t)(u + 1)};
            assert_memory_equal(page + 4096, tag, 16);
            /* FORMAT.md: guard of the data XOR checksum of the tag before it */
            uint32_t guard = (uint32_t)core_get(page + 4124, 4) ^ (uint32_t)XXH3_64bits(page + 4096, 28);
            assert_int_equal(guard, crc32c(page, 4096));
        }
        ftl_destroy(d);
    }
}

/* The parity word line is the XOR of its row: each page rebuilds from the others. */
static void test_parity(void **state)
{
    (void)state;
    struct ftl_config cfg = tiny("1");
    ftl_drive *d = make_drive(&cfg);
    uint8_t a[PAGE], b[PAGE], x[PAGE];
    write_row(d, true);
    for (uint32_t t = 0; t < 3; t++) {
        page_of(d, 0, 0, t, x);
        page_of(d, 1, 0, t, a);
        page_of(d, 2, 0, t, b);
        for (uint32_t i = 0; i < PAGE; i++)
            assert_int_equal(x[i], a[i] ^ b[i]);
    }
    ftl_destroy(d);
}

/* Second parity die: sum of 2^d D_d in GF(2^8) with 0x11d; with one data die D_0 itself. */
static void test_second_parity(void **state)
{
    (void)state;
    struct ftl_config cfg = tiny("2");
    ftl_drive *d = make_drive(&cfg);
    uint8_t data[PAGE], p[PAGE], q[PAGE], bytes[4096];
    for (uint32_t lba = 0; lba < 3; lba++) {
        memset(bytes, (int)lba + 200, sizeof bytes);
        (void)do_command(d, FTL_WRITE, lba, 1, bytes);
    }
    assert_int_equal(ftl_drain(d), 0);
    page_of(d, 0, 0, 1, p);
    page_of(d, 1, 0, 1, q);
    page_of(d, 2, 0, 1, data);
    assert_int_equal(data[9], 201);
    assert_memory_equal(p, data, PAGE);
    assert_memory_equal(q, data, PAGE);
    ftl_destroy(d);
}

static void test_refusal(void **state)
{
    (void)state;
    char why[FTL_WHY_MAX];
    struct ftl_config cfg = tiny("1");
    cfg.nand_spare_bytes = 31;
    assert_int_equal(ftl_config_check(&cfg, why, sizeof why), FTL_ECONFIG);
    assert_non_null(strstr(why, "nand.spare_bytes=31"));
    cfg.nand_spare_bytes = 32;
    assert_int_equal(ftl_config_check(&cfg, why, sizeof why), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_on_nand), cmocka_unit_test(test_parity),
        cmocka_unit_test(test_second_parity), cmocka_unit_test(test_refusal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
