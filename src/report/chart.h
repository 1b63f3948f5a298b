/* Charts of a page: each is an SVG picture with its values as a table. A set of them is written as one SVG picture, as one
 * HTML page that needs no other file, or as a PNG picture, by the ending of the file's name. */
#ifndef SLUICE_REPORT_CHART_H
#define SLUICE_REPORT_CHART_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct chart {
    char *title, *note; /* the note, or NULL, is a sentence under the title */
    double width, height;
    FILE *svg, *table; /* open while the chart is drawn */
    char *svg_text, *table_text;
    size_t svg_size, table_size;
    bool in_row;
};

struct charts {
    struct chart **chart;
    unsigned count;
};

/* A chart to draw: SVG elements to `svg`, values to the table. chart_end() completes it. */
struct chart *chart_begin(struct charts *charts, const char *title, const char *note);
void chart_end(struct chart *chart, double width, double height);
void charts_free(struct charts *charts);

/* The table: a row begins, and gets its cells. The first row has the names of the columns. */
void chart_row(struct chart *chart);
void chart_cell(struct chart *chart, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the file can be written: its ending is known, and the program that its format needs is installed. */
bool charts_check(const char *path, struct error *err);
/* `lead` is a sentence under the title of a page. */
bool charts_write(const struct charts *charts, const char *path, const char *title, const char *lead,
                  struct error *err);

#endif
