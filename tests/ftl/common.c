#include "common.h"

#include <string.h>

uint64_t draw(struct rand64 *r)
{
    uint64_t x = (r->state += UINT64_C(0x9e3779b97f4a7c15));
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t draw_to(struct rand64 *r, uint64_t bound)
{
    return (draw(r) >> 11) % bound;
}

struct ftl_config make_config(const char *drive, uint64_t scale, ...)
{
    char why[FTL_WHY_MAX] = "";
    struct ftl_config cfg;
    ftl_setup *s = ftl_setup_new();
    va_list args;

    assert_non_null(s);
    if (ftl_setup_load(s, drive, why, sizeof why) != 0)
        fail_msg("%s", why);
    va_start(args, scale);
    for (const char *key = va_arg(args, const char *); key != NULL;
         key = va_arg(args, const char *))
        if (ftl_setup_set(s, key, va_arg(args, const char *), "test", why, sizeof why) != 0)
            fail_msg("%s", why);
    va_end(args);
    if (ftl_setup_finish(s, scale, &cfg, why, sizeof why) != 0)
        fail_msg("%s", why);
    ftl_setup_free(s);
    return cfg;
}

ftl_drive *make_drive(const struct ftl_config *cfg)
{
    char why[FTL_WHY_MAX] = "";
    ftl_drive *d = NULL;
    if (ftl_create(cfg, &d, why, sizeof why) != 0)
        fail_msg("%s", why);
    return d;
}

struct ftl_cpl complete(ftl_drive *d, const struct ftl_cmd *cmd)
{
    struct ftl_cpl cpl;

    assert_int_equal(ftl_submit(d, cmd), 0);
    assert_int_equal(ftl_run(d, FTL_NEVER), 1);
    assert_int_equal(ftl_poll(d, &cpl, 1), 1);
    return cpl;
}

void stamp(uint8_t *bytes, uint64_t lba, uint64_t version)
{
    uint64_t words[2] = {version == 0 ? 0 : lba, version};
    for (uint32_t i = 0; i < 4096; i += sizeof words)
        memcpy(bytes + i, words, sizeof words);
}

ftl_ns do_command(ftl_drive *d, uint8_t opcode, uint64_t lba, uint32_t lba_count, void *data)
{
    struct ftl_cmd cmd = {.opcode = opcode, .lba = lba, .lba_count = lba_count, .data = data,
                          .user = lba ^ 77};
    struct ftl_cpl cpl = complete(d, &cmd);

    assert_int_equal(cpl.user, cmd.user);
    assert_int_equal(cpl.status, 0);
    assert_int_equal(cpl.opcode, opcode);
    return cpl.done_at - cpl.submitted_at;
}

void stamp_all(ftl_drive *d)
{
    uint8_t bytes[4096];
    for (uint64_t lba = 0; lba < ftl_lba_count(d); lba++) {
        stamp(bytes, lba, 1);
        (void)do_command(d, FTL_WRITE, lba, 1, bytes);
    }
    assert_int_equal(ftl_drain(d), 0);
}

uint64_t read_stamps(ftl_drive *d, double *ret_us)
{
    uint8_t got[4096], want[4096];
    uint64_t errors = 0, ns = 0;

    for (uint64_t lba = 0; lba < ftl_lba_count(d); lba++) {
        struct ftl_cmd cmd = {.opcode = FTL_READ, .lba = lba, .lba_count = 1, .data = got};
        struct ftl_cpl cpl = complete(d, &cmd);
        ns += cpl.done_at - cpl.submitted_at;
        stamp(want, lba, 1);
        if (cpl.status != 0) {
            assert_int_equal(cpl.status, 0x281);
            errors++;
        } else {
            assert_memory_equal(got, want, sizeof want);
        }
    }
    if (ret_us != NULL)
        *ret_us = (double)ns / 1000 / (double)ftl_lba_count(d);
    return errors;
}

struct ftl_config four_dies(const char *buffer, const char *interval)
{
    return make_config("wa-reference", 1, "nand.preset", "tlc-128l", "nand.channels", "2", "nand.dies",
                       "4", "nand.planes", "1", "nand.page_types", "3", "nand.wordlines_per_block",
                       "64", "nand.page_bytes", "4096", "nand.spare_bytes", "600",
                       "nand.blocks_per_plane", "300", "ftl.superblocks", "120", "raid.parity", "0",
                       "media.payload", "1", "drive.user_bytes", "256M", "buffer.bytes", buffer,
                       "buffer.gc_bytes", buffer, "drive.lba_bytes", "4096", "journal.enabled", "1",
                       "journal.checkpoint_superblocks", interval, NULL);
}

ftl_drive *written_at_random(const struct ftl_config *cfg, uint64_t seed, uint64_t eighths)
{
    static uint8_t data[4096];
    struct rand64 r = {.state = seed};
    ftl_drive *d = make_drive(cfg);
    uint64_t lbas = ftl_lba_count(d);

    for (uint64_t i = 0; i < eighths * lbas / 8; i++)
        assert_true(do_command(d, FTL_WRITE, draw_to(&r, lbas), 1, data) > 0);
    return d;
}

const struct ftl_power_step *find_step(const struct ftl_power_step *steps, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(steps[i].name, name) == 0)
            return &steps[i];
    return NULL;
}

uint64_t step_items(const struct ftl_power_report *r, const char *name)
{
    const struct ftl_power_step *step = find_step(r->steps, r->step_count, name);

    if (step == NULL)
        fail_msg("no step %s", name);
    return step->items;
}

struct ftl_health health_of(const ftl_drive *d)
{
    struct ftl_health h;
    assert_int_equal(ftl_health_get(d, &h), 0);
    return h;
}

void assert_sound(const ftl_drive *d)
{
    char why[FTL_WHY_MAX] = "";
    if (ftl_check(d, why, sizeof why) != 0)
        fail_msg("%s", why);
}

void random_writes(ftl_drive *d, struct rand64 *r, uint64_t n)
{
    struct ftl_extent e[128];
    uint32_t per = 4096 / ftl_lba_bytes(d);
    uint64_t units = ftl_lba_count(d) / per;

    while (n > 0) {
        uint64_t k = n < 128 ? n : 128;
        for (uint64_t i = 0; i < k; i++)
            e[i] = (struct ftl_extent){.lba = draw_to(r, units) * per, .lba_count = per};
        assert_int_equal(ftl_write_untimed(d, e, k), 0);
        n -= k;
    }
}

void sequential_fill(ftl_drive *d)
{
    uint64_t count = ftl_lba_count(d);
    for (uint64_t lba = 0; lba < count; lba += 256) {
        struct ftl_extent e = {.lba = lba,
                               .lba_count = (uint32_t)(count - lba < 256 ? count - lba : 256)};
        assert_int_equal(ftl_write_untimed(d, &e, 1), 0);
    }
}

double timed_random_writes(ftl_drive *d, struct rand64 *r, uint32_t depth, uint64_t n)
{
    uint32_t per = 4096 / ftl_lba_bytes(d);
    uint64_t units = ftl_lba_count(d) / per, sent = 0, done = 0;
    ftl_ns start = ftl_now(d);
    struct ftl_cpl cpl[32];

    while (done < n) {
        for (; sent < n && sent - done < depth; sent++) {
            struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = draw_to(r, units) * per,
                                  .lba_count = per};
            assert_int_equal(ftl_submit(d, &cmd), 0);
        }
        assert_int_equal(ftl_run(d, FTL_NEVER), 1);
        done += ftl_poll(d, cpl, 32);
    }
    return (double)n * 1e9 / (double)(ftl_now(d) - start);
}

double wa_gc(const ftl_drive *d)
{
    struct ftl_counters n;
    ftl_counters_get(d, &n);
    return (double)(n.host_bytes + n.gc_bytes) / (double)n.host_bytes;
}
