/* test_alist.c - import and export, and what users' files do wrong. */
#include <stdio.h>

#include "common.h"

/* The (7, 4) Hamming code with columns ordered so that the last three bits are
 * parity: checks {1 2 4 5}, {1 3 4 6}, {2 3 4 7}. */
static const char GOOD[] = "7 3\n3 4\n2 2 2 3 1 1 1\n4 4 4\n"
                           "1 2 0\n1 3 0\n2 3 0\n1 2 3\n1 0 0\n2 0 0\n3 0 0\n"
                           "1 2 4 5\n1 3 4 6\n2 3 4 7\n";

static int import(const char *text, ldpc_code **code, char *msg)
{
    msg[0] = 0;
    return ldpc_alist_import(text, strlen(text), "t", 0, code, msg, 128);
}

static void is_hamming(ldpc_code *code)
{
    static const uint32_t want[3][4] = {{0, 1, 3, 4}, {0, 2, 3, 5}, {1, 2, 3, 6}};
    struct ldpc_facts f;
    uint32_t row[8];
    assert_int_equal(ldpc_code_facts(code, &f), LDPC_OK);
    assert_int_equal(f.n, 7);
    assert_int_equal(f.k, 4);
    assert_int_equal(f.rank, 3);
    assert_true(f.has_encoder);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(ldpc_code_row(code, i, row, 8), 4);
        assert_memory_equal(row, want[i], sizeof want[i]);
    }
}

static void accept(const char *text)
{
    ldpc_code *code = NULL;
    char msg[128];
    int err = import(text, &code, msg);
    if (err)
        print_error("%s\n", msg);
    assert_int_equal(err, LDPC_OK);
    is_hamming(code);
    ldpc_code_close(code);
}

static void test_dialects(void **st)
{
    (void)st;
    accept(GOOD);
    /* no padding */
    accept("7 3\n3 4\n2 2 2 3 1 1 1\n4 4 4\n1 2\n1 3\n2 3\n1 2 3\n1\n2\n3\n"
           "1 2 4 5\n1 3 4 6\n2 3 4 7\n");
    /* counts and maxima exchanged in the header; only the counts */
    accept("3 7\n4 3\n2 2 2 3 1 1 1\n4 4 4\n1 2 0\n1 3 0\n2 3 0\n1 2 3\n1 0 0\n2 0 0\n3 0 0\n"
           "1 2 4 5\n1 3 4 6\n2 3 4 7\n");
    accept("3 7\n3 4\n2 2 2 3 1 1 1\n4 4 4\n1 2 0\n1 3 0\n2 3 0\n1 2 3\n1 0 0\n2 0 0\n3 0 0\n"
           "1 2 4 5\n1 3 4 6\n2 3 4 7\n");
    /* the whole file transposed: checks first */
    accept("3 7\n4 3\n4 4 4\n2 2 2 3 1 1 1\n1 2 4 5\n1 3 4 6\n2 3 4 7\n"
           "1 2 0\n1 3 0\n2 3 0\n1 2 3\n1 0 0\n2 0 0\n3 0 0\n");
    /* CRLF, tabs, no newline at the end */
    char crlf[512];
    size_t n = 0;
    for (const char *c = GOOD; *c; c++) {
        if (*c == '\n')
            crlf[n++] = '\r';
        crlf[n++] = *c == ' ' ? '\t' : *c;
    }
    crlf[n - 1] = 0;
    accept(crlf);
}

static void refuse(const char *text, int want)
{
    ldpc_code *code = NULL;
    char msg[128];
    int err = import(text, &code, msg);
    assert_int_equal(err, want);
    assert_null(code);
    assert_true(strlen(msg) > 8);
    assert_null(strchr(msg, '\n'));
}

static void test_faults(void **st)
{
    (void)st;
    refuse("", LDPC_EFORMAT);
    refuse("7 3\n3", LDPC_EFORMAT);
    refuse("7 3\n3 4\n2 2 2 3 1 1 1\n4 4 4\n1 2 0\n1 3 0\n", LDPC_EFORMAT); /* truncated */
    refuse("7 x\n3 4\n", LDPC_EFORMAT);
    refuse("7 -3\n3 4\n", LDPC_EFORMAT);
    refuse("4000000000 3\n3 4\n1 1\n", LDPC_ELIMIT);            /* giant count */
    refuse("99999999999999999999 3\n3 4\n1 1\n", LDPC_EFORMAT); /* does not fit 32 bits */
    refuse("0 3\n3 4\n1 1\n", LDPC_ELIMIT);
    /* row list of check 3 names bit 5, no column list does */
    refuse("7 3\n3 4\n2 2 2 3 1 1 1\n4 4 4\n1 2 0\n1 3 0\n2 3 0\n1 2 3\n1 0 0\n2 0 0\n3 0 0\n"
           "1 2 4 5\n1 3 4 6\n2 3 4 5\n",
           LDPC_EFORMAT);
    /* index out of range; edge given twice; list shorter than its weight */
    refuse("7 3\n3 4\n2 2 2 3 1 1 1\n4 4 4\n1 9 0\n1 3 0\n2 3 0\n1 2 3\n1 0 0\n2 0 0\n3 0 0\n"
           "1 2 4 5\n1 3 4 6\n2 3 4 7\n",
           LDPC_EFORMAT);
    refuse("7 3\n3 4\n2 2 2 3 1 1 1\n4 4 4\n1 1 0\n1 3 0\n2 3 0\n1 2 3\n1 0 0\n2 0 0\n3 0 0\n"
           "1 2 4 5\n1 3 4 6\n2 3 4 7\n",
           LDPC_EFORMAT);
    refuse("7 3\n3 4\n2 2 2 3 1 1 1\n4 4 4\n1 0 0\n1 3 0\n2 3 0\n1 2 3\n1 0 0\n2 0 0\n3 0 0\n"
           "1 2 4 5\n1 3 4 6\n2 3 4 7\n",
           LDPC_EFORMAT);
    /* maxima that no weight reaches */
    refuse("7 3\n4 4\n2 2 2 3 1 1 1\n4 4 4\n1 2 0 0\n1 3 0 0\n2 3 0 0\n1 2 3 0\n1 0 0 0\n"
           "2 0 0 0\n3 0 0 0\n1 2 4 5\n1 3 4 6\n2 3 4 7\n",
           LDPC_EFORMAT);
}

/* Check 3 = check 1 + check 2: rank 2, so k = 7 - 2, and no encoder. */
static void test_rank_deficient(void **st)
{
    (void)st;
    static const char text[] = "7 3\n2 5\n2 2 2 2 1 2 1\n4 4 4\n"
                               "1 3\n1 2\n2 3\n1 2\n1 0\n2 3\n3 0\n"
                               "1 2 4 5\n2 3 4 6\n1 3 6 7\n";
    static const char dependent[] = "6 3\n2 4\n2 2 2 2 2 2\n4 4 4\n"
                                    "1 3\n1 3\n1 2\n1 2\n2 3\n2 3\n"
                                    "1 2 3 4\n3 4 5 6\n1 2 5 6\n";
    ldpc_code *code = NULL;
    char msg[128];
    struct ldpc_facts f;
    assert_int_equal(import(text, &code, msg), LDPC_EFORMAT); /* 5 is no row's weight */
    assert_int_equal(import(dependent, &code, msg), LDPC_OK);
    assert_int_equal(ldpc_code_facts(code, &f), LDPC_OK);
    assert_int_equal(f.rank, 2);
    assert_int_equal(f.k, 4);
    assert_false(f.has_encoder);
    void *ws = test_workspace(code);
    uint8_t data[8] = {1}, parity[8] = {0x77};
    assert_int_equal(ldpc_encode(code, ws, data, parity), LDPC_ESINGULAR);
    assert_int_equal(parity[0], 0x77); /* never wrong parity */
    free(ws);
    ldpc_code_close(code);
}

/* Full rank but the last three bits depend on each other: decodes, cannot encode. */
static void test_singular_parity(void **st)
{
    (void)st;
    static const char text[] = "7 3\n3 4\n1 1 1 3 2 2 2\n4 4 4\n"
                               "1 0 0\n2 0 0\n3 0 0\n1 2 3\n1 2 0\n2 3 0\n1 3 0\n"
                               "1 4 5 7\n2 4 5 6\n3 4 6 7\n";
    ldpc_code *code = NULL;
    char msg[128];
    struct ldpc_facts f;
    assert_int_equal(import(text, &code, msg), LDPC_OK);
    assert_int_equal(ldpc_code_facts(code, &f), LDPC_OK);
    assert_int_equal(f.rank, 3);
    assert_false(f.has_encoder);
    ldpc_code_close(code);
}

/* Hamming words by hand: data 1000 meets checks 1 and 2, and so on. */
static void test_small_code_works(void **st)
{
    (void)st;
    ldpc_code *code = NULL;
    char msg[128];
    assert_int_equal(import(GOOD, &code, msg), LDPC_OK);
    void *ws = test_workspace(code);
    static const uint8_t parity_of[4] = {3, 5, 6, 7};
    for (unsigned d = 0; d < 16; d++) {
        uint8_t data = (uint8_t)d, parity = 0, want = 0;
        for (unsigned i = 0; i < 4; i++)
            want ^= d >> i & 1 ? parity_of[i] : 0;
        assert_int_equal(ldpc_encode(code, ws, &data, &parity), LDPC_OK);
        assert_int_equal(parity, want);
    }
    free(ws);
    ldpc_code_close(code);
}

/* Export, import: the same rows; a structured code is found to be structured. */
static void round_trip(const char *name, uint32_t want_z)
{
    ldpc_code *code = test_open(name), *back = NULL;
    size_t bytes = 0;
    char msg[128] = "";
    assert_int_equal(ldpc_alist_export(code, NULL, 0, &bytes), LDPC_EINVAL);
    char *text = malloc(bytes + 1);
    assert_int_equal(ldpc_alist_export(code, text, bytes, &bytes), LDPC_EINVAL);
    assert_int_equal(ldpc_alist_export(code, text, bytes + 1, &bytes), LDPC_OK);
    assert_int_equal(strlen(text), bytes);
    assert_int_equal(ldpc_alist_import(text, bytes, name, 0, &back, msg, sizeof msg), LDPC_OK);
    struct ldpc_facts a, b;
    assert_int_equal(ldpc_code_facts(code, &a), LDPC_OK);
    assert_int_equal(ldpc_code_facts(back, &b), LDPC_OK);
    assert_int_equal(b.z, want_z);
    assert_int_equal(a.n, b.n);
    assert_int_equal(a.k, b.k);
    assert_int_equal(a.rank, b.rank);
    assert_true(b.has_encoder);
    for (uint32_t i = 0; i < a.m; i++) {
        uint32_t x[128], y[128];
        int n = ldpc_code_row(code, i, x, 128);
        assert_int_equal(ldpc_code_row(back, i, y, 128), n);
        assert_memory_equal(x, y, (size_t)n * sizeof *x);
    }
    free(text);
    ldpc_code_close(code);
    ldpc_code_close(back);
}

static void test_round_trip(void **st)
{
    (void)st;
    round_trip("1k", 256);
    round_trip("4k", 1024);
}

/* A shortened code loses its last partial block, so it comes back unstructured,
 * with the dense encoder, and both encoders agree. */
static void test_shortened_and_dense(void **st)
{
    (void)st;
    struct ldpc_build build = {.name = "short", .z = 64, .data_bits = 64 * 6 + 8, .seed = 3};
    ldpc_code *code = NULL, *back = NULL;
    size_t bytes = 0;
    assert_int_equal(ldpc_code_build(&build, &code), LDPC_OK);
    ldpc_alist_export(code, NULL, 0, &bytes);
    char *text = malloc(bytes + 1);
    assert_int_equal(ldpc_alist_export(code, text, bytes + 1, &bytes), LDPC_OK);
    assert_int_equal(ldpc_alist_import(text, bytes, "dense", 1, &back, NULL, 0), LDPC_OK);
    void *ws1 = test_workspace(code), *ws2 = test_workspace(back);
    uint8_t data[49], p1[32], p2[32];
    uint64_t s = 3;
    for (unsigned trial = 0; trial < 8; trial++) {
        for (unsigned i = 0; i < sizeof data; i++)
            data[i] = (uint8_t)(test_rand(&s) >> 20);
        assert_int_equal(ldpc_encode(code, ws1, data, p1), LDPC_OK);
        assert_int_equal(ldpc_encode(back, ws2, data, p2), LDPC_OK);
        assert_memory_equal(p1, p2, sizeof p1);
    }
    free(text);
    free(ws1);
    free(ws2);
    ldpc_code_close(code);
    ldpc_code_close(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dialects),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_rank_deficient),
        cmocka_unit_test(test_singular_parity),
        cmocka_unit_test(test_small_code_works),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_shortened_and_dense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
