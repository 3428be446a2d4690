/* fuzz_snapshot.c - any bytes as a snapshot: refused with a reason, or a drive that works.
 *
 * Odd first byte: the rest is taken as it is. Even: every checksum of header, sections and pieces
 * is made right first, and the kind is media, so that what they guard is met as well; what lies
 * in a state is trusted by definition (ftl_snapshot.h). */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "fuzz.h"
#include "ftl/ftl_snapshot.h"

#define HOUR UINT64_C(3600000000000)

struct bytes {
    const uint8_t *at;
    size_t left;
};

static int source(void *user, void *ret, size_t n)
{
    struct bytes *b = user;
    if (n > b->left)
        return -1;
    memcpy(ret, b->at, n);
    b->at += n;
    b->left -= n;
    return 0;
}

static uint32_t get4(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put8(uint8_t *at, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

/* FORMAT.md, "What lies in a snapshot file". */
static void seal(uint8_t *b, size_t size)
{
    if (size < 96)
        return;
    size_t config = get4(b + 52), note = get4(b + 64), at = 96;
    uint64_t sections = 0, pieces = 0;

    memcpy(b, "FTLDRIVE\1\0\0\0\2\0\0\0", 16);
    if (config > size - at)
        return;
    put8(b + 56, XXH3_64bits(b + at, config));
    at += config;
    if (note > size - at)
        return;
    put8(b + 72, XXH3_64bits(b + at, note));
    at += note;
    put8(b + 88, XXH3_64bits(b, 88));
    while (size - at >= 32) {
        put8(b + at + 24, XXH3_64bits_withSeed(b + at, 24, sections++));
        bool is_end = get4(b + at) == 5;
        at += 32;
        while (!is_end && size - at >= 16) {
            size_t n = get4(b + at + 12), all = get4(b + at + 8);
            if (n > size - at - 16)
                return;
            put8(b + at, XXH3_64bits_withSeed(b + at + 8, n + 8, pieces++));
            at += 16 + n;
            if (all == 0)
                break;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ftl_config cfg;
    char why[FTL_WHY_MAX] = "";
    ftl_drive *d = NULL;

    if (cfg.struct_size == 0)
        cfg = fuzz_config();
    if (size < 1)
        return 0;
    uint8_t *copy = malloc(size);
    FUZZ_REQUIRE(copy != NULL);
    memcpy(copy, data, size);
    if (data[0] % 2 == 0)
        seal(copy + 1, size - 1);
    struct bytes b = {copy + 1, size - 1};
    int err = ftl_snapshot_read(source, &b, &cfg, NULL, &d, why, sizeof why);
    FUZZ_REQUIRE((err == 0) == (d != NULL));
    FUZZ_REQUIRE(err == 0 || err == FTL_ESNAPSHOT || err == FTL_ECONFIG);
    FUZZ_REQUIRE(err == 0 || (strlen(why) > 10 && strchr(why, '\n') == NULL));
    if (err == 0 && !ftl_power_is_on(d)) {
        err = ftl_power_on(d, NULL);
        FUZZ_REQUIRE(err == 0 || err == FTL_EMEDIA || err == FTL_EINVAL);
    }
    if (err == 0 && ftl_now(d) < HOUR)      /* later its capacitors may be too old for writes */
        fuzz_use(d);
    ftl_destroy(d);
    free(copy);
    return 0;
}
