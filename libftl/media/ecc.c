#include "media/ecc.h"

#include <stdio.h>
#include <string.h>

#include "ldpc/ecc.h"
#include "media/media.h"
#include "sim/draw.h"
#include "sim/mem.h"

/* The code whose words have so many bits; NULL = none. */
static const char *code_of(uint32_t bits, struct ldpc_ecc *ret)
{
    static const char *const names[] = {"4k", "etlc", "qlc", "tlc", "mlc"};

    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ldpc_ecc_open(names[i], ret) == 0 && ret->n == bits)
            return names[i];
    return NULL;
}

int media_ecc_init(struct media *m, const struct ftl_config *cfg, struct sim_mem *mem, char *why,
                   size_t why_size)
{
    struct media_ecc *ecc = &m->ecc;
    uint32_t cws = (uint32_t)(cfg->nand_page_bytes / 4096);
    uint32_t bits = (uint32_t)((cfg->nand_page_bytes + cfg->nand_spare_bytes) / cws * 8);
    size_t blocks = (size_t)cfg->ftl_superblocks * cfg->nand_dies;

    if (!cfg->media_ecc)
        return 0;
    if (SIM_TAKE(mem, ecc->curves, 1) < 0 || SIM_TAKE(mem, ecc->level, blocks) < 0 ||
        SIM_TAKE(mem, ecc->reads, blocks * cfg->nand_planes) < 0)
        return FTL_ENOMEM;
    ecc->code = code_of(bits, ecc->curves);
    if (ecc->code == NULL) {
        if (why != NULL)
            (void)snprintf(why, why_size, "media.ecc: no decoder for codewords of %u bits "
                           "(nand.page_bytes, nand.spare_bytes)", bits);
        return FTL_ECONFIG;
    }
    ecc->decode_ns = cfg->fw_decode_ns;
    ecc->refresh_reads = cfg->media_refresh_reads;
    ecc->refresh_retries = cfg->media_refresh_retries;
    ecc->refresh_bits = cfg->media_refresh_bits != 0 ? cfg->media_refresh_bits : UINT64_MAX;
    ecc->seed = cfg->drive_seed;
    return cfg->media_ecc != FTL_MEDIA_ECC_DECODER
               ? 0
               : media_decoder_init(&m->decoder, nand_dev_profile(m->nand), ecc->code, mem, why,
                                    why_size);
}

uint64_t media_ecc_memory(const struct ftl_config *cfg)
{
    return cfg->media_ecc ? sizeof(struct ldpc_ecc) + cfg->ftl_superblocks * cfg->nand_dies *
                                                          (1 + 4 * cfg->nand_planes)
                          : 0;
}

static size_t block_of(const struct media *m, uint32_t sb, uint32_t die, uint32_t plane)
{
    return ((size_t)sb * m->die_count + die) * m->plane_count + plane;
}

void media_ecc_erased(struct media *m, uint32_t sb, uint32_t die)
{
    m->ecc.level[(size_t)sb * m->die_count + die] = 0;
    memset(&m->ecc.reads[block_of(m, sb, die, 0)], 0, m->plane_count * sizeof *m->ecc.reads);
}

/* One draw per codeword serves all steps: what fails a better read has failed the worse. */
static bool fails(const struct media *m, const struct media_op *op, uint32_t cw, uint64_t limit)
{
    uint64_t page = (uint64_t)block_of(m, op->block, op->die, op->plane) << 24 | op->page;
    return draw_u64(m->ecc.seed, DRAW_ECC, page * 16 + cw) < limit;
}

/* Does a hard read give all its codewords? Their wrong bits, and the worst rate. */
static bool hard(const struct media *m, struct media_op *op, uint32_t *ret_errors, uint32_t *ret_ppb)
{
    bool good = true;

    *ret_errors = *ret_ppb = op->wrong = 0;
    for (uint32_t cw = 0; cw < op->units; cw++) {
        struct nand_errors e;
        int err = nand_register_errors(m->nand, op->die, op->plane, cw, &e);
        FTL_ASSERT(m->ctx, err == 0);
        uint32_t wrong = e.zero_to_one + e.one_to_zero;
        uint32_t ppb = (uint32_t)((e.rber_q48 >> 16) * 1000000000 >> 32);
        *ret_errors += wrong;
        op->wrong = (uint16_t)(wrong > op->wrong ? wrong : op->wrong);
        *ret_ppb = ppb > *ret_ppb ? ppb : *ret_ppb;
        good &= !fails(m, op, cw, ldpc_ecc_fail_errors(m->ecc.curves, wrong));
    }
    return good;
}

static bool soft(const struct media *m, const struct media_op *op)
{
    uint64_t limit = ldpc_ecc_fail(m->ecc.curves, op->soft, op->best_ppb);
    bool good = true;

    for (uint32_t cw = 0; cw < op->units; cw++)
        good &= !fails(m, op, cw, limit);
    return good;
}

static void read_again(struct media *m, uint64_t now, uint32_t index, uint32_t ns)
{
    struct media_op *op = &m->ops[index];
    op->attempt++;
    op->step = MEDIA_STEP_AGAIN;
    m->ecc.again++;
    sim_heap_push(m->heap, now + ns, MEDIA_EVENT_KIND, index);
}

static void settle(struct media *m, struct media_op *op, enum ftl_ecc_step step)
{
    struct media_ecc *ecc = &m->ecc;
    uint32_t n = op->attempt < FTL_ECC_ATTEMPTS ? op->attempt : FTL_ECC_ATTEMPTS - 1;
    uint32_t *reads = &ecc->reads[block_of(m, op->block, op->die, op->plane)];

    ecc->steps[step]++;
    ecc->attempts[n]++;
    if (step != FTL_ECC_FAILED)
        ecc->level[(size_t)op->block * m->die_count + op->die] =
            op->soft == 0 ? op->level : op->best_level;
    op->failed = step == FTL_ECC_FAILED;
    /* worth moving before it gets worse: much effort, or much read disturb */
    op->effort = step > FTL_ECC_RETRY || op->wrong >= ecc->refresh_bits ||
                 op->attempt > ecc->refresh_retries ||
                 (ecc->refresh_reads != 0 && ++*reads >= ecc->refresh_reads);
}

/* One attempt: good or not, the badness of its voltages, what the decode took. */
struct attempt {
    uint32_t errors;            /* wrong bits; decoder: checks violated */
    uint32_t ppb;               /* the worst rate; decoder: 1 = errors say something */
    uint32_t ns;
    bool good, blind;           /* blind: errors say nothing, better voltages are far away */
};

static struct attempt attempt(struct media *m, struct media_op *op)
{
    struct attempt a = {0};

    if (m->decoder.code != NULL) {
        struct media_decoded d = media_decode(m, op);
        op->wrong = (uint16_t)(d.flipped > op->wrong ? d.flipped : op->wrong);
        return (struct attempt){.errors = (uint32_t)d.unsatisfied, .ppb = !d.blind,
                                .ns = d.ns, .good = d.good, .blind = d.blind};
    }
    a.ns = m->ecc.curves->soft[op->soft == 3 ? 1 : 0].worst_ns;
    a.good = op->soft == 0 ? hard(m, op, &a.errors, &a.ppb) : soft(m, op);
    return a;
}

/* The read is over. A real decode may have taken longer than what every read is charged. */
static bool finish(struct media *m, uint64_t now, uint32_t index, enum ftl_ecc_step step,
                   uint32_t ns)
{
    struct media_op *op = &m->ops[index];

    settle(m, op, step);
    if (m->decoder.code == NULL || ns <= m->ecc.decode_ns)
        return true;
    op->step = MEDIA_STEP_DECODED;
    sim_heap_push(m->heap, now + ns - m->ecc.decode_ns, MEDIA_EVENT_KIND, index);
    return false;
}

bool media_ecc_judge(struct media *m, uint64_t now, uint32_t index)
{
    enum { LEVEL_MAX = 63, PATIENCE = 3 };
    struct media_op *op = &m->ops[index];
    const struct attempt a = attempt(m, op);

    if (a.good)
        return finish(m, now, index, op->soft != 0 ? FTL_ECC_SOFT2 + op->soft - 2
                                     : op->attempt != 0 ? FTL_ECC_RETRY
                                                        : FTL_ECC_FIRST, a.ns);
    if (op->soft == 3)
        return finish(m, now, index, FTL_ECC_FAILED, a.ns);
    if (op->soft == 0 && (op->attempt == 0 || a.errors < op->best_errors)) {
        op->best_errors = a.errors;
        op->best_ppb = a.ppb;
        op->best_level = op->level;
        op->stale = 0;
    } else if (op->soft == 0 && (!a.blind || op->best_ppb != 0)) {
        op->stale++;
    }
    if (op->soft == 0 && op->stale < PATIENCE && op->level < LEVEL_MAX)
        op->level++;
    else
        op->soft = op->soft == 0 ? 2 : 3;
    read_again(m, now, index, a.ns);
    return false;
}
