/* test_smooth.c - steady state is smooth: the spread of IOPS over whole seconds in a
 * 70:30 random mix at depth 1,024. A measured drive of this class: 0.14 % [P]. */
#include "common.h"

#include <math.h>

enum { SECONDS = 8, DEPTH = 1024 };

static void submit_one(ftl_drive *d, struct rand64 *r)
{
    struct ftl_cmd cmd = {.opcode = draw_to(r, 100) < 70 ? FTL_READ : FTL_WRITE,
                          .lba = draw_to(r, ftl_lba_count(d) / 8) * 8, .lba_count = 8};
    assert_int_equal(ftl_submit(d, &cmd), 0);
}

static void test_mixed(void **state)
{
    struct ftl_config cfg = make_config("uh812a-7.68", 256, NULL);
    ftl_drive *d = make_drive(&cfg);
    struct rand64 r = {12};
    struct ftl_cpl cpl[64];
    double sum = 0, squares = 0;
    (void)state;

    sequential_fill(d);
    random_writes(d, &r, ftl_lba_count(d) / 8 * 3);
    for (int i = 0; i < DEPTH; i++)
        submit_one(d, &r);
    for (int second = -1; second < SECONDS; second++) {
        ftl_ns end = ftl_now(d) + 1000000000;
        uint64_t done = 0;
        while (ftl_now(d) < end) {
            assert_true(ftl_run(d, end) >= 0);
            uint32_t n = ftl_poll(d, cpl, 64);
            done += n;
            for (uint32_t i = 0; i < n; i++)
                submit_one(d, &r);
        }
        if (second < 0)             /* queues fill */
            continue;
        sum += (double)done;
        squares += (double)done * (double)done;
    }
    double mean = sum / SECONDS, sd = sqrt(squares / SECONDS - mean * mean);
    print_message("70:30 at depth %d: %.0f IOPS, coefficient of variation %.3f %%\n", DEPTH, mean,
                  sd / mean * 100);
    assert_true(mean > 100000 && sd / mean < 0.01);
    ftl_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mixed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
