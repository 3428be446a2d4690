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

/* Shared by the enterprise and client 3D parts; all [A]. Suspend is accepted in 20-50
 * (program) and 30-80 us (erase), resume costs 10-20 plus 20-40 us of re-verify,
 * 100-200 us must pass in between; reset 5 / 10-30 / 500 us; a sense 15-20 us. */
#define CONTROL .tsense_ns = US(17.5), .tsusp_prog_ns = US(30), .tsusp_erase_ns = US(50), \
                .tresume_ns = US(15), .treverify_ns = US(30), .tprogress_ns = US(150), \
                .suspends_max = 20, .trst_read_ns = US(5), .trst_prog_ns = US(20), \
                .trst_erase_ns = US(500), .tfeat_ns = US(1)
#define BUS .tcbsy_ns = US(4), .tcmd_ns = 500, .tstatus_ns = 300   /* [A] 3-5, ~0.5, ~0.3 us */
#define SLC_MODE(tr, tprog) .slc_tr_ns = US(tr), .slc_tprog_ns = US(tprog)   /* [A] */
/* [A] page read 3.4 uJ; 165 uJ per 4-plane TLC word line of 192 KiB; 0.4 mJ/MB in SLC
 * mode; 0.45 mJ per 4-plane erase; 5 pJ/bit on the bus. Per plane: */
#define ENERGY(prog_nj) {.sense_pj = 3400000, .prog_pj = (prog_nj) * 1000u, \
                         .slc_prog_pj = 6554000, .erase_pj = 112500000, .bus_pj_per_byte = 40}
/* Factory bad <= 2 %, grown <= 0.5 % at rated life [P]; half of that and the shape [A]. */
#define WEAROUT(rated) {.factory_bad_ppm = 10000, .rated_pe = (rated), .grown_bad_ppm = 2500, \
                        .shape_milli = 4000}

static const struct nand_profile presets[] = {
    {
        .name = "etlc-x3-9070",     /* 1 Tb, 6 planes, 232 layers, 2400 MT/s [P] */
        .cell = "etlc",
        .geo = {.channels = 16, .dies = 64, .planes = 6,
                .blocks_per_plane = 510,        /* [A] 1.6 % over the nominal 1 Tb */
                .wordlines_per_block = 928,     /* 232 layers [P] x 4 strings [A] */
                .page_types = 3, .page_bytes = KIB16, .spare_bytes = 2208 /* [A] */,
                .strings = 4, .ecc_bytes_per_kib = 128 /* rate 8/9 */},
        .time = {.tr_ns = {US(38), US(48), US(42)},     /* [A]; ISSCC parts 40-58 us [P] */
                 .tr_partial_ns = US(34), .partial_bytes = 4096,    /* [A] */
                 .tprog_ns = US(1500),  /* [D] 6 x 3 x 16 KiB at 197 MB/s */
                 .tbers_ns = US(3500),  /* [A] */
                 BUS, CONTROL,
                 .bus_mts = 2400 /* [P] */,
                 SLC_MODE(27, 240)},
        .energy = ENERGY(41250), .wearout = WEAROUT(7000) /* rated 7000-10000 [D] */,
    },
    {
        .name = "tlc-128l",         /* 512 Gb, 4 planes, 128 layers */
        .cell = "tlc",
        .geo = {.channels = 8, .dies = 32, .planes = 4, .blocks_per_plane = 760,
                .wordlines_per_block = 512, /* 128 layers x 4 strings [A] */
                .page_types = 3, .page_bytes = KIB16, .spare_bytes = 1952 /* [A] */,
                .strings = 4, .ecc_bytes_per_kib = 112},
        .time = {.tr_ns = {US(50), US(65), US(55)},     /* [A] */
                 .tr_partial_ns = US(40), .partial_bytes = 4096,    /* [A] */
                 .tprog_ns = US(1200),  /* [D] 1.17-1.23 ms for ISSCC'21 parts */
                 .tbers_ns = US(7000),  /* [A] */
                 BUS, CONTROL,
                 .bus_mts = 1600 /* [P] */,
                 SLC_MODE(30, 300)},
        .energy = ENERGY(41250), .wearout = WEAROUT(3000) /* [A] */,
    },
    {
        .name = "qlc",              /* 1 Tb, 4 planes; programmed in one go */
        .cell = "qlc",
        .geo = {.channels = 8, .dies = 32, .planes = 4, .blocks_per_plane = 1000,
                .wordlines_per_block = 512, .page_types = 4,    /* 2048 pages [A] */
                .page_bytes = KIB16, .spare_bytes = 2208 /* [A] */,
                .strings = 4, .ecc_bytes_per_kib = 128},
        .time = {.tr_ns = {US(65), US(95), US(100), US(75)},    /* [A] */
                 .tr_partial_ns = US(60), .partial_bytes = 4096,    /* [A] */
                 .tprog_ns = US(6500),  /* [A] coarse 2000 + fine 4500 us */
                 .tbers_ns = US(8000),  /* [A] */
                 BUS, CONTROL,
                 .bus_mts = 1600 /* [P] */,
                 SLC_MODE(30, 250)},
        .energy = ENERGY(62500) /* 1 mJ per 256 KiB */, .wearout = WEAROUT(1500) /* [A] */,
    },
    {
        .name = "mlc-25nm",         /* 64 Gb, 2 planes; word line in one go */
        .cell = "mlc",
        .geo = {.channels = 4, .dies = 16, .planes = 2, .blocks_per_plane = 2048,   /* [P] */
                .wordlines_per_block = 128, .page_types = 2,    /* 256 pages [P] */
                .page_bytes = 8192, .spare_bytes = 448 /* [P] */,
                .strings = 1, .ecc_bytes_per_kib = 42 /* BCH, 24 bits */},
        .time = {.tr_ns = {US(42), US(50)},     /* [P] 35-50 and 50 us */
                 .tr_partial_ns = 0, .partial_bytes = 0,
                 .tprog_ns = US(2450),  /* [P] LSB 450 + MSB 2000 us */
                 .tbers_ns = US(3000),  /* [P] typical */
                 BUS, CONTROL,
                 .bus_mts = 200 /* [P] */,
                 SLC_MODE(25, 300)},
        .energy = ENERGY(13750), .wearout = WEAROUT(30000) /* [P] 30000-50000 */,
    },
    {
        .name = "pslc",             /* the X3-9070 class die, one bit per cell */
        .cell = "slc",
        .geo = {.channels = 16, .dies = 64, .planes = 6, .blocks_per_plane = 510,
                .wordlines_per_block = 928, .page_types = 1, .page_bytes = KIB16,
                .spare_bytes = 2208,
                .strings = 4, .ecc_bytes_per_kib = 128},
        .time = {.tr_ns = {US(27)}, .tr_partial_ns = 0, .partial_bytes = 0, /* [A] 25-30 */
                 .tprog_ns = US(240),   /* [A] 180-300 us */
                 .tbers_ns = US(3500),  /* [A] */
                 BUS, CONTROL,
                 .bus_mts = 2400 /* [P] */},
        .energy = ENERGY(6554), .wearout = WEAROUT(50000) /* [A] */,
    },
    {
        .name = "slc-ref",          /* no real part: small, round numbers for tests */
        .cell = "slc",
        .geo = {.channels = 1, .dies = 1, .planes = 1, .blocks_per_plane = 64,
                .wordlines_per_block = 64, .page_types = 1, .page_bytes = 4096,
                .spare_bytes = 128},
        .time = {.tr_ns = {US(25)}, .tr_partial_ns = 0, .partial_bytes = 0,
                 .tprog_ns = US(200), .tbers_ns = US(2000), .tcbsy_ns = US(3),
                 .tcmd_ns = 500, .tstatus_ns = 300, .bus_mts = 400,
                 .partial_programs = 4, CONTROL},
        .energy = ENERGY(6554), .wearout = WEAROUT(50000),
    },
    {
        .name = "qlc-2pass",        /* as qlc, coarse and fine pass apart */
        .cell = "qlc",
        .geo = {.channels = 8, .dies = 32, .planes = 4, .blocks_per_plane = 1000,
                .wordlines_per_block = 512, .page_types = 4, .page_bytes = KIB16,
                .spare_bytes = 2208, .strings = 1 /* passes go by word line */,
                .ecc_bytes_per_kib = 128},
        .time = {.tr_ns = {US(65), US(95), US(100), US(75)}, .tr_partial_ns = US(60),
                 .partial_bytes = 4096, .tprog_ns = US(6500), .tbers_ns = US(8000), BUS,
                 CONTROL, .tpass_ns = {US(2000), US(4500)} /* [A] */, SLC_MODE(30, 250),
                 .bus_mts = 1600},
        .scheme = NAND_SCHEME_TWO_PASS,
        .energy = ENERGY(62500), .wearout = WEAROUT(1500),
    },
    {
        .name = "mlc-25nm-paged",   /* as mlc-25nm, lower and upper page apart */
        .cell = "mlc",
        .geo = {.channels = 4, .dies = 16, .planes = 2, .blocks_per_plane = 2048,
                .wordlines_per_block = 128, .page_types = 2, .page_bytes = 8192,
                .spare_bytes = 448, .strings = 1, .ecc_bytes_per_kib = 42},
        .time = {.tr_ns = {US(42), US(50)}, .tprog_ns = US(2450), .tbers_ns = US(3000), BUS,
                 CONTROL, .tpass_ns = {US(450), US(2000)} /* [P] */, SLC_MODE(25, 300),
                 .bus_mts = 200},
        .scheme = NAND_SCHEME_PAGED,
        .energy = ENERGY(13750), .wearout = WEAROUT(30000),
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
        {"geo.strings", g->strings, 0, 64},
        {"geo.ecc_bytes_per_kib", g->ecc_bytes_per_kib, 0, 1024},
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
    if ((uint64_t)g->spare_bytes * 1024 < (uint64_t)g->ecc_bytes_per_kib * g->page_bytes)
        return refuse(why, "geo.spare_bytes=%" PRIu32 ": ECC needs %" PRIu64 "..16384",
                      g->spare_bytes,
                      ((uint64_t)g->ecc_bytes_per_kib * g->page_bytes + 1023) / 1024);
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
        {"time.tpass_ns[0]", t->tpass_ns[0], p->scheme ? 1 : 0, second},
        {"time.tpass_ns[1]", t->tpass_ns[1], p->scheme ? 1 : 0, second},
        {"time.slc_tr_ns", t->slc_tr_ns, t->slc_tprog_ns ? 1 : 0, second},
        {"time.slc_tprog_ns", t->slc_tprog_ns, 0, second},
        {"time.tsense_ns", t->tsense_ns, 0, second},
        {"time.tsusp_prog_ns", t->tsusp_prog_ns, 0, second},
        {"time.tsusp_erase_ns", t->tsusp_erase_ns, 0, second},
        {"time.tresume_ns", t->tresume_ns, 0, second},
        {"time.treverify_ns", t->treverify_ns, 0, second},
        {"time.tprogress_ns", t->tprogress_ns, 0, second},
        {"time.suspends_max", t->suspends_max, 0, 1000000},
        {"time.partial_programs", t->partial_programs, 0, 64},
        {"time.trst_read_ns", t->trst_read_ns, 0, second},
        {"time.trst_prog_ns", t->trst_prog_ns, 0, second},
        {"time.trst_erase_ns", t->trst_erase_ns, 0, second},
        {"time.tfeat_ns", t->tfeat_ns, 0, second},
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

static int check_rest(const struct nand_profile *p, const struct why *why)
{
    const struct {
        const char *field;
        uint64_t value, low, high;
    } rules[] = {
        {"scheme", (uint64_t)p->scheme, 0, NAND_SCHEME_TWO_PASS},
        {"law", p->law, 0, NAND_LAW_PLANAR_TLC},
        {"power.die_ops_max", p->power.die_ops_max, 0, NAND_PLANES_MAX},
        {"power.drive_ops_max", p->power.drive_ops_max, 0, 4096},
        {"energy.sense_pj", p->energy.sense_pj, 0, 1000000000000},
        {"energy.prog_pj", p->energy.prog_pj, 0, 1000000000000},
        {"energy.slc_prog_pj", p->energy.slc_prog_pj, 0, 1000000000000},
        {"energy.erase_pj", p->energy.erase_pj, 0, 1000000000000},
        {"energy.bus_pj_per_byte", p->energy.bus_pj_per_byte, 0, 1000000},
        {"wearout.factory_bad_ppm", p->wearout.factory_bad_ppm, 0, 20000},
        {"wearout.rated_pe", p->wearout.rated_pe, 0, 1000000},
        {"wearout.grown_bad_ppm", p->wearout.grown_bad_ppm, 0, 100000},
        {"wearout.shape_milli", p->wearout.shape_milli, p->wearout.grown_bad_ppm ? 500 : 0,
         20000},
    };

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        int err = check_range(why, rules[i].field, rules[i].value, rules[i].low, rules[i].high);
        if (err)
            return err;
    }
    if (p->scheme == NAND_SCHEME_PAGED && p->geo.page_types != 2)
        return refuse(why, "scheme=%d: paired pages need geo.page_types=2", (int)p->scheme);
    if (p->scheme == NAND_SCHEME_TWO_PASS && p->geo.page_types < 2)
        return refuse(why, "scheme=%d: two passes need geo.page_types=2..4", (int)p->scheme);
    if (p->law != NAND_LAW_VTH && p->geo.page_types != 3)
        return refuse(why, "law=%" PRIu32 ": a published TLC law needs geo.page_types=3",
                      p->law);
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
        err = check_rest(p, &why);
    if (!err)
        err = check_cell(p, &why);
    return err;
}
