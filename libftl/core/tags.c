/* tags.c - what word lines hold, as records of the log: a start that has them need not read the
 * tags on the medium. They are no promise: where one is missing (no buffer was free, a sector was
 * lost) the start reads that word line. */
#include <string.h>

#include "core/log.h"
#include "core/recover.h"

enum { TAGS_HEAD = 24, TAGS_UNIT = 8, TAGS_ATOMIC = 8 };
enum { TAGS_HAVE_ATOMIC = 1 };

static uint32_t tags_bytes(uint32_t units, bool atomic)
{
    return TAGS_HEAD + units * (TAGS_UNIT + (atomic ? TAGS_ATOMIC : 0));
}

uint32_t core_tags_in_sector(const struct ftl_geometry *g)
{
    return JOURNAL_BODY / (RECORD_HEAD + tags_bytes(g->wl_units, false));
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Units are numbered as they are placed, so the first has the least number. false = the numbers
 * lie too far apart for a record. */
static bool is_short(const struct ftl_core *c, uint32_t slot, uint64_t *ret_first, bool *ret_atomic)
{
    struct payload_tag tag;

    *ret_first = 0;
    *ret_atomic = false;
    for (uint32_t i = 0; i < c->g.wl_units && c->payload != NULL; i++) {
        (void)core_payload_there(core_payload_sector(c, slot + i, 0), &tag);
        if (i == 0)
            *ret_first = tag.seq;
        if (tag.seq < *ret_first || tag.seq - *ret_first > UINT32_MAX)
            return false;
        *ret_atomic = *ret_atomic || tag.atomic_count > 1;
    }
    return true;
}

void core_log_tags(struct ftl_core *c, uint32_t sb, uint32_t row, uint32_t die)
{
    uint32_t n = c->g.wl_units, d = geometry_data_die_of(&c->g, row, die);
    uint32_t slot = geometry_first_slot(&c->g, sb, row, d);
    struct payload_tag tag = {.seq = 0};
    uint64_t first;
    bool atomic;

    if (d == UINT32_MAX || !core_journal_room(c) || !is_short(c, slot, &first, &atomic) ||
        RECORD_HEAD + tags_bytes(n, atomic) > JOURNAL_BODY)
        return;
    uint8_t *r = core_log_append(c, JR_TAGS, tags_bytes(n, atomic));
    core_put(r, slot, 4);
    core_put(r + 4, c->erases[sb], 4);
    core_put(r + 8, first, 8);
    core_put(r + 16, n, 2);
    r[18] = c->sb_class[sb];
    r[19] = c->sb_frontier[sb];
    core_put(r + 20, atomic ? TAGS_HAVE_ATOMIC : 0, 4);
    r += TAGS_HEAD;
    for (uint32_t i = 0; i < n; i++, r += TAGS_UNIT) {
        tag.key = c->rmap[slot + i];
        if (c->payload != NULL)
            (void)core_payload_there(core_payload_sector(c, slot + i, 0), &tag);
        core_put(r, tag.key, 4);
        core_put(r + 4, tag.seq - first, 4);
        if (atomic) {
            uint8_t *a = r + (n - i) * TAGS_UNIT + i * TAGS_ATOMIC;
            core_put(a, tag.atomic_first, 2);
            core_put(a + 2, tag.atomic_count, 2);
            core_put(a + 4, tag.atomic_back, 4);
        }
    }
}

/* Word lines of a superblock that is being written, as they are when a checkpoint begins: what is
 * in them, or something newer, its slices name. */
static void add_rows(struct ftl_core *c, uint32_t sb)
{
    uint32_t bytes = ROWS_HEAD + 4 * c->g.dies;

    if (RECORD_HEAD + bytes > JOURNAL_BODY)
        return;
    uint8_t *r = core_log_append(c, JR_ROWS, bytes);
    core_put(r, sb, 4);
    core_put(r + 4, c->erases[sb], 4);
    for (uint32_t d = 0; d < c->g.dies; d++)
        core_put(r + ROWS_HEAD + 4 * d, c->rows_programmed[(size_t)sb * c->g.dies + d], 4);
}

void core_log_add_rows(struct ftl_core *c)
{
    bool added = false;

    while (c->journal->rows_at < c->g.sb_count && !added) {
        uint32_t sb = c->journal->rows_at++;
        added = c->state[sb] == SB_OPEN || c->wl_in_flight[sb] != 0;
        if (added)
            add_rows(c, sb);
    }
}

/* ---- reading ------------------------------------------------------------------------------- */

/* All that was told of a superblock was of a life that is over. */
void core_tags_forget(struct ftl_core *c, uint32_t sb)
{
    struct journal *j = c->journal;

    if (FTL_PLANT(tags_outlive, 1))
        return;
    memset(&c->rows_programmed[(size_t)sb * c->g.dies], 0, c->g.dies * sizeof *c->rows_programmed);
    memset(&j->known[(size_t)sb * c->g.dies], 0, c->g.dies * sizeof *j->known);
    memset(&j->found[(size_t)sb * c->g.sb_units], 0, c->g.sb_units * sizeof *j->found);
}

void core_replay_rows(struct ftl_core *c, const uint8_t *at, uint32_t bytes)
{
    uint32_t sb = (uint32_t)core_get(at, 4);

    if (bytes != ROWS_HEAD + 4 * c->g.dies || sb >= c->g.sb_count)
        return;
    core_learn_life(c, sb, (uint32_t)core_get(at + 4, 4));
    if (c->erases[sb] != core_get(at + 4, 4))
        return;
    for (uint32_t d = 0; d < c->g.dies; d++) {
        uint32_t rows = (uint32_t)core_get(at + ROWS_HEAD + 4 * d, 4);
        size_t k = (size_t)sb * c->g.dies + d;
        c->journal->known[k] = rows <= c->g.rows ? rows : 0;
        if (c->rows_programmed[k] < c->journal->known[k])
            c->rows_programmed[k] = c->journal->known[k];
    }
}

/* Rows of a die are written in order: those before this one are there too, told or to be read. false =
 * this one was known. */
static bool advance_rows(struct ftl_core *c, const struct ftl_place *at)
{
    uint32_t *rows = &c->rows_programmed[(size_t)at->sb * c->g.dies + at->die];

    if (at->row < *rows)
        return false;
    *rows = at->row + 1;
    return true;
}

void core_replay_tags(struct ftl_core *c, const uint8_t *at, uint32_t bytes)
{
    if (bytes < TAGS_HEAD)
        return;
    uint32_t slot = (uint32_t)core_get(at, 4), n = (uint32_t)core_get(at + 16, 2);
    uint64_t first = core_get(at + 8, 8);
    bool atomic = (core_get(at + 20, 4) & TAGS_HAVE_ATOMIC) != 0;
    struct ftl_place place;

    if (n != c->g.wl_units || bytes != tags_bytes(n, atomic) || slot == 0 ||
        slot > c->g.total_units || (slot - 1) % n != 0)
        return;
    geometry_place(&c->g, slot - 1, 0, &place);
    core_learn_life(c, place.sb, (uint32_t)core_get(at + 4, 4));
    if (c->erases[place.sb] != core_get(at + 4, 4) || !advance_rows(c, &place))
        return;
    c->sb_class[place.sb] = core_class_of_tag(c, at[18]);
    c->sb_frontier[place.sb] = at[19];
    at += TAGS_HEAD;
    for (uint32_t i = 0; i < n; i++, at += TAGS_UNIT) {
        struct found_unit u = {.seq = first + core_get(at + 4, 4), .key = (uint32_t)core_get(at, 4),
                               .slot = slot + i, .atomic_count = 1};
        if (atomic) {
            const uint8_t *a = at + (n - i) * TAGS_UNIT + i * TAGS_ATOMIC;
            u.atomic_first = (uint32_t)core_get(a, 2);
            u.atomic_count = (uint32_t)core_get(a + 2, 2);
            u.atomic_back = (uint32_t)core_get(a + 4, 4);
        }
        c->journal->found[slot + i - 1] = u;
    }
}

bool core_tags_known(const struct ftl_core *c, uint32_t slot)
{
    struct ftl_place at;

    geometry_place(&c->g, slot - 1, 0, &at);
    return at.row < c->journal->known[(size_t)at.sb * c->g.dies + at.die];
}
