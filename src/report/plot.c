/* Figures for papers: one gnuplot script per figure, which contains the values and is kept next to its output, so
 * that it can be restyled by hand. One file holds all panels of a figure, stacked vertically: a metric, a matrix or
 * a group of series each. Not supported: the interactive features of the HTML report. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/draft.h"
#include "report/report.h"

extern char **environ;

char *report_figure_name(const struct figure *figure) {
    char *name = mem_text(figure->experiment->name);
    for (char *c = name; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", *c)) *c = '-';
    return name;
}

char *report_axis_label(const struct figure *figure) {
    char *label = mem_text("");
    for (unsigned i = 0; i < figure->experiment->axis_count; i++) {
        char *longer = text_format("%s%s%s", label, i ? ", " : "", figure->experiment->axes[i].key);
        free(label);
        label = longer;
    }
    return label;
}

/* --- panels --- */

static bool same_title(const struct figure_line *a, const struct figure_line *b) {
    return strcmp(a->title, b->title) == 0;
}

/* Lines with the same title share a panel, which the first of them opens. */
static bool opens_panel(const struct figure *figure, unsigned line) {
    for (unsigned i = 0; i < line; i++)
        if (same_title(&figure->lines[i], &figure->lines[line])) return false;
    return true;
}

static unsigned sheet_panels(const struct figure *figure) {
    switch (figure->experiment->kind) {
    case LAB_BARS:
    case LAB_LINES: return figure->sheet_count;
    case LAB_STACK: return figure->sheet_count > 0;
    default: return 0;
    }
}

static unsigned panel_count(const struct figure *figure) {
    unsigned count = sheet_panels(figure) + figure->matrix_count;
    for (unsigned i = 0; i < figure->line_count; i++) count += opens_panel(figure, i);
    return count;
}

bool report_is_plotted(const struct figure *figure) { return panel_count(figure) > 0; }

/* --- gnuplot syntax --- */

/* Quotes cannot be escaped within a data block, so they are replaced by typographic ones. */
static void put_quoted(FILE *out, const char *text) {
    fputc('"', out);
    for (const char *c = text ? text : ""; *c; c++)
        *c == '"' ? fputs("”", out) : fputc(*c == '\n' || *c == '\\' ? ' ' : *c, out);
    fputc('"', out);
}

static void put_number(FILE *out, double value) {
    if (isfinite(value))
        fprintf(out, " %.10g", value);
    else
        fputs(" ?", out);
}

static void put_setting(FILE *out, const char *what, const char *text, const char *unit) {
    char *all = unit && unit[0] ? text_format("%s (%s)", text, unit) : mem_text(text);
    fprintf(out, "  set %s ", what);
    put_quoted(out, all);
    fputc('\n', out);
    free(all);
}

/* --- data, one block per panel --- */

static void put_grid(FILE *out, char *const *rows, char *const *columns, const double *value, unsigned row_count,
                     unsigned column_count) {
    put_quoted(out, "");
    for (unsigned column = 0; column < column_count; column++) fputc(' ', out), put_quoted(out, columns[column]);
    fputc('\n', out);
    for (unsigned row = 0; row < row_count; row++) {
        put_quoted(out, rows[row]);
        for (unsigned column = 0; column < column_count; column++)
            put_number(out, value[(size_t)row * column_count + column]);
        fputc('\n', out);
    }
}

/* One row per bar (workload and design), one column per part, and one row for the gap after each workload. */
static void put_stack(FILE *out, const struct figure *figure) {
    const struct figure_sheet *first = figure->sheets;
    put_quoted(out, "");
    for (unsigned part = 0; part < figure->sheet_count; part++)
        fputc(' ', out), put_quoted(out, figure->sheets[part].metric);
    fputc('\n', out);
    for (unsigned row = 0; row < first->row_count; row++)
        for (unsigned column = 0; column <= first->column_count; column++) {
            bool gap = column == first->column_count;
            put_quoted(out, gap ? "" : first->columns[column]);
            for (unsigned part = 0; part < figure->sheet_count; part++)
                put_number(out, gap ? NAN : figure->sheets[part].value[(size_t)row * first->column_count + column]);
            fputc('\n', out);
        }
}

/* Position of a bar: its width is 1 / (columns + gap) of a row. */
static double bar_at(const struct figure_sheet *sheet, unsigned row, unsigned column) {
    return row + (column - (sheet->column_count - 1) / 2.0) / (sheet->column_count + 1);
}

/* Points over the bars: the published values. */
static unsigned put_marks(FILE *out, const struct figure *figure, unsigned i) {
    unsigned count = 0;
    for (unsigned k = 0; k < figure->paper_count; k++) {
        const struct figure_paper *paper = &figure->papers[k];
        if (paper->sheet != (int)i || paper->row < 0 || !isfinite(paper->mark)) continue;
        double x = bar_at(&figure->sheets[i], (unsigned)paper->row, (unsigned)paper->column);
        if (out) fprintf(out, "%.6g %.10g\n", x, paper->mark);
        count++;
    }
    return count;
}

static double largest(const struct figure_sheet *sheet) {
    double most = 0;
    for (size_t i = 0; i < (size_t)sheet->row_count * sheet->column_count; i++)
        most = fmax(most, sheet->value[i]); /* fmax ignores NaN */
    return most;
}

/* A point slightly above the base of each missing bar. */
static unsigned put_absences(FILE *out, const struct figure *figure, unsigned i) {
    const struct figure_sheet *sheet = &figure->sheets[i];
    unsigned count = 0;
    for (unsigned row = 0; row < sheet->row_count; row++)
        for (unsigned column = 0; column < sheet->column_count; column++) {
            if (isfinite(sheet->value[(size_t)row * sheet->column_count + column])) continue;
            if (out) fprintf(out, "%.6g %.6g\n", bar_at(sheet, row, column), 0.03 * largest(sheet));
            count++;
        }
    return count;
}

/* The range over the seeds of each bar: middle, low, high. */
static unsigned put_ranges(FILE *out, const struct figure *figure, unsigned i) {
    const struct figure_sheet *sheet = &figure->sheets[i];
    unsigned count = 0;
    for (unsigned row = 0; sheet->low && row < sheet->row_count; row++)
        for (unsigned column = 0; column < sheet->column_count; column++) {
            size_t cell = (size_t)row * sheet->column_count + column;
            if (!isfinite(sheet->value[cell])) continue;
            if (out)
                fprintf(out, "%.6g %.10g %.10g %.10g\n", bar_at(sheet, row, column), sheet->value[cell],
                        sheet->low[cell], sheet->high[cell]);
            count++;
        }
    return count;
}

/* Points over bars. `put` writes and counts them; without a file it only counts. */
static const struct {
    const char *name, *style;
    unsigned (*put)(FILE *out, const struct figure *figure, unsigned sheet);
} overlays[] = {
    {"range", "using 1:3:(0):($4 - $3) with vectors heads size screen 0.002,90 lc black", put_ranges},
    {"paper", "using 1:2 with points pt 13 ps 0.9 lc black", put_marks},
    {"missing", "using 1:2 with points pt 2 ps 0.6 lc rgb \"#666666\"", put_absences},
};

static void put_data(FILE *out, const struct figure *figure) {
    for (unsigned i = 0; i < sheet_panels(figure); i++) {
        const struct figure_sheet *sheet = &figure->sheets[i];
        fprintf(out, "$sheet%u << EOD\n", i);
        if (figure->experiment->kind == LAB_STACK)
            put_stack(out, figure);
        else
            put_grid(out, sheet->rows, sheet->columns, sheet->value, sheet->row_count, sheet->column_count);
        fputs("EOD\n", out);
        for (unsigned k = 0; figure->experiment->kind == LAB_BARS && k < COUNT_OF(overlays); k++) {
            fprintf(out, "$%s%u << EOD\n", overlays[k].name, i);
            overlays[k].put(out, figure, i);
            fputs("EOD\n", out);
        }
    }
    for (unsigned i = 0; i < figure->matrix_count; i++) {
        const struct figure_matrix *matrix = &figure->matrices[i];
        fprintf(out, "$matrix%u << EOD\n", i);
        put_grid(out, matrix->row_labels, matrix->column_labels, matrix->value, matrix->rows, matrix->columns);
        fputs("EOD\n", out);
    }
    for (unsigned i = 0; i < figure->line_count; i++) {
        const struct figure_line *line = &figure->lines[i];
        fprintf(out, "$line%u << EOD\n", i);
        for (unsigned k = 0; k < line->count; k++) {
            put_number(out, line->x[k]);
            put_number(out, line->y[k]);
            fputc('\n', out);
        }
        fputs("EOD\n", out);
    }
}

/* --- drawing --- */

/* Columns of a block as bars, clustered or stacked. */
static void put_histogram(FILE *out, const char *style, unsigned columns, unsigned sheet) {
    fprintf(out,
            "  set style histogram %s\n  plot for [i=1:%u] $sheet%u using i + 1:xtic(1) title columnheader(i + 1)"
            " lc rgb colour(i) fs pattern hatch(i)",
            style, columns, sheet);
}

static void put_bars(FILE *out, const struct figure *figure, unsigned sheet) {
    put_histogram(out, "clustered gap 1", figure->sheets[sheet].column_count, sheet);
    for (unsigned k = 0; k < COUNT_OF(overlays); k++)
        if (overlays[k].put(NULL, figure, sheet) > 0)
            fprintf(out, ", \\\n    $%s%u %s title \"%s\"", overlays[k].name, sheet, overlays[k].style,
                    overlays[k].name);
    fputc('\n', out);
}

/* Labels: designs below their bars, workloads below the designs. */
static void put_stack_bars(FILE *out, const struct figure *figure) {
    const struct figure_sheet *first = figure->sheets;
    fputs("  set xtics rotate by 90 right; set bmargin 7\n", out);
    for (unsigned row = 0; row < first->row_count; row++) {
        fputs("  set label ", out);
        put_quoted(out, first->rows[row]);
        fprintf(out, " at first %g, graph 0 center offset character 0,-5.5\n",
                row * (first->column_count + 1) + (first->column_count - 1) / 2.0);
    }
    put_histogram(out, "rowstacked", figure->sheet_count, 0);
    fputs("\n  unset label; unset bmargin; set xtics rotate by -40 left\n", out);
}

static void put_sweep(FILE *out, const struct figure *figure, unsigned sheet) {
    char *axis = report_axis_label(figure);
    put_setting(out, "xlabel", axis, NULL);
    fputs("  array thick = [", out); /* the line of a mean is twice as wide */
    for (unsigned c = 0; c < figure->sheets[sheet].column_count; c++)
        fprintf(out, "%s%d", c ? ", " : "",
                figure->sheets[sheet].column_is_mean && figure->sheets[sheet].column_is_mean[c] ? 4 : 2);
    fputs("]\n", out);
    fprintf(out,
            "  plot for [i=1:%u] $sheet%u using 0:i + 1:xtic(1) with linespoints lw (thick[i]) pt i + 4 dt i"
            " lc rgb colour(i) title columnheader(i + 1)\n  unset xlabel\n",
            figure->sheets[sheet].column_count, sheet);
    free(axis);
}

static void put_sheet_panel(FILE *out, const struct figure *figure, unsigned i) {
    enum lab_figure_kind kind = figure->experiment->kind;
    put_setting(out, "ylabel", kind == LAB_STACK ? figure->experiment->title : figure->sheets[i].label,
                figure->sheets[i].unit);
    if (kind == LAB_BARS)
        put_bars(out, figure, i);
    else if (kind == LAB_STACK)
        put_stack_bars(out, figure);
    else
        put_sweep(out, figure, i);
}

static void put_matrix_panel(FILE *out, const struct figure *figure, unsigned i) {
    put_setting(out, "title", figure->matrices[i].title, figure->matrices[i].unit);
    fprintf(out,
            "  set ylabel; set yrange [%u.5:-0.5]; set cbrange [0:*]\n"
            "  plot $matrix%u matrix rowheaders columnheaders with image pixels notitle\n"
            "  unset title; set yrange [*<0:0<*]\n",
            figure->matrices[i].rows - 1, i);
}

/* Index of a series among the distinct names: its colour in all panels. */
static unsigned series_place(const struct figure *figure, unsigned line) {
    unsigned place = 0;
    for (unsigned i = 0, first; strcmp(figure->lines[i].series, figure->lines[line].series) != 0; i++) {
        for (first = 0; strcmp(figure->lines[first].series, figure->lines[i].series) != 0;) first++;
        place += first == i;
    }
    return place;
}

static void put_line_panel(FILE *out, const struct figure *figure, unsigned first) {
    put_setting(out, "ylabel", figure->lines[first].title, NULL);
    fputs("  set xtics scale 1 norotate center autofreq; set xlabel \"cycles\"\n  plot", out);
    for (unsigned i = first; i < figure->line_count; i++) {
        if (!same_title(&figure->lines[i], &figure->lines[first])) continue;
        unsigned place = series_place(figure, i);
        fprintf(out, "%s $line%u using 1:2 with lines lw 2 dt %u lc rgb colour(%u) title ", i > first ? "," : "", i,
                place % 5 + 1, place + 1);
        put_quoted(out, figure->lines[i].series);
    }
    fputs("\n  set xtics scale 0 rotate by -40 left; unset xlabel\n", out);
}

/* In pixels, wide enough for all bars of a figure. */
static unsigned plot_width(const struct figure *figure) {
    unsigned bars = 0;
    for (unsigned i = 0; i < sheet_panels(figure); i++) {
        unsigned count = figure->sheets[i].row_count * (figure->sheets[i].column_count + 1);
        if (count > bars) bars = count;
    }
    return (unsigned)min_u64(1600, max_u64(640, 80 + 12 * (uint64_t)bars));
}

static void put_script(FILE *out, const struct figure *figure, const char *name) {
    unsigned panels = panel_count(figure), width = plot_width(figure), height = 300 * panels;
    fprintf(out, "# %s: `gnuplot %s.gnuplot` draws %s.svg and %s.pdf\n", figure->experiment->title, name, name, name);
    put_data(out, figure);
    fputs("colour(i) = word(\"", out);
    for (unsigned i = 0; i < REPORT_COLOURS; i++) fprintf(out, "%s%s", i ? " " : "", report_colours[i]);
    fprintf(out, "\", (i - 1) %% %d + 1)\n", REPORT_COLOURS);
    fputs("hatch(i) = int(word(\"3 1 2 4 5 6 7\", (i - 1) % 7 + 1))\n"
          "set datafile missing \"?\"\n"
          "do for [kind in \"svg pdf\"] {\n",
          out);
    fprintf(
        out,
        "  if (kind eq \"svg\") { set terminal svg noenhanced size %u,%u font \"Helvetica,12\" background \"white\" }\n"
        "  else { set terminal pdfcairo noenhanced size %.2f,%.2f font \"Helvetica,9\" }\n"
        "  set output \"%s.\".kind\n  set multiplot layout %u,1\n",
        width, height, width / 110.0, height / 110.0, name, panels);
    fputs("  set style data histogram; set style fill solid border lc rgb \"#333333\"; set boxwidth 0.95\n"
          "  set grid y lc rgb \"#dddddd\"; set border 3; set tics nomirror out; set xtics scale 0 rotate by -40 left\n"
          "  set key outside top horizontal left reverse Left samplen 2; set yrange [*<0:0<*]\n"
          "  set palette defined (0 \"#f4f6f8\", 1 \"#0072b2\")\n",
          out);
    for (unsigned i = 0; i < sheet_panels(figure); i++) put_sheet_panel(out, figure, i);
    for (unsigned i = 0; i < figure->matrix_count; i++) put_matrix_panel(out, figure, i);
    for (unsigned i = 0; i < figure->line_count; i++)
        if (opens_panel(figure, i)) put_line_panel(out, figure, i);
    fputs("  unset multiplot\n  set output\n}\n", out);
}

/* Runs gnuplot in the directory. Its messages go to the log; the first one becomes part of the error. */
static bool run_gnuplot(const char *folder, const char *script, const char *log, struct error *err) {
    char *words[] = {"gnuplot", mem_text(script), NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_addchdir_np(&actions, folder);
    pid_t child;
    int failed = posix_spawnp(&child, words[0], &actions, NULL, words, environ), status = 0;
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT)
        error_set(err, "gnuplot is not installed: no SVG and PDF files are written (Debian package: gnuplot-nox)");
    else if (failed)
        error_set(err, "cannot run gnuplot: %s", strerror(failed));
    else
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    if (!failed && status != 0) {
        char said[256] = "";
        FILE *file = fopen(log, "r");
        while (file && fgets(said, sizeof said, file) && strspn(said, " \t\n^") == strlen(said)) {
        }
        if (file) fclose(file);
        error_set(err, "%s: gnuplot failed: %.*s", script, (int)strcspn(said, "\n"), said);
    }
    free(words[1]);
    return !failed && status == 0;
}

static bool write_script(const struct figure *figure, const char *name, const char *path, struct error *err) {
    FILE *out = fopen(path, "w");
    if (!out) return error_set(err, "%s: %s", path, strerror(errno));
    put_script(out, figure, name);
    bool good = fflush(out) == 0 && !ferror(out);
    int number = errno;
    if (fclose(out) != 0 && good) good = false, number = errno;
    return good || error_set(err, "%s: %s", path, strerror(number));
}

/* Files are written to a temporary directory and then renamed, so that no partial file is visible. The script is kept
 * even if gnuplot fails. */
bool report_plot(const struct figure *figure, const char *folder, struct error *err) {
    enum { SCRIPT, SVG, PDF, LOG, FILES };
    static const char *const ends[FILES] = {".gnuplot", ".svg", ".pdf", ".log"};
    char *name = report_figure_name(figure), *script = text_format("%s%s", name, ends[SCRIPT]);
    char *draft = text_format("%s/%s.XXXXXX", folder, name), *from[FILES] = {0};
    struct draft listed, files[FILES] = {0};
    draft_list(&listed, draft);
    bool good = mkdtemp(draft) || error_set(err, "%s/%s: %s", folder, script, strerror(errno));
    for (unsigned i = 0; good && i < FILES; i++) {
        from[i] = text_format("%s/%s%s", draft, name, ends[i]);
        draft_list(&files[i], from[i]);
    }
    if (good) {
        bool written = write_script(figure, name, from[SCRIPT], err);
        good = written && run_gnuplot(draft, script, from[LOG], err);
        for (unsigned i = 0; i <= PDF; i++) {
            char *to = text_format("%s/%s%s", folder, name, ends[i]);
            if ((i == SCRIPT ? written : good) && rename(from[i], to) != 0)
                good = error_set(err, "%s: %s", to, strerror(errno));
            free(to);
        }
        for (unsigned i = 0; i < FILES; i++) unlink(from[i]); /* those that were not renamed */
        rmdir(draft);
    }
    for (unsigned i = 0; i < FILES; i++) {
        draft_unlist(&files[i]);
        free(from[i]);
    }
    draft_unlist(&listed);
    free(draft);
    free(script);
    free(name);
    return good;
}
