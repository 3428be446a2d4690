/* raid.c - pages that their plane no longer gives, from the rest of the stripe.
 *
 * A stripe's pages XOR to zero (core/payload.c). The other members are read, each on
 * its die, with the class of the read that failed. Members that are still in the
 * buffer need no read; a row that is being filled has its sum there. A second missing
 * member, or a row that lost a member before it was written, ends the attempt: the
 * units are lost, and every read of them says so until they are written again. */
#include "core/raid.h"

#include <string.h>

#include "core/core.h"

/* A lost page. */
struct stripe {
    uint32_t sb, row, type, plane, die;
};

enum { MEMBER_NONE, MEMBER_MEDIUM, MEMBER_BUFFER, MEMBER_LOST };

uint64_t core_raid_memory(const struct ftl_config *cfg, uint32_t waiting)
{
    return sizeof(struct raid) + (uint64_t)waiting * sizeof(struct media_done) +
           cfg->drive_user_bytes / cfg->map_unit_bytes / 8 + 1 + cfg->nand_page_bytes +
           cfg->nand_spare_bytes;
}

int core_raid_init(struct ftl_core *c, uint32_t waiting)
{
    struct raid *r = &c->raid_kept;
    struct sim_mem *mem = &c->ctx->mem;

    c->raid = r;
    r->wait_limit = waiting;
    r->lost_bytes = c->user_units / 8 + 1;
    for (uint32_t i = 0; i < RAID_JOBS; i++)
        r->jobs[i].next = i + 1;
    return SIM_TAKE(mem, r->waiting, waiting) < 0 || SIM_TAKE(mem, r->lost, r->lost_bytes) < 0 ||
                   SIM_TAKE(mem, r->scratch, c->cfg->nand_page_bytes + c->cfg->nand_spare_bytes) < 0
               ? FTL_ENOMEM
               : 0;
}

/* ---- members ------------------------------------------------------------------------ */

static const struct frontier *frontier_at(const struct ftl_core *c, const struct stripe *s)
{
    for (uint32_t i = 0; i < c->frontier_count; i++)
        if (c->fr[i].sb == s->sb && c->fr[i].row == s->row)
            return &c->fr[i];
    return NULL;
}

/* Where the page of a die in this stripe is. `f` = the frontier that fills the row. */
static int member(const struct ftl_core *c, const struct stripe *s, const struct frontier *f,
                  uint32_t die)
{
    const struct media_blocks *b = &c->media->blocks;
    uint32_t data = (die + 2 * c->g.dies - s->row % c->g.dies - c->g.parity_dies) % c->g.dies;

    if (die == s->die || (f != NULL && data >= f->data_die))
        return MEMBER_NONE;     /* itself, or not in the sum yet */
    if (s->row >= b->hole_row[media_blocks_index(b, s->sb, die, s->plane)])
        return MEMBER_NONE;
    if (s->row >= c->rows_programmed[(size_t)s->sb * c->g.dies + die])
        return MEMBER_BUFFER;
    return b->dead[(size_t)die * b->planes + s->plane] ? MEMBER_LOST : MEMBER_MEDIUM;
}

static bool can_rebuild(const struct ftl_core *c, const struct stripe *s)
{
    const struct row_range *broken = &c->broken[(size_t)s->sb * c->g.planes + s->plane];
    const struct frontier *f = frontier_at(c, s);

    if (c->g.parity_dies != 1 || (s->row >= broken->from && s->row < broken->to))
        return false;
    for (uint32_t d = 0; d < c->g.dies; d++)
        if (member(c, s, f, d) == MEMBER_LOST)
            return false;
    return true;
}

static uint32_t page_of(const struct ftl_core *c, const struct stripe *s)
{
    return s->row * c->g.page_types + s->type;
}

/* A word line on its way to the medium; NULL = none of that place. O(pool). */
static const uint8_t *in_flight_page(const struct ftl_core *c, const struct stripe *s,
                                     uint32_t die)
{
    for (uint32_t i = 0; i < c->wl_count; i++) {
        const struct wordline *wl = &c->wls[i];
        if (wl->seq != 0 && wl->sb == s->sb && wl->row == s->row && wl->die == die)
            return core_payload_group(c, wl->group) +
                   (size_t)(s->type * c->g.planes + s->plane) * c->payload->page_bytes;
    }
    return NULL;
}

static void add(uint8_t *sum, const uint8_t *bytes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        sum[i] ^= bytes[i];
}

/* The page's bytes [offset, offset + n) into ret; false = not to be had. */
static bool stripe_bytes(const struct ftl_core *c, const struct stripe *s, uint32_t offset,
                         uint32_t n, uint8_t *ret)
{
    const struct frontier *f = frontier_at(c, s);
    uint8_t *page = c->raid->scratch;

    if (!can_rebuild(c, s))
        return false;
    memset(ret, 0, n);
    if (f != NULL) {
        const uint8_t *sum = core_payload_sum(c, f);
        if (sum == NULL)
            return false;
        add(ret, sum + (size_t)(s->type * c->g.planes + s->plane) * c->payload->page_bytes + offset,
            n);
    }
    for (uint32_t d = 0; d < c->g.dies; d++) {
        int kind = member(c, s, f, d);
        if (kind == MEMBER_BUFFER) {
            const uint8_t *bytes = in_flight_page(c, s, d);
            if (bytes == NULL)
                return false;
            add(ret, bytes + offset, n);
        } else if (kind == MEMBER_MEDIUM) {
            if (media_peek(c->media, d, s->plane, s->sb, page_of(c, s), offset, n, page) != NAND_OK)
                return false;
            add(ret, page, n);
        }
    }
    return true;
}

bool core_raid_peek(const struct ftl_core *c, const struct ftl_place *p, uint32_t offset,
                    uint32_t n, uint8_t *ret)
{
    const struct stripe s = {p->sb, p->row, p->page_type, p->plane, p->die};
    return c->raid != NULL && stripe_bytes(c, &s, offset, n, ret);
}

/* ---- rebuilding a page ---------------------------------------------------------------- */

static struct stripe stripe_of(const struct ftl_core *c, const struct media_done *done)
{
    return (struct stripe){.sb = done->block, .row = done->page / c->g.page_types,
                           .type = done->page % c->g.page_types, .plane = done->plane,
                           .die = done->die};
}

/* Its reads are done: the page lies where the read that failed would have left it. */
static void finish_job(struct ftl_core *c, struct raid_job *job, struct media_done *ret)
{
    struct stripe s = stripe_of(c, &job->done);

    *ret = job->done;
    ret->failed = job->lost;
    ret->dead = 0;
    if (c->payload != NULL && !job->lost)
        ret->failed = !stripe_bytes(c, &s, 0, c->payload->page_bytes,
                                    media_page_room(c->media, s.die, s.plane));
    c->count->raid_pages += !ret->failed;
    job->next = c->raid->free_head;
    c->raid->free_head = (uint32_t)(job - c->raid->jobs);
}

/* True: ended at once, *ret says how. */
static bool start_job(struct ftl_core *c, const struct media_done *done, struct media_done *ret)
{
    struct raid *r = c->raid;
    struct stripe s = stripe_of(c, done);
    const struct frontier *f = frontier_at(c, &s);
    uint32_t index = r->free_head;
    struct raid_job *job = &r->jobs[index];

    r->free_head = job->next;
    *job = (struct raid_job){.done = *done, .lost = !can_rebuild(c, &s)};
    for (uint32_t d = 0; d < c->g.dies && !job->lost; d++) {
        if (member(c, &s, f, d) != MEMBER_MEDIUM)
            continue;
        job->pending++;
        c->count->raid_reads++;
        media_read(c->media, c->ctx->now, done->kind, d, s.plane, s.sb, page_of(c, &s),
                   c->g.page_cws, RAID_REF | index);
    }
    if (job->pending != 0)
        return false;
    finish_job(c, job, ret);
    return true;
}

bool core_raid_begin(struct ftl_core *c, const struct media_done *done, struct media_done *ret)
{
    struct raid *r = c->raid;

    if (r->free_head < RAID_JOBS)
        return start_job(c, done, ret);
    FTL_ASSERT(c->ctx, r->wait_count < r->wait_limit);
    r->waiting[(r->wait_first + r->wait_count++) % r->wait_limit] = *done;
    return false;
}

bool core_raid_part(struct ftl_core *c, const struct media_done *part, struct media_done *ret)
{
    struct raid_job *job = &c->raid->jobs[part->ref & ~RAID_REF];

    job->lost |= part->failed != 0;
    if (--job->pending != 0)
        return false;
    finish_job(c, job, ret);
    return true;
}

bool core_raid_next(struct ftl_core *c, struct media_done *ret)
{
    struct raid *r = c->raid;

    while (r->wait_count != 0 && r->free_head < RAID_JOBS) {
        struct media_done done = r->waiting[r->wait_first];
        r->wait_first = (r->wait_first + 1) % r->wait_limit;
        r->wait_count--;
        if (start_job(c, &done, ret))
            return true;
    }
    return false;
}

bool core_raid_unreadable(const struct ftl_core *c, uint32_t slot)
{
    const struct media_blocks *b = &c->media->blocks;
    struct ftl_place p;

    if (c->raid == NULL || !c->raid->any_dead || slot == 0)
        return false;
    geometry_place(&c->g, slot - 1, 0, &p);
    const struct stripe s = {p.sb, p.row, p.page_type, p.plane, p.die};
    return b->dead[(size_t)p.die * b->planes + p.plane] && !core_in_buffer(c, &p) &&
           !can_rebuild(c, &s);
}

bool core_is_broken(const struct ftl_core *c, uint32_t key)
{
    uint8_t unit[UNIT_BYTES_MAX];

    return core_is_lost(c->raid, key) || core_raid_unreadable(c, c->map[key]) ||
           (c->payload != NULL && c->raid != NULL && !core_payload_readable(c, c->map[key])) ||
           (c->upset.damaged != 0 && !core_payload_read(c, key, unit));
}

void core_lose_unreadable(struct ftl_core *c, uint32_t slot, uint32_t n)
{
    for (; n > 0; n--, slot++)
        if (c->map[c->rmap[slot]] == slot && core_raid_unreadable(c, slot))
            core_lose(c, slot, 1);
}

/* ---- lost units -------------------------------------------------------------------------- */

void core_lose(struct ftl_core *c, uint32_t slot, uint32_t n)
{
    for (; n > 0; n--, slot++) {
        uint32_t key = c->rmap[slot];
        if (c->map[key] != slot)
            continue;
        c->map[key] = 0;
        c->mapped--;
        c->valid[geometry_superblock(&c->g, slot - 1)]--;
        c->raid->lost[key / 8] |= (uint8_t)(1u << key % 8);
        c->raid->lost_count++;
        c->count->lost_units++;
    }
}

void core_found(struct ftl_core *c, uint32_t key)
{
    uint8_t bit = (uint8_t)(1u << key % 8);
    if (c->raid == NULL || !(c->raid->lost[key / 8] & bit))
        return;
    c->raid->lost[key / 8] &= (uint8_t)~bit;
    c->raid->lost_count--;
}

void core_forget_lost(struct ftl_core *c)
{
    if (c->raid == NULL)
        return;
    memset(c->raid->lost, 0, c->raid->lost_bytes);
    c->raid->lost_count = 0;
}
