/* config.h - inside the configuration code. */
#ifndef FTL_CONFIG_CONFIG_H
#define FTL_CONFIG_CONFIG_H

#include <stdarg.h>

#include "ftl/ftl.h"

struct drive_file {
    const char *name, *text;
};
extern const struct drive_file drive_files[];     /* ends with a NULL name */

/* One row of ftl_config.def. */
struct key_row {
    const char *key, *unit, *text, *def_text;
    size_t offset;
    uint64_t def, min, max;
    bool is_string;
};
extern const struct key_row key_rows[];
extern const uint32_t key_row_count;

struct ftl_setup {
    struct ftl_config cfg;          /* at scale 1 */
    struct ftl_origin *origins;     /* one per key */
};

/* -1 = no such key. O(keys). */
int config_key_find(const char *key);
/* The value that a numeric key has a name for, such as media.ecc=decoder. */
bool config_word_find(const char *key, const char *name, uint64_t *ret_value);
const char *config_word_of(const char *key, uint64_t value);     /* NULL: none */
/* The value of a row as it is written; result and cut as of snprintf. */
int config_text(const struct ftl_config *cfg, uint32_t row, char *ret_text, size_t text_size);
/* Writes one line to ret_why (which may be NULL) and returns err. */
int config_refuse(int err, char *ret_why, size_t why_size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Refuses the first pair of pairs.def that cfg has both of. Strings of cfg are terminated. */
int config_check_pairs(const struct ftl_config *cfg, char *ret_why, size_t why_size);
uint64_t *config_u64(struct ftl_config *cfg, uint32_t row);
char *config_str(struct ftl_config *cfg, uint32_t row);

#endif
