/* stats.h - latencies and steady states: the arithmetic of the reports.
 *
 * Latencies are counted in fio's bins, so that percentiles and bins agree with
 * what fio's tools expect: 64 bins for every power of two, exact below 128 ns. */
#ifndef WORKLOAD_STATS_H_
#define WORKLOAD_STATS_H_

#include "workload/jobs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WL_BINS = 29 * 64 };

/* The bin of a latency in ns; longer ones than the last bin stay in it. */
WL_API uint32_t wl_bin_index(uint64_t ns);
/* The value fio prints for a bin: its middle, ns. index < WL_BINS. */
WL_API uint64_t wl_bin_value(uint32_t index);
/* The value of the first bin at which the sum of bins reaches the percentile
 * (millionths of a percent) of all `n` samples; 0 when n is 0. */
WL_API uint64_t wl_percentile(const uint64_t bins[WL_BINS], uint64_t n, uint64_t percentile);

/* Exact sums: order of adding does not matter. */
struct wl_sum {
    uint64_t n, min, max;       /* min and max are 0 while n is 0 */
    uint64_t sum_low, sum_high, squares_low, squares_high;
};
WL_API void wl_sum_add(struct wl_sum *s, uint64_t value);
WL_API double wl_sum_mean(const struct wl_sum *s);      /* 0 without samples */
WL_API double wl_sum_stddev(const struct wl_sum *s);    /* of a sample; 0 below two */

/* ---- steady state ------------------------------------------------------ */
enum wl_verdict { WL_STEADY, WL_RANGE, WL_SLOPE, WL_NO_DATA };
struct wl_steady {
    double mean, range_percent;         /* (max - min) / mean */
    double slope, slope_percent;        /* per round; over the window / mean */
};
/* The rule of the performance test specification for one window of five rounds:
 * range at most 20 % of the mean, the fitted line's excursion at most 10 %.
 * Returns an enum wl_verdict: the first rule broken. ret may be NULL. */
WL_API int wl_steady_pts(const double y[5], struct wl_steady *ret);
/* Least-squares slope per sample; 0 below two samples. */
WL_API double wl_slope(const double *y, uint32_t n);

#ifdef __cplusplus
}
#endif
#endif
