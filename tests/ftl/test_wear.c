/* test_wear.c - wear levelling over a life of thousands of erases: 80 % of the data
 * is written once, the rest for ever. */
#include "common.h"

#include <string.h>

#include "ftl/ftl_policy.h"

enum { LIFE = 3000 };           /* erases of the mean superblock */

struct life {
    double wa, spread;          /* programmed over host bytes; largest over mean erases */
    double moved;               /* share of programmed bytes moved for wear's sake */
};

/* Uniform writes over the hot fifth until the mean superblock has `erases`. */
static struct life live_for(uint32_t erases, const char *policy, const char *spread,
                            const char *frontiers, const char *ppm)
{
    struct ftl_config cfg =
        make_config("wa-reference", 1, "ftl.superblocks", "256", "nand.dies", "4", "op", "0.1454",
                    "gc.frontiers", frontiers, "wear.policy", policy, "wear.spread", spread,
                    "map.cache_ppm", ppm, "map.page_entries", "1024", NULL);
    ftl_drive *d = make_drive(&cfg);
    struct ftl_status s;
    struct ftl_counters n;
    struct rand64 r = {11};
    sequential_fill(d);
    uint64_t lbas = ftl_lba_count(d), hot = lbas / 5;
    do {
        struct ftl_extent e[128];
        for (int k = 0; k < 400; k++) {
            for (int i = 0; i < 128; i++)
                e[i] = (struct ftl_extent){.lba = draw_to(&r, hot), .lba_count = 1};
            assert_int_equal(ftl_write_untimed(d, e, 128), 0);
        }
        ftl_status_get(d, &s);
    } while (s.erases_sum < (uint64_t)erases * s.superblocks);
    assert_sound(d);
    ftl_counters_get(d, &n);
    double all = (double)(n.host_bytes + n.gc_bytes + n.wear_bytes + n.translation_bytes);
    struct life life = {all / (double)n.host_bytes,
                        (double)s.erases_max * s.superblocks / (double)s.erases_sum,
                        (double)n.wear_bytes / all};
    print_message("%-10s wear.spread %-4s frontiers %s: max/mean erases %.3f, WA %.4f, moved for "
                  "wear %.2f %%\n", policy, spread, frontiers, life.spread, life.wa,
                  life.moved * 100);
    ftl_destroy(d);
    return life;
}

static struct life live(const char *policy, const char *spread, const char *frontiers)
{
    return live_for(LIFE, policy, spread, frontiers, "0");
}

/* A twentieth of the life as spread bounds the largest count to a tenth above the mean.
 * The cost has two parts: the moves (each cold superblock once per spread erases of the
 * mean) and a superblock less of spare, which holds the open data of moves. */
static void test_life(void **state)
{
    (void)state;
    for (int f = 1; f <= 2; f++) {
        const char *frontiers = f == 1 ? "1" : "2";
        struct life off = live("least-worn", "0", frontiers);
        struct life on = live("least-worn", "150", frontiers);
        print_message("static wear levelling costs %.2f %% more writes\n",
                      (on.wa / off.wa - 1) * 100);
        /* without it a third of the superblocks, 0.3454 / 1.1454, takes all erases */
        assert_true(off.spread > 3 && off.moved == 0);
        assert_true(on.spread <= 1.1);
        assert_true(on.wa / off.wa <= 1.02);
    }
}

/* ---- dynamic: which free superblock ----------------------------------------------- */

/* The same with a tenth of the map in DRAM, for a tenth of that life: cold data is moved with its
 * map entries, whose pages are written for it. Again a twentieth of it is the spread. */
static void test_cached_map(void **state)
{
    (void)state;
    struct life on = live_for(LIFE / 10, "least-worn", "15", "2", "100000");
    assert_true(on.moved > 0);
    assert_true(on.spread <= 1.1);
}

/* Eight times an eighth of the superblocks is written and all is formatted: fair choices
 * erase each once, most-worn the same ones eight times. (Under load the choice matters
 * little: collection keeps two or three superblocks free.) */
static uint64_t most_erased(const char *policy)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "ftl.superblocks", "128", "nand.dies",
                                        "4", "op", "0.2", "wear.policy", policy, NULL);
    ftl_drive *d = make_drive(&cfg);
    struct ftl_status s;
    ftl_status_get(d, &s);
    for (int round = 0; round < 8; round++) {
        for (uint64_t lba = 0; lba < 16 * s.superblock_units; lba++) {
            struct ftl_extent e = {.lba = lba, .lba_count = 1};
            assert_int_equal(ftl_write_untimed(d, &e, 1), 0);
        }
        assert_int_equal(ftl_format(d), 0);
    }
    ftl_status_get(d, &s);
    assert_sound(d);
    assert_int_equal(s.erases_sum, 128);
    ftl_destroy(d);
    return s.erases_max;
}

static void test_dynamic(void **state)
{
    (void)state;
    assert_int_equal(most_erased("least-worn"), 1);
    assert_int_equal(most_erased("fifo"), 1);
    assert_int_equal(most_erased("most-worn"), 8);
}

/* The built-in choices on a picture worked out by hand. */
static void test_choices(void **state)
{
    static const uint32_t erases[] = {7, 3, 9, 3, 20, 2}, valid[] = {0, 9, 0, 0, 9, 9};
    static const uint8_t is_free[] = {1, 0, 1, 1, 0, 0}, collectable[] = {0, 1, 0, 0, 1, 1};
    static const uint64_t freed[] = {5, 0, 4, 6, 0, 0}, closed[] = {1, 2, 3, 4, 5, 6};
    static const uint64_t at_write[] = {0, 10, 20, 30, 40, 950};
    struct ftl_wear_view v = {.count = 6, .units_per_superblock = 100, .erase_count = erases,
                              .is_free = is_free, .freed_at = freed, .collectable = collectable,
                              .valid_units = valid, .closed_at = closed,
                              .closed_at_write = at_write, .host_units_written = 1000,
                              .spread = 16};
    static const struct {
        const char *name;
        uint32_t use, sb;
    } rows[] = {{"least-worn", FTL_USE_HOST, 3}, {"least-worn", FTL_USE_COLD, 2},
                {"fifo", FTL_USE_HOST, 2},       {"most-worn", FTL_USE_RELOCATION, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t sb = 99;
        v.use = rows[i].use;
        assert_int_equal(ftl_wear_policy_find(rows[i].name)->open(NULL, &v, &sb), 0);
        assert_int_equal(sb, rows[i].sb);
    }
    uint32_t sb = 99;
    const struct ftl_wear_policy *p = ftl_wear_policy_get(0);
    assert_int_equal(p->move(NULL, &v, &sb), 0);
    assert_int_equal(sb, 1);            /* 5 has fewer erases, but is no cold data: 50 < 600 */
    v.spread = 17;                      /* 20 - 3 is not above it */
    assert_int_equal(p->move(NULL, &v, &sb), 0);
    assert_int_equal(sb, 6);
    assert_null(ftl_wear_policy_get(3));
    assert_null(ftl_wear_policy_find("best"));
}

/* ---- with time: the host is not stopped -------------------------------------------- */

static uint64_t slowest_write(const char *spread, uint64_t *ret_moved)
{
    struct ftl_config cfg =
        make_config("wa-reference", 1, "ftl.superblocks", "128", "nand.dies", "4", "op", "0.2",
                    "gc.frontiers", "2", "wear.spread", spread, NULL);
    ftl_drive *d = make_drive(&cfg);
    struct ftl_counters n;
    struct rand64 r = {6};
    uint64_t slowest = 0, hot = ftl_lba_count(d) / 5, sent = 0, done = 0;
    sequential_fill(d);
    while (done < 200000) {
        struct ftl_cpl cpl[32];
        for (; sent - done < 8; sent++) {
            struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = draw_to(&r, hot), .lba_count = 1};
            assert_int_equal(ftl_submit(d, &cmd), 0);
        }
        assert_int_equal(ftl_run(d, FTL_NEVER), 1);
        uint32_t k = ftl_poll(d, cpl, 32);
        for (uint32_t i = 0; i < k; i++)
            if (done + i > 50000 && cpl[i].done_at - cpl[i].submitted_at > slowest)
                slowest = cpl[i].done_at - cpl[i].submitted_at;
        done += k;
        if (done % 1024 < k)
            assert_sound(d);
    }
    ftl_counters_get(d, &n);
    *ret_moved = n.wear_bytes;
    print_message("wear.spread %s: slowest write %.1f us, %.1f MB moved for wear\n", spread,
                  (double)slowest / 1e3, (double)n.wear_bytes / 1e6);
    ftl_destroy(d);
    return slowest;
}

static void test_timed(void **state)
{
    uint64_t none, moved;
    (void)state;
    uint64_t off = slowest_write("0", &none), on = slowest_write("3", &moved);
    assert_int_equal(none, 0);
    assert_true(moved >= 20 * 64 * 4096);       /* twenty superblocks of 64 units */
    assert_true(on <= 2 * off);
}

/* ---- nonsense ---------------------------------------------------------------------- */

static int open_outside(void *state, const struct ftl_wear_view *v, uint32_t *ret)
{
    (void)state;
    *ret = v->count;
    return 0;
}
static int open_used(void *state, const struct ftl_wear_view *v, uint32_t *ret)
{
    (void)state;
    for (uint32_t i = 0; i < v->count; i++)
        if (*ret >= v->count && (v->is_free[i] == (v->host_units_written < 5000)))
            *ret = i;
    return 0;
}
static int give_up(void *state, const struct ftl_wear_view *v, uint32_t *ret)
{
    (void)state;
    (void)v;
    (void)ret;
    return -2;
}
static int open_first(void *state, const struct ftl_wear_view *v, uint32_t *ret)
{
    (void)state;
    for (*ret = 0; !v->is_free[*ret]; ++*ret)
        ;
    return 0;
}
static int move_free(void *state, const struct ftl_wear_view *v, uint32_t *ret)
{
    return open_first(state, v, ret);
}

static void test_nonsense(void **state)
{
#define WEAR(name, open, move) {FTL_POLICY_HEAD(struct ftl_wear_policy, name, 0, 0), open, move, NULL}
    static const struct {
        struct ftl_wear_policy policy;
        const char *what;
    } rows[] = {
        {WEAR("outside", open_outside, give_up), "wear policy outside: opened superblock 128 of 128"},
        {WEAR("used", open_used, give_up), "wear policy used: opened superblock "},
        {WEAR("lazy", give_up, give_up), "wear policy lazy: gave up with -2 where there was"},
        {WEAR("no-move", open_first, give_up), "wear policy no-move: gave up with -2 where it may"},
        {WEAR("far", open_first, open_used), "wear policy far: moves superblock "},
        {WEAR("free", open_first, move_free), "wear policy free: moves superblock "},
    };
    char why[FTL_WHY_MAX];
    (void)state;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        const char *what = rows[i / 2].what;
        struct ftl_policies p = FTL_POLICIES_INIT;
        struct ftl_config cfg = make_config("wa-reference", 1, "ftl.superblocks", "128",
                                            "nand.dies", "4", "op", "0.2", "wear.spread", "2", NULL);
        ftl_drive *d = NULL;
        struct rand64 r = {9};
        int err = 0;
        p.wear = &rows[i / 2].policy;
        assert_int_equal(ftl_create_with(&cfg, &p, &d, why, sizeof why), 0);
        for (int n = 0; n < 100000 && err >= 0; n++) {
            struct ftl_extent e = {.lba = draw_to(&r, ftl_lba_count(d)), .lba_count = 1};
            struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = e.lba, .lba_count = 1};
            struct ftl_cpl cpl;
            if (i % 2 == 0)
                err = ftl_write_untimed(d, &e, 1);
            else if (ftl_submit(d, &cmd) == 0)
                err = ftl_run(d, FTL_NEVER);
            (void)ftl_poll(d, &cpl, 1);
        }
        assert_int_equal(err, FTL_EPOLICY);
        assert_int_equal(ftl_policy_fault(d, why, sizeof why), FTL_EPOLICY);
        if (strncmp(why, what, strlen(what)) != 0)
            fail_msg("\"%s\" is not \"%s\"", why, what);
        assert_sound(d);
        ftl_destroy(d);
    }
}

static void test_refused(void **state)
{
    static const struct ftl_wear_policy no_move = WEAR("half", open_first, NULL),
                                        no_open = WEAR("none", NULL, NULL),
                                        taken = WEAR("fifo", open_first, NULL);
    static const struct {
        const struct ftl_wear_policy *policy;
        const char *spread, *part;
    } rows[] = {{&no_move, "5", "wear policy half: has no move(), which wear.spread=5 asks for"},
                {&no_move, "0", NULL},
                {&no_open, "0", "wear policy none: has no open()"},
                {&taken, "0", "wear policy fifo: the name is that of a built-in policy"}};
    char why[FTL_WHY_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ftl_config cfg = make_config("wa-reference", 1, "op", "0.2", "wear.spread",
                                            rows[i].spread, NULL);
        struct ftl_policies p = FTL_POLICIES_INIT;
        ftl_drive *d = NULL;
        p.wear = rows[i].policy;
        int err = ftl_create_with(&cfg, &p, &d, why, sizeof why);
        assert_int_equal(err, rows[i].part != NULL ? FTL_EINVAL : 0);
        if (rows[i].part != NULL && strstr(why, rows[i].part) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", why, rows[i].part);
        ftl_destroy(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choices), cmocka_unit_test(test_dynamic),
        cmocka_unit_test(test_timed), cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_life), cmocka_unit_test(test_cached_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
