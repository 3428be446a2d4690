/* nand.h - NAND flash model: geometry, legality, time lines, cells, faults.
 *
 * Passive: the caller owns time. An operation is issued "at" a time and the
 * model answers when it will be done and how it went. There are no threads, no
 * clock and no event queue in here.
 *
 * Time:    nand_ns, virtual nanoseconds. Calls on one device must not go back
 *          in time: `now` is never less than in an earlier call.
 * Threads: one device = one thread at a time; two devices share nothing, unless one
 *          is a fork of the other (store.h).
 * Errors:  0 or a negative enum nand_err. A refused operation changes nothing
 *          and leaves *ret_res untouched. How a legal operation ended on the
 *          medium is nand_res.status, never an error code.
 * Depends on libc, zstd and xxHash; on no other header of this project. */
#ifndef NAND_NAND_H_
#define NAND_NAND_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#define NAND_API __attribute__((visibility("default")))
#else
#define NAND_API
#endif

#define NAND_API_VERSION 0x000100u  /* 0xMMmmpp */

typedef uint64_t nand_ns;
typedef struct nand_dev nand_dev;

enum {
    NAND_PLANES_MAX = 16,           /* planes of one die, limit of plane_mask */
    NAND_PAGE_TYPES_MAX = 4         /* bits per cell: SLC 1 .. QLC 4 */
};

/* ---- profile: what the part is ------------------------------------------
 * Plain data. Take a preset with nand_profile_find(), copy it, change fields,
 * and let nand_profile_check() (also run by nand_create) judge the result.
 * Field units are in their names; allowed ranges in nand_profile_check(). */
struct nand_geometry {
    uint32_t channels;              /* independent buses, 1..64 */
    uint32_t dies;                  /* all dies; die d sits on channel d % channels */
    uint32_t planes;                /* per die, 1..NAND_PLANES_MAX */
    uint32_t blocks_per_plane;
    uint32_t wordlines_per_block;   /* word line x string: what one program fills */
    uint32_t page_types;            /* pages per word line = bits per cell, 1..4 */
    uint32_t page_bytes;            /* user part of a page */
    uint32_t spare_bytes;           /* the rest: ECC parity and metadata */
    uint32_t strings;               /* word lines of one layer, 0 = 1; sets layers, neighbours */
    uint32_t ecc_bytes_per_kib;     /* parity the ECC needs per KiB of page; 0 = not checked */
};

struct nand_timing {
    uint64_t tr_ns[NAND_PAGE_TYPES_MAX]; /* array read per page type */
    uint64_t tr_partial_ns;         /* array read of at most partial_bytes; 0 = not offered */
    uint32_t partial_bytes;
    uint64_t tprog_ns;              /* one word line, all its pages, all planes in the mask */
    uint64_t tbers_ns;              /* one block in every plane of the mask */
    uint64_t tcbsy_ns;              /* array busy seen by the bus in cache read and cache program */
    uint64_t tcmd_ns;               /* command and address cycles on the bus, per operation */
    uint64_t tstatus_ns;            /* status poll on the bus, per operation */
    uint32_t bus_mts;               /* 8-bit transfers: MT/s = MB/s */
    /* 0 in any of these = not offered (operations) or free (costs) */
    uint64_t tpass_ns[2];           /* PAGED: lower, upper page; TWO_PASS: coarse, fine */
    uint64_t slc_tr_ns, slc_tprog_ns;   /* blocks erased with NAND_F_SLC */
    uint64_t tsense_ns;             /* each extra sense of a soft read */
    uint64_t tsusp_prog_ns, tsusp_erase_ns; /* suspend accepted after */
    uint64_t tresume_ns, treverify_ns;  /* lost at resume; re-verify for programs only */
    uint64_t tprogress_ns;          /* least time under way between suspends */
    uint32_t suspends_max;          /* per operation */
    uint32_t partial_programs;      /* programs of one page between erases, 0 = 1; SLC only */
    uint64_t trst_read_ns, trst_prog_ns, trst_erase_ns; /* reset while busy with */
    uint64_t tfeat_ns;              /* set-feature */
};

/* How a word line is filled. */
enum nand_scheme {
    NAND_SCHEME_ONE_PASS = 0,   /* all pages at once */
    NAND_SCHEME_PAGED = 1,      /* MLC: lower, upper page apart; L0 L1 U0 L2 U1 .. */
    NAND_SCHEME_TWO_PASS = 2    /* QLC: coarse, fine, same order: C0 C1 F0 C2 F1 .. */
};

struct nand_power {                 /* peak-power cap: array operations at one time */
    uint32_t die_ops_max;           /* planes of a die sensing; 0 = no cap */
    uint32_t drive_ops_max;         /* planes sensing + dies programming or erasing; 0 = no cap */
};

struct nand_energy {                /* picojoule */
    uint64_t sense_pj;              /* one page sensed once */
    uint64_t prog_pj;               /* one word line of one plane, all passes */
    uint64_t slc_prog_pj;           /* the same for an SLC-mode page */
    uint64_t erase_pj;              /* one block */
    uint64_t bus_pj_per_byte;
};

struct nand_wearout {               /* with NAND_WITH_FAULTS only */
    uint32_t factory_bad_ppm;       /* blocks bad from the start, 0..20000 */
    uint32_t rated_pe;              /* cycles at which .. */
    uint32_t grown_bad_ppm;         /* .. this part of blocks has failed, 0..100000 */
    uint32_t shape_milli;           /* Weibull shape of the failing cycle, 500..20000 */
};

struct nand_profile {
    const char *name;
    const char *cell;               /* "slc", "mlc", "tlc", "etlc", "qlc" */
    struct nand_geometry geo;
    struct nand_timing time;
    enum nand_scheme scheme;
    uint32_t law;                   /* enum nand_cell_law of cell.h */
    struct nand_power power;
    struct nand_energy energy;
    struct nand_wearout wearout;
};

/* ---- addresses and operations --------------------------------------------
 * page = wordline * page_types + page type; in an SLC-mode block page = wordline. */
struct nand_addr {
    uint32_t block;                 /* within its plane */
    uint32_t page;                  /* within its block */
    uint16_t die;
    uint16_t plane;                 /* ignored by operations that take a plane mask */
};

enum nand_op {
    NAND_OP_READ,           /* page -> register of addr.plane; other planes stay free */
    NAND_OP_READ_PARTIAL,   /* the same for at most timing.partial_bytes */
    NAND_OP_READ_CACHE,     /* register -> cache register, array goes on with addr.page */
    NAND_OP_DATA_OUT,       /* req.bytes of the (cache) register of addr.plane over the bus */
    NAND_OP_DATA_IN,        /* req.bytes per plane of the mask into the registers, for addr.page */
    NAND_OP_PROG,           /* registers -> word line of addr.page in every plane of the mask */
    NAND_OP_PROG_CACHE,     /* the same; registers are free again after tcbsy */
    NAND_OP_ERASE,          /* addr.block in every plane of the mask */
    NAND_OP_READ_CACHE_END, /* last register -> cache register, array stays idle */
    NAND_OP_READ_SOFT,      /* READ with req.soft_bits 2 or 3: 2^bits - 2 more senses */
    NAND_OP_COPYBACK,       /* cache register of addr.plane -> input register, for addr.page */
    NAND_OP_PROG_PARTIAL,   /* SLC: part of a page, up to timing.partial_programs times */
    NAND_OP_SUSPEND,        /* the program or erase of addr.die */
    NAND_OP_RESUME,
    NAND_OP_RESET,          /* addr.die gives up what it does */
    NAND_OP_SET_FEATURE,    /* read-voltage offsets of addr.die, req.offsets */
    NAND_OP_STATUS          /* poll addr.die: NAND_OK or NAND_BUSY */
};

/* Time lines. The channel serves first come, first served from
 * start = max(now, channel free); times below run from there. xfer(n) =
 * ceil(1000 n / bus_mts) ns, rounded up once per operation.
 *
 *   READ, READ_PARTIAL  bus tcmd; then the array senses for tr of the page type.
 *       The die must not program or erase, the plane's registers must be idle.
 *       Both registers of the plane end up with the page.
 *   READ_CACHE, _END    bus tcmd; when the running sense (if any) is over, tcbsy
 *       moves its page to the cache register (ready_at); then tr for addr.page
 *       (done_at), for which _END has no use. Legal as soon as the cache
 *       register is ready. ENODATA when no read came before.
 *   DATA_OUT            bus tstatus + xfer(bytes); may be repeated. After a partial
 *       read at most partial_bytes + spare_bytes (NAND_EPARTIAL).
 *   DATA_IN             bus tcmd per plane + xfer(planes * bytes). Registers for
 *       input are apart from those for output: reads and loaded data do not
 *       disturb each other. Loading another word line forgets the one loaded
 *       before in that plane. EBUSY until the last program has freed them.
 *   PROG, PROG_CACHE    bus tcmd; then tprog. Needs every page type of the word
 *       line loaded in every plane of the mask, no plane sensing, die idle or
 *       under a PROG_CACHE (then the array starts it when that one is over).
 *       Input registers are free (ready_at) after tcbsy for PROG_CACHE, at the
 *       end for PROG. It may be issued at the same `now` as its DATA_IN: the
 *       bus keeps the order.
 *   ERASE               bus tcmd; then tbers. Needs an idle die. Input registers
 *       stay usable, so the next word line can be loaded meanwhile.
 *   READ_SOFT           READ + (2^soft_bits - 2) * tsense; the register then holds
 *       soft_bits pages' worth of bytes.
 *   COPYBACK            bus tcmd; as DATA_IN, but the page comes from the cache
 *       register as it was read, errors included. One plane.
 *   SUSPEND             bus tcmd; then tsusp (done_at), or less when the operation
 *       ends before. The die then reads; only what is being programmed or erased
 *       stays out of reach. ELIMIT: less than tprogress under way, or
 *       suspends_max reached. ESUSPEND: nothing runs, or a cache program waits.
 *   RESUME              bus tcmd; then tresume (+ treverify) + what was left; done_at
 *       is the new end. EBUSY while a plane senses.
 *   RESET               bus tcmd; then trst. Registers are empty; a program that was
 *       running or suspended leaves its pages unreadable, an erase its block.
 *   SET_FEATURE         bus tcmd + 4 bytes; then tfeat on the die. Idle die.
 *   STATUS              bus tstatus.
 *
 * With a cap in profile.power an array operation starts when the cap allows it:
 * done_at is later, nothing is refused.
 *
 * State changes at issue: a block counts as programmed or erased from then on,
 * and the busy die keeps others away until done_at. A status poll after PROG or
 * ERASE costs nothing unless the caller charges it. */

struct nand_req {
    enum nand_op op;
    struct nand_addr addr;
    uint32_t plane_mask;    /* DATA_IN, PROG*, ERASE: bit p = plane p */
    uint32_t bytes;         /* DATA_IN (per plane), DATA_OUT */
    const uint32_t *plane_block; /* plane_block[p] = block in plane p, read for the planes of
                                  * the mask; NULL = addr.block in each. Borrowed for the call. */
    void *data;             /* with NAND_WITH_CONTENTS. DATA_IN: `bytes` per plane of the mask,
                             * ascending; DATA_OUT: room for `bytes`. NULL = all ones / not wanted */
    uint32_t offset;        /* DATA_IN, DATA_OUT: first byte of the page */
    uint8_t read_level;     /* reads: retry level 0..63 */
    uint8_t soft_bits;      /* READ_SOFT: 2 or 3 */
    uint16_t flags;         /* NAND_F_* */
    const int16_t *offsets; /* one per boundary (2^page_types - 1, SLC mode the first), 1/1000
                             * pitch, -2000..2000. SET_FEATURE: for all reads of the die from
                             * now on, NULL = all 0. Reads: for this one; NULL = the die's */
};

enum {
    NAND_F_SLC = 1          /* ERASE: the block is used with one bit per cell from now on */
};

struct nand_res {
    nand_ns start_at;       /* first bus cycle of the operation, >= now */
    nand_ns bus_free_at;    /* channel released */
    nand_ns done_at;        /* array operation or transfer over */
    int status;             /* NAND_OK, NAND_FAIL, ... */
    nand_ns ready_at;       /* register ready for the next bus transfer, <= done_at */
    uint32_t fail_mask;     /* planes that failed, when status is NAND_FAIL */
    uint64_t energy_pj;     /* of this operation, see nand_energy */
};

enum nand_status {
    NAND_OK = 0,
    NAND_FAIL = 1,          /* program or erase failed: retire the block; read: plane is dead */
    NAND_CUT = 2,           /* power was lost during this operation: nand_power_on() next */
    NAND_ERASED = 3,        /* read of a page that looks erased (contents kept only) */
    NAND_GARBAGE = 4,       /* read of a page that holds nothing valid: torn, failed, upset */
    NAND_BUSY = 5           /* STATUS: an operation is running */
};

/* One code per rule, so that a refusal says which. */
enum nand_err {
    NAND_EINVAL    = -1,    /* null pointer, unknown operation */
    NAND_ENOMEM    = -2,
    NAND_EPROFILE  = -3,    /* profile refused, see nand_profile_check() */
    NAND_EADDR     = -4,    /* die, plane, block or page out of range */
    NAND_EMASK     = -5,    /* plane mask empty or beyond the die */
    NAND_EBUSY     = -6,    /* die or plane still busy at `now` */
    NAND_EORDER    = -7,    /* page is not the next one of its block */
    NAND_ENOTERASED= -8,    /* page already programmed (block full): erase before program */
    NAND_ENODATA   = -9,    /* register empty: nothing read in, or a page not loaded */
    NAND_EBYTES    = -10,   /* more bytes than a page with its spare area, or none */
    NAND_EPARTIAL  = -11,   /* partial read not offered or too long */
    NAND_ETIME     = -12,   /* now goes back in time */
    NAND_EUNWRITTEN= -13,   /* read of a page never programmed since erase */
    NAND_ENOTSUP   = -14,   /* operation or mode not offered by this profile or device */
    NAND_ESUSPEND  = -15,   /* nothing to suspend or resume; target under a suspended operation */
    NAND_ELIMIT    = -16,   /* too many suspends, or too little progress since the last */
    NAND_EPASS     = -17,   /* two-pass order: coarse, neighbour coarse, then fine */
    NAND_EMODE     = -18,   /* SLC-mode and normal blocks in one operation */
    NAND_EOFF      = -19,   /* power is off */
    NAND_ENOP      = -20,   /* partial programs of this page are used up */
    NAND_EFORMAT   = -21,   /* snapshot of another version, or none */
    NAND_ECORRUPT  = -22    /* snapshot damaged */
};
NAND_API const char *nand_strerror(int err);   /* never NULL, static storage */

NAND_API const struct nand_profile *nand_profile_find(const char *name); /* NULL = unknown */
NAND_API const char *nand_profile_name(uint32_t index);                  /* NULL past the end */
/* 0, or NAND_EPROFILE with one line in ret_why: field, value, rule. */
NAND_API int nand_profile_check(const struct nand_profile *p, char *ret_why, size_t why_size);

/* ---- device --------------------------------------------------------------
 * The profile is copied. All blocks start erased. Memory: a few bytes per
 * block and plane, see nand_memory_needed(); nothing grows later unless page
 * contents are kept. */
NAND_API size_t nand_memory_needed(const struct nand_profile *p);
/* flags: NAND_WITH_*; page contents come on top as they are written. 0 = refused profile. */
NAND_API size_t nand_memory_needed_with(const struct nand_profile *p, uint32_t flags);
NAND_API int  nand_create(const struct nand_profile *p, uint64_t seed, nand_dev **ret_dev);
/* The same with more depth. nand_create() = no option. Cells and faults cost some 10 ms at
 * creation (their tables); forks share them. */
enum {
    NAND_WITH_CELLS = 1,        /* wear, age and reads are followed; nand_register_errors() */
    NAND_WITH_CONTENTS = 2,     /* pages keep their bytes; unwritten pages may be read */
    NAND_WITH_FAULTS = 4,       /* factory bad blocks and wear-out failures */
    NAND_COMPRESS = 8           /* zstd for the pages of a block once it is full */
};
struct nand_cell;               /* cell.h */
struct nand_options {
    uint32_t flags;
    uint64_t contents_bytes_max;    /* cap on stored page bytes; 0 = none */
    const struct nand_cell *cell;   /* own constants, copied; NULL = those of profile.cell. As
                                     * many states as the profile has. Not for SLC-mode blocks */
};
/* Errors of both: NAND_EINVAL (null pointer, unknown flag, refused cell), NAND_EPROFILE,
 * NAND_ENOMEM; *ret_dev is then left alone. Cost: O(blocks). */
NAND_API int  nand_create_with(const struct nand_profile *p, uint64_t seed,
                               const struct nand_options *options, nand_dev **ret_dev);
NAND_API void nand_destroy(nand_dev *dev);     /* NULL is fine */
/* 0 or the rule that was broken; then neither the device nor *ret_res has changed. Cost:
 * O(planes in the mask); with cells 0.2-0.5 us more per read, with contents a copy. */
NAND_API int  nand_issue(nand_dev *dev, nand_ns now, const struct nand_req *req,
                         struct nand_res *ret_res);

NAND_API const struct nand_profile *nand_dev_profile(const nand_dev *dev); /* owned by dev */

/* ---- block state ----------------------------------------------------------- */
/* An operation on this block comes soon: its state is fetched. No other effect. */
NAND_API void nand_block_prefetch(const nand_dev *dev, uint32_t die, uint32_t plane,
                                  uint32_t block);
struct nand_block_info {
    uint32_t pages_written;         /* ONE_PASS: write pointer, pages below it are programmed;
                                     * PAGED: pages programmed in the scheme's order;
                                     * TWO_PASS: pages of word lines whose fine pass is done */
    uint32_t erase_count;           /* P/E cycles so far */
    uint32_t reads;                 /* page reads since erase (with cells only) */
    uint8_t slc;                    /* 1 = in SLC mode */
    uint8_t bad;                    /* 1 = factory bad, 2 = failed in use */
    uint8_t torn;                   /* 1 = erase cut short, reads garbage; 2 = looks erased */
};
/* 0, NAND_EINVAL (null pointer) or NAND_EADDR. */
NAND_API int nand_block_info(const nand_dev *dev, uint32_t die, uint32_t plane, uint32_t block,
                             struct nand_block_info *ret_info);

/* Puts a block into the state that pages_written pages programmed in order and
 * erase_count erases leave behind. No time passes, no limit or busy die is
 * looked at, data loaded or read stays in the registers: this is how an untimed
 * fill is brought to the device. pages_written is a multiple of page_types, at
 * most a whole block. Errors: NAND_EINVAL, NAND_EADDR (also pages_written beyond
 * the block), NAND_EMASK, NAND_EORDER (pages_written inside a word line). */
NAND_API int nand_block_set(nand_dev *dev, uint32_t die, uint32_t plane, uint32_t block,
                            uint32_t pages_written, uint32_t erase_count);
/* The same for a block in SLC mode: one page per word line, at most all of them. Also
 * NAND_ENOTSUP: the part has no SLC mode. */
NAND_API int nand_block_set_slc(nand_dev *dev, uint32_t die, uint32_t plane, uint32_t block,
                                uint32_t pages_written, uint32_t erase_count);
/* The same for block (or plane_block[p], when not NULL) in every plane of the mask. */
NAND_API int nand_block_set_planes(nand_dev *dev, uint32_t die, uint32_t plane_mask,
                                   uint32_t block, const uint32_t *plane_block,
                                   uint32_t pages_written, uint32_t erase_count);

/* ---- counts ------------------------------------------------------------------ */
struct nand_stats {
    uint64_t reads, partial_reads, soft_reads;      /* operations, cache reads included */
    uint64_t data_outs, data_ins, copybacks;
    uint64_t programs, erases;      /* operations; together the operation number of faults */
    uint64_t suspends, resumes, resets, features, polls;
    uint64_t senses;                /* page senses, the extra ones of soft reads included */
    uint64_t plane_programs, slc_plane_programs;    /* word lines x planes */
    uint64_t plane_erases;
    uint64_t bus_bytes;
    uint64_t power_wait_ns;         /* array time lost to the cap */
    uint64_t energy_pj;
};
NAND_API int nand_stats_get(const nand_dev *dev, struct nand_stats *ret_stats);
/* Where a die stands. A suspend that came too late leaves suspended = 0. */
struct nand_die_info {
    nand_ns array_until, sense_until;   /* in the past: idle */
    nand_ns suspended_left_ns;          /* array time that RESUME will take up again */
    uint32_t suspends;                  /* of the operation now or last under way */
    uint32_t dead_planes;               /* bit mask, see fault.h */
    uint32_t channel;
    uint8_t suspended;
};
NAND_API int nand_die_info(const nand_dev *dev, uint32_t die, struct nand_die_info *ret_info);
NAND_API uint64_t nand_op_count(const nand_dev *dev);   /* programs + erases issued, 0 = none */

/* ---- cells of a device (NAND_WITH_CELLS) ---------------------------------------
 * Temperature from `now` on, in 1/1000 degree Celsius, -55000..150000; 30000 at
 * the start. Retention runs on the device's clock: let `now` jump to let it lie.
 * Errors: NAND_EINVAL (range), NAND_ETIME. */
NAND_API int nand_set_temperature(nand_dev *dev, nand_ns now, int32_t milli_celsius);

struct nand_errors {
    uint32_t bits;                  /* looked at */
    uint32_t zero_to_one, one_to_zero;
    uint64_t rber_q48;              /* the rate that they were drawn from */
};
/* Bit errors of codeword `codeword` (0..nand_codewords() - 1) of the page in the
 * cache register of a plane. The draw depends on seed, page, erase count and
 * codeword alone: reading again gives the same errors, better voltages give
 * fewer. Errors: NAND_EADDR, NAND_ENODATA, NAND_ENOTSUP (no cells). */
NAND_API int nand_register_errors(const nand_dev *dev, uint32_t die, uint32_t plane,
                                  uint32_t codeword, struct nand_errors *ret_errors);
/* Offsets (see nand_req.offsets) with the fewest errors for the page in the cache register of
 * a plane: what perfect tracking would find. ~0.1 ms. Errors: NAND_EADDR, NAND_ENODATA,
 * NAND_ENOTSUP (no cells, or a law without voltages). */
NAND_API int nand_register_optimum(const nand_dev *dev, uint32_t die, uint32_t plane,
                                   int16_t ret_offsets[15]);
/* Codewords of a page: page_bytes / 4096, at least 1; each has an equal share of
 * page and spare area, the last one the remainder. */
NAND_API uint32_t nand_codewords(const nand_dev *dev);

#ifdef __cplusplus
}
#endif
#endif
