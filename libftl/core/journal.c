/* journal.c - writing the log: records into sectors, sectors into pages, segments in turn. */
#include <string.h>

#include "core/log.h"
#include "sim/hash.h"

enum { LOG_VERSION = 3 };        /* of FORMAT.md: where segments lie is part of it */
enum { TABLE_ENTRY = JOURNAL_TABLE_ENTRY, SLICE_HEAD = 16, PENDING = 12 };

/* ---- where a page lies ---------------------------------------------------------------- */

struct log_place core_journal_place(const struct ftl_core *c, uint32_t segment, uint32_t page)
{
    const struct journal *j = c->journal;
    uint32_t row = page / c->g.dies;
    return (struct log_place){
        .die = page % c->g.dies,
        .block = j->first_block + segment * j->segment_blocks + row / c->g.rows,
        .page = row % c->g.rows * (j->slc ? 1 : c->g.page_types)};
}

static uint8_t *buffer_at(const struct ftl_core *c, int32_t buffer)
{
    const struct journal *j = c->journal;
    return (c->payload != NULL ? c->payload->bytes + j->buffers_at : j->own) +
           (size_t)buffer * (j->sectors / j->page_cws) * j->page_total;
}

static uint8_t *sector_at(const struct ftl_core *c, uint32_t i)
{
    const struct journal *j = c->journal;
    return buffer_at(c, j->open) + (size_t)(i / j->page_cws) * j->page_total +
           (size_t)(i % j->page_cws) * j->sector_bytes;
}

/* Last sequence number given out; units have none without bytes. */
static uint64_t last_seq(const struct ftl_core *c)
{
    return c->payload != NULL ? c->payload->seq : 0;
}

/* ---- sectors --------------------------------------------------------------------------- */

static uint32_t sum_of(const uint8_t *sector)
{
    uint8_t t[JOURNAL_TRAILER];
    memcpy(t, sector + JOURNAL_BODY, sizeof t);
    memset(t + 12, 0, 4);
    return (uint32_t)XXH3_64bits_withSeed(t, sizeof t, XXH3_64bits(sector, JOURNAL_BODY));
}

bool core_journal_trailer(const uint8_t *t, struct journal_trailer *ret)
{
    if ((t[0] != 'J' && t[0] != 'R') || t[1] != LOG_VERSION || t[2] < JK_RECORDS ||
        t[2] > JK_UNIT_SENT)
        return false;
    *ret = (struct journal_trailer){.kind = t[2], .param = t[3], .a = (uint32_t)core_get(t + 4, 4),
                                    .b = (uint32_t)core_get(t + 8, 4),
                                    .number = core_get(t + 16, 8),
                                    .seq = core_get(t + 24, 8) & ~JOURNAL_MOVED,
                                    .moved = (core_get(t + 24, 8) & JOURNAL_MOVED) != 0,
                                    .recovering = t[0] == 'R'};
    return ret->number != 0;
}

bool core_journal_sound(const uint8_t *sector)
{
    return core_get(sector + JOURNAL_BODY + 12, 4) == sum_of(sector);
}

void core_log_close_sector(struct ftl_core *c, uint8_t kind, uint8_t param, uint32_t a, uint32_t b,
                         uint64_t seq)
{
    struct journal *j = c->journal;
    uint8_t *s = sector_at(c, j->open_sectors), *t = s + JOURNAL_BODY;

    t[0] = j->recovering ? 'R' : 'J';
    t[1] = LOG_VERSION;
    t[2] = kind;
    t[3] = param;
    core_put(t + 4, a, 4);
    core_put(t + 8, b, 4);
    core_put(t + 16, j->next_number++, 8);
    core_put(t + 24, seq, 8);
    core_put(t + 12, sum_of(s), 4);
    j->open_sectors++;
    j->used = 0;
}

void core_log_close_records(struct ftl_core *c)
{
    if (c->journal->used == 0)
        return;
    if (c->journal->used + RECORD_HEAD <= JOURNAL_BODY)
        memset(core_log_sector(c) + c->journal->used, JR_END, RECORD_HEAD);
    core_log_close_sector(c, JK_RECORDS, 0, c->journal->used, 0, last_seq(c));
}

/* ---- pages ------------------------------------------------------------------------------- */

void core_log_program_now(struct ftl_core *c, struct log_place at, int32_t buffer)
{
    struct journal *j = c->journal;
    struct nand_res res;

    if (j->cut)
        return;
    if (j->budget_pj != 0 || j->base_mw != 0) {
        uint64_t op = (j->slc ? c->media->time->slc_tprog_ns : c->media->time->tprog_ns) + 200000;
        uint64_t used = j->energy_pj + j->base_mw * (*j->at - j->from + op);
        if (used > j->budget_pj)            /* the capacitors do not last for it */
            media_arm_cut(c->media, j->cut_mode, j->cut_others, j->cut_seed);
    }
    res = media_program_now(c->media, j->at, at.die, at.block, at.page, j->slc,
                            buffer_at(c, buffer));
    j->energy_pj += res.energy_pj;
    j->cut = res.status == NAND_CUT;
    j->pages_now++;
}

static void write_page(struct ftl_core *c, int32_t buffer)
{
    struct journal *j = c->journal;
    struct log_place at = core_journal_place(c, j->segment_of[buffer], j->page_of[buffer]);

    if (FTL_PLANT(journal_page_lost, 3))
        memset(buffer_at(c, buffer), 0xff, (size_t)(j->sectors / j->page_cws) * j->page_total);
    if (j->way == WAY_NOW) {
        core_log_program_now(c, at, buffer);
    } else if (!c->timed) {
        const uint8_t *bytes = c->payload != NULL ? buffer_at(c, buffer) : NULL;
        if (media_put_meta(c->media, at.die, at.block, at.page, j->slc, bytes) < 0)
            c->error = FTL_ENOMEM;
    } else {
        j->in_flight[buffer] = 1;
        if (c->payload != NULL)
            media_program_data(c->media, (uint64_t)(buffer_at(c, buffer) - c->payload->bytes));
        media_program(c->media, c->ctx->now, MEDIA_FOR_LOG, at.die, at.block, at.page,
                      j->slc ? MEDIA_SLC : MEDIA_WHOLE, JOURNAL_REF | (uint32_t)buffer);
    }
}

/* A checkpoint, in the segment after this one: is none under way, and is that one erased? */
static bool may_begin(const struct journal *j)
{
    return j->way != WAY_NOW && !j->running && !j->erase_due &&
           (j->erases_queued == 0 || FTL_PLANT(checkpoint_early, 1));
}

void core_log_begin_segment(struct ftl_core *c)
{
    struct journal *j = c->journal;
    FTL_ASSERT(c->ctx, !j->running);
    j->segment = (j->segment + 1) % j->segments;
    j->page = 0;
    j->closings = c->closings;
    j->running = true;
    j->begun = false;
    j->part_sectors = j->waiting = 0;
    j->rows_at = j->table_at = 0;
    j->slice_at = c->g.pages_on_medium != 0 ? c->user_units + 1 : 1;
    j->page_at = j->key_at = j->key_end = 0;
}

/* Else what remains of the segment is for a flush, and for pages that are open. */
static void begin_if_full(struct ftl_core *c)
{
    const struct journal *j = c->journal;
    if (may_begin(j) && j->page + j->flush_pages + JOURNAL_BUFFERS > j->pages_per_segment)
        core_log_begin_segment(c);
}

void core_log_end_page(struct ftl_core *c)
{
    struct journal *j = c->journal;
    int32_t buffer = j->open;

    core_log_close_records(c);
    while (j->open_sectors < j->sectors)
        core_log_close_sector(c, JK_FILLER, 0, 0, 0, 0);
    FTL_ASSERT(c->ctx, j->page < j->pages_per_segment);
    j->segment_of[buffer] = j->segment;
    j->page_of[buffer] = j->page++;
    j->open = -1;
    j->open_sectors = 0;
    j->trims_pending = false;
    c->count->nand_programs++;
    c->count->metadata_programs++;
    c->count->metadata_bytes += j->page_bytes;
    write_page(c, buffer);
    begin_if_full(c);
}

/* Neither on its way nor being filled. */
static int32_t free_buffer(const struct journal *j)
{
    for (int32_t i = 0; i < JOURNAL_BUFFERS; i++)
        if (!j->in_flight[i] && i != j->open)
            return i;
    return -1;
}

/* Not on their way: one of them may be the open one. */
static uint32_t idle_buffers(const struct journal *j)
{
    uint32_t n = 0;
    for (int32_t i = 0; i < JOURNAL_BUFFERS; i++)
        n += !j->in_flight[i];
    return n;
}

/* Of the checkpoint under way, at most. */
static uint64_t pages_to_come(const struct journal *j)
{
    uint64_t left = j->part_sectors < j->checkpoint_sectors ? j->checkpoint_sectors - j->part_sectors : 0;
    return (left + j->sectors - 1) / j->sectors;
}

bool core_journal_room(const struct ftl_core *c)
{
    const struct journal *j = c->journal;
    uint64_t to_come = j->running ? pages_to_come(j) : 0;
    /* at the end of a segment records wait for its checkpoint, or for the next one's erases */
    if (j->page + to_come + j->flush_pages + 2 > j->pages_per_segment)
        return false;
    return idle_buffers(j) >= 2 && media_ops_free(c->media) > c->wl_reserve;
}

static void open_page(struct ftl_core *c)
{
    struct journal *j = c->journal;
    if (j->open >= 0)
        return;
    j->open = free_buffer(j);
    FTL_ASSERT(c->ctx, j->open >= 0);
    j->first_number[j->open] = j->next_number;
    memset(buffer_at(c, j->open), 0xff, (size_t)(j->sectors / j->page_cws) * j->page_total);
    j->open_sectors = 0;
    j->used = 0;
    j->trims[j->open] = 0;
}

uint8_t *core_log_sector(struct ftl_core *c)
{
    const struct journal *j = c->journal;
    if (j->open >= 0 && j->open_sectors == j->sectors)
        core_log_end_page(c);
    open_page(c);
    return sector_at(c, j->open_sectors);
}

/* Room in the open sector for a record of `bytes`; 0 = none, the sector is full. */
uint8_t *core_log_append(struct ftl_core *c, enum journal_record type, uint32_t bytes)
{
    struct journal *j = c->journal;

    if (j->used != 0 && j->used + RECORD_HEAD + bytes > JOURNAL_BODY)
        core_log_close_records(c);
    uint8_t *at = core_log_sector(c) + j->used;
    core_put(at, type, 2);
    core_put(at + 2, bytes, 2);
    j->used += RECORD_HEAD + bytes;
    return at + RECORD_HEAD;
}

void core_journal_send(struct ftl_core *c)
{
    struct journal *j = c->journal;
    if (j->open >= 0 && (j->used != 0 || j->open_sectors != 0))
        core_log_end_page(c);
}

/* ---- records ---------------------------------------------------------------------------- */

void core_journal_trim(struct ftl_core *c, uint64_t lpn, uint64_t n)
{
    uint8_t *r = core_log_append(c, JR_TRIM, 16);
    core_put(r, lpn + 1, 4);
    core_put(r + 4, n, 4);
    if (c->payload != NULL)
        c->payload->seq++;
    core_put(r + 8, last_seq(c), 8);
    c->journal->trims_pending = true;
    c->journal->trims[c->journal->open]++;
    if (!c->timed)
        core_journal_step(c);
}

void core_journal_erase(struct ftl_core *c, uint32_t sb)
{
    core_journal_step(c);
    if (!core_journal_room(c))
        return;                     /* the tags of its next life tell the count too */
    uint8_t *r = core_log_append(c, JR_ERASE, 8);
    core_put(r, sb, 4);
    core_put(r + 4, c->erases[sb], 4);
    if (!c->timed)
        core_journal_step(c);
}

/* ---- checkpoint ---------------------------------------------------------------------------- */

void core_log_add_segment(struct ftl_core *c)
{
    struct journal *j = c->journal;
    core_journal_send(c);
    j->checkpoint_number = j->next_number;
    uint8_t *r = core_log_append(c, JR_SEGMENT, 24);
    core_put(r, c->user_units, 4);
    core_put(r + 4, c->g.sb_count, 4);
    core_put(r + 8, c->closings, 8);
    core_put(r + 16, c->host_units, 8);
    j->begun = true;
}

void core_log_add_table(struct ftl_core *c)
{
    struct journal *j = c->journal;
    uint32_t n = c->g.sb_count - j->table_at, most = JOURNAL_BODY / TABLE_ENTRY - 2;

    n = n < most ? n : most;
    uint8_t *r = core_log_append(c, JR_TABLE, 8 + n * TABLE_ENTRY);
    core_put(r, j->table_at, 4);
    core_put(r + 4, n, 4);
    r += 8;
    for (uint32_t i = 0; i < n; i++, r += TABLE_ENTRY) {
        uint32_t sb = j->table_at + i;
        bool full = (c->state[sb] == SB_CLOSED || c->state[sb] == SB_VICTIM) &&
                    c->wl_in_flight[sb] == 0;
        core_put(r, c->erases[sb], 4);
        core_put(r + 4, full, 1);
        core_put(r + 5, c->sb_class[sb], 1);
        core_put(r + 6, 0, 2);
        core_put(r + 8, c->closed_at[sb], 8);
        core_put(r + 16, c->closed_at_write[sb], 8);
    }
    j->table_at += n;
}

/* The newest place of a key that is on the medium. true = a newer one is not: ret_seq is that of
 * the oldest that waits, less one. */
static bool durable_slot(const struct ftl_core *c, uint32_t key, uint32_t *ret_slot,
                         uint64_t *ret_seq)
{
    bool waits = false;
    uint32_t slot = c->map[key];

    while (slot != 0 && c->payload != NULL) {
        const uint8_t *sector = core_payload_sector(c, slot, 0);
        struct payload_tag tag;
        if (sector == NULL)
            break;
        (void)core_payload_there(sector, &tag);
        *ret_seq = tag.seq - 1;
        waits = true;
        slot = core_payload_prev(c, slot);
    }
    *ret_slot = slot;
    return waits;
}

/* Keys from `from` to `end`, or as many as a sector takes; returns the next one. */
static uint32_t add_slice(struct ftl_core *c, uint32_t from, uint32_t end)
{
    uint32_t slots[JOURNAL_BODY / 4], n = 0, waiting = 0;
    uint8_t pending[JOURNAL_BODY];

    core_log_close_records(c);
    while (from + n < end &&
           SLICE_HEAD + RECORD_HEAD + 4 * (n + 1) + PENDING * (waiting + 1) <= JOURNAL_BODY) {
        uint64_t seq;
        if (durable_slot(c, from + n, &slots[n], &seq)) {
            core_put(pending + waiting * PENDING, n, 4);
            core_put(pending + waiting * PENDING + 4, seq, 8);
            waiting++;
        }
        n++;
    }
    uint8_t *r = core_log_append(c, JR_SLICE, SLICE_HEAD + 4 * n + PENDING * waiting);
    core_put(r, from, 4);
    core_put(r + 4, n, 2);
    core_put(r + 6, waiting, 2);
    core_put(r + 8, last_seq(c), 8);
    c->journal->waiting += waiting;
    for (uint32_t i = 0; i < n; i++)
        core_put(r + SLICE_HEAD + 4 * i, slots[i], 4);
    memcpy(r + SLICE_HEAD + 4 * n, pending, waiting * PENDING);
    return from + n;
}

/* Places of map pages. Those with anything newer in DRAM follow as slices of their entries: what a
 * page says is taken for the map of now, or not at all. */
static void add_directory(struct ftl_core *c)
{
    struct journal *j = c->journal;
    uint32_t from = j->slice_at, first = c->dftl.first_key;

    j->slice_at = add_slice(c, from, core_keys(c) + 1);
    for (uint32_t t = from - first; t < j->slice_at - first; t++)
        if (!core_dftl_is_at_rest(c, t))
            c->dftl.pages[t].flags |= MAP_SLICED;
}

/* The entries of the next such pages are due; false = of none in the directory so far. */
static bool next_pages(struct ftl_core *c)
{
    struct journal *j = c->journal;
    struct dftl *m = &c->dftl;
    uint32_t known = j->slice_at - m->first_key, from;

    while (j->page_at < known && !(m->pages[j->page_at].flags & MAP_SLICED))
        j->page_at++;
    for (from = j->page_at; j->page_at < known && (m->pages[j->page_at].flags & MAP_SLICED);)
        m->pages[j->page_at++].flags &= (uint8_t)~MAP_SLICED;
    uint64_t end = (uint64_t)j->page_at << m->shift;
    j->key_at = (from << m->shift) + 1;
    j->key_end = (uint32_t)(end < c->user_units ? end : c->user_units) + 1;
    return from != j->page_at;
}

/* The next part of the map; false = it is complete. */
bool core_log_add_map(struct ftl_core *c)
{
    struct journal *j = c->journal;
    const bool pages = c->g.pages_on_medium != 0;

    if (pages && j->key_at < j->key_end)
        j->key_at = add_slice(c, j->key_at, j->key_end);
    else if (pages && next_pages(c))
        return true;
    else if (j->slice_at > core_keys(c))
        return false;
    else if (pages)
        add_directory(c);
    else
        j->slice_at = add_slice(c, j->slice_at, c->user_units + 1);
    return true;
}

static void add_complete(struct ftl_core *c)
{
    struct journal *j = c->journal;
    uint8_t *r = core_log_append(c, JR_COMPLETE, 8);
    core_put(r, j->checkpoint_number, 8);
    core_journal_send(c);
    j->running = false;
    j->complete_number = j->next_number - 1;
    j->erase_due = true;
    j->erase_at = 0;
}

static uint32_t next_first_block(const struct journal *j)
{
    return j->first_block + (j->segment + 1) % j->segments * j->segment_blocks;
}

/* What the checkpoint has made void gives way to the next segment, at once. */
void core_log_erase_next(struct ftl_core *c)
{
    struct journal *j = c->journal;

    for (uint32_t i = 0, b = next_first_block(j); i < j->segment_blocks; i++, b++) {
        if (j->way != WAY_NOW) {
            media_erase_meta(c->media, b, j->slc, 0);
            c->count->nand_erases += (uint64_t)c->g.dies * c->g.planes;
            continue;
        }
        for (uint32_t d = 0; d < c->g.dies && !j->cut; d++)
            j->cut = media_erase_now(c->media, j->at, d, b, j->slc).status == NAND_CUT;
    }
    j->erase_due = false;
}

/* The same block by block, as there is room. */
static void queue_erases(struct ftl_core *c)
{
    struct journal *j = c->journal;

    while (j->erase_due && media_ops_free(c->media) > c->wl_reserve) {
        uint32_t block = next_first_block(j) + j->erase_at / c->g.dies, die = j->erase_at % c->g.dies;
        if (j->slc)
            media_erase_slc(c->media, c->ctx->now, die, block, JOURNAL_REF);
        else
            media_erase(c->media, c->ctx->now, die, block, JOURNAL_REF);
        j->erases_queued++;
        j->erase_due = ++j->erase_at < c->g.dies * j->segment_blocks;
    }
}

/* The next part of the checkpoint under way: a sector, or less. */
static void add_part(struct ftl_core *c)
{
    struct journal *j = c->journal;

    if (!j->begun)
        core_log_add_segment(c);
    else if (j->rows_at < c->g.sb_count)
        core_log_add_rows(c);
    else if (j->table_at < c->g.sb_count)
        core_log_add_table(c);
    else if (!core_log_add_map(c))
        add_complete(c);
}

/* Or enough was closed since the last one. */
static void begin_if_due(struct ftl_core *c)
{
    uint64_t most = c->cfg->journal_checkpoint;

    begin_if_full(c);
    if (most == 0 || c->closings - c->journal->closings < most || !may_begin(c->journal) ||
        !core_journal_room(c))
        return;
    core_journal_send(c);
    if (!c->journal->running)
        core_log_begin_segment(c);
}

void core_journal_step(struct ftl_core *c)
{
    struct journal *j = c->journal;

    begin_if_due(c);
    while (j->running && !j->cut && idle_buffers(j) > LOG_LEAVES) {
        uint64_t number = j->next_number;
        add_part(c);
        j->part_sectors += j->next_number - number;
    }
    if (!j->erase_due || j->cut || !core_journal_durable(c, j->complete_number))
        return;
    if (c->timed && j->way != WAY_NOW)
        queue_erases(c);
    else
        core_log_erase_next(c);
}

void core_journal_done(struct ftl_core *c, uint32_t buffer)
{
    c->journal->in_flight[buffer] = 0;
    core_journal_step(c);
}

void core_journal_erased(struct ftl_core *c)
{
    FTL_ASSERT(c->ctx, c->journal->erases_queued > 0);
    c->journal->erases_queued--;
    core_journal_step(c);
}

bool core_journal_durable(const struct ftl_core *c, uint64_t number)
{
    const struct journal *j = c->journal;
    if (j->open >= 0 && j->first_number[j->open] <= number &&
        (j->used != 0 || j->open_sectors != 0))
        return false;
    for (int32_t i = 0; i < JOURNAL_BUFFERS; i++)
        if (j->in_flight[i] && j->first_number[i] <= number)
            return false;
    return true;
}

/* A whole checkpoint in the next segment, at once. */
void core_journal_checkpoint(struct ftl_core *c)
{
    c->journal->running = false;
    core_log_begin_segment(c);
    core_journal_step(c);
}

int core_journal_init(struct ftl_core *c)
{
    c->journal = &c->log;
    if (core_journal_shape(c->journal, c->cfg, &c->g) < 0)
        return FTL_ECONFIG;
    struct journal *j = c->journal;
    j->next_number = 1;
    j->gathered = SB_NONE;
    if (c->payload == NULL)
        return SIM_TAKE_RAW(&c->ctx->mem, j->own, core_journal_bytes(c)) < 0 ? FTL_ENOMEM : 0;
    j->buffers_at = (uint64_t)c->payload->count * c->payload->wl_bytes;
    return SIM_TAKE(&c->ctx->mem, j->seqs, core_keys(c) + UINT64_C(1)) < 0 ||
                   SIM_TAKE(&c->ctx->mem, j->live, c->g.sb_count) < 0 ||
                   SIM_TAKE(&c->ctx->mem, j->known, (size_t)c->g.sb_count * c->g.dies) < 0 ||
                   SIM_TAKE(&c->ctx->mem, j->found, c->g.total_units) < 0 ||
                   SIM_TAKE(&c->ctx->mem, j->voids, (size_t)c->g.sb_count * c->g.dies) < 0
               ? FTL_ENOMEM
               : 0;
}

/* A new drive, or one that was formatted: nothing before counts. */
void core_journal_format(struct ftl_core *c)
{
    struct journal *j = c->journal;
    for (uint32_t b = 0; b < j->segments * j->segment_blocks; b++)
        media_erase_meta(c->media, j->first_block + b, j->slc, 0);
    memset(j->in_flight, 0, sizeof j->in_flight);
    j->erases_queued = 0;
    j->open = -1;
    j->used = 0;
    core_journal_checkpoint(c);
}
