/* translate.c - commands and the demand-cached map: who waits for which map page.
 *
 * A read takes map pages one after the other and goes on with each as it comes. A write
 * has its pages read before it joins the write line; should one have left the cache when
 * it comes to the head of the line, it is read again and held. */
#include "nvme/drive.h"

/* Media hands back the number of a page read; those of map pages lie far behind. */
enum { MAP_REF = 1 << 30 };

bool translate_is_map_read(uint32_t ref)
{
    return ref >= MAP_REF;
}

void translate_read_done(ftl_drive *d, uint32_t ref)
{
    core_dftl_load_done(&d->core, ref - MAP_REF);
}

static void count(ftl_drive *d, struct command *c, uint32_t t, bool hit)
{
    if (c->map_page == t)
        return;
    c->map_page = t;
    d->count.map_cache_hits += hit;
    d->count.map_cache_misses += !hit;
}

bool translate_key(ftl_drive *d, uint32_t index, uint32_t key)
{
    struct command *c = &d->commands[index];
    struct dftl *m = &d->core.dftl;
    uint32_t t = map_page_of(m, key);
    bool hit = core_dftl_look(&d->core, t);

    count(d, c, t, hit);
    if (hit)
        return true;
    struct map_page *p = &m->pages[t];
    c->next = CMD_NONE;
    if (p->waiting == CMD_NONE)
        p->waiting = index;
    else
        d->commands[p->waiting_last].next = index;
    p->waiting_last = index;
    core_dftl_load(&d->core, t, MAP_REF + t);
    return false;
}

void translate_ahead(ftl_drive *d, uint32_t t)
{
    const struct ftl_core *core = &d->core;
    if (media_ops_free(&d->media) > core->wl_reserve + core->g.dies)
        core_dftl_load(&d->core, t, MAP_REF + t);
}

static bool is_held(ftl_drive *d, uint32_t index, uint32_t t)
{
    struct dftl *m = &d->core.dftl;

    if (core_dftl_look(&d->core, t)) {
        count(d, &d->commands[index], t, true);
        return true;
    }
    if ((m->pages[t].flags & MAP_WANTED) == 0) {    /* it left the cache meanwhile */
        d->commands[index].map_page = MAP_PAGE_NONE;
        count(d, &d->commands[index], t, false);
    }
    core_dftl_load(&d->core, t, MAP_REF + t);
    return false;
}

bool translate_held(ftl_drive *d, uint32_t index, uint32_t key, uint32_t last)
{
    struct dftl *m = &d->core.dftl;
    bool all = true;

    m->pinned = map_page_of(m, key);
    m->pinned_last = map_page_of(m, last);
    for (uint32_t t = m->pinned; t <= m->pinned_last; t++)
        all = is_held(d, index, t) && all;
    return all;
}

void translate_release(ftl_drive *d)
{
    d->core.dftl.pinned = MAP_PAGE_NONE;
}

bool translate_continue(ftl_drive *d)
{
    bool any = false;

    for (uint32_t t; (t = core_dftl_settle(&d->core)) != MAP_PAGE_NONE; any = true) {
        struct map_page *p = &d->core.dftl.pages[t];
        uint32_t index = p->waiting;
        p->waiting = CMD_NONE;
        while (index != CMD_NONE) {
            uint32_t next = d->commands[index].next;
            if (d->commands[index].cmd.opcode == FTL_READ)
                front_resume_read(d, index);
            else
                front_write(d, index);
            index = next;
        }
    }
    return any;
}
