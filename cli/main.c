/* main.c - ftlsim: commands, help, version. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "cli.h"

static const char help[] =
    "ftlsim - an NVMe SSD in software: fio jobs in virtual time\n"
    "\n"
    "usage: ftlsim COMMAND ...      (ftlsim COMMAND --help says more)\n"
    "\n"
    "  run JOB.fio --drive NAME     run a fio job file on a drive\n"
    "  policy compare               policies against each other: WA, wear, latency\n"
    "  drives [show NAME]           list the drives, show one with its sources\n"
    "  options                      list fio's options and what becomes of them\n"
    "  powercut                     cut the power everywhere, recover, compare\n"
#ifdef CLI_WITH_NAND
    "  nand ...                     the NAND model alone\n"
#endif
#ifdef CLI_WITH_LDPC
    "  ldpc ...                     the LDPC codec alone\n"
#endif
    "\n"
    "  --help, --version\n"
    "\n"
    "exit status: 0 done, 2 refused (one line on stderr, nothing written),\n"
    "             3 the drive or a policy broke a rule, 130 interrupted\n";

/* Many threads of a job may each have five logs. */
static void allow_open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int print(const char *text)
{
    struct cli_text t;
    cli_text_open(&t);
    if (t.stream != NULL)
        fputs(text, t.stream);
    return cli_text_deliver(&t, NULL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int, char **);
    } commands[] = {
        {"run", cmd_run},   {"drives", cmd_drives}, {"options", cmd_options},
        {"policy", cmd_policy},
        {"powercut", cmd_powercut},
#ifdef CLI_WITH_NAND
        {"nand", cmd_nand},
#endif
#ifdef CLI_WITH_LDPC
        {"ldpc", cmd_ldpc},
#endif
    };
    signal(SIGPIPE, SIG_IGN); /* a closed pipe, a limit: both show as a failed write */
    signal(SIGXFSZ, SIG_IGN);
    allow_open_files();
    if (argc < 2)
        return cli_refuse("no command; see ftlsim --help");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return print(help);
    if (strcmp(argv[1], "--version") == 0)
        return print("ftlsim " CLI_VERSION "\n");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return cli_refuse("%s: unknown command; see ftlsim --help", argv[1]);
}
