/* digest.c - prints what decoders of all kinds counted on noisy words: the same lines on
 * every machine and with every kernel. usage: digest [CPU-MASK]; see scripts/cross_aarch64.sh
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ldpc/ecc.h"

static uint64_t fnv(const void *data, size_t bytes)
{
    const uint8_t *p = data;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

static int point(const char *name, double rber, unsigned soft, uint8_t decoder)
{
    ldpc_code *code;
    struct ldpc_channel ch;
    struct ldpc_mc_result r = {0};
    if (ldpc_code_open(name, &code) || ldpc_channel_awgn(rber, soft, &ch))
        return 1;
    struct ldpc_mc mc = {.struct_size = sizeof mc,
                         .payload = LDPC_WORD_RANDOM,
                         .seed = 5,
                         .channel = &ch,
                         .opts = {.struct_size = sizeof mc.opts, .decoder = decoder}};
    int err = ldpc_mc_run(code, &mc, 0, 20, &r);
    printf("%s soft %u decoder %u: %" PRIu64 " errors, %" PRIu64 " iterations, %" PRIu64
           " rounds, all counters %016" PRIx64 "\n",
           name, soft, decoder, r.frame_errors, r.iterations, r.flip_rounds, fnv(&r, sizeof r));
    ldpc_code_close(code);
    return err;
}

int main(int argc, char **argv)
{
    static const char *const codes[] = {"1k", "2k", "mlc", "4k"};
    static const double rber[] = {.0075, .0165, .019};
    static struct ldpc_ecc ecc;
    int bad = 0;
    if (argc > 1)
        ldpc_set_cpu_mask((unsigned)strtoul(argv[1], NULL, 10));
    fprintf(stderr, "kernel %s\n", ldpc_kernel_name());
    for (unsigned c = 0; c < 4; c++) {
        double part = c == 2 ? 0.3 : 1; /* mlc has less parity */
        for (unsigned soft = 1; soft <= 3; soft++)
            bad |= point(codes[c], rber[soft - 1] * part, soft, LDPC_DEC_AUTO);
        bad |= point(codes[c], rber[0] * part, 1, LDPC_DEC_MINSUM);
        bad |= point(codes[c], .003 * part, 1, LDPC_DEC_GDBF);
        bad |= point(codes[c], .003 * part, 1, LDPC_DEC_PGDBF);
    }
    bad |= ldpc_ecc_open("etlc", &ecc);
    printf("ecc %016" PRIx64 "\n", fnv(&ecc, sizeof ecc));
    return bad;
}
