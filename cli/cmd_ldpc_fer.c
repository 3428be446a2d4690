/* cmd_ldpc_fer.c - `ftlsim ldpc fer`, `table`, `floor`. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_ldpc.h"

enum { TRAPS_MAX = 64 };

struct fer {
    struct ldpc_job job;
    double rber[LDPC_RBERS_MAX];
    unsigned points;
    const char *csv, *json, *plot, *output;
    double at, bias;
    uint64_t samples;
    struct ldpc_mc_result got[LDPC_RBERS_MAX];
};

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

static double limit_of(const struct fer *f, double rber)
{
    struct ldpc_channel ch;
    if (ldpc_channel_awgn(rber, f->job.soft_bits, &ch))
        return 1;
    return ldpc_limit_fer(&ch, f->job.facts.n, f->job.facts.k);
}

static struct ldpc_latency latency_of(const struct fer *f, unsigned i)
{
    struct ldpc_pace pace;
    struct ldpc_latency lat = {0};
    if (ldpc_pace_default(f->job.code, &pace) || ldpc_mc_latency(&f->got[i], &pace, 0, &lat))
        cli_refuse("ldpc: no latency: no frames"); /* not reached: a point has frames */
    return lat;
}

/* ---- output ---------------------------------------------------------------------- */

static void print_head(const struct fer *f)
{
    const struct ldpc_facts *c = &f->job.facts;
    printf("code %s: n %u, k %u, rate %.4f; decoder %s, soft bits %u, <= %u iterations, seed "
           "%" PRIu64 "\n",
           c->name, c->n, c->k, (double)c->k / c->n, f->job.decoder_name, f->job.soft_bits,
           f->job.iterations, f->job.seed);
    printf("%9s %11s %8s %10s %23s %9s %6s %5s %9s %9s %10s\n", "RBER", "frames", "errors",
           "FER", "95 % interval", "undetect.", "iter", "p99", "mean ns", "p99 ns",
           "limit FER");
}

static void print_point(const struct fer *f, unsigned i)
{
    const struct ldpc_mc_result *r = &f->got[i];
    double low, high;
    struct ldpc_latency lat = latency_of(f, i);
    ldpc_interval95(r->frame_errors, r->frames, &low, &high);
    printf("%9.6f %11" PRIu64 " %8" PRIu64 " %10.3e %11.3e-%11.3e %9" PRIu64
           " %6.2f %5u %9.0f %9u %10.2e\n",
           f->rber[i], r->frames, r->frame_errors, ratio(r->frame_errors, r->frames), low, high,
           r->undetected, ratio(r->iterations, r->frames), ldpc_mc_iterations(r, 990),
           (double)lat.mean_ps / 1000, lat.p99_ns, limit_of(f, f->rber[i]));
    fflush(stdout);
}

static int write_csv(const struct fer *f)
{
    FILE *out = fopen(f->csv, "w");
    if (!out)
        return cli_refuse("ldpc: %s: %s", f->csv, strerror(errno));
    fputs("rber,frames,errors,fer,low95,high95,undetected,flips_mean,iterations_mean,"
          "iterations_p50,iterations_p99,latency_mean_ns,latency_p50_ns,latency_p99_ns,"
          "limit_fer\n",
          out);
    for (unsigned i = 0; i < f->points; i++) {
        const struct ldpc_mc_result *r = &f->got[i];
        double low, high;
        struct ldpc_latency lat = latency_of(f, i);
        ldpc_interval95(r->frame_errors, r->frames, &low, &high);
        fprintf(out,
                "%.9f,%" PRIu64 ",%" PRIu64 ",%.6e,%.6e,%.6e,%" PRIu64
                ",%.4f,%.4f,%u,%u,%.3f,%u,%u,%.6e\n",
                f->rber[i], r->frames, r->frame_errors, ratio(r->frame_errors, r->frames), low,
                high, r->undetected, ratio(r->flip_rounds, r->frames),
                ratio(r->iterations, r->frames), ldpc_mc_iterations(r, 500),
                ldpc_mc_iterations(r, 990), (double)lat.mean_ps / 1000, lat.p50_ns, lat.p99_ns,
                limit_of(f, f->rber[i]));
    }
    return fclose(out) ? cli_refuse("ldpc: %s: %s", f->csv, strerror(errno)) : CLI_OK;
}

static json_t *histogram(const uint64_t bins[LDPC_MC_BINS])
{
    json_t *hist = json_array();
    uint32_t last = LDPC_MC_BINS;
    while (last > 0 && !bins[last - 1])
        last--;
    for (uint32_t b = 0; b < last; b++)
        json_array_append_new(hist, json_integer((json_int_t)bins[b]));
    return hist;
}

static json_t *point_json(const struct fer *f, unsigned i)
{
    const struct ldpc_mc_result *r = &f->got[i];
    struct ldpc_latency lat = latency_of(f, i);
    double low, high;
    ldpc_interval95(r->frame_errors, r->frames, &low, &high);
    json_t *p =
        json_pack("{s:f,s:I,s:I,s:f,s:f,s:f,s:I,s:f,s:f,s:f}", "rber", f->rber[i], "frames",
                  (json_int_t)r->frames, "frame_errors", (json_int_t)r->frame_errors, "fer",
                  ratio(r->frame_errors, r->frames), "low95", low, "high95", high, "undetected",
                  (json_int_t)r->undetected, "flips_mean", ratio(r->flip_rounds, r->frames),
                  "iterations_mean", ratio(r->iterations, r->frames), "limit_fer",
                  limit_of(f, f->rber[i]));
    json_t *l = json_pack("{s:f,s:i,s:i,s:i}", "mean", (double)lat.mean_ps / 1000, "p50",
                          (int)lat.p50_ns, "p99", (int)lat.p99_ns, "worst", (int)lat.worst_ns);
    json_object_set_new(p, "latency_ns", l);
    json_object_set_new(p, "frames_by_iterations", histogram(r->by_iterations));
    json_object_set_new(p, "frames_by_flips", histogram(r->by_flips));
    json_object_set_new(p, "frames_after_flips_by_iterations", histogram(r->after_flips));
    return p;
}

static int write_json(const struct fer *f)
{
    json_t *points = json_array();
    for (unsigned i = 0; i < f->points; i++)
        json_array_append_new(points, point_json(f, i));
    json_t *root =
        json_pack("{s:s,s:i,s:i,s:s,s:i,s:i,s:I,s:o}", "code", f->job.facts.name, "n",
                  (int)f->job.facts.n, "k", (int)f->job.facts.k, "decoder", f->job.decoder_name,
                  "soft_bits", (int)f->job.soft_bits, "iterations_max", (int)f->job.iterations,
                  "seed", (json_int_t)f->job.seed, "points", points);
    int bad = !root || (strcmp(f->json, "-") ? json_dump_file(root, f->json, JSON_INDENT(2))
                                             : json_dumpf(root, stdout, JSON_INDENT(2)));
    json_decref(root);
    if (!bad && !strcmp(f->json, "-"))
        putchar('\n');
    return bad ? cli_refuse("ldpc: %s: cannot be written", f->json) : CLI_OK;
}

/* Waterfall with error bars against the finite-length limit, drawn by gnuplot. */
static int write_plot(const struct fer *f)
{
    if (strchr(f->plot, '\'') || strchr(f->plot, '\n'))
        return cli_refuse("ldpc: --plot %s: a name without quotes is needed", f->plot);
    FILE *p = popen("gnuplot", "w");
    if (!p)
        return cli_refuse("ldpc: gnuplot cannot be started: %s", strerror(errno));
    fprintf(p,
            "set terminal pngcairo size 900,600\nset output '%s'\nset logscale y\n"
            "set format y '10^{%%L}'\nset grid\nset xlabel 'raw bit error rate'\n"
            "set ylabel 'frame error rate'\nset yrange [1e-12:1]\n"
            "set title 'code %s, %s, soft bits %u'\n"
            "plot '-' with yerrorlines pt 7 title 'simulated, 95 %%', "
            "'-' with lines dt 2 title 'normal approximation: no code can do better'\n",
            f->plot, f->job.facts.name, f->job.decoder_name, f->job.soft_bits);
    for (unsigned i = 0; i < f->points; i++) {
        double low, high;
        ldpc_interval95(f->got[i].frame_errors, f->got[i].frames, &low, &high);
        if (f->got[i].frame_errors)
            fprintf(p, "%.9f %.6e %.6e %.6e\n", f->rber[i],
                    ratio(f->got[i].frame_errors, f->got[i].frames), low, high);
    }
    fputs("e\n", p);
    for (unsigned i = 0; i <= 200; i++) {
        double to = f->rber[f->points - 1] * 2, x = f->rber[0] + (to - f->rber[0]) * i / 200;
        double y = x <= 0.5 ? limit_of(f, x) : 1;
        if (y > 1e-12)
            fprintf(p, "%.9f %.6e\n", x, y);
    }
    fputs("e\n", p);
    return pclose(p) ? cli_refuse("ldpc: gnuplot failed; is it installed?") : CLI_OK;
}

/* ---- options ------------------------------------------------------------------------ */

static int take(struct fer *f, int argc, char **argv, const char *needed)
{
    struct ldpc_args a;
    memset(f, 0, sizeof *f);
    ldpc_job_default(&f->job);
    f->bias = 0.5;
    f->samples = 2000;
    ldpc_args_start(&a, argc, argv);
    while (ldpc_args_next(&a)) {
        if (ldpc_args_is(&a, "rber"))
            f->points = ldpc_args_rbers(&a, f->rber);
        else if (ldpc_args_is(&a, "csv"))
            f->csv = a.value;
        else if (ldpc_args_is(&a, "json"))
            f->json = a.value;
        else if (ldpc_args_is(&a, "plot"))
            f->plot = a.value;
        else if (ldpc_args_is(&a, "output"))
            f->output = a.value;
        else if (ldpc_args_is(&a, "at"))
            f->at = ldpc_args_double(&a, 1e-6, 0.1);
        else if (ldpc_args_is(&a, "bias"))
            f->bias = ldpc_args_double(&a, 0.01, 0.99);
        else if (ldpc_args_is(&a, "samples"))
            f->samples = ldpc_args_u64(&a, 1, 1000000000);
        else if (!ldpc_job_option(&f->job, &a))
            ldpc_args_unknown(&a);
    }
    if (a.failed)
        return CLI_REFUSED;
    if (!f->points)
        return cli_refuse("ldpc: --rber is needed%s", needed);
    return ldpc_job_open(&f->job);
}

int cmd_ldpc_fer(int argc, char **argv)
{
    struct fer *f = malloc(sizeof *f);
    if (!f)
        return cli_refuse("ldpc: out of memory");
    int rc = take(f, argc, argv, ", for example 0.0070:0.0085:0.0005");
    bool text = !rc && (!f->json || strcmp(f->json, "-"));
    if (text)
        print_head(f);
    for (unsigned i = 0; !rc && i < f->points; i++) {
        rc = ldpc_job_run(&f->job, f->rber[i], &f->got[i]);
        if (!rc && text)
            print_point(f, i);
    }
    if (!rc && f->csv)
        rc = write_csv(f);
    if (!rc && f->json)
        rc = write_json(f);
    if (!rc && f->plot)
        rc = write_plot(f);
    ldpc_job_close(&f->job);
    free(f);
    return rc;
}

/* ---- table ------------------------------------------------------------------------------ */

static int table_line(const struct fer *f, unsigned i, char *to, size_t room)
{
    const struct ldpc_mc_result *r = &f->got[i];
    struct ldpc_latency lat = latency_of(f, i);
    return snprintf(
        to, room,
        "%.0f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u,%u,%" PRIu64 ",%u,%u\n",
        f->rber[i] * 1e9, r->frames, r->frame_errors, r->flip_rounds * 1000 / r->frames,
        r->iterations * 1000 / r->frames, ldpc_mc_iterations(r, 500),
        ldpc_mc_iterations(r, 990), (lat.mean_ps + 500) / 1000, lat.p50_ns, lat.p99_ns);
}

static int write_table(const struct fer *f, FILE *out, int argc, char **argv)
{
    char body[LDPC_RBERS_MAX * 160 + 160];
    struct ldpc_pace pace;
    ldpc_pace_default(f->job.code, &pace);
    int n = snprintf(body, sizeof body,
                     "rber_ppb,frames,errors,flips_mean_milli,iterations_mean_milli,"
                     "iterations_p50,iterations_p99,latency_mean_ns,latency_p50_ns,"
                     "latency_p99_ns\n");
    for (unsigned i = 0; i < f->points; i++)
        n += table_line(f, i, body + n, sizeof body - (size_t)n);
    fprintf(
        out,
        "# ldpc-fer-table 2\n# code=%s n=%u soft=%u decoder=%s iterations=%u seed=%" PRIu64
        "\n# pace start_ns=%u round_ns=%u iteration_ns=%u (assumed)\n# command: ftlsim ldpc",
        f->job.facts.name, f->job.facts.n, f->job.soft_bits, f->job.decoder_name,
        f->job.iterations, f->job.seed, pace.start_ns, pace.round_ns, pace.iteration_ns);
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--output") && (i == 0 || strcmp(argv[i - 1], "--output")))
            fprintf(out, " %s", argv[i]);
    fprintf(out, "\n# hash=%016" PRIx64 "\n%s", ldpc_table_hash(body, (size_t)n), body);
    return fflush(out) ? cli_refuse("ldpc: cannot write: %s", strerror(errno)) : CLI_OK;
}

int cmd_ldpc_table(int argc, char **argv)
{
    struct fer *f = malloc(sizeof *f);
    if (!f)
        return cli_refuse("ldpc: out of memory");
    int rc = take(f, argc, argv, "");
    for (unsigned i = 0; !rc && i < f->points; i++)
        rc = ldpc_job_run(&f->job, f->rber[i], &f->got[i]);
    if (!rc) {
        FILE *out = f->output ? fopen(f->output, "w") : stdout;
        rc = out ? write_table(f, out, argc, argv)
                 : cli_refuse("ldpc: %s: %s", f->output, strerror(errno));
        if (out && f->output && fclose(out) && !rc)
            rc = cli_refuse("ldpc: %s: %s", f->output, strerror(errno));
    }
    ldpc_job_close(&f->job);
    free(f);
    return rc;
}

/* ---- floor ----------------------------------------------------------------------------------
 */

static int floor_run(struct fer *f, struct ldpc_trap *trap)
{
    struct ldpc_channel ch, at;
    struct ldpc_mc mc = {.struct_size = sizeof mc,
                         .payload = LDPC_WORD_ZERO,
                         .seed = f->job.seed,
                         .channel = &ch,
                         .opts = {.struct_size = sizeof mc.opts,
                                  .decoder = (uint8_t)f->job.decoder,
                                  .iterations_max = (uint16_t)f->job.iterations}};
    size_t traps = 0;
    double target = f->at > 0 ? f->at : f->rber[0];
    if (f->job.soft_bits != 1)
        return cli_refuse("ldpc: floor: works on hard input, --soft 1");
    if (ldpc_channel_awgn(f->rber[0], 1, &ch) || ldpc_channel_awgn(target, 1, &at))
        return cli_refuse("ldpc: floor: error rate out of range");
    int err =
        ldpc_trap_collect(f->job.code, &mc, 0, f->job.frames_max, trap, TRAPS_MAX, &traps);
    if (err)
        return cli_refuse("ldpc: %s", ldpc_strerror(err));
    printf("code %s, decoder %s: %zu failing sets of <= %d bits in %" PRIu64
           " frames at RBER %g\n",
           f->job.facts.name, f->job.decoder_name, traps, LDPC_TRAP_BITS, f->job.frames_max,
           f->rber[0]);
    mc.channel = &at;
    for (size_t i = 0; i < traps; i++) {
        double fer, sd;
        err = ldpc_trap_estimate(f->job.code, &mc, &trap[i], f->bias, 0, f->samples, &fer, &sd);
        if (err)
            return cli_refuse("ldpc: %s", ldpc_strerror(err));
        printf("  set %zu: %u bits, %u copies, frame %" PRIu64 ": FER part %.3e +- %.1e\n", i,
               trap[i].bits, trap[i].copies, trap[i].frame, fer, 1.96 * sd);
    }
    double fer, sd;
    err = ldpc_floor_estimate(f->job.code, &mc, trap, traps, f->bias, 0, f->samples * 10, &fer,
                              &sd);
    if (err)
        return cli_refuse("ldpc: %s", ldpc_strerror(err));
    printf("whole FER at RBER %g, %" PRIu64 " samples over these sets: %.3e +- %.1e (95 %%); "
           "sets not yet seen widen it only when met\n",
           target, f->samples * 10, fer, 1.96 * sd);
    return CLI_OK;
}

int cmd_ldpc_floor(int argc, char **argv)
{
    struct fer *f = malloc(sizeof *f);
    struct ldpc_trap *trap = malloc(TRAPS_MAX * sizeof *trap);
    int rc = f && trap ? take(f, argc, argv, ": where failing sets are collected")
                       : cli_refuse("ldpc: out of memory");
    if (!rc)
        rc = floor_run(f, trap);
    if (f && trap)
        ldpc_job_close(&f->job);
    free(trap);
    free(f);
    return rc;
}
