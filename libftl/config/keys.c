/* keys.c - the table that ftl_config.def declares, and the text of values. */
#include <stdio.h>
#include <string.h>

#include "config.h"

const struct key_row key_rows[] = {
#define FTL_CFG_U64(id, key, unit, def, min, max, text)                                        \
    {key, unit, text, NULL, offsetof(struct ftl_config, id), def, min, max, false},
#define FTL_CFG_STR(id, key, def, text)                                                        \
    {key, "text", text, def, offsetof(struct ftl_config, id), 0, 0, 0, true},
#include "ftl/ftl_config.def"
#undef FTL_CFG_U64
#undef FTL_CFG_STR
};
const uint32_t key_row_count = sizeof key_rows / sizeof key_rows[0];

/* Values of numeric keys that have a name. */
static const struct {
    const char *key, *name;
    uint64_t value;
} words[] = {{"media.ecc", "decoder", FTL_MEDIA_ECC_DECODER}};

bool config_word_find(const char *key, const char *name, uint64_t *ret_value)
{
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].key, key) == 0 && strcmp(words[i].name, name) == 0) {
            *ret_value = words[i].value;
            return true;
        }
    return false;
}

const char *config_word_of(const char *key, uint64_t value)
{
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].key, key) == 0 && words[i].value == value)
            return words[i].name;
    return NULL;
}

int config_key_find(const char *key)
{
    for (uint32_t i = 0; i < key_row_count; i++)
        if (strcmp(key_rows[i].key, key) == 0)
            return (int)i;
    return -1;
}

uint64_t *config_u64(struct ftl_config *cfg, uint32_t row)
{
    return (uint64_t *)(void *)((char *)cfg + key_rows[row].offset);
}

char *config_str(struct ftl_config *cfg, uint32_t row)
{
    return (char *)cfg + key_rows[row].offset;
}

int config_refuse(int err, char *ret_why, size_t why_size, const char *format, ...)
{
    va_list args;

    if (ret_why != NULL && why_size > 0) {
        va_start(args, format);
        (void)vsnprintf(ret_why, why_size, format, args);
        va_end(args);
    }
    return err;
}

uint32_t ftl_key_count(void)
{
    return key_row_count;
}

int ftl_key_get(uint32_t index, struct ftl_key *ret_key)
{
    if (index >= key_row_count || ret_key == NULL)
        return FTL_EINVAL;
    const struct key_row *row = &key_rows[index];
    *ret_key = (struct ftl_key){.key = row->key,
                                .unit = row->unit,
                                .text = row->text,
                                .is_string = row->is_string,
                                .def = row->def,
                                .min = row->min,
                                .max = row->max,
                                .def_text = row->def_text};
    return 0;
}

int config_text(const struct ftl_config *cfg, uint32_t index, char *ret, size_t size)
{
    const struct key_row *row = &key_rows[index];
    const char *at = (const char *)cfg + row->offset;
    uint64_t v;

    if (row->is_string)
        return snprintf(ret, size, "%s", at);
    memcpy(&v, at, sizeof v);
    const char *word = config_word_of(row->key, v);
    return word != NULL ? snprintf(ret, size, "%s", word)
                        : snprintf(ret, size, "%llu", (unsigned long long)v);
}

int ftl_setup_value(const ftl_setup *setup, const struct ftl_config *cfg, uint32_t index,
                    char *ret_text, size_t text_size, struct ftl_origin *ret_origin)
{
    if (setup == NULL || index >= key_row_count || ret_text == NULL)
        return FTL_EINVAL;
    int n = config_text(cfg != NULL ? cfg : &setup->cfg, index, ret_text, text_size);
    if (n < 0 || (size_t)n >= text_size)
        return FTL_EINVAL;
    if (ret_origin != NULL)
        *ret_origin = setup->origins[index];
    return 0;
}

const char *ftl_drive_name(uint32_t index)
{
    for (uint32_t i = 0; drive_files[i].name != NULL; i++)
        if (i == index)
            return drive_files[i].name;
    return NULL;
}

const char *ftl_drive_text(const char *name)
{
    for (uint32_t i = 0; name != NULL && drive_files[i].name != NULL; i++)
        if (strcmp(drive_files[i].name, name) == 0)
            return drive_files[i].text;
    return NULL;
}
