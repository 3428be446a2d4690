/* mc.c - Monte-Carlo over a range of frames. No state but the counters: frame f
 * is the same experiment whoever runs it. */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "ldpc/channel.h"

enum { PURPOSE_DATA = 0x64617461, PURPOSE_FLIPS = 0x666c6970 };

struct lab {
    const struct ldpc_code *code;
    const struct ldpc_mc *mc;
    void *ws, *ws_mem;
    uint8_t *sent, *seen, *got;
    int8_t *llr;
};

static void lab_free(struct lab *l)
{
    free(l->ws_mem);
    free(l->sent);
    free(l->seen);
    free(l->got);
    free(l->llr);
}

static int lab_init(struct lab *l)
{
    size_t bytes = ldpc_code_bytes(l->code);
    l->ws_mem = malloc(ldpc_workspace_bytes(l->code) + 64);
    l->ws = (void *)(((uintptr_t)l->ws_mem + 63) & ~(uintptr_t)63);
    l->sent = calloc(1, bytes);
    l->seen = malloc(bytes);
    l->got = malloc(bytes);
    l->llr = malloc(l->code->n);
    return l->ws_mem && l->sent && l->seen && l->got && l->llr ? LDPC_OK : LDPC_ENOMEM;
}

/* The word of one frame; parity follows data directly, so k must be whole bytes. */
static int make_word(struct lab *l, uint64_t frame)
{
    size_t bytes = ldpc_data_bytes(l->code);
    if (l->mc->payload == LDPC_WORD_ZERO)
        return LDPC_OK;
    if (!bytes || l->code->m % 8)
        return LDPC_EINVAL;
    uint64_t key = draw64(draw64(l->mc->seed, PURPOSE_DATA), frame);
    uint64_t word = ~0ull;
    for (size_t i = 0; i < bytes; i++, word >>= 8) {
        if (l->mc->payload == LDPC_WORD_RANDOM && i % 8 == 0)
            word = draw64(key, i / 8);
        l->sent[i] = l->mc->payload == LDPC_WORD_ONES ? 0xff : (uint8_t)word;
    }
    return ldpc_encode(l->code, l->ws, l->sent, l->sent + bytes);
}

static uint32_t bin(uint32_t x)
{
    return x < LDPC_MC_BINS ? x : LDPC_MC_BINS - 1;
}

static void count_work(const struct ldpc_info *info, struct ldpc_mc_result *sum)
{
    sum->iterations += info->iterations;
    sum->flip_rounds += info->flip_rounds;
    sum->by_iterations[bin(info->iterations)]++;
    if (info->stage < 2)
        sum->by_flips[bin(info->flip_rounds)]++;
    else if (info->flip_rounds)
        sum->after_flips[bin(info->iterations)]++;
    sum->by_stage[info->stage]++;
}

static int run_frame(struct lab *l, uint64_t frame, struct ldpc_mc_result *sum)
{
    const struct ldpc_channel *ch = l->mc->channel;
    size_t bytes = ldpc_code_bytes(l->code);
    struct ldpc_opts o = l->mc->opts;
    struct ldpc_info info;
    o.seed = draw64(draw64(l->mc->seed, PURPOSE_FLIPS), frame);
    if (ch->regions == 2) {
        memcpy(l->seen, l->sent, bytes);
        /* region 0 = right, so an error is "not below upto[0]" = below its complement */
        ldpc_channel_flip(l->mc->seed, frame, ~ch->upto[0] + 1, l->seen, l->code->n);
        if (!o.hard_llr && ch->llr[0] <= LDPC_LLR_MAX)
            o.hard_llr = (uint8_t)ch->llr[0];
    } else {
        ldpc_channel_soft(ch, l->mc->seed, frame, l->sent, l->code->n, l->llr);
    }
    int err = ch->regions == 2 ? ldpc_decode_hard(l->code, l->ws, l->seen, l->got, &o, &info)
                               : ldpc_decode(l->code, l->ws, l->llr, l->got, &o, &info);
    if (err && err != LDPC_EUNCORR)
        return err;
    bool wrong = memcmp(l->got, l->sent, bytes) != 0;
    sum->frames++;
    sum->frame_errors += wrong;
    sum->undetected += wrong && !err;
    for (size_t i = 0; i < bytes && wrong; i++)
        sum->bit_errors_out += popcount64((uint64_t)(l->got[i] ^ l->sent[i]));
    if (!wrong)
        sum->bit_errors_in += info.flipped_bits;
    count_work(&info, sum);
    return LDPC_OK;
}

int ldpc_mc_run(const ldpc_code *code, const struct ldpc_mc *mc, uint64_t first, uint64_t count,
                struct ldpc_mc_result *sum)
{
    if (!code || !mc || !sum || mc->struct_size != sizeof *mc || !mc->channel ||
        mc->payload > LDPC_WORD_RANDOM || mc->opts.struct_size != sizeof mc->opts)
        return LDPC_EINVAL;
    struct lab l = {.code = code, .mc = mc};
    int err = lab_init(&l);
    if (!err && mc->payload != LDPC_WORD_RANDOM)
        err = make_word(&l, 0);
    for (uint64_t f = first; !err && f < first + count; f++) {
        if (mc->payload == LDPC_WORD_RANDOM)
            err = make_word(&l, f);
        if (!err)
            err = run_frame(&l, f, sum);
    }
    lab_free(&l);
    return err;
}
