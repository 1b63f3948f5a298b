#include "report/chart.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/output.h"
#include "base/path.h"
#include "report/svg.h"

extern char **environ;

/* The program that draws PNG pictures, and the resolution of its pictures in pixels per unit of the SVG picture. */
#define RASTERISER "rsvg-convert"
#define RESOLUTION "2"

enum { HEAD = 28, NOTE = 20, GAP = 24, MARGIN = 16 }; /* of a picture with several charts */

/* --- drawing --- */

static FILE *open_text(char **text, size_t *size) {
    struct error err = {0};
    FILE *file = text_open(text, size, &err);
    if (!file) mem_exhausted();
    return file;
}

struct chart *chart_begin(struct charts *charts, const char *title, const char *note) {
    struct chart *chart = mem_alloc(1, sizeof *chart);
    charts->chart = mem_grow(charts->chart, charts->count + 1, sizeof *charts->chart);
    charts->chart[charts->count++] = chart;
    chart->title = mem_text(title);
    chart->note = note ? mem_text(note) : NULL;
    chart->svg = open_text(&chart->svg_text, &chart->svg_size);
    chart->table = open_text(&chart->table_text, &chart->table_size);
    return chart;
}

static void close_text(FILE **file, char **text) {
    struct error err = {0};
    if (*file && !text_close(*file, text, &err)) mem_exhausted();
    *file = NULL;
}

void chart_end(struct chart *chart, double width, double height) {
    if (chart->in_row) fputs("</tr>\n", chart->table);
    close_text(&chart->svg, &chart->svg_text);
    close_text(&chart->table, &chart->table_text);
    chart->width = width;
    chart->height = height;
}

void charts_free(struct charts *charts) {
    for (unsigned i = 0; i < charts->count; i++) {
        struct chart *chart = charts->chart[i];
        close_text(&chart->svg, &chart->svg_text);
        close_text(&chart->table, &chart->table_text);
        free(chart->svg_text);
        free(chart->table_text);
        free(chart->title);
        free(chart->note);
        free(chart);
    }
    free(charts->chart);
    *charts = (struct charts){0};
}

void chart_row(struct chart *chart) {
    fputs(chart->in_row ? "</tr>\n<tr>" : "<tr>", chart->table);
    chart->in_row = true;
}

void chart_cell(struct chart *chart, const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fputs("<td>", chart->table);
    svg_escape(chart->table, text);
    fputs("</td>", chart->table);
}

/* --- as one picture --- */

static double head_of(const struct chart *chart) { return HEAD + (chart->note ? NOTE : 0); }

static void write_picture(const struct charts *charts, FILE *out) {
    double width = 0, height = MARGIN, y = MARGIN;
    for (unsigned i = 0; i < charts->count; i++) {
        if (charts->chart[i]->width > width) width = charts->chart[i]->width;
        height += head_of(charts->chart[i]) + charts->chart[i]->height + GAP;
    }
    width += 2 * MARGIN;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
            "<style>\n",
            width, height, width, height);
    svg_style(out, false);
    fprintf(out, "</style>\n<rect width=\"%.0f\" height=\"%.0f\" class=\"paper\"/>\n", width, height);
    for (unsigned i = 0; i < charts->count; i++) {
        const struct chart *chart = charts->chart[i];
        svg_text_within(out, MARGIN, y + 15, width - 2 * MARGIN, "head", "start", chart->title);
        if (chart->note) svg_text(out, MARGIN, y + 33, "muted", "start", chart->note);
        fprintf(out, "<g transform=\"translate(%d %.0f)\">\n%s</g>\n", MARGIN, y + head_of(chart), chart->svg_text);
        y += head_of(chart) + chart->height + GAP;
    }
    fputs("</svg>\n", out);
}

/* --- as a page --- */

static const char page_style[] =
    ":root { color-scheme: light dark; }\n"
    "body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; background: #ffffff; color: #1b1f23;\n"
    "    font: 16px/1.5 system-ui, \"Helvetica Neue\", \"DejaVu Sans\", sans-serif; }\n"
    "h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.2rem; margin: 2rem 0 0; }\n"
    "p { margin: 0.2rem 0 0.6rem; color: #5c6670; } figure { margin: 0; overflow-x: auto; }\n"
    "table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }\n"
    "td { padding: 0.2rem 1rem 0.2rem 0; border-bottom: 1px solid #dde2e6; } tr:first-child td { color: #5c6670; }\n"
    "@media (prefers-color-scheme: dark) { body { background: #14171a; color: #e6e9ec; }\n"
    "    p, tr:first-child td { color: #9aa5b0; } td { border-color: #2c3238; } }\n";

static void write_paragraph(FILE *out, const char *tag, const char *text) {
    fprintf(out, "<%s>", tag);
    svg_escape(out, text);
    fprintf(out, "</%s>\n", tag);
}

static void write_page(const struct charts *charts, const char *title, const char *lead, FILE *out) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width\"/>\n",
          out);
    write_paragraph(out, "title", title);
    fprintf(out, "<style>\n%s", page_style);
    svg_style(out, true);
    fputs("</style>\n</head>\n<body>\n", out);
    write_paragraph(out, "h1", title);
    if (lead) write_paragraph(out, "p", lead);
    for (unsigned i = 0; i < charts->count; i++) {
        const struct chart *chart = charts->chart[i];
        fputs("<section>\n", out);
        write_paragraph(out, "h2", chart->title);
        if (chart->note) write_paragraph(out, "p", chart->note);
        fprintf(out, "<figure><svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%.0f\" height=\"%.0f\"",
                chart->width, chart->height);
        fputs(" aria-label=\"", out);
        svg_escape(out, chart->title);
        fprintf(out, "\">\n%s</svg></figure>\n", chart->svg_text);
        if (chart->table_size)
            fprintf(out, "<details><summary>Values</summary>\n<table>\n%s</table></details>\n", chart->table_text);
        fputs("</section>\n", out);
    }
    fputs("</body>\n</html>\n", out);
}

/* --- as PNG --- */

/* The picture goes through an unnamed file, so that nothing is left behind. */
static bool write_pixels(const struct charts *charts, const char *program, FILE *out, struct error *err) {
    FILE *picture = tmpfile();
    if (!picture) return error_set(err, "cannot create a temporary file: %s", strerror(errno));
    write_picture(charts, picture);
    bool good = fflush(picture) == 0 && !ferror(picture);
    if (!good) error_set(err, "cannot write a temporary file: %s", strerror(errno));
    rewind(picture);
    char *words[] = {(char *)program, "--format", "png", "--zoom", RESOLUTION, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(picture), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
    pid_t child;
    int status = 0, failed = good ? posix_spawn(&child, program, &actions, NULL, words, environ) : 0;
    posix_spawn_file_actions_destroy(&actions);
    while (good && !failed && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    fclose(picture);
    if (failed) return error_set(err, "cannot run %s: %s", program, strerror(failed));
    return good && (status == 0 || error_set(err, "%s cannot draw the picture", program));
}

/* --- files --- */

static bool ends_with(const char *path, const char *end) {
    size_t length = strlen(path), tail = strlen(end);
    return length > tail && strcmp(path + length - tail, end) == 0;
}

/* The caller frees it. */
static char *rasteriser(const char *path, struct error *err) {
    char *program = path_of_program(RASTERISER);
    if (!program)
        error_set(err, "%s: PNG pictures need %s (Debian package: librsvg2-bin); .svg and .html need no other program",
                  path, RASTERISER);
    return program;
}

bool charts_check(const char *path, struct error *err) {
    bool pixels = ends_with(path, ".png");
    if (!pixels && !ends_with(path, ".svg") && !ends_with(path, ".html"))
        return error_set(err, "%s: the name must end with .html, .svg or .png", path);
    char *program = pixels ? rasteriser(path, err) : NULL;
    free(program);
    return pixels && !program ? false : output_check(path, err);
}

bool charts_write(const struct charts *charts, const char *path, const char *title, const char *lead,
                  struct error *err) {
    struct output output;
    struct error closing = {0};
    if (!output_open(&output, path, err)) return false;
    bool good = true;
    if (ends_with(path, ".html")) {
        write_page(charts, title, lead, output.file);
    } else if (ends_with(path, ".png")) {
        char *program = rasteriser(path, err);
        good = program && write_pixels(charts, program, output.file, err);
        free(program);
    } else {
        write_picture(charts, output.file);
    }
    if (output_close(&output, good, &closing)) return good;
    return good && error_set(err, "%s", closing.text);
}
