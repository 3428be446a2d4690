/* test_random.c - long random lives of small devices against a plain oracle.
 *
 * The seed chooses geometry, scheme and every step: erase (normal or SLC mode), fill the
 * next word line, read any page, cut the power in any mode, fork and go on with the copy,
 * save and go on with what was loaded. The oracle knows for each page what a read must
 * give: a status and, when good, the bytes. */
#include "help.h"

enum { BLOCKS = 3, WORDLINES = 4, PAGES = WORDLINES * 4, STEPS = 300, SEEDS = 1000 };

enum content { ERASED, GOOD, BAD };

struct oracle_page {
    enum content content;
    uint32_t tag;
    bool faint; /* looks erased, is not clean */
};

struct oracle_block {
    struct oracle_page page[PAGES];
    uint32_t filled; /* steps of the scheme */
    uint32_t erases;
    bool slc, spoilt; /* spoilt: erase cut short; all programs go bad */
    bool torn;        /* .. and reads garbage at once */
};

struct life {
    nand_dev *dev;
    struct nand_profile prof;
    struct oracle_block block[2][BLOCKS]; /* by plane */
    uint64_t seed, draws;
    uint32_t tags, types;
    nand_ns now;
};

static uint32_t draw(struct life *l, uint32_t n)
{
    return (uint32_t)((nand_draw(l->seed, 1000, 0, l->draws++) >> 32) * n >> 32);
}

static void fill(uint8_t *bytes, uint32_t size, uint32_t tag)
{
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(tag * 2654435761u >> i % 4 * 8) ^ (uint8_t)i;
}

static void begin(struct life *l, uint64_t seed)
{
    static const char *const presets[] = {"etlc-x3-9070", "qlc-2pass", "mlc-25nm-paged", "qlc"};

    memset(l, 0, sizeof *l);
    l->seed = seed;
    l->prof = small(presets[draw(l, 4)], 1, 1, BLOCKS, 1 + draw(l, WORDLINES));
    l->prof.geo.planes = 2;
    l->prof.geo.page_bytes = 512;
    l->prof.geo.spare_bytes = 64;
    l->prof.time.partial_bytes = 256;
    l->prof.geo.ecc_bytes_per_kib = 0;
    l->types = l->prof.geo.page_types;
    l->dev = make(&l->prof, seed, NAND_WITH_CONTENTS | (draw(l, 2) ? NAND_COMPRESS : 0));
}

/* ---- what a step fills, worked out by playing the published order -------------------- */

struct target {
    uint32_t first, count; /* pages loaded */
    bool shows;            /* they become readable */
};

static struct target next_target(const struct life *l, const struct oracle_block *b)
{
    uint32_t n = l->prof.geo.wordlines_per_block, step = 0;

    if (b->slc)
        return (struct target){b->filled, 1, true};
    if (l->prof.scheme == NAND_SCHEME_ONE_PASS)
        return (struct target){b->filled * l->types, l->types, true};
    for (uint32_t i = 0; i <= n; i++) { /* first visit of i, then second visit of i - 1 */
        if (i < n && step++ == b->filled)
            return l->prof.scheme == NAND_SCHEME_PAGED
                       ? (struct target){2 * i, 1, true}
                       : (struct target){i * l->types, l->types, false};
        if (i > 0 && step++ == b->filled)
            return l->prof.scheme == NAND_SCHEME_PAGED
                       ? (struct target){2 * (i - 1) + 1, 1, true}
                       : (struct target){(i - 1) * l->types, l->types, true};
    }
    return (struct target){0, 0, false};
}

static uint32_t total_steps(const struct life *l, const struct oracle_block *b)
{
    uint32_t n = l->prof.geo.wordlines_per_block;

    return b->slc || l->prof.scheme == NAND_SCHEME_ONE_PASS ? n : 2 * n;
}

/* ---- steps -------------------------------------------------------------------------- */

static void power_back(struct life *l)
{
    l->now += 10000000;
    assert_int_equal(nand_power_on(l->dev, l->now), 0);
}

static bool arm_cut(struct life *l, struct nand_cut *cut)
{
    if (draw(l, 5) != 0)
        return false;
    *cut = (struct nand_cut){.at_op = nand_op_count(l->dev) + 1,
                             .mode = (enum nand_cut_mode)draw(l, NAND_CUT_MODES),
                             .seed = l->seed};
    assert_int_equal(nand_cut_arm(l->dev, cut), 0);
    return true;
}

static bool is_faint(const struct nand_cut *cut)
{
    return cut->mode == NAND_CUT_FAINT_PROG || cut->mode == NAND_CUT_FAINT_ERASE;
}

static void expect_erase(struct oracle_block *b, bool slc, const struct nand_cut *cut)
{
    if (cut && cut->mode == NAND_CUT_BEFORE)
        return;
    uint32_t erases = b->erases + 1;
    memset(b, 0, sizeof *b);
    b->erases = erases;
    b->slc = slc;
    if (cut && cut->mode != NAND_CUT_AFTER) {
        b->spoilt = true;
        b->torn = !is_faint(cut);
    }
}

static void step_erase(struct life *l)
{
    uint32_t mask = 1 + draw(l, 3), block = draw(l, BLOCKS);
    struct nand_req req = op_mask(NAND_OP_ERASE, 0, mask, block, 0);
    struct nand_cut cut;
    bool cutting = arm_cut(l, &cut);

    req.flags = draw(l, 3) == 0 ? NAND_F_SLC : 0;
    struct nand_res r = must(l->dev, l->now, req);
    assert_int_equal(r.status, cutting ? NAND_CUT : NAND_OK);
    l->now = r.done_at;
    for (uint32_t p = 0; p < 2; p++)
        if (mask >> p & 1)
            expect_erase(&l->block[p][block], req.flags, cutting ? &cut : NULL);
    if (cutting)
        power_back(l);
}

static void expect_program(const struct life *l, struct oracle_block *b, struct target target,
                           uint32_t tag, const struct nand_cut *cut)
{
    bool torn = cut && cut->mode != NAND_CUT_AFTER && !is_faint(cut), was_faint = false;

    if (cut && cut->mode == NAND_CUT_BEFORE)
        return;
    for (uint32_t i = 0; i < target.count; i++)
        was_faint |= b->page[target.first + i].faint;
    if (cut && is_faint(cut)) {
        for (uint32_t i = 0; i < target.count; i++)
            b->page[target.first + i].faint = true;
        return;
    }
    b->filled++;
    for (uint32_t i = 0; i < target.count; i++) {
        struct oracle_page *page = &b->page[target.first + i];
        bool bad = torn || was_faint || b->spoilt || page->content == BAD;
        page->faint = false;
        if (bad)
            page->content = BAD;
        else if (target.shows)
            page->content = GOOD;
        page->tag = tag + i;
    }
    if (cut && cut->mode == NAND_CUT_PAIRED_PAGE && l->prof.scheme == NAND_SCHEME_PAGED &&
        !b->slc)
        b->page[target.first & ~1u].content = BAD;
}

static void load_pages(struct life *l, uint32_t plane, uint32_t block, struct target target,
                       uint32_t tag)
{
    uint8_t bytes[576];

    for (uint32_t i = 0; i < target.count; i++) {
        fill(bytes, sizeof bytes, tag + i);
        (void)must(l->dev, l->now,
                   data_in(0, 1u << plane, block, target.first + i, sizeof bytes, bytes));
    }
}

static void step_program(struct life *l)
{
    uint32_t plane = draw(l, 2), block = draw(l, BLOCKS), tag = l->tags += 16;
    struct oracle_block *b = &l->block[plane][block];
    struct target target = next_target(l, b);
    struct nand_cut cut;

    if (b->filled == total_steps(l, b))
        return;
    load_pages(l, plane, block, target, tag);
    bool cutting = arm_cut(l, &cut);
    struct nand_res r =
        must(l->dev, l->now, op_mask(NAND_OP_PROG, 0, 1u << plane, block, target.first));
    assert_int_equal(r.status, cutting ? NAND_CUT : NAND_OK);
    l->now = r.done_at > l->now ? r.done_at : l->now;
    expect_program(l, b, target, tag, cutting ? &cut : NULL);
    if (cutting)
        power_back(l);
}

/* A page is readable as far as the scheme has come; otherwise it looks erased. */
static bool is_shown(const struct life *l, const struct oracle_block *b, uint32_t page)
{
    struct oracle_block replay = {.slc = b->slc};

    for (; replay.filled < b->filled; replay.filled++) {
        struct target t = next_target(l, &replay);
        if (t.shows && page >= t.first && page < t.first + t.count)
            return true;
    }
    return false;
}

static void step_read(struct life *l)
{
    uint32_t plane = draw(l, 2), block = draw(l, BLOCKS);
    const struct oracle_block *b = &l->block[plane][block];
    uint32_t n = l->prof.geo.wordlines_per_block;
    uint32_t page = draw(l, b->slc ? n : n * l->types);
    bool shown = is_shown(l, b, page);
    uint8_t got[576], want[576];
    int expected = b->torn                                     ? NAND_GARBAGE
                   : !shown                                    ? NAND_ERASED
                   : b->spoilt || b->page[page].content == BAD ? NAND_GARBAGE
                                                               : NAND_OK;

    struct nand_res r = must(l->dev, l->now, op_at(NAND_OP_READ, 0, plane, block, page));
    l->now = r.done_at;
    if (r.status != expected)
        fail_msg("seed %llu: plane %u block %u page %u reads %d instead of %d",
                 (unsigned long long)l->seed, plane, block, page, r.status, expected);
    l->now = must(l->dev, l->now, data_out(0, plane, sizeof got, got)).done_at;
    if (expected == NAND_OK)
        fill(want, sizeof want, b->page[page].tag);
    else
        memset(want, 0xff, sizeof want);
    if (expected == NAND_GARBAGE)
        assert_memory_not_equal(got, want, sizeof got);
    else
        assert_memory_equal(got, want, sizeof got);
}

static void step_move(struct life *l)
{
    struct buffer file = {0};
    uint64_t before, after;
    nand_dev *next;

    assert_int_equal(nand_state_hash(l->dev, &before), 0);
    if (draw(l, 2)) {
        assert_int_equal(nand_fork(l->dev, &next), 0);
    } else {
        assert_int_equal(nand_save(l->dev, sink, &file), 0);
        assert_int_equal(nand_load(source, &file, &next), 0);
        free(file.bytes);
    }
    nand_destroy(l->dev);
    l->dev = next;
    assert_int_equal(nand_state_hash(l->dev, &after), 0);
    assert_true(before == after);
}

static void check_blocks(struct life *l)
{
    for (uint32_t p = 0; p < 2; p++)
        for (uint32_t b = 0; b < BLOCKS; b++) {
            struct nand_block_info info;
            uint32_t shown = 0;
            assert_int_equal(nand_block_info(l->dev, 0, p, b, &info), 0);
            for (uint32_t page = 0; page < PAGES; page++)
                shown += is_shown(l, &l->block[p][b], page);
            assert_int_equal(info.pages_written, shown);
            assert_int_equal(info.erase_count, l->block[p][b].erases);
            assert_int_equal(info.slc, l->block[p][b].slc);
        }
}

static uint64_t live(uint64_t seed)
{
    static struct life l;
    uint64_t hash;

    begin(&l, seed);
    for (int i = 0; i < STEPS; i++) {
        uint32_t what = draw(&l, 100);
        if (what < 10)
            step_erase(&l);
        else if (what < 50)
            step_program(&l);
        else if (what < 97)
            step_read(&l);
        else
            step_move(&l);
        check_blocks(&l);
    }
    assert_int_equal(nand_state_hash(l.dev, &hash), 0);
    nand_destroy(l.dev);
    return hash;
}

static void random_lives_match_the_oracle(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        (void)live(seed);
}

static void one_seed_repeats_two_differ(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        assert_true(live(seed) == live(seed));
        assert_true(live(seed) != live(seed + 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_lives_match_the_oracle),
        cmocka_unit_test(one_seed_repeats_two_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
