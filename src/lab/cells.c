#include "lab/cells.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "lab/composition.h"

/* --- runs --- */

static unsigned view_units(void *user, const char *name) {
    const double *values;
    return stored_run_units(user, name, &values);
}

static bool view_value(void *user, const char *name, int unit, double *value) {
    if (unit < 0) return stored_run_value(user, name, value);
    const double *values;
    if ((unsigned)unit >= stored_run_units(user, name, &values)) return false;
    *value = values[unit];
    return true;
}

struct expression_view stored_run_view(struct stored_run *run) {
    return (struct expression_view){view_value, view_units, run};
}

/* A cell's run, or a composition of several, and its programs' runs alone, which are the units of `alone.*` names. */
struct cell_runs {
    struct stored_run *run, *alone[PROGRAMS_MAX];
    const struct composition *composition; /* replaces the run; or NULL */
    unsigned programs;                     /* 0: no metric uses `alone.*` */
};

static unsigned cell_units(void *user, const char *name) {
    const struct cell_runs *runs = user;
    if (!plan_alone_name(name)) return runs->composition ? 0 : view_units(runs->run, name);
    return runs->programs > 1 ? runs->programs : 0;
}

static bool cell_value(void *user, const char *name, int unit, double *value) {
    const struct cell_runs *runs = user;
    const char *alone = plan_alone_name(name);
    if (!alone && runs->composition) return composition_value(runs->composition, name, value);
    if (!alone) return view_value(runs->run, name, unit, value);
    if (unit >= 0) return (unsigned)unit < runs->programs && view_value(runs->alone[unit], alone, -1, value);
    double sum = 0, one;
    for (unsigned i = 0; i < runs->programs; i++) {
        if (!view_value(runs->alone[i], alone, -1, &one)) return false;
        sum += one;
    }
    *value = sum;
    return runs->programs > 0;
}

/* False if one is missing. */
static bool get_alone(struct cell_runs *runs, const struct plan *plan, struct store *store, unsigned workload,
                      unsigned point, unsigned seed) {
    for (int index;
         runs->programs < PROGRAMS_MAX && (index = plan_find_alone(plan, workload, point, seed, runs->programs)) >= 0;
         runs->programs++) {
        runs->alone[runs->programs] = stored_run_get(store, plan->runs[index].identity);
        if (!runs->alone[runs->programs]) return false;
    }
    return true;
}

static unsigned cell_index(const struct cells *cells, unsigned workload, unsigned design, unsigned point,
                           unsigned seed) {
    unsigned of_seed = (workload * cells->plan->experiment->design_count + design) * cells->points + point;
    return of_seed * cells->seeds + seed;
}

static unsigned cell_count(const struct cells *cells) {
    const struct experiment *experiment = cells->plan->experiment;
    return experiment->workload_count * experiment->design_count * cells->points * cells->seeds;
}

static double *raw_value(const struct cells *cells, unsigned metric, unsigned cell) {
    return &cells->raw[metric * cell_count(cells) + cell];
}

static void fill_cell(struct cells *cells, unsigned cell, int run_index, struct cell_runs *runs) {
    const struct experiment *experiment = cells->plan->experiment;
    struct expression_view view = {cell_value, cell_units, runs};
    cells->run[cell] = run_index;
    for (unsigned m = 0; m < experiment->metric_count; m++)
        *raw_value(cells, m, cell) = expression_value(experiment->metrics[m].value, &view);
}

/* The candidates of a cell, or its only run, and the index of the first in the plan. */
struct search {
    const struct lab_design *design;
    struct stored_run **found;
    unsigned count, first;
};

/* "16"; for several launches "16, 1". */
static char *choice_text(const struct search *search, const unsigned *chosen, unsigned launches) {
    enum { TOLD = 8 };
    char *text = mem_text("");
    for (unsigned i = 0; i < launches && i < TOLD; i++) {
        char *longer = text_format("%s%s%s", text, i ? ", " : "", search->design->best.values[chosen[i]]);
        free(text);
        text = longer;
    }
    if (launches <= TOLD) return text;
    char *longer = text_format("%s, ... (%u launches)", text, launches);
    free(text);
    return longer;
}

/* The best run by the first metric; the first one on a tie. */
static void take_best_run(struct cells *cells, unsigned cell, const struct search *search, struct cell_runs *runs) {
    const struct lab_metric *metric = &cells->plan->experiment->metrics[0];
    struct expression_view view = {cell_value, cell_units, runs};
    unsigned best = 0;
    double most = NAN;
    for (unsigned c = 0; c < search->count; c++) {
        runs->run = search->found[c];
        double value = expression_value(metric->value, &view);
        if (c == 0 || isnan(most) || (metric->more_is_better ? value > most : value < most)) best = c, most = value;
    }
    runs->run = search->found[best];
    fill_cell(cells, cell, (int)(search->first + best), runs);
    if (search->design->best.count) cells->choice[cell] = choice_text(search, &best, 1);
}

/* The fastest part for each launch. If all are of one run, the cell shows that run. */
static void take_best_parts(struct cells *cells, unsigned cell, const struct search *search, struct cell_runs *runs) {
    struct composition composition;
    struct error why = {0};
    if (!composition_make(&composition, search->found, search->count, cells->plan->experiment->max_insts > 0, &why)) {
        cells->choice[cell] = text_format("missing: %s", why.text);
        return;
    }
    int only = composition_only(&composition);
    if (only >= 0)
        runs->run = search->found[only];
    else
        runs->composition = &composition;
    fill_cell(cells, cell, only >= 0 ? (int)search->first + only : CELL_COMPOSED, runs);
    cells->choice[cell] = choice_text(search, composition.chosen, only >= 0 ? 1 : composition.launches);
    composition_release(&composition);
}

/* A search has a result only if all of its candidates are stored. */
static void load_cell(struct cells *cells, struct store *store, unsigned workload, unsigned design, unsigned point,
                      unsigned seed) {
    const struct plan *plan = cells->plan;
    unsigned cell = cell_index(cells, workload, design, point, seed);
    struct search search = {.design = &plan->experiment->designs[design],
                            .first = plan_find(plan, workload, design, point, seed, -1)};
    struct cell_runs runs = {0};
    bool there = get_alone(&runs, plan, store, workload, point, seed);
    search.count = search.design->best.count ? search.design->best.count : 1;
    search.found = mem_alloc(search.count, sizeof(struct stored_run *));
    cells->run[cell] = CELL_MISSING;
    for (unsigned c = 0; there && c < search.count; c++)
        there = (search.found[c] = stored_run_get(store, plan->runs[search.first + c].identity)) != NULL;
    if (there) (search.design->best_for == LAB_KERNEL ? take_best_parts : take_best_run)(cells, cell, &search, &runs);
    for (unsigned c = 0; c < search.count; c++) stored_run_free(search.found[c]);
    free(search.found);
    for (unsigned i = 0; i < PROGRAMS_MAX; i++) stored_run_free(runs.alone[i]);
}

void cells_load(struct cells *cells, const struct plan *plan, struct store *store) {
    const struct experiment *experiment = plan->experiment;
    *cells =
        (struct cells){.plan = plan, .points = experiment_points(experiment), .seeds = experiment_seeds(experiment)};
    cells->run = mem_alloc(cell_count(cells), sizeof *cells->run);
    cells->choice = mem_alloc(cell_count(cells), sizeof *cells->choice);
    cells->raw = mem_alloc((size_t)experiment->metric_count * cell_count(cells), sizeof *cells->raw);
    for (unsigned w = 0; w < experiment->workload_count; w++)
        for (unsigned d = 0; d < experiment->design_count; d++)
            for (unsigned p = 0; p < cells->points; p++)
                for (unsigned s = 0; s < cells->seeds; s++) load_cell(cells, store, w, d, p, s);
}

void cells_release(struct cells *cells) {
    for (unsigned i = 0; i < cell_count(cells); i++) free(cells->choice[i]);
    free(cells->choice);
    free(cells->raw);
    free(cells->run);
}

int cells_run(const struct cells *cells, unsigned workload, unsigned design, unsigned point) {
    return cells->run[cell_index(cells, workload, design, point, 0)];
}

const char *cells_choice(const struct cells *cells, unsigned workload, unsigned design, unsigned point) {
    return cells->choice[cell_index(cells, workload, design, point, 0)];
}

/* --- relations --- */

static bool is_ratio(enum lab_relation relation) { return relation != LAB_PLAIN && relation != LAB_DIFFERENCE; }

/* Relation to the baseline as a ratio, not yet in per cent: means are computed over ratios. False: a run is missing. */
static bool related(const struct cells *cells, unsigned metric, enum lab_relation relation, unsigned workload,
                    unsigned design, unsigned point, unsigned seed, double *value) {
    int baseline = cells->plan->experiment->metrics[metric].baseline;
    unsigned cell = cell_index(cells, workload, design, point, seed);
    *value = *raw_value(cells, metric, cell);
    if (cells->run[cell] == CELL_MISSING) return false;
    if (relation == LAB_PLAIN) return true;
    unsigned base_cell = cell_index(cells, workload, (unsigned)baseline, point, seed);
    double base = *raw_value(cells, metric, base_cell);
    *value = relation == LAB_DIFFERENCE ? *value - base : base == 0 ? NAN : *value / base;
    return cells->run[base_cell] != CELL_MISSING;
}

static double as_stated(enum lab_relation relation, double value) {
    return relation == LAB_GAIN ? 100 * (value - 1) : relation == LAB_REDUCTION ? 100 * (1 - value) : value;
}

/* --- means --- */

struct tally {
    unsigned count;
    double sum, log_sum, inverse_sum, largest, smallest;
};

static void tally_add(struct tally *tally, double value) {
    tally->largest = tally->count ? fmax(tally->largest, value) : value;
    tally->smallest = tally->count ? fmin(tally->smallest, value) : value;
    tally->count++;
    tally->sum += value;
    tally->log_sum += log(value); /* NaN or infinite for values that are not positive, as is the mean */
    tally->inverse_sum += 1 / value;
}

static double tally_mean(const struct tally *tally, enum lab_mean mean) {
    double value = tally->sum / tally->count;
    if (mean == LAB_MEAN_GEOMETRIC) value = exp(tally->log_sum / tally->count);
    if (mean == LAB_MEAN_HARMONIC) value = tally->count / tally->inverse_sum;
    if (tally->count == 1) return tally->sum; /* exact */
    bool defined = tally->count && (mean == LAB_MEAN_ARITHMETIC || tally->smallest > 0);
    return defined ? value : NAN;
}

/* The metric's mean if it fits the relation. */
static enum lab_mean mean_for(const struct lab_metric *metric, enum lab_relation relation) {
    if (metric->mean != LAB_MEAN_NONE && is_ratio(relation) == is_ratio(metric->relation)) return metric->mean;
    return is_ratio(relation) ? LAB_MEAN_GEOMETRIC : LAB_MEAN_ARITHMETIC;
}

static double seed_statistic(const struct cells *cells, unsigned metric, enum lab_relation relation,
                             enum lab_statistic statistic, unsigned design, struct cell_set set, unsigned seed) {
    const struct experiment *experiment = cells->plan->experiment;
    struct tally tally = {0};
    for (unsigned w = 0; w < experiment->workload_count; w++) {
        if (set.workload >= 0 && w != (unsigned)set.workload) continue;
        if (set.group >= 0 && experiment->workloads[w].group != (unsigned)set.group) continue;
        for (unsigned p = 0; p < cells->points; p++) {
            double value;
            if (set.point >= 0 && p != (unsigned)set.point) continue;
            if (!related(cells, metric, relation, w, design, p, seed, &value)) return NAN;
            if (!isnan(value)) tally_add(&tally, value);
        }
    }
    if (tally.count == 0) return NAN;
    if (statistic == LAB_STATISTIC_MEAN)
        return as_stated(relation, tally_mean(&tally, mean_for(&experiment->metrics[metric], relation)));
    double largest = as_stated(relation, tally.largest), smallest = as_stated(relation, tally.smallest);
    return statistic == LAB_STATISTIC_MAXIMUM ? fmax(largest, smallest) : fmin(largest, smallest);
}

struct cell_value cells_value(const struct cells *cells, unsigned metric, enum lab_relation relation,
                              enum lab_statistic statistic, unsigned design, struct cell_set set) {
    struct cell_value value = {NAN, NAN, NAN};
    double sum = 0;
    for (unsigned seed = 0; seed < cells->seeds; seed++) {
        double one = seed_statistic(cells, metric, relation, statistic, design, set, seed);
        value.low = fmin(value.low, one); /* ignores NaN */
        value.high = fmax(value.high, one);
        sum += one;
    }
    value.mean = cells->seeds == 1 ? sum : sum / cells->seeds;
    return value;
}

double cells_statistic(const struct cells *cells, unsigned metric, enum lab_relation relation,
                       enum lab_statistic statistic, unsigned design, struct cell_set set) {
    return cells_value(cells, metric, relation, statistic, design, set).mean;
}
