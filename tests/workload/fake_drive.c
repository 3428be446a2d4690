#include "fake_drive.h"

#include <stdlib.h>

struct ftl_drive {
    uint64_t lbas;
    uint32_t lba_bytes, resets, deepest;
    ftl_ns now;
    struct ftl_cpl queue[FTL_OPEN_MAX]; /* constant latency: first in, first out */
    uint64_t head, tail;
    struct fake_seen *seen;
    uint64_t count;
};

ftl_drive *fake_new(uint64_t lbas, uint32_t lba_bytes)
{
    ftl_drive *d = calloc(1, sizeof *d);
    if (d == NULL)
        abort();
    d->lbas = lbas;
    d->lba_bytes = lba_bytes;
    d->seen = malloc(FAKE_SEEN_MAX * sizeof *d->seen);
    if (d->seen == NULL)
        abort();
    return d;
}

void ftl_destroy(ftl_drive *d)
{
    if (d != NULL)
        free(d->seen);
    free(d);
}

uint64_t fake_count(const ftl_drive *d)
{
    return d->count;
}

const struct fake_seen *fake_seen(const ftl_drive *d)
{
    return d->seen;
}

uint32_t fake_resets(const ftl_drive *d)
{
    return d->resets;
}

uint32_t fake_deepest(const ftl_drive *d)
{
    return d->deepest;
}

static void see(ftl_drive *d, struct fake_seen s)
{
    if (d->count < FAKE_SEEN_MAX)
        d->seen[d->count] = s;
    d->count++;
}

const char *ftl_strerror(int err)
{
    return err == FTL_ERANGE ? "range" : "error";
}

int ftl_policy_fault(const ftl_drive *d, char *why, size_t size)
{
    (void)d;
    (void)why;
    (void)size;
    return 0;
}

uint64_t ftl_lba_count(const ftl_drive *d)
{
    return d->lbas;
}

uint32_t ftl_lba_bytes(const ftl_drive *d)
{
    return d->lba_bytes;
}

ftl_ns ftl_now(const ftl_drive *d)
{
    return d->now;
}

int ftl_submit(ftl_drive *d, const struct ftl_cmd *c)
{
    if (d->tail - d->head == FTL_OPEN_MAX)
        return FTL_EAGAIN;
    if (c->opcode != FTL_FLUSH && (c->lba_count == 0 || c->lba + c->lba_count > d->lbas))
        return FTL_ERANGE;
    see(d, (struct fake_seen){d->now, c->lba, c->lba_count, c->stream, c->opcode});
    d->queue[d->tail++ % FTL_OPEN_MAX] = (struct ftl_cpl){.user = c->user,
                                                          .submitted_at = d->now,
                                                          .done_at = d->now + FAKE_LATENCY_NS,
                                                          .opcode = c->opcode,
                                                          .lba_count = c->lba_count};
    if (d->tail - d->head > d->deepest)
        d->deepest = (uint32_t)(d->tail - d->head);
    return 0;
}

uint32_t ftl_poll(ftl_drive *d, struct ftl_cpl *ret, uint32_t max)
{
    uint32_t n = 0;
    while (n < max && d->head < d->tail && d->queue[d->head % FTL_OPEN_MAX].done_at <= d->now)
        ret[n++] = d->queue[d->head++ % FTL_OPEN_MAX];
    return n;
}

int ftl_run(ftl_drive *d, ftl_ns t)
{
    ftl_ns next = d->head < d->tail ? d->queue[d->head % FTL_OPEN_MAX].done_at : FTL_NEVER;
    if (next != FTL_NEVER && next <= t) {
        d->now = next > d->now ? next : d->now;
        return 1;
    }
    if (t != FTL_NEVER && t > d->now)
        d->now = t;
    return 0;
}

int ftl_write_untimed(ftl_drive *d, const struct ftl_extent *extents, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (extents[i].lba + extents[i].lba_count > d->lbas)
            return FTL_ERANGE;
        see(d, (struct fake_seen){FTL_NEVER, extents[i].lba, extents[i].lba_count,
                                  (uint16_t)extents[i].stream, FTL_WRITE});
    }
    return 0;
}

void ftl_counters_get(const ftl_drive *d, struct ftl_counters *ret)
{
    (void)d;
    *ret = (struct ftl_counters){0};
}

void ftl_counters_reset(ftl_drive *d)
{
    d->resets++;
}
