#include "media/ecc_decode.h"

#include <stdio.h>
#include <string.h>

#include "ftl/ftl.h"
#include "ldpc/channel.h"
#include "media/media.h"
#include "nand/cell.h"
#include "nand/store.h"
#include "sim/crc.h"
#include "sim/draw.h"
#include "sim/mem.h"

enum { ALIGN = 64, SUM_BYTES = 4, BITS = 8, ITERATIONS = 40 /* of the curves, and the default */ };

static int take_memory(struct media_decoder *d, struct sim_mem *mem)
{
    return SIM_TAKE(mem, d->space, ldpc_workspace_bytes(d->code) + ALIGN) < 0 ||
                   SIM_TAKE(mem, d->word, d->sector_bytes) < 0 ||
                   SIM_TAKE(mem, d->bins, d->sector_bytes * BITS) < 0 ||
                   SIM_TAKE(mem, d->llr, d->sector_bytes * BITS) < 0
               ? FTL_ENOMEM
               : 0;
}

static int refuse(char *why, size_t why_size, const char *rule)
{
    if (why != NULL)
        (void)snprintf(why, why_size, "media.ecc=decoder: %s", rule);
    return FTL_ECONFIG;
}

int media_decoder_init(struct media_decoder *d, const struct nand_profile *part, const char *name,
                       struct sim_mem *mem, char *why, size_t why_size)
{
    if (part->law == NAND_LAW_FAST19)
        return refuse(why, why_size, "the part's cell law (nand.preset) has no voltages for soft reads");
    if (d->code == NULL && ldpc_code_open(name, &d->code) != 0)
        return FTL_ENOMEM;
    d->sector_bytes = (uint32_t)ldpc_code_bytes(d->code);
    d->data_bytes = (uint32_t)ldpc_data_bytes(d->code);
    if (d->data_bytes < MEDIA_SECTOR_BYTES + SUM_BYTES)
        return refuse(why, why_size, "its code words have no room for the tag of a unit and a CRC "
                      "(nand.spare_bytes)");
    struct ldpc_pace pace;
    int err = ldpc_pace_default(d->code, &pace);
    d->start_ns = pace.start_ns;
    d->round_ns = pace.round_ns;
    d->iteration_ns = pace.iteration_ns;
    for (unsigned soft = 2; err == 0 && soft <= 3; soft++) {
        struct ldpc_channel ch;
        err = ldpc_channel_awgn(0.01, soft, &ch);   /* values of the regions: the same at any rate */
        memcpy(d->llr_of[soft - 2], ch.llr, sizeof d->llr_of[0]);
    }
    return err != 0 ? FTL_ECONFIG : take_memory(d, mem);
}

void media_decoder_free(struct media_decoder *d)
{
    ldpc_code_close(d->code);
    d->code = NULL;
}

int media_decoder_fork(struct media_decoder *d, const char *name)
{
    if (d->code == NULL)
        return 0;
    d->code = NULL;
    return ldpc_code_open(name, &d->code) != 0 ? FTL_ENOMEM : 0;
}

static void *workspace(const struct media_decoder *d)
{
    return d->space + (ALIGN - (uintptr_t)d->space % ALIGN) % ALIGN;
}

static uint32_t sum_of(const struct media_decoder *d, const uint8_t *word)
{
    return sim_crc32c(word, d->data_bytes - SUM_BYTES);
}

uint64_t media_decoder_key(uint32_t die, uint32_t plane, uint32_t block, uint32_t page)
{
    return draw_mix(draw_mix((uint64_t)die << 32 | plane) ^ ((uint64_t)block << 32 | page));
}

void media_decoder_stir(const struct media_decoder *d, uint64_t key, uint32_t offset, uint8_t *bytes,
                        uint32_t n)
{
    uint64_t word = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = offset + i;
        if (i == 0 || at % 8 == 0)
            word = draw_mix(key + at / 8);
        if (at % d->sector_bytes < d->data_bytes)
            bytes[i] ^= (uint8_t)(word >> 8 * (at % 8));
    }
}

void media_decoder_seal(const struct media_decoder *d, uint64_t key, uint8_t *page, uint32_t n)
{
    for (uint32_t at = 0; at + d->sector_bytes <= n; at += d->sector_bytes) {
        uint8_t *word = page + at, *end = word + d->data_bytes;
        uint32_t sum = sum_of(d, word);
        for (int i = 1; i <= SUM_BYTES; i++, sum >>= 8)
            end[-i] = (uint8_t)sum;
        media_decoder_stir(d, key, at, word, d->data_bytes);
        (void)ldpc_encode(d->code, workspace(d), word, end);    /* a built-in code has an encoder */
    }
}

/* d->word, plain: is it what was written? */
static bool is_sound(const struct media_decoder *d, const uint8_t *word)
{
    uint32_t sum = sum_of(d, word);
    bool same = true;

    for (int i = 1; i <= SUM_BYTES; i++, sum >>= 8)
        same &= word[d->data_bytes - (uint32_t)i] == (uint8_t)sum;
    return same;
}

/* Are more than 7/16 of the checks of n words violated? Of random words half are; at the row weight
 * of 36 so many stand for 2.8 % of wrong bits, three times what hard decoding bears. */
static bool is_blind(const struct media_decoder *d, uint64_t unsatisfied, uint32_t n)
{
    uint64_t checks = (uint64_t)(d->sector_bytes - d->data_bytes) * BITS * n;
    return unsatisfied * 16 > checks * 7;
}

/* Code word cw of the register into d->word. */
static int decode_word(struct media *m, const struct media_op *op, uint32_t cw,
                       struct ldpc_info *info)
{
    struct media_decoder *d = &m->decoder;
    uint32_t bits = 0;
    int err;

    if (op->soft == 0) {
        err = nand_register_get(m->nand, op->die, op->plane, cw * d->sector_bytes, d->sector_bytes,
                                d->word);
        FTL_ASSERT(m->ctx, err == 0);
        err = ldpc_syndrome_weight(d->code, workspace(d), d->word, &info->syndrome_in);
        FTL_ASSERT(m->ctx, err == 0);
        if (is_blind(d, info->syndrome_in, 1)) {
            info->iterations = ITERATIONS;      /* in vain: not run, but charged */
            return LDPC_EUNCORR;
        }
        return ldpc_decode_hard(d->code, workspace(d), d->word, d->word, NULL, info);
    }
    err = nand_register_soft(m->nand, op->die, op->plane, cw, d->bins, &bits);
    FTL_ASSERT(m->ctx, err == 0 && bits == d->sector_bytes * BITS);
    for (uint32_t i = 0; i < bits; i++)
        d->llr[i] = d->llr_of[op->soft - 2][d->bins[i]];
    return ldpc_decode(d->code, workspace(d), d->llr, d->word, NULL, info);
}

struct media_decoded media_decode(struct media *m, struct media_op *op)
{
    struct media_decoder *d = &m->decoder;
    uint8_t *page = media_page_room(m, op->die, op->plane);
    struct media_decoded ret = {0};
    uint32_t failed = 0;

    for (uint32_t cw = 0; cw < m->page_units; cw++) {
        struct ldpc_info info = {0};
        if (!(op->codewords >> cw & 1))
            continue;
        int err = decode_word(m, op, cw, &info);
        FTL_ASSERT(m->ctx, err == LDPC_OK || err == LDPC_EUNCORR);
        uint32_t ns = d->start_ns + info.flip_rounds * d->round_ns +
                      info.iterations * d->iteration_ns;
        ret.ns = ns > ret.ns ? ns : ret.ns;
        if (err == LDPC_OK)
            media_decoder_stir(d, media_decoder_key(op->die, op->plane, op->block, op->page),
                               cw * d->sector_bytes, d->word, d->sector_bytes);
        if (err == LDPC_OK && !is_sound(d, d->word)) {
            d->miscorrected++;
            err = LDPC_EUNCORR;
        }
        if (err != LDPC_OK) {
            ret.unsatisfied += info.syndrome_in;
            failed++;
            continue;
        }
        memcpy(page + (size_t)cw * d->sector_bytes, d->word, d->sector_bytes);
        op->codewords &= (uint16_t)~(1u << cw);
        d->corrected_bits += info.flipped_bits;
        ret.flipped = info.flipped_bits > ret.flipped ? info.flipped_bits : ret.flipped;
    }
    ret.good = op->codewords == 0;
    ret.blind = failed != 0 && is_blind(d, ret.unsatisfied, failed);
    return ret;
}
