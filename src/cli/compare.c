/* `sluice compare`: one instruction stream under several designs, normalised to the first. The program is executed
 * once, into a temporary recording that every design simulates; with --max-insts, each design executes it as far as it
 * simulates it. Two concurrent programs are both recorded, and each is also simulated alone under the first design. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "base/output.h"
#include "cli/alone.h"
#include "cli/decisions.h"
#include "cli/job.h"
#include "cli/machine.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/style.h"
#include "stream/recording.h"

struct compare_values {
    struct machine_options machine;
    struct job_options job;
    const char *designs, *json;
    uint64_t max_insts;
};

static const struct option options[] = {
    {"--designs", "A,B,...", OPTION_TEXT, offsetof(struct compare_values, designs),
     "comma-separated designs (`sluice list designs`, or YAML files); `default`: the GPU description without a design"},
    JOB_OPTIONS(compare_values, job),
    TRACE_OPTION(compare_values, job, "simulate"),
    {"--gpu", "NAME|FILE", OPTION_TEXT, offsetof(struct compare_values, machine.gpu),
     "GPU description for all designs; default: " DEFAULT_GPU},
    {"--set", "KEY=VALUE", OPTION_LIST, offsetof(struct compare_values, machine.settings),
     "set one parameter in all designs, overriding them; repeatable"},
    {"--max-insts", "N", OPTION_COUNT, offsetof(struct compare_values, max_insts),
     "stop each run after N thread instructions (with two programs: N each)"},
    LATENCY_OPTION(compare_values, machine),
    {"--json", "FILE", OPTION_TEXT, offsetof(struct compare_values, json),
     "write the table as JSON, with every counter and the decisions of every design (`-`: standard output, without the table)"},
};

enum { MOST_DESIGNS = 32 };

/* A row of the table: a ratio of two sums of counters, or one sum. */
struct metric {
    const char *name, *unit;
    const char *over[8], *under[8]; /* counter names; `under` empty: one sum */
    double scale;
};

#define L1_READS "l1.read_hits", "l1.read_pending_hits", "l1.read_misses", "l1.read_bypasses"
/* Reads that miss in the near copies of two partitions are counted at their home slices. */
#define LLC_READS \
    "llc.read_hits", "llc.read_pending_hits", "llc.read_misses", "copies.read_hits", "copies.read_pending_hits"
static const struct metric metrics[] = {
    {"load latency", "cycles", {"sm.load_cycles"}, {"sm.loads"}, 1},
    {"L1 hits", "% of reads", {"l1.read_hits"}, {L1_READS}, 100},
    {"LLC accesses", "reads", {LLC_READS}, {NULL}, 1},
    {"LLC misses", "% of reads", {"llc.read_misses"}, {LLC_READS}, 100},
    {"flit-hops", "", {"noc.request.flit_hops", "noc.reply.flit_hops"}, {NULL}, 1},
    {"DRAM requests", "", {"dram.reads", "dram.writes"}, {NULL}, 1},
    {"DRAM row hits", "%", {"dram.row_hits"}, {"dram.row_hits", "dram.row_misses", "dram.row_conflicts"}, 100},
};

/* The result of one design. */
struct outcome {
    char *design;
    uint64_t cycles, thread_instructions, warp_instructions;
    double seconds, value[COUNT_OF(metrics)];
    struct report_programs programs;
    struct energy_book energy;
    struct decisions decisions;
    char **counter_names;
    uint64_t *counters;
    unsigned counter_count;
};

struct comparison {
    const char *gpu, *workload, *check;
    struct stream_source *sources[PROGRAMS_MAX];
    struct report_programs programs; /* alone, under the first design */
    struct outcome outcomes[MOST_DESIGNS];
    unsigned count;
};

static double sum_of(const struct stats *stats, const char *const *names, unsigned most) {
    double sum = 0;
    for (unsigned i = 0; i < most && names[i]; i++) sum += (double)stats_get(stats, names[i], NULL);
    return sum;
}

static void take_outcome(struct outcome *outcome, const struct machine *machine, const struct run_result *result) {
    const struct stats *stats = machine_stats(machine);
    outcome->cycles = result->cycles;
    outcome->thread_instructions = result->thread_instructions;
    outcome->warp_instructions = result->warp_instructions;
    for (unsigned m = 0; m < COUNT_OF(metrics); m++) {
        double over = sum_of(stats, metrics[m].over, COUNT_OF(metrics[m].over)) * metrics[m].scale;
        double under = sum_of(stats, metrics[m].under, COUNT_OF(metrics[m].under));
        outcome->value[m] = metrics[m].under[0] ? ratio(over, under) : over;
    }
    outcome->counter_count = stats_count(stats);
    outcome->counter_names = mem_alloc(outcome->counter_count, sizeof *outcome->counter_names);
    outcome->counters = mem_alloc(outcome->counter_count, sizeof *outcome->counters);
    for (unsigned i = 0; i < outcome->counter_count; i++) {
        char name[128];
        stats_name(stats, i, name, sizeof name);
        outcome->counter_names[i] = mem_text(name);
        outcome->counters[i] = stats_total(stats, i);
    }
}

static void find_extents(const struct compare_values *values, const struct comparison *comparison,
                         struct program_extent *extent) {
    for (unsigned i = 0; i < comparison->programs.count; i++) {
        const struct recording_info *info = recording_info(comparison->sources[i]);
        extent[i] = (struct program_extent){
            .warp_instructions = info ? info->warp_instructions : 0,
            .thread_instruction_limit = values->max_insts,
        };
    }
}

static enum status simulate(const struct compare_values *values, struct comparison *comparison,
                            struct outcome *outcome) {
    struct error err = {0};
    struct report_programs *programs = &comparison->programs;
    struct machine_options options_ = values->machine;
    options_.design = strcmp(outcome->design, "default") == 0 ? NULL : outcome->design;
    struct config *config = machine_config(&options_, &err);
    struct energy_model *energy = config ? energy_open(config, &err) : NULL;
    struct machine *machine = energy ? machine_create_for(programs->count, config, &err) : NULL;
    if (!machine) {
        free(energy);
        if (config) config_destroy(config);
        return complain_error(&err);
    }
    struct program_extent extent[PROGRAMS_MAX] = {0};
    find_extents(values, comparison, extent);
    if (programs->count > 1 && outcome == comparison->outcomes) {
        enum status alone = alone_measure(config, comparison->sources, extent, values->max_insts, programs);
        if (alone != STATUS_DONE) {
            free(energy);
            machine_destroy(machine);
            config_destroy(config);
            return alone;
        }
    }
    struct run_result result = {0};
    struct progress progress;
    struct run_options run = {.max_instructions = values->max_insts, .progress = progress_step, .user = &progress};
    char label[96];
    snprintf(label, sizeof label, "%.60s (%u of %u)", outcome->design, (unsigned)(outcome - comparison->outcomes) + 1,
             comparison->count);
    progress_start(&progress, label, extent, programs->count);
    enum run_status ended = machine_run_all(machine, comparison->sources, &run, &result, &err);
    outcome->seconds = progress_clock() - progress.started;
    progress_end(&progress, 0);
    take_outcome(outcome, machine, &result);
    outcome->decisions = decisions_of(machine_journal(machine), programs->count, result.cycles);
    outcome->programs = *programs;
    for (unsigned i = 0; i < programs->count; i++) outcome->programs.program[i].stats = *machine_program(machine, i);
    energy_account(energy, config, machine_shape(machine), machine_stats(machine), result.cycles, &outcome->energy);
    free(energy);
    if (ended == RUN_REFUSED || ended == RUN_FAILED) complain_error(&err);
    if (result.diagnosis) fputs(result.diagnosis, stderr);
    run_result_release(&result);
    machine_destroy(machine);
    config_destroy(config);
    return ended == RUN_DONE ? STATUS_DONE : ended == RUN_REFUSED ? STATUS_BAD_INPUT : STATUS_FAILED;
}

/* --- output --- */

static double ipc(const struct outcome *outcome) {
    return ratio((double)outcome->thread_instructions, (double)outcome->cycles);
}

static double speedup(const struct comparison *comparison, unsigned i) {
    return ratio(ipc(&comparison->outcomes[i]), ipc(&comparison->outcomes[0]));
}

static void write_row(const struct comparison *comparison, const char *name, const char *unit, int digits,
                      double (*value)(const struct comparison *, unsigned design, unsigned metric), unsigned metric) {
    printf("  %-14s %-11s", name, unit);
    for (unsigned i = 0; i < comparison->count; i++) printf(" %16.*f", digits, value(comparison, i, metric));
    putchar('\n');
}

static double value_cycles(const struct comparison *c, unsigned i, unsigned m) {
    (void)m;
    return (double)c->outcomes[i].cycles;
}
static double value_ipc(const struct comparison *c, unsigned i, unsigned m) {
    (void)m;
    return ipc(&c->outcomes[i]);
}
static double value_speedup(const struct comparison *c, unsigned i, unsigned m) {
    (void)m;
    return speedup(c, i);
}
static double value_stp(const struct comparison *c, unsigned i, unsigned m) {
    (void)m;
    return report_stp(&c->outcomes[i].programs);
}
static double value_antt(const struct comparison *c, unsigned i, unsigned m) {
    (void)m;
    return report_antt(&c->outcomes[i].programs);
}
static double value_metric(const struct comparison *c, unsigned i, unsigned m) { return c->outcomes[i].value[m]; }

static double value_energy(const struct comparison *c, unsigned i, unsigned m) {
    (void)m;
    return energy_total(&c->outcomes[i].energy) * 1e3;
}
static double value_noc_energy(const struct comparison *c, unsigned i, unsigned m) {
    (void)m;
    return energy_noc(&c->outcomes[i].energy) * 1e3;
}
static double value_normalised_energy(const struct comparison *c, unsigned i, unsigned m) {
    return ratio(value_energy(c, i, m), value_energy(c, 0, m));
}

static double outcome_count(const void *from, const char *name) {
    const struct outcome *outcome = from;
    for (unsigned i = 0; i < outcome->counter_count; i++)
        if (strcmp(outcome->counter_names[i], name) == 0) return (double)outcome->counters[i];
    return 0;
}

static void write_table(const struct comparison *comparison) {
    const char *title = style(stdout, STYLE_TITLE), *end = style(stdout, STYLE_NONE);
    printf("%s%s on %s%s: %" PRIu64 " thread instructions", title, comparison->workload, comparison->gpu, end,
           comparison->outcomes[0].thread_instructions);
    if (strcmp(comparison->check, "none") != 0) printf(", check %s", comparison->check);
    printf("\n\n  %-26s%s", "", title);
    for (unsigned i = 0; i < comparison->count; i++) printf(" %16.16s", comparison->outcomes[i].design);
    printf("%s\n", end);
    write_row(comparison, "cycles", "", 0, value_cycles, 0);
    write_row(comparison, "IPC", "", 2, value_ipc, 0);
    write_row(comparison, "normalised IPC", "", 3, value_speedup, 0);
    if (comparison->programs.count > 1) {
        write_row(comparison, "STP", "", 3, value_stp, 0);
        write_row(comparison, "ANTT", "", 3, value_antt, 0);
    }
    for (unsigned m = 0; m < COUNT_OF(metrics); m++)
        write_row(comparison, metrics[m].name, metrics[m].unit, metrics[m].under[0] ? 1 : 0, value_metric, m);
    write_row(comparison, "energy", "mJ", 3, value_energy, 0);
    write_row(comparison, "NoC energy", "mJ", 3, value_noc_energy, 0);
    write_row(comparison, "energy", "normalised", 3, value_normalised_energy, 0);
    for (unsigned i = 0; i < comparison->count; i++)
        report_write_latency(stdout, comparison->outcomes[i].design, outcome_count, &comparison->outcomes[i]);
    const char *names[PROGRAMS_MAX] = {NULL};
    for (unsigned i = 0; i < comparison->programs.count; i++) names[i] = comparison->programs.program[i].workload;
    for (unsigned i = 0; i < comparison->count; i++)
        decisions_write(stdout, &comparison->outcomes[i].decisions, comparison->outcomes[i].design, names);
}

static void write_json(FILE *out, const void *what) {
    const struct comparison *comparison = what;
    struct json json;
    json_start(&json, out);
    json_object(&json);
    json_put_text(&json, "sluice", SLUICE_VERSION);
    json_put_text(&json, "gpu", comparison->gpu);
    json_put_text(&json, "workload", comparison->workload);
    json_put_text(&json, "check", comparison->check);
    json_key(&json, "designs");
    json_array(&json);
    for (unsigned i = 0; i < comparison->count; i++) {
        const struct outcome *outcome = &comparison->outcomes[i];
        json_object(&json);
        json_put_text(&json, "design", outcome->design);
        json_put_unsigned(&json, "cycles", outcome->cycles);
        json_put_unsigned(&json, "thread_instructions", outcome->thread_instructions);
        json_put_unsigned(&json, "warp_instructions", outcome->warp_instructions);
        json_put_real(&json, "ipc", ipc(outcome));
        json_put_real(&json, "normalised_ipc", speedup(comparison, i));
        if (outcome->programs.count > 1) report_put_programs(&json, &outcome->programs, NULL);
        report_put_energy(&json, &outcome->energy);
        decisions_put(&json, &outcome->decisions);
        json_key(&json, "stats");
        json_object(&json);
        for (unsigned k = 0; k < outcome->counter_count; k++)
            json_put_unsigned(&json, outcome->counter_names[k], outcome->counters[k]);
        json_end(&json);
        json_key(&json, "host");
        json_object_compact(&json);
        json_put_real(&json, "seconds", outcome->seconds);
        json_end(&json);
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
    json_finish(&json);
}

/* --- the command --- */

static bool read_designs(const struct command *command, const char *list, struct comparison *comparison) {
    for (const char *at = list; *list && at; at = strchr(at, ',')) {
        at += at != list;
        size_t length = strcspn(at, ",");
        if (length == 0) return complain(command, "--designs %s: the name of a design is empty", list), false;
        if (comparison->count == MOST_DESIGNS) return complain(command, "more than %d designs", MOST_DESIGNS), false;
        comparison->outcomes[comparison->count++].design = text_format("%.*s", (int)length, at);
    }
    return comparison->count > 0 || (complain(command, "missing designs: --designs shared,private"), false);
}

/* Rejects mistyped designs before anything runs, and warns about settings that no design uses. */
static bool designs_are_good(const struct compare_values *values, const struct comparison *comparison, bool generated,
                             struct error *err) {
    struct config *configs[MOST_DESIGNS] = {NULL};
    unsigned count = 0;
    for (; count < comparison->count; count++) {
        struct machine_options options_ = values->machine;
        const char *design = comparison->outcomes[count].design;
        options_.design = strcmp(design, "default") == 0 ? NULL : design;
        configs[count] = machine_config(&options_, err);
        if (!configs[count]) break;
    }
    bool good = count == comparison->count;
    if (good) machine_warn_unused((const struct config *const *)configs, count, generated);
    while (count-- > 0) config_destroy(configs[count]);
    return good;
}

/* Executes the programs that are not recordings yet; `recorded` receives the new recordings. With a limit nothing is
 * recorded: the program may be much longer, or endless. */
static bool record_all(const struct compare_values *values, const struct jobs *jobs, struct comparison *comparison,
                       struct stream_source **recorded, struct error *err) {
    const char *check[PROGRAMS_MAX];
    comparison->programs.count = jobs->count;
    for (unsigned i = 0; i < jobs->count; i++) {
        const struct job *job = &jobs->job[i];
        check[i] = "none";
        bool made = !recording_info(job->source) && !values->max_insts;
        if (made) recorded[i] = job_record(job, !values->job.no_check, &check[i], err);
        comparison->sources[i] = made ? recorded[i] : job->source;
        comparison->programs.program[i] = (struct report_program){.workload = job->name, .check = check[i]};
        if (!comparison->sources[i]) return false;
    }
    comparison->check = jobs_check(check, jobs->count);
    return true;
}

/* The checks of programs that were executed by the first design, to their end. */
static void check_executed(const struct jobs *jobs, struct stream_source *const *recorded,
                           struct comparison *comparison) {
    const char *check[PROGRAMS_MAX];
    for (unsigned i = 0; i < jobs->count; i++) {
        struct stream_source *source = jobs->job[i].source;
        struct error found = {0};
        check[i] = comparison->programs.program[i].check;
        if (recorded[i] || recording_info(source)) continue;
        check[i] = comparison->programs.program[i].check = source->ops->check(source, &found);
        if (found.set) complain_error(&found);
    }
    comparison->check = jobs_check(check, jobs->count);
}

static enum status compare_jobs(const struct compare_values *values, const struct jobs *jobs,
                                struct comparison *comparison) {
    struct error err = {0};
    signals_catch();
    struct stream_source *recorded[PROGRAMS_MAX] = {NULL};
    enum status status = STATUS_DONE;
    if (!record_all(values, jobs, comparison, recorded, &err)) status = (complain_error(&err), STATUS_FAILED);
    for (unsigned i = 0; i < comparison->count && status == STATUS_DONE; i++) {
        status = simulate(values, comparison, &comparison->outcomes[i]);
        if (i == 0 && status == STATUS_DONE && !values->job.no_check) check_executed(jobs, recorded, comparison);
    }
    if (status == STATUS_DONE) {
        if (!values->json || strcmp(values->json, "-") != 0) write_table(comparison);
        if (values->json && !output_write(values->json, write_json, comparison, &err))
            status = (complain_error(&err), STATUS_FAILED);
    }
    if (status == STATUS_DONE && strcmp(comparison->check, "failed") == 0) status = STATUS_FAILED;
    for (unsigned i = 0; i < jobs->count; i++)
        if (recorded[i]) recorded[i]->ops->destroy(recorded[i]);
    return status;
}

static void release(struct comparison *comparison) {
    for (unsigned i = 0; i < comparison->count; i++) {
        struct outcome *outcome = &comparison->outcomes[i];
        for (unsigned k = 0; k < outcome->counter_count; k++) free(outcome->counter_names[k]);
        free(outcome->counter_names);
        free(outcome->counters);
        free(outcome->design);
        decisions_release(&outcome->decisions);
    }
}

static enum status compare(const struct command *command, int argc, char **argv) {
    struct compare_values values = {.job.no_dump = true};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (!jobs_named(command, &values.job, &arguments)) return STATUS_BAD_INPUT;
    struct comparison comparison = {.gpu = values.machine.gpu ? values.machine.gpu : DEFAULT_GPU, .check = "none"};
    if (!read_designs(command, values.designs ? values.designs : "", &comparison)) {
        release(&comparison);
        return STATUS_BAD_INPUT;
    }
    struct error err = {0};
    struct jobs jobs = {0};
    struct config *config = NULL;
    enum status status = STATUS_BAD_INPUT;
    bool good = (!values.json || output_check(values.json, &err)) &&
                (config = machine_config(&values.machine, &err)) != NULL &&
                jobs_open(&jobs, &values.job, &arguments, config, stderr, &err) &&
                designs_are_good(&values, &comparison, jobs_generated(&jobs), &err);
    if (good) {
        comparison.workload = jobs.name;
        status = compare_jobs(&values, &jobs, &comparison);
    } else {
        complain_error(&err);
    }
    jobs_close(&jobs);
    if (config) config_destroy(config);
    release(&comparison);
    return status;
}

static const char *const details[] = {
    "Executes a workload once (with --max-insts, once for each design and as far as it is simulated) and simulates its"
    " instruction stream under each design. The table has one column per"
    " design: cycles, IPC, IPC normalised to the first design, energy, and statistics of caches, networks and DRAM. For"
    " two concurrent programs (`WORKLOAD + WORKLOAD`) it also has system throughput (STP) and average normalised"
    " turnaround time (ANTT), relative to each program alone on the whole GPU under the first design. With --latency, the"
    " latency breakdown of each design follows. Below the table,"
    " each design that decides at run time explains its decisions: how often, why, and the mode over time.",
    NULL,
};

static const struct example examples[] = {
    {"sluice compare mm:tiny --designs shared,private", "measure whether replicating shared data in the LLC pays off"},
    {"sluice compare gemm:tiny + mm:tiny --designs shared,private,adaptive",
     "compare LLC organisations under two concurrent programs"},
    {"sluice compare synth:hotline --designs shared,private,private-bypass --json hot.json",
     "compare designs on a generated stream"},
};

const struct command command_compare = {
    .name = "compare",
    .synopsis = "compare WORKLOAD|WORKLOAD + WORKLOAD|--launch FILE|--trace FILE --designs A,B,... [OPTIONS]",
    .summary = "simulates a workload under several designs and prints a table",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = compare,
};
