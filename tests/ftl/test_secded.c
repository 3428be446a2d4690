/* test_secded.c - soft errors of the controller's memory: the code itself, every single
 * and every double flip, and a drive under fire. */
#include "common.h"
#include "ftl/ftl_media.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/crc.h"
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

/* CRC-32C of "123456789" is E3069283; of 32 zeros, ones, and 0 to 31: RFC 3720, appendix B.4 [P]. */
static void test_crc(void **state)
{
    uint8_t bytes[32] = {0};
    (void)state;
    assert_int_equal(sim_crc32c((const uint8_t *)"123456789", 9), 0xE3069283);
    assert_int_equal(sim_crc32c(bytes, 32), 0x8A9136AA);
    memset(bytes, 0xff, 32);
    assert_int_equal(sim_crc32c(bytes, 32), 0x62A8AB43);
    for (uint8_t i = 0; i < 32; i++)
        bytes[i] = i;
    assert_int_equal(sim_crc32c(bytes, 32), 0x46DD794E);
}

static struct ftl_config under_fire(const char *upset_ppm, const char *multi_ppm)
{
    return make_config("wa-reference", 1, "nand.dies", "4", "nand.channels", "1", "nand.planes", "2",
                       "nand.wordlines_per_block", "8", "nand.blocks_per_plane", "32",
                       "ftl.superblocks", "24", "raid.parity", "1", "drive.user_bytes", "8388608",
                       "drive.lba_bytes", "512", "buffer.bytes", "1048576", "buffer.gc_bytes",
                       "1048576", "media.faults", "1", "media.payload", "1", "memory.upset_ppm",
                       upset_ppm, "memory.multi_ppm", multi_ppm, NULL);
}

enum { UNIT = 4096, LBAS = 8 };

struct oracle {
    ftl_drive *d;
    struct rand64 r;
    uint64_t units, errors[3];  /* 0x006, 0x282, 0x284 */
    uint32_t next, *version;
};

static void count_error(struct oracle *o, uint16_t status)
{
    assert_true(status == 0x006 || status == 0x282 || status == 0x284 || status == 0x281);
    o->errors[0] += status == 0x006;
    o->errors[1] += status == 0x282;
    o->errors[2] += status == 0x284;
}

/* Whole units and halves of them written, units read: nothing but what was written comes back. */
static void traffic(struct oracle *o, int commands)
{
    uint8_t bytes[UNIT], want[UNIT];
    for (int i = 0; i < commands; i++) {
        uint64_t unit = draw_to(&o->r, o->units);
        uint32_t half = i % 8 == 0 && o->version[unit] == 0 ? 2 : 1;
        struct ftl_cmd cmd = {.opcode = i % 2 ? FTL_READ : FTL_WRITE, .lba = unit * LBAS,
                              .lba_count = LBAS / (i % 2 ? 1 : half), .data = bytes};
        if (cmd.opcode == FTL_WRITE)
            memset(bytes, (int)(++o->next % 251), sizeof bytes);
        struct ftl_cpl cpl = complete(o->d, &cmd);
        if (cpl.status != 0) {
            count_error(o, cpl.status);
        } else if (cmd.opcode == FTL_WRITE) {
            o->version[unit] = half == 1 ? o->next : 0;
            if (half == 2) {            /* the other half keeps what it was: written as well */
                cmd.lba += LBAS / 2;
                do {
                    cpl = complete(o->d, &cmd);
                    if (cpl.status != 0)
                        count_error(o, cpl.status);
                } while (cpl.status == 0x006 || cpl.status == 0x282);
                o->version[unit] = cpl.status == 0 ? o->next : 0;
            }
        } else if (o->version[unit] != 0) {
            memset(want, (int)(o->version[unit] % 251), sizeof want);
            assert_memory_equal(bytes, want, sizeof want);
        }
    }
}

static struct oracle begin(const struct ftl_config *cfg)
{
    struct oracle o = {.d = make_drive(cfg), .r = {3}};
    o.units = ftl_lba_count(o.d) / LBAS;
    o.version = calloc(o.units, sizeof *o.version);
    assert_non_null(o.version);
    return o;
}

static struct ftl_counters end(struct oracle *o)
{
    struct ftl_counters n;
    ftl_counters_get(o->d, &n);
    assert_sound(o->d);
    free(o->version);
    ftl_destroy(o->d);
    return n;
}

/* One pass in fifty is hit, a third of the hits in more than one bit: all of them end
 * corrected or as an error, data that is returned is right, and the counters add up. */
static void test_under_fire(void **state)
{
    struct ftl_config cfg = under_fire("20000", "330000");
    struct oracle o = begin(&cfg);
    (void)state;
    traffic(&o, 60000);
    uint64_t errors[3] = {o.errors[0], o.errors[1], o.errors[2]};
    struct ftl_counters n = end(&o);
    assert_near((double)n.memory_upsets, 60000 * 0.02, 0.15);
    assert_int_equal(n.memory_upsets, n.memory_corrected + n.memory_detected + n.memory_guarded);
    assert_near((double)n.memory_corrected, (double)n.memory_upsets * 0.67, 0.1);
    assert_true(n.memory_guarded > 0);      /* triple flips that the code takes for single */
    assert_int_equal(n.buffer_upsets, n.buffer_corrected + n.buffer_detected + n.buffer_mistaken);
    assert_int_equal(n.map_upsets, n.map_corrected + n.map_detected);
    assert_int_equal(n.table_upsets, n.table_corrected + n.table_detected);
    assert_true(n.buffer_corrected > 0 && n.buffer_detected > 0 && n.buffer_mistaken > 0);
    assert_true(n.map_corrected > 0 && n.map_detected > 0);
    assert_true(n.table_corrected > 0 && n.table_detected > 0);
    assert_true(n.guard_errors > 0 && errors[2] == 0);
    printf("60000 commands: data %llu hit, buffer %llu (%llu beyond repair), map %llu, tables %llu; %llu "
           "guard errors, %llu and %llu commands ended so\n",
           (unsigned long long)n.memory_upsets, (unsigned long long)n.buffer_upsets,
           (unsigned long long)(n.buffer_detected + n.buffer_mistaken),
           (unsigned long long)n.map_upsets, (unsigned long long)n.table_upsets,
           (unsigned long long)n.guard_errors, (unsigned long long)errors[0],
           (unsigned long long)errors[1]);
}

/* Every memory by itself, 1, 2 and 3 bits, 40 times each. */
static void planted(enum ftl_memory memory, uint32_t flips)
{
    struct ftl_config cfg = under_fire("0", "10000");
    struct oracle o = begin(&cfg);
    traffic(&o, 4000);
    for (int i = 0; i < 40; i++) {
        struct ftl_fault fault = {.kind = FTL_FAULT_MEMORY, .memory = memory, .flips = flips,
                                  .after = (uint64_t)i % 3};
        assert_int_equal(ftl_fault_arm(o.d, &fault), 0);
        traffic(&o, 200);
        assert_sound(o.d);
    }
    traffic(&o, 20000);             /* everything is read again, most of it after relocation */
    uint64_t errors[3] = {o.errors[0], o.errors[1], o.errors[2]};
    struct ftl_counters n = end(&o);
    uint64_t upsets[] = {n.memory_upsets, n.buffer_upsets, n.map_upsets, n.table_upsets};
    uint64_t corrected[] = {n.memory_corrected, n.buffer_corrected, n.map_corrected,
                            n.table_corrected};
    for (uint32_t m = 0; m < FTL_MEMORIES; m++)
        assert_int_equal(upsets[m], m == (uint32_t)memory ? 40 : 0);
    /* one bit is mended; two are seen; three are seen or mistaken, never mended */
    assert_int_equal(corrected[memory], flips == 1 ? 40 : 0);
    uint64_t mistaken = n.memory_guarded + n.buffer_mistaken;
    assert_true(flips == 3 || mistaken == 0);
    assert_int_equal(errors[2], 0);
    if (flips == 1 || memory == FTL_MEMORY_TABLE)       /* counts are made anew: nobody notices */
        assert_int_equal(errors[0] + errors[1], 0);
    else if (memory == FTL_MEMORY_BUFFER)
        assert_true(n.guard_errors > 0 && errors[0] == 0);
    else
        assert_int_equal(errors[0] + errors[1], 40);
}

static void test_planted(void **state)
{
    (void)state;
    for (uint32_t memory = 0; memory < FTL_MEMORIES; memory++)
        for (uint32_t flips = 1; flips <= 3; flips++)
            planted((enum ftl_memory)memory, flips);
}

/* Damaged units outlive relocation, parity and the loss of a die: the guard that the host's data had
 * goes along, none is made of bytes that are wrong. */
static void test_no_laundering(void **state)
{
    struct ftl_config cfg = under_fire("0", "10000");
    cfg.drive_user_bytes /= 2;          /* the rest is enough without a die, too */
    ftl_drive *d = make_drive(&cfg);
    uint64_t units = ftl_lba_count(d) / LBAS, bad = 0, still = 0;
    uint8_t bytes[UNIT], *was = calloc(units, 1);
    struct rand64 r = {9};
    struct ftl_fault die = {.kind = FTL_FAULT_DIE, .die = 2};
    (void)state;
    assert_non_null(was);
    for (uint64_t i = 0; i < units; i++) {
        struct ftl_fault fault = {.kind = FTL_FAULT_MEMORY, .memory = FTL_MEMORY_BUFFER, .flips = 2};
        if (i % 40 == 0)
            (void)ftl_fault_arm(d, &fault);
        stamp(bytes, i, 1);
        (void)do_command(d, FTL_WRITE, i * LBAS, LBAS, bytes);
    }
    assert_int_equal(ftl_drain(d), 0);
    for (uint64_t i = 0; i < units; i++) {
        struct ftl_cmd cmd = {.opcode = FTL_READ, .lba = i * LBAS, .lba_count = LBAS, .data = bytes};
        was[i] = complete(d, &cmd).status == 0x282;
        bad += was[i];
    }
    assert_true(bad > 10);
    for (uint64_t i = 0; i < 4 * units; i++) {          /* every good unit but each 16th is rewritten */
        uint64_t u = draw_to(&r, units);
        stamp(bytes, u, 1);
        if (!was[u] && u % 16 != 0)
            (void)do_command(d, FTL_WRITE, u * LBAS, LBAS, bytes);
        if (i == 2 * units)
            assert_int_equal(ftl_fault_arm(d, &die), 0);
        if (i % 64 == 0 && was[u]) {            /* half of a damaged unit: it cannot be merged */
            struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = u * LBAS, .lba_count = 4, .data = bytes};
            assert_int_not_equal(complete(d, &cmd).status, 0);
        }
    }
    for (uint64_t i = 0; i < units; i++) {
        uint8_t want[UNIT];
        struct ftl_cmd cmd = {.opcode = FTL_READ, .lba = i * LBAS, .lba_count = LBAS, .data = bytes};
        struct ftl_cpl cpl = complete(d, &cmd);
        stamp(want, i, 1);
        if (cpl.status == 0)
            assert_memory_equal(bytes, want, UNIT);
        assert_true((cpl.status == 0x282) == (was[i] != 0));
        still += cpl.status == 0x282;
    }
    assert_int_equal(still, bad);
    struct ftl_counters n;
    ftl_counters_get(d, &n);
    printf("%llu damaged units, all still refused after %llu units relocated and %llu pages rebuilt\n",
           (unsigned long long)bad, (unsigned long long)n.gc_units_moved,
           (unsigned long long)n.raid_pages);
    assert_true(n.gc_units_moved > 0 && n.raid_pages > 0);
    assert_sound(d);
    ftl_destroy(d);
    free(was);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_flip),
        cmocka_unit_test(test_crc),
        cmocka_unit_test(test_under_fire),
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_no_laundering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
