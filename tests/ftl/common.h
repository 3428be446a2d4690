/* common.h - small drives and random draws for the tests of libftl. */
#ifndef TESTS_FTL_COMMON_H
#define TESTS_FTL_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ftl/ftl.h"
#include "ftl/ftl_media.h"
#include "ftl/ftl_power.h"

struct rand64 {
    uint64_t state;
};
uint64_t draw(struct rand64 *r);
/* [0, bound) */
uint64_t draw_to(struct rand64 *r, uint64_t bound);

/* A set-up from a built-in drive and pairs "key", "value", ..., NULL. */
struct ftl_config make_config(const char *drive, uint64_t scale, ...);
ftl_drive *make_drive(const struct ftl_config *cfg);
/* One command alone on the drive, to its end. */
struct ftl_cpl complete(ftl_drive *d, const struct ftl_cmd *cmd);
/* The same for one that must succeed; returns its latency. */
ftl_ns do_command(ftl_drive *d, uint8_t opcode, uint64_t lba, uint32_t lba_count, void *data);
/* A 4 KiB LBA full of its number and version; version 0 = zeros. */
void stamp(uint8_t *bytes, uint64_t lba, uint64_t version);
/* Writes each 4 KiB LBA with its stamp of version 1, and drains. */
void stamp_all(ftl_drive *d);
/* Reads all of that back. An LBA is what was written or ends in Unrecovered Read Error: how many
 * do. *ret_us, which may be NULL: the mean latency. */
uint64_t read_stamps(ftl_drive *d, double *ret_us);
/* A drive of 256 MB with a journal, whose log wraps often. */
struct ftl_config four_dies(const char *buffer, const char *interval);
/* Eighths of its capacity, in random LBAs. */
ftl_drive *written_at_random(const struct ftl_config *cfg, uint64_t seed, uint64_t eighths);
/* A start's step, of a report or an estimate; NULL = it has none of that name. */
const struct ftl_power_step *find_step(const struct ftl_power_step *steps, uint32_t count, const char *name);
/* Items of a start's step; there must be one of that name. */
uint64_t step_items(const struct ftl_power_report *r, const char *name);
struct ftl_health health_of(const ftl_drive *d);
void assert_sound(const ftl_drive *d);
/* Uniform random 4 KiB writes, untimed, n of them. */
void random_writes(ftl_drive *d, struct rand64 *r, uint64_t n);
void sequential_fill(ftl_drive *d);
/* Keeps `depth` random 4 KiB writes open for n writes; returns IOPS. */
double timed_random_writes(ftl_drive *d, struct rand64 *r, uint32_t depth, uint64_t n);
/* (host + relocated) / host since the last reset. */
double wa_gc(const ftl_drive *d);

#define assert_near(value, want, share)                                                        \
    do {                                                                                       \
        double v_ = (value), w_ = (want);                                                      \
        if (!(v_ >= w_ * (1 - (share)) && v_ <= w_ * (1 + (share))))                           \
            fail_msg("%s = %.6g, want %.6g within %.2g %%", #value, v_, w_, (share) * 100);    \
    } while (0)

#endif
