/* Elements of an SVG picture, and axes. Colours are classes, so that the page around a picture can have a light and a dark
 * scheme: `cN` fills and `sN` strokes with the colour of series N, `heat` fills with the colour of heat maps, `grid`,
 * `axis` and `muted` are for lines and text around the data. */
#ifndef SLUICE_REPORT_SVG_H
#define SLUICE_REPORT_SVG_H

#include <stdbool.h>
#include <stdio.h>

enum { SVG_COLOURS = 16 };

/* The style sheet: of a picture of its own on white, or with `dark` of a page that follows the reader's system. */
void svg_style(FILE *out, bool dark);

/* Text for XML and HTML. */
void svg_escape(FILE *out, const char *text);

/* A number as a tick or a label shows it: "0.25", "1024", "3.5M". By value: one call may use several. */
struct svg_number {
    char text[32];
};
struct svg_number svg_number(double value);

/* `anchor` is start, middle or end. */
void svg_text(FILE *out, double x, double y, const char *class_name, const char *anchor, const char *text);
/* The same within a width: a longer text ends with an ellipsis, and its tooltip has all of it. */
void svg_text_within(FILE *out, double x, double y, double width, const char *class_name, const char *anchor,
                     const char *text);
void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *class_name);
/* A rectangle whose title, the text of its tooltip, is formatted. */
void svg_rect(FILE *out, double x, double y, double width, double height, const char *class_name, double opacity,
              const char *title, ...) __attribute__((format(printf, 8, 9)));

enum svg_mark { SVG_CIRCLE, SVG_DIAMOND };
void svg_mark(FILE *out, enum svg_mark mark, double x, double y, const char *class_name, const char *title, ...)
    __attribute__((format(printf, 6, 7)));

/* Squares of colours with names from x on, in rows of at most `width`; returns the height of the rows. */
double svg_legend(FILE *out, double x, double y, double width, const char *const *classes, const char *const *names,
                  unsigned count);
/* The approximate width of a text. */
double svg_text_width(const char *text);

struct axis {
    double low, high; /* values at its ends */
    double from, to;  /* coordinates of its ends */
    bool log;
};

/* From zero to a round number of at least `largest`. */
struct axis axis_from_zero(double largest, double from, double to);
/* Whole decades that contain both, which are positive. */
struct axis axis_decades(double least, double largest, double from, double to);
double axis_at(const struct axis *axis, double value);
/* Grid lines with their values, and a label; along x between the heights `top` and `bottom`, along y between `left` and
 * `right`. */
void axis_draw_x(FILE *out, const struct axis *axis, double top, double bottom, const char *label);
void axis_draw_y(FILE *out, const struct axis *axis, double left, double right, const char *label);

#endif
