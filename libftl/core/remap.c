/* remap.c - a start of a drive that keeps its map on the medium: from which copy of each map page
 * it begins, and which pages the map has moved on from since. Steps of recover.c.
 *
 * The checkpoint has, per page, its place, and the entries themselves where anything was newer.
 * Of a page without entries there the copy that the checkpoint names is the map at that time. When
 * that was erased since, the oldest newer one is: before an erase all units placed until then
 * are on the medium, so this copy and what it names were. Whatever is newer bears a number, and the
 * scan finds it. MAPPING.md has the argument. */
#include <string.h>

#include "core/recover.h"

/* Keys of page t: fewer on the last one. */
static uint32_t entries_of(const struct ftl_core *c, uint32_t t)
{
    uint32_t rest = c->user_units - (t << c->dftl.shift);
    return rest < 1u << c->dftl.shift ? rest : 1u << c->dftl.shift;
}

void core_remap_begin(struct ftl_core *c)
{
    struct dftl *m = &c->dftl;
    uint64_t *seqs = c->journal->seqs;

    for (uint32_t t = 0; t < m->count; t++) {
        if (m->base_slot[t] == MAP_PAGE_NONE)   /* its entries were there */
            continue;
        m->base_slot[t] = c->map[m->first_key + t];
        m->base_seq[t] = c->journal->seqs[m->first_key + t];
        uint32_t key = (t << m->shift) + 1, n = entries_of(c, t);
        for (uint32_t i = 0; i < n; i++)    /* as new as that, whatever it will say */
            if (seqs[key + i] < m->base_seq[t])
                seqs[key + i] = m->base_seq[t];
    }
}

static void take_base(struct dftl *m, uint32_t t, uint32_t slot)
{
    m->base_slot[t] = slot;
    m->pages[t].flags |= MAP_BASE;
}

static bool is_decided(const struct dftl *m, uint32_t t)
{
    return m->base_slot[t] == MAP_PAGE_NONE || (m->pages[t].flags & MAP_BASE) != 0;
}

void core_remap_find(struct ftl_core *c, uint32_t found)
{
    struct dftl *m = &c->dftl;

    for (uint32_t t = 0; t < m->count; t++) {
        uint32_t slot = m->base_slot[t];
        if (slot == MAP_PAGE_NONE)
            continue;
        uint32_t sb = slot != 0 ? geometry_superblock(&c->g, slot - 1) : 0;
        /* no page: there was nothing in it. Else it may lie in a superblock that was not scanned */
        if (slot == 0 || (c->state[sb] == SB_CLOSED && !c->collectable[sb]) ||
            core_tags_known(c, slot))
            take_base(m, t, slot);
    }
    for (uint32_t i = 0; i < found; i++) {
        const struct found_unit *u = &c->journal->found[i];
        if (u->key < m->first_key)
            continue;
        uint32_t t = u->key - m->first_key;
        if (!is_decided(m, t) && (u->slot == m->base_slot[t] || u->seq > m->base_seq[t]))
            take_base(m, t, u->slot);
    }
}

void core_remap_saved(struct ftl_core *c, uint32_t key, uint32_t slot, uint64_t seq)
{
    struct dftl *m = &c->dftl;
    uint32_t t = key - m->first_key;

    if (!is_decided(m, t) && seq > m->base_seq[t])
        take_base(m, t, slot);
}

/* The page at a slot, in the buffer or on the medium; slot 0 has no entries. */
static bool read_page(const struct ftl_core *c, uint32_t t, uint32_t slot, uint32_t *ret)
{
    uint8_t kept[CODEWORD_BYTES + PAYLOAD_TAG_BYTES];
    const uint8_t *sector = slot != 0 ? core_payload_sector(c, slot, 0) : NULL;

    memset(ret, 0, CODEWORD_BYTES);
    if (slot == 0)
        return true;
    if (sector == NULL)
        sector = core_payload_peek(c, slot, 0, c->dftl.first_key + t, kept) ? kept : NULL;
    else if (!core_payload_is(sector, c->dftl.first_key + t))
        sector = NULL;
    if (sector == NULL)
        return false;
    memcpy(ret, sector, CODEWORD_BYTES);
    return true;
}

uint32_t core_remap_read(struct ftl_core *c)
{
    struct dftl *m = &c->dftl;
    uint64_t *seqs = c->journal->seqs;
    uint32_t entries[MAP_PAGE_ENTRIES_MAX], reads = 0;

    for (uint32_t t = 0; t < m->count; t++) {
        uint32_t key = (t << m->shift) + 1, n = entries_of(c, t);
        if (m->base_slot[t] == MAP_PAGE_NONE || !(m->pages[t].flags & MAP_BASE) ||
            !read_page(c, t, m->base_slot[t], entries))
            continue;                   /* what is newer than it is there all the same */
        reads += m->base_slot[t] != 0;
        for (uint32_t i = 0; i < n; i++)
            if (seqs[key + i] <= m->base_seq[t]) {
                c->map[key + i] = entries[i] <= c->g.total_units ? entries[i] : 0;
                seqs[key + i] = m->base_seq[t];
            }
    }
    return reads;
}

void core_remap_compare(struct ftl_core *c)
{
    struct dftl *m = &c->dftl;
    uint32_t there[MAP_PAGE_ENTRIES_MAX], now[MAP_PAGE_ENTRIES_MAX];

    for (uint32_t t = 0; t < m->count; t++) {
        uint32_t *place = &c->map[m->first_key + t], differs = 0, used = 0;
        m->pages[t].flags = 0;
        core_dftl_content(c, t, now);
        for (uint32_t i = 0; i < 1u << m->shift; i++)
            used += now[i] != 0;
        if (used == 0 && *place != 0) {     /* nothing is in it: no page */
            c->valid[geometry_superblock(&c->g, *place - 1)]--;
            *place = 0;
        }
        if (!read_page(c, t, *place, there))
            memset(there, 0xff, sizeof there);
        for (uint32_t i = 0; i < 1u << m->shift; i++)
            differs += now[i] != there[i];
        if (differs != 0)
            core_dftl_differs(c, t, differs);
    }
}
