/* replay.c - records of the log into tables; see recover.c. */
#include "core/log.h"
#include "core/recover.h"

void core_learn_life(struct ftl_core *c, uint32_t sb, uint32_t erases)
{
    if (erases <= c->erases[sb])
        return;
    c->erases[sb] = erases;
    c->state[sb] = SB_FREE;
    core_tags_forget(c, sb);
}

void core_replay_table(struct ftl_core *c, const uint8_t *at, uint32_t bytes)
{
    uint32_t first = (uint32_t)core_get(at, 4), n = (uint32_t)core_get(at + 4, 4);

    if (first > c->g.sb_count || n > c->g.sb_count - first || bytes < 8 + 24 * n)
        return;
    at += 8;
    for (uint32_t sb = first; sb < first + n; sb++, at += 24) {
        core_learn_life(c, sb, (uint32_t)core_get(at, 4));
        c->state[sb] = at[4] ? SB_CLOSED : SB_FREE;
        c->sb_class[sb] = core_class_of_tag(c, at[5]);
        c->closed_at[sb] = core_get(at + 8, 8);
        c->closed_at_write[sb] = core_get(at + 16, 8);
    }
}

void core_replay_slice(struct ftl_core *c, const uint8_t *at, uint32_t bytes)
{
    uint32_t first = (uint32_t)core_get(at, 4), n = (uint32_t)core_get(at + 4, 2);
    uint32_t waiting = (uint32_t)core_get(at + 6, 2);
    uint64_t seq = core_get(at + 8, 8);

    if (first == 0 || first > core_keys(c) || n > core_keys(c) - first + 1 ||
        bytes < 16 + 4 * n + 12 * waiting)
        return;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = (uint32_t)core_get(at + 16 + 4 * i, 4);
        c->map[first + i] = slot <= c->g.total_units ? slot : 0;
        c->journal->seqs[first + i] = FTL_PLANT(older_wins, 2) ? 0 : seq;
    }
    for (uint32_t key = first; c->g.pages_on_medium != 0 && key < first + n; key++)
        if (key <= c->user_units)
            c->dftl.base_slot[map_page_of(&c->dftl, key)] = MAP_PAGE_NONE;
    at += 16 + 4 * n;
    for (uint32_t i = 0; i < waiting; i++, at += 12)
        if (core_get(at, 4) < n)
            c->journal->seqs[first + core_get(at, 4)] = core_get(at + 4, 8);
}

uint32_t core_replay_counts(struct ftl_core *c, const uint8_t *at, uint32_t bytes)
{
    uint32_t first = (uint32_t)core_get(at, 4), n = (uint32_t)core_get(at + 4, 4);

    if (bytes < COUNTS_HEAD || first > c->g.sb_count || n > c->g.sb_count - first ||
        bytes - COUNTS_HEAD < 4 * n)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        c->journal->live[first + i] = (uint32_t)core_get(at + COUNTS_HEAD + 4 * i, 4);
    return n;
}

/* Map pages that go as a whole. */
static void trim_pages(struct ftl_core *c, uint64_t key, uint64_t n, uint64_t seq)
{
    const struct dftl *m = &c->dftl;

    for (uint32_t t = 0; t < m->count; t++) {
        uint64_t first = ((uint64_t)t << m->shift) + 1, end = first + (UINT64_C(1) << m->shift);
        end = end <= c->user_units ? end : c->user_units + UINT64_C(1);
        if (key > first || key + n < end || c->journal->seqs[m->first_key + t] >= seq)
            continue;
        c->map[m->first_key + t] = 0;
        c->journal->seqs[m->first_key + t] = seq;
    }
}

void core_replay_trim(struct ftl_core *c, const uint8_t *at)
{
    uint64_t key = core_get(at, 4), n = core_get(at + 4, 4), seq = core_get(at + 8, 8);

    if (c->g.pages_on_medium != 0)
        trim_pages(c, key, n, seq);
    for (; n > 0 && key != 0 && key <= c->user_units; n--, key++)
        if (c->journal->seqs[key] < seq) {
            c->map[key] = 0;
            c->journal->seqs[key] = FTL_PLANT(trim_loses, 1) ? 0 : seq;
        }
}

/* A drive that stopped in order wrote all of its log: what is missing was damaged since. After
 * a sudden loss the last pages may be missing by right, and damage cannot be told from that. */
bool core_log_is_damaged(const struct ftl_core *c, const struct segment_seen *seen,
                         const uint32_t *order, uint32_t count)
{
    const struct segment_seen *last = &seen[order[count - 1]];
    uint64_t end = 0;

    for (uint32_t s = 0; s < c->journal->segments; s++)
        if (seen[s].stopped && seen[s].newest > last->newest)
            return true;                    /* it ran from a checkpoint that is there no more */
    for (uint32_t i = 0; last->stopped && i < count; i++) {
        const struct segment_seen *s = &seen[order[i]];
        if (s->last - s->first + 1 != s->all || (i > 0 && s->first != end + 1))
            return true;                    /* records may precede its checkpoint */
        end = s->last;
    }
    return false;
}

bool core_is_blank(const struct ftl_core *c, uint32_t sb)
{
    for (uint32_t d = 0; d < c->g.dies; d++)
        if (c->rows_programmed[(size_t)sb * c->g.dies + d] != 0 && !FTL_PLANT(reuse_after_cut, 1))
            return false;
    return true;
}

bool core_is_whole(const struct ftl_core *c, uint32_t sb)
{
    for (uint32_t d = 0; d < c->g.dies; d++)
        if (c->rows_programmed[(size_t)sb * c->g.dies + d] != c->g.rows)
            return false;
    return true;
}

/* Do the word lines on NAND and those in the buffer form one written part without a gap? Another
 * loss after a start may have torn what that start had sent again. */
bool core_is_contiguous(const struct ftl_core *c, uint32_t sb)
{
    const struct ftl_geometry *g = &c->g;
    uint32_t slot = sb * g->sb_units + 1;
    bool ended = false;

    for (uint32_t row = 0; row < g->rows; row++)
        for (uint32_t d = 0; d < g->data_dies; d++, slot += g->wl_units) {
            uint32_t die = geometry_data_die(g, row, d);
            bool there = c->rows_programmed[(size_t)sb * g->dies + die] > row;
            bool held = core_payload_sector(c, slot, 0) != NULL;
            if (ended && (there || held))
                return false;
            ended = !there && !(held && core_payload_was_sent(c, slot));
        }
    return true;
}

void core_close_found(struct ftl_core *c, uint32_t sb)
{
    for (uint32_t d = 0; d < c->g.dies; d++)
        c->rows_programmed[(size_t)sb * c->g.dies + d] = c->g.rows;
    if (c->state[sb] != SB_CLOSED) {
        c->closed_at[sb] = ++c->closings;
        c->closed_at_write[sb] = c->host_units;
    }
    c->state[sb] = SB_CLOSED;
    c->in_log += c->g.sb_units;
}

/* Page reads run on all dies and planes; the buses carry what they bring. */
uint64_t core_reads_ns(const struct ftl_core *c, uint64_t pages)
{
    const struct nand_timing *t = c->media->time;
    uint64_t planes = (uint64_t)c->g.dies * c->g.planes;
    uint64_t array = (pages + planes - 1) / planes * (t->tcmd_ns + t->tr_ns[0]);
    uint64_t bus = pages * (t->tcmd_ns + t->tstatus_ns +
                            (uint64_t)c->media->page_bus_bytes * 1000 / t->bus_mts) /
                   c->media->channel_count;
    return array > bus ? array : bus;
}
