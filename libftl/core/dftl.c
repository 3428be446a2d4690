/* dftl.c - the demand-cached map: cache of map pages, write-back, relocated entries. */
#include <string.h>

#include "core/core.h"

/* ---- life ------------------------------------------------------------------------- */

int core_dftl_init(struct ftl_core *c)
{
    struct dftl *m = &c->dftl;

    m->shift = c->g.map_page_shift;
    m->count = c->g.map_pages;
    m->first_key = c->user_units + 1;
    m->limit = c->g.cache_pages;
    m->on = true;
    m->on_medium = c->g.pages_on_medium != 0;
    m->moved_limit = c->g.sb_units > 4 * c->g.group_units ? c->g.sb_units : 4 * c->g.group_units;
    if (SIM_TAKE(&c->ctx->mem, m->pages, m->count) < 0 ||
        SIM_TAKE(&c->ctx->mem, m->offered, c->g.sb_count) < 0)
        return FTL_ENOMEM;
    if (c->cfg->journal_enabled && c->cfg->media_payload &&
        (SIM_TAKE(&c->ctx->mem, m->base_slot, m->count) < 0 ||
         SIM_TAKE(&c->ctx->mem, m->base_seq, m->count) < 0))
        return FTL_ENOMEM;
    core_dftl_forget(c);
    return 0;
}

uint64_t core_dftl_memory(const struct ftl_geometry *g)
{
    return g->cache_pages == 0 ? 0 : (uint64_t)g->map_pages * sizeof(struct map_page) + g->sb_count;
}

/* After a format: nothing is cached, nothing on the medium. */
void core_dftl_forget(struct ftl_core *c)
{
    struct dftl *m = &c->dftl;
    if (!m->on)
        return;
    for (uint32_t t = 0; t < m->count; t++)
        m->pages[t] = (struct map_page){.waiting = UINT32_MAX, .read_sb = MAP_PAGE_NONE};
    m->newest = m->oldest = m->loaded = m->loaded_last = m->pinned = MAP_PAGE_NONE;
    m->moved_first = m->moved_last = MAP_PAGE_NONE;
    m->used = m->moved_pages = m->flushing = 0;
    m->moved = 0;
}

/* ---- order of use -------------------------------------------------------------------- */

static void unlink_page(struct dftl *m, uint32_t t)
{
    struct map_page *p = &m->pages[t];
    if (p->newer != MAP_PAGE_NONE)
        m->pages[p->newer].older = p->older;
    else
        m->newest = p->older;
    if (p->older != MAP_PAGE_NONE)
        m->pages[p->older].newer = p->newer;
    else
        m->oldest = p->newer;
}

static void link_newest(struct dftl *m, uint32_t t)
{
    struct map_page *p = &m->pages[t];
    p->newer = MAP_PAGE_NONE;
    p->older = m->newest;
    if (m->newest != MAP_PAGE_NONE)
        m->pages[m->newest].newer = t;
    else
        m->oldest = t;
    m->newest = t;
}

static inline void touch(struct dftl *m, uint32_t t)
{
    if (m->newest == t)
        return;
    unlink_page(m, t);
    link_newest(m, t);
}

/* ---- entries changed by relocation ----------------------------------------------------- */

/* So many entries of page t are newer than on the medium. */
static void add_moved(struct dftl *m, uint32_t t, uint32_t entries)
{
    struct map_page *p = &m->pages[t];

    m->moved += entries;
    p->moved += entries;
    if (p->moved != entries)
        return;
    p->next_moved = MAP_PAGE_NONE;
    p->last_moved = m->moved_last;
    if (m->moved_first == MAP_PAGE_NONE)
        m->moved_first = t;
    else
        m->pages[m->moved_last].next_moved = t;
    m->moved_last = t;
    m->moved_pages++;
}

void core_dftl_moved(struct ftl_core *c, uint32_t key)
{
    struct dftl *m = &c->dftl;
    if (key >= m->first_key)
        return;                     /* a map page itself: its place is in the directory */
    if (FTL_PLANT(map_page_unmoved, 20))
        return;
    uint32_t t = map_page_of(m, key);
    struct map_page *p = &m->pages[t];
    if (p->flags & MAP_CACHED) {
        p->flags |= MAP_DIRTY;
        return;
    }
    add_moved(m, t, 1);
}
/* The page takes in its relocated entries; false = it misses none. */
static bool merge_moved(struct dftl *m, uint32_t t)
{
    struct map_page *p = &m->pages[t];
    if (p->moved == 0)
        return false;
    m->moved -= p->moved;
    p->moved = 0;
    m->moved_pages--;
    if (p->last_moved != MAP_PAGE_NONE)
        m->pages[p->last_moved].next_moved = p->next_moved;
    else
        m->moved_first = p->next_moved;
    if (p->next_moved != MAP_PAGE_NONE)
        m->pages[p->next_moved].last_moved = p->last_moved;
    else
        m->moved_last = p->last_moved;
    return true;
}

/* ---- pages to the medium ----------------------------------------------------------------- */

static void place_page(struct ftl_core *c, uint32_t t, enum cause cause)
{
    uint32_t entries[MAP_PAGE_ENTRIES_MAX];
    const uint8_t *bytes = NULL;

    if (c->payload != NULL) {
        core_dftl_content(c, t, entries);
        bytes = (const uint8_t *)entries;
    }
    if (c->timed)
        c->dispatch_at = core_write_path(c, c->cfg->fw_write_unit_ns);
    core_place_map_page(c, c->dftl.first_key + t, cause, bytes);
    c->count->translation_writes++;
}

void core_dftl_content(const struct ftl_core *c, uint32_t t, uint32_t *ret)
{
    uint32_t first = (t << c->dftl.shift) + 1, n = c->user_units - first + 1;
    n = n < 1u << c->dftl.shift ? n : 1u << c->dftl.shift;
    memcpy(ret, &c->map[first], n * sizeof *ret);
    memset(ret + n, 0, (MAP_PAGE_ENTRIES_MAX - n) * sizeof *ret);
}

/* May a page be written back for the host now? */
static bool write_back_fits(const struct ftl_core *c)
{
    if (core_host_room(c, c->classes) == 0)
        return false;
    return !c->timed || (c->buffer_used < c->buffer_limit && c->wl_free_count > c->wl_reserve &&
                         media_ops_free(c->media) > c->wl_reserve);
}

static bool is_pinned(const struct dftl *m, uint32_t t)
{
    return t != MAP_PAGE_NONE && t >= m->pinned && t <= m->pinned_last;
}

/* Makes room in the cache; false when the page to go cannot be written now. */
static bool evict_one(struct ftl_core *c)
{
    struct dftl *m = &c->dftl;
    uint32_t t = m->oldest;

    while (is_pinned(m, t))
        t = m->pages[t].newer;
    if (t == MAP_PAGE_NONE)
        return false;
    struct map_page *p = &m->pages[t];
    if ((p->flags & MAP_DIRTY) && !FTL_PLANT(map_page_clean, 10)) {
        if (!write_back_fits(c))
            return false;
        place_page(c, t, CAUSE_HOST);
        c->count->map_evictions_dirty++;
    } else {
        c->count->map_evictions_clean++;
    }
    unlink_page(m, t);
    p->flags &= (uint8_t)~(MAP_CACHED | MAP_DIRTY);
    m->used--;
    return true;
}

static void install(struct ftl_core *c, uint32_t t)
{
    struct dftl *m = &c->dftl;
    struct map_page *p = &m->pages[t];
    p->flags = (p->flags & MAP_SLICED) | MAP_CACHED | (merge_moved(m, t) ? MAP_DIRTY : 0);
    link_newest(m, t);
    m->used++;
}

/* ---- a page is needed --------------------------------------------------------------------- */

bool core_dftl_look(struct ftl_core *c, uint32_t t)
{
    struct dftl *m = &c->dftl;
    if ((m->pages[t].flags & MAP_CACHED) == 0)
        return false;
    touch(m, t);
    return true;
}

void core_dftl_changed(struct ftl_core *c, uint32_t t)
{
    FTL_ASSERT(c->ctx, c->dftl.pages[t].flags & MAP_CACHED);
    c->dftl.pages[t].flags |= MAP_DIRTY;
}

int core_dftl_use_untimed(struct ftl_core *c, uint32_t t, bool counted)
{
    struct dftl *m = &c->dftl;

    if (core_dftl_look(c, t)) {
        c->count->map_cache_hits += counted;
        return 0;
    }
    c->count->map_cache_misses++;
    c->count->translation_reads += c->map[m->first_key + t] != 0;
    while (m->used >= m->limit && !evict_one(c)) {
        int err = core_gc_make_room(c, c->classes, 1);
        if (err < 0)
            return err;
    }
    install(c, t);
    return 0;
}

static void loaded(struct dftl *m, uint32_t t)
{
    struct map_page *p = &m->pages[t];
    p->flags |= MAP_LOADING;
    p->newer = MAP_PAGE_NONE;
    if (m->loaded == MAP_PAGE_NONE)
        m->loaded = t;
    else
        m->pages[m->loaded_last].newer = t;
    m->loaded_last = t;
}

/* Reads page t, unless it needs no read: never written, or still in the write buffer. */
static bool read_page(struct ftl_core *c, uint32_t t, enum media_kind kind, uint32_t ref)
{
    uint32_t slot = c->map[c->dftl.first_key + t];
    struct ftl_place at;

    if (slot == 0)
        return false;
    c->count->translation_reads++;
    geometry_place(&c->g, slot - 1, 0, &at);
    if (core_in_buffer(c, &at))
        return false;
    c->dftl.pages[t].read_sb = at.sb;
    c->reads_in_flight[at.sb]++;
    media_read(c->media, c->ctx->now, kind, at.die, at.plane, at.sb,
               at.row * c->g.page_types + at.page_type, 1, ref);
    return true;
}

void core_dftl_load(struct ftl_core *c, uint32_t t, uint32_t ref)
{
    struct map_page *p = &c->dftl.pages[t];

    p->flags |= MAP_WANTED;
    if (p->flags & (MAP_LOADING | MAP_FLUSHING))
        return;
    p->flags |= MAP_LOADING;
    if (!read_page(c, t, MEDIA_HOST_READ, ref))
        loaded(&c->dftl, t);
}

static void read_ended(struct ftl_core *c, uint32_t t)
{
    struct map_page *p = &c->dftl.pages[t];
    c->reads_in_flight[p->read_sb]--;
    p->read_sb = MAP_PAGE_NONE;
}

void core_dftl_load_done(struct ftl_core *c, uint32_t t)
{
    read_ended(c, t);
    loaded(&c->dftl, t);
}

uint32_t core_dftl_settle(struct ftl_core *c)
{
    struct dftl *m = &c->dftl;
    uint32_t t = m->loaded;

    if (t == MAP_PAGE_NONE || (m->used >= m->limit && !evict_one(c)))
        return MAP_PAGE_NONE;
    m->loaded = m->pages[t].newer;
    install(c, t);
    return t;
}

/* All entries of a page are gone: so is the page. */
static void drop(struct ftl_core *c, uint32_t t)
{
    struct dftl *m = &c->dftl;
    struct map_page *p = &m->pages[t];
    uint32_t slot = c->map[m->first_key + t];

    /* one on its way is cached when it comes, as an empty page */
    (void)merge_moved(m, t);
    if (p->flags & MAP_CACHED) {
        unlink_page(m, t);
        p->flags &= (uint8_t)~(MAP_CACHED | MAP_DIRTY);
        m->used--;
        if (is_pinned(m, t))
            m->pinned = MAP_PAGE_NONE;
    }
    if (slot != 0) {
        c->map[m->first_key + t] = 0;
        c->valid[geometry_superblock(&c->g, slot - 1)]--;
    }
}

int core_dftl_unmap_untimed(struct ftl_core *c, uint64_t lpn, uint64_t n)
{
    while (n > 0) {
        uint32_t key = (uint32_t)lpn + 1, t = map_page_of(&c->dftl, key);
        uint32_t k = core_dftl_part(c, key, n);
        if (!core_dftl_is_whole(c, key, k)) {
            int err = core_dftl_use_untimed(c, t, true);
            if (err < 0)
                return err;
        }
        core_dftl_unmap(c, key, k);
        lpn += k;
        n -= k;
    }
    return 0;
}

/* Of n units from key on, those in its page. */
uint32_t core_dftl_part(const struct ftl_core *c, uint32_t key, uint64_t n)
{
    uint32_t rest = map_page_rest(&c->dftl, key);
    return n < rest ? (uint32_t)n : rest;
}

bool core_dftl_is_whole(const struct ftl_core *c, uint32_t key, uint32_t n)
{
    return ((key - 1) & ((1u << c->dftl.shift) - 1)) == 0 &&
           (n == 1u << c->dftl.shift || key + n > c->user_units);
}

void core_dftl_unmap(struct ftl_core *c, uint32_t key, uint32_t n)
{
    uint32_t t = map_page_of(&c->dftl, key);
    core_unmap(c, key - 1, n);
    if (core_dftl_is_whole(c, key, n))
        drop(c, t);
    else
        core_dftl_changed(c, t);
}

/* ---- relocated entries to the medium -------------------------------------------------------- */

static void flush_page(struct ftl_core *c, uint32_t t)
{
    (void)merge_moved(&c->dftl, t);
    place_page(c, t, CAUSE_GC);
}

void core_dftl_flush_untimed(struct ftl_core *c)
{
    struct dftl *m = &c->dftl;
    while (m->moved > m->moved_limit / 2) {
        uint32_t t = m->moved_first;
        c->count->translation_reads += c->map[m->first_key + t] != 0;
        flush_page(c, t);
    }
}

/* The first page with relocated entries that is not being read. */
static uint32_t next_to_flush(const struct dftl *m)
{
    uint32_t t = m->moved_first;
    while (t != MAP_PAGE_NONE &&
           (m->pages[t].read_sb != MAP_PAGE_NONE || (m->pages[t].flags & MAP_FLUSHING)))
        t = m->pages[t].next_moved;
    return t;
}

bool core_dftl_flush(struct ftl_core *c, uint32_t ref_base)
{
    struct dftl *m = &c->dftl;
    bool any = false;

    while (m->moved > m->moved_limit / 2 && m->flushing < MAP_FLUSH_WINDOW &&
           c->gc.buffer_used < c->gc.buffer_limit && c->wl_free_count > c->wl_reserve &&
           media_ops_free(c->media) > c->wl_reserve) {
        uint32_t t = next_to_flush(m);
        if (t == MAP_PAGE_NONE)
            break;
        any = true;
        c->gc.buffer_used++;
        /* read for the host, but what has to leave the cache for it waits for collection,
         * which must not wait for the host */
        if (m->pages[t].flags & MAP_LOADING) {
            flush_page(c, t);
            continue;
        }
        m->flushing++;
        m->pages[t].flags |= MAP_FLUSHING;
        if (!read_page(c, t, MEDIA_GC_READ, ref_base + t))
            core_dftl_flush_done(c, t);
    }
    return any;
}

void core_dftl_flush_done(struct ftl_core *c, uint32_t t)
{
    struct dftl *m = &c->dftl;
    struct map_page *p = &m->pages[t];

    if (p->read_sb != MAP_PAGE_NONE)
        read_ended(c, t);
    p->flags &= (uint8_t)~MAP_FLUSHING;
    m->flushing--;
    if ((p->flags & MAP_WANTED) || p->moved == 0) { /* the cache takes it; or it was trimmed */
        c->gc.buffer_used--;
        if (p->flags & MAP_WANTED)
            loaded(m, t);
        return;
    }
    flush_page(c, t);
}

/* ---- the journal ------------------------------------------------------------------------------ */

static bool waits(const struct ftl_core *c, uint32_t slot)
{
    uint32_t sb = slot != 0 ? geometry_superblock(&c->g, slot - 1) : 0;
    return slot != 0 && c->payload != NULL &&
           (c->state[sb] == SB_OPEN || c->wl_in_flight[sb] != 0) &&
           core_payload_sector(c, slot, 0) != NULL;
}

bool core_dftl_is_at_rest(const struct ftl_core *c, uint32_t t)
{
    const struct dftl *m = &c->dftl;
    uint32_t entries[MAP_PAGE_ENTRIES_MAX];

    if ((m->pages[t].flags & MAP_DIRTY) || m->pages[t].moved != 0 ||
        waits(c, c->map[m->first_key + t]))
        return false;
    core_dftl_content(c, t, entries);
    for (uint32_t i = 0; i < 1u << m->shift; i++)
        if (waits(c, entries[i]))
            return false;
    return true;
}

void core_dftl_differs(struct ftl_core *c, uint32_t t, uint32_t entries)
{
    struct dftl *m = &c->dftl;

    if (m->used == m->limit) {
        add_moved(m, t, entries);
        return;
    }
    install(c, t);
    m->pages[t].flags |= MAP_DIRTY;
}

/* ---- what collection may choose ------------------------------------------------------------------ */

/* A superblock below the floor, because relocation wrote map pages? */
bool core_dftl_owes(const struct ftl_core *c)
{
    return core_free_slots(c) + c->g.sb_units < c->free_floor;
}

/* What the policy may choose from when map pages are on the medium (MAPPING.md). They are
 * rewritten so often that a superblock of them is worth waiting for until nearly all of it
 * is dead. But a superblock below the floor, because relocation wrote map pages, theirs
 * come first: they repay it at once and write no map page themselves. */
const uint8_t *core_dftl_choice(struct ftl_core *c)
{
    const bool owing = core_dftl_owes(c);
    bool gain = false;

    if (c->map_frontier == SB_NONE)
        return c->collectable;
    for (uint32_t i = 0; i < c->g.sb_count; i++) {
        bool is_map = c->sb_class[i] == c->classes;
        bool take = owing ? is_map && c->valid[i] < c->g.sb_units
                          : !is_map || c->valid[i] <= c->g.sb_units / MAP_LIVE_SHARE;
        c->dftl.offered[i] = c->collectable[i] && take;
        gain = gain || (c->dftl.offered[i] && c->valid[i] < c->g.sb_units);
    }
    return gain ? c->dftl.offered : c->collectable;
}

/* ---- what must hold -------------------------------------------------------------------------- */

const char *core_dftl_check(const struct ftl_core *c)
{
    const struct dftl *m = &c->dftl;
    uint32_t entries[MAP_PAGE_ENTRIES_MAX], bytes[MAP_PAGE_ENTRIES_MAX];
    uint64_t moved = 0;
    uint32_t cached = 0, listed = 0, pages = 0;

    for (uint32_t t = m->newest, k = 0; t != MAP_PAGE_NONE && k <= m->count; t = m->pages[t].older, k++)
        listed += (m->pages[t].flags & MAP_CACHED) != 0;
    for (uint32_t t = 0; t < m->count; t++) {
        const struct map_page *p = &m->pages[t];
        cached += (p->flags & MAP_CACHED) != 0;
        moved += p->moved;
        pages += p->moved != 0;
        if ((p->flags & MAP_CACHED) != 0 && p->moved != 0)
            return "a cached map page misses relocated entries";
        if (c->payload == NULL || !m->on_medium || (p->flags & MAP_DIRTY) || p->moved != 0)
            continue;
        (void)core_payload_read(c, m->first_key + t, (uint8_t *)bytes);
        core_dftl_content(c, t, entries);
        if (memcmp(bytes, entries, sizeof bytes) != 0)
            return "a map page on the medium is not the map, and nothing newer is in DRAM";
    }
    if (cached != m->used || listed != m->used || m->used > m->limit)
        return "the map cache has lost count of its pages";
    if (moved != m->moved || pages != m->moved_pages)
        return "relocated map entries are miscounted";
    return NULL;
}
