#include "workload/stats.h"

#include <math.h>

#include "stats_inline.h"

uint32_t wl_bin_index(uint64_t ns)
{
    return wl_bin_of(ns);
}

uint64_t wl_bin_value(uint32_t index)
{
    if (index < 2 * WL_BIN_VALUES)
        return index;
    uint32_t dropped = (index >> WL_BIN_BITS) - 1;
    uint64_t base = UINT64_C(1) << (dropped + WL_BIN_BITS);
    uint64_t width = UINT64_C(1) << dropped;
    return base + (index % WL_BIN_VALUES) * width + width / 2;
}

uint64_t wl_percentile(const uint64_t bins[WL_BINS], uint64_t n, uint64_t percentile)
{
    wl_u128 wanted = (wl_u128)n * percentile;
    uint64_t sum = 0;
    if (n == 0)
        return 0;
    for (uint32_t i = 0; i < WL_BINS; i++) {
        sum += bins[i];
        if (sum > 0 && (wl_u128)sum * (100 * WL_PCT) >= wanted)
            return wl_bin_value(i);
    }
    return wl_bin_value(WL_BINS - 1);
}

void wl_sum_add(struct wl_sum *s, uint64_t value)
{
    wl_sum_put(s, value);
}

static double wide(uint64_t high, uint64_t low)
{
    return (double)high * 18446744073709551616.0 + (double)low;
}

double wl_sum_mean(const struct wl_sum *s)
{
    return s->n == 0 ? 0.0 : wide(s->sum_high, s->sum_low) / (double)s->n;
}

/* Squares of deviations from a whole number near the mean stay exact in 128 bits,
 * where sum of squares minus square of sum would lose the small differences. */
double wl_sum_stddev(const struct wl_sum *s)
{
    if (s->n < 2)
        return 0.0;
    wl_u128 sum = (wl_u128)s->sum_high << 64 | s->sum_low;
    wl_u128 squares = (wl_u128)s->squares_high << 64 | s->squares_low;
    wl_u128 middle = sum / s->n;
    /* sum (x - m)^2 = squares - m (2 sum - m n); then shift from m to the true mean */
    wl_u128 around = squares - middle * (2 * sum - middle * s->n);
    double rest = (double)(uint64_t)(sum - middle * s->n);
    double deviations =
        wide((uint64_t)(around >> 64), (uint64_t)around) - rest * rest / (double)s->n;
    return deviations <= 0.0 ? 0.0 : sqrt(deviations / (double)(s->n - 1));
}

double wl_slope(const double *y, uint32_t n)
{
    double mean = 0.0, xy = 0.0, xx = 0.0;
    if (n < 2)
        return 0.0;
    for (uint32_t i = 0; i < n; i++)
        mean += y[i] / (double)n;
    for (uint32_t i = 0; i < n; i++) {
        double x = (double)i - (double)(n - 1) / 2.0;
        xy += x * (y[i] - mean);
        xx += x * x;
    }
    return xy / xx;
}

int wl_steady_pts(const double y[5], struct wl_steady *ret)
{
    /* rounding must not turn a value that lies on a limit into one beyond it */
    const double tolerance = 1.0 + 1e-12;
    struct wl_steady s = {0.0, 0.0, 0.0, 0.0};
    double low = y[0], high = y[0];
    int verdict = WL_NO_DATA;

    for (int i = 0; i < 5; i++) {
        s.mean += y[i] / 5.0;
        low = y[i] < low ? y[i] : low;
        high = y[i] > high ? y[i] : high;
    }
    if (isfinite(s.mean) && s.mean > 0.0) {
        s.slope = wl_slope(y, 5);
        s.range_percent = 100.0 * (high - low) / s.mean;
        s.slope_percent = 100.0 * fabs(s.slope) * 4.0 / s.mean;
        verdict = s.range_percent > 20.0 * tolerance   ? WL_RANGE
                  : s.slope_percent > 10.0 * tolerance ? WL_SLOPE
                                                       : WL_STEADY;
    }
    if (ret != NULL)
        *ret = s;
    return verdict;
}
