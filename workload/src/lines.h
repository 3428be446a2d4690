/* lines.h - the text of a job file as sections and options. */
#ifndef WL_LINES_H_
#define WL_LINES_H_

#include <stddef.h>
#include <stdint.h>

struct wl_line_sink {
    /* Both return 0, or non-zero after having kept their own message. */
    int (*section)(void *user, const char *name, uint32_t line);
    /* value is NULL for a name without '='. */
    int (*option)(void *user, const char *name, const char *value, uint32_t line);
    void *user;
};

enum { WL_LINE_MAX = 65536, WL_RULE_MAX = 256 };

/* Feeds every section and option of `text` to the sink. 0; 1 when the sink
 * refused; -1 when the text itself is refused: ret_line and ret_rule say why;
 * -2 on lack of memory. */
int wl_lines_read(const char *text, size_t size, const struct wl_line_sink *sink,
                  uint32_t *ret_line, char ret_rule[WL_RULE_MAX]);

#endif
