/* test_floor.c - importance sampling against a counted min-sum floor.
 *
 * The built-in codes have no floor that can be counted, so a code is given one: in a short
 * code (z = 64, 24 block columns) four columns get shifts that pair them up in every row.
 * The four bits at the start of these columns, and their 63 rotations, are then code words
 * of weight 4: min-sum takes them for the sent word when three of the bits are wrong, and
 * now and then when two are. */
#include <math.h>
#include <stdio.h>

#include "common.h"
#include "ldpc/channel.h"

enum { Z = 64, ROWS = 4, COLS = 24, PLANTED = 4, N = Z * COLS, SETS = 256 };

/* Row r pairs these of the planted columns. */
static const uint8_t PAIRS[ROWS][PLANTED] = {
    {0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}, {0, 1, 2, 3}};

static void shifts(int s[ROWS][COLS])
{
    const struct ldpc_build b = {
        .name = "base", .z = Z, .data_bits = Z * (COLS - ROWS), .sweeps = 0, .seed = 1};
    ldpc_code *base = NULL;
    assert_int_equal(ldpc_code_build(&b, &base), LDPC_OK);
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t c = 0; c < COLS; c++)
            s[r][c] = ldpc_code_shift(base, r, c);
    ldpc_code_close(base);
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < PLANTED; i++) { /* any values that differ between pairs */
            assert_true(s[r][PAIRS[r][i]] >= 0);
            s[r][PAIRS[r][i]] = r ? (7 + 11 * r + (i / 2) * (9 + 4 * r)) % Z : 17 * (i / 2);
        }
}

/* The code as alist text: column and row lists, zero padded. */
static size_t write_alist(int s[ROWS][COLS], char *text)
{
    size_t n = (size_t)sprintf(text, "%d %d\n%d %d\n", N, Z * ROWS, ROWS, COLS);
    for (int c = 0; c < COLS; c++)
        for (int i = 0, w = 0; i < Z; i++, w = 0) {
            for (int r = 0; r < ROWS; r++)
                w += s[r][c] >= 0;
            n += (size_t)sprintf(text + n, "%d ", w);
        }
    n += (size_t)sprintf(text + n, "\n");
    for (int r = 0; r < ROWS; r++)
        for (int j = 0, w = 0; j < Z; j++, w = 0) {
            for (int c = 0; c < COLS; c++)
                w += s[r][c] >= 0;
            n += (size_t)sprintf(text + n, "%d ", w);
        }
    n += (size_t)sprintf(text + n, "\n");
    for (int v = 0; v < N; v++) {
        int left = ROWS;
        for (int r = 0; r < ROWS; r++)
            if (s[r][v / Z] >= 0 && left--)
                n +=
                    (size_t)sprintf(text + n, "%d ", r * Z + (v % Z - s[r][v / Z] + Z) % Z + 1);
        while (left-- > 0)
            n += (size_t)sprintf(text + n, "0 ");
        n += (size_t)sprintf(text + n, "\n");
    }
    for (int check = 0; check < Z * ROWS; check++) {
        int left = COLS, r = check / Z;
        for (int c = 0; c < COLS; c++)
            if (s[r][c] >= 0 && left--)
                n += (size_t)sprintf(text + n, "%d ", c * Z + (check % Z + s[r][c]) % Z + 1);
        while (left-- > 0)
            n += (size_t)sprintf(text + n, "0 ");
        n += (size_t)sprintf(text + n, "\n");
    }
    return n;
}

static ldpc_code *planted_code(void)
{
    int s[ROWS][COLS];
    char msg[160] = "", *text = malloc(1 << 20);
    ldpc_code *code = NULL;
    struct ldpc_facts f;
    uint8_t word[N / 8] = {0};
    shifts(s);
    size_t bytes = write_alist(s, text);
    int err = ldpc_alist_import(text, bytes, "planted", Z, &code, msg, sizeof msg);
    if (err)
        print_error("%s\n", msg);
    assert_int_equal(err, LDPC_OK);
    free(text);
    assert_int_equal(ldpc_code_facts(code, &f), LDPC_OK);
    assert_int_equal(f.z, Z);
    for (int i = 0; i < PLANTED; i++) /* the planted word is one, rotated as well */
        word[(i * Z + 5) >> 3] |= (uint8_t)(1u << ((i * Z + 5) & 7));
    assert_int_equal(naive_weight(code, word), 0);
    return code;
}

static struct ldpc_mc setup(const struct ldpc_channel *ch)
{
    struct ldpc_mc mc = {.struct_size = sizeof mc,
                         .payload = LDPC_WORD_ZERO,
                         .seed = 11,
                         .channel = ch,
                         .opts = {.struct_size = sizeof mc.opts,
                                  .decoder = LDPC_DEC_MINSUM,
                                  .iterations_max = 20}};
    return mc;
}

/* Sets seen at a noisier point, the small ones only: the rest is waterfall. */
static size_t collect(const ldpc_code *code, double rber, uint64_t frames,
                      struct ldpc_trap *trap)
{
    struct ldpc_channel ch;
    size_t count = 0, small = 0;
    assert_int_equal(ldpc_channel_awgn(rber, 1, &ch), LDPC_OK);
    struct ldpc_mc mc = setup(&ch);
    assert_int_equal(ldpc_trap_collect(code, &mc, 0, frames, trap, SETS, &count), LDPC_OK);
    for (size_t i = 0; i < count; i++)
        if (trap[i].bits <= 12)
            trap[small++] = trap[i];
    print_message("%zu sets at RBER %g, %zu of them small\n", count, rber, small);
    return small;
}

static void against_counting(const ldpc_code *code, double rber, const struct ldpc_trap *trap,
                             size_t traps, uint64_t samples, uint64_t frames)
{
    struct ldpc_channel ch;
    struct ldpc_mc_result r = {0};
    double fer, sd, low, high;
    assert_int_equal(ldpc_channel_awgn(rber, 1, &ch), LDPC_OK);
    struct ldpc_mc mc = setup(&ch);
    assert_int_equal(
        ldpc_floor_estimate(code, &mc, trap, traps, 0.5, 1u << 30, samples, &fer, &sd),
        LDPC_OK);
    assert_int_equal(ldpc_mc_run(code, &mc, 1u << 31, frames, &r), LDPC_OK);
    ldpc_interval95(r.frame_errors, frames, &low, &high);
    print_message("RBER %g: %llu of %llu frames, %.2e (%.2e .. %.2e); "
                  "%llu samples: %.3e +- %.1e\n",
                  rber, (unsigned long long)r.frame_errors, (unsigned long long)frames,
                  (double)r.frame_errors / (double)frames, low, high,
                  (unsigned long long)samples, fer, 1.96 * sd);
    assert_true(r.frame_errors >= 15);
    assert_true(fer - 1.96 * sd < high && fer + 1.96 * sd > low); /* the intervals meet */
    assert_true(2 * 1.96 * sd < high - low); /* and sampling is the sharper of the two */
}

static void test_counted_floor(void **st)
{
    (void)st;
    static struct ldpc_trap trap[SETS];
    ldpc_code *code = planted_code();
    size_t traps = collect(code, 0.006, 150000, trap);
    assert_true(traps > 0);
    against_counting(code, 0.001, trap, traps, 60000, 400000);
    against_counting(code, 0.0002, trap, traps, 60000, 3000000);
    ldpc_code_close(code);
}

/* Without sets the estimate is the count itself. */
static void test_no_sets_is_counting(void **st)
{
    (void)st;
    ldpc_code *code = planted_code();
    struct ldpc_channel ch;
    struct ldpc_mc_result r = {0};
    double fer, sd;
    assert_int_equal(ldpc_channel_awgn(0.02, 1, &ch), LDPC_OK);
    struct ldpc_mc mc = setup(&ch);
    assert_int_equal(ldpc_floor_estimate(code, &mc, NULL, 0, 0.5, 0, 2000, &fer, &sd), LDPC_OK);
    assert_int_equal(ldpc_mc_run(code, &mc, 0, 2000, &r), LDPC_OK);
    assert_true(r.frame_errors > 20);
    assert_true(fabs(fer - (double)r.frame_errors / 2000) < 1e-12);
    ldpc_code_close(code);
}

static void test_misuse(void **st)
{
    (void)st;
    ldpc_code *code = test_open("1k");
    struct ldpc_channel hard, soft;
    struct ldpc_trap t = {.bits = 1, .bit = {9216}, .copies = 256};
    double fer, sd;
    assert_int_equal(ldpc_channel_awgn(0.005, 1, &hard), LDPC_OK);
    assert_int_equal(ldpc_channel_awgn(0.005, 2, &soft), LDPC_OK);
    struct ldpc_mc mc = setup(&hard), bad = setup(&soft);
    assert_int_equal(ldpc_floor_estimate(code, &mc, &t, 1, .5, 0, 1, &fer, &sd), LDPC_EINVAL);
    t.bit[0] = 9215;
    assert_int_equal(ldpc_floor_estimate(code, &mc, &t, 1, .5, 0, 1, &fer, &sd), LDPC_OK);
    assert_int_equal(ldpc_floor_estimate(code, &mc, &t, 1, 1., 0, 1, &fer, &sd), LDPC_EINVAL);
    assert_int_equal(ldpc_floor_estimate(code, &mc, &t, 1, .5, 0, 0, &fer, &sd), LDPC_EINVAL);
    assert_int_equal(ldpc_floor_estimate(code, &mc, NULL, 1, .5, 0, 1, &fer, &sd), LDPC_EINVAL);
    assert_int_equal(ldpc_floor_estimate(code, &bad, &t, 1, .5, 0, 1, &fer, &sd), LDPC_EINVAL);
    ldpc_code_close(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_no_sets_is_counting),
        cmocka_unit_test(test_counted_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
