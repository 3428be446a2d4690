/* test_policy.c - policies of the caller's: judged, called with their state, and
 * stopped with their name when they answer nonsense. */
#include "common.h"

#include <string.h>

#include "ftl/ftl_policy.h"

static char why[FTL_WHY_MAX];

#define GC(name, pick) {FTL_POLICY_HEAD(struct ftl_gc_policy, name, 0, 0), pick}

static ftl_drive *drive_with(const struct ftl_gc_policy *gc)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "op", "0.3", "ftl.superblocks", "256",
                                        "gc.frontiers", "2", NULL);
    struct ftl_policies policies = FTL_POLICIES_INIT;
    ftl_drive *d = NULL;
    policies.gc = gc;
    if (ftl_create_with(&cfg, &policies, &d, why, sizeof why) < 0)
        fail_msg("%s", why);
    return d;
}

/* ---- nonsense ------------------------------------------------------------------- */

static int pick_outside(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    (void)state;
    *ret = v->count;
    return 0;
}
static int pick_silent(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    (void)state;
    (void)v;
    (void)ret;
    return 0;
}
static int pick_open(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    uint64_t youngest = 0;
    (void)state;
    for (uint32_t i = 0; i < v->count; i++)
        if (!v->collectable[i] && v->closed_at[i] >= youngest) {
            youngest = v->closed_at[i];
            *ret = i;
        }
    return 0;
}
static int pick_fullest(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    uint32_t most = 0;
    (void)state;
    for (uint32_t i = 0; i < v->count; i++)
        if (v->collectable[i] && v->valid_units[i] >= most) {
            most = v->valid_units[i];
            *ret = i;
        }
    return 0;
}
static int pick_nothing(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    (void)state;
    (void)v;
    (void)ret;
    return -5;
}
/* Right once, then the same one for ever. */
static int pick_same(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    uint32_t *kept = state;
    if (*kept == 0)
        for (uint32_t i = 0; i < v->count; i++)
            if (v->collectable[i])
                *kept = i + 1;
    *ret = *kept - 1;
    return 0;
}

static int write_until_fault(ftl_drive *d, int timed)
{
    struct rand64 r = {8};
    struct ftl_cpl cpl;
    int err = 0;
    for (uint64_t n = 0; n < 400000 && err >= 0; n++) {
        uint64_t lba = draw_to(&r, ftl_lba_count(d));
        struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = lba, .lba_count = 1};
        struct ftl_extent e = {.lba = lba, .lba_count = 1};
        if (!timed)
            err = ftl_write_untimed(d, &e, 1);
        else if (ftl_submit(d, &cmd) == 0)
            err = ftl_run(d, FTL_NEVER);
        (void)ftl_poll(d, &cpl, 1);
    }
    return err;
}

static void test_nonsense(void **state)
{
    static const struct {
        struct ftl_gc_policy policy;
        const char *what;
    } rows[] = {
        {GC("outside", pick_outside), "gc policy outside: chose superblock 256 of 256"},
        {GC("silent", pick_silent), "gc policy silent: chose superblock 4294967295 of 256"},
        {GC("open", pick_open), "gc policy open: chose superblock "},
        {GC("fullest", pick_fullest),
         "gc policy fullest: chose 8193 superblocks in a row that freed no room"},
        {GC("nothing", pick_nothing), "gc policy nothing: gave up with -5"},
        {{FTL_POLICY_HEAD(struct ftl_gc_policy, "same", 4, 0), pick_same},
         "gc policy same: chose superblock "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int timed = 0; timed < 2; timed++) {
            ftl_drive *d = drive_with(&rows[i].policy);
            assert_int_equal(ftl_policy_fault(d, why, sizeof why), 0);
            int err = write_until_fault(d, timed);
            if (err != FTL_EPOLICY)
                fail_msg("%s, timed %d: %d", rows[i].policy.head.name, timed, err);
            assert_int_equal(ftl_policy_fault(d, why, sizeof why), FTL_EPOLICY);
            if (strncmp(why, rows[i].what, strlen(rows[i].what)) != 0)
                fail_msg("\"%s\" is not \"%s\"", why, rows[i].what);
            assert_int_equal(ftl_policy_fault(d, NULL, 0), FTL_EPOLICY);
            /* and it stays stopped */
            struct ftl_extent e = {.lba = 0, .lba_count = 1};
            assert_int_equal(ftl_write_untimed(d, &e, 1), timed ? FTL_EBUSY : FTL_EPOLICY);
            ftl_destroy(d);
        }
}

/* ---- what is refused at create ---------------------------------------------------- */

static void test_refused(void **state)
{
    static const char long_name[] =
        "a-name-of-sixty-four-characters-which-is-one-more-than-the-most.";
    struct ftl_gc_policy bad = GC("mine", pick_outside), good = bad;
    static const char *const parts[] = {
        "gc policy: made for version 3 of ftl_policy.h, this is 1",
        "gc policy: struct_size 8, must be ", "gc policy: its name must have 1 to 63 characters",
        "gc policy: its name must have 1 to 63 characters",
        "gc policy: its name must have 1 to 63 characters", "gc policy mine: has no pick()",
        "gc policy greedy: the name is that of a built-in policy",
        "policies: made for version 2", "policies: struct_size 4, must be "};
    struct ftl_config cfg = make_config("wa-reference", 1, NULL);
    assert_int_equal(strlen(long_name), FTL_NAME_MAX);
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct ftl_policies p = FTL_POLICIES_INIT;
        ftl_drive *d = NULL;
        bad = good;
        p.gc = &bad;
        bad.head.version = i == 0 ? 3 : FTL_POLICY_VERSION;
        bad.head.struct_size = i == 1 ? 8 : sizeof bad;
        bad.head.name = i == 2 ? NULL : i == 3 ? "" : i == 4 ? long_name : i == 6 ? "greedy" : "mine";
        bad.pick = i == 5 ? NULL : pick_outside;
        p.version = i == 7 ? 2 : FTL_POLICY_VERSION;
        p.struct_size = i == 8 ? 4 : sizeof p;
        assert_int_equal(ftl_create_with(&cfg, &p, &d, why, sizeof why), FTL_EINVAL);
        if (strstr(why, parts[i]) == NULL)
            fail_msg("row %zu: \"%s\" lacks \"%s\"", i, why, parts[i]);
        assert_null(d);
    }
}

/* ---- state ---------------------------------------------------------------------- */

/* Round robin over superblocks, with a tally of each: state of both kinds. */
struct robin {
    uint64_t picks;
    uint32_t next, taken[];
};

static int pick_robin(void *state, const struct ftl_gc_view *v, uint32_t *ret)
{
    struct robin *s = state;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < v->count; i++)
        sum += s->taken[i];
    if (sum != s->picks)                /* zeroed at first, kept ever since */
        return -1;
    while (!v->collectable[s->next])
        s->next = s->next + 1 < v->count ? s->next + 1 : 0;
    s->picks++;
    s->taken[s->next]++;
    *ret = s->next;
    return 0;
}

static void test_state(void **state)
{
    static const struct ftl_gc_policy robin = {
        FTL_POLICY_HEAD(struct ftl_gc_policy, "robin", sizeof(struct robin), sizeof(uint32_t)),
        pick_robin};
    struct ftl_status with, without;
    struct rand64 r = {3};
    (void)state;
    ftl_drive *d = drive_with(&robin), *plain = drive_with(NULL);
    ftl_status_get(d, &with);
    ftl_status_get(plain, &without);
    assert_int_equal(with.memory_bytes - without.memory_bytes, 16 + 256 * 4);
    sequential_fill(d);
    random_writes(d, &r, 200000);
    (void)timed_random_writes(d, &r, 16, 20000);
    assert_int_equal(ftl_drain(d), 0);
    assert_sound(d);
    assert_true(wa_gc(d) > 1.5);
    ftl_destroy(d);
    ftl_destroy(plain);
}

/* A built-in policy handed over is the one that the configuration would name. */
static void test_no_private_door(void **state)
{
    uint64_t hash[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct rand64 r = {5};
        ftl_drive *d = drive_with(i == 0 ? NULL : ftl_gc_policy_find("greedy"));
        sequential_fill(d);
        random_writes(d, &r, 100000);
        (void)timed_random_writes(d, &r, 16, 20000);
        hash[i] = ftl_state_hash(d);
        ftl_destroy(d);
    }
    assert_true(hash[0] == hash[1]);
    assert_non_null(ftl_gc_policy_get(6));
    assert_null(ftl_gc_policy_get(7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nonsense), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_state), cmocka_unit_test(test_no_private_door),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
