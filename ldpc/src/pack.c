/* pack.c - packed bits: loading, storing and doubling of blocks. */
#include <string.h>

#include "code.h"

static uint64_t le64(const uint8_t *p)
{
    uint64_t x = 0;
    for (int i = 7; i >= 0; i--)
        x = x << 8 | p[i];
    return x;
}

static uint64_t word_at(const uint8_t *src, size_t src_bytes, size_t bit)
{
    size_t byte = bit >> 3;
    unsigned r = bit & 7;
    if (byte + 9 <= src_bytes)
        return r ? le64(src + byte) >> r | (uint64_t)src[byte + 8] << (64 - r)
                 : le64(src + byte);
    uint8_t tmp[9] = {0};
    if (byte < src_bytes)
        memcpy(tmp, src + byte, src_bytes - byte < 9 ? src_bytes - byte : 9);
    return r ? le64(tmp) >> r | (uint64_t)tmp[8] << (64 - r) : le64(tmp);
}

#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { LITTLE_ENDIAN_HOST = 1 };
#else
enum { LITTLE_ENDIAN_HOST = 0 };
#endif

/* Whole words at a byte boundary, in the byte order of this machine: copy. */
static bool copyable(size_t at, uint32_t bits)
{
    return LITTLE_ENDIAN_HOST && !(at & 7) && !(bits & 63);
}

void ldpci_bits_load(const uint8_t *src, size_t src_bytes, size_t at, uint32_t bits,
                     uint64_t *dst)
{
    uint32_t words = (bits + 63) / 64;
    if (copyable(at, bits)) {
        memcpy(dst, src + at / 8, bits / 8);
        return;
    }
    for (uint32_t w = 0; w < words; w++)
        dst[w] = word_at(src, src_bytes, at + (size_t)w * 64);
    if (bits & 63)
        dst[words - 1] &= ~0ull >> (64 - (bits & 63));
}

void ldpci_bits_or(uint8_t *dst, size_t at, uint32_t bits, const uint64_t *src)
{
    if (copyable(at, bits)) {
        memcpy(dst + at / 8, src, bits / 8);
        return;
    }
    for (uint32_t done = 0; done < bits;) {
        size_t bit = at + done;
        uint32_t room = 8 - (uint32_t)(bit & 7);
        uint32_t take = bits - done < room ? bits - done : room;
        uint64_t x = src[done >> 6] >> (done & 63);
        if ((done & 63) + take > 64)
            x |= src[(done >> 6) + 1] << (64 - (done & 63));
        dst[bit >> 3] |= (uint8_t)((x & ((1u << take) - 1)) << (bit & 7));
        done += take;
    }
}

void ldpci_block_double(const struct ldpc_code *code, const uint64_t *plain, uint64_t *dbl)
{
    uint32_t zw = code->zw, r = code->z & 63;
    if (!r) { /* what lies past 2 z is read, never used */
        uint64_t *restrict one = dbl, *restrict two = dbl + zw;
        for (uint32_t w = 0; w < zw; w++)
            one[w] = two[w] = plain[w];
        return;
    }
    memcpy(dbl, plain, zw * sizeof *dbl);
    dbl[zw - 1] |= plain[0] << r;
    for (uint32_t w = 0; w < zw; w++)
        dbl[zw + w] = plain[w] >> (64 - r) | (w + 1 < zw ? plain[w + 1] << r : 0);
}

/* Plain blocks back to back are the code word itself. */
static bool seamless(const struct ldpc_code *code)
{
    return LITTLE_ENDIAN_HOST && code->z == 64 * code->xs && code->k == code->kfull;
}

void ldpci_word_load(const struct ldpc_code *code, const uint8_t *bits, uint64_t *plain)
{
    size_t bytes = ((size_t)code->n + 7) / 8;
    if (seamless(code)) {
        memcpy(plain, bits, bytes);
        return;
    }
    for (uint32_t c = 0; c < code->cols; c++) {
        uint64_t *b = plain + (size_t)c * code->xs;
        size_t at;
        uint32_t span = block_span(code, c, &at);
        if (span != code->xs * 64)
            memset(b, 0, code->xs * sizeof *b);
        if (span)
            ldpci_bits_load(bits, bytes, at, span, b);
    }
}

void ldpci_word_store(const struct ldpc_code *code, const uint64_t *plain, uint8_t *bits)
{
    size_t bytes = ((size_t)code->n + 7) / 8;
    if (seamless(code)) {
        memcpy(bits, plain, bytes);
        return;
    }
    memset(bits, 0, bytes);
    for (uint32_t c = 0; c < code->cols; c++) {
        const uint64_t *b = plain + (size_t)c * code->xs;
        size_t at;
        uint32_t span = block_span(code, c, &at);
        if (span)
            ldpci_bits_or(bits, at, span, b);
    }
}
