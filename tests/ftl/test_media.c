/* test_media.c - order and times of operations on a die, worked out by hand. */
#include "common.h"

#include <string.h>

#include "media/media.h"

enum { OPS = 64 };

struct bench {
    struct ftl_config cfg;
    struct sim_heap heap;
    struct sim_context ctx;
    struct media media;
};

/* One channel, two dies of two planes, three page types, 16 KiB + 2,208 B pages. */
static void setup(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->cfg = make_config("uh812a-7.68", 464, NULL);
    b->cfg.nand_channels = 1;
    b->cfg.nand_dies = 2;
    b->cfg.nand_planes = 2;
    b->cfg.nand_blocks_per_plane = 8;
    b->cfg.nand_wordlines_per_block = 4;
    assert_int_equal(sim_heap_init(&b->heap, &b->ctx.mem, OPS), 0);
    assert_int_equal(media_init(&b->media, &b->cfg, &b->heap, &b->ctx, OPS, NULL, 0), 0);
    for (uint32_t d = 0; d < 2; d++)
        assert_int_equal(nand_block_set_planes(b->media.nand, d, 3, 0, NULL, 6, 1), 0);
}

static void teardown(struct bench *b)
{
    media_free(&b->media);
    sim_mem_free(&b->ctx.mem);
}

/* Runs to the next end of an operation; its time, and its ref. */
static uint64_t next_end(struct bench *b, uint32_t *ret_ref)
{
    *ret_ref = MEDIA_NONE;
    while (sim_heap_next(&b->heap) != SIM_NEVER) {
        struct sim_event e = sim_heap_pop(&b->heap);
        b->ctx.now = e.time;
        struct media_done done = media_event(&b->media, e.time, e.arg);
        if (done.ref != MEDIA_NONE) {
            *ret_ref = done.ref;
            return e.time;
        }
    }
    fail_msg("nothing left");
    return 0;
}

/* Bus: 0.5 us command, then 0.3 us status and bytes at 2,400 MB/s. */
enum {
    CMD = 500,
    SENSE0 = 38000,
    SENSE1 = 48000,
    OUT_UNIT = 300 + 1937,          /* 4096 + 2208 / 4 = 4,648 B: 1936.7 ns, rounded up */
    OUT_PAGE = 300 + 7747,          /* 18,592 B: 7746.7 ns */
    IN_TYPE = 2 * 500 + 15494,      /* two planes of 18,592 B: 15493.3 ns */
    PROG = 1325000
};

static void test_idle_read(void **state)
{
    struct bench b;
    uint32_t ref;
    (void)state;
    setup(&b);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 7);
    assert_int_equal(next_end(&b, &ref), CMD + SENSE0 + OUT_UNIT);
    assert_int_equal(ref, 7);
    uint64_t t = b.ctx.now;
    media_read(&b.media, t, MEDIA_GC_READ, 1, 1, 0, 1, 4, 8);
    assert_int_equal(next_end(&b, &ref), t + CMD + SENSE1 + OUT_PAGE);
    assert_int_equal(b.media.gc_page_reads, 1);
    teardown(&b);
}

/* Two planes sense at the same time; the second command waits for the first on the
 * bus, and so does its transfer. */
static void test_planes_are_independent(void **state)
{
    struct bench b;
    uint32_t ref;
    (void)state;
    setup(&b);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 1);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 1, 0, 0, 1, 2);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 3, 1, 3);    /* queued: plane in use */
    assert_int_equal(next_end(&b, &ref), CMD + SENSE0 + OUT_UNIT);
    assert_int_equal(ref, 1);
    assert_int_equal(next_end(&b, &ref), CMD + SENSE0 + 2 * OUT_UNIT);
    assert_int_equal(ref, 2);
    /* read 3 gets the bus for its command after the transfer of 2 */
    assert_int_equal(next_end(&b, &ref), CMD + SENSE0 + 2 * OUT_UNIT + CMD + SENSE0 + OUT_UNIT);
    teardown(&b);
}

static void test_program(void **state)
{
    struct bench b;
    uint32_t ref;
    (void)state;
    setup(&b);
    media_program(&b.media, 0, MEDIA_FOR_HOST, 0, 0, 6, MEDIA_WHOLE, 1);
    assert_int_equal(next_end(&b, &ref), 3 * IN_TYPE + CMD + PROG);
    uint64_t t = b.ctx.now;
    media_erase(&b.media, t, 0, 0, 2);
    assert_int_equal(next_end(&b, &ref), t + CMD + b.cfg.nand_tbers_ns);
    assert_int_equal(b.media.erases, 2);            /* one block in each plane */
    teardown(&b);
}

/* A read on a programming die waits for the whole program; on the other die of the
 * channel only for the bus. */
static void test_read_behind_program(void **state)
{
    struct bench b;
    uint32_t ref;
    /* the other die's read command takes the bus after the first page type */
    uint64_t end = 3 * IN_TYPE + CMD + CMD + PROG;
    (void)state;
    setup(&b);
    media_program(&b.media, 0, MEDIA_FOR_HOST, 0, 0, 6, MEDIA_WHOLE, 1);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 2);
    media_read(&b.media, 0, MEDIA_HOST_READ, 1, 0, 0, 0, 1, 3);
    assert_int_equal(next_end(&b, &ref), IN_TYPE + CMD + SENSE0 + OUT_UNIT);
    assert_int_equal(ref, 3);
    assert_int_equal(next_end(&b, &ref), end);
    assert_int_equal(ref, 1);
    assert_int_equal(next_end(&b, &ref), end + CMD + SENSE0 + OUT_UNIT);
    assert_int_equal(ref, 2);
    teardown(&b);
}

/* Reads go first, but not for ever: the program starts once the die has spent
 * sched.program_wait_ns on them. */
static void test_program_is_not_starved(void **state)
{
    struct bench b;
    uint32_t ref, reads = 0;
    uint64_t one = CMD + SENSE0 + OUT_UNIT;
    (void)state;
    setup(&b);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 100);
    media_program(&b.media, 0, MEDIA_FOR_HOST, 0, 0, 6, MEDIA_WHOLE, 1);
    for (uint32_t i = 0; i < 40; i++)
        media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 100);
    for (;;) {
        uint64_t t = next_end(&b, &ref);
        if (ref == 1) {
            /* 500 us of reads of 40.7 us: 13 end before, the 13th crosses the limit */
            assert_int_equal(reads, b.cfg.sched_prog_wait_ns / one + 1);
            assert_int_equal(t, reads * one + 3 * IN_TYPE + CMD + PROG);
            break;
        }
        reads++;
    }
    teardown(&b);
}

/* Host reads precede those of collection, which still get every fifth turn. */
static void test_gc_reads_get_turns(void **state)
{
    struct bench b;
    uint32_t ref, order[12];
    (void)state;
    setup(&b);
    b.media.prog_wait_ns = UINT64_MAX;
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 0);    /* runs at once */
    media_read(&b.media, 0, MEDIA_GC_READ, 0, 0, 0, 0, 4, 50);
    media_read(&b.media, 0, MEDIA_GC_READ, 0, 0, 0, 0, 4, 51);
    for (uint32_t i = 1; i < 10; i++)
        media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 0, 1, i);
    for (int i = 0; i < 12; i++) {
        (void)next_end(&b, &ref);
        order[i] = ref;
    }
    static const uint32_t want[12] = {0, 1, 2, 3, 4, 50, 5, 6, 7, 8, 51, 9};
    assert_memory_equal(order, want, sizeof want);
    teardown(&b);
}

/* Operations under way count as busy time. */
static void test_busy_time(void **state)
{
    struct bench b;
    uint32_t ref;
    (void)state;
    setup(&b);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 1);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 1, 0, 0, 1, 2);
    assert_int_equal(media_busy_ns(&b.media, 10000), 10000);    /* one die, once */
    (void)next_end(&b, &ref);
    (void)next_end(&b, &ref);
    assert_int_equal(media_busy_ns(&b.media, b.ctx.now + 5000), CMD + SENSE0 + 2 * OUT_UNIT);
    teardown(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle_read),           cmocka_unit_test(test_planes_are_independent),
        cmocka_unit_test(test_program),             cmocka_unit_test(test_read_behind_program),
        cmocka_unit_test(test_program_is_not_starved), cmocka_unit_test(test_gc_reads_get_turns),
        cmocka_unit_test(test_busy_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
