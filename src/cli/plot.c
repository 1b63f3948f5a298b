/* `sluice plot`: charts of one or several runs, from the JSON of `sluice run`. Each kind of chart is a file, plot_KIND.c. */
#include "cli/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/svg.h"

#define DEFAULT_OUTPUT "plot.html"

struct plot_values {
    const char *output;
    struct text_list kinds, counters;
};

static const struct option options[] = {
    {"-o", "FILE", OPTION_TEXT, offsetof(struct plot_values, output),
     "output file: .html (page with all values), .svg or .png (rsvg-convert draws it); default: " DEFAULT_OUTPUT},
    {"--kind", "stalls|series|units|roofline|latency|kernels", OPTION_LIST, offsetof(struct plot_values, kinds),
     "draw this kind of chart; repeatable; default: all that the runs have values for"},
    {"--counter", "NAME|FORMULA", OPTION_LIST, offsetof(struct plot_values, counters),
     "counter, or formula over counters as in experiments (docs/experiments.md), that series and units show instead of"
     " their defaults; repeatable; a plain counter is shown per cycle in series"},
};

static const struct plot_kind *const kinds[] = {&plot_stalls,   &plot_series,  &plot_units,
                                                &plot_roofline, &plot_latency, &plot_kernels};

/* --- for all kinds --- */

static struct plot_class class_of(char letter, unsigned i) {
    struct plot_class name;
    snprintf(name.text, sizeof name.text, "%c%u", letter, i % SVG_COLOURS);
    return name;
}

struct plot_class plot_fill(unsigned i) {
    return class_of('c', i);
}
struct plot_class plot_stroke(unsigned i) {
    return class_of('s', i);
}

enum { NAME_GAP = 8 }; /* between a name and its bar */

double plot_names(double widest, double least) { return fmin(PLOT_NAMES, fmax(least, widest + NAME_GAP)); }

double plot_widest_label(const struct plot_input *input) {
    double widest = 0;
    for (unsigned i = 0; i < input->count; i++) widest = fmax(widest, svg_text_width(input->run[i]->label));
    return widest;
}

void plot_name(FILE *out, double left, double y, const char *class_name, const char *name) {
    svg_text_within(out, left - NAME_GAP, y, left - NAME_GAP, class_name, "end", name);
}

double plot_legend(const struct plot_input *input, FILE *out, double y) {
    struct plot_class classes[PLOT_RUNS];
    const char *names[PLOT_RUNS], *class_names[PLOT_RUNS];
    for (unsigned i = 0; i < input->count; i++) {
        classes[i] = plot_fill(i);
        class_names[i] = classes[i].text;
        names[i] = input->run[i]->label;
    }
    return input->count < 2 ? 0 : svg_legend(out, 0, y, PLOT_WIDTH, class_names, names, input->count);
}

struct expression *plot_expression(const char *formula) {
    struct error err = {0};
    unsigned at;
    struct expression *expression = expression_parse(formula, &at, &err);
    assert(expression);
    return expression;
}

/* --- runs and their labels --- */

static const char *const named_by[] = {"workload", "gpu", "design"};

/* The names in which runs differ; the file if they do not tell a run from all others. */
static void label_runs(struct plot_run *runs, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        bool shown[COUNT_OF(named_by)] = {count == 1, false, false}, unique = true;
        for (unsigned other = 0; other < count; other++) {
            bool same = true;
            for (unsigned k = 0; k < COUNT_OF(named_by); k++) {
                if (strcmp(result_text(runs[i].json, named_by[k]), result_text(runs[other].json, named_by[k])) == 0)
                    continue;
                shown[k] = true;
                same = false;
            }
            unique &= !same || other == i;
        }
        size_t used = 0, size = sizeof runs[i].label;
        for (unsigned k = 0; k < COUNT_OF(named_by); k++)
            if (shown[k] && used < size)
                used += (size_t)snprintf(runs[i].label + used, size - used, "%s%.40s", used ? ", " : "",
                                         result_text(runs[i].json, named_by[k]));
        const char *slash = strrchr(runs[i].file, '/');
        if (!unique) snprintf(runs[i].label, size, "%.100s", slash ? slash + 1 : runs[i].file);
    }
}

static bool read_runs(struct plot_run *runs, const struct arguments *arguments, struct arena *arena,
                      struct error *err) {
    for (unsigned i = 0; i < arguments->count; i++) {
        runs[i].file = arguments->word[i];
        runs[i].json = result_read(arena, runs[i].file, err);
        if (!runs[i].json) return false;
    }
    label_runs(runs, arguments->count);
    return true;
}

/* --- options --- */

static const struct plot_kind *kind_named(const char *name) {
    for (unsigned i = 0; i < COUNT_OF(kinds); i++)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}

static bool kinds_are_good(const struct command *command, const struct plot_values *values) {
    for (unsigned i = 0; i < values->kinds.count; i++) {
        const char *names[COUNT_OF(kinds)];
        char near[128];
        if (kind_named(values->kinds.text[i])) continue;
        for (unsigned k = 0; k < COUNT_OF(kinds); k++) names[k] = kinds[k]->name;
        hint(values->kinds.text[i], names, COUNT_OF(names), near, sizeof near);
        complain(command, "--kind `%s`:%s", values->kinds.text[i],
                 near[0] ? near : " expected stalls, series, units, roofline, latency or kernels");
        return false;
    }
    return true;
}

/* The counter of the first run that is nearest to a name. */
static const char *nearest_counter(struct arena *arena, const struct plot_run *run, const char *name) {
    const char **names = NULL;
    unsigned count = 0;
    for (const struct json_value *stat = json_member(run->json, "stats")->first; stat; stat = stat->next)
        *(const char **)ARENA_APPEND(arena, names, count) = stat->key;
    return nearest_name(name, names, count);
}

/* Every name of a formula must be a value of a run. */
static bool counter_is_good(const char *text, const struct plot_run *runs, unsigned count, struct arena *arena,
                            struct error *err) {
    struct error inner = {0};
    unsigned at;
    struct expression *expression = expression_parse(text, &at, &inner);
    if (!expression) return error_set(err, "--counter `%s`: character %u: %s", text, at + 1, inner.text);
    const char *name;
    for (unsigned i = 0; (name = expression_name(expression, i, NULL)); i++) {
        bool found = false;
        for (unsigned k = 0; k < count; k++) found |= !isnan(result_value(runs[k].json, name));
        if (found) continue;
        const char *near = nearest_counter(arena, &runs[0], name);
        error_set(err, "--counter `%s`: %s has no counter `%s`;%s%s%s", text, runs[0].file, name,
                  near ? " did you mean `" : "", near ? near : " `sluice list stats` lists them", near ? "`?" : "");
        break;
    }
    expression_free(expression);
    return !err->set;
}

static bool read_counters(struct plot_input *input, const struct plot_values *values, const struct plot_run *runs,
                          unsigned count, struct error *err) {
    struct plot_metric *metrics = arena_alloc(input->arena, TEXT_LIST_MAX, sizeof *metrics);
    for (unsigned i = 0; i < values->counters.count; i++) {
        const char *text = values->counters.text[i];
        if (!counter_is_good(text, runs, count, input->arena, err)) return false;
        metrics[i] = (struct plot_metric){text, "", text};
    }
    input->counter = metrics;
    input->counter_count = values->counters.count;
    return true;
}

/* --- drawing --- */

static bool is_wanted(const struct plot_values *values, const struct plot_kind *kind) {
    for (unsigned i = 0; i < values->kinds.count; i++)
        if (strcmp(values->kinds.text[i], kind->name) == 0) return true;
    return values->kinds.count == 0;
}

/* A kind that was asked for needs values of every run; otherwise it shows the runs that have them. */
static bool draw_all(struct plot_input *input, const struct plot_values *values, const struct plot_run *runs,
                     unsigned count, struct error *err) {
    const struct plot_run *chosen[PLOT_RUNS];
    input->run = chosen;
    for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
        if (!is_wanted(values, kinds[i])) continue;
        input->count = 0;
        for (unsigned k = 0; k < count; k++) {
            const char *lack = kinds[i]->lacks(&runs[k]);
            if (lack && values->kinds.count)
                return error_set(err, "%s: --kind %s: %s", runs[k].file, kinds[i]->name, lack);
            if (!lack) chosen[input->count++] = &runs[k];
        }
        if (input->count) kinds[i]->draw(input);
    }
    return input->charts->count > 0 || error_set(err, "%s: there is nothing to draw", runs[0].file);
}

/* What the runs have in common, and for several runs their labels. */
static char *title_of(const struct plot_run *runs, unsigned count) {
    bool one_workload = true;
    for (unsigned i = 1; i < count; i++)
        one_workload &= strcmp(result_text(runs[i].json, "workload"), result_text(runs[0].json, "workload")) == 0;
    char *title = mem_text(one_workload ? result_text(runs[0].json, "workload") : "Runs");
    for (unsigned i = 0; count > 1 && i < count; i++) {
        char *longer = text_format("%s%s%s", title, i ? ", " : ": ", runs[i].label);
        free(title);
        title = longer;
    }
    return title;
}

static enum status make(const struct plot_values *values, const struct arguments *arguments, struct arena *arena) {
    const char *output = values->output ? values->output : DEFAULT_OUTPUT;
    struct error err = {0};
    struct plot_run runs[PLOT_RUNS] = {0};
    struct charts charts = {0};
    struct plot_input input = {.arena = arena, .charts = &charts};
    enum status status = STATUS_DONE;
    if (!charts_check(output, &err) || !read_runs(runs, arguments, arena, &err) ||
        !read_counters(&input, values, runs, arguments->count, &err) ||
        !draw_all(&input, values, runs, arguments->count, &err)) {
        status = complain_error(&err);
    } else {
        char *title = title_of(runs, arguments->count);
        char *lead = text_format("%s, design %s, %s.", result_text(runs[0].json, "gpu"),
                                 result_text(runs[0].json, "design"), runs[0].file);
        if (charts_write(&charts, output, title, arguments->count == 1 ? lead : NULL, &err))
            printf("%s: %u chart%s\n", output, charts.count, charts.count == 1 ? "" : "s");
        else
            status = (complain_error(&err), STATUS_FAILED);
        free(lead);
        free(title);
    }
    charts_free(&charts);
    return status;
}

static enum status plot(const struct command *command, int argc, char **argv) {
    struct plot_values values = {0};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count == 0) return complain(command, "missing run: a file written by `sluice run ... --json FILE`");
    if (arguments.count > PLOT_RUNS) return complain(command, "more than %d runs", PLOT_RUNS);
    if (!kinds_are_good(command, &values)) return STATUS_BAD_INPUT;
    struct arena *arena = arena_create();
    enum status status = make(&values, &arguments, arena);
    arena_destroy(arena);
    return status;
}

static const char *const details[] = {
    "Draws results of `sluice run ... --json FILE`. `stalls`: the SM cycle breakdown, a bar per run. `series`: IPC, issue,"
    " hit rates and DRAM traffic over time (needs --sample of `sluice run`), a line per run. `units`: heat maps of SMs,"
    " slices and channels, also over time for the counters of --sample-units. `roofline`: warp instructions per cycle"
    " against warp instructions per byte of DRAM and LLC traffic, with the ceilings of the machine. `latency`: the"
    " latency breakdown of loads by level and stage, and their histogram, for runs with --latency of `sluice run`; for"
    " others, mean latencies of loads, networks, LLC and DRAM. `kernels`: the IPC of each launch over the cycles that it"
    " takes, for runs with several launches.",
    "An HTML page needs no other file, follows the light or dark scheme of the reader's system, and has the values of every"
    " chart as a table. Charts show a value when the mouse is over it.",
    NULL,
};

static const struct example examples[] = {
    {"sluice plot shared.json -o shared.html", "draw all charts of a run"},
    {"sluice plot shared.json private.json --kind stalls --kind roofline -o llc.svg", "compare two runs"},
    {"sluice plot shared.json --kind series --counter l1.evictions --counter '100 * dram.row_hits / dram.reads'",
     "show other counters over time"},
};

const struct command command_plot = {
    .name = "plot",
    .synopsis = "plot RUN.json... [OPTIONS]",
    .summary = "draws charts of runs: stalls, time series, units, roofline, latencies, kernels",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = plot,
};
