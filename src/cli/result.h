/* The result of a run, read from the JSON of `sluice run --json FILE`. */
#ifndef SLUICE_CLI_RESULT_H
#define SLUICE_CLI_RESULT_H

#include "base/json_read.h"

/* NULL with a located error, also if the JSON is not the result of a run. */
const struct json_value *result_read(struct arena *arena, const char *file, struct error *err);

/* A text of the run; "" if it has none of this name. */
const char *result_text(const struct json_value *run, const char *key);
/* A value by the name that it has in experiments: a counter, a number of the run itself, or "energy.NAME"; NaN if there is
 * none. */
double result_value(const struct json_value *run, const char *name);
/* A parameter; NaN if it is no number or not in use. */
double result_parameter(const struct json_value *run, const char *key);

#endif
