/* test_check.c - ftl_check() sees each kind of damage, and says which. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "nvme/drive.h"

static ftl_drive *used_drive(void)
{
    struct ftl_config cfg = make_config("wa-reference", 1, "op", "0.3", "gc.frontiers", "2", NULL);
    ftl_drive *d = make_drive(&cfg);
    struct rand64 r = {2};
    sequential_fill(d);
    random_writes(d, &r, 600000);
    (void)timed_random_writes(d, &r, 16, 3000);
    assert_int_equal(ftl_drain(d), 0);
    assert_sound(d);
    return d;
}

static uint32_t a_closed(const struct ftl_core *c)
{
    for (uint32_t i = 0; i < c->g.sb_count; i++)
        if (c->state[i] == SB_CLOSED && c->valid[i] > 1)
            return i;
    fail();
    return 0;
}

static void swap_map(struct ftl_core *c)
{
    uint32_t t = c->map[5];
    c->map[5] = c->map[6];
    c->map[6] = t;
}
static void lose_map(struct ftl_core *c)
{
    c->map[9] = 0;
}
static void wild_map(struct ftl_core *c)
{
    c->map[9] = (uint32_t)c->g.total_units + 7;
}
static void wrong_valid(struct ftl_core *c)
{
    c->valid[a_closed(c)]--;
}
static void wrong_rmap(struct ftl_core *c)
{
    c->rmap[c->map[3]] = 4;
}
static void wrong_free_count(struct ftl_core *c)
{
    c->free_count++;
}
static void wrong_state(struct ftl_core *c)
{
    c->state[a_closed(c)] = SB_OPEN;
}
static void orphan_victim(struct ftl_core *c)
{
    uint32_t sb = a_closed(c);
    c->state[sb] = SB_VICTIM;
    c->collectable[sb] = 0;
}
static void lost_log(struct ftl_core *c)
{
    c->in_log -= 3;
}
static void lost_bytes(struct ftl_core *c)
{
    c->count->gc_bytes -= 4096;
}
static void lost_program(struct ftl_core *c)
{
    c->count->nand_programs--;
}
static void lost_buffer(struct ftl_core *c)
{
    c->buffer_used = c->buffer_limit + 1;
}
static void wrong_collectable(struct ftl_core *c)
{
    c->collectable[c->fr[0].sb] = 1;
}

static void test_damage(void **state)
{
    static const struct {
        void (*damage)(struct ftl_core *c);
        const char *part;
    } rows[] = {
        {swap_map, "which names LPN"},       {lose_map, "are mapped, the count says"},
        {wild_map, "beyond the drive"},      {wrong_valid, "live units, the count says"},
        {wrong_rmap, "which names LPN"},     {wrong_free_count, "are free, the count says"},
        {wrong_state, "open state"},         {orphan_victim, "a victim that nobody collects"},
        {lost_log, "log holds"},             {lost_bytes, "bytes: causes sum to"},
        {lost_program, "bytes: causes sum to"}, {lost_buffer, "buffer:"},
        {wrong_collectable, "collectable but not closed"},
    };
    char why[FTL_WHY_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ftl_drive *d = used_drive();
        rows[i].damage(&d->core);
        assert_int_equal(ftl_check(d, why, sizeof why), FTL_ECHECK);
        if (strstr(why, rows[i].part) == NULL)
            fail_msg("damage %zu: \"%s\" lacks \"%s\"", i, why, rows[i].part);
        ftl_destroy(d);
    }
}

/* Data of different streams never shares a superblock, whoever moved it last. */
static void test_streams_stay_apart(void **state)
{
    (void)state;
    for (int frontiers = 1; frontiers <= 2; frontiers++) {
        struct ftl_config cfg = make_config("wa-reference", 1, "op", "0.3", "streams.count", "3",
                                            "gc.frontiers", frontiers == 1 ? "1" : "2", NULL);
        ftl_drive *d = make_drive(&cfg);
        const struct ftl_core *c = &d->core;
        struct rand64 r = {19};
        struct ftl_cpl cpl[32];
        uint64_t lbas = ftl_lba_count(d);
        for (uint64_t i = 0; i < lbas * 4; i++) {
            uint64_t lba = draw_to(&r, lbas);
            struct ftl_extent e = {.lba = lba, .lba_count = 1, .stream = (uint32_t)(1 + lba % 3)};
            assert_int_equal(ftl_write_untimed(d, &e, 1), 0);
        }
        for (uint64_t i = 0; i < 20000; i++) {
            uint64_t lba = draw_to(&r, lbas);
            struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = lba, .lba_count = 1,
                                  .stream = (uint16_t)(1 + lba % 3)};
            assert_int_equal(ftl_submit(d, &cmd), 0);
            if (i % 32 == 31) {
                assert_true(ftl_run(d, FTL_NEVER) >= 0);
                (void)ftl_poll(d, cpl, 32);
            }
        }
        assert_int_equal(ftl_drain(d), 0);
        assert_sound(d);
        uint64_t classes = 0;
        for (uint32_t key = 1; key <= c->user_units; key++) {
            if (c->map[key] == 0)
                continue;
            uint32_t sb = geometry_superblock(&c->g, c->map[key] - 1);
            assert_int_equal(c->sb_class[sb], (key - 1) % 3);
            classes |= 1u << c->sb_class[sb];
        }
        assert_int_equal(classes, 7);
        assert_true(c->count->gc_units_moved > lbas);   /* and much of it was relocated */
        ftl_destroy(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_damage),
                                       cmocka_unit_test(test_streams_stay_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
