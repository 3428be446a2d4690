/* test_policies.c - victim policies beyond uniform traffic, and by themselves.
 *
 * Hot/cold rows: 80 % of writes go to 20 % of the space; Monte-Carlo values of an
 * independent simulation, statistical error below 0.5 %. Cost-benefit rows use its
 * smaller setting of 1,024 blocks of 64 pages. */
#include "common.h"

#include <string.h>

#include "ftl/ftl_policy.h"

struct row {
    const char *policy, *choices, *frontiers, *op;
    int hot, small;
    double wa;
};

static const struct row rows[] = {
    {"greedy", "1", "1", "0.1454", 1, 0, 4.4334},      {"greedy", "1", "2", "0.1454", 1, 0, 4.3684},
    {"greedy", "1", "1", "0.28", 1, 0, 2.8053},        {"greedy", "1", "2", "0.28", 1, 0, 2.7128},
    {"greedy", "1", "1", "0.07", 1, 0, 8.0133},        {"greedy", "1", "2", "0.07", 1, 0, 7.9948},
    {"fifo", "1", "1", "0.1454", 1, 0, 4.4892},        {"fifo", "1", "2", "0.1454", 1, 0, 4.4958},
    {"fifo", "1", "1", "0.28", 1, 0, 2.8220},          {"fifo", "1", "2", "0.28", 1, 0, 2.8237},
    {"d-choices", "2", "1", "0.1454", 1, 0, 5.7470},   {"d-choices", "2", "2", "0.1454", 1, 0, 5.3420},
    {"d-choices", "10", "1", "0.1454", 1, 0, 4.5220},  {"d-choices", "10", "2", "0.1454", 1, 0, 4.1202},
    {"d-choices", "10", "1", "0.3743", 1, 0, 2.3891},  {"d-choices", "10", "2", "0.3743", 1, 0, 2.1284},
    {"cost-benefit", "1", "1", "0.07", 0, 1, 7.2731},  {"cost-benefit", "1", "2", "0.07", 0, 1, 7.3222},
    {"cost-benefit", "1", "1", "0.1454", 0, 1, 3.9653},{"cost-benefit", "1", "2", "0.1454", 0, 1, 3.9817},
    {"cost-benefit", "1", "1", "0.28", 0, 1, 2.4242},  {"cost-benefit", "1", "2", "0.28", 0, 1, 2.4294},
    {"cost-benefit", "1", "2", "0.07", 1, 1, 6.5450},  {"cost-benefit", "1", "2", "0.1454", 1, 1, 3.6069},
    {"cost-benefit", "1", "2", "0.28", 1, 1, 2.2687},
};

static void write_mix(ftl_drive *d, struct rand64 *r, uint64_t n, int hot)
{
    struct ftl_extent e[128];
    uint64_t units = ftl_lba_count(d), edge = units / 5;

    for (; n > 0; n -= n < 128 ? n : 128) {
        uint64_t k = n < 128 ? n : 128;
        for (uint64_t i = 0; i < k; i++) {
            uint64_t lba = !hot                     ? draw_to(r, units)
                           : draw_to(r, 100) < 80 ? draw_to(r, edge)
                                                    : edge + draw_to(r, units - edge);
            e[i] = (struct ftl_extent){.lba = lba, .lba_count = 1};
        }
        assert_int_equal(ftl_write_untimed(d, e, k), 0);
    }
}

static double measure(const struct row *w)
{
    struct ftl_config cfg = make_config(
        "wa-reference", 1, "gc.policy", w->policy, "gc.choices", w->choices, "gc.frontiers",
        w->frontiers, "op", w->op, "ftl.superblocks", w->small ? "1024" : "2048", "nand.dies",
        w->small ? "4" : "16", NULL);
    ftl_drive *d = make_drive(&cfg);
    struct rand64 r = {21};
    uint64_t units = ftl_lba_count(d);
    sequential_fill(d);
    write_mix(d, &r, units * (w->small ? 14 : 8), w->hot);
    ftl_counters_reset(d);
    write_mix(d, &r, units * (w->small ? 14 : 4), w->hot);
    double wa = wa_gc(d);
    assert_sound(d);
    ftl_destroy(d);
    return wa;
}

static void test_references(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *w = &rows[i];
        double wa = measure(w);
        print_message("%-12s d=%-2s frontiers=%s op=%-6s %s WA %8.4f  reference %8.4f  %+.2f %%\n",
                      w->policy, w->choices, w->frontiers, w->op, w->hot ? "80:20  " : "uniform",
                      wa, w->wa, (wa / w->wa - 1) * 100);
        assert_near(wa, w->wa, w->hot ? 0.03 : 0.02);
    }
}

/* A picture of six superblocks of 100 units; answers worked out by hand. */
static uint32_t pick(const char *name, uint32_t window)
{
    static const uint32_t valid[] = {50, 40, 90, 10, 60, 0};
    static const uint8_t collectable[] = {1, 1, 1, 0, 1, 0};
    static const uint64_t closed_at[] = {4, 9, 1, 2, 3, 8};
    static const uint64_t closed_at_write[] = {4000, 9000, 1000, 2000, 3000, 8000};
    static const uint32_t erases[] = {9, 1, 1, 1, 1, 1};
    struct ftl_gc_view v = {.count = 6, .units_per_superblock = 100, .valid_units = valid,
                            .collectable = collectable, .closed_at = closed_at,
                            .closed_at_write = closed_at_write, .erase_count = erases,
                            .host_units_written = 10000, .choices = 64, .window = window};
    uint32_t sb = 99;
    const struct ftl_gc_policy *p = ftl_gc_policy_find(name);
    assert_non_null(p);
    assert_string_equal(p->head.name, name);
    assert_int_equal(p->pick(NULL, &v, &sb), 0);
    return sb;
}

static void test_picks(void **state)
{
    (void)state;
    assert_int_equal(pick("greedy", 1), 1);         /* 40; 10 and 0 may not be taken */
    assert_int_equal(pick("fifo", 1), 2);           /* closed first */
    assert_int_equal(pick("d-choices", 1), 1);      /* 64 draws of six see them all */
    /* (100-v) age / 2v: 0: 50*6000/100 = 3000; 1: 60*1000/80 = 750;
     * 2: 10*9000/180 = 500; 4: 40*7000/120 = 2333 */
    assert_int_equal(pick("cost-benefit", 1), 0);
    /* the same over erases + 1: 0: 300; 1: 375; 2: 250; 4: 1167 */
    assert_int_equal(pick("cat", 1), 4);
    assert_int_equal(pick("windowed-greedy", 1), 2);    /* the oldest alone */
    assert_int_equal(pick("windowed-greedy", 2), 4);    /* 90 and 60 */
    assert_int_equal(pick("windowed-greedy", 3), 0);    /* 90, 60, 50 */
    assert_int_equal(pick("windowed-greedy", 9), 1);
    assert_null(ftl_gc_policy_find("best"));
    assert_null(ftl_gc_policy_find(NULL));
}

/* Random picks are uniform over the collectable: chi-square, 3 degrees of freedom,
 * below 21.1 for 99.99 % of fair draws. */
static void test_random_is_fair(void **state)
{
    static const uint32_t valid[] = {1, 1, 1, 1, 1};
    static const uint8_t collectable[] = {1, 0, 1, 1, 1};
    struct ftl_gc_view v = {.count = 5, .units_per_superblock = 8, .valid_units = valid,
                            .collectable = collectable};
    struct rand64 r = {17};
    uint32_t seen[5] = {0}, sb;
    double chi = 0;
    (void)state;
    for (int i = 0; i < 40000; i++) {
        v.draw = draw(&r);
        assert_int_equal(ftl_gc_policy_find("random")->pick(NULL, &v, &sb), 0);
        seen[sb]++;
    }
    assert_int_equal(seen[1], 0);
    for (int i = 0; i < 5; i++)
        if (i != 1)
            chi += (seen[i] - 10000.0) * (seen[i] - 10000.0) / 10000;
    assert_true(chi < 21.1);
}

/* Whatever the policy, the host reads the same: victims move data, they never
 * change it. */
static void test_same_bytes(void **state)
{
    static const char *const names[] = {"greedy", "fifo", "random", "d-choices", "cost-benefit",
                                        "windowed-greedy", "cat"};
    enum { UNITS = 600 };
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        struct ftl_config cfg = make_config(
            "wa-reference", 1, "ftl.superblocks", "16", "nand.dies", "4", "gc.policy", names[n],
            "gc.choices", "4", "media.payload", "1", "drive.user_bytes", "2457600", NULL);
        ftl_drive *d = make_drive(&cfg);
        struct rand64 r = {3};
        uint64_t want[UNITS] = {0}, cell[512];
        for (int i = 0; i < 6000; i++) {
            uint64_t lba = draw_to(&r, draw_to(&r, 2) ? UNITS : 60);
            memset(cell, 0, sizeof cell);
            cell[0] = want[lba] = draw(&r);
            (void)do_command(d, FTL_WRITE, lba, 1, cell);
        }
        for (uint64_t lba = 0; lba < UNITS; lba++) {
            (void)do_command(d, FTL_READ, lba, 1, cell);
            assert_true(cell[0] == want[lba]);
        }
        assert_sound(d);
        ftl_destroy(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picks), cmocka_unit_test(test_random_is_fair),
        cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
