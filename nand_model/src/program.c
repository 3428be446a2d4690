/* program.c - programming: is it legal, what does it change.
 *
 * An operation is judged completely, memory it may need is taken, and only then is
 * anything written: a refusal leaves the device as it was. */
#include <string.h>

#include "dev.h"

/* ---- judging a program ------------------------------------------------------------ */

struct plan {
    uint32_t need_types, first_page, advance, pass;
    uint32_t target; /* page by which damage to this program is known */
    nand_ns tprog;
    bool slc, stores, merge; /* stores: pages become readable; merge: a further part */
};

static int plan_visits(const struct nand_dev *dev, uint32_t word, uint32_t page,
                       struct plan *ret)
{
    uint32_t steps = word & BF_STEPS, wordline = dev_wordline(dev, page);
    uint32_t type = dev_page_type(dev, page);
    uint32_t lower = nandi_sequence_lower(wordline);
    uint32_t upper = nandi_sequence_upper(wordline, dev->prof.geo.wordlines_per_block);

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

static bool plane_loaded(const struct plane_input *input, uint32_t block,
                         const struct plan *plan)
{
    return (input->types & plan->need_types) == plan->need_types &&
           input->key == dev_input_key(block, plan->first_page);
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
        if (!plane_loaded(&dev->input[first + p], b, &plan))
            return NAND_ENODATA;
        *ret = plan;
        any = true;
    }
    return 0;
}

/* ---- carrying it out ------------------------------------------------------------ */

/* Flagged blocks and armed faults; runs only when there is any. */
static uint32_t failing_planes(struct nand_dev *dev, const struct nand_req *req, uint32_t page,
                               uint32_t flags)
{
    uint32_t fail = nandi_fault_planes(dev, req->addr.die, req->plane_mask, false);

    if (!(flags & (BF_BAD | BF_WORN | BF_WILL_FAIL)))
        return fail;
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        size_t b = dev_block_index(dev, req->addr.die, p, dev_mask_block(req, p));
        if (nandi_wear_program_fails(dev, b, page))
            fail |= 1u << p;
    }
    return fail;
}

static uint32_t mask_flags(const struct nand_dev *dev, const struct nand_req *req)
{
    uint32_t flags = 0;

    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        flags |=
            dev->block[dev_block_index(dev, req->addr.die, p, dev_mask_block(req, p))].word;
    }
    return flags & ~(uint32_t)BF_STEPS;
}

static int reserve_memory(struct nand_dev *dev, const struct nand_req *req)
{
    int err = nandi_reserve_damage(dev);

    for (uint32_t mask = req->plane_mask; mask && !err && dev->contents; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        err = nandi_contents_reserve(
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

    dev->input[index].types = 0;
    dev_flight_block(&dev->input[index], b);
    dev->block[block].word = (dev->block[block].word & ~BF_PARTIAL) + plan->advance;
    if (dev->cells)
        nandi_cells_programmed(dev, at, block, first);
    if (dev->contents && plan->stores)
        nandi_contents_program(dev, block, index, plan->first_page, plan->need_types,
                               plan->merge);
    else if (dev->contents)
        nandi_contents_forget_input(dev, index);
    if (failed) {
        dev->block[block].word |= BF_WORN;
        nandi_damage_set(dev, block, req->addr.page, DAMAGE_TORN);
    } else if ((dev->block[block].word & BF_DAMAGED) &&
               nandi_damage_get(dev, block, req->addr.page) == DAMAGE_FAINT) {
        nandi_damage_set(dev, block, req->addr.page, DAMAGE_TORN); /* was not clean */
    }
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
    if (nandi_cut_is_due(dev) && dev->cut.mode == NAND_CUT_BEFORE)
        return nandi_cut_before(dev, now, res);
    fail = failing_planes(dev, req, req->addr.page, flags);

    struct die_state *die = &dev->die[req->addr.die];
    uint32_t some = (uint32_t)__builtin_ctz(req->plane_mask);
    uint32_t steps =
        dev->block[dev_block_index(dev, req->addr.die, some, dev_mask_block(req, some))].word &
        BF_STEPS;
    nand_ns start = later(dev_bus_take(dev, die->channel, now, dev->prof.time.tcmd_ns, res),
                          die->array_until);
    start = dev_array_start(dev, req->addr.die, start, plan->tprog, false);
    die->array_until = start + plan->tprog;
    die->in_ready = cache ? start + dev->prof.time.tcbsy_ns : die->array_until;
    die->work = cache ? DIE_PROG_CACHE : DIE_PROG;
    dev_flight_begin(die, start, req->plane_mask, plan->target, steps, false);
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        program_plane(dev, req, p, plan, fail >> p & 1, die->array_until);
    }
    uint32_t count = dev_mask_count(req->plane_mask);
    res->energy_pj = count * (plan->slc ? dev->prof.energy.slc_prog_pj : dev->pass_pj);
    if (plan->slc)
        dev->stats.slc_plane_programs += count;
    else
        dev->stats.plane_programs += count;
    res->done_at = die->array_until;
    res->ready_at = die->in_ready;
    res->fail_mask = fail;
    res->status = fail ? NAND_FAIL : NAND_OK;
    if (nandi_cut_is_due(dev))
        nandi_cut_strike(dev, req->addr.die, res);
    else if (dev->op_count >= dev->next_armed_op)
        nandi_next_armed(dev);
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
        const struct plane_input *input = &dev->input[first + p];
        if (dev->block[(first + p) * dev->prof.geo.blocks_per_plane + b].word != page ||
            input->types != dev->all_types || input->key != dev_input_key(b, page))
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

    dev->op_count++;
    dev->stats.programs++;
    nand_ns start =
        later(dev_bus_take(dev, die->channel, now, t->tcmd_ns, res), die->array_until);
    start = dev_array_start(dev, req->addr.die, start, t->tprog_ns, false);
    die->array_until = start + t->tprog_ns;
    die->in_ready = cache ? start + t->tcbsy_ns : die->array_until;
    die->work = cache ? DIE_PROG_CACHE : DIE_PROG;
    res->done_at = die->array_until;
    res->ready_at = die->in_ready;
    dev_flight_begin(die, start, req->plane_mask, page, page, false);
    for (uint32_t mask = req->plane_mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask), b = dev_mask_block(req, p);
        dev->input[first + p].types = 0;
        dev_flight_block(&dev->input[first + p], b);
        dev->block[(first + p) * dev->prof.geo.blocks_per_plane + b].word +=
            dev->prof.geo.page_types;
        dev->stats.plane_programs++;
        res->energy_pj += dev->pass_pj;
    }
    return 0;
}

/* PROG may follow a running PROG_CACHE once the input registers are free; the
 * array then takes it up when it is done with the one before. */
int nandi_issue_program(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                        struct nand_res *res, bool cache)
{
    struct plan plan;
    int err = nandi_check_mask(dev, req);
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
    const struct plane_input *input = &dev->input[dev_plane_index(dev, req->addr.die, p)];

    if (!(word & BF_SLC) && dev->prof.geo.page_types != 1)
        return NAND_EMODE;
    if (req->addr.page >= nandi_block_pages(dev, word))
        return NAND_EADDR;
    if (req->addr.page > steps)
        return NAND_EORDER;
    *ret_again = req->addr.page + 1 == steps;
    if (req->addr.page < steps && !*ret_again)
        return NAND_ENOTERASED;
    if (*ret_again &&
        (!(word & BF_PARTIAL) || dev->cells[block].partials >= dev->prof.time.partial_programs))
        return NAND_ENOP;
    if (!input->types || input->key != dev_input_key(b, req->addr.page))
        return NAND_ENODATA;
    return 0;
}

/* One plane per operation. The first part is an ordinary program; later ones take the
 * write pointer back by one page for the moment. */
int nandi_issue_partial(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                        struct nand_res *res)
{
    struct plan plan = {.need_types = 1, .advance = 1, .stores = true};
    bool again;
    int err = nandi_check_mask(dev, req);
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
