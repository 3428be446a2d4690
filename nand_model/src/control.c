/* control.c - suspend, resume, reset, set-feature, status. */
#include <string.h>

#include "dev.h"

static const nand_ns never = UINT64_MAX;

int nandi_issue_suspend(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                        struct nand_res *res)
{
    const struct nand_timing *t = &dev->prof.time;
    if (req->addr.die >= dev->prof.geo.dies)
        return NAND_EADDR;
    struct die_state *die = &dev->die[req->addr.die];
    bool erase = die->flight[0].erase;
    nand_ns accept = erase ? t->tsusp_erase_ns : t->tsusp_prog_ns;
    if (accept == 0)
        return NAND_ENOTSUP;
    if (die->suspended || die->work == DIE_IDLE || die->array_until <= now ||
        die->flight[0].start > now)
        return NAND_ESUSPEND;
    if (now < die->progress_from + t->tprogress_ns || die->susp_count >= t->suspends_max)
        return NAND_ELIMIT;

    nand_ns at = dev_bus_take(dev, die->channel, now, t->tcmd_ns, res) + accept;
    res->done_at = res->ready_at = at < die->array_until ? at : die->array_until;
    if (at < die->array_until) {
        die->susp_left = die->array_until - at;
        if (die->in_ready > at)
            die->in_ready = never; /* the registers still hold the program's data */
        die->array_until = at;
        die->suspended = 1;
        die->susp_count++;
    }
    dev->stats.suspends++;
    return 0;
}

int nandi_issue_resume(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                       struct nand_res *res)
{
    const struct nand_timing *t = &dev->prof.time;
    if (req->addr.die >= dev->prof.geo.dies)
        return NAND_EADDR;
    struct die_state *die = &dev->die[req->addr.die];
    if (!die->suspended)
        return NAND_ESUSPEND;
    if (die->array_until > now || die->sense_until > now)
        return NAND_EBUSY;

    nand_ns begin = dev_bus_take(dev, die->channel, now, t->tcmd_ns, res) + t->tresume_ns;
    die->progress_from = begin;
    if (!die->flight[0].erase)
        begin += t->treverify_ns;
    die->array_until = begin + die->susp_left;
    die->flight[0].until = die->array_until;
    if (die->in_ready == never)
        die->in_ready = die->array_until;
    die->suspended = 0;
    die->susp_left = 0;
    res->done_at = res->ready_at = die->array_until;
    dev->stats.resumes++;
    return 0;
}

void nandi_forget_registers(struct nand_dev *dev, uint32_t die)
{
    for (uint32_t p = 0; p < dev->prof.geo.planes; p++) {
        size_t index = dev_plane_index(dev, die, p);
        struct plane_state *plane = &dev->plane[index];
        plane->out.limit = plane->data.limit = 0;
        dev->input[index].types = 0;
        plane->sense_until = plane->out_ready = 0;
        if (dev->contents) {
            nandi_contents_forget_input(dev, index);
            nandi_contents_forget_output(dev, index);
        }
    }
}

int nandi_issue_reset(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                      struct nand_res *res)
{
    const struct nand_timing *t = &dev->prof.time;
    if (req->addr.die >= dev->prof.geo.dies)
        return NAND_EADDR;
    int err = nandi_damage_reserve(dev, 2 * NAND_PLANES_MAX);
    if (err)
        return err;
    struct die_state *die = &dev->die[req->addr.die];
    bool working = die->suspended || (die->array_until > now && die->work != DIE_IDLE);
    nand_ns hold =
        working ? die->flight[0].erase ? t->trst_erase_ns : t->trst_prog_ns : t->trst_read_ns;

    if (working)
        nandi_flight_damage(dev, req->addr.die, 0, DAMAGE_TORN);
    if (working && die->flight[1].until > now && !die->flight[1].erase)
        nandi_flight_damage(dev, req->addr.die, 1, DAMAGE_TORN);
    nandi_forget_registers(dev, req->addr.die);
    nand_ns end = dev_bus_take(dev, die->channel, now, t->tcmd_ns, res) + hold;
    die->array_until = die->sense_until = die->in_ready = end;
    die->work = DIE_IDLE;
    die->suspended = 0;
    die->flight[0].until = die->flight[1].until = 0;
    res->done_at = res->ready_at = end;
    dev->stats.resets++;
    return 0;
}

bool nandi_offsets_ok(const struct nand_dev *dev, const int16_t *offsets)
{
    for (uint32_t b = 0; b + 1 < 1u << dev->prof.geo.page_types; b++)
        if (offsets[b] < -2000 || offsets[b] > 2000)
            return false;
    return true;
}

int nandi_issue_feature(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                        struct nand_res *res)
{
    const struct nand_timing *t = &dev->prof.time;
    uint32_t bounds = (1u << dev->prof.geo.page_types) - 1;
    if (req->addr.die >= dev->prof.geo.dies)
        return NAND_EADDR;
    if (req->offsets && !nandi_offsets_ok(dev, req->offsets))
        return NAND_EINVAL;
    struct die_state *die = &dev->die[req->addr.die];
    if (die->suspended)
        return NAND_ESUSPEND;
    if (die->array_until > now || die->sense_until > now)
        return NAND_EBUSY;

    int16_t *to = &dev->offsets[(size_t)req->addr.die * NAND_BOUNDS_MAX];
    memset(to, 0, NAND_BOUNDS_MAX * sizeof *to);
    if (req->offsets)
        memcpy(to, req->offsets, bounds * sizeof *to);
    die->array_until =
        dev_bus_take(dev, die->channel, now, t->tcmd_ns + dev_bus_ns(dev, 4), res) +
        t->tfeat_ns;
    die->work = DIE_IDLE;
    res->done_at = res->ready_at = die->array_until;
    dev->stats.features++;
    return 0;
}

int nandi_issue_status(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                       struct nand_res *res)
{
    if (req->addr.die >= dev->prof.geo.dies)
        return NAND_EADDR;
    const struct die_state *die = &dev->die[req->addr.die];
    bool busy = die->array_until > now || die->sense_until > now;

    res->done_at = res->ready_at =
        dev_bus_take(dev, die->channel, now, dev->prof.time.tstatus_ns, res);
    res->status = busy ? NAND_BUSY : NAND_OK;
    dev->stats.polls++;
    return 0;
}

int nand_die_info(const nand_dev *dev, uint32_t die, struct nand_die_info *ret_info)
{
    const struct die_state *state;

    if (!dev || !ret_info)
        return NAND_EINVAL;
    if (die >= dev->prof.geo.dies)
        return NAND_EADDR;
    state = &dev->die[die];
    *ret_info = (struct nand_die_info){.array_until = state->array_until,
                                       .sense_until = state->sense_until,
                                       .suspended_left_ns = state->susp_left,
                                       .suspends = state->susp_count,
                                       .dead_planes = state->dead_mask,
                                       .channel = state->channel,
                                       .suspended = state->suspended != 0};
    return 0;
}
