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

/* Walks the probabilities up from 0 in chunks whose mean stays below 600, where
 * the first one does not underflow. */
static uint32_t binomial_chunk(uint32_t trials, double rate, double u)
{
    double odds = rate / (1 - rate);
    double term = dm_exp(trials * dm_log1p(-rate));
    uint32_t k = 0;

    while (u >= term && k < trials) {
        u -= term;
        term *= odds * (trials - k) / (k + 1);
        k++;
        if (term < 1e-300 && k > trials * rate)
            break; /* the rest of the tail is below the draw's resolution */
    }
    return k;
}

uint32_t nand_binomial(uint32_t trials, uint64_t rate_q48, uint64_t u)
{
    const uint64_t one = (uint64_t)1 << 48;
    double rate;
    uint32_t total = 0, chunks, left = trials;

    if (rate_q48 == 0 || trials == 0)
        return 0;
    if (rate_q48 >= one)
        return trials;
    if (rate_q48 > one / 2)
        return trials - nand_binomial(trials, one - rate_q48, ~u);
    rate = (double)rate_q48 / (double)one;
    chunks = (uint32_t)(trials * rate / 600) + 1;
    for (uint32_t c = 0; c < chunks; c++) {
        uint32_t part = left / (chunks - c);
        uint64_t draw = chunks == 1 ? u : nand_draw(u, 0, 0, c);
        total += binomial_chunk(part, rate, (double)(draw >> 11) * 0x1p-53);
        left -= part;
    }
    return total;
}
