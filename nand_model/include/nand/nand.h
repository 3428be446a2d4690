/* nand.h - NAND flash model: geometry, legality, time lines, cells, faults.
 *
 * Passive: the caller owns time. An operation is issued "at" a time and the
 * model answers when it will be done and how it went. There are no threads, no
 * clock and no event queue in here.
 *
 * Time:    nand_ns, virtual nanoseconds. Calls on one device must not go back
 *          in time: `now` is never less than in an earlier call.
 * Threads: one device = one thread at a time; two devices share nothing.
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
};

struct nand_profile {
    const char *name;
    const char *cell;               /* "slc", "mlc", "tlc", "etlc", "qlc" */
    struct nand_geometry geo;
    struct nand_timing time;
};

/* ---- addresses and operations --------------------------------------------
 * page = wordline * page_types + page type. */
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
    NAND_OP_READ_CACHE_END  /* last register -> cache register, array stays idle */
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
};

struct nand_res {
    nand_ns start_at;       /* first bus cycle of the operation, >= now */
    nand_ns bus_free_at;    /* channel released */
    nand_ns done_at;        /* array operation or transfer over */
    int status;             /* NAND_OK, NAND_FAIL, ... */
    nand_ns ready_at;       /* register ready for the next bus transfer, <= done_at */
};

enum nand_status { NAND_OK = 0, NAND_FAIL = 1 };

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
    NAND_EUNWRITTEN= -13    /* read of a page never programmed since erase */
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
NAND_API int  nand_create(const struct nand_profile *p, uint64_t seed, nand_dev **ret_dev);
NAND_API void nand_destroy(nand_dev *dev);     /* NULL is fine */
/* Cost: O(planes in the mask). */
NAND_API int  nand_issue(nand_dev *dev, nand_ns now, const struct nand_req *req,
                         struct nand_res *ret_res);

NAND_API const struct nand_profile *nand_dev_profile(const nand_dev *dev); /* owned by dev */

/* ---- block state ----------------------------------------------------------- */
struct nand_block_info {
    uint32_t pages_written;         /* write pointer: pages below it are programmed */
    uint32_t erase_count;           /* P/E cycles so far */
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
/* The same for block (or plane_block[p], when not NULL) in every plane of the mask. */
NAND_API int nand_block_set_planes(nand_dev *dev, uint32_t die, uint32_t plane_mask,
                                   uint32_t block, const uint32_t *plane_block,
                                   uint32_t pages_written, uint32_t erase_count);

#ifdef __cplusplus
}
#endif
#endif
