/* ldpc_only.c - the codec alone: encode 4 KiB, corrupt it, decode it, hard and soft.
 * Links with libldpc and the C library, nothing else:
 *     cc ldpc_only.c -lldpc -o ldpc_only */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ldpc/channel.h>
#include <ldpc/ldpc.h>

enum { FRAME = 1, SEED = 42 };

/* Decode `seen` and say how it went; 0 if the data came back. */
static int hard(const ldpc_code *code, void *ws, const uint8_t *seen, const uint8_t *word)
{
    struct ldpc_info info;
    size_t bytes = ldpc_code_bytes(code);
    uint8_t *got = malloc(bytes);
    if (!got)
        return 1;
    int err = ldpc_decode_hard(code, ws, seen, got, NULL, &info);
    int same = !memcmp(got, word, bytes);
    printf("hard: %s after %u flipping rounds and %u iterations, %u bits corrected\n",
           err ? ldpc_strerror(err) : "decoded", info.flip_rounds, info.iterations,
           info.flipped_bits);
    free(got);
    return !same;
}

/* The same word through a channel with three senses (2-bit soft values). */
static int soft(const ldpc_code *code, void *ws, const uint8_t *word, double rber)
{
    struct ldpc_facts facts;
    struct ldpc_channel channel;
    struct ldpc_info info;
    size_t bytes = ldpc_code_bytes(code);
    if (ldpc_code_facts(code, &facts) || ldpc_channel_awgn(rber, 2, &channel))
        return 1;
    int8_t *llr = malloc(facts.n);
    uint8_t *got = malloc(bytes);
    int bad = !llr || !got;
    if (!bad) {
        ldpc_channel_soft(&channel, SEED, FRAME, word, facts.n, llr);
        int err = ldpc_decode(code, ws, llr, got, NULL, &info);
        printf("soft: RBER %.4f: %s after %u iterations, %u bits corrected\n", rber,
               err ? ldpc_strerror(err) : "decoded", info.iterations, info.flipped_bits);
        bad = memcmp(got, word, bytes) != 0;
    }
    free(llr);
    free(got);
    return bad;
}

int main(void)
{
    ldpc_code *code = NULL;
    int err = ldpc_code_open("4k", &code);
    if (err) {
        fprintf(stderr, "ldpc_only: %s\n", ldpc_strerror(err));
        return 1;
    }
    size_t data = ldpc_data_bytes(code), bytes = ldpc_code_bytes(code);
    void *ws = aligned_alloc(64, (ldpc_workspace_bytes(code) + 63) & ~(size_t)63);
    uint8_t *word = malloc(bytes), *seen = malloc(bytes);
    int bad = !ws || !word || !seen;
    if (!bad) {
        for (size_t i = 0; i < data; i++)
            word[i] = (uint8_t)(i * 131 + i / 256);
        bad = ldpc_encode(code, ws, word, word + data) != 0;
        memcpy(seen, word, bytes);
        ldpc_channel_flip(SEED, FRAME, ldpc_prob_from_double(0.004), seen, (uint32_t)bytes * 8);
        printf("code %s: %zu data and %zu parity bytes, kernel %s\n", "4k", data,
               ldpc_parity_bytes(code), ldpc_kernel_name());
        bad |= hard(code, ws, seen, word);
        bad |= soft(code, ws, word, 0.015);
    }
    free(ws);
    free(word);
    free(seen);
    ldpc_code_close(code);
    return bad;
}
