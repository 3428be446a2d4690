/* ahead.c - sequential pre-read (preread.cache_bytes). */
#include "nvme/ahead.h"

#include <string.h>

#include "core/payload.h"
#include "nvme/drive.h"

enum { TRIGGER = 2 };           /* reads that continue a stream before it is read ahead */
#define LINE_NONE UINT32_MAX

static uint32_t line_count(const struct ftl_config *cfg)
{
    return (uint32_t)(cfg->preread_cache_bytes / cfg->nand_page_bytes);
}

static uint32_t bucket_count(const struct ftl_config *cfg)
{
    uint32_t n = 1;
    while (n < line_count(cfg))
        n *= 2;
    return n;
}

static uint64_t bytes_of(const struct ftl_config *cfg)
{
    return cfg->media_payload
               ? line_count(cfg) * (cfg->nand_page_bytes + cfg->nand_spare_bytes)
               : 0;
}

uint64_t ahead_memory(const struct ftl_config *cfg)
{
    if (line_count(cfg) == 0)
        return 0;
    return line_count(cfg) * (uint64_t)sizeof(struct ahead_line) + bytes_of(cfg) +
           bucket_count(cfg) * (uint64_t)sizeof(uint32_t);
}

int ahead_init(ftl_drive *d)
{
    struct ahead *a = &d->ahead;
    const struct ftl_config *cfg = &d->cfg;

    if (cfg->preread_cache_bytes == 0)
        return 0;
    a->count = line_count(cfg);
    a->bucket_mask = bucket_count(cfg) - 1;
    a->page_bytes = (uint32_t)(cfg->nand_page_bytes + cfg->nand_spare_bytes);
    a->cws = (uint32_t)(cfg->preread_ahead_bytes / CODEWORD_BYTES);
    if (SIM_TAKE(&d->ctx.mem, a->lines, a->count) < 0 ||
        SIM_TAKE(&d->ctx.mem, a->buckets, a->bucket_mask + 1) < 0)
        return FTL_ENOMEM;
    if (bytes_of(cfg) != 0 && SIM_TAKE(&d->ctx.mem, a->bytes, (size_t)bytes_of(cfg)) < 0)
        return FTL_ENOMEM;
    ahead_forget(d);
    return 0;
}

void ahead_forget(ftl_drive *d)
{
    struct ahead *a = &d->ahead;

    if (a->lines == NULL)
        return;
    for (uint32_t i = 0; i <= a->bucket_mask; i++)
        a->buckets[i] = LINE_NONE;
    for (uint32_t i = 0; i < a->count; i++)
        a->lines[i] = (struct ahead_line){.waiters = CMD_NONE, .hash_next = LINE_NONE,
                                          .newer = i == 0 ? LINE_NONE : i - 1,
                                          .older = i + 1 == a->count ? LINE_NONE : i + 1};
    a->newest = 0;
    a->oldest = a->count - 1;
    memset(a->streams, 0, sizeof a->streams);
    a->clock = 0;
}

/* ---- streams ----------------------------------------------------------------------- */

uint32_t ahead_note(ftl_drive *d, const struct command *c)
{
    struct ahead *a = &d->ahead;
    uint64_t end = c->cmd.lba + c->cmd.lba_count;
    uint32_t oldest = 0;

    a->clock++;
    for (uint32_t i = 0; i < AHEAD_STREAMS; i++) {
        struct ahead_stream *s = &a->streams[i];
        if (s->seen != 0 && s->next == c->cmd.lba) {
            s->next = end;
            s->run++;
            s->seen = a->clock;
            return s->run >= TRIGGER ? i : AHEAD_STREAMS;
        }
        if (a->clock - s->seen > a->clock - a->streams[oldest].seen)
            oldest = i;
    }
    a->streams[oldest] = (struct ahead_stream){.next = end, .seen = a->clock};
    return AHEAD_STREAMS;
}

/* ---- lines ------------------------------------------------------------------------- */

static bool is_good(const ftl_drive *d, const struct ahead_line *l)
{
    return l->page != 0 && l->erases == d->core.erases[l->sb];
}

uint64_t ahead_page(const ftl_drive *d, uint32_t slot, uint32_t in_unit)
{
    const struct ftl_geometry *g = &d->core.g;
    return (((uint64_t)slot - 1) * g->unit_cws + in_unit) / g->page_cws + 1;
}

static uint32_t *bucket_of(const ftl_drive *d, uint64_t page)
{
    return &d->ahead.buckets[(page * UINT64_C(0x9e3779b97f4a7c15) >> 40) & d->ahead.bucket_mask];
}

static void touch(ftl_drive *d, struct ahead_line *l)
{
    struct ahead *a = &d->ahead;
    uint32_t i = (uint32_t)(l - a->lines);

    if (a->newest == i)
        return;
    a->lines[l->newer].older = l->older;
    if (l->older == LINE_NONE)
        a->oldest = l->newer;
    else
        a->lines[l->older].newer = l->newer;
    l->newer = LINE_NONE;
    l->older = a->newest;
    a->lines[a->newest].newer = i;
    a->newest = i;
}

static struct ahead_line *find(const ftl_drive *d, uint64_t page)
{
    for (uint32_t i = *bucket_of(d, page); i != LINE_NONE; i = d->ahead.lines[i].hash_next)
        if (d->ahead.lines[i].page == page && is_good(d, &d->ahead.lines[i]))
            return &d->ahead.lines[i];
    return NULL;
}

/* The line used longest ago, emptied; NULL = it is still on its way. */
static struct ahead_line *take_oldest(ftl_drive *d)
{
    struct ahead *a = &d->ahead;
    struct ahead_line *l = &a->lines[a->oldest];

    if (l->loading)
        return NULL;
    if (l->page == 0)
        return l;
    d->count.preread_unused += !l->used;
    uint32_t *link = bucket_of(d, l->page);
    while (*link != a->oldest)
        link = &a->lines[*link].hash_next;
    *link = l->hash_next;
    l->page = 0;
    return l;
}

static const uint8_t *line_bytes(const ftl_drive *d, const struct ahead_line *l)
{
    return d->ahead.bytes + (size_t)(l - d->ahead.lines) * d->ahead.page_bytes;
}

/* Bytes of a line to the command, and out. */
static void deliver(ftl_drive *d, struct command *c, const struct ahead_line *l,
                    const struct read_part *part)
{
    if (c->cmd.data != NULL)
        front_hand_over(d, c, part, line_bytes(d, l));
    front_read_out(d, c, max_u64(d->ctx.now, l->ready_at), part->cws);
}

/* A page on its way into a line; NULL = no room. */
static struct ahead_line *load(ftl_drive *d, uint64_t page, const struct ftl_place *p)
{
    struct ahead_line *l =
        d->parts_free_count > d->rmw_parts + d->read_parts / 2 ? take_oldest(d) : NULL;

    if (l == NULL)
        return NULL;
    l->page = page;
    l->sb = p->sb;
    l->erases = d->core.erases[p->sb];
    l->loading = true;
    l->used = false;
    l->hash_next = *bucket_of(d, page);
    *bucket_of(d, page) = (uint32_t)(l - d->ahead.lines);
    touch(d, l);
    uint32_t part = front_part_take(d);
    d->parts[part] = (struct read_part){.command = CMD_NONE, .sb = p->sb,
                                        .first = (uint32_t)(l - d->ahead.lines),
                                        .die = (uint16_t)p->die, .plane = (uint8_t)p->plane};
    d->core.reads_in_flight[p->sb]++;
    d->count.preread_pages++;
    media_read(&d->media, d->ctx.now, MEDIA_AHEAD_READ, p->die, p->plane, p->sb,
               core_page(&d->core, p), d->core.g.page_cws, part);
    return l;
}

/* The command waits for a line on its way. */
static void wait_for(ftl_drive *d, struct ahead_line *l, const struct read_part *want,
                     uint32_t page)
{
    uint32_t part = front_part_take(d), *link = &l->waiters;

    while (*link != CMD_NONE)
        link = &d->parts[*link].next;
    d->parts[part] = *want;
    *link = part;
    d->commands[want->command].pending++;
    media_hurry(&d->media, d->ctx.now, want->die, want->plane, want->sb, page);
}

bool ahead_serve(ftl_drive *d, uint32_t index, uint32_t cws, uint64_t page,
                 const struct ftl_place *p)
{
    struct command *c = &d->commands[index];
    struct ahead_line *l = find(d, page);
    struct read_part want = {.command = index, .cws = cws, .sb = p->sb, .first = c->cursor,
                             .die = (uint16_t)p->die, .plane = (uint8_t)p->plane,
                             .cw = (uint8_t)p->cw, .next = CMD_NONE};

    if (d->parts_free_count <= d->rmw_parts)
        return false;
    if (l != NULL) {
        d->count.preread_hits += cws;
    } else if (c->stream < AHEAD_STREAMS) {
        d->count.preread_misses += cws;
        l = load(d, page, p);   /* the stream will want the rest of the page */
    }
    if (l == NULL)
        return false;
    l->used = true;
    touch(d, l);
    if (l->loading)
        wait_for(d, l, &want, core_page(&d->core, p));
    else
        deliver(d, c, l, &want);
    return true;
}

/* Are entries from this codeword on in DRAM, to *end at most? Else their map page is sent for: the
 * stream goes on from there when it is looked at again. */
static bool is_mapped(ftl_drive *d, uint64_t cw, uint64_t *end)
{
    struct ftl_core *core = &d->core;
    if (!core->dftl.on)
        return true;
    uint32_t key = (uint32_t)cw + 1, t = map_page_of(&core->dftl, key);
    uint64_t rest = cw + map_page_rest(&core->dftl, key);
    if (!core_dftl_look(core, t)) {
        translate_ahead(d, t);
        return false;
    }
    *end = *end < rest ? *end : rest;
    return true;
}

void ahead_go_on(ftl_drive *d, uint32_t stream)
{
    struct ahead_stream *s = &d->ahead.streams[stream];
    const struct ftl_core *core = &d->core;
    const struct ftl_geometry *g = &core->g;
    uint64_t cws = (uint64_t)core->user_units << g->cw_shift;
    uint64_t next = s->next >> d->lba_cw_shift, end = next + d->ahead.cws;
    uint64_t at = s->ahead > next ? s->ahead : next;

    end = end < cws ? end : cws;
    while (at < end) {
        uint64_t run_end = end;
        if (!is_mapped(d, at, &run_end))
            break;
        uint32_t slot = core->map[(at >> g->cw_shift) + 1], n = 1;
        uint32_t in_unit = (uint32_t)at & (g->unit_cws - 1);
        struct ftl_place p;
        if (slot != 0) {
            geometry_place(g, slot - 1, in_unit, &p);
            while (p.cw + n < g->page_cws && at + n < run_end &&
                   core->map[((at + n) >> g->cw_shift) + 1] == slot + ((in_unit + n) >> g->cw_shift))
                n++;
            uint64_t page = ahead_page(d, slot, in_unit);
            if (!core_in_buffer(core, &p) && find(d, page) == NULL && load(d, page, &p) == NULL)
                break;
        }
        at += n;
    }
    s->ahead = at;
}

void ahead_done(ftl_drive *d, uint32_t index, bool failed)
{
    struct read_part *part = &d->parts[index];
    struct ahead_line *l = &d->ahead.lines[part->first];
    uint32_t next = l->waiters;

    d->core.reads_in_flight[part->sb]--;
    l->loading = false;
    l->ready_at = d->ctx.now + d->cfg.fw_decode_ns;
    l->waiters = CMD_NONE;
    if (failed)
        l->erases = ~d->core.erases[l->sb];     /* good for nothing, and never found again */
    else if (d->ahead.bytes != NULL)
        memcpy(d->ahead.bytes + (size_t)part->first * d->ahead.page_bytes,
               media_page_bytes(&d->media, part->die, part->plane), d->ahead.page_bytes);
    front_part_give(d, index);
    while (next != CMD_NONE) {
        uint32_t waiter = next;
        struct command *c = &d->commands[d->parts[waiter].command];
        next = d->parts[waiter].next;
        if (failed)
            c->status = 0x281;      /* Unrecovered Read Error */
        else
            deliver(d, c, l, &d->parts[waiter]);
        front_part_ended(d, d->parts[waiter].command);
        front_part_give(d, waiter);
    }
}
