/* fatal.h - assertions that stay on: a broken rule of ours ends the program with
 * the rule, the place and what is needed to repeat it. */
#ifndef FTL_SIM_FATAL_H
#define FTL_SIM_FATAL_H

#include "sim/mem.h"

struct sim_context {               /* one per drive; what a repeat needs */
    uint64_t seed, events, now;
    struct sim_mem mem;             /* its bookkeeping */
};

_Noreturn void sim_fatal(const struct sim_context *ctx, const char *file, int line,
                         const char *rule);

#define FTL_ASSERT(ctx, rule)                                                                  \
    do {                                                                                       \
        if (__builtin_expect(!(rule), 0))                                                      \
            sim_fatal((ctx), __FILE__, __LINE__, #rule);                                       \
    } while (0)

#endif
