/* test_decode.c - media.ecc=decoder: pages as real code words, wrong bits as the cells make them,
 * the decoder as the judge. */
#include "common.h"
#include "ftl/ftl_media.h"
#include "ftl/ftl_power.h"

#include <stdio.h>
#include <string.h>

#include "ldpc/ecc.h"
#include "media/media.h"
#include "nand/store.h"

enum { LBA = 4096, OPS = 64 };
#define HOUR UINT64_C(3600000000000)

/* 4 dies (3 + 1) of the enterprise TLC part, code words of 37,184 bits. */
static struct ftl_config worn(const char *ecc, const char *cycles, const char *parity)
{
    return make_config("wa-reference", 1, "nand.preset", "etlc-x3-9070", "nand.channels", "2",
                       "nand.dies", "4", "nand.planes", "1", "nand.wordlines_per_block", "8",
                       "nand.blocks_per_plane", "16", "ftl.superblocks", "10", "raid.parity",
                       parity, "drive.user_bytes", "3145728", "drive.lba_bytes", "4096",
                       "buffer.bytes", "1048576", "buffer.gc_bytes", "1048576", "media.payload",
                       "1", "media.faults", "1", "media.ecc", ecc, "media.start_cycles", cycles,
                       "media.refresh_retries", "64", NULL);
}

static void report(const char *what, const ftl_drive *d)
{
    struct ftl_health h = health_of(d);
    printf("%-28s first %llu, retry %llu, soft2 %llu, soft3 %llu, failed %llu; %llu bits, %llu "
           "miscorrected\n", what,
           (unsigned long long)h.ecc_steps[0], (unsigned long long)h.ecc_steps[1],
           (unsigned long long)h.ecc_steps[2], (unsigned long long)h.ecc_steps[3],
           (unsigned long long)h.ecc_steps[4], (unsigned long long)h.ecc_corrected_bits,
           (unsigned long long)h.ecc_miscorrected);
}

/* ---- one code word at a time against the curves ------------------------------------------ */

struct bench {
    struct ftl_config cfg;
    struct sim_heap heap;
    struct sim_context ctx;
    struct media media;
};

/* Blocks of one die, full of pages of random bytes, cycled so often. */
static void setup(struct bench *b, uint64_t cycles)
{
    struct rand64 r = {cycles};
    memset(b, 0, sizeof *b);
    b->cfg = worn("decoder", "0", "1");
    b->cfg.media_faults = 0;                /* no block fails of wear */
    assert_int_equal(sim_heap_init(&b->heap, &b->ctx.mem, OPS), 0);
    assert_int_equal(media_init(&b->media, &b->cfg, &b->heap, &b->ctx, OPS, NULL, 0), 0);
    uint32_t n = 3 * b->media.page_bus_bytes;
    uint8_t *pages = test_malloc(n);
    for (uint32_t block = 0; block < 4; block++) {
        assert_int_equal(nand_block_put(b->media.nand, 0, 0, block, 0, (uint32_t)cycles), 0);
        for (uint32_t wl = 0; wl < 8; wl++) {
            for (uint32_t i = 0; i + 8 <= n; i += 8) {
                uint64_t x = draw(&r);
                memcpy(pages + i, &x, 8);
            }
            assert_int_equal(media_put(&b->media, 0, block, wl * 3, pages), 0);
        }
    }
    test_free(pages);
}

/* Each of n code words fails with the probability p that the curve gives for its own count of
 * wrong bits, so the failures have the mean sum(p) and the variance sum(p (1 - p)). The real ones
 * must lie within four standard deviations, and 5 % for the curve itself, which is a fit. */
static void compare(uint64_t cycles, uint64_t hours)
{
    struct bench b;
    double mean = 0, variance = 0;
    uint32_t words = 0, failed = 0;
    uint64_t now = hours * HOUR, wrong = 0, corrected = 0;
    setup(&b, cycles);
    for (uint32_t page = 0; page < 4 * 24; page++) {
        struct nand_req req = {.op = NAND_OP_READ, .addr = {.block = page / 24, .page = page % 24}};
        struct nand_res res;
        assert_int_equal(nand_issue(b.media.nand, now, &req, &res), 0);
        now = res.done_at;
        for (uint32_t cw = 0; cw < 4; cw++) {
            struct media_op op = {.codewords = (uint16_t)(1u << cw), .block = page / 24,
                                  .page = page % 24};
            struct nand_errors e;
            assert_int_equal(nand_register_errors(b.media.nand, 0, 0, cw, &e), 0);
            uint32_t bits = e.zero_to_one + e.one_to_zero;
            double p = (double)ldpc_ecc_fail_errors(b.media.ecc.curves, bits) / 18446744073709551616.0;
            mean += p;
            variance += p * (1 - p);
            struct media_decoded d = media_decode(&b.media, &op);
            failed += !d.good;
            words++;
            wrong += bits;
            if (d.good)         /* all wrong bits, and no others, were turned */
                assert_int_equal(d.flipped, bits);
            corrected += d.flipped;
        }
    }
    double off = failed > mean ? failed - mean : mean - failed, sd2 = variance;
    printf("%5llu P/E %5llu h: RBER %.5f, of %u words %u fail, the curve says %.1f\n",
           (unsigned long long)cycles, (unsigned long long)hours,
           (double)wrong / words / 37184, words, failed, mean);
    double allowed = off - 0.05 * mean > 0 ? off - 0.05 * mean : 0;
    assert_true(allowed * allowed <= 16 * sd2 + 1);
    assert_int_equal(b.media.decoder.corrected_bits, corrected);
    assert_int_equal(b.media.decoder.miscorrected, 0);
    media_free(&b.media);
    sim_mem_free(&b.ctx.mem);
}

static void test_curves(void **state)
{
    static const struct {
        uint64_t cycles, hours;
    } at[] = {{3000, 0}, {3000, 100}, {5000, 50}, {7000, 40}, {10000, 30}, {10000, 500}};
    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
        compare(at[i].cycles, at[i].hours);
}

/* More senses bring back words that fewer do not. */
static void test_soft(void **state)
{
    struct bench b;
    uint32_t failed[4] = {0};
    uint64_t now = 150 * HOUR;
    (void)state;
    setup(&b, 3000);
    for (uint32_t page = 0; page < 24; page++)
        for (uint8_t bits = 1; bits <= 3; bits++) {
            struct nand_req req = {.op = bits == 1 ? NAND_OP_READ : NAND_OP_READ_SOFT,
                                   .addr = {.page = page}, .soft_bits = bits == 1 ? 0 : bits};
            struct nand_res res;
            struct media_op op = {.codewords = 0xf, .soft = req.soft_bits, .page = page};
            assert_int_equal(nand_issue(b.media.nand, now, &req, &res), 0);
            now = res.done_at;
            (void)media_decode(&b.media, &op);
            failed[bits] += (uint32_t)__builtin_popcount(op.codewords);
        }
    printf("of 96 words %u fail hard, %u with 3 senses, %u with 7\n", failed[1], failed[2],
           failed[3]);
    assert_true(failed[1] > failed[2] && failed[2] >= failed[3]);
    media_free(&b.media);
    sim_mem_free(&b.ctx.mem);
}

/* A word that is a code word but not what was written: the CRC tells, the ladder goes on. */
static void test_miscorrection(void **state)
{
    struct bench b;
    uint8_t *page = test_malloc(65536);
    struct nand_addr addr = {.block = 5};
    const void *pages[3] = {page, page, page};
    struct nand_req req = {.op = NAND_OP_READ, .addr = addr};
    struct nand_res res;
    (void)state;
    setup(&b, 0);
    memset(page, 0, 65536);     /* all zero: a word of every linear code, with a wrong CRC */
    assert_int_equal(nand_wordline_put(b.media.nand, &addr, pages), 0);
    assert_int_equal(nand_issue(b.media.nand, 1, &req, &res), 0);
    struct media_op op = {.codewords = 0xf};
    assert_false(media_decode(&b.media, &op).good);
    assert_int_equal(op.codewords, 0xf);
    assert_int_equal(b.media.decoder.miscorrected, 4);
    media_free(&b.media);
    sim_mem_free(&b.ctx.mem);
    test_free(page);
}

/* ---- a drive ------------------------------------------------------------------------------ */

/* A drive of such cells, left alone for so long, then read twice. */
static struct ftl_health rested(const char *ecc, const char *cycles, const char *parity,
                                uint64_t hours, uint64_t *ret_errors, uint64_t *ret_rebuilt)
{
    struct ftl_config cfg = worn(ecc, cycles, parity);
    struct ftl_counters n;
    char name[64];
    ftl_drive *d = make_drive(&cfg);
    stamp_all(d);
    assert_int_equal(ftl_run(d, ftl_now(d) + hours * HOUR), 0);
    *ret_errors = read_stamps(d, NULL);
    *ret_errors += read_stamps(d, NULL);
    (void)snprintf(name, sizeof name, "%s, %s P/E, %llu h", ecc, cycles, (unsigned long long)hours);
    report(name, d);
    ftl_counters_get(d, &n);
    *ret_rebuilt = n.raid_pages;
    struct ftl_health h = health_of(d);
    uint64_t pages = 0, steps = 0;
    for (int i = 0; i < FTL_ECC_ATTEMPTS; i++)
        pages += h.ecc_attempts[i];
    for (int i = 0; i < FTL_ECC_STEPS; i++)
        steps += h.ecc_steps[i];
    assert_int_equal(pages, steps);
    assert_int_equal(h.ecc_miscorrected, 0);
    assert_sound(d);
    ftl_destroy(d);
    return h;
}

/* 7,000 cycles and 90 days, by the curves and by the decoder: everything comes back, and about as
 * many pages need other voltages. Both counts are sums of rare events, so their difference has a
 * variance of at most their sum: four standard deviations. */
static void test_ladder(void **state)
{
    uint64_t errors, rebuilt;
    (void)state;
    struct ftl_health c = rested("1", "7000", "1", 90 * 24, &errors, &rebuilt);
    assert_int_equal(errors, 0);
    struct ftl_health d = rested("decoder", "7000", "1", 90 * 24, &errors, &rebuilt);
    assert_int_equal(errors, 0);
    uint64_t a = c.ecc_steps[FTL_ECC_RETRY], b = d.ecc_steps[FTL_ECC_RETRY];
    assert_true(a > 0 && b > 0);
    assert_true((a > b ? a - b : b - a) * (a > b ? a - b : b - a) <= 16 * (a + b));
    assert_int_equal(d.ecc_steps[FTL_ECC_FAILED], 0);
    assert_true(d.ecc_corrected_bits > 0 && c.ecc_corrected_bits == 0);
}

/* Pages beyond all steps: their stripe gives them back. */
static void test_rebuilt(void **state)
{
    uint64_t errors, rebuilt;
    (void)state;
    struct ftl_health h = rested("decoder", "20000", "1", 35000, &errors, &rebuilt);
    assert_true(h.ecc_steps[FTL_ECC_SOFT2] > 0 && h.ecc_steps[FTL_ECC_FAILED] > 0);
    assert_true(rebuilt > 0);
    assert_int_equal(errors, 0);
}

/* A century, without a stripe: an error of the command, never other bytes. */
static void test_lost(void **state)
{
    uint64_t errors, rebuilt;
    (void)state;
    struct ftl_health h = rested("decoder", "20000", "0", 876600, &errors, &rebuilt);
    assert_true(h.ecc_steps[FTL_ECC_FAILED] > 0);
    assert_true(errors > 0);
    assert_int_equal(rebuilt, 0);
}

/* A copy of a drive decodes on its own. */
static void test_fork(void **state)
{
    struct ftl_config cfg = worn("decoder", "0", "1");
    ftl_drive *d = make_drive(&cfg), *copy;
    (void)state;
    stamp_all(d);
    assert_int_equal(ftl_fork(d, &copy), 0);
    ftl_destroy(d);
    assert_int_equal(read_stamps(copy, NULL), 0);
    assert_true(health_of(copy).ecc_corrected_bits > 0);
    ftl_destroy(copy);
}

static void test_refused(void **state)
{
    struct ftl_config cfg = worn("decoder", "0", "1");
    char why[FTL_WHY_MAX];
    ftl_drive *d;
    (void)state;
    cfg.nand_spare_bytes = 2048;    /* 4,608 bytes a sector: 4,096 of data and no more */
    assert_int_equal(ftl_create(&cfg, &d, why, sizeof why), FTL_ECONFIG);
    assert_non_null(strstr(why, "no room for the tag"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curves),  cmocka_unit_test(test_soft),
        cmocka_unit_test(test_miscorrection), cmocka_unit_test(test_ladder),
        cmocka_unit_test(test_rebuilt), cmocka_unit_test(test_lost),
        cmocka_unit_test(test_fork),    cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
