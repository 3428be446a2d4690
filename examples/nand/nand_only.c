/* nand_only.c - the NAND model by itself: how worn cells read, and what a read waits for
 * behind an erase, with and without suspending it.
 *
 *   cc nand_only.c $(pkg-config --cflags --libs nand_model) */
#include <stdio.h>
#include <stdlib.h>

#include "nand/cell.h"
#include "nand/nand.h"

static nand_ns issue(nand_dev *dev, nand_ns now, struct nand_req req)
{
    struct nand_res res;
    int err = nand_issue(dev, now, &req, &res);

    if (err) {
        fprintf(stderr, "refused: %s\n", nand_strerror(err));
        exit(1);
    }
    return res.done_at;
}

/* 7,000 cycles, then 90 days at 40 C: errors at the frozen and at the best voltages. */
static int worn_cells(void)
{
    struct nand_cell_use use = NAND_CELL_USE_INIT;
    struct nand_cell_dist dist;
    struct nand_cell_volts frozen, best;
    char why[160];

    use.pe = 7000;
    use.hours = 90 * 24;
    use.celsius = 40;
    if (nand_cell_dist(nand_cell_find("etlc"), &use, &dist, why, sizeof why) != 0) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    nand_cell_default(nand_cell_find("etlc"), &frozen);
    nand_cell_optimum(&dist, &best);
    printf("RBER, 7000 P/E, 90 days at 40 C: %.2e at default, %.2e at best voltages\n",
           nand_cell_mean_rber(&dist, &frozen), nand_cell_mean_rber(&dist, &best));
    return 0;
}

/* A read that arrives 1 ms after an erase began. */
static nand_ns read_latency(nand_dev *dev, nand_ns begin, int suspend)
{
    struct nand_req erase = {.op = NAND_OP_ERASE, .addr = {.block = 1}, .plane_mask = 0x3f};
    struct nand_req read = {.op = NAND_OP_READ, .addr = {.block = 0, .page = 0}};
    struct nand_req pause = {.op = NAND_OP_SUSPEND}, resume = {.op = NAND_OP_RESUME};
    struct nand_req out = {.op = NAND_OP_DATA_OUT, .bytes = 4096};
    nand_ns erased = issue(dev, begin, erase), arrived = begin + 1000000, free_at = erased,
            done;

    if (suspend)
        free_at = issue(dev, arrived, pause);
    done = issue(dev, issue(dev, free_at, read), out);
    if (suspend)
        (void)issue(dev, done, resume);
    return done - arrived;
}

int main(void)
{
    struct nand_profile part = *nand_profile_find("etlc-x3-9070");
    struct nand_options options = {.flags = NAND_WITH_CELLS};
    struct nand_errors errors;
    nand_dev *dev;
    nand_ns month = (nand_ns)30 * 86400 * 1000000000;

    part.geo.channels = part.geo.dies = 1;
    part.geo.blocks_per_plane = 8;
    if (worn_cells() != 0 || nand_create_with(&part, 42, &options, &dev) != 0)
        return 1;
    /* block 0 of every plane: full, 3000 cycles old; then a month on the shelf */
    if (nand_block_set_planes(dev, 0, 0x3f, 0, NULL, 3 * part.geo.wordlines_per_block, 3000) !=
        0)
        return 1;
    nand_ns behind = read_latency(dev, month, 0);
    nand_ns suspended = read_latency(dev, month + 100000000, 1);
    printf("read behind an erase: %.0f us, suspended: %.0f us\n", (double)behind / 1000,
           (double)suspended / 1000);
    for (uint32_t codeword = 0; codeword < nand_codewords(dev); codeword++)
        if (nand_register_errors(dev, 0, 0, codeword, &errors) == 0)
            printf("codeword %u of the page read: %u + %u bit errors in %u bits\n",
                   (unsigned)codeword, (unsigned)errors.zero_to_one,
                   (unsigned)errors.one_to_zero, (unsigned)errors.bits);
    nand_destroy(dev);
    return 0;
}
