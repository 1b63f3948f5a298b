/* `sluice run`: simulates one workload, or two concurrent ones, on one machine. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/output.h"
#include "cli/alone.h"
#include "cli/job.h"
#include "cli/launches.h"
#include "cli/live.h"
#include "cli/machine.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/screen.h"
#include "cli/timeline.h"
#include "dram/dram.h"
#include "host/checkpoint.h"
#include "stream/selection.h"

struct run_values {
    struct machine_options machine;
    struct job_options job;
    struct launch_options launches;
    struct timeline_options timeline;
    const char *json, *dram_log;
    uint64_t max_insts, sample;
    struct text_list sample_units;
    bool no_skip, alone, kernel_stats, watch;
};

static const struct option options[] = {
    MACHINE_OPTIONS(run_values, machine),
    JOB_OPTIONS(run_values, job),
    TRACE_OPTION(run_values, job, "simulate"),
    {"--no-dump", NULL, OPTION_FLAG, offsetof(struct run_values, job.no_dump),
     "do not write the buffers that the launch file dumps"},
    {"--json", "FILE", OPTION_TEXT, offsetof(struct run_values, json),
     "write the complete result as JSON: configuration, kernels, samples, and every counter in total and per unit;"
     " `-`: standard output, without the summary"},
    {"--max-insts", "N", OPTION_COUNT, offsetof(struct run_values, max_insts),
     "stop after N thread instructions (checked every 1024 cycles; with two programs: N each). Launches that are executed"
     " without timing do not count; it is an error if no CTA of one ends for N and at least 16,777,216 warp instructions,"
     " and 65,536 of each warp"},
    LAUNCH_OPTIONS(run_values, launches),
    {"--kernel-stats", NULL, OPTION_FLAG, offsetof(struct run_values, kernel_stats),
     "count everything for each kernel: a table in the summary, and counters and energy of each in the JSON"},
    LATENCY_OPTION(run_values, machine),
    {"--alone", NULL, OPTION_FLAG, offsetof(struct run_values, alone),
     "with two programs: also run each alone on the whole GPU, and report system throughput (STP) and average"
     " normalised turnaround time (ANTT)"},
    {"--sample", "N", OPTION_COUNT, offsetof(struct run_values, sample),
     "sample the increase of every counter every N cycles, into the JSON"},
    {"--sample-units", "COUNTER", OPTION_LIST, offsetof(struct run_values, sample_units),
     "with --sample: also sample this counter for each SM, slice or channel; repeatable"},
    TIMELINE_OPTIONS(run_values, timeline),
    {"--watch", NULL, OPTION_FLAG, offsetof(struct run_values, watch),
     "show on the terminal how IPC, stalls, hit rates and DRAM bandwidth develop while the run goes on; elsewhere a line"
     " every ten seconds"},
    {"--dram-log", "FILE", OPTION_TEXT, offsetof(struct run_values, dram_log),
     "write every DRAM command as CSV: memory clock cycle, controller, channel, command, bank, row and column; `-`:"
     " standard output, without the summary"},
    {"--no-skip", NULL, OPTION_FLAG, offsetof(struct run_values, no_skip),
     "tick every component in every cycle: slower, with the same result"},
};

static bool is_standard_output(const char *file) { return file && strcmp(file, "-") == 0; }

/* Whether a file is written to standard output: it is then all that is printed there. */
static bool prints_file(const struct run_values *values) {
    return is_standard_output(values->json) || is_standard_output(values->timeline.file) ||
           is_standard_output(values->dram_log);
}

/* Files that cannot be written are rejected before the run. */
static bool outputs_are_good(const struct run_values *values, struct error *err) {
    const char *const files[] = {values->json, values->timeline.file, values->dram_log, values->launches.checkpoint};
    unsigned printed = 0;
    for (unsigned i = 0; i < COUNT_OF(files); i++) {
        if (files[i] && !output_check(files[i], err)) return false;
        printed += is_standard_output(files[i]);
    }
    return printed < 2 || error_set(err, "only one of --json, --timeline, --dram-log and --checkpoint can be `-`:"
                                         " standard output holds one of them");
}

/* Writes the results. An interrupted run and a failed check are reported like any other run, but fail. */
static enum status write_results(const struct run_values *values, const struct run_report *report) {
    struct error err = {0};
    if (!prints_file(values)) report_write_summary(stdout, report);
    if (values->json && !output_write(values->json, report_write_json, report, &err))
        return complain_error(&err), STATUS_FAILED;
    return report->interrupted || strcmp(report->check, "failed") == 0 ? STATUS_FAILED : STATUS_DONE;
}

/* What each program executes in this run. */
static void find_extents(const struct run_values *values, const struct jobs *jobs, const struct launches *launches,
                         struct program_extent *extent) {
    for (unsigned i = 0; i < jobs->count; i++) {
        extent[i] = launches->selection ? (struct program_extent){0} : job_extent(&jobs->job[i]);
        extent[i].thread_instruction_limit = values->max_insts;
    }
}

/* State of the callbacks of a run. */
struct watch {
    const struct run_values *values;
    const struct jobs *jobs;
    struct progress progress;
    struct report_programs programs;
    struct timeline *timeline; /* may be NULL */
    struct live *live;         /* may be NULL */
    bool checks;               /* verify the results */
    bool seen[PROGRAMS_MAX];
    enum status status;
};

static bool step(void *user, const struct run_progress *now) {
    struct watch *watch = user;
    if (watch->live) live_step(watch->live, &watch->progress, now);
    return progress_step(&watch->progress, now);
}

static void cta(void *user, const struct cta_event *event) { timeline_cta(((struct watch *)user)->timeline, event); }

/* Verifies and dumps the results of a program, once: before it restarts, or at the end of the run. */
static void look_at(void *user, unsigned index) {
    struct watch *watch = user;
    const struct job *job = &watch->jobs->job[index];
    struct error err = {0};
    if (watch->seen[index]) return;
    watch->seen[index] = true;
    if (watch->live) screen_leave(); /* messages stay readable */
    if (watch->checks && !watch->values->job.no_check)
        watch->programs.program[index].check = job->source->ops->check(job->source, &err);
    if (err.set) complain_error(&err); /* the difference that the check found */
    err.set = false;
    job_warn(job->source);
    if (!watch->values->job.no_dump && !job_dump(job, &err)) watch->status = (complain_error(&err), STATUS_FAILED);
}

static struct watch watch_of(const struct run_values *values, const struct jobs *jobs) {
    struct watch watch = {.values = values, .jobs = jobs, .programs.count = jobs->count, .checks = true};
    for (unsigned i = 0; i < jobs->count; i++)
        watch.programs.program[i] = (struct report_program){.workload = jobs->job[i].name, .check = "none"};
    return watch;
}

static void log_command(void *user, const struct dram_log_entry *entry) {
    fprintf(user, "%llu,%u,%u,%s,%u,%u,%u\n", (unsigned long long)entry->cycle, entry->mc, entry->channel,
            dram_command_name(entry->command), entry->bank, entry->row, entry->column);
}

static enum status simulate(const struct run_values *values, const struct jobs *jobs, const struct launches *launches,
                            struct timeline *timeline, const struct config *config, struct machine *machine,
                            const struct energy_model *energy) {
    struct stream_source *sources[PROGRAMS_MAX];
    struct error err = {0};
    struct run_result result = {0};
    struct watch watch = watch_of(values, jobs);
    for (unsigned i = 0; i < jobs->count; i++) sources[i] = jobs->job[i].source;
    if (launches->selection) sources[0] = launches->selection;
    const char *units[TEXT_LIST_MAX + 1] = {NULL};
    for (unsigned i = 0; i < values->sample_units.count; i++) units[i] = values->sample_units.text[i];
    struct run_options run = {
        .no_skip = values->no_skip,
        .max_instructions = values->max_insts,
        .kernel_stats = values->kernel_stats || launches->chosen,
        .sample_cycles = values->sample,
        .sample_units = units,
        .progress = step,
        .restarts = look_at,
        .user = &watch,
    };
    if (timeline) {
        timeline_ask(timeline, &run);
        run.cta = cta;
        watch.timeline = timeline;
    }
    signals_catch();
    struct program_extent extent[PROGRAMS_MAX] = {0};
    find_extents(values, jobs, launches, extent);
    if (values->alone && jobs->count > 1) {
        enum status alone = alone_measure(config, sources, extent, values->max_insts, &watch.programs);
        if (alone != STATUS_DONE) return alone;
    }
    struct output log = {0};
    if (values->dram_log) {
        if (!output_open(&log, values->dram_log, &err)) return complain_error(&err);
        fputs("cycle,mc,channel,command,bank,row,column\n", log.file);
        dram_set_log(machine_dram(machine), log_command, log.file);
    }
    progress_start(&watch.progress, NULL, extent, jobs->count);
    watch.progress.machine = machine;
    if (values->watch) {
        watch.progress.shown = false; /* the page has its line */
        watch.live = live_create(jobs->name, config, machine);
    }
    enum run_status ended = machine_run_all(machine, sources, &run, &result, &err);
    double seconds = progress_clock() - watch.progress.started;
    live_destroy(watch.live);
    progress_end(&watch.progress, ended == RUN_DONE && jobs->count == 1 ? result.warp_instructions : 0);
    if (values->dram_log && !output_close(&log, ended != RUN_REFUSED, &err)) {
        run_result_release(&result);
        return complain_error(&err), STATUS_FAILED;
    }
    if (ended == RUN_REFUSED || ended == RUN_FAILED) {
        complain_error(&err);
        if (result.diagnosis) fputs(result.diagnosis, stderr);
        run_result_release(&result);
        bool damaged = values->job.trace && sources[0]->ops->failure(sources[0]); /* the recording is damaged */
        damaged |=
            values->launches.restore && !result.kernel_count; /* or the checkpoint is, or is of another program */
        return ended == RUN_REFUSED || damaged ? STATUS_BAD_INPUT : STATUS_FAILED;
    }
    if (ended == RUN_DONE && launches->selection && result.kernel_count == 0) {
        run_result_release(&result);
        if (launches->checkpoint && !checkpoint_complete(launches->checkpoint))
            return complain(NULL, "the program has fewer than %llu launches; no checkpoint is written",
                            (unsigned long long)checkpoint_launches(launches->checkpoint));
        return complain(NULL, "no launch is timed: the program has %llu",
                        (unsigned long long)selection_launches(launches->selection));
    }
    watch.checks = ended == RUN_DONE;
    const char *check[PROGRAMS_MAX];
    for (unsigned i = 0; i < jobs->count; i++) {
        look_at(&watch, i);
        watch.programs.program[i].stats = *machine_program(machine, i);
        check[i] = watch.programs.program[i].check;
    }
    struct energy_book book;
    energy_account(energy, config, machine_shape(machine), machine_stats(machine), result.cycles, &book);
    struct run_report report = {
        .gpu = values->machine.gpu ? values->machine.gpu : DEFAULT_GPU,
        .design = values->machine.design ? values->machine.design : "default",
        .workload = jobs->name,
        .config = config,
        .stats = machine_stats(machine),
        .journal = machine_journal(machine),
        .result = &result,
        .energy = &book,
        .energy_model = energy,
        .shape = machine_shape(machine),
        .launches = launches,
        .kernel_table = values->kernel_stats,
        .check = jobs_check(check, jobs->count),
        .programs = watch.programs,
        .interrupted = ended == RUN_INTERRUPTED,
        .cut = ended == RUN_INTERRUPTED || values->max_insts,
        .host_seconds = seconds,
        .host_peak_rss_bytes = peak_rss_bytes(),
    };
    enum status status = write_results(values, &report);
    if (timeline && !timeline_write(timeline, &report, &err)) status = (complain_error(&err), STATUS_FAILED);
    run_result_release(&result);
    return watch.status == STATUS_DONE ? status : watch.status;
}

/* Warns about options and settings without effect. */
static void warn_unused(const struct run_values *values, const struct jobs *jobs, const struct config *config) {
    if (values->sample && !values->json)
        complain(NULL, "warning: --sample has no effect without --json: the samples are part of the JSON");
    if (values->sample_units.count && !values->sample)
        complain(NULL, "warning: --sample-units has no effect without --sample");
    if (!values->timeline.file && (values->timeline.detail || values->timeline.megabytes))
        complain(NULL, "warning: --timeline-detail and --timeline-size have no effect without --timeline");
    if (values->alone && jobs->count == 1) complain(NULL, "warning: --alone has no effect on one program");
    machine_warn_unused(&config, 1, jobs_generated(jobs));
}

/* Whether the program of the options can be timed in parts. */
static bool launches_apply(const struct run_values *values, const struct jobs *jobs, struct error *err) {
    const struct launch_options *asked = &values->launches;
    bool parts = asked->kernels || asked->skip || asked->sample || asked->checkpoint || asked->restore;
    return jobs->count == 1 || !(parts || values->kernel_stats) ||
           error_set(err,
                     "--kernels, --skip-kernels, --sample-kernels, --checkpoint, --restore and --kernel-stats are for "
                     "one program");
}

/* To choose representatives, the program is executed again, without its output. */
static bool choose_launches(const struct run_values *values, const struct jobs *jobs, const struct arguments *arguments,
                            const struct config *config, struct launches *launches, struct error *err) {
    const bool twice = values->launches.sample;
    struct jobs again = {0};
    FILE *nowhere = twice ? fopen("/dev/null", "w") : NULL;
    bool good = !twice || (nowhere && jobs_open(&again, &values->job, arguments, config, nowhere, err));
    if (good) {
        signals_catch();
        good = launches_open(launches, &values->launches, values->max_insts, jobs->job[0].source,
                             twice ? again.job[0].source : NULL, err);
    }
    jobs_close(&again);
    if (nowhere) fclose(nowhere);
    return good;
}

static enum status run(const struct command *command, int argc, char **argv) {
    struct run_values values = {0};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (!jobs_named(command, &values.job, &arguments)) return STATUS_BAD_INPUT;
    if (!launches_named(command, &values.launches)) return STATUS_BAD_INPUT;
    struct error err = {0};
    if (!outputs_are_good(&values, &err)) return complain_error(&err);
    struct jobs jobs = {0};
    struct config *config = machine_config(&values.machine, &err);
    FILE *print = prints_file(&values) ? stderr : stdout; /* keeps the file valid */
    bool opened = config && jobs_open(&jobs, &values.job, &arguments, config, print, &err);
    opened = opened && launches_apply(&values, &jobs, &err);
    struct energy_model *energy = opened ? energy_open(config, &err) : NULL;
    struct machine *machine = energy ? machine_create_for(jobs.count, config, &err) : NULL;
    struct timeline *timeline = NULL;
    if (machine && values.timeline.file) {
        timeline = timeline_create(&values.timeline, config, machine_stats(machine), &err);
        if (!timeline) machine_destroy(machine), machine = NULL;
    }
    if (machine) warn_unused(&values, &jobs, config);
    struct launches launches = {0};
    bool ready = machine && choose_launches(&values, &jobs, &arguments, config, &launches, &err);
    enum status status =
        ready ? simulate(&values, &jobs, &launches, timeline, config, machine, energy) : complain_error(&err);
    if (machine && !ready && values.launches.sample)
        status = STATUS_FAILED; /* the program failed, or was interrupted */
    launches_release(&launches);
    timeline_destroy(timeline);
    free(energy);
    if (machine) machine_destroy(machine);
    jobs_close(&jobs);
    if (config) config_destroy(config);
    return status;
}

static const char *const details[] = {
    "Simulates a bundled workload (NAME or NAME:SIZE; `sluice list workloads`) and prints a summary: cycles, SM cycle"
    " breakdown, statistics of caches, networks and DRAM, and what mechanisms decided at run time (adaptive LLC, selective"
    " replication, SM dueling, dynamic sending), how often and why. With --launch, it simulates the kernels of a PTX file."
    " They are executed functionally; a fault (an access outside every buffer, a trap) ends the run and is reported"
    " with its PTX line, CTA and thread.",
    "On a terminal, a line shows the progress: the share of the run that is done and the time left if the launches are"
    " known in advance (launch files, recordings, generated streams, --max-insts), otherwise the kernel under way and the"
    " share of its CTAs that have ended.",
    "`WORKLOAD + WORKLOAD` runs two programs concurrently. Each has its own address space, half of the SMs of every"
    " cluster (gpu.first_program_sms) and its own view of the last-level cache; they share all other resources. Each"
    " program is measured until its first completion; the one that completes first restarts until the other one has"
    " completed.",
    "The JSON holds `sluice` (version), `gpu`, `design`, `workload`, `interrupted`, `check` (verification of the"
    " workload's results: passed, failed or none), `cycles`, `thread_instructions`, `warp_instructions`, `ipc` (thread"
    " instructions per cycle), `kernels` (number of the launch, name, grid, block, cycles and instructions of each; with --kernel-stats also counters and"
    " energy), `sampling` (with --sample-kernels: what each timed launch represents, and the estimates), `stats` (every"
    " counter), `units` (every counter per SM, slice or channel), `decisions` (of LLC organisations that decide at run"
    " time: cycle, decision, reason and inputs), `mechanisms` (of every mechanism that decides at run time: its decisions"
    " by reason, with count, first and last cycle and mean inputs; cycles per mode; `no_decision`: why there is none), `samples` (with --sample: columns and rows, and `units` for the counters of"
    " --sample-units), `energy` (joules per component, split into events and time; docs/energy.md), `config` (every"
    " parameter in use) and `host` (seconds, warp_instructions_per_second, peak_rss_bytes). With two programs, it also"
    " holds `programs` (for each: `workload`, `check`, cycles, instructions, `ipc`, `ends`, `kernels`), and with"
    " --alone `stp`, `antt` and the `alone_ipc` of each program. Two runs of the same input differ only in `host`.",
    NULL,
};

static const struct example examples[] = {
    {"sluice run synth:stream", "read an array on the 80-SM GPU"},
    {"sluice run synth:shared --gpu selrep-64sm --set sm.warp_scheduler=lrr",
     "use another GPU and another warp scheduler"},
    {"sluice run synth:chase --set workload.footprint_kb=8 --set workload.stride_bytes=128 --json chase.json",
     "measure the L1 latency and write all counters to a file"},
    {"sluice run mm:tiny --design private", "run a program of the papers with a private last-level cache"},
    {"sluice run mm:tiny --latency", "show where the cycles of loads go: levels, queues, networks, DRAM"},
    {"sluice run --launch examples/saxpy.yaml", "run and verify your own kernel"},
    {"sluice run bfs:tiny --kernel-stats --kernels 5-8", "compare launches 5 to 8 of a program"},
    {"sluice run bfs:tiny --kernels 9-10 --checkpoint bfs.state",
     "time launches 9 and 10, and keep the state in front of them"},
    {"sluice run bfs:tiny --kernels 9-10 --restore bfs.state --design private",
     "time them again with another design, without executing launches 1 to 8"},
    {"sluice run mm:tiny + va:tiny --design adaptive --alone",
     "run two programs concurrently and report the slowdown of each"},
};

const struct command command_run = {
    .name = "run",
    .synopsis = "run WORKLOAD|WORKLOAD + WORKLOAD|--launch FILE|--trace FILE [OPTIONS]",
    .summary = "simulates a workload and prints a summary",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = run,
};
