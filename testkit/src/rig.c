/* rig.c - a drive and its oracle, step by step. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

/* Attempted Write to Read Only Range: the end of life. Unrecovered Read Error. */
enum { DEPTH = 16, READ_ALL_LBAS = 96, READ_ONLY_RANGE = 0x182, UNRECOVERED = 0x281 };

/* ---- life --------------------------------------------------------------------- */

int tk_rig_new(const struct ftl_config *cfg, const struct tk_options *options, tk_rig **ret,
               char *why, size_t why_size)
{
    tk_rig *r = calloc(1, sizeof *r);
    const struct ftl_policies *policies = options == NULL ? NULL : options->policies;
    int err = r == NULL ? FTL_ENOMEM
                        : ftl_create_with(cfg, policies, &r->drive, why, why_size);
    if (err < 0) {
        free(r);
        return err;
    }
    if (options != NULL)
        r->options = *options;
    r->cfg = *cfg;
    r->payload = cfg->media_payload != 0;
    r->lba_bytes = ftl_lba_bytes(r->drive);
    r->unit_lbas = (uint32_t)cfg->map_unit_bytes / r->lba_bytes;
    r->lbas = ftl_lba_count(r->drive);
    r->journal = cfg->journal_enabled != 0;
    r->atomic_lbas = (uint32_t)cfg->power_atomic_units * r->unit_lbas;
    r->oracle = tk_oracle_new(r->lbas, DEPTH, cfg->power_plp != 0);
    if (r->oracle == NULL) {
        tk_rig_free(r);
        return FTL_ENOMEM;
    }
    *ret = r;
    return 0;
}

void tk_rig_free(tk_rig *r)
{
    if (r == NULL)
        return;
    ftl_destroy(r->drive);
    tk_oracle_free(r->oracle);
    for (int i = 0; i < TK_OPEN_MAX; i++)
        if (!r->open[i].borrowed)
            free(r->open[i].data);
    free(r);
}

ftl_drive *tk_rig_drive(tk_rig *r)
{
    return r->drive;
}

void tk_rig_result(const tk_rig *r, struct tk_result *ret)
{
    *ret = r->result;
    ftl_counters_get(r->drive, &ret->counters);
}

int tk_rig_fail(tk_rig *r, enum tk_verdict verdict, const char *format, ...)
{
    va_list args;
    if (r->result.verdict != TK_SOUND)
        return (int)r->result.verdict;      /* the first counts */
    r->result.verdict = verdict;
    r->result.step = r->steps;
    va_start(args, format);
    (void)vsnprintf(r->result.why, sizeof r->result.why, format, args);
    va_end(args);
    return (int)verdict;
}

void tk_rig_lost(tk_rig *r)
{
    for (int i = 0; i < TK_OPEN_MAX; i++) {
        struct open_cmd *o = &r->open[i];
        o->used = false;
        if (o->borrowed)
            *o = (struct open_cmd){0};
    }
    tk_oracle_cut(r->oracle);
    r->off = true;
}

/* A call of the drive's failed: power went, or a policy's fault, which says more than the
 * error. */
static int broken(tk_rig *r, const char *what, int err)
{
    if (err == FTL_EPOWER && !r->off) {
        tk_rig_lost(r);
        return TK_LOST;
    }
    char why[FTL_WHY_MAX - 64] = "";
    bool policy = ftl_policy_fault(r->drive, why, sizeof why) == FTL_EPOLICY;
    return tk_rig_fail(r, policy ? TK_POLICY : TK_DEAD_DEVICE, "%s: %s", what,
                policy ? why : ftl_strerror(err));
}

/* ---- completions ---------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b)
{
    struct tk_rand r = {a ^ b * UINT64_C(0xd1342543de82ef95)};
    return tk_draw(&r);
}

static int verify(tk_rig *r, const struct open_cmd *o)
{
    char why[256];
    for (uint32_t i = 0; i < o->lba_count; i++) {
        const uint8_t *block = o->data + (size_t)i * r->lba_bytes;
        uint64_t lba = o->lba + i;
        uint32_t version;
        bool whole = tk_pattern_version(block, r->lba_bytes, lba, &version);
        if (whole && r->weak && version <= r->version) {
            tk_oracle_set(r->oracle, lba, version);
            continue;
        }
        if (whole && tk_oracle_read(r->oracle, lba, version, o->begin)) {
            r->result.digest += mix(o->number, mix(lba, version));
            continue;
        }
        enum tk_verdict v =
            tk_pattern_judge(block, r->lba_bytes, lba, r->lbas, r->version, why, sizeof why);
        return tk_rig_fail(r, v, "%s; the newest is version %u", why, tk_oracle_newest(r->oracle, lba));
    }
    return 0;
}

static int ended(tk_rig *r, const struct ftl_cpl *cpl)
{
    struct open_cmd *o = cpl->user < TK_OPEN_MAX ? &r->open[cpl->user] : NULL;

    if (o == NULL || !o->used || o->opcode != cpl->opcode || cpl->lba_count != o->lba_count)
        return tk_rig_fail(r, TK_DEAD_DEVICE, "a completion of no command: user %" PRIu64, cpl->user);
    o->used = false;
    if (cpl->status == UNRECOVERED && o->opcode == FTL_READ && tk_rig_may_lose(r))
        return 0;
    if ((cpl->status == READ_ONLY_RANGE && o->opcode != FTL_READ && tk_rig_is_read_only(r)) ||
        (cpl->status == UNRECOVERED && o->opcode == FTL_WRITE && tk_rig_may_lose(r))) {
        tk_oracle_refused(r->oracle, o->from, o->to - o->from, o->begin);
        return 0;
    }
    if (cpl->status != 0)
        return tk_rig_fail(r, TK_DEAD_DEVICE, "opcode %u at LBA %" PRIu64 " ended with status %u",
                    cpl->opcode, o->lba, cpl->status);
    if (cpl->done_at > ftl_now(r->drive) || cpl->done_at < cpl->submitted_at)
        return tk_rig_fail(r, TK_INVARIANT, "a completion at %" PRIu64 " ns, now is %" PRIu64,
                    cpl->done_at, ftl_now(r->drive));
    if (o->opcode == FTL_READ) {
        r->result.reads++;
        return r->payload ? verify(r, o) : 0;
    }
    r->result.writes += o->opcode == FTL_WRITE;
    if (o->opcode == FTL_FLUSH)
        tk_oracle_flushed(r->oracle, o->begin);
    else
        tk_oracle_end(r->oracle, o->from, o->to - o->from, o->begin);
    return 0;
}

static int collect(tk_rig *r)
{
    struct ftl_cpl cpl[8];
    int err = 0;
    for (uint32_t n = ftl_poll(r->drive, cpl, 8); n > 0; n = ftl_poll(r->drive, cpl, 8))
        for (uint32_t i = 0; i < n && err == 0; i++)
            err = ended(r, &cpl[i]);
    return err;
}

/* Runs up to time t, collecting. With `once` only to the first completion. */
static int run(tk_rig *r, ftl_ns t, bool once)
{
    int more = 1;
    while (more == 1) {
        more = ftl_run(r->drive, t);
        if (more < 0)
            return broken(r, "run", more);
        int err = collect(r);
        if (err != 0 || once)
            return err;
    }
    return 0;
}

static int wait_one(tk_rig *r)
{
    uint32_t before = ftl_open_commands(r->drive);
    int err = run(r, FTL_NEVER, true);
    if (err == 0 && ftl_open_commands(r->drive) == before)
        err = tk_rig_fail(r, TK_DEAD_DEVICE, "%u commands never end", before);
    return err;
}

int tk_rig_wait(tk_rig *r)
{
    int err = 0;
    while (err == 0 && ftl_open_commands(r->drive) > 0)
        err = wait_one(r);
    return err;
}

/* ---- commands --------------------------------------------------------------------- */

static struct open_cmd *free_slot(tk_rig *r, uint32_t *ret_index)
{
    for (uint32_t i = 0; i < TK_OPEN_MAX; i++) {
        *ret_index = i;
        if (!r->open[i].used)
            return &r->open[i];
    }
    return NULL;
}

static uint32_t oldest_begin(const tk_rig *r)
{
    uint32_t oldest = UINT32_MAX;
    for (uint32_t i = 0; i < TK_OPEN_MAX; i++)
        if (r->open[i].used && r->open[i].begin < oldest)
            oldest = r->open[i].begin;
    return oldest;
}

static int data_for(tk_rig *r, struct open_cmd *o)
{
    size_t need = (size_t)o->lba_count * r->lba_bytes;
    if (!r->payload || need <= o->data_size)
        return 0;
    need = need < 32768 ? 32768 : need;
    uint8_t *data = realloc(o->data, need);
    if (data == NULL)
        return tk_rig_fail(r, TK_DEAD_DEVICE, "no memory for a command of %zu bytes", need);
    o->data = data;
    o->data_size = need;
    return 0;
}

/* LBAs that a command changes: TRIM drops whole units only. */
static void set_range(const tk_rig *r, struct open_cmd *o)
{
    o->from = o->lba;
    o->to = o->opcode == FTL_WRITE || o->opcode == FTL_TRIM ? o->lba + o->lba_count : o->lba;
    if (o->opcode != FTL_TRIM)
        return;
    o->from = (o->from + r->unit_lbas - 1) / r->unit_lbas * r->unit_lbas;
    o->to = o->to / r->unit_lbas * r->unit_lbas;
    if (o->to < o->from)
        o->to = o->from;
}

static int send(tk_rig *r, uint8_t opcode, uint64_t lba, uint32_t n, uint16_t stream);

/* So that no part of an LBA that the drive does not bring passes for an old read's. One stanza
 * of the pattern in each 512 bytes: all stanzas of an LBA are compared. */
static void poison(uint8_t *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 512)
        memset(data + at, 0xa5, 16);
}

/* Waits until the oracle can remember one more version of each LBA. Without
 * capacitors only a flush makes older ones impossible. */
static int make_room(tk_rig *r, const struct open_cmd *want)
{
    int err = 0;
    while (err == 0 && !tk_oracle_room(r->oracle, want->from, want->to - want->from,
                                       oldest_begin(r))) {
        if (tk_rig_is_read_only(r))
            return TK_SKIP;             /* what is refused leaves all values possible */
        if (ftl_open_commands(r->drive) == 0)
            err = send(r, FTL_FLUSH, 0, 0, 0);
        if (err == 0)
            err = wait_one(r);
    }
    return err;
}

/* Not when an earlier write of the same LBAs is under way: that may come out on top. */
static void remember(tk_rig *r, const struct open_cmd *self, uint64_t lba, uint32_t n)
{
    for (int i = 0; i < TK_OPEN_MAX; i++)
        if (r->open[i].used && &r->open[i] != self && r->open[i].from < lba + n &&
            r->open[i].to > lba)
            return;
    if (n < 2 || n > r->atomic_lbas || lba % r->unit_lbas != 0 || n % r->unit_lbas != 0)
        return;
    r->recent[r->recent_next++ % TK_RECENT] =
        (struct recent_write){.lba = lba, .lba_count = n, .version = r->version};
}

static int send(tk_rig *r, uint8_t opcode, uint64_t lba, uint32_t n, uint16_t stream)
{
    struct open_cmd want = {.used = true, .opcode = opcode, .lba = lba, .lba_count = n};
    uint32_t index;
    int err = 0;

    set_range(r, &want);
    if (opcode == FTL_WRITE || opcode == FTL_TRIM)
        err = make_room(r, &want);
    if (err == TK_SKIP)
        return 0;
    while (err == 0 && free_slot(r, &index) == NULL)
        err = wait_one(r);
    if (err != 0)
        return err;
    struct open_cmd *o = &r->open[index];
    if (!o->borrowed) {
        want.data = o->data;
        want.data_size = o->data_size;
    }
    want.number = r->steps;
    *o = want;
    err = opcode == FTL_READ || opcode == FTL_WRITE ? data_for(r, o) : 0;
    if (err != 0)
        return err;
    if (opcode == FTL_WRITE) {
        r->version++;
        remember(r, o, lba, n);
    }
    for (uint32_t i = 0; r->payload && opcode == FTL_WRITE && i < n; i++)
        tk_pattern(o->data + (size_t)i * r->lba_bytes, r->lba_bytes, lba + i, r->version);
    if (r->payload && opcode == FTL_READ)
        poison(o->data, (size_t)n * r->lba_bytes);
    o->begin = opcode == FTL_WRITE || opcode == FTL_TRIM
                   ? tk_oracle_begin(r->oracle, o->from, o->to - o->from,
                                     opcode == FTL_WRITE ? r->version : 0)
                   : tk_oracle_tick(r->oracle);
    bool moves = opcode == FTL_READ || opcode == FTL_WRITE;
    struct ftl_cmd cmd = {.opcode = opcode, .lba = lba, .lba_count = n, .user = index,
                          .stream = stream, .data = r->payload && moves ? o->data : NULL};
    err = ftl_submit(r->drive, &cmd);
    return err == 0 ? 0 : broken(r, "submit", err);
}

int tk_rig_read_all(tk_rig *r)
{
    int err = tk_rig_wait(r);
    for (uint64_t lba = 0; err == 0 && lba < r->lbas; lba += READ_ALL_LBAS) {
        uint64_t n = r->lbas - lba < READ_ALL_LBAS ? r->lbas - lba : READ_ALL_LBAS;
        err = send(r, FTL_READ, lba, (uint32_t)n, 0);
        if (err == 0)
            err = tk_rig_wait(r);
    }
    return err;
}

int tk_rig_drain(tk_rig *r)
{
    int err = tk_rig_wait(r);
    int done = err == 0 ? ftl_drain(r->drive) : 0;
    return done < 0 ? broken(r, "drain", done) : err;
}

/* ---- without time ------------------------------------------------------------------- */

/* The new zeros or nothing: what the oracle knows of untimed work, which is done at once. */
static int untimed(tk_rig *r, uint8_t opcode, uint64_t lba, uint32_t n)
{
    struct open_cmd o = {.opcode = opcode, .lba = lba, .lba_count = n};
    int err = tk_rig_drain(r);

    set_range(r, &o);
    if (opcode == FTL_WRITE) {
        o.from = lba / r->unit_lbas * r->unit_lbas;
        o.to = (o.to + r->unit_lbas - 1) / r->unit_lbas * r->unit_lbas;
    }
    if (err == 0)
        err = make_room(r, &o);
    if (err == TK_SKIP)
        return 0;
    if (err == 0)
        err = tk_rig_wait(r);
    if (err != 0)
        return err;
    if (tk_rig_is_read_only(r))
        return 0;
    uint32_t begin = tk_oracle_begin(r->oracle, o.from, o.to - o.from, 0);
    struct ftl_extent e = {.lba = o.from, .lba_count = (uint32_t)(o.to - o.from)};
    int done = opcode == FTL_WRITE ? ftl_write_untimed(r->drive, &e, 1)
                                   : ftl_trim_untimed(r->drive, lba, n);
    if (done == 0)
        tk_oracle_end(r->oracle, o.from, o.to - o.from, begin);
    return done == 0 ? 0 : broken(r, "untimed", done);
}

static int format(tk_rig *r)
{
    const struct open_cmd all = {.from = 0, .to = r->lbas};
    int err = tk_rig_drain(r);
    if (err == 0)
        err = make_room(r, &all);
    if (err == TK_SKIP)
        return 0;
    if (err == 0)
        err = tk_rig_wait(r);
    if (err != 0)
        return err;
    if (tk_rig_is_read_only(r))
        return 0;
    (void)tk_oracle_begin(r->oracle, 0, r->lbas, 0);
    int done = ftl_format(r->drive);
    if (done == 0)
        tk_oracle_clear(r->oracle);
    return done == 0 ? 0 : broken(r, "format", done);
}

/* ---- steps ----------------------------------------------------------------------------- */

static int run_on(tk_rig *r, uint64_t ns)
{
    ftl_ns next = ftl_next_event(r->drive);
    if (ns != 0)
        return run(r, ftl_now(r->drive) + ns, false);
    return next == FTL_NEVER ? 0 : run(r, next, true);
}

static int act(tk_rig *r, const struct tk_step *s)
{
    static const uint8_t opcodes[TK_OPS] = {
        [TK_WRITE] = FTL_WRITE, [TK_READ] = FTL_READ, [TK_TRIM] = FTL_TRIM,
        [TK_WRITE_UNTIMED] = FTL_WRITE, [TK_TRIM_UNTIMED] = FTL_TRIM};
    uint64_t lba = s->lba % r->lbas, most = r->lbas - lba;
    uint32_t n = s->lba_count == 0 ? 1 : s->lba_count;

    n = n < most ? n : (uint32_t)most;
    switch (s->op) {
    case TK_WRITE:
    case TK_READ:
    case TK_TRIM:
        return send(r, opcodes[s->op], lba, n, s->stream);
    case TK_FLUSH:
        return send(r, FTL_FLUSH, 0, 0, 0);
    case TK_RUN:
        return run_on(r, s->lba);
    case TK_WAIT:
        return tk_rig_wait(r);
    case TK_DRAIN:
        return tk_rig_drain(r);
    case TK_WRITE_UNTIMED:
    case TK_TRIM_UNTIMED:
        return untimed(r, opcodes[s->op], lba, n);
    case TK_FORMAT:
        return format(r);
    case TK_OFF_ON:
        return tk_rig_off_on(r);
    case TK_CUT:
        return tk_rig_cut_on(r, s->lba);
    case TK_FAULT:
        return tk_rig_fault(r, s);
    case TK_MOUNT:
        return tk_rig_mount(r, s->lba);
    case TK_READ_ALL:
        return tk_rig_read_all(r);
    default:
        return tk_rig_fail(r, TK_INVARIANT, "step %u is none", s->op);
    }
}

int tk_rig_check(tk_rig *r)
{
    char why[FTL_WHY_MAX - 32] = "";
    if (ftl_check(r->drive, why, sizeof why) == 0)
        return 0;
    return tk_rig_fail(r, TK_INVARIANT, "ftl_check: %s", why);
}

int tk_rig_step(tk_rig *r, const struct tk_step *s)
{
    uint32_t every = r->options.check_every == 0 ? 1 : r->options.check_every;
    int err = (int)r->result.verdict;
    if (err == 0 && !r->off)
        err = act(r, s);
    if (err == TK_LOST)
        return 0;
    if (err == 0 && !r->off && r->steps % every == 0)
        err = tk_rig_check(r);
    r->steps += err == 0;
    return err;
}

int tk_rig_end(tk_rig *r)
{
    int err = r->off ? tk_rig_on(r) : (int)r->result.verdict;
    if (err == 0)
        err = tk_rig_drain(r);
    if (err == 0)
        err = tk_rig_read_all(r);
    if (err == 0)
        err = tk_rig_check(r);
    return err == TK_LOST ? 0 : err;
}

int tk_play(const struct tk_case *c, const struct tk_options *options, struct tk_result *ret)
{
    tk_rig *r;
    *ret = (struct tk_result){0};
    int err = tk_rig_new(&c->cfg, options, &r, ret->why, sizeof ret->why);
    if (err < 0)
        return err;
    for (size_t i = 0; err == 0 && i < c->script.count; i++)
        err = tk_rig_step(r, &c->script.steps[i]);
    if (err == 0)
        (void)tk_rig_end(r);
    tk_rig_result(r, ret);
    tk_rig_free(r);
    return 0;
}

const char *tk_verdict_name(enum tk_verdict v)
{
    static const char *const names[TK_VERDICTS] = {
        "sound", "bit corruption", "shorn write", "unserialisable write", "metadata corruption",
        "dead device", "broken invariant", "policy fault", "crash"};
    return (unsigned)v < TK_VERDICTS ? names[v] : "unknown";
}
