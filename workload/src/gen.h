/* gen.h - what one thread asks next: direction, size, place. */
#ifndef WL_GEN_H_
#define WL_GEN_H_

#include "dist.h"
#include "permute.h"
#include "rng.h"
#include "workload/jobs.h"

struct wl_access {
    uint64_t lba;
    uint32_t count;                 /* LBAs */
    uint8_t dir;
};

struct wl_gen_size {
    uint64_t below;                 /* cumulative share * 2^64; the last one takes the rest */
    uint64_t places;                /* aligned offsets at which the size fits into the region */
    uint32_t count;
};

struct wl_gen_dir {                 /* what every access needs comes first */
    uint64_t align;                 /* LBAs */
    uint64_t position;              /* where a sequential access goes on, LBAs in the region */
    uint64_t last;                  /* LBA in the region of the last access */
    uint64_t percentage_random;
    uint64_t since_seek;            /* accesses since the last new offset */
    uint32_t min_count;
    uint32_t size_count;            /* 1 = one size */
    uint32_t range_steps;           /* bsrange: sizes[0].count + 0..steps-1 times range_step */
    uint32_t range_step;
    bool skewed;
    struct wl_gen_size sizes[WL_SPLITS_MAX];
    struct wl_dist_table dist;      /* with skewed: over region / align blocks */
};

struct wl_gen {
    uint64_t start, length;         /* the region, LBAs */
    bool mixed, random, trimwrite, mapped, identical;
    uint8_t only;                   /* the direction when not mixed */
    uint32_t mix_read;              /* percent */
    uint64_t every;                 /* a new offset every N accesses */
    int64_t skip;                   /* LBAs */
    bool trimmed;                   /* trimwrite: the trim is out, its write comes next */
    struct wl_access trim;
    struct wl_rng direction, size, offset, seek;
    struct wl_permute map;          /* of this pass */
    uint64_t map_key, map_at, pass;
    struct wl_gen_dir dir[WL_DIRS];
};

/* start and length in bytes, already fitted to the drive; `thread` numbers the
 * random streams. WL_OK, WL_ENOMEM, or WL_EINVAL with the direction whose zones
 * do not fit in ret_dir. */
int wl_gen_init(struct wl_gen *g, const struct wl_job *job, uint64_t start, uint64_t length,
                uint32_t lba_bytes, uint64_t seed, uint32_t thread, int *ret_dir);
void wl_gen_free(struct wl_gen *g);

/* The direction of the next access; then its place. Two steps, because a rate
 * limit may hold back one direction and let the other go. */
uint8_t wl_gen_direction(struct wl_gen *g);
/* At most `room` LBAs; room is at least the direction's min_count. */
void wl_gen_access(struct wl_gen *g, uint8_t dir, uint64_t room, struct wl_access *ret);

#endif
