/* snapfile.c - the container of a snapshot: header, text, sections of packed pieces. */
#include "nvme/snapfile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "core/core.h"

static const char magic[8] = {'F', 'T', 'L', 'D', 'R', 'I', 'V', 'E'};
enum { PACK_LEVEL = 1 };            /* maps pack little at any level: the fast one */
#define TIME_MAX (UINT64_C(1) << 60)    /* ns; far from where sums would overflow */

static bool is_zero(const uint8_t *p, size_t n)
{
    return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* ---- writing ----------------------------------------------------------------------- */

static void hand(struct snap_out *o, const void *bytes, size_t n)
{
    if (o->err == 0 && n != 0 && o->sink(o->user, bytes, n) != 0)
        o->err = FTL_EIO;
}

int snap_out_open(struct snap_out *o, ftl_sink sink, void *user)
{
    *o = (struct snap_out){.sink = sink, .user = user};
    o->room = SNAP_PIECE + ZSTD_compressBound(SNAP_PIECE_BYTES);
    o->piece = malloc(SNAP_PIECE + SNAP_PIECE_BYTES);
    o->packed = malloc(o->room);
    if (o->piece != NULL && o->packed != NULL)
        return 0;
    free(o->piece);
    free(o->packed);
    return FTL_ENOMEM;
}

void snap_out_head(struct snap_out *o, const struct snap_head *h, const struct ftl_config *cfg)
{
    uint8_t head[SNAP_HEADER] = {0};
    char *text = (char *)o->packed;         /* larger than SNAP_TEXT_MAX */
    size_t bytes = snap_config_put(cfg, text), note = strlen(h->note);

    memcpy(head, magic, sizeof magic);
    core_put(head + 8, SNAP_VERSION, 4);
    core_put(head + 12, h->kind, 4);
    core_put(head + 16, h->seed, 8);
    core_put(head + 24, h->now, 8);
    core_put(head + 32, h->layout, 8);
    core_put(head + 40, h->object_bytes, 8);
    core_put(head + 48, h->arrays, 4);
    core_put(head + 52, bytes, 4);
    core_put(head + 56, XXH3_64bits(text, bytes), 8);
    core_put(head + 64, note, 4);
    core_put(head + 72, XXH3_64bits(h->note, note), 8);
    core_put(head + 88, XXH3_64bits(head, 88), 8);
    hand(o, head, sizeof head);
    hand(o, text, bytes);
    hand(o, h->note, note);
}

void snap_out_begin(struct snap_out *o, const struct snap_section *s)
{
    uint8_t head[SNAP_SECTION];

    core_put(head, s->id, 4);
    core_put(head + 4, s->index, 4);
    core_put(head + 8, s->where, 8);
    core_put(head + 16, s->bytes, 8);
    core_put(head + 24, XXH3_64bits_withSeed(head, 24, o->sections++), 8);
    hand(o, head, sizeof head);
}

/* Sends what has gathered; nothing at all is the end of a section. */
static void send(struct snap_out *o)
{
    const uint8_t *bytes = o->piece + SNAP_PIECE;
    uint8_t *from = o->packed;
    size_t n = 0;

    if (!is_zero(bytes, o->used)) {
        n = ZSTD_compress(o->packed + SNAP_PIECE, o->room - SNAP_PIECE, bytes, o->used, PACK_LEVEL);
        if (ZSTD_isError(n) || n >= o->used) {
            from = o->piece;
            n = o->used;
        }
    }
    core_put(from + 8, o->used, 4);
    core_put(from + 12, n, 4);
    core_put(from, XXH3_64bits_withSeed(from + 8, n + 8, o->pieces++), 8);
    hand(o, from, SNAP_PIECE + n);
    o->used = 0;
}

int snap_out_bytes(void *out, const void *bytes, size_t n)
{
    struct snap_out *o = out;
    const uint8_t *from = bytes;

    while (n > 0 && o->err == 0) {
        size_t some = SNAP_PIECE_BYTES - o->used < n ? SNAP_PIECE_BYTES - o->used : n;
        memcpy(o->piece + SNAP_PIECE + o->used, from, some);
        o->used += some;
        from += some;
        n -= some;
        if (o->used == SNAP_PIECE_BYTES)
            send(o);
    }
    return o->err;
}

void snap_out_end(struct snap_out *o)
{
    if (o->used != 0)
        send(o);
    send(o);
}

int snap_out_close(struct snap_out *o)
{
    const struct snap_section end = {.id = SNAP_END, .index = o->sections};

    if (o->err == 0)
        snap_out_begin(o, &end);
    free(o->piece);
    free(o->packed);
    return o->err;
}

/* ---- reading ----------------------------------------------------------------------- */

int snap_in_refuse(struct snap_in *in, int err, const char *format, ...)
{
    va_list args;

    if (in->err != 0)
        return in->err;
    in->err = err;
    if (in->why != NULL && in->why_size > 0) {
        va_start(args, format);
        (void)vsnprintf(in->why, in->why_size, format, args);
        va_end(args);
    }
    return err;
}

static int take(struct snap_in *in, void *ret, size_t n, const char *what)
{
    if (in->err == 0 && n != 0 && in->source(in->user, ret, n) != 0)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "ends early: in its %s, which begins at byte %llu",
                              what, (unsigned long long)in->at);
    in->at += n;
    return in->err;
}

int snap_in_open(struct snap_in *in, ftl_source source, void *user, char *why, size_t why_size)
{
    *in = (struct snap_in){.source = source, .user = user, .why = why, .why_size = why_size};
    in->piece = malloc(SNAP_PIECE_BYTES);
    in->packed = malloc(SNAP_PIECE + SNAP_PIECE_BYTES);
    if (in->piece != NULL && in->packed != NULL)
        return 0;
    snap_in_close(in);
    return snap_in_refuse(in, FTL_ENOMEM, "out of memory");
}

void snap_in_close(struct snap_in *in)
{
    free(in->piece);
    free(in->packed);
    in->piece = in->packed = NULL;
}

static int read_texts(struct snap_in *in, const uint8_t *head, struct snap_head *ret,
                      struct ftl_config *ret_cfg)
{
    char *text = (char *)in->piece, why[200] = "";
    size_t bytes = (size_t)core_get(head + 52, 4), note = (size_t)core_get(head + 64, 4);

    if (bytes >= SNAP_TEXT_MAX || note >= FTL_NOTE_MAX)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "header: %zu bytes of configuration, %zu of note: "
                              "too many", bytes, note);
    if (take(in, text, bytes, "configuration") < 0)
        return in->err;
    text[bytes] = '\0';
    if (XXH3_64bits(text, bytes) != core_get(head + 56, 8))
        return snap_in_refuse(in, FTL_ESNAPSHOT, "configuration: its checksum is wrong");
    if (snap_config_get(text, ret_cfg, why, sizeof why) < 0)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "configuration: %s", why);
    if (take(in, ret->note, note, "note") < 0)
        return in->err;
    ret->note[note] = '\0';
    if (XXH3_64bits(ret->note, note) != core_get(head + 72, 8) || strlen(ret->note) != note)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "note: its checksum is wrong");
    return 0;
}

int snap_in_head(struct snap_in *in, struct snap_head *ret, struct ftl_config *ret_cfg)
{
    uint8_t head[SNAP_HEADER];

    if (take(in, head, sizeof magic, "header") < 0)
        return in->err;
    if (memcmp(head, magic, sizeof magic) != 0)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "header: not a snapshot of a drive");
    if (take(in, head + sizeof magic, sizeof head - sizeof magic, "header") < 0)
        return in->err;
    *ret = (struct snap_head){.version = (uint32_t)core_get(head + 8, 4),
                              .kind = (uint32_t)core_get(head + 12, 4),
                              .seed = core_get(head + 16, 8), .now = core_get(head + 24, 8),
                              .layout = core_get(head + 32, 8),
                              .object_bytes = core_get(head + 40, 8),
                              .arrays = (uint32_t)core_get(head + 48, 4)};
    if (ret->version != SNAP_VERSION)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "header: format version %u, this library reads %d",
                              ret->version, SNAP_VERSION);
    if (core_get(head + 88, 8) != XXH3_64bits(head, 88))
        return snap_in_refuse(in, FTL_ESNAPSHOT, "header: its checksum is wrong");
    if (ret->kind != FTL_SNAPSHOT_STATE && ret->kind != FTL_SNAPSHOT_MEDIA)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "header: kind %u is unknown", ret->kind);
    if (ret->now > TIME_MAX)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "header: its time is beyond 36 years");
    if (core_get(head + 68, 4) != 0 || core_get(head + 80, 8) != 0)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "header: bytes 68..71 and 80..87 must be 0");
    return read_texts(in, head, ret, ret_cfg);
}

int snap_in_begin(struct snap_in *in, enum snap_id id, struct snap_section *ret)
{
    static const char *const names[] = {"none", "object", "array", "policy", "NAND", "end"};
    uint8_t head[SNAP_SECTION];
    struct snap_section s;
    uint64_t at = in->at;

    if (take(in, head, sizeof head, "section head") < 0)
        return in->err;
    if (core_get(head + 24, 8) != XXH3_64bits_withSeed(head, 24, in->sections++))
        return snap_in_refuse(in, FTL_ESNAPSHOT, "section at byte %llu: its head's checksum is wrong",
                              (unsigned long long)at);
    s = (struct snap_section){(uint32_t)core_get(head, 4), (uint32_t)core_get(head + 4, 4),
                              core_get(head + 8, 8), core_get(head + 16, 8)};
    if (s.id != id)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "section at byte %llu: id %u, must be %d (%s)",
                              (unsigned long long)at, s.id, id, names[id]);
    if (id == SNAP_END && s.index + 1 != in->sections)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "%u sections, its end says %u", in->sections - 1,
                              s.index);
    in->used = in->count = 0;
    in->at_end = false;
    if (ret != NULL)
        *ret = s;
    return 0;
}

/* The next piece of the section, unpacked; none: at_end. */
static int next_piece(struct snap_in *in)
{
    uint64_t at = in->at;

    if (take(in, in->packed, SNAP_PIECE, "piece head") < 0)
        return in->err;
    size_t count = (size_t)core_get(in->packed + 8, 4), n = (size_t)core_get(in->packed + 12, 4);
    if (count > SNAP_PIECE_BYTES || n > count)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "piece at byte %llu: its size is impossible",
                              (unsigned long long)at);
    if (take(in, in->packed + SNAP_PIECE, n, "piece") < 0)
        return in->err;
    if (core_get(in->packed, 8) != XXH3_64bits_withSeed(in->packed + 8, n + 8, in->pieces++))
        return snap_in_refuse(in, FTL_ESNAPSHOT, "piece at byte %llu: its checksum is wrong",
                              (unsigned long long)at);
    in->zeros = n == 0;
    in->used = 0;
    in->count = count;
    in->at_end = count == 0;
    if (n == count)
        memcpy(in->piece, in->packed + SNAP_PIECE, n);
    else if (n != 0 && ZSTD_decompress(in->piece, count, in->packed + SNAP_PIECE, n) != count)
        return snap_in_refuse(in, FTL_ESNAPSHOT, "piece at byte %llu: does not unpack",
                              (unsigned long long)at);
    return 0;
}

/* Memory that is zero already is not written: it may cost nothing as yet. */
static void move(struct snap_in *in, uint8_t *to, size_t n)
{
    if (to != NULL && !in->zeros)
        memcpy(to, in->piece + in->used, n);
    else if (to != NULL && !is_zero(to, n))
        memset(to, 0, n);
    in->used += n;
}

static int move_all(struct snap_in *in, uint8_t *to, uint64_t n)
{
    while (n > 0) {
        if (in->err == 0 && in->used == in->count && !in->at_end)
            (void)next_piece(in);
        if (in->err == 0 && in->at_end)
            (void)snap_in_refuse(in, FTL_ESNAPSHOT, "section %u is too short", in->sections - 1);
        if (in->err != 0)
            return in->err;
        uint64_t left = in->count - in->used;
        size_t some = (size_t)(left < n ? left : n);
        move(in, to, some);
        to = to != NULL ? to + some : NULL;
        n -= some;
    }
    return in->err;
}

int snap_in_bytes(void *in, void *ret, size_t n)
{
    return move_all(in, ret, n);
}

int snap_in_skip(struct snap_in *in, uint64_t n)
{
    return move_all(in, NULL, n);
}

int snap_in_end(struct snap_in *in)
{
    if (in->err == 0 && in->used == in->count && !in->at_end)
        (void)next_piece(in);
    if (in->err == 0 && !in->at_end)
        (void)snap_in_refuse(in, FTL_ESNAPSHOT, "section %u is too long", in->sections - 1);
    return in->err;
}
