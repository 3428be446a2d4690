/* make_codes.c - constructs every built-in code and prints src/builtin_tables.c.
 * Deterministic: the same bytes on any compiler. Takes some seconds per code. */
#include <stdio.h>

#include "ldpc/ldpc.h"

enum { SEED = 20261130, SWEEPS = 8 };

static const struct {
    const char *name, *why;
    unsigned z, data_bits;
} PLAN[] = {
    {"4k", "4 KiB in 36864 bits, rate 8/9", 1024, 32768},
    {"2k", "2 KiB in 18432 bits, rate 8/9", 512, 16384},
    {"1k", "1 KiB in 9216 bits, rate 8/9", 256, 8192},
    {"4k-r88", "4 KiB, rate .883", 1088, 32768},
    {"4k-r90", "4 KiB, rate .901", 896, 32768},
    {"4k-r92", "4 KiB, rate .921", 704, 32768},
    {"etlc", "page 16384 + 2208: 4 x (4096 + 40 metadata + 512 parity)", 1024, 33088},
    {"tlc", "page 16384 + 1952: 4 x (4096 + 40 metadata + 448 parity)", 896, 33088},
    {"mlc", "page 8192 + 448: 2 x (4096 + 32 metadata + 192 parity)", 384, 33024},
};

static void print_shifts(const ldpc_code *code, unsigned index, const struct ldpc_facts *f,
                         const char *why)
{
    printf("\n/* %s: %s; girth %u, %llu 6-cycles */\n", f->name, why, f->girth,
           (unsigned long long)f->cycles6);
    printf("static const int16_t SHIFT_%u[] = {\n", index);
    for (unsigned c = 0; c < f->block_cols; c++) {
        printf("   ");
        for (unsigned r = 0; r < f->block_rows; r++)
            printf(" %d,", ldpc_code_shift(code, r, c));
        printf("\n");
    }
    printf("};\n");
}

int main(void)
{
    unsigned count = sizeof PLAN / sizeof PLAN[0], cols[sizeof PLAN / sizeof PLAN[0]];
    printf(
        "/* builtin_tables.c - made by tools/make_codes (seed %d, %d sweeps); do not edit. */\n"
        "#include \"builtin.h\"\n",
        SEED, SWEEPS);
    for (unsigned i = 0; i < count; i++) {
        struct ldpc_build b = {.name = PLAN[i].name,
                               .z = PLAN[i].z,
                               .data_bits = PLAN[i].data_bits,
                               .sweeps = SWEEPS,
                               .seed = SEED};
        ldpc_code *code;
        struct ldpc_facts f;
        int err = ldpc_code_build(&b, &code);
        if (err || ldpc_code_facts(code, &f)) {
            fprintf(stderr, "make_codes: %s: %s\n", b.name, ldpc_strerror(err));
            return 2;
        }
        cols[i] = f.block_cols;
        print_shifts(code, i, &f, PLAN[i].why);
        fprintf(stderr, "%s: girth %u, 6-cycles %llu\n", b.name, f.girth,
                (unsigned long long)f.cycles6);
        ldpc_code_close(code);
    }
    printf("\nconst struct builtin ldpci_builtin_codes[] = {\n");
    for (unsigned i = 0; i < count; i++) {
        printf("    {\"%s\", %u, %u, %u, SHIFT_%u},\n", PLAN[i].name, PLAN[i].z,
               PLAN[i].data_bits, cols[i], i);
        if (PLAN[i].name[0] == 'e') /* the same page geometry, so the same code */
            printf("    {\"qlc\", %u, %u, %u, SHIFT_%u},\n", PLAN[i].z, PLAN[i].data_bits,
                   cols[i], i);
    }
    printf("};\nconst uint32_t ldpci_builtin_count =\n"
           "    sizeof ldpci_builtin_codes / sizeof ldpci_builtin_codes[0];\n"
           "const char *const ldpci_builtin_names[] = {\n   ");
    for (unsigned i = 0; i < count; i++)
        printf(" \"%s\",%s", PLAN[i].name, PLAN[i].name[0] == 'e' ? " \"qlc\"," : "");
    printf(" NULL};\n");
    return 0;
}
