/* archive.h - one byte stream, written or read by the same visits.
 *
 * Each nandi_io_...() writes the value when saving and overwrites it when loading.
 * Numbers are little-endian. The first error sticks; later visits do nothing. */
#ifndef NAND_SRC_ARCHIVE_H_
#define NAND_SRC_ARCHIVE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct archive {
    uint8_t *bytes;
    size_t at, size; /* loading: size of the data; saving: room */
    bool loading;
    int err; /* sticky */
};

void nandi_io_bytes(struct archive *a, void *bytes, size_t count);
void nandi_io_put_le(uint8_t *to, uint64_t value, int bytes);
uint64_t nandi_io_get_le(const uint8_t *from, int bytes);
/* Lowest `bytes` bytes of value; returns what was read or given. */
uint64_t nandi_io_int(struct archive *a, uint64_t value, int bytes);
void nandi_io_u8(struct archive *a, uint8_t *v);
void nandi_io_u32(struct archive *a, uint32_t *v);
void nandi_io_i32(struct archive *a, int32_t *v);
void nandi_io_u64(struct archive *a, uint64_t *v);
/* Arrays, or structs of nothing but uint64_t or uint32_t without padding. */
void nandi_io_u64s(struct archive *a, void *v, size_t bytes);
void nandi_io_u32s(struct archive *a, void *v, size_t bytes);
/* When loading: what does not hold makes the snapshot corrupt. */
void nandi_io_require(struct archive *a, bool holds);

#endif
