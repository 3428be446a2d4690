/* test_store.c - bytes through the device, forks, checks. */
#include <math.h>

#include "store_help.h"

static void bytes_come_back(void **state)
{
    struct nand_profile p = part();
    nand_dev *dev = make(&p, 1, NAND_WITH_CONTENTS);
    nand_ns now = write_tagged(dev, 0, 1, 0, 10);
    uint8_t got[PAGE];
    (void)state;

    now = write_tagged(dev, now, 1, 3, 20);
    for (uint32_t page = 0; page < 6; page++)
        for (uint32_t plane = 0; plane < 2; plane++)
            expect_tag(dev, &now, plane, 1, page,
                       (page < 3 ? 10 : 20) + 2 * (page % 3) + plane);
    struct nand_res r = must(dev, now, op_at(NAND_OP_READ, 0, 0, 2, 0));
    assert_int_equal(r.status, NAND_ERASED);
    now = must(dev, r.done_at, data_out(0, 0, PAGE, got)).done_at;
    for (uint32_t i = 0; i < PAGE; i++)
        assert_int_equal(got[i], 0xff);
    nand_destroy(dev);
}

static void part_of_a_page_and_cache_reads(void **state)
{
    struct nand_profile p = part();
    nand_dev *dev = make(&p, 1, NAND_WITH_CONTENTS);
    nand_ns now = write_tagged(dev, 0, 0, 0, 40);
    uint8_t got[100], *want = pattern(40, PAGE), *next = pattern(42, PAGE);
    struct nand_req out = data_out(0, 0, 100, got);
    (void)state;

    now = must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, 0)).done_at;
    out.offset = 5000;
    now = must(dev, now, out).done_at;
    assert_memory_equal(got, want + 5000, 100);
    out.offset = PAGE - 99;
    refused(dev, now, out, NAND_EBYTES);
    out.offset = 0;
    now = must(dev, now, op_at(NAND_OP_READ_CACHE, 0, 0, 0, 1)).done_at;
    now = must(dev, now, out).done_at; /* still page 0 */
    assert_memory_equal(got, want, 100);
    now = must(dev, now, op_at(NAND_OP_READ_CACHE_END, 0, 0, 0, 0)).done_at;
    now = must(dev, now, out).done_at;
    assert_memory_equal(got, next, 100);
    free(want);
    free(next);
    nand_destroy(dev);
}

/* The register keeps what was read, whatever happens to the block. */
static void register_outlives_the_block(void **state)
{
    struct nand_profile p = part();
    nand_dev *dev = make(&p, 1, NAND_WITH_CONTENTS);
    nand_ns now = write_tagged(dev, 0, 0, 0, 50);
    uint8_t got[PAGE], *want = pattern(50, PAGE);
    (void)state;

    now = must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, 0)).done_at;
    now = must(dev, now, op_mask(NAND_OP_ERASE, 0, 3, 0, 0)).done_at;
    (void)must(dev, now, data_out(0, 0, PAGE, got));
    assert_memory_equal(got, want, PAGE);
    free(want);
    nand_destroy(dev);
}

static uint32_t differing_bits(const uint8_t *a, const uint8_t *b, uint32_t bytes,
                               uint32_t *zero_to_one)
{
    uint32_t count = 0;

    *zero_to_one = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        count += (uint32_t)__builtin_popcount(a[i] ^ b[i]);
        *zero_to_one += (uint32_t)__builtin_popcount((a[i] ^ b[i]) & b[i]);
    }
    return count;
}

/* a = programmed, b = read: the flipped bits are as many as announced, of either kind. */
static void bit_errors_are_in_the_bytes(void **state)
{
    struct nand_profile p = part();
    nand_dev *dev = make(&p, 1, NAND_WITH_CONTENTS | NAND_WITH_CELLS);
    uint8_t got[PAGE], again[PAGE], *want = pattern(60, PAGE);
    struct nand_addr addr = {.block = 0, .page = 0};
    uint32_t total = 0, ups = 0;
    nand_ns now;
    (void)state;

    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 0, 7000), 0);
    now = write_tagged(dev, 0, 0, 0, 60);
    now += (nand_ns)90 * 86400 * 1000000000;
    now = read_page(dev, now, 0, 0, 0, got);
    assert_int_equal(nand_codewords(dev), 4);
    for (uint32_t c = 0; c < 4; c++) {
        struct nand_errors e;
        uint32_t zero_to_one, bits;
        assert_int_equal(nand_register_errors(dev, 0, 0, c, &e), 0);
        assert_int_equal(e.bits, PAGE / 4 * 8);
        bits =
            differing_bits(want + c * (PAGE / 4), got + c * (PAGE / 4), PAGE / 4, &zero_to_one);
        assert_int_equal(bits, e.zero_to_one + e.one_to_zero);
        assert_int_equal(zero_to_one, e.zero_to_one);
        total += bits;
        ups += zero_to_one;
    }
    assert_true(total > 100 && ups > 0 && ups < total);
    assert_int_equal(nand_page_verify(dev, &addr, got), 0); /* seen as corrupt .. */
    assert_int_equal(nand_page_verify(dev, &addr, want), 1);
    now = read_page(dev, now, 0, 0, 0, again);
    assert_memory_equal(got, again, PAGE); /* the same cells fail again */
    free(want);
    nand_destroy(dev);
}

/* Better voltages flip a subset of the bits. */
static void retry_flips_fewer_of_the_same(void **state)
{
    struct nand_profile p = part();
    nand_dev *dev = make(&p, 1, NAND_WITH_CONTENTS | NAND_WITH_CELLS);
    uint8_t at[2][PAGE], *want = pattern(60, PAGE);
    struct nand_req read = op_at(NAND_OP_READ, 0, 0, 0, 0);
    uint32_t bits[2], unused, outside = 0;
    nand_ns now;
    (void)state;

    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 0, 5000), 0);
    now = write_tagged(dev, 0, 0, 0, 60) + (nand_ns)30 * 86400 * 1000000000;
    for (int i = 0; i < 2; i++) {
        read.read_level = (uint8_t)(i * 6);
        now = must(dev, now, read).done_at;
        now = must(dev, now, data_out(0, 0, PAGE, at[i])).done_at;
        bits[i] = differing_bits(want, at[i], PAGE, &unused);
    }
    assert_true(bits[1] < bits[0] / 2 && bits[1] > 0);
    for (uint32_t i = 0; i < PAGE; i++)
        outside += (uint32_t)__builtin_popcount((want[i] ^ at[1][i]) & ~(want[i] ^ at[0][i]));
    assert_true(outside <= bits[1] / 2);
    free(want);
    nand_destroy(dev);
}

static void set_feature_moves_the_voltages(void **state)
{
    struct nand_profile p = part();
    nand_dev *dev = make(&p, 1, NAND_WITH_CELLS);
    static const int16_t lower[15] = {0, -60, -80, -100, -120, -140, -160};
    struct nand_req feature = op_at(NAND_OP_SET_FEATURE, 0, 0, 0, 0);
    struct nand_errors e;
    uint64_t rate[3];
    nand_ns now = 0;
    (void)state;

    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 12, 3500), 0);
    now = (nand_ns)90 * 86400 * 1000000000;
    for (int i = 0; i < 3; i++) {
        feature.offsets = i == 1 ? lower : NULL;
        now = must(dev, now, feature).done_at;
        now = must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, 1)).done_at;
        assert_int_equal(nand_register_errors(dev, 0, 0, 0, &e), 0);
        rate[i] = e.rber_q48;
    }
    assert_true(rate[1] < rate[0] / 2);
    assert_true(rate[2] >= rate[0] &&
                rate[2] < rate[0] + rate[0] / 100); /* back, a bit older */
    nand_destroy(dev);
}

/* Offsets of one read, the best ones, and offsets out of order or out of range. */
static void a_read_may_bring_its_own_voltages(void **state)
{
    struct nand_profile p = part();
    nand_dev *dev = make(&p, 1, NAND_WITH_CELLS);
    struct nand_req read = op_at(NAND_OP_READ, 0, 0, 0, 1);
    int16_t best[15], crossed[15] = {2000, -2000, 2000, -2000, 2000, -2000, 2000};
    const int16_t wild[15] = {0, 0, 0, 0, 0, 0, 2001};
    struct nand_errors e;
    uint64_t rate[4];
    nand_ns now = (nand_ns)90 * 86400 * 1000000000;
    (void)state;

    assert_int_equal(nand_register_optimum(dev, 0, 0, best), NAND_ENODATA);
    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 12, 3500), 0);
    for (int i = 0; i < 4; i++) {
        read.offsets = i == 1 ? best : i == 3 ? crossed : NULL;
        now = must(dev, now, read).done_at;
        assert_int_equal(nand_register_errors(dev, 0, 0, 0, &e), 0);
        rate[i] = e.rber_q48;
        if (i == 0)
            assert_int_equal(nand_register_optimum(dev, 0, 0, best), 0);
    }
    for (int b = 1; b < 7; b++)
        assert_true(best[b] < 0 && best[b] < best[b - 1]); /* higher states fall further */
    assert_true(rate[1] < rate[0] / 10);
    assert_true(rate[2] > rate[1]); /* used once only */
    assert_true(rate[3] > rate[0] && rate[3] <= (uint64_t)1 << 48);
    read.offsets = wild;
    refused(dev, now, read, NAND_EINVAL);
    /* nothing is better than the best: 10 milli-pitch off in either direction */
    for (int b = 0; b < 7; b++)
        for (int sign = -1; sign <= 1; sign += 2) {
            int16_t moved[15];
            memcpy(moved, best, sizeof moved);
            moved[b] = (int16_t)(moved[b] + 10 * sign);
            read.offsets = moved;
            now = must(dev, now, read).done_at;
            assert_int_equal(nand_register_errors(dev, 0, 0, 0, &e), 0);
            assert_true(e.rber_q48 >= rate[1]);
        }
    nand_destroy(dev);
}

static void copyback_carries_errors_along(void **state)
{
    struct nand_profile p = part();
    nand_dev *dev = make(&p, 1, NAND_WITH_CONTENTS | NAND_WITH_CELLS);
    struct nand_addr addr = {.block = 1, .page = 0};
    uint8_t got[PAGE], *want = pattern(60, PAGE);
    nand_ns now;
    (void)state;

    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 0, 7000), 0);
    now = write_tagged(dev, 0, 0, 0, 60) + (nand_ns)90 * 86400 * 1000000000;
    for (uint32_t t = 0; t < 3; t++) {
        now = must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, t)).done_at;
        if (t == 0)
            now = must(dev, now, data_out(0, 0, PAGE, got)).done_at;
        struct nand_req copy = op_at(NAND_OP_COPYBACK, 0, 0, 1, t);
        struct nand_res r = must(dev, now, copy);
        assert_int_equal(r.done_at - r.start_at, 500); /* no data on the bus */
        now = r.done_at;
    }
    now = must(dev, now, op_mask(NAND_OP_PROG, 0, 1, 1, 0)).done_at;
    assert_int_equal(nand_page_verify(dev, &addr, want), 0);
    assert_int_equal(nand_page_verify(dev, &addr, got), 1);
    free(want);
    nand_destroy(dev);
}

static void partial_programs_add_up(void **state)
{
    struct nand_profile p = small("slc-ref", 1, 1, 2, 2);
    nand_dev *dev = make(&p, 1, NAND_WITH_CONTENTS);
    uint8_t got[4224], *want = pattern(7, 4224);
    nand_ns now = 0;
    (void)state;

    for (uint32_t k = 0; k < 3; k++) {
        struct nand_req in = data_in(0, 1, 0, 0, 1000, want + 1000 * k);
        in.offset = 1000 * k;
        now = must(dev, now, in).done_at;
        now = must(dev, now, op_mask(NAND_OP_PROG_PARTIAL, 0, 1, 0, 0)).done_at;
    }
    memset(want + 3000, 0xff, 4224 - 3000);
    now = must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, 0)).done_at;
    (void)must(dev, now, data_out(0, 0, 4224, got));
    assert_memory_equal(got, want, 4224);
    struct nand_contents stored;
    assert_int_equal(nand_contents_get(dev, &stored), 0);
    assert_int_equal(stored.pages, 1);
    assert_int_equal(stored.bytes, 4224);
    free(want);
    nand_destroy(dev);
}

static void fork_shares_and_parts(void **state)
{
    struct nand_profile p = part();
    nand_dev *dev = make(&p, 1, NAND_WITH_CONTENTS), *copy;
    nand_ns now = write_tagged(dev, 0, 0, 0, 10), there;
    uint64_t a, b;
    (void)state;

    assert_int_equal(nand_fork(dev, &copy), 0);
    assert_int_equal(nand_state_hash(dev, &a), 0);
    assert_int_equal(nand_state_hash(copy, &b), 0);
    assert_true(a == b);
    there = must(copy, now, op_mask(NAND_OP_ERASE, 0, 3, 0, 0)).done_at;
    there = write_tagged(copy, there, 0, 0, 30);
    assert_int_equal(nand_state_hash(dev, &b), 0);
    assert_true(a == b); /* the original did not notice */
    expect_tag(dev, &now, 0, 0, 0, 10);
    expect_tag(copy, &there, 0, 0, 0, 30);
    now = write_tagged(dev, now, 0, 3, 70); /* a block that was shared once */
    nand_destroy(dev);                      /* the copy lives on */
    expect_tag(copy, &there, 1, 0, 2, 35);
    refused(copy, there, op_at(NAND_OP_READ, 0, 0, 9, 0), NAND_EADDR);
    nand_destroy(copy);
    (void)now;
}

/* Both sides fill the same word line of a block that they share. */
static void fork_copies_a_block_before_it_changes(void **state)
{
    struct nand_profile p = part();
    nand_dev *dev = make(&p, 1, NAND_WITH_CONTENTS), *copy;
    nand_ns now = write_tagged(dev, 0, 0, 0, 10), there = now;
    (void)state;

    assert_int_equal(nand_fork(dev, &copy), 0);
    now = write_tagged(dev, now, 0, 3, 70);
    there = write_tagged(copy, there, 0, 3, 80);
    expect_tag(dev, &now, 0, 0, 3, 70);
    expect_tag(copy, &there, 0, 0, 3, 80);
    expect_tag(dev, &now, 1, 0, 2, 15);
    expect_tag(copy, &there, 1, 0, 2, 15);
    nand_destroy(dev);
    nand_destroy(copy);
}

static void cold_pages_are_compressed(void **state)
{
    struct nand_profile p = part();
    nand_dev *dev = make(&p, 1, NAND_WITH_CONTENTS);
    struct nand_contents before, after;
    uint8_t flat[2 * PAGE], got[PAGE];
    nand_ns now = 0;
    (void)state;

    memset(flat, 0x42, sizeof flat);
    for (uint32_t wordline = 0; wordline < 4; wordline++) {
        for (uint32_t t = 0; t < 3; t++)
            (void)must(dev, now, data_in(0, 3, 2, 3 * wordline + t, PAGE, flat));
        now = must(dev, now, op_mask(NAND_OP_PROG, 0, 3, 2, 3 * wordline)).done_at;
    }
    now = write_tagged(dev, now, 3, 0, 10); /* open block */
    assert_int_equal(nand_contents_get(dev, &before), 0);
    assert_int_equal(before.pages, 30);
    assert_int_equal(before.bytes, 30 * PAGE);
    assert_int_equal(nand_contents_compress(dev), 0);
    assert_int_equal(nand_contents_get(dev, &after), 0);
    assert_int_equal(after.compressed_pages, 24);
    assert_int_equal(after.pages, 30);
    assert_true(after.bytes < 6 * PAGE + 24 * 200);
    now = read_page(dev, now, 1, 2, 11, got);
    assert_memory_equal(got, flat, PAGE);
    now = must(dev, now, op_mask(NAND_OP_ERASE, 0, 3, 2, 0)).done_at;
    now = must(dev, now, op_mask(NAND_OP_ERASE, 0, 3, 3, 0)).done_at;
    assert_int_equal(nand_contents_get(dev, &after), 0);
    assert_int_equal(after.pages, 0);
    assert_int_equal(after.bytes, 0);
    nand_destroy(dev);
}

static void contents_are_capped(void **state)
{
    struct nand_profile p = part();
    struct nand_options options = {.flags = NAND_WITH_CONTENTS, .contents_bytes_max = 6 * PAGE};
    uint8_t both[2 * PAGE] = {0};
    struct nand_res res;
    nand_dev *dev;
    (void)state;

    assert_int_equal(nand_create_with(&p, 1, &options, &dev), 0);
    nand_ns now = write_tagged(dev, 0, 0, 0, 10);
    struct nand_req in = data_in(0, 3, 0, 3, PAGE, both);
    assert_int_equal(nand_issue(dev, now, &in, &res), NAND_ENOMEM);
    now = must(dev, now, op_mask(NAND_OP_ERASE, 0, 3, 0, 0)).done_at;
    (void)write_tagged(dev, now, 0, 0, 10);
    nand_destroy(dev);
}

static void page_hash_is_kept_apart(void **state)
{
    struct nand_profile p = part();
    nand_dev *dev = make(&p, 1, NAND_WITH_CONTENTS), *bare = make(&p, 1, 0);
    struct nand_addr addr = {.plane = 1, .block = 0, .page = 2};
    uint8_t *want = pattern(15, PAGE);
    uint64_t first, second;
    (void)state;

    assert_int_equal(nand_page_hash(dev, &addr, &first), NAND_EUNWRITTEN);
    assert_int_equal(nand_page_hash(bare, &addr, &first), NAND_ENOTSUP);
    nand_ns now = write_tagged(dev, 0, 0, 0, 10);
    assert_int_equal(nand_page_hash(dev, &addr, &first), 0);
    assert_int_equal(nand_page_verify(dev, &addr, want), 1);
    want[777] ^= 1;
    assert_int_equal(nand_page_verify(dev, &addr, want), 0);
    addr.plane = 0;
    assert_int_equal(nand_page_hash(dev, &addr, &second), 0);
    assert_true(first != second);
    addr.page = 99;
    assert_int_equal(nand_page_hash(dev, &addr, &second), NAND_EADDR);
    refused(bare, now, (struct nand_req){.op = NAND_OP_DATA_OUT, .bytes = 1}, NAND_ENODATA);
    free(want);
    nand_destroy(dev);
    nand_destroy(bare);
}

/* Soft values of a worn page: the hard bit in each is the bit read, and wrong bits look
 * less sure than right ones, in the proportions of the bin table. */
static void soft_values_fit_the_bins(void **state)
{
    struct nand_profile p = part();
    nand_dev *dev = make(&p, 1, NAND_WITH_CONTENTS | NAND_WITH_CELLS);
    struct nand_req soft = op_at(NAND_OP_READ_SOFT, 0, 0, 0, 1);
    static uint8_t bins[PAGE * 8];
    uint8_t got[PAGE], *want = pattern(62, PAGE);
    uint32_t bits, weak[2] = {0, 0}, all[2] = {0, 0};
    nand_ns now;
    (void)state;

    assert_int_equal(nand_block_set_planes(dev, 0, 3, 0, NULL, 0, 9000), 0);
    now = write_tagged(dev, 0, 0, 0, 60) + (nand_ns)60 * 86400 * 1000000000;
    assert_int_equal(nand_register_soft(dev, 0, 0, 0, bins, &bits), NAND_ENODATA);
    soft.soft_bits = 2;
    soft.read_level = 12; /* the shift makes the default voltages miss the valleys */
    now = must(dev, now, soft).done_at;
    (void)must(dev, now, data_out(0, 0, PAGE, got));
    for (uint32_t c = 0; c < 4; c++) {
        assert_int_equal(nand_register_soft(dev, 0, 0, c, bins, &bits), 0);
        assert_int_equal(bits, PAGE / 4 * 8);
        for (uint32_t i = 0; i < bits; i++) {
            uint32_t at = c * (PAGE / 4) + i / 8;
            uint32_t read = got[at] >> i % 8 & 1, stored = want[at] >> i % 8 & 1;
            assert_int_equal(bins[i] >= 2, read);
            all[read != stored]++;
            weak[read != stored] += bins[i] == 1 || bins[i] == 2;
        }
    }
    assert_true(all[1] > 300);
    assert_true(weak[1] > all[1] / 3); /* wrong bits sit near the boundaries */
    printf("soft: %u of %u wrong bits weak, %u of %u right bits\n", weak[1], all[1], weak[0],
           all[0]);
    assert_true((double)weak[1] / all[1] > 4 * (double)weak[0] / all[0]);
    free(want);
    nand_destroy(dev);
}

/* A word line put without time reads as a programmed one, and only the next one may be put. */
static void wordline_put_reads_back(void **state)
{
    struct nand_profile p = part();
    struct nand_options o = {.flags = NAND_WITH_CONTENTS};
    nand_dev *dev;
    nand_ns now = 0;
    uint8_t *page[3], got[PAGE];

    (void)state;
    assert_int_equal(nand_create_with(&p, 1, &o, &dev), 0);
    for (uint32_t t = 0; t < 3; t++)
        page[t] = pattern(t, PAGE);
    const void *pages[3] = {page[0], page[1], NULL};
    struct nand_addr addr = {.block = 1, .page = 0, .plane = 1};
    assert_int_equal(nand_page_get(dev, &addr, 0, 16, got), NAND_ERASED);
    assert_int_equal(nand_wordline_put(dev, &addr, pages), 0);
    assert_int_equal(nand_wordline_put(dev, &addr, pages), NAND_EORDER);
    addr.page = 6;
    assert_int_equal(nand_wordline_put(dev, &addr, pages), NAND_EORDER);
    expect_tag(dev, &now, 1, 1, 0, 0);
    expect_tag(dev, &now, 1, 1, 1, 1);
    assert_int_equal(nand_register_get(dev, 0, 1, 100, 8, got), 0);
    assert_memory_equal(got, page[1] + 100, 8);
    addr.page = 1;
    assert_int_equal(nand_page_get(dev, &addr, 7, 100, got), NAND_OK);
    assert_memory_equal(got, page[1] + 7, 100);
    nand_dev *fork;
    assert_int_equal(nand_fork(dev, &fork), 0);
    assert_int_equal(nand_page_flip(dev, &addr, 9, 0x81), 0);
    assert_int_equal(nand_page_get(dev, &addr, 8, 3, got), NAND_OK);
    assert_int_equal(got[0], page[1][8]);
    assert_int_equal(got[1], page[1][9] ^ 0x81);
    assert_int_equal(got[2], page[1][10]);
    assert_int_equal(nand_page_get(fork, &addr, 9, 1, got), NAND_OK);
    assert_int_equal(got[0], page[1][9]);
    assert_int_equal(nand_page_flip(dev, &addr, PAGE, 1), NAND_EBYTES);
    nand_destroy(fork);
    addr.page = 2;
    assert_int_equal(nand_page_flip(dev, &addr, 0, 1), NAND_EUNWRITTEN);   /* all ones: no bytes */
    assert_int_equal(nand_page_get(dev, &addr, 0, 2, got), NAND_OK);
    assert_int_equal(got[0] & got[1], 0xff);
    assert_int_equal(nand_page_get(dev, &addr, PAGE, 1, got), NAND_EBYTES);
    addr.plane = 0;
    assert_int_equal(nand_page_get(dev, &addr, 0, 2, got), NAND_ERASED);
    nand_destroy(dev);
    for (uint32_t t = 0; t < 3; t++)
        free(page[t]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back),
        cmocka_unit_test(part_of_a_page_and_cache_reads),
        cmocka_unit_test(register_outlives_the_block),
        cmocka_unit_test(bit_errors_are_in_the_bytes),
        cmocka_unit_test(retry_flips_fewer_of_the_same),
        cmocka_unit_test(set_feature_moves_the_voltages),
        cmocka_unit_test(a_read_may_bring_its_own_voltages),
        cmocka_unit_test(copyback_carries_errors_along),
        cmocka_unit_test(partial_programs_add_up),
        cmocka_unit_test(fork_shares_and_parts),
        cmocka_unit_test(fork_copies_a_block_before_it_changes),
        cmocka_unit_test(cold_pages_are_compressed),
        cmocka_unit_test(contents_are_capped),
        cmocka_unit_test(page_hash_is_kept_apart), cmocka_unit_test(wordline_put_reads_back),
        cmocka_unit_test(soft_values_fit_the_bins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
