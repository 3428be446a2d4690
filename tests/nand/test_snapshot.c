/* test_snapshot.c - a saved device goes on; a damaged snapshot is refused. */
#include <xxhash.h>
#include <zstd.h>

#include "store_help.h"

static int full(void *ctx, const void *bytes, size_t size)
{
    (void)ctx;
    (void)bytes;
    (void)size;
    return 5;
}

/* A device with a bit of everything. */
static nand_dev *busy_device(nand_ns *ret_now)
{
    struct nand_profile p = part();
    struct nand_fault fault = {.kind = NAND_FAULT_PROG_FAIL, .at_op = 2};
    struct nand_cut cut = {.at_op = 50, .mode = NAND_CUT_TORN_PROG, .seed = 9};
    nand_dev *dev;
    nand_ns now;

    p.power.drive_ops_max = 2;
    dev = make(&p, 11, NAND_WITH_CONTENTS | NAND_WITH_CELLS | NAND_WITH_FAULTS | NAND_COMPRESS);
    assert_int_equal(nand_fault_arm(dev, &fault), 0);
    now = write_tagged(dev, 0, 0, 0, 10);
    now = write_tagged(dev, now, 0, 3, 20); /* fails: a damaged word line */
    assert_int_equal(nand_set_temperature(dev, now, 55000), 0);
    now += (nand_ns)86400 * 1000000000;
    assert_int_equal(nand_cut_arm(dev, &cut), 0);
    fault = (struct nand_fault){.kind = NAND_FAULT_DIE_DEAD, .at_op = 60};
    assert_int_equal(nand_fault_arm(dev, &fault), 0);
    now = must(dev, now, op_at(NAND_OP_READ, 0, 0, 0, 2)).done_at;
    (void)write_tagged(dev, now, 1, 0, 30); /* in flight */
    now = must(dev, now + 800000, op_at(NAND_OP_SUSPEND, 0, 0, 0, 0)).done_at;
    (void)must(dev, now, data_out(0, 0, 16, NULL));
    *ret_now = now;
    return dev;
}

static void saved_device_goes_on_as_if_nothing_happened(void **state)
{
    struct buffer file = {0}, second = {0};
    uint8_t read[2][PAGE]; /* a day at 55 C has left errors: the same in both */
    nand_dev *dev, *loaded;
    nand_ns now, there;
    uint64_t a, b;
    (void)state;

    dev = busy_device(&now);
    assert_int_equal(nand_save(dev, sink, &file), 0);
    assert_int_equal(nand_save(dev, sink, &second), 0);
    assert_int_equal(file.size, second.size);
    assert_memory_equal(file.bytes, second.bytes, file.size);
    assert_int_equal(nand_load(source, &file, &loaded), 0);
    assert_int_equal(nand_state_hash(dev, &a), 0);
    assert_int_equal(nand_state_hash(loaded, &b), 0);
    assert_true(a == b);
    there = now;
    for (int i = 0; i < 2; i++) {
        nand_dev *each = i ? loaded : dev;
        nand_ns *time = i ? &there : &now;
        *time = must(each, *time + 10000, op_at(NAND_OP_RESUME, 0, 0, 0, 0)).done_at;
        *time = read_page(each, *time, 1, 0, 1, read[i]);
        *time = write_tagged(each, *time, 1, 3, 90);
    }
    assert_int_equal(now, there);
    assert_memory_equal(read[0], read[1], PAGE);
    assert_int_equal(nand_state_hash(dev, &a), 0);
    assert_int_equal(nand_state_hash(loaded, &b), 0);
    assert_true(a == b);
    nand_destroy(dev);
    nand_destroy(loaded);
    free(file.bytes);
    free(second.bytes);
}

static void damaged_snapshots_are_refused(void **state)
{
    struct buffer file = {0};
    nand_ns now;
    nand_dev *dev = busy_device(&now), *loaded = NULL;
    (void)state;

    assert_int_equal(nand_save(dev, sink, &file), 0);
    for (size_t i = 0; i < file.size; i += i < 64 ? 1 : 997)
        for (int bit = 0; bit < 8; bit += 7) {
            struct buffer broken = file;
            file.bytes[i] ^= (uint8_t)(1 << bit);
            broken.at = 0;
            int err = nand_load(source, &broken, &loaded);
            assert_true(i < 12 ? err == NAND_EFORMAT : err == NAND_ECORRUPT);
            file.bytes[i] ^= (uint8_t)(1 << bit);
        }
    for (size_t size = 0; size < file.size; size += size < 64 ? 1 : 4999) {
        struct buffer cut = {file.bytes, size, 0};
        assert_int_equal(nand_load(source, &cut, &loaded), 77);
    }
    assert_null(loaded);
    assert_int_equal(nand_save(dev, full, NULL), 5);
    assert_int_equal(nand_save(NULL, full, NULL), NAND_EINVAL);
    nand_destroy(dev);
    free(file.bytes);
}

static void put_le(uint8_t *to, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* Packs a state as nand_save() does, with hashes that fit. */
static struct buffer repack(const uint8_t *raw, size_t size)
{
    struct buffer file = {.bytes = calloc(1, 48 + ZSTD_compressBound(size))};

    assert_non_null(file.bytes);
    size_t n = ZSTD_compress(file.bytes + 48, ZSTD_compressBound(size), raw, size, 1);
    assert_false(ZSTD_isError(n));
    memcpy(file.bytes, "NANDSNAP\1", 9);
    put_le(file.bytes + 16, size);
    put_le(file.bytes + 24, n);
    put_le(file.bytes + 32, XXH3_64bits(file.bytes + 48, n));
    put_le(file.bytes + 40, XXH3_64bits(file.bytes, 40));
    file.size = 48 + n;
    return file;
}

/* Whatever the state says, as long as the loader lets it in, must not break the device. */
static void poke(nand_dev *dev)
{
    const struct nand_geometry *geo = &nand_dev_profile(dev)->geo;
    nand_ns now = UINT64_MAX / 4;

    if (geo->dies > 4 || geo->planes > 4)
        return;
    (void)nand_power_on(dev, now);
    for (uint32_t i = 0; i < 60; i++) {
        struct nand_req req = {
            .op = (enum nand_op)(i % (NAND_OP_STATUS + 1)), .bytes = 64, .soft_bits = 2};
        struct nand_res res;
        struct nand_errors errors;
        uint8_t data[128] = {0};
        req.addr.block = i % 4;
        req.addr.page = i % 12;
        req.plane_mask = 1;
        req.data = req.op == NAND_OP_DATA_IN || req.op == NAND_OP_DATA_OUT ? data : NULL;
        now += 1000000000;
        (void)nand_issue(dev, now, &req, &res);
        (void)nand_register_errors(dev, 0, 0, 0, &errors);
    }
    (void)nand_contents_compress(dev);
}

static void crafted_snapshots_do_no_harm(void **state)
{
    struct buffer file = {0};
    nand_ns now;
    nand_dev *dev = busy_device(&now), *loaded;
    uint32_t taken = 0;
    (void)state;

    assert_int_equal(nand_save(dev, sink, &file), 0);
    size_t size = (size_t)ZSTD_getFrameContentSize(file.bytes + 48, file.size - 48);
    uint8_t *raw = malloc(size);
    assert_non_null(raw);
    assert_int_equal(ZSTD_decompress(raw, size, file.bytes + 48, file.size - 48), size);
    for (uint64_t i = 0; i < 200; i++) {
        /* most of the state is page bytes: half of the tries hit the bookkeeping in front */
        size_t at = (size_t)(nand_draw(1, 5, i, 0) % (i % 2 ? size : 4000));
        uint8_t was = raw[at];
        raw[at] = (uint8_t)nand_draw(1, 6, i, 0);
        struct buffer crafted = repack(raw, size);
        int err = nand_load(source, &crafted, &loaded);
        assert_true(err == 0 || err == NAND_ECORRUPT || err == NAND_ENOMEM);
        if (err == 0) {
            taken++;
            poke(loaded);
            nand_destroy(loaded);
        }
        raw[at] = was;
        free(crafted.bytes);
    }
    assert_true(taken > 10 && taken < 200);
    free(raw);
    free(file.bytes);
    nand_destroy(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_device_goes_on_as_if_nothing_happened),
        cmocka_unit_test(damaged_snapshots_are_refused),
        cmocka_unit_test(crafted_snapshots_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
