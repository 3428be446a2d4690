/* test_encode.c - every word that the encoder makes satisfies every check. */
#include "common.h"

enum { WORDS = 6 };

static void encode_all(const char *name, unsigned mask)
{
    ldpc_code *code = test_open(name);
    void *ws = test_workspace(code);
    size_t data = ldpc_data_bytes(code), parity = ldpc_parity_bytes(code);
    uint8_t *room = malloc(data + parity + 64), *in = malloc(data + 64);
    uint64_t s = 77;
    ldpc_set_cpu_mask(mask);
    for (unsigned i = 0; i < WORDS; i++) {
        uint8_t *word = room + i, *src = in + 3 * i; /* misaligned on purpose */
        for (size_t b = 0; b < data; b++)
            src[b] = i == 0 ? 0 : i == 1 ? 0xff : (uint8_t)(test_rand(&s) >> 32);
        memset(room, 0xee, data + parity + 64);
        memcpy(word, src, data);
        assert_int_equal(ldpc_encode(code, ws, src, word + data), LDPC_OK);
        assert_int_equal(naive_weight(code, word), 0);
        assert_memory_equal(word, src, data);
        assert_int_equal(word[data + parity], 0xee); /* nothing past the parity */
        uint32_t weight;
        assert_int_equal(ldpc_syndrome_weight(code, ws, word, &weight), LDPC_OK);
        assert_int_equal(weight, 0);
        word[i * 100] ^= 1 << i; /* one wrong bit fails as many checks as its column has */
        assert_int_equal(ldpc_syndrome_weight(code, ws, word, &weight), LDPC_OK);
        assert_int_equal(weight, 4);
        assert_int_equal(naive_weight(code, word), 4);
    }
    ldpc_set_cpu_mask(~0u);
    free(room);
    free(in);
    free(ws);
    ldpc_code_close(code);
}

static void test_all_codes(void **st)
{
    (void)st;
    for (const char *const *n = ldpc_code_names(); *n; n++)
        for (unsigned mask = 0; mask < 2; mask++)
            encode_all(*n, mask ? ~0u : 0);
}

/* Linear: the parity of a sum is the sum of the parities. */
static void test_linear(void **st)
{
    (void)st;
    ldpc_code *code = test_open("tlc");
    void *ws = test_workspace(code);
    size_t data = ldpc_data_bytes(code), parity = ldpc_parity_bytes(code);
    uint8_t *d[3], *p[3];
    uint64_t s = 5;
    for (unsigned i = 0; i < 3; i++) {
        d[i] = malloc(data);
        p[i] = malloc(parity);
        for (size_t b = 0; b < data; b++)
            d[i][b] = i < 2 ? (uint8_t)(test_rand(&s) >> 24) : d[0][b] ^ d[1][b];
        assert_int_equal(ldpc_encode(code, ws, d[i], p[i]), LDPC_OK);
    }
    for (size_t b = 0; b < parity; b++)
        assert_int_equal(p[0][b] ^ p[1][b], p[2][b]);
    for (unsigned i = 0; i < 3; i++) {
        free(d[i]);
        free(p[i]);
    }
    free(ws);
    ldpc_code_close(code);
}

static void test_misuse(void **st)
{
    (void)st;
    ldpc_code *code = test_open("1k");
    uint8_t *ws = test_workspace(code), data[1024] = {0}, parity[128];
    assert_int_equal(ldpc_encode(NULL, ws, data, parity), LDPC_EINVAL);
    assert_int_equal(ldpc_encode(code, NULL, data, parity), LDPC_EINVAL);
    assert_int_equal(ldpc_encode(code, ws + 1, data, parity), LDPC_EINVAL);
    assert_int_equal(ldpc_encode(code, ws, NULL, parity), LDPC_EINVAL);
    assert_int_equal(ldpc_encode(code, ws, data, NULL), LDPC_EINVAL);
    free(ws);
    ldpc_code_close(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_codes),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
