/* shrink.c - the few steps that make a case fail. */
#include <stdlib.h>
#include <string.h>

#include "ftl/ftl_testkit.h"

struct search {
    struct tk_case *best, trial;
    tk_fails_fn fails;
    void *user;
    uint32_t runs, runs_max;
};

/* The best case without steps [from, to). */
static void cut_out(struct search *s, size_t from, size_t to)
{
    const struct tk_script *b = &s->best->script;
    struct tk_script *t = &s->trial.script;
    memcpy(t->steps, b->steps, from * sizeof *t->steps);
    memcpy(t->steps + from, b->steps + to, (b->count - to) * sizeof *t->steps);
    t->count = b->count - (to - from);
}

/* Keeps the trial if it fails too. */
static bool keeps_failing(struct search *s)
{
    if (s->runs == s->runs_max)
        return false;
    s->runs++;
    if (!s->fails(s->user, &s->trial))
        return false;
    s->best->script.count = s->trial.script.count;
    memcpy(s->best->script.steps, s->trial.script.steps,
           s->trial.script.count * sizeof *s->trial.script.steps);
    return true;
}

/* Removes chunks of half of the list, then of a quarter, ... down to single steps, from
 * the end on: what follows the failure goes first. */
static void remove_steps(struct search *s)
{
    for (size_t chunk = (s->best->script.count + 1) / 2; chunk > 0; chunk /= 2) {
        for (size_t to = s->best->script.count; to > 0;) {
            size_t from = to > chunk ? to - chunk : 0;
            cut_out(s, from, to);
            (void)keeps_failing(s);
            to = from < s->best->script.count ? from : s->best->script.count;
        }
    }
}

static void try_step(struct search *s, size_t i, struct tk_step step)
{
    struct tk_script *t = &s->trial.script;
    if (memcmp(&s->best->script.steps[i], &step, sizeof step) == 0)
        return;
    cut_out(s, 0, 0);
    t->steps[i] = step;
    (void)keeps_failing(s);
}

/* Shorter ranges, no hints, single events instead of spans of time. */
static void shorten_steps(struct search *s)
{
    for (size_t i = 0; i < s->best->script.count; i++) {
        struct tk_step step = s->best->script.steps[i];
        if (step.op == TK_RUN) {
            step.lba = 0;
            try_step(s, i, step);
            continue;
        }
        step.stream = 0;
        try_step(s, i, step);
        for (uint32_t n = step.lba_count / 2; n > 0; n /= 2) {
            step = s->best->script.steps[i];
            step.lba_count = step.lba_count > n ? step.lba_count - n : step.lba_count;
            try_step(s, i, step);
        }
    }
}

uint32_t tk_shrink(struct tk_case *c, tk_fails_fn fails, void *user, uint32_t runs_max)
{
    struct search s = {.best = c, .fails = fails, .user = user, .runs_max = runs_max};
    size_t before;

    s.trial.cfg = c->cfg;
    s.trial.script.steps = malloc((c->script.count + 1) * sizeof *c->script.steps);
    if (s.trial.script.steps == NULL)
        return 0;
    do {
        before = c->script.count;
        remove_steps(&s);
    } while (c->script.count < before && s.runs < runs_max);
    shorten_steps(&s);
    remove_steps(&s);
    free(s.trial.script.steps);
    return s.runs;
}
