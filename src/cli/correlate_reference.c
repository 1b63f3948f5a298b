#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/csv.h"
#include "cli/correlate.h"
#include "lab/expression.h"

static const struct correlate_metric known_metrics[] = {
#define METRIC(name, ours, theirs, whole, share, bound, mean_bound) \
    {name, ours, theirs, whole, share, bound, mean_bound},
#include "cli/correlate.def"
#undef METRIC
};

/* --- tables --- */

static char *path_in(const struct reference *reference, const char *name) {
    char *path = text_format("%s/%s", reference->folder, name);
    char *kept = arena_text(reference->arena, path, strlen(path));
    free(path);
    return kept;
}

/* A row of a table with the given number of columns; line breaks inside quotes are rare enough to count as one line. */
static const char **take_row(struct arena *arena, const char *file, char **at, unsigned line, unsigned columns,
                             struct error *err) {
    const char **fields = arena_alloc(arena, columns, sizeof *fields);
    char end = ',';
    for (unsigned i = 0; i < columns; i++) {
        if (end != ',') return error_at(err, file, line, 1, "this row has %u of %u columns", i, columns), NULL;
        fields[i] = csv_take(at, &end);
    }
    if (end == ',') return error_at(err, file, line, 1, "this row has more than %u columns", columns), NULL;
    return fields;
}

struct table {
    const char *file, **column;
    unsigned columns;
    char *at; /* the rows */
};

static bool table_open(struct table *table, struct arena *arena, const char *file, struct error *err) {
    size_t bytes;
    char end = ',';
    *table = (struct table){.file = file, .at = arena_file(arena, file, &bytes, err)};
    if (!table->at) return false;
    while (end == ',') *(const char **)ARENA_APPEND(arena, table->column, table->columns) = csv_take(&table->at, &end);
    return true;
}

static bool table_begins(const struct table *table, const char *first, const char *second) {
    return table->columns >= 2 && strcmp(table->column[0], first) == 0 && strcmp(table->column[1], second) == 0;
}

/* --- machines --- */

/* The parts of a text that blanks separate. */
static const char *const *split(struct arena *arena, const char *text, unsigned *count) {
    const char **words = NULL;
    for (*count = 0; *(text += strspn(text, " ")); text += strcspn(text, " "))
        *(const char **)ARENA_APPEND(arena, words, *count) = arena_text(arena, text, strcspn(text, " "));
    return words;
}

static bool read_machines(struct reference *reference, struct error *err) {
    enum { COLUMNS = 3 };
    struct table table;
    char *file = path_in(reference, "machines.csv");
    if (access(file, F_OK) != 0)
        return error_set(err, "%s: there is no such file; it has the columns machine,gpu,settings (docs/correlate.md)",
                         file);
    if (!table_open(&table, reference->arena, file, err)) return false;
    if (!table_begins(&table, "machine", "gpu") || table.columns != COLUMNS ||
        strcmp(table.column[COLUMNS - 1], "settings") != 0)
        return error_at(err, file, 1, 1, "the columns must be machine,gpu,settings");
    for (unsigned line = 2; *table.at; line++) {
        const char **field = take_row(reference->arena, file, &table.at, line, COLUMNS, err);
        if (!field) return false;
        struct reference_machine *machine =
            ARENA_APPEND(reference->arena, reference->machine, reference->machine_count);
        char *gpu = path_in(reference, field[1]); /* a file of the folder, or a GPU of Sluice */
        *machine = (struct reference_machine){.name = field[0], .gpu = access(gpu, F_OK) == 0 ? gpu : field[1]};
        machine->settings = split(reference->arena, field[2], &machine->setting_count);
    }
    return true;
}

static bool has_machine(const struct reference *reference, const char *name) {
    for (unsigned i = 0; i < reference->machine_count; i++)
        if (strcmp(reference->machine[i].name, name) == 0) return true;
    return false;
}

/* --- rows --- */

static bool is_chosen(const struct text_list *list, const char *name) {
    for (unsigned i = 0; i < list->count; i++)
        if (strcmp(list->text[i], name) == 0) return true;
    return list->count == 0;
}

static struct reference_row *row_of(struct reference *reference, const char *machine, const char *kernel) {
    for (unsigned i = 0; i < reference->row_count; i++)
        if (strcmp(reference->row[i].machine, machine) == 0 && strcmp(reference->row[i].kernel, kernel) == 0)
            return &reference->row[i];
    struct reference_row *row = ARENA_APPEND(reference->arena, reference->row, reference->row_count);
    row->machine = machine;
    row->kernel = kernel;
    return row;
}

static bool add_table(struct reference *reference, struct table *table, const struct correlate_filter *filter,
                      struct error *err) {
    for (unsigned line = 2; *table->at; line++) {
        const char **field = take_row(reference->arena, table->file, &table->at, line, table->columns, err);
        if (!field) return false;
        if (!is_chosen(filter->machines, field[0]) || !is_chosen(filter->kernels, field[1])) continue;
        if (!has_machine(reference, field[0]))
            return error_at(err, table->file, line, 1, "%s/machines.csv has no row for machine `%s`", reference->folder,
                            field[0]);
        char *name = text_format("launch/%s.yaml", field[1]), *launch = path_in(reference, name);
        free(name);
        if (access(launch, F_OK) != 0) {
            reference->without_launch++;
            continue;
        }
        struct reference_row *row = row_of(reference, field[0], field[1]);
        struct reference_part *part = arena_alloc(reference->arena, 1, sizeof *part);
        *part = (struct reference_part){table->file, line, table->columns, table->column, field, row->parts};
        row->parts = part;
        row->launch = launch;
    }
    return true;
}

static bool read_rows(struct reference *reference, const struct correlate_filter *filter, struct error *err) {
    glob_t found = {0};
    bool good = true;
    if (glob(path_in(reference, "*.csv"), 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && good; i++) {
            struct table table;
            const char *file = arena_text(reference->arena, found.gl_pathv[i], strlen(found.gl_pathv[i]));
            good = table_open(&table, reference->arena, file, err) &&
                   (!table_begins(&table, "machine", "kernel") || add_table(reference, &table, filter, err));
        }
    globfree(&found);
    return good;
}

/* Every name of a filter must occur. */
static bool names_occur(const struct reference *reference, const struct text_list *list, const char *option,
                        struct error *err) {
    for (unsigned i = 0; i < list->count; i++) {
        bool found = false;
        for (unsigned k = 0; k < reference->row_count; k++)
            found |= strcmp(list->text[i], *option == 'm' ? reference->row[k].machine : reference->row[k].kernel) == 0;
        if (!found)
            return error_set(err, "--%s %s: no selected row of %s has this name and a launch file", option,
                             list->text[i], reference->folder);
    }
    return true;
}

static bool has_rows(const struct reference *reference, struct error *err) {
    return reference->row_count > 0 ||
           error_set(err,
                     "%s: nothing to compare: no row of its tables (*.csv that begin with machine,kernel) has a launch"
                     " file in launch/",
                     reference->folder);
}

/* --- metrics --- */

static bool has_column(const struct reference *reference, const char *name) {
    for (unsigned i = 0; i < reference->row_count; i++)
        for (const struct reference_part *part = reference->row[i].parts; part; part = part->next)
            for (unsigned k = 2; k < part->columns; k++)
                if (strcmp(part->column[k], name) == 0) return true;
    return false;
}

static void add_metric(struct reference *reference, const struct correlate_metric *metric) {
    *(struct correlate_metric *)ARENA_APPEND(reference->arena, reference->metric, reference->metric_count) = *metric;
}

/* A column of its own name, compared by relative error and without a bound. */
static void add_column(struct reference *reference, const char *name, const char *formula) {
    for (unsigned i = 0; i < reference->metric_count; i++)
        if (!reference->metric[i].theirs && strcmp(reference->metric[i].name, name) == 0) return;
    add_metric(reference,
               &(struct correlate_metric){
                   .name = name, .ours = formula, .whole = "", .share = "", .bound = NAN, .mean_bound = NAN});
}

static bool all_columns(const struct reference *reference, const char *formula) {
    struct error err = {0};
    unsigned at;
    struct expression *expression = expression_parse(formula, &at, &err);
    assert(expression); /* correlate.def */
    bool all = true;
    for (unsigned i = 0; expression_name(expression, i, NULL); i++)
        all &= has_column(reference, expression_name(expression, i, NULL));
    expression_free(expression);
    return all;
}

/* columns.csv: formulas over our counters for columns of other names. */
static bool read_columns(struct reference *reference, struct error *err) {
    struct table table;
    char *file = path_in(reference, "columns.csv");
    if (access(file, F_OK) != 0) return true;
    if (!table_open(&table, reference->arena, file, err)) return false;
    if (!table_begins(&table, "column", "formula") || table.columns != 2)
        return error_at(err, file, 1, 1, "the columns must be column,formula");
    for (unsigned line = 2; *table.at; line++) {
        const char **field = take_row(reference->arena, file, &table.at, line, 2, err);
        struct error inner = {0};
        unsigned at;
        if (!field) return false;
        struct expression *expression = expression_parse(field[1], &at, &inner);
        if (!expression)
            return error_at(err, file, line, 1, "formula `%s`: character %u: %s", field[1], at + 1, inner.text);
        expression_free(expression);
        if (has_column(reference, field[0])) add_column(reference, field[0], field[1]);
    }
    return true;
}

/* Known columns, those of columns.csv, and columns that have the name of a counter, which contains a dot. */
static bool find_metrics(struct reference *reference, struct error *err) {
    for (unsigned i = 0; i < COUNT_OF(known_metrics); i++)
        if (all_columns(reference, known_metrics[i].theirs)) add_metric(reference, &known_metrics[i]);
    if (!read_columns(reference, err)) return false;
    for (unsigned i = 0; i < reference->row_count; i++)
        for (const struct reference_part *part = reference->row[i].parts; part; part = part->next)
            for (unsigned k = 2; k < part->columns; k++) {
                struct error ignored = {0};
                unsigned at;
                struct expression *expression =
                    strchr(part->column[k], '.') ? expression_parse(part->column[k], &at, &ignored) : NULL;
                if (expression) add_column(reference, part->column[k], part->column[k]);
                expression_free(expression);
            }
    return reference->metric_count > 0 ||
           error_set(err, "%s: no column has a counterpart; columns.csv can define one (docs/correlate.md)",
                     reference->folder);
}

/* Leaves only the metrics of the filter, in their order. */
static bool choose_metrics(struct reference *reference, const struct text_list *wanted, struct error *err) {
    for (unsigned i = 0; i < wanted->count; i++) {
        const char **names = arena_alloc(reference->arena, reference->metric_count, sizeof *names);
        bool found = false;
        for (unsigned k = 0; k < reference->metric_count; k++) {
            names[k] = reference->metric[k].name;
            found |= strcmp(wanted->text[i], names[k]) == 0;
        }
        if (found) continue;
        const char *near = nearest_name(wanted->text[i], names, reference->metric_count);
        return error_set(err, "--metric %s: no column of %s has this metric; did you mean `%s`?", wanted->text[i],
                         reference->folder, near ? near : names[0]);
    }
    unsigned left = 0;
    for (unsigned k = 0; k < reference->metric_count; k++)
        if (is_chosen(wanted, reference->metric[k].name)) reference->metric[left++] = reference->metric[k];
    reference->metric_count = left;
    return true;
}

static bool formula_uses(const char *formula, const char *column) {
    struct error err = {0};
    unsigned at;
    struct expression *expression = *formula ? expression_parse(formula, &at, &err) : NULL;
    const char *name;
    bool used = false;
    for (unsigned i = 0; expression && (name = expression_name(expression, i, NULL)); i++)
        used |= strcmp(name, column) == 0;
    expression_free(expression);
    return used;
}

static bool is_used(const struct reference *reference, const char *column) {
    for (unsigned i = 0; i < reference->metric_count; i++) {
        const struct correlate_metric *metric = &reference->metric[i];
        if (!metric->theirs && strcmp(metric->name, column) == 0) return true;
        if (metric->theirs && (formula_uses(metric->theirs, column) || formula_uses(metric->whole, column)))
            return true;
    }
    return false;
}

/* The fields of metrics are numbers or empty. */
static bool fields_are_good(const struct reference *reference, struct error *err) {
    for (unsigned i = 0; i < reference->row_count; i++)
        for (const struct reference_part *part = reference->row[i].parts; part; part = part->next)
            for (unsigned k = 2; k < part->columns; k++) {
                char *end;
                strtod(part->field[k], &end);
                if (*end && is_used(reference, part->column[k]))
                    return error_at(err, part->file, part->line, 1, "column %s: `%s` is not a number", part->column[k],
                                    part->field[k]);
            }
    return true;
}

bool reference_read(struct reference *reference, const char *folder, const struct correlate_filter *filter,
                    struct error *err) {
    *reference = (struct reference){.arena = reference->arena, .folder = folder};
    if (access(path_in(reference, "launch"), F_OK) != 0)
        return error_set(err, "%s: it has no directory launch/ with launch files (docs/correlate.md)", folder);
    return read_machines(reference, err) && read_rows(reference, filter, err) &&
           names_occur(reference, filter->machines, "machine", err) &&
           names_occur(reference, filter->kernels, "kernel", err) && has_rows(reference, err) &&
           find_metrics(reference, err) && choose_metrics(reference, filter->metrics, err) &&
           fields_are_good(reference, err);
}
