/* What experiments came to, for people to look at: one HTML page that needs no network, and each figure as SVG and PDF.
 *
 * Figures arrive made (lab/figure.h); this room only shows them. The page is page.html with page.css, page.js,
 * charts.js, a chart library and the figures as JSON put in (page.c); for papers gnuplot draws the same figures from a
 * script that stays beside them (plot.c). A value whose run is missing is shown as missing, never as zero. The room
 * knows no experiment by name and computes nothing but the verdict on a paper's value (verdict.c). */
#ifndef SLUICE_REPORT_REPORT_H
#define SLUICE_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "lab/figure.h"

/* How our value stands beside a paper's. */
enum verdict { VERDICT_AGREES, VERDICT_PARTLY, VERDICT_DIFFERS, VERDICT_OPEN, VERDICT_MISSING };
enum verdict verdict_of(const struct figure_paper *paper);
extern const char *const verdict_names[];
/* The rule in words, for the page. */
extern const char verdict_rule[];

struct report {
    const char *title;
    const struct figure *const *figures;
    unsigned count;
    const char *plots;         /* where the page finds the plots, relative to itself; NULL: there are none */
    const char *chart_library; /* a file of JavaScript that defines Chart; NULL: the page has tables and no charts */
};

/* Where Debian's libjs-chart.js put it, or NULL. */
const char *report_chart_library(void);
bool report_page(const struct report *report, FILE *out, struct error *err);

/* The figure's name as a file's name: "adaptive/fig11" is "adaptive-fig11". The caller frees it. */
char *report_figure_name(const struct figure *figure);
/* What a sweep is over, for the axis: "noc.channel_bytes"; "" without one. The caller frees it. */
char *report_axis_label(const struct figure *figure);
bool report_is_plotted(const struct figure *figure); /* a table is not */
/* FOLDER/NAME.gnuplot, and from it NAME.svg and NAME.pdf. The folder exists. */
bool report_plot(const struct figure *figure, const char *folder, struct error *err);

/* The colours of designs in their order: Okabe and Ito's, which colour-blind readers tell apart. */
enum { REPORT_COLOURS = 8 };
extern const char *const report_colours[REPORT_COLOURS];

#endif
