/* The expression of a metric over a run's counters, "100 * llc.read_misses / (llc.read_hits + llc.read_misses)".
 *
 *     choice   = sum {"?" sum}                 the first with a value
 *     sum      = product {("+" | "-") product}
 *     product  = factor {("*" | "/") factor}
 *     factor   = number | name | "-" factor | "(" choice ")" | function "(" choice ")"
 *     function = "largest" | "average" | "total"   over the units (SMs, slices, ...) of the names inside
 *
 * A name without a value and a division by zero make the expression NaN. `?` combines designs with different
 * counters in one figure: "a.estimate ? b.measured". Not supported: comparisons, powers, functions of several
 * arguments. */
#ifndef SLUICE_LAB_EXPRESSION_H
#define SLUICE_LAB_EXPRESSION_H

#include <stdbool.h>

#include "base/error.h"

struct expression;

/* NULL with an error, at offset *at of the text. */
struct expression *expression_parse(const char *text, unsigned *at, struct error *err);
void expression_free(struct expression *expression);

/* Whether it has a function over units. */
bool expression_spans_units(const struct expression *expression);

/* Names in the order of the text, with repetition; NULL after the last. *at, if not NULL, is the offset. */
const char *expression_name(const struct expression *expression, unsigned index, unsigned *at);

/* Resolves names to values, of the whole run (`unit` < 0) or of one unit. False: no value. */
struct expression_view {
    bool (*value)(void *user, const char *name, int unit, double *value);
    unsigned (*units)(void *user, const char *name); /* 0: the name has only one value */
    void *user;
};
double expression_value(const struct expression *expression, const struct expression_view *view);
/* The same for one unit: names with units have the value of that unit, others their only value. */
double expression_unit_value(const struct expression *expression, const struct expression_view *view, int unit);
/* The largest number of units of its names. */
unsigned expression_units(const struct expression *expression, const struct expression_view *view);

#endif
