/* nand_timeline.c - `ftlsim nand timing`: the time line of a command sequence.
 *
 * Each step is issued as early as it is legal; what was refused as busy is tried again
 * when something that is under way ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nand/nand.h"
#include "nand_cli.h"

enum { EVENTS_MOST = 4096, TRIES_MOST = 4096, FILLED_BLOCK = 1 };

struct timeline {
    nand_dev *dev;
    const struct nand_profile *prof;
    struct nand_out out;
    nand_ns now;
    nand_ns event[EVENTS_MOST]; /* times at which something becomes ready */
    size_t events;
    uint32_t die, plane;
    uint32_t wordline[64]; /* next word line of block 0, per die */
};

static const char *status_name(int status)
{
    static const char *const names[] = {"ok", "fail", "cut", "erased", "garbage", "busy"};

    return names[status];
}

static bool next_event(const struct timeline *t, nand_ns *ret)
{
    bool found = false;

    for (size_t i = 0; i < t->events; i++)
        if (t->event[i] > t->now && (!found || t->event[i] < *ret)) {
            *ret = t->event[i];
            found = true;
        }
    return found;
}

static void remember(struct timeline *t, nand_ns at)
{
    if (t->events < EVENTS_MOST)
        t->event[t->events++] = at;
}

static void print_step(struct timeline *t, const char *what, const struct nand_req *req,
                       const struct nand_res *res)
{
    const char *words[9] = {
        what, NULL, NULL, NULL, NULL, NULL, NULL, NULL, status_name(res->status)};
    const double numbers[9] = {0,
                               req->addr.die,
                               req->addr.page,
                               (double)t->now / 1000,
                               (double)res->start_at / 1000,
                               (double)res->bus_free_at / 1000,
                               (double)res->ready_at / 1000,
                               (double)res->done_at / 1000,
                               0};

    nand_out_row(&t->out, words, numbers);
}

static int issue(struct timeline *t, const char *what, const struct nand_req *req)
{
    struct nand_res res;
    int err = NAND_EBUSY;

    for (int i = 0; i < TRIES_MOST; i++) {
        nand_ns at = 0;
        err = nand_issue(t->dev, t->now, req, &res);
        bool early = err == NAND_EBUSY || err == NAND_ELIMIT ||
                     (err == NAND_ESUSPEND && req->op == NAND_OP_SUSPEND);
        if (!early || !next_event(t, &at))
            break;
        t->now = at;
    }
    if (err)
        return cli_refuse("nand: step %s at %.3f us: %s", what, (double)t->now / 1000,
                           nand_strerror(err));
    print_step(t, what, req, &res);
    remember(t, res.ready_at);
    remember(t, res.done_at);
    remember(t, res.bus_free_at + t->prof->time.tprogress_ns); /* first legal suspend */
    remember(t, res.bus_free_at + t->prof->time.tresume_ns + t->prof->time.tprogress_ns);
    return 0;
}

static int program(struct timeline *t, const char *what, enum nand_op op)
{
    const struct nand_geometry *geo = &t->prof->geo;
    struct nand_req req = {.op = NAND_OP_DATA_IN, .bytes = geo->page_bytes + geo->spare_bytes};
    uint32_t first = t->wordline[t->die] * geo->page_types;

    if (t->prof->scheme != NAND_SCHEME_ONE_PASS)
        return cli_refuse("nand: step %s: profile %s fills word lines in two visits; take its "
                           "one-pass sibling",
                           what, t->prof->name);
    req.addr.die = (uint16_t)t->die;
    req.plane_mask = (1u << geo->planes) - 1;
    for (uint32_t type = 0; type < geo->page_types; type++) {
        req.addr.page = first + type;
        int err = issue(t, "data-in", &req);
        if (err)
            return err;
    }
    req.op = op;
    req.addr.page = first;
    t->wordline[t->die]++;
    return issue(t, what, &req);
}

struct verb {
    const char *name;
    enum nand_op op;
    char argument; /* 0 none, 'p' page, 'b' bytes, 's' page of a soft read */
};

static const struct verb verbs[] = {
    {"read", NAND_OP_READ, 'p'},        {"pread", NAND_OP_READ_PARTIAL, 'p'},
    {"cread", NAND_OP_READ_CACHE, 'p'}, {"cend", NAND_OP_READ_CACHE_END, 0},
    {"soft2", NAND_OP_READ_SOFT, 's'},  {"soft3", NAND_OP_READ_SOFT, 's'},
    {"out", NAND_OP_DATA_OUT, 'b'},     {"prog", NAND_OP_PROG, 0},
    {"cprog", NAND_OP_PROG_CACHE, 0},   {"erase", NAND_OP_ERASE, 0},
    {"suspend", NAND_OP_SUSPEND, 0},    {"resume", NAND_OP_RESUME, 0},
    {"reset", NAND_OP_RESET, 0},        {"feature", NAND_OP_SET_FEATURE, 0},
    {"status", NAND_OP_STATUS, 0},
};

static int run_verb(struct timeline *t, const char *step, const struct verb *verb, long number)
{
    struct nand_req req = {.op = verb->op};

    if (verb->op == NAND_OP_PROG || verb->op == NAND_OP_PROG_CACHE)
        return program(t, step, verb->op);
    req.addr.die = (uint16_t)t->die;
    req.addr.plane = (uint16_t)t->plane;
    req.addr.block = verb->op == NAND_OP_ERASE ? 2 : FILLED_BLOCK;
    req.plane_mask = verb->op == NAND_OP_ERASE ? (1u << t->prof->geo.planes) - 1 : 0;
    if (verb->argument == 'p' || verb->argument == 's')
        req.addr.page = (uint32_t)number;
    if (verb->argument == 's')
        req.soft_bits = (uint8_t)(verb->name[4] - '0');
    if (verb->argument == 'b')
        req.bytes = (uint32_t)number;
    return issue(t, step, &req);
}

static int run_setting(struct timeline *t, const char *step, size_t length, long number)
{
    if (strncmp(step, "die", length) == 0 && length == 3) {
        if (number < 0 || number >= (long)t->prof->geo.dies)
            return cli_refuse("nand: step %s: must be 0..%u", step, t->prof->geo.dies - 1);
        t->die = (uint32_t)number;
        return 0;
    }
    if (strncmp(step, "plane", length) == 0 && length == 5) {
        if (number < 0 || number >= (long)t->prof->geo.planes)
            return cli_refuse("nand: step %s: must be 0..%u", step, t->prof->geo.planes - 1);
        t->plane = (uint32_t)number;
        return 0;
    }
    if (strncmp(step, "wait", length) == 0 && length == 4) {
        if (number < 0 || number > 1000000000)
            return cli_refuse("nand: step %s: must be 0..1000000000 us", step);
        t->now += (nand_ns)number * 1000;
        return 0;
    }
    return cli_refuse("nand: step %s: unknown; try `ftlsim nand --help`", step);
}

static int run_step(struct timeline *t, const char *step)
{
    size_t length = strcspn(step, ":");
    long number = 0;

    if (step[length] == ':') {
        char *end;
        number = strtol(step + length + 1, &end, 10);
        if (*end || end == step + length + 1 || number < 0)
            return cli_refuse("nand: step %s: needs a whole number behind the colon", step);
    }
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strlen(verbs[i].name) != length || strncmp(step, verbs[i].name, length) != 0)
            continue;
        if (!verbs[i].argument != !step[length])
            return cli_refuse("nand: step %s: %s", step,
                               verbs[i].argument ? "needs a number: NAME:NUMBER"
                                                 : "takes none");
        return run_verb(t, step, &verbs[i], number);
    }
    return run_setting(t, step, length, number);
}

/* A few blocks, one of them full in every plane, two dies on one channel. */
static int make_device(struct timeline *t, struct nand_profile *p)
{
    const uint32_t all = (1u << p->geo.planes) - 1;
    int err;

    p->geo.channels = 1;
    p->geo.dies = 2;
    p->geo.blocks_per_plane = 4;
    p->geo.wordlines_per_block = 64;
    err = nand_create(p, 1, &t->dev);
    if (err)
        return cli_refuse("nand: profile %s: %s", p->name, nand_strerror(err));
    t->prof = nand_dev_profile(t->dev);
    for (uint32_t d = 0; d < p->geo.dies && !err; d++)
        err = nand_block_set_planes(t->dev, d, all, FILLED_BLOCK, NULL, 64 * p->geo.page_types,
                                    1);
    return err;
}

static int run_all(const struct nand_timeline_options *options,
                   const struct nand_profile *preset, bool dry)
{
    static const char *const columns[] = {"step",      "die",      "page",
                                          "issued_us", "start_us", "bus_free_us",
                                          "ready_us",  "done_us",  "status"};
    static const char *const usual[] = {"prog",   "read:0",  "out:4096",
                                        "read:1", "cread:2", "out:16384"};
    struct timeline *t = calloc(1, sizeof *t);
    struct nand_profile p = *preset;
    int err;

    if (!t)
        return cli_refuse("nand: out of memory");
    err = make_device(t, &p);
    if (!err && dry)
        t->out.dry = true;
    else if (!err)
        nand_out_begin(&t->out, options->json, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0] && options->count == 0 && !err; i++)
        err = run_step(t, usual[i]);
    for (int i = 0; i < options->count && !err; i++)
        err = run_step(t, options->steps[i]);
    if (!err && !dry)
        err = nand_out_end(&t->out);
    nand_destroy(t->dev);
    free(t);
    return err;
}

/* Tried before the first line is written, so that a bad step writes nothing. */
int nand_timeline(const struct nand_timeline_options *options)
{
    const struct nand_profile *preset = nand_profile_find(options->profile);
    int err;

    if (!preset)
        return cli_refuse("nand: --profile %s: unknown; --help lists them", options->profile);
    err = run_all(options, preset, true);
    return err ? err : run_all(options, preset, false);
}
