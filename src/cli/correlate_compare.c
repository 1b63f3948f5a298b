/* Errors of each kernel, agreement over the kernels of a machine, and the bounds of --check. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/correlate.h"
#include "lab/expression.h"

static bool our_value(void *user, const char *name, int unit, double *value) {
    (void)unit;
    *value = result_value(user, name);
    return !isnan(*value);
}

/* A field that is no number has no value. */
static bool their_value(void *user, const char *name, int unit, double *value) {
    (void)unit;
    for (const struct reference_part *part = user; part; part = part->next)
        for (unsigned i = 2; i < part->columns; i++) {
            char *end;
            if (strcmp(part->column[i], name) != 0) continue;
            *value = strtod(part->field[i], &end);
            return end != part->field[i] && *end == '\0' && isfinite(*value);
        }
    return false;
}

static unsigned no_units(void *user, const char *name) {
    (void)user, (void)name;
    return 0;
}

static double evaluate(const char *formula, const struct expression_view *view) {
    struct error err = {0};
    unsigned at;
    struct expression *expression = expression_parse(formula, &at, &err);
    assert(expression); /* checked when it was read */
    double value = expression_value(expression, view);
    expression_free(expression);
    return value;
}

static double error_of(const struct correlate_metric *metric, double ours, double theirs,
                       const struct expression_view *columns) {
    double whole = *metric->whole ? evaluate(metric->whole, columns) : theirs;
    if (isnan(ours) || isnan(theirs) || isnan(whole)) return NAN;
    if (ours == theirs) return 0;
    return whole > 0 ? (ours - theirs) / whole : 1; /* counts where the reference has none */
}

void correlate_evaluate(struct reference *reference) {
    for (unsigned i = 0; i < reference->row_count; i++) {
        struct reference_row *row = &reference->row[i];
        row->value = arena_alloc(reference->arena, reference->metric_count, sizeof *row->value);
        struct expression_view counters = {our_value, no_units, (void *)(uintptr_t)row->result};
        struct expression_view columns = {their_value, no_units, (void *)(uintptr_t)row->parts};
        for (unsigned m = 0; m < reference->metric_count; m++) {
            const struct correlate_metric *metric = &reference->metric[m];
            struct comparison_value *value = &row->value[m];
            value->ours = row->result ? evaluate(metric->ours, &counters) : NAN;
            value->theirs = NAN;
            if (metric->theirs)
                value->theirs = evaluate(metric->theirs, &columns);
            else if (!their_value(columns.user, metric->name, -1, &value->theirs))
                value->theirs = NAN;
            value->error = error_of(metric, value->ours, value->theirs, &columns);
        }
    }
}

/* Sums for the correlation of two variables. */
struct sums {
    double n, x, y, xx, yy, xy;
};

static void sums_add(struct sums *sums, double x, double y) {
    sums->n++;
    sums->x += x;
    sums->y += y;
    sums->xx += x * x;
    sums->yy += y * y;
    sums->xy += x * y;
}

static double sums_correlation(const struct sums *s) {
    double variances = (s->n * s->xx - s->x * s->x) * (s->n * s->yy - s->y * s->y);
    return s->n > 2 && variances > 1e-12 ? (s->n * s->xy - s->x * s->y) / sqrt(variances) : NAN;
}

struct correlate_summary correlate_summarise(const struct reference *reference, const char *machine, unsigned metric) {
    struct correlate_summary summary = {.largest_kernel = ""};
    struct sums sums = {0};
    for (unsigned i = 0; i < reference->row_count; i++) {
        const struct reference_row *row = &reference->row[i];
        const struct comparison_value *value = &row->value[metric];
        if (strcmp(row->machine, machine) != 0 || isnan(value->error)) continue;
        summary.kernels++;
        summary.mean += fabs(value->error);
        if (fabs(value->error) > summary.largest) {
            summary.largest = fabs(value->error);
            summary.largest_kernel = row->kernel;
        }
        if (value->ours > 0 && value->theirs > 0) sums_add(&sums, log(value->ours), log(value->theirs));
    }
    if (summary.kernels) summary.mean /= summary.kernels;
    summary.correlation = sums_correlation(&sums);
    return summary;
}

/* The description of an error above its bound, or NULL. */
static char *violation(const struct reference_row *row, const struct correlate_metric *metric,
                       const struct comparison_value *value) {
    if (isnan(value->error) || isnan(metric->bound) || fabs(value->error) <= metric->bound) return NULL;
    if (metric->bound == 0)
        return text_format("%s on %s: %s differ: %.0f, reference %.0f", row->kernel, row->machine, metric->name,
                           value->ours, value->theirs);
    return text_format("%s on %s: %s are %.1f %%%s off", row->kernel, row->machine, metric->name, 100 * value->error,
                       metric->share);
}

unsigned correlate_violations(const struct reference *reference, void (*each)(void *user, const char *text),
                              void *user) {
    unsigned count = 0;
    for (unsigned i = 0; i < reference->row_count; i++)
        for (unsigned m = 0; m < reference->metric_count; m++) {
            char *text = violation(&reference->row[i], &reference->metric[m], &reference->row[i].value[m]);
            if (!text) continue;
            each(user, text);
            free(text);
            count++;
        }
    for (unsigned i = 0; i < reference->machine_count; i++)
        for (unsigned m = 0; m < reference->metric_count; m++) {
            const struct correlate_metric *metric = &reference->metric[m];
            struct correlate_summary summary = correlate_summarise(reference, reference->machine[i].name, m);
            if (!summary.kernels || isnan(metric->mean_bound) || summary.mean <= metric->mean_bound) continue;
            char *text = text_format("%s: %s are %.1f %%%s off on average", reference->machine[i].name, metric->name,
                                     100 * summary.mean, metric->share);
            each(user, text);
            free(text);
            count++;
        }
    return count;
}
