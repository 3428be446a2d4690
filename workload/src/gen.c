#include "gen.h"

/* ---- set-up ---------------------------------------------------------------------- */
static uint64_t places_for(const struct wl_gen *g, uint64_t align, uint64_t count)
{
    return (g->length - count) / align + 1;
}

static void init_sizes(struct wl_gen *g, struct wl_gen_dir *d, const struct wl_job *job,
                       int dir, uint32_t lba_bytes)
{
    uint64_t sum = 0;
    d->min_count = (uint32_t)(job->bs_min[dir] / lba_bytes);
    d->size_count = job->split_count[dir] > 0 ? job->split_count[dir] : 1;
    for (uint32_t i = 0; i < d->size_count; i++) {
        struct wl_gen_size *s = &d->sizes[i];
        uint64_t bytes =
            job->split_count[dir] > 0 ? job->split[dir][i].bytes : job->bs_min[dir];
        s->count = (uint32_t)(bytes / lba_bytes);
        s->places = places_for(g, d->align, s->count);
        sum += job->split_count[dir] > 0 ? job->split[dir][i].share : 100 * WL_PCT;
        s->below = sum >= 100 * WL_PCT ? UINT64_MAX
                                       : (uint64_t)(((wl_u128)sum << 64) / (100 * WL_PCT));
    }
    if (job->split_count[dir] == 0 && job->bs_max[dir] > job->bs_min[dir]) {
        d->range_step = job->bs_unaligned ? 1 : d->sizes[0].count;
        d->range_steps =
            (uint32_t)((job->bs_max[dir] - job->bs_min[dir]) / lba_bytes / d->range_step) + 1;
    }
}

static int init_dir(struct wl_gen *g, const struct wl_job *job, int dir, uint32_t lba_bytes,
                    uint64_t key)
{
    struct wl_gen_dir *d = &g->dir[dir];
    uint64_t align = job->align[dir] != 0 ? job->align[dir] : job->bs_min[dir];
    d->align = align / lba_bytes;
    d->percentage_random = job->percentage_random[dir];
    init_sizes(g, d, job, dir, lba_bytes);
    if (g->skip < 0)
        d->position = g->length - d->min_count - (g->length - d->min_count) % d->align;
    d->skewed = job->random && job->dist[dir].kind != WL_DIST_RANDOM;
    if (!d->skewed)
        return WL_OK;
    return wl_dist_init(&d->dist, &job->dist[dir], g->length / d->align, d->align * lba_bytes,
                        key);
}

int wl_gen_init(struct wl_gen *g, const struct wl_job *job, uint64_t start, uint64_t length,
                uint32_t lba_bytes, uint64_t seed, uint32_t thread, int *ret_dir)
{
    seed = wl_mix64(seed) ^ job->randseed;
    *g = (struct wl_gen){
        .start = start / lba_bytes,
        .length = length / lba_bytes,
        .random = job->random,
        .trimwrite = job->trimwrite,
        .mixed = job->dir[WL_READ] && job->dir[WL_WRITE],
        .identical = job->rw_sequencer == 1,
        .mix_read = (uint32_t)job->rwmixread,
        .every = job->rw_every > 1 ? job->rw_every : 1,
        .skip = job->rw_skip / (int64_t)lba_bytes,
        .mapped = job->random && !job->norandommap,
        .direction = wl_rng_make(seed, WL_FOR_DIRECTION, thread),
        .size = wl_rng_make(seed, WL_FOR_SIZE, thread),
        .offset = wl_rng_make(seed, WL_FOR_OFFSET, thread),
        .seek = wl_rng_make(seed, WL_FOR_SEEK, thread),
        .map_key = wl_rng_make(seed, WL_FOR_MAP, thread).key,
    };
    uint64_t scatter = wl_rng_make(seed, WL_FOR_SCATTER, thread).key;
    for (int d = 0; d < WL_DIRS; d++) {
        if (!job->dir[d])
            continue;
        g->only = (uint8_t)d;
        int err = init_dir(g, job, d, lba_bytes, scatter);
        if (err != WL_OK) {
            *ret_dir = d;
            return err;
        }
    }
    if (g->mapped)
        wl_permute_init(&g->map, g->length / g->dir[g->only].min_count, g->map_key);
    return WL_OK;
}

void wl_gen_free(struct wl_gen *g)
{
    for (int d = 0; d < WL_DIRS; d++)
        wl_dist_free(&g->dir[d].dist);
}

/* ---- every access ------------------------------------------------------ */
uint8_t wl_gen_direction(struct wl_gen *g)
{
    if (g->mixed)
        return wl_below(wl_rng_next(&g->direction), 100) < g->mix_read ? WL_READ : WL_WRITE;
    if (g->trimwrite)
        return g->trimmed ? WL_WRITE : WL_TRIM;
    return g->only;
}

/* Returns the size drawn; ret_places is how many offsets it fits at. */
static uint32_t draw_size(struct wl_gen *g, struct wl_gen_dir *d, uint64_t *ret_places)
{
    const struct wl_gen_size *s = d->sizes;
    *ret_places = s->places;
    if (d->size_count > 1) {
        uint64_t draw = wl_rng_next(&g->size);
        while (draw >= s->below && s < &d->sizes[d->size_count - 1])
            s++;
        *ret_places = s->places;
        return s->count;
    }
    if (d->range_steps > 1) {
        uint32_t count = s->count + d->range_step * (uint32_t)wl_below(wl_rng_next(&g->size),
                                                                       d->range_steps);
        *ret_places = places_for(g, d->align, count);
        return count;
    }
    return s->count;
}

/* Each block of the region once, then again in another order. */
static uint64_t next_mapped(struct wl_gen *g, uint64_t count)
{
    if (g->map_at == g->map.n) {
        g->map_at = 0;
        wl_permute_init(&g->map, g->map.n, g->map_key + ++g->pass);
    }
    return wl_permute_at(&g->map, g->map_at++) * count;
}

static uint64_t next_random(struct wl_gen *g, struct wl_gen_dir *d, uint32_t count,
                            uint64_t places)
{
    if (g->mapped)
        return next_mapped(g, count);
    if (!d->skewed)
        return wl_below(wl_rng_next(&g->offset), places) * d->align;
    uint64_t block = wl_dist_draw(&d->dist, &g->offset);
    return (block < places ? block : places - 1) * d->align;
}

static uint64_t next_sequential(struct wl_gen *g, struct wl_gen_dir *d, uint32_t count)
{
    if (d->position + count > g->length)
        d->position = g->skip < 0 ? g->length - count : 0;
    return d->position;
}

static void move_on(struct wl_gen *g, struct wl_gen_dir *d, uint64_t at, uint32_t count)
{
    int64_t next = (int64_t)(at + count) + g->skip;
    /* a walk that leaves the region starts again at the end it came from */
    if (next < 0)
        next = (int64_t)(g->length - count);
    d->position = (uint64_t)next;
    d->last = at;
}

static bool seeks(struct wl_gen *g, struct wl_gen_dir *d)
{
    if (!g->random)
        return false;
    if (g->every > 1) {
        bool first = d->since_seek == 0;
        d->since_seek = d->since_seek + 1 == g->every ? 0 : d->since_seek + 1;
        return first;
    }
    return d->percentage_random >= 100 ||
           wl_below(wl_rng_next(&g->seek), 100) < d->percentage_random;
}

void wl_gen_access(struct wl_gen *g, uint8_t dir, uint64_t room, struct wl_access *ret)
{
    struct wl_gen_dir *d = &g->dir[dir];
    uint64_t places, at;

    if (g->trimwrite && dir == WL_WRITE) {
        *ret = g->trim;
        ret->dir = WL_WRITE;
        g->trimmed = false;
        return;
    }
    uint32_t count = draw_size(g, d, &places);
    if (seeks(g, d))
        at = next_random(g, d, count, places);
    else if (g->random && g->every > 1 && g->identical)
        at = d->last + count <= g->length ? d->last : g->length - count;
    else
        at = next_sequential(g, d, count);
    if (count > room)
        count = (uint32_t)room;
    move_on(g, d, at, count);
    *ret = (struct wl_access){.lba = g->start + at, .count = count, .dir = dir};
    if (g->trimwrite) {
        g->trim = *ret;
        g->trimmed = true;
    }
}
