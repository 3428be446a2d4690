/* bench_nand_cells.c - cost of depth: error rates by table, bit errors, contents, forks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nand/cell.h"
#include "nand/nand.h"
#include "nand/store.h"

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void check(int err)
{
    if (err) {
        fprintf(stderr, "%s\n", nand_strerror(err));
        exit(1);
    }
}

static nand_ns issue(nand_dev *dev, nand_ns now, struct nand_req req)
{
    struct nand_res res;

    check(nand_issue(dev, now, &req, &res));
    return res.done_at;
}

static void table_queries(const char *cell, uint32_t types)
{
    enum { COUNT = 2000000 };
    struct nand_cell_point point = NAND_CELL_POINT_INIT;
    struct nand_cell_volts volts;
    struct nand_cell_rates rates;
    int32_t q24[NAND_BOUNDS_MAX];
    nand_cell_table *table;
    uint64_t sum = 0;

    check(nand_cell_table_create(nand_cell_find(cell), NAND_LAW_VTH, &table));
    nand_cell_default(nand_cell_find(cell), &volts);
    nand_cell_volts_q24(&volts, q24);
    double begin = seconds();
    for (uint32_t i = 0; i < COUNT; i++) {
        point.pe = i & 4095;
        point.slow_s = point.fast_s = i * (uint64_t)10;
        point.dose_q4 = i;
        nand_cell_table_rates(table, &point, i % types, q24, &rates);
        sum += rates.rber_q48;
    }
    printf("rate of a page by table, %-4s     %8.1f ns   (sum %llu)\n", cell,
           (seconds() - begin) / COUNT * 1e9, (unsigned long long)sum);
    nand_cell_table_destroy(table);
}

static void binomials(double rate)
{
    enum { COUNT = 200000 };
    uint64_t sum = 0;
    double begin = seconds();

    for (uint32_t i = 0; i < COUNT; i++)
        sum += nand_binomial(37184, (uint64_t)(rate * 0x1p48), nand_draw(1, 2, i, 0));
    printf("bit errors of a codeword at %.0e  %8.1f ns   (mean %.2f)\n", rate,
           (seconds() - begin) / COUNT * 1e9, (double)sum / COUNT);
}

static nand_dev *small_device(uint32_t flags, uint32_t blocks)
{
    struct nand_profile p = *nand_profile_find("etlc-x3-9070");
    struct nand_options options = {.flags = flags};
    nand_dev *dev;

    p.geo.channels = p.geo.dies = 1;
    p.geo.planes = 2;
    p.geo.blocks_per_plane = blocks;
    p.geo.wordlines_per_block = 16;
    check(nand_create_with(&p, 1, &options, &dev));
    return dev;
}

static void reads_with_depth(const char *what, uint32_t flags)
{
    enum { COUNT = 200000 };
    nand_dev *dev = small_device(flags, 8);
    struct nand_req read = {.op = NAND_OP_READ}, out = {.op = NAND_OP_DATA_OUT, .bytes = 18592};
    struct nand_req in = {.op = NAND_OP_DATA_IN, .bytes = 18592, .plane_mask = 3};
    struct nand_req prog = {.op = NAND_OP_PROG, .plane_mask = 3};
    static uint8_t page[2 * 18592];
    nand_ns now = 0;

    for (uint32_t i = 0; i < sizeof page; i++)
        page[i] = (uint8_t)nand_draw(3, 4, i, 0);
    if (flags & NAND_WITH_CONTENTS) {
        in.data = page;
        out.data = page;
    }
    for (uint32_t page_number = 0; page_number < 48; page_number++) {
        in.addr.page = prog.addr.page = page_number;
        now = issue(dev, now, in);
        if (page_number % 3 == 2)
            now = issue(dev, now, prog);
    }
    double begin = seconds();
    uint32_t count = flags & NAND_WITH_CONTENTS ? COUNT / 10 : COUNT;
    for (uint32_t i = 0; i < count; i++) {
        read.addr.page = i % 48;
        now = issue(dev, now, read);
        now = issue(dev, now, out);
    }
    printf("%-33s %8.1f ns\n", what, (seconds() - begin) / count * 1e9);
    nand_destroy(dev);
}

static void forks(uint32_t flags, const char *what)
{
    enum { COUNT = 20000 };
    nand_dev *dev = small_device(flags, 8), *copy;
    double begin = seconds();

    for (uint32_t i = 0; i < COUNT; i++) {
        check(nand_fork(dev, &copy));
        nand_destroy(copy);
    }
    printf("fork and destroy, %-15s %8.2f us\n", what, (seconds() - begin) / COUNT * 1e6);
    nand_destroy(dev);
}

int main(void)
{
    const struct nand_profile *p = nand_profile_find("etlc-x3-9070");
    double blocks = (double)p->geo.dies * p->geo.planes * p->geo.blocks_per_plane;

    table_queries("slc", 1);
    table_queries("mlc", 2);
    table_queries("etlc", 3);
    table_queries("qlc", 4);
    binomials(1e-4);
    binomials(1e-3);
    binomials(1e-2);
    reads_with_depth("read + data out, timing only", 0);
    reads_with_depth("read + data out, cells", NAND_WITH_CELLS);
    reads_with_depth("read + data out, contents", NAND_WITH_CONTENTS);
    reads_with_depth("read + data out, cells + contents", NAND_WITH_CELLS | NAND_WITH_CONTENTS);
    forks(0, "timing only");
    forks(NAND_WITH_CELLS | NAND_WITH_CONTENTS, "all depths");
    printf(
        "memory per block and plane: %.1f bytes, with cells %.1f, with contents 8 more and the "
        "pages\n",
        (double)nand_memory_needed(p) / blocks,
        (double)nand_memory_needed_with(p, NAND_WITH_CELLS) / blocks);
    return 0;
}
