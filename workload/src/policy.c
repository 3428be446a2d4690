/* policy.c - policies from shared objects, judged before anything of them is called. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/policy.h"

enum { KINDS = 4 };

struct wl_policies {
    struct ftl_policies chosen;
    void *objects[KINDS];           /* NULL = built in */
};

static const struct kind {
    const char *key, *symbol, *structure;
    uint32_t size;
    size_t offset;                  /* of the pointer in struct ftl_policies */
} kinds[KINDS] = {
    {"gc.policy", "ftl_gc_policy_export", "struct ftl_gc_policy", sizeof(struct ftl_gc_policy),
     offsetof(struct ftl_policies, gc)},
    {"wear.policy", "ftl_wear_policy_export", "struct ftl_wear_policy",
     sizeof(struct ftl_wear_policy), offsetof(struct ftl_policies, wear)},
    {"gc.pacing", "ftl_pace_policy_export", "struct ftl_pace_policy",
     sizeof(struct ftl_pace_policy), offsetof(struct ftl_policies, pace)},
    {"streams.policy", "ftl_stream_policy_export", "struct ftl_stream_policy",
     sizeof(struct ftl_stream_policy), offsetof(struct ftl_policies, stream)},
};

wl_policies *wl_policies_new(void)
{
    wl_policies *p = calloc(1, sizeof *p);
    if (p != NULL)
        p->chosen = (struct ftl_policies)FTL_POLICIES_INIT;
    return p;
}

void wl_policies_free(wl_policies *p)
{
    for (int i = 0; p != NULL && i < KINDS; i++)
        if (p->objects[i] != NULL)
            dlclose(p->objects[i]);
    free(p);
}

const struct ftl_policies *wl_policies_get(const wl_policies *p)
{
    return &p->chosen;
}

static bool is_file(const char *value)
{
    size_t n = strlen(value);
    return strchr(value, '/') != NULL || (n > 3 && strcmp(value + n - 3, ".so") == 0);
}

/* The exported policy begins with its head, whatever its version. */
static int judge(const struct kind *k, const char *file, const struct ftl_policy_head *head,
                 char *why, size_t size)
{
    if (head == NULL)
        snprintf(why, size, "%s: %s() returned no policy", file, k->symbol);
    else if (head->version != FTL_POLICY_VERSION)
        snprintf(why, size, "%s: made for version %u of ftl_policy.h, this program takes %u", file,
                 head->version, FTL_POLICY_VERSION);
    else if (head->struct_size != k->size)
        snprintf(why, size, "%s: its %s has %u bytes, this program's has %u", file, k->structure,
                 head->struct_size, k->size);
    else if (head->name == NULL || head->name[0] == '\0' || strlen(head->name) >= FTL_NAME_MAX)
        snprintf(why, size, "%s: the policy's name must have 1 to %d characters", file,
                 FTL_NAME_MAX - 1);
    else
        return WL_OK;
    return WL_EJOB;
}

static int load(const struct kind *k, const char *file, void **ret_object,
                const struct ftl_policy_head **ret_head, char *why, size_t size)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s%s", strchr(file, '/') != NULL ? "" : "./", file) >=
        (int)sizeof path) {
        snprintf(why, size, "%.64s...: the name is too long", file);
        return WL_EIO;
    }
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) {
        snprintf(why, size, "%s", dlerror());
        return WL_EIO;
    }
    const void *(*give)(void) = NULL;
    void *symbol = dlsym(object, k->symbol);
    memcpy(&give, &symbol, sizeof give);    /* ISO C has no cast from an object to a function */
    int err = WL_EIO;
    if (give == NULL) {
        snprintf(why, size, "%s: exports no %s()", file, k->symbol);
    } else {
        *ret_head = give();
        err = judge(k, file, *ret_head, why, size);
    }
    if (err < 0)
        dlclose(object);
    else
        *ret_object = object;
    return err;
}

int wl_policies_set(wl_policies *p, const char *key, const char *value, ftl_setup *setup,
                    const char *where, char *why, size_t size)
{
    int i = 0;
    while (i < KINDS && strcmp(kinds[i].key, key) != 0)
        i++;
    if (i == KINDS) {
        snprintf(why, size, "%s: no kind of policy", key);
        return WL_EINVAL;
    }
    void *object = NULL;
    const struct ftl_policy_head *head = NULL;
    int err = is_file(value) ? load(&kinds[i], value, &object, &head, why, size) : WL_OK;
    if (err < 0)
        return err;
    if (ftl_setup_set(setup, key, head != NULL ? head->name : value, where, why, size) < 0) {
        if (object != NULL)
            dlclose(object);
        return WL_EJOB;
    }
    if (p->objects[i] != NULL)
        dlclose(p->objects[i]);
    p->objects[i] = object;
    memcpy((char *)&p->chosen + kinds[i].offset, &head, sizeof head);
    return WL_OK;
}
