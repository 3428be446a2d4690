/* setup.c - values from drive files and from the caller, with their origins. */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "nand/nand.h"

enum { INHERIT_DEPTH_MAX = 8, FILE_BYTES_MAX = 1 << 20 };

ftl_setup *ftl_setup_new(void)
{
    ftl_setup *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->origins = calloc(key_row_count, sizeof *s->origins);
    if (s->origins == NULL) {
        free(s);
        return NULL;
    }
    s->cfg.struct_size = sizeof s->cfg;
    for (uint32_t i = 0; i < key_row_count; i++) {
        if (key_rows[i].is_string)
            (void)snprintf(config_str(&s->cfg, i), FTL_NAME_MAX, "%s", key_rows[i].def_text);
        else
            *config_u64(&s->cfg, i) = key_rows[i].def;
        (void)snprintf(s->origins[i].where, sizeof s->origins[i].where, "default");
        s->origins[i].tag = '-';
    }
    return s;
}

void ftl_setup_free(ftl_setup *s)
{
    if (s == NULL)
        return;
    free(s->origins);
    free(s);
}

/* Suffixes: powers of 1024 for one letter, of 1000 with a B. 0 = unknown. */
static uint64_t suffix_factor(const char *text)
{
    static const struct {
        const char *text;
        uint64_t factor;
    } table[] = {
        {"", 1},
        {"K", UINT64_C(1) << 10}, {"M", UINT64_C(1) << 20}, {"G", UINT64_C(1) << 30},
        {"T", UINT64_C(1) << 40}, {"KiB", UINT64_C(1) << 10}, {"MiB", UINT64_C(1) << 20},
        {"GiB", UINT64_C(1) << 30}, {"TiB", UINT64_C(1) << 40},
        {"KB", 1000}, {"MB", 1000000}, {"GB", 1000000000}, {"TB", UINT64_C(1000000000000)},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].text, text) == 0)
            return table[i].factor;
    return 0;
}

/* Digits with an optional fraction ("7.68TB"), exact in integers. */
static int parse_number(const char *text, uint64_t *ret_value)
{
    uint64_t value = 0, divisor = 1;
    const char *p = text;
    bool point = false;

    if (!isdigit((unsigned char)*p))
        return -1;
    for (; isdigit((unsigned char)*p) || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        uint64_t digit = (uint64_t)(*p - '0');
        if (value > (UINT64_MAX - digit) / 10 || divisor > UINT64_C(100000000))
            return -1;
        value = value * 10 + digit;
        if (point)
            divisor *= 10;
    }
    uint64_t factor = suffix_factor(p);
    if (factor == 0 || (value != 0 && factor > UINT64_MAX / value))
        return -1;
    if (value * factor % divisor != 0)
        return -1;
    *ret_value = value * factor / divisor;
    return 0;
}

/* `op` = 0.1454: a fraction with at most six decimals. */
static int parse_op(const char *text, uint64_t *ret_ppm)
{
    uint64_t ppm = 0, unit = 1000000;
    const char *p = text;

    if (!isdigit((unsigned char)*p))
        return -1;
    for (; isdigit((unsigned char)*p); p++) {
        ppm = ppm * 10 + (uint64_t)(*p - '0') * 1000000;
        if (ppm > UINT64_C(100000000))
            return -1;
    }
    if (*p == '.')
        for (p++; isdigit((unsigned char)*p) && unit > 1; p++) {
            unit /= 10;
            ppm += (uint64_t)(*p - '0') * unit;
        }
    if (*p != '\0' || ppm == 0)
        return -1;
    *ret_ppm = ppm;
    return 0;
}

static void set_origin(ftl_setup *s, int row, const char *where, char tag, const char *note)
{
    struct ftl_origin *o = &s->origins[row];
    (void)snprintf(o->where, sizeof o->where, "%s", where);
    (void)snprintf(o->note, sizeof o->note, "%s", note);
    o->tag = tag;
}

static int set_row(ftl_setup *s, int row, const char *value, const char *where, char *why,
                   size_t why_size)
{
    const struct key_row *k = &key_rows[row];
    uint64_t number;

    if (k->is_string) {
        if (value[0] == '\0' || strlen(value) >= FTL_NAME_MAX)
            return config_refuse(FTL_ECONFIG, why, why_size, "%s: %s: text of 1 to %d characters",
                                 where, k->key, FTL_NAME_MAX - 1);
        (void)snprintf(config_str(&s->cfg, (uint32_t)row), FTL_NAME_MAX, "%s", value);
        return 0;
    }
    if (!config_word_find(k->key, value, &number) && parse_number(value, &number) < 0)
        return config_refuse(FTL_ECONFIG, why, why_size,
                             "%s: %s=%s: not a number of %s (suffixes K M G T, KB MB GB TB)", where,
                             k->key, value, k->unit);
    if (number < k->min || number > k->max)
        return config_refuse(FTL_ECONFIG, why, why_size, "%s: %s=%s: must be %llu to %llu %s",
                             where, k->key, value, (unsigned long long)k->min,
                             (unsigned long long)k->max, k->unit);
    *config_u64(&s->cfg, (uint32_t)row) = number;
    return 0;
}

/* The part's own numbers; what a drive decides (channels, dies, blocks) stays. */
static void apply_preset(ftl_setup *s, const char *name)
{
    const struct nand_profile *p = nand_profile_find(name);
    struct ftl_config *c = &s->cfg;
    const struct {
        uint64_t *field;
        uint64_t value;
    } rows[] = {
        {&c->nand_planes, p->geo.planes},
        {&c->nand_wordlines_per_block, p->geo.wordlines_per_block},
        {&c->nand_page_types, p->geo.page_types},
        {&c->nand_page_bytes, p->geo.page_bytes},
        {&c->nand_spare_bytes, p->geo.spare_bytes},
        {&c->nand_tr0_ns, p->time.tr_ns[0]},
        {&c->nand_tr1_ns, p->time.tr_ns[1] ? p->time.tr_ns[1] : p->time.tr_ns[0]},
        {&c->nand_tr2_ns, p->time.tr_ns[2] ? p->time.tr_ns[2] : p->time.tr_ns[0]},
        {&c->nand_tr3_ns, p->time.tr_ns[3] ? p->time.tr_ns[3] : p->time.tr_ns[0]},
        {&c->nand_tr_partial_ns, p->time.tr_partial_ns},
        {&c->nand_tprog_ns, p->time.tprog_ns},
        {&c->nand_tcoarse_ns, p->time.tpass_ns[0]},
        {&c->nand_tfine_ns, p->time.tpass_ns[1]},
        {&c->nand_tbers_ns, p->time.tbers_ns},
        {&c->nand_bus_mts, p->time.bus_mts},
        {&c->nand_tcmd_ns, p->time.tcmd_ns},
        {&c->nand_tstatus_ns, p->time.tstatus_ns},
    };
    char from[96];

    (void)snprintf(from, sizeof from, "preset %s", name);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i].field = rows[i].value;
        size_t offset = (size_t)((const char *)rows[i].field - (const char *)c);
        for (uint32_t k = 0; k < key_row_count; k++)
            if (key_rows[k].offset == offset)
                set_origin(s, (int)k, from, '-', "");
    }
}

static int set_tagged(ftl_setup *s, const char *key, const char *value, const char *where,
                      char tag, const char *note, char *why, size_t why_size)
{
    uint64_t ppm;
    int row;

    if (strcmp(key, "op") == 0) {
        if (parse_op(value, &ppm) < 0)
            return config_refuse(FTL_ECONFIG, why, why_size,
                                 "%s: op=%s: a fraction above 0, at most 100, six decimals", where,
                                 value);
        row = config_key_find("ftl.op_ppm");
        s->cfg.ftl_op_ppm = ppm;
        set_origin(s, row, where, tag, note);
        return 0;
    }
    row = config_key_find(key);
    if (row < 0)
        return config_refuse(FTL_ECONFIG, why, why_size, "%s: %s: unknown key", where, key);
    if (strcmp(key, "nand.preset") == 0 && nand_profile_find(value) == NULL)
        return config_refuse(FTL_ECONFIG, why, why_size, "%s: nand.preset=%s: unknown preset", where,
                             value);
    int err = set_row(s, row, value, where, why, why_size);
    if (err < 0)
        return err;
    set_origin(s, row, where, tag, note);
    if (strcmp(key, "nand.preset") == 0)
        apply_preset(s, value);
    /* The later of the two ways to give the capacity counts. */
    if (strcmp(key, "drive.user_bytes") == 0)
        s->cfg.ftl_op_ppm = 0;
    return 0;
}

int ftl_setup_set(ftl_setup *s, const char *key, const char *value, const char *where, char *why,
                  size_t why_size)
{
    if (s == NULL || key == NULL || value == NULL || where == NULL)
        return FTL_EINVAL;
    return set_tagged(s, key, value, where, '-', "", why, why_size);
}

/* ---- drive files ---------------------------------------------------------- */

struct reader {
    ftl_setup *setup;
    const char *name, *text;
    char *why;
    size_t why_size;
    uint32_t line;
    int err, depth;
};

/* Hands inih one line at a time and counts: inih tells no line to its handler. */
static char *read_line(char *line, int size, void *stream)
{
    struct reader *r = stream;
    int n = 0;

    if (*r->text == '\0' || r->err < 0)
        return NULL;
    r->line++;
    while (*r->text != '\0' && *r->text != '\n' && n < size - 2) {
        unsigned char c = (unsigned char)*r->text++;
        if (c != '\r' && c != '\t' && (c < 0x20 || c > 0x7e)) {
            r->err = config_refuse(FTL_ECONFIG, r->why, r->why_size,
                                   "%s:%u: byte 0x%02x: not a text file", r->name, r->line, c);
            return NULL;
        }
        line[n++] = (char)c;
    }
    if (*r->text == '\n') {
        r->text++;
    } else if (*r->text != '\0') {
        r->err = config_refuse(FTL_ECONFIG, r->why, r->why_size,
                               "%s:%u: line longer than %d characters", r->name, r->line, size - 2);
        return NULL;
    }
    /* Leading blanks would make inih join the line to the one before. */
    int skip = 0;
    while (skip < n && (line[skip] == ' ' || line[skip] == '\t'))
        skip++;
    memmove(line, line + skip, (size_t)(n - skip));
    n -= skip;
    line[n++] = '\n';
    line[n] = '\0';
    return line;
}

static int load_at_depth(ftl_setup *s, const char *drive, int depth, char *why, size_t why_size);

/* "16   [A] engineering estimate" -> value, tag, note */
static void split_value(char *text, char *ret_tag, const char **ret_note)
{
    char *open = strchr(text, '[');

    *ret_tag = '-';
    *ret_note = "";
    if (open == NULL || open[1] == '\0' || open[2] != ']')
        return;
    *ret_tag = open[1];
    *ret_note = open[3] == ' ' ? open + 4 : open + 3;
    while (open > text && open[-1] == ' ')
        open--;
    *open = '\0';
}

static int take_pair(void *user, const char *section, const char *name, const char *value)
{
    struct reader *r = user;
    char key[128], text[256], where[96], tag;
    const char *note;

    if (r->err < 0)
        return 0;
    (void)snprintf(where, sizeof where, "%s:%u", r->name, r->line);
    (void)snprintf(key, sizeof key, "%s%s%s", section, section[0] ? "." : "", name);
    (void)snprintf(text, sizeof text, "%s", value);
    split_value(text, &tag, &note);
    if (strchr("PDAC-", tag) == NULL)
        r->err = config_refuse(FTL_ECONFIG, r->why, r->why_size,
                               "%s: %s: tag [%c]: must be P, D, A or C", where, key, tag);
    else if (strcmp(key, "drive.inherit") == 0)
        r->err = load_at_depth(r->setup, text, r->depth + 1, r->why, r->why_size);
    else
        r->err = set_tagged(r->setup, key, text, where, tag, note, r->why, r->why_size);
    return r->err == 0;
}

static char *read_file(const char *path, char *why, size_t why_size)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t n;

    if (f == NULL) {
        config_refuse(0, why, why_size, "%s: %s", path, strerror(errno));
        return NULL;
    }
    text = malloc(FILE_BYTES_MAX + 1);
    if (text != NULL) {
        n = fread(text, 1, FILE_BYTES_MAX + 1, f);
        bool bad = ferror(f) != 0 || n > FILE_BYTES_MAX || memchr(text, 0, n) != NULL;
        text[bad ? 0 : n] = '\0';
        if (bad || n == 0) {
            config_refuse(0, why, why_size, "%s: empty, binary, unreadable or over 1 MiB", path);
            free(text);
            text = NULL;
        }
    }
    (void)fclose(f);
    return text;
}

static bool is_path(const char *drive)
{
    size_t n = strlen(drive);
    return strchr(drive, '/') != NULL || (n > 4 && strcmp(drive + n - 4, ".ini") == 0);
}

static int load_at_depth(ftl_setup *s, const char *drive, int depth, char *why, size_t why_size)
{
    struct reader r = {.setup = s, .name = drive, .why = why, .why_size = why_size, .depth = depth};
    char *owned = NULL, name[80];

    if (depth > INHERIT_DEPTH_MAX)
        return config_refuse(FTL_ECONFIG, why, why_size, "%s: inherit: more than %d levels", drive,
                             INHERIT_DEPTH_MAX);
    if (is_path(drive)) {
        owned = read_file(drive, why, why_size);
        if (owned == NULL)
            return FTL_EIO;
        r.text = owned;
    } else {
        r.text = ftl_drive_text(drive);
        if (r.text == NULL)
            return config_refuse(FTL_ECONFIG, why, why_size,
                                 "%s: unknown drive (see `ftlsim drives`)", drive);
        (void)snprintf(name, sizeof name, "%s.ini", drive);
        r.name = name;
    }
    int line = ini_parse_stream(read_line, &r, take_pair, &r);
    if (r.err == 0 && line > 0)
        r.err = config_refuse(FTL_ECONFIG, why, why_size,
                              "%s:%d: expected `key = value` or `[section]`", r.name, line);
    if (r.err == 0 && r.line == 0)
        r.err = config_refuse(FTL_ECONFIG, why, why_size, "%s: empty", r.name);
    free(owned);
    return r.err;
}

int ftl_setup_load(ftl_setup *s, const char *drive, char *why, size_t why_size)
{
    if (s == NULL || drive == NULL)
        return FTL_EINVAL;
    /* A file that fails half-way must leave the set-up as it was. */
    ftl_setup *trial = ftl_setup_new();
    if (trial == NULL)
        return FTL_ENOMEM;
    trial->cfg = s->cfg;
    memcpy(trial->origins, s->origins, key_row_count * sizeof *s->origins);
    int err = load_at_depth(trial, drive, 0, why, why_size);
    if (err == 0) {
        s->cfg = trial->cfg;
        memcpy(s->origins, trial->origins, key_row_count * sizeof *s->origins);
    }
    ftl_setup_free(trial);
    return err;
}
