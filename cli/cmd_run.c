/* cmd_run.c - ftlsim run: a job file on a drive. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli.h"
#include "ftl/ftl_snapshot.h"

static const char help[] =
    "usage: ftlsim run JOB.fio --drive NAME|FILE [options]\n"
    "\n"
    "  --drive NAME|FILE       built-in drive (ftlsim drives) or a file\n"
    "  --set KEY=VALUE         change one setting; may be given again\n"
    "                          (ftlsim drives show NAME lists them; also op=0.07)\n"
    "  --gc, --pacing, --wear, --streams-policy NAME|FILE.so\n"
    "                          policies, built in or from a shared object\n"
    "  --scale N               a drive N times smaller with the same behaviour;\n"
    "                          sizes in the job file stay as they are\n"
    "  --seed N                another sequence of random draws (default 1)\n"
    "  --precondition SPEC     untimed drive writes first, as seq:1,rand:3,self:2\n"
    "                          (128K in order, random 4K, the job file's own mix)\n"
    "  --save-state FILE       keep the preconditioned drive in a file\n"
    "  --load-state FILE       start from it instead of a --precondition\n"
    "  --section NAME          run this section alone; may be given again\n"
    "  --output-format F       normal, json, json+ or terse\n"
    "  --output FILE           report into FILE instead of standard output\n"
    "  --log-dir DIR           where write_*_log files go (default: here)\n"
    "  --no-check              skip the audit of the drive at the end\n"
    "\n"
    "The report depends on job file, drive and seed alone; what depends on this\n"
    "machine (memory, accesses per second) goes to standard error.\n"
    "ftlsim options lists the options of a job file.\n";

enum format { NORMAL, JSON, JSON_PLUS, TERSE };
enum { LIST_MAX = 256 };

/* Policies that an option chooses. */
static const struct {
    const char *option, *key;
} policy_kinds[] = {{"gc", "gc.policy"},
                    {"pacing", "gc.pacing"},
                    {"wear", "wear.policy"},
                    {"streams-policy", "streams.policy"}};
enum { POLICY_KINDS = sizeof policy_kinds / sizeof policy_kinds[0], FIRST_POLICY = 1000 };

struct args {
    const char *job, *drive, *policies[POLICY_KINDS], *output, *log_dir, *precondition, *save, *load;
    const char *sets[LIST_MAX], *sections[LIST_MAX];
    size_t set_count, section_count;
    uint64_t scale, seed;
    enum format format;
    bool seed_given, no_check, help;
};

/* What the progress line showed last: its rates are of the time since then. */
struct shown {
    double accesses, virtual_s;
    uint64_t host, programmed;
};

struct session {
    struct args a;
    struct wl_precondition steps;
    wl_jobs *jobs;
    ftl_setup *setup;
    wl_policies *policies;
    struct ftl_config config;
    struct ftl_snapshot_info loaded;    /* with --load-state */
    ftl_drive *drive;
    wl_run *run;
    struct cli_progress progress;
    struct shown last;
    double fill_seconds, run_seconds;
    char why[FTL_WHY_MAX];
};

/* ---- arguments --------------------------------------------------------- */
static int read_number(const char *option, const char *text, uint64_t least, uint64_t *ret)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || v < least ||
        v > INT64_MAX)
        return cli_refuse("--%s: %s: a whole number from %llu to 2^63 - 1 is needed", option,
                          text, (unsigned long long)least);
    *ret = v;
    return CLI_OK;
}

static int read_format(const char *text, enum format *ret)
{
    static const char *const names[] = {"normal", "json", "json+", "terse"};
    for (int i = 0; i < 4; i++)
        if (strcmp(text, names[i]) == 0) {
            *ret = (enum format)i;
            return CLI_OK;
        }
    return cli_refuse("--output-format: %s: is none of normal, json, json+, terse", text);
}

static int add(const char *option, const char *text, const char **list, size_t *count)
{
    if (*count == LIST_MAX)
        return cli_refuse("--%s: more than %d", option, LIST_MAX);
    list[(*count)++] = text;
    return CLI_OK;
}

static int read_option(struct args *a, int c, const char *text)
{
    if (c >= FIRST_POLICY) {
        a->policies[c - FIRST_POLICY] = text;
        return CLI_OK;
    }
    switch (c) {
    case 'd':
        a->drive = text;
        return CLI_OK;
    case 's':
        if (strchr(text, '=') == NULL)
            return cli_refuse("--set: %s: KEY=VALUE is needed", text);
        return add("set", text, a->sets, &a->set_count);
    case 'n':
        return read_number("scale", text, 1, &a->scale);
    case 'e':
        a->seed_given = true;
        return read_number("seed", text, 0, &a->seed);
    case 'p':
        a->precondition = text;
        return CLI_OK;
    case 'c':
        return add("section", text, a->sections, &a->section_count);
    case 'f':
        return read_format(text, &a->format);
    case 'o':
        a->output = text;
        return CLI_OK;
    case 'l':
        a->log_dir = text;
        return CLI_OK;
    case 'w':
        a->save = text;
        return CLI_OK;
    case 'r':
        a->load = text;
        return CLI_OK;
    case 'k':
        a->no_check = true;
        return CLI_OK;
    default:
        a->help = true;
        return CLI_OK;
    }
}

static int read_args(int argc, char **argv, struct args *a)
{
    static const struct option options[] = {
        {"drive", required_argument, NULL, 'd'},
        {"set", required_argument, NULL, 's'},
        {"gc", required_argument, NULL, FIRST_POLICY},
        {"pacing", required_argument, NULL, FIRST_POLICY + 1},
        {"wear", required_argument, NULL, FIRST_POLICY + 2},
        {"streams-policy", required_argument, NULL, FIRST_POLICY + 3},
        {"scale", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 'e'},
        {"precondition", required_argument, NULL, 'p'},
        {"save-state", required_argument, NULL, 'w'},
        {"load-state", required_argument, NULL, 'r'},
        {"section", required_argument, NULL, 'c'},
        {"output-format", required_argument, NULL, 'f'},
        {"output", required_argument, NULL, 'o'},
        {"log-dir", required_argument, NULL, 'l'},
        {"no-check", no_argument, NULL, 'k'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int c, status = CLI_OK;
    opterr = 0;
    *a = (struct args){0};
    while (status == CLI_OK && (c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (c == ':')
            return cli_refuse("%s: needs a value", argv[optind - 1]);
        if (c == '?')
            return cli_refuse("%s: unknown option; see ftlsim run --help", argv[optind - 1]);
        status = read_option(a, c, optarg);
    }
    if (status != CLI_OK || a->help)
        return status;
    if (optind + 1 != argc)
        return cli_refuse(optind == argc
                              ? "run: no job file; see ftlsim run --help"
                              : "run: one job file at a time; see ftlsim run --help");
    a->job = argv[optind];
    if (a->drive == NULL)
        return cli_refuse("--drive: no drive named; ftlsim drives lists them");
    if (a->load != NULL && (a->precondition != NULL || a->save != NULL))
        return cli_refuse("--load-state: not together with %s: a loaded state has its "
                          "precondition behind it",
                          a->precondition != NULL ? "--precondition" : "--save-state");
    if (a->save != NULL && a->precondition == NULL)
        return cli_refuse("--save-state: needs --precondition: a fresh drive is its own state");
    return CLI_OK;
}

/* ---- drive ------------------------------------------------------------- */
static int configure(struct session *s)
{
    char key[FTL_NAME_MAX], number[24], where[96];
    s->setup = ftl_setup_new();
    if (s->setup == NULL)
        return cli_refuse("out of memory");
    if (ftl_setup_load(s->setup, s->a.drive, s->why, sizeof s->why) < 0)
        return cli_refuse("%s", s->why);
    for (size_t i = 0; i < s->a.set_count; i++) {
        const char *equals = strchr(s->a.sets[i], '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - s->a.sets[i]), s->a.sets[i]);
        if (ftl_setup_set(s->setup, key, equals + 1, "--set", s->why, sizeof s->why) < 0)
            return cli_refuse("%s", s->why);
    }
    s->policies = wl_policies_new();
    if (s->policies == NULL)
        return cli_refuse("out of memory");
    for (int i = 0; i < POLICY_KINDS; i++) {
        const char *value = s->a.policies[i];
        snprintf(where, sizeof where, "--%s %.70s", policy_kinds[i].option,
                 value != NULL ? value : "");
        if (value != NULL && wl_policies_set(s->policies, policy_kinds[i].key, value, s->setup,
                                             where, s->why, sizeof s->why) < 0)
            return cli_refuse("--%s: %s", policy_kinds[i].option, s->why);
    }
    uint64_t seed = s->a.load != NULL ? s->loaded.seed : s->a.seed;
    snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
    if ((s->a.seed_given || s->a.load != NULL) &&
        ftl_setup_set(s->setup, "drive.seed", number, s->a.load != NULL ? "--load-state" : "--seed",
                      s->why, sizeof s->why) < 0)
        return cli_refuse("%s", s->why);
    if (ftl_setup_finish(s->setup, s->a.scale, &s->config, s->why, sizeof s->why) < 0)
        return cli_refuse("%s", s->why);
    if (s->a.load == NULL || !s->a.seed_given)
        s->a.seed = s->config.drive_seed; /* one seed for drive and jobs */
    return CLI_OK;
}

static uint64_t memory_there(void)
{
    unsigned long long kib;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) {
            fclose(f);
            return (uint64_t)kib * 1024;
        }
    if (f != NULL)
        fclose(f);
    return UINT64_MAX;
}

/* A drive beyond memory would be killed half-way: say what fits instead. */
static int check_memory(struct session *s)
{
    uint64_t need = ftl_memory_needed(&s->config), there = memory_there(),
             scale = s->config.drive_scale;
    struct ftl_config smaller;
    if (need <= there)
        return CLI_OK;
    for (uint64_t n = scale + 1; n <= 65536; n++)
        if (ftl_setup_finish(s->setup, n, &smaller, s->why, sizeof s->why) == 0 &&
            ftl_memory_needed(&smaller) <= there)
            return cli_refuse("--scale: %llu: the drive needs %.1f GB of memory, %.1f GB are "
                              "free; --scale %llu fits",
                              (unsigned long long)scale, (double)need / 1e9,
                              (double)there / 1e9, (unsigned long long)n);
    return cli_refuse("--scale: the drive needs %.1f GB of memory, %.1f GB are free",
                      (double)need / 1e9, (double)there / 1e9);
}

/* ---- state ------------------------------------------------------------- */
static int look_at_state(struct session *s)
{
    s->loaded.struct_size = sizeof s->loaded;
    if (ftl_snapshot_info(s->a.load, &s->loaded, s->why, sizeof s->why) < 0)
        return cli_refuse("--load-state: %s", s->why);
    if (s->loaded.kind != FTL_SNAPSHOT_STATE)
        return cli_refuse("--load-state: %s: holds media, not a state", s->a.load);
    for (size_t i = 0; i < s->a.set_count; i++)
        if (strncmp(s->a.sets[i], "drive.seed=", 11) == 0)
            return cli_refuse("--set: drive.seed: a loaded drive keeps its own; --seed is that of "
                              "the jobs");
    return CLI_OK;
}

static int make_drive(struct session *s)
{
    const struct ftl_policies *policies = wl_policies_get(s->policies);
    int err = s->a.load != NULL ? ftl_snapshot_load(s->a.load, &s->config, policies, &s->drive,
                                                    s->why, sizeof s->why)
                                : ftl_create_with(&s->config, policies, &s->drive, s->why,
                                                  sizeof s->why);
    if (err < 0)
        return cli_refuse("%s%s", s->a.load != NULL ? "--load-state: " : "", s->why);
    return CLI_OK;
}

static int save_state(struct session *s)
{
    if (s->a.save == NULL)
        return CLI_OK;
    if (ftl_snapshot_save(s->drive, FTL_SNAPSHOT_STATE, s->a.save, s->a.precondition, s->why,
                          sizeof s->why) < 0)
        return cli_refuse("--save-state: %s", s->why);
    return CLI_OK;
}

/* What the drive has behind it: by this run, or by the one that saved it. */
static const char *preconditioned(const struct session *s)
{
    return s->a.load != NULL ? s->loaded.note : s->a.precondition;
}

/* ---- progress ---------------------------------------------------------- */
static void draw(struct session *s, const struct wl_progress *w)
{
    struct ftl_counters c;
    struct shown *last = &s->last;
    char rate[48] = "", wa_text[24] = "";
    ftl_counters_get(s->drive, &c);
    struct cli_wa wa = cli_wa_of(&c);
    double virtual_s = (double)w->virtual_ns / 1e9, span = virtual_s - last->virtual_s;

    if (w->untimed)
        snprintf(rate, sizeof rate, "  preconditioning, %.1f M writes", (double)w->accesses / 1e6);
    else
        snprintf(rate, sizeof rate, "  t=%.3f s  %.0f IOPS", virtual_s,
                 span > 0.0 ? ((double)w->accesses - last->accesses) / span : 0.0);
    if (!w->untimed && wa.host > last->host)
        snprintf(wa_text, sizeof wa_text, "  WA %.2f",
                 (double)(wa.programmed - last->programmed) / (double)(wa.host - last->host));
    cli_progress_draw(&s->progress, (double)w->done_ppm / 1e6, "%s%s", rate, wa_text);
    *last = (struct shown){(double)w->accesses, virtual_s, wa.host, wa.programmed};
}

static int tick(void *user, const struct wl_progress *w)        /* a wl_progress_fn */
{
    struct session *s = user;
    if (cli_progress_due(&s->progress))
        draw(s, w);
    return cli_interrupted();
}

static void clear_progress(struct session *s)
{
    cli_progress_clear(&s->progress);
    s->last = (struct shown){0};
}

/* ---- steps ------------------------------------------------------------- */
static int prepare(struct session *s)
{
    int status = CLI_OK;
    if (s->a.precondition != NULL &&
        wl_precondition_parse(s->a.precondition, &s->steps, s->why, sizeof s->why) < 0)
        return cli_refuse("%s", s->why);
    if (wl_jobs_load(s->a.job, s->a.sections, s->a.section_count, &s->jobs, s->why,
                     sizeof s->why) < 0)
        return cli_refuse("%s", s->why);
    if (s->a.output != NULL)
        status = cli_text_try(s->a.output);
    if (status == CLI_OK && s->a.save != NULL)
        status = cli_text_try(s->a.save);
    if (status == CLI_OK && s->a.load != NULL)
        status = look_at_state(s);
    if (status == CLI_OK)
        status = configure(s);
    if (status == CLI_OK)
        status = check_memory(s);
    if (status == CLI_OK)
        status = make_drive(s);
    if (status != CLI_OK)
        return status;
    cli_progress_start(&s->progress);
    struct wl_run_options o = {.seed = s->a.seed,
                               .scale = s->config.drive_scale,
                               .submit_ns = s->config.host_submit_ns,
                               .log_directory = s->a.log_dir,
                               .progress = tick,
                               .user = s};
    if (wl_run_new(s->drive, s->jobs, &o, &s->run, s->why, sizeof s->why) < 0)
        return cli_refuse("%s", s->why);
    return CLI_OK;
}

static void print_notes(const struct session *s)
{
    const char *note;
    for (uint32_t i = 0; (note = wl_jobs_note(s->jobs, i)) != NULL; i++)
        fprintf(stderr, "ftlsim: note: %s\n", note);
}

static int precondition(struct session *s)
{
    if (s->a.precondition == NULL)
        return CLI_OK;
    double from = cli_wall();
    int err = wl_run_precondition(s->run, &s->steps, s->why, sizeof s->why);
    s->fill_seconds = cli_wall() - from;
    clear_progress(s);
    if (err < 0)
        cli_refuse("%s", s->why);
    return err == WL_EDRIVE ? CLI_BROKEN : err < 0 ? CLI_REFUSED : CLI_OK;
}

static int simulate(struct session *s)
{
    clear_progress(s);
    double from = cli_wall();
    int err = wl_run_go(s->run, s->why, sizeof s->why);
    s->run_seconds = cli_wall() - from;
    clear_progress(s);
    if (err < 0) {
        cli_refuse("%s", s->why);
        return CLI_BROKEN;
    }
    return CLI_OK;
}

static int audit(struct session *s)
{
    if (s->a.no_check || ftl_check(s->drive, s->why, sizeof s->why) == 0)
        return CLI_OK;
    cli_refuse("check: %s", s->why);
    return CLI_BROKEN;
}

static int deliver(struct session *s)
{
    struct cli_report r = {.run = s->run,
                           .jobs = s->jobs,
                           .setup = s->setup,
                           .config = &s->config,
                           .seed = s->a.seed,
                           .end_ns = ftl_now(s->drive),
                           .precondition = preconditioned(s),
                           .state_hash = ftl_state_hash(s->drive)};
    struct cli_text t;
    int bad = 0;
    ftl_counters_get(s->drive, &r.counters);
    ftl_status_get(s->drive, &r.status);
    cli_text_open(&t);
    if (t.stream == NULL)
        return cli_refuse("out of memory");
    if (s->a.format == NORMAL)
        out_normal(t.stream, &r);
    else if (s->a.format == TERSE)
        out_terse(t.stream, &r);
    else
        bad = out_json(t.stream, &r, s->a.format == JSON_PLUS);
    /* logs first: when the disk is full, nothing else is written either */
    if (bad < 0)
        snprintf(s->why, sizeof s->why, "out of memory");
    else
        bad = wl_run_keep_logs(s->run, s->why, sizeof s->why);
    if (bad == 0)
        return cli_text_deliver(&t, s->a.output);
    cli_text_drop(&t);
    return cli_refuse("%s", s->why);
}

static void put_speed(const char *what, double n, double seconds)
{
    fprintf(stderr, "%.0f %s in %.2f s, %.2f M/s; ", n, what, seconds,
            seconds > 0.0 ? n / seconds / 1e6 : 0.0);
}

/* What depends on this machine: never on standard output. */
static void print_cost(const struct session *s)
{
    struct rusage usage;
    fputs("ftlsim: ", stderr);
    if (s->a.precondition != NULL)
        put_speed("untimed writes", (double)wl_run_filled(s->run), s->fill_seconds);
    put_speed("accesses", (double)wl_run_accesses(s->run), s->run_seconds);
    getrusage(RUSAGE_SELF, &usage);
    fprintf(stderr, "%.2f GB of memory\n", (double)usage.ru_maxrss * 1024.0 / 1e9);
}

static int work(struct session *s)
{
    int status = prepare(s);
    if (status != CLI_OK)
        return status;
    print_notes(s);
    cli_catch_interrupt();
    status = precondition(s);
    if (status == CLI_OK && !wl_run_interrupted(s->run))
        status = save_state(s);
    if (status == CLI_OK)
        status = simulate(s);
    if (status == CLI_OK)
        status = audit(s);
    if (status == CLI_OK)
        status = deliver(s);
    if (status != CLI_OK)
        return status;
    print_cost(s);
    return wl_run_interrupted(s->run) ? CLI_INTERRUPTED : CLI_OK;
}

int cmd_run(int argc, char **argv)
{
    struct session *s = calloc(1, sizeof *s);
    struct cli_text t;
    if (s == NULL)
        return cli_refuse("out of memory");
    int status = read_args(argc, argv, &s->a);
    if (status == CLI_OK && s->a.help) {
        cli_text_open(&t);
        if (t.stream != NULL)
            fputs(help, t.stream);
        status = cli_text_deliver(&t, NULL);
    } else if (status == CLI_OK) {
        status = work(s);
    }
    wl_run_free(s->run);
    ftl_destroy(s->drive);
    wl_policies_free(s->policies);
    ftl_setup_free(s->setup);
    wl_jobs_free(s->jobs);
    free(s);
    return status;
}
