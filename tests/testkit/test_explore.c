/* test_explore.c - the crash explorer finds nothing, and its ids
 * repeat what they name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ftl/ftl_testkit.h"

enum { OPERATIONS = 40 };

static bool enough(void *user, const struct tk_explored *so_far)
{
    (void)user;
    return so_far->done >= OPERATIONS;
}

/* Chains of the first operations of a plan; 5 variants of each, other ones every time. */
static struct tk_explored explore(const char *plan, uint64_t seed)
{
    struct tk_case c = {0};
    struct tk_explored sum = {0};
    char why[FTL_WHY_MAX] = "";
    if (tk_plan_case(plan, seed, &c, why, sizeof why) != 0)
        fail_msg("%s", why);
    struct tk_explore x = {.c = &c, .name = plan, .seed = seed, .variants = 5, .progress = enough};
    int err = tk_explore(&x, &sum, why, sizeof why);
    if (err != 0 && err != FTL_EAGAIN)
        fail_msg("%s: %s", plan, why);
    tk_script_free(&c.script);
    if (sum.first_id[0] != '\0')
        fail_msg("%s: %s: %s", sum.first_id, tk_verdict_name(sum.first.verdict), sum.first.why);
    return sum;
}

/* Each chain is two losses and, every second time, one more during a recovery. */
static void test_plans(void **state)
{
    (void)state;
    for (uint32_t i = 0; tk_plan_name(i) != NULL; i++) {
        struct tk_explored sum = explore(tk_plan_name(i), i % 2);
        assert_int_equal(sum.chains, OPERATIONS * 5);
        assert_true(sum.cuts >= 2 * sum.chains && sum.in_recovery > sum.chains / 2);
        assert_int_equal(sum.verdicts[TK_SOUND], sum.chains);
    }
}

static void test_ids(void **state)
{
    struct tk_explored once = {0}, again = {0};
    char why[FTL_WHY_MAX] = "";
    (void)state;
    assert_int_equal(tk_explore_id("tlc/1/17/9", &once, why, sizeof why), 0);
    assert_int_equal(tk_explore_id("tlc/1/17/9", &again, why, sizeof why), 0);
    assert_int_equal(once.chains, 1);
    assert_memory_equal(&once, &again, sizeof once);
    assert_string_equal(once.current_id, "tlc/1/17/9");
    assert_int_equal(tk_explore_id("tlc/1/17", &again, why, sizeof why), FTL_EINVAL);
    assert_int_equal(tk_explore_id("tlx/1/17/9", &again, why, sizeof why), FTL_EINVAL);
}

/* Chains that failed: a checkpoint, for units in the buffer, named places that were erased since, and went round
 * in circles over them; it began before the erases of its segment had ended. */
static void test_found(void **state)
{
    static const struct {
        const char *id;
        uint32_t chains;
    } rows[] = {{"tlc-checkpoint-caps/3/112/9", 1}, {"tlc-checkpoint-caps/4/46/10", 1},
                {"tlc-checkpoint-caps/1/0/0", 0}};      /* its load, no cut */
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tk_explored sum = {0};
        char why[FTL_WHY_MAX] = "";
        assert_int_equal(tk_explore_id(rows[i].id, &sum, why, sizeof why), 0);
        assert_int_equal(sum.chains, rows[i].chains);
        assert_int_equal(sum.verdicts[TK_SOUND], rows[i].chains);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans), cmocka_unit_test(test_ids),
                                       cmocka_unit_test(test_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
