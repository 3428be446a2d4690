/* test_fork.c - a forked drive goes on like the one it came from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ftl/ftl_testkit.h"

enum { STEPS = 300 };

static void play(tk_rig *rig, const struct tk_script *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (tk_rig_step(rig, &s->steps[i]) != 0)
            return;
}

static uint64_t finish(tk_rig *rig, const struct tk_script *s, size_t from,
                       struct tk_result *ret)
{
    play(rig, s, from, s->count);
    (void)tk_rig_end(rig);
    tk_rig_result(rig, ret);
    return ftl_state_hash(tk_rig_drive(rig));
}

static void compare(const char *key, const char *value, uint64_t seed)
{
    char why[FTL_WHY_MAX] = "";
    struct ftl_config cfg;
    struct tk_script s = {0};
    struct tk_mix mix;
    struct tk_result a, b;
    tk_rig *rig, *fork;

    if (tk_tiny(&cfg, why, sizeof why, "host.open_max", "64",
                "drive.user_bytes", "160K", key, value, NULL) != 0)
        fail_msg("%s", why);
    tk_mix_draw(&mix, seed);
    mix.weight[TK_OFF_ON] = mix.weight[TK_CUT] = 0;
    assert_int_equal(tk_add_random(&s, &mix, cfg.drive_user_bytes / cfg.drive_lba_bytes, seed,
                                   STEPS), 0);
    assert_int_equal(tk_rig_new(&cfg, NULL, &rig, why, sizeof why), 0);
    for (size_t at = 0; at < STEPS; at += 60) {
        play(rig, &s, at, at + 60);
        assert_int_equal(tk_rig_fork(rig, &fork), 0);
        assert_true(ftl_state_hash(tk_rig_drive(fork)) == ftl_state_hash(tk_rig_drive(rig)));
        uint64_t hash = finish(fork, &s, at + 60, &a);
        tk_rig_free(fork);
        /* a second one, and nothing that the first did is seen by it */
        assert_int_equal(tk_rig_fork(rig, &fork), 0);
        assert_true(finish(fork, &s, at + 60, &b) == hash);
        tk_rig_free(fork);
        assert_int_equal(a.verdict, TK_SOUND);
        assert_true(a.digest == b.digest && a.reads == b.reads);
    }
    (void)finish(rig, &s, STEPS, &b);
    if (b.verdict != TK_SOUND)
        fail_msg("%s=%s seed %llu: %s", key, value, (unsigned long long)seed, b.why);
    tk_rig_free(rig);
    tk_script_free(&s);
}

static void test_forks_agree(void **state)
{
    static const char *const settings[][2] = {
        {"power.plp", "1"},      {"power.plp", "0"},          {"raid.parity", "1"},
        {"streams.count", "2"},  {"gc.policy", "d-choices"},  {"drive.lba_bytes", "512"},
        {"nand.planes", "2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        for (uint64_t seed = 1; seed <= 6; seed++)
            compare(settings[i][0], settings[i][1], seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forks_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
