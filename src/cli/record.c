/* `sluice record` records the instruction stream of a program; `sluice info` describes a recording. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/output.h"
#include "cli/job.h"
#include "cli/machine.h"
#include "cli/progress.h"
#include "stream/recording.h"

struct record_values {
    struct machine_options machine;
    struct job_options job;
    const char *output;
    uint64_t max_insts;
};

static const struct option record_options[] = {
    {"-o", "FILE", OPTION_TEXT, offsetof(struct record_values, output), "output file"},
    JOB_OPTIONS(record_values, job),
    TRACE_OPTION(record_values, job, "record"),
    {"--max-insts", "N", OPTION_COUNT, offsetof(struct record_values, max_insts),
     "end the program after N thread instructions, in the order of emulation; the recording holds what each warp has"
     " executed until then, without a check of the results"},
    MACHINE_OPTIONS(record_values, machine),
};

static enum status write_recording(const struct record_values *values, const struct job *job, struct error *err) {
    struct output output;
    struct progress progress;
    if (!output_open(&output, values->output, err)) return complain_error(err);
    signals_catch();
    struct program_extent extent = job_extent(job);
    extent.thread_instruction_limit = values->max_insts;
    progress_start(&progress, NULL, &extent, 1);
    struct recording_verdict verdict = {.check = "none"}, *asked = values->job.no_check ? NULL : &verdict;
    bool good = recording_write(output.file, job->source, job->name, asked, progress_record_step, &progress, err);
    progress_end(&progress, 0);
    if (strcmp(verdict.check, "failed") == 0) good = error_set(err, "no recording was written: %s", verdict.found.text);
    if (good) job_warn(job->source);
    struct error closing = {0};
    if (!output_close(&output, good, &closing) && good) *err = closing, good = false;
    return good ? STATUS_DONE : (complain_error(err), STATUS_FAILED);
}

static enum status record(const struct command *command, int argc, char **argv) {
    struct record_values values = {.job.no_dump = true};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (!job_named(command, &values.job, &arguments)) return STATUS_BAD_INPUT;
    if (!values.output) return complain(command, "missing output file: -o FILE");
    if (strcmp(values.output, "-") == 0) return complain(command, "a recording cannot be written to standard output");
    struct error err = {0};
    if (!output_check(values.output, &err)) return complain_error(&err);
    struct job job = {0};
    struct config *config = machine_config(&values.machine, &err);
    bool opened = config && job_open(&job, &values.job, arguments.word[0], config, stdout, &err);
    opened = opened && job_limit(&job, values.max_insts, &err);
    enum status status = opened ? write_recording(&values, &job, &err) : complain_error(&err);
    job_close(&job);
    if (config) config_destroy(config);
    return status;
}

static const char *const record_details[] = {
    "Executes a workload or a launch file, or reads a trace, and records the instruction stream of every warp. `sluice run --trace`"
    " simulates the recording without executing the program again and gives the same counters. The recording depends"
    " only on the program and its launches; --gpu, --design and --set only change the parameters of generated streams.",
    "With --max-insts the program ends early, also within a kernel, and the recording is simulated like any other: each warp"
    " exits after the last instruction that it executed, CTAs that had not begun are empty, and later launches are absent. The"
    " recording does not depend on anything but the program and N, which it exceeds by up to 4,096 thread instructions.",
    NULL,
};

static const struct example record_examples[] = {
    {"sluice record mm:tiny -o mm.stream", "record the stream of a small matrix product"},
    {"sluice run --trace mm.stream --design private", "simulate the recording"},
};

const struct command command_record = {
    .name = "record",
    .synopsis = "record WORKLOAD|--launch FILE|--trace FILE -o FILE [OPTIONS]",
    .summary = "records the instruction stream of a program",
    .details = record_details,
    .options = record_options,
    .option_count = COUNT_OF(record_options),
    .examples = record_examples,
    .example_count = COUNT_OF(record_examples),
    .run = record,
};

/* --- info --- */

struct info_values {
    const char *json;
};

static const struct option info_options[] = {
    {"--json", "FILE", OPTION_TEXT, offsetof(struct info_values, json),
     "write the description as JSON (`-`: standard output)"},
};

static void write_json(FILE *out, const void *what) {
    const struct recording_info *info = what;
    struct json json;
    json_start(&json, out);
    json_object(&json);
    json_put_unsigned(&json, "version", RECORDING_VERSION);
    json_put_text(&json, "workload", info->workload);
    json_put_text(&json, "check", info->check);
    json_put_unsigned(&json, "file_bytes", info->file_bytes);
    json_put_unsigned(&json, "warp_instructions", info->warp_instructions);
    json_put_unsigned(&json, "thread_instructions", info->thread_instructions);
    json_key(&json, "kernels");
    json_array(&json);
    for (uint32_t k = 0; k < info->kernel_count; k++) {
        const struct recording_kernel *kernel = &info->kernels[k];
        json_object_compact(&json);
        json_put_text(&json, "name", kernel->kernel.name);
        for (int which = 0; which < 2; which++) {
            json_key(&json, which ? "block" : "grid");
            json_array(&json);
            for (int d = 0; d < 3; d++) json_unsigned(&json, which ? kernel->kernel.block[d] : kernel->kernel.grid[d]);
            json_end(&json);
        }
        json_put_unsigned(&json, "registers", kernel->kernel.registers);
        json_put_unsigned(&json, "shared_bytes", kernel->kernel.shared_bytes);
        json_put_unsigned(&json, "warp_instructions", kernel->warp_instructions);
        json_put_unsigned(&json, "thread_instructions", kernel->thread_instructions);
        json_put_unsigned(&json, "memory_instructions", kernel->memory_instructions);
        json_put_unsigned(&json, "stored_bytes", kernel->stored_bytes);
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
    json_finish(&json);
}

static void write_text(const struct recording_info *info) {
    printf("%s: %u kernel%s, %" PRIu64 " warp instructions (%" PRIu64
           " thread instructions), %.3g bytes per warp instruction\n\n",
           info->workload, info->kernel_count, info->kernel_count == 1 ? "" : "s", info->warp_instructions,
           info->thread_instructions,
           info->warp_instructions ? (double)info->file_bytes / (double)info->warp_instructions : 0);
    printf("  %-24s %18s %14s %9s %9s %14s %8s %12s\n", "kernel", "grid", "block", "registers", "shared", "warp instr.",
           "memory", "bytes");
    for (uint32_t k = 0; k < info->kernel_count; k++) {
        const struct recording_kernel *kernel = &info->kernels[k];
        char grid[40], block[40];
        snprintf(grid, sizeof grid, "%u x %u x %u", kernel->kernel.grid[0], kernel->kernel.grid[1],
                 kernel->kernel.grid[2]);
        snprintf(block, sizeof block, "%u x %u x %u", kernel->kernel.block[0], kernel->kernel.block[1],
                 kernel->kernel.block[2]);
        printf("  %-24s %18s %14s %9u %9u %14" PRIu64 " %6.1f %% %12" PRIu64 "\n", kernel->kernel.name, grid, block,
               kernel->kernel.registers, kernel->kernel.shared_bytes, kernel->warp_instructions,
               kernel->warp_instructions
                   ? 100.0 * (double)kernel->memory_instructions / (double)kernel->warp_instructions
                   : 0,
               kernel->stored_bytes);
    }
}

static enum status info(const struct command *command, int argc, char **argv) {
    struct info_values values = {0};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count != 1) return complain(command, "one recording expected: sluice info FILE");
    struct error err = {0};
    struct stream_source *source = recording_open(arguments.word[0], &err);
    if (!source) return complain_error(&err);
    const struct recording_info *found = recording_info(source);
    bool good = !values.json || output_write(values.json, write_json, found, &err);
    if (!values.json || strcmp(values.json, "-") != 0) write_text(found);
    source->ops->destroy(source);
    return good ? STATUS_DONE : (complain_error(&err), STATUS_FAILED);
}

static const char *const info_details[] = {
    "Describes a recorded stream: the workload, and for each kernel its grid and block, registers and shared memory,"
    " instructions, the fraction of them that access memory, and their size in the file.",
    NULL,
};

static const struct example info_examples[] = {{"sluice info mm.stream", "describe a recording of `sluice record`"}};

const struct command command_info = {
    .name = "info",
    .synopsis = "info FILE [OPTIONS]",
    .summary = "describes a recorded stream",
    .details = info_details,
    .options = info_options,
    .option_count = COUNT_OF(info_options),
    .examples = info_examples,
    .example_count = COUNT_OF(info_examples),
    .run = info,
};
