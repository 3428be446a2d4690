#include "logs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "workload/jobs.h"

static char *join(const char *directory, const char *stem, const char *kind, uint32_t number)
{
    size_t size =
        strlen(stem) + strlen(kind) + (directory != NULL ? strlen(directory) : 0) + 24;
    char *path = malloc(size), suffix[24] = "";
    if (path == NULL)
        return NULL;
    if (number > 0)
        snprintf(suffix, sizeof suffix, ".%u", number);
    bool inside = directory != NULL && stem[0] != '/';
    snprintf(path, size, "%s%s%s_%s%s.log", inside ? directory : "", inside ? "/" : "", stem,
             kind, suffix);
    return path;
}

static int open_log(struct wl_log *log, char *why, size_t why_size)
{
    size_t size = strlen(log->path) + sizeof ".part";
    log->part = malloc(size);
    if (log->part == NULL)
        return WL_ENOMEM;
    snprintf(log->part, size, "%s.part", log->path);
    log->file = fopen(log->part, "wb");
    if (log->file != NULL)
        return WL_OK;
    snprintf(why, why_size, "%s: log: %s", log->path, strerror(errno));
    return WL_EIO;
}

int wl_logs_open(struct wl_logs *logs, const char *directory, const char *stem,
                 const char *kind, uint32_t number, struct wl_log **ret_log, char *ret_why,
                 size_t why_size)
{
    char *path = join(directory, stem, kind, number);
    struct wl_log *log;
    if (path == NULL)
        return WL_ENOMEM;
    for (log = logs->first; log != NULL; log = log->next)
        if (strcmp(log->path, path) == 0) {
            free(path);
            *ret_log = log;
            return WL_OK;
        }
    log = calloc(1, sizeof *log);
    if (log == NULL) {
        free(path);
        return WL_ENOMEM;
    }
    log->path = path;
    log->next = logs->first;
    logs->first = log;
    *ret_log = log;
    return open_log(log, ret_why, why_size);
}

void wl_log_line(struct wl_log *log, uint64_t ms, uint64_t value, unsigned dir, uint64_t bytes,
                 uint64_t offset)
{
    int r;
    if (offset == WL_NO_VALUE)
        r = fprintf(log->file, "%" PRIu64 ", %" PRIu64 ", %u, %" PRIu64 ", 0\n", ms, value, dir,
                    bytes);
    else
        r = fprintf(log->file, "%" PRIu64 ", %" PRIu64 ", %u, %" PRIu64 ", %" PRIu64 ", 0\n",
                    ms, value, dir, bytes, offset);
    if (r < 0 && log->reason == 0)
        log->reason = errno;
}

static bool finish(struct wl_log *log)
{
    if (fflush(log->file) != 0 && log->reason == 0)
        log->reason = errno;
    if (ferror(log->file) != 0 && log->reason == 0)
        log->reason = EIO;
    if (fclose(log->file) != 0 && log->reason == 0)
        log->reason = errno;
    log->file = NULL;
    return log->reason == 0;
}

int wl_logs_keep(struct wl_logs *logs, char *ret_why, size_t why_size)
{
    for (struct wl_log *log = logs->first; log != NULL; log = log->next)
        if (!finish(log)) {
            snprintf(ret_why, why_size, "%s: log: %s", log->path, strerror(log->reason));
            return WL_EIO;
        }
    for (struct wl_log *log = logs->first; log != NULL; log = log->next) {
        if (rename(log->part, log->path) != 0) {
            snprintf(ret_why, why_size, "%s: log: %s", log->path, strerror(errno));
            return WL_EIO;
        }
        log->kept = true;
    }
    return WL_OK;
}

void wl_logs_close(struct wl_logs *logs)
{
    while (logs->first != NULL) {
        struct wl_log *log = logs->first;
        logs->first = log->next;
        if (log->file != NULL)
            fclose(log->file);
        if (log->part != NULL && !log->kept)
            remove(log->part);
        free(log->path);
        free(log->part);
        free(log);
    }
}
