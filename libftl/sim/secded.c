#include "sim/secded.h"

/* Column of data bit i: the i-th of the 56 bytes of weight 3, then of those of weight 5,
 * both ascending. */
static uint8_t column(uint32_t i)
{
    uint32_t found = 0;

    for (uint32_t weight = 3; weight <= 5; weight += 2)
        for (uint32_t b = 0; b < 256; b++)
            if ((uint32_t)__builtin_popcount(b) == weight && found++ == i)
                return (uint8_t)b;
    return 0;
}

uint8_t secded_check(uint64_t data)
{
    uint8_t check = 0;
    for (; data != 0; data &= data - 1)
        check ^= column((uint32_t)__builtin_ctzll(data));
    return check;
}

enum secded secded_decode(uint64_t *data, uint8_t *check)
{
    uint8_t syndrome = secded_check(*data) ^ *check;

    if (syndrome == 0)
        return SECDED_CLEAN;
    if ((syndrome & (syndrome - 1)) == 0) {
        *check ^= syndrome;
        return SECDED_CORRECTED;
    }
    for (uint32_t i = 0; i < 64; i++)
        if (column(i) == syndrome) {
            *data ^= UINT64_C(1) << i;
            return SECDED_CORRECTED;
        }
    return SECDED_DETECTED;
}
