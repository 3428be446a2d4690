/* bench_policy.c - untimed random writes with greedy collection; see policy_cost.py.
 *
 *   bench_policy DRIVE SCALE WRITES      prints ns per write, WA and a hash of the state
 *
 * Built twice: bench_policy with the policy interface, bench_policy_direct with plain calls. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ftl/ftl.h"
#include "yardstick.h"

static int write_batch(ftl_drive *d, uint64_t *seed, uint32_t per, uint64_t units)
{
    struct ftl_extent e[256];
    for (int k = 0; k < 256; k++)
        e[k] = (struct ftl_extent){.lba = ((bench_draw(seed) >> 32) * units >> 32) * per,
                                   .lba_count = per};
    return ftl_write_untimed(d, e, 256);
}

/* Apart, and not inlined: policy_cost.py has callgrind count what happens in here. */
__attribute__((noinline)) static int measured(ftl_drive *d, uint64_t *seed, uint32_t per,
                                              uint64_t units, uint64_t writes)
{
    int err = 0;
    for (uint64_t i = 0; i < writes && err == 0; i += 256)
        err = write_batch(d, seed, per, units);
    return err;
}

int main(int argc, char **argv)
{
    char why[FTL_WHY_MAX] = "usage: bench_policy DRIVE SCALE WRITES";
    ftl_setup *s = ftl_setup_new();
    struct ftl_config cfg;
    struct ftl_counters n;
    ftl_drive *d = NULL;
    uint64_t seed = 1;
    if (argc != 4 || s == NULL || ftl_setup_load(s, argv[1], why, sizeof why) < 0 ||
        ftl_setup_finish(s, strtoull(argv[2], NULL, 10), &cfg, why, sizeof why) < 0 ||
        ftl_create(&cfg, &d, why, sizeof why) < 0) {
        (void)fprintf(stderr, "bench_policy: %s\n", why);
        return 2;
    }
    uint64_t writes = strtoull(argv[3], NULL, 10) / 256 * 256, lbas = ftl_lba_count(d);
    uint32_t per = 4096 / ftl_lba_bytes(d);
    int err = 0;
    for (uint64_t lba = 0; lba < lbas && err == 0; lba += 256) {
        struct ftl_extent e = {.lba = lba, .lba_count = lbas - lba < 256 ? (uint32_t)(lbas - lba) : 256};
        err = ftl_write_untimed(d, &e, 1);
    }
    for (uint64_t i = 0; i < lbas / per && err == 0; i += 256)
        err = write_batch(d, &seed, per, lbas / per);
    ftl_counters_reset(d);
    clock_t start = clock();            /* of the processor: other programs run too */
    if (err == 0)
        err = measured(d, &seed, per, lbas / per, writes);
    double ns = (double)(clock() - start) * 1e9 / CLOCKS_PER_SEC / (double)writes;
    ftl_counters_get(d, &n);
    printf("%.3f ns, WA %.4f, %016llx\n", ns,
           (double)(n.host_bytes + n.gc_bytes) / (double)n.host_bytes,
           (unsigned long long)ftl_state_hash(d));
    ftl_destroy(d);
    ftl_setup_free(s);
    return err == 0 ? 0 : 1;
}
