/* Figures as gnuplot scripts, and as SVG and PDF if gnuplot is installed. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/figures.h"
#include "test.h"

/* A directory for one test, emptied at its end. */
struct folder {
    char path[32];
};

static struct folder folder_make(void) {
    struct folder folder = {"/tmp/sluice-plots-XXXXXX"};
    REQUIRE(mkdtemp(folder.path) != NULL);
    return folder;
}

static char *file_text(const struct folder *folder, const char *name) {
    char *path = text_format("%s/%s", folder->path, name), *text = NULL;
    FILE *in = fopen(path, "r");
    size_t size = 0;
    if (in && getdelim(&text, &size, '\0', in) < 0) text[0] = '\0';
    if (in) fclose(in);
    free(path);
    return text;
}

static void folder_remove(const struct folder *folder, const struct figure *figure) {
    char *name = report_figure_name(figure);
    static const char *const kinds[] = {"gnuplot", "svg", "pdf"};
    for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
        char *path = text_format("%s/%s.%s", folder->path, name, kinds[i]);
        unlink(path);
        free(path);
    }
    CHECK_EQ(rmdir(folder->path), 0); /* no other files */
    free(name);
}

static bool has_gnuplot(void) { return system("command -v gnuplot >/dev/null 2>&1") == 0; }

TEST("draws every kind of figure except tables as SVG and PDF, if gnuplot is installed") {
    struct report report = made_report();
    bool drawn = has_gnuplot();
    for (unsigned i = 0; i < report.count; i++) {
        const struct figure *figure = report.figures[i];
        CHECK_EQ(report_is_plotted(figure), figure->experiment->kind != LAB_TABLE);
        if (!report_is_plotted(figure)) continue;
        struct folder folder = folder_make();
        struct error err = {0};
        CHECK_EQ(report_plot(figure, folder.path, &err), drawn);
        char *name = report_figure_name(figure), *svg_name = text_format("%s.svg", name);
        char *pdf_name = text_format("%s.pdf", name);
        char *svg = file_text(&folder, svg_name), *pdf = file_text(&folder, pdf_name);
        CHECK_EQ(svg != NULL && pdf != NULL, drawn);
        if (drawn) {
            CHECK_TEXT(svg, "</svg>");
            CHECK_EQ(strncmp(pdf, "%PDF", 4), 0);
        }
        free(svg), free(pdf), free(name), free(svg_name), free(pdf_name);
        folder_remove(&folder, figure);
    }
}

TEST("draws figures of more lines and bars than there are colours and patterns") {
    if (!has_gnuplot()) return;
    enum { COLUMNS = 50, POINTS = 2 };
    char *rows[POINTS] = {"32", "64"}, *columns[COLUMNS];
    double values[POINTS * COLUMNS];
    for (unsigned i = 0; i < COLUMNS; i++) columns[i] = text_format("program %u", i);
    for (unsigned i = 0; i < POINTS * COLUMNS; i++) values[i] = i;
    struct figure_sheet sheet = {.metric = "IPC",
                                 .label = "IPC",
                                 .unit = "",
                                 .row_count = POINTS,
                                 .column_count = COLUMNS,
                                 .rows = rows,
                                 .columns = columns,
                                 .value = values};
    static const enum lab_figure_kind kinds[] = {LAB_LINES, LAB_BARS};
    for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
        struct experiment experiment = {.name = "many",
                                        .title = "Many programs",
                                        .axes = &made_axis,
                                        .axis_count = 1,
                                        .metrics = made_metrics,
                                        .metric_count = 1,
                                        .kind = kinds[i]};
        struct figure figure = {.experiment = &experiment, .sheets = &sheet, .sheet_count = 1};
        struct folder folder = folder_make();
        struct error err = {0};
        CHECK(report_plot(&figure, folder.path, &err));
        CHECK_EQ(err.text, "");
        folder_remove(&folder, &figure);
    }
    for (unsigned i = 0; i < COLUMNS; i++) free(columns[i]);
}

TEST("without gnuplot, writes the script and reports the missing package") {
    struct report report = made_report();
    struct folder folder = folder_make();
    struct error err = {0};
    setenv("PATH", folder.path, 1);
    CHECK(!report_plot(report.figures[0], folder.path, &err));
    CHECK_TEXT(err.text, "gnuplot-nox");
    char *script = file_text(&folder, "adaptive-fig11.gnuplot");
    CHECK(script != NULL);
    free(script);
    folder_remove(&folder, report.figures[0]);
}

TEST("a script has the values, missing ones as ? with a cross, and published values at their bars") {
    struct report report = made_report();
    struct folder folder = folder_make();
    struct error err = {0};
    report_plot(report.figures[0], folder.path, &err);
    char *script = file_text(&folder, "adaptive-fig11.gnuplot");
    REQUIRE(script != NULL);
    CHECK_TEXT(script, "\"bs\" 1 ? 1.01");
    CHECK_TEXT(script, "$missing0 << EOD\n5 0.0414\nEOD"); /* the middle of three bars of the sixth workload */
    CHECK_TEXT(script, "$paper0 << EOD\n6.25 1.281\n7 0.82\nEOD");
    CHECK_TEXT(script, "$range0 << EOD\n-0.25 1 1 1\n0 1.31 1.31 1.31\n0.25 1.3 1.274 1.339\n"); /* over seeds */
    CHECK_TEXT(script, "$range0 using 1:3:(0):($4 - $3) with vectors");
    CHECK(!strstr(script, "$range1 using")); /* the second sheet has no seeds */
    free(script);
    folder_remove(&folder, report.figures[0]);
}

TEST("escapes text in a script") {
    char quotes[] = "a \"b\" \\ c\nd";
    char *rows[] = {quotes};
    double value[] = {1};
    struct figure_sheet sheet = {"m", "m", "", 1, 1, rows, rows, NULL, NULL, value, NULL, NULL};
    struct experiment experiment = {.name = "x/y z", .title = "t", .kind = LAB_BARS};
    struct figure figure = {.experiment = &experiment, .sheets = &sheet, .sheet_count = 1};
    struct folder folder = folder_make();
    struct error err = {0};
    report_plot(&figure, folder.path, &err);
    char *script = file_text(&folder, "x-y-z.gnuplot");
    REQUIRE(script != NULL);
    CHECK_TEXT(script, "\"a ”b”   c d\" 1\n");
    free(script);
    folder_remove(&folder, &figure);
}

TEST("reports a missing directory with the name of the file") {
    struct report report = made_report();
    struct error err = {0};
    CHECK(!report_plot(report.figures[0], "/nonexistent", &err));
    CHECK_TEXT(err.text, "/nonexistent/adaptive-fig11.gnuplot: No such file");
}
