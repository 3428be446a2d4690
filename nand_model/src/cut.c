/* cut.c - power cuts: what they leave of the operation they land on. */
#include <string.h>

#include "dev.h"

/* Room for what this operation may damage: its own planes, or, when a cut lands on it,
 * two word lines per plane of everything in flight. */
int nandi_reserve_damage(struct nand_dev *dev)
{
    uint32_t planes = NAND_PLANES_MAX;

    if (dev->cut_armed && dev->op_count + 1 == dev->cut.at_op)
        planes += dev->prof.geo.dies * dev->prof.geo.planes;
    return nandi_damage_reserve(dev, planes * 2);
}

bool nandi_cut_is_due(const struct nand_dev *dev)
{
    return dev->cut_armed && dev->op_count == dev->cut.at_op;
}

/* Takes a program back: the pages look erased again. */
static void unprogram(struct nand_dev *dev, size_t block, const struct flight *flight)
{
    uint32_t word = dev->block[block].word;

    dev->block[block].word = (word & ~(uint32_t)BF_STEPS) | flight->steps;
}

/* Turns flight `which` of a die, already carried out, into what an interruption
 * left. Room in the damage list was reserved when the operation was issued. */
void nandi_flight_damage(struct nand_dev *dev, uint32_t die, int which, enum damage_kind kind)
{
    const struct flight *flight = &dev->die[die].flight[which];

    for (uint32_t mask = flight->mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        size_t index = dev_plane_index(dev, die, p);
        size_t block =
            index * dev->prof.geo.blocks_per_plane + dev->input[index].flight_block[which];
        if (flight->erase) {
            dev->block[block].word |= kind == DAMAGE_FAINT ? BF_FAINT : BF_TORN;
            continue;
        }
        nandi_damage_set(dev, block, flight->first_page, kind);
        /* a later program of the same block in flight keeps its place */
        if (kind == DAMAGE_FAINT && which == 0)
            unprogram(dev, block, flight);
    }
}

/* MLC: the upper page shares its cells with a lower page that was acknowledged. */
static void damage_lower_page(struct nand_dev *dev, uint32_t die)
{
    const struct flight *flight = &dev->die[die].flight[0];

    for (uint32_t mask = flight->mask; mask; mask &= mask - 1) {
        uint32_t p = (uint32_t)__builtin_ctz(mask);
        size_t index = dev_plane_index(dev, die, p);
        size_t block =
            index * dev->prof.geo.blocks_per_plane + dev->input[index].flight_block[0];
        if (!(dev->block[block].word & BF_SLC))
            nandi_damage_set(dev, block, flight->first_page & ~1u, DAMAGE_TORN);
    }
}

static void strike_target(struct nand_dev *dev, uint32_t die)
{
    bool faint = dev->cut.mode == NAND_CUT_FAINT_PROG || dev->cut.mode == NAND_CUT_FAINT_ERASE;

    if (dev->cut.mode == NAND_CUT_AFTER)
        return;
    nandi_flight_damage(dev, die, 0, faint ? DAMAGE_FAINT : DAMAGE_TORN);
    if (dev->cut.mode == NAND_CUT_PAIRED_PAGE && !dev->die[die].flight[0].erase &&
        dev->prof.scheme == NAND_SCHEME_PAGED)
        damage_lower_page(dev, die);
}

static enum damage_kind other_outcome(enum nand_cut_others others, uint64_t seed, uint64_t what)
{
    uint64_t draw;

    if (others == NAND_OTHERS_END)
        return DAMAGE_NONE;
    if (others == NAND_OTHERS_TORN)
        return DAMAGE_TORN;
    draw = nand_draw(seed, DRAW_CUT, what, 0) >> 32;
    return (enum damage_kind)(draw * 3 >> 32);
}

/* Every program and erase still under way, except flight 0 of `spared`. */
static void strike_others(struct nand_dev *dev, uint32_t spared, enum nand_cut_others others,
                          uint64_t seed)
{
    for (uint32_t d = 0; d < dev->prof.geo.dies; d++) {
        struct die_state *die = &dev->die[d];
        for (int which = 1; which >= 0; which--) {
            bool hung = which == 0 && die->suspended;
            if ((d == spared && which == 0) || (die->flight[which].until <= dev->now && !hung))
                continue;
            enum damage_kind kind = other_outcome(others, seed, d * 2u + (uint32_t)which);
            if (hung && kind == DAMAGE_NONE)
                kind = DAMAGE_TORN; /* nobody is left to resume it */
            if (kind == DAMAGE_FAINT && which == 1)
                kind = DAMAGE_TORN; /* the array was already well into it */
            if (kind != DAMAGE_NONE)
                nandi_flight_damage(dev, d, which, kind);
        }
    }
}

static void go_dark(struct nand_dev *dev)
{
    for (uint32_t d = 0; d < dev->prof.geo.dies; d++) {
        struct die_state *die = &dev->die[d];
        nandi_forget_registers(dev, d);
        die->array_until = die->sense_until = die->in_ready = 0;
        die->work = DIE_IDLE;
        die->suspended = 0;
        die->susp_left = 0;
        memset(die->flight, 0, sizeof die->flight);
    }
    memset(dev->channel_free, 0, dev->prof.geo.channels * sizeof *dev->channel_free);
    dev->power_off = 1;
}

void nandi_cut_strike(struct nand_dev *dev, uint32_t die, struct nand_res *res)
{
    dev->cut_seen[dev->cut.mode]++;
    if (die != UINT32_MAX)
        strike_target(dev, die);
    strike_others(dev, die, dev->cut.others, dev->cut.seed);
    dev->cut_armed = 0;
    nandi_next_armed(dev);
    go_dark(dev);
    res->done_at = res->ready_at = res->bus_free_at = dev->now;
    res->status = NAND_CUT;
}

int nandi_cut_before(struct nand_dev *dev, nand_ns now, struct nand_res *res)
{
    dev->now = now;
    *res = (struct nand_res){.start_at = now, .bus_free_at = now};
    nandi_cut_strike(dev, UINT32_MAX, res);
    return 0;
}

int nand_cut_arm(nand_dev *dev, const struct nand_cut *cut)
{
    if (!dev)
        return NAND_EINVAL;
    if (!cut) {
        dev->cut_armed = 0;
        nandi_next_armed(dev);
        return 0;
    }
    if ((unsigned)cut->mode >= NAND_CUT_MODES || (unsigned)cut->others > NAND_OTHERS_DRAWN ||
        cut->at_op <= dev->op_count)
        return NAND_EINVAL;
    dev->cut = *cut;
    dev->cut_armed = 1;
    nandi_next_armed(dev);
    return 0;
}

int nand_cut_now(nand_dev *dev, nand_ns now, enum nand_cut_others others, uint64_t seed)
{
    int err;

    if (!dev || (unsigned)others > NAND_OTHERS_DRAWN)
        return NAND_EINVAL;
    if (dev->power_off)
        return NAND_EOFF;
    if (now < dev->now)
        return NAND_ETIME;
    err = nandi_damage_reserve(dev, dev->prof.geo.dies * dev->prof.geo.planes * 2);
    if (err)
        return err;
    dev->now = now;
    strike_others(dev, UINT32_MAX, others, seed);
    dev->cut_armed = 0;
    nandi_next_armed(dev);
    go_dark(dev);
    return 0;
}

int nand_power_on(nand_dev *dev, nand_ns now)
{
    if (!dev || !dev->power_off)
        return NAND_EINVAL;
    if (now < dev->now)
        return NAND_ETIME;
    dev->now = now;
    dev->power_off = 0;
    return 0;
}

uint64_t nand_cut_count(const nand_dev *dev, enum nand_cut_mode mode)
{
    return dev && (unsigned)mode < NAND_CUT_MODES ? dev->cut_seen[mode] : 0;
}
