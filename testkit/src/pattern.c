/* pattern.c - bytes that say which write of which LBA they come from. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rig.h"

enum { STANZA = 16 };

void tk_pattern(uint8_t *bytes, uint32_t n, uint64_t lba, uint32_t version)
{
    const uint64_t words[2] = {version == 0 ? 0 : lba, version};
    memcpy(bytes, words, STANZA);
    for (uint32_t have = STANZA; have < n; have *= 2)
        memcpy(bytes + have, bytes, have < n - have ? have : n - have);
}

bool tk_pattern_version(const uint8_t *block, uint32_t n, uint64_t lba, uint32_t *ret)
{
    uint64_t words[2];
    memcpy(words, block, STANZA);
    if (words[1] > UINT32_MAX || words[0] != (words[1] == 0 ? 0 : lba) ||
        memcmp(block, block + STANZA, n - STANZA) != 0)
        return false;
    *ret = (uint32_t)words[1];
    return true;
}

enum tk_verdict tk_pattern_judge(const uint8_t *block, uint32_t n, uint64_t lba, uint64_t lbas,
                                 uint32_t newest, char *why, size_t size)
{
    uint64_t first[2], words[2];
    uint32_t differs = 0, strange = 0;

    memcpy(first, block, STANZA);
    for (uint32_t at = 0; at < n; at += STANZA) {
        memcpy(words, block + at, STANZA);
        differs += memcmp(words, first, STANZA) != 0;
        strange += words[1] > newest || words[0] >= lbas || (words[1] == 0 && words[0] != 0);
    }
    if (strange != 0) {
        (void)snprintf(why, size, "LBA %" PRIu64 ": %u of %u stanzas were never written", lba,
                       strange, n / STANZA);
        return TK_BIT_CORRUPTION;
    }
    if (differs != 0) {
        (void)snprintf(why, size, "LBA %" PRIu64 ": begins as version %" PRIu64 ", %u of %u "
                       "stanzas are another's", lba, first[1], differs, n / STANZA);
        return TK_SHORN_WRITE;
    }
    if (first[1] == 0) {
        (void)snprintf(why, size, "LBA %" PRIu64 " reads as never written", lba);
        return TK_METADATA_CORRUPTION;
    }
    if (first[0] != lba) {
        (void)snprintf(why, size, "LBA %" PRIu64 " reads as LBA %" PRIu64 ", version %" PRIu64,
                       lba, first[0], first[1]);
        return TK_METADATA_CORRUPTION;
    }
    (void)snprintf(why, size, "LBA %" PRIu64 " reads as version %" PRIu64, lba, first[1]);
    return TK_UNSERIALISABLE;
}
