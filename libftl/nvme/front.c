/* front.c - commands between the doorbell and the core.
 *
 * read:   fetch, front end, firmware | page reads | decode, link, completion
 * write:  fetch, front end, link, firmware | buffer space, write path, commit, completion
 * A bar is an event; stages between bars end in the order they began, so their
 * times are computed at once and delay lines need no heap. */
#include <string.h>

#include "nvme/drive.h"

/* Bytes of `lbas` LBAs from `first` on that a command covers, and where they start. */
static uint32_t overlap(const ftl_drive *d, const struct command *c, uint64_t first, uint32_t lbas,
                        uint32_t *ret_offset)
{
    uint64_t from = max_u64(first, c->cmd.lba);
    uint64_t end = c->cmd.lba + c->cmd.lba_count;
    uint64_t to = first + lbas < end ? first + lbas : end;
    *ret_offset = (uint32_t)(from - first) * d->lba_bytes;
    return (uint32_t)(to - from) * d->lba_bytes;
}

/* The command's data from this LBA on; before its first, the first. */
static uint8_t *data_at(const ftl_drive *d, const struct command *c, uint64_t lba)
{
    uint64_t skip = lba > c->cmd.lba ? lba - c->cmd.lba : 0;
    return (uint8_t *)c->cmd.data + skip * d->lba_bytes;
}

static uint64_t unit_lba(const ftl_drive *d, const struct command *c, uint32_t i)
{
    return ((uint64_t)c->first_key - 1 + i) << d->lba_unit_shift;
}

/* The same of unit i of a command. */
static uint32_t covered(const ftl_drive *d, const struct command *c, uint32_t i,
                        uint32_t *ret_offset)
{
    return overlap(d, c, unit_lba(d, c, i), d->lbas_per_unit, ret_offset);
}

/* All of it at once? */
static bool is_atomic(const ftl_drive *d, const struct command *c)
{
    return c->units <= d->cfg.power_atomic_units;
}

/* ---- reads -------------------------------------------------------------------- */

/* NVMe status fields: code type << 8 | code. Attempted Write to Read Only Range: the
 * media, not a write protection that the host asked for; Unrecovered Read Error (NVM
 * command set 1.0). */
enum { STATUS_READ_ONLY_RANGE = 0x182, STATUS_UNRECOVERED = 0x281 };

/* The command's part of its codeword i, from a whole one; NULL = zeros. */
static void hand_over(const ftl_drive *d, const struct command *c, uint32_t i, const uint8_t *cw)
{
    uint64_t lba = ((c->cmd.lba >> d->lba_cw_shift) + i) << d->lba_cw_shift;
    uint32_t offset, bytes = overlap(d, c, lba, UINT32_C(1) << d->lba_cw_shift, &offset);
    if (cw == NULL)
        memset(data_at(d, c, lba), 0, bytes);
    else
        memcpy(data_at(d, c, lba), cw + offset, bytes);
}

/* The next n codewords of a read, from the write buffer. */
static void hand_over_buffered(ftl_drive *d, struct command *c, uint32_t n,
                               uint32_t slot, uint32_t in_unit)
{
    for (uint32_t i = 0; i < n; i++, in_unit++) {
        uint32_t at = slot + (in_unit >> d->core.g.cw_shift), cw = in_unit & (d->core.g.unit_cws - 1);
        const uint8_t *sector = core_payload_sector(&d->core, at, cw);
        if (memory_judge(d, c, sector, d->core.rmap[at]))
            hand_over(d, c, c->cursor + i, sector);
    }
}

/* Codewords of a page, with their tags, to the command. */
void front_hand_over(ftl_drive *d, struct command *c, const struct read_part *part,
                     const uint8_t *page)
{
    const struct payload *p = d->core.payload;
    const uint8_t *sector = page + (size_t)part->cw * p->sector_bytes;
    for (uint32_t i = part->first; i < part->first + part->cws; i++, sector += p->sector_bytes) {
        uint32_t unit = (c->skip_cws + i) >> d->core.g.cw_shift;
        if (memory_judge(d, c, sector, c->first_key + unit))
            hand_over(d, c, i, sector);
    }
}

void front_idle_from(ftl_drive *d, uint64_t at)
{
    uint32_t ended = d->done_reads.tail - d->done_reads.head + d->done_writes.tail -
                     d->done_writes.head;
    if (ended == d->open)
        d->idle_at = max_u64(max_u64(at, d->done_reads.last), d->done_writes.last) +
                     d->core.pace.answer.idle_after_ns;
}

static void read_complete(ftl_drive *d, uint32_t index)
{
    struct command *c = &d->commands[index];
    if (__builtin_expect(d->core.upset.on, 0) && c->status == 0)
        c->status = memory_pass(d, c->cmd.data, (uint64_t)c->cmd.lba_count * d->lba_bytes);
    d->count.host_reads++;
    d->count.host_read_bytes += (uint64_t)c->cmd.lba_count * d->lba_bytes;
    c->done_at += d->cfg.fe_completion_ns + d->cfg.host_complete_ns;
    sim_line_push(&d->done_reads, c->done_at, index);
    if (d->core.pace.answer.idle_ahead_units != 0)
        front_idle_from(d, c->done_at);
}

/* Data is in the controller at `from`: out over the link. */
void front_read_out(ftl_drive *d, struct command *c, uint64_t from, uint32_t cws)
{
    uint64_t bytes = (uint64_t)c->cmd.lba_count * d->lba_bytes;
    if (c->cws > 1)
        bytes = (uint64_t)cws * CODEWORD_BYTES; /* edges count whole: at most 8 KiB more */
    c->done_at = max_u64(c->done_at, server_take(&d->link_out, from, link_ns(d, bytes)));
}

uint32_t front_part_take(ftl_drive *d)
{
    uint32_t part = d->part_free;
    FTL_ASSERT(&d->ctx, d->parts_free_count > 0);
    d->part_free = d->parts[part].next;
    d->parts_free_count--;
    return part;
}

void front_part_give(ftl_drive *d, uint32_t part)
{
    d->parts[part].next = d->part_free;
    d->part_free = part;
    d->parts_free_count++;
}

/* Part of a read has its data on the way out; it may have been the last. */
void front_part_ended(ftl_drive *d, uint32_t index)
{
    struct command *c = &d->commands[index];
    if (--c->pending == 0 && c->cursor == c->cws)
        read_complete(d, index);
}

static void issue_part(ftl_drive *d, uint32_t index, uint32_t cws, const struct ftl_place *p)
{
    struct command *c = &d->commands[index];
    uint32_t part = front_part_take(d);
    d->parts[part] = (struct read_part){.command = index, .cws = cws, .sb = p->sb,
                                        .first = c->cursor, .die = (uint16_t)p->die,
                                        .plane = (uint8_t)p->plane, .cw = (uint8_t)p->cw};
    d->core.reads_in_flight[p->sb]++;
    c->pending++;
    media_want(&d->media, p->cw, cws);
    media_read(&d->media, d->ctx.now, MEDIA_HOST_READ, p->die, p->plane, p->sb,
               core_page(&d->core, p), cws, part);
}

/* Issues what is left of a read; false when media has no room for it now. */
static bool read_issue(ftl_drive *d, uint32_t index)
{
    struct command *c = &d->commands[index];
    struct ftl_core *core = &d->core;
    const uint32_t *map = &core->map[c->first_key];
    const uint32_t shift = core->g.cw_shift;

    while (c->cursor < c->cws) {
        uint32_t at = c->skip_cws + c->cursor, left = c->cws - c->cursor, n = 1;
        uint32_t slot = map[at >> shift], in_unit = at & (core->g.unit_cws - 1);
        struct ftl_place p;
        if (core->dftl.on) {
            uint32_t key = c->first_key + at, rest = map_page_rest(&core->dftl, key);
            if (!translate_key(d, index, key))
                return true;
            left = left < rest ? left : rest;
        }
        if (slot == 0) {
            if (core_is_lost(core->raid, c->first_key + (at >> shift)))
                c->status = STATUS_UNRECOVERED;
            while (n < left && map[(at + n) >> shift] == 0 &&
                   (core->raid == NULL || ((at + n) & (core->g.unit_cws - 1)) != 0))
                n++;
            d->count.unmapped_reads += n;
            for (uint32_t i = 0; c->cmd.data != NULL && i < n; i++)
                hand_over(d, c, c->cursor + i, NULL);
            front_read_out(d, c, d->ctx.now, n);
            c->cursor += n;
            continue;
        }
        geometry_place(&core->g, slot - 1, in_unit, &p);
        left = left < core->g.page_cws - p.cw ? left : core->g.page_cws - p.cw;
        while (n < left && map[(at + n) >> shift] == slot + ((in_unit + n) >> shift))
            n++;
        if (core_in_buffer(core, &p)) {
            d->count.buffer_read_hits += n;
            if (c->cmd.data != NULL)
                hand_over_buffered(d, c, n, slot, in_unit);
            front_read_out(d, c, d->ctx.now, n);
        } else if (d->ahead.lines != NULL &&
                   ahead_serve(d, index, n, ahead_page(d, slot, in_unit), &p)) {
            /* in a page read ahead, or on its way there */
        } else if (d->parts_free_count > d->rmw_parts) {
            issue_part(d, index, n, &p);
        } else {
            return false;
        }
        c->cursor += n;
    }
    if (c->pending == 0)
        read_complete(d, index);
    return true;
}

void front_read(ftl_drive *d, uint32_t index)
{
    struct command *c = &d->commands[index];
    c->done_at = d->ctx.now;
    if (__builtin_expect(d->core.upset.on, 0) && (c->status = memory_read(d, c)) != 0) {
        read_complete(d, index);
        return;
    }
    c->stream = d->ahead.lines != NULL ? ahead_note(d, c) : AHEAD_STREAMS;
    front_resume_read(d, index);
    if (c->stream < AHEAD_STREAMS && d->read_wait == CMD_NONE)
        ahead_go_on(d, c->stream);
}

void front_resume_read(ftl_drive *d, uint32_t index)
{
    if (d->read_wait == CMD_NONE && read_issue(d, index))
        return;
    d->commands[index].next = CMD_NONE;
    if (d->read_wait == CMD_NONE)
        d->read_wait = index;
    else
        d->commands[d->read_wait_last].next = index;
    d->read_wait_last = index;
}

void front_continue_reads(ftl_drive *d)
{
    uint32_t rmw = d->rmw_wait;

    while (d->read_wait != CMD_NONE) {
        uint32_t next = d->commands[d->read_wait].next;
        if (!read_issue(d, d->read_wait))
            break;
        d->read_wait = next;
    }
    if (rmw != CMD_NONE) {
        d->rmw_wait = CMD_NONE;
        front_write(d, rmw);
    }
}

/* Read-modify-write: the old data is there, the write joins the line. */
static void rmw_ready(ftl_drive *d, uint32_t index);

void front_read_part_done(ftl_drive *d, uint32_t index, bool failed)
{
    struct read_part *part = &d->parts[index];
    struct command *c = &d->commands[part->command];

    d->core.reads_in_flight[part->sb]--;
    if (failed)
        c->status = STATUS_UNRECOVERED;
    if (c->cmd.opcode == FTL_READ) {
        if (c->cmd.data != NULL && !failed)
            front_hand_over(d, c, part, media_page_bytes(&d->media, part->die, part->plane));
        front_read_out(d, c, d->ctx.now + d->cfg.fw_decode_ns, part->cws);
        front_part_ended(d, part->command);
    } else if (--c->pending == 0) {
        rmw_ready(d, part->command);
    }
    front_part_give(d, index);
}

/* ---- writes ------------------------------------------------------------------- */

void front_write_complete(ftl_drive *d, uint32_t index, uint64_t from)
{
    uint64_t at = from + d->cfg.fe_completion_ns + d->cfg.host_complete_ns;
    /* a FLUSH that waited for programs ends behind later writes: keep the order */
    sim_line_push(&d->done_writes, max_u64(at, d->done_writes.last), index);
    if (d->core.pace.answer.idle_ahead_units != 0)
        front_idle_from(d, d->done_writes.last);
}

/* All of unit i as it will be: the new bytes over the old content, in `unit` where they
 * cover a part of it. NULL = zeros. */
static const uint8_t *whole_unit(const ftl_drive *d, const struct command *c, uint32_t i,
                                 uint8_t *unit)
{
    uint32_t offset, bytes = covered(d, c, i, &offset);

    if (bytes == d->core.g.unit_bytes)
        return c->cmd.data != NULL ? data_at(d, c, unit_lba(d, c, i)) : NULL;
    (void)core_payload_read(&d->core, c->first_key + i, unit);
    if (FTL_PLANT(rmw_lost, 10))
        memset(unit, 0, d->core.g.unit_bytes);
    if (c->cmd.data != NULL)
        memcpy(unit + offset, data_at(d, c, unit_lba(d, c, i)), bytes);
    else
        memset(unit + offset, 0, bytes);
    return unit;
}

static void place(ftl_drive *d, struct command *c, uint32_t n)
{
    enum { BATCH = 64 };
    uint32_t keys[BATCH];
    uint8_t unit[UNIT_BYTES_MAX];

    for (uint32_t done = 0; done < n;) {
        uint32_t k = n - done < BATCH ? n - done : BATCH, offset;
        if (d->core.payload != NULL) {
            k = 1;
            d->core.payload->atomic_first = c->cursor;
            bool whole = is_atomic(d, c) && !FTL_PLANT(shorn_kept, 1);
            d->core.payload->atomic_count = whole ? c->units : 1;
            d->core.payload->incoming = whole_unit(d, c, c->cursor, unit);
        }
        for (uint32_t i = 0; i < k; i++)
            keys[i] = c->first_key + c->cursor + i;
        for (uint32_t i = 0; !c->whole && i < k; i++) {
            uint32_t bytes = covered(d, c, c->cursor + i, &offset);
            d->count.host_bytes -= d->core.g.unit_bytes - bytes;
            d->count.rmw_bytes += d->core.g.unit_bytes - bytes;
        }
        core_place_host(&d->core, c->class, keys, k);
        if (d->core.payload != NULL)
            d->core.payload->incoming = NULL;
        c->cursor += k;
        done += k;
    }
}

/* Units of this write that may enter the buffer now. */
static uint32_t write_room(const ftl_drive *d, const struct command *c)
{
    const struct ftl_core *core = &d->core;
    uint32_t n = c->units - c->cursor;
    uint32_t room = core->buffer_allowed > core->buffer_used
                        ? core->buffer_allowed - core->buffer_used : 0;

    n = n < room ? n : room;
    room = core_host_room(core, c->class);
    n = n < room ? n : room;
    /* word lines this could fill must have room on their way to the medium */
    if (core->wl_free_count <= core->wl_reserve || media_ops_free(&d->media) <= core->wl_reserve)
        return 0;
    uint64_t spare = core->wl_free_count - core->wl_reserve;
    uint64_t each = core->cache.count != 0 ? core->cache.wl_units : core->g.wl_units;
    if (__builtin_expect(core->holes_total != 0, 0)) {  /* one plane may be all that a row has */
        spare = spare / (1 + core->g.parity_dies * core->g.planes) + 1;
        each /= core->g.planes;
    }
    return n < spare * each ? n : (uint32_t)(spare * each);
}

/* Would the next unit, or the last, keep bytes that are lost? The write cannot be done. */
static bool merges_lost(const ftl_drive *d, const struct command *c)
{
    const uint32_t at[2] = {c->cursor, c->units - 1};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t offset;
        if (covered(d, c, at[i], &offset) < d->core.g.unit_bytes &&
            core_is_broken(&d->core, c->first_key + at[i]))
            return true;
    }
    return c->status != 0;
}

/* The map page of the next units, cached and about to change; n stays within it. Those of a command
 * that goes at once are there together. */
static bool write_map_entry(ftl_drive *d, uint32_t index, uint32_t *n)
{
    const struct command *c = &d->commands[index];
    struct dftl *m = &d->core.dftl;
    uint32_t key = c->first_key + c->cursor, rest = map_page_rest(m, key);
    uint32_t last = is_atomic(d, c) ? c->first_key + c->units - 1 : key;

    if (!translate_held(d, index, key, last))
        return false;
    *n = *n < rest || last != key ? *n : rest;
    if (*n > 0) {
        for (uint32_t t = map_page_of(m, key); t <= map_page_of(m, last); t++)
            core_dftl_changed(&d->core, t);
        translate_release(d);
    }
    return true;
}

/* Does the write keep a part of what an atomic command brought that is not yet on the medium?
 * Then that goes there first. */
static bool merges_unsettled(ftl_drive *d, const struct command *c)
{
    const uint32_t at[2] = {c->cursor, c->units - 1};
    bool settled = true;

    for (uint32_t i = 0; i < 2; i++) {
        uint32_t offset;
        if (covered(d, c, at[i], &offset) < d->core.g.unit_bytes)
            settled = settled && core_payload_settled(&d->core, c->first_key + at[i]);
    }
    for (uint32_t k = 0; k < d->core.classes && !settled; k++)
        (void)front_close_word_line(d, k);
    return !settled;
}

/* Without capacitors an atomic command goes to one word line, so that a checkpoint finds all of it on
 * the medium or nothing. false = the open one has to be padded, and there is no room for that yet. */
static bool fits_word_line(ftl_drive *d, const struct command *c)
{
    const struct frontier *f = &d->core.fr[c->class];

    return d->core.journal == NULL || c->cursor != 0 || c->units < 2 || !is_atomic(d, c) ||
           f->sb == SB_NONE || c->units <= f->wl_end - f->next || front_pad_word_line(d, c->class);
}

static bool write_step(ftl_drive *d, uint32_t index)
{
    struct command *c = &d->commands[index];
    if (__builtin_expect(d->core.read_only, 0)) {
        c->status = STATUS_READ_ONLY_RANGE;
        front_write_complete(d, index, max_u64(c->done_at, d->ctx.now));
        return true;
    }
    if (__builtin_expect(d->core.raid != NULL || d->core.upset.damaged != 0, 0) && merges_lost(d, c)) {
        drive_look_at_dies(d);
        c->status = STATUS_UNRECOVERED;
        front_write_complete(d, index, max_u64(c->done_at, d->ctx.now));
        return true;
    }
    if (__builtin_expect(d->core.keeps_atomic, 0) && (merges_unsettled(d, c) || !fits_word_line(d, c)))
        return false;
    uint32_t n = write_room(d, c);

    if (is_atomic(d, c) && c->cursor == 0 && n < c->units)
        return false;
    if (d->core.dftl.on && !write_map_entry(d, index, &n))
        return false;
    if (n > 0) {
        uint64_t ns = ((uint64_t)n << d->core.g.cw_shift) * d->cfg.fw_write_unit_ns;
        if (c->cursor == 0)
            ns += d->cfg.fw_write_cmd_ns;
        c->done_at = core_write_path(&d->core, ns);
        d->core.dispatch_at = c->done_at;
        place(d, c, n);
    }
    if (c->cursor < c->units && !FTL_PLANT(ack_early, 5))
        return false;
    bool lands = front_must_land(d, c);
    if (lands && !front_close_word_line(d, c->class))
        return false;
    d->count.host_writes++;
    d->count.host_write_bytes += (uint64_t)c->cmd.lba_count * d->lba_bytes;
    if (lands)
        front_await_word_lines(d, index);
    else
        front_write_complete(d, index, c->done_at + d->cfg.fw_commit_ns);
    return true;
}

/* Map page by map page; those that go as a whole need not be there. */
static bool trim_map(ftl_drive *d, uint32_t index, uint64_t from, uint64_t n)
{
    struct command *c = &d->commands[index];

    while (c->cursor < n) {
        uint32_t key = (uint32_t)(from + c->cursor) + 1;
        uint32_t k = core_dftl_part(&d->core, key, n - c->cursor);
        if ((!core_dftl_is_whole(&d->core, key, k) && !translate_held(d, index, key, key)) ||
            (d->core.journal != NULL && !core_journal_room(&d->core)))
            return false;
        core_dftl_unmap(&d->core, key, k);
        if (d->core.journal != NULL)
            core_journal_trim(&d->core, key - 1, k);
        translate_release(d);
        c->cursor += k;
    }
    return true;
}

static bool trim_step(ftl_drive *d, uint32_t index)
{
    struct command *c = &d->commands[index];
    /* whole units only: a partly covered one keeps its data, as NVMe allows */
    uint64_t from = (c->cmd.lba + d->lbas_per_unit - 1) / d->lbas_per_unit;
    uint64_t to = (c->cmd.lba + c->cmd.lba_count) / d->lbas_per_unit;
    uint64_t n = to > from ? to - from : 0;

    if (d->core.read_only) {
        c->status = STATUS_READ_ONLY_RANGE;
        front_write_complete(d, index, d->ctx.now);
        return true;
    }
    if (d->core.journal != NULL && !core_journal_room(&d->core))
        return false;
    if (d->core.dftl.on && !trim_map(d, index, from, n))
        return false;
    if (!d->core.dftl.on)
        core_unmap(&d->core, from, n);
    if (d->core.journal != NULL && !d->core.dftl.on && n > 0 && !FTL_PLANT(trim_unlogged, 2))
        core_journal_trim(&d->core, from, n);
    d->count.host_trims++;
    d->count.host_trim_bytes += n << d->core.g.unit_shift;
    uint64_t end = core_write_path(&d->core, d->cfg.fw_write_cmd_ns + n * d->cfg.fw_trim_unit_ns);
    front_write_complete(d, index, end);
    return true;
}

/* One command of the write line; false = it waits, and all behind it. */
static bool step(ftl_drive *d, uint32_t index)
{
    switch (d->commands[index].cmd.opcode) {
    case FTL_WRITE:
        return write_step(d, index);
    case FTL_TRIM:
        return trim_step(d, index);
    default:
        return front_flush_step(d, index);
    }
}

static void join_line(ftl_drive *d, uint32_t index)
{
    struct command *c = &d->commands[index];

    if (d->wait_head == CMD_NONE && step(d, index))
        return;
    d->count.buffer_waits += c->cmd.opcode == FTL_WRITE;
    c->next = CMD_NONE;
    if (d->wait_head == CMD_NONE)
        d->wait_head = index;
    else
        d->commands[d->wait_tail].next = index;
    d->wait_tail = index;
}

void front_continue_writes(ftl_drive *d)
{
    while (d->wait_head != CMD_NONE) {
        uint32_t next = d->commands[d->wait_head].next;
        if (!step(d, d->wait_head))
            return;
        d->wait_head = next;
    }
}

static void rmw_ready(ftl_drive *d, uint32_t index)
{
    d->commands[index].cursor = 0;
    join_line(d, index);
}

/* Reads the codewords of unit i that the write does not cover whole, page by page, if
 * they are on the medium. */
static void rmw_read(ftl_drive *d, uint32_t index, uint32_t i)
{
    struct command *c = &d->commands[index];
    const struct ftl_geometry *g = &d->core.g;
    uint32_t offset, bytes = covered(d, c, i, &offset), end = offset + bytes;

    if (bytes == g->unit_bytes)
        return;
    uint32_t slot = d->core.map[c->first_key + i];
    if (slot == 0)
        return;
    d->count.rmw_reads++;
    for (uint32_t w = 0, n; w < g->unit_cws; w += n) {
        struct ftl_place p;
        uint32_t wanted = 0;
        geometry_place(g, slot - 1, w, &p);
        n = g->page_cws - p.cw < g->unit_cws - w ? g->page_cws - p.cw : g->unit_cws - w;
        for (uint32_t k = w; k < w + n; k++)
            wanted += k * CODEWORD_BYTES < offset || (k + 1) * CODEWORD_BYTES > end;
        if (wanted != 0 && !core_in_buffer(&d->core, &p))
            issue_part(d, index, wanted, &p);
    }
}

/* A write whose data cannot be trusted any more is refused before it has any effect. */
static bool is_hit(ftl_drive *d, uint32_t index)
{
    struct command *c = &d->commands[index];

    if (c->checked)
        return false;
    c->checked = true;
    if ((c->status = memory_write(d, c)) == 0)
        return false;
    front_write_complete(d, index, d->ctx.now);
    return true;
}

void front_write(ftl_drive *d, uint32_t index)
{
    struct command *c = &d->commands[index];
    if (__builtin_expect(d->core.upset.on, 0) && c->cmd.opcode == FTL_WRITE &&
        is_hit(d, index))
        return;

    if (c->cmd.opcode == FTL_WRITE) {
        /* cursor: units whose map page has been there */
        while (d->core.dftl.on && c->cursor < c->units) {
            uint32_t key = c->first_key + c->cursor;
            if (!translate_key(d, index, key))
                return;
            c->cursor += map_page_rest(&d->core.dftl, key);
        }
        c->cursor = 0;
        if (d->parts_free_count < RMW_PARTS_EACH) {
            d->rmw_wait = index;
            return;
        }
        c->pending = 0;
        if (!c->whole)
            rmw_read(d, index, 0);
        if (!c->whole && c->units > 1)
            rmw_read(d, index, c->units - 1);
        if (c->pending != 0)
            return;
    }
    join_line(d, index);
}
