/* yardstick.c - how fast could page mapping with collection be at best?
 *
 * A bare array loop: map, reverse map, valid counts, greedy victims, uniform random
 * writes, batches of 32 with prefetch, huge pages. No time, no cause, no check. */
#define _DEFAULT_SOURCE
#include "yardstick.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { BLOCKS = 512, BATCH = 32 };

static uint32_t *map, *rmap, valid[BLOCKS], pages, open_block, next;
static uint8_t is_free[BLOCKS];
static uint64_t moved;

double bench_seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *take(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        exit(1);
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

uint64_t bench_draw(uint64_t *s)
{
    uint64_t x = (*s += UINT64_C(0x9e3779b97f4a7c15));
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static void open_next(void)
{
    for (uint32_t b = 0; b < BLOCKS; b++)
        if (is_free[b]) {
            is_free[b] = 0;
            open_block = b;
            next = b * pages;
            return;
        }
    exit(1);
}

static uint32_t place(uint32_t lpn)
{
    if (next == (open_block + 1) * pages)
        open_next();
    rmap[next] = lpn;
    valid[open_block]++;
    return next++;
}

static void collect(void)
{
    uint32_t victim = 0, least = UINT32_MAX;
    for (uint32_t b = 0; b < BLOCKS; b++)
        if (!is_free[b] && b != open_block && valid[b] < least) {
            least = valid[b];
            victim = b;
        }
    uint32_t s = victim * pages, end = s + pages;
    for (; s < end; s++) {
        __builtin_prefetch(&map[rmap[s + BATCH < end ? s + BATCH : s]], 1);
        uint32_t lpn = rmap[s];
        if (map[lpn] == s) {
            map[lpn] = place(lpn);
            moved++;
        }
    }
    valid[victim] = 0;
    is_free[victim] = 1;
}

static uint32_t free_blocks(void)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < BLOCKS; b++)
        n += is_free[b];
    return n;
}

static void write_one(uint32_t lpn)
{
    if (next == (open_block + 1) * pages)
        while (free_blocks() < 2)
            collect();
    valid[map[lpn] / pages]--;
    map[lpn] = place(lpn);
}

double yardstick_run(uint32_t user, double drive_writes, double *ret_wa)
{
    pages = (uint32_t)((double)user * 1.138 / BLOCKS);
    map = take((size_t)user * 4);
    rmap = take((size_t)pages * BLOCKS * 4);
    for (uint32_t b = 1; b < BLOCKS; b++)
        is_free[b] = 1;
    for (uint32_t i = 0; i < user; i++)
        map[i] = place(i);
    uint64_t n = (uint64_t)((double)user * drive_writes) / BATCH * BATCH, seed = 1, timed = 0;
    double start = 0;
    for (uint64_t i = 0; i < n; i += BATCH) {
        uint32_t lpns[BATCH];
        if (i == n / 2 / BATCH * BATCH) {
            start = bench_seconds();
            timed = n - i;
            moved = 0;
        }
        for (int k = 0; k < BATCH; k++) {
            lpns[k] = (uint32_t)(((bench_draw(&seed) >> 32) * user) >> 32);
            __builtin_prefetch(&map[lpns[k]], 1);
        }
        for (int k = 0; k < BATCH; k++)
            write_one(lpns[k]);
    }
    double t = bench_seconds() - start;
    *ret_wa = 1 + (double)moved / (double)timed;
    (void)munmap(map, (size_t)user * 4);
    (void)munmap(rmap, (size_t)pages * BLOCKS * 4);
    return (double)timed / t;
}
