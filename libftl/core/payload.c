/* payload.c - user bytes: in the write buffer's cells until programmed, then on NAND. */
#include "core/payload.h"
#include "sim/crc.h"
#include "sim/hash.h"

#include <stdlib.h>
#include <string.h>

#include "core/core.h"

/* ---- bytes of a tag ---------------------------------------------------------------- */

enum { TAG_VERSION = 3, TAG_SUMMED = 28 };
_Static_assert(MEDIA_SECTOR_BYTES == CODEWORD_BYTES + PAYLOAD_TAG_BYTES, "what a code word must carry");

/* The guard of 4 KiB, taken where they enter the drive and carried along from then on: relocation
 * takes it from the old tag, so that data that was damaged on its way never gets a good one. */
static uint32_t guard_of(const uint8_t *bytes)
{
    return sim_crc32c(bytes, CODEWORD_BYTES);
}

static uint32_t tag_sum(const uint8_t *t)
{
    return (uint32_t)XXH3_64bits(t, TAG_SUMMED);
}

static void write_tag(uint8_t *sector, const struct payload_tag *tag, uint32_t guard)
{
    uint8_t *t = sector + CODEWORD_BYTES;
    core_put(t, tag->seq, 8);
    core_put(t + 8, tag->key, 4);
    core_put(t + 12, tag->erases, 4);
    core_put(t + 16, tag->atomic_first, 2);
    core_put(t + 18, tag->atomic_count, 2);
    core_put(t + 20, tag->atomic_back, 4);
    t[24] = tag->class;
    t[25] = (uint8_t)(tag->frontier << 4 | tag->cause);
    core_put(t + 26, TAG_VERSION, 2);
    core_put(t + 28, guard ^ tag_sum(t), 4);
}

void core_payload_tag_of(const uint8_t *t, struct payload_tag *ret)
{
    *ret = (struct payload_tag){.seq = core_get(t, 8), .key = (uint32_t)core_get(t + 8, 4),
                                .erases = (uint32_t)core_get(t + 12, 4),
                                .atomic_first = (uint32_t)core_get(t + 16, 2),
                                .atomic_count = (uint32_t)core_get(t + 18, 2),
                                .atomic_back = (uint32_t)core_get(t + 20, 4), .class = t[24],
                                .cause = t[25] & 15, .frontier = t[25] >> 4};
}

bool core_payload_tag(const uint8_t *sector, struct payload_tag *ret)
{
    const uint8_t *t = sector + CODEWORD_BYTES;
    if (core_get(t + 26, 2) != TAG_VERSION ||
        core_get(t + 28, 4) != (guard_of(sector) ^ tag_sum(t)))
        return false;
    core_payload_tag_of(t, ret);
    return true;
}

bool core_payload_there(const uint8_t *sector, struct payload_tag *ret)
{
    core_payload_tag_of(sector + CODEWORD_BYTES, ret);
    return core_get(sector + CODEWORD_BYTES + 26, 2) == TAG_VERSION;
}

/* ---- groups -------------------------------------------------------------------------- */

static uint32_t page_bytes(const struct ftl_config *cfg)
{
    return (uint32_t)(cfg->nand_page_bytes + cfg->nand_spare_bytes);
}

static uint32_t group_limit(const struct ftl_config *cfg, uint32_t wordlines)
{
    uint32_t open = (uint32_t)geometry_frontiers(cfg);
    return wordlines + open * (1 + (uint32_t)cfg->raid_parity);
}

uint64_t core_payload_memory(const struct ftl_config *cfg, const struct ftl_geometry *g,
                             uint32_t wordlines)
{
    uint64_t planes = (uint64_t)g->dies * g->planes, count = group_limit(cfg, wordlines);
    uint64_t word_line = (uint64_t)g->planes * g->page_types * page_bytes(cfg);
    return count * (4 * (uint64_t)g->wl_units + 1) + count * (word_line + 4 * sizeof(int32_t)) +
           planes * page_bytes(cfg) + FRONTIERS_MAX * (1 + PAYLOAD_PARITY_MAX) * sizeof(int32_t);
}

int core_payload_init(struct ftl_core *c, uint32_t wordlines)
{
    struct sim_mem *mem = &c->ctx->mem;
    struct payload *p = c->payload = &c->kept;
    p->page_bytes = page_bytes(c->cfg);
    p->page_cws = c->g.page_cws;
    p->sector_bytes = p->page_bytes / p->page_cws;
    p->wl_bytes = p->page_bytes * c->g.planes * c->g.page_types;
    p->count = group_limit(c->cfg, wordlines);
    p->bucket_mask = 1;
    while (p->bucket_mask < p->count)
        p->bucket_mask *= 2;
    size_t units = (size_t)p->count * c->g.wl_units;
    if (SIM_TAKE_PARTS(mem, p->bytes, (size_t)p->count * p->wl_bytes + core_journal_bytes(c)) < 0 ||
        SIM_TAKE(mem, p->prev, units) < 0 || SIM_TAKE(mem, p->sent, p->count) < 0 ||
        SIM_TAKE(mem, p->wl, p->count) < 0 || SIM_TAKE(mem, p->next, p->count) < 0 ||
        SIM_TAKE(mem, p->bucket, p->bucket_mask) < 0 ||
        SIM_TAKE(mem, p->open, FRONTIERS_MAX) < 0 ||
        SIM_TAKE(mem, p->parity, FRONTIERS_MAX * PAYLOAD_PARITY_MAX) < 0)
        return FTL_ENOMEM;
    p->bucket_mask--;
    core_payload_forget(c);
    return 0;
}

/* All of the buffer is empty. */
void core_payload_forget(struct ftl_core *c)
{
    struct payload *p = c->payload;
    if (p == NULL)
        return;
    for (uint32_t i = 0; i < p->count; i++)
        p->next[i] = i + 1 < p->count ? (int32_t)i + 1 : GROUP_NONE;
    p->free_head = 0;
    for (uint32_t i = 0; i <= p->bucket_mask; i++)
        p->bucket[i] = GROUP_NONE;
    for (uint32_t i = 0; i < FRONTIERS_MAX; i++)
        p->open[i] = GROUP_NONE;
    for (uint32_t i = 0; i < FRONTIERS_MAX * PAYLOAD_PARITY_MAX; i++)
        p->parity[i] = GROUP_NONE;
}

void core_payload_parts(const struct ftl_core *c, void *user,
                        void (*fn)(void *user, uint64_t at, size_t bytes, bool used))
{
    const struct payload *p = c->payload;
    const uint64_t groups = (uint64_t)p->count * p->wl_bytes;
    int32_t free_group = (int32_t)p->free_head;
    uint8_t *is_free = calloc(p->count, 1);     /* lack of memory: all count as in use */

    for (; is_free != NULL && free_group != GROUP_NONE; free_group = p->next[free_group])
        is_free[free_group] = 1;
    for (uint32_t g = 0; g < p->count; g++)
        fn(user, (uint64_t)g * p->wl_bytes, p->wl_bytes, is_free == NULL || !is_free[g]);
    free(is_free);
    size_t buffer = (size_t)(core_journal_bytes(c) / JOURNAL_BUFFERS);
    for (int32_t i = 0; i < JOURNAL_BUFFERS && buffer != 0; i++)
        fn(user, groups + (size_t)i * buffer, buffer, c->log.in_flight[i] || c->log.open == i);
}

static int32_t group_take(struct ftl_core *c)
{
    struct payload *p = c->payload;
    FTL_ASSERT(c->ctx, (int32_t)p->free_head != GROUP_NONE);
    int32_t group = (int32_t)p->free_head;
    p->free_head = (uint32_t)p->next[group];
    return group;
}

uint8_t *core_payload_group(const struct ftl_core *c, int32_t group)
{
    return c->payload->bytes + (size_t)group * c->payload->wl_bytes;
}

/* Makes it the cell of word line `wl`, so that its units are found. */
static void group_name(struct payload *p, int32_t group, uint32_t wl)
{
    p->wl[group] = wl;
    p->next[group] = p->bucket[wl & p->bucket_mask];
    p->bucket[wl & p->bucket_mask] = group;
}

void core_payload_release(struct ftl_core *c, int32_t group, bool named)
{
    struct payload *p = c->payload;

    if (named) {
        int32_t *link = &p->bucket[p->wl[group] & p->bucket_mask];
        while (*link != group)
            link = &p->next[*link];
        *link = p->next[group];
    }
    p->next[group] = (int32_t)p->free_head;
    p->free_head = (uint32_t)group;
}

/* Sector i of a word line: pages in the order of slots, each with its spare. */
static uint8_t *sector_at(const struct payload *p, uint8_t *group, uint32_t i)
{
    return group + (size_t)(i / p->page_cws) * p->page_bytes +
           (size_t)(i % p->page_cws) * p->sector_bytes;
}

uint8_t *core_payload_sector(const struct ftl_core *c, uint32_t slot, uint32_t cw)
{
    const struct payload *p = c->payload;
    uint32_t wl = (slot - 1) / c->g.wl_units, in_wl = (slot - 1) % c->g.wl_units;

    for (int32_t g = p->bucket[wl & p->bucket_mask]; g != GROUP_NONE; g = p->next[g])
        if (p->wl[g] == wl)
            return sector_at(p, core_payload_group(c, g), (in_wl << c->g.cw_shift) + cw);
    return NULL;
}

/* ---- units into the buffer -------------------------------------------------------------- */

/* No unit is there: tags and what lies behind them. Data is written before a program, but for
 * holes. */
static void blank(const struct ftl_core *c, uint8_t *group)
{
    const struct payload *p = c->payload;
    const uint32_t last = p->page_bytes - p->sector_bytes * (p->page_cws - 1);

    if (c->cfg->media_faults) {
        memset(group, 0xff, p->wl_bytes);
        return;
    }
    for (uint8_t *end = group + p->wl_bytes; group < end; group += last) {
        for (uint32_t s = 1; s < p->page_cws; s++, group += p->sector_bytes)
            memset(group + CODEWORD_BYTES, 0xff, p->sector_bytes - CODEWORD_BYTES);
        memset(group + CODEWORD_BYTES, 0xff, last - CODEWORD_BYTES);
    }
}

static uint8_t *open_sector(struct ftl_core *c, const struct frontier *f, uint32_t slot,
                            uint32_t cw)
{
    struct payload *p = c->payload;
    int32_t *open = &p->open[f - c->fr];

    if (*open == GROUP_NONE) {
        *open = group_take(c);
        blank(c, core_payload_group(c, *open));
        group_name(p, *open, (slot - 1) / c->g.wl_units);
    }
    return sector_at(p, core_payload_group(c, *open),
                     ((slot - 1) % c->g.wl_units << c->g.cw_shift) + cw);
}

/* A copy belongs to the same command: without the rest of it, it counts as little. */
static void copy_atomic(struct payload_tag *tag, const struct payload_tag *from)
{
    uint64_t back = tag->seq - from->seq + from->atomic_back;
    if (from->atomic_count < 2 || back > UINT32_MAX)    /* so long ago: it was whole */
        return;
    tag->atomic_first = from->atomic_first;
    tag->atomic_count = from->atomic_count;
    tag->atomic_back = (uint32_t)back;
}

/* Codeword cw of a unit, `from` its tag when it is a copy. All of a unit bear one tag: the same
 * number, counted at the first. */
static void put_codeword(struct ftl_core *c, const struct frontier *f, uint32_t slot, uint32_t cw,
                         uint32_t key, enum cause cause, const uint8_t *bytes, uint32_t guard,
                         const struct payload_tag *from)
{
    uint8_t *to = open_sector(c, f, slot, cw);
    c->payload->seq += cw == 0;
    struct payload_tag tag = {.seq = c->payload->seq, .key = key, .erases = c->erases[f->sb],
                              .atomic_count = 1, .class = c->sb_class[f->sb],
                              .cause = (uint8_t)cause, .frontier = (uint8_t)(f - c->fr)};
    if (cause == CAUSE_HOST && c->payload->atomic_count > 1) {
        tag.atomic_first = tag.atomic_back = c->payload->atomic_first;
        tag.atomic_count = c->payload->atomic_count;
    }
    if (from != NULL)
        copy_atomic(&tag, from);
    if (FTL_PLANT(buffer_bytes, 200))
        ;
    else
        memcpy(to, bytes, CODEWORD_BYTES);
    write_tag(to, &tag, guard);
}

static void put_unit(struct ftl_core *c, const struct frontier *f, uint32_t slot, uint32_t key,
                     enum cause cause, const uint8_t *bytes)
{
    static const uint8_t zeros[CODEWORD_BYTES];

    for (uint32_t cw = 0; cw < c->g.unit_cws; cw++) {
        const uint8_t *from = bytes != NULL ? bytes + (size_t)cw * CODEWORD_BYTES : zeros;
        put_codeword(c, f, slot, cw, key, cause, from, guard_of(from), NULL);
    }
}

static uint32_t *prev_of(const struct ftl_core *c, uint32_t slot)
{
    const struct payload *p = c->payload;
    uint32_t wl = (slot - 1) / c->g.wl_units;

    for (int32_t g = p->bucket[wl & p->bucket_mask]; g != GROUP_NONE; g = p->next[g])
        if (p->wl[g] == wl)
            return &p->prev[(size_t)g * c->g.wl_units + (slot - 1) % c->g.wl_units];
    return NULL;
}

uint32_t core_payload_prev(const struct ftl_core *c, uint32_t slot)
{
    const uint32_t *prev = prev_of(c, slot);
    return prev != NULL ? *prev : 0;
}

void core_payload_set_prev(struct ftl_core *c, uint32_t slot, uint32_t prev)
{
    uint32_t *to = prev_of(c, slot);
    if (to != NULL)
        *to = prev;
}

void core_payload_erased(struct ftl_core *c, uint32_t sb)
{
    struct payload *p = c->payload;
    size_t units = FTL_PLANT(place_outlives, 1) ? 0 : (size_t)p->count * c->g.wl_units;
    uint32_t first = sb * c->g.sb_units + 1;

    for (size_t i = 0; i < units; i++)
        if (p->prev[i] - first < c->g.sb_units)     /* wraps below the first */
            p->prev[i] = 0;
}

void core_payload_before(struct ftl_core *c, const struct frontier *f, const uint32_t *keys,
                         uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        (void)open_sector(c, f, f->next + i, 0);
        core_payload_set_prev(c, f->next + i, c->map[keys[i]]);
    }
}

void core_payload_place(struct ftl_core *c, const struct frontier *f, uint32_t slot, uint32_t n,
                        enum cause cause)
{
    for (uint32_t i = 0; i < n; i++)
        put_unit(c, f, slot + i, c->rmap[slot + i], cause, c->payload->incoming);
}

void core_payload_fill(struct ftl_core *c, const struct frontier *f, uint32_t slot, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        put_unit(c, f, slot + i, 0, CAUSE_GC, NULL);
}

bool core_payload_is(const uint8_t *sector, uint32_t key)
{
    struct payload_tag tag;
    return core_payload_tag(sector, &tag) && tag.key == key;
}

static bool sector_of(const struct ftl_core *c, uint32_t slot, uint32_t cw, uint8_t *ret)
{
    struct ftl_place at;
    geometry_place(&c->g, slot - 1, cw, &at);
    uint32_t offset = at.cw * c->payload->sector_bytes, bytes = CODEWORD_BYTES + PAYLOAD_TAG_BYTES;
    int status =
        media_peek(c->media, at.die, at.plane, at.sb, core_page(c, &at), offset, bytes, ret);
    return status == NAND_OK || core_raid_peek(c, &at, offset, bytes, ret);
}

bool core_payload_peek(const struct ftl_core *c, uint32_t slot, uint32_t cw, uint32_t key,
                       uint8_t *ret)
{
    return sector_of(c, slot, cw, ret) && core_payload_is(ret, key);
}

/* It must hold this key, and but for soft errors it is sound. */
static bool expect(const struct ftl_core *c, const uint8_t *sector, uint32_t key)
{
    bool good = core_payload_is(sector, key);
    FTL_ASSERT(c->ctx, good || (c->upset.damaged != 0 && core_get(sector + CODEWORD_BYTES + 8, 4) == key));
    return good;
}

/* A sector as it lies on the medium, checked: it must hold this key. */
static bool peek(const struct ftl_core *c, uint32_t slot, uint32_t cw, uint32_t key, uint8_t *ret)
{
    bool there = sector_of(c, slot, cw, ret);
    FTL_ASSERT(c->ctx, there);
    return expect(c, ret, key);
}

bool core_payload_readable(const struct ftl_core *c, uint32_t slot)
{
    uint8_t kept[CODEWORD_BYTES + PAYLOAD_TAG_BYTES];

    for (uint32_t cw = 0; slot != 0 && cw < c->g.unit_cws; cw++)
        if (core_payload_sector(c, slot, cw) == NULL && !sector_of(c, slot, cw, kept))
            return false;
    return true;
}

void core_payload_move(struct ftl_core *c, const struct frontier *f, uint32_t from, uint32_t to)
{
    const struct payload *p = c->payload;
    uint8_t kept[CODEWORD_BYTES + PAYLOAD_TAG_BYTES];
    uint32_t key = c->rmap[to];

    (void)open_sector(c, f, to, 0);
    core_payload_set_prev(c, to, from);
    for (uint32_t cw = 0; cw < c->g.unit_cws; cw++) {
        const uint8_t *sector = kept;
        if (p->page != NULL) {
            uint32_t in_page = ((from - 1) % c->g.group_units << c->g.cw_shift) + cw;
            sector = p->page + (size_t)in_page * p->sector_bytes;
            (void)expect(c, sector, key);
        } else {
            (void)peek(c, from, cw, key, kept);
        }
        struct payload_tag tag;
        core_payload_tag_of(sector + CODEWORD_BYTES, &tag);
        put_codeword(c, f, to, cw, key, CAUSE_GC, sector,
                     (uint32_t)core_get(sector + CODEWORD_BYTES + 28, 4) ^
                         tag_sum(sector + CODEWORD_BYTES), &tag);
    }
}

/* The least sequence number of units that frontiers below this one have in the buffer;
 * UINT64_MAX = none. */
static uint64_t oldest_below(const struct ftl_core *c, uint32_t frontiers)
{
    const struct payload *p = c->payload;
    uint64_t oldest = UINT64_MAX;

    for (uint32_t b = 0; b <= p->bucket_mask; b++)
        for (int32_t g = p->bucket[b]; g != GROUP_NONE; g = p->next[g]) {
            struct payload_tag tag;
            core_payload_tag_of(core_payload_group(c, g) + CODEWORD_BYTES, &tag);
            if (tag.frontier < frontiers && tag.seq < oldest)
                oldest = tag.seq;
        }
    return oldest;
}

uint64_t core_payload_oldest(const struct ftl_core *c)
{
    return oldest_below(c, FRONTIERS_MAX);
}

uint64_t core_payload_unsent(const struct ftl_core *c)
{
    uint64_t oldest = UINT64_MAX;

    for (uint32_t i = 0; i < c->frontier_count; i++) {
        if (c->payload->open[i] == GROUP_NONE)
            continue;
        uint64_t seq = core_get(core_payload_group(c, c->payload->open[i]) + CODEWORD_BYTES, 8);
        oldest = seq < oldest ? seq : oldest;
    }
    return oldest;
}

bool core_payload_settled(const struct ftl_core *c, uint32_t key)
{
    uint32_t slot = c->map[key];
    struct payload_tag tag;

    if (slot == 0)
        return true;
    const uint8_t *sector = core_payload_sector(c, slot, 0);
    if (sector != NULL)
        core_payload_tag_of(sector + CODEWORD_BYTES, &tag);
    else if (core_peek_tag(c, slot, &tag) != NAND_OK)
        return true;
    return tag.atomic_count < 2 ||
           oldest_below(c, c->classes) > tag.seq - tag.atomic_back + tag.atomic_count - 1;
}

bool core_payload_read(const struct ftl_core *c, uint32_t key, uint8_t *ret)
{
    uint8_t kept[CODEWORD_BYTES + PAYLOAD_TAG_BYTES];
    uint32_t slot = c->map[key];
    bool good = true;

    if (slot == 0) {                /* never written, or trimmed */
        memset(ret, 0, c->g.unit_bytes);
        return true;
    }
    for (uint32_t cw = 0; cw < c->g.unit_cws; cw++, ret += CODEWORD_BYTES) {
        const uint8_t *sector = core_payload_sector(c, slot, cw);
        if (sector == NULL) {
            (void)peek(c, slot, cw, key, kept);
            sector = kept;
        }
        good &= expect(c, sector, key);
        memcpy(ret, sector, CODEWORD_BYTES);
    }
    return good;
}

/* ---- word lines out of the buffer ---------------------------------------------------------- */

/* x times a^n in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1, a = 2. */
static uint8_t gf_times(uint8_t x, uint32_t n)
{
    for (; n > 0; n--)
        x = (uint8_t)(x << 1 ^ (x & 0x80 ? 0x1d : 0));
    return x;
}

/* sum += data in the pages that hold data, byte by byte through `times` if given. */
static void add_pages(const struct payload *p, uint8_t *sum, const uint8_t *data, uint64_t without,
                      const uint8_t *times)
{
    for (uint32_t at = 0; at < p->wl_bytes; at += p->page_bytes, without >>= 1) {
        if (without & 1)
            continue;
        for (uint32_t i = at; i < at + p->page_bytes; i++)
            sum[i] ^= times != NULL ? times[data[i]] : data[i];
    }
}

/* Parity die k holds the sum of a^(k d) times data die d: k = 0 is the plain XOR. */
static void add_parity(struct ftl_core *c, const struct frontier *f, const uint8_t *data)
{
    struct payload *p = c->payload;

    for (uint32_t k = 0; k < c->g.parity_dies; k++) {
        int32_t *group = &p->parity[(size_t)(f - c->fr) * PAYLOAD_PARITY_MAX + k];
        uint8_t times[256];
        if (*group == GROUP_NONE) {
            *group = group_take(c);
            memset(core_payload_group(c, *group), 0, p->wl_bytes);
        }
        uint8_t *sum = core_payload_group(c, *group);
        if (FTL_PLANT(parity_stale, 20))
            continue;
        if (k * f->data_die == 0) {
            add_pages(p, sum, data, f->jumped, NULL);
            continue;
        }
        for (uint32_t x = 0; x < 256; x++)
            times[x] = gf_times((uint8_t)x, k * f->data_die % 255);
        add_pages(p, sum, data, f->jumped, times);
    }
}

const uint8_t *core_payload_sum(const struct ftl_core *c, const struct frontier *f)
{
    int32_t group = c->payload->parity[(size_t)(f - c->fr) * PAYLOAD_PARITY_MAX];
    return group == GROUP_NONE ? NULL : core_payload_group(c, group);
}

int32_t core_payload_full(struct ftl_core *c, const struct frontier *f)
{
    struct payload *p = c->payload;
    int32_t sum = p->parity[(size_t)(f - c->fr) * PAYLOAD_PARITY_MAX];

    (void)open_sector(c, f, f->wl_end - c->g.wl_units, 0);     /* it may hold moved parity alone */
    int32_t group = p->open[f - c->fr];
    uint8_t *bytes = core_payload_group(c, group);
    p->open[f - c->fr] = GROUP_NONE;
    for (uint32_t i = 0; f->parity_pages >> i != 0 && i < 64; i++)
        if ((f->parity_pages >> i & 1) && sum != GROUP_NONE)
            memcpy(bytes + (size_t)i * p->page_bytes,
                   core_payload_group(c, sum) + (size_t)i * p->page_bytes, p->page_bytes);
    if (__builtin_expect(c->upset.on, 0))
        core_upset_word_line(c, f);
    add_parity(c, f, bytes);
    return group;
}

int32_t core_payload_parity(struct ftl_core *c, const struct frontier *f, uint32_t k)
{
    int32_t *group = &c->payload->parity[(size_t)(f - c->fr) * PAYLOAD_PARITY_MAX + k];
    int32_t taken = *group;
    *group = GROUP_NONE;
    return taken;
}

void core_payload_put(struct ftl_core *c, uint32_t sb, uint32_t row, uint32_t die, int32_t group)
{
    uint32_t page = core_is_slc(c, sb) ? row : row * c->g.page_types;
    int err = media_put(c->media, die, sb, page, core_payload_group(c, group));
    if (err < 0)
        c->error = err;             /* bytes are lost: the run ends */
}

void core_payload_store(struct ftl_core *c, const struct frontier *f, uint32_t die, int32_t group,
                        bool named)
{
    core_payload_put(c, f->sb, f->row, die, group);
    c->rows_programmed[(size_t)f->sb * c->g.dies + die] = f->row + 1;
    if (c->journal != NULL)
        core_log_tags(c, f->sb, f->row, die);
    core_payload_release(c, group, named);
    if (c->journal != NULL)
        core_journal_step(c);       /* a checkpoint takes what is in the buffer for not written */
}

/* ---- after a start --------------------------------------------------------------------------- */

static int32_t group_of(struct ftl_core *c, uint32_t slot, bool take)
{
    struct payload *p = c->payload;
    uint32_t wl = (slot - 1) / c->g.wl_units;

    for (int32_t g = p->bucket[wl & p->bucket_mask]; g != GROUP_NONE; g = p->next[g])
        if (p->wl[g] == wl)
            return g;
    if (!take || (int32_t)p->free_head == GROUP_NONE)
        return GROUP_NONE;
    int32_t group = group_take(c);
    memset(core_payload_group(c, group), 0xff, p->wl_bytes);
    group_name(p, group, wl);
    return group;
}

void core_payload_restore(struct ftl_core *c, uint32_t slot, uint32_t cw, uint32_t key,
                          uint64_t seq, enum cause cause, const uint8_t *body, bool sent)
{
    struct payload *p = c->payload;
    int32_t group = group_of(c, slot, true);
    uint32_t sb = geometry_superblock(&c->g, slot - 1), frontier = c->sb_frontier[sb];

    if (group == GROUP_NONE)
        return;
    p->sent[group] = sent;
    p->prev[(size_t)group * c->g.wl_units + (slot - 1) % c->g.wl_units] = 0;
    uint8_t *to = sector_at(p, core_payload_group(c, group),
                            ((slot - 1) % c->g.wl_units << c->g.cw_shift) + cw);
    struct payload_tag tag = {.seq = seq, .key = key, .erases = c->erases[sb], .atomic_count = 1,
                              .class = c->fr_class[frontier], .cause = (uint8_t)cause,
                              .frontier = (uint8_t)frontier};
    memcpy(to, body, CODEWORD_BYTES);
    write_tag(to, &tag, guard_of(to));
}

bool core_payload_was_sent(const struct ftl_core *c, uint32_t slot)
{
    int32_t group = group_of((struct ftl_core *)c, slot, false);
    return group != GROUP_NONE && c->payload->sent[group] != 0;
}

/* Is it the open word line of a frontier? After a start none is yet. */
static bool is_open(const struct ftl_core *c, int32_t group)
{
    for (uint32_t i = 0; i < c->frontier_count; i++)
        if (c->payload->open[i] == group)
            return true;
    return false;
}

uint32_t core_payload_after(const struct ftl_core *c, uint64_t after, uint64_t *ret_seq,
                            bool *ret_sent)
{
    const struct payload *p = c->payload;
    int32_t best = GROUP_NONE;

    *ret_seq = UINT64_MAX;
    for (uint32_t b = 0; b <= p->bucket_mask; b++)
        for (int32_t g = p->bucket[b]; g != GROUP_NONE; g = p->next[g]) {
            uint64_t seq = core_get(core_payload_group(c, g) + CODEWORD_BYTES, 8);
            if (seq > after && seq < *ret_seq) {
                best = g;
                *ret_seq = seq;
            }
        }
    if (best == GROUP_NONE)
        return 0;
    *ret_sent = c->restoring ? p->sent[best] != 0 : !is_open(c, best);
    return p->wl[best] * c->g.wl_units + 1;
}

/* The group of a word line becomes the open one of a frontier. */
void core_payload_adopt(struct ftl_core *c, const struct frontier *f, uint32_t slot)
{
    c->payload->open[f - c->fr] = group_of(c, slot, false);
}

uint8_t *core_payload_open(struct ftl_core *c, const struct frontier *f, uint32_t slot)
{
    return open_sector(c, f, slot, 0);
}

static int32_t any_of_superblock(const struct ftl_core *c, uint32_t sb)
{
    const struct payload *p = c->payload;
    uint32_t first = sb * (c->g.sb_units / c->g.wl_units), n = c->g.sb_units / c->g.wl_units;

    for (uint32_t b = 0; b <= p->bucket_mask; b++)
        for (int32_t g = p->bucket[b]; g != GROUP_NONE; g = p->next[g])
            if (p->wl[g] >= first && p->wl[g] < first + n)
                return g;
    return GROUP_NONE;
}

bool core_payload_holds(const struct ftl_core *c, uint32_t sb)
{
    return any_of_superblock(c, sb) != GROUP_NONE;
}

void core_payload_forget_superblock(struct ftl_core *c, uint32_t sb)
{
    for (int32_t g; (g = any_of_superblock(c, sb)) != GROUP_NONE;)
        core_payload_release(c, g, true);
}
