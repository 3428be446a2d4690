/* snapfile.h - inside nvme: the container of a snapshot. FORMAT.md has its bytes.
 *
 * Header, configuration and note as text, then sections; a section is a row of pieces of at
 * most 1 MiB, each packed and checksummed by itself, so that nothing unverified is used and
 * memory is bounded by what the reader has asked for. The first error sticks. */
#ifndef FTL_NVME_SNAPFILE_H
#define FTL_NVME_SNAPFILE_H

#include "ftl/ftl_snapshot.h"

enum {
    SNAP_VERSION = 1,
    SNAP_HEADER = 96,
    SNAP_SECTION = 32,
    SNAP_PIECE = 16,            /* of its head */
    SNAP_PIECE_BYTES = 1 << 20, /* of its contents, at most */
    SNAP_TEXT_MAX = 1 << 16
};
enum snap_id { SNAP_DRIVE = 1, SNAP_ARRAY, SNAP_POLICY, SNAP_NAND, SNAP_END };

/* Made at build time: a digest of all sources of the library and of the NAND model. */
extern const char snap_sources[];

/* Of this build: sizes and byte order, and the sources that give the bytes a meaning. */
uint64_t snap_layout(void);

struct snap_head {
    uint32_t version, kind, arrays;
    uint64_t seed, now, layout, object_bytes;
    char note[FTL_NOTE_MAX];
};

struct snap_section {
    uint32_t id, index;
    uint64_t where, bytes;      /* bytes: 0 = not known beforehand */
};

struct snap_out {
    ftl_sink sink;
    void *user;
    uint8_t *piece, *packed;    /* being filled; room to pack it, behind its head */
    size_t used, room;
    uint64_t pieces;
    uint32_t sections;
    int err;
};

int snap_out_open(struct snap_out *o, ftl_sink sink, void *user);
void snap_out_head(struct snap_out *o, const struct snap_head *h, const struct ftl_config *cfg);
void snap_out_begin(struct snap_out *o, const struct snap_section *s);
int snap_out_bytes(void *o, const void *bytes, size_t n);  /* 0 or o->err */
void snap_out_end(struct snap_out *o);
/* Ends the file; frees. 0, FTL_EIO or FTL_ENOMEM. */
int snap_out_close(struct snap_out *o);

struct snap_in {
    ftl_source source;
    void *user;
    uint8_t *piece, *packed;
    size_t used, count;         /* of the piece: taken, all */
    bool zeros, at_end;         /* the piece is zeros; the section has ended */
    uint64_t pieces;
    uint32_t sections;
    uint64_t at;                /* bytes read so far */
    int err;
    char *why;
    size_t why_size;
};

int snap_in_open(struct snap_in *in, ftl_source source, void *user, char *why, size_t why_size);
void snap_in_close(struct snap_in *in);
int snap_in_head(struct snap_in *in, struct snap_head *ret, struct ftl_config *ret_cfg);
/* The next section, which must have this id; ret may be NULL. */
int snap_in_begin(struct snap_in *in, enum snap_id id, struct snap_section *ret);
/* The next n bytes of it. */
int snap_in_bytes(void *in, void *ret, size_t n);
int snap_in_skip(struct snap_in *in, uint64_t n);
/* All of it must have been read. */
int snap_in_end(struct snap_in *in);
/* The first error: its line goes to why. Returns the code that sticks. */
int snap_in_refuse(struct snap_in *in, int err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- snapconf.c ---- */
/* The configuration as text of SNAP_TEXT_MAX at most; its length. */
size_t snap_config_put(const struct ftl_config *cfg, char *ret_text);
/* And back; the text is ended by 0. 0, or -1 with the reason. */
int snap_config_get(const char *text, struct ftl_config *ret, char *why, size_t why_size);
/* May a snapshot with `saved` be loaded as `want`? 0 or FTL_ECONFIG. *ret_pace: do they pace
 * differently? */
int snap_config_match(const struct ftl_config *saved, const struct ftl_config *want,
                      uint32_t kind, bool *ret_pace, char *why, size_t why_size);

#endif
