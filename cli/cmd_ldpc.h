/* cmd_ldpc.h - what the parts of `ftlsim ldpc` share. */
#ifndef CLI_CMD_LDPC_H_
#define CLI_CMD_LDPC_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ldpc/channel.h"
#include "ldpc/ldpc.h"
#include "refuse.h"

enum { LDPC_RBERS_MAX = 64 };

/* ---- arguments: --name value, checked one by one --------------------------------- */
struct ldpc_args {
    int argc;
    char **argv;
    int at;
    const char *name; /* of the option just taken */
    const char *value;
    bool failed; /* a message has been printed */
};
void ldpc_args_start(struct ldpc_args *a, int argc, char **argv);
/* Next "--name value" pair; false at the end or after a message. */
bool ldpc_args_next(struct ldpc_args *a);
bool ldpc_args_is(const struct ldpc_args *a, const char *name);
/* Whole value as a number in [low, high]; else a message and failed. */
uint64_t ldpc_args_u64(struct ldpc_args *a, uint64_t low, uint64_t high);
double ldpc_args_double(struct ldpc_args *a, double low, double high);
/* "a,b,c" or "from:to:step", rising; returns how many. */
unsigned ldpc_args_rbers(struct ldpc_args *a, double ret[LDPC_RBERS_MAX]);
void ldpc_args_unknown(struct ldpc_args *a);

/* ---- Monte-Carlo with threads ------------------------------------------------------- */
struct ldpc_job {
    const char *code_name;
    ldpc_code *code;
    struct ldpc_facts facts;
    unsigned soft_bits, threads;
    enum ldpc_decoder decoder;
    const char *decoder_name;
    uint64_t seed, frames_max, errors_stop;
    uint32_t iterations, payload;
    bool quiet;
};
void ldpc_job_default(struct ldpc_job *job);
/* Takes an option that concerns the run; false if it is not one of these. */
bool ldpc_job_option(struct ldpc_job *job, struct ldpc_args *a);
int ldpc_job_open(struct ldpc_job *job); /* opens the code; an exit status */
void ldpc_job_close(struct ldpc_job *job);
/* One point. Stops after the batch in which the errors reach errors_stop, so the
 * frame count depends on the seed and never on threads. Exit status. */
int ldpc_job_run(const struct ldpc_job *job, double rber, struct ldpc_mc_result *ret);

int cmd_ldpc_fer(int argc, char **argv);
int cmd_ldpc_table(int argc, char **argv);
int cmd_ldpc_floor(int argc, char **argv);
int cmd_ldpc_code(int argc, char **argv);
int cmd_ldpc_bench(int argc, char **argv);
int cmd_ldpc_lifetime(int argc, char **argv);

int cmd_ldpc(int argc, char **argv); /* argv[0] = "ldpc" */

/* Reads a whole file; *ret is freed by the caller. Exit status after a message. */
int ldpc_read_file(const char *path, char **ret, size_t *ret_bytes);

#endif
