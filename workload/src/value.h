/* value.h - numbers as fio writes them: sizes, times, fractions.
 *
 * Each function returns NULL, or the rule that the text breaks (static storage);
 * the result is written on success only. */
#ifndef WL_VALUE_H_
#define WL_VALUE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wl_span {
    const char *at;
    size_t len;
};

struct wl_span wl_span_of(const char *text);
struct wl_span wl_span_trim(struct wl_span s);
bool wl_span_is(struct wl_span s, const char *word);           /* ignoring case */
bool wl_span_equals(struct wl_span s, const char *word);       /* byte for byte */
/* Cuts the part before `sep` off `rest`. False when `rest` has ended; an empty
 * last part after a separator is a part. A rest that is used up has at = NULL. */
bool wl_span_cut(struct wl_span *rest, char sep, struct wl_span *ret_part);

/* Integer or decimal with a size suffix. */
const char *wl_value_size(struct wl_span s, uint64_t kb_base, uint64_t *ret_value);
/* Decimal in millionths; six digits after the point at most. */
const char *wl_value_micro(struct wl_span s, uint64_t *ret_micro);
/* Time in ns; a bare number counts in `unit_ns`. */
const char *wl_value_time(struct wl_span s, uint64_t unit_ns, uint64_t *ret_ns);

#endif
