/* passes.c - word lines that are programmed twice (NAND_SCHEME_TWO_PASS).
 *
 * On each die the passes of a block go C0 C1 F0 C2 F1 .. C(n-1) F(n-2) F(n-1): a word line
 * gets its fine pass only after its neighbour's coarse one. Until then its units stay in the
 * write buffer, from where they are read and from where the fine pass takes them again. So
 * each open superblock holds back one word line per die, without end if nobody writes.
 *
 * Without time word lines are whole at once. When time starts, the last full one of a die
 * counts as finished, and the coarse pass of the next as made: what nand_block_set() leaves. */
#include "core/core.h"

#include <stdio.h>

static size_t at(const struct ftl_core *c, uint32_t sb, uint32_t die)
{
    return (size_t)sb * c->g.dies + die;
}

uint64_t core_passes_memory(const struct ftl_config *cfg, const struct ftl_geometry *g)
{
    return media_has_two_passes(cfg) ? 8 * (uint64_t)g->sb_count * g->dies : 0;
}

int core_passes_init(struct ftl_core *c)
{
    size_t n = (size_t)c->g.sb_count * c->g.dies;

    if (!media_has_two_passes(c->cfg))
        return 0;
    if (SIM_TAKE(&c->ctx->mem, c->coarse_wl, n) < 0 ||
        SIM_TAKE(&c->ctx->mem, c->coarse_next, n) < 0)
        return FTL_ENOMEM;
    for (size_t i = 0; i < n; i++)
        c->coarse_wl[i] = WL_NONE;
    return 0;
}

void core_passes_open(struct ftl_core *c, uint32_t sb)
{
    for (uint32_t d = 0; d < c->g.dies; d++) {
        FTL_ASSERT(c->ctx, c->coarse_wl[at(c, sb, d)] == WL_NONE);
        c->coarse_next[at(c, sb, d)] = 0;
    }
}

/* A word line is full: its coarse pass, and the fine pass of the one before. */
void core_passes_ready(struct ftl_core *c, uint32_t index)
{
    const struct wordline *wl = &c->wls[index];
    uint32_t *held = &c->coarse_wl[at(c, wl->sb, wl->die)];
    uint32_t *next = &c->coarse_next[at(c, wl->sb, wl->die)];

    FTL_ASSERT(c->ctx, *next == wl->row || *next == wl->row + 1);
    if (*next == wl->row) {
        core_wl_program(c, index, MEDIA_COARSE);
        *next = wl->row + 1;
    }
    if (*held != WL_NONE)
        core_wl_program(c, *held, MEDIA_FINE);
    *held = index;
    if (wl->row + 1 < c->g.rows)
        return;
    core_wl_program(c, index, MEDIA_FINE);
    *held = WL_NONE;
}

/* Going untimed, after all passes have ended: word lines held back are whole. */
void core_passes_settle(struct ftl_core *c)
{
    for (size_t i = 0; i < (size_t)c->g.sb_count * c->g.dies; i++) {
        uint32_t index = c->coarse_wl[i];
        if (index == WL_NONE)
            continue;
        const struct wordline *wl = &c->wls[index];
        c->coarse_wl[i] = WL_NONE;
        if (c->payload != NULL) {
            if (wl->row == 0)       /* its coarse pass alone is no state that can be set */
                media_erase_die_untimed(c->media, wl->die, wl->sb, c->erases[wl->sb]);
            core_payload_put(c, wl->sb, wl->row, wl->die, wl->group);
        }
        core_wl_done(c, index);
    }
}

/* Time starts: `rows` word lines of this die are full. */
void core_passes_sync(struct ftl_core *c, uint32_t sb, uint32_t die, uint32_t rows)
{
    c->coarse_next[at(c, sb, die)] = rows == 0 || rows == c->g.rows ? rows : rows + 1;
}

int core_passes_check(const struct ftl_core *c, char *why, size_t why_size)
{
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++)
        for (uint32_t d = 0; d < c->g.dies; d++) {
            uint32_t index = c->coarse_wl[at(c, sb, d)];
            if (index == WL_NONE)
                continue;
            const struct wordline *wl = &c->wls[index];
            if (wl->seq != 0 && wl->sb == sb && wl->die == d && c->wl_in_flight[sb] != 0 &&
                c->rows_programmed[at(c, sb, d)] <= wl->row &&
                c->coarse_next[at(c, sb, d)] == wl->row + 1)
                continue;
            if (why != NULL)
                (void)snprintf(why, why_size, "superblock %u die %u: word line %u is held back for "
                               "its fine pass, but %u rows are programmed", sb, d, wl->row,
                               c->rows_programmed[at(c, sb, d)]);
            return FTL_ECHECK;
        }
    return 0;
}
