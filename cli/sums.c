/* sums.c - quantities that several reports show. */
#include "cli.h"

struct cli_wa cli_wa_of(const struct ftl_counters *c)
{
    struct cli_wa w = {.host = c->host_bytes};
    w.relocated = c->gc_bytes + c->wear_bytes + c->refresh_bytes;
    w.programmed = c->host_bytes + c->rmw_bytes + w.relocated + c->metadata_bytes +
                   c->parity_bytes + c->padding_bytes + c->fold_bytes + c->translation_bytes;
    w.known = w.host > 0;
    if (w.known) {
        w.wa = (double)w.programmed / (double)w.host;
        w.wa_gc = (double)(w.host + w.relocated) / (double)w.host;
    }
    return w;
}

double cli_per_second(uint64_t amount, uint64_t ns)
{
    return ns == 0 ? 0.0 : (double)amount * 1e9 / (double)ns;
}

double cli_share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0.0 : 100.0 * (double)part / (double)whole;
}

double cli_visible_share(uint64_t part, uint64_t whole, double least)
{
    double share = cli_share(part, whole);
    return part > 0 && share < least ? least : share;
}

double cli_utilisation(uint64_t busy_ns, uint64_t units, const struct cli_report *r)
{
    uint64_t span = r->end_ns - r->status.since;
    return units == 0 || span == 0 ? 0.0 : (double)busy_ns / (double)units / (double)span;
}
