/* test_modes.c - word lines filled in other ways than all at once. */
#include "help.h"

static uint32_t pages_written(nand_dev *dev, uint32_t block)
{
    struct nand_block_info info;

    assert_int_equal(nand_block_info(dev, 0, 0, block, &info), 0);
    return info.pages_written;
}

/* ---- two passes: C0 C1 F0 C2 F1 C3 F2 F3 ------------------------------------------- */

static struct nand_res pass(nand_dev *dev, nand_ns now, uint32_t wordline)
{
    for (uint32_t t = 0; t < 4; t++)
        (void)must(dev, now, data_in(0, 1, 0, wordline * 4 + t, 16, NULL));
    return must(dev, now, op_mask(NAND_OP_PROG, 0, 1, 0, wordline * 4));
}

static void two_pass_order_and_times(void **state)
{
    static const struct {
        uint32_t wordline, us, readable;
    } steps[] = {{0, 2000, 0}, {1, 2000, 0}, {0, 4500, 4},  {2, 2000, 4},
                 {1, 4500, 8}, {3, 2000, 8}, {2, 4500, 12}, {3, 4500, 16}};
    struct nand_profile p = small("qlc-2pass", 1, 1, 2, 4);
    nand_dev *dev = make(&p, 1, 0);
    nand_ns now = 0;
    (void)state;

    for (size_t i = 0; i < COUNT(steps); i++) {
        struct nand_res r = pass(dev, now, steps[i].wordline);
        assert_int_equal(r.done_at - r.bus_free_at, steps[i].us * 1000);
        now = r.done_at;
        assert_int_equal(pages_written(dev, 0), steps[i].readable);
    }
    refused(dev, now, op_mask(NAND_OP_PROG, 0, 1, 0, 12), NAND_ENOTERASED);
    for (uint32_t page = 0; page < 16; page++)
        now = must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, page)).done_at;
    nand_destroy(dev);
}

static void two_pass_refusals(void **state)
{
    struct nand_profile p = small("qlc-2pass", 1, 1, 2, 4);
    nand_dev *dev = make(&p, 1, 0);
    nand_ns now;
    (void)state;

    now = pass(dev, 0, 0).done_at;
    refused(dev, now, op_at(NAND_OP_READ, 0, 0, 0, 0), NAND_EUNWRITTEN); /* coarse only */
    refused(dev, now, op_mask(NAND_OP_PROG, 0, 1, 0, 0), NAND_EPASS);    /* fine too early */
    refused(dev, now, op_mask(NAND_OP_PROG, 0, 1, 0, 8), NAND_EPASS);    /* skips a line */
    now = pass(dev, now, 1).done_at;
    refused(dev, now, op_mask(NAND_OP_PROG, 0, 1, 0, 4), NAND_EPASS);
    refused(dev, now, op_mask(NAND_OP_PROG, 0, 1, 0, 8), NAND_EPASS);
    refused(dev, now, op_mask(NAND_OP_PROG, 0, 1, 0, 0), NAND_ENODATA); /* load again */
    now = pass(dev, now, 0).done_at;
    refused(dev, now, op_mask(NAND_OP_PROG, 0, 1, 0, 0), NAND_ENOTERASED);
    assert_int_equal(nand_block_set(dev, 0, 0, 1, 4, 0), 0); /* as C0 C1 F0 */
    for (uint32_t t = 0; t < 4; t++)
        (void)must(dev, now, data_in(0, 1, 1, 8 + t, 16, NULL));
    assert_int_equal(must(dev, now, op_mask(NAND_OP_PROG, 0, 1, 1, 8)).status, NAND_OK);
    nand_destroy(dev);
}

/* ---- paired pages: L0 L1 U0 L2 U1 L3 U2 U3; page = 2 * word line + upper ------------- */

static nand_ns one_page(nand_dev *dev, nand_ns now, uint32_t page, uint32_t us)
{
    (void)must(dev, now, data_in(0, 1, 0, page, 16, NULL));
    struct nand_res r = must(dev, now, op_mask(NAND_OP_PROG, 0, 1, 0, page));
    assert_int_equal(r.done_at - r.bus_free_at, us * 1000);
    return r.done_at;
}

static void paired_pages_order_and_times(void **state)
{
    static const uint32_t order[8] = {0, 2, 1, 4, 3, 6, 5, 7};
    struct nand_profile p = small("mlc-25nm-paged", 1, 1, 2, 4);
    nand_dev *dev = make(&p, 1, 0);
    nand_ns now = 0;
    (void)state;

    for (size_t i = 0; i < COUNT(order); i++) {
        for (size_t later = i + 1; later < COUNT(order); later++) {
            (void)must(dev, now, data_in(0, 1, 0, order[later], 16, NULL));
            refused(dev, now, op_mask(NAND_OP_PROG, 0, 1, 0, order[later]), NAND_EORDER);
            refused(dev, now, op_at(NAND_OP_READ, 0, 0, 0, order[later]), NAND_EUNWRITTEN);
        }
        now = one_page(dev, now, order[i], order[i] % 2 ? 2000 : 450);
        refused(dev, now, op_mask(NAND_OP_PROG, 0, 1, 0, order[i]), NAND_ENOTERASED);
        now = must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, order[i])).done_at;
        assert_int_equal(pages_written(dev, 0), i + 1);
    }
    nand_destroy(dev);
}

/* ---- one bit per cell --------------------------------------------------------------- */

static void slc_mode_of_a_block(void **state)
{
    struct nand_profile p = small("etlc-x3-9070", 1, 1, 4, 4);
    nand_dev *dev = make(&p, 1, 0);
    struct nand_req erase = op_mask(NAND_OP_ERASE, 0, 0x3f, 1, 0);
    struct nand_block_info info;
    struct nand_res r;
    (void)state;

    erase.flags = NAND_F_SLC;
    nand_ns now = must(dev, 0, erase).done_at;
    for (uint32_t page = 0; page < 4; page++) {
        (void)must(dev, now, data_in(0, 0x3f, 1, page, 18592, NULL));
        r = must(dev, now, op_mask(NAND_OP_PROG, 0, 0x3f, 1, page));
        assert_int_equal(r.done_at - r.bus_free_at, 240000);
        now = r.done_at;
        r = must(dev, now, op_at(NAND_OP_READ, 0, 2, 1, page));
        assert_int_equal(r.done_at - r.bus_free_at, 27000);
        now = r.done_at;
    }
    refused(dev, now, op_at(NAND_OP_READ, 0, 0, 1, 4), NAND_EADDR);
    assert_int_equal(nand_block_info(dev, 0, 0, 1, &info), 0);
    assert_int_equal(info.slc, 1);
    assert_int_equal(info.pages_written, 4);
    now = must(dev, now, op_mask(NAND_OP_ERASE, 0, 0x3f, 1, 0)).done_at;
    now = write_wordline(dev, now, 0, 0x3f, 1, 0, 3);
    assert_int_equal(nand_block_info(dev, 0, 0, 1, &info), 0);
    assert_int_equal(info.slc, 0);
    assert_int_equal(info.pages_written, 3);
    assert_int_equal(info.erase_count, 2);
    nand_destroy(dev);
}

static nand_ns part(nand_dev *dev, nand_ns now, uint32_t page, int expected)
{
    struct nand_req req = op_mask(NAND_OP_PROG_PARTIAL, 0, 1, 0, page);

    (void)must(dev, now, data_in(0, 1, 0, page, 512, NULL));
    if (expected) {
        refused(dev, now, req, expected);
        return now;
    }
    struct nand_res r = must(dev, now, req);
    assert_int_equal(r.done_at - r.bus_free_at, 200000);
    return r.done_at;
}

static void partial_programs_are_counted(void **state)
{
    struct nand_profile p = small("slc-ref", 1, 1, 2, 4);
    nand_dev *dev = make(&p, 1, 0);
    nand_ns now = 0;
    (void)state;

    for (int i = 0; i < 4; i++)
        now = part(dev, now, 0, 0);
    assert_int_equal(pages_written(dev, 0), 1);
    now = part(dev, now, 0, NAND_ENOP); /* fifth of four */
    now = part(dev, now, 2, NAND_EORDER);
    now = part(dev, now, 1, 0);
    now = part(dev, now, 0, NAND_ENOTERASED); /* page 1 has begun */
    now = write_wordline(dev, now, 0, 1, 0, 2, 1);
    now = part(dev, now, 2, NAND_ENOP); /* was programmed whole */
    assert_int_equal(pages_written(dev, 0), 3);
    now = must(dev, now, op_mask(NAND_OP_ERASE, 0, 1, 0, 0)).done_at;
    now = part(dev, now, 0, 0);
    assert_int_equal(pages_written(dev, 0), 1);
    nand_destroy(dev);
}

/* A block set to SLC mode goes on from its page, with SLC times, until it is erased. */
static void slc_mode_set_without_time(void **state)
{
    struct nand_profile p = small("tlc-128l", 1, 1, 2, 4);
    nand_dev *dev = make(&p, 1, 0);
    struct nand_block_info info;
    (void)state;

    assert_int_equal(nand_block_set_slc(dev, 0, 0, 1, 3, 7), 0);
    assert_int_equal(nand_block_info(dev, 0, 0, 1, &info), 0);
    assert_int_equal(info.slc, 1);
    assert_int_equal(info.pages_written, 3);
    assert_int_equal(info.erase_count, 7);
    struct nand_res r = must(dev, 0, op_at(NAND_OP_READ, 0, 0, 1, 2));
    assert_int_equal(r.done_at - r.bus_free_at, p.time.slc_tr_ns);
    (void)must(dev, r.done_at, data_in(0, 1, 1, 3, 16, NULL));
    r = must(dev, r.done_at, op_mask(NAND_OP_PROG, 0, 1, 1, 3));
    assert_int_equal(r.done_at - r.bus_free_at, p.time.slc_tprog_ns);
    assert_int_equal(nand_block_set_slc(dev, 0, 0, 1, 5, 7), NAND_EADDR);
    assert_int_equal(nand_block_set_slc(dev, 0, 4, 1, 0, 7), NAND_EADDR);
    assert_int_equal(nand_block_set_slc(NULL, 0, 0, 1, 0, 7), NAND_EINVAL);
    assert_int_equal(nand_block_set(dev, 0, 0, 1, 3, 8), 0);
    assert_int_equal(nand_block_info(dev, 0, 0, 1, &info), 0);
    assert_int_equal(info.slc, 0);
    nand_destroy(dev);
    p = small("slc-ref", 1, 1, 2, 4);
    dev = make(&p, 1, 0);
    assert_int_equal(nand_block_set_slc(dev, 0, 0, 1, 0, 0), NAND_ENOTSUP);
    nand_destroy(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_pass_order_and_times),     cmocka_unit_test(two_pass_refusals),
        cmocka_unit_test(paired_pages_order_and_times), cmocka_unit_test(slc_mode_of_a_block),
        cmocka_unit_test(slc_mode_set_without_time),
        cmocka_unit_test(partial_programs_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
