/* spec.h - option values with a grammar of their own. */
#ifndef WL_SPEC_H_
#define WL_SPEC_H_

#include "lines.h"
#include "value.h"
#include "workload/jobs.h"

/* `type` is an enum wl_option_type from WL_T_rw on. NULL, or the rule broken:
 * static text or `rule`. */
const char *wl_spec_apply(uint8_t type, struct wl_span value, struct wl_job *job,
                          char rule[WL_RULE_MAX]);

#endif
