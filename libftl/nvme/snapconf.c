/* snapconf.c - the configuration in a snapshot: as text, and what of it may change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvme/snapfile.h"

static const struct row {
    const char *key, *text;     /* the default: a text, or a number */
    uint64_t number;
    size_t offset;
    bool is_string;
} rows[] = {
#define FTL_CFG_U64(id, key, unit, def, min, max, text) {key, NULL, def, offsetof(struct ftl_config, id), false},
#define FTL_CFG_STR(id, key, def, text) {key, def, 0, offsetof(struct ftl_config, id), true},
#include "ftl/ftl_config.def"
#undef FTL_CFG_U64
#undef FTL_CFG_STR
};
enum { ROWS = sizeof rows / sizeof rows[0], VALUE_MAX = FTL_NAME_MAX + 24 };

static void value_of(const struct ftl_config *cfg, const struct row *r, char ret[VALUE_MAX])
{
    const char *at = (const char *)cfg + r->offset;
    uint64_t v;

    if (r->is_string) {
        (void)snprintf(ret, VALUE_MAX, "%s", at);
        return;
    }
    memcpy(&v, at, sizeof v);
    (void)snprintf(ret, VALUE_MAX, "%llu", (unsigned long long)v);
}

size_t snap_config_put(const struct ftl_config *cfg, char *ret_text)
{
    char value[VALUE_MAX];
    size_t at = 0;

    for (int i = 0; i < ROWS; i++) {
        value_of(cfg, &rows[i], value);
        at += (size_t)snprintf(ret_text + at, SNAP_TEXT_MAX - at, "%s = %s\n", rows[i].key, value);
    }
    return at;
}

static bool set_value(struct ftl_config *cfg, const struct row *r, const char *text, size_t n)
{
    char value[VALUE_MAX], again[VALUE_MAX], *to = (char *)cfg + r->offset;

    if (n == 0 || n >= (r->is_string ? FTL_NAME_MAX : 24))
        return false;
    memcpy(value, text, n);
    value[n] = '\0';
    if (r->is_string) {
        memcpy(to, value, n + 1);
        return true;
    }
    uint64_t v = strtoull(value, NULL, 10);
    memcpy(to, &v, sizeof v);
    value_of(cfg, r, again);            /* blanks, signs, overflow: not what was written */
    return strcmp(again, value) == 0;
}

static const struct row *row_of(const char *key, size_t n)
{
    for (int i = 0; i < ROWS; i++)
        if (strlen(rows[i].key) == n && memcmp(rows[i].key, key, n) == 0)
            return &rows[i];
    return NULL;
}

/* A key that is not there is younger than the file: what it adds was not there either, as its
 * default says. */
int snap_config_get(const char *text, struct ftl_config *ret, char *why, size_t why_size)
{
    bool seen[ROWS] = {false};

    *ret = (struct ftl_config){.struct_size = sizeof *ret};
    for (int i = 0; i < ROWS; i++)
        if (rows[i].is_string)
            (void)snprintf((char *)ret + rows[i].offset, FTL_NAME_MAX, "%s", rows[i].text);
        else
            memcpy((char *)ret + rows[i].offset, &rows[i].number, sizeof rows[i].number);
    while (*text != '\0') {
        const char *end = strchr(text, '\n'), *mid = strstr(text, " = ");
        if (end == NULL || mid == NULL || mid > end) {
            (void)snprintf(why, why_size, "a line is not `key = value`");
            return -1;
        }
        const struct row *row = row_of(text, (size_t)(mid - text));
        if (row == NULL || seen[row - rows]) {
            (void)snprintf(why, why_size, "%.*s: %s", mid - text < 60 ? (int)(mid - text) : 60, text,
                           row == NULL ? "unknown key, of another version" : "is there twice");
            return -1;
        }
        seen[row - rows] = true;
        if (!set_value(ret, row, mid + 3, (size_t)(end - mid - 3))) {
            (void)snprintf(why, why_size, "%s has no value that can be", row->key);
            return -1;
        }
        text = end + 1;
    }
    return 0;
}

/* A key, or a section with its dot, that a loaded drive may have otherwise. */
static bool is_listed(const char *key, const char *const *list)
{
    for (; *list != NULL; list++) {
        size_t n = strlen(*list);
        if ((*list)[n - 1] == '.' ? strncmp(key, *list, n) == 0 : strcmp(key, *list) == 0)
            return true;
    }
    return false;
}

int snap_config_match(const struct ftl_config *saved, const struct ftl_config *want,
                      uint32_t kind, bool *ret_pace, char *why, size_t why_size)
{
    static const char *const pace[] = {"gc.pacing", "gc.idle_superblocks", "gc.idle_after_ns",
                                       "gc.pace_ppm", NULL};
    static const char *const any[] = {"gc.policy", "gc.choices", "gc.window", "wear.policy",
                                      "drive.name", "drive.family", NULL};
    static const char *const media[] = {"link.", "fe.", "fw.", "preread.", "sched.",
                                        "host.submit_ns", "host.complete_ns", "journal.entry_ns",
                                        NULL};
    char was[VALUE_MAX], is[VALUE_MAX];

    *ret_pace = false;
    for (int i = 0; i < ROWS; i++) {
        const char *key = rows[i].key;
        value_of(saved, &rows[i], was);
        value_of(want, &rows[i], is);
        if (strcmp(was, is) == 0 || is_listed(key, any))
            continue;
        if (is_listed(key, pace)) {
            *ret_pace = true;
            continue;
        }
        /* the reads of collection set the size of the buffers, which the log has room for */
        if (kind == FTL_SNAPSHOT_MEDIA && is_listed(key, media) && strcmp(key, "sched.gc_reads") != 0)
            continue;
        if (why != NULL)
            (void)snprintf(why, why_size, "%s=%s: the snapshot has %s, which cannot change", key, is,
                           was);
        return FTL_ECONFIG;
    }
    return 0;
}
