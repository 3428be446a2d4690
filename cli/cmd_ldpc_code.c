/* cmd_ldpc_code.c - `ftlsim ldpc code`: facts, alist, construction. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_ldpc.h"

static void print_facts(const struct ldpc_facts *f)
{
    printf("%s: n %u, k %u, rate %.4f, checks %u, rank %u%s\n", f->name, f->n, f->k,
           (double)f->k / f->n, f->m, f->rank, f->rank < f->m ? " (deficient)" : "");
    printf("  circulants %u: %u x %u blocks, %u edges, shortened %u\n", f->z, f->block_rows,
           f->block_cols, f->edges, f->shortened);
    printf("  column weight %u..%u, row weight %u..%u\n", f->col_weight_min, f->col_weight_max,
           f->row_weight_min, f->row_weight_max);
    if (f->girth)
        printf("  girth %s%u, 6-cycles %" PRIu64 "\n", f->girth == 8 ? ">= " : "", f->girth,
               f->cycles6);
    printf("  encoder: %s\n", f->has_encoder ? "yes" : "none, the parity part is singular");
}

static int list_codes(void)
{
    for (const char *const *n = ldpc_code_names(); *n; n++) {
        ldpc_code *code;
        struct ldpc_facts f;
        int err = ldpc_code_open(*n, &code);
        if (err)
            return cli_refuse("ldpc: %s: %s", *n, ldpc_strerror(err));
        ldpc_code_facts(code, &f);
        print_facts(&f);
        ldpc_code_close(code);
    }
    return CLI_OK;
}

static int export_to(const ldpc_code *code, const char *path)
{
    size_t bytes = 0;
    ldpc_alist_export(code, NULL, 0, &bytes);
    char *text = malloc(bytes + 1);
    if (!text || ldpc_alist_export(code, text, bytes + 1, &bytes)) {
        free(text);
        return cli_refuse("ldpc: out of memory");
    }
    FILE *f = strcmp(path, "-") ? fopen(path, "w") : stdout;
    bool bad = !f || fwrite(text, 1, bytes, f) != bytes;
    if (f && f != stdout)
        bad |= fclose(f) != 0;
    free(text);
    return bad ? cli_refuse("ldpc: %s: %s", path, strerror(errno)) : CLI_OK;
}

static int import_from(const char *path, uint32_t z, ldpc_code **code)
{
    char *text = NULL, msg[160] = "";
    size_t bytes = 0;
    int rc = ldpc_read_file(path, &text, &bytes);
    if (rc)
        return rc;
    int err = ldpc_alist_import(text, bytes, "imported", z, code, msg, sizeof msg);
    free(text);
    return err ? cli_refuse("ldpc: %s: %s", path, msg[0] ? msg : ldpc_strerror(err)) : CLI_OK;
}

int cmd_ldpc_code(int argc, char **argv)
{
    const char *name = NULL, *in = NULL, *out = NULL;
    struct ldpc_build build = {.z = 0, .data_bits = 0, .sweeps = 6, .seed = 1};
    struct ldpc_args a;
    ldpc_code *code = NULL;
    ldpc_args_start(&a, argc, argv);
    while (ldpc_args_next(&a)) {
        if (ldpc_args_is(&a, "code"))
            name = a.value;
        else if (ldpc_args_is(&a, "import"))
            in = a.value;
        else if (ldpc_args_is(&a, "export"))
            out = a.value;
        else if (ldpc_args_is(&a, "build"))
            build.name = a.value;
        else if (ldpc_args_is(&a, "z"))
            build.z = (uint32_t)ldpc_args_u64(&a, 0, 16384);
        else if (ldpc_args_is(&a, "data-bits"))
            build.data_bits = (uint32_t)ldpc_args_u64(&a, 1, 1 << 20);
        else if (ldpc_args_is(&a, "sweeps"))
            build.sweeps = (uint32_t)ldpc_args_u64(&a, 0, 1000);
        else if (ldpc_args_is(&a, "seed"))
            build.seed = ldpc_args_u64(&a, 0, UINT64_MAX);
        else
            ldpc_args_unknown(&a);
    }
    if (a.failed)
        return CLI_REFUSED;
    if ((name != NULL) + (in != NULL) + (build.name != NULL) > 1)
        return cli_refuse("ldpc: --code, --import and --build exclude each other");
    if (!name && !in && !build.name)
        return out ? cli_refuse("ldpc: --export needs --code, --import or --build")
                   : list_codes();
    int err = LDPC_OK;
    if (in) {
        int rc = import_from(in, build.z, &code);
        if (rc)
            return rc;
    } else if (build.name) {
        err = ldpc_code_build(&build, &code);
    } else {
        err = ldpc_code_open(name, &code);
    }
    if (err)
        return cli_refuse("ldpc: %s: %s", name ? name : build.name, ldpc_strerror(err));
    struct ldpc_facts f;
    ldpc_code_facts(code, &f);
    if (!out || strcmp(out, "-"))
        print_facts(&f);
    int rc = out ? export_to(code, out) : CLI_OK;
    ldpc_code_close(code);
    return rc;
}
