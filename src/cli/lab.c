/* `sluice lab`: the command, and its subcommands on a store: status, gather, merge, export. */
#include "cli/lab.h"
#include "cli/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/output.h"
#include "base/path.h"
#include "lab/kept.h"
#include "lab/slurm.h"

static const struct option options[] = {
    {"--store", "FILE", OPTION_TEXT, offsetof(struct lab_values, store),
     "results store, an SQLite file (docs/store.md); default: " DEFAULT_STORE " in the current directory"},
    {"-j", "N", OPTION_COUNT, offsetof(struct lab_values, processes),
     "run: number of parallel runs; default: one per processor"},
    {"--size", "SIZE", OPTION_TEXT, offsetof(struct lab_values, size),
     "run, status, export: use this workload size instead of the experiment's; launch files, recordings and traces have only"
     " one"},
    {VIOLATION_OPTION, "warn|error", OPTION_TEXT, offsetof(struct lab_values, on_violation), "run: " VIOLATION_HELP},
    {"--dry-run", NULL, OPTION_FLAG, offsetof(struct lab_values, dry_run),
     "run: only report the number of runs, how many are cached, and the expected time for the rest"},
    {"--watch", NULL, OPTION_FLAG, offsetof(struct lab_values, watch),
     "run: show the runs under way (share done, IPC over time, issue and hit rates) and the last results (docs/timeline.md)"},
    {"--slurm", NULL, OPTION_FLAG, offsetof(struct lab_values, slurm),
     "run: submit the runs to a cluster as Slurm job arrays"},
    {"--wait", NULL, OPTION_FLAG, offsetof(struct lab_values, wait),
     "run --slurm: wait until the cluster has finished, and import results as they complete"},
    {"--partition", "NAME", OPTION_TEXT, offsetof(struct lab_values, partition),
     "run --slurm: partition; default: the experiment's, or Slurm's default"},
    {"--time", "LIMIT", OPTION_TEXT, offsetof(struct lab_values, time),
     "run --slurm: time limit of a task in sbatch syntax (minutes, or days-hours:minutes:seconds)"},
    {"--memory", "MB", OPTION_COUNT, offsetof(struct lab_values, memory_mb), "run --slurm: memory per task"},
    {"--runs-per-task", "N", OPTION_COUNT, offsetof(struct lab_values, runs_per_task),
     "run --slurm: runs that a task simulates in sequence; default: as many as take a few minutes"},
    {"--csv", "FILE", OPTION_TEXT, offsetof(struct lab_values, csv),
     "export: one row per run, one column per counter and per parameter in which the runs differ; `-`: standard"
     " output"},
    {"--json", "FILE", OPTION_TEXT, offsetof(struct lab_values, json),
     "export: an array with the complete result of each run; `-`: standard output"},
    {"--kept", "DIR", OPTION_TEXT, offsetof(struct lab_values, kept),
     "export: keep the results of each experiment in DIR/EXPERIMENT.csv: the values that its metrics use"
     " (docs/experiments.md); run: do not simulate what this model has kept there"},
    {"--partial", NULL, OPTION_FLAG, offsetof(struct lab_values, partial),
     "export --kept: keep incomplete experiments, too; a later export completes them"},
    {"--salvage", NULL, OPTION_FLAG, offsetof(struct lab_values, salvage),
     "export: export the runs of a damaged store that can still be read"},
};

static const char *store_named(const char *given) { return given ? given : DEFAULT_STORE; }

/* status */

struct overview {
    struct store *store;
    const struct intake *intake;
    unsigned failures;
};

static void print_experiment(void *user, const char *name, const char *size, const char *path) {
    struct overview *overview = user;
    struct error err = {0};
    struct request request;
    char *title = text_format("%s%s%s%s", name, *size ? " (" : "", size, *size ? ")" : "");
    if (request_read(&request, &path, 1, *size ? size : NULL, &err)) {
        struct batch *batch = request_batch(&request, overview->store, overview->intake);
        printf("  %-32s %u of %u runs\n", title, batch->stored, batch->distinct);
        batch_free(batch);
    } else {
        printf("  %-32s %s\n", title, err.text);
    }
    request_free(&request);
    free(title);
}

static void list_failure(void *user, const char *identity, const char *what, const char *why) {
    struct overview *overview = user;
    (void)identity;
    if (overview->failures++ == 0) puts("failed:");
    printf("  %s: %s\n", what, why);
}

static bool print_queue(const struct intake *intake, struct error *err) {
    struct slurm_queue queue;
    if (!slurm_look(intake, NULL, &queue, err)) return false;
    if (queue.jobs)
        printf("  %-32s %u running, %u pending (%u runs)\n", "tasks in Slurm's queue", queue.running, queue.waiting,
               queue.runs);
    return true;
}

static enum status show_status(const struct command *command, const struct lab_values *values, const char *const *words,
                               unsigned count) {
    (void)command;
    struct error err = {0};
    struct request request;
    struct intake intake;
    struct store *store = store_open(store_named(values->store), STORE_READ, &err);
    if (!store) return complain_error(&err);
    if (!request_read(&request, words, count, values->size, &err) ||
        !intake_open(&intake, store_path(store), false, &err)) {
        store_close(store);
        return complain_error(&err);
    }
    struct overview overview = {.store = store, .intake = &intake};
    uint64_t runs = store_run_count(store);
    unsigned waiting = intake_waiting(intake.local) + intake_waiting(intake.slurm);
    printf("%s: %llu run%s\n", store_path(store), (unsigned long long)runs, plural(runs));
    if (count == 0) store_each_experiment(store, print_experiment, &overview);
    for (unsigned i = 0; i < request.count; i++)
        print_experiment(&overview, request.experiments[i]->name, request.size ? request.size : "",
                         request.experiments[i]->path);
    if (waiting) printf("  %-32s %u (`sluice lab gather` imports them)\n", "results not yet imported", waiting);
    bool good = print_queue(&intake, &err);
    store_each_failure(store, list_failure, &overview);
    good = good && store_readable(store, &err);
    intake_close(&intake);
    request_free(&request);
    store_close(store);
    return good ? STATUS_DONE : (complain_error(&err), STATUS_FAILED);
}

/* gather, merge, export */

static enum status gather(const struct command *command, const struct lab_values *values, const char *const *words,
                          unsigned count) {
    if (count) return complain(command, "unexpected argument `%s`: gather takes none", words[0]);
    struct error err = {0};
    struct intake intake = {0};
    struct slurm_queue queue = {0};
    struct overview overview = {0};
    uint64_t taken = 0;
    struct store *store = store_open(store_named(values->store), STORE_WRITE, &err);
    if (!store) return complain_error(&err);
    bool good = intake_open(&intake, store_path(store), true, &err) &&
                intake_take_all(store, intake.local, &taken, &err) &&
                slurm_gather(&intake, store, &taken, &queue, &err);
    printf("%llu result%s imported into %s\n", (unsigned long long)taken, plural(taken), store_path(store));
    if (queue.runs) printf("%u run%s still in the queue\n", queue.runs, plural(queue.runs));
    store_each_failure(store, list_failure, &overview);
    good = good && store_readable(store, &err);
    intake_close(&intake);
    store_close(store);
    if (!good) return complain_error(&err), STATUS_FAILED;
    return overview.failures ? STATUS_FAILED : STATUS_DONE;
}

static enum status merge(const struct command *command, const struct lab_values *values, const char *const *words,
                         unsigned count) {
    if (count == 0) return complain(command, "missing store: sluice lab merge FROM... --store INTO");
    struct error err = {0};
    struct store *store = store_open(store_named(values->store), STORE_WRITE, &err);
    bool good = store != NULL;
    for (unsigned i = 0; i < count && good; i++) {
        uint64_t added = 0;
        good = store_merge(store, words[i], &added, &err);
        if (good)
            printf("%llu run%s of %s imported into %s\n", (unsigned long long)added, plural(added), words[i],
                   store_path(store));
    }
    store_close(store);
    return good ? STATUS_DONE : complain_error(&err);
}

/* An output callback reports its failure through `err`. */
struct exporting {
    struct store *store;
    struct error *err;
    bool (*write)(struct store *store, FILE *out, struct error *err);
};

static void write_export(FILE *out, const void *what) {
    const struct exporting *exporting = what;
    exporting->write(exporting->store, out, exporting->err);
}

/* Kept results */

static bool keep_runs(const struct plan *plan, struct store *store, const char *folder, const char *size, bool partial,
                      struct error *err) {
    char *path = kept_path(folder, plan->experiment, size), *slash = strrchr(path, '/');
    struct error incomplete = {0};
    struct output output;
    unsigned missing = 0;
    *slash = '\0';
    bool good = folder_make(path, err);
    *slash = '/';
    good = good && output_open(&output, path, err);
    if (good) {
        kept_write(plan, store, path, partial ? &missing : NULL, output.file, &incomplete);
        good = output_close(&output, !incomplete.set, err) && !incomplete.set;
        if (incomplete.set) *err = incomplete;
    }
    if (good) printf("%s: %u run%s", path, plan->count, plural(plan->count));
    if (good && missing) printf(", %u missing", missing);
    if (good) putchar('\n');
    free(path);
    return good;
}

static enum status export_runs(const struct command *command, const struct lab_values *values, const char *const *words,
                               unsigned count) {
    struct error err = {0};
    struct request request;
    if (!values->csv && !values->json && !values->kept)
        return complain(command, "missing output file: --csv FILE, --json FILE or --kept DIR");
    if (values->kept && count == 0) return complain(command, "--kept requires the experiments to keep");
    if (values->partial && !values->kept) return complain(command, "--partial requires --kept DIR");
    uint64_t saved = 0, lost = 0;
    const char *path = store_named(values->store);
    struct store *store =
        values->salvage ? store_salvage(path, &saved, &lost, &err) : store_open(path, STORE_READ, &err);
    if (!store) return complain_error(&err);
    if (!request_read(&request, words, count, values->size, &err)) {
        store_close(store);
        return complain_error(&err);
    }
    for (unsigned p = 0; p < request.count; p++)
        for (unsigned i = 0; i < request.plans[p]->count; i++) store_choose(store, request.plans[p]->runs[i].identity);
    struct exporting csv = {store, &err, store_export_csv}, json = {store, &err, store_export_json};
    for (unsigned i = 0; values->kept && i < request.count && !err.set; i++)
        keep_runs(request.plans[i], store, values->kept, request.size, values->partial, &err);
    bool good = !err.set && (!values->csv || output_write(values->csv, write_export, &csv, &err)) &&
                (!values->json || output_write(values->json, write_export, &json, &err)) && !err.set;
    if (good && values->salvage)
        fprintf(stderr, "sluice: %s: %llu run%s exported, %llu cannot be read\n", path, (unsigned long long)saved,
                plural(saved), (unsigned long long)lost);
    request_free(&request);
    store_close(store);
    return good ? STATUS_DONE : (complain_error(&err), STATUS_FAILED);
}

/* The command */

static enum status run(const struct command *command, const struct lab_values *values, const char *const *words,
                       unsigned count) {
    if (count == 0)
        return complain(command,
                        "missing experiment: sluice lab run EXPERIMENT...; `sluice list experiments` lists them");
    return lab_run(words, count, values);
}

static enum status task(const struct command *command, const struct lab_values *values, const char *const *words,
                        unsigned count) {
    (void)values;
    char *end = NULL;
    uint64_t index = count == 2 ? strtoull(words[1], &end, 10) : 0;
    if (count != 2 || end == words[1] || *end) return complain(command, "a task file and a task number expected");
    return lab_task(words[0], index);
}

static const struct subcommand {
    const char *name;
    enum status (*run)(const struct command *command, const struct lab_values *values, const char *const *words,
                       unsigned count);
} subcommands[] = {
    {"run", run},     {"status", show_status}, {"gather", gather}, {"export", export_runs},
    {"merge", merge}, {"task", task},
};

static enum status lab(const struct command *command, int argc, char **argv) {
    struct lab_values values = {0};
    struct arguments arguments;
    const char *names[COUNT_OF(subcommands)];
    char near[128];
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count == 0) return complain(command, "missing subcommand: run, status, gather, export or merge");
    if (values.slurm ? values.dry_run : values.wait || values.partition || values.time || values.memory_mb)
        return complain(command, values.slurm ? "--dry-run submits nothing: omit --slurm"
                                              : "--wait, --partition, --time and --memory require --slurm");
    if (values.watch && (values.slurm || values.dry_run || strcmp(arguments.word[0], "run") != 0))
        return complain(command, "--watch is for `lab run` on this machine, without --slurm and --dry-run");
    for (unsigned i = 0; i < COUNT_OF(subcommands); i++) {
        names[i] = subcommands[i].name;
        if (strcmp(names[i], arguments.word[0]) == 0)
            return subcommands[i].run(command, &values, arguments.word + 1, arguments.count - 1);
    }
    hint(arguments.word[0], names, COUNT_OF(names), near, sizeof near);
    return complain(command, "unknown subcommand `lab %s`;%s", arguments.word[0],
                    near[0] ? near : " expected run, status, gather, export or merge");
}

static const char *const details[] = {
    "`lab run EXPERIMENT...` simulates the runs of experiments (`sluice list experiments`, or YAML files:"
    " docs/experiments.md) that are not in the store yet, several in parallel. A run that several experiments share is"
    " simulated once. A failed run does not stop the others; it is reported with its error at the end, and the exit"
    " status is 1. Finished runs are kept even if the command is killed: rerun it to continue. The expected time, printed"
    " first, is that of stored runs of the same workloads; on a terminal, a line shows the time left, which also follows"
    " the progress of the runs under way.",
    "With --slurm, the runs are submitted to a cluster with sbatch, several per task, and the command returns. The"
    " compute nodes must see the directory of the store under the same path. `lab status` reports the progress. The"
    " same command, or `lab gather`, imports the results; the command also resubmits runs whose tasks ended without a"
    " result.",
    "`lab status [EXPERIMENT...]` reports the stored runs of each experiment, the tasks in Slurm's queue, and the"
    " failed runs with their errors. `lab export [EXPERIMENT...] --csv FILE` or `--json FILE` exports runs, with --salvage also those of"
    " a damaged store; `--kept DIR` keeps the results of complete experiments for pages and `sluice reproduce --verify`. `lab merge"
    " FROM...` imports the runs of other stores.",
    "One process at a time can write to a store; any number can read it meanwhile.",
    NULL,
};

static const struct example examples[] = {
    {"sluice lab run quick/sharing --dry-run", "report the number of runs of an experiment and their expected time"},
    {"sluice lab run quick/sharing --size tiny -j 2", "simulate them with tiny inputs, two in parallel"},
    {"sluice lab export --csv results.csv", "export all counters of all runs"},
};

const struct command command_lab = {
    .name = "lab",
    .synopsis = "lab run|status|gather|export|merge [ARGUMENTS] [OPTIONS]",
    .summary = "runs experiments and stores their results",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = lab,
};
