/* cmd_ldpc_job.c - Monte-Carlo points on several threads. */
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "cmd_ldpc.h"

enum { BATCH = 512, THREADS_MAX = 64 }; /* frames between two looks at the stop rule */

void ldpc_job_default(struct ldpc_job *job)
{
    *job = (struct ldpc_job){.code_name = "4k",
                             .soft_bits = 1,
                             .threads = 1,
                             .decoder_name = "auto",
                             .seed = 1,
                             .frames_max = 100000,
                             .errors_stop = 50,
                             .iterations = 40,
                             .payload = LDPC_WORD_RANDOM};
}

static unsigned choice(struct ldpc_args *a, const char *const *names, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!strcmp(a->value, names[i]))
            return i;
    cli_refuse("ldpc: %s %s: unknown name", a->name, a->value);
    a->failed = true;
    return 0;
}

bool ldpc_job_option(struct ldpc_job *job, struct ldpc_args *a)
{
    static const char *const payloads[] = {"zero", "ones", "random"}, *const yes[] = {"no",
                                                                                      "yes"};
    if (ldpc_args_is(a, "code"))
        job->code_name = a->value;
    else if (ldpc_args_is(a, "soft"))
        job->soft_bits = (unsigned)ldpc_args_u64(a, 1, 3);
    else if (ldpc_args_is(a, "decoder"))
        job->decoder_name = a->value;
    else if (ldpc_args_is(a, "iterations"))
        job->iterations = (uint32_t)ldpc_args_u64(a, 1, LDPC_ITER_MAX);
    else if (ldpc_args_is(a, "frames"))
        job->frames_max = ldpc_args_u64(a, 1, 1000000000000);
    else if (ldpc_args_is(a, "errors"))
        job->errors_stop = ldpc_args_u64(a, 1, 1000000000);
    else if (ldpc_args_is(a, "seed"))
        job->seed = ldpc_args_u64(a, 0, UINT64_MAX);
    else if (ldpc_args_is(a, "threads"))
        job->threads = (unsigned)ldpc_args_u64(a, 1, THREADS_MAX);
    else if (ldpc_args_is(a, "payload"))
        job->payload = choice(a, payloads, 3);
    else if (ldpc_args_is(a, "quiet"))
        job->quiet = choice(a, yes, 2);
    else
        return false;
    return true;
}

int ldpc_job_open(struct ldpc_job *job)
{
    if (ldpc_decoder_find(job->decoder_name, &job->decoder))
        return cli_refuse("ldpc: --decoder %s: must be auto, gdbf, pgdbf or minsum",
                          job->decoder_name);
    if (job->soft_bits > 1 && (job->decoder == LDPC_DEC_GDBF || job->decoder == LDPC_DEC_PGDBF))
        return cli_refuse("ldpc: --decoder %s: takes hard input only, not --soft %u",
                          job->decoder_name, job->soft_bits);
    int err = ldpc_code_open(job->code_name, &job->code);
    if (err)
        return cli_refuse("ldpc: --code %s: %s", job->code_name, ldpc_strerror(err));
    ldpc_code_facts(job->code, &job->facts);
    return CLI_OK;
}

void ldpc_job_close(struct ldpc_job *job)
{
    ldpc_code_close(job->code);
    job->code = NULL;
}

struct worker {
    thrd_t thread;
    const ldpc_code *code;
    const struct ldpc_mc *mc;
    uint64_t first, count;
    struct ldpc_mc_result got;
    int err;
    bool started;
};

static int work(void *arg)
{
    struct worker *w = arg;
    w->err = ldpc_mc_run(w->code, w->mc, w->first, w->count, &w->got);
    return 0;
}

static void add(struct ldpc_mc_result *sum, const struct ldpc_mc_result *x)
{
    uint64_t *to = (uint64_t *)(void *)sum;
    const uint64_t *from = (const uint64_t *)(const void *)x;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++) /* counters only */
        to[i] += from[i];
}

/* One batch, split over the threads; an error code. */
static int run_batch(const struct ldpc_job *job, const struct ldpc_mc *mc, uint64_t first,
                     uint64_t count, struct ldpc_mc_result *sum)
{
    struct worker w[THREADS_MAX];
    int err = 0;
    for (unsigned t = 0; t < job->threads; t++) {
        uint64_t from = count * t / job->threads, to = count * (t + 1) / job->threads;
        w[t] = (struct worker){
            .code = job->code, .mc = mc, .first = first + from, .count = to - from};
        w[t].started =
            job->threads > 1 && thrd_create(&w[t].thread, work, &w[t]) == thrd_success;
        if (!w[t].started)
            work(&w[t]);
    }
    for (unsigned t = 0; t < job->threads; t++) {
        if (w[t].started)
            thrd_join(w[t].thread, NULL);
        add(sum, &w[t].got);
        err = w[t].err ? w[t].err : err;
    }
    return err;
}

static void progress(const struct ldpc_job *job, double rber, const struct ldpc_mc_result *r)
{
    if (!job->quiet && isatty(2))
        fprintf(stderr, "\rRBER %.5f: %llu frames, %llu errors  ", rber,
                (unsigned long long)r->frames, (unsigned long long)r->frame_errors);
}

int ldpc_job_run(const struct ldpc_job *job, double rber, struct ldpc_mc_result *ret)
{
    struct ldpc_channel ch;
    if (ldpc_channel_awgn(rber, job->soft_bits, &ch))
        return cli_refuse("ldpc: RBER %g: must be in (0, 0.5]", rber);
    struct ldpc_mc mc = {.struct_size = sizeof mc,
                         .payload = job->payload,
                         .seed = job->seed,
                         .channel = &ch,
                         .opts = {.struct_size = sizeof mc.opts,
                                  .decoder = (uint8_t)job->decoder,
                                  .iterations_max = (uint16_t)job->iterations}};
    memset(ret, 0, sizeof *ret);
    while (ret->frames < job->frames_max && ret->frame_errors < job->errors_stop) {
        uint64_t left = job->frames_max - ret->frames;
        int err = run_batch(job, &mc, ret->frames, left < BATCH ? left : BATCH, ret);
        if (err)
            return cli_refuse("ldpc: %s", ldpc_strerror(err));
        progress(job, rber, ret);
    }
    if (!job->quiet && isatty(2))
        fputs("\r\033[K", stderr);
    return CLI_OK;
}
