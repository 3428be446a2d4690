/* limit.c - what no decoder may beat, and exact binomial intervals. */
#include "dmath.h"
#include "ldpc/channel.h"

/* Mean and variance of the information density in bits, uniform input. */
static double density(const struct ldpc_channel *ch, double *ret_variance)
{
    double mean = 0, square = 0;
    for (uint32_t i = 0; i < ch->regions; i++) {
        double p = ch->p[i], q = ch->p[ch->regions - 1 - i];
        if (p <= 1e-300)
            continue;
        double info = ldpci_log(2 * p / (p + q)) / 0.69314718055994530942;
        mean += p * info;
        square += p * info * info;
    }
    *ret_variance = square - mean * mean;
    return mean;
}

double ldpc_limit_capacity(const struct ldpc_channel *ch)
{
    double variance;
    return ch ? density(ch, &variance) : 0;
}

double ldpc_limit_fer(const struct ldpc_channel *ch, uint32_t n, uint32_t k)
{
    double variance;
    if (!ch || !n)
        return 1;
    double c = density(ch, &variance);
    double slack = n * c - k + 0.5 * ldpci_log(n) / 0.69314718055994530942;
    if (variance <= 0)
        return slack < 0;
    double x = slack / ldpci_sqrt(n * variance);
    return x > 37 ? 0 : x < -37 ? 1 : ldpci_q(x);
}

double ldpc_limit_rber(unsigned soft_bits, uint32_t n, uint32_t k, double fer)
{
    double lo = 1e-7, hi = 0.5;
    struct ldpc_channel ch;
    if (!(fer > 0 && fer < 1) || soft_bits < 1 || soft_bits > 3)
        return 0;
    for (int i = 0; i < 60; i++) {
        double mid = 0.5 * (lo + hi);
        if (ldpc_channel_awgn(mid, soft_bits, &ch) || ldpc_limit_fer(&ch, n, k) > fer)
            hi = mid;
        else
            lo = mid;
    }
    return lo;
}

/* log C(n, i) + i log p + (n - i) log q by recurrence from the mode would lose
 * nothing but time; errors are few, so the lower tail is summed from 0. */
static double binomial_upto(uint64_t errors, double frames, double p)
{
    double term = frames * ldpci_log(1 - p), sum = 0; /* log of P(0) */
    for (uint64_t i = 0; i <= errors; i++) {
        sum += ldpci_exp(term);
        term += ldpci_log((frames - (double)i > 0.5 ? frames - (double)i : 1e-300) /
                          ((double)i + 1)) +
                ldpci_log(p / (1 - p));
    }
    return sum;
}

/* p at which P(X <= errors) = tail. */
static double solve(uint64_t errors, double frames, double tail)
{
    double lo = -690, hi = -1e-12; /* log p */
    for (int i = 0; i < 100; i++) {
        double mid = 0.5 * (lo + hi);
        if (binomial_upto(errors, frames, ldpci_exp(mid)) > tail)
            lo = mid;
        else
            hi = mid;
    }
    return ldpci_exp(0.5 * (lo + hi));
}

void ldpc_interval95(uint64_t errors, uint64_t frames, double *ret_low, double *ret_high)
{
    *ret_low = 0;
    *ret_high = 1;
    if (!frames || errors > frames)
        return;
    if (errors > 2000) { /* normal: within 0.1 % of exact here */
        double p = (double)errors / (double)frames;
        double half = 1.959963984540054 * ldpci_sqrt(p * (1 - p) / (double)frames);
        *ret_low = p - half > 0 ? p - half : 0;
        *ret_high = p + half < 1 ? p + half : 1;
        return;
    }
    if (errors < frames)
        *ret_high = solve(errors, (double)frames, 0.025);
    if (errors)
        *ret_low = solve(errors - 1, (double)frames, 0.975);
}
