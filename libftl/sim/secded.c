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

uint32_t secded_crc(const uint8_t *bytes, uint32_t n)
{
    /* x^(4 + k) of each half byte, modulo the polynomial */
    static const uint32_t half[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
        0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
    uint32_t crc = UINT32_MAX;

    for (uint32_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ half[crc & 15];
        crc = crc >> 4 ^ half[crc & 15];
    }
    return ~crc;
}
