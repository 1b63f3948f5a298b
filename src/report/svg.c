#include "report/svg.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "report/report.h"

enum { TEXT_HEIGHT = 12, LEGEND_ROW = 18 };

/* Okabe and Ito's palette, as in the report, then colours of Paul Tol's muted scheme. */
static const char *const more_colours[SVG_COLOURS - REPORT_COLOURS] = {"#332288", "#882255", "#44aa99", "#ddcc77",
                                                                       "#117733", "#cc6677", "#aa4499", "#6699cc"};

void svg_style(FILE *out, bool dark) {
    fputs(
        "svg text { font: 12px Helvetica, Arial, \"DejaVu Sans\", sans-serif; fill: #1b1f23; }\n"
        "svg text.head { font-size: 15px; font-weight: bold; }\n"
        "svg text.inside { fill: #ffffff; font-size: 11px; paint-order: stroke; stroke: #1b1f23; stroke-width: 2px; }\n"
        "svg text.muted { fill: #5c6670; font-size: 11px; }\n"
        ".grid { stroke: #dde2e6; } .axis { stroke: #5c6670; fill: none; } .ceiling { stroke: #5c6670; stroke-width: 1.5; }\n"
        ".heat { fill: #0072b2; } .empty { fill: none; stroke: #dde2e6; } .paper { fill: #ffffff; }\n",
        out);
    for (unsigned i = 0; i < SVG_COLOURS; i++) {
        const char *colour = i < REPORT_COLOURS ? report_colours[i] : more_colours[i - REPORT_COLOURS];
        fprintf(out, ".c%u { fill: %s; } .s%u { stroke: %s; stroke-width: 1.5; fill: none; }\n", i, colour, i, colour);
    }
    if (dark)
        fputs("@media (prefers-color-scheme: dark) {\n"
              "svg text { fill: #e6e9ec; } svg text.muted { fill: #9aa5b0; }\n"
              ".grid, .empty { stroke: #2c3238; } .axis, .ceiling { stroke: #9aa5b0; } .heat { fill: #56b4e9; }\n"
              ".paper { fill: #14171a; }\n}\n",
              out);
}

void svg_escape(FILE *out, const char *text) {
    for (const char *c = text; *c; c++) switch (*c) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*c, out);
        }
}

struct svg_number svg_number(double value) {
    static const struct {
        double unit;
        const char *suffix;
    } scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}};
    struct svg_number number;
    double size = fabs(value);
    unsigned i = 0;
    while (i < COUNT_OF(scales) && size < scales[i].unit) i++;
    if (!isfinite(value))
        snprintf(number.text, sizeof number.text, "-");
    else if (i == COUNT_OF(scales))
        snprintf(number.text, sizeof number.text, "%.4g", value);
    else /* from 10,000 on in thousands */
        snprintf(number.text, sizeof number.text, "%.4g%s", value / (i == 3 ? 1e3 : scales[i].unit), scales[i].suffix);
    return number;
}

/* --- elements --- */

/* Of a proportional font of 12 pixels; digits and small letters are about half as wide as high. */
double svg_text_width(const char *text) {
    size_t characters = 0;
    for (const char *c = text; *c; c++) characters += (*c & 0xC0) != 0x80;
    return 7 * (double)characters;
}

void svg_text(FILE *out, double x, double y, const char *class_name, const char *anchor, const char *text) {
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">", x, y, class_name, anchor);
    svg_escape(out, text);
    fputs("</text>\n", out);
}

/* The bytes of the first characters. */
static size_t prefix_of(const char *text, size_t characters) {
    size_t i = 0;
    for (; text[i]; i++)
        if ((text[i] & 0xC0) != 0x80 && characters-- == 0) break;
    return i;
}

void svg_text_within(FILE *out, double x, double y, double width, const char *class_name, const char *anchor,
                     const char *text) {
    double font = strcmp(class_name, "head") == 0 ? 15.0 / TEXT_HEIGHT : 1, character = svg_text_width("m") * font;
    if (svg_text_width(text) * font <= width) {
        svg_text(out, x, y, class_name, anchor, text);
        return;
    }
    size_t fit = width > 2 * character ? (size_t)(width / character) - 1 : 1;
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\"><title>", x, y, class_name, anchor);
    svg_escape(out, text);
    fputs("</title>", out);
    for (size_t i = 0, end = prefix_of(text, fit); i < end; i++) {
        char one[] = {text[i], '\0'};
        svg_escape(out, one);
    }
    fputs("…</text>\n", out);
}

void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *class_name) {
    fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", class_name, x1, y1, x2, y2);
}

static void put_title(FILE *out, const char *format, va_list list) {
    char text[512];
    vsnprintf(text, sizeof text, format, list);
    fputs("<title>", out);
    svg_escape(out, text);
    fputs("</title>", out);
}

void svg_rect(FILE *out, double x, double y, double width, double height, const char *class_name, double opacity,
              const char *title, ...) {
    fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" class=\"%s\"", x, y, width, height,
            class_name);
    if (opacity < 1) fprintf(out, " fill-opacity=\"%.3f\"", opacity);
    fputc('>', out);
    va_list list;
    va_start(list, title);
    put_title(out, title, list);
    va_end(list);
    fputs("</rect>\n", out);
}

void svg_mark(FILE *out, enum svg_mark mark, double x, double y, const char *class_name, const char *title, ...) {
    if (mark == SVG_CIRCLE)
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" class=\"%s\">", x, y, class_name);
    else
        fprintf(out, "<path d=\"M%.1f %.1fl6 6l-6 6l-6 -6z\" class=\"%s\">", x, y - 6, class_name);
    va_list list;
    va_start(list, title);
    put_title(out, title, list);
    va_end(list);
    fputs(mark == SVG_CIRCLE ? "</circle>\n" : "</path>\n", out);
}

double svg_legend(FILE *out, double x, double y, double width, const char *const *classes, const char *const *names,
                  unsigned count) {
    double at = x, rows = count ? 1 : 0;
    for (unsigned i = 0; i < count; i++) {
        double wide = fmin(svg_text_width(names[i]) + 30, width);
        if (at > x && at + wide > x + width) at = x, rows++;
        double base = y + (rows - 1) * LEGEND_ROW;
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"11\" height=\"11\" class=\"%s\"/>\n", at, base, classes[i]);
        svg_text_within(out, at + 16, base + 10, width - 16, "", "start", names[i]);
        at += wide;
    }
    return rows * LEGEND_ROW;
}

/* --- axes --- */

/* 1, 2 or 5 times a power of ten, at least `least`. */
static double round_step(double least) {
    double power = pow(10, floor(log10(least))), digits = least / power;
    return power * (digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 5 ? 5 : 10);
}

static double axis_step(const struct axis *axis) {
    double most = fabs(axis->to - axis->from) > 240 ? 6 : 4;
    return round_step((axis->high - axis->low) / most);
}

struct axis axis_from_zero(double largest, double from, double to) {
    struct axis axis = {.high = largest > 0 && isfinite(largest) ? largest : 1, .from = from, .to = to};
    double step = axis_step(&axis);
    axis.high = step * ceil(axis.high / step - 1e-9);
    return axis;
}

struct axis axis_decades(double least, double largest, double from, double to) {
    struct axis axis = {floor(log10(least) + 1e-9), ceil(log10(largest) - 1e-9), from, to, true};
    if (axis.high <= axis.low) axis.high = axis.low + 1;
    return axis;
}

double axis_at(const struct axis *axis, double value) {
    double place = axis->log ? log10(value) : value;
    return axis->from + (axis->to - axis->from) * (place - axis->low) / (axis->high - axis->low);
}

/* The ticks of an axis: each value in turn from i = 0 on; false behind the last. Decades of doubles are below 700. */
static bool tick(const struct axis *axis, unsigned i, double *value) {
    enum { MOST = 700 };
    double place = axis->low + i * (axis->log ? 1 : axis_step(axis));
    *value = axis->log ? pow(10, place) : place;
    return i < MOST && place <= axis->high + 1e-9 * fabs(axis->high);
}

void axis_draw_x(FILE *out, const struct axis *axis, double top, double bottom, const char *label) {
    double value;
    for (unsigned i = 0; tick(axis, i, &value); i++) {
        double x = axis_at(axis, value);
        svg_line(out, x, top, x, bottom, "grid");
        svg_text(out, x, bottom + 15, "muted", "middle", svg_number(value).text);
    }
    svg_line(out, axis->from, bottom, axis->to, bottom, "axis");
    svg_text(out, (axis->from + axis->to) / 2, bottom + 32, "", "middle", label);
}

void axis_draw_y(FILE *out, const struct axis *axis, double left, double right, const char *label) {
    double value, middle = (axis->from + axis->to) / 2;
    for (unsigned i = 0; tick(axis, i, &value); i++) {
        double y = axis_at(axis, value);
        svg_line(out, left, y, right, y, "grid");
        svg_text(out, left - 6, y + TEXT_HEIGHT / 3.0, "muted", "end", svg_number(value).text);
    }
    svg_line(out, left, axis->from, left, axis->to, "axis");
    fprintf(out, "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\">", left - 48, middle);
    svg_escape(out, label);
    fputs("</text>\n", out);
}
