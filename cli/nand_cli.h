/* nand_cli.h - what the files of `ftlsim nand` share. */
#ifndef CLI_NAND_CLI_H_
#define CLI_NAND_CLI_H_

#include <stdbool.h>
#include <stddef.h>

#include "refuse.h"

int cmd_nand(int argc, char **argv);

enum { NAND_LIST_MOST = 4096, NAND_COLUMNS_MOST = 24 };

struct nand_list {
    double *value;
    size_t count;
};

/* Rows of numbers and words, written as CSV or as a JSON array of objects. */
struct nand_out {
    bool json;
    bool dry;                       /* rows are only tried, nothing is written */
    void *rows;                     /* json_t */
    const char *column[NAND_COLUMNS_MOST];
    size_t columns;
};
void nand_out_begin(struct nand_out *out, bool json, const char *const *columns, size_t count);
/* One cell per column: text when words[i] is not NULL, else numbers[i]. */
void nand_out_row(struct nand_out *out, const char *const *words, const double *numbers);
int  nand_out_end(struct nand_out *out);

/* "1,2,5" or "first:last:step"; NULL in ret->value on a mistake. */
bool nand_list_parse(const char *text, struct nand_list *ret);

struct nand_timeline_options {
    const char *profile;
    bool json;
    char **steps;
    int count;
};
int nand_timeline(const struct nand_timeline_options *options);

#endif
