/* builtin.c - the codes that come with the library, and opening them by name. */
#include "builtin.h"

#include <string.h>

#include "ldpc/ecc.h"

const char *const *ldpc_code_names(void)
{
    return ldpci_builtin_names;
}

static int from_shifts(const struct builtin *b, struct ldpc_code **ret)
{
    struct entry ent[GAP_ROWS * BUILTIN_COLS_MAX];
    uint32_t row_at[GAP_ROWS + 1] = {0}, n = 0;
    for (uint32_t r = 0; r < GAP_ROWS; r++) {
        for (uint32_t c = 0; c < b->cols; c++)
            if (b->shift[c * GAP_ROWS + r] >= 0)
                ent[n++] = (struct entry){c, (uint32_t)b->shift[c * GAP_ROWS + r]};
        row_at[r + 1] = n;
    }
    return ldpci_code_new(b->name, b->z, GAP_ROWS, b->cols, b->data_bits, row_at, ent, ret);
}

/* The facts a table of numbers could lose to an edit. */
static int verify(struct ldpc_code *c)
{
    int err = ldpci_code_count_cycles(c);
    if (!err && (c->girth < 6 || c->dv_min < 3 || c->dv_max != 4))
        err = LDPC_EBROKEN;
    return err ? err : ldpci_encoder_prepare(c);
}

int ldpc_code_open(const char *name, ldpc_code **ret_code)
{
    if (!name || !ret_code)
        return LDPC_EINVAL;
    for (uint32_t i = 0; i < ldpci_builtin_count; i++) {
        if (strcmp(ldpci_builtin_codes[i].name, name))
            continue;
        struct ldpc_code *c = NULL;
        int err = from_shifts(&ldpci_builtin_codes[i], &c);
        if (!err)
            err = verify(c);
        if (err) {
            ldpc_code_close(c);
            return err;
        }
        *ret_code = c;
        return LDPC_OK;
    }
    return LDPC_ENAME;
}

int ldpc_table_builtin(const char *code, unsigned soft_bits, struct ldpc_table *ret)
{
    if (!code || soft_bits < 1 || soft_bits > 3 || !ret)
        return LDPC_EINVAL;
    const char *shifts = strcmp(code, "qlc") ? code : "etlc"; /* one code, two names */
    for (uint32_t i = 0; i < ldpci_builtin_table_count; i++) {
        const struct builtin_table *t = &ldpci_builtin_tables[i];
        if (t->soft_bits == soft_bits && !strcmp(t->code, shifts))
            return ldpc_table_parse(t->text, strlen(t->text), ret, NULL, 0);
    }
    return LDPC_ENAME;
}
