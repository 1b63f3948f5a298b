/* A metric as it is written: arithmetic over a run's counters, "100 * llc.read_misses / (llc.read_hits + llc.read_misses)".
 *
 *     choice   = sum {"?" sum}                 the first that has a value
 *     sum      = product {("+" | "-") product}
 *     product  = factor {("*" | "/") factor}
 *     factor   = number | name | "-" factor | "(" choice ")" | function "(" choice ")"
 *     function = "largest" | "average" | "total"   over the units (SMs, slices, ...) that the names inside have
 *
 * A name that has no value, and a division by zero, make the whole a NaN: there is nothing to show. `?` lets designs that count
 * different things stand in one figure: "a.estimate ? b.measured". Deliberately left out: comparisons, powers, more than one number to a function. */
#ifndef SLUICE_LAB_EXPRESSION_H
#define SLUICE_LAB_EXPRESSION_H

#include <stdbool.h>

#include "base/error.h"

struct expression;

/* NULL with an error, and *at where in the text it is. */
struct expression *expression_parse(const char *text, unsigned *at, struct error *err);
void expression_free(struct expression *expression);

/* Names in the order in which they stand, with repetition; NULL after the last. *at, if not NULL, is where. */
const char *expression_name(const struct expression *expression, unsigned index, unsigned *at);

/* Where names get their values: of the whole run (`unit` below 0), or of one of its units. False: there is none. */
struct expression_view {
    bool (*value)(void *user, const char *name, int unit, double *value);
    unsigned (*units)(void *user, const char *name); /* 0: the name has only one value */
    void *user;
};
double expression_value(const struct expression *expression, const struct expression_view *view);
/* The same of unit `unit`: names with units stand for that unit's value, others for their only one. */
double expression_unit_value(const struct expression *expression, const struct expression_view *view, int unit);
/* The largest number of units that a name in it has. */
unsigned expression_units(const struct expression *expression, const struct expression_view *view);

#endif
