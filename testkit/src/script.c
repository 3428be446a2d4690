/* script.c - lists of steps, and cases as text. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ftl/ftl_testkit.h"

static const char letters[TK_OPS + 1] = "wrtfndqWTFaocxm";

void tk_script_free(struct tk_script *s)
{
    free(s->steps);
    *s = (struct tk_script){0};
}

int tk_add(struct tk_script *s, enum tk_op op, uint64_t lba, uint32_t lba_count, uint16_t stream)
{
    if (s->count == s->room) {
        size_t room = s->room == 0 ? 64 : s->room * 2;
        struct tk_step *steps = realloc(s->steps, room * sizeof *steps);
        if (steps == NULL)
            return FTL_ENOMEM;
        s->steps = steps;
        s->room = room;
    }
    s->steps[s->count++] = (struct tk_step){
        .op = (uint8_t)op, .stream = stream, .lba_count = lba_count, .lba = lba};
    return 0;
}

/* ---- printing --------------------------------------------------------------- */

struct text {
    char *data;
    size_t used, room;
    bool failed;
};

static void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *format, ...)
{
    enum { LONGEST = 512 };         /* of one piece */
    va_list args;
    if (t->room - t->used < LONGEST && !t->failed) {
        char *data = realloc(t->data, t->room * 2 + LONGEST);
        t->failed = data == NULL;
        if (data != NULL) {
            t->data = data;
            t->room = t->room * 2 + LONGEST;
        }
    }
    if (t->failed)
        return;
    va_start(args, format);
    int n = vsnprintf(t->data + t->used, LONGEST, format, args);
    va_end(args);
    t->used += n < 0 ? 0 : n < LONGEST ? (size_t)n : LONGEST - 1;
}

/* Keys in order of declaration: a preset changes later ones, so each is compared with
 * what the text so far would give. */
static int put_config(struct text *t, const struct ftl_config *cfg)
{
    char now[128], want[128], why[FTL_WHY_MAX];
    struct ftl_origin origin;
    struct ftl_key key;
    ftl_setup *s = ftl_setup_new();
    int err = s == NULL ? FTL_ENOMEM : cfg->drive_scale != 1 ? FTL_EINVAL : 0;

    for (uint32_t i = 0; err == 0 && ftl_key_get(i, &key) == 0; i++) {
        err = ftl_setup_value(s, NULL, i, now, sizeof now, &origin);
        if (err == 0)
            err = ftl_setup_value(s, cfg, i, want, sizeof want, &origin);
        if (err < 0 || strcmp(now, want) == 0 || strcmp(key.key, "ftl.op_ppm") == 0)
            continue;
        err = ftl_setup_set(s, key.key, want, "case", why, sizeof why);
        put(t, "%s=%s ", key.key, want);
    }
    ftl_setup_free(s);
    return err;
}

static void put_step(struct text *t, const struct tk_step *s)
{
    put(t, " %c", letters[s->op]);
    bool number = s->op == TK_RUN || s->op == TK_CUT || s->op == TK_MOUNT;
    if (number && s->lba != 0)
        put(t, "%llu", (unsigned long long)s->lba);
    if (!number && s->lba_count != 0)
        put(t, "%llu+%u", (unsigned long long)s->lba, s->lba_count);
    if (s->stream != 0)
        put(t, "@%u", s->stream);
}

char *tk_case_print(const struct tk_case *c)
{
    struct text t = {0};
    int err = put_config(&t, &c->cfg);
    put(&t, "|");
    for (size_t i = 0; i < c->script.count; i++)
        put_step(&t, &c->script.steps[i]);
    if (err == 0 && !t.failed)
        return t.data;
    free(t.data);
    return NULL;
}

/* ---- parsing ---------------------------------------------------------------- */

static int refuse(char *why, size_t size, const char *what, const char *text)
{
    if (why != NULL && size > 0)
        (void)snprintf(why, size, "%s: %.40s", what, text);
    return FTL_EINVAL;
}

static int parse_step(struct tk_script *s, const char *word)
{
    const char *letter = strchr(letters, word[0]);
    char *end = (char *)(uintptr_t)(word + 1);
    uint64_t lba = 0, count = 0, stream = 0;

    if (letter == NULL || word[0] == '\0')
        return FTL_EINVAL;
    if (*end >= '0' && *end <= '9')
        lba = strtoull(end, &end, 10);
    if (*end == '+')
        count = strtoull(end + 1, &end, 10);
    if (*end == '@')
        stream = strtoull(end + 1, &end, 10);
    if (*end != '\0' || count > UINT32_MAX || stream > UINT16_MAX)
        return FTL_EINVAL;
    return tk_add(s, (enum tk_op)(letter - letters), lba, (uint32_t)count, (uint16_t)stream);
}

static int parse_words(struct tk_case *c, ftl_setup *setup, char *text, char *why, size_t size)
{
    bool in_script = false;
    char *save = NULL;
    for (char *word = strtok_r(text, " \n", &save); word != NULL;
         word = strtok_r(NULL, " \n", &save)) {
        char *equals = strchr(word, '=');
        int err = 0;
        if (strcmp(word, "|") == 0 && !in_script) {
            in_script = true;
        } else if (in_script) {
            if (parse_step(&c->script, word) < 0)
                return refuse(why, size, "not a step", word);
        } else if (equals == NULL) {
            return refuse(why, size, "not key=value", word);
        } else {
            *equals = '\0';
            err = ftl_setup_set(setup, word, equals + 1, "case", why, size);
        }
        if (err < 0)
            return err;
    }
    return in_script ? 0 : refuse(why, size, "no | before the steps", "");
}

int tk_case_parse(struct tk_case *c, const char *text, char *why, size_t why_size)
{
    char *copy = malloc(strlen(text) + 1);
    ftl_setup *setup = ftl_setup_new();
    int err = copy == NULL || setup == NULL ? FTL_ENOMEM : 0;

    tk_script_free(&c->script);
    if (err == 0) {
        memcpy(copy, text, strlen(text) + 1);
        err = parse_words(c, setup, copy, why, why_size);
    }
    if (err == 0)
        err = ftl_setup_finish(setup, 1, &c->cfg, why, why_size);
    ftl_setup_free(setup);
    free(copy);
    return err;
}
