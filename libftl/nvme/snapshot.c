/* snapshot.c - a drive as bytes, and back.
 *
 * A state is the drive object and every array of sim_mem, as ftl_fork() copies them, with all
 * pointers taken out: a drive created from the same configuration has the same arrays in the
 * same order and supplies the pointers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "nvme/drive.h"
#include "nvme/snapfile.h"

static int refuse(int err, char *why, size_t why_size, const char *text)
{
    if (why != NULL)
        (void)snprintf(why, why_size, "%s", text);
    return err;
}

uint64_t snap_layout(void)
{
    const uint32_t order = 0x01020304;
    const uint64_t sizes[] = {sizeof(struct ftl_drive), sizeof(void *), sizeof(size_t),
                              sizeof(struct command), sizeof(struct ftl_config)};
    uint64_t id = XXH3_64bits(snap_sources, strlen(snap_sources));

    id = XXH3_64bits_withSeed(sizes, sizeof sizes, id);
    return XXH3_64bits_withSeed(&order, sizeof order, id);
}

/* Arrays that are not stored as they are: policies' state goes by policy. */
static bool is_apart(const ftl_drive *d, uint32_t i)
{
    const void *array = d->ctx.mem.list[i].array;
    return array == d->core.policy.state || media_is_scratch(&d->media, array);
}

static uint32_t array_count(const ftl_drive *d)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->ctx.mem.count; i++)
        n += !is_apart(d, i);
    return n;
}

/* ---- policies: name, and its part of the state ---------------------------------------- */
struct policy_part {
    const char *name;
    uint8_t *state;
    size_t bytes;
};
enum { POLICIES = 4 };

static void policy_parts(const struct core_policies *p, struct policy_part ret[POLICIES])
{
    uint8_t *at[POLICIES + 1] = {p->gc_state, p->wear_state, p->pace_state, p->stream_state,
                                 p->state_bytes != 0 ? p->state + p->state_bytes : NULL};
    const char *name[POLICIES] = {p->gc->head.name, p->wear->head.name, p->pace->head.name,
                                  p->stream != NULL ? p->stream->head.name : ""};
    for (int k = 0; k < POLICIES; k++)
        ret[k] = (struct policy_part){name[k], at[k],
                                      p->state_bytes != 0 ? (size_t)(at[k + 1] - at[k]) : 0};
}

/* ---- saving ----------------------------------------------------------------------------- */

/* A copy without pointers, and without what the configuration says anyway. */
static void strip(ftl_drive *s)
{
    struct ftl_core *c = &s->core;

    for (uint32_t i = 0; i < s->ctx.mem.count; i++)
        s->ctx.mem.list[i].array = NULL;
    sim_mem_aim(&s->ctx.mem);
    memset(&s->ctx.mem, 0, sizeof s->ctx.mem);
    memset(&s->cfg, 0, sizeof s->cfg);
    memset(&c->policy, 0, sizeof c->policy);
    memset(&s->power.last, 0, sizeof s->power.last);
    c->ctx = NULL;
    c->media = NULL;
    c->cfg = NULL;
    c->count = NULL;
    c->payload = NULL;
    c->raid = NULL;
    c->journal = NULL;
    c->kept.incoming = c->kept.page = NULL;
    c->log.at = NULL;
    media_point(&s->media, NULL);
}

/* The write buffer: what is not in use may be anything. */
struct parts {
    struct snap_out *o;
    const uint8_t *array;
};

static void write_part(void *user, uint64_t at, size_t bytes, bool used)
{
    static const uint8_t zeros[4096];
    const struct parts *p = user;

    if (used)
        (void)snap_out_bytes(p->o, p->array + at, bytes);
    for (size_t n; !used && bytes > 0; bytes -= n) {
        n = bytes < sizeof zeros ? bytes : sizeof zeros;
        (void)snap_out_bytes(p->o, zeros, n);
    }
}

static void write_array(struct snap_out *o, const ftl_drive *d, uint32_t i)
{
    const struct sim_mem *mem = &d->ctx.mem;
    const struct snap_section s = {SNAP_ARRAY, i, (uint64_t)mem->list[i].where, mem->list[i].bytes};

    snap_out_begin(o, &s);
    if (mem->list[i].array == d->commands) {    /* none is open: the host's pointers are stale */
        for (size_t k = 0; k < s.bytes / sizeof(struct command); k++) {
            struct command one = d->commands[k];
            memset(&one.cmd, 0, sizeof one.cmd);
            (void)snap_out_bytes(o, &one, sizeof one);
        }
    } else if (d->core.payload != NULL && mem->list[i].array == d->core.payload->bytes) {
        struct parts p = {o, mem->list[i].array};
        core_payload_parts(&d->core, &p, write_part);
    } else {
        (void)snap_out_bytes(o, mem->list[i].array, s.bytes);
    }
    snap_out_end(o);
}

static void write_state(struct snap_out *o, const ftl_drive *d)
{
    struct policy_part part[POLICIES];
    const struct snap_section object = {SNAP_DRIVE, 0, 0, sizeof *d};
    ftl_drive *s = malloc(sizeof *s);

    if (s == NULL) {
        o->err = FTL_ENOMEM;
        return;
    }
    memcpy(s, d, sizeof *s);
    strip(s);
    snap_out_begin(o, &object);
    (void)snap_out_bytes(o, s, sizeof *s);
    snap_out_end(o);
    free(s);
    for (uint32_t i = 0; i < d->ctx.mem.count; i++)
        if (!is_apart(d, i))
            write_array(o, d, i);
    policy_parts(&d->core.policy, part);
    for (uint32_t k = 0; k < POLICIES; k++) {
        const struct snap_section head = {SNAP_POLICY, k,
                                          XXH3_64bits(part[k].name, strlen(part[k].name)),
                                          part[k].bytes};
        snap_out_begin(o, &head);
        (void)snap_out_bytes(o, part[k].state, part[k].bytes);
        snap_out_end(o);
    }
}

static int may_save(const ftl_drive *d, enum ftl_snapshot_kind kind, const char *note, char *why,
                    size_t why_size)
{
    if (kind != FTL_SNAPSHOT_STATE && kind != FTL_SNAPSHOT_MEDIA)
        return refuse(FTL_EINVAL, why, why_size, "snapshot: a kind that is none");
    if (note != NULL && strlen(note) >= FTL_NOTE_MAX)
        return refuse(FTL_EINVAL, why, why_size, "snapshot: the note has more than 255 bytes");
    if (kind == FTL_SNAPSHOT_MEDIA && (d->core.journal == NULL || d->core.payload == NULL))
        return refuse(FTL_EINVAL, why, why_size, "snapshot of media: needs media.payload=1 and "
                      "journal.enabled=1, or nothing could be recovered from it");
    if (kind == FTL_SNAPSHOT_MEDIA && !d->power.off)
        return refuse(FTL_EBUSY, why, why_size, "snapshot of media: the power is on; switch it off "
                      "first, then NAND holds all there is");
    if (kind == FTL_SNAPSHOT_STATE && d->open != 0 && !d->power.off)
        return refuse(FTL_EBUSY, why, why_size, "snapshot of a state: commands are open; poll "
                      "their completions first");
    if (d->core.error != 0)
        return refuse(FTL_EPOLICY, why, why_size, "snapshot: a policy's fault has ended the run");
    return 0;
}

int ftl_snapshot_write(const ftl_drive *d, enum ftl_snapshot_kind kind, const char *note,
                       ftl_sink sink, void *user, char *why, size_t why_size)
{
    const struct snap_section nand = {SNAP_NAND, 0, 0, 0};
    struct snap_out o;

    if (d == NULL || sink == NULL)
        return FTL_EINVAL;
    int err = may_save(d, kind, note, why, why_size);
    if (err < 0)
        return err;
    if (snap_out_open(&o, sink, user) < 0)
        return refuse(FTL_ENOMEM, why, why_size, "out of memory");
    struct snap_head h = {.kind = kind, .seed = d->cfg.drive_seed, .now = d->ctx.now};
    if (kind == FTL_SNAPSHOT_STATE) {
        h.layout = snap_layout();
        h.object_bytes = sizeof *d;
        h.arrays = array_count(d);
    }
    (void)snprintf(h.note, sizeof h.note, "%s", note != NULL ? note : "");
    snap_out_head(&o, &h, &d->cfg);
    if (kind == FTL_SNAPSHOT_STATE)
        write_state(&o, d);
    snap_out_begin(&o, &nand);
    if (media_save(&d->media, snap_out_bytes, &o) != 0 && o.err == 0)
        o.err = FTL_ENOMEM;
    snap_out_end(&o);
    err = snap_out_close(&o);
    return err < 0 ? refuse(err, why, why_size, err == FTL_EIO ? "could not be written"
                                                               : "out of memory")
                   : 0;
}

/* ---- loading ----------------------------------------------------------------------------- */

/* `s` becomes `d`, which keeps its pointers. */
static void graft(ftl_drive *d, ftl_drive *s)
{
    const struct ftl_core *c = &d->core;

    s->ctx.mem = d->ctx.mem;
    sim_mem_aim(&s->ctx.mem);
    s->cfg = d->cfg;
    s->core.policy = c->policy;
    s->core.ctx = c->ctx;
    s->core.media = c->media;
    s->core.cfg = c->cfg;
    s->core.count = c->count;
    s->core.payload = c->payload;
    s->core.raid = c->raid;
    s->core.journal = c->journal;
    media_point(&s->media, &d->media);
    memcpy(d, s, sizeof *d);
}

static int read_arrays(struct snap_in *in, ftl_drive *d)
{
    const struct sim_mem *mem = &d->ctx.mem;

    for (uint32_t i = 0; i < mem->count && in->err == 0; i++) {
        struct snap_section s;
        if (is_apart(d, i))
            continue;
        if (snap_in_begin(in, SNAP_ARRAY, &s) < 0)
            return in->err;
        if ((int64_t)s.where != mem->list[i].where || s.bytes != mem->list[i].bytes)
            return snap_in_refuse(in, FTL_ESNAPSHOT, "array %u: %llu bytes, this drive's has %zu",
                                  s.index, (unsigned long long)s.bytes, mem->list[i].bytes);
        if (snap_in_bytes(in, mem->list[i].array, mem->list[i].bytes) == 0)
            (void)snap_in_end(in);
    }
    return in->err;
}

static int read_policies(struct snap_in *in, ftl_drive *d)
{
    struct policy_part part[POLICIES];

    policy_parts(&d->core.policy, part);
    for (uint32_t k = 0; k < POLICIES; k++) {
        struct snap_section s;
        if (snap_in_begin(in, SNAP_POLICY, &s) < 0)
            return in->err;
        bool same = s.where == XXH3_64bits(part[k].name, strlen(part[k].name)) &&
                    s.bytes == part[k].bytes;
        if (!same && part[k].bytes != 0)
            memset(part[k].state, 0, part[k].bytes);    /* what create asked of it is undone */
        if ((same ? snap_in_bytes(in, part[k].state, part[k].bytes)
                  : snap_in_skip(in, s.bytes)) == 0)
            (void)snap_in_end(in);
    }
    return in->err;
}

static int read_nand(struct snap_in *in, ftl_drive *d)
{
    if (snap_in_begin(in, SNAP_NAND, NULL) < 0)
        return in->err;
    int err = media_load(&d->media, snap_in_bytes, in);
    if (err < 0)
        return snap_in_refuse(in, err, err == FTL_ENOMEM ? "out of memory"
                                           : "NAND: not contents of this drive's NAND");
    return snap_in_end(in);
}

static int read_state(struct snap_in *in, ftl_drive *d, const struct snap_head *h)
{
    ftl_drive *s = malloc(sizeof *s);

    if (s == NULL)
        return snap_in_refuse(in, FTL_ENOMEM, "out of memory");
    if (h->arrays != array_count(d))
        (void)snap_in_refuse(in, FTL_ESNAPSHOT, "header: %u arrays, this drive has %u", h->arrays,
                             array_count(d));
    if (snap_in_begin(in, SNAP_DRIVE, NULL) == 0 && snap_in_bytes(in, s, sizeof *s) == 0 &&
        snap_in_end(in) == 0 && read_arrays(in, d) == 0 && read_policies(in, d) == 0 &&
        read_nand(in, d) == 0)
        graft(d, s);
    free(s);
    return in->err;
}

/* As after a loss of power: only NAND is there. */
static int read_media(struct snap_in *in, ftl_drive *d, const struct snap_head *h)
{
    if (read_nand(in, d) < 0)
        return in->err;
    if (media_arm(&d->media, 0, 0, 0, 0) < 0)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "NAND: its state is impossible");
    d->ctx.now = h->now;
    media_go_dark(&d->media);
    d->power.off = true;
    d->power.open_units = core_open_units(&d->core);
    return 0;
}

static int may_load(struct snap_in *in, const struct snap_head *h, const struct ftl_config *saved,
                    const struct ftl_config *cfg, bool *ret_pace)
{
    char why[FTL_WHY_MAX] = "";
    uint64_t layout = snap_layout();

    if (h->kind == FTL_SNAPSHOT_STATE &&
        (h->layout != layout || h->object_bytes != sizeof(struct ftl_drive)))
        return snap_in_refuse(in, FTL_ESNAPSHOT, "header: a state of another build of the library "
                              "(%016llx, this is %016llx)", (unsigned long long)h->layout,
                              (unsigned long long)layout);
    if (h->seed != saved->drive_seed)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "header: seed %llu, the configuration has %llu",
                              (unsigned long long)h->seed, (unsigned long long)saved->drive_seed);
    if (snap_config_match(saved, cfg, h->kind, ret_pace, why, sizeof why) < 0)
        return snap_in_refuse(in, FTL_ECONFIG, "%s", why);
    if (h->kind == FTL_SNAPSHOT_MEDIA && !(cfg->journal_enabled && cfg->media_payload))
        return snap_in_refuse(in, FTL_ESNAPSHOT, "media without journal.enabled=1");
    return 0;
}

int ftl_snapshot_read(ftl_source source, void *user, const struct ftl_config *cfg,
                      const struct ftl_policies *policies, ftl_drive **ret_drive, char *why,
                      size_t why_size)
{
    struct snap_in in;
    struct snap_head h;
    struct ftl_config saved;
    ftl_drive *d = NULL;
    char text[FTL_WHY_MAX] = "";
    bool pace = false;

    if (source == NULL || ret_drive == NULL)
        return FTL_EINVAL;
    if (snap_in_open(&in, source, user, why, why_size) < 0)
        return FTL_ENOMEM;
    if (snap_in_head(&in, &h, &saved) < 0 ||
        may_load(&in, &h, &saved, cfg != NULL ? cfg : &saved, &pace) < 0)
        goto out;
    int err = drive_create(cfg != NULL ? cfg : &saved, policies, &d, text, sizeof text);
    if (err < 0)
        (void)snap_in_refuse(&in, err, "%s", text);
    else if ((h.kind == FTL_SNAPSHOT_STATE ? read_state(&in, d, &h) : read_media(&in, d, &h)) == 0)
        (void)snap_in_begin(&in, SNAP_END, NULL);
    if (in.err == 0 && h.kind == FTL_SNAPSHOT_STATE && pace && core_pace(&d->core) < 0)
        (void)snap_in_refuse(&in, d->core.error, "%s", d->core.policy.fault);
    if (in.err == 0)
        *ret_drive = d;
    else
        ftl_destroy(d);
out:
    snap_in_close(&in);
    return in.err;
}
