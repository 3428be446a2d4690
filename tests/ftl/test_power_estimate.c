/* test_power_estimate.c - sums of POWER.md done by hand, for a small drive and a full-size one. */
#include "common.h"

#include "ftl/ftl_power.h"

static struct ftl_power_estimate estimate(const struct ftl_config *cfg)
{
    struct ftl_power_estimate e = {.struct_size = sizeof e};
    assert_int_equal(ftl_power_estimate(cfg, &e), 0);
    return e;
}

static void expect_step(const struct ftl_start_estimate *s, uint32_t i, uint64_t items, uint64_t ns)
{
    assert_true(i < s->step_count);
    assert_int_equal(s->steps[i].items, items);
    assert_int_equal(s->steps[i].ns, ns);
}

static void expect_sum(const struct ftl_start_estimate *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->step_count; i++)
        sum += s->steps[i].ns;
    assert_int_equal(s->step_count, 12);
    assert_int_equal(s->ready_ns, sum);
}

/* 16 dies of one plane on 4 channels, 2048 superblocks of 4 word lines, 4 units a page. A page
 * on the bus: 500 + 300 + 18592 B / 2.4 GB/s = 8546 ns; array: 500 + 27000 ns. */
static void test_small(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "buffer.bytes", "4M",
                                        "buffer.gc_bytes", "4M", NULL);
    struct ftl_power_estimate e = estimate(&cfg);
    const struct ftl_start_estimate *s = &e.start[FTL_ESTIMATE_SCAN_WORST];
    (void)state;

    assert_int_equal(e.units, 1874874368 / 4096);               /* 457733 */
    assert_int_equal(e.checkpoint_bytes, 457733 * 4 + 2048 * 24);
    /* sectors: 2, 13 of tables, (457733 + 3 x 2048) / 1016 = 457 of slices; 4 in a page */
    assert_int_equal(e.checkpoint_pages, (2 + 13 + 457) / 4);
    /* a segment: 2, 13 of tables, 1 of rows, of slices (457733 + 3 x (2048 + 457733 / 16)) / 1012 =
     * 544: 140 pages; a flush 530, below; twice (140 + 530 + 12), in whole blocks of 16 x 4 */
    assert_int_equal(e.segment_pages, 22 * 64);
    assert_int_equal(e.log_fits, 0);                            /* no block beyond */
    expect_sum(s);
    /* a first page, and 29 of two blank segments: 12 may be missing, 16 and one more say blank */
    expect_step(s, 0, 59, 59 * 8546 / 4);
    /* a record of a word line: 4 + 24 + 4 x 8 bytes, 68 in a sector, 272 in a page. The other 1290
     * pages of the segment tell of 1290 x 272 / 64 = 5482 superblocks. Two checkpoints are read,
     * the second twice, each up to where it is blank */
    expect_step(s, 1, 3 * (118 + 29) + 1290, 1731 * 8546 / 4);
    /* a page per die for the life, one for the end; word lines of the buffers, 512, and of the
     * records in 12 pages have to be read */
    expect_step(s, 2, 2 * 2048 * 16 + 512 + 12 * 272, UINT64_C(69312) * 8546 / 4);
    expect_step(s, 3, 5482 * 256, 5482 * 256 * 4);
    expect_step(s, 4, 0, 0);
    expect_step(s, 5, 457733, 457733 * 4);
    /* a superblock's worth of units is read one by one, and waits in 64 pages of the log */
    expect_step(s, 6, 256, 256 * 8546 / 4);
    /* two segments of 22 blocks are erased; 118 + 64 pages: 12 turns of 500 + 240000 ns */
    expect_step(s, 7, 182, 44 * 300000 + 12 * 240500);
    expect_step(s, 8, 2048, 2048 * 300000);
    expect_step(s, 9, 64, 4 * 240500);
    expect_step(s, 10, 1, 500 + 7746 + 240500);     /* one page: data in, program */
    expect_step(s, 11, 0, 0);
    assert_int_equal(s->superblocks_scanned, 2048);
    /* a mark makes the start read and write the buffer, 530 pages: 12 + 2 + (2048 units, 3 sectors of
     * counts, 8 of lives, 2) / 4; live units need no pass, what was under erase is erased again */
    s = &e.start[FTL_ESTIMATE_MARK_WORST];
    expect_sum(s);
    expect_step(s, 1, 3 * (118 + 29) + 2 * 530 + 1290, 2791 * 8546 / 4);
    expect_step(s, 2, 2 * 2048 * 16 + 512, UINT64_C(66048) * 8546 / 4);
    expect_step(s, 4, 530, 530 * 8546 / 4);
    expect_step(s, 5, 2048, 2048 * 4);
    expect_step(s, 6, 0, 0);
    expect_step(s, 7, 118 + 530, 44 * 300000 + 41 * 240500);
    expect_step(s, 8, 2, 2 * 300000);       /* of the two that are kept free */
    expect_step(s, 9, 0, 0);
    expect_step(s, 11, 512, 512 * 8546 / 4);
}

/* An interval bounds the worst case: 10 superblocks fill up while 118 pages are written, 6 at a time,
 * each behind a program of data (20 x 2 programs, 4 rows), and 16 before. */
static void test_interval(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "buffer.bytes", "4M", "buffer.gc_bytes", "4M",
                                        "nand.blocks_per_plane", "2200", "journal.enabled", "1",
                                        "journal.checkpoint_superblocks", "16", NULL);
    struct ftl_power_estimate e = estimate(&cfg);
    (void)state;

    expect_step(&e.start[FTL_ESTIMATE_MARK], 3, 10 * 256, 10 * 256 * 4);
    expect_step(&e.start[FTL_ESTIMATE_MARK_WORST], 3, 26 * 256, 26 * 256 * 4);
    /* 26 x 64 word lines in pages of 272 */
    expect_step(&e.start[FTL_ESTIMATE_SCAN_WORST], 1, 3 * (118 + 29) + 7, 448 * 8546 / 4);
}

/* 64 dies of 6 planes on 16 channels, 507 superblocks of 928 word lines on 63 data dies. */
static void test_full_size(void **state)
{
    struct ftl_config cfg = make_config("uh812a-7.68", 1, NULL);
    struct ftl_power_estimate e = estimate(&cfg);
    const struct ftl_start_estimate *s = &e.start[FTL_ESTIMATE_SCAN_WORST];
    (void)state;

    /* 1/2 x 2 mF x (28^2 - 6^2) V^2 x 0.85; 6.5 W x 69.256016 ms + 0.4 nJ x 138412032 */
    assert_int_equal(e.usable_nj, 635800000);
    assert_int_equal(e.flush_bytes, 138412032);
    assert_int_equal(e.flush_ns, 69256016);
    assert_int_equal(e.need_nj, 505528917);
    assert_int_equal(e.margin_ppm, 1257692);
    assert_int_equal(e.hold_up_ns, 97815384);
    assert_int_equal(e.life_health_ppm, 700000);
    assert_int_equal(e.life_usable_nj, 445060000);

    assert_int_equal(e.log_fits, 1);
    assert_int_equal(e.units, 1875366486);
    assert_int_equal(e.checkpoint_bytes, UINT64_C(7501478112));
    /* 2 + 4 + (1875366486 + 3 x 32768) / 1016 = 1845930 sectors; 24 in a page */
    assert_int_equal(e.checkpoint_pages, 76914);
    assert_int_equal(e.segment_pages, 4 * 64 * 928);
    expect_sum(s);
    /* a record: 4 + 24 + 72 x 8 bytes, 144 in a page; (237568 - 76914) x 144 / (928 x 63) = 395
     * superblocks of 4209408 units */
    expect_step(s, 3, UINT64_C(395) * 4209408, UINT64_C(395) * 4209408 * 4);
    expect_step(s, 5, UINT64_C(1875366486), UINT64_C(7501465944));
    /* and two frontiers, and three superblocks kept free with a log */
    assert_int_equal(s->superblocks_scanned, 395 + 2 + 3);
    expect_step(s, 8, 400, UINT64_C(1400000000));
    /* targets of 2 s and 10 s: just after a checkpoint both are met, in the worst case none */
    assert_true(e.start[FTL_ESTIMATE_MARK].ready_ns < UINT64_C(2000000000));
    assert_true(e.start[FTL_ESTIMATE_SCAN].ready_ns < UINT64_C(10000000000));
    assert_true(e.start[FTL_ESTIMATE_MARK_WORST].ready_ns > UINT64_C(2000000000));
    assert_true(s->ready_ns > UINT64_C(10000000000));
    expect_sum(&e.start[FTL_ESTIMATE_MARK]);
    expect_sum(&e.start[FTL_ESTIMATE_SCAN]);
}

/* With a checkpoint every 20 superblocks the worst case meets them, too. */
static void test_full_size_interval(void **state)
{
    struct ftl_config cfg = make_config("uh812a-7.68", 1, "media.payload", "1", "journal.enabled", "1",
                                        "journal.checkpoint_superblocks", "20", NULL);
    struct ftl_power_estimate e = estimate(&cfg);
    (void)state;

    assert_true(e.start[FTL_ESTIMATE_MARK_WORST].ready_ns < UINT64_C(2000000000));
    assert_true(e.start[FTL_ESTIMATE_SCAN_WORST].ready_ns < UINT64_C(10000000000));
}

/* A loss now, of a copy of the drive: no step of its start takes longer than the worst case says, and the sum
 * is not far below the best. */
static void expect_bounds(const ftl_drive *d, const struct ftl_power_estimate *e, bool mark)
{
    const struct ftl_start_estimate *just = &e->start[mark ? FTL_ESTIMATE_MARK : FTL_ESTIMATE_SCAN];
    const struct ftl_start_estimate *worst =
        &e->start[mark ? FTL_ESTIMATE_MARK_WORST : FTL_ESTIMATE_SCAN_WORST];
    struct ftl_power_cut cut = {.struct_size = sizeof cut, .energy_ppm = mark ? 1000000 : 0};
    struct ftl_power_report r = {.struct_size = sizeof r};
    ftl_drive *copy;

    assert_int_equal(ftl_fork(d, &copy), 0);
    assert_int_equal(ftl_power_cut(copy, &cut, NULL), 0);
    assert_int_equal(ftl_power_on(copy, &r), 0);
    assert_int_equal(r.start, mark ? FTL_START_FLUSHED : FTL_START_SCAN);
    for (uint32_t i = 0; i < r.step_count; i++) {
        const struct ftl_power_step *w = find_step(worst->steps, worst->step_count, r.steps[i].name);
        if (r.steps[i].ns > (w != NULL ? w->ns : 0))
            fail_msg("%s: %llu ns, at most %llu by the estimate", r.steps[i].name,
                     (unsigned long long)r.steps[i].ns, (unsigned long long)(w != NULL ? w->ns : 0));
    }
    print_message("%s mark: %.1f ms; estimates %.1f to %.1f ms\n", mark ? "with" : "no",
                  (double)r.ready_ns / 1e6, (double)just->ready_ns / 1e6,
                  (double)worst->ready_ns / 1e6);
    assert_in_range(r.ready_ns, just->ready_ns / 2, worst->ready_ns);
    ftl_destroy(copy);
}

/* What starts of a real run take. */
static void test_run(void **state)
{
    (void)state;
    for (int interval = 0; interval <= 16; interval += 16)
        for (uint64_t eighths = 12; eighths <= 24; eighths += 3) {
            struct ftl_config cfg = four_dies("1M", interval != 0 ? "16" : "0");
            struct ftl_power_estimate e = estimate(&cfg);
            ftl_drive *d = written_at_random(&cfg, eighths, eighths);
            expect_bounds(d, &e, true);
            expect_bounds(d, &e, false);
            ftl_destroy(d);
        }
}

static void test_refusals(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, NULL);
    struct ftl_power_estimate e = {.struct_size = 1};
    (void)state;

    assert_int_equal(ftl_power_estimate(&cfg, &e), FTL_EINVAL);
    assert_int_equal(ftl_power_estimate(&cfg, NULL), FTL_EINVAL);
    e.struct_size = sizeof e;
    assert_int_equal(ftl_power_estimate(NULL, &e), FTL_EINVAL);
    cfg.ftl_superblocks = 0;
    assert_int_equal(ftl_power_estimate(&cfg, &e), FTL_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_full_size),
        cmocka_unit_test(test_full_size_interval),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
