/* `sluice trace`: describes recordings and SASS traces, cuts parts out of them, and converts traces to recordings. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/output.h"
#include "cli/job.h"
#include "cli/launches.h"
#include "cli/progress.h"
#include "cli/tally.h"
#include "sass/source.h"
#include "stream/prefix.h"
#include "stream/recording.h"
#include "stream/selection.h"

struct trace_values {
    const char *output, *json, *kernels;
    uint64_t ctas;
};

static const struct option options[] = {
    {"-o", "FILE|DIRECTORY", OPTION_TEXT, offsetof(struct trace_values, output),
     "with cut and convert: the recording to write, or the new directory of the trace"},
    {"--kernels", "A-B", OPTION_TEXT, offsetof(struct trace_values, kernels),
     "only launches A to B, counted from 1 (A: one launch; A-: all from A on)"},
    {"--ctas", "N", OPTION_COUNT, offsetof(struct trace_values, ctas),
     "only the first N CTAs of each kernel, or as many more as complete their cluster; a grid that loses CTAs becomes one"
     " of one dimension"},
    {"--json", "FILE", OPTION_TEXT, offsetof(struct trace_values, json),
     "with info: write the description as JSON (`-`: standard output)"},
};

/* The program of a file, or the part of it that the options select. */
struct part {
    struct stream_source *whole, *launches, *source; /* `launches` may be NULL; `source` is what is read */
    struct sass_part selected;
    const char *path;
    char *name; /* of the program */
};

static void part_close(struct part *part) {
    free(part->name);
    if (part->source && part->source != part->whole && part->source != part->launches)
        part->source->ops->destroy(part->source);
    if (part->launches) part->launches->ops->destroy(part->launches);
    if (part->whole) part->whole->ops->destroy(part->whole);
}

static bool part_open(struct part *part, const struct trace_values *values, const char *path, struct error *err) {
    *part = (struct part){.path = path, .selected = {.first = 1, .last = UINT64_MAX, .ctas = values->ctas}};
    if (values->kernels && !launches_range(values->kernels, &part->selected.first, &part->selected.last))
        return error_set(err, "--kernels `%s`: expected A, A-B or A-, counted from 1", values->kernels);
    part->whole = part->source = trace_source_open(path, &part->name, err);
    if (!part->whole) return false;
    if (values->kernels)
        part->source = part->launches =
            selection_create(part->whole, 0, part->selected.first, part->selected.last, NULL);
    if (values->ctas) part->source = prefix_create(part->source, values->ctas);
    signals_catch();
    return true;
}

/* A selection beyond the last launch. */
static bool none_selected(const struct part *part, struct error *err) {
    return error_set(err, "launch %" PRIu64 " does not exist: the program has %" PRIu64, part->selected.first,
                     selection_launches(part->launches));
}

/* Why reading ended early: an error in the input, or a signal. */
static enum status read_failed(const struct error *err) {
    complain_error(err);
    return signals_caught() ? STATUS_FAILED : STATUS_BAD_INPUT;
}

/* --- info --- */

static enum status info(const struct trace_values *values, struct part *part, struct error *err) {
    bool sass = sass_source_list(part->whole) != NULL;
    struct tally tally = {.name = sass ? part->path : part->name, .trace = sass ? part->whole : NULL};
    part->source->patience = not_interrupted;
    bool good = tally_take(&tally, part->source, err);
    if (good && !tally.kernel_count && part->launches) good = none_selected(part, err);
    if (!good) return tally_release(&tally), read_failed(err);
    good = !values->json || output_write(values->json, tally_write_json, &tally, err);
    if (!values->json || strcmp(values->json, "-") != 0) tally_write_text(stdout, &tally);
    tally_release(&tally);
    return good ? STATUS_DONE : (complain_error(err), STATUS_FAILED);
}

/* --- cut and convert --- */

static enum status write_recording(const struct trace_values *values, struct part *part, struct error *err) {
    struct output output;
    struct progress progress;
    if (!output_open(&output, values->output, err)) return complain_error(err);
    progress_start(&progress, NULL, NULL, 1);
    bool good = recording_write(output.file, part->source, part->name, NULL, progress_record_step, &progress, err);
    progress_end(&progress, 0);
    if (good && part->launches && selection_launches(part->launches) < part->selected.first)
        good = none_selected(part, err);
    if (good) job_warn(part->whole);
    struct error closing = {0};
    bool written = output_close(&output, good, &closing);
    if (!good) return read_failed(err);
    return written ? STATUS_DONE : (complain_error(&closing), STATUS_FAILED);
}

static enum status cut(const struct trace_values *values, struct part *part, struct error *err) {
    const struct sass_list *list = sass_source_list(part->whole);
    if (!list) return write_recording(values, part, err);
    if (sass_cut(list, &part->selected, values->output, not_interrupted, NULL, err)) return STATUS_DONE;
    return read_failed(err);
}

static const struct {
    const char *name;
    enum status (*run)(const struct trace_values *values, struct part *part, struct error *err);
    bool writes;
} subcommands[] = {{"info", info, false}, {"cut", cut, true}, {"convert", write_recording, true}};

static enum status trace(const struct command *command, int argc, char **argv) {
    struct trace_values values = {0};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count == 0) return complain(command, "missing subcommand: info, cut or convert");
    const char *names[COUNT_OF(subcommands)], *word = arguments.word[0];
    unsigned which = 0;
    for (unsigned i = 0; i < COUNT_OF(subcommands); i++) names[i] = subcommands[i].name;
    while (which < COUNT_OF(subcommands) && strcmp(names[which], word) != 0) which++;
    if (which == COUNT_OF(subcommands)) {
        char near[80];
        hint(word, names, COUNT_OF(names), near, sizeof near);
        return complain(command, "unknown subcommand `trace %s`;%s", word,
                        *near ? near : " expected info, cut or convert");
    }
    if (arguments.count != 2) return complain(command, "one file expected: sluice trace %s FILE", word);
    bool writes = subcommands[which].writes;
    if (writes && !values.output) return complain(command, "missing output: -o FILE");
    if (writes && strcmp(values.output, "-") == 0)
        return complain(command, "the result cannot be written to standard output");
    if (!writes && values.output) return complain(command, "-o has no effect on trace info; use --json FILE");
    if (writes && values.json) return complain(command, "--json is an option of trace info");
    struct error err = {0};
    struct part part;
    if (values.json && !output_check(values.json, &err)) return complain_error(&err);
    enum status status = part_open(&part, &values, arguments.word[1], &err)
                             ? subcommands[which].run(&values, &part, &err)
                             : complain_error(&err);
    part_close(&part);
    return status;
}

static const char *const details[] = {
    "`info` describes each kernel: grid, block, registers, shared memory, instructions, and accesses by memory space; and"
    " the program's instructions by class. Of a SASS trace it also lists copies, streams and opcodes that the tables do"
    " not have. It reads the whole file and reports the first error in it.",
    "`cut` writes a part of the program, selected by --kernels and --ctas, in the same form: a recording, or a trace"
    " directory of plain text.",
    "`convert` writes the program, or a part of it, as a recording, which is smaller than a trace and read faster.",
    "A SASS trace is a directory, its kernelslist.g, or one kernel file (*.traceg, also compressed by gzip, xz or zstd), as"
    " Accel-Sim's tracer and its post-processing write them: docs/traces.md. Any other file is a recording of `sluice"
    " record`.",
    NULL,
};

static const struct example examples[] = {
    {"sluice trace info examples/trace", "list kernels and accesses of a trace"},
    {"sluice trace cut examples/trace/kernelslist.g --kernels 1 --ctas 1 -o part", "keep one CTA of one kernel"},
    {"sluice trace convert examples/trace -o program.stream", "convert a trace to a recording"},
};

const struct command command_trace = {
    .name = "trace",
    .synopsis = "trace info|cut|convert FILE [OPTIONS]",
    .summary = "describes, cuts and converts SASS traces and recordings",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = trace,
};
