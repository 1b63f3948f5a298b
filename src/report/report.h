/* Experiment results as a self-contained HTML report, and each figure as SVG and PDF.
 *
 * The input is complete figures (lab/figure.h). page.c builds the report from page.html, page.css, page.js,
 * charts.js, a chart library and the figures as JSON; plot.c draws the same figures with gnuplot, for papers. A
 * value whose run is missing is shown as missing, never as zero. The module computes only the verdict on a
 * published value (verdict.c). */
#ifndef SLUICE_REPORT_REPORT_H
#define SLUICE_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "lab/figure.h"

/* Agreement of a simulated with a published value. */
enum verdict { VERDICT_AGREES, VERDICT_PARTLY, VERDICT_DIFFERS, VERDICT_OPEN, VERDICT_MISSING };
enum verdict verdict_of(const struct figure_paper *paper);
extern const char *const verdict_names[];
/* The rule as text, for the report. */
extern const char verdict_rule[];

struct report {
    const char *title;
    const struct figure *const *figures;
    const char *const *models; /* by figure: digest of the model that its runs were made with; or NULL */
    unsigned count;
    const char *plots;         /* directory of the plots, relative to the report; or NULL */
    const char *chart_library; /* a JavaScript file that defines Chart; NULL: tables only */
};

/* The file of Debian's libjs-chart.js, or NULL. */
const char *report_chart_library(void);
bool report_page(const struct report *report, FILE *out, struct error *err);
/* The figures as JSON, as they are embedded in the report. */
void report_json(const struct report *report, FILE *out);

/* The name of the figure as a file name: "adaptive-fig11" for "adaptive/fig11". The caller frees it. */
char *report_figure_name(const struct figure *figure);
/* The axis label of a sweep: "noc.channel_bytes"; "" without a sweep. The caller frees it. */
char *report_axis_label(const struct figure *figure);
bool report_is_plotted(const struct figure *figure); /* a table is not */
/* Writes FOLDER/NAME.gnuplot, NAME.svg and NAME.pdf. The directory exists. */
bool report_plot(const struct figure *figure, const char *folder, struct error *err);

/* The colours of designs in order: Okabe and Ito's colour-blind-safe palette. */
enum { REPORT_COLOURS = 8 };
extern const char *const report_colours[REPORT_COLOURS];

#endif
