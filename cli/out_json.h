/* out_json.h - pieces of the JSON report. All return new references. */
#ifndef CLI_OUT_JSON_H_
#define CLI_OUT_JSON_H_

#include <jansson.h>

#include "cli.h"

json_t *json_count(uint64_t v);
json_t *json_decimal(double v);         /* six decimals */
json_t *out_ssd(const struct cli_report *r);

#endif
