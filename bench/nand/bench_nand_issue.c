/* bench_nand_issue.c - timed operations per second of one core, without contents.
 *
 * CPU time of the process, so that a busy machine does not count against it.
 *
 * Three loads on the etlc-x3-9070 profile, one core: random page reads over all
 * planes (READ + DATA_OUT), word-line programs over all dies (DATA_IN x 3 + PROG,
 * six planes each, with the erases they need), and nine reads to one program. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "nand/nand.h"

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void issue(nand_dev *dev, nand_ns *now, const struct nand_req *req, nand_ns *ret_done)
{
    struct nand_res res;
    int err = nand_issue(dev, *now, req, &res);

    if (err) {
        fprintf(stderr, "refused: %s\n", nand_strerror(err));
        exit(1);
    }
    *ret_done = res.done_at;
}

struct load {
    nand_dev *dev;
    const struct nand_profile *prof;
    nand_ns now;
    uint64_t ops, rng;
    uint32_t wordline[64], block[64];
    nand_ns free_at[64];
};

static uint32_t draw(struct load *l, uint32_t n)
{
    l->rng = l->rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((l->rng >> 32) * n >> 32);
}

static void read_page(struct load *l)
{
    struct nand_req req = {.op = NAND_OP_READ, .bytes = 4096};
    nand_ns done;

    req.addr.die = (uint16_t)draw(l, l->prof->geo.dies);
    req.addr.plane = (uint16_t)draw(l, l->prof->geo.planes);
    req.addr.block = l->prof->geo.blocks_per_plane / 2 + draw(l, 64);
    req.addr.page = draw(l, 2784);
    if (l->now < l->free_at[req.addr.die])
        l->now = l->free_at[req.addr.die];
    issue(l->dev, &l->now, &req, &done);
    l->free_at[req.addr.die] = done;
    l->now = done;
    req.op = NAND_OP_DATA_OUT;
    issue(l->dev, &l->now, &req, &done);
    l->ops += 2;
}

static void program_wordline(struct load *l, uint32_t die)
{
    struct nand_req req = {.op = NAND_OP_DATA_IN, .bytes = 18592, .plane_mask = 0x3f};
    nand_ns done;

    if (l->now < l->free_at[die])
        l->now = l->free_at[die];
    req.addr.die = (uint16_t)die;
    req.addr.block = l->block[die];
    if (l->wordline[die] == 0) {
        req.op = NAND_OP_ERASE;
        issue(l->dev, &l->now, &req, &l->now);
        req.op = NAND_OP_DATA_IN;
        l->ops++;
    }
    for (uint32_t type = 0; type < 3; type++) {
        req.addr.page = l->wordline[die] * 3 + type;
        issue(l->dev, &l->now, &req, &done);
    }
    req.op = NAND_OP_PROG;
    issue(l->dev, &l->now, &req, &l->free_at[die]);
    l->ops += 4;
    if (++l->wordline[die] == l->prof->geo.wordlines_per_block) {
        l->wordline[die] = 0;
        l->block[die] = (l->block[die] + 1) % (l->prof->geo.blocks_per_plane / 2);
    }
}

static double run(const char *what, uint32_t reads_in_ten, uint64_t count)
{
    static struct load l;
    double begin, rate;

    l = (struct load){.prof = nand_profile_find("etlc-x3-9070"), .rng = 1};
    if (nand_create(l.prof, 1, &l.dev) != 0)
        exit(1);
    for (uint32_t d = 0; d < l.prof->geo.dies; d++)
        for (uint32_t b = l.prof->geo.blocks_per_plane / 2; b < l.prof->geo.blocks_per_plane;
             b++)
            if (nand_block_set_planes(l.dev, d, 0x3f, b, NULL, 2784, 1) != 0)
                exit(1);
    begin = seconds();
    for (uint64_t i = 0; l.ops < count; i++) {
        if (i % 10 < reads_in_ten)
            read_page(&l);
        else
            program_wordline(&l, (uint32_t)(i / (10 - reads_in_ten)) % l.prof->geo.dies);
    }
    rate = (double)l.ops / (seconds() - begin) / 1e6;
    printf("%-28s %8.1f M operations/s\n", what, rate);
    nand_destroy(l.dev);
    return rate;
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 40000000;

    (void)run("random reads", 10, count);
    (void)run("word-line programs, 6 planes", 0, count);
    (void)run("nine reads to one program", 9, count);
    const struct nand_profile *p = nand_profile_find("etlc-x3-9070");
    double blocks = (double)p->geo.dies * p->geo.planes * p->geo.blocks_per_plane;
    printf("memory: %.1f bytes per block and plane, %.1f MB for %.0f blocks\n",
           (double)nand_memory_needed(p) / blocks, (double)nand_memory_needed(p) / 1e6, blocks);
    return 0;
}
