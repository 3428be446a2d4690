/* help.h - shared by the tests of nand_model. */
#ifndef TESTS_NAND_HELP_H_
#define TESTS_NAND_HELP_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nand/cell.h"
#include "nand/fault.h"
#include "nand/nand.h"
#include "nand/store.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A preset cut down to a size that a test can think through. */
static inline struct nand_profile small(const char *preset, uint32_t channels, uint32_t dies,
                                        uint32_t blocks, uint32_t wordlines)
{
    const struct nand_profile *found = nand_profile_find(preset);
    struct nand_profile p;

    assert_non_null(found);
    p = *found;
    p.geo.channels = channels;
    p.geo.dies = dies;
    p.geo.blocks_per_plane = blocks;
    p.geo.wordlines_per_block = wordlines;
    return p;
}

static inline nand_dev *make(const struct nand_profile *p, uint64_t seed, uint32_t flags)
{
    struct nand_options options = {.flags = flags};
    nand_dev *dev = NULL;

    assert_int_equal(nand_create_with(p, seed, &options, &dev), 0);
    assert_non_null(dev);
    return dev;
}

/* Issues what must be legal. */
static inline struct nand_res must(nand_dev *dev, nand_ns now, struct nand_req req)
{
    struct nand_res res;
    int err;

    memset(&res, 0xa5, sizeof res);
    err = nand_issue(dev, now, &req, &res);
    if (err)
        fail_msg("refused: %s", nand_strerror(err));
    return res;
}

/* Issues what must be refused, and sees that the result was left alone. */
static inline void refused(nand_dev *dev, nand_ns now, struct nand_req req, int expected)
{
    struct nand_res res, before;
    int err;

    memset(&res, 0x5a, sizeof res);
    before = res;
    err = nand_issue(dev, now, &req, &res);
    if (err != expected)
        fail_msg("%s instead of %s", nand_strerror(err), nand_strerror(expected));
    assert_memory_equal(&res, &before, sizeof res);
}

static inline struct nand_req op_at(enum nand_op op, uint32_t die, uint32_t plane,
                                    uint32_t block, uint32_t page)
{
    struct nand_req req = {.op = op};

    req.addr.die = (uint16_t)die;
    req.addr.plane = (uint16_t)plane;
    req.addr.block = block;
    req.addr.page = page;
    return req;
}

static inline struct nand_req op_mask(enum nand_op op, uint32_t die, uint32_t mask,
                                      uint32_t block, uint32_t page)
{
    struct nand_req req = op_at(op, die, 0, block, page);

    req.plane_mask = mask;
    return req;
}

static inline struct nand_req data_in(uint32_t die, uint32_t mask, uint32_t block,
                                      uint32_t page, uint32_t bytes, void *data)
{
    struct nand_req req = op_mask(NAND_OP_DATA_IN, die, mask, block, page);

    req.bytes = bytes;
    req.data = data;
    return req;
}

static inline struct nand_req data_out(uint32_t die, uint32_t plane, uint32_t bytes, void *data)
{
    struct nand_req req = op_at(NAND_OP_DATA_OUT, die, plane, 0, 0);

    req.bytes = bytes;
    req.data = data;
    return req;
}

/* Loads all page types of a word line and programs it; when it is done. */
static inline nand_ns write_wordline(nand_dev *dev, nand_ns now, uint32_t die, uint32_t mask,
                                     uint32_t block, uint32_t first_page, uint32_t types)
{
    uint32_t bytes = nand_dev_profile(dev)->geo.page_bytes;

    for (uint32_t t = 0; t < types; t++)
        (void)must(dev, now, data_in(die, mask, block, first_page + t, bytes, NULL));
    return must(dev, now, op_mask(NAND_OP_PROG, die, mask, block, first_page)).done_at;
}

/* A snapshot in memory: sink and source of nand_save() and nand_load(). bytes is the test's. */
struct buffer {
    uint8_t *bytes;
    size_t size, at;
};

static inline int sink(void *ctx, const void *bytes, size_t size)
{
    struct buffer *b = ctx;

    b->bytes = realloc(b->bytes, b->size + size);
    assert_non_null(b->bytes);
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
    return 0;
}

/* 77 past the end */
static inline int source(void *ctx, void *ret_bytes, size_t size)
{
    struct buffer *b = ctx;

    if (size > b->size - b->at)
        return 77;
    memcpy(ret_bytes, b->bytes + b->at, size);
    b->at += size;
    return 0;
}

#endif
