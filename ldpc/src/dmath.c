/* dmath.c - see dmath.h. */
#include "dmath.h"

#include <stdint.h>
#include <string.h>

static const double LN2_HI = 0x1.62e42fefa3800p-1, LN2_LO = 0x1.ef35793c76730p-45;

static double pow2(int k)
{
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

double ldpci_exp(double x)
{
    if (x < -700)
        return 0;
    if (x > 700)
        x = 700;
    int k = (int)(x / (LN2_HI + LN2_LO) + (x < 0 ? -0.5 : 0.5));
    double r = (x - k * LN2_HI) - k * LN2_LO, sum = 1;
    for (int i = 18; i > 0; i--) /* |r| <= 0.35: the 19th term is below 1e-25 */
        sum = 1 + sum * r / i;
    return sum * pow2(k);
}

double ldpci_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int k = (int)(bits >> 52 & 0x7ff) - 1023;
    bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        k++;
    }
    double s = (m - 1) / (m + 1), s2 = s * s, sum = 0;
    for (int i = 23; i > 0; i -= 2) /* |s| <= 0.172 */
        sum = sum * s2 + 1.0 / i;
    return k * LN2_HI + (2 * s * sum + k * LN2_LO);
}

double ldpci_sqrt(double x)
{
    if (x <= 0)
        return 0;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits >> 1) + 0x1ff8000000000000u; /* halves the exponent */
    double r;
    memcpy(&r, &bits, sizeof r);
    for (int i = 0; i < 6; i++)
        r = 0.5 * (r + x / r);
    return r;
}

double ldpci_q(double x)
{
    if (x < 0)
        return 1 - ldpci_q(-x);
    if (x > 37)
        return 0;
    double phi = 0.3989422804014326779 * ldpci_exp(-0.5 * x * x);
    if (x < 2) { /* odd series: Q = 1/2 - phi (x + x^3/3 + x^5/15 + ...) */
        double term = x, sum = x;
        for (int i = 3; i < 61; i += 2) {
            term *= x * x / i;
            sum += term;
        }
        return 0.5 - phi * sum;
    }
    double f = x; /* continued fraction, evaluated from the far end */
    for (int i = 200; i > 0; i--)
        f = x + i / f;
    return phi / f;
}

double ldpci_qinv(double p)
{
    double lo = -37, hi = 37;
    for (int i = 0; i < 80; i++) {
        double mid = 0.5 * (lo + hi);
        if (ldpci_q(mid) > p)
            lo = mid;
        else
            hi = mid;
    }
    return 0.5 * (lo + hi);
}

double ldpci_pow(double x, double y)
{
    return ldpci_exp(y * ldpci_log(x));
}
