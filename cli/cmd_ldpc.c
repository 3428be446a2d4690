/* cmd_ldpc.c - `ftlsim ldpc`: which part runs, and reading arguments. */
#include "cmd_ldpc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char USAGE[] =
    "usage: ftlsim ldpc COMMAND [--option value]...\n"
    "\n"
    "  fer       frame error rate by simulation, against the finite-length limit\n"
    "  table     the same as a committed table (stdout)\n"
    "  floor     trapping sets and importance sampling of the error floor\n"
    "  bench     speed on this machine beside the rivals' figures\n"
    "  code      facts of a code; alist import, export; construction\n"
    "  lifetime  P/E cycles reached by each decoding ladder on a cell preset\n"
    "\n"
    "options of fer, table and floor:\n"
    "  --code NAME        built-in code (4k); `ftlsim ldpc code` lists them\n"
    "  --soft 1|2|3       senses 1, 3 or 7 (1)\n"
    "  --rber LIST        a,b,c or from:to:step\n"
    "  --decoder NAME     auto gdbf pgdbf minsum (auto)\n"
    "  --iterations N     min-sum limit, 1..1000 (40)\n"
    "  --frames N         stop after N frames (100000)\n"
    "  --errors N         stop after N frame errors (50)\n"
    "  --payload NAME     zero ones random (random)\n"
    "  --seed N           (1)   --threads N  1..64 (1)   --quiet yes|no (no)\n"
    "options of fer:       --csv FILE  --json FILE|-  --plot FILE.png (needs gnuplot)\n"
    "options of table:     --output FILE\n"
    "options of floor:     --at RBER  --bias P  --samples N\n"
    "options of code:      --code NAME | --import FILE [--z N] | --build NAME --z N "
    "--data-bits N\n"
    "                      [--sweeps N] [--seed N]; --export FILE\n"
    "options of bench:     --code NAME  --seconds S\n"
    "options of lifetime:  --cell NAME --code NAME --tables DIR --days N --celsius T --json "
    "FILE|-\n";

void ldpc_args_start(struct ldpc_args *a, int argc, char **argv)
{
    *a = (struct ldpc_args){.argc = argc, .argv = argv, .at = 1};
}

bool ldpc_args_next(struct ldpc_args *a)
{
    if (a->failed || a->at >= a->argc)
        return false;
    a->name = a->argv[a->at++];
    if (strncmp(a->name, "--", 2)) {
        cli_refuse("ldpc: %s: an option starts with --", a->name);
        a->failed = true;
    } else if (a->at >= a->argc) {
        cli_refuse("ldpc: %s: needs a value", a->name);
        a->failed = true;
    } else {
        a->value = a->argv[a->at++];
    }
    return !a->failed;
}

bool ldpc_args_is(const struct ldpc_args *a, const char *name)
{
    return !strcmp(a->name + 2, name);
}

void ldpc_args_unknown(struct ldpc_args *a)
{
    cli_refuse("ldpc: %s: unknown option", a->name);
    a->failed = true;
}

uint64_t ldpc_args_u64(struct ldpc_args *a, uint64_t low, uint64_t high)
{
    char *end = NULL;
    errno = 0;
    unsigned long long x = strtoull(a->value, &end, 10);
    if (a->value[0] < '0' || a->value[0] > '9' || *end || errno || x < low || x > high) {
        cli_refuse("ldpc: %s %s: must be a whole number in %llu..%llu", a->name, a->value,
                   (unsigned long long)low, (unsigned long long)high);
        a->failed = true;
        return low;
    }
    return x;
}

double ldpc_args_double(struct ldpc_args *a, double low, double high)
{
    char *end = NULL;
    double x = strtod(a->value, &end);
    if (end == a->value || *end || !(x >= low && x <= high)) { /* NaN fails as well */
        cli_refuse("ldpc: %s %s: must be a number in %g..%g", a->name, a->value, low, high);
        a->failed = true;
        return low;
    }
    return x;
}

static unsigned range_rbers(struct ldpc_args *a, double ret[LDPC_RBERS_MAX])
{
    double v[3];
    const char *s = a->value;
    for (unsigned i = 0; i < 3; i++) {
        char *end = NULL;
        v[i] = strtod(s, &end);
        if (end == s || *end != (i < 2 ? ':' : 0) || !(v[i] > 0 && v[i] <= 0.5))
            return 0;
        s = end + 1;
    }
    unsigned n = 0;
    for (double x = v[0]; x <= v[1] * (1 + 1e-9) && n < LDPC_RBERS_MAX; x = v[0] + n * v[2])
        ret[n++] = x;
    return n;
}

unsigned ldpc_args_rbers(struct ldpc_args *a, double ret[LDPC_RBERS_MAX])
{
    unsigned n = 0;
    if (strchr(a->value, ':')) {
        n = range_rbers(a, ret);
    } else {
        for (const char *s = a->value; n < LDPC_RBERS_MAX;) {
            char *end = NULL;
            double x = strtod(s, &end);
            if (end == s || (*end && *end != ',') || !(x > 0 && x <= 0.5) ||
                (n && x <= ret[n - 1])) {
                n = 0;
                break;
            }
            ret[n++] = x;
            if (!*end)
                break;
            s = end + 1;
        }
    }
    if (!n) {
        cli_refuse("ldpc: %s %s: must be rising error rates in (0, 0.5], a,b,c or from:to:step",
                   a->name, a->value);
        a->failed = true;
    }
    return n;
}

int ldpc_read_file(const char *path, char **ret, size_t *ret_bytes)
{
    enum { FILE_MAX = 1 << 28 };
    FILE *f = fopen(path, "rb");
    if (!f)
        return cli_refuse("ldpc: %s: %s", path, strerror(errno));
    size_t room = 1 << 16, used = 0;
    char *text = malloc(room);
    while (text) {
        used += fread(text + used, 1, room - used, f);
        if (used < room || room >= FILE_MAX)
            break;
        char *more = realloc(text, room *= 2);
        if (!more)
            free(text);
        text = more;
    }
    bool bad = ferror(f) || used >= FILE_MAX;
    fclose(f);
    if (!text || bad) {
        free(text);
        return cli_refuse("ldpc: %s: cannot be read", path);
    }
    *ret = text;
    *ret_bytes = used;
    return CLI_OK;
}

int cmd_ldpc(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } part[] = {{"fer", cmd_ldpc_fer},     {"table", cmd_ldpc_table},
                {"floor", cmd_ldpc_floor}, {"bench", cmd_ldpc_bench},
                {"code", cmd_ldpc_code},   {"lifetime", cmd_ldpc_lifetime}};
    if (argc >= 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))) {
        fputs(USAGE, stdout);
        return CLI_OK;
    }
    for (unsigned i = 0; argc >= 2 && i < sizeof part / sizeof part[0]; i++)
        if (!strcmp(argv[1], part[i].name))
            return part[i].run(argc - 1, argv + 1);
    return argc < 2 ? cli_refuse("ldpc: a command is needed; try: ftlsim ldpc --help")
                    : cli_refuse("ldpc: %s: unknown command; try: ftlsim ldpc --help", argv[1]);
}
