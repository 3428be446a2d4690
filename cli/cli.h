/* cli.h - what the commands of ftlsim share. */
#ifndef CLI_CLI_H_
#define CLI_CLI_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ftl/ftl.h"
#include "refuse.h"
#include "workload/policy.h"
#include "workload/run.h"

int cmd_run(int argc, char **argv);
int cmd_drives(int argc, char **argv);
int cli_drive_power(FILE *out, const struct ftl_config *cfg);
int cmd_options(int argc, char **argv);
int cmd_policy(int argc, char **argv);
int cmd_powercut(int argc, char **argv);
#ifdef CLI_WITH_NAND
int cmd_nand(int argc, char **argv);
#endif
#ifdef CLI_WITH_LDPC
int cmd_ldpc(int argc, char **argv);
#endif

/* ---- text that is written whole or not at all -------------------------- */
struct cli_text {
    char *data;
    size_t size;
    FILE *stream;               /* NULL = no memory */
};
void cli_text_open(struct cli_text *t);
void cli_text_drop(struct cli_text *t);
/* Writes to `path`, by way of a temporary file when it is a plain one, or to stdout
 * when path is NULL. Frees the text. CLI_OK or CLI_REFUSED after a message. */
int cli_text_deliver(struct cli_text *t, const char *path);
/* Early proof that cli_text_deliver() can write to path. */
int cli_text_try(const char *path);

/* ---- what a report is made of ------------------------------------------ */
struct cli_report {
    const wl_run *run;
    const wl_jobs *jobs;
    const ftl_setup *setup;
    const struct ftl_config *config;
    struct ftl_counters counters;
    struct ftl_status status;
    uint64_t state_hash, seed, end_ns;
    const char *precondition;   /* NULL = none */
};
void out_normal(FILE *out, const struct cli_report *r);
int out_json(FILE *out, const struct cli_report *r, bool plus);    /* -1 on lack of memory */
void out_terse(FILE *out, const struct cli_report *r);

/* ---- sums that several reports show ------------------------------------ */
struct cli_wa {
    uint64_t programmed, host, relocated;
    bool known;                 /* false: nothing was written */
    double wa, wa_gc;
};
/* Why bytes reach the medium; `moves` = they were there before. */
struct cli_cause {
    const char *name;
    size_t offset;              /* in struct ftl_counters */
    bool moves;
};
enum { CLI_CAUSES = 11 };
extern const struct cli_cause cli_causes[CLI_CAUSES];
uint64_t cli_cause_bytes(const struct ftl_counters *c, uint32_t cause);
struct cli_wa cli_wa_of(const struct ftl_counters *c);
double cli_per_second(uint64_t amount, uint64_t ns);
double cli_share(uint64_t part, uint64_t whole);        /* percent, 0 of nothing */
/* fio's rounding of shares: what occurs at all is at least `least`. */
double cli_visible_share(uint64_t part, uint64_t whole, double least);
double cli_utilisation(uint64_t busy_ns, uint64_t units, const struct cli_report *r);

/* ---- progress on a terminal -------------------------------------------- */
/* One line: "12.3 %  ...  45 s left". Nothing is drawn unless standard error is a terminal. */
struct cli_progress {
    bool terminal, drawn;
    double started, shown;      /* wall seconds */
};
void cli_progress_start(struct cli_progress *p);
/* True at most five times a second: then draw. */
bool cli_progress_due(struct cli_progress *p);
/* `done` from 0 to 1; what comes between the share and the time left is the caller's. */
void cli_progress_draw(struct cli_progress *p, double done, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes the line away; time counts from here. */
void cli_progress_clear(struct cli_progress *p);
void cli_catch_interrupt(void);
int cli_interrupted(void);
double cli_wall(void);

#endif
