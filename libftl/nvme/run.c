/* run.c - the event loop, and commands in and out. */

#include "nvme/drive.h"
#include "sim/hash.h"

/* ---- submit and poll ---------------------------------------------------------- */

static int judge(const ftl_drive *d, const struct ftl_cmd *cmd)
{
    if ((cmd->flags & ~FTL_FUA) != 0 || (cmd->flags != 0 && cmd->opcode != FTL_WRITE) ||
        (cmd->data != NULL && !d->cfg.media_payload))
        return FTL_EINVAL;
    switch (cmd->opcode) {
    case FTL_FLUSH:
        return cmd->lba_count == 0 ? 0 : FTL_EINVAL;
    case FTL_READ:
    case FTL_WRITE:
        if (cmd->lba_count > (UINT32_C(1) << 24))
            return FTL_EINVAL;
        break;
    case FTL_TRIM:
        break;
    default:
        return FTL_EINVAL;
    }
    if (cmd->lba_count == 0 || cmd->lba >= d->lba_count ||
        cmd->lba_count > d->lba_count - cmd->lba)
        return FTL_ERANGE;
    return 0;
}

/* Command fetch, front end and, for a write, its data over the link. */
static void enter(ftl_drive *d, uint32_t index)
{
    struct command *c = &d->commands[index];
    uint64_t at = d->ctx.now + d->cfg.host_submit_ns + d->cfg.fe_fetch_ns;

    at = server_take(&d->front_end, at, d->cfg.fe_cmd_ns);
    if (c->cmd.opcode == FTL_READ) {
        sim_line_push(&d->reads_in, at + d->cfg.fw_read_ns, index);
        return;
    }
    if (c->cmd.opcode == FTL_WRITE)
        at = server_take(&d->link_in, at,
                         link_ns(d, (uint64_t)c->cmd.lba_count * d->lba_bytes));
    at += d->cfg.fw_write_ns;
    /* a command without data would overtake the data of the write before it */
    sim_line_push(&d->writes_in, at > d->writes_in.last ? at : d->writes_in.last, index);
}

/* All but what ftl_submit() sets: one by one, for which compilers find no slow string
 * instruction. */
static inline void clear(struct command *c)
{
    c->done_at = c->wl_seq = c->journal_number = 0;
    c->first_key = c->units = c->skip_cws = c->cws = 0;
    c->cursor = c->pending = c->next = c->stream = 0;
    c->status = 0;
    c->checked = c->whole = false;
}

int ftl_submit(ftl_drive *d, const struct ftl_cmd *cmd)
{
    if (d == NULL || cmd == NULL)
        return FTL_EINVAL;
    if (d->power.off)
        return FTL_EPOWER;
    int err = judge(d, cmd);
    if (err < 0)
        return err;
    if (d->open == d->cfg.host_open_max)
        return FTL_EAGAIN;
    if (!d->core.timed)
        drive_go_timed(d);
    if (__builtin_expect(d->ctx.now >= d->bank.next_test_at, 0))
        bank_test(d);
    uint32_t index = d->command_free;
    struct command *c = &d->commands[index];
    d->command_free = c->next;
    d->open++;
    d->core.cache.idle = false;
    clear(c);
    c->cmd = *cmd;
    c->submitted_at = d->ctx.now;
    c->class = drive_class(d, cmd->stream);
    c->map_page = MAP_PAGE_NONE;
    if (cmd->lba_count != 0) {
        uint64_t last = cmd->lba + cmd->lba_count - 1, first_cw = cmd->lba >> d->lba_cw_shift;
        c->first_key = (uint32_t)(cmd->lba >> d->lba_unit_shift) + 1;
        c->units = (uint32_t)(last >> d->lba_unit_shift) + 2 - c->first_key;
        c->skip_cws = (uint32_t)first_cw & (d->core.g.unit_cws - 1);
        c->cws = (uint32_t)((last >> d->lba_cw_shift) + 1 - first_cw);
        c->whole = ((cmd->lba | cmd->lba_count) & (d->lbas_per_unit - 1)) == 0;
        __builtin_prefetch(&d->core.map[c->first_key], 1);
    }
    d->idle_at = SIM_NEVER;
    enter(d, index);
    return 0;
}

static void give(ftl_drive *d, struct sim_line *line, struct ftl_cpl *ret)
{
    struct sim_line_entry e = sim_line_pop(line);
    struct command *c = &d->commands[e.arg];

    *ret = (struct ftl_cpl){.user = c->cmd.user, .submitted_at = c->submitted_at,
                            .done_at = e.time, .opcode = c->cmd.opcode, .status = c->status,
                            .lba_count = c->cmd.lba_count};
    c->next = d->command_free;
    d->command_free = e.arg;
    d->open--;
    d->fold_at = d->ctx.now + d->cfg.pslc_idle_ns;
}

uint32_t ftl_poll(ftl_drive *d, struct ftl_cpl *ret, uint32_t max)
{
    uint32_t n = 0;

    while (n < max && !d->power.off) {
        uint64_t reads = sim_line_next(&d->done_reads), writes = sim_line_next(&d->done_writes);
        struct sim_line *line = writes < reads ? &d->done_writes : &d->done_reads;
        if ((writes < reads ? writes : reads) > d->ctx.now)
            break;
        give(d, line, &ret[n++]);
    }
    return n;
}

uint32_t ftl_open_commands(const ftl_drive *d)
{
    return d->open;
}

/* ---- events ------------------------------------------------------------------- */

/* Collection may free room for waiting writes, and writes ask for collection: on
 * until neither moves. Each round but the last places a unit or ends a command. */
static void pump(ftl_drive *d)
{
    for (;;) {
        core_gc_issue(&d->core);
        bool mapped = d->core.dftl.on && translate_continue(d);
        uint32_t head = d->wait_head, page = d->core.dftl.loaded;
        uint64_t placed = d->core.host_units;
        if (head == CMD_NONE && !mapped)
            return;
        front_continue_writes(d);
        if (!mapped && d->wait_head == head && d->core.host_units == placed &&
            d->core.dftl.loaded == page)
            return;
    }
}

void drive_collect(ftl_drive *d)
{
    pump(d);
}

static void media_ended(ftl_drive *d, struct media_done done)
{
    uint64_t due;
    bool failed = done.failed != 0;

    switch (done.kind) {
    case MEDIA_HOST_READ:
        if (translate_is_map_read(done.ref))
            translate_read_done(d, done.ref);
        else
            front_read_part_done(d, done.ref, failed);
        front_continue_reads(d);
        pump(d);    /* it may have been a partial write's, or the last of a victim */
        return;
    case MEDIA_AHEAD_READ:
        ahead_done(d, done.ref, failed);
        front_continue_reads(d);
        pump(d);    /* it may have been the last read of a victim */
        return;
    case MEDIA_SCRUB_READ:
    case MEDIA_GC_READ:
        if (done.ref >= d->core.gc.window) {
            core_dftl_flush_done(&d->core, done.ref - d->core.gc.window);
            pump(d);
            return;
        }
        due = core_gc_page_in(&d->core, done.ref, failed);
        if (due != SIM_NEVER) {
            sim_line_push(&d->gc_out, due, 0);
            pump(d);
        }
        return;
    case MEDIA_PROGRAM:
        if (__builtin_expect((done.ref & JOURNAL_REF) != 0, 0)) {
            core_journal_done(&d->core, done.ref & ~(uint32_t)JOURNAL_REF);
            if (d->flush_head != CMD_NONE)
                front_word_line_done(d);
            pump(d);
            return;
        }
        if (__builtin_expect((done.failed | done.dead) != 0, 0))
            core_program_failed(&d->core, done.ref, &done);
        core_wl_done(&d->core, done.ref);
        if (d->flush_head != CMD_NONE)
            front_word_line_done(d);
        pump(d);
        return;
    default:
        if (__builtin_expect((done.ref & JOURNAL_REF) != 0, 0))
            core_journal_erased(&d->core);
        if (__builtin_expect((done.failed | done.dead) != 0, 0))
            core_erase_failed(&d->core, &done);
        pump(d);
        return;
    }
}

/* A drive with media.faults: reads that fail, and reads for rebuilding their pages. */
static void read_ended(ftl_drive *d, const struct media_done *done)
{
    struct media_done end = *done;
    bool ended = true;

    if (done->dead != 0)
        core_planes_dead(&d->core, done);
    if (done->effort)
        core_refresh_want(&d->core, done->block);
    if (done->ref == PATROL_REF) {
        core_patrol_done(&d->core, done);
        pump(d);
        return;
    }
    if (done->ref & RAID_REF)
        ended = core_raid_part(&d->core, done, &end);
    else if (done->failed)
        ended = core_raid_begin(&d->core, done, &end);
    for (; ended; ended = core_raid_next(&d->core, &end))
        media_ended(d, end);
}

static void heap_event(ftl_drive *d)
{
    struct sim_event e = sim_heap_pop(&d->heap);

    if (media_is_sensed(&d->media, e.arg) && d->media.ops[e.arg].ref < d->core.gc.window)
        core_gc_page_sensed(&d->core, d->media.ops[e.arg].ref);
    struct media_done done = media_event(&d->media, d->ctx.now, e.arg);
    if (done.ref == MEDIA_NONE)
        return;
    if (__builtin_expect(done.kind < MEDIA_PROGRAM && d->core.raid != NULL, 0))
        read_ended(d, &done);
    else
        media_ended(d, done);
}

/* A command has arrived: collection for its own sake stops. */
static void wake(ftl_drive *d)
{
    if (d->core.pace.idle)
        core_pace_idle(&d->core, false);
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool awaits_idle(const ftl_drive *d)
{
    const struct ftl_core *c = &d->core;
    return c->cache.closed != 0 && !c->cache.idle && d->open == 0 && c->timed;
}

/* When each source of events is due, in the order that breaks ties, and the earliest of all;
 * commands behind one that waits for room do no work. */
struct due {
    uint64_t wl_out, gc_out, reads_in, writes_in, heap, first;
};

static inline struct due look(const ftl_drive *d)
{
    struct due t = {.wl_out = sim_line_next(&d->core.wl_out), .gc_out = sim_line_next(&d->gc_out),
                    .reads_in = d->read_wait == CMD_NONE ? sim_line_next(&d->reads_in) : SIM_NEVER,
                    .writes_in = d->rmw_wait == CMD_NONE ? sim_line_next(&d->writes_in) : SIM_NEVER,
                    .heap = sim_heap_next(&d->heap)};
    t.first = min_u64(min_u64(t.wl_out, t.gc_out), min_u64(t.reads_in, t.writes_in));
    t.first = min_u64(min_u64(t.first, t.heap), d->idle_at);
    if (__builtin_expect(awaits_idle(d), 0))
        t.first = min_u64(t.first, d->fold_at);
    return t;
}

/* Runs the earliest event, which is at d->ctx.now. */
static void run_event(ftl_drive *d, const struct due *t)
{
    uint64_t now = d->ctx.now;

    d->ctx.events++;
    if (__builtin_expect(d->patrol_at <= now, 0)) {
        core_patrol_turn(&d->core);
        d->patrol_at = core_patrol_next(&d->core);
        pump(d);
        return;
    }
    if (t->wl_out <= now) {
        core_wl_ready(&d->core);
    } else if (t->gc_out <= now) {
        (void)sim_line_pop(&d->gc_out);
        core_gc_page_out(&d->core);
        pump(d);
    } else if (t->reads_in <= now) {
        wake(d);
        front_read(d, sim_line_pop(&d->reads_in).arg);
        if (d->core.dftl.loaded != MAP_PAGE_NONE)
            pump(d);    /* its map page needs no read */
    } else if (t->writes_in <= now) {
        wake(d);
        front_write(d, sim_line_pop(&d->writes_in).arg);
        pump(d);
    } else if (d->idle_at <= now) {
        d->idle_at = SIM_NEVER;
        core_pace_idle(&d->core, true);
        pump(d);
    } else if (t->heap <= now) {
        heap_event(d);
    } else {                        /* the host is away: its cache is folded from now on */
        d->core.cache.idle = true;
        pump(d);
    }
}

static uint64_t next_completion(const ftl_drive *d)
{
    return min_u64(sim_line_next(&d->done_reads), sim_line_next(&d->done_writes));
}

ftl_ns ftl_now(const ftl_drive *d)
{
    return d->ctx.now;
}

ftl_ns ftl_next_event(const ftl_drive *d)
{
    uint64_t t = min_u64(look(d).first, next_completion(d));
    return t == FTL_NEVER || t > d->ctx.now ? t : d->ctx.now;
}

int ftl_run(ftl_drive *d, ftl_ns t)
{
    if (d == NULL || t < d->ctx.now)
        return FTL_EINVAL;
    if (d->power.off)
        return FTL_EPOWER;
    for (;;) {
        if (__builtin_expect(d->media.struck, 0))
            return drive_power_lost(d);
        struct due due = look(d);
        uint64_t work = due.first, completion = next_completion(d);
        if (t != FTL_NEVER)
            work = min_u64(work, d->patrol_at);     /* time is given: patrols go on in it */
        if (d->core.error < 0)
            return d->core.error;
        if (completion <= work && completion <= t && completion != FTL_NEVER) {
            if (completion > d->ctx.now)
                d->ctx.now = completion;
            return 1;
        }
        if (work > t || work == FTL_NEVER)
            break;
        if (work > d->ctx.now)
            d->ctx.now = work;
        run_event(d, &due);
    }
    if (t != FTL_NEVER)
        d->ctx.now = t;
    return 0;
}

int ftl_drain(ftl_drive *d)
{
    if (d == NULL)
        return FTL_EINVAL;
    if (d->power.off)
        return FTL_EPOWER;
    for (struct due due = look(d); due.first != FTL_NEVER; due = look(d)) {
        if (d->core.error < 0)
            return d->core.error;
        if (due.first > d->ctx.now)
            d->ctx.now = due.first;
        run_event(d, &due);
        if (__builtin_expect(d->media.struck, 0))
            return drive_power_lost(d);
    }
    uint64_t last = d->done_reads.last > d->done_writes.last ? d->done_reads.last
                                                             : d->done_writes.last;
    if (d->open != 0 && last > d->ctx.now)
        d->ctx.now = last;
    return d->core.error;
}

/* ---- identity of a state --------------------------------------------------------- */

/* Little-endian numbers, hashed a buffer at a time, each seeded by the one before. */
struct hasher {
    uint64_t hash;
    uint32_t used;
    uint8_t bytes[4096];
};

static void hash_flush(struct hasher *h)
{
    h->hash = XXH3_64bits_withSeed(h->bytes, h->used, h->hash);
    h->used = 0;
}

static void hash_u64(struct hasher *h, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        h->bytes[h->used++] = (uint8_t)(v >> (8 * i));
    if (h->used == sizeof h->bytes)
        hash_flush(h);
}

uint64_t ftl_state_hash(const ftl_drive *d)
{
    struct hasher h = {.hash = 0};
    struct ftl_counters n;

    for (uint32_t key = 1; key <= d->core.user_units + d->core.dftl.count; key++)
        hash_u64(&h, d->core.map[key]);
    for (uint32_t sb = 0; sb < d->core.g.sb_count; sb++) {
        hash_u64(&h, d->core.valid[sb]);
        hash_u64(&h, d->core.state[sb]);
        hash_u64(&h, d->core.erases[sb]);
    }
    ftl_counters_get(d, &n);
#define X(name, unit, text) hash_u64(&h, n.name);
#include "ftl/ftl_counters.def"
#undef X
    hash_u64(&h, d->ctx.now);
    hash_flush(&h);
    return h.hash;
}
