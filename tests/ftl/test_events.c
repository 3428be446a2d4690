/* test_events.c - order of events: by time, then as added. */
#include "common.h"

#include "sim/draw.h"
#include "sim/events.h"

enum { N = 5000 };

static void test_heap_order(void **state)
{
    static struct sim_mem mem;
    struct sim_heap h;
    struct rand64 r = {3};
    uint64_t added[N];
    (void)state;
    assert_int_equal(sim_heap_init(&h, &mem, N), 0);
    h.seq = UINT32_MAX - N / 2;     /* the order survives the wrap of the counter */
    for (uint32_t i = 0; i < N; i++) {
        added[i] = draw_to(&r, 300);
        sim_heap_push(&h, added[i], 1, i);
    }
    uint64_t last_time = 0;
    uint32_t last_arg = 0;
    uint8_t seen[N] = {0};
    for (uint32_t i = 0; i < N; i++) {
        assert_true(sim_heap_next(&h) != SIM_NEVER);
        struct sim_event e = sim_heap_pop(&h);
        assert_true(e.time == added[e.arg] && !seen[e.arg]);
        assert_true(e.time > last_time || (e.time == last_time && (i == 0 || e.arg > last_arg)));
        seen[e.arg] = 1;
        last_time = e.time;
        last_arg = e.arg;
    }
    assert_true(sim_heap_next(&h) == SIM_NEVER);
    sim_mem_free(&mem);
}

/* The order holds for events near and far, with the clock moving: against a plain
 * search for the least (time, order of adding). */
static void test_calendar(void **state)
{
    enum { LIVE = 300, STEPS = 60000 };
    static struct sim_mem mem;
    struct sim_heap h;
    struct rand64 r = {5};
    struct {
        uint64_t time, order;
    } live[LIVE];
    uint64_t now = 0, order = 0;
    uint32_t count = 0;
    (void)state;
    assert_int_equal(sim_heap_init(&h, &mem, LIVE), 0);
    for (int step = 0; step < STEPS; step++) {
        if (count < LIVE && draw_to(&r, 16) < (step % 4000 < 2000 ? 9u : 7u)) {
            /* same bucket, same round, at the edge of the round, far beyond it */
            static const uint64_t spans[] = {4, 300, 60000, 4194304, 4194600, 90000000};
            live[count].time = now + draw_to(&r, spans[draw_to(&r, 6)]);
            live[count].order = order++;
            sim_heap_push(&h, live[count].time, 1, (uint32_t)live[count].order);
            count++;
        } else if (count > 0) {
            uint32_t least = 0;
            for (uint32_t i = 1; i < count; i++)
                if (live[i].time < live[least].time ||
                    (live[i].time == live[least].time && live[i].order < live[least].order))
                    least = i;
            assert_true(sim_heap_next(&h) == live[least].time);
            struct sim_event e = sim_heap_pop(&h);
            assert_true(e.time == live[least].time && e.arg == live[least].order);
            now = e.time;
            live[least] = live[--count];
        } else {
            assert_true(sim_heap_next(&h) == SIM_NEVER);
            now += draw_to(&r, 50000000);   /* an idle drive */
        }
    }
    sim_mem_free(&mem);
}

static void test_line(void **state)
{
    static struct sim_mem mem;
    struct sim_line l;
    (void)state;
    assert_int_equal(sim_line_init(&l, &mem, 5), 0);
    for (uint32_t round = 0; round < 100; round++) {
        for (uint32_t i = 0; i < 8; i++)
            sim_line_push(&l, round * 10 + i / 2, i + round);
        for (uint32_t i = 0; i < 8; i++) {
            assert_int_equal(sim_line_next(&l), round * 10 + i / 2);
            struct sim_line_entry e = sim_line_pop(&l);
            assert_true(e.time == round * 10 + i / 2 && e.arg == i + round);
        }
        assert_true(sim_line_empty(&l) && sim_line_next(&l) == SIM_NEVER);
    }
    sim_mem_free(&mem);
}

/* Draws are spread evenly: chi-square of 64 cells, 63 degrees of freedom; 99.99 % of
 * fair generators stay below 113. */
static void test_draws(void **state)
{
    uint32_t cells[64] = {0};
    double chi = 0, want = 200000 / 64.0;
    (void)state;
    for (uint64_t i = 0; i < 200000; i++)
        cells[draw_below(draw_u64(7, DRAW_GC_VICTIM, i), 64)]++;
    for (int i = 0; i < 64; i++)
        chi += ((double)cells[i] - want) * ((double)cells[i] - want) / want;
    assert_true(chi < 113 && chi > 20);
    assert_true(draw_u64(1, 1, 1) != draw_u64(1, 2, 1) && draw_u64(1, 1, 1) != draw_u64(2, 1, 1));
    assert_int_equal(draw_below(UINT64_MAX, 10), 9);
    assert_int_equal(draw_below(0, 10), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_heap_order), cmocka_unit_test(test_calendar),
                                       cmocka_unit_test(test_line), cmocka_unit_test(test_draws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
