/* bench_ftl.c - speed of libftl, each figure beside a yardstick run in this process.
 *
 *   bench_ftl speed [SCALE]      untimed and timed 4K random writes with collection,
 *                                 against a bare array loop of the same size
 *   bench_ftl scales             WA and IOPS at scale 16, 64 and 256 (some minutes)
 *
 * Times are those of the processor. Others on the machine still take its caches away. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ftl/ftl.h"
#include "yardstick.h"

static const char drive_name[] = "uh812a-7.68";

static void die(const char *what)
{
    (void)fprintf(stderr, "bench_ftl: %s\n", what);
    exit(2);
}

static ftl_drive *make(uint64_t scale)
{
    char why[FTL_WHY_MAX] = "";
    struct ftl_config cfg;
    ftl_drive *d = NULL;
    ftl_setup *s = ftl_setup_new();
    if (s == NULL || ftl_setup_load(s, drive_name, why, sizeof why) < 0 ||
        ftl_setup_finish(s, scale, &cfg, why, sizeof why) < 0 ||
        ftl_create(&cfg, &d, why, sizeof why) < 0)
        die(why);
    ftl_setup_free(s);
    return d;
}

static void fill(ftl_drive *d)
{
    for (uint64_t lba = 0, n = ftl_lba_count(d); lba < n; lba += 256) {
        struct ftl_extent e = {.lba = lba, .lba_count = (uint32_t)(n - lba < 256 ? n - lba : 256)};
        if (ftl_write_untimed(d, &e, 1) < 0)
            die("fill");
    }
}

static uint64_t random_lba(uint64_t *seed, uint64_t units)
{
    return ((bench_draw(seed) >> 32) * units >> 32) * 8;
}

/* Host writes per second. */
static double untimed(ftl_drive *d, uint64_t *seed, uint64_t n)
{
    struct ftl_extent e[256];
    uint64_t units = ftl_lba_count(d) / 8;
    double start = bench_seconds();
    for (uint64_t i = 0; i < n; i += 256) {
        for (int k = 0; k < 256; k++)
            e[k] = (struct ftl_extent){.lba = random_lba(seed, units), .lba_count = 8};
        if (ftl_write_untimed(d, e, 256) < 0)
            die("random writes");
    }
    return (double)n / (bench_seconds() - start);
}

static double timed(ftl_drive *d, uint64_t *seed, uint32_t depth, uint64_t n, double *ret_iops)
{
    struct ftl_cpl cpl[64];
    uint64_t units = ftl_lba_count(d) / 8, sent = 0, done = 0;
    ftl_ns from = ftl_now(d);
    double start = bench_seconds();
    while (done < n) {
        for (; sent - done < depth; sent++) {
            struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = random_lba(seed, units),
                                  .lba_count = 8};
            if (ftl_submit(d, &cmd) < 0)
                die("submit");
        }
        if (ftl_run(d, FTL_NEVER) < 0)
            die("run");
        done += ftl_poll(d, cpl, 64);
    }
    *ret_iops = (double)done * 1e9 / (double)(ftl_now(d) - from);
    return (double)done / (bench_seconds() - start);
}

static double wa(const ftl_drive *d)
{
    struct ftl_counters n;
    ftl_counters_get(d, &n);
    return (double)(n.host_bytes + n.gc_bytes) / (double)n.host_bytes;
}

static void drain_and_check(ftl_drive *d)
{
    char why[FTL_WHY_MAX];
    struct ftl_cpl cpl[64];
    while (ftl_open_commands(d) > 0) {
        (void)ftl_run(d, FTL_NEVER);
        (void)ftl_poll(d, cpl, 64);
    }
    if (ftl_drain(d) < 0 || ftl_check(d, why, sizeof why) < 0)
        die(why);
}

static void speed(uint64_t scale)
{
    ftl_drive *d = make(scale);
    struct ftl_status s;
    uint64_t seed = 1;
    double iops, yard_wa;

    ftl_status_get(d, &s);
    double yard = yardstick_run((uint32_t)s.user_units, 3, &yard_wa);
    printf("drive %s, scale %llu: %llu user units, %.1f bytes of memory per 4 KiB\n", drive_name,
           (unsigned long long)scale, (unsigned long long)s.user_units,
           (double)s.memory_bytes / (double)s.user_units);
    printf("yardstick (bare arrays)    %7.2f M writes/s   WA %.3f\n", yard * 1e-6, yard_wa);
    fill(d);
    (void)untimed(d, &seed, s.user_units * 2);
    ftl_counters_reset(d);
    double fast = untimed(d, &seed, s.user_units);
    printf("untimed, with collection   %7.2f M writes/s   WA %.3f   %.2f of the yardstick\n",
           fast * 1e-6, wa(d), fast / yard);
    (void)timed(d, &seed, 256, 1000000, &iops);
    ftl_counters_reset(d);
    double slow = timed(d, &seed, 256, 4000000, &iops);
    printf("timed, QD256, steady       %7.2f M writes/s   WA %.3f   %.2f of the yardstick; "
           "simulated %.1f kIOPS\n",
           slow * 1e-6, wa(d), slow / yard, iops * 1e-3);
    drain_and_check(d);
    ftl_destroy(d);
}

static void scales(void)
{
    static const uint64_t list[] = {16, 64, 256};
    double first_wa = 0, first_iops = 0;
    for (int i = 0; i < 3; i++) {
        ftl_drive *d = make(list[i]);
        uint64_t seed = 1;
        double iops;
        fill(d);
        (void)untimed(d, &seed, ftl_lba_count(d) / 8 * 3);
        (void)timed(d, &seed, 512, 1000000, &iops);
        ftl_counters_reset(d);
        (void)timed(d, &seed, 512, 3000000, &iops);
        if (i == 0) {
            first_wa = wa(d);
            first_iops = iops;
        }
        printf("scale %3llu: WA %.4f (%+.2f %%)   %.1f kIOPS (%+.2f %%)\n",
               (unsigned long long)list[i], wa(d), (wa(d) / first_wa - 1) * 100, iops * 1e-3,
               (iops / first_iops - 1) * 100);
        drain_and_check(d);
        ftl_destroy(d);
    }
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "speed") == 0)
        speed(argc > 2 ? strtoull(argv[2], NULL, 10) : 64);
    else if (argc == 2 && strcmp(argv[1], "scales") == 0)
        scales();
    else
        die("usage: bench_ftl speed [SCALE] | scales");
    return 0;
}
