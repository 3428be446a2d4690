/* test_fault.c - failures and power cuts, and what is left on the medium. */
#include "help.h"

enum { ALL = 0x3f };

static nand_dev *device(uint32_t dies)
{
    struct nand_profile p = small("etlc-x3-9070", 1, dies, 4, 4);
    return make(&p, 7, NAND_WITH_CONTENTS); /* unwritten pages may be read */
}

static nand_ns write_at(nand_dev *dev, nand_ns now, uint32_t die, uint32_t block,
                        uint32_t first_page)
{
    return write_wordline(dev, now, die, ALL, block, first_page, 3);
}

/* Status of a page as read; moves the time on. */
static int look(nand_dev *dev, nand_ns *now, uint32_t die, uint32_t block, uint32_t page)
{
    struct nand_res r = must(dev, *now, op_at(NAND_OP_READ, die, 0, block, page));

    *now = r.done_at;
    return r.status;
}

static nand_ns erase_at(nand_dev *dev, nand_ns now, uint32_t die, uint32_t block)
{
    return must(dev, now, op_mask(NAND_OP_ERASE, die, ALL, block, 0)).done_at;
}

/* ---- failures --------------------------------------------------------------------- */

static void armed_program_failure(void **state)
{
    nand_dev *dev = device(1);
    struct nand_fault fault = {.kind = NAND_FAULT_PROG_FAIL, .at_op = 2};
    struct nand_block_info info;
    struct nand_res r;
    nand_ns now;
    (void)state;

    assert_int_equal(nand_fault_arm(dev, &fault), 0);
    now = write_at(dev, 0, 0, 0, 0);
    for (uint32_t t = 0; t < 3; t++)
        (void)must(dev, now, data_in(0, ALL, 0, 3 + t, 16, NULL));
    r = must(dev, now, op_mask(NAND_OP_PROG, 0, ALL, 0, 3));
    assert_int_equal(r.status, NAND_FAIL);
    assert_int_equal(r.fail_mask, ALL);
    now = r.done_at;
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_OK); /* earlier pages survive */
    assert_int_equal(look(dev, &now, 0, 0, 4), NAND_GARBAGE);
    assert_int_equal(nand_block_info(dev, 0, 3, 0, &info), 0);
    assert_int_equal(info.bad, 2);
    assert_int_equal(nand_fault_count(dev, NAND_FAULT_PROG_FAIL), 1);
    assert_int_equal(nand_op_count(dev), 2);
    assert_int_equal(nand_fault_arm(dev, &fault), NAND_EINVAL); /* operation 2 is past */
    nand_destroy(dev);
}

/* The same without any depth, where plain programs take a shorter way. */
static void armed_on_a_bare_device(void **state)
{
    struct nand_profile p = small("etlc-x3-9070", 1, 1, 4, 4);
    struct nand_fault fault = {.kind = NAND_FAULT_PROG_FAIL, .at_op = 2};
    struct nand_cut cut = {.at_op = 4, .mode = NAND_CUT_TORN_PROG};
    static const int status[4] = {NAND_OK, NAND_FAIL, NAND_FAIL, NAND_CUT};
    nand_dev *dev = make(&p, 1, 0);
    nand_ns now = 0;
    (void)state;

    assert_int_equal(nand_fault_arm(dev, &fault), 0);
    assert_int_equal(nand_cut_arm(dev, &cut), 0);
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t t = 0; t < 3; t++)
            (void)must(dev, now, data_in(0, ALL, 0, 3 * i + t, 16, NULL));
        struct nand_res r = must(dev, now, op_mask(NAND_OP_PROG, 0, ALL, 0, 3 * i));
        assert_int_equal(r.status, status[i]); /* once failed, a block goes on failing */
        now = r.done_at > now ? r.done_at : now;
    }
    assert_int_equal(nand_power_on(dev, now), 0);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_OK);
    assert_int_equal(look(dev, &now, 0, 0, 3), NAND_GARBAGE);
    assert_int_equal(look(dev, &now, 0, 0, 9), NAND_GARBAGE);
    nand_destroy(dev);
}

static void armed_erase_failure(void **state)
{
    nand_dev *dev = device(1);
    struct nand_fault fault = {.kind = NAND_FAULT_ERASE_FAIL, .at_op = 1};
    struct nand_res r;
    nand_ns now;
    (void)state;

    assert_int_equal(nand_fault_arm(dev, &fault), 0);
    r = must(dev, 0, op_mask(NAND_OP_ERASE, 0, ALL, 2, 0));
    assert_int_equal(r.status, NAND_FAIL);
    now = r.done_at;
    assert_int_equal(look(dev, &now, 0, 2, 0), NAND_GARBAGE);
    assert_int_equal(must(dev, now, op_mask(NAND_OP_ERASE, 0, ALL, 1, 0)).status, NAND_OK);
    assert_int_equal(nand_fault_count(dev, NAND_FAULT_ERASE_FAIL), 1);
    nand_destroy(dev);
}

static void stuck_plane_and_dead_die(void **state)
{
    nand_dev *dev = device(2);
    struct nand_fault stuck = {.kind = NAND_FAULT_PLANE_STUCK, .at_op = 2, .plane = 2};
    struct nand_fault dead = {.kind = NAND_FAULT_DIE_DEAD, .at_op = 3, .die = 1};
    struct nand_res r;
    nand_ns now;
    (void)state;

    assert_int_equal(nand_fault_arm(dev, &stuck), 0);
    assert_int_equal(nand_fault_arm(dev, &dead), 0);
    now = write_at(dev, 0, 0, 0, 0);
    r = must(dev, now, op_mask(NAND_OP_ERASE, 0, ALL, 1, 0));
    assert_int_equal(r.fail_mask, 1u << 2);
    now = r.done_at;
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_OK);
    r = must(dev, now, op_at(NAND_OP_READ, 0, 2, 0, 0));
    assert_int_equal(r.status, NAND_FAIL);
    r = must(dev, r.done_at, op_mask(NAND_OP_ERASE, 1, ALL, 0, 0));
    assert_int_equal(r.fail_mask, ALL);
    now = r.done_at;
    assert_int_equal(look(dev, &now, 1, 1, 0), NAND_FAIL);
    assert_int_equal(nand_fault_count(dev, NAND_FAULT_PLANE_STUCK), 1);
    assert_int_equal(nand_fault_count(dev, NAND_FAULT_DIE_DEAD), 1);
    nand_destroy(dev);
}

static void read_upsets_pass(void **state)
{
    nand_dev *dev = device(1);
    struct nand_fault upset = {.kind = NAND_FAULT_READ_UPSET, .rate_ppm = 250000};
    nand_ns now = write_at(dev, 0, 0, 0, 0);
    uint32_t bad = 0;
    (void)state;

    assert_int_equal(nand_fault_arm(dev, &upset), 0);
    for (int i = 0; i < 4000; i++)
        bad += look(dev, &now, 0, 0, 1) == NAND_GARBAGE;
    assert_in_range(bad, 1000 - 137, 1000 + 137); /* 5 sigma of 27.4 */
    assert_int_equal(nand_fault_count(dev, NAND_FAULT_READ_UPSET), bad);
    upset.rate_ppm = 0;
    assert_int_equal(nand_fault_arm(dev, &upset), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(look(dev, &now, 0, 0, 1), NAND_OK);
    upset = (struct nand_fault){.kind = NAND_FAULT_READ_UPSET, .at_op = 2, .rate_ppm = 1000000};
    assert_int_equal(nand_fault_arm(dev, &upset), 0);
    assert_int_equal(look(dev, &now, 0, 0, 1), NAND_OK); /* one operation so far */
    now = write_at(dev, now, 0, 0, 3);
    assert_int_equal(look(dev, &now, 0, 0, 1), NAND_GARBAGE);
    upset.at_op = 0;
    upset.rate_ppm = 1000001;
    assert_int_equal(nand_fault_arm(dev, &upset), NAND_EINVAL);
    nand_destroy(dev);
}

static uint64_t factory_bad(uint64_t seed, uint64_t *ret_hash)
{
    struct nand_profile p = small("etlc-x3-9070", 1, 20, 500, 4);
    nand_dev *dev = make(&p, seed, NAND_WITH_FAULTS);
    uint64_t count = 0;

    for (uint32_t d = 0; d < 20; d++)
        for (uint32_t plane = 0; plane < 6; plane++)
            for (uint32_t b = 0; b < 500; b++) {
                struct nand_block_info info;
                assert_int_equal(nand_block_info(dev, d, plane, b, &info), 0);
                count += info.bad == 1;
            }
    assert_int_equal(count, nand_fault_count(dev, NAND_FAULT_FACTORY_BAD));
    assert_int_equal(nand_state_hash(dev, ret_hash), 0);
    nand_destroy(dev);
    return count;
}

static void factory_bad_blocks_are_one_percent(void **state)
{
    uint64_t hash[3];
    (void)state;

    assert_in_range(factory_bad(1, &hash[0]), 600 - 122, 600 + 122); /* 5 sigma of 24.4 */
    assert_in_range(factory_bad(2, &hash[1]), 600 - 122, 600 + 122);
    (void)factory_bad(1, &hash[2]);
    assert_true(hash[0] != hash[1]);
    assert_true(hash[0] == hash[2]);
}

static void bad_block_always_fails(void **state)
{
    struct nand_profile p = small("etlc-x3-9070", 1, 1, 500, 4);
    nand_dev *dev = make(&p, 1, NAND_WITH_FAULTS);
    struct nand_block_info info;
    uint32_t b = 0;
    (void)state;

    do {
        assert_true(b < 500);
        assert_int_equal(nand_block_info(dev, 0, 0, b, &info), 0);
        b++;
    } while (!info.bad);
    b--;
    struct nand_res r = must(dev, 0, op_mask(NAND_OP_ERASE, 0, 1, b, 0));
    assert_int_equal(r.status, NAND_FAIL);
    for (uint32_t t = 0; t < 3; t++)
        (void)must(dev, r.done_at, data_in(0, 1, b, t, 16, NULL));
    r = must(dev, r.done_at, op_mask(NAND_OP_PROG, 0, 1, b, 0));
    assert_int_equal(r.status, NAND_FAIL);
    nand_destroy(dev);
}

/* 10 % of blocks fail by cycle 100 with shape 20: F(c) = 1 - 0.9^((c/100)^20), so 1.2 % by
 * cycle 90, 5.6 % by 97 and none by 50. 1,000 blocks. */
static void wear_out_follows_weibull(void **state)
{
    struct nand_profile p = small("slc-ref", 1, 1, 1000, 1);
    nand_ns now = 0;
    (void)state;

    p.wearout =
        (struct nand_wearout){.rated_pe = 100, .grown_bad_ppm = 100000, .shape_milli = 20000};
    nand_dev *dev = make(&p, 3, NAND_WITH_FAULTS);
    uint64_t failed = 0;
    for (uint32_t cycle = 1; cycle <= 100; cycle++) {
        for (uint32_t b = 0; b < 1000; b++) {
            struct nand_block_info info;
            assert_int_equal(nand_block_info(dev, 0, 0, b, &info), 0);
            if (info.bad)
                continue;
            now = must(dev, now, op_mask(NAND_OP_ERASE, 0, 1, b, 0)).done_at;
            now = write_wordline(dev, now, 0, 1, b, 0, 1);
        }
        failed = nand_fault_count(dev, NAND_FAULT_WEAR_PROG) +
                 nand_fault_count(dev, NAND_FAULT_WEAR_ERASE);
        if (cycle == 50)
            assert_int_equal(failed, 0);
        if (cycle == 90)
            assert_in_range(failed, 1, 13 + 14); /* 4 sigma of 3.6 */
    }
    assert_in_range(failed, 100 - 38, 100 + 38); /* 4 sigma of 9.5 */
    assert_true(nand_fault_count(dev, NAND_FAULT_WEAR_PROG) > 20);
    assert_true(nand_fault_count(dev, NAND_FAULT_WEAR_ERASE) > 20);
    nand_destroy(dev);
}

/* Worn blocks give out at any word line, not only at the first. */
static void worn_programs_fail_anywhere(void **state)
{
    struct nand_profile p = small("slc-ref", 1, 1, 100, 16);
    uint32_t seen = 0;
    nand_ns now = 0;
    (void)state;

    p.wearout =
        (struct nand_wearout){.rated_pe = 2, .grown_bad_ppm = 100000, .shape_milli = 20000};
    nand_dev *dev = make(&p, 3, NAND_WITH_FAULTS);
    for (uint32_t b = 0; b < 100; b++)
        for (uint32_t cycle = 0; cycle < 5; cycle++) {
            int status = NAND_OK;
            now = must(dev, now, op_mask(NAND_OP_ERASE, 0, 1, b, 0)).done_at;
            for (uint32_t page = 0; page < 16 && status == NAND_OK; page++) {
                (void)must(dev, now, data_in(0, 1, b, page, 16, NULL));
                struct nand_res r = must(dev, now, op_mask(NAND_OP_PROG, 0, 1, b, page));
                now = r.done_at;
                status = r.status;
                if (status == NAND_FAIL)
                    seen |= 1u << page;
            }
        }
    assert_true(__builtin_popcount(seen) >= 10);
    nand_destroy(dev);
}

/* ---- cuts --------------------------------------------------------------------------- */

/* Word line 0 of block 0 is written; operation 2 is cut. Then power comes back. */
static nand_dev *cut_second(enum nand_cut_mode mode, bool erase, nand_ns *ret_now)
{
    nand_dev *dev = device(1);
    struct nand_cut cut = {.at_op = 2, .mode = mode};
    struct nand_res r;
    nand_ns now = write_at(dev, 0, 0, 0, 0);

    assert_int_equal(nand_cut_arm(dev, &cut), 0);
    if (erase) {
        r = must(dev, now, op_mask(NAND_OP_ERASE, 0, ALL, 0, 0));
    } else {
        for (uint32_t t = 0; t < 3; t++)
            (void)must(dev, now, data_in(0, ALL, 0, 3 + t, 16, NULL));
        r = must(dev, now, op_mask(NAND_OP_PROG, 0, ALL, 0, 3));
    }
    assert_int_equal(r.status, NAND_CUT);
    refused(dev, now, op_at(NAND_OP_READ, 0, 0, 0, 0), NAND_EOFF);
    assert_int_equal(nand_power_on(dev, now + 1000000), 0);
    assert_int_equal(nand_power_on(dev, now + 1000000), NAND_EINVAL);
    assert_int_equal(nand_cut_count(dev, mode), 1);
    *ret_now = now + 1000000;
    refused(dev, *ret_now, data_out(0, 0, 16, NULL), NAND_ENODATA); /* registers are gone */
    return dev;
}

static void cut_before_a_program(void **state)
{
    nand_ns now;
    nand_dev *dev = cut_second(NAND_CUT_BEFORE, false, &now);
    (void)state;

    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_OK);
    assert_int_equal(look(dev, &now, 0, 0, 3), NAND_ERASED);
    now = write_at(dev, now, 0, 0, 3);
    assert_int_equal(look(dev, &now, 0, 0, 3), NAND_OK);
    nand_destroy(dev);
}

static void cut_after_a_program(void **state)
{
    nand_ns now;
    nand_dev *dev = cut_second(NAND_CUT_AFTER, false, &now);
    (void)state;

    assert_int_equal(look(dev, &now, 0, 0, 5), NAND_OK);
    now = write_at(dev, now, 0, 0, 6);
    nand_destroy(dev);
}

static void torn_program(void **state)
{
    nand_ns now;
    nand_dev *dev = cut_second(NAND_CUT_TORN_PROG, false, &now);
    (void)state;

    assert_int_equal(look(dev, &now, 0, 0, 2), NAND_OK);
    for (uint32_t page = 3; page < 6; page++)
        assert_int_equal(look(dev, &now, 0, 0, page), NAND_GARBAGE);
    assert_int_equal(look(dev, &now, 0, 0, 6), NAND_ERASED);
    now = write_at(dev, now, 0, 0, 6); /* the block may be used on */
    assert_int_equal(look(dev, &now, 0, 0, 6), NAND_OK);
    now = erase_at(dev, now, 0, 0);
    now = write_at(dev, now, 0, 0, 0);
    now = write_at(dev, now, 0, 0, 3);
    assert_int_equal(look(dev, &now, 0, 0, 3), NAND_OK); /* an erase heals it */
    nand_destroy(dev);
}

static void faint_program(void **state)
{
    nand_ns now;
    nand_dev *dev = cut_second(NAND_CUT_FAINT_PROG, false, &now);
    (void)state;

    assert_int_equal(look(dev, &now, 0, 0, 3), NAND_ERASED); /* looks clean .. */
    now = write_at(dev, now, 0, 0, 3);
    assert_int_equal(look(dev, &now, 0, 0, 3), NAND_GARBAGE); /* .. and was not */
    now = write_at(dev, now, 0, 0, 6);
    assert_int_equal(look(dev, &now, 0, 0, 6), NAND_OK);
    now = erase_at(dev, now, 0, 0);
    now = write_at(dev, now, 0, 0, 0);
    now = write_at(dev, now, 0, 0, 3);
    assert_int_equal(look(dev, &now, 0, 0, 3), NAND_OK);
    nand_destroy(dev);
}

static void torn_erase(void **state)
{
    nand_ns now;
    nand_dev *dev = cut_second(NAND_CUT_TORN_ERASE, true, &now);
    struct nand_block_info info;
    (void)state;

    assert_int_equal(nand_block_info(dev, 0, 0, 0, &info), 0);
    assert_int_equal(info.torn, 1);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_GARBAGE);
    assert_int_equal(look(dev, &now, 0, 0, 11), NAND_GARBAGE);
    now = erase_at(dev, now, 0, 0);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_ERASED);
    now = write_at(dev, now, 0, 0, 0);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_OK);
    nand_destroy(dev);
}

static void faint_erase(void **state)
{
    nand_ns now;
    nand_dev *dev = cut_second(NAND_CUT_FAINT_ERASE, true, &now);
    (void)state;

    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_ERASED);
    now = write_at(dev, now, 0, 0, 0);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_GARBAGE);
    now = erase_at(dev, now, 0, 0);
    now = write_at(dev, now, 0, 0, 0);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_OK);
    nand_destroy(dev);
}

static void cut_around_an_erase(void **state)
{
    nand_ns now;
    nand_dev *dev = cut_second(NAND_CUT_BEFORE, true, &now);
    (void)state;

    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_OK);
    nand_destroy(dev);
    dev = cut_second(NAND_CUT_AFTER, true, &now);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_ERASED);
    now = write_at(dev, now, 0, 0, 0);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_OK);
    nand_destroy(dev);
}

/* L0 L1 are acknowledged, U0 is cut. */
static nand_dev *cut_upper_page(enum nand_cut_mode mode, nand_ns *now)
{
    struct nand_profile p = small("mlc-25nm-paged", 1, 1, 2, 4);
    nand_dev *dev = make(&p, 1, NAND_WITH_CONTENTS);
    struct nand_cut cut = {.at_op = 3, .mode = mode};
    static const uint32_t order[3] = {0, 2, 1};

    *now = 0;
    assert_int_equal(nand_cut_arm(dev, &cut), 0);
    for (int i = 0; i < 3; i++) {
        (void)must(dev, *now, data_in(0, 1, 0, order[i], 16, NULL));
        struct nand_res r = must(dev, *now, op_mask(NAND_OP_PROG, 0, 1, 0, order[i]));
        *now = r.done_at > *now ? r.done_at : *now;
        assert_int_equal(r.status, i == 2 ? NAND_CUT : NAND_OK);
    }
    assert_int_equal(nand_power_on(dev, *now), 0);
    return dev;
}

static void paired_page_damage(void **state)
{
    nand_ns now;
    nand_dev *dev = cut_upper_page(NAND_CUT_PAIRED_PAGE, &now);
    (void)state;

    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_GARBAGE); /* acknowledged, lost */
    assert_int_equal(look(dev, &now, 0, 0, 1), NAND_GARBAGE);
    assert_int_equal(look(dev, &now, 0, 0, 2), NAND_OK);
    nand_destroy(dev);
    dev = cut_upper_page(NAND_CUT_TORN_PROG, &now);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_OK);
    assert_int_equal(look(dev, &now, 0, 0, 1), NAND_GARBAGE);
    nand_destroy(dev);
}

static void cut_now_hits_what_is_in_flight(void **state)
{
    static const struct {
        enum nand_cut_others others;
        int status;
    } rows[] = {{NAND_OTHERS_END, NAND_OK}, {NAND_OTHERS_TORN, NAND_GARBAGE}};
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        nand_dev *dev = device(2);
        nand_ns done = write_at(dev, 0, 1, 0, 0);
        nand_ns busy = write_at(dev, done, 0, 0, 0);
        assert_int_equal(nand_cut_now(dev, busy - 1000, rows[i].others, 5), 0);
        assert_int_equal(nand_cut_now(dev, busy - 1000, rows[i].others, 5), NAND_EOFF);
        assert_int_equal(nand_power_on(dev, busy), 0);
        assert_int_equal(look(dev, &busy, 0, 0, 0), rows[i].status);
        assert_int_equal(look(dev, &busy, 1, 0, 0), NAND_OK);
        nand_destroy(dev);
    }
}

static void cut_with_drawn_outcome_repeats(void **state)
{
    uint32_t seen = 0;
    (void)state;

    for (uint64_t seed = 0; seed < 40; seed++) {
        int status[2];
        for (int twice = 0; twice < 2; twice++) {
            nand_dev *dev = device(1);
            nand_ns busy = write_at(dev, 0, 0, 0, 0);
            assert_int_equal(nand_cut_now(dev, busy - 1, NAND_OTHERS_DRAWN, seed), 0);
            assert_int_equal(nand_power_on(dev, busy), 0);
            status[twice] = look(dev, &busy, 0, 0, 0);
            nand_destroy(dev);
        }
        assert_int_equal(status[0], status[1]);
        seen |= 1u << status[0];
    }
    assert_int_equal(seen, 1u << NAND_OK | 1u << NAND_GARBAGE | 1u << NAND_ERASED);
}

/* Two cache programs of a die are in flight: both are hit. */
static nand_ns two_in_flight(nand_dev *dev)
{
    nand_ns ready = 0, done = 0;

    for (uint32_t first = 0; first < 6; first += 3) {
        for (uint32_t t = 0; t < 3; t++)
            (void)must(dev, ready, data_in(0, ALL, 0, first + t, 16, NULL));
        struct nand_res r = must(dev, ready, op_mask(NAND_OP_PROG_CACHE, 0, ALL, 0, first));
        ready = r.ready_at;
        done = r.done_at;
    }
    return done;
}

static void both_cache_programs_are_hit(void **state)
{
    nand_dev *dev = device(1);
    nand_ns done = two_in_flight(dev), now = done;
    (void)state;

    assert_int_equal(nand_cut_now(dev, done - 1600000, NAND_OTHERS_TORN, 1), 0);
    assert_int_equal(nand_power_on(dev, now), 0);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_GARBAGE);
    assert_int_equal(look(dev, &now, 0, 0, 3), NAND_GARBAGE);
    nand_destroy(dev);
    dev = device(1);
    done = two_in_flight(dev);
    now = must(dev, done - 1600000, op_at(NAND_OP_RESET, 0, 0, 0, 0)).done_at;
    assert_int_equal(look(dev, &now, 0, 0, 2), NAND_GARBAGE);
    assert_int_equal(look(dev, &now, 0, 0, 5), NAND_GARBAGE);
    nand_destroy(dev);
    dev = device(1);
    done = two_in_flight(dev);
    assert_int_equal(nand_cut_now(dev, done - 100, NAND_OTHERS_TORN, 1), 0);
    now = done;
    assert_int_equal(nand_power_on(dev, now), 0);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_OK); /* had ended */
    assert_int_equal(look(dev, &now, 0, 0, 3), NAND_GARBAGE);
    nand_destroy(dev);
}

static void suspended_work_does_not_survive(void **state)
{
    nand_dev *dev = device(1);
    nand_ns now = write_at(dev, 0, 0, 0, 0) - 1000000;
    (void)state;

    (void)must(dev, now, op_at(NAND_OP_SUSPEND, 0, 0, 0, 0));
    assert_int_equal(nand_cut_now(dev, now + 10000000, NAND_OTHERS_END, 1), 0);
    now += 20000000;
    assert_int_equal(nand_power_on(dev, now), 0);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_GARBAGE);
    now = erase_at(dev, now, 0, 0); /* nothing is suspended any more */
    now = write_at(dev, now, 0, 0, 0);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_OK);
    nand_destroy(dev);
}

static void reset_tears_what_runs(void **state)
{
    nand_dev *dev = device(1);
    nand_ns end = write_at(dev, 0, 0, 0, 0);
    nand_ns now = must(dev, end - 1000, op_at(NAND_OP_RESET, 0, 0, 0, 0)).done_at;
    (void)state;

    assert_int_equal(look(dev, &now, 0, 0, 1), NAND_GARBAGE);
    end = erase_at(dev, now, 0, 1);
    now = must(dev, end - 1000, op_at(NAND_OP_RESET, 0, 0, 0, 0)).done_at;
    assert_int_equal(look(dev, &now, 0, 1, 0), NAND_GARBAGE);
    nand_destroy(dev);
}

static void arming_is_judged(void **state)
{
    nand_dev *dev = device(1);
    struct nand_cut cut = {.at_op = 0, .mode = NAND_CUT_AFTER};
    struct nand_fault fault = {.kind = NAND_FAULT_DIE_DEAD, .at_op = 1, .die = 1};
    nand_ns now;
    (void)state;

    assert_int_equal(nand_cut_arm(dev, &cut), NAND_EINVAL); /* operation 0 is past */
    cut.at_op = 1;
    cut.mode = NAND_CUT_MODES;
    assert_int_equal(nand_cut_arm(dev, &cut), NAND_EINVAL);
    assert_int_equal(nand_fault_arm(dev, &fault), NAND_EADDR);
    fault.kind = NAND_FAULT_FACTORY_BAD;
    assert_int_equal(nand_fault_arm(dev, &fault), NAND_EINVAL);
    fault = (struct nand_fault){.kind = NAND_FAULT_PROG_FAIL, .at_op = 1000};
    for (int i = 0; i < NAND_FAULTS_MAX; i++)
        assert_int_equal(nand_fault_arm(dev, &fault), 0);
    assert_int_equal(nand_fault_arm(dev, &fault), NAND_ENOMEM);
    cut.mode = NAND_CUT_AFTER;
    assert_int_equal(nand_cut_arm(dev, &cut), 0);
    assert_int_equal(nand_cut_arm(dev, NULL), 0); /* disarmed */
    now = write_at(dev, 0, 0, 0, 0);
    assert_int_equal(look(dev, &now, 0, 0, 0), NAND_OK);
    nand_destroy(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(armed_program_failure),
        cmocka_unit_test(armed_on_a_bare_device),
        cmocka_unit_test(armed_erase_failure),
        cmocka_unit_test(stuck_plane_and_dead_die),
        cmocka_unit_test(read_upsets_pass),
        cmocka_unit_test(factory_bad_blocks_are_one_percent),
        cmocka_unit_test(bad_block_always_fails),
        cmocka_unit_test(wear_out_follows_weibull),
        cmocka_unit_test(worn_programs_fail_anywhere),
        cmocka_unit_test(cut_before_a_program),
        cmocka_unit_test(cut_after_a_program),
        cmocka_unit_test(torn_program),
        cmocka_unit_test(faint_program),
        cmocka_unit_test(torn_erase),
        cmocka_unit_test(faint_erase),
        cmocka_unit_test(cut_around_an_erase),
        cmocka_unit_test(paired_page_damage),
        cmocka_unit_test(cut_now_hits_what_is_in_flight),
        cmocka_unit_test(cut_with_drawn_outcome_repeats),
        cmocka_unit_test(both_cache_programs_are_hit),
        cmocka_unit_test(suspended_work_does_not_survive),
        cmocka_unit_test(reset_tears_what_runs),
        cmocka_unit_test(arming_is_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
