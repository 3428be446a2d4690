/* Timers against sorting; fio's steady state criteria against fio's own output. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine.h"

static void timers_run_in_order(void **state)
{
    enum { TIMERS = 97 };
    struct wl_heap h;
    struct wl_rng rng = wl_rng_make(5, WL_FOR_DELAY, 0);
    uint64_t time[TIMERS];
    (void)state;
    assert_int_equal(wl_heap_init(&h, TIMERS), 0);
    assert_true(wl_heap_time(&h) == UINT64_MAX);
    for (uint32_t i = 0; i < TIMERS; i++)
        time[i] = UINT64_MAX;
    for (int step = 0; step < 20000; step++) {
        uint64_t draw = wl_rng_next(&rng);
        uint32_t id = (uint32_t)(draw % TIMERS), first = 0;
        /* few different times, so that many are equal; now and then off */
        time[id] = draw >> 60 == 0 ? UINT64_MAX : draw >> 32 & 31;
        wl_heap_set(&h, id, time[id]);
        for (uint32_t i = 1; i < TIMERS; i++)
            first = time[i] < time[first] ? i : first;
        assert_true(wl_heap_time(&h) == time[first]);
        assert_int_equal(wl_heap_first(&h), first);
    }
    wl_heap_free(&h);
}

/* Feeds samples; returns whether the last one attained the state. */
static bool feed(struct wl_group_state *g, const struct wl_job *job, const uint64_t *iops,
                 uint32_t n)
{
    static uint64_t rings[2][16];
    static double lat[16], scratch[16];
    bool attained = false;
    *g = (struct wl_group_state){.ss_iops = rings[0], .ss_bw = rings[1], .ss_lat = lat,
                                 .ss_scratch = scratch};
    g->report.ss.duration = (uint32_t)(job->ss_duration_ns / UINT64_C(1000000000));
    g->report.ss.used = true;
    for (uint32_t i = 0; i < n; i++)
        attained = wl_ss_sample(g, job, iops[i], 4096 * iops[i], 5000.0);
    return attained;
}

static struct wl_job criterion(uint8_t kind, uint64_t limit, bool percent, uint64_t seconds)
{
    return (struct wl_job){.ss_kind = kind, .ss_limit = limit, .ss_percent = percent,
                           .ss_duration_ns = seconds * UINT64_C(1000000000)};
}

/* A run of fio 3.33 printed these two samples, a slope of -64250 and a criterion
 * of -2.931203 %, not attained at a limit of 0.3 %. */
static void slopes_are_those_of_fio(void **state)
{
    static const uint64_t iops[] = {2224058, 2159808};
    struct wl_job job = criterion(WL_SS_IOPS_SLOPE, 300000, true, 2);
    struct wl_group_state g;
    (void)state;
    assert_false(feed(&g, &job, iops, 2));
    assert_true(fabs(g.report.ss.slope + 64250.0) < 1e-6);
    assert_true(fabs(g.report.ss.criterion + 2.931203) < 5e-7);
    job.ss_limit = 3000000;
    assert_true(feed(&g, &job, iops, 2));
    job = criterion(WL_SS_IOPS_SLOPE, UINT64_C(64251000000), false, 2);
    assert_true(feed(&g, &job, iops, 2));
    job.ss_limit = UINT64_C(64249000000);
    assert_false(feed(&g, &job, iops, 2));
}

static void deviations_by_hand(void **state)
{
    /* mean 100, farthest sample 4 away */
    static const uint64_t iops[] = {1, 100, 104, 98, 98}, none[] = {0, 0, 0, 0};
    struct wl_job job = criterion(WL_SS_BW, 4100000, true, 4);
    struct wl_group_state g;
    (void)state;
    assert_true(feed(&g, &job, iops, 5));
    assert_true(fabs(g.report.ss.criterion - 4.0) < 1e-12);
    assert_true(fabs(g.report.ss.deviation - 4.0 * 4096.0) < 1e-6);
    wl_ss_report(&g);                               /* the oldest sample has left the window */
    assert_int_equal(g.report.ss.samples, 4);
    assert_int_equal(g.report.ss.iops[0], 100);
    assert_int_equal(g.report.ss.iops[3], 98);
    assert_true(fabs(g.report.ss.iops_mean - 100.0) < 1e-12);
    job.ss_limit = 3900000;
    assert_false(feed(&g, &job, iops, 5));
    assert_false(feed(&g, &job, iops, 3));          /* the window is not full */
    assert_false(feed(&g, &job, none, 4));          /* no data is no steady state */
    job = criterion(WL_SS_LAT_SLOPE, 1, false, 4);
    assert_true(feed(&g, &job, iops, 4));           /* latency does not change at all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_run_in_order),
        cmocka_unit_test(slopes_are_those_of_fio),
        cmocka_unit_test(deviations_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
