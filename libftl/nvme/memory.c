/* memory.c - soft errors in the controller's data memory (memory.upset_ppm).
 *
 * Each 4 KiB that a command moves through the memory may be hit once: one bit of a
 * 72-bit word, or two or three of the same word. The code runs on the real bytes where
 * there are some. What it corrects is counted; what it detects, and what it takes for
 * something else and the guard of the data finds, ends the command with an error. */
#include <string.h>

#include "nvme/drive.h"
#include "sim/draw.h"
#include "sim/plant.h"
#include "sim/secded.h"

/* NVMe status fields: Internal Error; End-to-end Guard Check Error. */
enum { STATUS_INTERNAL = 0x006, STATUS_GUARD = 0x282, WORDS = CODEWORD_BYTES / 8 };

static void flip(uint64_t *data, uint8_t *check, uint32_t bit)
{
    if (bit < 64)
        *data ^= UINT64_C(1) << bit;
    else
        *check ^= (uint8_t)(1u << (bit - 64));
}

/* One hit of `flips` bits of the word at `at`; the status it leaves. */
static uint16_t hit(ftl_drive *d, uint8_t *at, uint32_t flips, uint64_t draw)
{
    uint8_t was[8], check;
    uint64_t data;
    uint32_t bit = draw_below(draw, 72), guard = secded_crc(at, 8);

    memcpy(was, at, 8);
    memcpy(&data, at, 8);
    check = secded_check(data);
    for (uint32_t k = 0; k < flips; k++)    /* 31 and 62 further on: never the same bit */
        flip(&data, &check, (bit + 31 * k) % 72);
    enum secded outcome = secded_decode(&data, &check);
    memcpy(at, &data, 8);
    d->count.memory_upsets++;
    if (outcome == SECDED_DETECTED) {
        d->count.memory_detected++;
        memcpy(at, was, 8);                 /* the word is given up, not handed on */
        return STATUS_INTERNAL;
    }
    if (FTL_PLANT(flip_uncorrected, 1))
        at[bit / 8 % 8] ^= 1;
    else if (secded_crc(at, 8) != guard) {
        d->count.memory_guarded++;
        memcpy(at, was, 8);
        return STATUS_GUARD;
    }
    d->count.memory_corrected++;
    return 0;
}

uint16_t memory_pass(ftl_drive *d, uint8_t *bytes, uint64_t n)
{
    uint16_t status = 0;

    for (uint64_t at = 0; at < n; at += CODEWORD_BYTES) {
        uint64_t draw = draw_u64(d->cfg.drive_seed, DRAW_MEMORY, d->memory_passes++);
        uint64_t room = n - at < CODEWORD_BYTES ? n - at : CODEWORD_BYTES;
        if (draw_below(draw, 1000000) >= d->cfg.memory_upset_ppm)
            continue;
        uint8_t any[8];
        uint64_t more = draw_mix(draw);
        uint32_t flips = 1 + (draw_below(draw_mix(more + 1), 1000000) < d->cfg.memory_multi_ppm);
        flips += flips == 2 && draw_below(draw_mix(more + 2), 1000000) < d->cfg.memory_multi_ppm;
        memcpy(any, &more, 8);
        uint8_t *word = bytes == NULL ? any : bytes + at + draw_below(more, (uint32_t)(room / 8)) * 8;
        uint16_t one = hit(d, word, flips, draw_mix(more + 3));
        status = one != 0 ? one : status;
    }
    return status;
}
