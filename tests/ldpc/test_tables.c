/* test_tables.c - the committed FER tables: parsed, consistent, and repeated at
 * three points. usage: test_tables DIRECTORY */
#include <math.h>
#include <stdio.h>

#include "common.h"
#include "ldpc/channel.h"

static const char *directory;

static char *load(const char *name, size_t *bytes)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = malloc(65536);
    *bytes = fread(text, 1, 65536, f);
    fclose(f);
    return text;
}

static struct ldpc_table table(const char *code, unsigned soft)
{
    struct ldpc_table t;
    char name[64], msg[128] = "";
    size_t bytes;
    snprintf(name, sizeof name, "%s-soft%u.csv", code, soft);
    char *text = load(name, &bytes);
    int err = ldpc_table_parse(text, bytes, &t, msg, sizeof msg);
    if (err)
        print_error("%s: %s\n", name, msg);
    assert_int_equal(err, LDPC_OK);
    assert_string_equal(t.code, code);
    assert_int_equal(t.soft_bits, soft);
    free(text);
    return t;
}

/* The same seed must give the very same errors, frame by frame. */
static void repeat(const struct ldpc_table *t, unsigned point)
{
    ldpc_code *code = test_open(t->code);
    struct ldpc_channel ch;
    struct ldpc_mc_result r = {0};
    enum ldpc_decoder d = LDPC_DEC_AUTO;
    assert_int_equal(ldpc_channel_awgn(t->at[point].rber, t->soft_bits, &ch), LDPC_OK);
    assert_int_equal(ldpc_decoder_find(t->decoder, &d), LDPC_OK);
    struct ldpc_mc mc = {.struct_size = sizeof mc,
                         .payload = LDPC_WORD_RANDOM,
                         .seed = t->seed,
                         .channel = &ch,
                         .opts = {.struct_size = sizeof mc.opts,
                                  .decoder = (uint8_t)d,
                                  .iterations_max = (uint16_t)t->iterations_max}};
    assert_int_equal(ldpc_mc_run(code, &mc, 0, t->at[point].frames, &r), LDPC_OK);
    assert_int_equal(r.frame_errors, t->at[point].errors);
    ldpc_code_close(code);
}

static void test_repeat(void **st)
{
    (void)st;
    for (unsigned soft = 1; soft <= 3; soft++) { /* the last point has few frames */
        struct ldpc_table t = table("4k", soft);
        repeat(&t, t.points - 1);
    }
}

/* Every table lies above the limit, rises, and its fit goes through its points. */
static void test_consistent(void **st)
{
    (void)st;
    static const char *const codes[] = {"4k", "etlc", "tlc", "mlc"};
    for (unsigned c = 0; c < 4; c++)
        for (unsigned soft = 1; soft <= 3; soft++) {
            struct ldpc_table t = table(codes[c], soft);
            ldpc_code *code = test_open(codes[c]);
            struct ldpc_facts f;
            assert_int_equal(ldpc_code_facts(code, &f), LDPC_OK);
            assert_int_equal(f.n, t.n);
            for (uint32_t i = 0; i < t.points; i++) {
                struct ldpc_channel ch;
                double low, high, fer = (double)t.at[i].errors / (double)t.at[i].frames;
                ldpc_interval95(t.at[i].errors, t.at[i].frames, &low, &high);
                assert_int_equal(ldpc_channel_awgn(t.at[i].rber, soft, &ch), LDPC_OK);
                assert_true(high >= ldpc_limit_fer(&ch, f.n, f.k));
                if (t.at[i].errors)
                    assert_true(fabs(log(ldpc_table_fer(&t, t.at[i].rber) / fer)) < 1e-6);
                double rber = ldpc_table_rber(&t, fer > 0 && fer < 0.5 ? fer : 0.1);
                if (t.at[i].errors >= 20 && fer < 0.5)
                    assert_true(fabs(rber / t.at[i].rber - 1) < 0.03);
            }
            assert_true(ldpc_table_rber(&t, 1e-14) < t.at[0].rber);
            ldpc_code_close(code);
        }
}

/* What the code promises: FER below 1e-3 at these error rates, with 97.5 % confidence. */
static void test_promised_rates(void **st)
{
    (void)st;
    static const double promised[] = {.0076, .0168, .0192};
    for (unsigned soft = 1; soft <= 3; soft++) {
        struct ldpc_table t = table("4k", soft);
        unsigned found = 0;
        for (uint32_t i = 0; i < t.points; i++) {
            double low, high;
            if (fabs(t.at[i].rber - promised[soft - 1]) > 1e-9)
                continue;
            ldpc_interval95(t.at[i].errors, t.at[i].frames, &low, &high);
            assert_true(high < 1e-3);
            found++;
        }
        assert_int_equal(found, 1);
    }
}

static const char BODY[] = "rber_ppb,frames,errors,iterations_mean_milli,iterations_p99\n"
                           "7000000,1000,5,6000,10\n8000000,1000,100,9000,40\n";

static int parse(const char *head, const char *body, uint64_t hash)
{
    char text[1024], msg[128] = "";
    struct ldpc_table t;
    snprintf(text, sizeof text, "%s# hash=%016llx\n%s", head, (unsigned long long)hash, body);
    int err = ldpc_table_parse(text, strlen(text), &t, msg, sizeof msg);
    assert_int_equal(err != 0, msg[0] != 0);
    return err;
}

static void test_bad_tables(void **st)
{
    (void)st;
    static const char head[] =
        "# ldpc-fer-table 1\n# code=x n=36864 soft=1 decoder=auto iterations=40 seed=1\n";
    uint64_t hash = ldpc_table_hash(BODY, strlen(BODY));
    /* FNV-1a 64 of the empty string and of "a", as published with the algorithm */
    assert_true(ldpc_table_hash("", 0) == 0xcbf29ce484222325u);
    assert_true(ldpc_table_hash("a", 1) == 0xaf63dc4c8601ec8cu);
    assert_int_equal(parse(head, BODY, hash), LDPC_OK);
    assert_int_equal(parse(head, BODY, hash ^ 1), LDPC_EFORMAT);
    assert_int_equal(parse("# ldpc-fer-table 2\n", BODY, hash), LDPC_EFORMAT);
    assert_int_equal(parse("# ldpc-fer-table 1\n", BODY, hash), LDPC_EFORMAT);
    static const char *const bodies[] = {
        "names\n7000000,1000,5,6000,10\n7000000,1000,100,9000,40\n", /* not rising */
        "names\n7000000,1000,1001,6000,10\n8000000,1000,100,9000,40\n",
        "names\n7000000,0,0,6000,10\n8000000,1000,100,9000,40\n",
        "names\n7000000,1000,5,6000\n",
        "names\n7000000,1000,5,6000,10,7\n",
        "names\n7000000,1000,5,6000,10\n", /* one point cannot be fitted */
    };
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(parse(head, bodies[i], ldpc_table_hash(bodies[i], strlen(bodies[i]))),
                         LDPC_EFORMAT);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_tables),
        cmocka_unit_test(test_consistent),
        cmocka_unit_test(test_promised_rates),
        cmocka_unit_test(test_repeat),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: test_tables DIRECTORY\n");
        return 2;
    }
    directory = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
