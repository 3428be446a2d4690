/* test_isolation.c - what classes of data promise, slot by slot, and what happens to a
 * stream policy that answers nonsense. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvme/drive.h"

enum { HANDLES = 4 };

/* Overwrites with and without time, each unit always by the same handle. */
static void write_handles(ftl_drive *d)
{
    struct rand64 r = {19};
    struct ftl_cpl cpl[32];
    uint64_t lbas = ftl_lba_count(d);
    for (uint64_t i = 0; i < lbas * 4; i++) {
        uint64_t lba = draw_to(&r, lbas);
        struct ftl_extent e = {.lba = lba, .lba_count = 1,
                               .stream = (uint32_t)(1 + lba % HANDLES)};
        assert_int_equal(ftl_write_untimed(d, &e, 1), 0);
    }
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t lba = draw_to(&r, lbas);
        struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = lba, .lba_count = 1,
                              .stream = (uint16_t)(1 + lba % HANDLES)};
        assert_int_equal(ftl_submit(d, &cmd), 0);
        if (i % 32 == 31) {
            assert_true(ftl_run(d, FTL_NEVER) >= 0);
            (void)ftl_poll(d, cpl, 32);
        }
    }
    assert_int_equal(ftl_drain(d), 0);
    assert_sound(d);
}

static ftl_drive *handles_drive(const char *initial)
{
    struct ftl_config cfg =
        make_config("wa-reference", 1, "op", "0.3", "ftl.superblocks", "512", "gc.frontiers", "2",
                    "streams.count", "4", "streams.initially_isolated", initial, NULL);
    return make_drive(&cfg);
}

/* Bit h: superblock holds a live unit of handle h. */
static uint32_t *handles_of(const struct ftl_core *c)
{
    uint32_t *seen = calloc(c->g.sb_count, sizeof *seen);
    assert_non_null(seen);
    for (uint32_t key = 1; key <= c->user_units; key++)
        if (c->map[key] != 0)
            seen[geometry_superblock(&c->g, c->map[key] - 1)] |= 1u << (key - 1) % HANDLES;
    return seen;
}

/* Persistently isolated: no superblock ever holds two handles. */
static void test_persistent(void **state)
{
    (void)state;
    ftl_drive *d = handles_drive("0");
    write_handles(d);
    uint32_t *seen = handles_of(&d->core), all = 0;
    for (uint32_t sb = 0; sb < d->core.g.sb_count; sb++) {
        assert_true((seen[sb] & (seen[sb] - 1)) == 0);
        all |= seen[sb];
    }
    assert_int_equal(all, 15);
    assert_true(d->core.count->gc_units_moved > ftl_lba_count(d));
    free(seen);
    ftl_destroy(d);
}

/* Initially isolated, handles 1 and 2: what the host writes stays apart, relocation
 * gathers both; handles 3 and 4 stay apart as before. */
static void test_initial(void **state)
{
    (void)state;
    ftl_drive *d = handles_drive("2");
    write_handles(d);
    const struct ftl_core *c = &d->core;
    uint32_t *seen = handles_of(c), gathered = 0, by_host = 0;
    assert_int_equal(c->frontier_count, 7);
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        bool several = (seen[sb] & (seen[sb] - 1)) != 0;
        if (several)
            assert_int_equal(seen[sb], 3);
        if (c->sb_class[sb] == HANDLES && c->valid[sb] != 0)
            gathered += several;
        else if (c->valid[sb] != 0) {
            assert_false(several);
            by_host += seen[sb] == 1 || seen[sb] == 2;
        }
    }
    assert_true(gathered > 10 && by_host > 10);
    free(seen);
    ftl_destroy(d);
}

/* ftl_check sees a unit of another handle, and a superblock of another class. */
static void test_damage(void **state)
{
    char why[FTL_WHY_MAX];
    (void)state;
    ftl_drive *d = handles_drive("2");
    write_handles(d);
    uint32_t sb = 0;
    while (d->core.state[sb] != SB_CLOSED || d->core.valid[sb] == 0 || d->core.sb_class[sb] != 3)
        sb++;
    d->core.sb_handles[sb] |= 1;
    assert_int_equal(ftl_check(d, why, sizeof why), FTL_ECHECK);
    assert_non_null(strstr(why, "of class 3, holds units of classes 0x9"));
    d->core.sb_handles[sb] &= (uint8_t)~1u;
    assert_sound(d);
    sb = d->core.fr[1].sb;
    d->core.sb_class[sb] = 2;
    assert_int_equal(ftl_check(d, why, sizeof why), FTL_ECHECK);
    assert_non_null(strstr(why, "of class 2, opened for class 1"));
    ftl_destroy(d);
}

/* ---- stream policies ----------------------------------------------------------------- */

static int by_parity(void *state, const struct ftl_stream_view *v,
                     const struct ftl_stream_batch *b, uint8_t *ret)
{
    uint64_t *seen = state;
    assert_true(b->count >= 1 && b->count <= 64 && b->origin <= FTL_STREAM_TRIM);
    for (uint32_t i = 0; i < b->count; i++) {
        assert_true(b->units[i] < v->user_units);
        ret[i] = (uint8_t)(b->units[i] % v->classes);
    }
    seen[b->origin] += b->count;
    return 0;
}
static int too_high(void *state, const struct ftl_stream_view *v,
                    const struct ftl_stream_batch *b, uint8_t *ret)
{
    (void)state;
    ret[b->count - 1] = (uint8_t)v->classes;
    return 0;
}
static int gives_up(void *state, const struct ftl_stream_view *v,
                    const struct ftl_stream_batch *b, uint8_t *ret)
{
    (void)state;
    (void)v;
    (void)b;
    (void)ret;
    return -3;
}

static ftl_drive *policy_drive(const struct ftl_stream_policy *p, const char *mode)
{
    char why[FTL_WHY_MAX];
    struct ftl_config cfg =
        make_config("wa-reference", 1, "op", "0.3", "ftl.superblocks", "512", "gc.frontiers", "2",
                    "streams.mode", mode, "streams.count", "2", NULL);
    struct ftl_policies policies = FTL_POLICIES_INIT;
    ftl_drive *d = NULL;
    policies.stream = p;
    (void)ftl_create_with(&cfg, &policies, &d, why, sizeof why);
    return d;
}

/* A policy of the caller's is asked about every unit, and obeyed. */
static void test_own_policy(void **state)
{
    static const struct ftl_stream_policy p = {
        FTL_POLICY_HEAD(struct ftl_stream_policy, "by-parity", 3 * sizeof(uint64_t), 0), 0,
        by_parity};
    (void)state;
    assert_null(policy_drive(&p, "host"));
    ftl_drive *d = policy_drive(&p, "auto");
    assert_non_null(d);
    struct rand64 r = {4};
    uint64_t units = ftl_lba_count(d);
    sequential_fill(d);
    random_writes(d, &r, units * 2);
    assert_int_equal(ftl_trim_untimed(d, 0, 1000), 0);
    const uint64_t *seen = d->core.policy.stream_state;
    assert_int_equal(seen[FTL_STREAM_HOST], units * 3);
    assert_int_equal(seen[FTL_STREAM_RELOCATION], d->core.count->gc_units_moved);
    assert_int_equal(seen[FTL_STREAM_TRIM], 1000);
    /* what is with the other class was counted, and is little */
    uint64_t strays = 0;
    for (uint32_t key = 1; key <= d->core.user_units; key++)
        if (d->core.map[key] != 0)
            strays += d->core.sb_class[geometry_superblock(&d->core.g, d->core.map[key] - 1)] !=
                      (key - 1) % 2;
    assert_true(strays <= d->core.count->stream_mixed_units);
    assert_true(strays < units / 50);
    assert_sound(d);
    ftl_destroy(d);
}

static void test_bad_policies(void **state)
{
    static const struct ftl_stream_policy bad[] = {
        {FTL_POLICY_HEAD(struct ftl_stream_policy, "high", 0, 0), 0, too_high},
        {FTL_POLICY_HEAD(struct ftl_stream_policy, "lazy", 0, 0), 0, gives_up},
    };
    static const char *const parts[] = {"stream policy high: chose class 2 of 2",
                                        "stream policy lazy: gave up with -3"};
    char why[FTL_WHY_MAX];
    (void)state;
    for (int i = 0; i < 2; i++) {
        ftl_drive *d = policy_drive(&bad[i], "auto");
        struct ftl_extent e = {.lba = 7, .lba_count = 3};
        int err = ftl_write_untimed(d, &e, 1);
        if (err == 0)
            err = ftl_write_untimed(d, &e, 1);
        assert_int_equal(err, FTL_EPOLICY);
        assert_int_equal(ftl_policy_fault(d, why, sizeof why), FTL_EPOLICY);
        assert_string_equal(why, parts[i]);
        ftl_destroy(d);
    }
    struct ftl_stream_policy p = bad[0];
    p.place = NULL;
    assert_null(policy_drive(&p, "auto"));
    p = bad[0];
    p.head.name = "update-rate";
    assert_null(policy_drive(&p, "auto"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_persistent), cmocka_unit_test(test_initial),
        cmocka_unit_test(test_damage), cmocka_unit_test(test_own_policy),
        cmocka_unit_test(test_bad_policies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
