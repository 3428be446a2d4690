/* code.c - the code object: allocation, indexing, structural facts. */
#include "code.h"

#include <stdlib.h>
#include <string.h>

const char *ldpc_strerror(int err)
{
    switch (err) {
    case LDPC_OK:
        return "no error";
    case LDPC_EINVAL:
        return "invalid argument";
    case LDPC_ENOMEM:
        return "out of memory";
    case LDPC_ENAME:
        return "no code or decoder of that name";
    case LDPC_EUNCORR:
        return "uncorrectable: some check still fails";
    case LDPC_ESINGULAR:
        return "the parity part is singular: this code has no encoder";
    case LDPC_EFORMAT:
        return "malformed text";
    case LDPC_ELIMIT:
        return "larger than this build handles";
    case LDPC_EGIRTH:
        return "no code without 4-cycles found";
    case LDPC_EBROKEN:
        return "a structural check of the code failed";
    default:
        return "unknown error";
    }
}

static uint32_t round8(uint32_t words)
{
    return (words + 7) & ~7u;
}

static void code_geometry(struct ldpc_code *c, uint32_t z, uint32_t rows, uint32_t cols,
                          uint32_t k)
{
    c->z = z;
    c->rows = rows;
    c->cols = cols;
    c->m = rows * z;
    c->nfull = cols * z;
    c->kfull = c->nfull - c->m;
    c->k = k;
    c->n = k + c->m;
    c->zw = (z + 63) / 64;
    c->xs = round8(c->zw);
    /* A rotated read of xs words may start at bit z-1: pad for what it touches. */
    c->ds = round8(c->xs + (z + 63) / 64 + 2);
    if (c->ds < round8(2 * c->zw + 1))
        c->ds = round8(2 * c->zw + 1);
    c->tail_mask = z & 63 ? ~0ull >> (64 - (z & 63)) : ~0ull;
}

/* Insertion sort: rows are short, and only shift order matters. */
static void wrap_orders(struct ldpc_code *c)
{
    for (uint32_t r = 0; r < c->rows; r++) {
        const struct entry *ent = c->row_ent + c->row_at[r];
        uint16_t *ord = c->wrap_order + c->row_at[r];
        for (uint32_t i = 0; i < c->row_at[r + 1] - c->row_at[r]; i++) {
            uint32_t at = i;
            for (; at > 0 && ent[ord[at - 1]].shift < ent[i].shift; at--)
                ord[at] = ord[at - 1];
            ord[at] = (uint16_t)i;
        }
    }
}

/* Column lists from row lists, weights, message clip. */
static int code_index(struct ldpc_code *c)
{
    for (uint32_t e = 0; e < c->edges; e++)
        c->col_at[c->row_ent[e].at + 1]++;
    c->dv_min = c->dc_min = UINT32_MAX;
    for (uint32_t v = 0; v < c->cols; v++) {
        uint32_t dv = c->col_at[v + 1];
        c->dv_min = dv < c->dv_min ? dv : c->dv_min;
        c->dv_max = dv > c->dv_max ? dv : c->dv_max;
        c->col_at[v + 1] += c->col_at[v];
    }
    uint32_t *fill = calloc(c->cols, sizeof *fill);
    if (!fill)
        return LDPC_ENOMEM;
    for (uint32_t r = 0; r < c->rows; r++) {
        uint32_t dc = c->row_at[r + 1] - c->row_at[r];
        c->dc_min = dc < c->dc_min ? dc : c->dc_min;
        c->dc_max = dc > c->dc_max ? dc : c->dc_max;
        for (uint32_t e = c->row_at[r]; e < c->row_at[r + 1]; e++) {
            uint32_t v = c->row_ent[e].at;
            uint32_t at = c->col_at[v] + fill[v]++, s = rot_back(c->z, c->row_ent[e].shift);
            c->col_ent[at] = (struct entry){r, c->row_ent[e].shift};
            if (r < BYTE_ROWS_MAX) {
                c->back[at] = (uint32_t)(sd_copy(c, r, s & 7) * 8 + (s >> 3));
                c->byte_use[r] |= (uint8_t)(1u << (s & 7));
            }
        }
    }
    free(fill);
    wrap_orders(c);
    uint32_t clip = c->dv_max ? (127 - LDPC_LLR_MAX) / c->dv_max : 31;
    c->rmax = (uint8_t)(clip > 31 ? 31 : clip);
    c->flip_weight = ldpci_flip_weight(c);
    return LDPC_OK;
}

static int rows_valid(uint32_t z, uint32_t rows, uint32_t cols, const uint32_t *row_at,
                      const struct entry *ent)
{
    for (uint32_t r = 0; r < rows; r++) {
        if (row_at[r + 1] < row_at[r] || row_at[r + 1] - row_at[r] > ROW_WEIGHT_MAX)
            return LDPC_ELIMIT;
        for (uint32_t e = row_at[r]; e < row_at[r + 1]; e++)
            if (ent[e].at >= cols || ent[e].shift >= z ||
                (e > row_at[r] && ent[e].at <= ent[e - 1].at))
                return LDPC_EINVAL;
    }
    return LDPC_OK;
}

int ldpci_code_new(const char *name, uint32_t z, uint32_t rows, uint32_t cols, uint32_t k,
                   const uint32_t *row_at, const struct entry *ent, struct ldpc_code **ret)
{
    if (!name || !name[0] || strlen(name) > LDPC_NAME_MAX || !z || !rows || cols < rows ||
        row_at[0] != 0)
        return LDPC_EINVAL;
    if (z > 16384 || rows > ROWS_MAX || cols > COLS_MAX || (uint64_t)z * cols > 4u * COLS_MAX ||
        row_at[rows] > EDGES_MAX)
        return LDPC_ELIMIT;
    int err = rows_valid(z, rows, cols, row_at, ent);
    if (err)
        return err;
    if (k > (cols - rows) * z)
        return LDPC_EINVAL;
    struct ldpc_code *c = calloc(1, sizeof *c);
    if (!c)
        return LDPC_ENOMEM;
    strcpy(c->name, name);
    code_geometry(c, z, rows, cols, k);
    c->edges = row_at[rows];
    size_t e1 = c->edges ? c->edges : 1;
    c->row_at = malloc(((size_t)rows + 1) * sizeof *c->row_at);
    c->col_at = calloc((size_t)cols + 1, sizeof *c->col_at);
    c->row_ent = malloc(e1 * sizeof *c->row_ent);
    c->col_ent = malloc(e1 * sizeof *c->col_ent);
    c->wrap_order = malloc(e1 * sizeof *c->wrap_order);
    c->back = malloc(e1 * sizeof *c->back);
    if (!c->row_at || !c->col_at || !c->row_ent || !c->col_ent || !c->wrap_order || !c->back) {
        ldpc_code_close(c);
        return LDPC_ENOMEM;
    }
    memcpy(c->row_at, row_at, ((size_t)rows + 1) * sizeof *row_at);
    memcpy(c->row_ent, ent, c->edges * sizeof *ent);
    err = code_index(c);
    if (err) {
        ldpc_code_close(c);
        return err;
    }
    *ret = c;
    return LDPC_OK;
}

void ldpc_code_close(ldpc_code *code)
{
    if (!code)
        return;
    free(code->row_at);
    free(code->col_at);
    free(code->row_ent);
    free(code->col_ent);
    free(code->wrap_order);
    free(code->back);
    free(code->phi_inv);
    free(code->dense_inv);
    free(code);
}

size_t ldpc_data_bytes(const ldpc_code *code)
{
    return code && code->k % 8 == 0 ? code->k / 8 : 0;
}

size_t ldpc_parity_bytes(const ldpc_code *code)
{
    return code && code->m % 8 == 0 ? code->m / 8 : 0;
}

size_t ldpc_code_bytes(const ldpc_code *code)
{
    return code ? ((size_t)code->n + 7) / 8 : 0;
}

int ldpc_code_shift(const ldpc_code *code, uint32_t row, uint32_t col)
{
    if (!code || row >= code->rows)
        return -1;
    for (uint32_t e = code->row_at[row]; e < code->row_at[row + 1]; e++)
        if (code->row_ent[e].at == col)
            return (int)code->row_ent[e].shift;
    return -1;
}

int ldpc_code_facts(const ldpc_code *code, struct ldpc_facts *f)
{
    if (!code || !f)
        return LDPC_EINVAL;
    *f = (struct ldpc_facts){.n = code->n,
                             .k = code->k,
                             .m = code->m,
                             .rank = code->rank,
                             .z = code->z,
                             .block_rows = code->rows,
                             .block_cols = code->cols,
                             .shortened = code->kfull - code->k,
                             .edges = code->edges * code->z,
                             .girth = code->girth,
                             .cycles6 = code->cycles6,
                             .col_weight_min = code->dv_min,
                             .col_weight_max = code->dv_max,
                             .row_weight_min = code->dc_min,
                             .row_weight_max = code->dc_max,
                             .has_encoder = code->enc != ENC_NONE};
    strcpy(f->name, code->name);
    if (code->enc == ENC_NONE) /* an import: no systematic split, k is what the rank leaves */
        f->k = code->n - code->rank;
    return LDPC_OK;
}

static int u32_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

int ldpc_code_row(const ldpc_code *code, uint32_t check, uint32_t *ret_bits, size_t room)
{
    if (!code || check >= code->m || (!ret_bits && room))
        return LDPC_EINVAL;
    uint32_t bits[ROW_WEIGHT_MAX];
    uint32_t r = check / code->z, j = check % code->z, count = 0;
    for (uint32_t e = code->row_at[r]; e < code->row_at[r + 1]; e++) {
        uint32_t full = code->row_ent[e].at * code->z + (j + code->row_ent[e].shift) % code->z;
        if (full >= code->k && full < code->kfull)
            continue;
        bits[count++] = full < code->k ? full : full - (code->kfull - code->k);
    }
    qsort(bits, count, sizeof *bits, u32_order);
    if (room && count)
        memcpy(ret_bits, bits, (count < room ? count : room) * sizeof *bits);
    return (int)count;
}
