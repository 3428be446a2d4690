/* jobfile.c - sections and options into jobs. */
#include "jobfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

enum { FILE_MAX = 16 << 20 };

struct build {
    struct wl_jobs *jobs;
    struct wl_entry *current; /* NULL: before the first section, or in one not taken */
    bool before_first;
    const char *const *sections;
    size_t section_count;
    bool *section_seen;
    bool accepted[WL_OPT_COUNT];
    const char *filename; /* the first one given */
    bool filenames_differ;
    char *why;
    size_t why_size;
    int err;
};

char *wl_jobs_string(struct wl_jobs *jobs, const char *text, size_t len)
{
    struct wl_string *s = malloc(sizeof *s + len + 1);
    if (s == NULL)
        return NULL;
    if (len > 0)
        memcpy(s->text, text, len);
    s->text[len] = '\0';
    s->next = jobs->strings;
    jobs->strings = s;
    return s->text;
}

void wl_jobs_add_note(struct wl_jobs *jobs, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (uint32_t i = 0; i < jobs->note_count; i++)
        if (strcmp(jobs->notes[i], text) == 0)
            return;
    if (jobs->note_count < WL_NOTES_MAX) {
        const char *kept = wl_jobs_string(jobs, text, strlen(text));
        if (kept != NULL)
            jobs->notes[jobs->note_count++] = kept;
    }
}

int wl_entry_refuse(const struct wl_jobs *jobs, const struct wl_entry *entry, uint32_t option,
                    char *ret_why, size_t why_size, const char *format, ...)
{
    char rule[512];
    va_list args;
    va_start(args, format);
    vsnprintf(rule, sizeof rule, format, args);
    va_end(args);
    uint32_t line = entry->line[option] != 0 ? entry->line[option] : entry->job.line;
    snprintf(ret_why, why_size, "%s:%u: %s: %s", jobs->file, line, wl_option_name(option),
             rule);
    return WL_EJOB;
}

static int fail(struct build *b, int err, uint32_t line, const char *key, const char *format,
                ...) __attribute__((format(printf, 5, 6)));

static int fail(struct build *b, int err, uint32_t line, const char *key, const char *format,
                ...)
{
    char rule[512];
    va_list args;
    va_start(args, format);
    vsnprintf(rule, sizeof rule, format, args);
    va_end(args);
    if (err == WL_ENOMEM)
        snprintf(b->why, b->why_size, "out of memory");
    else
        snprintf(b->why, b->why_size, "%s:%u: %s: %s", b->jobs->file, line, key, rule);
    b->err = err;
    return 1;
}

/* ---- sections ---------------------------------------------------------- */
static bool section_taken(struct build *b, const char *name)
{
    bool taken = b->section_count == 0;
    for (size_t i = 0; i < b->section_count; i++)
        if (strcmp(b->sections[i], name) == 0)
            taken = b->section_seen[i] = true;
    return taken;
}

static struct wl_entry *new_entry(struct wl_jobs *jobs)
{
    if ((jobs->count & (jobs->count - 1)) == 0) { /* grows at powers of two */
        uint32_t room = jobs->count == 0 ? 1 : 2 * jobs->count;
        struct wl_entry *grown = realloc(jobs->entries, room * sizeof *grown);
        if (grown == NULL)
            return NULL;
        jobs->entries = grown;
    }
    struct wl_entry *e = &jobs->entries[jobs->count++];
    *e = jobs->global;
    e->pairs = NULL;
    e->pair_count = 0;
    return e;
}

static int on_section(void *user, const char *name, uint32_t line)
{
    struct build *b = user;
    b->before_first = false;
    if (name[0] == '\0')
        return fail(b, WL_EJOB, line, "[]", "a section needs a name");
    if (strcmp(name, "global") == 0) {
        b->current = &b->jobs->global;
        if (b->current->job.line == 0)
            b->current->job.line = line;
        return 0;
    }
    b->current = NULL;
    if (!section_taken(b, name))
        return 0;
    if (b->jobs->count >= WL_JOBS_MAX)
        return fail(b, WL_EJOB, line, name, "more than %d jobs", WL_JOBS_MAX);
    struct wl_entry *e = new_entry(b->jobs);
    if (e == NULL)
        return fail(b, WL_ENOMEM, line, name, " ");
    e->job.line = line;
    e->job.name = wl_jobs_string(b->jobs, name, strlen(name));
    b->current = e;
    return e->job.name != NULL ? 0 : fail(b, WL_ENOMEM, line, name, " ");
}

/* ---- values ------------------------------------------------------------ */
static int put_variable(struct build *b, const char **at, char *out, size_t *len,
                        const char *key, uint32_t line)
{
    const char *end = strchr(*at, '}');
    char name[256];
    if (end == NULL)
        return fail(b, WL_EJOB, line, key, "'${' without '}'");
    size_t n = (size_t)(end - *at) - 2;
    if (n == 0 || n >= sizeof name)
        return fail(b, WL_EJOB, line, key, "a variable needs a name of 1 to 255 characters");
    memcpy(name, *at + 2, n);
    name[n] = '\0';
    const char *value = getenv(name);
    if (value == NULL)
        return fail(b, WL_EJOB, line, key, "environment variable %s is not set", name);
    size_t value_len = strlen(value);
    if (*len + value_len > WL_LINE_MAX)
        return fail(b, WL_EJOB, line, key, "value longer than %d characters", WL_LINE_MAX);
    memcpy(out + *len, value, value_len);
    *len += value_len;
    *at = end + 1;
    return 0;
}

/* Puts the environment's values in place of ${NAME}; NULL after a message. */
static const char *expand(struct build *b, const char *value, const char *key, uint32_t line)
{
    static const char *const machine[] = {"$pagesize", "$mb_memory", "$ncpus"};
    for (size_t i = 0; i < sizeof machine / sizeof machine[0]; i++)
        if (strstr(value, machine[i]) != NULL) {
            fail(b, WL_EJOB, line, key, "%s would make the result depend on this machine",
                 machine[i]);
            return NULL;
        }
    char *out = malloc(WL_LINE_MAX + 1);
    size_t len = 0;
    int bad = out == NULL ? fail(b, WL_ENOMEM, line, key, " ") : 0;
    while (bad == 0 && *value != '\0') {
        if (value[0] == '$' && value[1] == '{')
            bad = put_variable(b, &value, out, &len, key, line);
        else if (len >= WL_LINE_MAX)
            bad = fail(b, WL_EJOB, line, key, "value longer than %d characters", WL_LINE_MAX);
        else
            out[len++] = *value++;
    }
    struct wl_span text = wl_span_trim((struct wl_span){out, bad == 0 ? len : 0});
    const char *kept = bad == 0 ? wl_jobs_string(b->jobs, text.at, text.len) : NULL;
    if (bad == 0 && kept == NULL)
        fail(b, WL_ENOMEM, line, key, " ");
    free(out);
    return kept;
}

static int add_pair(struct build *b, const char *key, const char *value, uint32_t line)
{
    struct wl_entry *e = b->current;
    for (uint32_t i = 0; i < e->pair_count; i++)
        if (strcmp(e->pairs[i].key, key) == 0) {
            e->pairs[i].value = value;
            return 0;
        }
    struct wl_pair *grown = realloc(e->pairs, (e->pair_count + 1) * sizeof *grown);
    if (grown == NULL)
        return fail(b, WL_ENOMEM, line, key, " ");
    e->pairs = grown;
    e->pairs[e->pair_count++] = (struct wl_pair){key, value};
    return 0;
}

static bool is_off(const char *value)
{
    return strcmp(value, "0") == 0 || strcmp(value, "none") == 0;
}

static void note_filename(struct build *b, const char *value)
{
    if (b->filename == NULL)
        b->filename = value;
    const char *colon = strchr(value, ':');
    if (strcmp(b->filename, value) != 0 ||
        (colon != NULL && colon != value && colon[-1] != '\\'))
        b->filenames_differ = true;
}

/* An option that has no effect on the job. */
static int take_inert(struct build *b, uint32_t id, const char *value, uint32_t line)
{
    const char *key = wl_option_name(id);
    if (wl_option_state(id) == WL_REFUSED && !is_off(value))
        return fail(b, WL_EJOB, line, key, "%s", wl_option_text(id));
    if (id == WL_OPT_FILENAME)
        note_filename(b, value);
    else if (wl_option_state(id) == WL_ACCEPTED && !(id == WL_OPT_VERIFY && is_off(value)))
        b->accepted[id] = true;
    return 0;
}

/* A name without '=': true for a flag, present for what has no effect. */
static const char *bare_value(uint32_t id)
{
    return wl_option_is_flag(id) || wl_option_state(id) != WL_SUPPORTED ? "1" : NULL;
}

static bool is_log(uint32_t id)
{
    return id == WL_OPT_WRITE_BW_LOG || id == WL_OPT_WRITE_IOPS_LOG ||
           id == WL_OPT_WRITE_LAT_LOG;
}

static int take_option(struct build *b, uint32_t id, const char *value, uint32_t line)
{
    char rule[WL_RULE_MAX];
    const char *key = wl_option_name(id), *text;
    if (value == NULL && is_log(id))
        text = ""; /* the job's own name, known in wl_entry_check() */
    else if (value == NULL)
        text = bare_value(id);
    else
        text = expand(b, value, key, line);
    if (text == NULL)
        return b->err != 0 ? 1 : fail(b, WL_EJOB, line, key, "needs a value");
    b->current->line[id] = line;
    if (add_pair(b, key, text, line) != 0)
        return 1;
    if (wl_option_state(id) != WL_SUPPORTED)
        return take_inert(b, id, text, line);
    if (wl_option_apply(id, text, &b->current->job, rule) < 0)
        return fail(b, WL_EJOB, line, key, "%s", rule);
    return 0;
}

static int on_option(void *user, const char *name, const char *value, uint32_t line)
{
    struct build *b = user;
    if (b->before_first)
        return fail(b, WL_EJOB, line, name,
                    "an option must stand in a section ([global] or [JOB])");
    if (b->current == NULL)
        return 0;
    uint32_t id = wl_option_find(name);
    if (strncmp(name, "include ", 8) == 0)      /* fio's only option with a blank for '=' */
        id = wl_option_find("include");
    if (id < WL_OPT_COUNT)
        return take_option(b, id, value, line);
    const char *near = wl_option_nearest(name);
    if (near != NULL)
        return fail(b, WL_EJOB, line, name, "unknown option; did you mean %s?", near);
    return fail(b, WL_EJOB, line, name, "unknown option");
}

/* ---- the whole file ---------------------------------------------------- */
/* A file of [global] alone is one job, named after `name` or the file. */
static int add_global_job(struct build *b)
{
    struct wl_jobs *jobs = b->jobs;
    struct wl_entry *e = new_entry(jobs);
    if (e == NULL)
        return fail(b, WL_ENOMEM, 0, "", " ");
    if (e->job.name == NULL) {
        const char *base = strrchr(jobs->file, '/');
        base = base != NULL ? base + 1 : jobs->file;
        const char *dot = strrchr(base, '.');
        e->job.name = wl_jobs_string(
            jobs, base, dot != NULL && dot > base ? (size_t)(dot - base) : strlen(base));
    }
    if (e->job.name == NULL)
        return fail(b, WL_ENOMEM, 0, "", " ");
    wl_jobs_add_note(jobs, "no section but [global]: run as one job, '%s'", e->job.name);
    return 0;
}

static void note_accepted(struct build *b)
{
    char list[1500];
    size_t len = 0;
    for (uint32_t i = 0; i < WL_OPT_COUNT && len < sizeof list - 64; i++)
        if (b->accepted[i])
            len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", len > 0 ? ", " : "",
                                    wl_option_name(i));
    if (len > 0)
        wl_jobs_add_note(b->jobs, "accepted without meaning here: %s", list);
    if (b->filenames_differ)
        wl_jobs_add_note(b->jobs, "filename: all names are the one simulated drive");
}

static int finish(struct build *b)
{
    struct wl_jobs *jobs = b->jobs;
    for (size_t i = 0; i < b->section_count; i++)
        if (!b->section_seen[i])
            return fail(b, WL_EJOB, 1, "--section", "no section named '%s'", b->sections[i]);
    if (jobs->count == 0 && jobs->global.job.line == 0)
        return fail(b, WL_EJOB, 1, "job", "the file holds no job");
    if (jobs->count == 0 && add_global_job(b) != 0)
        return 1;
    note_accepted(b);
    for (uint32_t i = 0; i < jobs->count && b->err == 0; i++)
        b->err = wl_entry_check(jobs, &jobs->entries[i], b->why, b->why_size);
    return b->err != 0;
}

static int parse(struct build *b, const char *text, size_t size)
{
    struct wl_line_sink sink = {on_section, on_option, b};
    char rule[WL_RULE_MAX];
    uint32_t line;
    int r = wl_lines_read(text, size, &sink, &line, rule);
    if (r == -2)
        return fail(b, WL_ENOMEM, 0, "", " ");
    if (r < 0)
        return fail(b, WL_EJOB, line, "line", "%s", rule);
    return r > 0 ? 1 : finish(b);
}

int wl_jobs_parse(const char *name, const char *text, size_t size, const char *const *sections,
                  size_t section_count, wl_jobs **ret_jobs, char *ret_why, size_t why_size)
{
    struct build b = {.before_first = true,
                      .sections = sections,
                      .section_count = section_count,
                      .why = ret_why,
                      .why_size = why_size};
    if (name == NULL || (text == NULL && size > 0) || ret_jobs == NULL || ret_why == NULL)
        return WL_EINVAL;
    b.jobs = calloc(1, sizeof *b.jobs);
    b.section_seen = calloc(section_count + 1, sizeof *b.section_seen);
    if (b.jobs != NULL)
        b.jobs->file = wl_jobs_string(b.jobs, name, strlen(name));
    if (b.jobs == NULL || b.section_seen == NULL || b.jobs->file == NULL) {
        b.err = WL_ENOMEM;
        snprintf(ret_why, why_size, "out of memory");
    } else {
        wl_job_defaults(&b.jobs->global.job);
        parse(&b, text, size);
    }
    free(b.section_seen);
    if (b.err != 0) {
        wl_jobs_free(b.jobs);
        return b.err;
    }
    *ret_jobs = b.jobs;
    return WL_OK;
}

static int read_file(const char *path, char **ret_text, size_t *ret_size, char *why,
                     size_t why_size)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        snprintf(why, why_size, "%s:1: job file: %s", path, strerror(errno));
        return WL_EIO;
    }
    char *text = malloc(FILE_MAX + 1);
    size_t size = text != NULL ? fread(text, 1, FILE_MAX + 1, f) : 0;
    bool failed = ferror(f) != 0;
    int reason = errno;
    fclose(f);
    if (text == NULL || failed || size > FILE_MAX) {
        snprintf(why, why_size, "%s:1: job file: %s", path,
                 text == NULL ? "out of memory"
                 : failed     ? strerror(reason)
                              : "larger than 16 MiB");
        free(text);
        return text == NULL ? WL_ENOMEM : failed ? WL_EIO : WL_EJOB;
    }
    *ret_text = text;
    *ret_size = size;
    return WL_OK;
}

int wl_jobs_load(const char *path, const char *const *sections, size_t section_count,
                 wl_jobs **ret_jobs, char *ret_why, size_t why_size)
{
    char *text;
    size_t size;
    if (path == NULL || ret_jobs == NULL || ret_why == NULL)
        return WL_EINVAL;
    int err = read_file(path, &text, &size, ret_why, why_size);
    if (err != WL_OK)
        return err;
    err = wl_jobs_parse(path, text, size, sections, section_count, ret_jobs, ret_why, why_size);
    free(text);
    return err;
}

void wl_jobs_free(wl_jobs *jobs)
{
    if (jobs == NULL)
        return;
    for (uint32_t i = 0; i < jobs->count; i++)
        free(jobs->entries[i].pairs);
    free(jobs->entries);
    free(jobs->global.pairs);
    while (jobs->strings != NULL) {
        struct wl_string *next = jobs->strings->next;
        free(jobs->strings);
        jobs->strings = next;
    }
    free(jobs);
}

/* ---- reading ----------------------------------------------------------- */
const char *wl_jobs_file(const wl_jobs *jobs)
{
    return jobs->file;
}

uint32_t wl_jobs_count(const wl_jobs *jobs)
{
    return jobs->count;
}

const struct wl_job *wl_jobs_get(const wl_jobs *jobs, uint32_t index)
{
    return index < jobs->count ? &jobs->entries[index].job : NULL;
}

const struct wl_pair *wl_jobs_pairs(const wl_jobs *jobs, uint32_t index, uint32_t *ret_count)
{
    const struct wl_entry *e = index < jobs->count ? &jobs->entries[index] : &jobs->global;
    *ret_count = e->pair_count;
    return e->pairs;
}

const char *wl_jobs_note(const wl_jobs *jobs, uint32_t index)
{
    return index < jobs->note_count ? jobs->notes[index] : NULL;
}
