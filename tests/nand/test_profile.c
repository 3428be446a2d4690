/* test_profile.c - bad input is refused with the field's name and range. */
#include <math.h>

#include "help.h"

static void profiles_built_in_pass(void **state)
{
    static const char *const names[] = {"etlc-x3-9070", "tlc-128l",      "qlc",
                                        "mlc-25nm",     "pslc",          "slc-ref",
                                        "qlc-2pass",    "mlc-25nm-paged"};
    char why[160] = "";
    (void)state;

    for (size_t i = 0; i < COUNT(names); i++) {
        assert_non_null(nand_profile_find(names[i]));
        if (nand_profile_check(nand_profile_find(names[i]), why, sizeof why) != 0)
            fail_msg("%s: %s", names[i], why);
    }
    assert_null(nand_profile_find("no such part"));
    assert_null(nand_profile_find(NULL));
    assert_null(nand_profile_name(1000));
}

#define BAD(assignment, text)                                                                  \
    do {                                                                                       \
        struct nand_profile p = *nand_profile_find("etlc-x3-9070");                            \
        nand_dev *dev = (nand_dev *)(uintptr_t)1;                                              \
        char why[160] = "";                                                                    \
        p.assignment;                                                                          \
        assert_int_equal(nand_profile_check(&p, why, sizeof why), NAND_EPROFILE);              \
        assert_string_equal(why, text);                                                        \
        assert_int_equal(nand_create(&p, 1, &dev), NAND_EPROFILE);                             \
        assert_int_equal((uintptr_t)dev, 1);                                                   \
        assert_int_equal(nand_memory_needed(&p), 0);                                           \
    } while (0)

static void each_field_is_named(void **state)
{
    (void)state;
    BAD(geo.channels = 0, "geo.channels=0: must be 1..64");
    BAD(geo.dies = 0, "geo.dies=0: must be 1..4096");
    BAD(geo.planes = 0, "geo.planes=0: must be 1..16");
    BAD(geo.planes = 17, "geo.planes=17: must be 1..16");
    BAD(geo.blocks_per_plane = 0, "geo.blocks_per_plane=0: must be 1..1048576");
    BAD(geo.wordlines_per_block = 0, "geo.wordlines_per_block=0: must be 1..262144");
    BAD(geo.page_types = 5, "geo.page_types=5: must be 1..4");
    BAD(geo.page_types = 2, "geo.page_types=2: a etlc cell has 3");
    BAD(geo.page_bytes = 0, "geo.page_bytes=0: must be 512..65536");
    BAD(geo.page_bytes = 5000, "geo.page_bytes=5000: must be a multiple of 512");
    BAD(geo.spare_bytes = 2047, "geo.spare_bytes=2047: ECC needs 2048..16384");
    BAD(time.bus_mts = 0, "time.bus_mts=0: must be 1..20000");
    BAD(time.tr_ns[1] = 0, "time.tr_ns[1]=0: must be 1..1000000000");
    BAD(time.tprog_ns = UINT64_MAX,
        "time.tprog_ns=18446744073709551615: must be 1..1000000000");
    BAD(time.partial_bytes = 0, "time.partial_bytes=0: must be 1..16384");
    BAD(scheme = NAND_SCHEME_PAGED, "time.tpass_ns[0]=0: must be 1..1000000000");
    BAD(law = 3, "law=3: must be 0..2");
    BAD(wearout.factory_bad_ppm = 20001, "wearout.factory_bad_ppm=20001: must be 0..20000");
    BAD(cell = "plc", "cell=plc: must be slc, mlc, tlc, etlc or qlc");
    BAD(cell = NULL, "cell=NULL: must be slc, mlc, tlc, etlc or qlc");
    BAD(name = "", "name: must have 1..63 characters");
}

/* 4096 dies x 16 planes x 2^20 blocks = 2^36: in range one by one, refused together. */
static void product_does_not_overflow(void **state)
{
    struct nand_profile p = *nand_profile_find("etlc-x3-9070");
    char why[160];
    (void)state;

    p.geo.dies = 4096;
    p.geo.planes = 16;
    p.geo.blocks_per_plane = 1u << 20;
    assert_int_equal(nand_profile_check(&p, why, sizeof why), NAND_EPROFILE);
    assert_string_equal(why, "geo.dies*planes*blocks_per_plane=68719476736: must be "
                             "1..2147483648");
}

static void reason_is_cut_to_size(void **state)
{
    struct nand_profile p = *nand_profile_find("etlc-x3-9070");
    char why[8] = "1234567";
    (void)state;

    p.geo.dies = 0;
    assert_int_equal(nand_profile_check(&p, why, 5), NAND_EPROFILE);
    assert_string_equal(why, "geo.");
    assert_int_equal(why[5], '6');
    assert_int_equal(nand_profile_check(&p, NULL, 0), NAND_EPROFILE);
    assert_int_equal(nand_profile_check(NULL, why, sizeof why), NAND_EPROFILE);
}

static int use_error(struct nand_cell_use use, char *why)
{
    struct nand_cell_dist dist;

    return nand_cell_dist(nand_cell_find("etlc"), &use, &dist, why, 160);
}

static void absurd_cell_history_is_refused(void **state)
{
    const struct nand_cell_use good = NAND_CELL_USE_INIT;
    struct nand_cell_use use;
    char why[160];
    (void)state;

    assert_int_equal(use_error(good, why), 0);
    use = good, use.celsius = 900;
    assert_int_equal(use_error(use, why), NAND_EINVAL);
    assert_string_equal(why, "celsius=900: must be -55..150");
    use = good, use.hours = -1;
    assert_int_equal(use_error(use, why), NAND_EINVAL);
    assert_string_equal(why, "hours=-1: must be 0..1000000");
    use = good, use.pe = 40001;
    assert_int_equal(use_error(use, why), NAND_EINVAL);
    assert_string_equal(why, "pe=40001: must be 0..40000");
    use = good, use.reads = 2e9;
    assert_int_equal(use_error(use, why), NAND_EINVAL);
    assert_string_equal(why, "reads=2e+09: must be 0..1e+09");
    use = good, use.neighbor_state = 8;
    assert_int_equal(use_error(use, why), NAND_EINVAL);
    assert_string_equal(why, "neighbor_state=8: must be -1..7");
    use = good, use.pe = (double)NAN;
    assert_int_equal(use_error(use, why), NAND_EINVAL);
}

static void cell_constants_are_judged(void **state)
{
    struct nand_cell cell = *nand_cell_find("tlc");
    char why[160];
    (void)state;

    cell.s0 = 0;
    assert_int_equal(nand_cell_check(&cell, why, sizeof why), NAND_EINVAL);
    assert_string_equal(why, "s0=0: must be 0.01..0.5");
    cell = *nand_cell_find("tlc");
    memcpy(cell.map, "0011012", 8); /* 000 100 000: back at the start */
    assert_int_equal(nand_cell_check(&cell, why, sizeof why), NAND_EINVAL);
    assert_string_equal(why, "map=0011012: two states carry the same bits");
    memcpy(cell.map, "0124012", 8);
    assert_int_equal(nand_cell_check(&cell, why, sizeof why), NAND_EINVAL);
    cell = *nand_cell_find("tlc");
    cell.states = 6;
    assert_int_equal(nand_cell_check(&cell, why, sizeof why), NAND_EINVAL);
    assert_string_equal(why, "states=6: must be 2, 4, 8 or 16");
    assert_null(nand_cell_find("hlc"));
}

static void temperature_of_a_device_is_bounded(void **state)
{
    struct nand_profile p = small("slc-ref", 1, 1, 2, 2);
    nand_dev *dev = make(&p, 1, NAND_WITH_CELLS);
    (void)state;

    assert_int_equal(nand_set_temperature(dev, 0, 150001), NAND_EINVAL);
    assert_int_equal(nand_set_temperature(dev, 0, -55001), NAND_EINVAL);
    assert_int_equal(nand_set_temperature(dev, 100, 150000), 0);
    assert_int_equal(nand_set_temperature(dev, 99, 30000), NAND_ETIME);
    nand_destroy(dev);
}

static void block_set_is_judged(void **state)
{
    struct nand_profile p = small("etlc-x3-9070", 1, 1, 4, 4);
    nand_dev *dev = make(&p, 1, 0);
    const uint32_t far[6] = {0, 0, 4, 0, 0, 0};
    struct nand_block_info info;
    (void)state;

    assert_int_equal(nand_block_set(dev, 1, 0, 0, 0, 0), NAND_EADDR);
    assert_int_equal(nand_block_set(dev, 0, 6, 0, 0, 0), NAND_EADDR);
    assert_int_equal(nand_block_set(dev, 0, 0, 4, 0, 0), NAND_EADDR);
    assert_int_equal(nand_block_set(dev, 0, 0, 0, 13, 0), NAND_EADDR);
    assert_int_equal(nand_block_set(dev, 0, 0, 0, 4, 0), NAND_EORDER);
    assert_int_equal(nand_block_set_planes(dev, 0, 0x40, 0, NULL, 3, 0), NAND_EMASK);
    assert_int_equal(nand_block_set_planes(dev, 0, 0, 0, NULL, 3, 0), NAND_EMASK);
    assert_int_equal(nand_block_set_planes(dev, 0, 7, 0, far, 3, 0), NAND_EADDR);
    assert_int_equal(nand_block_set_planes(dev, 0, 3, 9, far, 3, 7), 0);
    assert_int_equal(nand_block_info(dev, 0, 1, 0, &info), 0);
    assert_int_equal(info.pages_written, 3);
    assert_int_equal(info.erase_count, 7);
    assert_int_equal(nand_block_info(dev, 0, 2, 0, &info), 0);
    assert_int_equal(info.pages_written, 0);
    assert_int_equal(nand_block_info(dev, 0, 0, 9, &info), NAND_EADDR);
    nand_destroy(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_built_in_pass),
        cmocka_unit_test(each_field_is_named),
        cmocka_unit_test(product_does_not_overflow),
        cmocka_unit_test(reason_is_cut_to_size),
        cmocka_unit_test(absurd_cell_history_is_refused),
        cmocka_unit_test(cell_constants_are_judged),
        cmocka_unit_test(temperature_of_a_device_is_bounded),
        cmocka_unit_test(block_set_is_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
