/* test_sched.c - suspend, shared senses and ageing on one die: time lines and bounds
 * worked out by hand from the part's times (libftl/SCHEDULING.md has the formulas). */
#include "common.h"

#include <string.h>

#include "media/media.h"

enum { OPS = 256 };

struct bench {
    struct ftl_config cfg;
    struct sim_heap heap;
    struct sim_context ctx;
    struct media media;
};

/* One die; block 0 is programmed, word lines 0 and 1 of block 1 too. */
static void setup(struct bench *b, uint32_t planes)
{
    char why[FTL_WHY_MAX] = "";
    uint64_t wait = b->cfg.sched_prog_wait_ns;
    struct ftl_config want = b->cfg;

    memset(b, 0, sizeof *b);
    b->cfg = make_config("uh812a-7.68", 464, NULL);
    b->cfg.sched_suspend = want.sched_suspend;
    b->cfg.sched_suspend_budget = want.sched_suspend_budget ? want.sched_suspend_budget : 4;
    b->cfg.sched_coalesce = want.sched_coalesce;
    b->cfg.sched_host_write_first = want.sched_host_write_first;
    b->cfg.sched_prog_wait_ns = wait;
    b->cfg.nand_channels = 1;
    b->cfg.nand_dies = 1;
    b->cfg.nand_planes = planes;
    b->cfg.nand_blocks_per_plane = 11;
    b->cfg.nand_wordlines_per_block = 4;
    assert_int_equal(sim_heap_init(&b->heap, &b->ctx.mem, media_events_limit(&b->cfg, OPS)), 0);
    if (media_init(&b->media, &b->cfg, &b->heap, &b->ctx, OPS, why, sizeof why) != 0)
        fail_msg("%s", why);
    uint32_t mask = (UINT32_C(1) << planes) - 1;
    assert_int_equal(nand_block_set_planes(b->media.nand, 0, mask, 0, NULL, 12, 1), 0);
    assert_int_equal(nand_block_set_planes(b->media.nand, 0, mask, 1, NULL, 6, 1), 0);
}

static void teardown(struct bench *b)
{
    media_free(&b->media);
    sim_mem_free(&b->ctx.mem);
}

/* Runs events up to time t. */
static void run_to(struct bench *b, uint64_t t)
{
    while (sim_heap_next(&b->heap) <= t) {
        struct sim_event e = sim_heap_pop(&b->heap);
        b->ctx.now = e.time;
        assert_int_equal(media_event(&b->media, e.time, e.arg).ref, MEDIA_NONE);
    }
    b->ctx.now = t;
}

static uint64_t next_end(struct bench *b, uint32_t *ret_ref)
{
    while (sim_heap_next(&b->heap) != SIM_NEVER) {
        struct sim_event e = sim_heap_pop(&b->heap);
        b->ctx.now = e.time;
        struct media_done done = media_event(&b->media, e.time, e.arg);
        *ret_ref = done.ref;
        if (done.ref != MEDIA_NONE)
            return e.time;
    }
    fail_msg("nothing left");
    return 0;
}

static void expect_end(struct bench *b, uint32_t ref, uint64_t t)
{
    uint32_t got;
    uint64_t at = next_end(b, &got);
    assert_int_equal(got, ref);
    assert_int_equal(at, t);
}

/* The part: bus 2,400 MB/s, pages of 18,592 B; suspend accepted after 30 us (program)
 * or 50 us (erase), resume 15 us, re-verify 30 us, least progress 150 us. */
enum {
    CMD = 500,
    SENSE0 = 38000,
    SENSE1 = 48000,
    OUT_UNIT = 300 + 1937,
    OUT_PAGE = 300 + 7747,
    IN_TYPE = 2 * 500 + 15494,      /* two planes */
    LOAD = 3 * IN_TYPE,
    PROG = 1325000,
    READ = CMD + SENSE0 + OUT_UNIT,
    SUSP_PROG = 30000, SUSP_ERASE = 50000, RESUME = 15000, VERIFY = 30000, PROGRESS = 150000
};

static struct bench with_suspend(uint64_t budget)
{
    return (struct bench){.cfg = {.sched_suspend = 1, .sched_suspend_budget = budget,
                                  .sched_prog_wait_ns = 500000}};
}

/* The program runs from LOAD + CMD on. A read 200 us later suspends it at once. */
static void test_program_suspended(void **state)
{
    struct bench b = with_suspend(4);
    uint64_t begin = LOAD + CMD, at = begin + 200000, accepted = at + CMD + SUSP_PROG;
    uint64_t read_end = accepted + READ, left = begin + PROG - accepted;
    (void)state;
    setup(&b, 2);
    media_program(&b.media, 0, MEDIA_FOR_HOST, 0, 1, 6, MEDIA_WHOLE, 1);
    run_to(&b, at);
    media_read(&b.media, at, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 2);
    expect_end(&b, 2, read_end);
    expect_end(&b, 1, read_end + CMD + RESUME + VERIFY + left);
    assert_int_equal(b.media.suspends, 1);
    struct nand_stats stats;
    assert_int_equal(nand_stats_get(b.media.nand, &stats), 0);
    assert_int_equal(stats.suspends, 1);
    assert_int_equal(stats.resumes, 1);
    assert_int_equal(sim_heap_next(&b.heap), SIM_NEVER);
    teardown(&b);
}

/* Ten microseconds after its start a program has to go on to its least progress. A
 * read of collection suspends nothing. */
static void test_least_progress(void **state)
{
    struct bench b = with_suspend(4);
    uint64_t begin = LOAD + CMD, at = begin + 10000, accepted = begin + PROGRESS + CMD + SUSP_PROG;
    uint64_t end = accepted + READ + CMD + RESUME + VERIFY + begin + PROG - accepted;
    (void)state;
    setup(&b, 2);
    media_program(&b.media, 0, MEDIA_FOR_HOST, 0, 1, 6, MEDIA_WHOLE, 1);
    run_to(&b, at);
    media_read(&b.media, at, MEDIA_GC_READ, 0, 1, 0, 1, 4, 3);
    media_read(&b.media, at, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 2);
    expect_end(&b, 2, accepted + READ);
    expect_end(&b, 1, end);
    expect_end(&b, 3, end + CMD + SENSE1 + OUT_PAGE);
    teardown(&b);
}

/* An erase needs 50 us to stop and no re-verify. Its budget is one: the second read waits. */
static void test_erase_and_budget(void **state)
{
    struct bench b = with_suspend(1);
    uint64_t at = 400000, accepted = at + CMD + SUSP_ERASE, read_end = accepted + READ;
    (void)state;
    setup(&b, 2);
    uint64_t left = CMD + b.cfg.nand_tbers_ns - accepted;
    media_erase(&b.media, 0, 0, 1, 1);
    /* scaled, the erase would be over too soon to be worth a suspend */
    assert_true(b.cfg.nand_tbers_ns < at);
    teardown(&b);

    b = with_suspend(1);
    setup(&b, 2);
    media_free(&b.media);
    sim_mem_free(&b.ctx.mem);
    assert_int_equal(sim_heap_init(&b.heap, &b.ctx.mem, OPS + 1), 0);
    b.cfg.nand_tbers_ns = 3500000;
    assert_int_equal(media_init(&b.media, &b.cfg, &b.heap, &b.ctx, OPS, NULL, 0), 0);
    assert_int_equal(nand_block_set_planes(b.media.nand, 0, 3, 0, NULL, 12, 1), 0);
    left = CMD + 3500000 - accepted;
    media_erase(&b.media, 0, 0, 1, 1);
    run_to(&b, at);
    media_read(&b.media, at, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 2);
    expect_end(&b, 2, read_end);
    media_read(&b.media, read_end, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 3);
    uint64_t end = read_end + CMD + RESUME + left;
    expect_end(&b, 1, end);
    expect_end(&b, 3, end + READ);
    assert_int_equal(b.media.suspends, 1);
    teardown(&b);
}

/* So near the end of the program the read is better off waiting: stopping and resuming
 * would cost CMD + 30 + 15 + 30 us. */
static void test_not_worth_it(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        struct bench b = with_suspend(4);
        uint64_t end = LOAD + CMD + PROG, lost = CMD + SUSP_PROG + RESUME + VERIFY;
        uint64_t at = end - lost - (late ? 0 : 1);
        setup(&b, 2);
        media_program(&b.media, 0, MEDIA_FOR_HOST, 0, 1, 6, MEDIA_WHOLE, 1);
        run_to(&b, at);
        media_read(&b.media, at, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 2);
        if (late) {
            expect_end(&b, 1, end);
            expect_end(&b, 2, end + READ);
        } else {
            expect_end(&b, 2, at + CMD + SUSP_PROG + READ);
        }
        assert_int_equal(b.media.suspends, late ? 0 : 1);
        teardown(&b);
    }
}

/* A read during the transfer of a program's data runs beside it: its command waits for the
 * first page type on the bus, its data for the third. The program starts after it. */
static void test_read_while_loading(void **state)
{
    struct bench b = with_suspend(4);
    uint64_t sensed = IN_TYPE + CMD + SENSE0;           /* between the ends of type 2 and 3 */
    uint64_t read_end = LOAD + CMD + OUT_UNIT;
    (void)state;
    setup(&b, 2);
    media_program(&b.media, 0, MEDIA_FOR_HOST, 0, 1, 6, MEDIA_WHOLE, 1);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 2);
    if (sensed >= LOAD + CMD)
        read_end = sensed + OUT_UNIT;
    expect_end(&b, 2, read_end);
    expect_end(&b, 1, read_end + CMD + PROG);
    assert_int_equal(b.media.suspends, 0);
    teardown(&b);
}

/* Reads without end: they run for the window of 200 us, then the program gets its least
 * progress, and so on until the budget of two is spent. */
static void test_window(void **state)
{
    struct bench b = with_suspend(2);
    uint64_t begin = LOAD + CMD, at = begin + PROGRESS, accepted = at + CMD + SUSP_PROG;
    uint64_t reads = 200000 / READ + 1, left = begin + PROG - accepted;     /* 5 */
    uint32_t ref;
    (void)state;
    setup(&b, 2);
    media_program(&b.media, 0, MEDIA_FOR_HOST, 0, 1, 6, MEDIA_WHOLE, 1);
    run_to(&b, at);
    for (uint32_t i = 0; i < 40; i++)
        media_read(&b.media, at, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 2);
    for (uint64_t i = 1; i <= reads; i++)
        expect_end(&b, 2, accepted + i * READ);
    uint64_t resumed = accepted + reads * READ + CMD + RESUME;
    uint64_t again = resumed + PROGRESS + CMD + SUSP_PROG;
    left -= PROGRESS + CMD + SUSP_PROG - VERIFY;        /* progress counts the re-verify */
    for (uint64_t i = 1; i <= reads; i++)
        expect_end(&b, 2, again + i * READ);
    uint64_t end = again + reads * READ + CMD + RESUME + VERIFY + left;
    assert_int_equal(next_end(&b, &ref), end);
    assert_int_equal(ref, 1);
    expect_end(&b, 2, end + READ);
    teardown(&b);
}

/* Three commands want one page behind another read: one sense of the whole page, three
 * transfers. The fourth page is another one. */
static void test_shared_sense(void **state)
{
    struct bench b = {.cfg = {.sched_coalesce = 1, .sched_prog_wait_ns = 500000}};
    uint64_t t = READ + CMD + SENSE1;
    (void)state;
    setup(&b, 2);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 0, 1, 1);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 1, 1, 2);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 3, 1, 3);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 1, 4, 4);
    media_read(&b.media, 0, MEDIA_HOST_READ, 0, 0, 0, 1, 1, 5);
    expect_end(&b, 1, READ);
    expect_end(&b, 2, t + OUT_UNIT);
    expect_end(&b, 4, t + OUT_UNIT + OUT_PAGE);
    expect_end(&b, 5, t + 2 * OUT_UNIT + OUT_PAGE);
    expect_end(&b, 3, t + 2 * OUT_UNIT + OUT_PAGE + READ);
    assert_int_equal(b.media.page_reads, 3);
    assert_int_equal(b.media.shared_reads, 2);
    assert_int_equal(media_ops_free(&b.media), OPS);
    /* a page that is being sensed whole serves a late comer too */
    uint64_t now = b.ctx.now;
    media_read(&b.media, now, MEDIA_GC_READ, 0, 0, 0, 1, 4, 6);
    run_to(&b, now + 1000);
    media_read(&b.media, now + 1000, MEDIA_HOST_READ, 0, 0, 0, 1, 1, 7);
    expect_end(&b, 6, now + CMD + SENSE1 + OUT_PAGE);
    expect_end(&b, 7, now + CMD + SENSE1 + OUT_PAGE + OUT_UNIT);
    teardown(&b);
}

/* Programs of the host overtake those of collection, but not the erase of their own block;
 * after sched.gc_write_wait_ns one overtaken operation goes. */
static void test_host_writes_first(void **state)
{
    static const uint32_t want[] = {1, 4, 3, 5, 2};
    struct bench b = {.cfg = {.sched_host_write_first = 1, .sched_prog_wait_ns = 500000}};
    uint32_t ref;
    (void)state;
    setup(&b, 2);
    media_program(&b.media, 0, MEDIA_FOR_GC, 0, 1, 6, MEDIA_WHOLE, 1);      /* runs at once */
    media_program(&b.media, 0, MEDIA_FOR_GC, 0, 1, 9, MEDIA_WHOLE, 2);
    media_erase(&b.media, 0, 0, 0, 3);
    media_program(&b.media, 0, MEDIA_FOR_HOST, 0, 2, 0, MEDIA_WHOLE, 4);
    media_program(&b.media, 0, MEDIA_FOR_HOST, 0, 0, 0, MEDIA_WHOLE, 5);     /* needs the erase 3 */
    for (int i = 0; i < 5; i++) {
        (void)next_end(&b, &ref);
        assert_int_equal(ref, want[i]);
    }
    teardown(&b);
}

/* Programs of the log overtake both, every second turn. */
static void test_log_goes_first(void **state)
{
    static const uint32_t want[] = {1, 5, 2, 6, 3, 7, 8, 4};
    (void)state;
    for (uint64_t first = 0; first < 2; first++) {
        struct bench b = {.cfg = {.sched_host_write_first = first, .sched_prog_wait_ns = 500000}};
        uint32_t ref;
        setup(&b, 2);
        for (uint32_t i = 0; i < 3; i++)        /* the first runs at once */
            media_program(&b.media, 0, MEDIA_FOR_HOST, 0, 2, i * 3, MEDIA_WHOLE, 1 + i);
        for (uint32_t i = 0; i < 3; i++)
            media_program(&b.media, 0, MEDIA_FOR_LOG, 0, 8, i * 3, MEDIA_WHOLE, 5 + i);
        for (uint32_t i = 0; i < 6; i++) {
            (void)next_end(&b, &ref);
            assert_int_equal(ref, want[i]);
        }
        /* a turn of its own counts when it is alone */
        media_program(&b.media, b.ctx.now, MEDIA_FOR_LOG, 0, 8, 9, MEDIA_WHOLE, 8);
        media_program(&b.media, b.ctx.now, MEDIA_FOR_GC, 0, 2, 9, MEDIA_WHOLE, 4);
        for (uint32_t i = 6; i < 8; i++) {
            (void)next_end(&b, &ref);
            assert_int_equal(ref, want[i]);
        }
        teardown(&b);
    }
}

/* ---- nothing starves -------------------------------------------------------------- */

enum { HOST_REF = 10, WRITE_REF = 1000, ERASE_REF = 2000, VICTIM_REF = 3000, BLOCKS = 11, LOG = 8 };

/* Everything but the operation measured is saturated all the time. */
struct storm {
    struct bench b;
    uint32_t planes, victim;        /* victim: a media_kind, or PROGRAM of collection */
    uint32_t next[MEDIA_WRITERS], ended[BLOCKS]; /* word lines: to be sent per writer, ended per block */
    uint32_t log_room;              /* word lines of erased blocks of the log */
    bool log;
    uint64_t sent_at, worst;
    uint32_t measured;
};

/* The host fills blocks 2, 4, 6 in turn, collection 3, 5, 7, the log 8, 9, 10; each is erased when full.
 * The log waits for that. */
static void send_write(struct storm *s, uint32_t writer)
{
    if (writer == MEDIA_FOR_LOG && s->log_room == 0)
        return;
    s->log_room -= writer == MEDIA_FOR_LOG;
    uint32_t i = s->next[writer]++;
    uint32_t block = writer == MEDIA_FOR_LOG ? LOG + i / 4 % 3 : 2 + writer + i / 4 % 3 * 2;
    media_program(&s->b.media, s->b.ctx.now, writer, 0, block, i % 4 * 3,
                  MEDIA_WHOLE, WRITE_REF + block);
}

/* Returns who sends the next. */
static uint32_t write_ended(struct storm *s, uint32_t ref)
{
    if (ref >= ERASE_REF) {
        bool waited = s->log_room == 0;
        s->log_room += ref - ERASE_REF >= LOG ? 4 : 0;
        return ref - ERASE_REF >= LOG && waited ? MEDIA_FOR_LOG : MEDIA_WRITERS;
    }
    uint32_t block = ref - WRITE_REF;
    if (++s->ended[block] % 4 == 0)
        media_erase(&s->b.media, s->b.ctx.now, 0, block, ERASE_REF + block);
    return block >= LOG ? MEDIA_FOR_LOG : block & 1;
}

/* The measured operation waits at one plane; at all others the same class waits too, so
 * that they compete for its share of turns. */
static void send_victim(struct storm *s)
{
    s->sent_at = s->b.ctx.now;
    if (s->victim == MEDIA_PROGRAM)
        send_write(s, MEDIA_FOR_GC);
    else
        media_read(&s->b.media, s->b.ctx.now, s->victim, 0, s->planes - 1, 0, 2, 4, VICTIM_REF);
}

static void start_storm(struct storm *s)
{
    struct media *m = &s->b.media;
    for (uint32_t k = 0; k < MEDIA_READ_CLASSES; k++)
        for (uint32_t p = 0; p < s->planes; p++)
            for (uint32_t i = 0; i < 2 && (k != s->victim || p + 1 < s->planes); i++)
                media_read(m, 0, k, 0, p, 0, k % 3, 4, HOST_REF + k * 16 + p);
    for (int i = 0; i < 3; i++)
        send_write(s, MEDIA_FOR_HOST);
    if (s->victim != MEDIA_PROGRAM)
        send_write(s, MEDIA_FOR_GC);
    s->log_room = s->log ? 12 : 0;
    for (int i = 0; i < 2; i++)
        send_write(s, MEDIA_FOR_LOG);
    send_victim(s);
}

static void storm_step(struct storm *s)
{
    uint32_t ref, writer = MEDIA_WRITERS;
    uint64_t t = next_end(&s->b, &ref);

    if (ref >= WRITE_REF && ref < VICTIM_REF)
        writer = write_ended(s, ref);
    if (ref == VICTIM_REF || (writer == MEDIA_FOR_GC && s->victim == MEDIA_PROGRAM)) {
        uint64_t took = t - s->sent_at;
        s->worst = took > s->worst ? took : s->worst;
        s->measured++;
        send_victim(s);
    } else if (ref < WRITE_REF) {
        uint32_t k = (ref - HOST_REF) / 16;
        media_read(&s->b.media, t, k, 0, (ref - HOST_REF) % 16, 0, k % 3, 4, ref);
    } else if (writer < MEDIA_WRITERS) {
        send_write(s, writer);
    }
}

/* The bounds of SCHEDULING.md. */
static uint64_t bound(const struct storm *s)
{
    static const uint64_t turns[] = {8 + 3, 32 + 3, 32 + 3, 64 + 3};
    const struct ftl_config *c = &s->b.cfg;
    uint64_t in = s->planes * (CMD + 7747 + 1), out = s->planes * (OUT_PAGE + CMD);
    uint64_t read = CMD + SENSE1 + 3 * in + 2 * out, write = 3 * in + CMD + PROG + 2 * out;
    if (c->sched_suspend)
        write += (c->sched_suspend_budget + 1) * (200000 + read) +
                 c->sched_suspend_budget * (2 * CMD + SUSP_PROG + RESUME + VERIFY + out + 3 * in);
    uint64_t round = write + c->sched_prog_wait_ns + read;
    if (s->victim == MEDIA_PROGRAM)
        /* two erases may be ahead, with the log three more */
        return s->log ? 6 * (c->sched_gc_write_wait_ns + 4 * round)
                      : 3 * (c->sched_gc_write_wait_ns + 3 * round);
    return (turns[s->victim] + 1) * (2 * read + write);
}

static void run_storm(uint32_t planes, uint32_t victim, bool suspend, bool log, uint64_t prog_wait)
{
    struct storm s = {.planes = planes, .victim = victim, .log = log};
    s.b.cfg = (struct ftl_config){.sched_suspend = suspend, .sched_prog_wait_ns = prog_wait,
                                  .sched_host_write_first = 1};
    setup(&s.b, planes);
    uint64_t end = 40 * bound(&s) + 2000000000;
    start_storm(&s);
    while (s.b.ctx.now < end && s.measured < 200)
        storm_step(&s);
    uint64_t open = s.b.ctx.now - s.sent_at;
    uint64_t worst = open > s.worst ? open : s.worst;
    if (s.measured < 2 || worst > bound(&s))
        fail_msg("%u planes, class %u, suspend %d, log %d, program wait %llu: %u ended, worst %llu ns, "
                 "bound %llu", planes, victim, suspend, log, (unsigned long long)prog_wait, s.measured,
                 (unsigned long long)worst, (unsigned long long)bound(&s));
    teardown(&s.b);
}

static void test_nothing_starves(void **state)
{
    static const uint64_t waits[] = {0, 500000};
    (void)state;
    for (uint32_t planes = 1; planes <= 6; planes++)
        for (uint32_t victim = MEDIA_HOST_READ; victim <= MEDIA_PROGRAM; victim++)
            for (int k = 0; k < 8; k++)
                run_storm(planes, victim, k & 1, k >> 2 & 1, waits[k >> 1 & 1]);
}

/* The preset suspends an operation 20 times at most. */
static void test_budget_of_the_part(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "sched.suspend", "1",
                                        "sched.suspend_budget", "20", NULL);
    char why[FTL_WHY_MAX] = "";
    ftl_drive *d = NULL;
    (void)state;
    assert_int_equal(ftl_create(&cfg, &d, why, sizeof why), 0);
    ftl_destroy(d);
    cfg.sched_suspend_budget = 21;
    assert_int_equal(ftl_create(&cfg, &d, why, sizeof why), FTL_ECONFIG);
    assert_non_null(strstr(why, "sched.suspend_budget=21: the part suspends"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program_suspended), cmocka_unit_test(test_least_progress),
        cmocka_unit_test(test_erase_and_budget),  cmocka_unit_test(test_not_worth_it),
        cmocka_unit_test(test_read_while_loading), cmocka_unit_test(test_window),
        cmocka_unit_test(test_shared_sense),      cmocka_unit_test(test_host_writes_first),
        cmocka_unit_test(test_log_goes_first),
        cmocka_unit_test(test_nothing_starves),   cmocka_unit_test(test_budget_of_the_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
