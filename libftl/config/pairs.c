/* pairs.c - settings that do not work together; the table is pairs.def. */
#include <string.h>

#include "config.h"
#include "core/core.h"
#include "core/geometry.h"

enum feature {
#define FEATURE(name, key, without, on) F_##name,
#include "pairs.def"
    F_COUNT
};
_Static_assert(F_COUNT <= 64, "features are the bits of a word");

static const struct {
    const char *key, *without;
} features[] = {
#define FEATURE(name, key, without, on) {key, without},
#include "pairs.def"
};

static const struct {
    enum feature a, b;
    const char *reason;
} pairs[] = {
#define PAIR(a, b, reason) {F_##a, F_##b, reason},
#include "pairs.def"
};

static uint64_t features_of(const struct ftl_config *c)
{
    uint64_t set = 0;
#define FEATURE(name, key, without, on) set |= (uint64_t)((on) ? 1 : 0) << F_##name;
#include "pairs.def"
    return set;
}

int config_check_pairs(const struct ftl_config *c, char *why, size_t n)
{
    uint64_t set = features_of(c);

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char value[FTL_NAME_MAX];
        if ((set >> pairs[i].a & set >> pairs[i].b & 1) == 0)
            continue;
        const char *key = features[pairs[i].a].key;
        (void)config_text(c, (uint32_t)config_key_find(key), value, sizeof value);
        return config_refuse(FTL_ECONFIG, why, n, "%s=%s: needs %s: %s", key, value,
                             features[pairs[i].b].without, pairs[i].reason);
    }
    return 0;
}
