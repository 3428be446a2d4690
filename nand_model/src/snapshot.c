/* snapshot.c - saving and loading a device.
 *
 * File: header of 48 bytes, then one zstd frame.
 *   0  8  "NANDSNAP"
 *   8  4  version (1)         12  4  0
 *  16  8  bytes unpacked      24  8  bytes packed
 *  32  8  XXH3-64 of the packed bytes
 *  40  8  XXH3-64 of header bytes 0..39
 * All numbers little-endian. One routine visits the state for both directions, so
 * that what is written is what is read. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "archive.h"
#include "dev.h"

enum { VERSION = 1, HEADER = 48, NAME_MOST = 63 };

static const char magic[8] = {'N', 'A', 'N', 'D', 'S', 'N', 'A', 'P'};

/* ---- profile ------------------------------------------------------------------------- */

static void io_name(struct archive *a, char *text)
{
    uint32_t length = a->loading ? 0 : (uint32_t)strlen(text);

    nandi_io_u32(a, &length);
    nandi_io_require(a, length <= NAME_MOST);
    if (a->err)
        return;
    nandi_io_bytes(a, text, length);
    text[length] = 0;
}

static void io_timing(struct archive *a, struct nand_timing *t)
{
    nandi_io_u64s(a, t->tr_ns, sizeof t->tr_ns);
    nandi_io_u64(a, &t->tr_partial_ns);
    nandi_io_u32(a, &t->partial_bytes);
    nandi_io_u64(a, &t->tprog_ns);
    nandi_io_u64(a, &t->tbers_ns);
    nandi_io_u64(a, &t->tcbsy_ns);
    nandi_io_u64(a, &t->tcmd_ns);
    nandi_io_u64(a, &t->tstatus_ns);
    nandi_io_u32(a, &t->bus_mts);
    nandi_io_u64s(a, t->tpass_ns, sizeof t->tpass_ns);
    nandi_io_u64(a, &t->slc_tr_ns);
    nandi_io_u64(a, &t->slc_tprog_ns);
    nandi_io_u64(a, &t->tsense_ns);
    nandi_io_u64(a, &t->tsusp_prog_ns);
    nandi_io_u64(a, &t->tsusp_erase_ns);
    nandi_io_u64(a, &t->tresume_ns);
    nandi_io_u64(a, &t->treverify_ns);
    nandi_io_u64(a, &t->tprogress_ns);
    nandi_io_u32(a, &t->suspends_max);
    nandi_io_u32(a, &t->partial_programs);
    nandi_io_u64(a, &t->trst_read_ns);
    nandi_io_u64(a, &t->trst_prog_ns);
    nandi_io_u64(a, &t->trst_erase_ns);
    nandi_io_u64(a, &t->tfeat_ns);
}

static void io_profile(struct archive *a, struct nand_profile *p, char *name, char *cell)
{
    uint32_t scheme = (uint32_t)p->scheme;

    io_name(a, name);
    io_name(a, cell);
    nandi_io_u32s(a, &p->geo, sizeof p->geo);
    io_timing(a, &p->time);
    nandi_io_u32(a, &scheme);
    p->scheme = (enum nand_scheme)scheme;
    nandi_io_u32(a, &p->law);
    nandi_io_u32s(a, &p->power, sizeof p->power);
    nandi_io_u64s(a, &p->energy, sizeof p->energy);
    nandi_io_u32s(a, &p->wearout, sizeof p->wearout);
}

/* A caller's own cell constants; doubles go by their bits. */
static void io_cell(struct archive *a, struct nand_cell *cell)
{
    const size_t first = offsetof(struct nand_cell, pe_ref);
    const size_t last = offsetof(struct nand_cell, layer_edge);

    nandi_io_u32(a, &cell->states);
    if (a->err || cell->states == 0)
        return;
    nandi_io_bytes(a, cell->map, sizeof cell->map);
    for (size_t at = first; at <= last; at += sizeof(double)) {
        uint64_t bits;
        memcpy(&bits, (char *)cell + at, sizeof bits);
        nandi_io_u64(a, &bits);
        memcpy((char *)cell + at, &bits, sizeof bits);
    }
}

/* ---- state --------------------------------------------------------------------------- */

static void io_fault(struct archive *a, struct nand_dev *dev, struct nand_fault *f)
{
    uint32_t kind = (uint32_t)f->kind;

    nandi_io_u32(a, &kind);
    nandi_io_require(a, kind < NAND_FAULT_KINDS);
    f->kind = (enum nand_fault_kind)kind;
    nandi_io_u64(a, &f->at_op);
    nandi_io_u32(a, &f->die);
    nandi_io_u32(a, &f->plane);
    nandi_io_u32(a, &f->rate_ppm);
    nandi_io_require(a, f->die < dev->prof.geo.dies && f->plane < dev->prof.geo.planes);
}

static void io_scalars(struct archive *a, struct nand_dev *dev)
{
    uint32_t mode = (uint32_t)dev->cut.mode, others = (uint32_t)dev->cut.others;

    nandi_io_u64(a, &dev->now);
    nandi_io_u32(a, &dev->power_off);
    nandi_io_u32(a, &dev->any_slc);
    nandi_io_u64s(a, &dev->stats, sizeof dev->stats);
    nandi_io_u64(a, &dev->op_count);
    nandi_io_u64(a, &dev->cut.at_op);
    nandi_io_u32(a, &mode);
    nandi_io_u32(a, &others);
    nandi_io_u64(a, &dev->cut.seed);
    nandi_io_u32(a, &dev->cut_armed);
    nandi_io_require(a, mode < NAND_CUT_MODES && others <= NAND_OTHERS_DRAWN);
    dev->cut.mode = (enum nand_cut_mode)mode;
    dev->cut.others = (enum nand_cut_others)others;
    nandi_io_u32(a, &dev->upset_ppm);
    nandi_io_u64(a, &dev->upset_draws);
    nandi_io_u32(a, &dev->fault_count_armed);
    nandi_io_require(a, dev->fault_count_armed <= NAND_FAULTS_MAX);
    for (uint32_t i = 0; !a->err && i < dev->fault_count_armed; i++)
        io_fault(a, dev, &dev->fault[i]);
    nandi_io_u64s(a, dev->fault_seen, sizeof dev->fault_seen);
    nandi_io_u64s(a, dev->cut_seen, sizeof dev->cut_seen);
    nandi_io_u64(a, &dev->clock.since);
    nandi_io_u64(a, &dev->clock.slow_q16);
    nandi_io_u64(a, &dev->clock.fast_q16);
    nandi_io_u64(a, &dev->clock.slow_rate_q16);
    nandi_io_u64(a, &dev->clock.fast_rate_q16);
    nandi_io_i32(a, &dev->clock.milli_celsius);
    nandi_io_require(a,
                     dev->clock.milli_celsius >= -55000 && dev->clock.milli_celsius <= 150000);
}

static void io_flight(struct archive *a, struct nand_dev *dev, struct flight *f)
{
    nandi_io_u64(a, &f->start);
    nandi_io_u64(a, &f->until);
    nandi_io_u32(a, &f->mask);
    nandi_io_u32(a, &f->first_page);
    nandi_io_u32(a, &f->steps);
    nandi_io_u32(a, &f->erase);
    nandi_io_require(a, !(f->mask & ~dev->planes_mask) &&
                            f->first_page < dev->pages_per_block &&
                            f->steps <= 2 * dev->pages_per_block);
}

static void io_die(struct archive *a, struct nand_dev *dev, struct die_state *d)
{
    nandi_io_u64(a, &d->array_until);
    nandi_io_u64(a, &d->sense_until);
    nandi_io_u64(a, &d->in_ready);
    nandi_io_u32(a, &d->channel);
    nandi_io_u32(a, &d->work);
    nandi_io_u32(a, &d->dead_mask);
    nandi_io_u32(a, &d->suspended);
    nandi_io_u64(a, &d->susp_left);
    nandi_io_u64(a, &d->progress_from);
    nandi_io_u32(a, &d->susp_count);
    nandi_io_require(a, d->channel < dev->prof.geo.channels &&
                            !(d->dead_mask & ~dev->planes_mask));
    io_flight(a, dev, &d->flight[0]);
    io_flight(a, dev, &d->flight[1]);
}

static void io_reg(struct archive *a, struct nand_dev *dev, struct reg *r)
{
    nandi_io_u32(a, &r->limit);
    nandi_io_u32(a, &r->block);
    nandi_io_u32(a, &r->page);
    nandi_io_u8(a, &r->status);
    nandi_io_u8(a, &r->soft_bits);
    nandi_io_u8(a, &r->level);
    nandi_io_require(a, r->limit <= 3 * dev->page_total_bytes &&
                            r->block < dev->prof.geo.blocks_per_plane &&
                            r->page < dev->pages_per_block && r->soft_bits <= 3);
}

static void io_plane(struct archive *a, struct nand_dev *dev, struct plane_state *p)
{
    nandi_io_u64(a, &p->sense_until);
    nandi_io_u64(a, &p->out_ready);
    io_reg(a, dev, &p->out);
    io_reg(a, dev, &p->data);
}

static void io_input(struct archive *a, struct nand_dev *dev, struct plane_input *in)
{
    nandi_io_u64(a, &in->key);
    nandi_io_u32(a, &in->types);
    nandi_io_u32s(a, in->flight_block, sizeof in->flight_block);
    nandi_io_require(a, in->key >> 32 < dev->prof.geo.blocks_per_plane &&
                            (uint32_t)in->key < dev->pages_per_block &&
                            in->flight_block[0] < dev->prof.geo.blocks_per_plane &&
                            in->flight_block[1] < dev->prof.geo.blocks_per_plane);
}

static void io_block(struct archive *a, struct nand_dev *dev, size_t b)
{
    nandi_io_u32(a, &dev->block[b].word);
    nandi_io_u32(a, &dev->block[b].erase_count);
    nandi_io_require(a, (dev->block[b].word & BF_STEPS) <= 2 * dev->pages_per_block);
    if (!dev->cells)
        return;
    struct block_cells *c = &dev->cells[b];
    nandi_io_u64(a, &c->slow_first);
    nandi_io_u64(a, &c->slow_last);
    nandi_io_u64(a, &c->fast_first);
    nandi_io_u64(a, &c->fast_last);
    nandi_io_u32(a, &c->reads);
    nandi_io_u32(a, &c->hot_wordline);
    nandi_io_u32(a, &c->hot_reads);
    nandi_io_i32(a, &c->program_mc);
    nandi_io_u32(a, &c->partials);
    nandi_io_require(a, c->slow_first <= c->slow_last && c->fast_first <= c->fast_last &&
                            c->hot_reads <= c->reads && c->hot_wordline < dev->pages_per_block);
}

static void io_sensed(struct archive *a, struct sensed *s, uint32_t page_types)
{
    struct nand_cell_point *p = &s->point;

    nandi_io_u64s(a, &s->rates, sizeof s->rates);
    nandi_io_u32(a, &p->pe);
    nandi_io_u64(a, &p->slow_s);
    nandi_io_u64(a, &p->fast_s);
    nandi_io_u64(a, &p->dose_q4);
    nandi_io_i32(a, &p->read_minus_program_mk);
    nandi_io_u32(a, &p->width_q16);
    nandi_io_i32(a, &p->neighbor_state);
    for (int b = 0; b < NAND_BOUNDS_MAX; b++)
        nandi_io_i32(a, &s->volts_q24[b]);
    nandi_io_u32(a, &s->slc);
    nandi_io_require(a, s->slc <= 1 && p->width_q16 >= 32768 && p->width_q16 <= 131072);
    nandi_io_require(a, p->neighbor_state >= NAND_NEIGHBOR_RANDOM &&
                            p->neighbor_state < (s->slc ? 2 : 1 << page_types));
}

static void io_damage(struct archive *a, struct nand_dev *dev)
{
    uint32_t count = dev->damage_count;

    nandi_io_u32(a, &count);
    nandi_io_require(a, count <= (a->size - a->at) / 12);
    if (a->err)
        return;
    if (a->loading)
        a->err = nandi_damage_reserve(dev, count);
    for (uint32_t i = 0; !a->err && i < count; i++) {
        nandi_io_u64(a, &dev->damage[i].key);
        nandi_io_u32(a, &dev->damage[i].kind);
        nandi_io_require(a, dev->damage[i].key >> 24 < dev->block_count &&
                                (i == 0 || dev->damage[i - 1].key < dev->damage[i].key));
    }
    if (a->loading)
        dev->damage_count = a->err ? 0 : count;
}

/* ---- contents -------------------------------------------------------------------------- */

/* The bytes are what was programmed: unpacks, and the hash kept aside agrees. */
static void check_page(struct archive *a, const struct nand_dev *dev,
                       const struct page_data *page)
{
    uint8_t bytes[65536 + 16384];

    if (page->compressed)
        nandi_io_require(a, ZSTD_decompress(bytes, dev->page_total_bytes, page->bytes,
                                            page->stored_bytes) == dev->page_total_bytes);
    else
        nandi_io_require(a, page->stored_bytes == dev->page_total_bytes);
    if (a->err)
        return;
    nandi_io_require(a, XXH3_64bits(page->compressed ? bytes : page->bytes,
                                    dev->page_total_bytes) == page->xxh);
}

static void io_page(struct archive *a, struct nand_dev *dev, struct page_data **slot)
{
    uint32_t bytes = *slot ? (*slot)->stored_bytes : 0;
    struct page_data *page;

    nandi_io_u32(a, &bytes);
    nandi_io_require(a, bytes <= dev->page_total_bytes && bytes <= a->size - a->at);
    if (a->err || bytes == 0)
        return;
    if (a->loading) {
        *slot = malloc(sizeof **slot + bytes);
        if (!*slot) {
            a->err = NAND_ENOMEM;
            return;
        }
        **slot = (struct page_data){.refs = 1, .stored_bytes = bytes};
    }
    page = *slot;
    nandi_io_u64(a, &page->xxh);
    nandi_io_u32(a, &page->compressed);
    nandi_io_bytes(a, page->bytes, bytes);
    nandi_io_require(a, page->compressed <= 1);
    if (a->loading && !a->err)
        check_page(a, dev, page);
}

static void count_page(struct nand_dev *dev, const struct page_data *page)
{
    if (!page)
        return;
    dev->contents_pages++;
    dev->contents_bytes += page->stored_bytes;
    dev->contents_compressed += page->compressed;
}

static void io_contents_block(struct archive *a, struct nand_dev *dev, size_t b)
{
    uint8_t any = dev->contents[b] != NULL;

    nandi_io_u8(a, &any);
    if (a->err || !any)
        return;
    if (a->loading && nandi_contents_reserve(dev, b) != 0) {
        a->err = NAND_ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < dev->pages_per_block && !a->err; i++) {
        io_page(a, dev, &dev->contents[b]->page[i]);
        if (a->loading)
            count_page(dev, dev->contents[b]->page[i]);
    }
}

static void io_contents(struct archive *a, struct nand_dev *dev)
{
    size_t planes = (size_t)dev->prof.geo.dies * dev->prof.geo.planes;

    for (size_t b = 0; b < dev->block_count && !a->err; b++)
        io_contents_block(a, dev, b);
    for (size_t i = 0; i < planes * NAND_PAGE_TYPES_MAX && !a->err; i++)
        io_page(a, dev, &dev->in_data[i]);
    for (size_t i = 0; i < planes * 2 && !a->err; i++)
        io_page(a, dev, &dev->reg_data[i]);
}

static void io_device(struct archive *a, struct nand_dev *dev)
{
    const struct nand_geometry *geo = &dev->prof.geo;
    size_t planes = (size_t)geo->dies * geo->planes;

    io_scalars(a, dev);
    nandi_io_u64s(a, dev->channel_free, geo->channels * sizeof *dev->channel_free);
    for (uint32_t d = 0; d < geo->dies && !a->err; d++)
        io_die(a, dev, &dev->die[d]);
    for (size_t p = 0; p < planes && !a->err; p++)
        io_plane(a, dev, &dev->plane[p]);
    for (size_t p = 0; p < planes && !a->err; p++)
        io_input(a, dev, &dev->input[p]);
    for (size_t b = 0; b < dev->block_count && !a->err; b++)
        io_block(a, dev, b);
    for (size_t p = 0; dev->reg_cells && p < planes && !a->err; p++) {
        io_sensed(a, &dev->reg_cells[p].out, geo->page_types);
        io_sensed(a, &dev->reg_cells[p].data, geo->page_types);
    }
    nandi_io_u64s(a, dev->power_drive, dev->prof.power.drive_ops_max * sizeof(nand_ns));
    nandi_io_u64s(a, dev->power_die,
                  (size_t)geo->dies * dev->prof.power.die_ops_max * sizeof(nand_ns));
    for (size_t i = 0; i < (size_t)geo->dies * NAND_BOUNDS_MAX && !a->err; i++)
        dev->offsets[i] = (int16_t)(uint16_t)nandi_io_int(a, (uint16_t)dev->offsets[i], 2);
    io_damage(a, dev);
    if (dev->contents)
        io_contents(a, dev);
}

/* ---- saving ------------------------------------------------------------------------------ */

static int write_state(const nand_dev *dev, struct archive *a)
{
    /* the visitor writes back what it read: a copy of the caller's const device is
     * not needed, saving never changes a value */
    struct nand_dev *source = (struct nand_dev *)(uintptr_t)dev;
    struct nand_profile profile = dev->prof;
    uint32_t flags = dev->flags;
    uint64_t seed = dev->seed, most = dev->contents_bytes_max;

    io_profile(a, &profile, source->name, source->cell);
    nandi_io_u64(a, &seed);
    nandi_io_u32(a, &flags);
    nandi_io_u64(a, &most);
    io_cell(a, &source->own_cell);
    io_device(a, source);
    return a->err;
}

int nand_state_hash(const nand_dev *dev, uint64_t *ret_hash)
{
    struct archive a = {0};
    int err;

    if (!dev || !ret_hash)
        return NAND_EINVAL;
    err = write_state(dev, &a);
    if (!err)
        *ret_hash = XXH3_64bits(a.bytes, a.at);
    free(a.bytes);
    return err;
}

static int pack_and_sink(const struct archive *a, nand_sink sink, void *ctx)
{
    uint8_t header[HEADER] = {0}, *packed;
    size_t room = ZSTD_compressBound(a->at), n;
    int err;

    packed = malloc(room);
    if (!packed)
        return NAND_ENOMEM;
    n = ZSTD_compress(packed, room, a->bytes, a->at, 3);
    assert(!ZSTD_isError(n)); /* the room is the library's own bound */
    memcpy(header, magic, sizeof magic);
    nandi_io_put_le(header + 8, VERSION, 4);
    nandi_io_put_le(header + 16, a->at, 8);
    nandi_io_put_le(header + 24, n, 8);
    nandi_io_put_le(header + 32, XXH3_64bits(packed, n), 8);
    nandi_io_put_le(header + 40, XXH3_64bits(header, 40), 8);
    err = sink(ctx, header, sizeof header);
    if (!err)
        err = sink(ctx, packed, n);
    free(packed);
    return err;
}

int nand_save(const nand_dev *dev, nand_sink sink, void *ctx)
{
    struct archive a = {0};
    int err;

    if (!dev || !sink)
        return NAND_EINVAL;
    err = write_state(dev, &a);
    if (!err)
        err = pack_and_sink(&a, sink, ctx);
    free(a.bytes);
    return err;
}

/* ---- loading ------------------------------------------------------------------------------
 */

/* Keeps a crafted geometry from taking memory: the blocks must be in the file. */
static bool state_fits(const struct archive *a, const struct nand_profile *p, uint32_t flags)
{
    uint64_t blocks = (uint64_t)p->geo.dies * p->geo.planes, each = 8;

    if (flags & NAND_WITH_CELLS)
        each += 52;
    if (p->geo.dies > 4096 || p->geo.planes > NAND_PLANES_MAX)
        return false;
    return blocks * p->geo.blocks_per_plane <= (a->size - a->at) / each;
}

static int read_state(struct archive *a, nand_dev **ret_dev)
{
    struct nand_profile profile = {0};
    struct nand_options options = {0};
    struct nand_cell cell_constants = {0};
    char name[NAME_MOST + 1] = "", cell[NAME_MOST + 1] = "";
    uint64_t seed = 0;
    struct nand_dev *dev;
    int err;

    io_profile(a, &profile, name, cell);
    nandi_io_u64(a, &seed);
    nandi_io_u32(a, &options.flags);
    nandi_io_u64(a, &options.contents_bytes_max);
    io_cell(a, &cell_constants);
    if (cell_constants.states)
        options.cell = &cell_constants;
    if (a->err)
        return a->err;
    profile.name = name;
    profile.cell = cell;
    if (!state_fits(a, &profile, options.flags))
        return NAND_ECORRUPT;
    err = nand_create_with(&profile, seed, &options, &dev);
    if (err)
        return err == NAND_ENOMEM ? err : NAND_ECORRUPT;
    io_device(a, dev);
    if (!a->err && a->at != a->size)
        a->err = NAND_ECORRUPT;
    if (a->err) {
        nand_destroy(dev);
        return a->err;
    }
    nandi_next_armed(dev);
    *ret_dev = dev;
    return 0;
}

static int unpack(const uint8_t *packed, uint64_t packed_size, uint64_t size,
                  nand_dev **ret_dev)
{
    struct archive a = {.loading = true, .size = size};
    int err = NAND_ECORRUPT;

    if (ZSTD_getFrameContentSize(packed, packed_size) != size)
        return err;
    a.bytes = malloc(size ? size : 1);
    if (!a.bytes)
        return NAND_ENOMEM;
    if (ZSTD_decompress(a.bytes, size, packed, packed_size) == size)
        err = read_state(&a, ret_dev);
    free(a.bytes);
    return err;
}

int nand_load(nand_source source, void *ctx, nand_dev **ret_dev)
{
    const uint64_t most = (uint64_t)1 << 40;
    uint8_t header[HEADER], *packed;
    uint64_t size, packed_size;
    int err;

    if (!source || !ret_dev)
        return NAND_EINVAL;
    err = source(ctx, header, sizeof header);
    if (err)
        return err;
    if (memcmp(header, magic, sizeof magic) != 0 || nandi_io_get_le(header + 8, 4) != VERSION)
        return NAND_EFORMAT;
    size = nandi_io_get_le(header + 16, 8);
    packed_size = nandi_io_get_le(header + 24, 8);
    if (nandi_io_get_le(header + 40, 8) != XXH3_64bits(header, 40) || packed_size == 0 ||
        size > most || packed_size > most)
        return NAND_ECORRUPT;
    packed = malloc(packed_size);
    if (!packed)
        return NAND_ENOMEM;
    err = source(ctx, packed, packed_size);
    if (!err && XXH3_64bits(packed, packed_size) != nandi_io_get_le(header + 32, 8))
        err = NAND_ECORRUPT;
    if (!err)
        err = unpack(packed, packed_size, size, ret_dev);
    free(packed);
    return err;
}
