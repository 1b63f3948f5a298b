/* The program of a run: a bundled workload, two concurrent ones, a launch file, a recorded stream, or a SASS trace. Commands that run
 * a program embed `struct job_options` and JOB_OPTIONS. */
#ifndef SLUICE_CLI_JOB_H
#define SLUICE_CLI_JOB_H

#include <stdio.h>

#include "cli/command.h"
#include "config/config.h"
#include "lab/batch.h"
#include "sim/message.h"
#include "stream/progress.h"

struct job_options {
    const char *ptx, *launch, *trace, *on_violation;
    bool no_check, no_dump;
};

#define VIOLATION_HELP \
    "what to do when a kernel writes data that it loads as read-only (docs/model/read-only.md): end with exit status 1," \
    " or warn and continue; default: error"

#define JOB_OPTIONS(values, field) \
    {"--launch", "FILE", OPTION_TEXT, offsetof(struct values, field.launch), \
     "run your own kernels instead of a workload; the launch file (YAML, docs/launch-files.md) defines buffers and" \
     " their initial contents, launches and their arguments, expected results, and buffers to dump"}, \
        {"--ptx", "FILE", OPTION_TEXT, offsetof(struct values, field.ptx), \
         "use this PTX file instead of the one that the launch file names"}, \
        {VIOLATION_OPTION, "warn|error", OPTION_TEXT, offsetof(struct values, field.on_violation), VIOLATION_HELP}, { \
        "--no-check", NULL, OPTION_FLAG, offsetof(struct values, field.no_check), \
            "skip the verification of the workload's results" \
    }

#define TRACE_OPTION(values, field, verb) \
    { \
        "--trace", "FILE", OPTION_TEXT, offsetof(struct values, field.trace), \
            verb " a stream that `sluice record` wrote, or a SASS trace of Accel-Sim (its directory, kernelslist.g or" \
                 " one .traceg file, also compressed; docs/traces.md)" \
    }

struct job {
    const char *name;
    char *owned; /* `name` of a bundled workload, with its current size name, or of a trace; otherwise NULL */
    struct launch_file *file; /* NULL if the job is not a launch file */
    struct stream_source *source;
};

/* Whether arguments and options name exactly one program; prints an error if not. */
bool job_named(const struct command *command, const struct job_options *options, const struct arguments *arguments);
/* `workload` may be NULL if the options name a program. Device output goes to `print`. */
bool job_open(struct job *job, const struct job_options *options, const char *workload, const struct config *config,
              FILE *print, struct error *err);
/* The source of --trace: a SASS trace by its name (sass/list.h), otherwise a recording. `name` is that of the program in
 * results, which the caller frees, also after a failure. */
struct stream_source *trace_source_open(const char *path, char **name, struct error *err);
/* Writes the buffers that a launch file dumps, if its program has completed. */
bool job_dump(const struct job *job, struct error *err);
void job_close(struct job *job);

/* One program, or two concurrent ones. */
struct jobs {
    char *name;  /* "mm:tiny + va:tiny" */
    char *names; /* storage of the jobs' names */
    unsigned count;
    struct job job[PROGRAMS_MAX];
};

/* Whether arguments and options name one program, or two workloads separated by +; prints an error if not. */
bool jobs_named(const struct command *command, const struct job_options *options, const struct arguments *arguments);
bool jobs_open(struct jobs *jobs, const struct job_options *options, const struct arguments *arguments,
               const struct config *config, FILE *print, struct error *err);
void jobs_close(struct jobs *jobs);
/* Whether one of them is a generated stream, which has parameters. */
bool jobs_generated(const struct jobs *jobs);
/* The combined check: failed if one failed, passed if one passed and none failed. */
const char *jobs_check(const char *const *check, unsigned count);

/* Executes the program into a temporary recording that can be simulated repeatedly; its file is deleted. With `verify`,
 * *check is the result of the program's check. */
struct stream_source *job_record(const struct job *job, bool verify, const char **check, struct error *err);

/* Whether a value of --on-violation, NULL if not given, is valid. */
bool violation_named(const char *value, struct error *err);
/* Warns on standard error about unknown opcodes of a trace, and if kernels wrote lines that they had loaded as read-only,
 * with --on-violation warn: replicas of such lines may be stale. */
void job_warn(const struct stream_source *source);

/* What the program executes, as far as it is known. The launches of a bundled workload are not: its host program may
 * decide on them at run time. */
struct program_extent job_extent(const struct job *job);

/* Ends a program that is executed after N thread instructions (0: no limit); an error for other sources. */
bool job_limit(const struct job *job, uint64_t max_insts, struct error *err);

#endif
