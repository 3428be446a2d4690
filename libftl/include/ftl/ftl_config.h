/* ftl_config.h - the description of a drive: every number, its unit, its source.
 *
 * One list, ftl_config.def, declares each field once; the struct, the parser,
 * the bounds check, the dump and the documentation come from it.
 *
 * A drive is a text file (INI): `key = value  [T] source`, T one of P published,
 * D derived, A assumed, C calibrated. `inherit = NAME` in [drive] starts from
 * another drive. Built-in drives are compiled in; see ftl_drive_name().
 *
 * Errors: a refused key or value leaves the configuration unchanged and writes
 * one line to ret_why: where, key, rule. */
#ifndef FTL_FTL_CONFIG_H_
#define FTL_FTL_CONFIG_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#define FTL_API __attribute__((visibility("default")))
#else
#define FTL_API
#endif

enum { FTL_NAME_MAX = 64, FTL_WHY_MAX = 512 };
enum { FTL_MEDIA_ECC_CURVES = 1, FTL_MEDIA_ECC_DECODER = 2 };   /* values of media.ecc */

/* Plain data: copy by assignment. Filled by ftl_config_init/load/set; a field
 * written by hand is judged by ftl_config_check like any other. */
struct ftl_config {
    uint32_t struct_size;                 /* set by ftl_config_init() */
    uint32_t reserved;
#define FTL_CFG_U64(id, key, unit, def, min, max, text) uint64_t id;
#define FTL_CFG_STR(id, key, def, text) char id[FTL_NAME_MAX];
#include "ftl/ftl_config.def"
#undef FTL_CFG_U64
#undef FTL_CFG_STR
};

/* Where a value came from. `where` is "default", "FILE:LINE" or "--set"; tag is
 * P, D, A, C or '-' (no tag); note is the source text of the drive file. */
struct ftl_origin {
    char where[96];
    char tag;
    char note[160];
};

typedef struct ftl_setup ftl_setup;       /* a configuration with its origins */

/* Starts from the defaults of ftl_config.def. NULL on lack of memory. */
FTL_API ftl_setup *ftl_setup_new(void);
FTL_API void ftl_setup_free(ftl_setup *setup);      /* NULL is fine */
/* Reads a built-in drive by name, or a drive file when the name holds a '/' or
 * ends in ".ini". 0 or negative enum ftl_err. */
FTL_API int ftl_setup_load(ftl_setup *setup, const char *drive, char *ret_why, size_t why_size);
/* Sets one key, e.g. ("gc.policy", "fifo"). Numbers take suffixes K M G T
 * (powers of 1024) and KB MB GB TB (powers of 1000); `op` takes a decimal
 * fraction and sets the user capacity when the set-up is finished.
 * `where` names the origin in messages, e.g. "--set". */
FTL_API int ftl_setup_set(ftl_setup *setup, const char *key, const char *value,
                          const char *where, char *ret_why, size_t why_size);
/* Applies scale (0 = the drive's own default), derived values and every check;
 * copies the result. May be called again after further sets. */
FTL_API int ftl_setup_finish(const ftl_setup *setup, uint64_t scale, struct ftl_config *ret_cfg,
                             char *ret_why, size_t why_size);

/* The keys in their order of declaration. */
struct ftl_key {
    const char *key, *unit, *text;
    bool is_string;
    uint64_t def, min, max;               /* numbers only */
    const char *def_text;                 /* strings only */
};
FTL_API uint32_t ftl_key_count(void);
FTL_API int ftl_key_get(uint32_t index, struct ftl_key *ret_key);
/* The value as the drive file would write it, and its origin. `cfg` NULL reads
 * the unscaled set-up, else the finished configuration. */
FTL_API int ftl_setup_value(const ftl_setup *setup, const struct ftl_config *cfg, uint32_t index,
                            char *ret_text, size_t text_size, struct ftl_origin *ret_origin);

/* Built-in drives: name, and the file's text. NULL past the end / unknown. */
FTL_API const char *ftl_drive_name(uint32_t index);
FTL_API const char *ftl_drive_text(const char *name);

/* One-call form for programs: a built-in drive at its default scale. */
FTL_API int ftl_config_init(struct ftl_config *ret_cfg, const char *drive,
                            char *ret_why, size_t why_size);
/* Judges one configuration; ret_why names the field, its value and the rule. */
FTL_API int ftl_config_check(const struct ftl_config *cfg, char *ret_why, size_t why_size);

#ifdef __cplusplus
}
#endif
#endif
