/* test_tables.c - the committed FER tables: parsed, consistent, and repeated at
 * three points. usage: test_tables DIRECTORY */
#include <math.h>
#include <stdio.h>

#include "common.h"
#include "ldpc/ecc.h"

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

/* The same seed must give the very same errors, frame by frame, and the same work. */
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
    const struct ldpc_point *p = &t->at[point];
    struct ldpc_pace pace;
    struct ldpc_latency lat;
    assert_int_equal(r.frame_errors, p->errors);
    assert_true(fabs((double)r.flip_rounds / (double)r.frames - p->flips_mean) < 1e-3);
    assert_true(fabs((double)r.iterations / (double)r.frames - p->iterations_mean) < 1e-3);
    assert_int_equal(ldpc_mc_iterations(&r, 500), p->iterations_p50);
    assert_int_equal(ldpc_mc_iterations(&r, 990), p->iterations_p99);
    assert_int_equal(ldpc_pace_default(code, &pace), LDPC_OK);
    assert_memory_equal(&pace, &t->pace, sizeof pace);
    assert_int_equal(ldpc_mc_latency(&r, &pace, 0, &lat), LDPC_OK);
    assert_int_equal(lat.p50_ns, p->latency_p50_ns);
    assert_int_equal(lat.p99_ns, p->latency_p99_ns);
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
            uint32_t first = 0; /* with errors: the fit goes on below it */
            while (first < t.points && !t.at[first].errors)
                first++;
            assert_true(ldpc_table_rber(&t, 1e-14) < t.at[first].rber);
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

/* Latency by hand: a frame that is clean, one flipped in 3 rounds, one that took 2
 * iterations at once and one that took 1 after all 40 rounds. */
static void test_latency_by_hand(void **st)
{
    (void)st;
    struct ldpc_pace pace = {100, 10, 1000};
    struct ldpc_latency lat;
    struct ldpc_mc_result r = {.frames = 4,
                               .iterations = 3,
                               .flip_rounds = 43,
                               .by_iterations = {[0] = 2, [1] = 1, [2] = 1},
                               .by_flips = {[0] = 1, [3] = 1},
                               .after_flips = {[1] = 1},
                               .by_stage = {1, 1, 2}};
    assert_int_equal(ldpc_mc_latency(&r, &pace, 0, &lat), LDPC_OK);
    assert_int_equal(lat.mean_ps, 100000 + 1000 * (43 * 10 + 3 * 1000) / 4);
    assert_int_equal(lat.p50_ns, 130);
    assert_int_equal(lat.p99_ns, 2100);
    assert_int_equal(lat.worst_ns, 2100);
    r.after_flips[1] = 0; /* without the rounds before it: 1100, 2100 */
    assert_int_equal(ldpc_mc_latency(&r, &pace, 0, &lat), LDPC_OK);
    assert_int_equal(ldpc_mc_iterations(&r, 500), 0);
    assert_int_equal(ldpc_mc_iterations(&r, 990), 2);
    r.frames = 0;
    assert_int_equal(ldpc_mc_latency(&r, &pace, 0, &lat), LDPC_EINVAL);
}

/* What is built in is what is committed. */
static void test_builtin_is_the_file(void **st)
{
    (void)st;
    static const char *const codes[] = {"4k", "etlc", "tlc", "mlc"};
    for (unsigned c = 0; c < 4; c++)
        for (unsigned soft = 1; soft <= 3; soft++) {
            struct ldpc_table t = table(codes[c], soft), b;
            memset(&b, 0, sizeof b);
            assert_int_equal(ldpc_table_builtin(codes[c], soft, &b), LDPC_OK);
            assert_memory_equal(&t.pace, &b.pace, sizeof t.pace);
            assert_int_equal(t.points, b.points);
            for (uint32_t i = 0; i < t.points; i++) {
                assert_true(t.at[i].rber == b.at[i].rber);
                assert_int_equal(t.at[i].frames, b.at[i].frames);
                assert_int_equal(t.at[i].errors, b.at[i].errors);
                assert_int_equal(t.at[i].latency_p99_ns, b.at[i].latency_p99_ns);
            }
        }
}

#define NAMES "names\n"
/* pace 100, 10, 1000: 100 + 20 + 6000 and 100 + 30 + 9000 */
#define POINT_1 "7000000,1000,5,2000,6000,5,10,6120,5100,10100\n"
#define POINT_2 "8000000,1000,100,3000,9000,8,40,9130,8100,40500\n"
static const char BODY[] = NAMES POINT_1 POINT_2;

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
#define CODE "# code=x n=36864 soft=1 decoder=auto iterations=40 seed=1\n"
#define PACE "# pace start_ns=100 round_ns=10 iteration_ns=1000 (assumed)\n"
    static const char head[] = "# ldpc-fer-table 2\n" CODE PACE;
    uint64_t hash = ldpc_table_hash(BODY, strlen(BODY));
    /* FNV-1a 64 of the empty string and of "a", as published with the algorithm */
    assert_true(ldpc_table_hash("", 0) == 0xcbf29ce484222325u);
    assert_true(ldpc_table_hash("a", 1) == 0xaf63dc4c8601ec8cu);
    assert_int_equal(parse(head, BODY, hash), LDPC_OK);
    assert_int_equal(parse(head, BODY, hash ^ 1), LDPC_EFORMAT);
    assert_int_equal(parse("# ldpc-fer-table 1\n" CODE PACE, BODY, hash), LDPC_EFORMAT);
    assert_int_equal(parse("# ldpc-fer-table 2\n" PACE, BODY, hash), LDPC_EFORMAT);
    assert_int_equal(parse("# ldpc-fer-table 2\n" CODE, BODY, hash), LDPC_EFORMAT);
    static const char *const bodies[] = {
        NAMES POINT_2 POINT_1,                                              /* not rising */
        NAMES "7000000,1000,1001,2000,6000,5,10,6120,5100,10100\n" POINT_2, /* > frames */
        NAMES "7000000,0,0,2000,6000,5,10,6120,5100,10100\n" POINT_2,
        NAMES POINT_1 "8000000,1000,100,3000,9000,8,40,9130,8100\n",
        NAMES POINT_1 "8000000,1000,100,3000,9000,8,40,9130,8100,40500,7\n",
        NAMES POINT_1 "8000000,1000,100,3000,9000,8,40,9400,8100,40500\n", /* not its pace */
        NAMES POINT_1 "8000000,1000,100,3000,9000,8,40,9130,40500,8100\n", /* p50 > p99 */
        NAMES POINT_1, /* one point cannot be fitted */
    };
    for (unsigned i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        assert_int_equal(parse(head, bodies[i], ldpc_table_hash(bodies[i], strlen(bodies[i]))),
                         LDPC_EFORMAT);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_tables),          cmocka_unit_test(test_latency_by_hand),
        cmocka_unit_test(test_builtin_is_the_file), cmocka_unit_test(test_consistent),
        cmocka_unit_test(test_promised_rates),      cmocka_unit_test(test_repeat),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: test_tables DIRECTORY\n");
        return 2;
    }
    directory = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
