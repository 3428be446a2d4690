/* test_legality.c - every illegal step is refused with its own reason and changes nothing.
 *
 * A row sets a state up by a script of legal steps, then tries one illegal step. The
 * state hash before and after proves that a refusal leaves the device alone. */
#include "help.h"

enum { FAR = 100000000 }; /* ns, after everything a script does */

/* Two dies of two planes, 4 blocks, 4 word lines, 3 page types, one channel each. */
static struct nand_profile tlc(void)
{
    struct nand_profile p = small("etlc-x3-9070", 2, 2, 4, 4);
    p.geo.planes = 2;
    return p;
}

typedef void (*script)(nand_dev *dev);

static void nothing(nand_dev *dev)
{
    (void)dev;
}

static void load(nand_dev *dev, nand_ns now, uint32_t mask, uint32_t block, uint32_t first,
                 uint32_t types)
{
    for (uint32_t t = 0; t < types; t++)
        (void)must(dev, now, data_in(0, mask, block, first + t, 100, NULL));
}

static void one_wordline(nand_dev *dev)
{
    load(dev, 0, 3, 0, 0, 3);
    (void)must(dev, 0, op_mask(NAND_OP_PROG, 0, 3, 0, 0));
}

static void one_wordline_loaded_next(nand_dev *dev)
{
    one_wordline(dev);
    load(dev, FAR / 2, 3, 0, 3, 3);
}

static void full_block(nand_dev *dev)
{
    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 12, 1), 0);
    load(dev, 0, 3, 0, 0, 3);
}

static void uneven_planes(nand_dev *dev)
{
    assert_int_equal(nand_block_set(dev, 0, 1, 0, 3, 1), 0);
    load(dev, 0, 3, 0, 0, 3);
}

static void two_types_loaded(nand_dev *dev)
{
    load(dev, 0, 3, 0, 0, 2);
}

static void one_plane_loaded(nand_dev *dev)
{
    load(dev, 0, 1, 0, 0, 3);
}

static void other_block_loaded(nand_dev *dev)
{
    load(dev, 0, 3, 1, 0, 3);
}

static void mixed_wordlines_loaded(nand_dev *dev)
{
    load(dev, 0, 3, 0, 0, 2);
    (void)must(dev, 0, data_in(0, 3, 1, 2, 100, NULL)); /* forgets the two of block 0 */
}

static void cache_sense_running(nand_dev *dev)
{
    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 12, 1), 0);
    (void)must(dev, FAR / 2, op_at(NAND_OP_READ, 0, 0, 0, 0));
    /* bus 500, tcbsy 4000, then 48000 to FAR + 1 */
    (void)must(dev, FAR - 52499, op_at(NAND_OP_READ_CACHE, 0, 0, 0, 1));
}

static void program_running(nand_dev *dev)
{
    load(dev, FAR - 300000, 3, 1, 0, 3);
    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 12, 1), 0);
    (void)must(dev, FAR - 300000, op_mask(NAND_OP_PROG, 0, 3, 1, 0));
}

static void cache_program_just_begun(nand_dev *dev)
{
    load(dev, FAR - 3000, 3, 1, 0, 3);
    (void)must(dev, FAR - 3000, op_mask(NAND_OP_PROG_CACHE, 0, 3, 1, 0));
}

static void two_cache_programs(nand_dev *dev)
{
    load(dev, FAR - 600000, 3, 1, 0, 3);
    (void)must(dev, FAR - 600000, op_mask(NAND_OP_PROG_CACHE, 0, 3, 1, 0));
    load(dev, FAR - 500000, 3, 1, 3, 3);
    (void)must(dev, FAR - 500000, op_mask(NAND_OP_PROG_CACHE, 0, 3, 1, 3));
}

static void erase_running(nand_dev *dev)
{
    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 12, 1), 0);
    (void)must(dev, FAR - 100000, op_mask(NAND_OP_ERASE, 0, 3, 1, 0));
}

static void sense_running(nand_dev *dev)
{
    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 12, 1), 0);
    load(dev, 0, 3, 1, 0, 3);
    (void)must(dev, FAR - 1000, op_at(NAND_OP_READ, 0, 0, 0, 0));
}

static void page_read(nand_dev *dev)
{
    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 12, 1), 0);
    (void)must(dev, FAR / 2, op_at(NAND_OP_READ, 0, 0, 0, 0));
}

static void partial_page_read(nand_dev *dev)
{
    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 12, 1), 0);
    (void)must(dev, FAR / 2, op_at(NAND_OP_READ_PARTIAL, 0, 0, 0, 0));
}

static void cache_move_running(nand_dev *dev)
{
    page_read(dev);
    (void)must(dev, FAR - 2000, op_at(NAND_OP_READ_CACHE, 0, 0, 0, 1));
}

static void program_suspended(nand_dev *dev)
{
    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 12, 1), 0);
    load(dev, FAR - 900000, 3, 1, 0, 3);
    (void)must(dev, FAR - 900000, op_mask(NAND_OP_PROG, 0, 3, 1, 0));
    (void)must(dev, FAR - 100000, op_at(NAND_OP_SUSPEND, 0, 0, 0, 0));
}

static void erase_suspended(nand_dev *dev)
{
    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 12, 1), 0);
    (void)must(dev, FAR - 900000, op_mask(NAND_OP_ERASE, 0, 3, 1, 0));
    (void)must(dev, FAR - 100000, op_at(NAND_OP_SUSPEND, 0, 0, 0, 0));
    load(dev, FAR - 100000, 3, 2, 0, 3);
}

static void suspended_too_often(nand_dev *dev)
{
    nand_ns now = FAR - 10000000;

    (void)must(dev, now, op_mask(NAND_OP_ERASE, 0, 3, 1, 0));
    for (int i = 0; i < 20; i++) {
        now += 165500 + 500;
        (void)must(dev, now, op_at(NAND_OP_SUSPEND, 0, 0, 0, 0));
        now += 50500;
        (void)must(dev, now, op_at(NAND_OP_RESUME, 0, 0, 0, 0));
    }
    /* 20 x (150500 + 50500) of 3500000 ns used up: not done yet */
    (void)must(dev, now, op_at(NAND_OP_STATUS, 0, 0, 0, 0));
}

static void slc_block(nand_dev *dev)
{
    struct nand_req erase = op_mask(NAND_OP_ERASE, 0, 1, 0, 0);

    erase.flags = NAND_F_SLC;
    (void)must(dev, 0, erase);
    load(dev, FAR / 2, 1, 0, 0, 1);
    load(dev, FAR / 2, 2, 0, 0, 3);
}

static void power_cut(nand_dev *dev)
{
    assert_int_equal(nand_cut_now(dev, 10, NAND_OTHERS_END, 1), 0);
}

static void late(nand_dev *dev)
{
    (void)must(dev, FAR + 1, op_at(NAND_OP_STATUS, 0, 0, 0, 0));
}

struct row {
    const char *what;
    script prepare;
    struct nand_req req;
    int expected;
};

#define AT(o, d, pl, b, pg)                                                                    \
    .req = {.op = o, .addr = {.die = d, .plane = pl, .block = b, .page = pg}}
#define MASK(o, m, b, pg) .req = {.op = o, .addr = {.block = b, .page = pg}, .plane_mask = m}

static const uint32_t bad_plane_block[2] = {0, 4};

static const struct row rows[] = {
    {"unknown operation", nothing, AT((enum nand_op)99, 0, 0, 0, 0), NAND_EINVAL},
    {"time goes back", late, AT(NAND_OP_STATUS, 0, 0, 0, 0), NAND_ETIME},
    {"power is off", power_cut, AT(NAND_OP_STATUS, 0, 0, 0, 0), NAND_EOFF},
    {"read: die", nothing, AT(NAND_OP_READ, 2, 0, 0, 0), NAND_EADDR},
    {"read: plane", nothing, AT(NAND_OP_READ, 0, 2, 0, 0), NAND_EADDR},
    {"read: block", nothing, AT(NAND_OP_READ, 0, 0, 4, 0), NAND_EADDR},
    {"read: page", nothing, AT(NAND_OP_READ, 0, 0, 0, 12), NAND_EADDR},
    {"read: retry level", page_read, .req = {.op = NAND_OP_READ, .read_level = 64},
     .expected = NAND_EADDR},
    {"read: never written", nothing, AT(NAND_OP_READ, 0, 0, 0, 0), NAND_EUNWRITTEN},
    {"read: beyond the write pointer", one_wordline, AT(NAND_OP_READ, 0, 0, 0, 3),
     NAND_EUNWRITTEN},
    {"read: under a program", program_running, AT(NAND_OP_READ, 0, 0, 0, 0), NAND_EBUSY},
    {"read: under an erase", erase_running, AT(NAND_OP_READ, 0, 0, 0, 0), NAND_EBUSY},
    {"read: plane senses", sense_running, AT(NAND_OP_READ, 0, 0, 0, 1), NAND_EBUSY},
    {"read: plane senses for one more ns", cache_sense_running, AT(NAND_OP_READ, 0, 0, 0, 2),
     NAND_EBUSY},
    {"read: page under a suspended program", program_suspended, AT(NAND_OP_READ, 0, 0, 1, 2),
     NAND_ESUSPEND},
    {"read: block under a suspended erase", erase_suspended, AT(NAND_OP_READ, 0, 0, 1, 0),
     NAND_ESUSPEND},
    {"partial read: too long", page_read, .req = {.op = NAND_OP_READ_PARTIAL, .bytes = 4097},
     .expected = NAND_EPARTIAL},
    {"soft read: one bit", page_read, .req = {.op = NAND_OP_READ_SOFT, .soft_bits = 1},
     .expected = NAND_EINVAL},
    {"cache read: nothing read before", full_block, AT(NAND_OP_READ_CACHE, 0, 0, 0, 1),
     NAND_ENODATA},
    {"cache read: register not ready", sense_running, AT(NAND_OP_READ_CACHE, 0, 0, 0, 1),
     NAND_EBUSY},
    {"cache read: unwritten page", page_read, AT(NAND_OP_READ_CACHE, 0, 0, 3, 0),
     NAND_EUNWRITTEN},
    {"cache end: nothing read before", nothing, AT(NAND_OP_READ_CACHE_END, 0, 0, 0, 0),
     NAND_ENODATA},
    {"data out: nothing read", nothing, .req = {.op = NAND_OP_DATA_OUT, .bytes = 1},
     .expected = NAND_ENODATA},
    {"data out: still sensing", sense_running, .req = {.op = NAND_OP_DATA_OUT, .bytes = 1},
     .expected = NAND_EBUSY},
    {"data out: cache move running", cache_move_running,
     .req = {.op = NAND_OP_DATA_OUT, .bytes = 1}, .expected = NAND_EBUSY},
    {"data out: no bytes", page_read, .req = {.op = NAND_OP_DATA_OUT}, .expected = NAND_EBYTES},
    {"data out: more than a page", page_read, .req = {.op = NAND_OP_DATA_OUT, .bytes = 18593},
     .expected = NAND_EBYTES},
    {"data out: more than was sensed", partial_page_read,
     .req = {.op = NAND_OP_DATA_OUT, .bytes = 4096 + 2208 + 1}, .expected = NAND_EPARTIAL},
    {"data in: empty mask", nothing, .req = {.op = NAND_OP_DATA_IN, .bytes = 1},
     .expected = NAND_EMASK},
    {"data in: plane beyond the die", nothing,
     .req = {.op = NAND_OP_DATA_IN, .bytes = 1, .plane_mask = 4}, .expected = NAND_EMASK},
    {"data in: no bytes", nothing, MASK(NAND_OP_DATA_IN, 3, 0, 0), NAND_EBYTES},
    {"data in: too many bytes", nothing,
     .req = {.op = NAND_OP_DATA_IN, .bytes = 18593, .plane_mask = 1}, .expected = NAND_EBYTES},
    {"data in: block of a plane", nothing,
     .req =
         {.op = NAND_OP_DATA_IN, .bytes = 1, .plane_mask = 3, .plane_block = bad_plane_block},
     .expected = NAND_EADDR},
    {"data in: registers under program", program_running,
     .req = {.op = NAND_OP_DATA_IN, .bytes = 1, .plane_mask = 1}, .expected = NAND_EBUSY},
    {"data in: before tcbsy", cache_program_just_begun,
     .req = {.op = NAND_OP_DATA_IN, .bytes = 1, .plane_mask = 1}, .expected = NAND_EBUSY},
    {"data in: SLC and normal blocks", slc_block,
     .req = {.op = NAND_OP_DATA_IN, .bytes = 1, .plane_mask = 3}, .expected = NAND_EMODE},
    {"data in: page beyond an SLC block", slc_block,
     .req = {.op = NAND_OP_DATA_IN, .bytes = 1, .plane_mask = 1, .addr = {.page = 4}},
     .expected = NAND_EADDR},
    {"program: nothing loaded", nothing, MASK(NAND_OP_PROG, 3, 0, 0), NAND_ENODATA},
    {"program: a page type missing", two_types_loaded, MASK(NAND_OP_PROG, 3, 0, 0),
     NAND_ENODATA},
    {"program: a plane missing", one_plane_loaded, MASK(NAND_OP_PROG, 3, 0, 0), NAND_ENODATA},
    {"program: another block loaded", other_block_loaded, MASK(NAND_OP_PROG, 3, 0, 0),
     NAND_ENODATA},
    {"program: pages of two word lines", mixed_wordlines_loaded, MASK(NAND_OP_PROG, 3, 1, 0),
     NAND_ENODATA},
    {"program: skips a word line", one_wordline_loaded_next, MASK(NAND_OP_PROG, 3, 0, 6),
     NAND_EORDER},
    {"program: same word line again", one_wordline_loaded_next, MASK(NAND_OP_PROG, 3, 0, 0),
     NAND_ENOTERASED},
    {"program: block full", full_block, MASK(NAND_OP_PROG, 3, 0, 0), NAND_ENOTERASED},
    {"program: planes at different places", uneven_planes, MASK(NAND_OP_PROG, 3, 0, 0),
     NAND_ENOTERASED},
    {"program: plane senses", sense_running, MASK(NAND_OP_PROG, 3, 1, 0), NAND_EBUSY},
    {"program: die programs", program_running, MASK(NAND_OP_PROG, 3, 1, 3), NAND_EBUSY},
    {"program: erase suspended", erase_suspended, MASK(NAND_OP_PROG, 3, 2, 0), NAND_ESUSPEND},
    {"program: SLC and normal blocks", slc_block, MASK(NAND_OP_PROG, 3, 0, 0), NAND_EMODE},
    {"partial program: not offered", one_plane_loaded, MASK(NAND_OP_PROG_PARTIAL, 1, 0, 0),
     NAND_ENOTSUP},
    {"copyback: nothing read", nothing, AT(NAND_OP_COPYBACK, 0, 0, 1, 0), NAND_ENODATA},
    {"copyback: of a partial read", partial_page_read, AT(NAND_OP_COPYBACK, 0, 0, 1, 0),
     NAND_EPARTIAL},
    {"erase: die programs", program_running, MASK(NAND_OP_ERASE, 3, 2, 0), NAND_EBUSY},
    {"erase: plane senses", sense_running, MASK(NAND_OP_ERASE, 2, 2, 0), NAND_EBUSY},
    {"erase: program suspended", program_suspended, MASK(NAND_OP_ERASE, 3, 2, 0),
     NAND_ESUSPEND},
    {"erase: empty mask", nothing, MASK(NAND_OP_ERASE, 0, 0, 0), NAND_EMASK},
    {"erase: block", nothing, MASK(NAND_OP_ERASE, 1, 4, 0), NAND_EADDR},
    {"suspend: idle die", nothing, AT(NAND_OP_SUSPEND, 0, 0, 0, 0), NAND_ESUSPEND},
    {"suspend: cache program waits", two_cache_programs, AT(NAND_OP_SUSPEND, 0, 0, 0, 0),
     NAND_ESUSPEND},
    {"suspend: too little progress", erase_running, AT(NAND_OP_SUSPEND, 0, 0, 0, 0),
     NAND_ELIMIT},
    {"resume: nothing suspended", erase_running, AT(NAND_OP_RESUME, 0, 0, 0, 0), NAND_ESUSPEND},
    {"set-feature: die busy", erase_running, AT(NAND_OP_SET_FEATURE, 0, 0, 0, 0), NAND_EBUSY},
    {"reset: die", nothing, AT(NAND_OP_RESET, 9, 0, 0, 0), NAND_EADDR},
};

static void table_of_refusals(void **state)
{
    struct nand_profile p = tlc();
    (void)state;

    assert_true(COUNT(rows) >= 25);
    for (size_t i = 0; i < COUNT(rows); i++) {
        nand_dev *dev = make(&p, 1, 0);
        uint64_t before, after;
        struct nand_res res;
        int err;

        rows[i].prepare(dev);
        assert_int_equal(nand_state_hash(dev, &before), 0);
        err = nand_issue(dev, FAR, &rows[i].req, &res);
        if (err != rows[i].expected)
            fail_msg("%s: %s instead of %s", rows[i].what, nand_strerror(err),
                     nand_strerror(rows[i].expected));
        assert_int_equal(nand_state_hash(dev, &after), 0);
        if (before != after)
            fail_msg("%s: the refused operation changed the device", rows[i].what);
        nand_destroy(dev);
    }
}

static void too_many_suspends(void **state)
{
    struct nand_profile p = tlc();
    nand_dev *dev = make(&p, 1, 0);
    struct nand_die_info info;
    nand_ns now;
    (void)state;

    p.time.tbers_ns = 10000000;
    nand_destroy(dev);
    dev = make(&p, 1, 0);
    suspended_too_often(dev);
    assert_int_equal(nand_die_info(dev, 0, &info), 0);
    assert_int_equal(info.suspends, 20);
    now = info.array_until - 100000;
    refused(dev, now, op_at(NAND_OP_SUSPEND, 0, 0, 0, 0), NAND_ELIMIT);
    nand_destroy(dev);
}

static void null_arguments(void **state)
{
    struct nand_profile p = tlc();
    nand_dev *dev = make(&p, 1, 0);
    struct nand_req req = op_at(NAND_OP_STATUS, 0, 0, 0, 0);
    struct nand_res res;
    (void)state;

    assert_int_equal(nand_issue(NULL, 0, &req, &res), NAND_EINVAL);
    assert_int_equal(nand_issue(dev, 0, NULL, &res), NAND_EINVAL);
    assert_int_equal(nand_issue(dev, 0, &req, NULL), NAND_EINVAL);
    nand_destroy(dev);
    nand_destroy(NULL);
}

static void every_error_has_its_own_text(void **state)
{
    (void)state;
    for (int a = 0; a >= NAND_ECORRUPT; a--) {
        assert_string_not_equal(nand_strerror(a), "unknown error");
        for (int b = 0; b > a; b--)
            assert_string_not_equal(nand_strerror(a), nand_strerror(b));
    }
    assert_string_equal(nand_strerror(-1000), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_of_refusals),
        cmocka_unit_test(too_many_suspends),
        cmocka_unit_test(null_arguments),
        cmocka_unit_test(every_error_has_its_own_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
