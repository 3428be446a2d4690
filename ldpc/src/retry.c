/* retry.c - the recovery ladder as a state machine over one table of steps. */
#include "ldpc/dsp.h"

static const struct {
    const char *name;
    uint8_t senses, soft_bits;
} STEP[LDPC_STEPS] = {
    {"default", 1, 1}, {"tracked", 1, 1},   {"retry", 1, 1}, {"soft2", 3, 2},
    {"soft3", 7, 3},   {"neighbour", 7, 3}, {"raid", 1, 1},
};

const char *ldpc_step_name(enum ldpc_step step)
{
    return (unsigned)step < LDPC_STEPS ? STEP[step].name : "?";
}

int ldpc_retry_begin(struct ldpc_retry *r, const struct ldpc_ladder *ladder,
                     int last_good_top_mp)
{
    struct ldpc_volt v;
    if (!r || !ladder || ladder->retries > 255 ||
        ldpc_volt_shift(&ladder->shape, last_good_top_mp, &v))
        return LDPC_EINVAL;
    *r = (struct ldpc_retry){.ladder = ladder, .start_top_mp = last_good_top_mp, .step = -1};
    return LDPC_OK;
}

unsigned ldpc_step_soft_bits(enum ldpc_step step)
{
    return (unsigned)step < LDPC_STEPS ? STEP[step].soft_bits : 1;
}

int ldpc_step_price(const struct ldpc_costs *c, enum ldpc_step step, uint64_t *ret_latency_ns,
                    uint64_t *ret_energy_pj)
{
    if (!c || !ret_latency_ns || !ret_energy_pj || (unsigned)step >= LDPC_STEPS)
        return LDPC_EINVAL;
    uint64_t extra = STEP[step].senses - 1u, soft = STEP[step].soft_bits;
    uint64_t hard_ns = (uint64_t)c->sense_ns + c->transfer_ns + c->decode_ns[0];
    uint64_t hard_pj = (uint64_t)c->sense_pj + c->transfer_pj + c->decode_pj[0];
    uint64_t ns = c->sense_ns + extra * c->extra_sense_ns + soft * c->transfer_ns +
                  c->decode_ns[soft - 1];
    uint64_t pj = c->sense_pj + extra * c->extra_sense_pj + soft * c->transfer_pj +
                  c->decode_pj[soft - 1];
    if (step == LDPC_STEP_NEIGHBOUR) {
        ns += hard_ns;
        pj += hard_pj;
    } else if (step == LDPC_STEP_RAID) {
        ns = hard_ns + (uint64_t)(c->raid_pages ? c->raid_pages - 1 : 0) * c->transfer_ns;
        pj = hard_pj * c->raid_pages;
    }
    *ret_latency_ns = ns;
    *ret_energy_pj = pj;
    return LDPC_OK;
}

/* Number of attempts a step has. */
static uint32_t attempts(const struct ldpc_retry *r, int step)
{
    if (!r->ladder->enabled[step])
        return 0;
    if (step == LDPC_STEP_RETRY)
        return r->ladder->retries;
    return step == LDPC_STEP_TRACKED && r->start_top_mp == 0 &&
                   r->ladder->enabled[LDPC_STEP_DEFAULT]
               ? 0
               : 1;
}

static int top_of(const struct ldpc_retry *r)
{
    if (r->step == LDPC_STEP_DEFAULT)
        return 0;
    if (r->step != LDPC_STEP_RETRY)
        return r->step == LDPC_STEP_TRACKED ? r->start_top_mp : r->top_mp;
    int64_t down = ((int64_t)(r->attempt + 1) * r->ladder->step_mp_x10 + 5) / 10;
    return down > LDPC_OFFSET_MAX_MP ? -LDPC_OFFSET_MAX_MP : (int)-down;
}

int ldpc_retry_next(struct ldpc_retry *r, struct ldpc_action *a)
{
    if (!r || !a || !r->ladder || r->step >= LDPC_STEPS)
        return 0;
    int before = r->step;
    if (r->step >= 0)
        r->attempt++;
    while (r->step < 0 || (r->step < LDPC_STEPS && r->attempt >= attempts(r, r->step))) {
        r->step++;
        r->attempt = 0;
    }
    if (r->step >= LDPC_STEPS)
        return 0;
    /* Soft reads are taken around the last good shift: the retry table ran away
     * from it without success. */
    if (r->step != before && r->step > LDPC_STEP_RETRY && before <= LDPC_STEP_RETRY)
        r->top_mp = r->start_top_mp;
    r->top_mp = top_of(r);
    *a = (struct ldpc_action){.step = (enum ldpc_step)r->step,
                              .attempt = r->attempt,
                              .senses = STEP[r->step].senses,
                              .soft_bits = STEP[r->step].soft_bits};
    ldpc_volt_shift(&r->ladder->shape, r->top_mp, &a->volt);
    ldpc_step_price(&r->ladder->costs, a->step, &a->latency_ns, &a->energy_pj);
    r->latency_ns += a->latency_ns;
    r->energy_pj += a->energy_pj;
    return 1;
}

int ldpc_retry_success(const struct ldpc_retry *r, uint32_t up, uint32_t down)
{
    int top = r->top_mp +
              ldpc_track_step(up, down, r->ladder->track_gain_mp, r->ladder->track_min_errors);
    return top > LDPC_OFFSET_MAX_MP    ? LDPC_OFFSET_MAX_MP
           : top < -LDPC_OFFSET_MAX_MP ? -LDPC_OFFSET_MAX_MP
                                       : top;
}
