/* policy.c - which policies decide, their state, and what they did wrong. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

enum { STATE_ALIGN = 16 };

static int refuse(char *why, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int refuse(char *why, size_t size, const char *format, ...)
{
    va_list args;
    if (why != NULL && size > 0) {
        va_start(args, format);
        (void)vsnprintf(why, size, format, args);
        va_end(args);
    }
    return FTL_EINVAL;
}

int core_policy_head_check(const struct ftl_policy_head *head, const char *kind, size_t size,
                           char *why, size_t why_size)
{
    if (head->version != FTL_POLICY_VERSION)
        return refuse(why, why_size, "%s policy: made for version %u of ftl_policy.h, this is %u",
                      kind, head->version, FTL_POLICY_VERSION);
    if (head->struct_size != size)
        return refuse(why, why_size, "%s policy: struct_size %u, must be %zu", kind,
                      head->struct_size, size);
    if (head->name == NULL || head->name[0] == '\0' || strlen(head->name) >= FTL_NAME_MAX)
        return refuse(why, why_size, "%s policy: its name must have 1 to %d characters", kind,
                      FTL_NAME_MAX - 1);
    return 0;
}

/* The policy that decides, given by the caller or named by the configuration. */
static int bind_gc(struct ftl_core *c, const struct ftl_policies *given, char *why, size_t size)
{
    const struct ftl_gc_policy *p = given != NULL ? given->gc : NULL;
    if (p == NULL) {
        c->policy.gc = ftl_gc_policy_find(c->cfg->gc_policy);
        if (c->policy.gc != NULL)
            return 0;
        (void)refuse(why, size, "gc.policy=%s: unknown policy", c->cfg->gc_policy);
        return FTL_ECONFIG;
    }
    int err = core_policy_head_check(&p->head, "gc", sizeof *p, why, size);
    if (err == 0 && p->pick == NULL)
        err = refuse(why, size, "gc policy %s: has no pick()", p->head.name);
    const struct ftl_gc_policy *same = err == 0 ? ftl_gc_policy_find(p->head.name) : NULL;
    if (same != NULL && same != p)
        err = refuse(why, size, "gc policy %s: the name is that of a built-in policy",
                     p->head.name);
    c->policy.gc = p;
    return err;
}

static int bind_wear(struct ftl_core *c, const struct ftl_policies *given, char *why, size_t size)
{
    const struct ftl_wear_policy *p = given != NULL ? given->wear : NULL;
    if (p == NULL) {
        c->policy.wear = ftl_wear_policy_find(c->cfg->wear_policy);
        if (c->policy.wear != NULL)
            return 0;
        (void)refuse(why, size, "wear.policy=%s: unknown policy", c->cfg->wear_policy);
        return FTL_ECONFIG;
    }
    int err = core_policy_head_check(&p->head, "wear", sizeof *p, why, size);
    if (err == 0 && p->open == NULL)
        err = refuse(why, size, "wear policy %s: has no open()", p->head.name);
    if (err == 0 && p->move == NULL && c->cfg->wear_spread != 0)
        err = refuse(why, size, "wear policy %s: has no move(), which wear.spread=%llu asks for",
                     p->head.name, (unsigned long long)c->cfg->wear_spread);
    if (err == 0 && p->assemble == NULL && c->cfg->wear_assembly)
        err = refuse(why, size, "wear policy %s: has no assemble(), which wear.assembly=1 asks for",
                     p->head.name);
    const struct ftl_wear_policy *same = err == 0 ? ftl_wear_policy_find(p->head.name) : NULL;
    if (same != NULL && same != p)
        err = refuse(why, size, "wear policy %s: the name is that of a built-in policy",
                     p->head.name);
    c->policy.wear = p;
    return err;
}

static int bind_pace(struct ftl_core *c, const struct ftl_policies *given, char *why, size_t size)
{
    const struct ftl_pace_policy *p = given != NULL ? given->pace : NULL;
    if (p == NULL) {
        c->policy.pace = ftl_pace_policy_find(c->cfg->gc_pacing);
        if (c->policy.pace != NULL)
            return 0;
        (void)refuse(why, size, "gc.pacing=%s: unknown policy", c->cfg->gc_pacing);
        return FTL_ECONFIG;
    }
    int err = core_policy_head_check(&p->head, "pace", sizeof *p, why, size);
    if (err == 0 && p->pace == NULL)
        err = refuse(why, size, "pace policy %s: has no pace()", p->head.name);
    const struct ftl_pace_policy *same = err == 0 ? ftl_pace_policy_find(p->head.name) : NULL;
    if (same != NULL && same != p)
        err = refuse(why, size, "pace policy %s: the name is that of a built-in policy",
                     p->head.name);
    c->policy.pace = p;
    return err;
}

static int bind_stream(struct ftl_core *c, const struct ftl_policies *given, char *why,
                       size_t size)
{
    const struct ftl_stream_policy *p = given != NULL ? given->stream : NULL;
    if (p != NULL && !c->roam)
        return refuse(why, size, "stream policy: streams.mode=%s, must be auto",
                      c->cfg->streams_mode);
    if (p == NULL) {
        c->policy.stream = c->roam ? ftl_stream_policy_find(c->cfg->streams_policy) : NULL;
        if (c->policy.stream != NULL || !c->roam)
            return 0;
        (void)refuse(why, size, "streams.policy=%s: unknown policy", c->cfg->streams_policy);
        return FTL_ECONFIG;
    }
    int err = core_policy_head_check(&p->head, "stream", sizeof *p, why, size);
    if (err == 0 && p->place == NULL)
        err = refuse(why, size, "stream policy %s: has no place()", p->head.name);
    const struct ftl_stream_policy *same = err == 0 ? ftl_stream_policy_find(p->head.name) : NULL;
    if (same != NULL && same != p)
        err = refuse(why, size, "stream policy %s: the name is that of a built-in policy",
                     p->head.name);
    c->policy.stream = p;
    return err;
}

static size_t state_bytes(const struct ftl_policy_head *head, const struct ftl_core *c,
                          size_t more)
{
    size_t n = head->state_bytes + (size_t)head->state_bytes_per_superblock * c->g.sb_count + more;
    return (n + STATE_ALIGN - 1) / STATE_ALIGN * STATE_ALIGN;
}

static size_t gc_bytes(const struct ftl_core *c)
{
    return state_bytes(&c->policy.gc->head, c, 0);
}

static size_t wear_bytes(const struct ftl_core *c)
{
    return state_bytes(&c->policy.wear->head, c, 0);
}

static size_t pace_bytes(const struct ftl_core *c)
{
    return state_bytes(&c->policy.pace->head, c, 0);
}

static size_t stream_bytes(const struct ftl_core *c)
{
    const struct ftl_stream_policy *p = c->policy.stream;
    uint64_t unit = c->cfg->streams_chunk_units;
    if (p == NULL)
        return 0;
    return state_bytes(&p->head, c,
                       (size_t)((c->user_units + unit - 1) / unit) * p->state_bytes_per_chunk);
}

static int take_state(struct ftl_core *c)
{
    struct core_policies *p = &c->policy;

    p->state_bytes = gc_bytes(c) + wear_bytes(c) + pace_bytes(c) + stream_bytes(c);
    if (p->state_bytes == 0)
        return 0;
    if (SIM_TAKE(&c->ctx->mem, p->state, p->state_bytes) < 0)
        return FTL_ENOMEM;
    core_policy_aim(c);
    return 0;
}

int core_policy_bind(struct ftl_core *c, const struct ftl_policies *given, char *why, size_t size)
{
    if (given != NULL && given->version != FTL_POLICY_VERSION)
        return refuse(why, size, "policies: made for version %u of ftl_policy.h, this is %u",
                      given->version, FTL_POLICY_VERSION);
    if (given != NULL && given->struct_size != sizeof *given)
        return refuse(why, size, "policies: struct_size %u, must be %zu", given->struct_size,
                      sizeof *given);
    int err = bind_gc(c, given, why, size);
    if (err == 0)
        err = bind_wear(c, given, why, size);
    if (err == 0)
        err = bind_pace(c, given, why, size);
    if (err == 0)
        err = bind_stream(c, given, why, size);
    if (err == 0)
        err = take_state(c);
    if (err == 0 && core_pace(c) < 0) {
        err = c->error;
        if (why != NULL && size > 0)
            (void)snprintf(why, size, "%s", c->policy.fault);
    }
    return err;
}

void core_policy_aim(struct ftl_core *c)
{
    if (c->policy.state_bytes == 0)
        return;
    c->policy.gc_state = c->policy.state;
    c->policy.wear_state = c->policy.state + gc_bytes(c);
    c->policy.pace_state = c->policy.state + gc_bytes(c) + wear_bytes(c);
    c->policy.stream_state = c->policy.state + gc_bytes(c) + wear_bytes(c) + pace_bytes(c);
}

int core_policy_fault(struct ftl_core *c, const char *kind, const struct ftl_policy_head *head,
                      const char *format, ...)
{
    va_list args;
    if (c->error == 0) {                /* the first fault is the cause */
        int n = snprintf(c->policy.fault, sizeof c->policy.fault, "%s policy %s: ", kind,
                         head->name);
        va_start(args, format);
        (void)vsnprintf(c->policy.fault + n, sizeof c->policy.fault - (size_t)n, format, args);
        va_end(args);
        c->error = FTL_EPOLICY;
    }
    return c->error;
}
