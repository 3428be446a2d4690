/* test_testkit.c - the kit itself: texts, the oracle, loads, and that it shrinks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ftl/ftl_testkit.h"

static struct tk_case tiny_case(const char *key, const char *value)
{
    char why[FTL_WHY_MAX] = "";
    struct tk_case c = {0};
    if (tk_tiny(&c.cfg, why, sizeof why, key, value, NULL) != 0)
        fail_msg("%s", why);
    return c;
}

static uint64_t lbas_of(const struct tk_case *c)
{
    return c->cfg.drive_user_bytes / c->cfg.drive_lba_bytes;
}

/* ---- texts ------------------------------------------------------------------- */

static void test_text(void **state)
{
    struct tk_case a = tiny_case("gc.policy", "cat"), b = {0};
    char why[FTL_WHY_MAX];
    struct tk_mix mix = {.lbas_max = 9, .run_ns_max = 1000, .streams = 2};
    (void)state;
    for (int op = 0; op < TK_OPS; op++)
        mix.weight[op] = 1;
    assert_int_equal(tk_add_random(&a.script, &mix, lbas_of(&a), 5, 400), 0);
    char *text = tk_case_print(&a);
    assert_non_null(text);
    assert_int_equal(tk_case_parse(&b, text, why, sizeof why), 0);
    assert_memory_equal(&a.cfg, &b.cfg, sizeof a.cfg);
    assert_int_equal(a.script.count, b.script.count);
    for (size_t i = 0; i < a.script.count; i++) {
        const struct tk_step *x = &a.script.steps[i], *y = &b.script.steps[i];
        assert_int_equal(x->op, y->op);
        assert_int_equal(x->lba, y->lba);
        assert_int_equal(x->lba_count, y->lba_count);
        assert_int_equal(x->stream, y->stream);
    }
    free(text);
    tk_script_free(&a.script);
    tk_script_free(&b.script);
}

static void test_bad_texts(void **state)
{
    static const char *const bad[] = {"", "w0+8", "| x", "| w0+8@", "| w-1+8", "no.key=1 |",
                                      "gc.policy |", "| w0+99999999999", "nand.dies=0 | f"};
    char why[FTL_WHY_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tk_case c = {0};
        if (tk_case_parse(&c, bad[i], why, sizeof why) == 0)
            fail_msg("accepted: %s", bad[i]);
        tk_script_free(&c.script);
    }
}

/* ---- the oracle ---------------------------------------------------------------- */

static uint32_t put(tk_oracle *o, uint32_t version)
{
    assert_true(tk_oracle_room(o, 0, 1, UINT32_MAX));
    return tk_oracle_begin(o, 0, 1, version);
}

static void write_whole(tk_oracle *o, uint32_t version)
{
    tk_oracle_end(o, 0, 1, put(o, version));
}

/* Bit v is set when version v may be read now, on a copy: looking settles nothing. */
static uint32_t allowed(const tk_oracle *o)
{
    uint32_t set = 0;
    for (uint32_t v = 0; v < 8; v++) {
        tk_oracle *copy = tk_oracle_copy(o);
        assert_non_null(copy);
        set |= (uint32_t)tk_oracle_read(copy, 0, v, tk_oracle_tick(copy)) << v;
        tk_oracle_free(copy);
    }
    return set;
}

static void test_oracle(void **state)
{
    (void)state;
    tk_oracle *o = tk_oracle_new(1, 8, true);
    assert_int_equal(allowed(o), 1 << 0);
    uint32_t a = put(o, 1);
    assert_int_equal(allowed(o), 1 << 0 | 1 << 1);      /* under way: old or new */
    uint32_t b = put(o, 2);
    tk_oracle_end(o, 0, 1, b);
    assert_int_equal(allowed(o), 1 << 1 | 1 << 2);      /* 1 overlaps 2, and 0 is over */
    tk_oracle_end(o, 0, 1, a);
    assert_int_equal(allowed(o), 1 << 1 | 1 << 2);      /* their order is not known */
    assert_true(tk_oracle_read(o, 0, 1, tk_oracle_tick(o)));
    assert_int_equal(allowed(o), 1 << 1);               /* now it is */
    uint32_t early = tk_oracle_tick(o);
    write_whole(o, 3);
    assert_true(tk_oracle_read(o, 0, 1, early));        /* a read from before may see it */
    assert_int_equal(allowed(o), 1 << 3);
    (void)put(o, 4);
    tk_oracle_cut(o);
    assert_int_equal(allowed(o), 1 << 3 | 1 << 4);      /* with capacitors */
    assert_true(tk_oracle_read(o, 0, 3, tk_oracle_tick(o)));
    assert_int_equal(allowed(o), 1 << 3);
    tk_oracle_cut(o);
    assert_int_equal(allowed(o), 1 << 3);               /* what was seen stays */
    tk_oracle_free(o);
}

static void test_oracle_without_capacitors(void **state)
{
    (void)state;
    tk_oracle *o = tk_oracle_new(1, 8, false);
    write_whole(o, 1);
    write_whole(o, 2);
    uint32_t flush = tk_oracle_tick(o);
    write_whole(o, 3);
    tk_oracle_flushed(o, flush);
    write_whole(o, 4);
    assert_int_equal(allowed(o), 1 << 4);
    (void)put(o, 5);
    tk_oracle_cut(o);
    assert_int_equal(allowed(o), 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5);
    assert_true(tk_oracle_read(o, 0, 3, tk_oracle_tick(o)));
    write_whole(o, 6);
    tk_oracle_cut(o);
    assert_int_equal(allowed(o), 1 << 3 | 1 << 6);
    tk_oracle_clear(o);
    tk_oracle_cut(o);
    assert_int_equal(allowed(o), 1 << 0);
    tk_oracle_free(o);
}

/* ---- playing ------------------------------------------------------------------- */

static struct tk_result play(struct tk_case *c)
{
    struct tk_result r;
    assert_int_equal(tk_play(c, NULL, &r), 0);
    if (r.verdict != TK_SOUND)
        fail_msg("step %llu: %s: %s", (unsigned long long)r.step, tk_verdict_name(r.verdict),
                 r.why);
    return r;
}

static void test_loads(void **state)
{
    struct tk_case c = tiny_case("streams.count", "2");
    struct tk_load load = {.lbas = lbas_of(&c), .io_lbas = 2, .depth = 4, .seed = 3};
    (void)state;
    assert_int_equal(tk_add_fill(&c.script, &load), 0);
    assert_int_equal(tk_add_hot_cold(&c.script, &load, 400, 80, 20, 1), 0);
    assert_int_equal(tk_add_uniform(&c.script, &load, 300), 0);
    assert_int_equal(tk_add_trim_storm(&c.script, &load, 300), 0);
    assert_int_equal(tk_add_hot_cold(&c.script, &load, 1, 80, 0, 0), FTL_EINVAL);
    uint64_t hot = 0, writes = 0;
    for (size_t i = 0; i < c.script.count; i++) {
        const struct tk_step *s = &c.script.steps[i];
        if (s->op != TK_WRITE || s->stream == 0)
            continue;
        writes++;
        hot += s->stream == 2;
        assert_true((s->lba < load.lbas / 5) == (s->stream == 2));
    }
    assert_int_equal(writes, 400);
    assert_in_range(hot, 288, 352);         /* 320, four standard deviations of 8 */
    struct tk_result r = play(&c);
    assert_true(r.writes > 800 && r.reads > 0);
    tk_script_free(&c.script);
}

/* ---- shrinking ------------------------------------------------------------------- */

/* A fault that needs three steps in this order: a write of LBA 7, a TRIM, and a later
 * read that covers LBA 7. */
static bool planted(void *user, const struct tk_case *c)
{
    const char *order = "wtr";
    size_t found = 0;
    (void)user;
    for (size_t i = 0; i < c->script.count && found < 3; i++) {
        const struct tk_step *s = &c->script.steps[i];
        bool covers = s->lba <= 7 && s->lba + s->lba_count > 7;
        found += (order[found] == 'w' && s->op == TK_WRITE && covers) ||
                 (order[found] == 't' && s->op == TK_TRIM) ||
                 (order[found] == 'r' && s->op == TK_READ && covers);
    }
    return found == 3;
}

static void test_shrink(void **state)
{
    struct tk_case c = tiny_case("gc.policy", "greedy");
    struct tk_mix mix;
    (void)state;
    tk_mix_draw(&mix, 1);
    mix.weight[TK_TRIM] = mix.weight[TK_READ] = mix.weight[TK_WRITE] = 50;
    assert_int_equal(tk_add_random(&c.script, &mix, lbas_of(&c), 9, 2000), 0);
    assert_true(planted(NULL, &c));
    uint32_t runs = tk_shrink(&c, planted, NULL, 2000);
    assert_true(runs <= 2000);
    assert_true(planted(NULL, &c));
    assert_int_equal(c.script.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(c.script.steps[i].lba_count <= 8 && c.script.steps[i].stream == 0);
    assert_int_equal(tk_shrink(&c, planted, NULL, 0), 0);
    tk_script_free(&c.script);
}

/* A case that crashes or hangs is a verdict, and the caller lives on. */
static void test_apart(void **state)
{
    struct tk_case c = tiny_case("gc.policy", "greedy");
    struct tk_result here, there;
    struct tk_load load = {.lbas = lbas_of(&c), .io_lbas = 1, .depth = 8, .seed = 1};
    (void)state;
    assert_int_equal(tk_add_uniform(&c.script, &load, 500), 0);
    here = play(&c);
    assert_int_equal(tk_play_apart(&c, NULL, 60, &there), 0);
    assert_int_equal(there.verdict, TK_SOUND);
    assert_true(here.digest == there.digest && here.reads == there.reads);
    c.script.steps[3].op = TK_OPS;
    assert_int_equal(tk_play_apart(&c, NULL, 60, &there), 0);
    assert_int_equal(there.verdict, TK_INVARIANT);
    assert_int_equal(there.step, 3);
    tk_script_free(&c.script);
}

/* ---- a policy under test --------------------------------------------------------------- */

static int pick_youngest(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    (void)state;
    for (uint32_t i = 0; i < v->count; i++)
        if (v->closed_at[i] == v->window)
            *ret = i;
    return v->choices == 9 ? -1 : 0;
}

/* Orders of closing are 2 0 3 1; what the drive would refuse is no answer. */
static void test_pick(void **state)
{
    static const struct ftl_gc_policy p = {FTL_POLICY_HEAD(struct ftl_gc_policy, "p", 0, 0),
                                           pick_youngest};
    static const struct tk_superblock sb[] = {
        {5, 1, 300, false}, {6, 1, 100, false}, {7, 1, 400, true}, {8, 1, 200, false}};
    static const uint32_t want[] = {1, 3, 0, TK_NO_ANSWER, TK_NO_ANSWER};
    (void)state;
    for (uint32_t i = 0; i < 5; i++)        /* 3 is taken, 4 leaves the answer out of range */
        assert_int_equal(tk_gc_pick(&p, NULL, sb, 4, (struct ftl_gc_view){.window = i}), want[i]);
    struct ftl_gc_view gives_up = {.choices = 9};
    assert_int_equal(tk_gc_pick(&p, NULL, sb, 4, gives_up), TK_NO_ANSWER);
    assert_int_equal(tk_gc_pick(&p, NULL, sb, 0, gives_up), TK_NO_ANSWER);
    assert_int_equal(tk_gc_pick(&p, NULL, sb, 257, gives_up), TK_NO_ANSWER);
}

static int pick_open(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    (void)state;
    for (*ret = 0; v->collectable[*ret]; ++*ret)
        ;
    return 0;
}

static void test_try(void **state)
{
    static const struct ftl_gc_policy bad = {FTL_POLICY_HEAD(struct ftl_gc_policy, "bad", 0, 0),
                                             pick_open};
    struct ftl_policies p = FTL_POLICIES_INIT;
    struct tk_result r;
    (void)state;
    assert_int_equal(tk_try(NULL, 1, &r), 0);
    assert_int_equal(r.verdict, TK_SOUND);
    assert_true(tk_wa_milli(&r) > 1000);
    p.stream = ftl_stream_policy_find("update-rate");
    assert_int_equal(tk_try(&p, 1, &r), 0);
    assert_int_equal(r.verdict, TK_SOUND);
    p.gc = &bad;
    assert_int_equal(tk_try(&p, 1, &r), 0);
    assert_int_equal(r.verdict, TK_POLICY);
    assert_non_null(strstr(r.why, "gc policy bad: chose superblock"));
    r.counters = (struct ftl_counters){.host_bytes = 3000, .gc_bytes = 1000, .wear_bytes = 1000};
    assert_int_equal(tk_wa_milli(&r), 1667);        /* 5 / 3 */
    r.counters.host_bytes = 0;
    assert_int_equal(tk_wa_milli(&r), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),    cmocka_unit_test(test_bad_texts),
        cmocka_unit_test(test_oracle),  cmocka_unit_test(test_oracle_without_capacitors),
        cmocka_unit_test(test_loads),   cmocka_unit_test(test_shrink),
        cmocka_unit_test(test_apart),   cmocka_unit_test(test_pick),
        cmocka_unit_test(test_try),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
