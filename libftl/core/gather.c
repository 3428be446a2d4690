/* gather.c - room after a loss that left none.
 *
 * Without a mark every superblock that was open is closed as it is. Losses that follow each other
 * faster than collection can work would so use up the free ones, and collection needs one to begin
 * with. So a start gathers the live units of the emptiest superblocks and writes them anew, into
 * one of these: the log holds them until that is erased and programmed again. */
#include "core/recover.h"

enum { FREE_MOST = 16 };        /* superblocks gathered at once */

/* Superblocks that collection and the host need to begin with; units held back for a full word
 * line take two more. */
static uint32_t needed(const struct ftl_core *c)
{
    return (uint32_t)c->cfg->gc_reserve + 1 + (c->cfg->power_plp ? 0 : 2);
}

/* Units that may be gathered: a superblock, and what a flush would hold. */
static uint32_t most(const struct ftl_core *c)
{
    uint32_t units = c->buffer_limit + c->gc.buffer_limit;
    units -= units % c->g.wl_units;
    return units < c->g.sb_units ? units : c->g.sb_units;
}

static uint32_t emptiest(const struct ftl_core *c, uint32_t class, const uint32_t *chosen,
                         uint32_t n)
{
    uint32_t best = SB_NONE;
    for (uint32_t sb = 0; sb < c->g.sb_count; sb++) {
        bool taken = c->state[sb] != SB_CLOSED || (class != UINT32_MAX && c->sb_class[sb] != class);
        for (uint32_t i = 0; i < n && !taken; i++)
            taken = chosen[i] == sb;
        if (!taken && (best == SB_NONE || c->valid[sb] < c->valid[best]))
            best = sb;
    }
    return best;
}

/* Takes the live units of a superblock into the list. */
static void list_live(struct recovery *r, uint32_t sb)
{
    struct ftl_core *c = r->c;
    for (uint32_t slot = sb * c->g.sb_units + 1; slot <= (sb + 1) * c->g.sb_units; slot++)
        if (c->rmap[slot] != 0 && c->map[c->rmap[slot]] == slot)
            c->journal->found[r->found++] =
                (struct found_unit){.key = c->rmap[slot], .slot = slot};
}

/* Unit `key` (0: filler) of slot `from` waits for slot `to` from now on. */
static int move(struct recovery *r, uint32_t key, uint32_t from, uint32_t to)
{
    struct ftl_core *c = r->c;
    uint8_t sector[CODEWORD_BYTES + PAYLOAD_TAG_BYTES] = {0};
    uint64_t seq = ++c->payload->seq;

    for (uint32_t cw = 0; cw < c->g.unit_cws; cw++) {
        if (key != 0 && !core_payload_peek(c, from, cw, key, sector))
            return FTL_EMEDIA;
        core_payload_restore(c, to, cw, key, seq, CAUSE_GC, sector, true);
        r->step_reads++;
    }
    c->rmap[to] = key;
    if (key == 0)
        return 0;
    c->map[key] = to;
    c->journal->seqs[key] = seq;
    c->valid[geometry_superblock(&c->g, from - 1)]--;
    c->valid[geometry_superblock(&c->g, to - 1)]++;
    return 0;
}

/* The listed units are to be written to sb, which begins a new life. */
static int rewrite(struct recovery *r, uint32_t sb)
{
    struct ftl_core *c = r->c;
    uint32_t slot = sb * c->g.sb_units + 1;

    c->erases[sb]++;
    c->sb_frontier[sb] = (uint8_t)core_gc_frontier(c, c->sb_class[sb]);
    recover_empty(r, sb);
    for (uint32_t i = 0; i < r->found; i++, slot++) {
        int err = move(r, c->journal->found[i].key, c->journal->found[i].slot, slot);
        if (err < 0)
            return err;
    }
    for (; (slot - 1) % c->g.wl_units != 0; slot++)
        (void)move(r, 0, 0, slot);
    c->state[sb] = SB_OPEN;
    c->in_log -= c->g.sb_units;
    c->journal->gathered = sb;
    return 0;
}

int recover_gather(struct recovery *r)
{
    struct ftl_core *c = r->c;
    uint32_t chosen[FREE_MOST] = {0}, n = 0, need = needed(c), limit = most(c), class;

    need = need < FREE_MOST ? need : FREE_MOST;
    if (recover_is_still(r) || c->free_count >= need)
        return 0;
    uint32_t first = emptiest(c, UINT32_MAX, chosen, 0);
    class = first == SB_NONE ? 0 : c->sb_class[first];
    r->found = 0;
    while (n < FREE_MOST && c->free_count + n < need + 1) {
        uint32_t sb = emptiest(c, class, chosen, n);
        if (sb == SB_NONE || r->found + c->valid[sb] > limit)
            break;
        list_live(r, sb);
        chosen[n++] = sb;
    }
    if (n == 0 || (n == 1 && c->free_count != 0))
        return 0;
    int err = rewrite(r, chosen[0]);
    for (uint32_t i = 1; i < n && err == 0; i++) {
        c->in_log -= c->g.sb_units;
        recover_free(r, chosen[i]);
    }
    return err;
}

/* What was gathered, by this start or one that was cut short, is on the medium before the mark's
 * word ends: without capacitors nothing else would keep it. */
int recover_program(struct recovery *r)
{
    struct ftl_core *c = r->c;
    struct journal *j = c->journal;

    if (j->gathered == SB_NONE)
        return 0;
    uint32_t units = c->valid[j->gathered], over = units % c->g.wl_units;
    int err = core_resume_frontier(c, j->gathered, &r->step_reads);
    j->gathered = SB_NONE;
    if (j->cut)
        return FTL_EPOWER;
    c->count->gc_units_moved += units;
    c->count->gc_bytes += (uint64_t)units << c->g.unit_shift;
    c->count->padding_bytes += (uint64_t)(over != 0 ? c->g.wl_units - over : 0)
                               << c->g.unit_shift;
    return err;
}
