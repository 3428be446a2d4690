#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

_Noreturn void fuzz_fail(const char *file, int line, const char *rule)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, rule);
    abort();
}

struct ftl_config fuzz_config(void)
{
    static const char *const keys[] = {
        "nand.preset", "tlc-128l", "nand.channels", "1", "nand.dies", "2", "nand.planes", "1",
        "nand.wordlines_per_block", "4", "nand.page_bytes", "4096", "nand.spare_bytes", "600",
        "nand.blocks_per_plane", "72", "ftl.superblocks", "14", "raid.parity", "0", "media.payload", "1",
        "gc.frontiers", "2", "drive.user_bytes", "131072", "buffer.bytes", "65536", "buffer.gc_bytes",
        "65536", "drive.lba_bytes", "4096", "journal.enabled", "1", "host.open_max", "8",
    };
    struct ftl_config cfg;
    char why[FTL_WHY_MAX];
    ftl_setup *s = ftl_setup_new();

    FUZZ_REQUIRE(s != NULL && ftl_setup_load(s, "wa-reference", why, sizeof why) == 0);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i += 2)
        FUZZ_REQUIRE(ftl_setup_set(s, keys[i], keys[i + 1], "fuzz", why, sizeof why) == 0);
    if (ftl_setup_finish(s, 1, &cfg, why, sizeof why) != 0)
        fuzz_fail(__FILE__, __LINE__, why);
    ftl_setup_free(s);
    return cfg;
}

void fuzz_stamp(uint8_t *bytes, uint32_t lba, uint32_t version)
{
    uint32_t words[2] = {version != 0 ? lba : 0, version};
    for (uint32_t i = 0; i < FUZZ_LBA_BYTES; i += 8)
        memcpy(bytes + i, words, 8);
}

static uint16_t command(ftl_drive *d, uint8_t opcode, uint64_t lba, void *data)
{
    struct ftl_cmd cmd = {.opcode = opcode, .lba = lba, .lba_count = opcode != FTL_FLUSH, .data = data};
    struct ftl_cpl cpl;

    FUZZ_REQUIRE(ftl_submit(d, &cmd) == 0);
    FUZZ_REQUIRE(ftl_run(d, FTL_NEVER) == 1);
    FUZZ_REQUIRE(ftl_poll(d, &cpl, 1) == 1);
    return cpl.status;
}

void fuzz_work(ftl_drive *d, uint32_t version[FUZZ_LBAS], uint64_t seed, uint32_t commands)
{
    uint8_t data[FUZZ_LBA_BYTES];

    for (uint32_t i = 0; i < commands; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t lba = (uint32_t)(seed >> 33) % FUZZ_LBAS;
        bool trim = (seed >> 60) == 0;
        version[lba] = trim ? 0 : version[lba] + i + 1;
        fuzz_stamp(data, lba, version[lba]);
        FUZZ_REQUIRE(command(d, trim ? FTL_TRIM : FTL_WRITE, lba, trim ? NULL : data) == 0);
    }
    FUZZ_REQUIRE(command(d, FTL_FLUSH, 0, NULL) == 0);
}

int fuzz_compare(ftl_drive *d, const uint32_t version[FUZZ_LBAS])
{
    uint8_t data[FUZZ_LBA_BYTES], want[FUZZ_LBA_BYTES];

    for (uint32_t lba = 0; lba < FUZZ_LBAS; lba++) {
        fuzz_stamp(want, lba, version[lba]);
        if (command(d, FTL_READ, lba, data) != 0 || memcmp(data, want, sizeof want) != 0)
            return -1;
    }
    return 0;
}

void fuzz_use(ftl_drive *d)
{
    uint32_t version[FUZZ_LBAS];
    uint8_t data[FUZZ_LBA_BYTES];
    char why[FTL_WHY_MAX];

    if (ftl_check(d, why, sizeof why) != 0)
        fuzz_fail(__FILE__, __LINE__, why);
    for (uint32_t lba = 0; lba < FUZZ_LBAS; lba++) {
        version[lba] = 1000 + lba;
        fuzz_stamp(data, lba, version[lba]);
        FUZZ_REQUIRE(command(d, FTL_WRITE, lba, data) == 0);
    }
    FUZZ_REQUIRE(fuzz_compare(d, version) == 0);
    if (ftl_check(d, why, sizeof why) != 0)
        fuzz_fail(__FILE__, __LINE__, why);
}
