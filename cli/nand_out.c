/* nand_out.c - tables and lists of `ftlsim nand`. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nand_cli.h"

void nand_out_begin(struct nand_out *out, bool json, const char *const *columns, size_t count)
{
    *out = (struct nand_out){.json = json, .columns = count};
    for (size_t i = 0; i < count; i++)
        out->column[i] = columns[i];
    if (json) {
        out->rows = json_array();
        return;
    }
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i ? "," : "", columns[i]);
    putchar('\n');
}

void nand_out_row(struct nand_out *out, const char *const *words, const double *numbers)
{
    json_t *row;

    if (out->dry)
        return;
    row = out->json ? json_object() : NULL;
    for (size_t i = 0; i < out->columns; i++) {
        if (row)
            json_object_set_new(row, out->column[i],
                                words[i] ? json_string(words[i]) : json_real(numbers[i]));
        else if (words[i])
            printf("%s%s", i ? "," : "", words[i]);
        else
            printf("%s%.7g", i ? "," : "", numbers[i]);
    }
    if (row)
        json_array_append_new(out->rows, row);
    else
        putchar('\n');
}

int nand_out_end(struct nand_out *out)
{
    if (out->json) {
        json_dumpf(out->rows, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(7));
        putchar('\n');
        json_decref(out->rows);
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_refuse("nand: cannot write output: %s", strerror(errno));
    return 0;
}

static bool parse_number(const char **text, double *ret)
{
    char *end;

    *ret = strtod(*text, &end);
    if (end == *text || !isfinite(*ret))
        return false;
    *text = end;
    return true;
}

static bool parse_range(const char *text, double first, struct nand_list *ret)
{
    double last, step;

    text++;
    if (!parse_number(&text, &last) || *text++ != ':' || !parse_number(&text, &step) || *text)
        return false;
    if (!(step > 0) || last < first || (last - first) / step >= NAND_LIST_MOST)
        return false;
    ret->count = (size_t)((last - first) / step * (1 + 1e-12)) + 1;
    for (size_t i = 0; i < ret->count; i++)
        ret->value[i] = first + (double)i * step;
    return true;
}

static bool parse_into(const char *text, struct nand_list *ret)
{
    double value;

    while (ret->count < NAND_LIST_MOST) {
        if (!parse_number(&text, &value))
            return false;
        if (*text == ':' && ret->count == 0)
            return parse_range(text, value, ret);
        ret->value[ret->count++] = value;
        if (*text == 0)
            return true;
        if (*text++ != ',')
            return false;
    }
    return false;
}

bool nand_list_parse(const char *text, struct nand_list *ret)
{
    ret->count = 0;
    ret->value = malloc(NAND_LIST_MOST * sizeof *ret->value);
    if (ret->value && parse_into(text, ret))
        return true;
    free(ret->value);
    ret->value = NULL;
    return false;
}
