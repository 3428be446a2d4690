#ifndef BENCH_FTL_YARDSTICK_H
#define BENCH_FTL_YARDSTICK_H
#include <stdint.h>
/* Host writes per second over the last half of `drive_writes` random drive writes on
 * `user` pages; call once per process. */
double yardstick_run(uint32_t user, double drive_writes, double *ret_wa);
double bench_seconds(void);
uint64_t bench_draw(uint64_t *state);
#endif
