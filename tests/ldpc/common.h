/* common.h - what the tests of this folder share. */
#ifndef TESTS_LDPC_COMMON_H_
#define TESTS_LDPC_COMMON_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ldpc/ldpc.h"

/* A generator that the library does not use (xorshift64*, Vigna 2016). */
static inline uint64_t test_rand(uint64_t *s)
{
    *s ^= *s >> 12;
    *s ^= *s << 25;
    *s ^= *s >> 27;
    return *s * 2685821657736338717u;
}

static inline void *test_workspace(const ldpc_code *code)
{
    void *ws = aligned_alloc(64, (ldpc_workspace_bytes(code) + 63) & ~(size_t)63);
    assert_non_null(ws);
    return ws;
}

static inline ldpc_code *test_open(const char *name)
{
    ldpc_code *code = NULL;
    assert_int_equal(ldpc_code_open(name, &code), LDPC_OK);
    return code;
}

static inline int bit_at(const uint8_t *bits, size_t v)
{
    return bits[v >> 3] >> (v & 7) & 1;
}

/* Failing checks straight from the row lists: H c, one bit at a time. */
static inline uint32_t naive_weight(const ldpc_code *code, const uint8_t *bits)
{
    struct ldpc_facts f;
    uint32_t row[1024], weight = 0;
    assert_int_equal(ldpc_code_facts(code, &f), LDPC_OK);
    for (uint32_t i = 0; i < f.m; i++) {
        int n = ldpc_code_row(code, i, row, 1024), odd = 0;
        for (int e = 0; e < n; e++)
            odd ^= bit_at(bits, row[e]);
        weight += (uint32_t)odd;
    }
    return weight;
}

#endif
