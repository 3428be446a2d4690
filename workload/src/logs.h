/* logs.h - fio's bandwidth, IOPS and latency logs.
 *
 * Files grow under "NAME.part" and get their names together at the end: a run that
 * fails leaves none. */
#ifndef WL_LOGS_H_
#define WL_LOGS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct wl_log {
    struct wl_log *next;
    char *path, *part;
    FILE *file;
    int reason;                     /* errno of the first failed write */
    bool kept;
};

struct wl_logs {
    struct wl_log *first;
};

/* Opens STEM_KIND.NUMBER.log, or STEM_KIND.log with number 0, in `directory` (NULL:
 * the present one); a log that is open already is shared. WL_OK, WL_ENOMEM, WL_EIO. */
int wl_logs_open(struct wl_logs *logs, const char *directory, const char *stem, const char *kind,
                 uint32_t number, struct wl_log **ret_log, char *ret_why, size_t why_size);
/* One line; offset is WL_NO_VALUE when the log has no offsets. Failures show in
 * wl_logs_keep(). */
void wl_log_line(struct wl_log *log, uint64_t ms, uint64_t value, unsigned dir, uint64_t bytes,
                 uint64_t offset);
int wl_logs_keep(struct wl_logs *logs, char *ret_why, size_t why_size);
/* Removes what was not kept and frees all. */
void wl_logs_close(struct wl_logs *logs);

#endif
