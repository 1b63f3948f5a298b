#include "cli/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/draft.h"
#include "base/output.h"
#include "cli/progress.h"
#include "host/launch_file.h"
#include "sass/source.h"
#include "stream/recording.h"
#include "stream/workload.h"
#include "work.h"

bool job_named(const struct command *command, const struct job_options *options, const struct arguments *arguments) {
    const char *other = options->launch ? options->launch : options->trace;
    if (options->ptx && !options->launch)
        complain(command, "--ptx %s requires a launch file: --launch FILE", options->ptx);
    else if (options->launch && options->trace)
        complain(command, "--launch %s and --trace %s are mutually exclusive", options->launch, options->trace);
    else if (arguments->count == 0 && !other)
        complain(command, "missing workload: sluice %s WORKLOAD; `sluice list workloads` lists them", command->name);
    else if (arguments->count > 0 && other)
        complain(command, "workload `%s` and %s are mutually exclusive", arguments->word[0], other);
    else if (arguments->count > 1)
        complain(command, "unexpected argument `%s`: one workload expected", arguments->word[1]);
    else
        return true;
    return false;
}

/* The arguments as one text, "mm:tiny + va:tiny". */
static char *words_joined(const struct arguments *arguments) {
    char *text = mem_text("");
    for (unsigned i = 0; i < arguments->count; i++) {
        char *longer = text_format("%s%s%s", text, i ? " " : "", arguments->word[i]);
        free(text);
        text = longer;
    }
    return text;
}

/* Splits the next name off a list separated by +, without surrounding blanks; NULL at the end. */
static char *next_name(char **text) {
    char *name = strsep(text, "+");
    if (!name) return NULL;
    name += strspn(name, " ");
    for (size_t length = strlen(name); length && name[length - 1] == ' ';) name[--length] = '\0';
    return name;
}

bool jobs_named(const struct command *command, const struct job_options *options, const struct arguments *arguments) {
    char *text = words_joined(arguments), *rest = text, *name;
    bool several = strchr(text, '+') != NULL, good = true;
    unsigned count = 0;
    for (; several && good && (name = next_name(&rest)); count++) {
        good = *name && !strchr(name, ' ') && count < PROGRAMS_MAX;
        if (count == PROGRAMS_MAX)
            complain(command, "unexpected workload `%s`: at most two programs run concurrently", name);
        else if (!*name)
            complain(command, "missing workload: two programs run concurrently as sluice %s mm:tiny + va:tiny",
                     command->name);
        else if (!good)
            complain(command, "missing + between the workloads in `%s`", name);
    }
    free(text);
    const char *other = options->launch ? options->launch : options->trace;
    if (good && several && other) return complain(command, "workloads and %s are mutually exclusive", other), false;
    return several ? good : job_named(command, options, arguments);
}

static void print_device(void *user, const char *text, size_t bytes) { fwrite(text, 1, bytes, user); }

static bool open_launch(struct job *job, const struct job_options *options, FILE *print, struct error *err) {
    struct launch_dump dump;
    job->file = launch_file_open(options->launch, options->ptx, err);
    if (!job->file) return false;
    if (launch_file_warning(job->file)) complain(NULL, "warning: %s", launch_file_warning(job->file));
    for (unsigned i = 0; !options->no_dump && launch_file_dump(job->file, NULL, i, &dump); i++)
        if (!output_check(dump.path, err)) return false;
    job->name = launch_file_name(job->file);
    job->source = launch_file_source(job->file);
    program_source_print(job->source, print_device, print);
    return true;
}

bool violation_named(const char *value, struct error *err) {
    return !value || strcmp(value, "warn") == 0 || strcmp(value, "error") == 0 ||
           error_set(err, "--on-violation `%s`: expected warn or error", value);
}

struct stream_source *trace_source_open(const char *path, char **name, struct error *err) {
    bool sass = sass_is_trace(path);
    struct stream_source *source = sass ? sass_open(path, err) : recording_open(path, err);
    *name = sass || !source ? sass_name(path) : mem_text(recording_info(source)->workload);
    return source;
}

static bool open_program(struct job *job, const struct job_options *options, const char *workload,
                         const struct config *config, FILE *print, struct error *err) {
    if (options->launch) return open_launch(job, options, print, err);
    if (options->trace) {
        job->source = trace_source_open(options->trace, &job->owned, err);
        job->name = job->owned;
        return job->source != NULL;
    }
    bool bundled = strncmp(workload, "synth:", 6) != 0 && work_near(workload);
    if (bundled) job->name = job->owned = work_current_name(workload);
    job->source = bundled ? work_open(job->name, !options->no_check, err) : workload_open(config, workload, err);
    return job->source != NULL;
}

bool job_open(struct job *job, const struct job_options *options, const char *workload, const struct config *config,
              FILE *print, struct error *err) {
    *job = (struct job){.name = workload};
    if (!violation_named(options->on_violation, err) || !open_program(job, options, workload, config, print, err))
        return false;
    job->source->violations_fail = !options->on_violation || strcmp(options->on_violation, "error") == 0;
    return true;
}

static void write_dump(FILE *out, const void *what) {
    const struct launch_dump *dump = what;
    fwrite(dump->content, 1, dump->size_bytes, out);
}

bool job_dump(const struct job *job, struct error *err) {
    struct launch_dump dump;
    for (unsigned i = 0; job->file && launch_file_dump(job->file, job->source, i, &dump); i++)
        if (dump.content && !output_write(dump.path, write_dump, &dump, err)) return false;
    return true;
}

void job_close(struct job *job) {
    if (job->source) job->source->ops->destroy(job->source);
    if (job->file) launch_file_close(job->file);
    free(job->owned);
}

bool jobs_open(struct jobs *jobs, const struct job_options *options, const struct arguments *arguments,
               const struct config *config, FILE *print, struct error *err) {
    *jobs = (struct jobs){.names = words_joined(arguments)};
    char *rest = jobs->names, *name = next_name(&rest);
    bool good = true;
    do {
        good = job_open(&jobs->job[jobs->count++], options, name, config, print, err);
    } while (good && (name = next_name(&rest)));
    jobs->name = jobs->count == 1 ? mem_text(good ? jobs->job[0].name : "")
                                  : text_format("%s + %s", jobs->job[0].name, jobs->job[1].name);
    return good;
}

void jobs_close(struct jobs *jobs) {
    for (unsigned i = 0; i < jobs->count; i++) job_close(&jobs->job[i]);
    free(jobs->name);
    free(jobs->names);
}

const char *jobs_check(const char *const *check, unsigned count) {
    const char *together = "none";
    for (unsigned i = 0; i < count; i++)
        if (strcmp(check[i], "failed") == 0 || strcmp(together, "none") == 0) together = check[i];
    return together;
}

struct program_extent job_extent(const struct job *job) {
    const struct recording_info *recorded = recording_info(job->source);
    return (struct program_extent){
        .warp_instructions = recorded ? recorded->warp_instructions : workload_warp_instructions(job->source),
        .threads = job->file ? launch_file_threads(job->file) : 0,
    };
}

bool job_limit(const struct job *job, uint64_t max_insts, struct error *err) {
    return !max_insts || program_source_budget(job->source, max_insts) ||
           error_set(err, "--max-insts is for programs that are executed: workloads and launch files");
}

bool jobs_generated(const struct jobs *jobs) {
    bool generated = false;
    for (unsigned i = 0; i < jobs->count; i++) generated |= strncmp(jobs->job[i].name, "synth:", 6) == 0;
    return generated;
}

void job_warn(const struct stream_source *source) {
    struct error first = {0}, told = {0}, unknown = {0};
    if (sass_source_warning(source, &unknown)) complain(NULL, "warning: %s", unknown.text);
    uint64_t lines = source->ops->violations ? source->ops->violations(source, &first) : 0;
    if (!lines) return;
    error_set(&told, "warning: " VIOLATION_WARNING "%s (%llu line%s of 128 bytes in all)", first.text,
              (unsigned long long)lines, lines == 1 ? "" : "s");
    complain_error(&told);
}

struct stream_source *job_record(const struct job *job, bool verify, const char **check, struct error *err) {
    const char *folder = getenv("TMPDIR");
    char *path = text_format("%s/sluice-XXXXXX", folder && folder[0] ? folder : "/tmp");
    struct draft draft;
    draft_list(&draft, path);
    int file = mkstemp(path);
    FILE *out = file >= 0 ? fdopen(file, "wb") : NULL;
    struct stream_source *recorded = NULL;
    struct progress progress;
    if (!out) {
        error_set(err, "cannot create %s for the recorded stream: %s; set TMPDIR to another directory", path,
                  strerror(errno));
        if (file >= 0) close(file), unlink(path);
    } else {
        struct program_extent extent = job_extent(job);
        progress_start(&progress, "recording", &extent, 1);
        struct recording_verdict verdict = {.check = "none"};
        bool good = recording_write(out, job->source, job->name, verify ? &verdict : NULL, progress_record_step,
                                    &progress, err);
        progress_end(&progress, 0);
        if (fclose(out) != 0 && good) good = error_set(err, "writing %s failed: %s", path, strerror(errno));
        if (good && verify) *check = verdict.check;
        if (verdict.found.set) complain_error(&verdict.found);
        if (good) job_warn(job->source);
        if (good) recorded = recording_open(path, err);
        unlink(path);
    }
    draft_unlist(&draft);
    free(path);
    return recorded;
}
