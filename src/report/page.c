/* The HTML report: page.html with its {{words}} replaced. The figures are embedded as JSON; page.js and charts.js build
 * charts, tooltips and tables from it, so that each value is in the file once. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/embed.h"
#include "base/json.h"
#include "base/output.h"
#include "report/report.h"

EMBED(report_html, "page.html");
EMBED(report_css, "page.css");
EMBED(report_charts, "charts.js");
EMBED(report_js, "page.js");

const char *const report_colours[REPORT_COLOURS] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                    "#56b4e9", "#d55e00", "#999999", "#f0e442"};

static const char *const kind_names[] = {
    [LAB_BARS] = "bars", [LAB_STACK] = "stack",   [LAB_LINES] = "lines",
    [LAB_HEAT] = "heat", [LAB_SERIES] = "series", [LAB_TABLE] = "table",
};

/* --- figures as JSON --- */

static void put_text(struct json *json, const char *key, const char *text) {
    json_put_text(json, key, text ? text : "");
}

static void put_texts(struct json *json, const char *key, char *const *texts, unsigned count) {
    json_key(json, key);
    json_array_compact(json);
    for (unsigned i = 0; i < count; i++) json_text(json, texts[i]);
    json_end(json);
}

static void put_reals(struct json *json, const char *key, const double *values, unsigned count) {
    if (key) json_key(json, key);
    json_array_compact(json);
    for (unsigned i = 0; i < count; i++) json_real(json, values[i]);
    json_end(json);
}

static void put_rows(struct json *json, const char *key, const double *values, unsigned rows, unsigned columns) {
    json_key(json, key);
    json_array(json);
    for (unsigned row = 0; row < rows; row++) put_reals(json, NULL, values + (size_t)row * columns, columns);
    json_end(json);
}

static void put_sheet(struct json *json, const struct figure_sheet *sheet, const struct lab_metric *metric) {
    json_object(json);
    put_text(json, "metric", sheet->metric);
    put_text(json, "label", sheet->label);
    put_text(json, "unit", sheet->unit);
    json_put_real(json, "neutral", metric && metric->relation == LAB_RATIO ? 1 : NAN);
    put_texts(json, "columns", sheet->columns, sheet->column_count);
    put_texts(json, "rows", sheet->rows, sheet->row_count);
    json_key(json, "means");
    json_array_compact(json);
    for (unsigned i = 0; i < sheet->row_count; i++) json_bool(json, sheet->row_is_mean && sheet->row_is_mean[i]);
    json_end(json);
    json_key(json, "meanColumns");
    json_array_compact(json);
    for (unsigned i = 0; i < sheet->column_count; i++)
        json_bool(json, sheet->column_is_mean && sheet->column_is_mean[i]);
    json_end(json);
    put_rows(json, "values", sheet->value, sheet->row_count, sheet->column_count);
    if (sheet->low) put_rows(json, "low", sheet->low, sheet->row_count, sheet->column_count);
    if (sheet->high) put_rows(json, "high", sheet->high, sheet->row_count, sheet->column_count);
    json_end(json);
}

static void put_paper(struct json *json, const struct figure_paper *paper) {
    json_object_compact(json);
    put_text(json, "id", paper->id);
    put_text(json, "where", paper->where);
    put_text(json, "what", paper->what);
    put_text(json, "scheme", paper->scheme);
    put_text(json, "unit", paper->unit);
    put_text(json, "said", paper->said);
    json_put_real(json, "ours", paper->ours);
    json_put_real(json, "low", paper->low);
    json_put_real(json, "high", paper->high);
    put_text(json, "verdict", verdict_names[verdict_of(paper)]);
    json_put_real(json, "sheet", paper->sheet);
    json_put_real(json, "row", paper->row);
    json_put_real(json, "column", paper->column);
    json_put_real(json, "mark", paper->mark);
    json_put_real(json, "error", isnan(paper->neutral) ? 100 * (paper->ours / paper->paper - 1) : NAN); /* per cent */
    json_end(json);
}

static void put_choice(struct json *json, const struct figure_choice *choice) {
    json_object_compact(json);
    put_text(json, "workload", choice->workload);
    put_text(json, "column", choice->column);
    put_text(json, "parameter", choice->parameter);
    put_text(json, "chosen", choice->chosen);
    json_end(json);
}

static void put_matrix(struct json *json, const struct figure_matrix *matrix) {
    json_object(json);
    put_text(json, "title", matrix->title);
    put_text(json, "unit", matrix->unit);
    put_texts(json, "rows", matrix->row_labels, matrix->rows);
    put_texts(json, "columns", matrix->column_labels, matrix->columns);
    put_rows(json, "values", matrix->value, matrix->rows, matrix->columns);
    json_end(json);
}

static void put_line(struct json *json, const struct figure_line *line) {
    json_object(json);
    put_text(json, "title", line->title);
    put_text(json, "series", line->series);
    put_reals(json, "x", line->x, line->count);
    put_reals(json, "y", line->y, line->count);
    json_end(json);
}

/* An array of `count` elements, each written by `put`. */
#define PUT_ALL(json, key, put, elements, count) \
    do { \
        json_key(json, key); \
        json_array(json); \
        for (unsigned i_ = 0; i_ < (count); i_++) put(json, &(elements)[i_]); \
        json_end(json); \
    } while (0)

static void put_figure(struct json *json, const struct report *report, unsigned index) {
    const struct figure *figure = report->figures[index];
    const struct experiment *experiment = figure->experiment;
    char *name = report_figure_name(figure), *axis = report_axis_label(figure);
    json_object(json);
    put_text(json, "name", experiment->name);
    put_text(json, "id", name);
    put_text(json, "model", report->models ? report->models[index] : "");
    put_text(json, "title", experiment->title);
    put_text(json, "paper", experiment->paper_title);
    put_text(json, "figure", experiment->figure);
    put_text(json, "question", experiment->question);
    put_text(json, "note", experiment->note);
    put_text(json, "axis", axis);
    put_text(json, "kind", kind_names[experiment->kind]);
    put_text(json, "finding", figure->finding);
    put_text(json, "inputs", figure->inputs);
    json_put_unsigned(json, "missing", figure->missing);
    put_text(json, "plots", report->plots && report_is_plotted(figure) ? report->plots : "");
    json_key(json, "sheets");
    json_array(json);
    for (unsigned i = 0; i < figure->sheet_count; i++)
        put_sheet(json, &figure->sheets[i], i < experiment->metric_count ? &experiment->metrics[i] : NULL);
    json_end(json);
    PUT_ALL(json, "papers", put_paper, figure->papers, figure->paper_count);
    PUT_ALL(json, "choices", put_choice, figure->choices, figure->choice_count);
    PUT_ALL(json, "matrices", put_matrix, figure->matrices, figure->matrix_count);
    PUT_ALL(json, "lines", put_line, figure->lines, figure->line_count);
    put_text(json, "configuration", figure->configuration);
    json_end(json);
    free(axis);
    free(name);
}

static void put_report(struct json *json, const struct report *report) {
    json_object(json);
    put_text(json, "sluice", SLUICE_VERSION);
    put_text(json, "title", report->title);
    put_text(json, "rule", verdict_rule);
    json_key(json, "colours");
    json_array_compact(json);
    for (unsigned i = 0; i < REPORT_COLOURS; i++) json_text(json, report_colours[i]);
    json_end(json);
    json_key(json, "figures");
    json_array(json);
    for (unsigned i = 0; i < report->count; i++) put_figure(json, report, i);
    json_end(json);
    json_end(json);
}

void report_json(const struct report *report, FILE *out) {
    struct json json;
    json_start(&json, out);
    put_report(&json, report);
    json_finish(&json);
}

/* --- the page --- */

/* In JSON, `<` occurs only within text; it is escaped so that no text can end the script element. */
static bool write_data(FILE *out, const struct report *report, struct error *err) {
    char *text;
    size_t size;
    FILE *memory = text_open(&text, &size, err);
    if (!memory) return false;
    report_json(report, memory);
    if (!text_close(memory, &text, err)) return false;
    for (const char *c = text; *c; c++) *c == '<' ? fputs("\\u003c", out) : fputc(*c, out);
    free(text);
    return true;
}

static void write_escaped(FILE *out, const char *text) {
    for (const char *c = text; *c; c++) {
        const char *entity = *c == '<' ? "&lt;" : *c == '&' ? "&amp;" : NULL;
        entity ? fputs(entity, out) : fputc(*c, out);
    }
}

static const char *const chart_libraries[] = {"/usr/share/javascript/chart.js/chart.min.js",
                                              "/usr/share/nodejs/chart.js/dist/chart.min.js"};

const char *report_chart_library(void) {
    for (unsigned i = 0; i < COUNT_OF(chart_libraries); i++)
        if (access(chart_libraries[i], R_OK) == 0) return chart_libraries[i];
    return NULL;
}

static bool write_file(FILE *out, const char *path, struct error *err) {
    FILE *in = fopen(path, "r");
    if (!in) return error_set(err, "%s: %s", path, strerror(errno));
    char block[1 << 14];
    for (size_t length; (length = fread(block, 1, sizeof block, in)) > 0;) fwrite(block, 1, length, out);
    bool good = !ferror(in);
    fclose(in);
    return good || error_set(err, "cannot read %s", path);
}

/* Replaces one word of page.html. */
static bool write_word(FILE *out, const char *word, const struct report *report, struct error *err) {
    static const struct {
        const char *word, *text;
    } texts[] = {{"style}}", report_css}, {"charts}}", report_charts}, {"page}}", report_js}};
    for (unsigned i = 0; i < COUNT_OF(texts); i++)
        if (strncmp(word, texts[i].word, strlen(texts[i].word)) == 0) return fputs(texts[i].text, out), true;
    switch (*word) {
    case 't': return write_escaped(out, report->title), true;                              /* title */
    case 'd': return write_data(out, report, err);                                         /* data */
    default: return !report->chart_library || write_file(out, report->chart_library, err); /* library */
    }
}

bool report_page(const struct report *report, FILE *out, struct error *err) {
    const char *at = report_html;
    for (const char *word; (word = strstr(at, "{{")); at = strstr(word, "}}") + 2) {
        fwrite(at, 1, (size_t)(word - at), out);
        if (!write_word(out, word + 2, report, err)) return false;
    }
    return fputs(at, out) >= 0;
}
