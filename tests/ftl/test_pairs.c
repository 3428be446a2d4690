/* test_pairs.c - each pair of settings that is refused says so in its one line; the first
 * of the two without the second is taken, so that the line is about the pair. */
#include "common.h"

#include <stdio.h>
#include <string.h>

enum {
#define PAIR(a, b, reason) PAIR_##a##_##b,
#include "config/pairs.def"
    PAIR_COUNT
};

/* What each word needs to be a set-up of its own. */
#define JOURNAL "journal.enabled=1 media.payload=1 nand.spare_bytes=1024"
#define PSLC "pslc.superblocks=2 gc.frontiers=2 nand.preset=tlc-128l"
#define AUTO "streams.mode=auto streams.count=4"
#define ISOLATED "streams.initially_isolated=2 streams.count=3 gc.frontiers=2"
#define TWO_PASS "nand.preset=qlc-2pass"

static const struct {
    const char *a, *b, *line;
} rows[PAIR_COUNT] = {
    {"media.faults=1 media.ecc=1", "media.faults=0", "media.ecc=1: needs media.faults=1: pages "
     "that cannot be decoded are rebuilt, moved or lost there"},
    {"media.faults=1 media.payload=1 media.ecc=decoder", "media.payload=0", "media.ecc=decoder: needs "
     "media.payload=1: it decodes the bits of pages"},
    {"map.cache_ppm=10000", "map.unit_bytes=16384", "map.cache_ppm=10000: needs "
     "map.unit_bytes=4096: the size of a map page on the medium"},
    {"map.cache_ppm=10000", AUTO, "map.cache_ppm=10000: needs streams.mode=host: superblocks of "
     "map pages take the place of gathered ones"},
    {"map.cache_ppm=10000", ISOLATED, "map.cache_ppm=10000: needs streams.initially_isolated=0: "
     "room kept for map pages is not pooled"},
    {"map.cache_ppm=10000", "media.faults=1", "map.cache_ppm=10000: needs media.faults=0: map "
     "pages are not moved out of failed blocks"},
    {"streams.count=2", "power.plp=0", "streams.count=2: needs power.plp=1: without capacitors "
     "the open word lines of all classes would hold victims back"},
    {"streams.mode=auto streams.count=4 streams.policy=mine", "streams.mode=host",
     "streams.policy=mine: needs streams.mode=auto: the host's hint is the class otherwise"},
    {ISOLATED, AUTO, "streams.initially_isolated=2: needs streams.mode=host: a handle of the "
     "host's is what is isolated"},
    {ISOLATED, "gc.frontiers=1", "streams.initially_isolated=2: needs gc.frontiers=2: relocation "
     "has to leave the host's superblock"},
    {"wear.spread=10", "power.plp=0", "wear.spread=10: needs power.plp=1: without capacitors a "
     "moved superblock would wait for the next to fill its last word line"},
    {"media.faults=1", "raid.parity=2", "media.faults=1: needs raid.parity of 0 or 1: rebuilding "
     "knows one parity die"},
    {"media.faults=1", "power.plp=0", "media.faults=1: needs power.plp=1: the data of a failed "
     "program lives in the buffer until it is written elsewhere"},
    {TWO_PASS, "power.plp=0", "nand.preset=qlc-2pass: needs power.plp=1: the buffer keeps data "
     "until the second pass, without end"},
    {TWO_PASS, "media.faults=1", "nand.preset=qlc-2pass: needs media.faults=0: a word line that "
     "fails between its passes is not written elsewhere"},
    {"power.on_weak=write-through", TWO_PASS, "power.on_weak=write-through: needs a nand.preset "
     "of one pass: a word line of two passes cannot be closed at once"},
    {PSLC, "gc.frontiers=1", "pslc.superblocks=2: needs gc.frontiers=2: relocation alone writes "
     "beyond the cache"},
    {PSLC, "streams.count=2", "pslc.superblocks=2: needs streams.count=1: relocation alone writes "
     "beyond the cache"},
    {PSLC, "power.plp=0", "pslc.superblocks=2: needs power.plp=1: folded superblocks are erased "
     "while data is in the buffer"},
    {PSLC, "map.cache_ppm=10000", "pslc.superblocks=2: needs map.cache_ppm=0: map pages do not go "
     "through the cache"},
    {PSLC, JOURNAL, "pslc.superblocks=2: needs journal.enabled=0: checkpoint and recovery do not "
     "know its blocks"},
    {PSLC, "media.faults=1", "pslc.superblocks=2: needs media.faults=0: blocks of the cache are "
     "not replaced, nor are its cells those of the decoder's curves"},
    {"journal.enabled=1", "power.plp=0", "journal.enabled=1: needs power.plp=1: what an erase waits "
     "for without capacitors is known of units with tags"},
    {JOURNAL, "media.faults=1", "journal.enabled=1: needs media.faults=0: recovery does not know "
     "bad blocks"},
    {JOURNAL, TWO_PASS, "journal.enabled=1: needs a nand.preset of one pass: recovery does not "
     "know word lines in two passes"},
    {JOURNAL, "memory.upset_ppm=10", "journal.enabled=1: needs memory.upset_ppm=0: recovery does not "
     "know units whose guard is wrong"},
    {"gc.pacing=threshold", "gc.idle_after_ns=1000", "gc.pacing=threshold: needs "
     "gc.idle_superblocks=0 and gc.idle_after_ns=0: they mean nothing to it"},
    {"gc.pacing=proportional", "gc.idle_superblocks=1", "gc.pacing=proportional: needs "
     "gc.idle_superblocks=0 and gc.idle_after_ns=0: they mean nothing to it"},
    {"gc.pacing=threshold", "gc.pace_ppm=7", "gc.pacing=threshold: needs gc.pace_ppm=0: it means "
     "nothing to it"},
    {"gc.pacing=idle", "gc.pace_ppm=7", "gc.pacing=idle: needs gc.pace_ppm=0: it means nothing to "
     "it"},
};

static void set_all(ftl_setup *s, const char *words)
{
    char text[160], why[FTL_WHY_MAX];

    (void)snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        if (ftl_setup_set(s, word, value, "t", why, sizeof why) < 0)
            fail_msg("%s", why);
    }
}

/* Half of the medium is spare, and its blocks are 128 more than superblocks need. */
static int finish(const char *a, const char *b, char *why, size_t n)
{
    struct ftl_config cfg;
    ftl_setup *s = ftl_setup_new();

    why[0] = '\0';
    assert_int_equal(ftl_setup_load(s, "wa-reference", why, n), 0);
    set_all(s, a);
    set_all(s, b);
    set_all(s, "op=1 ftl.superblocks=256 nand.blocks_per_plane=384 buffer.bytes=8M "
               "buffer.gc_bytes=8M power.cap_uf=100000");
    int err = ftl_setup_finish(s, 1, &cfg, why, n);
    ftl_setup_free(s);
    return err;
}

static void test_each_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < PAIR_COUNT; i++) {
        char why[FTL_WHY_MAX];
        assert_non_null(rows[i].line);
        if (finish(rows[i].a, rows[i].b, why, sizeof why) != FTL_ECONFIG ||
            strcmp(why, rows[i].line) != 0)
            fail_msg("%s + %s: \"%s\", want \"%s\"", rows[i].a, rows[i].b, why, rows[i].line);
        for (size_t k = 0; k < i; k++)
            if (strcmp(why, rows[k].line) == 0)
                fail_msg("twice: %s", why);
    }
}

static void test_without(void **state)
{
    (void)state;
    for (size_t i = 0; i < PAIR_COUNT; i++) {
        char why[FTL_WHY_MAX];
        if (finish(rows[i].a, "", why, sizeof why) < 0)
            fail_msg("%s", why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_line),
        cmocka_unit_test(test_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
