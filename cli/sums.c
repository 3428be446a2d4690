/* sums.c - quantities that several reports show. */
#include "cli.h"

#include <string.h>

const struct cli_cause cli_causes[CLI_CAUSES] = {
#define CAUSE(name, moves) {#name, offsetof(struct ftl_counters, name##_bytes), moves}
    CAUSE(host, false),   CAUSE(rmw, false),    CAUSE(gc, true),           CAUSE(wear, true),
    CAUSE(refresh, true), CAUSE(metadata, false), CAUSE(parity, false),    CAUSE(padding, false),
    CAUSE(fold, true),    CAUSE(translation, false), CAUSE(retire, true),
#undef CAUSE
};

uint64_t cli_cause_bytes(const struct ftl_counters *c, uint32_t cause)
{
    uint64_t bytes;
    memcpy(&bytes, (const char *)c + cli_causes[cause].offset, sizeof bytes);
    return bytes;
}

struct cli_wa cli_wa_of(const struct ftl_counters *c)
{
    struct cli_wa w = {.host = c->host_bytes};
    for (uint32_t i = 0; i < CLI_CAUSES; i++) {
        w.programmed += cli_cause_bytes(c, i);
        w.relocated += cli_causes[i].moves ? cli_cause_bytes(c, i) : 0;
    }
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
