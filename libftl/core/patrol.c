/* patrol.c - reads of closed superblocks for the sake of what they show (media.patrol_hours).
 *
 * The first and the last word line of a block are its worst: the outermost layers have the widest
 * distributions. So these are read, every page of them, one at a time in the lowest class; what a
 * read took, and how many bits it had wrong, decides about the superblock (care.c). */
#include "core/core.h"

#define HOUR_NS UINT64_C(3600000000000)
enum { WORST_ROWS = 2, AGE_LOOKS = 16 };

void core_patrol_init(struct ftl_core *c)
{
    c->patrol = (struct patrol){
        .sb = SB_NONE,
        .age_step = c->cfg->media_refresh_hours * HOUR_NS / AGE_LOOKS,
        .read_step = c->cfg->media_patrol_hours * HOUR_NS / c->g.sb_count,
    };
    c->patrol.age_at = c->patrol.age_step != 0 ? c->patrol.age_step : SIM_NEVER;
    c->patrol.read_at = c->patrol.read_step != 0 ? c->patrol.read_step : SIM_NEVER;
}

uint64_t core_patrol_next(const struct ftl_core *c)
{
    return c->patrol.age_at < c->patrol.read_at ? c->patrol.age_at : c->patrol.read_at;
}

/* Is page i of the superblock there, and on the medium? */
static bool place_of(const struct ftl_core *c, uint32_t sb, uint32_t i, struct ftl_place *p)
{
    const struct media_blocks *b = &c->media->blocks;
    uint32_t types = c->g.page_types, first = i / (types * c->g.planes * c->g.dies);

    *p = (struct ftl_place){.sb = sb, .row = first == 0 ? 0 : c->g.rows - 1,
                            .page_type = i % types, .plane = i / types % c->g.planes,
                            .die = i / (types * c->g.planes) % c->g.dies};
    return p->row < b->hole_row[media_blocks_index(b, sb, p->die, p->plane)] &&
           !b->dead[(size_t)p->die * b->planes + p->plane] &&
           p->row < c->rows_programmed[(size_t)sb * c->g.dies + p->die];
}

static bool is_worth(const struct ftl_core *c, uint32_t sb)
{
    return c->state[sb] == SB_CLOSED && c->valid[sb] != 0 && c->leave[sb] == LEAVE_NOT;
}

/* The next page of the superblock under patrol; without any it is over. */
static void go_on(struct ftl_core *c)
{
    struct patrol *t = &c->patrol;
    uint32_t pages = WORST_ROWS * c->g.dies * c->g.planes * c->g.page_types;
    struct ftl_place p = {0};

    while (t->page < pages && !place_of(c, t->sb, t->page, &p))
        t->page++;
    if (t->page == pages || !is_worth(c, t->sb) || c->erases[t->sb] != t->erases) {
        t->sb = SB_NONE;
        return;
    }
    t->page++;
    c->count->patrol_reads++;
    c->reads_in_flight[t->sb]++;
    media_read(c->media, c->ctx->now, MEDIA_SCRUB_READ, p.die, p.plane, t->sb, core_page(c, &p),
               c->g.page_cws, PATROL_REF);
}

void core_patrol_turn(struct ftl_core *c)
{
    struct patrol *t = &c->patrol;
    uint64_t now = c->ctx->now;

    if (t->age_at <= now) {
        t->age_at = now + t->age_step;
        if (c->timed)
            core_patrol(c);
    }
    if (t->read_at > now)
        return;
    t->read_at = now + t->read_step;
    if (!c->timed || t->sb != SB_NONE)
        return;                 /* the last one is not through: this turn is left out */
    for (uint32_t i = 0; i < c->g.sb_count && t->sb == SB_NONE; i++) {
        t->last = (t->last + 1) % c->g.sb_count;
        if (is_worth(c, t->last))
            t->sb = t->last;
    }
    if (t->sb == SB_NONE)
        return;
    t->page = 0;
    t->erases = c->erases[t->sb];
    go_on(c);
}

void core_patrol_done(struct ftl_core *c, const struct media_done *done)
{
    c->reads_in_flight[done->block]--;
    if (done->effort || done->failed)
        core_refresh_want(c, done->block);
    go_on(c);
}
