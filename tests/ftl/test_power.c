/* test_power.c - losses of power by hand, and many of them against an oracle. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ftl/ftl_power.h"

static struct ftl_config tiny(const char *preset, const char *types, const char *plp,
                              const char *parity)
{
    return make_config("wa-reference", 1, "nand.preset", preset, "nand.channels", "1", "nand.dies",
                       "3", "nand.planes", "1", "nand.page_types", types,
                       "nand.wordlines_per_block", "4", "nand.page_bytes", "4096",
                       "nand.spare_bytes", "600", "nand.blocks_per_plane", "64",
                       "ftl.superblocks", "14", "raid.parity", parity, "media.payload", "1",
                       "gc.frontiers", "2", "drive.user_bytes", "131072", "buffer.bytes", "65536",
                       "buffer.gc_bytes", "65536", "drive.lba_bytes", "4096", "power.plp", plp,
                       "journal.enabled", "1", "host.open_max", "32", NULL);
}

static void fill(uint8_t *data, uint32_t lba, uint32_t version)
{
    uint32_t words[2] = {version != 0 ? lba : 0, version};
    for (uint32_t i = 0; i < 4096; i += 8)
        memcpy(data + i, words, 8);
}

static uint32_t version_of(ftl_drive *d, uint32_t lba)
{
    uint8_t data[4096], want[4096];
    (void)do_command(d, FTL_READ, lba, 1, data);
    uint32_t version;
    memcpy(&version, data + 4, 4);
    fill(want, lba, version);
    assert_memory_equal(data, want, 4096);
    return version;
}

static void test_off_on(void **state)
{
    (void)state;
    static const char *const plp[] = {"0", "1"};
    for (int k = 0; k < 2; k++) {
        struct ftl_config cfg = tiny("tlc-128l", "3", plp[k], "1");
        ftl_drive *d = make_drive(&cfg);
        uint8_t data[4096];
        struct ftl_power_report r = {.struct_size = sizeof r};
        for (uint32_t round = 1; round < 9; round++) {
            for (uint32_t lba = 0; lba < 32; lba += round) {
                fill(data, lba, round);
                (void)do_command(d, FTL_WRITE, lba, 1, data);
            }
            (void)do_command(d, FTL_TRIM, round, 1, NULL);
            assert_int_equal(ftl_power_off(d, &r), 0);
            assert_int_equal(r.units_lost, 0);
            assert_int_equal(ftl_power_off(d, &r), FTL_EPOWER);
            assert_int_equal(ftl_power_on(d, &r), 0);
            assert_int_equal(r.start, FTL_START_CLEAN);
            assert_sound(d);
            for (uint32_t lba = 0; lba < 32; lba++) {
                uint32_t want = 0;
                for (uint32_t v = 1; v <= round; v++)
                    want = lba == v ? 0 : lba % v == 0 ? v : want;
                if (version_of(d, lba) != want)
                    fail_msg("plp %d round %u LBA %u: version %u, want %u", k, round, lba,
                             version_of(d, lba), want);
            }
        }
        ftl_destroy(d);
    }
}

enum { LBAS = 32 };

struct oracle {
    uint32_t flushed[LBAS], newest[LBAS];
};

/* Writes and flushes one after the other until the power goes; what was acknowledged is noted. */
static int load(ftl_drive *d, struct rand64 *r, struct oracle *o, uint32_t commands, uint32_t *version)
{
    static uint8_t data[4096];
    for (uint32_t i = 0; i < commands; i++) {
        bool flush = draw_to(r, 6) == 0;
        uint32_t lba = (uint32_t)draw_to(r, LBAS);
        struct ftl_cmd cmd = {.opcode = flush ? FTL_FLUSH : FTL_WRITE, .lba = flush ? 0 : lba,
                              .lba_count = !flush, .data = flush ? NULL : data};
        struct ftl_cpl cpl;
        if (!flush) {
            fill(data, lba, ++*version);
            o->newest[lba] = *version;
        }
        int err = ftl_submit(d, &cmd);
        if (err == 0)
            err = ftl_run(d, FTL_NEVER);
        if (err < 0)
            return err;
        assert_int_equal(err, 1);
        assert_int_equal(ftl_poll(d, &cpl, 1), 1);
        if (flush)
            memcpy(o->flushed, o->newest, sizeof o->flushed);
    }
    return 0;
}

/* Each LBA: the flushed version or a newer one; with capacitors all but the command that was open. */
static void judge(ftl_drive *d, const struct oracle *o, bool plp, const char *what, uint64_t op)
{
    uint32_t older = 0;
    for (uint32_t lba = 0; lba < LBAS; lba++) {
        uint32_t v = version_of(d, lba);
        older += v != o->newest[lba];
        if (v < o->flushed[lba] || v > o->newest[lba] || (plp && older > 1))
            fail_msg("%s operation %llu LBA %u: version %u, flushed %u, newest %u", what,
                     (unsigned long long)op, lba, v, o->flushed[lba], o->newest[lba]);
    }
}

/* A loss at every program and erase of a load, in every mode, with use afterwards. */
static void cut_everywhere(const char *preset, const char *types, const char *plp,
                           const char *parity)
{
    struct ftl_config cfg = tiny(preset, types, plp, parity);
    ftl_drive *base = make_drive(&cfg);
    struct rand64 r = {7};
    struct oracle begin = {{0}, {0}};
    uint32_t version = 0;
    char what[64];

    assert_int_equal(load(base, &r, &begin, 300, &version), 0);
    for (uint64_t op = 1; op < 40; op++)
        for (uint32_t mode = 0; mode < FTL_CUT_MODES; mode++) {
            struct ftl_power_cut how = {.struct_size = sizeof how, .mode = (uint8_t)mode,
                                        .others = (uint8_t)(op % 3), .seed = op,
                                        .energy_ppm = 1000000};
            struct ftl_power_report rep = {.struct_size = sizeof rep};
            struct oracle o = begin;
            struct rand64 again = {op};
            uint32_t v = version;
            ftl_drive *d;
            (void)snprintf(what, sizeof what, "%s plp %s parity %s mode %u", preset, plp, parity,
                           mode);
            assert_int_equal(ftl_fork(base, &d), 0);
            assert_int_equal(ftl_power_arm(d, op, &how), 0);
            if (load(d, &again, &o, 200, &v) != FTL_EPOWER)
                fail_msg("%s operation %llu: no loss", what, (unsigned long long)op);
            int err = ftl_power_on(d, &rep);
            if (err < 0)
                fail_msg("%s operation %llu: %s", what, (unsigned long long)op, ftl_strerror(err));
            assert_sound(d);
            judge(d, &o, plp[0] == '1', what, op);
            if (load(d, &again, &o, 60, &v) != 0)
                fail_msg("%s operation %llu: unusable", what, (unsigned long long)op);
            assert_sound(d);
            ftl_destroy(d);
        }
    ftl_destroy(base);
}

static void test_cuts(void **state)
{
    (void)state;
    cut_everywhere("tlc-128l", "3", "0", "0");
    cut_everywhere("tlc-128l", "3", "0", "1");
    cut_everywhere("tlc-128l", "3", "1", "1");
    cut_everywhere("pslc", "1", "0", "0");
    cut_everywhere("qlc", "4", "1", "0");
}

/* ---- energy ------------------------------------------------------------------------------- */

/* The least bank that the configuration takes for this drive. Its flush writes at 40 MB/s: three
 * dies that take 4 KiB in 0.2 ms are 61, and programs under way come first. */
static struct ftl_config least_bank(void)
{
    struct ftl_config cfg = tiny("tlc-128l", "3", "1", "1");
    uint64_t refused = 0, taken = 1000000;

    cfg.power_drain_mb_s = 40;
    cfg.power_flush_extra_bytes = 0;
    while (taken - refused > 1) {
        cfg.power_cap_uf = (refused + taken) / 2;
        if (ftl_config_check(&cfg, NULL, 0) == 0)
            taken = cfg.power_cap_uf;
        else
            refused = cfg.power_cap_uf;
    }
    cfg.power_cap_uf = taken;
    assert_int_equal(ftl_config_check(&cfg, NULL, 0), 0);
    return cfg;
}

/* Acknowledged units that a loss in the middle of writes leaves behind. */
static uint64_t lost_with(const struct ftl_config *cfg, uint64_t energy_ppm)
{
    static uint8_t data[4096];
    struct ftl_power_cut how = {.struct_size = sizeof how, .energy_ppm = energy_ppm};
    struct ftl_power_report r = {.struct_size = sizeof r};
    ftl_drive *d = make_drive(cfg);

    for (uint32_t i = 0; i < 31; i++) {
        struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = i, .lba_count = 1, .data = data};
        assert_int_equal(ftl_submit(d, &cmd), 0);
    }
    for (uint32_t done = 0; done < 15;) {       /* the buffer is full, word lines are under way */
        struct ftl_cpl cpl[32];
        assert_true(ftl_run(d, FTL_NEVER) >= 0);
        done += ftl_poll(d, cpl, 32);
    }
    assert_int_equal(ftl_power_cut(d, &how, &r), 0);
    print_message("%llu uF, %llu ppm: %llu units saved, %llu lost, %.3f of %.3f mJ\n",
                  (unsigned long long)cfg->power_cap_uf, (unsigned long long)energy_ppm,
                  (unsigned long long)r.units_flushed, (unsigned long long)r.units_lost,
                  (double)r.energy_need_nj / 1e6, (double)r.energy_have_nj / 1e6);
    assert_true(r.units_flushed + r.units_lost >= 15);
    ftl_destroy(d);
    return r.units_lost;
}

/* It carries a full buffer, and would not do with half of what it has. */
static void test_least_bank(void **state)
{
    struct ftl_config cfg = least_bank();
    (void)state;
    assert_int_equal(lost_with(&cfg, 1000000), 0);
    assert_true(lost_with(&cfg, 500000) > 0);
}

/* Two units of a command of four fill a word line of three, the others wait in the buffer when the energy
 * fails: what is on the medium is dropped with them. */
static void test_atomic_without_energy(void **state)
{
    struct ftl_config cfg = tiny("tlc-128l", "3", "1", "0");
    struct ftl_power_cut cut = {.struct_size = sizeof cut};
    struct ftl_power_report r = {.struct_size = sizeof r};
    uint8_t data[4 * 4096];
    (void)state;

    cfg.power_atomic_units = 4;
    ftl_drive *d = make_drive(&cfg);
    for (uint32_t version = 1; version <= 2; version++) {
        for (uint32_t lba = 0; lba < 4; lba++)
            fill(data + 4096 * (size_t)lba, lba, version);
        assert_true(do_command(d, FTL_WRITE, 0, 4, data) > 0);
        if (version == 1)
            assert_true(do_command(d, FTL_FLUSH, 0, 0, NULL) > 0);
    }
    assert_true(ftl_run(d, ftl_now(d) + 20000000) >= 0);    /* programs end within 20 ms */
    assert_int_equal(ftl_power_cut(d, &cut, &r), 0);
    assert_int_equal(r.units_lost, 2);
    assert_int_equal(ftl_power_on(d, &r), 0);
    assert_int_equal(r.start, FTL_START_SCAN);
    assert_int_equal(r.units_dropped, 2);
    for (uint32_t lba = 0; lba < 4; lba++)
        assert_int_equal(version_of(d, lba), 1);
    assert_sound(d);
    ftl_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_off_on), cmocka_unit_test(test_cuts), cmocka_unit_test(test_least_bank),
        cmocka_unit_test(test_atomic_without_energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
