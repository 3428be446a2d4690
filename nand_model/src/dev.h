/* dev.h - inside of a device, private to nand_model.
 *
 * All bookkeeping is flat arrays in one allocation, indexed by die, by plane
 * (die * planes + plane) and by block (plane index * blocks_per_plane + block),
 * so that a timed operation touches few cache lines. Page contents and the list
 * of damaged word lines are the only other memory. */
#ifndef NAND_SRC_DEV_H_
#define NAND_SRC_DEV_H_

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nand/cell.h"
#include "nand/fault.h"
#include "nand/nand.h"
#include "nand/store.h"

#ifdef NDEBUG
#error "assertions of nand_model stay on: build with -Db_ndebug=false"
#endif

enum die_work { DIE_IDLE, DIE_PROG, DIE_PROG_CACHE, DIE_ERASE };

/* One program or erase that the array carries out, for suspend, reset and cuts. */
struct flight {
    nand_ns start, until;
    uint32_t mask;          /* planes */
    uint32_t first_page;    /* programs: first page of the word line; PAGED: the page */
    uint32_t steps;         /* programs: write pointer before it (see block_state) */
    uint32_t erase;         /* 1 = erase */
};

struct die_state {
    nand_ns array_until;    /* program or erase over */
    nand_ns sense_until;    /* last plane of the die done sensing */
    nand_ns in_ready;       /* input registers free for DATA_IN and the next program */
    uint32_t channel;
    uint32_t work;          /* enum die_work of the operation that ends at array_until */
    uint32_t dead_mask;     /* planes that no longer answer */
    uint32_t suspended;     /* 1 = a program or erase waits for RESUME */
    nand_ns susp_left;      /* array time left */
    nand_ns progress_from;  /* start or last resume of the running operation */
    uint32_t susp_count;
    uint32_t spare;
    struct flight flight[2];/* [0] the newest, [1] the one before it */
};

struct reg {                /* a register for output */
    uint32_t limit;         /* bytes that may be taken, 0 = empty */
    uint32_t block, page;
    uint8_t status;         /* enum nand_status of the read that filled it */
    uint8_t soft_bits;      /* 1 = hard */
    uint8_t level;
    uint8_t spare;
};

struct plane_state {
    nand_ns sense_until;    /* data register holds its page */
    nand_ns out_ready;      /* output (cache) register may be sent */
    struct reg out, data;
};

struct plane_input {        /* apart from the rest: programs touch nothing else of a plane */
    uint64_t key;           /* word line whose pages are being loaded, dev_input_key() */
    uint32_t types;         /* page types loaded, one bit each */
    uint32_t flight_block[2];   /* block of die.flight[i] in this plane */
    uint32_t spare;
};

static inline uint64_t dev_input_key(uint32_t block, uint32_t first_page)
{
    return (uint64_t)block << 32 | first_page;
}

/* word: low 24 bits = write pointer, counted in pages (ONE_PASS, PAGED, SLC mode)
 * or passes (TWO_PASS); high 8 bits = flags. 0 flags is the fast path. */
struct block_state {
    uint32_t word;
    uint32_t erase_count;
};

enum {
    BF_STEPS = 0xffffff,
    BF_SLC = 1 << 24,
    BF_BAD = 1 << 25,       /* factory */
    BF_WORN = 1 << 26,      /* failed in use */
    BF_WILL_FAIL = 1 << 27, /* wear-out: a program of this cycle fails */
    BF_DAMAGED = 1 << 28,   /* has word lines in the damage list */
    BF_TORN = 1 << 29,      /* erase cut short: garbage until erased again */
    BF_FAINT = 1 << 30,     /* the same, but it looks erased */
    BF_STAY = BF_BAD | BF_WORN  /* flags that survive an erase */
};
#define BF_PARTIAL 0x80000000u  /* the last page was programmed in part, see block_cells */

struct block_cells {        /* NAND_WITH_CELLS or SLC partial programs */
    uint64_t slow_first, slow_last, fast_first, fast_last;  /* device clock, s */
    uint32_t reads;
    uint32_t hot_wordline, hot_reads;   /* majority candidate (Misra-Gries, k = 1) */
    int32_t program_mc;     /* temperature of the last program */
    uint32_t partials;      /* programs of the last page */
    uint32_t spare;
};

struct sensed {             /* what a sense saw and with which voltages */
    struct nand_cell_rates rates;
    struct nand_cell_point point;
    int32_t volts_q24[NAND_BOUNDS_MAX];
    uint32_t slc;
};

struct reg_cells {          /* of the page in the output and in the data register */
    struct sensed out, data;
};

enum damage_kind { DAMAGE_NONE, DAMAGE_TORN, DAMAGE_FAINT };
struct damage {             /* one word line (PAGED: one page); sorted by key */
    uint64_t key;           /* block index << 24 | page */
    uint32_t kind;
    uint32_t spare;
};

struct page_data {
    uint32_t refs;
    uint32_t stored_bytes;
    uint64_t xxh;           /* of the bytes as programmed */
    uint32_t compressed;
    uint32_t spare;
    uint8_t bytes[];
};

struct block_data {
    uint32_t refs;
    uint32_t count;
    struct page_data *page[];   /* by page number, NULL = zeros or not programmed */
};

struct clock_state {
    nand_ns since;          /* rates hold from here on */
    uint64_t slow_q16, fast_q16;        /* weighted seconds so far */
    uint64_t slow_rate_q16, fast_rate_q16;
    int32_t milli_celsius;
};

struct nand_dev {
    struct nand_profile prof;
    char name[64];
    char cell[8];
    uint64_t seed;
    nand_ns now;
    uint32_t flags;         /* NAND_WITH_* */
    uint32_t power_off;
    /* derived once, so that the hot path neither divides nor multiplies twice */
    uint32_t pages_per_block;
    uint32_t page_total_bytes;      /* user part and spare */
    uint32_t all_types;             /* bit mask of all page types */
    uint64_t type_inv;              /* ceil(2^32 / page_types) */
    uint64_t bus_inv;               /* ceil(2^bus_shift / bus_mts) */
    uint32_t bus_shift;
    uint32_t planes_mask;
    uint32_t codewords;
    uint64_t pass_pj;               /* energy of one program visit to a plane's word line */
    uint32_t any_slc;               /* a block was ever erased for SLC mode */
    uint64_t block_count;
    size_t flat_bytes;              /* size of this allocation */
    struct nand_stats stats;
    uint64_t op_count;
    uint64_t next_armed_op;         /* first operation that a fault or cut waits for */
    struct nand_cut cut;
    uint32_t cut_armed;
    uint32_t upset_ppm;
    uint64_t upset_draws;
    struct nand_fault fault[NAND_FAULTS_MAX];
    uint32_t fault_count_armed;
    uint64_t fault_seen[NAND_FAULT_KINDS];
    uint64_t cut_seen[NAND_CUT_MODES];
    struct clock_state clock;
    struct nand_cell own_cell;      /* states = 0: the built-in one of prof.cell */
    struct shared_tables *tables;   /* refcounted, NULL without cells and faults */
    struct damage *damage;          /* own allocation */
    uint32_t damage_count, damage_room;
    uint64_t contents_bytes_max, contents_bytes, contents_pages, contents_compressed;
    struct block_data **contents;   /* block_count pointers, own allocation */
    struct page_data **in_data;     /* [plane index * 4 + type], own allocation */
    struct page_data **reg_data;    /* [plane index * 2], + 1 = data register */
    /* flat arrays behind this struct */
    nand_ns *channel_free;
    struct die_state *die;
    struct plane_state *plane;
    struct plane_input *input;      /* by plane too */
    struct block_state *block;
    struct block_cells *cells;      /* NULL when not kept */
    struct reg_cells *reg_cells;    /* NULL without NAND_WITH_CELLS */
    nand_ns *power_drive;           /* end times, drive_ops_max of them */
    nand_ns *power_die;             /* die_ops_max per die */
    int16_t *offsets;               /* NAND_BOUNDS_MAX per die, 1/1000 pitch */
};

/* Exact for page < 2^31: the error of type_inv is below page_types / 2^32. */
static inline uint32_t dev_wordline(const struct nand_dev *dev, uint32_t page)
{
    return (uint32_t)((page * dev->type_inv) >> 32);
}

static inline uint32_t dev_page_type(const struct nand_dev *dev, uint32_t page)
{
    return page - dev_wordline(dev, page) * dev->prof.geo.page_types;
}

static inline size_t dev_plane_index(const struct nand_dev *dev, uint32_t die, uint32_t plane)
{
    return (size_t)die * dev->prof.geo.planes + plane;
}

static inline size_t dev_block_index(const struct nand_dev *dev, uint32_t die, uint32_t plane,
                                     uint32_t block)
{
    return dev_plane_index(dev, die, plane) * dev->prof.geo.blocks_per_plane + block;
}

/* Planes of a mask (16 bits at most); without popcnt in the baseline ISA the builtin is
 * a call. */
static inline uint32_t dev_mask_count(uint32_t mask)
{
    mask = mask - (mask >> 1 & 0x5555);
    mask = (mask & 0x3333) + (mask >> 2 & 0x3333);
    mask = (mask + (mask >> 4)) & 0x0f0f;
    return (mask + (mask >> 8)) & 0x1f;
}

static inline nand_ns later(nand_ns a, nand_ns b)
{
    return a > b ? a : b;
}

/* Bus time of a transfer, ns, rounded up: ceil(1000 * bytes / (MT/s)). Exact, see
 * derive_bus_inverse(); the profile check keeps the numerator below 2^31. */
static inline nand_ns dev_bus_ns(const struct nand_dev *dev, uint32_t bytes)
{
    uint64_t n = (uint64_t)bytes * 1000 + dev->prof.time.bus_mts - 1;
    return n * dev->bus_inv >> dev->bus_shift;
}

/* Takes the channel for `hold` ns, first come first served. */
static inline nand_ns dev_bus_take(struct nand_dev *dev, uint32_t channel, nand_ns now,
                                   nand_ns hold, struct nand_res *res)
{
    res->start_at = later(now, dev->channel_free[channel]);
    res->bus_free_at = res->start_at + hold;
    dev->channel_free[channel] = res->bus_free_at;
    dev->now = now;
    res->status = NAND_OK;
    res->fail_mask = 0;
    res->energy_pj = 0;
    return res->bus_free_at;
}

/* ---- shared between the files of the device ----------------------------------
 * nandi_ = nand_model's inside: no other library in a static link may collide. */

/* power.c: when may an array operation of the die start, given the caps. */
nand_ns nandi_power_start(struct nand_dev *dev, uint32_t die, nand_ns start, nand_ns duration,
                        bool sense);
static inline nand_ns dev_array_start(struct nand_dev *dev, uint32_t die, nand_ns start,
                                      nand_ns duration, bool sense)
{
    if (dev->prof.power.die_ops_max == 0 && dev->prof.power.drive_ops_max == 0)
        return start;
    return nandi_power_start(dev, die, start, duration, sense);
}

/* block.c: order of programming. Position of a page (or pass) in its block. */
uint32_t nandi_sequence_lower(uint32_t wordline);
uint32_t nandi_sequence_upper(uint32_t wordline, uint32_t wordlines);
uint32_t nandi_block_pages(const struct nand_dev *dev, uint32_t word);
bool nandi_page_written(const struct nand_dev *dev, uint32_t word, uint32_t page);
uint32_t nandi_steps_of_pages(const struct nand_dev *dev, uint32_t pages);
uint32_t nandi_pages_of_steps(const struct nand_dev *dev, uint32_t steps);
void nandi_block_erased(struct nand_dev *dev, size_t block, uint32_t keep_flags);

/* load.c, program.c, erase.c */
int nandi_issue_data_in(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                      struct nand_res *res);
int nandi_issue_copyback(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                       struct nand_res *res);
int nandi_issue_program(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                      struct nand_res *res, bool cache);
int nandi_issue_partial(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                      struct nand_res *res);
int nandi_issue_erase(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                    struct nand_res *res);
int nandi_check_mask(const struct nand_dev *dev, const struct nand_req *req);

static inline uint32_t dev_mask_block(const struct nand_req *req, uint32_t plane)
{
    return req->plane_block ? req->plane_block[plane] : req->addr.block;
}

/* What the array is doing; called when die.array_until is set. */
static inline void dev_flight_begin(struct die_state *die, nand_ns start, uint32_t mask,
                                    uint32_t page, uint32_t steps, bool erase)
{
    die->flight[1] = die->flight[0];
    die->flight[0] = (struct flight){.start = start, .until = die->array_until, .mask = mask,
                                     .first_page = page, .steps = steps, .erase = erase};
    die->progress_from = start;
    die->susp_count = 0;
}

static inline void dev_flight_block(struct plane_input *input, uint32_t block)
{
    input->flight_block[1] = input->flight_block[0];
    input->flight_block[0] = block;
}

/* control.c */
int nandi_issue_suspend(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                      struct nand_res *res);
int nandi_issue_resume(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                     struct nand_res *res);
int nandi_issue_reset(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                    struct nand_res *res);
int nandi_issue_feature(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                      struct nand_res *res);
int nandi_issue_status(struct nand_dev *dev, nand_ns now, const struct nand_req *req,
                     struct nand_res *res);
void nandi_forget_registers(struct nand_dev *dev, uint32_t die);

/* issue.c: what a read of this page gives: an enum nand_status, or a negative error. */
int nandi_read_outcome(const struct nand_dev *dev, size_t block, const struct nand_addr *addr);
bool nandi_offsets_ok(const struct nand_dev *dev, const int16_t *offsets);

/* damage.c: word lines that do not hold what was programmed. */
enum damage_kind nandi_damage_get(const struct nand_dev *dev, size_t block, uint32_t page);
int  nandi_damage_reserve(struct nand_dev *dev, uint32_t more);
void nandi_damage_set(struct nand_dev *dev, size_t block, uint32_t page, enum damage_kind kind);
void nandi_damage_clear_block(struct nand_dev *dev, size_t block);
uint32_t nandi_damage_key_page(const struct nand_dev *dev, uint32_t word, uint32_t page);

/* fault.c: called for operation number dev->op_count before it takes effect.
 * Returns the planes of the mask that fail. */
uint32_t nandi_fault_planes(struct nand_dev *dev, uint32_t die, uint32_t mask, bool erase);
bool nandi_wear_erase_fails(struct nand_dev *dev, size_t block);
bool nandi_wear_program_fails(struct nand_dev *dev, size_t block, uint32_t page);
bool nandi_read_upset(struct nand_dev *dev, size_t block, uint32_t page);
void nandi_mark_factory_bad(struct nand_dev *dev);
void nandi_next_armed(struct nand_dev *dev);

/* cut.c */
int  nandi_reserve_damage(struct nand_dev *dev);
bool nandi_cut_is_due(const struct nand_dev *dev);
/* Power goes before the operation reaches the medium. */
int  nandi_cut_before(struct nand_dev *dev, nand_ns now, struct nand_res *res);
/* After the operation was carried out in full; turns it into what the cut left. */
void nandi_cut_strike(struct nand_dev *dev, uint32_t die, struct nand_res *res);
void nandi_flight_damage(struct nand_dev *dev, uint32_t die, int which, enum damage_kind kind);

/* nand.c */
void nandi_set_pointers(struct nand_dev *dev);

/* age.c */
struct shared_tables;
const struct nand_cell *nandi_cell_of(const struct nand_dev *dev, bool slc);
int  nandi_cell_adopt(struct nand_dev *dev, const struct nand_cell *cell);
void nandi_default_volts(const struct nand_dev *dev, bool slc, int32_t ret_q24[NAND_BOUNDS_MAX]);
int  nandi_tables_create(struct nand_dev *dev);
void nandi_tables_release(struct nand_dev *dev);
void nandi_tables_share(struct nand_dev *dev);
uint64_t nandi_wear_limit(const struct nand_dev *dev, uint64_t draw);  /* cycles */
void nandi_clock_init(struct nand_dev *dev);
void nandi_clock_read(const struct nand_dev *dev, nand_ns now, uint64_t *slow_s, uint64_t *fast_s);
void nandi_cells_programmed(struct nand_dev *dev, nand_ns at, size_t block, bool first);
void nandi_cells_read(struct nand_dev *dev, size_t block, uint32_t page);
void nandi_cells_sense(struct nand_dev *dev, nand_ns at, const struct nand_req *req,
                       const struct reg *reg, struct sensed *ret);
int  nandi_codeword_errors(const struct nand_dev *dev, uint32_t die, uint32_t plane,
                         uint32_t codeword, struct nand_errors *ret);
uint32_t nandi_codeword_span(const struct nand_dev *dev, uint32_t codeword, uint32_t *ret_first);

/* contents.c */
int  nandi_contents_create(struct nand_dev *dev);
void nandi_contents_destroy(struct nand_dev *dev);
int  nandi_contents_load(struct nand_dev *dev, size_t plane, uint32_t type, const void *data,
                       uint32_t offset, uint32_t bytes);
int  nandi_contents_reserve(struct nand_dev *dev, size_t block);
int  nandi_contents_flip(struct nand_dev *dev, size_t block, uint32_t page, uint32_t offset,
                         uint8_t mask);
/* Moves the loaded pages (bit mask `types`) into the block from first_page on. merge:
 * a partial program, old and new bytes are anded. */
void nandi_contents_program(struct nand_dev *dev, size_t block, size_t plane,
                          uint32_t first_page, uint32_t types, bool merge);
void nandi_contents_drop_block(struct nand_dev *dev, size_t block);
void nandi_contents_forget_input(struct nand_dev *dev, size_t plane);
struct page_data *nandi_contents_page(const struct nand_dev *dev, size_t block, uint32_t page);
void nandi_contents_read(struct nand_dev *dev, size_t plane, size_t block, uint32_t page,
                       int status);
void nandi_contents_advance(struct nand_dev *dev, size_t plane);  /* data -> output register */
void nandi_contents_forget_output(struct nand_dev *dev, size_t plane);
int  nandi_contents_copy(struct nand_dev *to, const struct nand_dev *from);
struct page_data *nandi_page_new(struct nand_dev *dev, uint32_t bytes);
void nandi_page_release(struct nand_dev *dev, struct page_data *page);
/* The register's bytes as the bus would carry them; total bytes at most a page. */
void nandi_contents_register(const struct nand_dev *dev, uint32_t die, uint32_t plane,
                           uint32_t offset, uint32_t bytes, uint8_t *ret);
void nandi_contents_unpack(const struct nand_dev *dev, const struct page_data *page, uint8_t *ret);
void nandi_contents_compress_block(struct nand_dev *dev, size_t block);
uint64_t nandi_page_key(const struct nand_dev *dev, uint32_t die, uint32_t plane, uint32_t block,
                      uint32_t page);

/* Purposes of draws; numbers are part of what a seed means. */
enum draw_purpose {
    DRAW_FACTORY_BAD = 1,
    DRAW_WEAR_LIMIT = 2,
    DRAW_WEAR_KIND = 3,
    DRAW_WEAR_PAGE = 4,
    DRAW_UPSET = 5,
    DRAW_WIDTH_CHIP = 6,
    DRAW_WIDTH_BLOCK = 7,
    DRAW_WIDTH_LAYER = 8,
    DRAW_WIDTH_PAGE = 9,
    DRAW_ERRORS_01 = 10,
    DRAW_ERRORS_10 = 11,
    DRAW_POSITION = 12,
    DRAW_GARBAGE = 13,
    DRAW_CUT = 14,
    DRAW_SOFT = 15
};

#endif
