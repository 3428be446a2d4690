/* test_repeat.c - the same seed gives the same state, another seed another. Compilers
 * and optimisation levels are compared by scripts/test.sh, which runs builds apart. */
#include "common.h"

#include <string.h>

static uint64_t history(const char *policy, uint64_t drive_seed, uint64_t load_seed)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "gc.policy", policy, "op", "0.2", NULL);
    cfg.drive_seed = drive_seed;
    ftl_drive *d = make_drive(&cfg);
    struct rand64 r = {load_seed};
    sequential_fill(d);
    random_writes(d, &r, 600000);
    (void)timed_random_writes(d, &r, 32, 20000);
    uint64_t hash = ftl_state_hash(d);
    ftl_destroy(d);
    return hash;
}

static void test_seeds(void **state)
{
    (void)state;
    uint64_t a = history("d-choices", 1, 1);
    assert_true(a == history("d-choices", 1, 1));
    assert_true(a != history("d-choices", 2, 1));   /* the drive's own draws */
    assert_true(a != history("d-choices", 1, 2));   /* another load */
    assert_true(history("greedy", 1, 1) == history("greedy", 2, 1)); /* greedy draws nothing */
}

/* Reading state, counters and invariants changes nothing. */
static void test_looking_is_free(void **state)
{
    struct ftl_config cfg = make_config("wa-reference", 1, NULL);
    uint64_t hash[2];
    (void)state;
    for (int look = 0; look < 2; look++) {
        ftl_drive *d = make_drive(&cfg);
        struct rand64 r = {6};
        sequential_fill(d);
        for (int i = 0; i < 20; i++) {
            (void)timed_random_writes(d, &r, 32, 500);
            struct ftl_counters n;
            struct ftl_status s;
            if (look) {
                assert_sound(d);
                ftl_counters_get(d, &n);
                ftl_status_get(d, &s);
                (void)ftl_state_hash(d);
                (void)ftl_next_event(d);
            }
        }
        hash[look] = ftl_state_hash(d);
        ftl_destroy(d);
    }
    assert_true(hash[0] == hash[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_seeds),
                                       cmocka_unit_test(test_looking_is_free)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
