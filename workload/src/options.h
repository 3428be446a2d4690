/* options.h - the option table and how a value gets into a job. */
#ifndef WL_OPTIONS_H_
#define WL_OPTIONS_H_

#include "lines.h"
#include "workload/jobs.h"

enum wl_option_id {
#define SUP(id, name, aliases, type, member, min, max, text) WL_OPT_##id,
#define ACC(id, name, aliases, text) WL_OPT_##id,
#define REF(id, name, aliases, text) WL_OPT_##id,
#include "options.def"
#undef SUP
#undef ACC
#undef REF
    WL_OPT_COUNT
};

enum wl_option_type {
    WL_T_str, WL_T_flag, WL_T_uint, WL_T_uint3, WL_T_size, WL_T_size3, WL_T_amount, WL_T_sec,
    WL_T_msec, WL_T_usec, WL_T_delay, WL_T_choice, WL_T_rw, WL_T_bs, WL_T_range, WL_T_split,
    WL_T_mixread, WL_T_mixwrite, WL_T_dist, WL_T_ss, WL_T_plis, WL_T_percentiles, WL_T_none
};

/* Index of an option by name or alias; WL_OPT_COUNT when there is none. */
uint32_t wl_option_find(const char *name);
/* The known name nearest to an unknown one, NULL when none is near. */
const char *wl_option_nearest(const char *name);
const char *wl_option_name(uint32_t id);
uint8_t wl_option_state(uint32_t id);
bool wl_option_is_flag(uint32_t id);
const char *wl_option_text(uint32_t id);

/* What a job is before any option: fio's defaults. */
void wl_job_defaults(struct wl_job *job);
/* Puts a value into the job. `value` must outlive the job. 0, or -1 with the rule
 * broken in ret_rule. Only for supported options. */
int wl_option_apply(uint32_t id, const char *value, struct wl_job *job, char ret_rule[WL_RULE_MAX]);

#endif
