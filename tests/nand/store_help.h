/* store_help.h - a device that keeps bytes, and pages with a known pattern. */
#ifndef TESTS_NAND_STORE_HELP_H
#define TESTS_NAND_STORE_HELP_H

#include "help.h"

enum { PAGE = 18592 };

static inline struct nand_profile part(void)
{
    struct nand_profile p = small("etlc-x3-9070", 1, 1, 4, 4);
    p.geo.planes = 2;
    return p;
}

static inline uint8_t *pattern(uint32_t tag, uint32_t bytes)
{
    uint8_t *data = malloc(bytes);

    assert_non_null(data);
    for (uint32_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)(nand_draw(99, tag, i, 0) >> 56);
    return data;
}

/* One word line in both planes; page t of plane p carries pattern(tag + 2 * t + p). */
static inline nand_ns write_tagged(nand_dev *dev, nand_ns now, uint32_t block, uint32_t first_page,
                            uint32_t tag)
{
    for (uint32_t t = 0; t < 3; t++) {
        uint8_t *both = malloc(2 * PAGE), *one;
        for (uint32_t p = 0; p < 2; p++) {
            one = pattern(tag + 2 * t + p, PAGE);
            memcpy(both + p * PAGE, one, PAGE);
            free(one);
        }
        (void)must(dev, now, data_in(0, 3, block, first_page + t, PAGE, both));
        free(both);
    }
    return must(dev, now, op_mask(NAND_OP_PROG, 0, 3, block, first_page)).done_at;
}

static inline nand_ns read_page(nand_dev *dev, nand_ns now, uint32_t plane, uint32_t block,
                         uint32_t page, uint8_t *ret)
{
    now = must(dev, now, op_at(NAND_OP_READ, 0, plane, block, page)).done_at;
    return must(dev, now, data_out(0, plane, PAGE, ret)).done_at;
}

static inline void expect_tag(nand_dev *dev, nand_ns *now, uint32_t plane, uint32_t block,
                       uint32_t page, uint32_t tag)
{
    uint8_t got[PAGE], *want = pattern(tag, PAGE);

    *now = read_page(dev, *now, plane, block, page, got);
    assert_memory_equal(got, want, PAGE);
    free(want);
}

#endif
