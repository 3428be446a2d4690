/* store.h - contents of a device: forks, snapshots, checks.
 *
 * Page contents exist with NAND_WITH_CONTENTS. They are allocated as pages are
 * programmed, shared between forks until one of them erases, and counted.
 * Threads: a device and its forks share page memory: one thread for all of them. */
#ifndef NAND_STORE_H_
#define NAND_STORE_H_

#include "nand/nand.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A second device in the same state. Cost: a copy of the bookkeeping, one count
 * per block that holds contents. Errors: NAND_EINVAL, NAND_ENOMEM. */
NAND_API int nand_fork(const nand_dev *dev, nand_dev **ret_copy);

/* Writes all of `size` bytes; non-zero stops and is handed back by nand_save(). */
typedef int (*nand_sink)(void *ctx, const void *bytes, size_t size);
/* Fills all of `size` bytes; non-zero stops and is handed back by nand_load(). */
typedef int (*nand_source)(void *ctx, void *ret_bytes, size_t size);
/* Everything: profile, clocks, blocks, contents, armed faults. Little-endian, zstd,
 * XXH3-checked, versioned; the same state gives the same bytes. Memory: about
 * twice the state while it runs. */
NAND_API int nand_save(const nand_dev *dev, nand_sink sink, void *ctx);
/* Errors: NAND_EFORMAT (not a snapshot, other version), NAND_ECORRUPT, NAND_ENOMEM. */
NAND_API int nand_load(nand_source source, void *ctx, nand_dev **ret_dev);
/* XXH3 of the state that nand_save() would write. */
NAND_API int nand_state_hash(const nand_dev *dev, uint64_t *ret_hash);

/* XXH3 of the bytes that were programmed into a page, kept apart from them.
 * Errors: NAND_EADDR, NAND_EUNWRITTEN, NAND_ENOTSUP (no contents kept). */
NAND_API int nand_page_hash(const nand_dev *dev, const struct nand_addr *addr,
                            uint64_t *ret_hash);
/* 1 = `data` (page_bytes + spare_bytes) is what was programmed, 0 = it is not. */
NAND_API int nand_page_verify(const nand_dev *dev, const struct nand_addr *addr,
                              const void *data);
/* ---- contents without time: an untimed fill, a look at the medium ------------------
 * What programming the word line of addr->page, the next in order of its block, leaves
 * behind. pages[t] = bytes of page type t (page_bytes + spare_bytes), NULL = all ones; an
 * SLC-mode block has one. No time passes, nothing in flight or armed is looked at.
 * Errors: NAND_EADDR, NAND_EORDER, NAND_ENOTSUP (no contents kept), NAND_ENOMEM. */
NAND_API int nand_wordline_put(nand_dev *dev, const struct nand_addr *addr,
                               const void *const *pages);
/* The state that an erase leaves, without time: flags as of NAND_OP_ERASE. Errors: NAND_EADDR,
 * NAND_ENOTSUP (NAND_F_SLC not offered). */
NAND_API int nand_block_put(nand_dev *dev, uint32_t die, uint32_t plane, uint32_t block,
                            uint32_t flags, uint32_t erase_count);
/* Bytes of a page as they were programmed, without bit errors. The enum nand_status that a
 * read would have: NAND_OK; NAND_ERASED (ret_data all ones); NAND_GARBAGE or NAND_FAIL
 * (*ret_data is left alone). Negative: NAND_EADDR, NAND_EBYTES, NAND_ENOTSUP. */
NAND_API int nand_page_get(const nand_dev *dev, const struct nand_addr *addr, uint32_t offset,
                           uint32_t bytes, void *ret_data);
/* For tests of what reads NAND: a programmed page comes back with bits of one byte (mask)
 * flipped, as if it had been programmed so; no code, no count tells. Forks keep theirs. Errors:
 * NAND_EADDR, NAND_EBYTES, NAND_EUNWRITTEN (holds no bytes), NAND_ENOTSUP, NAND_ENOMEM. */
NAND_API int nand_page_flip(nand_dev *dev, const struct nand_addr *addr, uint32_t offset,
                            uint8_t mask);
/* Bytes of the cache register as DATA_OUT would carry them, bit errors included; no bus
 * time. Errors: NAND_EADDR, NAND_ENODATA, NAND_EBYTES, NAND_ENOTSUP. */
NAND_API int nand_register_get(const nand_dev *dev, uint32_t die, uint32_t plane, uint32_t offset,
                               uint32_t bytes, void *ret_data);
/* Soft values of one codeword of the cache register after READ_SOFT: ret_bins[i] =
 * bin of bit i as in nand_cell_sense(), bit 0 = lowest bit of the first byte.
 * ret_bits is how many; room for them is the caller's: (page + spare) * 8 is enough.
 * Errors: as nand_register_errors(); NAND_ENOTSUP without cells and contents. */
NAND_API int nand_register_soft(const nand_dev *dev, uint32_t die, uint32_t plane,
                                uint32_t codeword, uint8_t *ret_bins, uint32_t *ret_bits);

struct nand_contents {
    uint64_t pages, bytes;          /* stored by this device, shared pages counted in full */
    uint64_t compressed_pages;
};
NAND_API int nand_contents_get(const nand_dev *dev, struct nand_contents *ret);
/* Compresses the pages of every full block that are worth it (at least 1/8 saved). */
NAND_API int nand_contents_compress(nand_dev *dev);

#ifdef __cplusplus
}
#endif
#endif
