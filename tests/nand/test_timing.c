/* test_timing.c - time lines of legal sequences against numbers worked out by hand.
 *
 * X3-9070 class: tcmd 500, tR 38000 / 48000 / 42000, tcbsy 4000, tprog 1500000, status
 * 300 ns, 2400 MT/s. 18592 bytes take 18592 / 2.4 = 7746.67 -> 7747 ns, 4648 take
 * 1936.67 -> 1937, six times 18592 take 46480. */
#include "help.h"

enum { PAGE = 18592, ALL = 0x3f };

static nand_dev *filled(uint32_t channels, uint32_t dies)
{
    struct nand_profile p = small("etlc-x3-9070", channels, dies, 8, 16);
    nand_dev *dev = make(&p, 1, 0);

    for (uint32_t d = 0; d < dies; d++)
        assert_int_equal(nand_block_set_planes(dev, d, ALL, 0, NULL, 48, 1), 0);
    return dev;
}

static void idle_read_of_each_page_type(void **state)
{
    static const nand_ns array_done[3] = {39500, 49500, 43500};
    (void)state;

    for (uint32_t type = 0; type < 3; type++) {
        nand_dev *dev = filled(1, 1);
        struct nand_res r = must(dev, 1000, op_at(NAND_OP_READ, 0, 2, 0, 21 + type));
        assert_int_equal(r.start_at, 1000);
        assert_int_equal(r.bus_free_at, 1500);
        assert_int_equal(r.done_at, array_done[type]);
        assert_int_equal(r.ready_at, array_done[type]);
        r = must(dev, r.done_at, data_out(0, 2, PAGE, NULL));
        assert_int_equal(r.done_at, array_done[type] + 300 + 7747);
        nand_destroy(dev);
    }
}

static void partial_read(void **state)
{
    nand_dev *dev = filled(1, 1);
    struct nand_res r;
    (void)state;

    r = must(dev, 0, op_at(NAND_OP_READ_PARTIAL, 0, 0, 0, 4));
    assert_int_equal(r.done_at, 500 + 34000);
    r = must(dev, r.done_at, data_out(0, 0, 4648, NULL));
    assert_int_equal(r.done_at, 34500 + 300 + 1937);
    nand_destroy(dev);
}

static void back_to_back_cache_reads(void **state)
{
    nand_dev *dev = filled(1, 1);
    struct nand_res r;
    (void)state;

    r = must(dev, 0, op_at(NAND_OP_READ, 0, 0, 0, 0));
    assert_int_equal(r.done_at, 38500);
    r = must(dev, 38500, op_at(NAND_OP_READ_CACHE, 0, 0, 0, 1));
    assert_int_equal(r.ready_at, 38500 + 500 + 4000);
    assert_int_equal(r.done_at, 43000 + 48000);
    r = must(dev, 43000, data_out(0, 0, PAGE, NULL)); /* page 0, under the tR of page 1 */
    assert_int_equal(r.done_at, 51047);
    r = must(dev, 51047, op_at(NAND_OP_READ_CACHE, 0, 0, 0, 2)); /* waits for page 1 */
    assert_int_equal(r.bus_free_at, 51547);
    assert_int_equal(r.ready_at, 91000 + 4000);
    assert_int_equal(r.done_at, 95000 + 42000);
    r = must(dev, 95000, data_out(0, 0, PAGE, NULL));
    assert_int_equal(r.done_at, 95000 + 8047);
    r = must(dev, 137000, op_at(NAND_OP_READ_CACHE_END, 0, 0, 0, 0));
    assert_int_equal(r.ready_at, 141500);
    assert_int_equal(r.done_at, 141500);
    r = must(dev, 141500, data_out(0, 0, PAGE, NULL));
    assert_int_equal(r.done_at, 149547);
    nand_destroy(dev);
}

static void planes_read_independently(void **state)
{
    nand_dev *dev = filled(1, 1);
    (void)state;

    assert_int_equal(must(dev, 0, op_at(NAND_OP_READ, 0, 0, 0, 0)).done_at, 38500);
    assert_int_equal(must(dev, 0, op_at(NAND_OP_READ, 0, 1, 0, 40)).done_at, 1000 + 48000);
    assert_int_equal(must(dev, 0, op_at(NAND_OP_READ, 0, 5, 0, 5)).done_at, 1500 + 42000);
    nand_destroy(dev);
}

static void six_plane_program(void **state)
{
    struct nand_profile p = small("etlc-x3-9070", 1, 1, 8, 16);
    nand_dev *dev = make(&p, 1, 0);
    struct nand_res r;
    (void)state;

    for (uint32_t type = 0; type < 3; type++) {
        r = must(dev, 0, data_in(0, ALL, 3, type, PAGE, NULL));
        assert_int_equal(r.start_at, type * 49480u);
        assert_int_equal(r.done_at, (type + 1) * (6 * 500u + 46480));
    }
    r = must(dev, 0, op_mask(NAND_OP_PROG, 0, ALL, 3, 0));
    assert_int_equal(r.start_at, 148440);
    assert_int_equal(r.done_at, 148440 + 500 + 1500000);
    r = must(dev, r.done_at, op_mask(NAND_OP_ERASE, 0, ALL, 3, 0));
    assert_int_equal(r.done_at, 1648940 + 500 + 3500000);
    nand_destroy(dev);
}

static void cache_program_hides_the_transfer(void **state)
{
    struct nand_profile p = small("etlc-x3-9070", 1, 1, 8, 16);
    nand_dev *dev = make(&p, 1, 0);
    struct nand_res r;
    (void)state;

    for (uint32_t type = 0; type < 3; type++)
        (void)must(dev, 0, data_in(0, ALL, 3, type, PAGE, NULL));
    r = must(dev, 0, op_mask(NAND_OP_PROG_CACHE, 0, ALL, 3, 0));
    assert_int_equal(r.ready_at, 148940 + 4000);
    assert_int_equal(r.done_at, 1648940);
    refused(dev, 152939, data_in(0, ALL, 3, 3, PAGE, NULL), NAND_EBUSY);
    for (uint32_t type = 0; type < 3; type++)
        r = must(dev, 152940, data_in(0, ALL, 3, 3 + type, PAGE, NULL));
    assert_int_equal(r.done_at, 152940 + 148440);
    r = must(dev, 152940, op_mask(NAND_OP_PROG, 0, ALL, 3, 3));
    assert_int_equal(r.bus_free_at, 301880);
    assert_int_equal(r.done_at, 1648940 + 1500000); /* starts when the first one ends */
    nand_destroy(dev);
}

static void start_program(nand_dev *dev)
{
    for (uint32_t type = 0; type < 3; type++)
        (void)must(dev, 0, data_in(0, ALL, 3, type, PAGE, NULL));
    (void)must(dev, 0, op_mask(NAND_OP_PROG, 0, ALL, 3, 0)); /* array 148940 .. 1648940 */
}

static void read_behind_a_program(void **state)
{
    nand_dev *dev = filled(1, 1);
    (void)state;

    start_program(dev);
    refused(dev, 300000, op_at(NAND_OP_READ, 0, 0, 0, 0), NAND_EBUSY);
    assert_int_equal(must(dev, 1648940, op_at(NAND_OP_READ, 0, 0, 0, 0)).done_at,
                     1648940 + 38500);
    nand_destroy(dev);
}

static void read_through_a_suspended_program(void **state)
{
    struct nand_die_info info;
    nand_dev *dev = filled(1, 1);
    struct nand_res r;
    (void)state;

    start_program(dev);
    refused(dev, 298939, op_at(NAND_OP_SUSPEND, 0, 0, 0, 0),
            NAND_ELIMIT); /* 149999 of 150000 */
    r = must(dev, 300000, op_at(NAND_OP_SUSPEND, 0, 0, 0, 0));
    assert_int_equal(r.done_at, 300500 + 30000);
    assert_int_equal(nand_die_info(dev, 0, &info), 0);
    assert_int_equal(info.suspended, 1);
    assert_int_equal(info.suspended_left_ns, 1648940 - 330500);
    refused(dev, 330499, op_at(NAND_OP_READ, 0, 0, 0, 0), NAND_EBUSY);
    r = must(dev, 330500, op_at(NAND_OP_READ, 0, 0, 0, 0));
    assert_int_equal(r.done_at, 369000);
    refused(dev, 368999, op_at(NAND_OP_RESUME, 0, 0, 0, 0), NAND_EBUSY);
    r = must(dev, 369000, op_at(NAND_OP_RESUME, 0, 0, 0, 0));
    assert_int_equal(r.done_at, 369500 + 15000 + 30000 + 1318440);
    assert_int_equal(nand_die_info(dev, 0, &info), 0);
    assert_int_equal(info.suspended, 0);
    assert_int_equal(info.suspends, 1);
    nand_destroy(dev);
}

static void read_through_a_suspended_erase(void **state)
{
    nand_dev *dev = filled(1, 1);
    struct nand_res r;
    (void)state;

    r = must(dev, 0, op_mask(NAND_OP_ERASE, 0, ALL, 1, 0)); /* array 500 .. 3500500 */
    assert_int_equal(r.done_at, 3500500);
    r = must(dev, 1000000, op_at(NAND_OP_SUSPEND, 0, 0, 0, 0));
    assert_int_equal(r.done_at, 1000500 + 50000);
    r = must(dev, 1050500, op_at(NAND_OP_READ, 0, 3, 0, 1));
    assert_int_equal(r.done_at, 1050500 + 500 + 48000);
    r = must(dev, 1099000, op_at(NAND_OP_RESUME, 0, 0, 0, 0)); /* no re-verify */
    assert_int_equal(r.done_at, 1099500 + 15000 + (3500500 - 1050500));
    nand_destroy(dev);
}

static void suspend_that_comes_too_late(void **state)
{
    struct nand_die_info info;
    nand_dev *dev = filled(1, 1);
    (void)state;

    start_program(dev);
    assert_int_equal(must(dev, 1640000, op_at(NAND_OP_SUSPEND, 0, 0, 0, 0)).done_at, 1648940);
    assert_int_equal(nand_die_info(dev, 0, &info), 0);
    assert_int_equal(info.suspended, 0);
    refused(dev, 1648940, op_at(NAND_OP_RESUME, 0, 0, 0, 0), NAND_ESUSPEND);
    nand_destroy(dev);
}

static void two_dies_share_a_channel(void **state)
{
    nand_dev *dev = filled(1, 2);
    struct nand_res r;
    (void)state;

    assert_int_equal(must(dev, 0, op_at(NAND_OP_READ, 0, 0, 0, 0)).done_at, 38500);
    r = must(dev, 0, op_at(NAND_OP_READ, 1, 0, 0, 0));
    assert_int_equal(r.start_at, 500);
    assert_int_equal(r.done_at, 39000);
    assert_int_equal(must(dev, 38500, data_out(0, 0, PAGE, NULL)).done_at, 46547);
    r = must(dev, 39000, data_out(1, 0, PAGE, NULL));
    assert_int_equal(r.start_at, 46547);
    assert_int_equal(r.done_at, 54594);
    nand_destroy(dev);
}

static void two_channels_do_not_wait(void **state)
{
    nand_dev *dev = filled(2, 4);
    (void)state;

    (void)must(dev, 0, op_at(NAND_OP_READ, 0, 0, 0, 0));
    assert_int_equal(must(dev, 0, op_at(NAND_OP_READ, 1, 0, 0, 0)).start_at, 0);
    assert_int_equal(must(dev, 0, op_at(NAND_OP_READ, 2, 0, 0, 0)).start_at, 500);
    assert_int_equal(must(dev, 0, op_at(NAND_OP_READ, 3, 0, 0, 0)).start_at, 500);
    nand_destroy(dev);
}

/* Every profile: idle latency of each page type and the bandwidth of a full channel. */
static void formula_holds_for_every_profile(void **state)
{
    (void)state;
    for (uint32_t i = 0; nand_profile_name(i); i++) {
        struct nand_profile p = small(nand_profile_name(i), 1, 2, 4, 4);
        nand_dev *dev = make(&p, 1, 0);
        uint32_t bytes = p.geo.page_bytes + p.geo.spare_bytes;
        uint64_t transfer = 0;
        nand_ns now = 0;

        while (transfer * p.time.bus_mts < (uint64_t)bytes * 1000)
            transfer++; /* the smallest whole number of ns that is long enough */
        assert_int_equal(nand_block_set(dev, 0, 0, 0, 4 * p.geo.page_types, 0), 0);
        for (uint32_t page = 0; page < 2 * p.geo.page_types; page++) {
            nand_ns begin = now;
            now = must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, page)).done_at;
            now = must(dev, now, data_out(0, 0, bytes, NULL)).done_at;
            assert_int_equal(now - begin, p.time.tcmd_ns +
                                              p.time.tr_ns[page % p.geo.page_types] +
                                              p.time.tstatus_ns + transfer);
        }
        nand_ns begin = now;
        for (uint32_t k = 0; k < 10; k++)
            (void)must(dev, begin, data_out(0, 0, bytes, NULL));
        now = must(dev, begin, data_out(0, 0, bytes, NULL)).bus_free_at;
        assert_int_equal(now - begin, 11 * (p.time.tstatus_ns + transfer));
        nand_destroy(dev);
    }
}

static void reset_costs_what_it_interrupts(void **state)
{
    nand_dev *dev = filled(1, 1);
    (void)state;

    (void)must(dev, 0, op_at(NAND_OP_READ, 0, 0, 0, 0));
    assert_int_equal(must(dev, 1000, op_at(NAND_OP_RESET, 0, 0, 0, 0)).done_at, 1500 + 5000);
    refused(dev, 6500, data_out(0, 0, 64, NULL), NAND_ENODATA);
    refused(dev, 6500, op_at(NAND_OP_READ_CACHE_END, 0, 0, 0, 0), NAND_ENODATA);
    (void)must(dev, 10000, op_mask(NAND_OP_ERASE, 0, 1, 1, 0));
    assert_int_equal(must(dev, 20000, op_at(NAND_OP_RESET, 0, 0, 0, 0)).done_at,
                     20500 + 500000);
    for (uint32_t type = 0; type < 3; type++)
        (void)must(dev, 600000, data_in(0, 1, 2, type, PAGE, NULL));
    (void)must(dev, 600000, op_mask(NAND_OP_PROG, 0, 1, 2, 0));
    assert_int_equal(must(dev, 700000, op_at(NAND_OP_RESET, 0, 0, 0, 0)).done_at,
                     700500 + 20000);
    nand_destroy(dev);
}

static void soft_reads_sense_more_often(void **state)
{
    nand_dev *dev = filled(1, 1);
    struct nand_req req = op_at(NAND_OP_READ_SOFT, 0, 0, 0, 0);
    (void)state;

    req.soft_bits = 2;
    assert_int_equal(must(dev, 0, req).done_at, 500 + 38000 + 2 * 17500);
    assert_int_equal(must(dev, 73500, data_out(0, 0, 2 * PAGE, NULL)).done_at,
                     73500 + 300 + 15494); /* 37184 / 2.4 = 15493.3 */
    req.soft_bits = 3;
    assert_int_equal(must(dev, 100000, req).done_at, 100500 + 38000 + 6 * 17500);
    nand_destroy(dev);
}

static void feature_and_status_cost_bus_time(void **state)
{
    nand_dev *dev = filled(1, 1);
    struct nand_res r;
    (void)state;

    r = must(dev, 0, op_at(NAND_OP_SET_FEATURE, 0, 0, 0, 0));
    assert_int_equal(r.bus_free_at, 500 + 2); /* 4 bytes: 1.67 ns */
    assert_int_equal(r.done_at, 502 + 1000);
    r = must(dev, 1502, op_at(NAND_OP_STATUS, 0, 0, 0, 0));
    assert_int_equal(r.done_at, 1802);
    assert_int_equal(r.status, NAND_OK);
    (void)must(dev, 2000, op_at(NAND_OP_READ, 0, 0, 0, 0));
    assert_int_equal(must(dev, 3000, op_at(NAND_OP_STATUS, 0, 0, 0, 0)).status, NAND_BUSY);
    nand_destroy(dev);
}

static void power_cap_delays_array_work(void **state)
{
    struct nand_profile p = small("etlc-x3-9070", 1, 2, 4, 4);
    struct nand_stats stats;
    (void)state;

    p.power.die_ops_max = 2;
    nand_dev *dev = make(&p, 1, 0);
    assert_int_equal(nand_block_set_planes(dev, 0, ALL, 0, NULL, 12, 0), 0);
    assert_int_equal(must(dev, 0, op_at(NAND_OP_READ, 0, 0, 0, 0)).done_at, 38500);
    assert_int_equal(must(dev, 0, op_at(NAND_OP_READ, 0, 1, 0, 1)).done_at, 49000);
    assert_int_equal(must(dev, 0, op_at(NAND_OP_READ, 0, 2, 0, 0)).done_at, 38500 + 38000);
    assert_int_equal(nand_stats_get(dev, &stats), 0);
    assert_int_equal(stats.power_wait_ns, 38500 - 1500);
    nand_destroy(dev);

    p.power.die_ops_max = 0;
    p.power.drive_ops_max = 1;
    dev = make(&p, 1, 0);
    assert_int_equal(must(dev, 0, op_mask(NAND_OP_ERASE, 0, 1, 0, 0)).done_at, 3500500);
    assert_int_equal(must(dev, 0, op_mask(NAND_OP_ERASE, 1, 1, 0, 0)).done_at, 7000500);
    nand_destroy(dev);
}

/* 3.4 uJ per sense, 41.25 per plane and word line, 112.5 per block, 40 pJ per byte. */
static void energy_adds_up(void **state)
{
    nand_dev *dev = filled(1, 1);
    struct nand_req soft = op_at(NAND_OP_READ_SOFT, 0, 0, 0, 0);
    struct nand_stats stats;
    (void)state;

    soft.soft_bits = 2;
    start_program(dev);
    assert_int_equal(must(dev, 2000000, op_mask(NAND_OP_ERASE, 0, 3, 1, 0)).energy_pj,
                     2 * 112500000u);
    assert_int_equal(must(dev, 6000000, op_at(NAND_OP_READ, 0, 0, 0, 0)).energy_pj, 3400000);
    assert_int_equal(must(dev, 7000000, data_out(0, 0, 1000, NULL)).energy_pj, 40000);
    assert_int_equal(must(dev, 8000000, soft).energy_pj, 3 * 3400000);
    assert_int_equal(nand_stats_get(dev, &stats), 0);
    assert_int_equal(stats.bus_bytes, 18 * PAGE + 1000);
    assert_int_equal(stats.senses, 4);
    assert_int_equal(stats.energy_pj,
                     6 * 41250000u + 2 * 112500000u + 4 * 3400000 + 40 * (18 * PAGE + 1000));
    nand_destroy(dev);
}

/* Energy of a whole program, over its visits: 41.25 uJ per plane one-pass, 62.5 uJ for qlc in
 * two halves, 6.554 uJ for a page in SLC mode. */
static void energy_of_programs(void **state)
{
    struct nand_profile p = small("qlc-2pass", 1, 1, 2, 2);
    nand_dev *dev = filled(1, 1);
    struct nand_req erase = op_mask(NAND_OP_ERASE, 0, ALL, 2, 0);
    nand_ns now;
    (void)state;

    for (uint32_t type = 0; type < 3; type++)
        (void)must(dev, 0, data_in(0, ALL, 3, type, PAGE, NULL));
    struct nand_res r = must(dev, 0, op_mask(NAND_OP_PROG, 0, ALL, 3, 0));
    assert_int_equal(r.energy_pj, 6 * 41250000u);
    erase.flags = NAND_F_SLC;
    now = must(dev, r.done_at, erase).done_at;
    (void)must(dev, now, data_in(0, ALL, 2, 0, PAGE, NULL));
    assert_int_equal(must(dev, now, op_mask(NAND_OP_PROG, 0, ALL, 2, 0)).energy_pj,
                     6 * 6554000u);
    nand_destroy(dev);
    dev = make(&p, 1, 0);
    for (uint32_t type = 0; type < 4; type++)
        (void)must(dev, 0, data_in(0, 1, 0, type, PAGE, NULL));
    assert_int_equal(must(dev, 0, op_mask(NAND_OP_PROG, 0, 1, 0, 0)).energy_pj, 31250000);
    nand_destroy(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_read_of_each_page_type),
        cmocka_unit_test(partial_read),
        cmocka_unit_test(back_to_back_cache_reads),
        cmocka_unit_test(planes_read_independently),
        cmocka_unit_test(six_plane_program),
        cmocka_unit_test(cache_program_hides_the_transfer),
        cmocka_unit_test(read_behind_a_program),
        cmocka_unit_test(read_through_a_suspended_program),
        cmocka_unit_test(read_through_a_suspended_erase),
        cmocka_unit_test(suspend_that_comes_too_late),
        cmocka_unit_test(two_dies_share_a_channel),
        cmocka_unit_test(two_channels_do_not_wait),
        cmocka_unit_test(formula_holds_for_every_profile),
        cmocka_unit_test(reset_costs_what_it_interrupts),
        cmocka_unit_test(soft_reads_sense_more_often),
        cmocka_unit_test(feature_and_status_cost_bus_time),
        cmocka_unit_test(power_cap_delays_array_work),
        cmocka_unit_test(energy_adds_up),
        cmocka_unit_test(energy_of_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
