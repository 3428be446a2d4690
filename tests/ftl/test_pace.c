/* test_pace.c - pacing: idle time buys bursts, costs write amplification, and does not
 * stand in the host's way; a policy cannot leave its bounds. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "ftl/ftl_policy.h"

enum { SBS = 256, BURST = 3000, AHEAD = 64 };   /* superblocks of 64 units */

static const char *suspend = "0";

static ftl_drive *steady(const char *pacing, const char *idle_superblocks, const char *ppm)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "ftl.superblocks", "256", "nand.dies",
                                        "16", "sched.suspend", suspend, "nand.wordlines_per_block", "1", "op", "0.28", "gc.frontiers", "2", "gc.pacing", pacing,
                                        "gc.idle_superblocks", idle_superblocks, "gc.pace_ppm", ppm,
                                        "buffer.bytes", "256K", "buffer.gc_bytes", "256K", NULL);
    ftl_drive *d = make_drive(&cfg);
    struct rand64 r = {2};
    sequential_fill(d);
    random_writes(d, &r, ftl_lba_count(d) * 4);
    (void)timed_random_writes(d, &r, 16, 4000);
    assert_int_equal(ftl_run(d, ftl_now(d) + 100000), 0);
    return d;
}

static void sleep_ns(ftl_drive *d, ftl_ns ns)
{
    ftl_ns end = ftl_now(d) + ns;
    while (ftl_now(d) < end)
        assert_true(ftl_run(d, end) >= 0);
}

/* ---- bursts ---------------------------------------------------------------------- */

static double burst_after(const char *pacing, const char *sbs, ftl_ns idle_ns, double *ret_wa)
{
    ftl_drive *d = steady(pacing, sbs, "0");
    struct rand64 r = {7};
    double sum = 0;
    ftl_counters_reset(d);
    for (int i = 0; i < 20; i++) {
        sleep_ns(d, idle_ns);
        sum += timed_random_writes(d, &r, 16, BURST);
        assert_sound(d);
    }
    *ret_wa = wa_gc(d);
    ftl_destroy(d);
    return sum / 20;
}

static void test_bursts(void **state)
{
    double wa[3], iops[3];
    (void)state;
    iops[0] = burst_after("threshold", "0", 400000000, &wa[0]);
    iops[1] = burst_after("idle", "52", 400000000, &wa[1]);
    iops[2] = burst_after("idle", "52", 1000000, &wa[2]);   /* too short to count as idle */
    print_message("bursts of %d writes after 0.4 s: threshold %.0f IOPS, WA %.3f; idle %.0f IOPS, "
                  "WA %.3f; idle after 1 ms only %.0f IOPS, WA %.3f\n", BURST, iops[0], wa[0],
                  iops[1], wa[1], iops[2], wa[2]);
    /* without collection the host has the whole program bandwidth, WA times as much */
    assert_true(iops[1] > 1.3 * iops[0]);
    assert_true(wa[1] > wa[0]);         /* what is collected early could have lost more units */
    assert_near(iops[2], iops[0], 0.02);
}

/* ---- nobody waits for it ----------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    ftl_ns x = *(const ftl_ns *)a, y = *(const ftl_ns *)b;
    return x < y ? -1 : x > y;
}

struct latencies {
    ftl_ns p50, p99, worst, longest;
};

/* Of reads that come out of idle time. */
static struct latencies reads(const char *pacing, const char *sbs, uint64_t *ret_moved)
{
    enum { N = 2000 };
    static ftl_ns latency[N];
    ftl_drive *d = steady(pacing, sbs, "0");
    struct ftl_config cfg = make_config("wa-reference", 1, NULL);
    struct rand64 r = {9};
    struct ftl_counters n;
    ftl_counters_reset(d);
    for (int i = 0; i < N; i++) {
        if (i % 50 == 0)
            (void)timed_random_writes(d, &r, 16, BURST);
        sleep_ns(d, 2000000 + draw_to(&r, 3000000));    /* idle time begins after 2 ms */
        latency[i] = do_command(d, FTL_READ, draw_to(&r, ftl_lba_count(d)), 1, NULL);
    }
    ftl_counters_get(d, &n);
    *ret_moved = n.gc_units_moved;
    ftl_destroy(d);
    qsort(latency, N, sizeof latency[0], by_size);
    struct latencies l = {latency[N / 2], latency[N * 99 / 100], latency[N - 1],
                          cfg.nand_tbers_ns > cfg.nand_tprog_ns ? cfg.nand_tbers_ns
                                                                : cfg.nand_tprog_ns};
    print_message("%-9s suspend %s: reads in idle time p50 %.1f us, p99 %.1f us, worst %.1f us; %llu "
                  "units moved\n", pacing, suspend, (double)l.p50 / 1e3, (double)l.p99 / 1e3,
                  (double)l.worst / 1e3, (unsigned long long)n.gc_units_moved);
    return l;
}

/* A read out of idle time finds at worst one operation in its way, the program or erase
 * that is under way on its die; with suspension a part of that. The median finds none. */
static void test_reads(void **state)
{
    uint64_t moved[2];
    (void)state;
    struct latencies quiet = reads("threshold", "0", &moved[0]);
    struct latencies busy = reads("idle", "52", &moved[1]);
    assert_true(moved[1] > moved[0] + 10000);
    assert_int_equal(busy.p50, quiet.p50);
    assert_true(busy.worst <= quiet.worst + quiet.longest + 30000);
    suspend = "1";
    struct latencies less = reads("idle", "52", &moved[1]);
    suspend = "0";
    assert_true(less.p50 == quiet.p50 && less.p99 < busy.p99);
}

/* ---- steady state, and pacing ahead ------------------------------------------------ */

/* WA of random writes with pauses after every 16 (0 = none), and the superblocks that are
 * free on average. */
static double paced_wa(const char *pacing, const char *ppm, ftl_ns pause_ns, double *ret_free)
{
    ftl_drive *d = steady(pacing, "0", ppm);
    struct ftl_status s;
    struct rand64 r = {3};
    for (int i = 0; i < 4000; i++) {
        if (i == 1000)
            ftl_counters_reset(d);
        (void)timed_random_writes(d, &r, 16, 16);
        if (pause_ns != 0)
            sleep_ns(d, pause_ns);
    }
    ftl_status_get(d, &s);
    *ret_free = (double)s.physical_units - (double)s.a_effective_ppm * 1e-6 * (double)s.user_units;
    *ret_free /= (double)s.superblock_units;
    double wa = wa_gc(d);
    print_message("%-12s %-6s pauses of %4.1f ms: WA %.3f, %.1f superblocks free on average\n",
                  pacing, ppm, (double)pause_ns / 1e6, wa, *ret_free);
    assert_sound(d);
    ftl_destroy(d);
    return wa;
}

static void test_steady(void **state)
{
    double open[2], part[3], unused;
    (void)state;
    /* under load all of them sit at the floor, and none costs anything */
    double threshold = paced_wa("threshold", "0", 0, &open[0]);
    assert_near(paced_wa("idle", "0", 0, &unused), threshold, 0.01);
    assert_near(paced_wa("proportional", "300000", 0, &open[1]), threshold, 0.01);
    /* in pauses too short for idle time `proportional` keeps its share of the spare free:
     * 56 superblocks of 0.28 / 1.28, less two at the floor */
    threshold = paced_wa("threshold", "0", 1500000, &part[0]);
    double some = paced_wa("proportional", "100000", 1500000, &part[1]);
    double more = paced_wa("proportional", "300000", 1500000, &part[2]);
    assert_near(part[1] - part[0], 5.4, 0.15);
    assert_near(part[2] - part[0], 16.2, 0.15);
    assert_true(threshold < some && some < more);
}

/* ---- out of bounds ------------------------------------------------------------------ */

#define PACE(name, body)                                                                       \
    static int pace_##name(void *state, const struct ftl_pace_view *v, struct ftl_pace *ret)   \
    {                                                                                          \
        (void)state;                                                                           \
        (void)v;                                                                               \
        (void)ret;                                                                             \
        body;                                                                                  \
    }
PACE(low, ret->ahead_units = v->least_ahead_units - 1; return 0)
PACE(high, ret->ahead_units = v->most_ahead_units + 1; return 0)
PACE(idle_high, ret->idle_ahead_units = v->most_ahead_units + 1; return 0)
PACE(greedy, ret->idle_ahead_units = v->most_ahead_units; return 0)
PACE(tired, return v->host_units_written > 5000 ? -3 : 0)
PACE(most, ret->ahead_units = v->most_ahead_units; return 0)

static void test_bounds(void **state)
{
#define ROW(name) {FTL_POLICY_HEAD(struct ftl_pace_policy, #name, 0, 0), pace_##name}
    static const struct {
        struct ftl_pace_policy policy;
        const char *what;
    } rows[] = {{ROW(low), "pace policy low: answered ahead_units beyond its bounds"},
                {ROW(high), "pace policy high: answered ahead_units beyond its bounds"},
                {ROW(idle_high), "pace policy idle_high: answered idle_ahead_units beyond"},
                {ROW(greedy), "pace policy greedy: answered idle_gain_units beyond"},
                {ROW(tired), "pace policy tired: gave up with -3"},
                {ROW(most), NULL}};
    char why[FTL_WHY_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ftl_config cfg = make_config("wa-reference", 1, "ftl.superblocks", "64", "nand.dies",
                                            "4", "op", "0.3", NULL);
        struct ftl_policies p = FTL_POLICIES_INIT;
        ftl_drive *d = NULL;
        struct rand64 r = {4};
        struct ftl_cpl cpl;
        p.pace = &rows[i].policy;
        int err = ftl_create_with(&cfg, &p, &d, why, sizeof why);
        assert_int_equal(err, i < 4 ? FTL_EPOLICY : 0);     /* the first answer is asked there */
        for (int n = 0; n < 20000 && err >= 0; n++) {
            struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba_count = 1,
                                  .lba = draw_to(&r, ftl_lba_count(d))};
            assert_int_equal(ftl_submit(d, &cmd), 0);
            err = ftl_run(d, FTL_NEVER);
            (void)ftl_poll(d, &cpl, 1);
        }
        assert_int_equal(err < 0 ? FTL_EPOLICY : 0, rows[i].what != NULL ? FTL_EPOLICY : 0);
        if (d != NULL)
            (void)ftl_policy_fault(d, why, sizeof why);
        if (rows[i].what != NULL && strncmp(why, rows[i].what, strlen(rows[i].what)) != 0)
            fail_msg("\"%s\" is not \"%s\"", why, rows[i].what);
        if (d != NULL)
            assert_sound(d);
        ftl_destroy(d);
    }
}

static void test_refused(void **state)
{
    static const char *const rows[][3] = {
        {"threshold", "gc.idle_superblocks", "gc.pacing=threshold: needs gc.idle_superblocks=0"},
        {"proportional", "gc.idle_after_ns", "gc.pacing=proportional: needs gc.idle_superblocks=0"},
        {"threshold", "gc.pace_ppm", "gc.pacing=threshold: needs gc.pace_ppm=0"},
        {"idle", "gc.pace_ppm", "gc.pacing=idle: needs gc.pace_ppm=0"},
        {"best", "gc.pace_ppm", "gc.pacing=best: unknown policy"}};
    char why[FTL_WHY_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ftl_config cfg;
        ftl_drive *d = NULL;
        ftl_setup *s = ftl_setup_new();
        assert_int_equal(ftl_setup_load(s, "wa-reference", why, sizeof why), 0);
        assert_int_equal(ftl_setup_set(s, "gc.pacing", rows[i][0], "t", why, sizeof why), 0);
        assert_int_equal(ftl_setup_set(s, rows[i][1], "7", "t", why, sizeof why), 0);
        int err = ftl_setup_finish(s, 1, &cfg, why, sizeof why);
        if (err == 0)
            err = ftl_create(&cfg, &d, why, sizeof why);
        assert_int_equal(err, FTL_ECONFIG);
        if (strstr(why, rows[i][2]) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", why, rows[i][2]);
        ftl_setup_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bursts), cmocka_unit_test(test_reads),
        cmocka_unit_test(test_steady), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
