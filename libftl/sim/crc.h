/* crc.h - CRC-32C (Castagnoli [P], RFC 3720 B.4): the check of NVMe's 32-bit guard. Of 4 KiB it finds
 * all errors of up to three bits, and all that span at most 32. */
#ifndef FTL_SIM_CRC_H
#define FTL_SIM_CRC_H

#include <isa-l/crc.h>
#include <stdint.h>

static inline uint32_t sim_crc32c(const uint8_t *bytes, uint32_t n)
{
    /* isa-l only reads them */
    return ~crc32_iscsi((unsigned char *)(uintptr_t)bytes, (int)n, UINT32_MAX);
}

#endif
