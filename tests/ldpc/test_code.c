/* test_code.c - structure of the codes, checked on the expanded matrix by means
 * that know nothing of circulants. */
#include <stdio.h>

#include "common.h"

struct graph {
    uint32_t n, m;
    uint32_t *row, *row_len; /* m x 256 */
    uint32_t *col, *col_len; /* n x 8 */
};

static struct graph expand(const ldpc_code *code)
{
    struct ldpc_facts f;
    assert_int_equal(ldpc_code_facts(code, &f), LDPC_OK);
    struct graph g = {f.n,
                      f.m,
                      calloc((size_t)f.m * 256, 4),
                      calloc(f.m, 4),
                      calloc((size_t)f.n * 8, 4),
                      calloc(f.n, 4)};
    for (uint32_t i = 0; i < f.m; i++) {
        g.row_len[i] = (uint32_t)ldpc_code_row(code, i, g.row + (size_t)i * 256, 256);
        for (uint32_t e = 0; e < g.row_len[i]; e++) {
            uint32_t v = g.row[(size_t)i * 256 + e];
            assert_true(v < f.n && g.col_len[v] < 8);
            g.col[(size_t)v * 8 + g.col_len[v]++] = i;
        }
    }
    return g;
}

static void release(struct graph *g)
{
    free(g->row);
    free(g->row_len);
    free(g->col);
    free(g->col_len);
}

/* Walk from check a over two more checks; count ways back to a. Each 4-cycle is
 * met from 2 checks in 2 directions, each 6-cycle from 3 checks in 2. */
static void count_cycles(const struct graph *g, uint64_t *four, uint64_t *six)
{
    uint8_t *of_a = calloc(g->n, 1);
    *four = *six = 0;
    for (uint32_t a = 0; a < g->m; a++) {
        const uint32_t *ra = g->row + (size_t)a * 256;
        for (uint32_t i = 0; i < g->row_len[a]; i++)
            of_a[ra[i]] = 1;
        for (uint32_t i = 0; i < g->row_len[a]; i++)
            for (uint32_t x = 0; x < g->col_len[ra[i]]; x++) {
                uint32_t b = g->col[(size_t)ra[i] * 8 + x];
                const uint32_t *rb = g->row + (size_t)b * 256;
                for (uint32_t j = 0; b != a && j < g->row_len[b]; j++) {
                    if (rb[j] == ra[i])
                        continue;
                    *four += of_a[rb[j]];
                    for (uint32_t y = 0; y < g->col_len[rb[j]]; y++) {
                        uint32_t c = g->col[(size_t)rb[j] * 8 + y];
                        const uint32_t *rc = g->row + (size_t)c * 256;
                        for (uint32_t k = 0; c != a && c != b && k < g->row_len[c]; k++)
                            *six += of_a[rc[k]] && rc[k] != ra[i] && rc[k] != rb[j];
                    }
                }
            }
        for (uint32_t i = 0; i < g->row_len[a]; i++)
            of_a[ra[i]] = 0;
    }
    free(of_a);
    *four /= 4;
    *six /= 6;
}

static void test_cycles_of_1k(void **st)
{
    (void)st;
    ldpc_code *code = test_open("1k");
    struct ldpc_facts f;
    assert_int_equal(ldpc_code_facts(code, &f), LDPC_OK);
    struct graph g = expand(code);
    uint64_t four, six;
    count_cycles(&g, &four, &six);
    assert_int_equal(four, 0);
    assert_int_equal(six, f.cycles6);
    assert_int_equal(f.girth, 6);
    release(&g);
    ldpc_code_close(code);
}

static uint32_t rank_of(const struct graph *g)
{
    uint32_t words = (g->n + 63) / 64, rank = 0;
    uint64_t *a = calloc((size_t)g->m * words, 8);
    for (uint32_t i = 0; i < g->m; i++)
        for (uint32_t e = 0; e < g->row_len[i]; e++) {
            uint32_t v = g->row[(size_t)i * 256 + e];
            a[(size_t)i * words + v / 64] |= 1ull << (v % 64);
        }
    for (uint32_t c = 0; c < g->n && rank < g->m; c++) {
        uint32_t p = rank;
        while (p < g->m && !(a[(size_t)p * words + c / 64] >> (c % 64) & 1))
            p++;
        if (p == g->m)
            continue;
        for (uint32_t w = 0; w < words; w++) {
            uint64_t t = a[(size_t)p * words + w];
            a[(size_t)p * words + w] = a[(size_t)rank * words + w];
            a[(size_t)rank * words + w] = t;
        }
        for (uint32_t r = rank + 1; r < g->m; r++)
            if (a[(size_t)r * words + c / 64] >> (c % 64) & 1)
                for (uint32_t w = c / 64; w < words; w++)
                    a[(size_t)r * words + w] ^= a[(size_t)rank * words + w];
        rank++;
    }
    free(a);
    return rank;
}

static void test_rank_of_1k(void **st)
{
    (void)st;
    ldpc_code *code = test_open("1k");
    struct ldpc_facts f;
    assert_int_equal(ldpc_code_facts(code, &f), LDPC_OK);
    struct graph g = expand(code);
    assert_int_equal(rank_of(&g), f.m);
    assert_int_equal(f.rank, f.m);
    release(&g);
    ldpc_code_close(code);
}

/* Sizes that a user plans with: payload, and spare areas of the NAND presets. */
static void test_sizes(void **st)
{
    (void)st;
    static const struct {
        const char *name;
        size_t data, parity, per_page, page;
    } want[] = {
        {"4k", 4096, 512, 0, 0},
        {"2k", 2048, 256, 0, 0},
        {"1k", 1024, 128, 0, 0},
        {"4k-r88", 4096, 544, 0, 0},
        {"4k-r90", 4096, 448, 0, 0},
        {"4k-r92", 4096, 352, 0, 0},
        {"etlc", 4136, 512, 4, 16384 + 2208},
        {"qlc", 4136, 512, 4, 16384 + 2208},
        {"tlc", 4136, 448, 4, 16384 + 1952},
        {"mlc", 4128, 192, 2, 8192 + 448},
    };
    unsigned seen = 0;
    for (const char *const *n = ldpc_code_names(); *n; n++)
        seen++;
    assert_int_equal(seen, sizeof want / sizeof want[0]);
    for (unsigned i = 0; i < seen; i++) {
        ldpc_code *code = test_open(want[i].name);
        assert_int_equal(ldpc_data_bytes(code), want[i].data);
        assert_int_equal(ldpc_parity_bytes(code), want[i].parity);
        if (want[i].page)
            assert_int_equal((want[i].data + want[i].parity) * want[i].per_page, want[i].page);
        ldpc_code_close(code);
    }
}

static void test_weights(void **st)
{
    (void)st;
    ldpc_code *code = test_open("4k");
    struct ldpc_facts f;
    assert_int_equal(ldpc_code_facts(code, &f), LDPC_OK);
    struct graph g = expand(code);
    uint32_t by_weight[8] = {0};
    for (uint32_t v = 0; v < g.n; v++)
        by_weight[g.col_len[v]]++;
    assert_int_equal(by_weight[4], 33 * 1024); /* the mask leaves three columns of weight 3 */
    assert_int_equal(by_weight[3], 3 * 1024);
    for (uint32_t i = 0; i < g.m; i++)
        assert_true(g.row_len[i] == 35 || g.row_len[i] == 36);
    assert_true(f.girth >= 8);
    assert_int_equal(f.edges, (33 * 4 + 3 * 3) * 1024);
    release(&g);
    ldpc_code_close(code);
}

/* The construction is a function of its arguments: same seed, same code; and it
 * reports what it cannot do. */
static void test_build(void **st)
{
    (void)st;
    struct ldpc_build b = {
        .name = "mine", .z = 64, .data_bits = 64 * 8 - 8, .sweeps = 1, .seed = 5};
    ldpc_code *one = NULL, *two = NULL, *other = NULL;
    assert_int_equal(ldpc_code_build(&b, &one), LDPC_OK);
    assert_int_equal(ldpc_code_build(&b, &two), LDPC_OK);
    b.seed = 6;
    assert_int_equal(ldpc_code_build(&b, &other), LDPC_OK);
    unsigned differ = 0;
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t c = 0; c < 12; c++) {
            assert_int_equal(ldpc_code_shift(one, r, c), ldpc_code_shift(two, r, c));
            differ += ldpc_code_shift(one, r, c) != ldpc_code_shift(other, r, c);
        }
    assert_true(differ > 0);
    struct graph g = expand(one);
    uint64_t four, six;
    struct ldpc_facts f;
    count_cycles(&g, &four, &six);
    assert_int_equal(ldpc_code_facts(one, &f), LDPC_OK);
    assert_int_equal(four, 0);
    assert_int_equal(f.shortened, 8);
    assert_int_equal(rank_of(&g), 256);
    release(&g);
    ldpc_code_close(one);
    ldpc_code_close(two);
    ldpc_code_close(other);
    ldpc_code *none = NULL;
    b.z = 16; /* 44 columns cannot have 44 distinct differences modulo 16 */
    b.data_bits = 16 * 40;
    assert_int_equal(ldpc_code_build(&b, &none), LDPC_EGIRTH);
    b.z = 15;
    assert_int_equal(ldpc_code_build(&b, &none), LDPC_EINVAL);
    b.z = 64;
    b.data_bits = 0;
    assert_int_equal(ldpc_code_build(&b, &none), LDPC_EINVAL);
    assert_null(none);
}

/* The built-in codes are what the construction program says they are. */
static void test_builtin_is_constructed(void **st)
{
    (void)st;
    struct ldpc_build b = {
        .name = "1k", .z = 256, .data_bits = 8192, .sweeps = 8, .seed = 20261130};
    ldpc_code *made = NULL, *builtin = test_open("1k");
    assert_int_equal(ldpc_code_build(&b, &made), LDPC_OK);
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t c = 0; c < 36; c++)
            assert_int_equal(ldpc_code_shift(made, r, c), ldpc_code_shift(builtin, r, c));
    ldpc_code_close(made);
    ldpc_code_close(builtin);
}

static void test_misuse(void **st)
{
    (void)st;
    ldpc_code *code = NULL;
    assert_int_equal(ldpc_code_open("no such code", &code), LDPC_ENAME);
    assert_int_equal(ldpc_code_open(NULL, &code), LDPC_EINVAL);
    assert_int_equal(ldpc_code_open("4k", NULL), LDPC_EINVAL);
    assert_null(code);
    ldpc_code_close(NULL);
    assert_int_equal(ldpc_data_bytes(NULL), 0);
    assert_int_equal(ldpc_workspace_bytes(NULL), 0);
    assert_int_equal(ldpc_code_shift(NULL, 0, 0), -1);
    for (int err = -10; err <= 0; err++)
        assert_true(strlen(ldpc_strerror(err)) > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_cycles_of_1k), cmocka_unit_test(test_rank_of_1k),
        cmocka_unit_test(test_build),        cmocka_unit_test(test_builtin_is_constructed),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
