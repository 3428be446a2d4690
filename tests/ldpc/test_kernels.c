/* test_kernels.c - every vector kernel against the C one, bit for bit, on random
 * inputs (--bench times them instead): block sizes with and without vector tails, zeros and
 * ties, masked (shortened) blocks, odd column weights. */
#include <stdio.h>
#include <time.h>

#include "common.h"
#include "kern.h"

extern const struct kern kern_emul512;

static const struct kern *const KERNELS[] = {&ldpci_kern_avx2, &ldpci_kern_avx512,
                                             &kern_emul512};
enum { KERNEL_COUNT = 3, ITERATIONS = 4 };

static int runnable(const struct kern *k)
{
    if (!k->name)
        return 0;
#if defined __x86_64__
    if (k == &ldpci_kern_avx512)
        return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("pclmul");
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul");
#else
    return 0;
#endif
}

/* A random structured code: weights 1..5, a shortened tail in the last data block. */
static struct ldpc_code *random_code(uint32_t z, uint32_t rows, uint32_t cols, int dv_low,
                                     int dv_high, uint64_t *s)
{
    struct entry ent[16 * 64];
    uint32_t row_at[17] = {0}, n = 0;
    uint8_t has[16][64] = {{0}};
    for (uint32_t c = 0; c < cols; c++) {
        int dv = dv_low + (int)(test_rand(s) >> 33) % (dv_high - dv_low + 1);
        for (int placed = 0; placed < dv;) {
            uint32_t r = (uint32_t)(test_rand(s) >> 33) % rows;
            placed += !has[r][c];
            has[r][c] = 1;
        }
    }
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t c = 0; c < cols; c++)
            if (has[r][c])
                ent[n++] =
                    (struct entry){c, r || c % 3 ? (uint32_t)(test_rand(s) >> 33) % z : 0};
        row_at[r + 1] = n;
    }
    struct ldpc_code *code = NULL;
    uint32_t k = (cols - rows) * z - z / 3;
    assert_int_equal(ldpci_code_new("random", z, rows, cols, k, row_at, ent, &code), LDPC_OK);
    return code;
}

static const struct {
    uint32_t z, rows, cols;
    int dv_low, dv_high;
} SHAPES[] = {
    {1024, 4, 36, 4, 4}, {512, 4, 12, 3, 4}, {64, 4, 9, 3, 4},   {32, 4, 9, 3, 4},
    {31, 5, 11, 3, 4},   {96, 4, 10, 3, 4},  {100, 6, 10, 2, 5}, {1000, 5, 9, 1, 5},
    {704, 4, 9, 3, 4},   {1088, 4, 8, 3, 4}, {65, 6, 12, 3, 4},  {127, 4, 9, 4, 4},
    {1, 12, 40, 3, 4},   {448, 7, 15, 2, 4}, {63, 4, 9, 3, 4},
};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof SHAPES[0] };

struct pair {
    struct ldpc_code *code;
    void *mem[2];
    struct ws w[2]; /* [0] for C, [1] for the kernel under test */
};

static void pair_open(struct pair *p, unsigned shape, uint64_t *s)
{
    p->code = random_code(SHAPES[shape].z, SHAPES[shape].rows, SHAPES[shape].cols,
                          SHAPES[shape].dv_low, SHAPES[shape].dv_high, s);
    for (unsigned i = 0; i < 2; i++) {
        p->mem[i] = test_workspace(p->code);
        memset(p->mem[i], i ? 0xa5 : 0x5a, ldpc_workspace_bytes(p->code));
        ldpci_ws_layout(p->code, p->mem[i], &p->w[i]);
    }
}

static void pair_close(struct pair *p)
{
    free(p->mem[0]);
    free(p->mem[1]);
    ldpc_code_close(p->code);
}

/* The same random bits in both workspaces; density 1 / 2^sparse. */
static void random_blocks(const struct pair *p, uint64_t *a, uint64_t *b, uint32_t blocks,
                          unsigned sparse, uint64_t *s)
{
    for (uint32_t c = 0; c < blocks; c++)
        for (uint32_t i = 0; i < p->code->xs; i++) {
            uint64_t x = i < p->code->zw ? ~0ull : 0;
            for (unsigned k = 0; k < sparse; k++)
                x &= test_rand(s);
            if (i == p->code->zw - 1)
                x &= p->code->tail_mask;
            a[c * p->code->xs + i] = b[c * p->code->xs + i] = x;
        }
}

static void same_blocks(const struct ldpc_code *c, const uint64_t *a, const uint64_t *b,
                        uint32_t blocks)
{
    for (uint32_t i = 0; i < blocks; i++)
        assert_memory_equal(a + (size_t)i * c->xs, b + (size_t)i * c->xs, c->zw * 8);
}

typedef void (*check)(const struct kern *k, struct pair *p, uint64_t *s);

static void for_all(check f)
{
    unsigned ran = 0;
    for (unsigned i = 0; i < KERNEL_COUNT; i++) {
        if (!runnable(KERNELS[i])) {
            print_message("kernel %u not runnable on this CPU\n", i);
            continue;
        }
        for (unsigned shape = 0; shape < SHAPE_COUNT; shape++)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                uint64_t s = seed * 1000003 + shape;
                struct pair p;
                pair_open(&p, shape, &s);
                f(KERNELS[i], &p, &s);
                pair_close(&p);
                ran++;
            }
    }
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2"))
        assert_true(ran >= SHAPE_COUNT * 3);
#endif
}

static void check_syndrome(const struct kern *k, struct pair *p, uint64_t *s)
{
    const struct ldpc_code *c = p->code;
    random_blocks(p, p->w[0].x, p->w[1].x, c->cols, 1, s);
    for (unsigned i = 0; i < 2; i++)
        for (uint32_t b = 0; b < c->cols; b++)
            ldpci_block_double(c, p->w[i].x + (size_t)b * c->xs,
                               p->w[i].xd + (size_t)b * c->ds);
    ldpci_kern_c.syndrome(c, p->w[0].xd, p->w[0].s);
    k->syndrome(c, p->w[1].xd, p->w[1].s);
    assert_memory_equal(p->w[0].s, p->w[1].s, (size_t)c->rows * c->xs * 8);
    assert_int_equal(ldpci_kern_c.distance(p->w[0].x, p->w[0].y, c->xs),
                     k->distance(p->w[0].x, p->w[0].y, c->xs));
}

static void check_energy(const struct kern *k, struct pair *p, uint64_t *s)
{
    const struct ldpc_code *c = p->code;
    for (unsigned sparse = 1; sparse < 9; sparse += 2) { /* dense and nearly clean syndromes */
        random_blocks(p, p->w[0].x, p->w[1].x, c->cols, 5, s);
        random_blocks(p, p->w[0].s, p->w[1].s, c->rows, sparse, s);
        unsigned level = 0;
        for (unsigned i = 0; i < 2; i++)
            for (uint32_t r = 0; r < c->rows; r++)
                ldpci_block_double(c, p->w[i].s + (size_t)r * c->xs,
                                   p->w[i].sd + (size_t)r * c->ds);
        ldpci_kern_c.energy(c, &p->w[0]);
        k->energy(c, &p->w[1]);
        for (uint32_t b = 0; b < c->cols; b++)
            level = p->w[0].emax[b] > level ? p->w[0].emax[b] : level;
        for (uint32_t b = 0; b < c->cols; b++) {
            assert_true(p->w[1].emax[b] <= level);
            assert_int_equal(p->w[0].emax[b] == level, p->w[1].emax[b] == level);
        }
        for (unsigned plane = 0; plane < 3; plane++)
            same_blocks(c, p->w[0].e[plane], p->w[1].e[plane], c->cols);
        uint32_t hits = level ? ldpci_kern_c.collect(c, &p->w[0], level) : 0;
        assert_int_equal(level ? k->collect(c, &p->w[1], level) : 0, hits);
        for (uint32_t h = 0; h < hits; h++)
            assert_memory_equal(&p->w[0].hits[h], &p->w[1].hits[h], sizeof(struct hit));
    }
}

static void same_values(const struct pair *p)
{
    for (uint32_t b = 0; b < p->code->cols; b++) {
        size_t at = (size_t)b * p_stride(p->code);
        assert_memory_equal(p->w[0].p + at, p->w[1].p + at, p->code->z);
    }
}

static void check_minsum(const struct kern *k, struct pair *p, uint64_t *s)
{
    const struct ldpc_code *c = p->code;
    static const struct norm NORMS[] = {{1, 3, 24}, {1, 2, 24}, {0, 7, 19}};
    for (unsigned n = 0; n < 3; n++) {
        struct norm norm = NORMS[n];
        norm.rmax = norm.rmax > c->rmax ? c->rmax : norm.rmax;
        for (uint32_t b = 0; b < c->cols; b++)
            for (uint32_t i = 0; i < c->z; i++) {
                int v = (int)(test_rand(s) >> 40) % 63 - 31;
                v = n == 2 ? v / 8 : v; /* small values: zeros and ties in every check */
                size_t at = (size_t)b * p_stride(c) + i;
                p->w[0].p[at] = p->w[1].p[at] = (int8_t)v;
            }
        random_blocks(p, p->w[0].y, p->w[1].y, c->cols, 1, s);
        for (unsigned it = 0; it < ITERATIONS; it++) {
            ldpci_kern_c.minsum(c, &p->w[0], norm, it == 0);
            k->minsum(c, &p->w[1], norm, it == 0);
            same_values(p);
            ldpci_kern_c.harden(c, &p->w[0]);
            k->harden(c, &p->w[1]);
            assert_memory_equal(p->w[0].x, p->w[1].x, (size_t)c->cols * c->xs * 8);
        }
    }
}

static void check_spread(const struct kern *k, struct pair *p, uint64_t *s)
{
    random_blocks(p, p->w[0].y, p->w[1].y, p->code->cols, 1, s);
    ldpci_kern_c.spread(p->code, &p->w[0], 20);
    k->spread(p->code, &p->w[1], 20);
    same_values(p);
}

static void check_polymul(const struct kern *k, struct pair *p, uint64_t *s)
{
    uint64_t a[18], b[18], c[36], d[36];
    (void)p;
    for (uint32_t words = 1; words <= 18; words++) {
        for (uint32_t i = 0; i < words; i++) {
            a[i] = test_rand(s);
            b[i] = test_rand(s);
        }
        for (uint32_t i = 0; i < 2 * words; i++)
            c[i] = d[i] = test_rand(s);
        ldpci_kern_c.polymul(a, b, words, c);
        k->polymul(a, b, words, d);
        assert_memory_equal(c, d, 2 * words * 8);
    }
}

static void test_syndrome(void **st)
{
    (void)st;
    for_all(check_syndrome);
}

static void test_energy(void **st)
{
    (void)st;
    for_all(check_energy);
}

static void test_minsum(void **st)
{
    (void)st;
    for_all(check_minsum);
}

static void test_spread(void **st)
{
    (void)st;
    for_all(check_spread);
}

static void test_polymul(void **st)
{
    (void)st;
    for_all(check_polymul);
}

/* The arithmetic specification worked by hand on one check of three bits. */
static void test_minsum_by_hand(void **st)
{
    (void)st;
    const uint32_t row_at[] = {0, 3};
    const struct entry ent[] = {{0, 0}, {1, 0}, {2, 0}};
    struct ldpc_code *code;
    assert_int_equal(ldpci_code_new("hand", 1, 1, 3, 2, row_at, ent, &code), LDPC_OK);
    void *mem = test_workspace(code);
    struct ws w;
    ldpci_ws_layout(code, mem, &w);
    uint32_t stride = p_stride(code);
    w.p[0] = 5;
    w.p[stride] = -3;
    w.p[2 * stride] = 10;
    /* magnitudes 5 3 10: smallest 3 -> (3>>1)+(3>>2) = 1, second 5 -> 2+1 = 3.
     * bit 0: sign of (-3, 10) is -, 5 - 1. bit 1: (5, 10) is +, -3 + 3. bit 2: 10 - 1. */
    ldpci_kern_c.minsum(code, &w, (struct norm){1, 2, 31}, true);
    assert_int_equal(w.p[0], 4);
    assert_int_equal(w.p[stride], 0);
    assert_int_equal(w.p[2 * stride], 9);
    /* A second time the messages -1, 3, -1 are taken out first: the same inputs. */
    ldpci_kern_c.minsum(code, &w, (struct norm){1, 2, 31}, false);
    assert_int_equal(w.p[0], 4);
    assert_int_equal(w.p[stride], 0);
    assert_int_equal(w.p[2 * stride], 9);
    /* An input of 0 counts as + for the others and silences them. */
    w.p[0] = 0;
    w.p[stride] = -7;
    w.p[2 * stride] = 8;
    ldpci_kern_c.minsum(code, &w, (struct norm){1, 2, 31}, true);
    assert_int_equal(w.p[0], -4); /* second magnitude 7 -> 3 + 1, sign of (-7, 8) */
    assert_int_equal(w.p[stride], -7);
    assert_int_equal(w.p[2 * stride], 8);
    free(mem);
    ldpc_code_close(code);
}

/* ---- --bench: best time of each kernel function on a code like 4k ----------------- */

static double now_ns(void)
{
    static time_t start; /* small numbers keep the nanoseconds */
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    start = start ? start : t.tv_sec;
    return 1e9 * (double)(t.tv_sec - start) + (double)t.tv_nsec;
}

#define BEST(result, call)                                                                     \
    do {                                                                                       \
        double least = 1e18, end = now_ns() + 2e8;                                             \
        do {                                                                                   \
            double at = now_ns();                                                              \
            call;                                                                              \
            at = now_ns() - at;                                                                \
            least = at < least ? at : least;                                                   \
        } while (now_ns() < end);                                                              \
        (result) = least;                                                                      \
    } while (0)

static void bench_kernel(const struct kern *k, struct pair *p)
{
    double ns[7];
    volatile uint32_t sink;
    struct ws *w = &p->w[0];
    const struct ldpc_code *c = p->code;
    const struct norm norm = {1, 2, c->rmax};
    k->spread(c, w, 20); /* sets the values that min-sum starts from */
    BEST(ns[0], k->syndrome(c, w->xd, w->s));
    BEST(ns[1], k->energy(c, w));
    BEST(ns[2], sink = k->collect(c, w, 4));
    BEST(ns[3], k->minsum(c, w, norm, true));
    BEST(ns[4], k->harden(c, w));
    BEST(ns[5], k->spread(c, w, 20));
    BEST(ns[6], sink = k->distance(w->x, w->y, (size_t)c->cols * c->xs));
    (void)sink;
    printf("%-9s", k->name);
    for (unsigned i = 0; i < 7; i++)
        printf(" %10.0f", ns[i]);
    printf("\n");
}

static int bench(void)
{
    uint64_t s = 1;
    struct pair p;
    pair_open(&p, 0, &s);
    random_blocks(&p, p.w[0].x, p.w[1].x, p.code->cols, 6, &s);
    random_blocks(&p, p.w[0].y, p.w[1].y, p.code->cols, 1, &s);
    random_blocks(&p, p.w[0].s, p.w[1].s, p.code->rows, 3, &s);
    for (uint32_t r = 0; r < p.code->rows; r++)
        ldpci_block_double(p.code, p.w[0].s + (size_t)r * p.code->xs,
                           p.w[0].sd + (size_t)r * p.code->ds);
    printf("best ns     syndrome     energy    collect    minsum1     harden     spread   "
           "distance\n");
    bench_kernel(&ldpci_kern_c, &p);
    for (unsigned i = 0; i < KERNEL_COUNT; i++)
        if (runnable(KERNELS[i]))
            bench_kernel(KERNELS[i], &p);
    pair_close(&p);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--bench"))
        return bench();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minsum_by_hand), cmocka_unit_test(test_syndrome),
        cmocka_unit_test(test_energy),         cmocka_unit_test(test_minsum),
        cmocka_unit_test(test_spread),         cmocka_unit_test(test_polymul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
