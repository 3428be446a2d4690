/* Where accesses go: order, coverage, alignment, mixes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen.h"
#include "jobfile.h"

static wl_jobs *jobs;

/* A generator for one job over bytes start..start+length with 512-byte LBAs. */
static struct wl_gen make(const char *options, uint64_t start, uint64_t length)
{
    char text[1024], why[512];
    struct wl_gen g;
    int dir;
    snprintf(text, sizeof text, "[j]\n%s\n", options);
    if (wl_jobs_parse("t", text, strlen(text), NULL, 0, &jobs, why, sizeof why) != WL_OK)
        fail_msg("%s", why);
    assert_int_equal(wl_gen_init(&g, wl_jobs_get(jobs, 0), start, length, 512, 1, 0, &dir),
                     WL_OK);
    return g;
}

static void drop(struct wl_gen *g)
{
    wl_gen_free(g);
    wl_jobs_free(jobs);
}

static struct wl_access next(struct wl_gen *g)
{
    struct wl_access a;
    wl_gen_access(g, wl_gen_direction(g), UINT64_MAX, &a);
    return a;
}

static void sequences_go_round(void **state)
{
    struct wl_gen g = make("rw=write\nbs=4k", 8192, 5 * 4096 + 512);
    (void)state;
    for (uint64_t i = 0; i < 12; i++) {
        struct wl_access a = next(&g);
        assert_int_equal(a.dir, WL_WRITE);
        assert_int_equal(a.count, 8);
        assert_int_equal(a.lba, 16 + i % 5 * 8);
    }
    drop(&g);
}

static void holes_and_backward_walks(void **state)
{
    struct wl_gen g = make("rw=read:4k\nbs=4k", 0, 8 * 4096);
    static const uint64_t up[] = {0, 16, 32, 48, 0, 16},
                          down[] = {56, 48, 40, 32, 24, 16, 8, 0, 56};
    (void)state;
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(next(&g).lba, up[i]);
    drop(&g);
    g = make("rw=read:-8k\nbs=4k", 0, 8 * 4096); /* 4k forward, 8k back */
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(next(&g).lba, down[i]);
    drop(&g);
}

static void mixed_sequences_keep_two_positions(void **state)
{
    struct wl_gen g = make("rw=rw\nrwmixread=50\nbs=4k", 0, 1 << 24);
    uint64_t at[2] = {0, 0};
    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct wl_access a = next(&g);
        assert_int_equal(a.lba, 8 * at[a.dir]++);
    }
    assert_true(at[0] > 420 && at[0] < 580); /* five deviations of 1000 fair draws */
    drop(&g);
}

/* Two passes: each block once in each, in another order. */
static void the_map_hits_each_block_once(void **state)
{
    enum { BLOCKS = 1237 };
    struct wl_gen g = make("rw=randrw\nbs=4k", 4096, BLOCKS * 4096 + 1024);
    uint64_t first[BLOCKS];
    int same = 0;
    (void)state;
    assert_true(g.mapped);
    for (int pass = 0; pass < 2; pass++) {
        uint8_t seen[BLOCKS] = {0};
        for (int i = 0; i < BLOCKS; i++) {
            uint64_t block = next(&g).lba / 8 - 1;
            assert_true(block < BLOCKS);
            assert_int_equal(seen[block]++, 0);
            same += pass == 1 && first[i] == block;
            first[i] = block;
        }
    }
    assert_true(same < 20);
    drop(&g);
}

static void without_the_map_draws_are_uniform(void **state)
{
    enum { BLOCKS = 64, DRAWS = 64000 };
    struct wl_gen g = make("rw=randread\nbs=4k\nnorandommap", 0, BLOCKS * 4096);
    double chi = 0.0;
    uint32_t hits[BLOCKS] = {0};
    (void)state;
    for (int i = 0; i < DRAWS; i++)
        hits[next(&g).lba / 8]++;
    for (int i = 0; i < BLOCKS; i++)
        chi += (hits[i] - 1000.0) * (hits[i] - 1000.0) / 1000.0;
    assert_true(chi > 63 - 5 * 11.3 &&
                chi < 63 + 5 * 11.3); /* 63 degrees: mean 63, deviation 11.2 */
    drop(&g);
}

/* The size mix is the one asked for: with fio's map 7,810 bytes became 4,418. */
static void splits_keep_their_shares(void **state)
{
    enum { DRAWS = 400000 };
    struct wl_gen g =
        make("rw=randwrite\nblockalign=512\n"
             "bssplit=512/4:1k/1:1536/1:2k/1:2560/1:3k/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3",
             0, 1 << 30);
    double mean = 0.0;
    uint32_t small = 0, fours = 0;
    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        struct wl_access a = next(&g);
        mean += a.count * 512.0 / DRAWS;
        small += a.count == 1;
        fours += a.count == 8;
        assert_true(a.lba + a.count <= (1 << 30) / 512);
    }
    /* 0.04*512 + 0.01*(1024+...+3584) + 0.67*4096 + ... = 7,818.24 B; the deviation of
     * one size is 11.7 kB, of the mean of DRAWS 18.5 B */
    assert_true(fabs(mean - 7818.24) < 5 * 18.5);
    assert_true(fabs(small / (double)DRAWS - 0.04) < 5 * 0.00031);
    assert_true(fabs(fours / (double)DRAWS - 0.67) < 5 * 0.00075);
    drop(&g);
}

static void fractions_of_a_percent_count(void **state)
{
    enum { DRAWS = 1000000 };
    struct wl_gen g = make("rw=randread\nbssplit=4k/99.5:64k/0.5", 0, 1 << 30);
    uint32_t large = 0;
    (void)state;
    for (int i = 0; i < DRAWS; i++)
        large += next(&g).count == 128;
    assert_true(fabs(large - 5000.0) < 5 * 70.6);
    drop(&g);
}

static void ranges_are_multiples_of_the_smallest(void **state)
{
    struct wl_gen g = make("rw=randread\nbsrange=4k-16k", 0, 1 << 24);
    uint32_t hits[5] = {0};
    (void)state;
    for (int i = 0; i < 40000; i++) {
        uint32_t count = next(&g).count;
        assert_int_equal(count % 8, 0);
        assert_in_range(count, 8, 32);
        hits[count / 8]++;
    }
    for (int i = 1; i < 5; i++)
        assert_in_range(hits[i], 10000 - 5 * 87, 10000 + 5 * 87);
    drop(&g);
}

static void part_of_a_random_job_follows_on(void **state)
{
    struct wl_gen g = make("rw=randwrite\nbs=4k\npercentage_random=0,25,0", 0, 1 << 30);
    uint64_t expected = 0;
    int follows = 0;
    (void)state;
    for (int i = 0; i < 40000; i++) {
        struct wl_access a = next(&g);
        follows += i > 0 && a.lba == expected;
        expected = a.lba + a.count;
    }
    assert_in_range(follows, 30000 - 5 * 87, 30000 + 5 * 87);
    drop(&g);
}

static void the_sequencer_seeks_every_n(void **state)
{
    struct wl_gen g = make("rw=randread:4\nbs=4k", 0, 1 << 30);
    (void)state;
    for (int i = 0; i < 100; i++) {
        uint64_t first = next(&g).lba;
        for (uint64_t k = 1; k < 4; k++) {
            uint64_t at = next(&g).lba;
            assert_true(at == first + 8 * k || at < 8 * 4); /* or it came round the end */
        }
    }
    drop(&g);
    g = make("rw=randread:4\nrw_sequencer=identical\nbs=4k", 0, 1 << 30);
    for (int i = 0; i < 100; i++) {
        uint64_t first = next(&g).lba;
        for (int k = 1; k < 4; k++)
            assert_int_equal(next(&g).lba, first);
    }
    drop(&g);
}

static void trims_come_before_their_writes(void **state)
{
    struct wl_gen g = make("rw=randtrimwrite\nbs=8k\nnorandommap", 0, 1 << 24);
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct wl_access t = next(&g), w = next(&g);
        assert_int_equal(t.dir, WL_TRIM);
        assert_int_equal(w.dir, WL_WRITE);
        assert_int_equal(t.lba, w.lba);
        assert_int_equal(t.count, w.count);
    }
    drop(&g);
}

static void offsets_are_aligned(void **state)
{
    struct wl_gen g = make("rw=randread\nbs=4k\nba=64k\nnorandommap", 512, 1 << 24);
    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_int_equal((next(&g).lba - 1) % 128, 0);
    drop(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_go_round),
        cmocka_unit_test(holes_and_backward_walks),
        cmocka_unit_test(mixed_sequences_keep_two_positions),
        cmocka_unit_test(the_map_hits_each_block_once),
        cmocka_unit_test(without_the_map_draws_are_uniform),
        cmocka_unit_test(splits_keep_their_shares),
        cmocka_unit_test(fractions_of_a_percent_count),
        cmocka_unit_test(ranges_are_multiples_of_the_smallest),
        cmocka_unit_test(part_of_a_random_job_follows_on),
        cmocka_unit_test(the_sequencer_seeks_every_n),
        cmocka_unit_test(trims_come_before_their_writes),
        cmocka_unit_test(offsets_are_aligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
