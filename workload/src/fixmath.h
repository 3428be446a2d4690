/* fixmath.h - logarithm and power of two in integers: the same bits on every machine. */
#ifndef WL_FIXMATH_H_
#define WL_FIXMATH_H_

#include <stdint.h>

/* floor(log2(x) * 2^32), x > 0. Error below 2^-31 of the result's unit bit. */
uint64_t wl_log2_q32(uint64_t x);
/* 2^(x / 2^32) * 2^frac_bits for any x, 0 when too small, UINT64_MAX when it does
 * not fit. Relative error below 2^-28. */
uint64_t wl_exp2_q32(int64_t x, int frac_bits);
/* -ln(u / 2^64) * 2^32 for u > 0: an exponential variate of mean 2^32. */
uint64_t wl_exponential_q32(uint64_t u);

#endif
