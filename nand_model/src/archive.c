/* archive.c - one byte stream, written or read by the same visits. */
#include "archive.h"

#include <stdlib.h>
#include <string.h>

#include "nand/nand.h"

void nandi_io_bytes(struct archive *a, void *bytes, size_t count)
{
    if (a->err)
        return;
    if (a->loading) {
        if (count > a->size - a->at) {
            a->err = NAND_ECORRUPT;
            return;
        }
        memcpy(bytes, a->bytes + a->at, count);
    } else {
        if (count > a->size - a->at) {
            size_t size = (a->at + count) * 2 + 4096;
            uint8_t *grown = realloc(a->bytes, size);
            if (!grown) {
                a->err = NAND_ENOMEM;
                return;
            }
            a->bytes = grown;
            a->size = size;
        }
        memcpy(a->bytes + a->at, bytes, count);
    }
    a->at += count;
}

void nandi_io_put_le(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

uint64_t nandi_io_get_le(const uint8_t *from, int bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

uint64_t nandi_io_int(struct archive *a, uint64_t value, int bytes)
{
    uint8_t raw[8] = {0};

    if (!a->loading)
        nandi_io_put_le(raw, value, bytes);
    nandi_io_bytes(a, raw, (size_t)bytes);
    return a->loading ? nandi_io_get_le(raw, bytes) : value;
}

void nandi_io_u8(struct archive *a, uint8_t *v)
{
    *v = (uint8_t)nandi_io_int(a, *v, 1);
}

void nandi_io_u32(struct archive *a, uint32_t *v)
{
    *v = (uint32_t)nandi_io_int(a, *v, 4);
}

void nandi_io_i32(struct archive *a, int32_t *v)
{
    *v = (int32_t)(uint32_t)nandi_io_int(a, (uint32_t)*v, 4);
}

void nandi_io_u64(struct archive *a, uint64_t *v)
{
    *v = nandi_io_int(a, *v, 8);
}

void nandi_io_u64s(struct archive *a, void *v, size_t bytes)
{
    uint64_t *each = v;

    for (size_t i = 0; i < bytes / 8; i++)
        nandi_io_u64(a, &each[i]);
}

void nandi_io_u32s(struct archive *a, void *v, size_t bytes)
{
    uint32_t *each = v;

    for (size_t i = 0; i < bytes / 4; i++)
        nandi_io_u32(a, &each[i]);
}

void nandi_io_require(struct archive *a, bool holds)
{
    if (a->loading && !a->err && !holds)
        a->err = NAND_ECORRUPT;
}
