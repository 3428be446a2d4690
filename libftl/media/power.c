/* power.c - losing power; operations outside of the queues, for the capacitor flush and the
 * recovery, which have the NAND to themselves. */
#include "media/media.h"

#include <string.h>

#include "nand/fault.h"
#include "nand/store.h"

void media_go_dark(struct media *m)
{
    m->watched = m->struck = true;
}

bool media_has_slc(const struct ftl_config *cfg)
{
    const struct nand_profile *p = nand_profile_find(cfg->nand_preset);
    return p != NULL && p->time.slc_tprog_ns != 0 && cfg->nand_page_types > 1;
}

int media_fork(struct media *m, const struct media *from)
{
    if (nand_fork(from->nand, &m->nand) < 0)
        return FTL_ENOMEM;
    m->time = &nand_dev_profile(m->nand)->time;
    if (media_decoder_fork(&m->decoder, m->ecc.code) < 0) {
        nand_destroy(m->nand);
        return FTL_ENOMEM;
    }
    return 0;
}

bool media_has_two_passes(const struct ftl_config *cfg)
{
    const struct nand_profile *p = nand_profile_find(cfg->nand_preset);
    return p != NULL && p->scheme == NAND_SCHEME_TWO_PASS;
}

static uint32_t all_planes(const struct media *m)
{
    return (UINT32_C(1) << m->plane_count) - 1;
}

static uint64_t die_free_at(const struct media *m, uint32_t die)
{
    struct nand_die_info info;
    int err = nand_die_info(m->nand, die, &info);
    FTL_ASSERT(m->ctx, err == 0);
    return info.array_until > info.sense_until ? info.array_until : info.sense_until;
}

void media_erases_queued(const struct media *m, void (*fn)(void *user, uint32_t die, uint32_t block),
                         void *user)
{
    for (uint32_t d = 0; d < m->die_count; d++) {
        const struct media_die *die = &m->dies[d];
        /* whether it reached the die before the power went cannot be seen: a block may look blank
         * and not be clean */
        if (die->array_op != MEDIA_NONE && m->ops[die->array_op].kind == MEDIA_ERASE)
            fn(user, d, m->ops[die->array_op].block);
        for (uint32_t w = 0; w < MEDIA_WRITERS; w++)
            for (uint32_t i = die->writes[w].head; i != MEDIA_NONE; i = m->ops[i].next)
                if (m->ops[i].kind == MEDIA_ERASE)
                    fn(user, d, m->ops[i].block);
    }
}

uint64_t media_idle_at(const struct media *m)
{
    uint64_t at = 0;
    for (uint32_t d = 0; d < m->die_count; d++) {
        uint64_t end = die_free_at(m, d);
        at = end > at ? end : at;
    }
    return at;
}

static struct nand_res issue_now(struct media *m, uint64_t now, const struct nand_req *req)
{
    struct nand_res res;
    int err = nand_issue(m->nand, now, req, &res);
    FTL_ASSERT(m->ctx, err == 0);
    return res;
}

void media_resume_all(struct media *m, uint64_t now)
{
    for (uint32_t die = 0; die < m->die_count; die++) {
        struct nand_req req = {.op = NAND_OP_RESUME, .addr = {.die = (uint16_t)die}};
        struct nand_die_info info;
        int err = nand_die_info(m->nand, die, &info);
        FTL_ASSERT(m->ctx, err == 0);
        if (!info.suspended)
            continue;
        uint64_t free_at = die_free_at(m, die);
        now = free_at > now ? free_at : now;    /* the next die no earlier: time does not go back */
        (void)issue_now(m, now, &req);
    }
}

struct nand_res media_program_now(struct media *m, uint64_t *at, uint32_t die, uint32_t block,
                                  uint32_t page, bool slc, const uint8_t *pages)
{
    uint32_t types = slc ? 1 : m->page_types;
    uint64_t free_at = die_free_at(m, die);
    struct nand_req req = {.op = NAND_OP_DATA_IN, .plane_mask = all_planes(m),
                           .addr = {.block = block, .die = (uint16_t)die},
                           .bytes = m->page_bus_bytes};

    *at = free_at > *at ? free_at : *at;
    for (uint32_t t = 0; t < types; t++) {
        req.addr.page = page + t;
        req.data = (void *)(pages + (size_t)t * m->plane_count * m->page_bus_bytes);
        (void)issue_now(m, *at, &req);
    }
    req.op = NAND_OP_PROG;
    req.addr.page = page;
    m->programs++;
    return issue_now(m, *at, &req);
}

struct nand_res media_erase_now(struct media *m, uint64_t *at, uint32_t die, uint32_t block,
                                bool slc)
{
    uint64_t free_at = die_free_at(m, die);
    struct nand_req req = {.op = NAND_OP_ERASE, .plane_mask = all_planes(m),
                           .addr = {.block = block, .die = (uint16_t)die},
                           .flags = slc ? NAND_F_SLC : 0};
    *at = free_at > *at ? free_at : *at;
    m->erases += m->plane_count;
    return issue_now(m, *at, &req);
}

int media_peek(const struct media *m, uint32_t die, uint32_t plane, uint32_t block, uint32_t page,
               uint32_t offset, uint32_t bytes, void *ret)
{
    struct nand_addr addr = {.block = media_blocks_at(&m->blocks, block, die, plane),
                             .page = page, .die = (uint16_t)die, .plane = (uint16_t)plane};
    int status = nand_page_get(m->nand, &addr, offset, bytes, ret);
    FTL_ASSERT(m->ctx, status >= 0);
    if (status == NAND_OK && media_decodes(m))
        media_decoder_stir(&m->decoder, media_decoder_key(die, plane, block, page), offset, ret, bytes);
    return status;
}

/* What the NAND is given for a page; page type t has a place of its own to be completed in. */
static const uint8_t *sealed(struct media *m, const struct nand_addr *at, uint32_t sb, uint32_t t,
                             const uint8_t *page)
{
    uint8_t *to = m->packed + (m->plane_count + (size_t)t) * m->page_bus_bytes;

    if (!media_decodes(m))
        return page;
    memcpy(to, page, m->page_bus_bytes);
    media_decoder_seal(&m->decoder, media_decoder_key(at->die, at->plane, sb, at->page + t), to,
                       m->page_bus_bytes);
    return to;
}

/* A word line of one plane; `pages` holds the page types of all planes, plane by plane. */
static int put_plane(struct media *m, const struct nand_addr *addr, uint32_t sb, uint32_t page_types,
                     const uint8_t *pages)
{
    const void *types[NAND_PAGE_TYPES_MAX] = {NULL};
    for (uint32_t t = 0; t < page_types; t++)
        types[t] = sealed(m, addr, sb, t,
                          pages + (size_t)(t * m->plane_count + addr->plane) * m->page_bus_bytes);
    int err = nand_wordline_put(m->nand, addr, types);
    FTL_ASSERT(m->ctx, err == 0 || err == NAND_ENOMEM);
    return err < 0 ? FTL_ENOMEM : 0;
}

int media_put(struct media *m, uint32_t die, uint32_t block, uint32_t first_page,
              const uint8_t *pages)
{
    int err = 0;
    for (uint32_t p = 0; err == 0 && p < m->plane_count; p++) {
        struct nand_addr addr = {.block = media_blocks_at(&m->blocks, block, die, p),
                                 .page = first_page, .die = (uint16_t)die, .plane = (uint16_t)p};
        if (m->blocks.block == NULL ||
            (media_blocks_mask(&m->blocks, block, die, first_page / m->page_types) >> p & 1))
            err = put_plane(m, &addr, block, m->page_types, pages);
    }
    return err;
}

int media_put_meta(struct media *m, uint32_t die, uint32_t block, uint32_t page, bool slc,
                   const uint8_t *pages)
{
    int err = 0;
    for (uint32_t p = 0; err == 0 && p < m->plane_count; p++) {
        struct nand_addr addr = {.block = block, .page = page, .die = (uint16_t)die,
                                 .plane = (uint16_t)p};
        if (pages == NULL)
            err = slc ? nand_block_set_slc(m->nand, die, p, block, page + 1, 0)
                      : nand_block_set(m->nand, die, p, block, page + m->page_types, 0);
        else
            err = put_plane(m, &addr, block, slc ? 1 : m->page_types, pages);
    }
    return err;
}

void media_erase_meta(struct media *m, uint32_t block, bool slc, uint32_t erases)
{
    for (uint32_t d = 0; d < m->die_count; d++)
        for (uint32_t p = 0; p < m->plane_count; p++) {
            int err = nand_block_put(m->nand, d, p, block, slc ? NAND_F_SLC : 0, erases);
            FTL_ASSERT(m->ctx, err == 0);
        }
}

int media_arm(struct media *m, uint64_t at_op, uint32_t mode, uint32_t others, uint64_t seed)
{
    struct nand_cut cut = {.at_op = at_op, .mode = (enum nand_cut_mode)mode,
                           .others = (enum nand_cut_others)others, .seed = seed};
    return nand_cut_arm(m->nand, at_op != 0 ? &cut : NULL) < 0 ? -1 : 0;
}

void media_arm_cut(struct media *m, uint32_t mode, uint32_t others, uint64_t seed)
{
    int err = media_arm(m, nand_op_count(m->nand) + 1, mode, others, seed);
    FTL_ASSERT(m->ctx, err == 0);
}

void media_cut_now(struct media *m, uint64_t now, uint32_t others, uint64_t seed)
{
    int err = nand_cut_now(m->nand, now, (enum nand_cut_others)others, seed);
    FTL_ASSERT(m->ctx, err == 0 || err == NAND_EOFF);   /* off: an operation was the cut */
}

int media_power_on(struct media *m, uint64_t now)
{
    return nand_power_on(m->nand, now) < 0 ? -1 : 0;
}

uint64_t media_operations(const struct media *m)
{
    return nand_op_count(m->nand);
}
