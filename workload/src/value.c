#include "value.h"

#include <string.h>
#include <strings.h>

struct wl_span wl_span_of(const char *text)
{
    return (struct wl_span){text, strlen(text)};
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

struct wl_span wl_span_trim(struct wl_span s)
{
    while (s.len > 0 && is_space(s.at[0])) {
        s.at++;
        s.len--;
    }
    while (s.len > 0 && is_space(s.at[s.len - 1]))
        s.len--;
    return s;
}

bool wl_span_is(struct wl_span s, const char *word)
{
    return strlen(word) == s.len && strncasecmp(s.at, word, s.len) == 0;
}

bool wl_span_equals(struct wl_span s, const char *word)
{
    return strlen(word) == s.len && memcmp(s.at, word, s.len) == 0;
}

bool wl_span_cut(struct wl_span *rest, char sep, struct wl_span *ret_part)
{
    if (rest->at == NULL)
        return false;
    const char *end = rest->len > 0 ? memchr(rest->at, sep, rest->len) : NULL;
    if (end == NULL) {
        *ret_part = *rest;
        *rest = (struct wl_span){NULL, 0};
        return true;
    }
    size_t len = (size_t)(end - rest->at);
    *ret_part = (struct wl_span){rest->at, len};
    *rest = (struct wl_span){end + 1, rest->len - len - 1};
    return true;
}

/* A decimal number, exact: whole + fraction / scale, scale a power of ten. */
struct decimal {
    uint64_t whole, fraction, scale;
};

enum { FRACTION_DIGITS_MAX = 9 };

static const char *read_hex(struct wl_span *s, struct decimal *ret)
{
    uint64_t value = 0;
    size_t digits = 0;
    for (; s->len > 0; digits++, s->at++, s->len--) {
        char c = s->at[0];
        unsigned d = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                     : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                            : 16u;
        if (d == 16u)
            break;
        if (value >> 60 != 0)
            return "too large";
        value = value << 4 | d;
    }
    if (digits == 0)
        return "a number is needed";
    *ret = (struct decimal){value, 0, 1};
    return NULL;
}

/* Reads the number in front and leaves the suffix in `s`. */
static const char *read_decimal(struct wl_span *s, struct decimal *ret)
{
    struct decimal d = {0, 0, 1};
    size_t digits = 0;

    if (s->len > 2 && s->at[0] == '0' && (s->at[1] | 0x20) == 'x') {
        s->at += 2;
        s->len -= 2;
        return read_hex(s, ret);
    }
    for (; s->len > 0 && s->at[0] >= '0' && s->at[0] <= '9'; digits++, s->at++, s->len--) {
        uint64_t digit = (uint64_t)(s->at[0] - '0');
        if (d.whole > (UINT64_MAX - digit) / 10)
            return "too large";
        d.whole = d.whole * 10 + digit;
    }
    if (s->len > 0 && s->at[0] == '.') {
        s->at++;
        s->len--;
        for (size_t n = 0; s->len > 0 && s->at[0] >= '0' && s->at[0] <= '9';
             n++, s->at++, s->len--) {
            digits++;
            if (n >= FRACTION_DIGITS_MAX)
                return "too many digits after the point";
            d.fraction = d.fraction * 10 + (uint64_t)(s->at[0] - '0');
            d.scale *= 10;
        }
    }
    if (digits == 0)
        return s->len > 0 && s->at[0] == '-' ? "must not be negative" : "a number is needed";
    *ret = d;
    return NULL;
}

/* floor(d * factor), refused when it overflows. */
static const char *multiply(struct decimal d, uint64_t factor, uint64_t *ret)
{
    __extension__ typedef unsigned __int128 wide;
    wide v = (wide)d.whole * factor + (wide)d.fraction * factor / d.scale;
    if (v > UINT64_MAX)
        return "too large";
    *ret = (uint64_t)v;
    return NULL;
}

static const char *size_factor(struct wl_span unit, uint64_t kb_base, uint64_t *ret)
{
    static const char letters[] = "kmgtp";
    if (unit.len > 0 && (unit.at[unit.len - 1] | 0x20) == 'b')
        unit.len--;
    *ret = 1;
    if (unit.len == 0)
        return NULL;
    const char *letter = strchr(letters, unit.at[0] | 0x20);
    bool with_i = unit.len == 2 && (unit.at[1] | 0x20) == 'i';
    if (letter == NULL || unit.at[0] == '\0' || (unit.len != 1 && !with_i))
        return "unknown unit (k, m, g, t, p, each with i, b or ib)";
    /* fio's rule: with kb_base = 1024 the meanings of k and ki are swapped */
    uint64_t base = (kb_base == 1024) != with_i ? 1024 : 1000;
    for (const char *p = letters; p <= letter; p++)
        *ret *= base;
    return NULL;
}

const char *wl_value_size(struct wl_span s, uint64_t kb_base, uint64_t *ret_value)
{
    struct decimal d;
    uint64_t factor;
    s = wl_span_trim(s);
    const char *rule = read_decimal(&s, &d);
    if (rule == NULL)
        rule = size_factor(s, kb_base, &factor);
    return rule != NULL ? rule : multiply(d, factor, ret_value);
}

const char *wl_value_micro(struct wl_span s, uint64_t *ret_micro)
{
    struct decimal d;
    s = wl_span_trim(s);
    const char *rule = read_decimal(&s, &d);
    if (rule != NULL)
        return rule;
    if (s.len != 0)
        return "a plain number is needed";
    if (d.scale > 1000000)
        return "at most six digits after the point";
    return multiply(d, 1000000, ret_micro);
}

const char *wl_value_time(struct wl_span s, uint64_t unit_ns, uint64_t *ret_ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        {"ns", 1},
        {"nsec", 1},
        {"us", 1000},
        {"usec", 1000},
        {"ms", 1000000},
        {"msec", 1000000},
        {"s", 1000000000},
        {"sec", 1000000000},
        {"m", UINT64_C(60000000000)},
        {"min", UINT64_C(60000000000)},
        {"h", UINT64_C(3600000000000)},
        {"d", UINT64_C(86400000000000)},
    };
    struct decimal d;
    s = wl_span_trim(s);
    const char *rule = read_decimal(&s, &d);
    if (rule != NULL)
        return rule;
    if (s.len == 0)
        return multiply(d, unit_ns, ret_ns);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (wl_span_is(s, units[i].name))
            return multiply(d, units[i].ns, ret_ns);
    return "unknown unit (us, ms, s, m, h, d)";
}
