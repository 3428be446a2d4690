#include "core/upset.h"

#include <string.h>

#include "core/core.h"
#include "sim/crc.h"
#include "sim/draw.h"
#include "sim/secded.h"

enum { WORD_BITS = 72 };

uint32_t core_upset_pass(struct ftl_core *c, enum ftl_memory memory, uint64_t *ret_draw)
{
    uint64_t pass = c->upset.memory[memory].passes++, ppm = c->cfg->memory_multi_ppm;
    uint64_t draw = draw_u64(c->cfg->drive_seed, DRAW_UPSET, pass * FTL_MEMORIES + memory);
    uint32_t flips = c->upset.memory[memory].flips;

    *ret_draw = draw_mix(draw + 3);
    if (flips != 0 && pass == c->upset.memory[memory].at) {
        c->upset.memory[memory].flips = 0;
        return flips;
    }
    if (draw_below(draw, 1000000) >= c->cfg->memory_upset_ppm)
        return 0;
    flips = 1 + (draw_below(draw_mix(draw + 1), 1000000) < ppm);
    return flips + (flips == 2 && draw_below(draw_mix(draw + 2), 1000000) < ppm);
}

enum upset_outcome core_upset_hit(uint8_t word[8], uint32_t flips, uint64_t draw)
{
    uint64_t data, was;
    uint32_t bit = draw_below(draw, WORD_BITS);

    memcpy(&data, word, 8);
    was = data;
    uint8_t check = secded_check(data);
    for (uint32_t k = 0; k < flips; k++) {  /* 31 and 62 further on: never the same bit */
        uint32_t at = (bit + 31 * k) % WORD_BITS;
        if (at < 64)
            data ^= UINT64_C(1) << at;
        else
            check ^= (uint8_t)(1u << (at - 64));
    }
    enum secded outcome = secded_decode(&data, &check);
    memcpy(word, &data, 8);
    return outcome == SECDED_DETECTED ? UPSET_SEEN : data == was ? UPSET_MENDED : UPSET_MISTAKEN;
}

/* Data that is beyond correction goes on with its guard, which is wrong from now on: whoever reads
 * it is told. Tags, filler and map pages have words of their own; they are not hit here. */
void core_upset_word_line(struct ftl_core *c, const struct frontier *f)
{
    uint32_t first = f->wl_end - c->g.wl_units, n = c->g.wl_units << c->g.cw_shift;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = first + (i >> c->g.cw_shift), key = c->rmap[slot];
        uint64_t draw;
        if (key == 0 || key > c->user_units || c->map[key] != slot)
            continue;
        uint32_t flips = core_upset_pass(c, FTL_MEMORY_BUFFER, &draw);
        if (flips == 0)
            continue;
        uint8_t *sector = core_payload_sector(c, slot, i & (c->g.unit_cws - 1));
        c->count->buffer_upsets++;
        switch (core_upset_hit(sector + draw_below(draw_mix(draw), CODEWORD_BYTES / 8) * 8, flips, draw)) {
        case UPSET_MENDED: c->count->buffer_corrected++; break;
        case UPSET_SEEN: c->count->buffer_detected++, c->upset.damaged++; break;
        case UPSET_MISTAKEN: c->count->buffer_mistaken++, c->upset.damaged++; break;
        }
    }
}

/* Two of the 32-bit numbers of a table are one word; its CRC is kept apart and finds what SECDED
 * mistakes. True: they are what they were. */
static bool believe(uint32_t *pair, uint32_t flips, uint64_t draw, uint64_t *mended, uint64_t *detected)
{
    uint32_t guard = sim_crc32c((const uint8_t *)pair, 8);
    enum upset_outcome outcome = core_upset_hit((uint8_t *)pair, flips, draw);
    bool good = outcome != UPSET_SEEN && sim_crc32c((const uint8_t *)pair, 8) == guard;

    *(good ? mended : detected) += 1;
    return good;
}

bool core_upset_map(struct ftl_core *c, uint32_t key)
{
    uint64_t draw;
    uint32_t flips = core_upset_pass(c, FTL_MEMORY_MAP, &draw), copy[2];

    if (flips == 0)
        return true;
    uint32_t first = key < c->user_units ? key : key - 1;
    memcpy(copy, &c->map[first], sizeof copy);
    c->count->map_upsets++;
    return believe(copy, flips, draw, &c->count->map_corrected, &c->count->map_detected);
}

void core_upset_table(struct ftl_core *c)
{
    uint64_t draw;
    uint32_t flips = core_upset_pass(c, FTL_MEMORY_TABLE, &draw);

    if (flips == 0)
        return;
    uint32_t sb = draw_below(draw_mix(draw), c->g.sb_count - 1);
    c->count->table_upsets++;
    if (believe(&c->valid[sb], flips, draw, &c->count->table_corrected, &c->count->table_detected))
        return;
    for (uint32_t i = 0; i < 2; i++, sb++)
        c->valid[sb] = core_live(c, sb * c->g.sb_units + 1, c->g.sb_units);
}

int core_upset_arm(struct ftl_core *c, const struct ftl_fault *f)
{
    if (f->memory >= FTL_MEMORIES || f->flips < 1 || f->flips > 3 || f->after > UINT64_MAX / 2 ||
        (f->memory == FTL_MEMORY_BUFFER && c->payload == NULL) || c->journal != NULL)
        return FTL_EINVAL;
    if (c->upset.memory[f->memory].flips != 0)
        return FTL_EAGAIN;
    c->upset.memory[f->memory].flips = f->flips;
    c->upset.memory[f->memory].at = c->upset.memory[f->memory].passes + f->after;
    c->upset.on = true;
    return 0;
}
