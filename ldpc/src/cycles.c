/* cycles.c - 4-cycles and 6-cycles of the lifted graph, counted on the base matrix.
 *
 * A closed walk of the base matrix lifts to cycles of the same length exactly
 * when its alternating sum of shifts is 0 modulo z. Two rows that share two
 * columns with equal shift difference make a 4-cycle. A 6-cycle takes three
 * rows a, b, c and three distinct columns i, j, k:
 * (s_ai - s_bi) + (s_bj - s_cj) + (s_ck - s_ak) = 0, and each solution is z cycles. */
#include <stdlib.h>
#include <string.h>

#include "code.h"

static int shift_of(const struct ldpc_code *c, uint32_t e)
{
    return (int)c->row_ent[e].shift;
}

/* Shift differences (row a - row b) over the common columns. */
static uint32_t differences(const struct ldpc_code *c, uint32_t a, uint32_t b,
                            struct entry *out)
{
    uint32_t ea = c->row_at[a], eb = c->row_at[b], n = 0;
    while (ea < c->row_at[a + 1] && eb < c->row_at[b + 1]) {
        uint32_t ca = c->row_ent[ea].at, cb = c->row_ent[eb].at;
        if (ca == cb) {
            int d = shift_of(c, ea) - shift_of(c, eb);
            out[n++] = (struct entry){ca, (uint32_t)(d < 0 ? d + (int)c->z : d)};
        }
        ea += ca <= cb;
        eb += cb <= ca;
    }
    return n;
}

static bool has_repeat(const struct entry *d, uint32_t n, uint32_t z, uint8_t *seen)
{
    memset(seen, 0, z);
    for (uint32_t i = 0; i < n; i++)
        if (seen[d[i].shift]++)
            return true;
    return false;
}

/* Solutions of x_i + y_j + w_k = 0 mod z with distinct columns. Differences
 * within one list are distinct (no 4-cycles), so one look-up finds the third. */
static uint64_t triples(uint32_t z, const struct entry *x, uint32_t nx, const struct entry *y,
                        uint32_t ny, const struct entry *w, uint32_t nw, uint32_t *where)
{
    uint64_t count = 0;
    memset(where, 0xff, z * sizeof *where);
    for (uint32_t k = 0; k < nw; k++)
        where[w[k].shift] = w[k].at;
    for (uint32_t i = 0; i < nx; i++)
        for (uint32_t j = 0; j < ny; j++) {
            uint32_t need = (2 * z - x[i].shift - y[j].shift) % z;
            uint32_t at = where[need];
            if (at != UINT32_MAX && x[i].at != y[j].at && at != x[i].at && at != y[j].at)
                count++;
        }
    return count;
}

struct cycle_work {
    struct entry *x, *y, *w;
    uint8_t *seen;
    uint32_t *where;
};

static void count_with(struct ldpc_code *c, struct cycle_work *k)
{
    for (uint32_t a = 0; a < c->rows; a++)
        for (uint32_t b = a + 1; b < c->rows; b++) {
            uint32_t n = differences(c, a, b, k->x);
            if (has_repeat(k->x, n, c->z, k->seen)) {
                c->girth = 4;
                return;
            }
        }
    for (uint32_t a = 0; a < c->rows; a++)
        for (uint32_t b = a + 1; b < c->rows; b++) {
            uint32_t nx = differences(c, a, b, k->x);
            for (uint32_t d = b + 1; nx && d < c->rows; d++) {
                uint32_t ny = differences(c, b, d, k->y);
                uint32_t nw = differences(c, d, a, k->w);
                c->cycles6 += triples(c->z, k->x, nx, k->y, ny, k->w, nw, k->where);
            }
        }
    c->cycles6 *= c->z;
    c->girth = c->cycles6 ? 6 : 8;
}

int ldpci_code_count_cycles(struct ldpc_code *c)
{
    c->girth = 0;
    c->cycles6 = 0;
    if (c->rows > 256) /* cubic in the rows: not for unstructured codes */
        return LDPC_OK;
    struct cycle_work k = {.x = malloc(ROW_WEIGHT_MAX * sizeof *k.x),
                           .y = malloc(ROW_WEIGHT_MAX * sizeof *k.y),
                           .w = malloc(ROW_WEIGHT_MAX * sizeof *k.w),
                           .seen = malloc(c->z),
                           .where = malloc(c->z * sizeof *k.where)};
    int err = k.x && k.y && k.w && k.seen && k.where ? LDPC_OK : LDPC_ENOMEM;
    if (!err)
        count_with(c, &k);
    free(k.x);
    free(k.y);
    free(k.w);
    free(k.seen);
    free(k.where);
    return err;
}
