#include "sim/fatal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void sim_fatal(const struct sim_context *ctx, const char *file, int line,
                         const char *rule)
{
    (void)fprintf(stderr,
                  "libftl: rule broken: %s (%s:%d; seed %" PRIu64 ", event %" PRIu64
                  ", time %" PRIu64 " ns)\n",
                  rule, file, line, ctx->seed, ctx->events, ctx->now);
    abort();
}
