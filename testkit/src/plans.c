/* plans.c - tiny drives to cut the power of, and their loads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

/* Settings on top of tk_tiny. Each plan has what its name says; together they cover cells
 * with 1 to 4 pages per word line, paired pages, capacitors, parity, planes, streams, small
 * LBAs and both mappings. */
static const struct {
    const char *name, *settings;
} plans[] = {
    {"slc", "nand.preset=pslc power.plp=0 nand.dies=1 nand.wordlines_per_block=8"},
    {"slc-caps", "nand.preset=pslc power.plp=1 nand.wordlines_per_block=4"},
    {"mlc", "nand.preset=mlc-25nm power.plp=0"},
    {"mlc-caps", "nand.preset=mlc-25nm power.plp=1 nand.planes=2 power.atomic_units=4"},
    {"tlc", "nand.preset=tlc-128l power.plp=0 power.atomic_units=3"},
    {"tlc-caps", "nand.preset=tlc-128l power.plp=1"},
    {"tlc-raid", "nand.preset=tlc-128l power.plp=0 nand.dies=3 raid.parity=1"},
    {"tlc-raid-caps", "nand.preset=tlc-128l power.plp=1 power.atomic_units=2 nand.dies=3 raid.parity=1"},
    {"tlc-dftl", "nand.preset=tlc-128l power.plp=0 map.cache_ppm=1 map.page_entries=8 "
                 "power.atomic_units=3 ftl.superblocks=24"},
    {"tlc-dftl-caps", "nand.preset=tlc-128l power.plp=1 map.cache_ppm=1 map.page_entries=8 "
                      "gc.frontiers=2 ftl.superblocks=24"},
    {"tlc-checkpoint", "nand.preset=tlc-128l power.plp=0 journal.checkpoint_superblocks=1"},
    {"tlc-checkpoint-caps", "nand.preset=tlc-128l power.plp=1 journal.checkpoint_superblocks=1"},
    {"tlc-512", "nand.preset=tlc-128l power.plp=0 drive.lba_bytes=512 power.atomic_units=2"},
    {"qlc", "nand.preset=qlc power.plp=0"},
    {"qlc-streams-caps", "nand.preset=qlc power.plp=1 streams.count=2 ftl.superblocks=14"},
    {"tlc-suspend-caps", "nand.preset=tlc-128l power.plp=1 sched.suspend=1"},
    {"tlc-auto-caps", "nand.preset=tlc-128l power.plp=1 streams.mode=auto streams.count=2 "
                      "ftl.superblocks=16"},
    {"tlc-isolated-caps", "nand.preset=tlc-128l power.plp=1 streams.count=2 gc.frontiers=2 "
                          "streams.initially_isolated=2 ftl.superblocks=14"},
    {"tlc-wear-caps", "nand.preset=tlc-128l power.plp=1 wear.spread=1 gc.frontiers=2 "
                      "ftl.superblocks=14"},
    {"qlc-8k-caps", "nand.preset=qlc power.plp=1 map.unit_bytes=8192"},
};

const char *tk_plan_name(uint32_t index)
{
    return index < sizeof plans / sizeof plans[0] ? plans[index].name : NULL;
}

const char *tk_plan_settings(uint32_t index)
{
    return index < sizeof plans / sizeof plans[0] ? plans[index].settings : NULL;
}

static int set_words(ftl_setup *s, const char *settings, char *why, size_t size)
{
    char copy[512], *save = NULL;
    int err = 0;
    (void)snprintf(copy, sizeof copy, "%s", settings);
    for (char *word = strtok_r(copy, " ", &save); word != NULL && err == 0;
         word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');
        if (equals == NULL)
            return FTL_EINVAL;
        *equals = '\0';
        err = ftl_setup_set(s, word, equals + 1, "plan", why, size);
    }
    return err;
}

/* The largest capacity that leaves the spare asked for: collection has work early. */
static int least_spare(ftl_setup *s, struct ftl_config *ret, char *why, size_t size)
{
    char text[32];
    int err = FTL_ECONFIG;
    for (uint64_t kib = 512; kib >= 32 && err == FTL_ECONFIG; kib -= 16) {
        (void)snprintf(text, sizeof text, "%" PRIu64 "K", kib);
        err = ftl_setup_set(s, "drive.user_bytes", text, "plan", why, size);
        if (err == 0)
            err = ftl_setup_finish(s, 1, ret, why, size);
    }
    return err;
}

/* A preset sets shape and times of the part; the shape is made tiny again behind it. */
static int plan_config(const char *settings, struct ftl_config *ret, char *why, size_t size)
{
    static const char tiny[] =
        "drive.name=plan nand.channels=1 nand.dies=2 nand.planes=1 nand.page_bytes=4096 "
        "nand.spare_bytes=600 nand.wordlines_per_block=2 raid.parity=0 drive.lba_bytes=4096 "
        "buffer.bytes=64K buffer.gc_bytes=64K media.payload=1 journal.enabled=1 "
        "host.open_max=32 nand.blocks_per_plane=128 ftl.superblocks=10";
    char shape[512], *preset = strstr(strcpy(shape, settings), "nand.preset=");
    ftl_setup *s = ftl_setup_new();
    int err = s == NULL ? FTL_ENOMEM : 0;

    if (err == 0 && preset != NULL) {
        preset[strcspn(preset, " ")] = '\0';
        err = set_words(s, preset, why, size);
    }
    if (err == 0)
        err = set_words(s, tiny, why, size);
    /* the preset's own word must not undo the shape */
    const char *rest = strchr(settings, ' ');
    if (err == 0 && rest != NULL)
        err = set_words(s, rest, why, size);
    if (err == 0)
        err = least_spare(s, ret, why, size);
    ftl_setup_free(s);
    return err;
}

int tk_plan_case(const char *name, uint64_t seed, struct tk_case *c, char *why, size_t size)
{
    struct tk_mix mix = {.weight = {[TK_WRITE] = 50, [TK_READ] = 8, [TK_TRIM] = 4, [TK_FLUSH] = 3,
                                    [TK_RUN] = 100, [TK_WAIT] = 2, [TK_OFF_ON] = 1},
                         .run_ns_max = 3000000, .streams = 2};
    uint32_t i = 0;
    while (tk_plan_name(i) != NULL && strcmp(tk_plan_name(i), name) != 0)
        i++;
    if (tk_plan_name(i) == NULL) {
        (void)snprintf(why, size, "%s: unknown plan", name);
        return FTL_EINVAL;
    }
    int err = plan_config(plans[i].settings, &c->cfg, why, size);
    if (err < 0)
        return err;
    c->cfg.drive_seed = seed;
    uint64_t lbas = c->cfg.drive_user_bytes / c->cfg.drive_lba_bytes;
    uint32_t unit_lbas = (uint32_t)(c->cfg.map_unit_bytes / c->cfg.drive_lba_bytes);
    struct tk_load load = {.lbas = lbas, .io_lbas = 4 * unit_lbas, .depth = 4, .seed = seed};
    mix.lbas_max = 6 * unit_lbas;
    tk_script_free(&c->script);
    if (seed % 2 == 0)
        err = tk_add_fill(&c->script, &load);
    return err < 0 ? err : tk_add_random(&c->script, &mix, lbas, seed, 260);
}

int tk_explore_id(const char *id, struct tk_explored *ret, char *why, size_t size)
{
    char name[64];
    uint64_t seed, op;
    uint32_t variant;
    int used = 0;
    struct tk_case c = {0};

    if (sscanf(id, "%63[^/]/%" SCNu64 "/%" SCNu64 "/%u%n", name, &seed, &op, &variant, &used) !=
            4 || id[used] != '\0') {
        (void)snprintf(why, size, "%.60s: not PLAN/SEED/OPERATION/VARIANT", id);
        return FTL_EINVAL;
    }
    int err = tk_plan_case(name, seed, &c, why, size);
    struct tk_explore x = {.c = &c, .name = name, .seed = seed,
                           .only_operation = op == 0 ? UINT64_MAX : op,
                           .only_variant = variant};
    if (err == 0)
        err = tk_explore(&x, ret, why, size);
    tk_script_free(&c.script);
    return err;
}
