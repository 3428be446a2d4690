/* program.c - loading data, programming and erasing.
 *
 * An operation is judged completely, memory it may need is taken, and only then is
 * anything written: a refusal leaves the device as it was. */
#include <string.h>

#include "dev.h"

int dev_check_mask(const struct nand_dev *dev, const struct nand_req *req)
{
    if (req->addr.die >= dev->prof.geo.dies || req->addr.page >= dev->pages_per_block)
        return NAND_EADDR;
    if (req->plane_mask == 0 || (req->plane_mask & ~dev->planes_mask))
        return NAND_EMASK;
    if (!req->plane_block)
        return req->addr.block < dev->prof.geo.blocks_per_plane ? 0 : NAND_EADDR;
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1)
        if (req->plane_block[__builtin_ctz(mask)] >= dev->prof.geo.blocks_per_plane)
            return NAND_EADDR;
    return 0;
}

/* ---- loading ------------------------------------------------------------------- */

struct page_place {
    uint32_t type, first_page;
};

/* Where a page sits in the input registers. All blocks of the mask must agree on
 * the number of bits per cell. */
static int place_page(const struct nand_dev *dev, const struct nand_req *req,
                      struct page_place *ret)
{
    uint32_t slc = 0, count = 0;

    ret->type = dev_page_type(dev, req->addr.page);
    ret->first_page = req->addr.page - ret->type;
    if (!dev->any_slc)
        return 0;
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1, count++) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        size_t b = dev_block_index(dev, req->addr.die, p, dev_mask_block(req, p));
        slc += (dev->block[b].word & BF_SLC) != 0;
    }
    if (slc == 0)
        return 0;
    if (slc != count)
        return NAND_EMODE;
    ret->type = 0;
    ret->first_page = req->addr.page;
    return req->addr.page < dev->prof.geo.wordlines_per_block ? 0 : NAND_EADDR;
}

static void mark_loaded(struct plane_state *plane, uint32_t block, struct page_place place)
{
    if (plane->in_block != block || plane->in_first_page != place.first_page)
        plane->in_types = 0;
    plane->in_block = block;
    plane->in_first_page = place.first_page;
    plane->in_types |= 1u << place.type;
}

/* Bytes go into the registers before the state changes: the only step that can
 * run out of memory. What it replaces was overwritten anyway. */
static int load_bytes(struct nand_dev *dev, const struct nand_req *req, uint32_t type)
{
    const uint8_t *data = req->data;

    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        int err = dev_contents_load(dev, dev_plane_index(dev, req->addr.die, p), type, data,
                                    req->offset, req->bytes);
        if (err)
            return err;
        if (data)
            data += req->bytes;
    }
    return 0;
}

int dev_issue_data_in(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                      struct nand_res *res)
{
    struct page_place place;
    int err = dev_check_mask(dev, req);
    if (!err)
        err = place_page(dev, req, &place);
    if (err)
        return err;
    if (req->bytes == 0 || req->offset > dev->page_total_bytes ||
        req->bytes > dev->page_total_bytes - req->offset)
        return NAND_EBYTES;
    const struct die_state *die = &dev->die[req->addr.die];
    if (die->in_ready > now)
        return NAND_EBUSY;
    if (dev->contents) {
        err = load_bytes(dev, req, place.type);
        if (err)
            return err;
    }

    struct plane_state *planes = &dev->plane[dev_plane_index(dev, req->addr.die, 0)];
    uint32_t count = 0;
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1, count++) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        mark_loaded(&planes[p], dev_mask_block(req, p), place);
    }
    res->done_at = res->ready_at =
        dev_bus_take(dev, die->channel, now,
                     count * dev->prof.time.tcmd_ns + dev_bus_ns(dev, count * req->bytes), res);
    dev->stats.data_ins++;
    dev->stats.bus_bytes += (uint64_t)count * req->bytes;
    return 0;
}

int dev_issue_copyback(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                       struct nand_res *res)
{
    struct nand_req one = *req;
    struct page_place place;

    if (req->addr.die >= dev->prof.geo.dies || req->addr.plane >= dev->prof.geo.planes)
        return NAND_EADDR;
    one.plane_mask = 1u << req->addr.plane;
    one.plane_block = NULL;
    int err = dev_check_mask(dev, &one);
    if (!err)
        err = place_page(dev, &one, &place);
    if (err)
        return err;
    size_t index = dev_plane_index(dev, req->addr.die, req->addr.plane);
    struct plane_state *plane = &dev->plane[index];
    const struct die_state *die = &dev->die[req->addr.die];
    if (plane->out.limit == 0)
        return NAND_ENODATA;
    if (plane->out_ready > now || die->in_ready > now)
        return NAND_EBUSY;
    if (plane->out.limit != dev->page_total_bytes)
        return NAND_EPARTIAL;
    if (dev->contents) {
        uint8_t page[65536 + 16384]; /* the profile check's bounds */
        dev_contents_register(dev, req->addr.die, req->addr.plane, 0, dev->page_total_bytes,
                              page);
        err = dev_contents_load(dev, index, place.type, page, 0,
                                dev->page_total_bytes);
        if (err)
            return err;
    }
    mark_loaded(plane, req->addr.block, place);
    res->done_at = res->ready_at =
        dev_bus_take(dev, die->channel, now, dev->prof.time.tcmd_ns, res);
    dev->stats.copybacks++;
    return 0;
}

/* ---- judging a program ------------------------------------------------------------ */

struct plan {
    uint32_t need_types, first_page, advance, pass;
    uint32_t target;        /* page by which damage to this program is known */
    nand_ns tprog;
    bool slc, stores, merge;    /* stores: pages become readable; merge: a further part */
};

static int plan_visits(const struct nand_dev *dev, uint32_t word, uint32_t page,
                       struct plan *ret)
{
    uint32_t steps = word & BF_STEPS, wordline = dev_wordline(dev, page);
    uint32_t type = dev_page_type(dev, page);
    uint32_t lower = dev_sequence_lower(wordline);
    uint32_t upper = dev_sequence_upper(wordline, dev->prof.geo.wordlines_per_block);

    ret->first_page = ret->target = page - type;
    ret->advance = 1;
    if (dev->prof.scheme == NAND_SCHEME_PAGED) {
        uint32_t position = type ? upper : lower;
        if (steps != position)
            return steps > position ? NAND_ENOTERASED : NAND_EORDER;
        ret->need_types = 1u << type;
        ret->target = page;
        ret->pass = type;
        ret->stores = true;
    } else {
        if (steps > upper)
            return NAND_ENOTERASED;
        if (steps != lower && steps != upper)
            return NAND_EPASS;
        ret->need_types = dev->all_types;
        ret->pass = steps == upper;
        ret->stores = ret->pass == 1;
    }
    ret->tprog = dev->prof.time.tpass_ns[ret->pass];
    return 0;
}

static int plan_block(const struct nand_dev *dev, uint32_t word, uint32_t page,
                      struct plan *ret)
{
    uint32_t steps = word & BF_STEPS, first = page - dev_page_type(dev, page);

    *ret = (struct plan){.stores = true};
    if (word & BF_SLC) {
        if (page >= dev->prof.geo.wordlines_per_block)
            return NAND_EADDR;
        if (page != steps)
            return page < steps ? NAND_ENOTERASED : NAND_EORDER;
        ret->need_types = ret->advance = 1;
        ret->first_page = ret->target = page;
        ret->tprog = dev->prof.time.slc_tprog_ns;
        ret->slc = true;
        return 0;
    }
    if (dev->prof.scheme != NAND_SCHEME_ONE_PASS)
        return plan_visits(dev, word, page, ret);
    if (page < steps)
        return NAND_ENOTERASED;
    if (first != steps)
        return NAND_EORDER;
    ret->need_types = dev->all_types;
    ret->first_page = ret->target = first;
    ret->advance = dev->prof.geo.page_types;
    ret->tprog = dev->prof.time.tprog_ns;
    return 0;
}

static bool plane_loaded(const struct plane_state *plane, uint32_t block,
                         const struct plan *plan)
{
    return (plane->in_types & plan->need_types) == plan->need_types && plane->in_block == block &&
           plane->in_first_page == plan->first_page;
}

/* All planes must be at the same place of the same scheme. */
static int plan_program(const struct nand_dev *dev, const struct nand_req *req,
                        struct plan *ret)
{
    size_t first = dev_plane_index(dev, req->addr.die, 0);
    bool any = false;

    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask), b = dev_mask_block(req, p);
        uint32_t word = dev->block[(first + p) * dev->prof.geo.blocks_per_plane + b].word;
        struct plan plan;
        int err = plan_block(dev, word, req->addr.page, &plan);
        if (err)
            return err;
        if (any && plan.slc != ret->slc)
            return NAND_EMODE;
        if (any && plan.pass != ret->pass)
            return NAND_EPASS;
        if (!plane_loaded(&dev->plane[first + p], b, &plan))
            return NAND_ENODATA;
        *ret = plan;
        any = true;
    }
    return 0;
}

/* ---- carrying it out ------------------------------------------------------------ */

static void push_flight(struct die_state *die, nand_ns start, nand_ns until, uint32_t mask,
                        const struct plan *plan, uint32_t steps)
{
    die->flight[1] = die->flight[0];
    die->flight[0] = (struct flight){.start = start, .until = until, .mask = mask,
                                     .first_page = plan ? plan->target : 0,
                                     .steps = steps, .erase = plan == NULL};
    die->progress_from = start;
    die->susp_count = 0;
}

static void push_flight_block(struct plane_state *plane, uint32_t block)
{
    plane->flight_block[1] = plane->flight_block[0];
    plane->flight_block[0] = block;
}

/* Flagged blocks and armed faults; runs only when there is any. */
static uint32_t failing_planes(struct nand_dev *dev, const struct nand_req *req,
                               uint32_t page, uint32_t flags)
{
    uint32_t fail = dev_fault_planes(dev, req->addr.die, req->plane_mask, false);

    if (!(flags & (BF_BAD | BF_WORN | BF_WILL_FAIL)))
        return fail;
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        size_t b = dev_block_index(dev, req->addr.die, p, dev_mask_block(req, p));
        if (dev_wear_program_fails(dev, b, page))
            fail |= 1u << p;
    }
    return fail;
}

static uint32_t mask_flags(const struct nand_dev *dev, const struct nand_req *req)
{
    uint32_t flags = 0;

    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        flags |= dev->block[dev_block_index(dev, req->addr.die, p, dev_mask_block(req, p))].word;
    }
    return flags & ~(uint32_t)BF_STEPS;
}

static int reserve_memory(struct nand_dev *dev, const struct nand_req *req)
{
    int err = dev_reserve_damage(dev);

    for (uint32_t mask = req->plane_mask; mask && !err && dev->contents; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        err = dev_contents_reserve(
            dev, dev_block_index(dev, req->addr.die, p, dev_mask_block(req, p)));
    }
    return err;
}

static void program_plane(struct nand_dev *dev, const struct nand_req *req, uint32_t p,
                          const struct plan *plan, bool failed, nand_ns at)
{
    size_t index = dev_plane_index(dev, req->addr.die, p);
    uint32_t b = dev_mask_block(req, p);
    size_t block = index * dev->prof.geo.blocks_per_plane + b;
    bool first = (dev->block[block].word & BF_STEPS) == 0;

    dev->plane[index].in_types = 0;
    push_flight_block(&dev->plane[index], b);
    dev->block[block].word = (dev->block[block].word & ~BF_PARTIAL) + plan->advance;
    if (dev->cells)
        dev_cells_programmed(dev, at, block, first);
    if (dev->contents && plan->stores)
        dev_contents_program(dev, block, index, plan->first_page, plan->need_types,
                             plan->merge);
    else if (dev->contents)
        dev_contents_forget_input(dev, index);
    if (failed) {
        dev->block[block].word |= BF_WORN;
        dev_damage_set(dev, block, req->addr.page, DAMAGE_TORN);
    } else if ((dev->block[block].word & BF_DAMAGED) &&
               dev_damage_get(dev, block, req->addr.page) == DAMAGE_FAINT) {
        dev_damage_set(dev, block, req->addr.page, DAMAGE_TORN); /* was not clean */
    }
}

/* Power goes before the operation reaches the medium. */
static int cut_before(struct nand_dev *dev, nand_ns now, struct nand_res *res)
{
    dev->now = now;
    *res = (struct nand_res){.start_at = now, .bus_free_at = now, .done_at = now,
                             .ready_at = now, .status = NAND_CUT};
    dev_cut_strike(dev, UINT32_MAX, res);
    return 0;
}

/* Everything that is neither plain nor fast. */
static int program_special(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                           struct nand_res *res, const struct plan *plan, bool cache)
{
    uint32_t flags = mask_flags(dev, req), fail;
    int err = reserve_memory(dev, req);

    if (err)
        return err;
    dev->op_count++;
    dev->stats.programs++;
    if (dev_cut_is_due(dev) && dev->cut.mode == NAND_CUT_BEFORE)
        return cut_before(dev, now, res);
    fail = failing_planes(dev, req, req->addr.page, flags);

    struct die_state *die = &dev->die[req->addr.die];
    uint32_t some = (uint32_t)__builtin_ctz(req->plane_mask);
    uint32_t steps = dev->block[dev_block_index(dev, req->addr.die, some,
                                                dev_mask_block(req, some))].word & BF_STEPS;
    nand_ns start = later(dev_bus_take(dev, die->channel, now, dev->prof.time.tcmd_ns, res),
                          die->array_until);
    start = dev_array_start(dev, req->addr.die, start, plan->tprog, false);
    die->array_until = start + plan->tprog;
    die->in_ready = cache ? start + dev->prof.time.tcbsy_ns : die->array_until;
    die->work = cache ? DIE_PROG_CACHE : DIE_PROG;
    push_flight(die, start, die->array_until, req->plane_mask, plan, steps);
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        program_plane(dev, req, p, plan, fail >> p & 1, die->array_until);
    }
    uint32_t count = (uint32_t)__builtin_popcount(req->plane_mask);
    if (plan->slc)
        dev->stats.slc_plane_programs += count;
    else
        dev->stats.plane_programs += count;
    res->done_at = die->array_until;
    res->ready_at = die->in_ready;
    res->fail_mask = fail;
    res->status = fail ? NAND_FAIL : NAND_OK;
    if (dev_cut_is_due(dev))
        dev_cut_strike(dev, req->addr.die, res);
    else if (dev->op_count >= dev->next_armed_op)
        dev_next_armed(dev);
    return 0;
}

/* True when every plane is a one-pass block without flags, in order, loaded. */
static bool program_is_plain(const struct nand_dev *dev, const struct nand_req *req)
{
    size_t first = dev_plane_index(dev, req->addr.die, 0);
    uint32_t page = req->addr.page - dev_page_type(dev, req->addr.page);

    if (dev->prof.scheme != NAND_SCHEME_ONE_PASS || dev->flags ||
        dev->op_count + 1 >= dev->next_armed_op || dev->die[req->addr.die].dead_mask)
        return false;
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask), b = dev_mask_block(req, p);
        const struct plane_state *plane = &dev->plane[first + p];
        if (dev->block[(first + p) * dev->prof.geo.blocks_per_plane + b].word != page ||
            plane->in_types != dev->all_types || plane->in_block != b ||
            plane->in_first_page != page)
            return false;
    }
    return true;
}

static int program_plain(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                         struct nand_res *res, bool cache)
{
    const struct nand_timing *t = &dev->prof.time;
    struct die_state *die = &dev->die[req->addr.die];
    size_t first = dev_plane_index(dev, req->addr.die, 0);
    uint32_t page = req->addr.page - dev_page_type(dev, req->addr.page);
    struct plan plan = {.first_page = page, .target = page};

    dev->op_count++;
    dev->stats.programs++;
    nand_ns start = later(dev_bus_take(dev, die->channel, now, t->tcmd_ns, res),
                          die->array_until);
    start = dev_array_start(dev, req->addr.die, start, t->tprog_ns, false);
    die->array_until = start + t->tprog_ns;
    die->in_ready = cache ? start + t->tcbsy_ns : die->array_until;
    die->work = cache ? DIE_PROG_CACHE : DIE_PROG;
    res->done_at = die->array_until;
    res->ready_at = die->in_ready;
    push_flight(die, start, die->array_until, req->plane_mask, &plan, page);
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask), b = dev_mask_block(req, p);
        dev->plane[first + p].in_types = 0;
        push_flight_block(&dev->plane[first + p], b);
        dev->block[(first + p) * dev->prof.geo.blocks_per_plane + b].word +=
            dev->prof.geo.page_types;
        dev->stats.plane_programs++;
    }
    return 0;
}

/* PROG may follow a running PROG_CACHE once the input registers are free; the
 * array then takes it up when it is done with the one before. */
int dev_issue_program(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                      struct nand_res *res, bool cache)
{
    struct plan plan;
    int err = dev_check_mask(dev, req);
    if (err)
        return err;
    const struct die_state *die = &dev->die[req->addr.die];
    if (die->suspended)
        return NAND_ESUSPEND;
    if (die->in_ready > now || die->sense_until > now ||
        (die->array_until > now && die->work != DIE_PROG_CACHE))
        return NAND_EBUSY;
    if (program_is_plain(dev, req))
        return program_plain(dev, now, req, res, cache);
    err = plan_program(dev, req, &plan);
    if (err)
        return err;
    return program_special(dev, now, req, res, &plan, cache);
}

/* ---- partial programs: one page filled in several goes ------------------------------ */

static int partial_check(const struct nand_dev *dev, const struct nand_req *req, uint32_t p,
                         bool *ret_again)
{
    uint32_t b = dev_mask_block(req, p);
    size_t block = dev_block_index(dev, req->addr.die, p, b);
    uint32_t word = dev->block[block].word, steps = word & BF_STEPS;
    const struct plane_state *plane = &dev->plane[dev_plane_index(dev, req->addr.die, p)];

    if (!(word & BF_SLC) && dev->prof.geo.page_types != 1)
        return NAND_EMODE;
    if (req->addr.page >= dev_block_pages(dev, word))
        return NAND_EADDR;
    if (req->addr.page > steps)
        return NAND_EORDER;
    *ret_again = req->addr.page + 1 == steps;
    if (req->addr.page < steps && !*ret_again)
        return NAND_ENOTERASED;
    if (*ret_again && (!(word & BF_PARTIAL) ||
                       dev->cells[block].partials >= dev->prof.time.partial_programs))
        return NAND_ENOP;
    if (!plane->in_types || plane->in_block != b || plane->in_first_page != req->addr.page)
        return NAND_ENODATA;
    return 0;
}

/* One plane per operation. The first part is an ordinary program; later ones take the
 * write pointer back by one page for the moment. */
int dev_issue_partial(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                      struct nand_res *res)
{
    struct plan plan = {.need_types = 1, .advance = 1, .stores = true};
    bool again;
    int err = dev_check_mask(dev, req);
    if (err)
        return err;
    if (dev->prof.time.partial_programs < 2)
        return NAND_ENOTSUP;
    if (req->plane_mask & (req->plane_mask - 1))
        return NAND_EMASK;
    const struct die_state *die = &dev->die[req->addr.die];
    uint32_t p = (uint32_t)__builtin_ctz(req->plane_mask);
    if (die->suspended)
        return NAND_ESUSPEND;
    if (die->in_ready > now || die->sense_until > now || die->array_until > now)
        return NAND_EBUSY;
    err = partial_check(dev, req, p, &again);
    if (err)
        return err;
    size_t block = dev_block_index(dev, req->addr.die, p, dev_mask_block(req, p));
    uint32_t before = dev->block[block].word, parts = again ? dev->cells[block].partials : 0;
    plan.slc = (before & BF_SLC) != 0;
    plan.tprog = plan.slc ? dev->prof.time.slc_tprog_ns : dev->prof.time.tprog_ns;
    plan.first_page = plan.target = req->addr.page;
    plan.merge = again;
    if (again)
        dev->block[block].word--;
    err = program_special(dev, now, req, res, &plan, false);
    if (err)
        dev->block[block].word = before;
    if (err || dev->power_off)
        return err;
    dev->cells[block].partials = parts + 1;
    dev->block[block].word |= BF_PARTIAL;
    return 0;
}

/* ---- erase -------------------------------------------------------------------------- */

static bool erase_block(struct nand_dev *dev, size_t block, bool slc)
{
    bool failed = (dev->block[block].word & BF_STAY) != 0;

    dev_block_erased(dev, block, BF_STAY);
    dev->block[block].erase_count++;
    if (slc)
        dev->block[block].word |= BF_SLC;
    if (dev->flags & NAND_WITH_FAULTS)
        failed |= dev_wear_erase_fails(dev, block);
    return failed;
}

int dev_issue_erase(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                    struct nand_res *res)
{
    bool slc = req->flags & NAND_F_SLC;
    uint32_t fail = 0;
    int err = dev_check_mask(dev, req);
    if (err)
        return err;
    if (slc && dev->prof.time.slc_tprog_ns == 0)
        return NAND_ENOTSUP;
    struct die_state *die = &dev->die[req->addr.die];
    if (die->suspended)
        return NAND_ESUSPEND;
    if (die->array_until > now || die->sense_until > now)
        return NAND_EBUSY;
    err = dev_reserve_damage(dev);
    if (err)
        return err;

    dev->op_count++;
    dev->stats.erases++;
    if (dev_cut_is_due(dev) && dev->cut.mode == NAND_CUT_BEFORE)
        return cut_before(dev, now, res);
    if (dev->op_count >= dev->next_armed_op || die->dead_mask)
        fail = dev_fault_planes(dev, req->addr.die, req->plane_mask, true);
    dev->any_slc |= slc;
    nand_ns start = dev_bus_take(dev, die->channel, now, dev->prof.time.tcmd_ns, res);
    start = dev_array_start(dev, req->addr.die, start, dev->prof.time.tbers_ns, false);
    res->done_at = res->ready_at = die->array_until = start + dev->prof.time.tbers_ns;
    die->work = DIE_ERASE;
    push_flight(die, start, die->array_until, req->plane_mask, NULL, 0);
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask), b = dev_mask_block(req, p);
        size_t block = dev_block_index(dev, req->addr.die, p, b);
        push_flight_block(&dev->plane[dev_plane_index(dev, req->addr.die, p)], b);
        if (erase_block(dev, block, slc))
            fail |= 1u << p;
        if (fail >> p & 1)
            dev->block[block].word |= BF_TORN | BF_WORN;
        dev->stats.plane_erases++;
    }
    res->fail_mask = fail;
    res->status = fail ? NAND_FAIL : NAND_OK;
    if (dev_cut_is_due(dev))
        dev_cut_strike(dev, req->addr.die, res);
    else if (dev->op_count >= dev->next_armed_op)
        dev_next_armed(dev);
    return 0;
}
