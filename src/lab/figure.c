#include "lab/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "lab/cells.h"
#include "lab/finding.h"
#include "lab/papers.h"

struct making {
    struct figure *figure;
    const struct experiment *experiment;
    struct arena *arena;
    struct cells cells;
    struct store *store;
};

/* --- labels --- */

static char *keep(const struct making *making, const char *text) {
    return arena_text(making->arena, text, strlen(text));
}

/* "first", or "first, second". */
static char *label_join(const struct making *making, const char *first, const char *second) {
    size_t length = strlen(first);
    char *label = arena_alloc(making->arena, length + strlen(second) + 3, 1);
    sprintf(label, "%s%s%s", first, *first && *second ? ", " : "", second);
    return label;
}

static char *point_label(const struct making *making, unsigned point) {
    char label[160];
    experiment_point_label(making->experiment, point, label, sizeof label);
    return keep(making, label);
}

static char *column_label(const struct making *making, unsigned design, unsigned point) {
    return label_join(making, making->experiment->designs[design].name, point_label(making, point));
}

/* With the size if it is not the experiment's and the workload has no label. */
static char *workload_label(const struct making *making, unsigned workload) {
    const struct lab_workload *of = &making->experiment->workloads[workload];
    const char *name = of->program[0].name, *size = of->program[0].size;
    if (of->label != name) return keep(making, of->label);
    char *label = text_format("%s:%s", name, size ? size : "");
    size_t length = size && strcmp(size, making->experiment->size) != 0 ? strlen(label) : strlen(name);
    char *kept = arena_text(making->arena, label, length);
    free(label);
    return kept;
}

/* --- sheets --- */

/* The subject of a row, or with LAB_LINES of a column. */
struct member {
    char *label;
    struct cell_set set;
    bool is_mean;
};

/* Workloads, then with `means` groups and all, under the label `all`. Returns the count. */
static unsigned list_members(const struct making *making, bool means, const char *all, struct member *members) {
    const struct experiment *experiment = making->experiment;
    unsigned count = 0, groups = experiment->group_count > 1 ? experiment->group_count : 0;
    for (unsigned i = 0; i < experiment->workload_count; i++)
        members[count++] = (struct member){workload_label(making, i), {-1, (int)i, -1}, false};
    for (unsigned i = 0; means && i < groups; i++)
        members[count++] = (struct member){keep(making, experiment->groups[i].name), {(int)i, -1, -1}, true};
    if (means && experiment->workload_count > 1)
        members[count++] = (struct member){keep(making, all), {-1, -1, -1}, true};
    return count;
}

static void sheet_size(const struct making *making, struct figure_sheet *sheet, unsigned rows, unsigned columns) {
    sheet->row_count = rows;
    sheet->column_count = columns;
    sheet->rows = arena_alloc(making->arena, rows, sizeof *sheet->rows);
    sheet->columns = arena_alloc(making->arena, columns, sizeof *sheet->columns);
    sheet->row_is_mean = arena_alloc(making->arena, rows, sizeof *sheet->row_is_mean);
    sheet->column_is_mean = arena_alloc(making->arena, columns, sizeof *sheet->column_is_mean);
    size_t cells = (size_t)rows * columns;
    sheet->value = arena_alloc(making->arena, cells, sizeof *sheet->value);
    if (making->cells.seeds == 1) return;
    sheet->low = arena_alloc(making->arena, cells, sizeof *sheet->low);
    sheet->high = arena_alloc(making->arena, cells, sizeof *sheet->high);
}

static struct cell_value member_value(const struct making *making, unsigned metric, const struct member *member,
                                      unsigned design, unsigned point) {
    struct cell_set set = member->set;
    set.point = (int)point;
    return cells_value(&making->cells, metric, making->experiment->metrics[metric].relation, LAB_STATISTIC_MEAN, design,
                       set);
}

static const char *unit_of(const struct lab_metric *metric) {
    if (metric->relation == LAB_GAIN || metric->relation == LAB_REDUCTION) return "%";
    return metric->relation == LAB_RATIO ? "" : metric->unit;
}

/* "IPC, normalised to shared" */
static char *label_of(const struct making *making, const struct lab_metric *metric) {
    static const char *const relations[] = {[LAB_RATIO] = "normalised to",
                                            [LAB_GAIN] = "gain over",
                                            [LAB_REDUCTION] = "reduction from",
                                            [LAB_DIFFERENCE] = "difference from"};
    if (metric->relation == LAB_PLAIN || metric->baseline < 0) return keep(making, metric->name);
    char *label = text_format("%s, %s %s", metric->name, relations[metric->relation],
                              making->experiment->designs[metric->baseline].name);
    char *kept = keep(making, label);
    free(label);
    return kept;
}

/* Rows are members and columns designs by points; with LAB_LINES, rows are points and columns designs by members. */
static void make_sheet(const struct making *making, unsigned metric, struct figure_sheet *sheet) {
    const struct experiment *experiment = making->experiment;
    bool lines = experiment->kind == LAB_LINES;
    bool means = experiment->metrics[metric].mean != LAB_MEAN_NONE || experiment->kind == LAB_STACK;
    unsigned most = experiment->workload_count + experiment->group_count + 1, points = making->cells.points;
    struct member *members = mem_alloc(most, sizeof *members);
    unsigned count = list_members(making, means, lines ? "mean" : "all", members);
    sheet->metric = experiment->metrics[metric].name;
    sheet->label = label_of(making, &experiment->metrics[metric]);
    sheet->unit = unit_of(&experiment->metrics[metric]);
    sheet_size(making, sheet, lines ? points : count, experiment->design_count * (lines ? count : points));
    for (unsigned m = 0; m < count; m++)
        for (unsigned d = 0; d < experiment->design_count; d++)
            for (unsigned p = 0; p < points; p++) {
                unsigned row = lines ? p : m, column = lines ? d * count + m : d * points + p;
                const char *member = count == 1 ? "" : members[m].label;
                struct cell_value value = member_value(making, metric, &members[m], d, p);
                size_t cell = (size_t)row * sheet->column_count + column;
                sheet->value[cell] = value.mean;
                if (sheet->low) sheet->low[cell] = value.low, sheet->high[cell] = value.high;
                sheet->rows[row] = lines ? point_label(making, p) : members[m].label;
                sheet->columns[column] =
                    lines ? label_join(making, experiment->designs[d].name, member) : column_label(making, d, p);
                sheet->row_is_mean[row] = !lines && members[m].is_mean;
                sheet->column_is_mean[column] = lines && members[m].is_mean;
            }
    free(members);
}

/* --- papers --- */

static double neutral_of(enum lab_relation relation) {
    return relation == LAB_PLAIN ? NAN : relation == LAB_RATIO ? 1 : 0;
}

/* Converts between relations; NaN if one does not follow from the other. */
static double restate(double value, enum lab_relation from, enum lab_relation to) {
    if (from == to) return value;
    if (from == LAB_PLAIN || from == LAB_DIFFERENCE || to == LAB_PLAIN || to == LAB_DIFFERENCE) return NAN;
    double ratio = from == LAB_RATIO ? value : from == LAB_GAIN ? 1 + value / 100 : 1 - value / 100;
    return to == LAB_RATIO ? ratio : 100 * (to == LAB_GAIN ? ratio - 1 : 1 - ratio);
}

/* Finds the cell of a sheet that corresponds to the published value, if one does. */
static void find_cell(const struct making *making, const struct lab_paper_value *value, struct figure_paper *paper) {
    const struct experiment *experiment = making->experiment;
    const struct figure_sheet *sheet = &making->figure->sheets[value->metric];
    unsigned points = making->cells.points, groups = experiment->group_count > 1 ? experiment->group_count : 0;
    if (experiment->kind == LAB_LINES || value->statistic != LAB_STATISTIC_MEAN || (value->point < 0 && points > 1))
        return;
    int row = value->workload;
    if (row < 0) row = (int)experiment->workload_count + (value->group >= 0 && groups ? value->group : (int)groups);
    if ((unsigned)row >= sheet->row_count) return;
    paper->sheet = (int)value->metric;
    paper->row = row;
    paper->column = (int)(value->design * points) + (value->point < 0 ? 0 : value->point);
    paper->mark = restate(paper->paper, value->relation, experiment->metrics[value->metric].relation);
}

static bool make_papers(struct making *making, struct error *err) {
    const struct experiment *experiment = making->experiment;
    struct figure *figure = making->figure;
    struct papers *papers = experiment->paper_value_count ? papers_open(err) : NULL;
    if (!papers) return experiment->paper_value_count == 0;
    figure->papers = arena_alloc(making->arena, experiment->paper_value_count, sizeof *figure->papers);
    figure->paper_count = experiment->paper_value_count;
    for (unsigned i = 0; i < figure->paper_count; i++) {
        const struct lab_paper_value *value = &experiment->paper_values[i];
        const struct paper_result *result = papers_find(papers, value->id);
        const struct cell_set set = {value->group, value->workload, value->point};
        const struct cell_value ours =
            cells_value(&making->cells, value->metric, value->relation, value->statistic, value->design, set);
        bool repeated = making->cells.seeds > 1;
        figure->papers[i] = (struct figure_paper){
            .id = value->id,
            .where = keep(making, result->where),
            .what = label_join(making, result->metric, result->workloads),
            .scheme = keep(making, result->scheme),
            .unit = keep(making, result->unit),
            .said = keep(making, result->value),
            .paper = paper_number(result),
            .ours = ours.mean,
            .low = repeated ? ours.low : NAN,
            .high = repeated ? ours.high : NAN,
            .neutral = neutral_of(value->relation),
            .sheet = -1,
            .row = -1,
            .column = -1,
            .mark = NAN,
        };
        find_cell(making, value, &figure->papers[i]);
    }
    papers_close(papers);
    return true;
}

/* Sizes that are not those of a paper, if published values are compared: "small", "tiny and small", or "". */
static char *inputs_of(const struct making *making, const struct plan *plan) {
    static const char *const sizes[] = {":tiny", ":small"};
    bool found[COUNT_OF(sizes)] = {false};
    for (unsigned i = 0; making->figure->paper_count && i < plan->count; i++)
        for (unsigned s = 0; s < COUNT_OF(sizes); s++) found[s] |= strstr(plan->runs[i].job, sizes[s]) != NULL;
    char text[32];
    snprintf(text, sizeof text, "%s%s%s", found[0] ? "tiny" : "", found[0] && found[1] ? " and " : "",
             found[1] ? "small" : "");
    return keep(making, text);
}

/* --- searches --- */

static void make_choices(struct making *making) {
    const struct experiment *experiment = making->experiment;
    for (unsigned w = 0; w < experiment->workload_count; w++)
        for (unsigned d = 0; d < experiment->design_count; d++)
            for (unsigned p = 0; p < making->cells.points; p++) {
                const char *choice = cells_choice(&making->cells, w, d, p);
                if (!choice) continue;
                struct figure_choice *to =
                    ARENA_APPEND(making->arena, making->figure->choices, making->figure->choice_count);
                *to = (struct figure_choice){workload_label(making, w), column_label(making, d, p),
                                             experiment->designs[d].best.key, keep(making, choice)};
            }
}

/* --- heat maps --- */

static struct stored_run *get_run(const struct making *making, unsigned workload, unsigned design, unsigned point) {
    int index = cells_run(&making->cells, workload, design, point);
    return index < 0 ? NULL : stored_run_get(making->store, making->cells.plan->runs[index].identity);
}

/* All units of one run; a run with more units than before widens the matrix. */
static void fill_row(const struct making *making, struct figure_matrix *matrix, unsigned row, unsigned metric,
                     struct stored_run *run) {
    const struct expression *value = making->experiment->metrics[metric].value;
    struct expression_view view = stored_run_view(run);
    unsigned units = expression_units(value, &view);
    if (units > matrix->columns) {
        double *wider = arena_alloc(making->arena, (size_t)matrix->rows * units, sizeof *wider);
        for (size_t i = 0; i < (size_t)matrix->rows * units; i++) wider[i] = NAN;
        for (unsigned r = 0; r < row; r++)
            for (unsigned c = 0; c < matrix->columns; c++)
                wider[r * units + c] = matrix->value[r * matrix->columns + c];
        matrix->value = wider;
        matrix->columns = units;
    }
    for (unsigned c = 0; c < units; c++)
        matrix->value[row * matrix->columns + c] = expression_unit_value(value, &view, (int)c);
}

/* With one run per workload and several metrics, the metrics are the rows of one map. */
static bool maps_metrics(const struct making *making) {
    return making->experiment->metric_count > 1 && making->experiment->design_count * making->cells.points == 1;
}

static void make_matrix(struct making *making, unsigned metric, unsigned workload) {
    const struct experiment *experiment = making->experiment;
    unsigned points = making->cells.points;
    bool together = maps_metrics(making);
    char *of = workload_label(making, workload);
    struct figure_matrix matrix = {
        .title = together ? of : label_join(making, experiment->metrics[metric].name, of),
        .unit = keep(making, experiment->metrics[metric].unit),
        .rows = together ? experiment->metric_count : experiment->design_count * points,
    };
    matrix.row_labels = arena_alloc(making->arena, matrix.rows, sizeof *matrix.row_labels);
    for (unsigned row = 0; row < matrix.rows; row++) {
        unsigned cell = together ? 0 : row;
        struct stored_run *run = get_run(making, workload, cell / points, cell % points);
        matrix.row_labels[row] =
            together ? keep(making, experiment->metrics[row].name) : column_label(making, row / points, row % points);
        if (run) fill_row(making, &matrix, row, together ? row : metric, run);
        stored_run_free(run);
    }
    if (matrix.columns == 0) return; /* no run yet, or a metric without units */
    matrix.column_labels = arena_alloc(making->arena, matrix.columns, sizeof *matrix.column_labels);
    for (unsigned c = 0; c < matrix.columns; c++) {
        char number[16];
        snprintf(number, sizeof number, "%u", c);
        matrix.column_labels[c] = keep(making, number);
    }
    *(struct figure_matrix *)ARENA_APPEND(making->arena, making->figure->matrices, making->figure->matrix_count) =
        matrix;
}

/* --- time series --- */

/* A name of an expression over time: the increase of its counter in each sample. */
struct track {
    const char *name;
    const double *values;      /* NULL: not sampled */
    const double *unit_values; /* [samples][units]; NULL: not sampled per unit */
    unsigned units;
};

/* Consecutive samples of a run, combined into one. */
struct window {
    const struct track *tracks;
    const double *cycles; /* at the end of each sample */
    unsigned first, count;
};

static const struct track *track_of(const struct window *window, const char *name) {
    const struct track *track = window->tracks;
    while (strcmp(track->name, name) != 0) track++;
    return track;
}

/* The sum over the window; `cycles` is the window's length, and `ipc` is per cycle of it. */
static bool window_value(void *user, const char *name, int unit, double *value) {
    const struct window *window = user;
    const struct track *track = track_of(window, name);
    double cycles = window->cycles[window->first + window->count - 1];
    bool of_unit = unit >= 0 && track->units;
    if (!track->values || (of_unit && (unsigned)unit >= track->units)) return false;
    if (window->first) cycles -= window->cycles[window->first - 1];
    *value = 0;
    for (unsigned i = window->first; i < window->first + window->count; i++)
        *value += of_unit ? track->unit_values[(size_t)i * track->units + (unsigned)unit] : track->values[i];
    if (strcmp(name, "cycles") == 0) *value = cycles;
    if (strcmp(name, "ipc") == 0) *value /= cycles;
    return true;
}

static unsigned window_units(void *user, const char *name) { return track_of(user, name)->units; }

/* The counter of a result of the whole run. */
static const char *counter_of(const char *name) {
    static const char *const totals[][2] = {{"ipc", "sm.thread_instructions"},
                                            {"thread_instructions", "sm.thread_instructions"},
                                            {"warp_instructions", "sm.warp_instructions"},
                                            {"cycles", "sm.cycles"}};
    for (unsigned i = 0; i < COUNT_OF(totals); i++)
        if (strcmp(name, totals[i][0]) == 0) return totals[i][1];
    return name;
}

static struct track *find_tracks(const struct making *making, const struct expression *value, struct stored_run *run) {
    struct track *tracks = NULL;
    unsigned count = 0;
    const char *name;
    while ((name = expression_name(value, count, NULL))) {
        struct track *track = ARENA_APPEND(making->arena, tracks, count);
        const double *cycles;
        track->name = name;
        if (stored_run_series(run, counter_of(name), &cycles, &track->values) == 0) track->values = NULL;
        if (stored_run_unit_series(run, name, &track->units, &track->unit_values) == 0) track->units = 0;
    }
    return tracks;
}

static void make_line(struct making *making, unsigned metric, unsigned workload, unsigned design, unsigned point) {
    const struct lab_metric *of = &making->experiment->metrics[metric];
    struct stored_run *run = get_run(making, workload, design, point);
    const double *cycles, *values;
    unsigned samples = run ? stored_run_series(run, "sm.cycles", &cycles, &values) : 0;
    if (samples) {
        unsigned step = (unsigned)div_up(samples, FIGURE_LINE_MAX), count = (unsigned)div_up(samples, step);
        struct window window = {.tracks = find_tracks(making, of->value, run), .cycles = cycles};
        struct expression_view view = {window_value, window_units, &window};
        struct figure_line *line = ARENA_APPEND(making->arena, making->figure->lines, making->figure->line_count);
        *line = (struct figure_line){
            .title = label_join(making, of->name, workload_label(making, workload)),
            .series = column_label(making, design, point),
            .count = count,
            .x = arena_alloc(making->arena, count, sizeof *line->x),
            .y = arena_alloc(making->arena, count, sizeof *line->y),
        };
        for (unsigned i = 0; i < count; i++) {
            window.first = i * step;
            window.count = (unsigned)min_u64(step, samples - window.first);
            line->x[i] = cycles[window.first + window.count - 1];
            line->y[i] = expression_value(of->value, &view);
        }
    }
    stored_run_free(run);
}

/* --- heat maps over time --- */

/* The units of one run over time. */
static void make_map(struct making *making, unsigned metric, unsigned workload, unsigned design, unsigned point) {
    const struct lab_metric *of = &making->experiment->metrics[metric];
    struct stored_run *run = get_run(making, workload, design, point);
    const double *cycles = NULL, *values;
    unsigned samples = run ? stored_run_series(run, "sm.cycles", &cycles, &values) : 0;
    struct window window = {.tracks = samples ? find_tracks(making, of->value, run) : NULL, .cycles = cycles};
    struct expression_view view = {window_value, window_units, &window};
    unsigned units = samples ? expression_units(of->value, &view) : 0;
    if (units) {
        unsigned step = (unsigned)div_up(samples, FIGURE_MAP_MAX);
        struct figure_matrix map = {
            .title =
                label_join(making, of->name,
                           label_join(making, workload_label(making, workload), column_label(making, design, point))),
            .unit = keep(making, of->unit),
            .rows = units,
            .columns = (unsigned)div_up(samples, step),
        };
        map.row_labels = arena_alloc(making->arena, map.rows, sizeof *map.row_labels);
        map.column_labels = arena_alloc(making->arena, map.columns, sizeof *map.column_labels);
        map.value = arena_alloc(making->arena, (size_t)map.rows * map.columns, sizeof *map.value);
        char number[32];
        for (unsigned u = 0; u < units; u++) {
            snprintf(number, sizeof number, "%u", u);
            map.row_labels[u] = keep(making, number);
        }
        for (unsigned c = 0; c < map.columns; c++) {
            window.first = c * step;
            window.count = (unsigned)min_u64(step, samples - window.first);
            snprintf(number, sizeof number, "%.0f", cycles[window.first + window.count - 1]);
            map.column_labels[c] = keep(making, number);
            for (unsigned u = 0; u < units; u++)
                map.value[u * map.columns + c] = expression_unit_value(of->value, &view, (int)u);
        }
        *(struct figure_matrix *)ARENA_APPEND(making->arena, making->figure->matrices, making->figure->matrix_count) =
            map;
    }
    stored_run_free(run);
}

/* --- the whole --- */

static int identity_order(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Distinct runs that are not in the store. */
static unsigned count_missing(const struct plan *plan, struct store *store) {
    const char **identities = mem_alloc(plan->count, sizeof *identities);
    unsigned missing = 0;
    for (unsigned i = 0; i < plan->count; i++) identities[i] = plan->runs[i].identity;
    if (plan->count) qsort(identities, plan->count, sizeof *identities, identity_order);
    for (unsigned i = 0; i < plan->count; i++)
        if (i == 0 || strcmp(identities[i], identities[i - 1]) != 0) missing += !store_has(store, identities[i]);
    free(identities);
    return missing;
}

static void make_extras(struct making *making) {
    const struct experiment *experiment = making->experiment;
    for (unsigned m = 0; m < experiment->metric_count; m++)
        for (unsigned w = 0; w < experiment->workload_count; w++) {
            bool over_time = experiment->kind == LAB_SERIES || experiment_maps_time(experiment);
            bool shown = m > 0 && maps_metrics(making);
            if (experiment->kind == LAB_HEAT && !over_time && !shown) make_matrix(making, m, w);
            for (unsigned d = 0; over_time && d < experiment->design_count; d++)
                for (unsigned p = 0; p < making->cells.points; p++)
                    (experiment->kind == LAB_HEAT ? make_map : make_line)(making, m, w, d, p);
        }
}

struct figure *figure_make(const struct plan *plan, struct store *store, struct error *err) {
    struct arena *arena = arena_create();
    struct figure *figure = arena_alloc(arena, 1, sizeof *figure);
    struct making making = {.figure = figure, .experiment = plan->experiment, .arena = arena, .store = store};
    *figure = (struct figure){.experiment = plan->experiment, .arena = arena};
    cells_load(&making.cells, plan, store);
    figure->missing = count_missing(plan, store);
    figure->sheet_count = plan->experiment->metric_count;
    figure->sheets = arena_alloc(arena, figure->sheet_count, sizeof *figure->sheets);
    for (unsigned i = 0; i < figure->sheet_count; i++) make_sheet(&making, i, &figure->sheets[i]);
    make_choices(&making);
    make_extras(&making);
    char *finding = make_papers(&making, err) ? finding_write(figure, &making.cells, err) : NULL;
    bool good = finding && store_readable(store, err);
    if (good) {
        figure->finding = keep(&making, finding);
        figure->inputs = inputs_of(&making, plan);
        figure->configuration = keep(&making, plan->configuration);
    }
    free(finding);
    cells_release(&making.cells);
    if (good) return figure;
    figure_free(figure);
    return NULL;
}

void figure_free(struct figure *figure) {
    if (figure) arena_destroy(figure->arena);
}
