#include "media/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nand/store.h"

int media_profile(struct nand_profile *p, const struct ftl_config *c)
{
    const struct nand_profile *preset = nand_profile_find(c->nand_preset);
    if (preset == NULL)
        return -1;
    *p = *preset;
    p->geo.channels = (uint32_t)c->nand_channels;
    p->geo.dies = (uint32_t)c->nand_dies;
    p->geo.planes = (uint32_t)c->nand_planes;
    p->geo.blocks_per_plane = (uint32_t)c->nand_blocks_per_plane;
    p->geo.wordlines_per_block = (uint32_t)c->nand_wordlines_per_block;
    p->geo.page_types = (uint32_t)c->nand_page_types;
    p->geo.page_bytes = (uint32_t)c->nand_page_bytes;
    p->geo.spare_bytes = (uint32_t)c->nand_spare_bytes;
    p->time.tr_ns[0] = c->nand_tr0_ns;
    p->time.tr_ns[1] = c->nand_tr1_ns;
    p->time.tr_ns[2] = c->nand_tr2_ns;
    p->time.tr_ns[3] = c->nand_tr3_ns;
    p->time.tr_partial_ns = c->nand_tr_partial_ns;
    p->time.partial_bytes = c->nand_tr_partial_ns != 0 ? 4096 : 0;
    p->time.tprog_ns = c->nand_tprog_ns;
    p->time.tpass_ns[0] = c->nand_tcoarse_ns;
    p->time.tpass_ns[1] = c->nand_tfine_ns;
    p->time.tbers_ns = c->nand_tbers_ns;
    p->time.bus_mts = (uint32_t)c->nand_bus_mts;
    p->time.tcmd_ns = c->nand_tcmd_ns;
    p->time.tstatus_ns = c->nand_tstatus_ns;
    return 0;
}

static int take_payload_memory(struct media *m, uint32_t ops_limit)
{
    struct sim_mem *mem = &m->ctx->mem;
    size_t planes = (size_t)m->die_count * m->plane_count;
    return SIM_TAKE_RAW(mem, m->plane_bytes, planes * m->page_bus_bytes) < 0 ||
                   SIM_TAKE(mem, m->program_data, ops_limit) < 0 ||
                   SIM_TAKE_RAW(mem, m->packed,
                                (m->plane_count + (size_t)NAND_PAGE_TYPES_MAX) * m->page_bus_bytes) < 0
               ? FTL_ENOMEM
               : 0;
}

static int take_memory(struct media *m, uint32_t ops_limit)
{
    struct sim_mem *mem = &m->ctx->mem;
    if (SIM_TAKE_RAW(mem, m->ops, ops_limit) < 0 || SIM_TAKE(mem, m->dies, m->die_count) < 0 ||
        SIM_TAKE(mem, m->planes, (size_t)m->die_count * m->plane_count) < 0)
        return FTL_ENOMEM;
    m->op_count = m->free_count = ops_limit;
    for (uint32_t i = 0; i < ops_limit; i++)
        m->ops[i].next = i + 1;
    for (uint32_t d = 0; d < m->die_count; d++) {
        m->dies[d].array_op = MEDIA_NONE;
        for (uint32_t k = 0; k < MEDIA_WRITERS; k++)
            queue_init(&m->dies[d].writes[k]);
    }
    for (uint32_t p = 0; p < m->die_count * m->plane_count; p++) {
        m->planes[p].active = MEDIA_NONE;
        for (uint32_t k = 0; k < MEDIA_READ_CLASSES; k++)
            queue_init(&m->planes[p].reads[k]);
    }
    return 0;
}

static int take_rules(struct media *m, const struct ftl_config *cfg, char *why, size_t why_size)
{
    m->prog_wait_ns = cfg->sched_prog_wait_ns;
    m->host_write_first = cfg->sched_host_write_first;
    m->gc_write_wait_ns = cfg->sched_gc_write_wait_ns;
    m->coalesce = cfg->sched_coalesce;
    m->suspend = cfg->sched_suspend;
    m->suspend_budget = (uint32_t)cfg->sched_suspend_budget;
    m->suspend_window_ns = cfg->sched_suspend_window_ns;
    if (!m->suspend || (m->time->tsusp_prog_ns != 0 && m->time->tsusp_erase_ns != 0 &&
                        m->suspend_budget <= m->time->suspends_max))
        return 0;
    if (why != NULL)
        (void)snprintf(why, why_size, "sched.suspend_budget=%u: the part suspends an operation "
                       "at most %u times", m->suspend_budget, m->time->suspends_max);
    return FTL_ECONFIG;
}

/* Every block has been used so often already. */
static void start_worn(struct media *m, uint32_t cycles, uint32_t blocks)
{
    for (uint32_t d = 0; d < m->die_count; d++)
        for (uint32_t b = 0; b < blocks; b++) {
            int err = nand_block_set_planes(m->nand, d, (UINT32_C(1) << m->plane_count) - 1, b,
                                            NULL, 0, cycles);
            FTL_ASSERT(m->ctx, err == 0);
        }
}

int media_init(struct media *m, const struct ftl_config *cfg, struct sim_heap *heap,
               struct sim_context *ctx, uint32_t ops_limit, char *why, size_t why_size)
{
    struct nand_profile p;

    nand_dev *kept = ctx->mem.again ? m->nand : NULL;  /* what was written outlives the rest */
    struct ldpc_code *code = ctx->mem.again ? m->decoder.code : NULL;
    *m = (struct media){.heap = heap, .ctx = ctx, .nand = kept, .decoder.code = code};
    if (media_profile(&p, cfg) < 0) {
        if (why != NULL)
            (void)snprintf(why, why_size, "nand.preset=%s: unknown preset", cfg->nand_preset);
        return FTL_ECONFIG;
    }
    if (nand_profile_check(&p, why, why_size) < 0)
        return FTL_ECONFIG;
    m->die_count = p.geo.dies;
    m->plane_count = p.geo.planes;
    m->channel_count = p.geo.channels;
    m->page_types = p.geo.page_types;
    m->page_bytes = p.geo.page_bytes;
    m->page_units = p.geo.page_bytes / 4096;
    media_want(m, 0, m->page_units);
    m->page_bus_bytes = p.geo.page_bytes + p.geo.spare_bytes;
    m->unit_bus_bytes = 4096 + p.geo.spare_bytes / m->page_units;
    m->partial_read = p.time.tr_partial_ns != 0;
    struct nand_options options = {.flags = (cfg->media_payload ? NAND_WITH_CONTENTS : 0) |
                                            (cfg->media_ecc ? NAND_WITH_CELLS : 0) |
                                            (cfg->media_faults ? NAND_WITH_FAULTS : 0)};
    if (kept == NULL && nand_create_with(&p, cfg->drive_seed, &options, &m->nand) < 0)
        return FTL_ENOMEM;
    if (cfg->media_payload && take_payload_memory(m, ops_limit) < 0)
        return FTL_ENOMEM;
    m->time = &nand_dev_profile(m->nand)->time;
    int ready = media_ecc_init(m, cfg, &ctx->mem, why, why_size);
    if (ready < 0)
        return ready;
    if (cfg->media_ecc && nand_set_temperature(m->nand, 0, (int32_t)cfg->media_celsius * 1000) != 0)
        return FTL_ECONFIG;
    if (cfg->media_start_cycles != 0)
        start_worn(m, (uint32_t)cfg->media_start_cycles, p.geo.blocks_per_plane);
    if (cfg->media_faults &&
        media_blocks_init(&m->blocks, &ctx->mem, m->nand, (uint32_t)cfg->ftl_superblocks,
                          p.geo.wordlines_per_block, cfg->wear_assembly != 0) < 0)
        return FTL_ENOMEM;
    int err = take_rules(m, cfg, why, why_size);
    return err < 0 ? err : take_memory(m, ops_limit);
}

uint32_t media_events_limit(const struct ftl_config *cfg, uint32_t ops_limit)
{
    return ops_limit + (cfg->sched_suspend ? (uint32_t)cfg->nand_dies : 0);
}

void media_free(struct media *m)
{
    nand_destroy(m->nand);
    media_decoder_free(&m->decoder);
}

static uint32_t op_take(struct media *m)
{
    FTL_ASSERT(m->ctx, m->free_count > 0);
    uint32_t op = m->free_head;
    m->free_head = m->ops[op].next;
    m->free_count--;
    return op;
}

static void op_give(struct media *m, uint32_t op)
{
    m->ops[op].next = m->free_head;
    m->free_head = op;
    m->free_count++;
}

struct nand_res media_issue(struct media *m, uint64_t now, const struct nand_req *req)
{
    struct nand_res res;
    if (__builtin_expect(m->struck, 0))     /* no power: nothing is issued, nothing is awaited */
        return (struct nand_res){.start_at = now, .bus_free_at = now, .done_at = now};
    int err = nand_issue(m->nand, now, req, &res);
    if (__builtin_expect(m->watched, 0))
        m->struck = (err == 0 && res.status == NAND_CUT) ||
                    (m->strike_at != 0 && nand_op_count(m->nand) >= m->strike_at);
    if (__builtin_expect(err < 0, 0)) {
        (void)fprintf(stderr, "libftl: NAND refused operation %d on die %u plane %u block %u page %u: %s\n",
                      (int)req->op, req->addr.die, req->addr.plane, req->addr.block,
                      req->addr.page, nand_strerror(err));
        FTL_ASSERT(m->ctx, err == 0);
    }
    m->channel_busy_ns += res.bus_free_at - res.start_at;
    return res;
}

static bool is_busy(const struct media_die *d)
{
    return d->array_op != MEDIA_NONE || d->reads_active != 0;
}

static void die_busy_begin(struct media_die *d, uint64_t now)
{
    if (!is_busy(d))
        d->busy_since = now;
}

static void die_busy_end(struct media *m, struct media_die *d, uint64_t now)
{
    if (!is_busy(d))
        m->die_busy_ns += now - d->busy_since;
}

uint64_t media_busy_ns(const struct media *m, uint64_t now)
{
    uint64_t ns = m->die_busy_ns;
    for (uint32_t i = 0; i < m->die_count; i++)
        if (is_busy(&m->dies[i]))
            ns += now - m->dies[i].busy_since;
    return ns;
}

void media_reset(struct media *m, uint64_t now)
{
    m->page_reads = m->gc_page_reads = m->programs = m->erases = 0;
    m->suspends = m->shared_reads = 0;
    m->die_busy_ns = m->channel_busy_ns = 0;
    for (uint32_t i = 0; i < m->die_count; i++)
        if (is_busy(&m->dies[i]))
            m->dies[i].busy_since = now;
}

/* The array read of a page, at the level and with the soft bits that are its turn. */
static void sense(struct media *m, uint64_t now, uint32_t index)
{
    struct media_op *op = &m->ops[index];
    struct nand_req req = {.op = op->soft != 0 ? NAND_OP_READ_SOFT
                                 : op->whole   ? NAND_OP_READ
                                               : NAND_OP_READ_PARTIAL,
                           .addr = {.block = media_blocks_at(&m->blocks, op->block, op->die,
                                                             op->plane),
                                    .page = op->page, .die = op->die, .plane = op->plane},
                           .bytes = 4096, .soft_bits = op->soft,
                           .read_level = op->soft != 0 ? op->best_level : op->level};
    struct nand_res res = media_issue(m, now, &req);

    op->step = 0;
    op->failed = res.status == NAND_FAIL;
    sim_heap_push(m->heap, res.done_at, MEDIA_EVENT_KIND, index);
}

void media_start_read(struct media *m, uint64_t now, struct media_plane *pl, uint32_t index)
{
    struct media_op *op = &m->ops[index];
    op->whole = op->units > 1 || op->rider != MEDIA_NONE || !m->partial_read ||
                media_is_slc(m, op->block); /* faster than the part of a page */
    struct media_die *d = &m->dies[op->die];

    die_busy_begin(d, now);
    pl->active = index;
    d->read_begun = true;
    d->reads_active++;
    d->reads_queued--;
    d->host_queued -= op->kind == MEDIA_HOST_READ || op->hurried;
    m->page_reads++;
    m->gc_page_reads += op->kind == MEDIA_GC_READ;
    if (__builtin_expect(m->blocks.block != NULL, 0) &&
        m->blocks.dead[op->die * m->plane_count + op->plane]) {
        op->failed = 1;         /* known to be lost: nobody asks it */
        sim_heap_push(m->heap, now, MEDIA_EVENT_KIND, index);
        return;
    }
    if (m->ecc.curves != NULL)
        op->level = m->ecc.level[(size_t)op->block * m->die_count + op->die];
    sense(m, now, index);
}

/* No plane of the die takes part: the operation ends at once. */
static void skip_write(struct media *m, uint64_t now, struct media_die *d, uint32_t index)
{
    die_busy_begin(d, now);
    d->array_op = index;
    d->phase = MEDIA_ARRAY;
    d->end_event = true;
    d->array_end = d->may_suspend_at = now;
    m->ops[index].step = (uint8_t)(m->page_types + 1);
    sim_heap_push(m->heap, now, MEDIA_EVENT_KIND, index);
}

/* Pages of one type, those of the mask one behind the other. */
static void *data_in(const struct media *m, const struct media_op *op, const uint8_t *pages,
                     uint32_t mask)
{
    uint8_t *to = m->packed;

    if (mask == (UINT32_C(1) << m->plane_count) - 1 && !media_decodes(m))
        return (void *)pages;
    for (uint32_t p = 0; p < m->plane_count; p++)
        if (mask >> p & 1) {
            memcpy(to, pages + (size_t)p * m->page_bus_bytes, m->page_bus_bytes);
            if (media_decodes(m))
                media_decoder_seal(&m->decoder,
                                   media_decoder_key(op->die, p, op->block, op->page + op->step), to,
                                   m->page_bus_bytes);
            to += m->page_bus_bytes;
        }
    return m->packed;
}

static bool is_slc(const struct media *m, const struct media_op *op)
{
    return op->pass == MEDIA_SLC || media_is_slc(m, op->block);
}

uint64_t media_array_ns(const struct media *m, const struct media_op *op)
{
    if (op->kind == MEDIA_ERASE)
        return m->time->tbers_ns;
    if (is_slc(m, op))
        return m->time->slc_tprog_ns;
    return op->pass == MEDIA_WHOLE ? m->time->tprog_ns : m->time->tpass_ns[op->pass == MEDIA_FINE];
}

void media_start_write(struct media *m, uint64_t now, struct media_die *d, uint32_t index)
{
    struct media_op *op = &m->ops[index];
    uint32_t types = is_slc(m, op) ? 1 : m->page_types;
    bool loads = op->kind == MEDIA_PROGRAM && op->step < types;
    struct nand_req req = {.op = NAND_OP_ERASE,
                           .addr = {.block = op->block, .page = op->page, .die = op->die},
                           .plane_mask = (UINT32_C(1) << m->plane_count) - 1};

    if (m->blocks.block != NULL) {
        if (op->step == 0)
            op->planes = (uint16_t)media_blocks_mask(
                &m->blocks, op->block, op->die,
                op->kind == MEDIA_PROGRAM ? op->page / m->page_types : 0);
        req.plane_mask = op->planes;
        req.plane_block = media_blocks_row(&m->blocks, op->block, op->die);
        if (op->planes == 0) {
            skip_write(m, now, d, index);
            return;
        }
    }
    if (op->kind == MEDIA_PROGRAM) {
        req.op = loads ? NAND_OP_DATA_IN : NAND_OP_PROG;
        req.addr.page = op->page + (loads ? op->step : 0);
        req.bytes = m->page_bus_bytes;
        if (m->program_data != NULL && op->step < types)
            req.data = data_in(m, op, m->program_bytes + m->program_data[index] +
                                      (size_t)op->step * m->plane_count * m->page_bus_bytes,
                               req.plane_mask);
        m->programs += op->step == 0;
    } else {
        req.flags = is_slc(m, op) ? NAND_F_SLC : 0;
        m->erases += (uint32_t)__builtin_popcount(req.plane_mask);
    }
    die_busy_begin(d, now);
    d->array_op = index;
    op->step++;
    struct nand_res res = media_issue(m, now, &req);
    if (__builtin_expect(res.status == NAND_FAIL, 0))
        op->failed = (uint16_t)res.fail_mask;
    if (m->suspend)
        media_hold_started(m, d, &res, !loads);
    sim_heap_push(m->heap, res.done_at, MEDIA_EVENT_KIND, index);
}

/* Reads that wait get at least one turn between two writes, whatever the wait is. */
static bool write_is_due(const struct media *m, const struct media_die *d, uint64_t now)
{
    if (d->writes_queued == 0)
        return false;
    if (d->reads_queued == 0)
        return true;
    uint64_t since =
        d->reads_since > d->write_waits_since ? d->reads_since : d->write_waits_since;
    return d->read_begun && now - since >= m->prog_wait_ns;
}

/* Starts whatever the die can start now. */
static void kick(struct media *m, uint64_t now, uint32_t die)
{
    struct media_die *d = &m->dies[die];

    if (d->array_op != MEDIA_NONE) {
        if (m->suspend)
            media_hold_kick(m, now, die);
        return;
    }
    if (write_is_due(m, d, now)) {
        if (d->reads_active == 0)
            media_start_write(m, now, d, media_next_write(m, now, d));
        return;
    }
    if (d->reads_queued == 0)
        return;
    struct media_plane *pl = &m->planes[die * m->plane_count];
    for (uint32_t p = 0; p < m->plane_count; p++, pl++) {
        if (pl->active != MEDIA_NONE)
            continue;
        uint32_t op = media_next_read(m, d, pl);
        if (op != MEDIA_NONE)
            media_start_read(m, now, pl, op);
    }
}

static void wait_for_turn(struct media *m, uint64_t now, uint32_t class, uint32_t index)
{
    struct media_op *op = &m->ops[index];
    struct media_die *d = &m->dies[op->die];
    struct media_plane *pl = &m->planes[op->die * m->plane_count + op->plane];

    if ((pl->waiting >> class & 1) == 0)
        pl->since[class] = pl->turn;
    pl->waiting |= 1u << class;
    queue_add(m, &pl->reads[class], index);
    nand_block_prefetch(m->nand, op->die, op->plane, op->block);
    if (class == MEDIA_HOST_READ && m->suspend && d->array_op != MEDIA_NONE)
        media_hold_kick(m, now, op->die);
}

void media_read(struct media *m, uint64_t now, uint32_t kind, uint32_t die, uint32_t plane,
                uint32_t block, uint32_t page, uint32_t units, uint32_t ref)
{
    uint32_t index = op_take(m);
    struct media_die *d = &m->dies[die];
    struct media_plane *pl = &m->planes[die * m->plane_count + plane];
    bool host = kind == MEDIA_HOST_READ;

    m->ops[index] = (struct media_op){.kind = (uint8_t)kind, .plane = (uint8_t)plane,
                                      .units = (uint8_t)units, .die = (uint16_t)die,
                                      .block = block, .page = page, .ref = ref,
                                      .rider = MEDIA_NONE};
    if (__builtin_expect(media_decodes(m), 0)) {
        m->ops[index].codewords = m->next_codewords;
        media_want(m, 0, m->page_units);
    }
    if (host && m->coalesce && media_share(m, pl, index))
        return;
    d->reads_queued++;
    d->host_queued += host;
    if (d->array_op == MEDIA_NONE && pl->active == MEDIA_NONE && !write_is_due(m, d, now)) {
        media_start_read(m, now, pl, index);    /* idle plane: nothing else waits for it */
        return;
    }
    wait_for_turn(m, now, kind, index);
}

void media_hurry(struct media *m, uint64_t now, uint32_t die, uint32_t plane, uint32_t block,
                 uint32_t page)
{
    struct media_plane *pl = &m->planes[die * m->plane_count + plane];
    uint32_t index = media_take_ahead(m, pl, block, page);

    if (index == MEDIA_NONE)
        return;
    m->dies[die].host_queued++;
    m->ops[index].hurried = true;
    wait_for_turn(m, now, MEDIA_HOST_READ, index);
}

static void add_write(struct media *m, uint64_t now, enum media_writer writer, uint32_t index)
{
    struct media_die *d = &m->dies[m->ops[index].die];
    bool apart = m->host_write_first || writer == MEDIA_FOR_LOG;
    struct media_queue *q = &d->writes[apart ? writer : MEDIA_FOR_HOST];

    if (d->writes_queued++ == 0)
        d->write_waits_since = now;
    if (q->head == MEDIA_NONE && writer == MEDIA_FOR_GC)
        d->gc_head_since = now;
    queue_add(m, q, index);
    if (d->array_op == MEDIA_NONE)
        kick(m, now, m->ops[index].die);
}

void media_program(struct media *m, uint64_t now, enum media_writer writer, uint32_t die,
                   uint32_t block, uint32_t first_page, enum media_pass pass, uint32_t ref)
{
    uint32_t index = op_take(m);
    m->ops[index] = (struct media_op){.kind = MEDIA_PROGRAM, .die = (uint16_t)die, .block = block,
                                      .page = first_page, .ref = ref, .pass = (uint8_t)pass};
    if (m->program_data != NULL)
        m->program_data[index] = m->next_program;
    add_write(m, now, writer, index);
}

void media_erase_slc(struct media *m, uint64_t now, uint32_t die, uint32_t block, uint32_t ref)
{
    uint32_t index = op_take(m);
    m->ops[index] = (struct media_op){.kind = MEDIA_ERASE, .die = (uint16_t)die, .block = block,
                                      .ref = ref, .pass = MEDIA_SLC};
    add_write(m, now, MEDIA_FOR_GC, index);
}

void media_erase(struct media *m, uint64_t now, uint32_t die, uint32_t block, uint32_t ref)
{
    uint32_t index = op_take(m);
    m->ops[index] = (struct media_op){.kind = MEDIA_ERASE, .die = (uint16_t)die, .block = block,
                                      .ref = ref};
    if (m->ecc.curves != NULL)
        media_ecc_erased(m, block, die);
    add_write(m, now, MEDIA_FOR_GC, index);
}

/* The bytes on their way over the bus: the register may be in use again when the caller
 * hears of the end. */
static void keep_page(struct media *m, const struct media_op *op)
{
    uint8_t *to =
        m->plane_bytes + (size_t)(op->die * m->plane_count + op->plane) * m->page_bus_bytes;
    int err = nand_register_get(m->nand, op->die, op->plane, 0, m->page_bus_bytes, to);
    FTL_ASSERT(m->ctx, err == 0);
}

/* The page is in the register: the bytes that this operation wants go out. */
static void send_out(struct media *m, uint64_t now, uint32_t index)
{
    struct media_op *op = &m->ops[index];
    if (__builtin_expect(op->failed != 0, 0)) {     /* nothing to send */
        op->step = 1;
        sim_heap_push(m->heap, now, MEDIA_EVENT_KIND, index);
        return;
    }
    struct nand_req req = {.op = NAND_OP_DATA_OUT,
                           .addr = {.block = op->block, .page = op->page, .die = op->die,
                                    .plane = op->plane},
                           .bytes = op->units == m->page_units ? m->page_bus_bytes
                                                               : op->units * m->unit_bus_bytes};
    req.bytes *= op->soft != 0 ? op->soft : 1;
    op->step = 1;
    sim_heap_push(m->heap, media_issue(m, now, &req).done_at, MEDIA_EVENT_KIND, index);
    if (m->plane_bytes != NULL && m->ecc.curves == NULL)
        keep_page(m, op);
}

uint32_t media_probe(struct media *m, uint32_t die)
{
    struct nand_die_info info;
    return nand_die_info(m->nand, die, &info) != 0
               ? 0
               : media_blocks_found_dead(&m->blocks, die, info.dead_planes);
}

/* Before the die starts anything else: failed blocks take no more. */
static uint32_t take_failure(struct media *m, const struct media_op *op)
{
    if (__builtin_expect(op->failed == 0 || m->blocks.block == NULL, 1))
        return 0;
    uint32_t dead = media_probe(m, op->die);
    if (op->kind == MEDIA_PROGRAM)
        media_blocks_fail(&m->blocks, op->block, op->die, op->failed, op->page / m->page_types);
    else if (op->kind == MEDIA_ERASE)
        media_blocks_replace(&m->blocks, op->block, op->die, op->failed);
    return dead;
}

static struct media_done ended(const struct media_op *op, uint32_t dead)
{
    return (struct media_done){.kind = op->kind, .ref = op->ref, .block = op->block,
                               .page = op->page, .die = op->die, .plane = op->plane,
                               .failed = op->failed, .dead = (uint16_t)dead,
                               .effort = op->effort};
}

/* In both of these *op is read after it was given back: nothing takes one meanwhile. */
static struct media_done finish_read(struct media *m, uint64_t now, uint32_t index)
{
    const struct media_op *op = &m->ops[index];
    struct media_die *d = &m->dies[op->die];
    struct media_plane *pl = &m->planes[op->die * m->plane_count + op->plane];

    op_give(m, index);
    if (op->rider != MEDIA_NONE) {
        struct media_op *rider = &m->ops[op->rider];
        pl->active = op->rider;
        rider->riders = (uint8_t)(op->riders - 1);
        rider->whole = true;
        rider->failed = op->failed;
        send_out(m, now, op->rider);
        return ended(op, 0);
    }
    pl->active = MEDIA_NONE;
    d->reads_active--;
    die_busy_end(m, d, now);
    uint32_t dead = take_failure(m, op);
    kick(m, now, op->die);
    return ended(op, dead);
}

static struct media_done finish_write(struct media *m, uint64_t now, uint32_t index)
{
    const struct media_op *op = &m->ops[index];
    struct media_die *d = &m->dies[op->die];

    d->array_op = MEDIA_NONE;
    d->reads_since = d->write_waits_since = now;
    d->read_begun = false;
    die_busy_end(m, d, now);
    op_give(m, index);
    if (op->kind == MEDIA_ERASE && !media_is_slc(m, op->block))
        media_blocks_erased(&m->blocks, op->block, op->die, op->failed);
    uint32_t dead = take_failure(m, op);
    kick(m, now, op->die);
    return ended(op, dead);
}

static struct media_done write_event(struct media *m, uint64_t now, uint32_t index)
{
    struct media_op *op = &m->ops[index];
    const struct media_done nothing = {.ref = MEDIA_NONE};

    uint32_t types = is_slc(m, op) ? 1 : m->page_types;
    if (op->kind == MEDIA_PROGRAM && op->step <= types) {
        if (m->suspend && op->step == types)
            media_hold_loaded(m, now, op->die);
        else                    /* next page type, or the program */
            media_start_write(m, now, &m->dies[op->die], index);
        return nothing;
    }
    if (m->suspend && !media_hold_ended(m, now, &m->dies[op->die]))
        return nothing;
    return finish_write(m, now, index);
}

/* With media.ecc: true when a read is over, false when its page is read once more. */
static bool decoded(struct media *m, uint64_t now, uint32_t index)
{
    struct media_op *op = &m->ops[index];

    if (op->step == MEDIA_STEP_AGAIN) {
        m->page_reads++;
        sense(m, now, index);
        return false;
    }
    if (op->failed || op->step == MEDIA_STEP_DECODED)
        return true;
    if (!media_ecc_judge(m, now, index))
        return false;
    if (m->plane_bytes != NULL && !op->failed && !media_decodes(m))     /* it gives no wrong bits */
        op->failed = media_peek(m, op->die, op->plane, op->block, op->page, 0, m->page_bus_bytes,
                                media_page_room(m, op->die, op->plane)) != NAND_OK;
    return true;
}

struct media_done media_event(struct media *m, uint64_t now, uint32_t index)
{
    const struct media_done nothing = {.ref = MEDIA_NONE};

    if (index >= m->op_count) {
        media_hold_control(m, now, index - m->op_count);
        return nothing;
    }
    if (m->ops[index].kind >= MEDIA_PROGRAM)
        return write_event(m, now, index);
    if (m->ops[index].step == 0) {
        send_out(m, now, index);
        return nothing;
    }
    if (__builtin_expect(m->ecc.curves != NULL, 0) && !decoded(m, now, index))
        return nothing;
    return finish_read(m, now, index);
}
