/* policy.h - policies for a drive, built in or from shared objects.
 *
 * Threads: one wl_policies = one thread at a time.
 * Errors:  0 or a negative enum wl_err with one line in ret_why. */
#ifndef WORKLOAD_POLICY_H_
#define WORKLOAD_POLICY_H_

#include "ftl/ftl_policy.h"
#include "workload/jobs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wl_policies wl_policies;

/* NULL on lack of memory. */
WL_API wl_policies *wl_policies_new(void);
/* Closes the shared objects: after the drives that use them. NULL is fine. */
WL_API void wl_policies_free(wl_policies *policies);
/* Chooses the policy of a key, e.g. "gc.policy", by name or, when `value` holds a '/'
 * or ends in ".so", from a shared object that exports it (ftl_policy.h). The set-up gets
 * the policy's name with `where` as its origin. WL_EINVAL for an unknown key; WL_EIO
 * for a file that cannot be loaded, or that lacks the symbol; WL_EJOB for a policy of
 * another version and for a name that the set-up refuses. */
WL_API int wl_policies_set(wl_policies *policies, const char *key, const char *value,
                           ftl_setup *setup, const char *where, char *ret_why, size_t why_size);
/* For ftl_create_with(); lives as long as `policies`. */
WL_API const struct ftl_policies *wl_policies_get(const wl_policies *policies);

#ifdef __cplusplus
}
#endif
#endif
