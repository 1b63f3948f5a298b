/* `sluice correlate`: runs the kernels of a reference folder on its machines, and compares our counters with those of the
 * folder. */
#include "cli/correlate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/draft.h"
#include "base/output.h"
#include "cli/lab.h"
#include "cli/progress.h"
#include "lab/intake.h"
#include "lab/program_file.h"
#include "lab/runner.h"

struct correlate_values {
    const char *output, *json;
    struct text_list machines, kernels, metrics;
    uint64_t processes;
    bool check;
};

static const struct option options[] = {
    {"--check", NULL, OPTION_FLAG, offsetof(struct correlate_values, check),
     "end with exit status 1 unless instructions and L1 accesses are equal, misses within 5 % of accesses, DRAM reads"
     " within 5 %, and cycles within 20 % for each kernel and 7 % on average for each machine"},
    {"--machine", "NAME", OPTION_LIST, offsetof(struct correlate_values, machines),
     "compare this machine only; repeatable"},
    {"--kernel", "NAME", OPTION_LIST, offsetof(struct correlate_values, kernels),
     "compare this kernel only; repeatable"},
    {"--metric", "NAME", OPTION_LIST, offsetof(struct correlate_values, metrics),
     "compare this metric only, such as cycles or `L1 read misses`; repeatable"},
    {"-o", "FILE", OPTION_TEXT, offsetof(struct correlate_values, output),
     "draw a scatter plot per metric: .html (page with all values), .svg or .png"},
    {"--json", "FILE", OPTION_TEXT, offsetof(struct correlate_values, json),
     "write all values, errors and correlations as JSON (`-`: standard output, instead of the table)"},
    {"-j", "N", OPTION_COUNT, offsetof(struct correlate_values, processes),
     "parallel runs; default: one per processor"},
};

/* --- runs --- */

struct correlation {
    struct reference reference;
    struct batch *batch; /* a run per row */
    bool shown, drawn;   /* a progress line on the terminal */
};

static struct batch *batch_of(const struct reference *reference, struct error *err) {
    struct batch *batch = mem_alloc(1, sizeof *batch);
    batch->runs = mem_alloc(reference->row_count, sizeof *batch->runs);
    for (; batch->count < reference->row_count; batch->count++) {
        const struct reference_row *row = &reference->row[batch->count];
        const struct reference_machine *machine = reference->machine;
        while (strcmp(machine->name, row->machine) != 0) machine++;
        struct program_file file;
        if (!program_file_open(&file, row->launch, err)) {
            batch_free(batch);
            return NULL;
        }
        struct batch_run *run = &batch->runs[batch->count];
        *run = (struct batch_run){.job = mem_text(row->kernel),
                                  .option = mem_text(file.option),
                                  .path = mem_text(file.path),
                                  .content = mem_text(file.content),
                                  .workload = mem_text(file.workload),
                                  .title = text_format("%s on %s", row->kernel, row->machine),
                                  .after = -1,
                                  .expected_seconds = 1,
                                  .guessed = true};
        program_file_release(&file);
        identity_of_text(run->title, run->identity);
        run->words = mem_alloc(2 + 2 * (size_t)machine->setting_count, sizeof *run->words);
        run->words[run->word_count++] = mem_text("--gpu");
        run->words[run->word_count++] = mem_text(machine->gpu);
        for (unsigned i = 0; i < machine->setting_count; i++) {
            run->words[run->word_count++] = mem_text("--set");
            run->words[run->word_count++] = mem_text(machine->settings[i]);
        }
    }
    batch->asked = batch->distinct = batch->count;
    return batch;
}

static bool take(void *user, const struct batch_run *run, const char *path, struct error *err) {
    struct correlation *all = user;
    struct reference_row *row = &all->reference.row[run - all->batch->runs];
    row->result = result_read(all->reference.arena, path, err);
    unlink(path);
    return row->result != NULL;
}

static void undraw(struct correlation *all) {
    if (all->drawn) fputs("\r\x1b[K", stderr);
    all->drawn = false;
}

static bool report_failure(void *user, const struct batch_run *run, struct error *err) {
    (void)err;
    undraw(user);
    complain(NULL, "%s: %s", run->title, run->why);
    return true;
}

static void report_warning(void *user, const char *title, const char *warning) {
    undraw(user);
    complain(NULL, "warning: %s: %s", title, warning);
}

static bool step(void *user, const struct runner_progress *progress) {
    struct correlation *all = user;
    if (all->shown) fprintf(stderr, "\r%u of %u runs\x1b[K", progress->done, progress->total);
    all->drawn = all->shown;
    return !signals_caught();
}

/* Results go through a directory of their own, which is removed. */
static bool run_all(struct correlation *all, uint64_t processes, struct error *err) {
    struct batch *batch = all->batch;
    const char *parent = getenv("TMPDIR");
    char *folder = text_format("%s/sluice-XXXXXX", parent && parent[0] ? parent : "/tmp");
    struct draft draft;
    draft_list(&draft, folder);
    bool good = mkdtemp(folder) || error_set(err, "%s: %s; set TMPDIR to another directory", folder, strerror(errno));
    struct draft *results = mem_alloc(batch->count, sizeof *results);
    char **paths = mem_alloc(batch->count, sizeof *paths);
    for (unsigned i = 0; i < batch->count; i++) {
        paths[i] = text_format("%s/%s.json", folder, batch->runs[i].identity);
        draft_list(&results[i], paths[i]);
    }
    if (good) {
        struct runner_options runner = {.program = "/proc/self/exe",
                                        .results = folder,
                                        .files = folder,
                                        .processes = (unsigned)min_u64(lab_processes(processes), batch->count),
                                        .take = take,
                                        .failed = report_failure,
                                        .warned = report_warning,
                                        .step = step,
                                        .user = all};
        all->shown = isatty(STDERR_FILENO);
        good = runner_run(batch, &runner, err);
        undraw(all);
    }
    for (unsigned i = 0; i < batch->count; i++) {
        unlink(paths[i]); /* of an interrupted command */
        draft_unlist(&results[i]);
        free(paths[i]);
    }
    free(paths);
    free(results);
    intake_sweep(folder); /* drafts of killed runs */
    rmdir(folder);
    draft_unlist(&draft);
    free(folder);
    for (unsigned i = 0; good && i < batch->count; i++)
        if (batch->runs[i].state == BATCH_WAITING) good = error_set(err, "interrupted");
    return good;
}

/* --- output --- */

static void print_violation(void *user, const char *text) { fprintf(user, "%s\n", text); }

static char *lead_of(const struct reference *reference) {
    return text_format("%u kernels on %u machines of %s, each with its counters in Sluice %s.", reference->row_count,
                       reference->machine_count, reference->folder, SLUICE_VERSION);
}

static enum status write_results(const struct correlate_values *values, const struct reference *reference) {
    struct error err = {0};
    bool piped = values->json && strcmp(values->json, "-") == 0, good = true;
    if (!piped) correlate_write_table(reference, stdout);
    if (values->json) good = output_write(values->json, correlate_write_json, reference, &err);
    if (values->output && good) {
        struct charts charts = {0};
        char *lead = lead_of(reference);
        correlate_draw(reference, &charts);
        good = charts_write(&charts, values->output, "Correlation", lead, &err);
        if (good && !piped) printf("plots: %s\n", values->output);
        free(lead);
        charts_free(&charts);
    }
    if (!piped && reference->without_launch)
        printf("%u row%s without a launch file left out\n", reference->without_launch,
               plural(reference->without_launch));
    if (!good) return complain_error(&err), STATUS_FAILED;
    if (!values->check) return STATUS_DONE;
    return correlate_violations(reference, print_violation, piped ? stderr : stdout) ? STATUS_FAILED : STATUS_DONE;
}

static enum status make(const struct correlate_values *values, const char *folder, struct correlation *all) {
    struct reference *reference = &all->reference;
    struct correlate_filter filter = {&values->machines, &values->kernels, &values->metrics};
    struct error err = {0};
    if ((values->output && !charts_check(values->output, &err)) ||
        (values->json && !output_check(values->json, &err)) || !reference_read(reference, folder, &filter, &err) ||
        !(all->batch = batch_of(reference, &err)))
        return complain_error(&err);
    signals_catch();
    enum status status = STATUS_FAILED;
    if (run_all(all, values->processes, &err)) {
        correlate_evaluate(reference);
        bool complete = true;
        for (unsigned i = 0; i < reference->row_count; i++) complete &= reference->row[i].result != NULL;
        if (complete)
            status = write_results(values, reference);
        else /* files are complete or absent */
            correlate_write_table(reference, stdout);
    } else {
        complain_error(&err);
    }
    batch_free(all->batch);
    return status;
}

static enum status correlate(const struct command *command, int argc, char **argv) {
    struct correlate_values values = {0};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count != 1)
        return complain(command, "expected one folder of reference counters, such as data/reference/gpgpusim");
    struct correlation all = {.reference.arena = arena_create()};
    enum status status = make(&values, arguments.word[0], &all);
    arena_destroy(all.reference.arena);
    return status;
}

static const char *const details[] = {
    "Runs the kernels of a folder on its machines, and prints our counters next to those of another simulator or of hardware,"
    " with the error of each kernel, the mean absolute error of each machine, and the correlation. The folder has launch"
    " files (launch/KERNEL.yaml), a table of machines (machines.csv: machine,gpu,settings), and tables of reference counters"
    " (*.csv, first columns machine,kernel). docs/correlate.md lists the columns that have a counterpart, and how columns.csv"
    " defines others.",
    NULL,
};

static const struct example examples[] = {
    {"sluice correlate data/reference/gpgpusim --kernel vecadd --kernel reduce --kernel fma -o correlate.html",
     "compare three kernels with GPGPU-Sim 4, with scatter plots"},
    {"sluice correlate data/reference/gpgpusim --machine corr15f --check",
     "check that all errors of a machine are within their bounds"},
};

const struct command command_correlate = {
    .name = "correlate",
    .synopsis = "correlate DIR [OPTIONS]",
    .summary = "compares counters with those of another simulator or of hardware",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = correlate,
};
