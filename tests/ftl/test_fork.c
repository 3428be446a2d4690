/* test_fork.c - a fork is the same drive, and another one. */
#include "common.h"

#include <string.h>

#include "ftl/ftl_power.h"

/* Random timed traffic with data; the same for equal seeds and states. */
static uint64_t work(ftl_drive *d, uint64_t seed, uint32_t commands)
{
    struct rand64 r = {seed};
    struct ftl_cpl cpl[8];
    static uint8_t data[16][4096];
    uint64_t sum = 0;

    for (uint32_t sent = 0, open = 0; sent < commands || open > 0;) {
        if (sent < commands && open < 12) {
            uint8_t *at = data[sent % 16];
            memset(at, (int)(draw(&r) & 0xff), 4096);
            uint8_t op = draw_to(&r, 4) ? FTL_WRITE : FTL_READ;
            struct ftl_cmd cmd = {.opcode = op, .lba = draw_to(&r, ftl_lba_count(d)),
                                  .lba_count = 1, .data = at};
            assert_int_equal(ftl_submit(d, &cmd), 0);
            sent++;
            open++;
            continue;
        }
        assert_int_equal(ftl_run(d, FTL_NEVER), 1);
        for (uint32_t n = ftl_poll(d, cpl, 8); n > 0; n--, open--)
            sum = sum * 31 + cpl[n - 1].done_at + data[n][5];
    }
    return sum;
}

static void test_fork(void **state)
{
    (void)state;
    static const char *const frontiers[] = {"1", "2"};
    for (int i = 0; i < 4; i++) {
        struct ftl_config cfg = make_config(
            "wa-reference", 1, "nand.channels", "1", "nand.dies", "2", "nand.wordlines_per_block",
            "8", "nand.blocks_per_plane", "12", "ftl.superblocks", "12", "nand.page_bytes", "4096",
            "nand.spare_bytes", "600", "buffer.bytes", "32768", "buffer.gc_bytes", "32768",
            "drive.user_bytes", "262144", "gc.frontiers", frontiers[i & 1], "gc.policy", "random",
            "media.payload", i & 2 ? "1" : "0", "host.open_max", "16", NULL);
        if (i < 2)
            cfg.media_payload = 1;
        ftl_drive *a = make_drive(&cfg), *b = NULL, *c = NULL;
        (void)work(a, 1, 500);
        struct ftl_cmd cmd = {.opcode = FTL_WRITE, .lba = 3, .lba_count = 4};
        assert_int_equal(ftl_submit(a, &cmd), 0);      /* events under way */
        assert_int_equal(ftl_fork(a, &b), 0);
        uint64_t same = ftl_state_hash(a);
        assert_true(ftl_state_hash(b) == same);
        assert_int_equal(ftl_fork(b, &c), 0);
        for (int k = 0; k < 3; k++)
            assert_int_equal(ftl_run(k == 0 ? a : k == 1 ? b : c, FTL_NEVER), 1);
        struct ftl_cpl cpl;
        assert_int_equal(ftl_poll(a, &cpl, 1) + ftl_poll(b, &cpl, 1) + ftl_poll(c, &cpl, 1), 3);
        uint64_t after = work(a, 2, 300);
        assert_sound(a);
        ftl_destroy(a);                                 /* the others live on */
        assert_true(work(b, 2, 300) == after);
        assert_true(work(c, 3, 300) != after);
        assert_sound(b);
        assert_sound(c);
        ftl_destroy(b);
        ftl_destroy(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fork)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
