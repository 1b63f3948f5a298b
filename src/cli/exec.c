/* `sluice exec` runs an unmodified CUDA program on the simulated GPU. The program is a child process that loads Sluice's
 * runtime library; this process has the device and the machine. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/json.h"
#include "base/output.h"
#include "base/path.h"
#include "cli/child.h"
#include "cli/compiler.h"
#include "cli/job.h"
#include "cli/launches.h"
#include "cli/machine.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cuda/executable.h"
#include "cuda/server.h"
#include "host/checkpoint.h"
#include "stream/recording.h"

struct exec_values {
    struct machine_options machine;
    const char *json, *record, *kernels, *checkpoint, *restore;
    uint64_t sample;
    bool functional, kernel_stats;
};

static const struct option options[] = {
    MACHINE_OPTIONS(exec_values, machine),
    {"--json", "FILE", OPTION_TEXT, offsetof(struct exec_values, json),
     "write the complete result as JSON (`sluice help run`); every launch is one of its `kernels`"},
    {"--functional", NULL, OPTION_FLAG, offsetof(struct exec_values, functional),
     "execute the kernels without timing them; event times are estimates"},
    {"--kernels", "A-B", OPTION_TEXT, offsetof(struct exec_values, kernels),
     "time launches A to B only, counted from 1 (A: one launch; A-: all from A on); the others are executed"},
    CHECKPOINT_OPTIONS(exec_values, checkpoint, restore),
    {"--sample-kernels", "N", OPTION_COUNT, offsetof(struct exec_values, sample),
     "execute the program, then choose at most N launches that represent all, time these, and estimate cycles and counters"
     " of the whole program; event times are estimates"},
    {"--kernel-stats", NULL, OPTION_FLAG, offsetof(struct exec_values, kernel_stats),
     "count everything for each timed launch: a table in the summary, and counters and energy of each in the JSON"},
    {"--record", "FILE", OPTION_TEXT, offsetof(struct exec_values, record),
     "record the instruction streams of the launches instead of timing them, for `sluice run --trace`"},
};

/* Everything of one run. */
struct execution {
    const struct command *command;
    const struct exec_values *values;
    const char *name;
    struct config *config;
    struct child child;
    struct cuda_server *server;
    struct checkpoint *checkpoint; /* until the server has it */
    bool interrupted, failed;
    double seconds; /* of the execution, also while it waits for the program */
};

/* --- what to run --- */

/* The program's file: as given, or in the PATH as a shell finds it. NULL if there is none. */
static char *find_program(const char *name) {
    if (strchr(name, '/')) return access(name, F_OK) == 0 ? mem_text(name) : NULL;
    return path_of_program(name);
}

static bool is_source(const char *name) {
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".cu") == 0;
}

/* Builds the program of a CUDA source in a temporary directory; NULL with the error. */
static char *build_program(const char *source, struct error *err) {
    char *nvcc = compiler_nvcc(), *path = NULL;
    if (access(source, R_OK) != 0) {
        error_set(err, "cannot read %s: %s", source, strerror(errno));
    } else if (!nvcc) {
        error_set(
            err,
            "%s is a source, and nvcc, which would build its program, is not installed ($CUDA_HOME/bin or the PATH);"
            " `sluice cuda %s` compiles its kernels with clang, or build the program elsewhere with"
            " nvcc -cudart shared -gencode arch=compute_75,code=compute_75",
            source, source);
    } else {
        const char *temporary = getenv("TMPDIR"), *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;
        char *folder = text_format("%s/sluice-exec.XXXXXX", temporary && temporary[0] ? temporary : "/tmp");
        if (!mkdtemp(folder)) {
            error_set(err, "cannot create %s: %s", folder, strerror(errno));
        } else {
            path = text_format("%s/%.*s", folder, (int)(strlen(name) - 3), name);
            const char *words[] = {nvcc, "-cudart", "shared", "-gencode", "arch=compute_75,code=compute_75",
                                   "-o", path,      source,   NULL};
            if (!compiler_run(words, err) || signals_caught()) {
                unlink(path);
                rmdir(folder);
                free(path);
                path = NULL;
            }
        }
        free(folder);
    }
    free(nvcc);
    return path;
}

static void remove_program(char *path) {
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

/* The directory of the runtime library: of an installed program, or of the build tree. */
static char *find_library(const char *runtime, struct error *err) {
    char program[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash) *slash = '\0';
    static const char *const places[] = {"/..", ""};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        char *folder = text_format("%s%s/lib/sluice", program, places[i]);
        char *file = text_format("%s/%s", folder, runtime);
        bool there = access(file, R_OK) == 0;
        free(file);
        if (there) return folder;
        free(folder);
    }
    error_set(err, "the runtime library %s is not installed: expected in %s/../lib/sluice", runtime, program);
    return NULL;
}

/* --- results --- */

static struct cuda_options server_options(const struct execution *run, uint64_t first, uint64_t last) {
    const struct exec_values *values = run->values;
    return (struct cuda_options){
        .name = run->name,
        .config = run->config,
        .gpu = values->machine.gpu ? values->machine.gpu : DEFAULT_GPU,
        .socket = run->child.socket,
        .shared = run->child.shared,
        .functional = values->functional,
        .simulated = !values->functional && !values->record && !values->sample,
        .first = first,
        .last = last,
    };
}

static void put_dim(struct json *json, const char *key, struct dim dim) {
    json_key(json, key);
    json_array_compact(json);
    json_unsigned(json, dim.x);
    json_unsigned(json, dim.y);
    json_unsigned(json, dim.z);
    json_end(json);
}

static void write_functional(FILE *out, const void *what) {
    const struct execution *run = what;
    const struct cuda_launch *launches;
    uint64_t count = cuda_server_launches(run->server, &launches), warp = 0, thread = 0;
    for (uint64_t i = 0; i < count; i++) {
        warp += launches[i].warp_instructions;
        thread += launches[i].thread_instructions;
    }
    struct json json;
    json_start(&json, out);
    json_object(&json);
    json_put_text(&json, "sluice", SLUICE_VERSION);
    json_put_text(&json, "workload", run->name);
    json_put_bool(&json, "functional", true);
    json_put_bool(&json, "interrupted", run->interrupted);
    json_put_unsigned(&json, "thread_instructions", thread);
    json_put_unsigned(&json, "warp_instructions", warp);
    json_key(&json, "kernels");
    json_array(&json);
    for (uint64_t i = 0; i < count; i++) {
        json_object_compact(&json);
        json_put_text(&json, "name", launches[i].name);
        put_dim(&json, "grid", launches[i].grid);
        put_dim(&json, "block", launches[i].block);
        json_put_unsigned(&json, "instructions", launches[i].thread_instructions);
        json_put_unsigned(&json, "warp_instructions", launches[i].warp_instructions);
        json_end(&json);
    }
    json_end(&json);
    report_put_host(&json, warp, run->seconds, peak_rss_bytes());
    json_end(&json);
    json_finish(&json);
}

/* Whether the program has ended in a way that its result is complete; says so if not. */
static bool ended_well(const struct execution *run) {
    const struct cuda_launch *launches;
    uint64_t count = cuda_server_launches(run->server, &launches);
    int status = run->child.status;
    if (run->failed) return false;
    if (run->interrupted || WIFEXITED(status)) {
        bool launched = cuda_server_launched(run->server); /* also one that has not ended */
        if (!launched) complain(run->command, "warning: %s has launched no kernel", run->name);
        return launched;
    }
    complain(run->command, "%s was ended by signal %d (%s) after %llu launch%s; no result is written", run->name,
             WTERMSIG(status), strsignal(WTERMSIG(status)), (unsigned long long)count, count == 1 ? "" : "es");
    return false;
}

/* The program's own status; that of a signal as a shell reports it. */
static enum status final_status(const struct execution *run, enum status ours) {
    int status = run->child.status, own = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (run->interrupted) return STATUS_FAILED;
    return own ? (enum status)own : run->failed ? STATUS_FAILED : ours;
}

/* Set by a failure of ours, after which the program cannot continue. */
static bool give_up;
static bool in_hurry(void) { return give_up || signals_caught(); }

/* Waits for the program and for what it has started, and prints what is left of its kernels' output. */
static void finish_program(struct execution *run) {
    child_wait(&run->child, in_hurry);
    unsigned others = child_end_others();
    run->interrupted |= signals_caught();
    size_t bytes;
    const char *text = cuda_server_unprinted(run->server, &bytes);
    if (text) fwrite(text, 1, bytes, stdout);
    fflush(stdout);
    if (others)
        complain(run->command, "%u process%s that %s has started and left %s ended", others, others == 1 ? "" : "es",
                 run->name, others == 1 ? "was" : "were");
    if (!run->failed && child_closed_link(&run->child)) {
        complain(run->command,
                 "%s has closed its connection to the simulator, so that its later CUDA calls have failed;"
                 " no result is written",
                 run->name);
        run->failed = true;
    }
}

static bool program_failed(const struct execution *run) {
    const struct stream_source *source = cuda_server_source(run->server);
    return source->ops->failure && source->ops->failure(source);
}

static enum status write_json(const struct execution *run, void (*write)(FILE *, const void *), const void *what) {
    struct error err = {0};
    if (!run->values->json || output_write(run->values->json, write, what, &err)) return STATUS_DONE;
    complain_error(&err);
    return STATUS_FAILED;
}

/* --- ways to run --- */

static enum status run_functional(struct execution *run) {
    struct stream_source *source = cuda_server_source(run->server);
    struct kernel kernel;
    source->patience = not_interrupted;
    double begin = progress_clock();
    bool more = source->ops->next_kernel(source, &kernel); /* returns at the end of the program */
    assert(!more);
    (void)more;
    run->seconds = progress_clock() - begin;
    run->failed = program_failed(run);
    if (run->failed) complain(NULL, "%s", source->ops->failure(source));
    finish_program(run);
    if (!ended_well(run)) return final_status(run, STATUS_DONE);
    return final_status(run, write_json(run, write_functional, run));
}

static enum status run_recorded(struct execution *run) {
    struct stream_source *source = cuda_server_source(run->server);
    struct output output;
    struct progress progress;
    struct error err = {0};
    progress_start(&progress, NULL, NULL, 1);
    progress.shown = false; /* standard error is the program's */
    bool good = output_open(&output, run->values->record, &err);
    if (good) {
        good = recording_write(output.file, source, run->name, NULL, progress_record_step, &progress, &err);
        run->seconds = progress_clock() - progress.started;
        run->failed = !good && !signals_caught();
    }
    give_up = !good && !program_failed(run);
    if (run->failed) complain_error(&err);
    finish_program(run);
    bool keep = ended_well(run) && good && !run->interrupted;
    struct error closing = {0};
    if (output.file && !output_close(&output, keep, &closing)) run->failed = !!complain_error(&closing);
    if (run->interrupted) complain(run->command, "interrupted; no recording is written");
    enum status status = keep ? write_json(run, write_functional, run) : STATUS_DONE;
    if (keep) job_warn(source);
    return final_status(run, status);
}

struct watch {
    struct progress progress;
    struct cuda_server *server;
};

static bool step(void *user, const struct run_progress *now) {
    return progress_step(&((struct watch *)user)->progress, now);
}

static void kernel_ended(void *user, unsigned program, uint64_t cycle) {
    (void)program;
    cuda_server_kernel_ended(((struct watch *)user)->server, cycle);
}

static enum status report_run(const struct execution *run, const struct launches *launches,
                              const struct machine *machine, const struct energy_model *energy,
                              const struct run_result *result, double seconds) {
    struct energy_book book;
    energy_account(energy, run->config, machine_shape(machine), machine_stats(machine), result->cycles, &book);
    struct run_report report = {
        .gpu = run->values->machine.gpu ? run->values->machine.gpu : DEFAULT_GPU,
        .design = run->values->machine.design ? run->values->machine.design : "default",
        .workload = run->name,
        .config = run->config,
        .stats = machine_stats(machine),
        .journal = machine_journal(machine),
        .result = result,
        .energy = &book,
        .energy_model = energy,
        .shape = machine_shape(machine),
        .launches = launches,
        .kernel_table = run->values->kernel_stats,
        .check = "none",
        .programs = {.count = 1},
        .interrupted = run->interrupted,
        .cut = run->interrupted,
        .host_seconds = seconds,
        .host_peak_rss_bytes = peak_rss_bytes(),
    };
    report.programs.program[0] =
        (struct report_program){.workload = run->name, .check = "none", .stats = *machine_program(machine, 0)};
    report_write_summary(stderr, &report);
    return write_json(run, report_write_json, &report);
}

static enum status run_timed(struct execution *run, struct machine *machine, const struct energy_model *energy) {
    struct stream_source *source = cuda_server_source(run->server);
    struct watch watch = {.server = run->server};
    struct error err = {0};
    struct run_result result = {0};
    progress_start(&watch.progress, NULL, NULL, 1);
    watch.progress.shown = false; /* standard error is the program's */
    struct run_options how = {
        .kernel_stats = run->values->kernel_stats, .progress = step, .kernel_ended = kernel_ended, .user = &watch};
    enum run_status ended = machine_run(machine, source, &how, &result, &err);
    double seconds = progress_clock() - watch.progress.started;
    cuda_server_stop_timing(run->server);
    run->failed = ended == RUN_REFUSED || ended == RUN_FAILED;
    run->interrupted = ended == RUN_INTERRUPTED;
    give_up = run->failed && !program_failed(run);
    if (run->failed) complain_error(&err);
    if (run->failed && result.diagnosis) fputs(result.diagnosis, stderr);
    finish_program(run);
    enum status status = STATUS_DONE;
    if (ended_well(run)) {
        job_warn(source);
        if (run->values->kernels && result.kernel_count == 0)
            complain(run->command, "warning: no launch is in the range --kernels %s", run->values->kernels);
        status = report_run(run, NULL, machine, energy, &result, seconds);
    }
    run_result_release(&result);
    return final_status(run, status);
}

/* Times the launches of a recording that represent all. */
static enum status run_representatives(struct execution *run, struct stream_source *recorded, struct machine *machine,
                                       const struct energy_model *energy) {
    struct launches launches = {0};
    struct watch watch = {0};
    struct error err = {0};
    struct run_result result = {0};
    enum status status = STATUS_FAILED;
    const struct launch_options asked = {.sample = run->values->sample};
    progress_start(&watch.progress, NULL, NULL, 1);
    struct run_options how = {.kernel_stats = true, .progress = step, .user = &watch};
    if (!launches_open(&launches, &asked, 0, recorded, recorded, &err)) {
        complain_error(&err);
    } else {
        enum run_status ended = machine_run(machine, launches.selection, &how, &result, &err);
        double seconds = progress_clock() - watch.progress.started;
        progress_end(&watch.progress, 0);
        run->interrupted = ended == RUN_INTERRUPTED;
        if (ended == RUN_DONE || ended == RUN_INTERRUPTED)
            status = report_run(run, &launches, machine, energy, &result, seconds);
        else
            complain_error(&err);
        if (result.diagnosis) fputs(result.diagnosis, stderr);
    }
    run_result_release(&result);
    launches_release(&launches);
    return status;
}

static enum status run_sampled(struct execution *run, struct machine *machine, const struct energy_model *energy) {
    struct error err = {0};
    const struct job job = {.name = run->name, .source = cuda_server_source(run->server)};
    struct stream_source *recorded = job_record(&job, false, NULL, &err);
    run->failed = !recorded && !signals_caught();
    give_up = !recorded && !program_failed(run);
    if (run->failed) complain_error(&err);
    finish_program(run);
    bool good = ended_well(run) && recorded && !run->interrupted;
    enum status status = good ? run_representatives(run, recorded, machine, energy) : STATUS_DONE;
    if (recorded) recorded->ops->destroy(recorded);
    if (run->interrupted && !good)
        complain(run->command, "interrupted before the launches were chosen; no result is written");
    return final_status(run, status);
}

/* --- the command --- */

static enum status run_child(struct execution *run, struct cuda_options how, struct machine *machine,
                             const struct energy_model *energy) {
    run->server = cuda_server_create(&how);
    if (run->checkpoint) program_source_checkpoint(cuda_server_source(run->server), run->checkpoint);
    run->checkpoint = NULL;
    enum status status = run->values->functional ? run_functional(run)
                         : run->values->record   ? run_recorded(run)
                         : run->values->sample   ? run_sampled(run, machine, energy)
                                                 : run_timed(run, machine, energy);
    cuda_server_destroy(run->server);
    return status;
}

static enum status start(struct execution *run, const char *path, char *const *argv, uint64_t first, uint64_t last) {
    struct error err = {0};
    struct cuda_executable found;
    if (!cuda_executable_read(path, &found, &err)) return complain_error(&err);
    char *library = find_library(found.runtime, &err);
    if (!library) return complain_error(&err);
    bool timed = !run->values->functional && !run->values->record;
    struct energy_model *energy = timed ? energy_open(run->config, &err) : NULL;
    struct machine *machine = energy ? machine_create(run->config, &err) : NULL;
    char *preload = found.rpath ? text_format("%s/%s", library, found.runtime) : NULL;
    enum status status;
    signals_catch();
    if ((timed && !machine) || !child_start(&run->child, path, argv, library, preload, &err)) {
        status = complain_error(&err);
    } else {
        status = run_child(run, server_options(run, first, last), machine, energy);
        child_close(&run->child);
    }
    if (machine) machine_destroy(machine);
    free(energy);
    free(preload);
    free(library);
    return status;
}

static bool can_write(const char *path, struct error *err) { return !path || output_check(path, err); }

static enum status exec(const struct command *command, int argc, char **argv) {
    struct exec_values values = {0};
    struct arguments arguments;
    int split = 0;
    while (split < argc && strcmp(argv[split], "--") != 0) split++;
    if (!arguments_read(command, split, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count || split + 1 >= argc)
        return complain(command,
                        "the program and its arguments follow `--`: sluice exec [OPTIONS] -- PROGRAM ARGUMENTS");
    char **program = argv + split + 1;
    uint64_t first = 0, last = 0;
    if (values.kernels && !launches_range(values.kernels, &first, &last))
        return complain(command, "--kernels `%s`: expected A, A-B or A-, counted from 1", values.kernels);
    if (values.functional && (values.record || values.kernels))
        return complain(command, "--functional and %s are mutually exclusive",
                        values.record ? "--record" : "--kernels");
    if (values.kernel_stats && (values.functional || values.record))
        return complain(command, "--kernel-stats and %s are mutually exclusive",
                        values.record ? "--record" : "--functional");
    if (values.sample && (values.functional || values.record || values.kernels))
        return complain(command, "--sample-kernels cannot be combined with --functional, --record or --kernels");
    if ((values.checkpoint != NULL) + (values.restore != NULL) + (values.sample > 0) > 1)
        return complain(command, "only one of --checkpoint, --restore and --sample-kernels can be given");
    if ((values.json && strcmp(values.json, "-") == 0) || (values.record && strcmp(values.record, "-") == 0))
        return complain(command, "standard output is the program's: name a file");
    struct error err = {0};
    if (!can_write(values.json, &err) || !can_write(values.record, &err) || !can_write(values.checkpoint, &err))
        return complain_error(&err);
    struct execution run = {.command = command, .values = &values, .name = program[0]};
    run.config = machine_config(&values.machine, &err);
    if (!run.config) return complain_error(&err);
    machine_warn_unused((const struct config *const *)&run.config, 1, false);
    bool build = is_source(program[0]);
    if (build) signals_catch(); /* an interrupt leaves no directory behind */
    char *path = build ? build_program(program[0], &err) : find_program(program[0]);
    if (build && path) program[0] = path; /* its own name; the result has that of the source */
    if (path && (values.checkpoint || values.restore)) {
        last = last ? last : UINT64_MAX;
        run.checkpoint = launches_checkpoint(values.checkpoint, values.restore, &first, last, &err);
    }
    enum status status;
    if (build && signals_caught() && !path)
        status = (complain(command, "interrupted while nvcc built the program"), STATUS_FAILED);
    else if (err.set)
        status = complain_error(&err);
    else if (!path)
        status = complain(command, "there is no program %s", program[0]);
    else
        status = start(&run, path, program, first, last);
    if (build && path) remove_program(path);
    if (run.checkpoint) checkpoint_destroy(run.checkpoint);
    free(path);
    config_destroy(run.config);
    return status;
}

static const char *const details[] = {
    "Runs an unmodified CUDA program on the simulated GPU. The program must be linked with the shared CUDA runtime and"
    " contain PTX, as by nvcc -cudart shared -gencode arch=compute_75,code=compute_75; docs/cuda.md describes what is"
    " supported. Every kernel it launches is executed and timed, in order. The program's input, output and exit status"
    " are its own; the summary of the simulation goes to standard error.",
    "A PROGRAM whose name ends in .cu is a source: nvcc builds it in a temporary directory, where nvcc is installed"
    " ($CUDA_HOME/bin or the PATH), and the result has its name. nvcc takes further options, such as -I, from the environment"
    " variable NVCC_APPEND_FLAGS.",
    "A program that is ended by a signal gives no result, and the status is 128 plus the signal's number. When the"
    " command is interrupted, the program and all processes that it has started are ended; the result covers the"
    " launches so far and is marked `interrupted`. With --functional or --record, the JSON holds `sluice` (version),"
    " `workload`, `functional`, `interrupted`, `thread_instructions`, `warp_instructions`, `kernels` and `host`.",
    NULL,
};

static const struct example examples[] = {
    {"sluice exec -- ./vectoradd 1024", "run a CUDA program and print the summary"},
    {"sluice exec -- examples/vectoradd.cu 1024", "build it from its source with nvcc, and run it"},
    {"sluice exec --gpu fermi-15sm --json result.json -- ./bfs graph.txt", "use another GPU and write all counters"},
    {"sluice exec --functional -- ./bfs graph.txt", "only execute the program"},
    {"sluice exec --record bfs.stream -- ./bfs graph.txt", "record its streams for `sluice run --trace`"},
};

const struct command command_exec = {
    .name = "exec",
    .synopsis = "exec [OPTIONS] -- PROGRAM [ARGUMENTS]",
    .summary = "runs an unmodified CUDA program on the simulated GPU",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = exec,
};
