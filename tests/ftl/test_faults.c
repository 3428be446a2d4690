/* test_faults.c - random commands on random small drives whose media fail, against an oracle.
 *
 * The oracle knows the version of every LBA; user bytes travel through buffer,
 * relocation and media, so a wrong map entry reads as another version or another
 * LBA. ftl_check() runs after every operation. A failure prints its seed. */
#include "common.h"
#include "ftl/ftl_media.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 150, STEPS = 500, OPEN_MAX = 24, LBAS_MAX = 96 };

struct open_cmd {
    uint64_t lba;
    uint32_t lba_count;
    uint8_t opcode, used;
    uint8_t *data;
};

struct world {
    struct rand64 rand;
    struct ftl_config cfg;
    ftl_drive *drive;
    uint32_t *version;              /* per LBA; 0 = never written or trimmed */
    uint8_t *either;                /* per LBA: 1 = a write was refused, maybe half-way */
    uint32_t next_version;
    struct open_cmd open[OPEN_MAX];
    uint32_t lba_bytes, per_unit;
    uint64_t lbas, seed;
    bool lose;                      /* planes and dies may go too */
};

/* Each LBA holds its number and version, over and over. */
static void fill(const struct world *w, uint8_t *bytes, uint64_t lba, uint32_t version)
{
    uint64_t words[2] = {version == 0 ? 0 : lba, version};
    for (uint32_t i = 0; i < w->lba_bytes; i += 16)
        memcpy(bytes + i, words, 16);
}

static const char *number(char text[][24], int *n, uint64_t value)
{
    char *slot = text[(*n)++];
    (void)snprintf(slot, 24, "%llu", (unsigned long long)value);
    return slot;
}

static struct ftl_config random_config(struct rand64 *r)
{
    static const char *const policies[] = {"greedy", "fifo", "random", "d-choices",
                                           "cost-benefit", "windowed-greedy", "cat"};
    static const char *const presets[] = {"pslc", "mlc-25nm", "tlc-128l", "qlc"};
    char text[20][24];
    int n = 0;
#define NUM(v) number(text, &n, v)
    uint64_t channels = 1 + draw_to(r, 2), dies = channels * (1 + draw_to(r, 3));
    uint64_t parity = dies > 1 ? draw_to(r, 2) : 0, frontiers = 1 + draw_to(r, 2);
    uint64_t planes = 1 + draw_to(r, 3), types = 1 + draw_to(r, 4), rows = 1 + draw_to(r, 3);
    uint64_t page = 1 + draw_to(r, 3);
    rows += (dies - parity) * planes * types * page * rows == 1;
    uint64_t sb_units = (dies - parity) * planes * types * rows * page;
    uint64_t wl = planes * types * page;
    /* from the least spare that is allowed up to four superblocks more */
    uint64_t classes = draw_to(r, 2) ? 1 + draw_to(r, 3) : 1;
    uint64_t buffer = classes * wl + draw_to(r, 3 * wl + 1);
    uint64_t gc_buffer = (classes + 1) * wl + draw_to(r, 3 * wl + 1);
    uint64_t open = frontiers * classes;
    uint64_t spare = open + (open < 2 ? 2 : open) + draw_to(r, 4);
    spare += 3 + (buffer + gc_buffer) / sb_units;
    uint64_t sbs = spare + 3 + draw_to(r, 8);
    uint64_t blocks = sbs + draw_to(r, 6);
    struct ftl_config cfg = make_config(
        "wa-reference", 1, "nand.preset", presets[types - 1], "nand.channels", NUM(channels), "nand.dies", NUM(dies), "nand.planes",
        NUM(planes), "nand.page_types", NUM(types), "nand.wordlines_per_block", NUM(rows),
        "nand.page_bytes", NUM(page * 4096), "nand.spare_bytes", NUM(page * 600), "nand.blocks_per_plane", NUM(blocks), "media.faults", "1", "ftl.superblocks",
        NUM(sbs), "raid.parity", NUM(parity), "gc.frontiers", NUM(frontiers), "streams.count", NUM(classes), "gc.policy", policies[draw_to(r, 7)], "gc.choices", "3", "drive.lba_bytes",
        draw_to(r, 2) ? "512" : "4096", "media.payload", "1", "drive.user_bytes",
        NUM((sbs - spare) * sb_units * 4096), "buffer.bytes",
        NUM(buffer * 4096), "buffer.gc_bytes", NUM(gc_buffer * 4096), NULL);
#undef NUM
    cfg.drive_seed = draw(r);
    return cfg;
}

static void verify(struct world *w, const struct open_cmd *o)
{
    uint8_t want[4096];
    for (uint32_t i = 0; i < o->lba_count; i++) {
        fill(w, want, o->lba + i, w->version[o->lba + i]);
        if (!w->either[o->lba + i] && memcmp(want, o->data + (size_t)i * w->lba_bytes, w->lba_bytes) != 0) {
            uint64_t got[2];
            memcpy(got, o->data + (size_t)i * w->lba_bytes, 16);
            fail_msg("seed %llu: LBA %llu reads as LBA %llu version %llu, want version %u",
                     (unsigned long long)w->seed, (unsigned long long)(o->lba + i),
                     (unsigned long long)got[0], (unsigned long long)got[1],
                     w->version[o->lba + i]);
        }
    }
}

/* Only a drive at the end of its life may refuse. */
static void refused(struct world *w, const struct open_cmd *o)
{
    struct ftl_health h;
    assert_int_equal(ftl_health_get(w->drive, &h), 0);
    assert_int_equal(h.read_only, 1);
    memset(w->either + o->lba, 1, o->lba_count);
}

/* An error needs a cause: the end of life for a refused write, a lost plane for what
 * cannot be read or merged. */
static void judge(struct world *w, const struct open_cmd *o, uint16_t status)
{
    struct ftl_health h;
    assert_int_equal(ftl_health_get(w->drive, &h), 0);
    if (status == 0x182 && (o->opcode == FTL_WRITE || o->opcode == FTL_TRIM))
        refused(w, o);
    else if (status == 0x281 && h.planes_dead > 0)
        memset(w->either + o->lba, 1, o->opcode == FTL_WRITE ? o->lba_count : 0);
    else
        assert_int_equal(status, 0);
}

static void collect(struct world *w)
{
    struct ftl_cpl cpl[8];
    uint32_t n = ftl_poll(w->drive, cpl, 8);
    for (uint32_t i = 0; i < n; i++) {
        struct open_cmd *o = &w->open[cpl[i].user];
        assert_true(o->used && o->opcode == cpl[i].opcode);
        judge(w, o, cpl[i].status);
        assert_true(cpl[i].done_at <= ftl_now(w->drive) && cpl[i].done_at >= cpl[i].submitted_at);
        if (o->opcode == FTL_READ && cpl[i].status == 0)
            verify(w, o);
        free(o->data);
        memset(o, 0, sizeof *o);
    }
}

static bool overlaps(const struct world *w, uint64_t lba, uint32_t n)
{
    /* whole units: concurrent writes to one unit have no order */
    uint64_t from = lba / w->per_unit * w->per_unit;
    uint64_t to = (lba + n + w->per_unit - 1) / w->per_unit * w->per_unit;
    for (int i = 0; i < OPEN_MAX; i++)
        if (w->open[i].used && w->open[i].lba < to &&
            w->open[i].lba + w->open[i].lba_count > from)
            return true;
    return false;
}

/* What whole units of a TRIM hold afterwards; edges keep their data. */
static void trim_model(struct world *w, uint64_t lba, uint32_t n)
{
    uint64_t from = (lba + w->per_unit - 1) / w->per_unit * w->per_unit;
    uint64_t to = (lba + n) / w->per_unit * w->per_unit;
    for (uint64_t i = from; i < to; i++)
        w->version[i] = 0;
}

static void send(struct world *w, uint8_t opcode)
{
    uint64_t lba = draw_to(&w->rand, w->lbas);
    uint64_t most = w->lbas - lba < LBAS_MAX ? w->lbas - lba : LBAS_MAX;
    uint32_t n = (uint32_t)(1 + draw_to(&w->rand, draw_to(&w->rand, 3) ? most : most / 8 + 1));
    uint32_t slot = 0;

    n = n > most ? (uint32_t)most : n;
    if (opcode == FTL_FLUSH)
        lba = n = 0;
    else if (overlaps(w, lba, n))
        return;
    while (slot < OPEN_MAX && w->open[slot].used)
        slot++;
    if (slot == OPEN_MAX)
        return;
    struct open_cmd *o = &w->open[slot];
    *o = (struct open_cmd){.lba = lba, .lba_count = n, .opcode = opcode, .used = 1};
    if (opcode == FTL_READ || opcode == FTL_WRITE) {
        o->data = malloc((size_t)n * w->lba_bytes);
        assert_non_null(o->data);
    }
    for (uint32_t i = 0; opcode == FTL_WRITE && i < n; i++) {
        w->version[lba + i] = ++w->next_version;
        fill(w, o->data + (size_t)i * w->lba_bytes, lba + i, w->version[lba + i]);
    }
    if (opcode == FTL_TRIM)
        trim_model(w, lba, n);
    struct ftl_cmd cmd = {.opcode = opcode, .lba = lba, .lba_count = n, .user = slot,
                          .data = o->data, .stream = (uint16_t)draw_to(&w->rand, 4)};
    assert_int_equal(ftl_submit(w->drive, &cmd), 0);
}

static void advance(struct world *w)
{
    ftl_ns next = ftl_next_event(w->drive);
    if (next == FTL_NEVER)
        return;
    ftl_ns to = draw_to(&w->rand, 3) ? next : next + draw_to(&w->rand, 2000000);
    assert_true(ftl_run(w->drive, to) >= 0);
    collect(w);
}

static void finish_all(struct world *w)
{
    while (ftl_open_commands(w->drive) > 0) {
        int r = ftl_run(w->drive, FTL_NEVER);
        if (r != 1)
            fail_msg("seed %llu: %u commands never end (%d)", (unsigned long long)w->seed,
                     ftl_open_commands(w->drive), r);
        collect(w);
    }
    assert_int_equal(ftl_drain(w->drive), 0);
}

static void read_everything(struct world *w)
{
    for (uint64_t lba = 0; lba < w->lbas; lba += LBAS_MAX) {
        struct open_cmd o = {.lba = lba, .opcode = FTL_READ};
        o.lba_count = (uint32_t)(w->lbas - lba < LBAS_MAX ? w->lbas - lba : LBAS_MAX);
        o.data = malloc((size_t)o.lba_count * w->lba_bytes);
        assert_non_null(o.data);
        struct ftl_cmd cmd = {.opcode = FTL_READ, .lba = lba, .lba_count = o.lba_count,
                              .data = o.data};
        struct ftl_cpl cpl = complete(w->drive, &cmd);
        judge(w, &o, cpl.status);
        if (cpl.status == 0)
            verify(w, &o);
        free(o.data);
    }
}

static void maybe_fault(struct world *w)
{
    if (draw_to(&w->rand, 30) != 0)
        return;
    static const uint8_t kinds[] = {FTL_FAULT_PROGRAM, FTL_FAULT_ERASE, FTL_FAULT_PROGRAM,
                                    FTL_FAULT_ERASE,   FTL_FAULT_PLANE, FTL_FAULT_DIE};
    uint64_t what = draw_to(&w->rand, w->lose ? 6 : 4);
    struct ftl_fault f = {.kind = kinds[what], .after = draw_to(&w->rand, 20),
                          .die = (uint32_t)draw_to(&w->rand, w->cfg.nand_dies),
                          .plane = (uint32_t)draw_to(&w->rand, w->cfg.nand_planes)};
    int err = ftl_fault_arm(w->drive, &f);
    assert_true(err == 0 || err == FTL_EAGAIN);
}

static void maybe_untimed(struct world *w)
{
    if (draw_to(&w->rand, 40) != 0)
        return;
    finish_all(w);
    int err = ftl_trim_untimed(w->drive, 0, 0);
    if (err == FTL_EBUSY) {         /* no room for the data of failed programs */
        struct ftl_health h;
        assert_int_equal(ftl_health_get(w->drive, &h), 0);
        assert_int_equal(h.read_only, 1);
        assert_true(h.waiting_units != 0);
        return;
    }
    assert_int_equal(err, 0);
    if (draw_to(&w->rand, 8) == 0) {
        assert_int_equal(ftl_format(w->drive), 0);
        memset(w->version, 0, w->lbas * sizeof *w->version);
        memset(w->either, 0, w->lbas);
    } else {
        uint64_t lba = draw_to(&w->rand, w->lbas), n = draw_to(&w->rand, w->lbas - lba + 1);
        assert_int_equal(ftl_trim_untimed(w->drive, lba, n), 0);
        trim_model(w, lba, (uint32_t)n);
    }
}

static void run_seed(uint64_t seed)
{
    struct world w = {.rand = {seed}, .seed = seed};
    char why[FTL_WHY_MAX];

    w.cfg = random_config(&w.rand);
    int err = ftl_create(&w.cfg, &w.drive, why, sizeof why);
    if (err == FTL_ECONFIG && strstr(why, "bad from the factory") != NULL)
        return;
    assert_int_equal(err, 0);
    w.lose = draw_to(&w.rand, 3) == 0;
    w.lbas = ftl_lba_count(w.drive);
    w.lba_bytes = ftl_lba_bytes(w.drive);
    w.per_unit = 4096 / w.lba_bytes;
    w.version = calloc(w.lbas, sizeof *w.version);
    w.either = calloc(w.lbas, 1);
    assert_true(w.version != NULL && w.either != NULL);
    uint64_t writes = 3 + draw_to(&w.rand, 5);
    for (int step = 0; step < STEPS; step++) {
        uint64_t what = draw_to(&w.rand, 16);
        if (what < writes)
            send(&w, FTL_WRITE);
        else if (what < 10)
            send(&w, FTL_READ);
        else if (what == 10)
            send(&w, draw_to(&w.rand, 3) ? FTL_TRIM : FTL_FLUSH);
        else
            advance(&w);
        maybe_fault(&w);
        maybe_untimed(&w);
        if (ftl_check(w.drive, why, sizeof why) != 0)
            fail_msg("seed %llu step %d: %s", (unsigned long long)seed, step, why);
    }
    finish_all(&w);
    read_everything(&w);
    assert_sound(w.drive);
    free(w.version);
    free(w.either);
    ftl_destroy(w.drive);
}

static void test_random_drives(void **state)
{
    (void)state;
    /* FTL_FAULT_SEED=n repeats one failure, FTL_FAULT_SEEDS=n runs longer. */
    const char *one = getenv("FTL_FAULT_SEED"), *many = getenv("FTL_FAULT_SEEDS");
    uint64_t first = one != NULL ? strtoull(one, NULL, 10) : 1;
    uint64_t last = one != NULL ? first : many != NULL ? strtoull(many, NULL, 10) : SEEDS;
    for (uint64_t seed = first; seed <= last; seed++)
        run_seed(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_drives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
