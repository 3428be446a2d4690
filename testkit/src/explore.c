/* explore.c - power cuts at every program and erase of a case. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

enum {
    ALL_VARIANTS = FTL_CUT_MODES * 3,   /* each mode, each fate of other operations */
    RECOVERY_OPS = 24,              /* a second cut falls on one of the recovery's first */
    LATER_STEPS = 30,               /* between recovery and the next cut */
    LATER_OPS = 6,                  /* which falls on one of so many operations */
    LAST_STEPS = 12
};

struct chain {
    const struct tk_explore *x;
    struct tk_explored *sum;
    struct tk_rand rand;
};

/* What the id's variant says of the first cut; the rest is drawn. */
static struct ftl_power_cut draw_cut(struct chain *ch, uint32_t variant)
{
    struct ftl_power_cut how = {.struct_size = sizeof how};
    uint64_t energy = tk_below(&ch->rand, 8);
    how.mode = (uint8_t)(variant % FTL_CUT_MODES);
    how.others = (uint8_t)(variant / FTL_CUT_MODES % 3);
    how.seed = tk_draw(&ch->rand);
    how.energy_ppm = energy < 5 ? 1000000 : energy < 6 ? 0 : tk_below(&ch->rand, 1000000);
    return how;
}

static void count_cut(struct chain *ch, const tk_rig *r)
{
    struct ftl_power_report report = {.struct_size = sizeof report};
    ftl_power_last(r->drive, &report);
    ch->sum->cuts++;
    ch->sum->short_energy += report.units_lost != 0;
}

/* Power on; every second time with another loss on the way. */
static int recover(struct chain *ch, tk_rig *r)
{
    if (tk_below(&ch->rand, 2) == 0) {
        struct ftl_power_cut how = draw_cut(ch, (uint32_t)tk_below(&ch->rand, ALL_VARIANTS));
        int err = tk_rig_arm(r, 1 + tk_below(&ch->rand, RECOVERY_OPS), &how);
        if (err < 0)
            return tk_rig_fail(r, TK_DEAD_DEVICE, "arm: %s", ftl_strerror(err));
        err = tk_rig_on(r);
        if (err != 0)
            return err;
        if (tk_rig_is_on(r)) {      /* fewer operations than that, or struck while reading */
            err = tk_rig_arm(r, 0, NULL);
            return err < 0 ? tk_rig_fail(r, TK_DEAD_DEVICE, "disarm: %s", ftl_strerror(err)) : 0;
        }
        count_cut(ch, r);
        ch->sum->in_recovery++;
    }
    int err = tk_rig_on(r);
    if (err == 0 && !tk_rig_is_on(r))
        err = tk_rig_fail(r, TK_DEAD_DEVICE, "power went though nothing was armed");
    return err;
}

static int random_steps(struct chain *ch, tk_rig *r, int steps)
{
    int err = 0;
    for (int i = 0; err == 0 && i < steps && tk_rig_is_on(r); i++) {
        uint64_t what = tk_below(&ch->rand, 16), lba = tk_below(&ch->rand, r->lbas);
        uint32_t n = (uint32_t)(1 + tk_below(&ch->rand, 4 * r->unit_lbas));
        struct tk_step s = {.op = TK_RUN, .lba = lba, .lba_count = n};
        if (what < 8)
            s.op = TK_WRITE;
        else if (what < 10)
            s.op = TK_READ;
        else if (what == 10)
            s.op = TK_TRIM;
        else if (what == 11)
            s.op = TK_FLUSH;
        else
            s.lba = tk_below(&ch->rand, 3) ? 0 : tk_below(&ch->rand, 3000000);
        s.stream = (uint16_t)tk_below(&ch->rand, 3);
        err = tk_rig_step(r, &s);
    }
    return err;
}

/* From the first loss on: recover, go on writing, lose power again, recover, go on. */
static int go_on(struct chain *ch, tk_rig *r)
{
    count_cut(ch, r);
    int err = recover(ch, r);
    if (err != 0)
        return err;
    struct ftl_power_cut how = draw_cut(ch, (uint32_t)tk_below(&ch->rand, ALL_VARIANTS));
    int armed = tk_rig_arm(r, 1 + tk_below(&ch->rand, LATER_OPS), &how);
    if (armed < 0)
        return tk_rig_fail(r, TK_DEAD_DEVICE, "arm: %s", ftl_strerror(armed));
    err = random_steps(ch, r, LATER_STEPS);
    if (err == 0 && tk_rig_is_on(r)) {
        armed = ftl_power_cut(r->drive, &how, NULL);
        if (armed < 0)
            return tk_rig_fail(r, TK_DEAD_DEVICE, "power cut: %s", ftl_strerror(armed));
        tk_rig_lost(r);
    }
    if (err == 0) {
        count_cut(ch, r);
        err = recover(ch, r);
    }
    if (err == 0)
        err = random_steps(ch, r, LAST_STEPS);
    return err == 0 ? tk_rig_end(r) : err;
}

static void make_id(const struct tk_explore *x, uint64_t op, uint32_t variant, char *ret,
                    size_t size)
{
    (void)snprintf(ret, size, "%s/%" PRIu64 "/%" PRIu64 "/%u", x->name, x->seed, op, variant);
}

static void count_chain(struct chain *ch, const tk_rig *r, uint64_t op, uint32_t variant)
{
    struct tk_explored *sum = ch->sum;
    enum tk_verdict v = r->result.verdict;
    uint32_t mode = variant % FTL_CUT_MODES;
    sum->chains++;
    sum->by_mode[mode]++;
    if (v != TK_SOUND && sum->first_id[0] == '\0') {
        make_id(ch->x, op, variant, sum->first_id, sizeof sum->first_id);
        sum->first = r->result;
    }
    sum->failed_by_mode[mode] += v != TK_SOUND;
    sum->verdicts[v]++;
}

/* One fork: armed at the k-th operation of the step, which it plays. */
static int run_chain(const struct tk_explore *x, struct tk_explored *sum, const tk_rig *before,
                     const struct tk_step *step, uint64_t op, uint64_t k, uint32_t variant)
{
    uint64_t mixed = x->seed * UINT64_C(0x9e3779b97f4a7c15) + op * 1000003 + variant;
    struct chain ch = {.x = x, .sum = sum, .rand = {mixed}};
    tk_rig *r;
    int err = tk_rig_fork(before, &r);
    if (err < 0)
        return err;
    make_id(x, op, variant, sum->current_id, sizeof sum->current_id);
    struct ftl_power_cut how = draw_cut(&ch, variant);
    err = tk_rig_arm(r, k, &how);
    if (err == 0) {
        (void)tk_rig_step(r, step);
        if (r->result.verdict == TK_SOUND && tk_rig_is_on(r))
            (void)tk_rig_fail(r, TK_DEAD_DEVICE, "the armed cut did not strike");
        if (r->result.verdict == TK_SOUND)
            (void)go_on(&ch, r);
        count_chain(&ch, r, op, variant);
    }
    tk_rig_free(r);
    return err;
}

/* All variants of all operations in (from, to], which the step on `before` issues. */
static int run_chains(const struct tk_explore *x, struct tk_explored *sum, const tk_rig *before,
                      const struct tk_step *step, uint64_t from, uint64_t to)
{
    uint32_t variants = x->variants == 0 ? ALL_VARIANTS : x->variants;
    int err = 0;
    for (uint64_t op = from + 1; op <= to && err == 0; op++) {
        sum->done++;
        if (x->only_operation != 0) {
            if (x->only_operation == op)
                err = run_chain(x, sum, before, step, op, op - from, x->only_variant);
            continue;
        }
        /* fewer variants than there are: others for each operation */
        for (uint32_t i = 0; i < variants && err == 0; i++) {
            uint32_t v = variants < ALL_VARIANTS ? (uint32_t)(op * variants + i) % ALL_VARIANTS : i;
            err = run_chain(x, sum, before, step, op, op - from, v);
        }
        if (err == 0 && x->progress != NULL && x->progress(x->user, sum))
            return FTL_EAGAIN;
    }
    return err;
}

/* How many operations each step of the case issues: needs no forks. */
static int dry_run(const struct tk_explore *x, uint64_t *ops, struct tk_explored *sum, char *why,
                   size_t size)
{
    const struct tk_script *s = &x->c->script;
    tk_rig *r;
    int err = tk_rig_new(&x->c->cfg, x->options, &r, why, size);
    if (err < 0)
        return err;
    make_id(x, 0, 0, sum->current_id, sizeof sum->current_id);
    ops[0] = ftl_power_operations(r->drive);
    for (size_t i = 0; i < s->count; i++) {
        if (err == 0)
            err = tk_rig_step(r, &s->steps[i]);
        ops[i + 1] = ftl_power_operations(r->drive);
    }
    if (err == 0)
        err = tk_rig_end(r);
    sum->operations += ops[s->count] - ops[0];
    if (err != 0) {
        sum->chains++;
        sum->verdicts[r->result.verdict]++;
        if (sum->first_id[0] == '\0') {
            make_id(x, 0, 0, sum->first_id, sizeof sum->first_id);
            sum->first = r->result;
        }
    }
    tk_rig_free(r);
    return err == 0 ? 0 : 1;
}

int tk_explore(const struct tk_explore *x, struct tk_explored *sum, char *why, size_t size)
{
    const struct tk_script *s = &x->c->script;
    uint64_t *ops = calloc(s->count + 1, sizeof *ops);
    tk_rig *r = NULL;
    int err = ops == NULL ? FTL_ENOMEM : dry_run(x, ops, sum, why, size);

    if (err == 0)
        err = tk_rig_new(&x->c->cfg, x->options, &r, why, size);
    for (size_t i = 0; err == 0 && i < s->count; i++) {
        if (ops[i + 1] != ops[i])
            err = run_chains(x, sum, r, &s->steps[i], ops[i] - ops[0], ops[i + 1] - ops[0]);
        if (err == 0)
            err = tk_rig_step(r, &s->steps[i]);
    }
    tk_rig_free(r);
    free(ops);
    return err > 0 ? 0 : err;       /* a failure of the case itself is in the sums */
}
