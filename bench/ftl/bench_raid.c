/* bench_raid.c - a drive of full width loses a die, then a plane of another, under load.
 *
 *   bench_raid [SCALE [DIES [RESTRIPE]]]    uh812a-7.68 at SCALE (64) with DIES (64, or 128 on as
 *                                many channels: a stripe of 127+1); media.restripe (1)
 *
 * 4 KiB random writes and reads, 3 to 1, at queue depth 256, on a filled drive in steady state.
 * Prints per stage write amplification, the virtual time until all of the lost data is
 * elsewhere, and IOPS meanwhile. No read may fail. Everything printed is exact. */
#include <stdio.h>
#include <stdlib.h>

#include "ftl/ftl.h"
#include "ftl/ftl_media.h"
#include "yardstick.h"

enum { DEPTH = 256, BATCH = 20000, BATCHES_MAX = 2000 };

static void die(const char *what)
{
    (void)fprintf(stderr, "bench_raid: %s\n", what);
    exit(2);
}

static ftl_drive *make(uint64_t scale, uint64_t dies, const char *restripe)
{
    char why[FTL_WHY_MAX] = "";
    struct ftl_config cfg;
    ftl_drive *d = NULL;

    ftl_setup *s = ftl_setup_new();
    if (s == NULL || ftl_setup_load(s, "uh812a-7.68", why, sizeof why) < 0 ||
        ftl_setup_set(s, "media.faults", "1", "bench", why, sizeof why) < 0 ||
        ftl_setup_set(s, "media.restripe", restripe, "bench", why, sizeof why) < 0 ||
        ftl_setup_finish(s, scale, &cfg, why, sizeof why) < 0)
        die(why);
    cfg.drive_user_bytes = cfg.drive_user_bytes / 4096 * dies / cfg.nand_dies * 4096;
    cfg.nand_dies = dies;
    if (ftl_create(&cfg, &d, why, sizeof why) < 0)
        die(why);
    ftl_setup_free(s);
    return d;
}

static uint64_t random_lba(const ftl_drive *d, uint64_t *seed)
{
    return ((bench_draw(seed) >> 32) * (ftl_lba_count(d) / 8) >> 32) * 8;
}

static void fill(ftl_drive *d, uint64_t *seed)
{
    uint64_t n = ftl_lba_count(d);

    for (uint64_t lba = 0; lba < n; lba += 256) {
        struct ftl_extent e = {.lba = lba, .lba_count = (uint32_t)(n - lba < 256 ? n - lba : 256)};
        if (ftl_write_untimed(d, &e, 1) < 0)
            die("fill");
    }
    for (uint64_t i = 0; i < 2 * n / 8; i += 64) {
        struct ftl_extent e[64];
        for (int k = 0; k < 64; k++)
            e[k] = (struct ftl_extent){.lba = random_lba(d, seed), .lba_count = 8};
        if (ftl_write_untimed(d, e, 64) < 0)
            die("random writes");
    }
}

/* BATCH commands; returns those that failed. */
static uint64_t load(ftl_drive *d, uint64_t *seed)
{
    struct ftl_cpl cpl[64];
    uint64_t sent = 0, done = 0, failed = 0;

    while (done < BATCH) {
        for (; sent < BATCH && sent - done < DEPTH; sent++) {
            struct ftl_cmd cmd = {.opcode = sent % 4 == 0 ? FTL_READ : FTL_WRITE, .lba_count = 8};
            cmd.lba = random_lba(d, seed);
            if (ftl_submit(d, &cmd) < 0)
                die("submit");
        }
        if (ftl_run(d, FTL_NEVER) < 0)
            die("run");
        uint32_t n = ftl_poll(d, cpl, 64);
        for (uint32_t i = 0; i < n; i++)
            failed += cpl[i].status != 0;
        done += n;
    }
    return failed;
}

/* Load until nothing is left to be moved, at least one batch. */
static void stage(ftl_drive *d, uint64_t *seed, const char *what, const struct ftl_fault *fault)
{
    struct ftl_counters a, b;
    struct ftl_health before, h;
    uint64_t failed = 0, batches = 0;
    ftl_ns from = ftl_now(d);

    ftl_counters_get(d, &a);
    (void)ftl_health_get(d, &before);
    if (fault != NULL && ftl_fault_arm(d, fault) < 0)
        die("fault");
    do {
        failed += load(d, seed);
        (void)ftl_health_get(d, &h);
    } while (++batches < BATCHES_MAX && (h.leaving != 0 || batches < 10));
    ftl_counters_get(d, &b);
    double host = (double)(b.host_bytes - a.host_bytes);
    double all = host + (double)(b.gc_bytes - a.gc_bytes) + (double)(b.retire_bytes - a.retire_bytes) +
                 (double)(b.padding_bytes - a.padding_bytes);
    printf("%-22s WA %.3f   %7.1f kIOPS   rebuilt after %.3f s%s   %.0f MiB moved, %llu pages from "
           "%llu reads   %llu commands failed, %llu units lost\n",
           what, all / host, (double)batches * BATCH * 1e6 / (double)(ftl_now(d) - from),
           (double)(h.care_ns - before.care_ns) / 1e9, h.leaving != 0 ? " (not yet)" : "",
           (double)(b.retire_bytes - a.retire_bytes) / 1048576,
           (unsigned long long)(b.raid_pages - a.raid_pages),
           (unsigned long long)(b.raid_reads - a.raid_reads), (unsigned long long)failed,
           (unsigned long long)h.lost_units);
}

int main(int argc, char **argv)
{
    uint64_t scale = argc > 1 ? strtoull(argv[1], NULL, 10) : 64, seed = 1;
    uint64_t dies = argc > 2 ? strtoull(argv[2], NULL, 10) : 64;
    const struct ftl_fault whole = {.kind = FTL_FAULT_DIE, .die = 3};
    const struct ftl_fault plane = {.kind = FTL_FAULT_PLANE, .die = 9, .plane = 1};
    char why[FTL_WHY_MAX] = "";

    ftl_drive *d = make(scale, dies, argc > 3 ? argv[3] : "1");
    printf("%llu dies, stripe of %llu+1, scale %llu\n", (unsigned long long)dies,
           (unsigned long long)dies - 1, (unsigned long long)scale);
    fill(d, &seed);
    for (int i = 0; i < 50; i++)
        (void)load(d, &seed);
    stage(d, &seed, "whole", NULL);
    stage(d, &seed, "die 3 lost", &whole);
    stage(d, &seed, "then plane 1 of die 9", &plane);
    stage(d, &seed, "after", NULL);
    if (ftl_drain(d) < 0 || ftl_check(d, why, sizeof why) < 0)
        die(why);
    ftl_destroy(d);
    return 0;
}
