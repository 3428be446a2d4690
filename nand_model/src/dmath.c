#include "dmath.h"

#include <stdint.h>
#include <string.h>

static const double ln2_hi = 6.93147180369123816490e-01; /* low 32 bits zero: k * hi exact */
static const double ln2_lo = 1.90821492927058770002e-10;

static double pow2i(int k)
{
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double d;

    memcpy(&d, &bits, sizeof d);
    return d;
}

double nandi_exp(double x)
{
    double r, term = 1, sum = 1;
    int k;

    if (x < -700)
        return 0;
    if (x > 700)
        x = 700;
    k = (int)(x * 1.44269504088896340736 + (x < 0 ? -0.5 : 0.5));
    r = (x - k * ln2_hi) - k * ln2_lo;
    for (int i = 1; i <= 18; i++) { /* |r| <= 0.347: 0.347^18/18! < 1e-24 */
        term = term * r / i;
        sum += term;
    }
    return k < -1000 ? sum * pow2i(k + 100) * pow2i(-100) : sum * pow2i(k);
}

/* 2 atanh(f) for |f| <= 0.1716, by its series. */
static double log_series(double f)
{
    double square = f * f, power = f, sum = 0;

    for (int i = 1; i <= 25; i += 2) {
        sum += power / i;
        power *= square;
    }
    return 2 * sum;
}

double nandi_log(double x)
{
    uint64_t bits;
    int k;
    double m;

    memcpy(&bits, &x, sizeof bits);
    k = (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.41421356237309504880) {
        m *= 0.5;
        k++;
    }
    return k * ln2_hi + (k * ln2_lo + log_series((m - 1) / (m + 1)));
}

double nandi_log1p(double x)
{
    if (x > -0.25 && x < 0.3)
        return log_series(x / (2 + x));
    return nandi_log(1 + x);
}

double nandi_pow(double x, double y)
{
    if (y == 0)
        return 1;
    return x <= 0 ? 0 : nandi_exp(y * nandi_log(x));
}

double nandi_sqrt(double x)
{
    double y;

    if (x <= 0)
        return 0;
    y = nandi_exp(0.5 * nandi_log(x));
    y = 0.5 * (y + x / y);
    return 0.5 * (y + x / y);
}

double nandi_q(double z)
{
    double phi, sum, term;

    if (z < 0)
        return 1 - nandi_q(-z);
    if (z > 37)
        return 0;
    phi = 0.39894228040143267794 * nandi_exp(-0.5 * z * z);
    if (z < 2) { /* phi * sum z^(2n+1) / (2n+1)!! */
        term = sum = z;
        for (int n = 3; n < 120 && term > sum * 1e-18; n += 2) {
            term = term * z * z / n;
            sum += term;
        }
        return 0.5 - phi * sum;
    }
    /* Mills' ratio as a continued fraction; n terms leave about exp(-2 z sqrt(2 n)) */
    sum = z;
    for (int n = z < 3.5 ? 80 : z < 6 ? 40 : 20; n >= 1; n--)
        sum = z + n / sum;
    return phi / sum;
}

/* Newton from the middle outwards; the tail is convex, so steps never overshoot. */
double nandi_normal_quantile(double p)
{
    double tail = p < 0.5 ? p : 1 - p, z = 0;

    for (int i = 0; i < 60; i++) {
        double density = 0.39894228040143267794 * nandi_exp(-0.5 * z * z);
        double step = (nandi_q(z) - tail) / density;
        z += step;
        if (step < 1e-13)
            break;
    }
    return p < 0.5 ? -z : z;
}
