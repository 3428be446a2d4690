/* power_cut.c - writes with and without FLUSH, a sudden loss of power, and what is left.
 * Build: cc power_cut.c -lftl */
#include <stdio.h>
#include <string.h>

#include <ftl/ftl.h>
#include <ftl/ftl_power.h>

static int command(ftl_drive *d, uint8_t opcode, uint64_t lba, void *data)
{
    struct ftl_cmd cmd = {.opcode = opcode, .lba = lba, .lba_count = opcode != FTL_FLUSH,
                          .data = data};
    struct ftl_cpl cpl;
    int err = ftl_submit(d, &cmd);
    if (err == 0)
        err = ftl_run(d, FTL_NEVER) == 1 && ftl_poll(d, &cpl, 1) == 1 && cpl.status == 0 ? 0 : -1;
    return err;
}

static int configure(struct ftl_config *cfg, const char *plp)
{
    static const char *const settings[][2] = {
        {"nand.preset", "tlc-128l"}, {"nand.channels", "1"}, {"nand.dies", "2"},
        {"nand.planes", "1"}, {"nand.wordlines_per_block", "4"}, {"nand.page_bytes", "4096"},
        {"nand.spare_bytes", "600"}, {"nand.blocks_per_plane", "80"}, {"ftl.superblocks", "14"},
        {"drive.user_bytes", "131072"}, {"buffer.bytes", "65536"}, {"buffer.gc_bytes", "65536"},
        {"media.payload", "1"}, {"journal.enabled", "1"}, {"host.open_max", "32"}};
    char why[FTL_WHY_MAX] = "";
    ftl_setup *s = ftl_setup_new();
    int err = s == NULL ? FTL_ENOMEM : ftl_setup_load(s, "wa-reference", why, sizeof why);

    for (size_t i = 0; err == 0 && i < sizeof settings / sizeof settings[0]; i++)
        err = ftl_setup_set(s, settings[i][0], settings[i][1], "example", why, sizeof why);
    if (err == 0)
        err = ftl_setup_set(s, "power.plp", plp, "example", why, sizeof why);
    if (err == 0)
        err = ftl_setup_finish(s, 1, cfg, why, sizeof why);
    ftl_setup_free(s);
    if (err < 0)
        (void)fprintf(stderr, "%s\n", why);
    return err;
}

static int show(const char *plp)
{
    struct ftl_config cfg;
    struct ftl_power_report r = {.struct_size = sizeof r};
    struct ftl_power_cut how = {.struct_size = sizeof how, .mode = FTL_CUT_TORN_PROG,
                                .others = FTL_OTHERS_TORN, .energy_ppm = 1000000};
    char data[4096] = "", back[4096];
    ftl_drive *d = NULL;
    int err = configure(&cfg, plp);

    if (err == 0)
        err = ftl_create(&cfg, &d, NULL, 0);
    for (uint64_t lba = 0; err == 0 && lba < 8; lba++) {
        (void)snprintf(data, sizeof data, "LBA %llu, flushed", (unsigned long long)lba);
        err = command(d, FTL_WRITE, lba, data);
    }
    if (err == 0)
        err = command(d, FTL_FLUSH, 0, NULL);
    if (err == 0) {
        (void)snprintf(data, sizeof data, "LBA 3, acknowledged and not flushed");
        err = command(d, FTL_WRITE, 3, data);
    }
    if (err == 0)
        err = ftl_power_cut(d, &how, &r);
    if (err == 0)
        (void)printf("power.plp = %s: %llu units saved by the capacitors, %llu uJ used\n", plp,
                     (unsigned long long)r.units_flushed,
                     (unsigned long long)r.energy_need_nj / 1000);
    if (err == 0)
        err = ftl_power_on(d, &r);
    for (uint32_t i = 0; err == 0 && i < r.step_count; i++)
        (void)printf("  %-28s %8.1f us %6llu items\n", r.steps[i].name, (double)r.steps[i].ns / 1e3,
                     (unsigned long long)r.steps[i].items);
    for (uint64_t lba = 2; err == 0 && lba < 5; lba++) {
        err = command(d, FTL_READ, lba, back);
        (void)printf("  reads: %s\n", back);
    }
    ftl_destroy(d);
    return err;
}

int main(void)
{
    int err = show("0");
    if (err == 0)
        err = show("1");
    if (err < 0)
        (void)fprintf(stderr, "%s\n", ftl_strerror(err));
    return err == 0 ? 0 : 1;
}
