/* octave.h - tables over many decades: a constant number of steps per octave. */
#ifndef NAND_SRC_OCTAVE_H_
#define NAND_SRC_OCTAVE_H_

#include <stdint.h>

enum { OCTAVE_STEPS = 256 };

/* Entries of a table over 0..2^bits - 1. */
#define OCTAVE_SIZE(bits) (OCTAVE_STEPS * ((bits) - 8) + OCTAVE_STEPS + 2)

/* The argument that entry `index` stands for; exact below 512. */
static inline uint64_t octave_x(uint32_t index)
{
    uint32_t octave = index < 2 * OCTAVE_STEPS ? 0 : (index - OCTAVE_STEPS) / OCTAVE_STEPS;

    return (uint64_t)(index - octave * OCTAVE_STEPS) << octave;
}

/* Straight line between two entries. Neighbours differ by less than 2^47. */
static inline uint64_t octave_lookup(const uint64_t *table, uint32_t bits, uint64_t x)
{
    uint64_t top = (uint64_t)1 << bits, part;
    uint32_t shift, index;
    int64_t step;

    if (x >= top)
        x = top - 1;
    if (x < 2 * OCTAVE_STEPS)
        return table[x];
    shift = 63 - (uint32_t)__builtin_clzll(x) - 8;
    index = OCTAVE_STEPS * shift + (uint32_t)(x >> shift);
    part = x & (((uint64_t)1 << shift) - 1);
    step = (int64_t)(table[index + 1] - table[index]);
    if (shift > 16) { /* 16 bits of fraction are enough and keep the product in range */
        part >>= shift - 16;
        shift = 16;
    }
    return table[index] + (uint64_t)(step * (int64_t)part >> shift);
}

#endif
