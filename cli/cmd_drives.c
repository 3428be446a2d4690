/* cmd_drives.c - ftlsim drives: names, and one drive with its sources. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char help[] =
    "usage: ftlsim drives                        list the built-in drives\n"
    "       ftlsim drives show NAME|FILE [--set KEY=VALUE ...] [--scale N]\n"
    "       ftlsim drives power NAME|FILE [--set KEY=VALUE ...]\n"
    "\n"
    "show prints every setting: value, unit, tag, source. Tags: P published,\n"
    "D derived, A assumed, C calibrated (fitted to a published figure).\n"
    "power computes the capacitors and the start of the drive at its full size.\n";

/* The drive's own capacity, not that of its default scale. */
static int list_one(FILE *out, const char *name, char *why, size_t why_size)
{
    struct ftl_config c;
    struct ftl_key key;
    struct ftl_origin origin;
    char bytes[128] = "";
    ftl_setup *setup = ftl_setup_new();
    int err = setup == NULL ? FTL_ENOMEM : ftl_setup_load(setup, name, why, why_size);
    if (err == 0)
        err = ftl_setup_finish(setup, 0, &c, why, why_size);
    for (uint32_t i = 0; err == 0 && ftl_key_get(i, &key) == 0; i++)
        if (strcmp(key.key, "drive.user_bytes") == 0)
            err = ftl_setup_value(setup, NULL, i, bytes, sizeof bytes, &origin);
    ftl_setup_free(setup);
    if (err < 0)
        return cli_refuse("%s", err == FTL_ENOMEM ? "out of memory" : why);
    fprintf(out, "%-14s %-16s %16s %6llu %8llu\n", name, c.drive_family, bytes,
            (unsigned long long)c.nand_dies, (unsigned long long)c.drive_scale);
    return CLI_OK;
}

static int list(FILE *out, char *why, size_t why_size)
{
    const char *name;
    int status = CLI_OK;
    fprintf(out, "%-14s %-16s %16s %6s %8s\n", "drive", "family", "user bytes", "dies",
            "scale");
    for (uint32_t i = 0; status == CLI_OK && (name = ftl_drive_name(i)) != NULL; i++)
        status = list_one(out, name, why, why_size);
    return status;
}

static void show_key(FILE *out, const ftl_setup *setup, const struct ftl_config *config,
                     uint32_t index)
{
    struct ftl_key key;
    struct ftl_origin origin = {.tag = '-'};
    char value[128] = "";
    if (ftl_key_get(index, &key) < 0 ||
        ftl_setup_value(setup, config, index, value, sizeof value, &origin) < 0)
        return;
    fprintf(out, "%-26s %16s %-10s [%c] %s%s%s\n", key.key, value,
            key.is_string ? "" : key.unit, origin.tag, origin.where,
            origin.note[0] != '\0' ? ": " : "", origin.note);
}

/* NAME|FILE and options; scale 0 = the drive's own or that of --scale, else there is no --scale. */
static int configure(ftl_setup *setup, int argc, char **argv, unsigned long long scale,
                     struct ftl_config *ret, char *why, size_t why_size)
{
    static const struct option options[] = {{"set", required_argument, NULL, 's'},
                                            {"scale", required_argument, NULL, 'n'},
                                            {NULL, 0, NULL, 0}};
    const bool scalable = scale == 0;
    char key[FTL_NAME_MAX];
    int c;

    snprintf(why, why_size, "out of memory");
    int err = setup == NULL ? FTL_ENOMEM : ftl_setup_load(setup, argv[1], why, why_size);
    opterr = 0;
    while (err == 0 && (c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        const char *equals = c == 's' ? strchr(optarg, '=') : NULL;
        if (c == 'n' && scalable && sscanf(optarg, "%llu", &scale) == 1)
            continue;
        err = FTL_EINVAL;
        snprintf(why, why_size, "drives: %s: see ftlsim drives --help", argv[optind - 1]);
        if (equals == NULL)
            break;
        snprintf(key, sizeof key, "%.*s", (int)(equals - optarg), optarg);
        err = ftl_setup_set(setup, key, equals + 1, "--set", why, why_size);
    }
    return err < 0 ? err : ftl_setup_finish(setup, scale, ret, why, why_size);
}

static int show(FILE *out, int argc, char **argv, char *why, size_t why_size)
{
    ftl_setup *setup = ftl_setup_new();
    struct ftl_config config;
    int err = configure(setup, argc, argv, 0, &config, why, why_size);

    for (uint32_t i = 0; err == 0 && i < ftl_key_count(); i++)
        show_key(out, setup, &config, i);
    ftl_setup_free(setup);
    return err == 0 ? CLI_OK : cli_refuse("%s", why);
}

static int power(FILE *out, int argc, char **argv, char *why, size_t why_size)
{
    ftl_setup *setup = ftl_setup_new();
    struct ftl_config config;
    int err = configure(setup, argc, argv, 1, &config, why, why_size);

    ftl_setup_free(setup);
    return err == 0 ? cli_drive_power(out, &config) : cli_refuse("%s", why);
}

int cmd_drives(int argc, char **argv)
{
    char why[FTL_WHY_MAX];
    struct cli_text t;
    int status = CLI_OK;
    cli_text_open(&t);
    if (t.stream == NULL)
        return cli_refuse("out of memory");
    if (argc == 1)
        status = list(t.stream, why, sizeof why);
    else if (argc == 2 && strcmp(argv[1], "--help") == 0)
        fputs(help, t.stream);
    else if (argc > 2 && strcmp(argv[1], "show") == 0)
        status = show(t.stream, argc - 1, argv + 1, why, sizeof why);
    else if (argc > 2 && strcmp(argv[1], "power") == 0)
        status = power(t.stream, argc - 1, argv + 1, why, sizeof why);
    else
        status = cli_refuse("drives: %s: see ftlsim drives --help", argv[1]);
    if (status == CLI_OK)
        return cli_text_deliver(&t, NULL);
    cli_text_drop(&t);
    return status;
}
