/* text.c - output that is written whole or not at all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

void cli_text_open(struct cli_text *t)
{
    t->data = NULL;
    t->size = 0;
    t->stream = open_memstream(&t->data, &t->size);
}

void cli_text_drop(struct cli_text *t)
{
    if (t->stream != NULL)
        fclose(t->stream);
    free(t->data);
}

static int write_all(FILE *f, const struct cli_text *t, const char *name)
{
    errno = 0;
    bool bad = fwrite(t->data, 1, t->size, f) != t->size;
    bad |= fflush(f) != 0;
    int reason = errno;
    if (bad)
        return cli_refuse("%s: %s", name, reason != 0 ? strerror(reason) : "write failed");
    return CLI_OK;
}

/* A device, a pipe or a link is written in place: renaming would replace it. */
static bool is_plain(const char *path)
{
    struct stat st;
    return lstat(path, &st) != 0 || S_ISREG(st.st_mode);
}

static char *part_of(const char *path)
{
    size_t size = strlen(path) + sizeof ".part";
    char *part = malloc(size);
    if (part != NULL)
        snprintf(part, size, "%s.part", path);
    return part;
}

static int write_file(const struct cli_text *t, const char *path)
{
    bool plain = is_plain(path);
    char *part = plain ? part_of(path) : strdup(path);
    if (part == NULL)
        return cli_refuse("out of memory");
    FILE *f = fopen(part, "wb");
    int status =
        f == NULL ? cli_refuse("%s: %s", path, strerror(errno)) : write_all(f, t, path);
    if (f != NULL && fclose(f) != 0 && status == CLI_OK)
        status = cli_refuse("%s: %s", path, strerror(errno));
    if (plain && status == CLI_OK && rename(part, path) != 0)
        status = cli_refuse("%s: %s", path, strerror(errno));
    if (plain && f != NULL && status != CLI_OK)
        remove(part);
    free(part);
    return status;
}

int cli_text_deliver(struct cli_text *t, const char *path)
{
    if (t->stream == NULL)
        return cli_refuse("out of memory");
    bool bad = ferror(t->stream) != 0;
    if (fclose(t->stream) != 0 || bad) {
        free(t->data);
        return cli_refuse("out of memory");
    }
    int status = path != NULL ? write_file(t, path) : write_all(stdout, t, "standard output");
    free(t->data);
    return status;
}

int cli_text_try(const char *path)
{
    char *part = is_plain(path) ? part_of(path) : NULL;
    if (part == NULL)
        return access(path, W_OK) == 0 ? CLI_OK : cli_refuse("%s: %s", path, strerror(errno));
    FILE *f = fopen(part, "wb");
    int status = f == NULL ? cli_refuse("%s: %s", path, strerror(errno)) : CLI_OK;
    if (f != NULL) {
        fclose(f);
        remove(part);
    }
    free(part);
    return status;
}
