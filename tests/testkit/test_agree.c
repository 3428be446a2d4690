/* test_agree.c - whatever the policies, the host reads the same bytes: every combination of
 * built-in victim, pacing, wear and stream policies plays the same commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ftl/ftl_testkit.h"

struct choice {
    const char *gc, *pace, *wear, *spread, *mode, *streams, *frontiers, *parity, *plp, *buffer,
        *user;
};
static const struct choice plain = {"greedy", "threshold", "least-worn", "0", "host", "1", "1",
                                    "0", "1", "128K", "288K"};

/* Each batch of commands touches an LBA once at most, so that values do not depend on time. */
static void add_batches(struct tk_case *c, uint64_t lbas)
{
    uint64_t x = 12345, part = lbas / 4;
    for (uint64_t k = 0; k < 1500; k++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        uint64_t lba = (x >> 33) % part + k % 4 * part, what = (x >> 50) % 8;
        enum tk_op op = what < 5 ? TK_WRITE : what < 7 ? TK_READ : TK_TRIM;
        assert_int_equal(tk_add(&c->script, op, lba, 1, (uint16_t)(k % 3)), 0);
        if (k % 4 == 3)
            assert_int_equal(tk_add(&c->script, TK_WAIT, 0, 0, 0), 0);
        if (k % 300 == 299)                 /* a pause, for collection in idle time */
            assert_int_equal(tk_add(&c->script, TK_RUN, 20000000, 0, 0), 0);
    }
}

static struct tk_result play(const struct choice *k)
{
    char why[FTL_WHY_MAX] = "";
    struct tk_options seldom = {.check_every = 100};
    struct tk_case c = {0};
    struct tk_result r;
    if (tk_tiny(&c.cfg, why, sizeof why, "drive.user_bytes", k->user, "gc.choices", "3",
                "buffer.gc_bytes", "128K",
                "gc.policy", k->gc, "gc.pacing", k->pace, "wear.policy", k->wear, "wear.spread",
                k->spread, "streams.mode", k->mode, "streams.count", k->streams, "gc.frontiers",
                k->frontiers, "raid.parity", k->parity, "power.plp", k->plp, "buffer.bytes",
                k->buffer, NULL) != 0)
        fail_msg("%s", why);
    add_batches(&c, c.cfg.drive_user_bytes / c.cfg.drive_lba_bytes);
    assert_int_equal(tk_play(&c, &seldom, &r), 0);
    if (r.verdict != TK_SOUND)
        fail_msg("%s, %s, %s, spread %s, %s %s: %s", k->gc, k->pace, k->wear, k->spread, k->mode,
                 k->streams, r.why);
    tk_script_free(&c.script);
    return r;
}

/* Streams: no classes, two by the host's hints, the one built-in policy with two and three. */
static uint32_t stream_choice(uint32_t i, struct choice *k)
{
    static const char *const counts[] = {"1", "2", "2", "3"};
    if (i >= 4)
        return 0;
    k->mode = i < 2 ? "host" : "auto";
    k->streams = counts[i];
    return 1;
}

static void test_all(void **state)
{
    const uint64_t want = play(&plain).digest;
    uint32_t runs = 0, moving = 0, kinds[4] = {0};
    (void)state;
    for (uint32_t g = 0; ftl_gc_policy_get(g) != NULL; g++, kinds[0] = g)
        for (uint32_t p = 0; ftl_pace_policy_get(p) != NULL; p++, kinds[1] = p)
            for (uint32_t w = 0; ftl_wear_policy_get(w / 2) != NULL; w++, kinds[2] = w) {
                struct choice k = plain;
                k.gc = ftl_gc_policy_get(g)->head.name;
                k.pace = ftl_pace_policy_get(p)->head.name;
                k.wear = ftl_wear_policy_get(w / 2)->head.name;
                k.spread = w % 2 == 0 ? "0" : "2";
                for (uint32_t s = 0; stream_choice(s, &k); s++, runs++) {
                    kinds[3] = s + 1;
                    k.frontiers = runs % 5 < 2 ? "1" : "2";
                    struct tk_result r = play(&k);
                    if (r.digest != want)
                        fail_msg("%s, %s, %s, spread %s, %s %s reads other values", k.gc, k.pace,
                                 k.wear, k.spread, k.mode, k.streams);
                    assert_true(r.counters.gc_bytes > 0);
                    moving += r.counters.wear_bytes > 0;
                }
            }
    /* 7 victim, 3 pacing, 3 wear policies with and without moves, 4 choices of streams */
    assert_true(kinds[0] >= 7 && kinds[1] >= 3 && kinds[2] >= 6 && kinds[3] == 4);
    assert_int_equal(runs, kinds[0] * kinds[1] * kinds[2] * kinds[3]);
    print_message("%u combinations agree, %u of them moved data for wear\n", runs, moving);
    assert_true(moving >= runs / 8);
}

/* The same for what is no policy: frontiers, parity, no capacitors, a small buffer. */
static void test_settings(void **state)
{
    struct choice first = plain;
    first.user = "192K";                    /* parity takes half of the two dies */
    const uint64_t want = play(&first).digest;
    (void)state;
    for (uint32_t g = 0; ftl_gc_policy_get(g) != NULL; g++)
        for (uint32_t i = 0; i < 16; i++) {
            struct choice k = first;
            k.gc = ftl_gc_policy_get(g)->head.name;
            k.frontiers = i & 1 ? "2" : "1";
            k.parity = i & 2 ? "1" : "0";
            k.plp = i & 4 ? "0" : "1";
            k.buffer = i & 8 ? "12K" : "128K";
            if (play(&k).digest != want)
                fail_msg("%s frontiers %s parity %s plp %s buffer %s reads other values", k.gc,
                         k.frontiers, k.parity, k.plp, k.buffer);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all),
                                       cmocka_unit_test(test_settings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
