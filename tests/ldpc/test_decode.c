/* test_decode.c - what the decoders answer, on words whose truth is known. */
#include "common.h"

struct bed {
    ldpc_code *code;
    void *ws;
    size_t data, bytes;
    uint32_t n;
    uint8_t *word, *seen, *got;
    int8_t *llr;
    uint64_t s;
};

static void bed_open(struct bed *b, const char *name)
{
    struct ldpc_facts f;
    *b = (struct bed){.code = test_open(name), .s = 99};
    b->ws = test_workspace(b->code);
    b->data = ldpc_data_bytes(b->code);
    b->bytes = ldpc_code_bytes(b->code);
    assert_int_equal(ldpc_code_facts(b->code, &f), LDPC_OK);
    b->n = f.n;
    b->word = malloc(b->bytes);
    b->seen = malloc(b->bytes);
    b->got = malloc(b->bytes);
    b->llr = malloc(f.n);
    for (size_t i = 0; i < b->data; i++)
        b->word[i] = (uint8_t)(test_rand(&b->s) >> 40);
    assert_int_equal(ldpc_encode(b->code, b->ws, b->word, b->word + b->data), LDPC_OK);
}

static void bed_close(struct bed *b)
{
    free(b->word);
    free(b->seen);
    free(b->got);
    free(b->llr);
    free(b->ws);
    ldpc_code_close(b->code);
}

/* `errors` distinct wrong bits. */
static void damage(struct bed *b, uint32_t errors)
{
    memcpy(b->seen, b->word, b->bytes);
    for (uint32_t i = 0; i < errors;) {
        uint32_t v = (uint32_t)(test_rand(&b->s) >> 32) % b->n;
        if (bit_at(b->seen, v) == bit_at(b->word, v)) {
            b->seen[v >> 3] ^= (uint8_t)(1 << (v & 7));
            i++;
        }
    }
}

static const enum ldpc_decoder ALL[] = {LDPC_DEC_AUTO, LDPC_DEC_GDBF, LDPC_DEC_PGDBF,
                                        LDPC_DEC_MINSUM};

/* A few errors anywhere: every decoder finds exactly them, and says so. */
static void test_corrects(void **st)
{
    (void)st;
    static const char *const names[] = {"4k", "1k", "etlc", "mlc"};
    for (unsigned c = 0; c < 4; c++) {
        struct bed b;
        bed_open(&b, names[c]);
        for (unsigned d = 0; d < 4; d++)
            for (uint32_t errors = 0; errors <= 12; errors += 3) {
                struct ldpc_opts o = {.struct_size = sizeof o, .decoder = (uint8_t)ALL[d]};
                struct ldpc_info info;
                damage(&b, errors);
                assert_int_equal(ldpc_decode_hard(b.code, b.ws, b.seen, b.got, &o, &info),
                                 LDPC_OK);
                assert_memory_equal(b.got, b.word, b.bytes);
                assert_int_equal(info.flipped_bits, errors);
                assert_int_equal(info.unsatisfied, 0);
                assert_int_equal(info.syndrome_in, naive_weight(b.code, b.seen));
                assert_int_equal(info.stage == 0, errors == 0);
            }
        bed_close(&b);
    }
}

/* +LLR means 0: a random word given as signs alone decodes at once to itself. */
static void test_sign_convention(void **st)
{
    (void)st;
    struct bed b;
    struct ldpc_info info;
    bed_open(&b, "4k");
    for (uint32_t v = 0; v < b.n; v++)
        b.llr[v] = bit_at(b.word, v) ? -9 : 9;
    assert_int_equal(ldpc_decode(b.code, b.ws, b.llr, b.got, NULL, &info), LDPC_OK);
    assert_memory_equal(b.got, b.word, b.bytes);
    assert_int_equal(info.iterations, 0);
    for (uint32_t v = 0; v < b.n; v++) /* the opposite convention is far from a code word */
        b.llr[v] = (int8_t)-b.llr[v];
    struct ldpc_opts o = {.struct_size = sizeof o, .iterations_max = 3};
    assert_int_equal(ldpc_decode(b.code, b.ws, b.llr, b.got, &o, &info), LDPC_EUNCORR);
    bed_close(&b);
}

/* Values beyond the clip are clipped, counted and do not break decoding. */
static void test_clip(void **st)
{
    (void)st;
    struct bed b;
    struct ldpc_info info;
    bed_open(&b, "4k");
    damage(&b, 200);
    for (uint32_t v = 0; v < b.n; v++)
        b.llr[v] = bit_at(b.seen, v) ? -128 : 127;
    assert_int_equal(ldpc_decode(b.code, b.ws, b.llr, b.got, NULL, &info), LDPC_OK);
    assert_memory_equal(b.got, b.word, b.bytes);
    assert_int_equal(info.clipped, b.n);
    assert_int_equal(info.flipped_bits, 200);
    for (uint32_t v = 0; v < b.n; v++)
        b.llr[v] = bit_at(b.seen, v) ? -LDPC_LLR_MAX : LDPC_LLR_MAX;
    assert_int_equal(ldpc_decode(b.code, b.ws, b.llr, b.got, NULL, &info), LDPC_OK);
    assert_int_equal(info.clipped, 0);
    bed_close(&b);
}

/* Erased bits (value 0) are filled in from the checks. */
static void test_erasures(void **st)
{
    (void)st;
    struct bed b;
    bed_open(&b, "4k");
    for (uint32_t v = 0; v < b.n; v++)
        b.llr[v] = bit_at(b.word, v) ? -20 : 20;
    for (unsigned i = 0; i < 300; i++)
        b.llr[(uint32_t)(test_rand(&b.s) >> 32) % b.n] = 0;
    assert_int_equal(ldpc_decode(b.code, b.ws, b.llr, b.got, NULL, NULL), LDPC_OK);
    assert_memory_equal(b.got, b.word, b.bytes);
    bed_close(&b);
}

/* Symmetry, ties included: the same errors on another code word give the same
 * outcome, moved by that word, and the same counts. All-zero tests cannot lie. */
static void test_word_independence(void **st)
{
    (void)st;
    struct bed b;
    bed_open(&b, "4k");
    uint8_t *err = calloc(1, b.bytes), *zero_got = malloc(b.bytes);
    for (unsigned trial = 0; trial < 24; trial++)
        for (unsigned d = 0; d < 4; d++) {
            struct ldpc_opts o = {.struct_size = sizeof o,
                                  .decoder = (uint8_t)ALL[d],
                                  .iterations_max = 8,
                                  .seed = trial};
            struct ldpc_info on_zero, on_word;
            damage(&b, 60 + 15 * trial); /* from easy to hopeless */
            for (size_t i = 0; i < b.bytes; i++)
                err[i] = b.seen[i] ^ b.word[i];
            int r0 = ldpc_decode_hard(b.code, b.ws, err, zero_got, &o, &on_zero);
            int r1 = ldpc_decode_hard(b.code, b.ws, b.seen, b.got, &o, &on_word);
            assert_int_equal(r0, r1);
            for (size_t i = 0; i < b.bytes; i++)
                assert_int_equal(zero_got[i], b.got[i] ^ b.word[i]);
            assert_int_equal(on_zero.iterations, on_word.iterations);
            assert_int_equal(on_zero.flip_rounds, on_word.flip_rounds);
            assert_int_equal(on_zero.unsatisfied, on_word.unsatisfied);
            assert_int_equal(on_word.unsatisfied, naive_weight(b.code, b.got));
        }
    free(err);
    free(zero_got);
    bed_close(&b);
}

/* Misaligned buffers and every CPU mask: the same bytes. */
static void test_same_on_every_path(void **st)
{
    (void)st;
    static const char *const names[] = {"4k", "4k-r90", "4k-r92", "mlc", "etlc"};
    static const unsigned masks[] = {0, LDPC_CPU_AVX2, ~0u};
    for (unsigned c = 0; c < 5; c++) {
        struct bed b;
        bed_open(&b, names[c]);
        uint8_t *room = malloc(b.bytes + 16), first[8192];
        struct ldpc_info info[3];
        damage(&b, b.n / 150);
        for (unsigned m = 0; m < 3; m++) {
            ldpc_set_cpu_mask(masks[m]);
            memset(&info[m], 0, sizeof info[m]);
            memcpy(room + 5 * m, b.seen, b.bytes);
            struct ldpc_opts o = {.struct_size = sizeof o, .iterations_max = 6};
            ldpc_decode_hard(b.code, b.ws, room + 5 * m, room + 5 * m, &o, &info[m]);
            if (!m)
                memcpy(first, room, b.bytes);
            assert_memory_equal(room + 5 * m, first, b.bytes);
            assert_memory_equal(&info[m], &info[0], sizeof info[0]);
        }
        ldpc_set_cpu_mask(~0u);
        free(room);
        bed_close(&b);
    }
}

/* The workspace carries nothing over: a dirty one gives the same answer. */
static void test_workspace_is_scratch(void **st)
{
    (void)st;
    struct bed b;
    struct ldpc_info one, two;
    bed_open(&b, "etlc");
    damage(&b, 240);
    memset(b.ws, 0xff, ldpc_workspace_bytes(b.code));
    int r1 = ldpc_decode_hard(b.code, b.ws, b.seen, b.got, NULL, &one);
    uint8_t *kept = malloc(b.bytes);
    memcpy(kept, b.got, b.bytes);
    memset(b.ws, 0x11, ldpc_workspace_bytes(b.code));
    assert_int_equal(ldpc_decode_hard(b.code, b.ws, b.seen, b.got, NULL, &two), r1);
    assert_memory_equal(b.got, kept, b.bytes);
    assert_int_equal(one.flipped_bits, two.flipped_bits);
    free(kept);
    bed_close(&b);
}

/* Syndrome weight to RBER: (1 - (1 - 2p)^36) / 2 of 4096 checks. */
static void test_rber_estimate(void **st)
{
    (void)st;
    ldpc_code *code = test_open("4k");
    /* p = 1e-3: .034758 * 4096 = 142.4; 5e-3: .151784 * 4096 = 621.7 */
    assert_in_range(ldpc_rber_estimate_ppb(code, 142), 980000, 1010000);
    assert_in_range(ldpc_rber_estimate_ppb(code, 622), 4950000, 5050000);
    assert_int_equal(ldpc_rber_estimate_ppb(code, 0), 0);
    assert_int_equal(ldpc_rber_estimate_ppb(code, 4096), 500000000);
    ldpc_code_close(code);
}

static void test_misuse(void **st)
{
    (void)st;
    struct bed b;
    bed_open(&b, "1k");
    struct ldpc_opts o = {.struct_size = sizeof o};
    enum ldpc_decoder d = LDPC_DEC_AUTO;
    assert_int_equal(ldpc_decoder_find("turbo", &d), LDPC_ENAME);
    assert_int_equal(ldpc_decoder_find("minsum", &d), LDPC_OK);
    assert_int_equal(d, LDPC_DEC_MINSUM);
    damage(&b, 3);
    memset(b.got, 0x3c, b.bytes);
    o.struct_size = 1;
    assert_int_equal(ldpc_decode_hard(b.code, b.ws, b.seen, b.got, &o, NULL), LDPC_EINVAL);
    o.struct_size = sizeof o;
    o.decoder = 9;
    assert_int_equal(ldpc_decode_hard(b.code, b.ws, b.seen, b.got, &o, NULL), LDPC_EINVAL);
    o.decoder = 0;
    o.rule = 4;
    assert_int_equal(ldpc_decode_hard(b.code, b.ws, b.seen, b.got, &o, NULL), LDPC_EINVAL);
    o.rule = 0;
    o.iterations_max = LDPC_ITER_MAX + 1;
    assert_int_equal(ldpc_decode_hard(b.code, b.ws, b.seen, b.got, &o, NULL), LDPC_EINVAL);
    o.iterations_max = 0;
    o.hard_llr = 32;
    assert_int_equal(ldpc_decode_hard(b.code, b.ws, b.seen, b.got, &o, NULL), LDPC_EINVAL);
    o.hard_llr = 0;
    o.decoder = LDPC_DEC_GDBF; /* needs hard input */
    assert_int_equal(ldpc_decode(b.code, b.ws, b.llr, b.got, &o, NULL), LDPC_EINVAL);
    assert_int_equal(ldpc_decode_hard(b.code, NULL, b.seen, b.got, NULL, NULL), LDPC_EINVAL);
    for (size_t i = 0; i < b.bytes; i++)
        assert_int_equal(b.got[i], 0x3c); /* refused calls touched nothing */
    bed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corrects),
        cmocka_unit_test(test_sign_convention),
        cmocka_unit_test(test_clip),
        cmocka_unit_test(test_erasures),
        cmocka_unit_test(test_word_independence),
        cmocka_unit_test(test_same_on_every_path),
        cmocka_unit_test(test_workspace_is_scratch),
        cmocka_unit_test(test_rber_estimate),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
