/* alist.c - import and export of MacKay's alist text.
 *
 *   n m / dv_max dc_max / n column weights / m row weights /
 *   n lists of the checks of a bit / m lists of the bits of a check   (from 1)
 *
 * Writers differ: short lists padded with zeros or not, CRLF, the two counts of
 * a header exchanged. All numbers are read as one stream; the header order and
 * the padding are whichever makes weights, maxima and the length fit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"

enum { DIM_MAX = 131072 };

struct alist {
    uint32_t *num; /* all numbers of the text */
    size_t count;
    uint32_t n, m;   /* first and second list family */
    uint32_t max[2]; /* largest weight of each */
    bool padded[2];
    const uint32_t *weight[2];
    size_t lists; /* index of the first list entry */
    char *msg;
    size_t room;
};

static int fail(struct alist *a, int err, const char *what, unsigned long long x)
{
    if (a->msg && a->room)
        snprintf(a->msg, a->room, "alist: %s (%llu)", what, x);
    return err;
}

/* Numbers separated by white space; anything else is refused with its line. */
static int tokenize(struct alist *a, const char *text, size_t bytes)
{
    unsigned long long line = 1;
    a->num = malloc((bytes / 2 + 1) * sizeof *a->num);
    if (!a->num)
        return fail(a, LDPC_ENOMEM, "out of memory, bytes", bytes);
    for (size_t i = 0; i < bytes;) {
        char c = text[i];
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            line += c == '\n';
            i++;
            continue;
        }
        uint64_t x = 0;
        size_t from = i;
        for (; i < bytes && text[i] >= '0' && text[i] <= '9' && x <= UINT32_MAX; i++)
            x = x * 10 + (uint64_t)(text[i] - '0');
        if (i == from)
            return fail(a, LDPC_EFORMAT, "not a number on line", line);
        if (x > UINT32_MAX)
            return fail(a, LDPC_EFORMAT, "number too large on line", line);
        a->num[a->count++] = (uint32_t)x;
    }
    return a->count >= 4 ? LDPC_OK
                         : fail(a, LDPC_EFORMAT, "header truncated, numbers found", a->count);
}

static bool weights_fit(const uint32_t *w, uint32_t count, uint32_t max, uint64_t *sum)
{
    uint32_t top = 0;
    *sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        top = w[i] > top ? w[i] : top;
        *sum += w[i];
    }
    return top == max;
}

/* One reading of the header; true if everything that can be counted fits. */
static bool try_header(struct alist *a, bool swap_counts, bool swap_max)
{
    uint32_t n = a->num[swap_counts], m = a->num[!swap_counts];
    uint32_t dv = a->num[2 + swap_max], dc = a->num[2 + !swap_max];
    uint64_t sum_v, sum_c, head = 4 + (uint64_t)n + m;
    if (head > a->count || !weights_fit(a->num + 4, n, dv, &sum_v) ||
        !weights_fit(a->num + 4 + n, m, dc, &sum_c) || sum_v != sum_c)
        return false;
    uint64_t rest = a->count - head;
    for (unsigned pad = 0; pad < 4; pad++) {
        uint64_t v = pad & 1 ? (uint64_t)n * dv : sum_v, c = pad & 2 ? (uint64_t)m * dc : sum_c;
        if (v + c != rest)
            continue;
        *a = (struct alist){a->num,
                            a->count,
                            n,
                            m,
                            {dv, dc},
                            {pad & 1, pad & 2},
                            {a->num + 4, a->num + 4 + n},
                            (size_t)head,
                            a->msg,
                            a->room};
        return true;
    }
    return false;
}

static int read_header(struct alist *a)
{
    for (unsigned i = 0; i < 2; i++)
        if (!a->num[i] || a->num[i] > DIM_MAX)
            return fail(a, LDPC_ELIMIT, "count out of range", a->num[i]);
    for (unsigned way = 0; way < 4; way++)
        if (try_header(a, way & 1, (way ^ way >> 1) & 1))
            return LDPC_OK;
    return fail(a, LDPC_EFORMAT,
                "weights, maxima and number of list entries disagree, numbers found", a->count);
}

static int u64_order(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* Edges of one list family as sorted keys (check << 32 | bit). family 0 lists
 * the checks of each bit. *at moves behind the family. */
static int read_edges(struct alist *a, unsigned family, uint64_t *key, size_t *at)
{
    uint32_t count = family ? a->m : a->n, limit = family ? a->n : a->m;
    size_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t len = a->padded[family] ? a->max[family] : a->weight[family][i], used = 0;
        for (uint32_t e = 0; e < len; e++) {
            uint32_t x = a->num[(*at)++];
            if (!x && a->padded[family])
                continue;
            if (!x || x > limit)
                return fail(a, LDPC_EFORMAT, "index out of range in list", i + 1);
            if (++used > a->weight[family][i])
                return fail(a, LDPC_EFORMAT, "list longer than its weight, list", i + 1);
            key[n++] = family ? (uint64_t)i << 32 | (x - 1) : (uint64_t)(x - 1) << 32 | i;
        }
        if (used != a->weight[family][i])
            return fail(a, LDPC_EFORMAT, "list shorter than its weight, list", i + 1);
    }
    qsort(key, n, sizeof *key, u64_order);
    for (size_t e = 1; e < n; e++)
        if (key[e] == key[e - 1])
            return fail(a, LDPC_EFORMAT, "edge given twice in check", (key[e] >> 32) + 1);
    return LDPC_OK;
}

/* Edges sorted by check, from both families, which must agree. If the file lists
 * the transposed matrix (fewer bits than checks), exchange the roles. */
static int read_matrix(struct alist *a, uint64_t **ret_key, size_t *ret_edges)
{
    size_t edges = 0, at = a->lists;
    for (uint32_t i = 0; i < a->n; i++)
        edges += a->weight[0][i];
    if (!edges || edges > EDGES_MAX)
        return fail(a, LDPC_ELIMIT, "number of edges out of range", edges);
    uint64_t *key = malloc(2 * edges * sizeof *key);
    if (!key)
        return fail(a, LDPC_ENOMEM, "out of memory, edges", edges);
    int err = read_edges(a, 0, key, &at);
    if (!err)
        err = read_edges(a, 1, key + edges, &at);
    for (size_t e = 0; !err && e < edges; e++)
        if (key[e] != key[edges + e])
            err = fail(a, LDPC_EFORMAT, "row lists and column lists disagree in check",
                       (key[e] >> 32) + 1);
    if (err) {
        free(key);
        return err;
    }
    if (a->n < a->m) {
        uint32_t t = a->n;
        a->n = a->m;
        a->m = t;
        for (size_t e = 0; e < edges; e++)
            key[e] = key[e] << 32 | key[e] >> 32;
        qsort(key, edges, sizeof *key, u64_order);
    }
    *ret_key = key;
    *ret_edges = edges;
    return LDPC_OK;
}

/* ---- circulants ------------------------------------------------------------------- */

static int entry_order(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Row lists of the base matrix for circulant size z, or false if it has none. */
static bool circulants(const uint64_t *key, size_t edges, uint32_t m, uint32_t z,
                       uint32_t *row_at, struct entry *ent)
{
    struct entry row[ROW_WEIGHT_MAX];
    size_t at = 0;
    row_at[0] = 0;
    for (uint32_t i = 0; i < m; i++) {
        uint32_t j = i % z, r = i / z, n = 0;
        for (; at < edges && key[at] >> 32 == i; at++) {
            uint32_t v = (uint32_t)key[at];
            if (n == ROW_WEIGHT_MAX)
                return false;
            row[n++] = (struct entry){v / z, (v % z + z - j) % z};
        }
        qsort(row, n, sizeof *row, entry_order);
        for (uint32_t e = 1; e < n; e++)
            if (row[e].at == row[e - 1].at)
                return false;
        if (j == 0) {
            memcpy(ent + row_at[r], row, n * sizeof *row);
            row_at[r + 1] = row_at[r] + n;
        } else if (n != row_at[r + 1] - row_at[r] ||
                   memcmp(ent + row_at[r], row, n * sizeof *row)) {
            return false;
        }
    }
    return true;
}

static int build(struct alist *a, const char *name, uint32_t z_hint, const uint64_t *key,
                 size_t edges, ldpc_code **ret)
{
    uint32_t *row_at = malloc(((size_t)a->m + 1) * sizeof *row_at);
    struct entry *ent = malloc(edges * sizeof *ent);
    int err = row_at && ent ? LDPC_EINVAL : LDPC_ENOMEM;
    uint32_t z = z_hint ? z_hint : a->m < 4096 ? a->m : 4096;
    for (; err == LDPC_EINVAL && z; z--) {
        if (a->n % z || a->m % z || (z < 8 && z > 1 && !z_hint))
            continue;
        if (circulants(key, edges, a->m, z, row_at, ent)) {
            err = ldpci_code_new(name, z, a->m / z, a->n / z, a->n - a->m, row_at, ent, ret);
            break;
        }
        if (z_hint)
            break;
    }
    free(row_at);
    free(ent);
    if (err)
        return fail(a, err,
                    z_hint > 1 ? "no circulants of that size" : "matrix refused, checks",
                    z_hint > 1 ? z_hint : a->m);
    err = ldpci_code_count_cycles(*ret);
    if (!err)
        err = ldpci_encoder_prepare(*ret);
    if (err == LDPC_ESINGULAR) /* a decoder is still of use; k comes from the rank */
        err = ldpci_code_rank(*ret, &(*ret)->rank);
    if (err) {
        ldpc_code_close(*ret);
        *ret = NULL;
        return fail(a, err, "too large to analyse, checks", a->m);
    }
    return LDPC_OK;
}

int ldpc_alist_import(const char *text, size_t bytes, const char *name, uint32_t z_hint,
                      ldpc_code **ret_code, char *msg, size_t room)
{
    struct alist a = {.msg = msg, .room = room};
    uint64_t *key = NULL;
    size_t edges = 0;
    ldpc_code *code = NULL;
    if (!text || !name || !name[0] || strlen(name) > LDPC_NAME_MAX || !ret_code ||
        z_hint > 16384)
        return fail(&a, LDPC_EINVAL, "invalid argument, z_hint", z_hint);
    int err = tokenize(&a, text, bytes);
    if (!err)
        err = read_header(&a);
    if (!err)
        err = read_matrix(&a, &key, &edges);
    if (!err)
        err = build(&a, name, z_hint, key, edges, &code);
    free(key);
    free(a.num);
    if (!err)
        *ret_code = code;
    return err;
}

/* ---- export ---------------------------------------------------------------------- */

struct out {
    char *text;
    size_t room, used;
};

static void put(struct out *o, uint32_t x, char end)
{
    char buf[16];
    int len = snprintf(buf, sizeof buf, "%u%c", (unsigned)x, end);
    if (o->text && o->used + (size_t)len < o->room)
        memcpy(o->text + o->used, buf, (size_t)len);
    o->used += (size_t)len;
}

/* A transmitted bit's checks, ascending from 1. */
static uint32_t column_checks(const struct ldpc_code *c, uint32_t v, uint32_t *check)
{
    uint32_t f = full_index(c, v), b = f / c->z, i = f % c->z, n = 0;
    for (uint32_t e = c->col_at[b]; e < c->col_at[b + 1]; e++)
        check[n++] = c->col_ent[e].at * c->z + (i + c->z - c->col_ent[e].shift) % c->z + 1;
    return n;
}

static void write_alist(const struct ldpc_code *c, struct out *o, uint32_t *list)
{
    uint32_t dc_max = 0;
    for (uint32_t i = 0; i < c->m; i++) {
        uint32_t dc = (uint32_t)ldpc_code_row(c, i, NULL, 0);
        dc_max = dc > dc_max ? dc : dc_max;
    }
    put(o, c->n, ' ');
    put(o, c->m, '\n');
    put(o, c->dv_max, ' ');
    put(o, dc_max, '\n');
    for (uint32_t v = 0; v < c->n; v++) {
        uint32_t b = full_index(c, v) / c->z;
        put(o, c->col_at[b + 1] - c->col_at[b], v + 1 < c->n ? ' ' : '\n');
    }
    for (uint32_t i = 0; i < c->m; i++)
        put(o, (uint32_t)ldpc_code_row(c, i, NULL, 0), i + 1 < c->m ? ' ' : '\n');
    for (uint32_t v = 0; v < c->n; v++) {
        uint32_t n = column_checks(c, v, list);
        for (uint32_t e = 0; e < c->dv_max; e++)
            put(o, e < n ? list[e] : 0, e + 1 < c->dv_max ? ' ' : '\n');
    }
    for (uint32_t i = 0; i < c->m; i++) {
        uint32_t n = (uint32_t)ldpc_code_row(c, i, list, ROW_WEIGHT_MAX);
        for (uint32_t e = 0; e < dc_max; e++)
            put(o, e < n ? list[e] + 1 : 0, e + 1 < dc_max ? ' ' : '\n');
    }
}

int ldpc_alist_export(const ldpc_code *code, char *text, size_t room, size_t *ret_bytes)
{
    if (!code || !ret_bytes || (!text && room))
        return LDPC_EINVAL;
    uint32_t *list = malloc((ROW_WEIGHT_MAX + ROWS_MAX) * sizeof *list);
    struct out o = {NULL, 0, 0};
    if (!list)
        return LDPC_ENOMEM;
    write_alist(code, &o, list);
    *ret_bytes = o.used;
    bool fits = text && o.used < room;
    if (fits) {
        o = (struct out){text, room, 0};
        write_alist(code, &o, list);
        text[o.used] = 0;
    }
    free(list);
    return fits ? LDPC_OK : LDPC_EINVAL;
}
