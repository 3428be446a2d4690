/* profile.c - the parts that come built in, and the judge of any profile.
 *
 * Source tags: [P] published, [D] derived from published figures, [A] assumed. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dev.h"

#define US(x) ((uint64_t)((x) * 1000))
#define KIB16 16384u

static const struct nand_profile presets[] = {
    {
        .name = "etlc-x3-9070",     /* 1 Tb, 6 planes, 232 layers, 2400 MT/s [P] */
        .cell = "etlc",
        .geo = {.channels = 16, .dies = 64, .planes = 6,
                .blocks_per_plane = 510,        /* [A] 1.6 % over the nominal 1 Tb */
                .wordlines_per_block = 928,     /* 232 layers [P] x 4 strings [A] */
                .page_types = 3, .page_bytes = KIB16, .spare_bytes = 2208 /* [A] */},
        .time = {.tr_ns = {US(38), US(48), US(42)},     /* [A]; ISSCC parts 40-58 us [P] */
                 .tr_partial_ns = US(34), .partial_bytes = 4096,    /* [A] */
                 .tprog_ns = US(1500),  /* [D] 6 x 3 x 16 KiB at 197 MB/s */
                 .tbers_ns = US(3500),  /* [A] */
                 .tcbsy_ns = US(4), .tcmd_ns = 500, .tstatus_ns = 300,  /* [A] */
                 .bus_mts = 2400 /* [P] */},
    },
    {
        .name = "tlc-128l",         /* 512 Gb, 4 planes, 128 layers */
        .cell = "tlc",
        .geo = {.channels = 8, .dies = 32, .planes = 4, .blocks_per_plane = 760,
                .wordlines_per_block = 512, /* 128 layers x 4 strings [A] */
                .page_types = 3, .page_bytes = KIB16, .spare_bytes = 1952 /* [A] */},
        .time = {.tr_ns = {US(50), US(65), US(55)},     /* [A] */
                 .tr_partial_ns = US(40), .partial_bytes = 4096,    /* [A] */
                 .tprog_ns = US(1200),  /* [D] 1.17-1.23 ms for ISSCC'21 parts */
                 .tbers_ns = US(7000),  /* [A] */
                 .tcbsy_ns = US(4), .tcmd_ns = 500, .tstatus_ns = 300,  /* [A] */
                 .bus_mts = 1600 /* [P] */},
    },
    {
        .name = "qlc",              /* 1 Tb, 4 planes; programmed in one go */
        .cell = "qlc",
        .geo = {.channels = 8, .dies = 32, .planes = 4, .blocks_per_plane = 1000,
                .wordlines_per_block = 512, .page_types = 4,    /* 2048 pages [A] */
                .page_bytes = KIB16, .spare_bytes = 2208 /* [A] */},
        .time = {.tr_ns = {US(65), US(95), US(100), US(75)},    /* [A] */
                 .tr_partial_ns = US(60), .partial_bytes = 4096,    /* [A] */
                 .tprog_ns = US(6500),  /* [A] coarse 2000 + fine 4500 us */
                 .tbers_ns = US(8000),  /* [A] */
                 .tcbsy_ns = US(4), .tcmd_ns = 500, .tstatus_ns = 300,  /* [A] */
                 .bus_mts = 1600 /* [P] */},
    },
    {
        .name = "mlc-25nm",         /* 64 Gb, 2 planes; word line in one go */
        .cell = "mlc",
        .geo = {.channels = 4, .dies = 16, .planes = 2, .blocks_per_plane = 2048,   /* [P] */
                .wordlines_per_block = 128, .page_types = 2,    /* 256 pages [P] */
                .page_bytes = 8192, .spare_bytes = 448 /* [P] */},
        .time = {.tr_ns = {US(42), US(50)},     /* [P] 35-50 and 50 us */
                 .tr_partial_ns = 0, .partial_bytes = 0,
                 .tprog_ns = US(2450),  /* [P] LSB 450 + MSB 2000 us */
                 .tbers_ns = US(3000),  /* [P] typical */
                 .tcbsy_ns = US(4), .tcmd_ns = 500, .tstatus_ns = 300,  /* [A] */
                 .bus_mts = 200 /* [P] */},
    },
    {
        .name = "pslc",             /* the X3-9070 class die, one bit per cell */
        .cell = "slc",
        .geo = {.channels = 16, .dies = 64, .planes = 6, .blocks_per_plane = 510,
                .wordlines_per_block = 928, .page_types = 1, .page_bytes = KIB16,
                .spare_bytes = 2208},
        .time = {.tr_ns = {US(27)}, .tr_partial_ns = 0, .partial_bytes = 0, /* [A] 25-30 */
                 .tprog_ns = US(240),   /* [A] 180-300 us */
                 .tbers_ns = US(3500),  /* [A] */
                 .tcbsy_ns = US(4), .tcmd_ns = 500, .tstatus_ns = 300,  /* [A] */
                 .bus_mts = 2400 /* [P] */},
    },
    {
        .name = "slc-ref",          /* no real part: small, round numbers for tests */
        .cell = "slc",
        .geo = {.channels = 1, .dies = 1, .planes = 1, .blocks_per_plane = 64,
                .wordlines_per_block = 64, .page_types = 1, .page_bytes = 4096,
                .spare_bytes = 128},
        .time = {.tr_ns = {US(25)}, .tr_partial_ns = 0, .partial_bytes = 0,
                 .tprog_ns = US(200), .tbers_ns = US(2000), .tcbsy_ns = US(3),
                 .tcmd_ns = 500, .tstatus_ns = 300, .bus_mts = 400},
    },
};

enum { PRESET_COUNT = sizeof presets / sizeof presets[0] };

const char *nand_profile_name(uint32_t index)
{
    return index < PRESET_COUNT ? presets[index].name : NULL;
}

const struct nand_profile *nand_profile_find(const char *name)
{
    for (uint32_t i = 0; name && i < PRESET_COUNT; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}

struct why {
    char *text;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct why *why, const char *fmt,
                                                        ...)
{
    va_list args;

    if (why->text && why->size) {
        va_start(args, fmt);
        (void)vsnprintf(why->text, why->size, fmt, args);
        va_end(args);
    }
    return NAND_EPROFILE;
}

static int check_range(const struct why *why, const char *field, uint64_t value, uint64_t low,
                       uint64_t high)
{
    if (value >= low && value <= high)
        return 0;
    return refuse(why, "%s=%" PRIu64 ": must be %" PRIu64 "..%" PRIu64, field, value, low,
                  high);
}

/* Bounds that keep every product used later inside 64 bits: planes in all
 * <= 2^16, blocks in all <= 2^31, pages per block <= 2^20. */
static int check_geometry(const struct nand_geometry *g, const struct why *why)
{
    const struct {
        const char *field;
        uint64_t value, low, high;
    } rules[] = {
        {"geo.channels", g->channels, 1, 64},
        {"geo.dies", g->dies, 1, 4096},
        {"geo.planes", g->planes, 1, NAND_PLANES_MAX},
        {"geo.blocks_per_plane", g->blocks_per_plane, 1, 1u << 20},
        {"geo.page_types", g->page_types, 1, NAND_PAGE_TYPES_MAX},
        {"geo.wordlines_per_block", g->wordlines_per_block, 1, 1u << 18},
        {"geo.page_bytes", g->page_bytes, 512, 65536},
        {"geo.spare_bytes", g->spare_bytes, 0, 16384},
        {"geo.dies*planes*blocks_per_plane",
         (uint64_t)g->dies * g->planes * g->blocks_per_plane, 1, (uint64_t)1 << 31},
    };

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        int err = check_range(why, rules[i].field, rules[i].value, rules[i].low, rules[i].high);
        if (err)
            return err;
    }
    if (g->page_bytes % 512)
        return refuse(why, "geo.page_bytes=%" PRIu32 ": must be a multiple of 512",
                      g->page_bytes);
    return 0;
}

static int check_timing(const struct nand_profile *p, const struct why *why)
{
    const struct nand_timing *t = &p->time;
    const uint64_t second = 1000000000;
    const struct {
        const char *field;
        uint64_t value, low, high;
    } rules[] = {
        {"time.tprog_ns", t->tprog_ns, 1, second},
        {"time.tbers_ns", t->tbers_ns, 1, 10 * second},
        {"time.tcbsy_ns", t->tcbsy_ns, 0, second},
        {"time.tcmd_ns", t->tcmd_ns, 0, second},
        {"time.tstatus_ns", t->tstatus_ns, 0, second},
        {"time.tr_partial_ns", t->tr_partial_ns, 0, second},
        {"time.bus_mts", t->bus_mts, 1, 20000},
        {"time.partial_bytes", t->partial_bytes, t->tr_partial_ns ? 1 : 0, p->geo.page_bytes},
    };

    for (uint32_t i = 0; i < p->geo.page_types; i++) {
        char field[32];
        (void)snprintf(field, sizeof field, "time.tr_ns[%" PRIu32 "]", i);
        int err = check_range(why, field, t->tr_ns[i], 1, second);
        if (err)
            return err;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        int err = check_range(why, rules[i].field, rules[i].value, rules[i].low, rules[i].high);
        if (err)
            return err;
    }
    return 0;
}

static int check_cell(const struct nand_profile *p, const struct why *why)
{
    static const struct {
        const char *cell;
        uint32_t types;
    } kinds[] = {{"slc", 1}, {"mlc", 2}, {"tlc", 3}, {"etlc", 3}, {"qlc", 4}};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(p->cell, kinds[i].cell) != 0)
            continue;
        if (kinds[i].types != p->geo.page_types)
            return refuse(why, "geo.page_types=%" PRIu32 ": a %s cell has %" PRIu32,
                          p->geo.page_types, p->cell, kinds[i].types);
        return 0;
    }
    return refuse(why, "cell=%.32s: must be slc, mlc, tlc, etlc or qlc", p->cell);
}

int nand_profile_check(const struct nand_profile *p, char *ret_why, size_t why_size)
{
    const struct why why = {ret_why, why_size};
    int err;

    if (!p)
        return refuse(&why, "profile=NULL: must be given");
    if (!p->name || !p->name[0] || strlen(p->name) > 63)
        return refuse(&why, "name: must have 1..63 characters");
    if (!p->cell)
        return refuse(&why, "cell=NULL: must be slc, mlc, tlc, etlc or qlc");
    err = check_geometry(&p->geo, &why);
    if (!err)
        err = check_timing(p, &why);
    if (!err)
        err = check_cell(p, &why);
    return err;
}
