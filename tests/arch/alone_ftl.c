/* alone_ftl.c - a program with libftl: one write, then a read of the same LBA. */
#include <ftl/ftl.h>
#include <ftl/ftl_policy.h>

#include <stdio.h>

static int run_one(ftl_drive *drive, uint8_t opcode)
{
    struct ftl_cmd cmd = {.opcode = opcode, .lba = 7, .lba_count = 1, .user = 42};
    struct ftl_cpl cpl;
    if (ftl_submit(drive, &cmd) < 0 || ftl_run(drive, FTL_NEVER) != 1)
        return 1;
    if (ftl_poll(drive, &cpl, 1) != 1 || cpl.user != 42 || cpl.status != 0)
        return 1;
    printf("opcode %u took %.2f us\n", opcode, (double)(cpl.done_at - cpl.submitted_at) * 1e-3);
    return cpl.done_at <= cpl.submitted_at;
}

int main(void)
{
    struct ftl_config cfg;
    ftl_drive *drive = NULL;
    char why[FTL_WHY_MAX];
    if (ftl_config_init(&cfg, "wa-reference", why, sizeof why) < 0 ||
        ftl_create(&cfg, &drive, why, sizeof why) < 0) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    int bad = run_one(drive, FTL_WRITE) || run_one(drive, FTL_READ);
    bad |= ftl_check(drive, why, sizeof why) != 0 || !ftl_gc_policy_find("greedy");
    ftl_destroy(drive);
    return bad;
}
