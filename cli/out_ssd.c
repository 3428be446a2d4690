/* out_ssd.c - the "ssd" object: what the drive did. */
#include "out_json.h"

struct pair {
    const char *key;
    uint64_t value;
};

static json_t *counts(const struct pair *pairs, size_t n)
{
    json_t *o = json_object();
    for (size_t i = 0; i < n; i++)
        json_object_set_new(o, pairs[i].key, json_count(pairs[i].value));
    return o;
}

#define COUNTS(...)                                                                            \
    counts((const struct pair[]){__VA_ARGS__},                                                 \
           sizeof(const struct pair[]){__VA_ARGS__} / sizeof(struct pair))

/* A ratio never stands without what it is made of; null when nothing was written. */
static json_t *ratio(bool known, double value, const char *above_key, uint64_t above,
                     uint64_t below)
{
    json_t *o = json_object();
    json_object_set_new(o, "value", known ? json_decimal(value) : json_null());
    json_object_set_new(o, above_key, json_count(above));
    json_object_set_new(o, "host_bytes", json_count(below));
    return o;
}

static json_t *utilisation(const struct cli_report *r)
{
    const struct ftl_status *s = &r->status;
    json_t *o = json_object();
    json_object_set_new(o, "die", json_decimal(cli_utilisation(s->die_busy_ns, s->dies, r)));
    json_object_set_new(o, "channel",
                        json_decimal(cli_utilisation(s->channel_busy_ns, s->channels, r)));
    json_object_set_new(o, "link", json_decimal(cli_utilisation(s->link_busy_ns, 1, r)));
    json_object_set_new(o, "write_path",
                        json_decimal(cli_utilisation(s->write_path_busy_ns, 1, r)));
    json_object_set_new(o, "front_end",
                        json_decimal(cli_utilisation(s->front_end_busy_ns, 1, r)));
    return o;
}

static json_t *configuration(const struct cli_report *r)
{
    json_t *all = json_object();
    for (uint32_t i = 0; i < ftl_key_count(); i++) {
        struct ftl_key key;
        struct ftl_origin origin = {.tag = '-'};
        char value[128] = "", tag[2] = "-";
        if (ftl_key_get(i, &key) < 0 ||
            ftl_setup_value(r->setup, r->config, i, value, sizeof value, &origin) < 0)
            continue;
        json_t *o = json_object();
        tag[0] = origin.tag;
        json_object_set_new(o, "value", json_string(value));
        json_object_set_new(o, "tag", json_string(tag));
        json_object_set_new(o, "source", json_string(origin.where));
        json_object_set_new(all, key.key, o);
    }
    return all;
}

static json_t *bytes_by_cause(const struct ftl_counters *c)
{
    json_t *o = json_object();
    for (uint32_t i = 0; i < CLI_CAUSES; i++)
        json_object_set_new(o, cli_causes[i].name, json_count(cli_cause_bytes(c, i)));
    return o;
}

/* Every counter of the drive, by the name it has in ftl_counters.def. */
static json_t *all_counters(const struct ftl_counters *c)
{
    json_t *o = json_object();
#define X(name, unit, text) json_object_set_new(o, #name, json_count(c->name));
#include "ftl/ftl_counters.def"
#undef X
    return o;
}

static void add_activity(json_t *o, const struct ftl_counters *c, const struct ftl_status *s)
{
    json_object_set_new(
        o, "host",
        COUNTS({"read_bytes", c->host_read_bytes}, {"write_bytes", c->host_write_bytes},
               {"trim_bytes", c->host_trim_bytes}, {"reads", c->host_reads},
               {"writes", c->host_writes}, {"trims", c->host_trims},
               {"flushes", c->host_flushes}, {"unmapped_reads", c->unmapped_reads}));
    json_object_set_new(o, "nand",
                        COUNTS({"page_reads", c->nand_page_reads},
                               {"gc_page_reads", c->nand_gc_page_reads},
                               {"programs", c->nand_programs}, {"erases", c->nand_erases},
                               {"rmw_reads", c->rmw_reads}));
    json_object_set_new(o, "gc",
                        COUNTS({"victims", c->gc_victims}, {"units_moved", c->gc_units_moved},
                               {"units_scanned", c->gc_units_scanned}));
    json_object_set_new(o, "buffer",
                        COUNTS({"units", s->buffer_units}, {"units_used", s->buffer_units_used},
                               {"units_peak", s->buffer_units_peak},
                               {"read_hits", c->buffer_read_hits}, {"waits", c->buffer_waits}));
    json_object_set_new(
        o, "capacity",
        COUNTS({"user_units", s->user_units}, {"physical_units", s->physical_units},
               {"mapped_units", s->mapped_units}, {"superblock_units", s->superblock_units},
               {"superblocks", s->superblocks}, {"superblocks_free", s->superblocks_free}));
    json_object_set_new(
        o, "erases",
        COUNTS({"min", s->erases_min}, {"max", s->erases_max}, {"sum", s->erases_sum}));
}

json_t *out_ssd(const struct cli_report *r)
{
    struct cli_wa wa = cli_wa_of(&r->counters);
    json_t *o = json_object();
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->state_hash);
    json_object_set_new(o, "program", json_string("ftlsim " CLI_VERSION));
    json_object_set_new(o, "drive", json_string(r->config->drive_name));
    json_object_set_new(o, "scale", json_count(r->config->drive_scale));
    json_object_set_new(o, "seed", json_count(r->seed));
    json_object_set_new(o, "precondition",
                        r->precondition != NULL ? json_string(r->precondition) : json_null());
    json_object_set_new(o, "virtual_ns", json_count(r->end_ns));
    json_object_set_new(o, "wa",
                        ratio(wa.known, wa.wa, "programmed_bytes", wa.programmed, wa.host));
    json_object_set_new(
        o, "wa_gc",
        ratio(wa.known, wa.wa_gc, "host_and_relocated_bytes", wa.host + wa.relocated, wa.host));
    json_object_set_new(o, "a_effective",
                        r->status.a_effective_ppm == 0
                            ? json_null()
                            : json_decimal((double)r->status.a_effective_ppm / 1e6));
    json_object_set_new(o, "bytes", bytes_by_cause(&r->counters));
    add_activity(o, &r->counters, &r->status);
    json_object_set_new(o, "counters", all_counters(&r->counters));
    json_object_set_new(o, "utilisation", utilisation(r));
    json_object_set_new(o, "state_hash", json_string(hash));
    json_object_set_new(o, "configuration", configuration(r));
    return o;
}
