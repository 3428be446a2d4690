/* cmd_ldpc_bench.c - `ftlsim ldpc bench`: speed, each figure beside the rival's.
 *
 * One core, information bits per second. Shared machines slow down for moments,
 * so many words are drawn once and decoded in turn, again and again, and a figure is
 * the mean over the words of each word's best time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd_ldpc.h"

enum { WORDS = 48, FIXED_ITERATIONS = 10 };

struct bench {
    ldpc_code *code;
    void *ws;
    size_t data_bytes, bytes;
    struct ldpc_facts facts;
    uint8_t *word; /* a code word */
    uint8_t *noisy[WORDS];
    uint8_t *out;
    double seconds;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *must(void *p)
{
    if (!p) {
        cli_refuse("ldpc: out of memory");
        exit(CLI_REFUSED);
    }
    return p;
}

/* Rival figures are on a Zen 4 server core, this program runs where it runs. */
static void report(const char *what, double got, double goal, const char *unit,
                   const char *rival)
{
    printf("%-44s %8.2f %-9s goal %6.2f %s  rival: %s\n", what, got, unit, goal,
           got >= goal ? "met " : "MISS", rival);
}

typedef void (*work)(struct bench *b, const struct ldpc_opts *o, unsigned i);

/* Seconds of one call of f: the mean over the words of each word's best time. */
static double best(struct bench *b, work f, const struct ldpc_opts *o)
{
    double end = now() + b->seconds, min[WORDS], sum = 0;
    for (unsigned i = 0; i < WORDS; i++)
        min[i] = 1e9;
    do {
        for (unsigned i = 0; i < WORDS; i++) {
            double t = now();
            f(b, o, i);
            t = now() - t;
            min[i] = t < min[i] ? t : min[i];
        }
    } while (now() < end);
    for (unsigned i = 0; i < WORDS; i++)
        sum += min[i];
    return sum / WORDS;
}

static void run_encode(struct bench *b, const struct ldpc_opts *o, unsigned i)
{
    (void)o;
    (void)i;
    ldpc_encode(b->code, b->ws, b->word, b->out);
}

static void run_clean(struct bench *b, const struct ldpc_opts *o, unsigned i)
{
    (void)i;
    ldpc_decode_hard(b->code, b->ws, b->word, b->out, o, NULL);
}

static void run_noisy(struct bench *b, const struct ldpc_opts *o, unsigned i)
{
    ldpc_decode_hard(b->code, b->ws, b->noisy[i], b->out, o, NULL);
}

static void corrupt(struct bench *b, double rber)
{
    for (unsigned i = 0; i < WORDS; i++) {
        memcpy(b->noisy[i], b->word, b->bytes);
        ldpc_channel_flip(7, i, ldpc_prob_from_double(rber), b->noisy[i], b->facts.n);
    }
}

static void open_buffers(struct bench *b)
{
    ldpc_code_facts(b->code, &b->facts);
    size_t ws = (ldpc_workspace_bytes(b->code) + 63) & ~(size_t)63;
    b->ws = must(aligned_alloc(64, ws));
    b->data_bytes = ldpc_data_bytes(b->code);
    b->bytes = ldpc_code_bytes(b->code);
    b->word = must(calloc(1, b->bytes));
    b->out = must(malloc(b->bytes));
    for (unsigned i = 0; i < WORDS; i++)
        b->noisy[i] = must(malloc(b->bytes));
    for (size_t i = 0; i < b->data_bytes; i++)
        b->word[i] = (uint8_t)(i * 37 + i / 256);
    ldpc_encode(b->code, b->ws, b->word, b->word + b->data_bytes);
}

static void close_code(struct bench *b)
{
    for (unsigned i = 0; i < WORDS; i++)
        free(b->noisy[i]);
    free(b->out);
    free(b->word);
    free(b->ws);
    ldpc_code_close(b->code);
}

static void early_stop(struct bench *b, double rber, double goal, const char *rival)
{
    struct ldpc_opts o = {.struct_size = sizeof o, .iterations_max = FIXED_ITERATIONS};
    char what[64];
    corrupt(b, rber);
    double gbps = b->facts.k / best(b, run_noisy, &o) / 1e9;
    snprintf(what, sizeof what, "early stop, RBER %.0e, <= 10 iterations", rber);
    report(what, gbps, goal, "Gb/s", rival);
}

static void table(struct bench *b)
{
    double k = b->facts.k;
    struct ldpc_opts fixed = {.struct_size = sizeof fixed,
                              .decoder = LDPC_DEC_MINSUM,
                              .iterations_max = FIXED_ITERATIONS,
                              .no_early_stop = 1};
    printf("code %s, kernel %s\n", b->facts.name, ldpc_kernel_name());
    corrupt(b, 5e-3);
    double t = best(b, run_noisy, &fixed);
    report("min-sum, 10 fixed iterations, edge rate", 10.0 * b->facts.edges / t / 1e9,
           !strcmp(ldpc_kernel_name(), "avx512") ? 18 : 16, "G edge/s",
           "14.6 DVB-S2 AVX2, 6.7 AFF3CT, 3.1 srsRAN");
    report("min-sum, 10 fixed iterations, information", k / t / 1e6, 339, "Mb/s",
           "414-433 DVB-S2 (lighter code), 140-149 AFF3CT");
    report("clean code word", k / best(b, run_clean, NULL) / 1e9, 25, "Gb/s", "25 prototype");
    early_stop(b, 1e-3, 8.0, "7.6 prototype, .353 AFF3CT, .393 srsRAN");
    early_stop(b, 3e-3, 3.2, "3.1 prototype, .280 AFF3CT, .275 srsRAN");
    early_stop(b, 5e-3, 1.2, "1.3 prototype, .202 AFF3CT, .197 srsRAN");
    report("encoder", k / best(b, run_encode, NULL) / 1e9, 10, "Gb/s", "none published");
}

int cmd_ldpc_bench(int argc, char **argv)
{
    struct bench b = {.seconds = 2};
    const char *name = "4k";
    struct ldpc_args a;
    ldpc_args_start(&a, argc, argv);
    while (ldpc_args_next(&a)) {
        if (ldpc_args_is(&a, "seconds"))
            b.seconds = ldpc_args_double(&a, 0.001, 60);
        else if (ldpc_args_is(&a, "code"))
            name = a.value;
        else
            ldpc_args_unknown(&a);
    }
    if (a.failed)
        return CLI_REFUSED;
    int err = ldpc_code_open(name, &b.code);
    if (err)
        return cli_refuse("ldpc: --code %s: %s", name, ldpc_strerror(err));
    open_buffers(&b);
    table(&b);
    close_code(&b);
    return CLI_OK;
}
