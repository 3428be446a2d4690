/* test_model.c - random commands on random small drives against an oracle: media that fail,
 * losses of power, other policies at a mount.
 *
 * testkit plays each case in a process of its own: user bytes travel through buffer,
 * relocation and media, so a wrong map entry reads as another version or another LBA,
 * and ftl_check() runs after every step. A failure prints its seed, and the case
 * shrunk to the steps that matter, as text that tk_case_parse() takes back. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ftl/ftl_testkit.h"

enum { SEEDS = 300, STEPS = 500, SECONDS = 20, SHRINK_RUNS = 1500 };

static const char *number(char text[][24], int *n, uint64_t value)
{
    char *slot = text[(*n)++];
    (void)snprintf(slot, 24, "%llu", (unsigned long long)value);
    return slot;
}

static void random_scheduling(struct ftl_config *cfg, struct rand64 *r)
{
    cfg->sched_suspend = draw_to(r, 2);
    cfg->sched_suspend_budget = 1 + draw_to(r, 20);
    cfg->sched_suspend_window_ns = 1 + draw_to(r, 400000);
    cfg->sched_coalesce = draw_to(r, 2);
    cfg->sched_host_write_first = draw_to(r, 2);
    cfg->sched_gc_write_wait_ns = draw_to(r, 2) ? 0 : draw_to(r, 4000000);
    cfg->sched_prog_wait_ns = draw_to(r, 2) ? 0 : draw_to(r, 1000000);
    cfg->preread_ahead_bytes = 4096 * (1 + draw_to(r, 32));
    uint64_t least = 2 * cfg->preread_ahead_bytes, pages = 4 * cfg->nand_page_bytes;
    cfg->preread_cache_bytes = draw_to(r, 2) ? 0 : (least > pages ? least : pages) *
                                                       (1 + draw_to(r, 3));
}

static struct ftl_config random_config(struct rand64 *r)
{
    static const char *const policies[] = {"greedy", "fifo", "random", "d-choices",
                                           "cost-benefit", "windowed-greedy", "cat"};
    static const char *const pacings[] = {"threshold", "idle", "proportional"};
    static const char *const wear_policies[] = {"least-worn", "fifo", "most-worn"};
    static const char *const presets[] = {"pslc", "mlc-25nm", "tlc-128l", "qlc"};
    char text[32][24];
    int n = 0;
#define NUM(v) number(text, &n, v)
    uint64_t channels = 1 + draw_to(r, 2), dies = channels * (1 + draw_to(r, 3));
    uint64_t parity = dies > 1 ? draw_to(r, 2) : 0, frontiers = 1 + draw_to(r, 2);
    uint64_t planes = 1 + draw_to(r, 3), types = 1 + draw_to(r, 4), rows = 1 + draw_to(r, 3);
    uint64_t page = 1 + draw_to(r, 3), plp = draw_to(r, 2);
    uint64_t wl = planes * types * page, unit = UINT64_C(1) << draw_to(r, 5);
    unit = draw_to(r, 2) || wl % unit != 0 ? 1 : unit;
    rows += (dies - parity) * wl * rows == unit;
    uint64_t sb_units = (dies - parity) * rows * wl;
    /* from the least spare that is allowed up to four superblocks more */
    uint64_t classes = plp && draw_to(r, 2) ? 1 + draw_to(r, 3) : 1;
    uint64_t wear = plp && draw_to(r, 3) == 0 ? 1 + draw_to(r, 4) : 0;
    bool is_auto = classes > 1 && draw_to(r, 2);
    uint64_t initial = !is_auto && classes > 1 && frontiers == 2 && draw_to(r, 2)
                           ? 2 + draw_to(r, classes - 1) : 0;
    uint64_t open = frontiers * classes + (wear != 0) - (initial != 0 ? initial - 1 : 0);
    uint64_t spare = is_auto ? open + 3 : open + (open < 2 ? 2 : open) + (plp ? 0 : 2);
    spare += draw_to(r, 4);
    /* some drives read their map on demand, mostly from a cache of a few pages */
    bool may_cache = unit == 1 && !is_auto && initial == 0;
    uint64_t ppm = may_cache && draw_to(r, 2) ? 1 + draw_to(r, 3) * 300000 : 0;
    uint64_t entries = UINT64_C(8) << draw_to(r, 3);
    spare += ppm != 0 ? 6 : 0;
    uint64_t sbs = spare + 3 + draw_to(r, 8);
    uint64_t pslc = plp && types > 1 && frontiers == 2 && classes == 1 && ppm == 0 && draw_to(r, 2)
                        ? 1 + draw_to(r, 3) : 0;
    pslc = planes * page % unit == 0 && (unit <= page ? page % unit == 0 : unit % page == 0) ? pslc : 0;
    sbs += pslc != 0 ? pslc + 1 : 0;
    spare += pslc != 0 ? pslc + 1 : 0;
    uint64_t user = (sbs - spare) * sb_units;
    user = ppm != 0 && user > 6 ? (user - 2) * entries / (entries + 2) : user;
    bool two = types == 4 && plp && draw_to(r, 2);
    uint64_t held = (two ? 1 + dies : 1) * wl;  /* by an open superblock */
    uint64_t host_held = (is_auto ? open : classes + (ppm != 0)) * held;
    uint64_t gc_held = is_auto ? host_held : (classes + (ppm != 0) + (wear != 0)) * held;
    uint64_t buffer = host_held + draw_to(r, 3 * wl + 1), gc_buffer = gc_held + wl + draw_to(r, 3 * wl + 1);
    /* some lose power, in the middle of it and in order */
    bool journal = !two && pslc == 0 && draw_to(r, 2);
    uint64_t kept = !journal ? 0 : is_auto ? open : 1;
    sbs += kept;
    spare += kept;
    uint64_t log = journal ? 3 * (1 + 2 * (64 + 2 * user + buffer + gc_buffer) / (dies * rows)) : 0;
    struct ftl_config cfg = make_config(
        "wa-reference", 1, "nand.preset", two ? "qlc-2pass" : presets[types - 1], "nand.channels", NUM(channels), "nand.dies", NUM(dies), "nand.planes",
        NUM(planes), "nand.page_types", NUM(types), "nand.wordlines_per_block", NUM(rows),
        "nand.page_bytes", NUM(page * 4096), "nand.spare_bytes", NUM(page * 600), "nand.blocks_per_plane", NUM(sbs + log), "ftl.superblocks",
        NUM(sbs), "raid.parity", NUM(parity), "gc.frontiers", NUM(frontiers), "streams.count", NUM(classes),
        "streams.mode", is_auto ? "auto" : "host", "streams.initially_isolated", NUM(initial),
        "streams.chunk_units", NUM(is_auto ? UINT64_C(1) << draw_to(r, 4) : 1), "power.plp",
        NUM(plp), "gc.policy", policies[draw_to(r, 7)],
        "wear.spread", NUM(wear), "wear.policy", wear_policies[draw_to(r, 3)],
        "gc.pacing", pacings[draw_to(r, 3)], "gc.choices", "3", "drive.lba_bytes",
        draw_to(r, 2) ? "512" : "4096", "media.payload", "1", "map.unit_bytes", NUM(unit * 4096),
        "map.cache_ppm", NUM(ppm), "map.page_entries", NUM(entries), "drive.user_bytes",
        NUM(user * 4096), "buffer.bytes", NUM(buffer * 4096), "buffer.gc_bytes",
        NUM(gc_buffer * 4096), "journal.enabled", NUM(journal), NULL);
#undef NUM
    cfg.drive_seed = draw(r);
    cfg.pslc_superblocks = pslc;
    cfg.pslc_dynamic = pslc != 0 ? draw_to(r, 5) : 0;
    cfg.pslc_idle_ns = draw_to(r, 2) ? draw_to(r, 3000000) : UINT64_C(1000000000000);
    random_scheduling(&cfg, r);
    return cfg;
}

/* Spare blocks and superblocks for media that fail, or blocks for the log; what the drive is
 * not made for leaves it as it was. Two thirds of the drives also change policies. */
enum extra { NONE, POLICIES, FAULTS, JOURNAL, EXTRAS };
static enum extra add_extra(struct ftl_config *cfg, struct rand64 *r)
{
    struct ftl_config c = *cfg;
    enum extra extra = (enum extra)draw_to(r, EXTRAS);
    uint64_t units = c.nand_planes * c.nand_page_types * (c.nand_page_bytes / c.map_unit_bytes);
    uint64_t sb_units = (c.nand_dies - c.raid_parity) * c.nand_wordlines_per_block *
                        (units == 0 ? 1 : units);

    if (extra < FAULTS)
        return extra;
    c.map_cache_ppm = c.pslc_superblocks = c.pslc_dynamic = 0;
    if (extra == FAULTS) {
        c.media_faults = 1;
        c.ftl_superblocks += 3 + (c.buffer_bytes + c.buffer_gc_bytes) / c.map_unit_bytes / sb_units;
        c.nand_blocks_per_plane = c.ftl_superblocks + draw_to(r, 6);
        c.wear_assembly = draw_to(r, 2);
    } else {
        c.journal_enabled = 1;
        c.wear_spread = 0;
        c.power_atomic_units = 1 + draw_to(r, sb_units < 4 ? sb_units : 4);
        if (!c.power_plp && c.power_atomic_units > units)
            c.power_atomic_units = units == 0 ? 1 : units;
        c.buffer_bytes += (c.power_atomic_units - 1) * c.map_unit_bytes;
        c.journal_checkpoint = draw_to(r, 4);   /* superblocks; 0: when a segment is full */
        for (int i = 0; i < 64 && ftl_config_check(&c, NULL, 0) < 0; i++)
            c.nand_blocks_per_plane += 4;
    }
    if (ftl_config_check(&c, NULL, 0) < 0)
        return POLICIES;
    *cfg = c;
    return extra;
}

static bool fails(void *user, const struct tk_case *c)
{
    const struct tk_result *first = user;
    struct tk_result r;
    return tk_play_apart(c, NULL, SECONDS, &r) == 0 && r.verdict == first->verdict;
}

static void report(uint64_t seed, struct tk_case *c, struct tk_result *first)
{
    size_t steps = c->script.count;
    const char *most = getenv("FTL_MODEL_SHRINK");
    uint32_t runs = tk_shrink(c, fails, first,
                              most != NULL ? (uint32_t)strtoul(most, NULL, 10) : SHRINK_RUNS);
    char *text = tk_case_print(c);
    fprintf(stderr, "seed %llu step %llu: %s: %s\nshrunk from %zu steps to %zu in %u runs:\n%s\n",
                (unsigned long long)seed, (unsigned long long)first->step,
                tk_verdict_name(first->verdict), first->why, steps, c->script.count, runs,
                text == NULL ? "" : text);
    free(text);
    fail();
}

static uint32_t kinds[EXTRAS];

/* A third of the drives has blocks alone that fail, another planes and dies alone: then every
 * byte must come back. */
static void sort_faults(struct tk_script *s, uint64_t third)
{
    for (size_t i = 0; i < s->count && third < 2; i++)
        if (s->steps[i].op == TK_FAULT)
            s->steps[i].lba_count = (uint32_t)(1 + 2 * third + s->steps[i].lba_count % 2);
}

static void run_seed(uint64_t seed)
{
    struct rand64 r = {seed};
    struct tk_case c = {.cfg = random_config(&r)};
    struct rand64 other = {seed ^ UINT64_C(0xfa17)};
    struct tk_mix mix;
    struct tk_result result;
    enum extra extra = add_extra(&c.cfg, &other);

    tk_mix_draw(&mix, draw(&r));
    mix.weight[TK_FAULT] = extra == FAULTS ? mix.weight[TK_FAULT] : 0;
    mix.weight[TK_MOUNT] = extra == NONE ? 0 : mix.weight[TK_MOUNT];
    if (c.cfg.journal_enabled)      /* untimed work has no promise: POWER.md */
        mix.weight[TK_WRITE_UNTIMED] = mix.weight[TK_TRIM_UNTIMED] = 0;
    uint64_t lbas = c.cfg.drive_user_bytes / c.cfg.drive_lba_bytes;
    assert_int_equal(tk_add_random(&c.script, &mix, lbas, draw(&r), STEPS), 0);
    sort_faults(&c.script, draw_to(&other, 3));
    int err = tk_play_apart(&c, NULL, SECONDS, &result);
    if (err == FTL_ECONFIG && strstr(result.why, "bad from the factory") != NULL)
        extra = NONE;               /* too few good blocks by chance */
    else if (err != 0)
        fail_msg("seed %llu: %s: %s", (unsigned long long)seed, ftl_strerror(err), result.why);
    kinds[extra]++;
    if (result.verdict != TK_SOUND)
        report(seed, &c, &result);
    tk_script_free(&c.script);
}

/* FTL_MODEL_CASE=text plays one printed case in this process. */
static void play_text(const char *text)
{
    struct tk_case c = {0};
    struct tk_result r;
    char why[FTL_WHY_MAX] = "";
    if (tk_case_parse(&c, text, why, sizeof why) < 0)
        fail_msg("%s", why);
    assert_int_equal(tk_play(&c, NULL, &r), 0);
    if (r.verdict != TK_SOUND)
        fail_msg("step %llu: %s: %s", (unsigned long long)r.step, tk_verdict_name(r.verdict),
                 r.why);
    tk_script_free(&c.script);
}

/* Found by the random drives: three superblocks of one live unit each, where two of the
 * three were always being programmed, so that each was collected alone and padded again. */
static void test_filler_waits_for_programs(void **state)
{
    (void)state;
    play_text(
        "drive.name=wa-reference drive.family=reference drive.user_bytes=122880 "
        "drive.seed=9903723031340878385 nand.preset=pslc nand.channels=1 nand.dies=1 "
        "nand.planes=1 nand.blocks_per_plane=16 nand.wordlines_per_block=1 "
        "nand.page_bytes=12288 nand.spare_bytes=1800 ftl.superblocks=16 raid.parity=0 "
        "map.page_entries=16 gc.policy=cost-benefit gc.choices=3 gc.pacing=proportional "
        "wear.policy=most-worn buffer.bytes=20480 buffer.gc_bytes=61440 power.plp=0 "
        "sched.program_wait_ns=650972 sched.gc_write_wait_ns=0 sched.suspend_budget=14 "
        "sched.suspend_window_ns=240332 preread.cache_bytes=442368 "
        "preread.ahead_bytes=110592 pslc.idle_ns=2940331 media.payload=1 | w191+2 w226+2 "
        "w232+2 n1978149 w157+28 w138+7 w69+60 w144+65 w129+56 w216+9 w98+7 w170+47 w29+4 "
        "w67+6 q w108+62 w3+69 w73+80");
}

/* Seeds beyond the usual that failed once. 2032: without capacitors superblocks waited for a
 * sector of the log that nobody was to send. 2966: they waited for programs under way, and more
 * was collected and padded meanwhile until there was no room for a map page. 1506: while the power was taken away
 * collection went on, and left units in open word lines. */
static void test_found(void **state)
{
    (void)state;
    run_seed(2032);
    run_seed(2966);
    run_seed(1506);
}

static void test_random_drives(void **state)
{
    (void)state;
    /* FTL_MODEL_SEED=n repeats one failure, FTL_MODEL_SEEDS=n runs longer. */
    const char *one = getenv("FTL_MODEL_SEED"), *many = getenv("FTL_MODEL_SEEDS");
    if (getenv("FTL_MODEL_CASE") != NULL) {
        play_text(getenv("FTL_MODEL_CASE"));
        return;
    }
    /* FTL_MODEL_SEEDS=m-n: those; n: 1 to n */
    const char *dash = many != NULL ? strchr(many, '-') : NULL;
    uint64_t first = one != NULL ? strtoull(one, NULL, 10)
                     : dash != NULL ? strtoull(many, NULL, 10) : 1;
    many = dash != NULL ? dash + 1 : many;
    uint64_t last = one != NULL ? first : many != NULL ? strtoull(many, NULL, 10) : SEEDS;
    for (uint64_t seed = first; seed <= last; seed++)
        run_seed(seed);
    print_message("drives: %u plain, %u that change policies, of them %u with media that fail and "
                  "%u that lose power\n", kinds[NONE], kinds[POLICIES] + kinds[FAULTS] +
                  kinds[JOURNAL], kinds[FAULTS], kinds[JOURNAL]);
    /* of 300 seeds a quarter each, less what a drive cannot have */
    assert_true(last - first < 299 || (kinds[FAULTS] >= 20 && kinds[JOURNAL] >= 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filler_waits_for_programs),
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_random_drives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
