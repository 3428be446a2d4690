/* jobfile.h - what a parsed job file is inside the library. */
#ifndef WL_JOBFILE_H_
#define WL_JOBFILE_H_

#include "options.h"

enum { WL_NOTES_MAX = 16, WL_JOBS_MAX = 4096 };

struct wl_entry {
    struct wl_job job;
    uint32_t line[WL_OPT_COUNT];    /* where an option was given, 0 = nowhere */
    struct wl_pair *pairs;          /* of this section alone */
    uint32_t pair_count;
};

struct wl_string {
    struct wl_string *next;
    char text[];
};

struct wl_jobs {
    const char *file;
    struct wl_entry *entries;
    uint32_t count;
    struct wl_entry global;
    const char *notes[WL_NOTES_MAX];
    uint32_t note_count;
    struct wl_string *strings;      /* everything that text points to */
};

/* A copy that lives as long as the jobs; NULL on lack of memory. */
char *wl_jobs_string(struct wl_jobs *jobs, const char *text, size_t len);
void wl_jobs_add_note(struct wl_jobs *jobs, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "FILE:LINE: key: rule" into ret_why, the line being that of the option or of
 * the section. Always returns WL_EJOB. */
int wl_entry_refuse(const struct wl_jobs *jobs, const struct wl_entry *entry, uint32_t option,
                    char *ret_why, size_t why_size, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Rules between options of one job; settles what follows from them. */
int wl_entry_check(struct wl_jobs *jobs, struct wl_entry *entry, char *ret_why, size_t why_size);

#endif
