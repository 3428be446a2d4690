/* alone_ldpc.c - a program with ldpc and nothing else of this project: a code word
 * with 20 wrong bits is corrected. */
#include <ldpc/ldpc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int correct(const ldpc_code *code, void *workspace, uint8_t *word, uint8_t *read)
{
    size_t data = ldpc_data_bytes(code), all = data + ldpc_parity_bytes(code);
    struct ldpc_info info;
    for (size_t i = 0; i < data; i++)
        word[i] = (uint8_t)(i * 29);
    if (ldpc_encode(code, workspace, word, word + data) < 0)
        return 1;
    memcpy(read, word, all);
    for (size_t i = 0; i < 20; i++)
        read[i * (all / 20)] ^= 0x10;
    if (ldpc_decode_hard(code, workspace, read, read, NULL, &info) < 0)
        return 1;
    printf("%u bits corrected\n", info.flipped_bits);
    return memcmp(read, word, all) != 0 || info.flipped_bits != 20;
}

int main(void)
{
    ldpc_code *code = NULL;
    if (!ldpc_code_names()[0] || ldpc_code_open(ldpc_code_names()[0], &code) < 0)
        return 1;
    size_t room = (ldpc_workspace_bytes(code) + 63) / 64 * 64;
    size_t all = ldpc_code_bytes(code);
    void *workspace = aligned_alloc(64, room);
    uint8_t *words = malloc(2 * all);
    int bad = !workspace || !words || correct(code, workspace, words, words + all);
    free(words);
    free(workspace);
    ldpc_code_close(code);
    return bad;
}
