/* cmd_powercut.c - ftlsim powercut: cut the power at every program and erase. */
#include <getopt.h>
#ifdef __linux__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "ftl/ftl_testkit.h"

static const char help[] =
    "usage: ftlsim powercut [--plan NAME]... [--cuts N] [--seed N] [--variants N]\n"
    "       ftlsim powercut --replay ID\n"
    "       ftlsim powercut --list\n"
    "\n"
    "Plays a random load on tiny drives, forks them at every program and erase, cuts\n"
    "the power there in every mode, recovers (half of the time through a second cut),\n"
    "compares every LBA with what was promised, goes on writing, cuts, recovers and\n"
    "compares again.\n"
    "\n"
    "  --plan NAME     this drive; may be given again (default: all of --list)\n"
    "  --cuts N        until so many cuts were recovered from (default 200000)\n"
    "  --seed N        first seed of the loads (default 1)\n"
    "  --variants N    chains per operation, 1 to 21 (default 21: each mode, with\n"
    "                  other operations ended, torn or drawn)\n"
    "  --replay ID     one chain, PLAN/SEED/OPERATION/VARIANT as a failure prints it\n"
    "\n"
    "exit status: 0 no violation, 2 refused, 3 violations, 130 interrupted\n";

enum { PLANS_MAX = 64, WATCHDOG_SECONDS = 120 };

struct hunt {
    const char *plans[PLANS_MAX];
    uint32_t plan_count, variants;
    uint64_t cuts, seed;
    const char *replay;
    bool list, help;
    struct tk_explored sums[PLANS_MAX];
    const struct tk_explored *at;   /* the one under way */
    struct cli_progress progress;
};

static const char *current;         /* id under way, for a crash */

/* Only calls that are safe in a handler. */
static void on_crash(int number)
{
    static const char crashed[] = "\nftlsim: crashed in powercut --replay ",
                      hung[] = "\nftlsim: no end in powercut --replay ";
    const char *text = number == SIGALRM ? hung : crashed;
    if (write(STDERR_FILENO, text, strlen(text)) > 0 && current != NULL &&
        write(STDERR_FILENO, current, strlen(current)) > 0)
        (void)!write(STDERR_FILENO, "\n", 1);
    _exit(CLI_BROKEN);
}

static int read_number(const char *option, const char *text, uint64_t least, uint64_t most,
                       uint64_t *ret)
{
    char *end;
    unsigned long long v = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || v < least || v > most)
        return cli_refuse("powercut: --%s: %s: a whole number from %llu to %llu is needed",
                          option, text, (unsigned long long)least, (unsigned long long)most);
    *ret = v;
    return CLI_OK;
}

static int add_plan(struct hunt *h, const char *name)
{
    for (uint32_t i = 0; tk_plan_name(i) != NULL; i++)
        if (strcmp(tk_plan_name(i), name) == 0 && h->plan_count < PLANS_MAX) {
            h->plans[h->plan_count++] = tk_plan_name(i);
            return CLI_OK;
        }
    return cli_refuse("powercut: --plan: %s: no such plan; see ftlsim powercut --list", name);
}

static int read_args(struct hunt *h, int argc, char **argv)
{
    static const struct option options[] = {
        {"plan", required_argument, NULL, 'p'},     {"cuts", required_argument, NULL, 'c'},
        {"seed", required_argument, NULL, 's'},     {"variants", required_argument, NULL, 'v'},
        {"replay", required_argument, NULL, 'r'},   {"list", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
    uint64_t variants = 21;
    int c, err = CLI_OK;
    opterr = 0;
    while (err == CLI_OK && (c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (c == 'p')
            err = add_plan(h, optarg);
        else if (c == 'c')
            err = read_number("cuts", optarg, 1, INT64_MAX, &h->cuts);
        else if (c == 's')
            err = read_number("seed", optarg, 0, INT64_MAX, &h->seed);
        else if (c == 'v')
            err = read_number("variants", optarg, 1, 21, &variants);
        else if (c == 'r')
            h->replay = optarg;
        else if (c == 'l' || c == 'h')
            *(c == 'l' ? &h->list : &h->help) = true;
        else
            err = cli_refuse("powercut: %s: see ftlsim powercut --help", argv[optind - 1]);
    }
    if (err == CLI_OK && optind < argc)
        err = cli_refuse("powercut: %s: see ftlsim powercut --help", argv[optind]);
    h->variants = (uint32_t)variants;
    bool all = h->plan_count == 0;
    for (uint32_t i = 0; all && i < PLANS_MAX && tk_plan_name(i) != NULL; i++)
        h->plans[h->plan_count++] = tk_plan_name(i);
    return err;
}

/* ---- progress ---------------------------------------------------------------- */

static uint64_t failures(const struct tk_explored *e)
{
    return e->chains - e->verdicts[TK_SOUND];
}

static bool tick(void *user, const struct tk_explored *so_far)
{
    struct hunt *h = user;
    uint64_t cuts = 0, failed = 0;
    (void)so_far;
    (void)alarm(WATCHDOG_SECONDS);
    for (uint32_t i = 0; i < h->plan_count; i++) {
        cuts += h->sums[i].cuts;
        failed += failures(&h->sums[i]);
    }
    if (cli_progress_due(&h->progress))
        cli_progress_draw(&h->progress, (double)cuts / (double)h->cuts,
                          "  %llu of %llu cuts  %llu violations  %s", (unsigned long long)cuts,
                          (unsigned long long)h->cuts, (unsigned long long)failed,
                          h->at->current_id);
    return cuts >= h->cuts || cli_interrupted() != 0;
}

/* ---- report ------------------------------------------------------------------- */

static void add_sums(struct tk_explored *to, const struct tk_explored *e)
{
    to->operations += e->done;
    to->chains += e->chains;
    to->cuts += e->cuts;
    to->in_recovery += e->in_recovery;
    to->short_energy += e->short_energy;
    for (int i = 0; i < FTL_CUT_MODES; i++) {
        to->by_mode[i] += e->by_mode[i];
        to->failed_by_mode[i] += e->failed_by_mode[i];
    }
    for (int i = 0; i < TK_VERDICTS; i++)
        to->verdicts[i] += e->verdicts[i];
}

static void print_plan(FILE *out, const char *name, const struct tk_explored *e, uint64_t ops)
{
    fprintf(out, "| %-16s | %10llu | %10llu | %11llu | %12llu | %10llu |\n", name,
            (unsigned long long)ops, (unsigned long long)e->cuts,
            (unsigned long long)e->in_recovery, (unsigned long long)e->short_energy,
            (unsigned long long)failures(e));
}

static void report(FILE *out, const struct hunt *h, struct tk_explored *all)
{
    static const char *const modes[FTL_CUT_MODES] = {
        "before the operation", "after it", "torn program", "faint program", "torn erase",
        "faint erase", "paired page"};
    fprintf(out, "| %-16s | %10s | %10s | %11s | %12s | %10s |\n", "plan", "operations", "cuts",
            "in recovery", "short energy", "violations");
    fprintf(out, "|------------------|-----------:|-----------:|------------:|-------------:|"
                 "-----------:|\n");
    for (uint32_t i = 0; i < h->plan_count; i++) {
        print_plan(out, h->plans[i], &h->sums[i], h->sums[i].done);
        add_sums(all, &h->sums[i]);
    }
    print_plan(out, "all", all, all->operations);
    fprintf(out, "\n| first cut             | chains     | violations |\n"
                 "|-----------------------|-----------:|-----------:|\n");
    for (int i = 0; i < FTL_CUT_MODES; i++)
        fprintf(out, "| %-21s | %10llu | %10llu |\n", modes[i],
                (unsigned long long)all->by_mode[i], (unsigned long long)all->failed_by_mode[i]);
    fprintf(out, "\n| violation             | chains     |\n|-----------------------|-----------:|\n");
    for (int i = TK_SOUND + 1; i < TK_VERDICTS; i++)
        fprintf(out, "| %-21s | %10llu |\n", tk_verdict_name((enum tk_verdict)i),
                (unsigned long long)all->verdicts[i]);
    for (uint32_t i = 0; i < h->plan_count; i++)
        if (h->sums[i].first_id[0] != '\0')
            fprintf(out, "\n--replay %s\n    %s: %s\n", h->sums[i].first_id,
                    tk_verdict_name(h->sums[i].first.verdict), h->sums[i].first.why);
}

/* ---- the run -------------------------------------------------------------------- */

static int explore_plan(struct hunt *h, uint32_t plan, uint64_t seed, char *why, size_t size)
{
    struct tk_case c = {0};
    struct tk_explored *sum = &h->sums[plan];
    int err = tk_plan_case(h->plans[plan], seed, &c, why, size);
    struct tk_explore x = {.c = &c, .name = h->plans[plan], .seed = seed,
                           .variants = h->variants, .progress = tick, .user = h};
    h->at = sum;
    current = sum->current_id;
    if (err == 0)
        err = tk_explore(&x, sum, why, size);
    tk_script_free(&c.script);
    return err;
}

static int explore_all(struct hunt *h, char *why, size_t size)
{
    int err = 0;
    for (uint64_t seed = h->seed; err == 0; seed++)
        for (uint32_t i = 0; i < h->plan_count && err == 0; i++)
            err = explore_plan(h, i, seed, why, size);
    return err == FTL_EAGAIN ? 0 : err;     /* that is how tick() ends it */
}

static int replay(struct hunt *h, char *why, size_t size)
{
    struct tk_explored *sum = &h->sums[0];
    current = h->replay;
    int err = tk_explore_id(h->replay, sum, why, size);
    if (err < 0)
        return cli_refuse("powercut: %s", why);
    if (sum->chains == 0)
        return cli_refuse("powercut: %s: the load has %llu operations only", h->replay,
                          (unsigned long long)sum->operations);
    printf("%s: %llu cuts, %s%s%s\n", h->replay, (unsigned long long)sum->cuts,
           tk_verdict_name(sum->first.verdict), sum->first.why[0] != '\0' ? ": " : "",
           sum->first.why);
    return sum->verdicts[TK_SOUND] == sum->chains ? CLI_OK : CLI_BROKEN;
}

static int hunt(struct hunt *h)
{
    struct tk_explored all = {0};
    char why[FTL_WHY_MAX] = "";
    struct cli_text t;
    cli_progress_start(&h->progress);
    double started = h->progress.started;
    int err = explore_all(h, why, sizeof why);
    (void)alarm(0);
    cli_progress_clear(&h->progress);
    if (err < 0)
        return cli_refuse("powercut: %s: %s", ftl_strerror(err), why);
    cli_text_open(&t);
    if (t.stream == NULL)
        return cli_refuse("out of memory");
    report(t.stream, h, &all);
    double seconds = cli_wall() - started, busy = (double)clock() / CLOCKS_PER_SEC;
    fprintf(stderr, "ftlsim: %llu cuts in %.2f s, %.0f a second of processor time\n",
            (unsigned long long)all.cuts, seconds,
            (double)all.cuts / (busy > 0.0 ? busy : 1.0));
    int status = cli_text_deliver(&t, NULL);
    if (status == CLI_OK && failures(&all) != 0)
        status = CLI_BROKEN;
    return status == CLI_OK && cli_interrupted() != 0 ? CLI_INTERRUPTED : status;
}

static int list(void)
{
    for (uint32_t i = 0; tk_plan_name(i) != NULL; i++)
        printf("%-18s %s\n", tk_plan_name(i), tk_plan_settings(i));
    return CLI_OK;
}

/* A fork takes and gives back more than half a megabyte: the C library keeps it, where one can
 * tell it so, instead of having the system hand it out page by page each time. */
static void keep_memory(void)
{
#ifdef M_TRIM_THRESHOLD
    (void)mallopt(M_TRIM_THRESHOLD, 256 << 20);
    (void)mallopt(M_MMAP_THRESHOLD, 16 << 20);
#endif
}

int cmd_powercut(int argc, char **argv)
{
    static struct hunt h = {.cuts = 200000, .seed = 1};    /* too large for a small stack */
    char why[FTL_WHY_MAX] = "";
    int err = read_args(&h, argc, argv);
    if (err != CLI_OK)
        return err;
    if (h.help)
        return fputs(help, stdout) < 0 ? CLI_REFUSED : CLI_OK;
    if (h.list)
        return list();
    keep_memory();
    cli_catch_interrupt();
    signal(SIGABRT, on_crash);
    signal(SIGSEGV, on_crash);
    signal(SIGALRM, on_crash);
    (void)alarm(WATCHDOG_SECONDS);
    return h.replay != NULL ? replay(&h, why, sizeof why) : hunt(&h);
}
