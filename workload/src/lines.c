/* lines.c - fio's line format on top of inih.
 *
 * inih reads `name=value` lines of up to 200 characters. fio's files have longer
 * lines, names without a value, comments from ';' and '#' anywhere, empty
 * sections and '\r\n'. The reader below hands inih lines it understands: a
 * section becomes the option "]", a name alone gets an empty value, a long value
 * goes on in inih's continuation lines. Nothing of inih's global settings is used. */
#include "lines.h"

#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

/* Characters of one value that fit a line of inih beside the longest name. */
enum { CHUNK_MAX = 120, NAME_MAX_LEN = 48 };
#define SECTION_NAME "]"

struct feed {
    struct wl_span rest; /* text not yet read */
    uint32_t line;
    struct wl_span tail; /* of the present value, not yet handed to inih */
    const struct wl_line_sink *sink;
    char *value; /* gathered from inih */
    size_t value_len;
    char name[NAME_MAX_LEN + 2];
    bool open, bare; /* an option is being gathered; it has no '=' */
    int refused;     /* of the sink */
    bool bad;        /* the text is refused */
    char *rule;
};

static void refuse(struct feed *f, const char *rule)
{
    if (!f->bad && f->refused == 0) {
        f->bad = true;
        snprintf(f->rule, WL_RULE_MAX, "%s", rule);
    }
}

/* Gives the gathered option to the sink. */
static void deliver(struct feed *f)
{
    if (!f->open || f->bad || f->refused != 0)
        return;
    f->open = false;
    f->value[f->value_len] = '\0';
    if (strcmp(f->name, SECTION_NAME) == 0)
        f->refused = f->sink->section(f->sink->user, f->value, f->line);
    else
        f->refused =
            f->sink->option(f->sink->user, f->name, f->bare ? NULL : f->value, f->line);
}

/* inih's handler: the first call of a line starts an option, continuation lines add to it. */
static int gather(void *user, const char *section, const char *name, const char *value)
{
    struct feed *f = user;
    (void)section;
    if (!f->open) {
        snprintf(f->name, sizeof f->name, "%s", name);
        f->value_len = 0;
        f->open = true;
    }
    size_t len = strlen(value);
    if (f->value_len + len > WL_LINE_MAX)
        return 0;
    memcpy(f->value + f->value_len, value, len);
    f->value_len += len;
    return 1;
}

/* The part of the tail that goes into one line. A blank at the joint would be
 * lost to trimming, so the cut moves to where there is none. */
static size_t chunk_length(struct wl_span tail)
{
    size_t len = tail.len;
    if (len <= CHUNK_MAX)
        return len;
    for (len = CHUNK_MAX; len > 0; len--)
        if (tail.at[len - 1] != ' ' && tail.at[len - 1] != '\t' && tail.at[len] != ' ' &&
            tail.at[len] != '\t')
            break;
    return len;
}

static char *emit(struct feed *f, char *str, int num, struct wl_span name)
{
    size_t len = chunk_length(f->tail);
    if (len == 0 && f->tail.len > 0) {
        refuse(f, "too many blanks in a row");
        return NULL;
    }
    if (name.at != NULL)
        snprintf(str, (size_t)num, "%.*s=%.*s\n", (int)name.len, name.at, (int)len, f->tail.at);
    else
        snprintf(str, (size_t)num, " %.*s\n", (int)len, f->tail.at);
    f->tail.at += len;
    f->tail.len -= len;
    return str;
}

static bool next_line(struct feed *f, struct wl_span *ret_line)
{
    if (f->rest.at == NULL || f->rest.len == 0 || !wl_span_cut(&f->rest, '\n', ret_line))
        return false;
    f->line++;
    for (size_t i = 0; i < ret_line->len; i++) {
        unsigned char c = (unsigned char)ret_line->at[i];
        if ((c < ' ' && c != '\t' && c != '\r' && c != '\f') || c == 0x7f) {
            refuse(f, "not a text file (a control character)");
            return false;
        }
        if (c == ';' || c == '#')
            ret_line->len = i;
    }
    *ret_line = wl_span_trim(*ret_line);
    if (ret_line->len > WL_LINE_MAX) {
        refuse(f, "line longer than 65536 characters");
        return false;
    }
    return true;
}

/* Splits one line: name into `ret_name`, value into the tail. */
static bool split_line(struct feed *f, struct wl_span line, struct wl_span *ret_name)
{
    if (line.at[0] == '[') {
        if (line.len < 3 || line.at[line.len - 1] != ']') {
            refuse(f, line.at[line.len - 1] == ']' ? "a section needs a name"
                                                   : "a section ends with ']'");
            return false;
        }
        *ret_name = wl_span_of(SECTION_NAME);
        f->tail = wl_span_trim((struct wl_span){line.at + 1, line.len - 2});
        f->bare = false;
        return true;
    }
    struct wl_span rest = line;
    wl_span_cut(&rest, '=', ret_name);
    *ret_name = wl_span_trim(*ret_name);
    f->bare = rest.at == NULL;
    f->tail = f->bare ? (struct wl_span){"", 0} : wl_span_trim(rest);
    if (ret_name->len == 0 || ret_name->len > NAME_MAX_LEN ||
        memchr(ret_name->at, ':', ret_name->len) != NULL || ret_name->at[0] == ']') {
        refuse(f, "not an option (name=value), a section ([name]) or a comment");
        return false;
    }
    return true;
}

/* inih's fgets: one line inih understands at a time. */
static char *feed_line(char *str, int num, void *stream)
{
    struct feed *f = stream;
    struct wl_span line, name;

    if (f->bad || f->refused != 0)
        return NULL;
    if (f->tail.len > 0)
        return emit(f, str, num, (struct wl_span){NULL, 0});
    deliver(f);
    do {
        if (f->refused != 0 || !next_line(f, &line))
            return NULL;
    } while (line.len == 0);
    if (!split_line(f, line, &name))
        return NULL;
    return emit(f, str, num, name);
}

int wl_lines_read(const char *text, size_t size, const struct wl_line_sink *sink,
                  uint32_t *ret_line, char ret_rule[WL_RULE_MAX])
{
    static const char bom[] = "\xef\xbb\xbf";
    struct feed f = {.rest = {text, size}, .sink = sink, .rule = ret_rule, .tail = {"", 0}};

    f.value = malloc(WL_LINE_MAX + 1);
    if (f.value == NULL)
        return -2;
    if (size >= 3 && memcmp(text, bom, 3) == 0)
        f.rest = (struct wl_span){text + 3, size - 3};
    int bad_line = ini_parse_stream(feed_line, &f, gather, &f);
    deliver(&f);
    if (bad_line != 0 && f.refused == 0)
        refuse(&f, "cannot be read as name=value");
    free(f.value);
    *ret_line = f.line;
    if (f.refused != 0)
        return 1;
    return f.bad ? -1 : 0;
}
