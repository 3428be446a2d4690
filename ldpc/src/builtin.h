/* builtin.h - table of built-in codes; builtin_tables.c is made by tools/make_codes. */
#ifndef LDPC_BUILTIN_H_
#define LDPC_BUILTIN_H_

#include "code.h"

enum { BUILTIN_COLS_MAX = 128 };

struct builtin {
    const char *name;
    uint32_t z, data_bits, cols;
    const int16_t *shift; /* cols x 4, -1 = masked */
};

extern const struct builtin ldpci_builtin_codes[];
extern const uint32_t ldpci_builtin_count;
extern const char *const ldpci_builtin_names[]; /* NULL after the last */

struct builtin_table {
    const char *code;
    unsigned soft_bits;
    const char *text; /* the committed file */
};

extern const struct builtin_table ldpci_builtin_tables[];
extern const uint32_t ldpci_builtin_table_count;

#endif
