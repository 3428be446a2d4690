/* driver.c - a target without libFuzzer: driver MUTATIONS FILE... runs each file as it is, and
 * MUTATIONS changed ones in all. The changes are drawn from their number alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { INPUT_MAX = 1 << 18, FILES_MAX = 64 };

static struct {
    uint8_t *bytes;
    size_t size;
} inputs[FILES_MAX];

static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static int read_input(const char *path, int index)
{
    FILE *f = fopen(path, "rb");
    inputs[index].bytes = malloc(INPUT_MAX);
    if (f == NULL || inputs[index].bytes == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return -1;
    }
    inputs[index].size = fread(inputs[index].bytes, 1, INPUT_MAX, f);
    (void)fclose(f);
    return 0;
}

/* Flips, bytes of interest, cuts, repeats, parts of another input. */
static size_t mutate(uint8_t *to, size_t size, int count, uint64_t *state)
{
    static const uint8_t odd[] = {0, 1, 2, 0x7f, 0x80, 0xfe, 0xff};
    uint32_t changes = 1 + (uint32_t)(next(state) % 4);

    for (uint32_t i = 0; i < changes && size > 0; i++) {
        size_t at = (size_t)(next(state) % size), n = (size_t)(next(state) % 16) + 1;
        int other = (int)(next(state) % (unsigned)count);
        n = n < size - at ? n : size - at;
        switch (next(state) % 8) {
        case 0:
            size = next(state) % 4 == 0 ? at : size;
            break;
        case 1:
            to[at] = odd[next(state) % sizeof odd];
            break;
        case 2:
            memmove(to + at, to + next(state) % (size - n + 1), n);
            break;
        case 3:
            if (inputs[other].size >= at + n)
                memcpy(to + at, inputs[other].bytes + at, n);
            break;
        case 4:
            to[at] = (uint8_t)next(state);
            break;
        default:
            to[at] ^= (uint8_t)(1u << next(state) % 8);
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    int count = argc - 2;
    uint64_t state = 1, rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    uint8_t *bytes = malloc(INPUT_MAX);

    if (count < 1 || count > FILES_MAX || bytes == NULL) {
        fprintf(stderr, "usage: %s MUTATIONS FILE...\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < count; i++) {
        if (read_input(argv[2 + i], i) < 0)
            return 2;
        (void)LLVMFuzzerTestOneInput(inputs[i].bytes, inputs[i].size);
    }
    for (uint64_t r = 0; r < rounds; r++) {
        int i = (int)(r % (unsigned)count);
        memcpy(bytes, inputs[i].bytes, inputs[i].size);
        size_t size = mutate(bytes, inputs[i].size, count, &state);
        FILE *f = getenv("FUZZ_KEEP") != NULL ? fopen(getenv("FUZZ_KEEP"), "wb") : NULL;
        if (f != NULL) {                        /* the last one is there after a crash */
            (void)fwrite(bytes, 1, size, f);
            (void)fclose(f);
        }
        uint8_t *exact = malloc(size > 0 ? size : 1);   /* reading past the end is seen */
        if (exact == NULL)
            return 2;
        memcpy(exact, bytes, size);
        (void)LLVMFuzzerTestOneInput(exact, size);
        free(exact);
    }
    printf("%d inputs, %llu mutations\n", count, (unsigned long long)rounds);
    for (int i = 0; i < count; i++)
        free(inputs[i].bytes);
    free(bytes);
    return 0;
}
