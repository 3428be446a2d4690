/* test_snapshot.c - a drive in a file: the same drive again, or what NAND held; and bad files. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "ftl/ftl_policy.h"
#include "ftl/ftl_snapshot.h"

/* ---- a file in memory ---------------------------------------------------------------- */
struct bytes {
    uint8_t *at;
    size_t size, room, taken, limit;    /* limit: writing fails beyond it; 0 = none */
};

static int sink(void *user, const void *from, size_t n)
{
    struct bytes *b = user;
    if (b->limit != 0 && b->size + n > b->limit)
        return -1;
    if (b->size + n > b->room) {
        b->room = (b->size + n) * 2;
        b->at = realloc(b->at, b->room);
        assert_non_null(b->at);
    }
    memcpy(b->at + b->size, from, n);
    b->size += n;
    return 0;
}

static int source(void *user, void *to, size_t n)
{
    struct bytes *b = user;
    if (n > b->size - b->taken)
        return -1;
    memcpy(to, b->at + b->taken, n);
    b->taken += n;
    return 0;
}

static struct bytes save(const ftl_drive *d, enum ftl_snapshot_kind kind)
{
    struct bytes b = {0};
    char why[FTL_WHY_MAX] = "";
    if (ftl_snapshot_write(d, kind, "a note", sink, &b, why, sizeof why) != 0)
        fail_msg("%s", why);
    return b;
}

static int try_load(struct bytes *b, const struct ftl_config *cfg, ftl_drive **ret, char *why)
{
    b->taken = 0;
    why[0] = '\0';
    return ftl_snapshot_read(source, b, cfg, NULL, ret, why, FTL_WHY_MAX);
}

static ftl_drive *load(struct bytes *b, const struct ftl_config *cfg)
{
    char why[FTL_WHY_MAX];
    ftl_drive *d = NULL;
    if (try_load(b, cfg, &d, why) != 0)
        fail_msg("%s", why);
    assert_int_equal(b->taken, b->size);        /* no further than its end */
    return d;
}

/* ---- traffic ------------------------------------------------------------------------- */
/* Random timed traffic; the same for equal seeds and states. */
static uint64_t work(ftl_drive *d, uint64_t seed, uint32_t commands, bool payload)
{
    struct rand64 r = {seed};
    struct ftl_cpl cpl[8];
    static uint8_t data[16][4096];
    uint64_t sum = 0;
    uint32_t lbas = 4096 / ftl_lba_bytes(d);

    for (uint32_t sent = 0, open = 0; sent < commands || open > 0;) {
        if (sent < commands && open < 12) {
            uint8_t *at = data[sent % 16];
            memset(at, (int)(draw(&r) & 0xff), 4096);
            uint64_t op = draw_to(&r, 8);
            struct ftl_cmd cmd = {.opcode = op == 0 ? FTL_TRIM : op < 4 ? FTL_READ : FTL_WRITE,
                                  .stream = (uint16_t)draw_to(&r, 3),
                                  .lba = draw_to(&r, ftl_lba_count(d) / lbas) * lbas,
                                  .lba_count = lbas,
                                  .data = payload && op != 0 ? at : NULL};
            assert_int_equal(ftl_submit(d, &cmd), 0);
            sent++;
            open++;
            continue;
        }
        assert_int_equal(ftl_run(d, FTL_NEVER), 1);
        for (uint32_t n = ftl_poll(d, cpl, 8); n > 0; n--, open--)
            sum = sum * 31 + cpl[n - 1].done_at + cpl[n - 1].status + (payload ? data[n][5] : 0);
    }
    return sum;
}

#define SMALL                                                                                  \
    "nand.channels", "1", "nand.dies", "2", "nand.wordlines_per_block", "8",                   \
        "nand.blocks_per_plane", "16", "ftl.superblocks", "12", "nand.page_bytes", "4096",     \
        "nand.spare_bytes", "600", "buffer.bytes", "32768", "buffer.gc_bytes", "32768",        \
        "drive.user_bytes", "262144", "host.open_max", "16", "drive.lba_bytes", "4096"

static struct ftl_config flavour(int i)
{
    switch (i) {
    case 0:                         /* timing alone, the policy draws */
        return make_config("wa-reference", 1, SMALL, "gc.policy", "random", "gc.frontiers", "2", NULL);
    case 1:                         /* user bytes, page reads of collection under way */
        return make_config("wa-reference", 1, SMALL, "media.payload", "1", "gc.policy", "d-choices",
                           "sched.suspend", "1", "sched.coalesce", "1", NULL);
    case 2:                         /* the map on the medium */
        return make_config("wa-reference", 1, SMALL, "map.cache_ppm", "300000", "map.page_entries",
                           "8", "drive.user_bytes", "196608", NULL);
    case 3:                         /* a policy with state; streams */
        return make_config("wa-reference", 1, SMALL, "ftl.superblocks", "16", "streams.count", "2",
                           "streams.mode", "auto", "drive.user_bytes", "131072", "gc.pacing", "idle",
                           NULL);
    case 4:                         /* blocks that fail, parity, draws of the NAND model */
        return make_config("wa-reference", 1, SMALL, "nand.dies", "3", "raid.parity", "1",
                           "media.faults", "1", "media.payload", "1", "wear.spread", "8", NULL);
    case 5:                         /* pSLC cache and pre-read */
        return make_config("wa-reference", 1, SMALL, "nand.preset", "tlc-128l", "nand.planes", "1",
                           "nand.wordlines_per_block", "8", "nand.page_bytes", "4096",
                           "nand.spare_bytes", "600", "ftl.superblocks", "16", "pslc.superblocks", "4",
                           "gc.frontiers", "2",
                           "preread.cache_bytes", "65536", "preread.ahead_bytes", "16384", NULL);
    case 7:                         /* aged cells, the decoder's curves; 8: the decoder itself */
    case 8:
        return make_config("wa-reference", 1, "nand.preset", "etlc-x3-9070", "nand.channels", "2",
                           "nand.dies", "4", "nand.planes", "1", "nand.wordlines_per_block", "8",
                           "nand.blocks_per_plane", "16", "ftl.superblocks", "10", "raid.parity", "1",
                           "drive.user_bytes", "3145728", "drive.lba_bytes", "4096", "buffer.bytes",
                           "1048576", "buffer.gc_bytes", "1048576", "media.payload", "1",
                           "media.faults", "1", "media.ecc", i == 7 ? "1" : "decoder",
                           "media.start_cycles", "3000", NULL);
    default:                        /* the journal */
        return make_config("wa-reference", 1, SMALL, "nand.blocks_per_plane", "64", "media.payload",
                           "1", "journal.enabled", "1", "gc.frontiers", "2", "drive.user_bytes",
                           "131072", "buffer.bytes", "65536", "buffer.gc_bytes", "65536", NULL);
    }
}
enum { FLAVOURS = 9 };

/* Three drives of one history: one goes on, one is saved and goes on, one is loaded. */
static void test_state(void **state)
{
    (void)state;
    for (int i = 0; i < FLAVOURS; i++) {
        struct ftl_config cfg = flavour(i);
        ftl_drive *never = make_drive(&cfg), *saved = make_drive(&cfg);
        bool payload = cfg.media_payload;
        if (i != 6)
            sequential_fill(never);
        if (i != 6)
            sequential_fill(saved);
        assert_true(work(never, 1, 700, payload) == work(saved, 1, 700, payload));
        struct bytes file = save(saved, FTL_SNAPSHOT_STATE);    /* events are under way */
        ftl_drive *loaded = load(&file, NULL);
        uint64_t hash = ftl_state_hash(never);
        assert_true(ftl_state_hash(saved) == hash);
        assert_true(ftl_state_hash(loaded) == hash);
        assert_int_equal(ftl_now(loaded), ftl_now(never));
        uint64_t sum = work(never, 2, 900, payload);
        assert_true(work(saved, 2, 900, payload) == sum);
        ftl_destroy(saved);                         /* the loaded one needs nothing of it */
        assert_true(work(loaded, 2, 900, payload) == sum);
        assert_int_equal(ftl_drain(never), 0);
        assert_int_equal(ftl_drain(loaded), 0);
        struct ftl_counters a, b;
        ftl_counters_get(never, &a);
        ftl_counters_get(loaded, &b);
        assert_memory_equal(&a, &b, sizeof a);
        assert_true(ftl_state_hash(never) == ftl_state_hash(loaded));
        assert_sound(loaded);
        /* the same history is the same bytes: no pointer and no rest of anything in them */
        struct bytes x = save(never, FTL_SNAPSHOT_STATE), y = save(loaded, FTL_SNAPSHOT_STATE);
        assert_int_equal(x.size, y.size);
        assert_memory_equal(x.at, y.at, x.size);
        free(x.at);
        free(y.at);
        free(file.at);
        ftl_destroy(never);
        ftl_destroy(loaded);
    }
}

/* After untimed work the NAND model is behind; the state knows. */
static void test_state_untimed(void **state)
{
    (void)state;
    struct ftl_config cfg = make_config("wa-reference", 4, NULL);
    ftl_drive *a = make_drive(&cfg);
    struct rand64 r = {5};
    sequential_fill(a);
    random_writes(a, &r, ftl_lba_count(a) / 4);
    struct bytes file = save(a, FTL_SNAPSHOT_STATE);
    ftl_drive *b = load(&file, &cfg);
    free(file.at);
    assert_true(work(a, 3, 500, false) == work(b, 3, 500, false));
    struct rand64 s = {6}, t = {6};
    random_writes(a, &s, 3000);
    random_writes(b, &t, 3000);
    assert_true(ftl_state_hash(a) == ftl_state_hash(b));
    assert_sound(b);
    ftl_destroy(a);
    ftl_destroy(b);
}

/* Other policies from the same state on; any other key is refused and named. */
static void test_other_policies(void **state)
{
    (void)state;
    struct ftl_config cfg = flavour(0), other = cfg;
    char why[FTL_WHY_MAX];
    ftl_drive *a = make_drive(&cfg), *b = NULL;
    sequential_fill(a);
    (void)work(a, 1, 500, false);
    struct bytes file = save(a, FTL_SNAPSHOT_STATE);
    struct ftl_counters from_random, from_fifo;

    (void)snprintf(other.gc_policy, sizeof other.gc_policy, "fifo");
    (void)snprintf(other.gc_pacing, sizeof other.gc_pacing, "proportional");
    other.gc_pace_ppm = 300000;
    b = load(&file, &other);
    assert_true(ftl_state_hash(a) == ftl_state_hash(b));
    (void)work(a, 2, 4000, false);
    (void)work(b, 2, 4000, false);
    ftl_counters_get(a, &from_random);
    ftl_counters_get(b, &from_fifo);
    assert_int_equal(from_random.host_writes, from_fifo.host_writes);
    assert_true(from_random.gc_bytes != from_fifo.gc_bytes);
    assert_sound(b);
    ftl_destroy(b);

    static const struct {
        size_t offset;
        const char *key;
    } fixed[] = {{offsetof(struct ftl_config, gc_frontiers), "gc.frontiers=1: the snapshot has 2"},
                 {offsetof(struct ftl_config, drive_seed), "drive.seed=2: the snapshot has 1"},
                 {offsetof(struct ftl_config, fw_read_ns), "fw.read_ns=4001: the snapshot has 4000"}};
    static const uint64_t value[] = {1, 2, 4001};
    for (int i = 0; i < 3; i++) {
        other = cfg;
        if (i == 2)
            other.fw_read_ns = cfg.fw_read_ns + 1;
        else
            memcpy((char *)&other + fixed[i].offset, &value[i], 8);
        b = NULL;
        assert_int_equal(try_load(&file, &other, &b, why), FTL_ECONFIG);
        assert_null(b);
        if (i < 2)
            assert_non_null(strstr(why, fixed[i].key));
        else
            assert_non_null(strstr(why, "fw.read_ns="));
    }
    free(file.at);
    ftl_destroy(a);
}

/* ---- media --------------------------------------------------------------------------- */
static void expect_versions(ftl_drive *d, const uint32_t *version, uint32_t count)
{
    uint8_t data[4096], want[4096];
    for (uint32_t lba = 0; lba < count; lba++) {
        (void)do_command(d, FTL_READ, lba, 1, data);
        stamp(want, lba, version[lba]);
        assert_memory_equal(data, want, 4096);
    }
}

static void write_some(ftl_drive *d, uint32_t *version, uint32_t count, uint32_t n, struct rand64 *r)
{
    uint8_t data[4096];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lba = (uint32_t)draw_to(r, count);
        stamp(data, lba, ++version[lba]);
        (void)do_command(d, FTL_WRITE, lba, 1, data);
    }
}

enum { LBAS = 32 };

/* Saved, mounted under another policy, written on, and again: from a clean shutdown, and every other time
 * from a loss; without capacitors just after a FLUSH. */
static void test_media(void **state)
{
    (void)state;
    struct ftl_power_cut cut = {.struct_size = sizeof cut, .energy_ppm = 1000000};
    for (int plp = 0; plp < 2; plp++) {
        struct ftl_config cfg = flavour(6);
        uint32_t version[LBAS] = {0};
        struct rand64 r = {9};
        cfg.power_plp = (uint64_t)plp;
        ftl_drive *d = make_drive(&cfg);
        for (int round = 0; round < 6; round++) {
            struct ftl_power_report report = {.struct_size = sizeof report};
            bool clean = round % 2 == 0;
            write_some(d, version, LBAS, 150, &r);
            if (plp == 0)
                (void)do_command(d, FTL_FLUSH, 0, 0, NULL);
            if (clean)
                assert_int_equal(ftl_power_off(d, NULL), 0);
            else
                assert_int_equal(ftl_power_cut(d, &cut, NULL), 0);
            struct bytes file = save(d, FTL_SNAPSHOT_MEDIA);
            ftl_ns then = ftl_now(d);
            ftl_destroy(d);
            (void)snprintf(cfg.gc_policy, sizeof cfg.gc_policy, "%s", round % 3 ? "greedy" : "fifo");
            cfg.fw_read_ns += 100;
            d = load(&file, &cfg);
            free(file.at);
            assert_false(ftl_power_is_on(d));
            assert_int_equal(ftl_now(d), then);
            assert_int_equal(ftl_power_on(d, &report), 0);
            assert_int_equal(report.start, clean ? FTL_START_CLEAN
                                           : plp ? FTL_START_FLUSHED : FTL_START_SCAN);
            assert_true(ftl_now(d) > then);         /* the start took its time */
            assert_sound(d);
            expect_versions(d, version, LBAS);
        }
        ftl_destroy(d);
    }
}

static void test_mount(void **state)
{
    (void)state;
    struct ftl_config cfg = flavour(6);
    char path[] = "/tmp/ftl-snapshot-XXXXXX", why[FTL_WHY_MAX], beside[64];
    uint32_t version[LBAS] = {0};
    struct rand64 r = {4};
    struct ftl_power_report report = {.struct_size = sizeof report};
    struct ftl_snapshot_info info = {.struct_size = sizeof info};
    ftl_drive *d = make_drive(&cfg), *again = NULL;

    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    write_some(d, version, LBAS, 100, &r);
    assert_int_equal(ftl_snapshot_save(d, FTL_SNAPSHOT_STATE, path, "a state", why, sizeof why), 0);
    assert_int_equal(ftl_mount(path, NULL, NULL, &again, NULL, why, sizeof why), FTL_ESNAPSHOT);
    assert_non_null(strstr(why, "a state, not media"));
    assert_int_equal(ftl_snapshot_load(path, NULL, NULL, &again, why, sizeof why), 0);
    expect_versions(again, version, LBAS);
    ftl_destroy(again);
    again = NULL;

    assert_int_equal(ftl_power_off(d, NULL), 0);
    assert_int_equal(ftl_snapshot_save(d, FTL_SNAPSHOT_MEDIA, path, "shelf 3", why, sizeof why), 0);
    assert_int_equal(ftl_mount(path, NULL, NULL, &again, &report, why, sizeof why), 0);
    assert_int_equal(report.start, FTL_START_CLEAN);
    expect_versions(again, version, LBAS);
    assert_int_equal(ftl_snapshot_info(path, &info, why, sizeof why), 0);
    assert_int_equal(info.version, 1);
    assert_int_equal(info.kind, FTL_SNAPSHOT_MEDIA);
    assert_int_equal(info.seed, cfg.drive_seed);
    assert_int_equal(info.now, ftl_now(d));
    assert_true(info.loadable);
    assert_string_equal(info.note, "shelf 3");
    assert_string_equal(info.config.nand_preset, cfg.nand_preset);
    assert_int_equal(info.config.drive_user_bytes, cfg.drive_user_bytes);
    assert_int_equal(info.config.media_payload, 1);  /* the last key of all */

    /* whole or not at all, and nothing is left beside it */
    (void)snprintf(beside, sizeof beside, "%s.part", path);
    assert_int_equal(access(beside, F_OK), -1);
    assert_int_equal(ftl_snapshot_save(d, FTL_SNAPSHOT_MEDIA, "/tmp", NULL, why, sizeof why), FTL_EIO);
    assert_int_equal(access("/tmp.part", F_OK), -1);
    assert_non_null(strstr(why, "/tmp: is there and not a plain file"));
    assert_int_equal(ftl_snapshot_save(d, FTL_SNAPSHOT_MEDIA, "/nowhere/at/all", NULL, why, sizeof why),
                     FTL_EIO);
    assert_non_null(strstr(why, "/nowhere/at/all"));
    /* what follows the end is not ours */
    FILE *f = fopen(path, "ab");
    assert_non_null(f);
    (void)fputc('x', f);
    (void)fclose(f);
    ftl_drive *none = NULL;
    assert_int_equal(ftl_mount(path, NULL, NULL, &none, NULL, why, sizeof why), FTL_ESNAPSHOT);
    assert_non_null(strstr(why, "goes on after its end"));
    assert_int_equal(remove(path), 0);
    assert_int_equal(ftl_mount(path, NULL, NULL, &none, NULL, why, sizeof why), FTL_EIO);
    assert_null(none);
    ftl_destroy(again);
    ftl_destroy(d);
}

static void test_refused(void **state)
{
    (void)state;
    struct ftl_config cfg = flavour(0), journal = flavour(6);
    ftl_drive *d = make_drive(&cfg), *j = make_drive(&journal);
    char why[FTL_WHY_MAX], note[300];
    struct bytes b = {0};
    struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba_count = 1};
    struct ftl_cpl cpl;

    assert_int_equal(ftl_snapshot_write(d, FTL_SNAPSHOT_MEDIA, NULL, sink, &b, why, sizeof why), FTL_EINVAL);
    assert_non_null(strstr(why, "journal.enabled=1"));
    assert_int_equal(ftl_snapshot_write(j, FTL_SNAPSHOT_MEDIA, NULL, sink, &b, why, sizeof why), FTL_EBUSY);
    assert_non_null(strstr(why, "power is on"));
    assert_int_equal(ftl_submit(d, &cmd), 0);
    assert_int_equal(ftl_snapshot_write(d, FTL_SNAPSHOT_STATE, NULL, sink, &b, why, sizeof why), FTL_EBUSY);
    assert_non_null(strstr(why, "commands are open"));
    assert_int_equal(ftl_run(d, FTL_NEVER), 1);
    assert_int_equal(ftl_snapshot_write(d, FTL_SNAPSHOT_STATE, NULL, sink, &b, why, sizeof why), FTL_EBUSY);
    assert_int_equal(ftl_poll(d, &cpl, 1), 1);
    memset(note, 'x', sizeof note);
    note[256] = '\0';
    assert_int_equal(ftl_snapshot_write(d, FTL_SNAPSHOT_STATE, note, sink, &b, why, sizeof why), FTL_EINVAL);
    assert_int_equal(b.size, 0);                    /* refused before the first byte */
    note[255] = '\0';
    assert_int_equal(ftl_snapshot_write(d, FTL_SNAPSHOT_STATE, note, sink, &b, why, sizeof why), 0);
    b.limit = b.size - 1;
    b.size = 0;
    assert_int_equal(ftl_snapshot_write(d, FTL_SNAPSHOT_STATE, note, sink, &b, why, sizeof why), FTL_EIO);
    assert_int_equal(ftl_snapshot_write(d, (enum ftl_snapshot_kind)3, NULL, sink, &b, why, sizeof why),
                     FTL_EINVAL);
    free(b.at);
    ftl_destroy(d);
    ftl_destroy(j);
}

/* ---- bad files ----------------------------------------------------------------------- */
enum { HEADER = 96 };               /* FORMAT.md */

static void expect_refused(struct bytes *b, const char *what, size_t at)
{
    char why[FTL_WHY_MAX];
    ftl_drive *d = NULL;
    int err = try_load(b, NULL, &d, why);
    if (err != FTL_ESNAPSHOT || d != NULL)
        fail_msg("%s at byte %zu of %zu: %d %s", what, at, b->size, err, why);
    if (strlen(why) < 10 || strchr(why, '\n') != NULL)
        fail_msg("%s at byte %zu: no reason: \"%s\"", what, at, why);
}

static void seal(struct bytes *b)
{
    uint64_t sum = XXH3_64bits(b->at, HEADER - 8);
    for (int i = 0; i < 8; i++)
        b->at[HEADER - 8 + i] = (uint8_t)(sum >> 8 * i);
}

/* The configuration of a file, with one text in the place of another. */
static struct bytes edit(const struct bytes *b, const char *old, const char *text)
{
    size_t n = (size_t)b->at[52] | (size_t)b->at[53] << 8, cut = strlen(old), put = strlen(text);
    struct bytes ret = {.at = malloc(b->size + put)};
    char *config = malloc(n + 1);

    assert_non_null(ret.at);
    assert_non_null(config);
    memcpy(config, b->at + HEADER, n);
    config[n] = '\0';
    char *at = strstr(config, old);
    assert_non_null(at);
    size_t from = (size_t)(at - config);
    memcpy(ret.at, b->at, HEADER + from);
    memcpy(ret.at + HEADER + from, text, put);
    memcpy(ret.at + HEADER + from + put, b->at + HEADER + from + cut, b->size - HEADER - from - cut);
    ret.size = b->size - cut + put;
    n = n - cut + put;
    ret.at[52] = (uint8_t)n;
    ret.at[53] = (uint8_t)(n >> 8);
    uint64_t sum = XXH3_64bits(ret.at + HEADER, n);
    for (int i = 0; i < 8; i++)
        ret.at[56 + i] = (uint8_t)(sum >> 8 * i);
    seal(&ret);
    free(config);
    return ret;
}

/* Files of other versions of the library: fewer keys, more keys, impossible values. */
static void test_other_keys(void **state)
{
    (void)state;
    static const struct {
        const char *old, *text, *why;
    } cases[] = {
        {"journal.entry_ns = 4\n", "", NULL},       /* its default is 4 */
        {"gc.choices = 10\n", "gc.choices = 10\nno.key = 1\n", "configuration: no.key: unknown key"},
        {"gc.choices = 10\n", "gc.choices = 10\ngc.choices = 10\n", "gc.choices: is there twice"},
        {"gc.choices = 10\n", "gc.choices = 010\n", "gc.choices has no value that can be"},
        {"gc.choices = 10\n", "gc.choices = -1\n", "gc.choices has no value that can be"},
        {"gc.choices = 10\n", "gc.choices 10\n", "a line is not `key = value`"},
        {"gc.choices = 10\n", "gc.choices = 99999999999999999999\n", "no value that can be"},
        {"gc.choices = 10\n", "gc.choices = 0\n", "gc.choices"},      /* ftl_config_check() */
        {"nand.planes = 1\n", "nand.planes = 2\n", NULL},
    };
    struct ftl_config cfg = flavour(6);
    (void)snprintf(cfg.gc_policy, sizeof cfg.gc_policy, "greedy");
    ftl_drive *d = make_drive(&cfg);
    assert_int_equal(ftl_power_off(d, NULL), 0);
    struct bytes file = save(d, FTL_SNAPSHOT_MEDIA);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bytes other = edit(&file, cases[i].old, cases[i].text);
        char why[FTL_WHY_MAX];
        ftl_drive *r = NULL;
        int err = try_load(&other, NULL, &r, why);
        if (i == 0) {
            assert_int_equal(err, 0);
            assert_int_equal(ftl_power_on(r, NULL), 0);
            ftl_destroy(r);
        } else if (err >= 0 || r != NULL || (cases[i].why != NULL && strstr(why, cases[i].why) == NULL)) {
            fail_msg("%s: %d %s", cases[i].text, err, why);
        }
        free(other.at);
    }
    free(file.at);
    ftl_destroy(d);
}

static void test_bad_files(void **state)
{
    (void)state;
    struct ftl_config cfg = flavour(6);
    char why[FTL_WHY_MAX];
    ftl_drive *d = make_drive(&cfg), *none = NULL;
    struct bytes file[2];
    uint32_t version[LBAS] = {0};
    struct rand64 r = {2};

    write_some(d, version, LBAS, 60, &r);
    file[0] = save(d, FTL_SNAPSHOT_STATE);
    assert_int_equal(ftl_power_off(d, NULL), 0);
    file[1] = save(d, FTL_SNAPSHOT_MEDIA);
    ftl_destroy(d);
    for (int k = 0; k < 2; k++) {
        struct bytes *b = &file[k];
        size_t size = b->size;
        assert_memory_equal(b->at, "FTLDRIVE\1\0\0\0", 12);
        assert_int_equal(b->at[12], k == 0 ? 1 : 2);
        for (size_t i = 0; i < HEADER; i++)         /* each byte in turn, each bit of it and all */
            for (int bit = 0; bit < 9; bit++) {
                uint8_t was = b->at[i];
                b->at[i] ^= bit < 8 ? (uint8_t)(1 << bit) : 0xff;
                expect_refused(b, "flipped", i);
                b->at[i] = was;
            }
        for (b->size = 0; b->size < HEADER; b->size++)
            expect_refused(b, "cut", b->size);
        for (int i = 0; i < 150; i++) {             /* and anywhere behind */
            size_t at = HEADER + (size_t)draw_to(&r, size - HEADER);
            b->size = at;
            expect_refused(b, "cut", at);
            b->size = size;
            uint8_t bit = (uint8_t)(1 << draw_to(&r, 8));
            b->at[at] ^= bit;
            expect_refused(b, "flipped", at);
            b->at[at] ^= bit;
        }
        for (size_t at = size - 40; at < size; at++) {
            b->size = at;
            expect_refused(b, "cut", at);
        }
        b->size = size;
        /* whole, but of another version: older, newer */
        for (int v = 0; v < 3; v += 2) {
            b->at[8] = (uint8_t)v;
            seal(b);
            assert_int_equal(try_load(b, NULL, &none, why), FTL_ESNAPSHOT);
            assert_non_null(strstr(why, v == 0 ? "format version 0, this library reads 1"
                                               : "format version 2, this library reads 1"));
        }
        b->at[8] = 1;
        b->at[32] ^= 1;                             /* another build */
        seal(b);
        if (k == 0) {
            assert_int_equal(try_load(b, NULL, &none, why), FTL_ESNAPSHOT);
            assert_non_null(strstr(why, "another build"));
        }
        b->at[32] ^= 1;
        b->at[31] = 0x11;                           /* 2^60 ns and more */
        seal(b);
        assert_int_equal(try_load(b, NULL, &none, why), FTL_ESNAPSHOT);
        assert_non_null(strstr(why, "beyond 36 years"));
        b->at[31] = 0;
        b->at[12] = 7;
        seal(b);
        assert_int_equal(try_load(b, NULL, &none, why), FTL_ESNAPSHOT);
        assert_non_null(strstr(why, "kind 7"));
        b->at[12] = k == 0 ? 2 : 1;                 /* a state is no media, and the reverse */
        seal(b);
        expect_refused(b, "kind", 12);
        b->at[12] = k == 0 ? 1 : 2;
        seal(b);
        ftl_destroy(load(b, NULL));                 /* it was whole all the time */
        free(b->at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state),  cmocka_unit_test(test_state_untimed),
        cmocka_unit_test(test_other_policies), cmocka_unit_test(test_media),
        cmocka_unit_test(test_mount),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bad_files), cmocka_unit_test(test_other_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
