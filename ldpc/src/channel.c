/* channel.c - counter-based noise on packed bits and on soft values. */
#include <string.h>

#include "code.h"
#include "dmath.h"
#include "ldpc/channel.h"

enum { PURPOSE_NOISE = 0x6e6f6973 };

uint64_t ldpc_prob_from_double(double p)
{
    if (!(p >= 0 && p < 1))
        return UINT64_MAX;
    double hi = p * 4294967296.0; /* exact: a power of two */
    uint64_t top = (uint64_t)hi;
    return top << 32 | (uint64_t)((hi - (double)top) * 4294967296.0);
}

static uint64_t frame_key(uint64_t seed, uint64_t frame)
{
    return mix64(draw64(draw64(seed, PURPOSE_NOISE), frame));
}

/* One mixing of key and counter is enough here: the key is mixed already. */
static uint64_t noise_word(uint64_t key, uint64_t counter)
{
    return mix64(key ^ counter * 0x9e3779b97f4a7c15u);
}

/* For 64 bits at once: below[i] = which of 64 uniform draws are below upto[i].
 * The draws are compared from their top bit down, one random word per bit
 * position, until every comparison is decided: about 9 words, at most 64. */
static void compare64(uint64_t key, uint64_t word, const uint64_t *upto, uint32_t count,
                      uint64_t *below)
{
    uint64_t open[LDPC_REGIONS_MAX], any = ~0ull;
    for (uint32_t i = 0; i < count; i++) {
        below[i] = 0;
        open[i] = ~0ull;
    }
    for (uint32_t b = 0; b < 64 && any; b++) {
        uint64_t r = noise_word(key, word * 64 + b);
        any = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (upto[i] >> (63 - b) & 1) {
                below[i] |= open[i] & ~r;
                open[i] &= r;
            } else {
                open[i] &= ~r;
            }
            any |= open[i];
        }
    }
}

int ldpc_channel_flip(uint64_t seed, uint64_t frame, uint64_t p, uint8_t *bits, uint32_t n)
{
    if (!bits || p == UINT64_MAX)
        return LDPC_EINVAL;
    uint64_t key = frame_key(seed, frame);
    for (uint32_t w = 0; w < (n + 63) / 64; w++) {
        uint64_t flip;
        compare64(key, w, &p, 1, &flip);
        uint32_t left = n - w * 64;
        if (left < 64)
            flip &= ~0ull >> (64 - left);
        for (uint32_t i = 0; i < 8 && flip; i++, flip >>= 8)
            if (flip & 0xff)
                bits[w * 8 + i] ^= (uint8_t)flip;
    }
    return LDPC_OK;
}

/* ---- soft ------------------------------------------------------------------------ */

static int from_probabilities(uint32_t regions, const double *p, struct ldpc_channel *ch)
{
    double sum = 0;
    if (regions < 2 || regions > LDPC_REGIONS_MAX || regions % 2)
        return LDPC_EINVAL;
    for (uint32_t i = 0; i < regions; i++)
        if (!(p[i] >= 0 && p[i] <= 1)) /* refuses NaN too */
            return LDPC_EINVAL;
    *ch = (struct ldpc_channel){.regions = regions};
    for (uint32_t i = 0; i < regions; i++) {
        ch->p[i] = p[i];
        sum += p[i];
        ch->upto[i] = sum < 1 ? ldpc_prob_from_double(sum) : UINT64_MAX;
    }
    return sum > 1 + 1e-9 || sum < 1 - 1e-9 ? LDPC_EINVAL : LDPC_OK;
}

/* Largest ratio = peak, the others in proportion, at least 1 apart from 0. */
static void scaled_llr(struct ldpc_channel *ch, int peak)
{
    double l[LDPC_REGIONS_MAX], top = 1e-300;
    for (uint32_t i = 0; i < ch->regions / 2; i++) {
        double a = ch->p[i] + 1e-12, b = ch->p[ch->regions - 1 - i] + 1e-12;
        l[i] = a > b ? ldpci_log(a / b) : 0;
        top = l[i] > top ? l[i] : top;
    }
    for (uint32_t i = 0; i < ch->regions / 2; i++) {
        int v = (int)(l[i] / top * peak + 0.5);
        ch->llr[i] = (int8_t)(v < 1 ? 1 : v);
        ch->llr[ch->regions - 1 - i] = (int8_t)-ch->llr[i];
    }
}

int ldpc_channel_set(uint32_t regions, const double *p, const int8_t *llr, int peak,
                     struct ldpc_channel *ret)
{
    struct ldpc_channel ch;
    if (!p || !ret || (!llr && (peak < 1 || peak > LDPC_LLR_MAX)))
        return LDPC_EINVAL;
    int err = from_probabilities(regions, p, &ch);
    if (err)
        return err;
    for (uint32_t i = 0; llr && i < regions; i++)
        if (llr[i] != -llr[regions - 1 - i] || llr[i] == -128)
            return LDPC_EINVAL;
    if (llr)
        memcpy(ch.llr, llr, regions);
    else
        scaled_llr(&ch, peak);
    *ret = ch;
    return LDPC_OK;
}

int ldpc_channel_awgn(double rber, unsigned soft_bits, struct ldpc_channel *ret)
{
    /* Thresholds in units of the signal; values found by simulation on code 4k. */
    static const double at[3][7] = {
        {0}, {0.33, 0, -0.33}, {0.58, 0.32, 0.14, 0, -0.14, -0.32, -0.58}};
    static const int8_t llr[3][8] = {
        {20, -20}, {31, 7, -7, -31}, {28, 15, 8, 2, -2, -8, -15, -28}};
    double p[8], sum = 0;
    if (!ret || soft_bits < 1 || soft_bits > 3 || !(rber > 0 && rber <= 0.5))
        return LDPC_EINVAL;
    double x = rber < 0.5 ? ldpci_qinv(rber) : 0; /* 1 / sigma */
    uint32_t regions = 1u << soft_bits;
    for (uint32_t i = 0; i < regions - 1; i++) {
        double upto = ldpci_q((at[soft_bits - 1][i] - 1) * x);
        p[i] = upto - sum;
        sum = upto;
    }
    p[regions - 1] = 1 - sum;
    return ldpc_channel_set(regions, p, llr[soft_bits - 1], 0, ret);
}

/* Region index of 64 bits as bit planes: the index counts the thresholds that a
 * draw is not below, and nested thresholds make plane b the exclusive-or of
 * every 2^b-th one. */
static void region_planes(const struct ldpc_channel *ch, const uint64_t *below,
                          uint64_t plane[4])
{
    for (uint32_t b = 0; b < 4; b++) {
        plane[b] = 0;
        for (uint32_t i = (1u << b) - 1; i < ch->regions - 1; i += 1u << b)
            plane[b] ^= ~below[i];
    }
}

int ldpc_channel_soft(const struct ldpc_channel *ch, uint64_t seed, uint64_t frame,
                      const uint8_t *bits, uint32_t n, int8_t *ret_llr)
{
    if (!ch || !bits || !ret_llr || ch->regions < 2 || ch->regions > LDPC_REGIONS_MAX)
        return LDPC_EINVAL;
    uint64_t key = frame_key(seed, frame), below[LDPC_REGIONS_MAX], plane[4];
    for (uint32_t v = 0; v < n; v++) {
        if (v % 64 == 0) {
            compare64(key, v / 64, ch->upto, ch->regions - 1, below);
            region_planes(ch, below, plane);
        }
        uint32_t region = (uint32_t)((plane[0] & 1) | (plane[1] & 1) << 1 |
                                     (plane[2] & 1) << 2 | (plane[3] & 1) << 3);
        for (uint32_t b = 0; b < 4; b++)
            plane[b] >>= 1;
        int8_t minus = (int8_t) - (bits[v >> 3] >> (v & 7) & 1);
        ret_llr[v] = (int8_t)((ch->llr[region] ^ minus) - minus); /* negated for a 1 */
    }
    return LDPC_OK;
}
