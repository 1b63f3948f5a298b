/* `sluice reproduce`: `sluice lab run` followed by `sluice report`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/job.h"
#include "cli/lab.h"
#include "cli/report_page.h"
#include "cli/verify.h"

struct reproduce_values {
    const char *output, *store, *size, *kept, *on_violation;
    uint64_t processes, verify, seed, within;
};

static const struct option options[] = {
    {"-j", "N", OPTION_COUNT, offsetof(struct reproduce_values, processes),
     "number of parallel runs; default: one per processor"},
    {"-o", "FILE", OPTION_TEXT, offsetof(struct reproduce_values, output),
     "report file; default: the name of the paper or figure (adaptive.html)"},
    {"--store", "FILE", OPTION_TEXT, offsetof(struct reproduce_values, store),
     "results store; default: " DEFAULT_STORE "; runs in it are not simulated again"},
    {"--size", "SIZE", OPTION_TEXT, offsetof(struct reproduce_values, size),
     "use this workload size instead of the experiments'"},
    {VIOLATION_OPTION, "warn|error", OPTION_TEXT, offsetof(struct reproduce_values, on_violation), VIOLATION_HELP},
    {"--verify", "N", OPTION_COUNT, offsetof(struct reproduce_values, verify),
     "rerun N of the kept results (data/results) instead, and compare them exactly"},
    {"--within", "SECONDS", OPTION_COUNT, offsetof(struct reproduce_values, within),
     "--verify: draw from the fastest results only, which took this time in total"},
    {"--seed", "K", OPTION_COUNT, offsetof(struct reproduce_values, seed), "--verify: seed of the draw; default: 1"},
    {"--kept", "DIR", OPTION_TEXT, offsetof(struct reproduce_values, kept),
     "--verify: directory of kept results; default: the bundled one"},
};

/* "adaptive-fig11.html" for "adaptive/fig11"; "report.html" for several experiments. */
static char *page_name(const struct arguments *arguments) {
    if (arguments->count > 1) return mem_text("report.html");
    const char *slash = strrchr(arguments->word[0], '/');
    bool is_file = strstr(arguments->word[0], ".yaml") != NULL;
    char *name = text_format("%s", is_file && slash ? slash + 1 : arguments->word[0]);
    for (char *c = name; *c; c++)
        if (*c == '/') *c = '-';
    char *page = text_format("%.*s.html", (int)strcspn(name, "."), name);
    free(name);
    return page;
}

static enum status reproduce(const struct command *command, int argc, char **argv) {
    struct reproduce_values values = {0};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count == 0)
        return complain(command, "missing experiment: a paper (adaptive, icc, selrep, bypass), one of its figures"
                                 " (`sluice list experiments`), `quick` or `microbench`");
    if (!values.verify && (values.within || values.seed || values.kept))
        return complain(command, "--within, --seed and --kept require --verify");
    if (values.verify && (values.output || values.store || values.size))
        return complain(command, "--verify writes no report: omit -o, --store and --size");
    if (values.verify && values.on_violation)
        return complain(command, "--verify fails on every violation: omit " VIOLATION_OPTION);
    if (values.verify)
        return verify(&(struct verify_request){arguments.word, arguments.count, values.kept, values.verify,
                                               values.seed ? values.seed : 1, values.within, values.processes});
    const char *store = values.store ? values.store : DEFAULT_STORE;
    char *page = values.output ? mem_text(values.output) : page_name(&arguments);
    struct report_request shown = {
        .experiments = arguments.word, .count = arguments.count, .store = store, .size = values.size, .output = page};
    struct error err = {0};
    enum status status = output_check(page, &err) ? STATUS_DONE : complain_error(&err);
    if (status == STATUS_DONE)
        status = lab_make(&(struct lab_request){arguments.word, arguments.count, store, values.size, values.processes,
                                                values.on_violation});
    if (status != STATUS_BAD_INPUT) { /* failed runs are shown as missing */
        enum status made = report_make(&shown);
        if (status == STATUS_DONE) status = made;
    }
    free(page);
    return status;
}

static const char *const details[] = {
    "Simulates the runs of a paper's experiments, as `sluice lab run` does, and builds their report, as `sluice"
    " report` does. PAPER is adaptive, icc, selrep or bypass, PAPER/FIGURE one of its figures, `quick` a few headline"
    " comparisons that take minutes, `microbench` the microbenchmarks of V100, A100 and H100 with published measurements"
    " (docs/machines.md). If interrupted, rerun the command to continue.",
    "With --verify N, nothing is reported: N of the paper's kept results, drawn by a seed, are simulated again by this program"
    " and compared value by value. A result that was kept from another version of the model is marked `model changed"
    " since`. The exit status is 1 if a value differs.",
    NULL,
};

static const struct example examples[] = {
    {"sluice reproduce quick/sharing --size tiny", "simulate one figure with tiny inputs and build quick-sharing.html"},
    {"sluice reproduce icc --verify 2 --within 20", "rerun two of the fast kept results of a paper and compare them"},
};

const struct command command_reproduce = {
    .name = "reproduce",
    .synopsis = "reproduce PAPER[/FIGURE]...",
    .summary = "runs a paper's experiments and builds their report",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = reproduce,
};
