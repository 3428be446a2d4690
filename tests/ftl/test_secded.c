/* test_secded.c - soft errors of the controller's memory: the code itself, every single
 * and every double flip, and a drive under fire. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "sim/secded.h"

static void flip(uint64_t *data, uint8_t *check, uint32_t bit)
{
    if (bit < 64)
        *data ^= UINT64_C(1) << bit;
    else
        *check ^= (uint8_t)(1u << (bit - 64));
}

/* 72 single flips come back corrected, 2,556 double ones are seen as what they are. */
static void test_every_flip(void **state)
{
    struct rand64 r = {5};
    uint32_t singles = 0, doubles = 0;
    (void)state;
    for (int word = 0; word < 20; word++) {
        uint64_t want = word == 0 ? 0 : word == 1 ? UINT64_MAX : draw(&r);
        uint8_t check = secded_check(want);
        for (uint32_t a = 0; a < 72; a++) {
            uint64_t data = want;
            uint8_t c = check;
            assert_int_equal(secded_decode(&data, &c), SECDED_CLEAN);
            flip(&data, &c, a);
            assert_int_equal(secded_decode(&data, &c), SECDED_CORRECTED);
            assert_true(data == want && c == check);
            singles++;
            for (uint32_t b = a + 1; b < 72; b++) {
                data = want;
                c = check;
                flip(&data, &c, a);
                flip(&data, &c, b);
                assert_int_equal(secded_decode(&data, &c), SECDED_DETECTED);
                doubles++;
            }
        }
    }
    assert_int_equal(singles, 20 * 72);
    assert_int_equal(doubles, 20 * 2556);
}

/* CRC-32C of "123456789" is E3069283 [P: RFC 3720, appendix B.4 method]. */
static void test_crc(void **state)
{
    (void)state;
    assert_int_equal(secded_crc((const uint8_t *)"123456789", 9), 0xE3069283);
}

/* One pass in fifty is hit, a third of the hits in more than one bit: all of them end
 * corrected or as an error, data that is returned is right, and the counters add up. */
static void test_under_fire(void **state)
{
    struct ftl_config cfg = make_config(
        "wa-reference", 1, "nand.dies", "2", "nand.channels", "1", "nand.planes", "2",
        "nand.wordlines_per_block", "8", "nand.blocks_per_plane", "32", "ftl.superblocks", "32",
        "raid.parity", "0", "drive.user_bytes", "8388608", "drive.lba_bytes", "4096",
        "media.payload", "1", "memory.upset_ppm", "20000", "memory.multi_ppm", "330000", NULL);
    ftl_drive *d = make_drive(&cfg);
    uint64_t lbas = ftl_lba_count(d), errors = 0;
    uint32_t *version = calloc(lbas, sizeof *version), next = 0;
    struct rand64 r = {3};
    uint8_t bytes[4096], want[4096];
    (void)state;
    assert_non_null(version);
    for (int i = 0; i < 60000; i++) {
        struct ftl_cmd cmd = {.opcode = i % 2 ? FTL_READ : FTL_WRITE, .lba = draw_to(&r, lbas),
                              .lba_count = 1, .data = bytes};
        struct ftl_cpl cpl;
        if (cmd.opcode == FTL_WRITE)
            memset(bytes, (int)(++next % 251), sizeof bytes);
        cpl = complete(d, &cmd);
        if (cpl.status != 0) {
            assert_true(cpl.status == 0x006 || cpl.status == 0x282);
            errors++;
        } else if (cmd.opcode == FTL_WRITE) {
            version[cmd.lba] = next;
        } else {
            memset(want, (int)(version[cmd.lba] % 251), sizeof want);
            assert_memory_equal(bytes, want, sizeof want);
        }
    }
    struct ftl_counters n;
    ftl_counters_get(d, &n);
    assert_near((double)n.memory_upsets, 60000 * 0.02, 0.1);
    assert_int_equal(n.memory_upsets, n.memory_corrected + n.memory_detected + n.memory_guarded);
    assert_int_equal(errors, n.memory_detected + n.memory_guarded);
    assert_near((double)n.memory_corrected, (double)n.memory_upsets * 0.67, 0.1);
    assert_true(n.memory_guarded > 0);      /* triple flips that the code takes for single */
    assert_sound(d);
    free(version);
    ftl_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_flip),
        cmocka_unit_test(test_crc),
        cmocka_unit_test(test_under_fire),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
