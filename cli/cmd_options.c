/* cmd_options.c - ftlsim options: the table of fio's options. */
#include <string.h>

#include "cli.h"

static const char *const states[] = {"supported", "accepted", "refused"};

static void print_plain(FILE *out)
{
    struct wl_option o;
    for (uint32_t i = 0; wl_option_get(i, &o) == 0; i++)
        fprintf(out, "%-26s %-9s %s\n", o.name, states[o.status], o.text);
}

/* docs/fio-options.md is this text; a test compares the two. */
static void print_markdown(FILE *out)
{
    static const char *const titles[] = {
        "## Supported\n\n| option | aliases | value | meaning |\n|---|---|---|---|\n",
        "\n## Accepted without meaning\n\nOne note on standard error names those that a job "
        "file uses.\n\n"
        "| option | aliases | why it has no meaning here |\n|---|---|---|\n",
        "\n## Refused\n\nThey would change the result. A value of `0` or `none` is "
        "accepted.\n\n"
        "| option | aliases | reason |\n|---|---|---|\n",
    };
    struct wl_option o;
    fputs(
        "# fio options\n\nMade by `ftlsim options --markdown` from `workload/src/options.def`. "
        "An option in none of the tables is an error that names it.\n\n",
        out);
    for (int state = 0; state < 3; state++) {
        fputs(titles[state], out);
        for (uint32_t i = 0; wl_option_get(i, &o) == 0; i++) {
            if (o.status != state)
                continue;
            fprintf(out, "| `%s` | %s |", o.name, o.aliases);
            if (state == WL_SUPPORTED)
                fprintf(out, " %s |", o.type);
            fputc(' ', out);
            for (const char *p = o.text; *p != '\0'; p++)
                fprintf(out, *p == '|' ? "\\%c" : "%c", *p);
            fputs(" |\n", out);
        }
    }
}

int cmd_options(int argc, char **argv)
{
    struct cli_text t;
    bool markdown = argc == 2 && strcmp(argv[1], "--markdown") == 0;
    bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
    if (argc > 1 && !markdown && !help)
        return cli_refuse("options: %s: unknown; see ftlsim options --help", argv[1]);
    cli_text_open(&t);
    if (t.stream != NULL && help)
        fputs("usage: ftlsim options [--markdown]\n\nLists fio's options: supported, accepted "
              "without meaning, refused.\n",
              t.stream);
    else if (t.stream != NULL && markdown)
        print_markdown(t.stream);
    else if (t.stream != NULL)
        print_plain(t.stream);
    return cli_text_deliver(&t, NULL);
}
