/* oracle.c - the values that each LBA may have.
 *
 * An entry is one write or TRIM of an LBA, open from its begin to its end. It is
 * superseded once a write that began after its end has ended: no read begun later may
 * return it. It is gone for good when a power cut cannot bring it back either: at
 * once with capacitors, without them after a flush that began later. */
#include <stdlib.h>
#include <string.h>

#include "ftl/ftl_testkit.h"

struct entry {
    uint32_t version, begin, end;   /* end 0 = open */
    uint32_t superseded;            /* tick at which it was; 0 = not */
};

struct tk_oracle {
    uint64_t lbas;
    uint32_t depth, tick;
    uint32_t durable;               /* superseded up to this tick: a cut brings none back */
    uint32_t last_cut;
    bool plp;
    uint32_t *count;                /* entries of each LBA, in order of begin */
    struct entry *entries;
};

static struct entry *entries_of(const tk_oracle *o, uint64_t lba)
{
    return &o->entries[lba * o->depth];
}

void tk_oracle_clear(tk_oracle *o)
{
    o->tick++;
    for (uint64_t lba = 0; lba < o->lbas; lba++) {
        o->count[lba] = 1;
        *entries_of(o, lba) = (struct entry){.begin = o->tick, .end = o->tick};
    }
}

static tk_oracle *take(const tk_oracle *like)
{
    tk_oracle *o = malloc(sizeof *o);
    if (o == NULL)
        return NULL;
    *o = *like;
    o->count = malloc(o->lbas * sizeof *o->count);
    o->entries = malloc(o->lbas * o->depth * sizeof *o->entries);
    if (o->count != NULL && o->entries != NULL)
        return o;
    tk_oracle_free(o);
    return NULL;
}

tk_oracle *tk_oracle_new(uint64_t lbas, uint32_t depth, bool plp)
{
    const tk_oracle like = {.lbas = lbas, .depth = depth, .plp = plp,
                            .durable = plp ? UINT32_MAX : 0};
    tk_oracle *o = take(&like);
    if (o != NULL)
        tk_oracle_clear(o);
    return o;
}

tk_oracle *tk_oracle_copy(const tk_oracle *from)
{
    tk_oracle *o = take(from);
    if (o == NULL)
        return NULL;
    memcpy(o->count, from->count, o->lbas * sizeof *o->count);
    for (uint64_t lba = 0; lba < o->lbas; lba++)
        memcpy(entries_of(o, lba), entries_of(from, lba),
               from->count[lba] * sizeof *o->entries);
    return o;
}

void tk_oracle_free(tk_oracle *o)
{
    if (o == NULL)
        return;
    free(o->count);
    free(o->entries);
    free(o);
}

uint32_t tk_oracle_tick(tk_oracle *o)
{
    return ++o->tick;
}

/* Keeps the entries of an LBA that `superseded` up to `until` does not drop. */
static void drop(tk_oracle *o, uint64_t lba, uint32_t until)
{
    struct entry *e = entries_of(o, lba);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < o->count[lba]; i++)
        if (e[i].superseded == 0 || e[i].superseded > until)
            e[kept++] = e[i];
    o->count[lba] = kept;
}

bool tk_oracle_room(tk_oracle *o, uint64_t lba, uint64_t n, uint32_t oldest)
{
    bool room = true;
    uint32_t until = o->durable < oldest ? o->durable : oldest;
    for (uint64_t end = lba + n; lba < end; lba++) {
        if (o->count[lba] == o->depth)
            drop(o, lba, until);
        room = room && o->count[lba] < o->depth;
    }
    return room;
}

uint32_t tk_oracle_begin(tk_oracle *o, uint64_t lba, uint64_t n, uint32_t version)
{
    o->tick++;
    for (uint64_t end = lba + n; lba < end; lba++)
        entries_of(o, lba)[o->count[lba]++] =
            (struct entry){.version = version, .begin = o->tick};
    return o->tick;
}

void tk_oracle_end(tk_oracle *o, uint64_t lba, uint64_t n, uint32_t begin)
{
    o->tick++;
    for (uint64_t end = lba + n; lba < end; lba++) {
        struct entry *e = entries_of(o, lba);
        for (uint32_t i = 0; i < o->count[lba]; i++) {
            if (e[i].begin == begin)
                e[i].end = o->tick;
            else if (e[i].end != 0 && e[i].end < begin && e[i].superseded == 0)
                e[i].superseded = o->tick;
        }
    }
}

void tk_oracle_refused(tk_oracle *o, uint64_t lba, uint64_t n, uint32_t begin)
{
    o->tick++;
    for (uint64_t end = lba + n; lba < end; lba++) {
        struct entry *e = entries_of(o, lba);
        for (uint32_t i = 0; i < o->count[lba]; i++)
            if (e[i].begin == begin)
                e[i].end = o->tick;
    }
}

void tk_oracle_flushed(tk_oracle *o, uint32_t begin)
{
    if (!o->plp && o->durable < begin)
        o->durable = begin;
}

void tk_oracle_cut(tk_oracle *o)
{
    o->tick++;
    for (uint64_t lba = 0; lba < o->lbas; lba++) {
        struct entry *e = entries_of(o, lba);
        drop(o, lba, o->durable);
        for (uint32_t i = 0; i < o->count[lba]; i++) {
            e[i].end = o->tick;
            e[i].superseded = 0;
        }
    }
    o->last_cut = o->tick;
}

bool tk_oracle_read(tk_oracle *o, uint64_t lba, uint32_t version, uint32_t begin)
{
    struct entry *e = entries_of(o, lba);
    bool allowed = false, settled = true;

    for (uint32_t i = 0; i < o->count[lba]; i++) {
        allowed |= e[i].version == version && (e[i].superseded == 0 || e[i].superseded > begin);
        settled = settled && e[i].end != 0 && e[i].end < begin;
    }
    if (!allowed || !settled || o->count[lba] == 1)
        return allowed;
    /* what a cut left open is decided now, and for all later cuts */
    for (uint32_t i = 0; i < o->count[lba]; i++)
        if (e[i].version != version && e[i].superseded == 0)
            e[i].superseded = e[i].end <= o->last_cut ? 1 : o->tick;
    if (o->last_cut != 0)
        drop(o, lba, 1);
    return true;
}

void tk_oracle_set(tk_oracle *o, uint64_t lba, uint32_t version)
{
    o->tick++;
    o->count[lba] = 1;
    *entries_of(o, lba) =
        (struct entry){.version = version, .begin = o->tick, .end = o->tick};
}

uint32_t tk_oracle_newest(const tk_oracle *o, uint64_t lba)
{
    return o->count[lba] == 0 ? 0 : entries_of(o, lba)[o->count[lba] - 1].version;
}
