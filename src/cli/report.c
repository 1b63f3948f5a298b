/* `sluice report`: results of experiments as an HTML report and as plots. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/lab.h"
#include "cli/report_page.h"
#include "lab/kept.h"
#include "report/report.h"

static const struct option options[] = {
    {"-o", "FILE", OPTION_TEXT, offsetof(struct report_request, output),
     "report file; default: report.html; the plots go to a directory next to it, report.figures"},
    {"--store", "FILE", OPTION_TEXT, offsetof(struct report_request, store),
     "results store of `sluice lab run`; default: " DEFAULT_STORE},
    {"--size", "SIZE", OPTION_TEXT, offsetof(struct report_request, size), "show the runs with this workload size"},
    {"--kept", "DIR", OPTION_TEXT, offsetof(struct report_request, kept),
     "show kept results (`sluice lab export --kept`) instead of those of a store"},
    {"--json", "FILE", OPTION_TEXT, offsetof(struct report_request, json),
     "write the figures as JSON (values, ranges over seeds, published values, verdicts) instead of a report; `-`:"
     " standard output"},
    {"--title", "TEXT", OPTION_TEXT, offsetof(struct report_request, title), "title of the report"},
};

/* --- figures --- */

struct gallery {
    struct figure **figures;
    const char **models; /* by figure: model digest of its runs */
    struct kept *kept;   /* by figure, or NULL */
    unsigned count;
};

static void gallery_close(struct gallery *gallery) {
    for (unsigned i = 0; i < gallery->count; i++) figure_free(gallery->figures[i]);
    for (unsigned i = 0; gallery->kept && i < gallery->count; i++) kept_close(&gallery->kept[i]);
    free(gallery->kept);
    free(gallery->models);
    free(gallery->figures);
}

/* The figure of kept results. */
static struct figure *figure_kept(struct kept *kept, const struct plan *plan, const char *folder, const char *size,
                                  struct error *err) {
    char *path = kept_path(folder, plan->experiment, size);
    struct figure *figure = kept_open(kept, plan, path, err) ? figure_make(plan, kept->store, err) : NULL;
    if (!figure && kept->arena) kept_close(kept);
    free(path);
    return figure;
}

/* From a store, or without one from the kept results of a directory. */
static bool gallery_open(struct gallery *gallery, const struct request *asked, struct store *store, const char *folder,
                         struct error *err) {
    *gallery = (struct gallery){.figures = mem_alloc(asked->count, sizeof(struct figure *)),
                                .models = mem_alloc(asked->count, sizeof(const char *)),
                                .kept = store ? NULL : mem_alloc(asked->count, sizeof(struct kept))};
    for (; gallery->count < asked->count; gallery->count++) {
        unsigned i = gallery->count;
        struct figure *figure = store ? figure_make(asked->plans[i], store, err)
                                      : figure_kept(&gallery->kept[i], asked->plans[i], folder, asked->size, err);
        if (!figure) return false;
        gallery->figures[i] = figure;
        gallery->models[i] = store ? identity_model() : kept_model(&gallery->kept[i]);
    }
    return true;
}

/* --- output --- */

/* "out/report.figures" for "out/report.html". */
static char *plots_folder(const char *page) {
    size_t length = strlen(page);
    if (length > 5 && strcmp(page + length - 5, ".html") == 0) length -= 5;
    return text_format("%.*s.figures", (int)length, page);
}

/* A figure that cannot be plotted does not prevent the report. False, after one error message, if any cannot. */
static bool plot_all(const struct gallery *gallery, const char *folder) {
    struct error err = {0};
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) error_set(&err, "%s: %s", folder, strerror(errno));
    for (unsigned i = 0; i < gallery->count && !err.set; i++)
        if (report_is_plotted(gallery->figures[i])) report_plot(gallery->figures[i], folder, &err);
    if (err.set) complain_error(&err);
    return !err.set;
}

static const char *title_of(const struct gallery *gallery) {
    const char *title = gallery->figures[0]->experiment->paper_title;
    for (unsigned i = 1; i < gallery->count; i++)
        if (strcmp(gallery->figures[i]->experiment->paper_title, title) != 0) title = "";
    if (gallery->count == 1) title = gallery->figures[0]->experiment->title;
    return title[0] ? title : "Sluice results";
}

static void print_result(const struct gallery *gallery, const char *page, const char *folder) {
    unsigned missing = 0, papers = 0;
    for (unsigned i = 0; i < gallery->count; i++) {
        missing += gallery->figures[i]->missing;
        papers += gallery->figures[i]->paper_count;
    }
    printf("%s: %u figure%s", page, gallery->count, gallery->count == 1 ? "" : "s");
    if (papers) printf(", %u published value%s", papers, papers == 1 ? "" : "s");
    if (missing) printf(", %u run%s missing", missing, missing == 1 ? "" : "s");
    if (folder) printf("; SVG and PDF in %s", folder);
    putchar('\n');
}

static void write_figures(FILE *out, const void *what) {
    const struct gallery *gallery = what;
    struct report report = {.title = title_of(gallery),
                            .figures = (const struct figure *const *)gallery->figures,
                            .models = gallery->models,
                            .count = gallery->count};
    report_json(&report, out);
}

static enum status make_json(const struct gallery *gallery, const struct report_request *request) {
    struct error err = {0};
    if (!output_write(request->json, write_figures, gallery, &err)) return complain_error(&err), STATUS_FAILED;
    return STATUS_DONE;
}

static enum status make(const struct gallery *gallery, const struct report_request *request) {
    char *folder = plots_folder(request->output);
    const char *slash = strrchr(folder, '/');
    bool plotted = plot_all(gallery, folder);
    struct report report = {
        .title = request->title ? request->title : title_of(gallery),
        .figures = (const struct figure *const *)gallery->figures,
        .models = gallery->models,
        .count = gallery->count,
        .plots = !plotted ? NULL
                 : slash  ? slash + 1
                          : folder,
        .chart_library = report_chart_library(),
    };
    if (!report.chart_library)
        complain(NULL,
                 "Chart.js is not installed: the report has tables but no charts (Debian package: libjs-chart.js)");
    struct error err = {0}, closing = {0};
    struct output output;
    bool good = output_open(&output, request->output, &err);
    if (good) {
        good = report_page(&report, output.file, &err);
        if (!output_close(&output, good, &closing) && good) err = closing, good = false;
    }
    if (good)
        print_result(gallery, request->output, plotted ? folder : NULL);
    else
        complain_error(&err);
    free(folder);
    return good && plotted && report.chart_library ? STATUS_DONE : STATUS_FAILED;
}

enum status report_make(const struct report_request *request) {
    struct error err = {0};
    struct request asked = {0};
    struct gallery gallery = {0};
    bool good = output_check(request->json ? request->json : request->output, &err) &&
                request_read(&asked, request->experiments, request->count, request->size, &err);
    struct store *store = good && !request->kept ? store_open(request->store, STORE_READ, &err) : NULL;
    good = (request->kept ? good : store != NULL) && (request->count > 0 || request_read_stored(&asked, store, &err)) &&
           gallery_open(&gallery, &asked, store, request->kept, &err);
    enum status status = !good           ? complain_error(&err)
                         : request->json ? make_json(&gallery, request)
                                         : make(&gallery, request);
    gallery_close(&gallery);
    request_free(&asked);
    if (store) store_close(store);
    return status;
}

/* --- the command --- */

static bool is_store(const char *path) {
    static const char magic[] = "SQLite format 3";
    char start[sizeof magic] = "";
    FILE *file = fopen(path, "r");
    if (!file) return false;
    size_t length = fread(start, 1, sizeof start, file);
    fclose(file);
    return length == sizeof start && memcmp(start, magic, sizeof magic) == 0;
}

/* Arguments are experiments and at most one store, which is removed from them. */
static bool take_store(const struct command *command, struct arguments *arguments, struct report_request *request) {
    unsigned left = 0;
    for (unsigned i = 0; i < arguments->count; i++) {
        if (!is_store(arguments->word[i])) {
            arguments->word[left++] = arguments->word[i];
        } else if (request->store) {
            complain(command, "more than one store: %s and %s; `sluice lab merge` merges them", request->store,
                     arguments->word[i]);
            return false;
        } else {
            request->store = arguments->word[i];
        }
    }
    arguments->count = left;
    return request->store || left ||
           (complain(command, "missing argument: experiments (`sluice list experiments`) or a results store"), false);
}

static enum status report(const struct command *command, int argc, char **argv) {
    struct report_request request = {.output = "report.html"};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &request, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (!take_store(command, &arguments, &request)) return STATUS_BAD_INPUT;
    if (strcmp(request.output, "-") == 0) return complain(command, "a report cannot be written to standard output");
    if (request.kept && (request.store || arguments.count == 0))
        return complain(command, request.store ? "--kept and a store exclude each other"
                                               : "--kept requires the experiments to show");
    if (!request.store) request.store = DEFAULT_STORE;
    request.experiments = arguments.word;
    request.count = arguments.count;
    return report_make(&request);
}

static const char *const details[] = {
    "Builds an HTML report of experiment results, one self-contained file. Each figure has a chart, the published"
    " values next to the simulated ones, the findings, the table of values and the configuration. EXPERIMENT is a"
    " bundled experiment (`sluice list experiments`), a set of experiments (`adaptive`) or a YAML file; STORE selects"
    " every experiment in a results store. Runs that are not in the store are shown as missing.",
    "FILE.figures, next to the report, holds each figure as SVG and PDF with its gnuplot script. Without gnuplot or"
    " Chart.js, the report lacks these files or the charts, and the exit status is 1.",
    NULL,
};

static const struct example examples[] = {
    {"sluice report quick --size tiny -o quick.html", "build the report of a set of experiments from the stored runs"},
};

const struct command command_report = {
    .name = "report",
    .synopsis = "report EXPERIMENT...|STORE [-o FILE]",
    .summary = "builds an HTML report of experiment results next to the published values",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = report,
};
