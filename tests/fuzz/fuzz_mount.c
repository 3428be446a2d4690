/* fuzz_mount.c - a drive that is off, whose NAND is changed byte by byte: it starts, or refuses.
 *
 * Input: byte 0 = which of the drives; then edits of 8 bytes:
 *   0  bit 0: 1 = in the log, 0 = in a superblock; bit 1: 1 = checksums are made right again
 *   1  die     2  block     3  page     4,5  byte     6  mask     7  not used
 * A log whose checksums are left alone may be refused or repaired; it never gives wrong data. With
 * checksums made right, or bytes of data changed, what is written there is a lie that no check can
 * find: the drive must still start, and work, or refuse. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "fuzz.h"
#include "nand/store.h"
#include "nvme/drive.h"

enum { DRIVES = 4, EDIT = 8, EDITS_MAX = 16 };

static struct {
    ftl_drive *d;
    uint32_t version[FUZZ_LBAS];
} worlds[DRIVES];

static void make_worlds(void)
{
    for (uint32_t i = 0; i < DRIVES; i++) {
        struct ftl_config cfg = fuzz_config();
        char why[FTL_WHY_MAX];
        cfg.power_plp = i & 1;
        if (ftl_create(&cfg, &worlds[i].d, why, sizeof why) != 0)
            fuzz_fail(__FILE__, __LINE__, why);
        for (uint32_t round = 0; round <= i; round++) {
            if (round > 0)
                FUZZ_REQUIRE(ftl_power_on(worlds[i].d, NULL) == 0);
            fuzz_work(worlds[i].d, worlds[i].version, i * 10 + round, 40 + 30 * i);
            FUZZ_REQUIRE(ftl_power_off(worlds[i].d, NULL) == 0);
        }
    }
}

/* Changes a byte on NAND to a value. */
static void set(ftl_drive *d, const struct nand_addr *a, uint32_t offset, uint8_t is, uint8_t value)
{
    if (is != value)
        FUZZ_REQUIRE(nand_page_flip(d->media.nand, a, offset, is ^ value) == 0);
}

/* FORMAT.md: the checksum of a sector of the log, and of a tag. */
static void seal(ftl_drive *d, const struct nand_addr *a, bool log)
{
    uint8_t s[4096 + 32], t[32];
    uint64_t sum;

    if (nand_page_get(d->media.nand, a, 0, sizeof s, s) != NAND_OK)
        return;
    memcpy(t, s + 4096, sizeof t);
    memset(t + 12, 0, 4);
    sum = log ? XXH3_64bits_withSeed(t, sizeof t, XXH3_64bits(s, 4096)) : XXH3_64bits(s, 4096 + 28);
    for (uint32_t i = 0; i < 4; i++)
        set(d, a, 4096 + (log ? 12 : 28) + i, s[4096 + (log ? 12 : 28) + i], (uint8_t)(sum >> 8 * i));
}

/* true = what was written may not be there any more. */
static bool edit(ftl_drive *d, const uint8_t *e)
{
    const struct ftl_config *cfg = &d->cfg;
    bool log = e[0] & 1, again = e[0] & 2;
    uint32_t first = log ? (uint32_t)cfg->ftl_superblocks : 0;
    uint32_t blocks = log ? d->core.log.segments * d->core.log.segment_blocks
                          : (uint32_t)cfg->ftl_superblocks;
    uint32_t offset = (e[4] | (uint32_t)e[5] << 8) % (4096 + 32);
    struct nand_addr a = {.die = (uint16_t)(e[1] % cfg->nand_dies), .block = first + e[2] % blocks,
                          .page = e[3] % (uint32_t)(cfg->nand_wordlines_per_block * (log ? 1 : 3))};
    if (nand_page_flip(d->media.nand, &a, offset, e[6]) != 0)
        return false;                   /* nothing is programmed there */
    if (again)
        seal(d, &a, log);
    return again || !log;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ftl_drive *d = NULL;
    bool lies = false;

    if (size < 1)
        return 0;
    if (worlds[0].d == NULL)
        make_worlds();
    uint32_t i = data[0] % DRIVES;
    FUZZ_REQUIRE(ftl_fork(worlds[i].d, &d) == 0);
    for (size_t at = 1, n = 0; at + EDIT <= size && n < EDITS_MAX; at += EDIT, n++)
        lies |= edit(d, data + at);
    int err = ftl_power_on(d, NULL);
    FUZZ_REQUIRE(err == 0 || err == FTL_EMEDIA);
    if (err == 0 && !lies)
        FUZZ_REQUIRE(fuzz_compare(d, worlds[i].version) == 0);
    if (err == 0)
        fuzz_use(d);
    ftl_destroy(d);
    return 0;
}
