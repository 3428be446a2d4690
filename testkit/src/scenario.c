/* scenario.c - tiny drives and the loads to put on them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rig.h"

int tk_tiny(struct ftl_config *ret, char *why, size_t why_size, ...)
{
    static const char *const tiny[][2] = {
        {"drive.name", "tiny"},         {"nand.preset", "tlc-128l"},
        {"nand.channels", "1"},         {"nand.dies", "2"},
        {"nand.planes", "1"},           {"nand.page_bytes", "4096"},
        {"nand.spare_bytes", "600"},    {"nand.wordlines_per_block", "2"},
        {"nand.blocks_per_plane", "16"}, {"ftl.superblocks", "16"},
        {"raid.parity", "0"},           {"drive.lba_bytes", "4096"},
        {"buffer.bytes", "64K"},        {"buffer.gc_bytes", "64K"},
        {"drive.user_bytes", "384K"},   {"media.payload", "1"},
    };
    ftl_setup *s = ftl_setup_new();
    int err = s == NULL ? FTL_ENOMEM : 0;
    va_list args;

    for (size_t i = 0; i < sizeof tiny / sizeof tiny[0] && err == 0; i++)
        err = ftl_setup_set(s, tiny[i][0], tiny[i][1], "tiny", why, why_size);
    va_start(args, why_size);
    for (const char *key; err == 0 && (key = va_arg(args, const char *)) != NULL;)
        err = ftl_setup_set(s, key, va_arg(args, const char *), "case", why, why_size);
    va_end(args);
    if (err == 0)
        err = ftl_setup_finish(s, 1, ret, why, why_size);
    ftl_setup_free(s);
    return err;
}

static uint32_t io_lbas(const struct tk_load *load)
{
    return load->io_lbas == 0 ? 1 : load->io_lbas;
}

/* One write, and a wait after each `depth`. */
static int add_write(struct tk_script *s, const struct tk_load *load, uint64_t i, uint64_t lba,
                     uint16_t stream)
{
    uint64_t left = load->lbas - lba;
    uint32_t n = io_lbas(load) < left ? io_lbas(load) : (uint32_t)left;
    int err = tk_add(s, TK_WRITE, lba, n, stream);
    if (err == 0 && (i + 1) % (load->depth == 0 ? 1 : load->depth) == 0)
        err = tk_add(s, TK_WAIT, 0, 0, 0);
    return err;
}

int tk_add_fill(struct tk_script *s, const struct tk_load *load)
{
    int err = 0;
    for (uint64_t lba = 0, i = 0; err == 0 && lba < load->lbas; lba += io_lbas(load))
        err = add_write(s, load, i++, lba, 0);
    return err == 0 ? tk_add(s, TK_WAIT, 0, 0, 0) : err;
}

/* A random position in [from, to), whole sizes from its begin. */
static uint64_t position(struct tk_rand *r, const struct tk_load *load, uint64_t from,
                         uint64_t to)
{
    uint64_t lba = tk_below(r, to - from);
    return from + lba - lba % io_lbas(load);
}

int tk_add_uniform(struct tk_script *s, const struct tk_load *load, uint64_t ios)
{
    struct tk_rand r = {load->seed};
    int err = 0;
    for (uint64_t i = 0; err == 0 && i < ios; i++)
        err = add_write(s, load, i, position(&r, load, 0, load->lbas), 0);
    return err == 0 ? tk_add(s, TK_WAIT, 0, 0, 0) : err;
}

int tk_add_hot_cold(struct tk_script *s, const struct tk_load *load, uint64_t ios,
                    uint32_t hot_writes, uint32_t hot_space, int streams)
{
    struct tk_rand r = {load->seed};
    uint64_t edge = load->lbas * hot_space / 100;
    int err = 0;
    if (edge == 0 || edge >= load->lbas)
        return FTL_EINVAL;
    for (uint64_t i = 0; err == 0 && i < ios; i++) {
        bool hot = tk_below(&r, 100) < hot_writes;
        uint64_t lba = hot ? position(&r, load, 0, edge) : position(&r, load, edge, load->lbas);
        err = add_write(s, load, i, lba, (uint16_t)(streams == 0 ? 0 : hot ? 2 : 1));
    }
    return err == 0 ? tk_add(s, TK_WAIT, 0, 0, 0) : err;
}

int tk_add_trim_storm(struct tk_script *s, const struct tk_load *load, uint64_t ios)
{
    struct tk_rand r = {load->seed};
    int err = 0;
    for (uint64_t i = 0; err == 0 && i < ios; i++) {
        uint64_t lba = position(&r, load, 0, load->lbas);
        if (tk_below(&r, 2) == 0)
            err = add_write(s, load, i, lba, 0);
        else
            err = tk_add(s, TK_TRIM, lba, (uint32_t)(1 + tk_below(&r, load->lbas / 8 + 1)), 0);
    }
    return err == 0 ? tk_add(s, TK_WAIT, 0, 0, 0) : err;
}

void tk_mix_draw(struct tk_mix *ret, uint64_t seed)
{
    static const uint32_t usual[TK_OPS] = {[TK_WRITE] = 60, [TK_READ] = 40, [TK_TRIM] = 8,
                                           [TK_FLUSH] = 4, [TK_RUN] = 50, [TK_WAIT] = 2,
                                           [TK_DRAIN] = 1, [TK_WRITE_UNTIMED] = 1,
                                           [TK_TRIM_UNTIMED] = 3, [TK_FORMAT] = 1,
                                           [TK_OFF_ON] = 1, [TK_CUT] = 2,
                                           [TK_FAULT] = 4, [TK_MOUNT] = 1};
    struct tk_rand r = {seed};
    *ret = (struct tk_mix){.lbas_max = 96, .run_ns_max = 2000000, .streams = 3};
    for (int op = 0; op < TK_OPS; op++) {
        uint64_t how = tk_below(&r, 6);     /* left out, rare, twice as often, usual */
        ret->weight[op] = usual[op] * (how == 0 ? 0 : how == 1 ? 1 : how == 2 ? 8 : 4);
        if (op == TK_WRITE || op == TK_RUN)
            ret->weight[op] = usual[op] * (how < 2 ? 2 : 4);
    }
}

static int add_drawn(struct tk_script *s, const struct tk_mix *mix, uint64_t lbas,
                     struct tk_rand *r, uint64_t what)
{
    int op = 0;
    while (what >= mix->weight[op])
        what -= mix->weight[op++];
    if (op == TK_RUN)
        return tk_add(s, TK_RUN, tk_below(r, 3) ? 0 : tk_below(r, mix->run_ns_max), 0, 0);
    if (op == TK_FAULT) {           /* blocks fail more often than planes and dies */
        uint32_t kind = (uint32_t)tk_below(r, 12);
        return tk_add(s, TK_FAULT, tk_below(r, 64), kind < 10 ? 1 + kind % 2 : kind - 7,
                      (uint16_t)tk_below(r, 20));
    }
    if (op == TK_CUT || op == TK_MOUNT)
        return tk_add(s, (enum tk_op)op, 1 + tk_below(r, 1000), 0, 0);
    if (op != TK_WRITE && op != TK_READ && op != TK_TRIM && op != TK_WRITE_UNTIMED &&
        op != TK_TRIM_UNTIMED)
        return tk_add(s, (enum tk_op)op, 0, 0, 0);
    uint64_t lba = tk_below(r, lbas), most = lbas - lba;
    most = op != TK_TRIM_UNTIMED && most > mix->lbas_max ? mix->lbas_max : most;
    uint64_t n = 1 + tk_below(r, tk_below(r, 3) ? most : most / 8 + 1);
    uint16_t stream = (uint16_t)(op == TK_WRITE ? tk_below(r, mix->streams + 1) : 0);
    return tk_add(s, (enum tk_op)op, lba, (uint32_t)(n > most ? most : n), stream);
}

int tk_add_random(struct tk_script *s, const struct tk_mix *mix, uint64_t lbas, uint64_t seed,
                  uint64_t steps)
{
    struct tk_rand r = {seed};
    uint64_t sum = 0;
    int err = 0;
    for (int op = 0; op < TK_OPS; op++)
        sum += mix->weight[op];
    if (sum == 0 || lbas == 0)
        return FTL_EINVAL;
    for (uint64_t i = 0; err == 0 && i < steps; i++)
        err = add_drawn(s, mix, lbas, &r, tk_below(&r, sum));
    return err;
}
