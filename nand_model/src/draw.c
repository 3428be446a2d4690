/* draw.c - random values that depend on their arguments alone. */
#include "dmath.h"
#include "nand/cell.h"

/* The finaliser of MurmurHash3 as improved by D. Stafford ("mix13"), the one that
 * SplitMix64 uses: a bijection with full avalanche. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* One round per argument, each behind a different odd constant, so that swapped
 * or neighbouring arguments do not meet. */
uint64_t nand_draw(uint64_t seed, uint64_t purpose, uint64_t address, uint64_t count)
{
    uint64_t x = mix(seed + 0x9e3779b97f4a7c15u);

    x = mix(x ^ (purpose * 0xd1342543de82ef95u + 0x2545f4914f6cdd1du));
    x = mix(x ^ (address * 0xaf251af3b0f025b5u + 0x9e3779b97f4a7c15u));
    return mix(x ^ (count * 0xb564ef22ec7aece5u + 0x6a09e667f3bcc909u));
}

/* ---- binomial by inversion ------------------------------------------------------ */

enum { SMALL_MEAN = 64 };
static const double negligible = 0x1p-90; /* against a draw of 2^-64 */

/* One step of the probabilities: P(k + 1) from P(k) and back. */
struct walk {
    double n, odds, term;
    uint32_t k;
};

static void step_up(struct walk *w)
{
    w->term *= w->odds * (w->n - w->k) / (w->k + 1);
    w->k++;
}

static void step_down(struct walk *w)
{
    w->term *= w->k / (w->odds * (w->n - w->k + 1));
    w->k--;
}

/* Smallest k with u < P(X <= k), adding from below: sharp for small u. */
static uint32_t invert_upwards(struct walk w, double u)
{
    double sum = w.term;

    while (sum <= u && w.k < w.n && w.term > 0) {
        step_up(&w);
        sum += w.term;
    }
    return w.k;
}

/* The same with v = 1 - u, adding P(X > k) from above: sharp for small v. */
static uint32_t invert_downwards(struct walk w, double v)
{
    double sum = w.term;

    while (sum < v && w.k > 0) {
        step_down(&w);
        sum += w.term;
    }
    return w.k;
}

/* ln n!, Stirling's series; the first term left out is below 1e-13 for n >= 16. */
static double ln_factorial(uint32_t n)
{
    double x = n, sum = 0;

    if (n < 16) {
        for (uint32_t i = 2; i <= n; i++)
            sum += nandi_log(i);
        return sum;
    }
    return x * nandi_log(x) - x + 0.5 * nandi_log(6.28318530717958647693 * x) + 1 / (12 * x) -
           1 / (360 * x * x * x) + 1 / (1260 * x * x * x * x * x) -
           1 / (1680 * x * x * x * x * x * x * x);
}

/* Starts at 0 for a small mean, at the most likely value for a large one, where P(0)
 * would underflow. */
static struct walk begin_walk(uint32_t trials, double rate)
{
    struct walk w = {.n = trials, .odds = rate / (1 - rate)};

    if (trials * rate >= SMALL_MEAN)
        w.k = (uint32_t)((trials + 1.0) * rate);
    if (w.k > trials)
        w.k = trials;
    w.term = nandi_exp(ln_factorial(trials) - ln_factorial(w.k) - ln_factorial(trials - w.k) +
                       w.k * nandi_log(rate) + (trials - w.k) * nandi_log1p(-rate));
    return w;
}

static uint32_t binomial(uint32_t trials, double rate, uint64_t u)
{
    struct walk w = begin_walk(trials, rate);

    if (u >> 63) {
        while (w.k < trials && (w.term > negligible || w.k < trials * rate))
            step_up(&w);
        return invert_downwards(w, ((double)~u + 1) * 0x1p-64);
    }
    while (w.k > 0 && w.term > negligible)
        step_down(&w);
    return invert_upwards(w, (double)u * 0x1p-64);
}

uint32_t nand_binomial(uint32_t trials, uint64_t rate_q48, uint64_t u)
{
    const uint64_t one = (uint64_t)1 << 48;

    if (rate_q48 == 0 || trials == 0)
        return 0;
    if (rate_q48 >= one)
        return trials;
    if (rate_q48 > one / 2)
        return trials - binomial(trials, (double)(one - rate_q48) / (double)one, ~u);
    return binomial(trials, (double)rate_q48 / (double)one, u);
}
