/* test_geometry.c - where slots lie, worked out by hand. */
#include "common.h"

#include "core/geometry.h"

static struct ftl_geometry small(void)
{
    /* 4 dies, 1 of parity, 2 planes, 3 page types, 2 units a page, 5 rows */
    struct ftl_config c = make_config("wa-reference", 1, NULL);
    struct ftl_geometry g;
    c.nand_dies = 4;
    c.raid_parity = 1;
    c.nand_planes = 2;
    c.nand_page_types = 3;
    c.nand_page_bytes = 8192;
    c.nand_wordlines_per_block = 5;
    c.ftl_superblocks = 7;
    assert_int_equal(geometry_make(&g, &c), 0);
    return g;
}

static void test_sizes(void **state)
{
    struct ftl_geometry g = small();
    (void)state;
    assert_int_equal(g.wl_units, 2 * 3 * 2);
    assert_int_equal(g.row_units, 3 * 12);
    assert_int_equal(g.sb_units, 5 * 36);
    assert_int_equal(g.total_units, 7 * 180);
}

static void test_places(void **state)
{
    static const struct {
        uint32_t slot;
        struct ftl_place want;      /* sb row data_die die type plane codeword */
    } rows[] = {
        {0, {0, 0, 0, 1, 0, 0, 0}},     /* parity of row 0 on die 0, data from die 1 */
        {1, {0, 0, 0, 1, 0, 0, 1}},
        {2, {0, 0, 0, 1, 0, 1, 0}},
        {4, {0, 0, 0, 1, 1, 0, 0}},
        {11, {0, 0, 0, 1, 2, 1, 1}},
        {12, {0, 0, 1, 2, 0, 0, 0}},
        {35, {0, 0, 2, 3, 2, 1, 1}},
        {36, {0, 1, 0, 2, 0, 0, 0}},    /* row 1: parity on die 1 */
        {60, {0, 1, 2, 0, 0, 0, 0}},
        {180, {1, 0, 0, 1, 0, 0, 0}},
        {1259, {6, 4, 2, 3, 2, 1, 1}},  /* the last: row 4, parity on die 0 again */
    };
    struct ftl_geometry g = small();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ftl_place p;
        geometry_place(&g, rows[i].slot, 0, &p);
        assert_memory_equal(&p, &rows[i].want, sizeof p);
    }
}

/* Units of 64 KiB on pages of 16 KiB go over four planes; units of 8 KiB on pages of
 * 12 KiB lie across their borders. */
static void test_coarse_places(void **state)
{
    struct ftl_config c = make_config("wa-reference", 1, NULL);
    struct ftl_geometry g;
    struct ftl_place p;
    (void)state;
    c.nand_dies = 2;
    c.nand_planes = 6;
    c.nand_page_types = 2;
    c.map_unit_bytes = 65536;
    c.ftl_superblocks = 7;
    assert_int_equal(geometry_make(&g, &c), 0);
    assert_int_equal(g.wl_units, 3);            /* 12 pages of 4 codewords, 16 to a unit */
    assert_int_equal(g.group_units, 1);
    assert_int_equal(g.group_pages, 4);
    geometry_place(&g, 1, 9, &p);               /* codeword 25 of 48: page 6 */
    assert_memory_equal(&p, &((struct ftl_place){0, 0, 0, 0, 1, 0, 1}), sizeof p);
    c.nand_planes = 2;
    c.nand_page_bytes = 12288;
    c.map_unit_bytes = 8192;
    assert_int_equal(geometry_make(&g, &c), 0);
    assert_int_equal(g.wl_units, 6);
    assert_int_equal(g.group_units, 3);
    assert_int_equal(g.group_pages, 2);
    geometry_place(&g, 7, 1, &p);               /* unit 1 of die 1, codeword 3: page 1 */
    assert_memory_equal(&p, &((struct ftl_place){0, 0, 1, 1, 0, 1, 0}), sizeof p);
    c.map_unit_bytes = 16384;
    c.nand_page_types = 1;                      /* 6 codewords in units of 4 */
    assert_int_equal(geometry_make(&g, &c), -1);
}

/* In every row each die has exactly one role. */
static void test_parity_rotates(void **state)
{
    struct ftl_geometry g = small();
    (void)state;
    for (uint32_t row = 0; row < 9; row++) {
        uint32_t seen = 0;
        for (uint32_t d = 0; d < g.data_dies; d++)
            seen |= 1u << geometry_data_die(&g, row, d);
        for (uint32_t k = 0; k < g.parity_dies; k++)
            seen |= 1u << geometry_parity_die(&g, row, k);
        assert_int_equal(seen, 15);
        assert_int_equal(geometry_parity_die(&g, row, 0), row % 4);
    }
}

/* slot / sb_units by multiplication is exact, at the borders of every superblock of
 * awkward sizes up to the largest slot. */
static void test_division(void **state)
{
    static const uint32_t sizes[] = {2, 3, 7, 72, 256, 4536, 72576, 4209408, 8388608, 2147483647};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct ftl_geometry g = {.sb_units = sizes[i]};
        g.sb_inverse = UINT64_MAX / g.sb_units + 1;
        uint64_t step = UINT32_MAX / sizes[i] / 1000 + 1;
        for (uint64_t sb = 0; sb * sizes[i] <= UINT32_MAX; sb += step) {
            uint64_t first = sb * sizes[i], last = first + sizes[i] - 1;
            assert_int_equal(geometry_superblock(&g, (uint32_t)first), sb);
            if (last <= UINT32_MAX)
                assert_int_equal(geometry_superblock(&g, (uint32_t)last), sb);
        }
        assert_int_equal(geometry_superblock(&g, UINT32_MAX), UINT32_MAX / sizes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes), cmocka_unit_test(test_places),
        cmocka_unit_test(test_coarse_places),
        cmocka_unit_test(test_parity_rotates), cmocka_unit_test(test_division),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
