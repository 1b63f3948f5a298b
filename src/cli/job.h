/* What is run: a bundled workload by its name, two of them side by side, a launch file, or a recorded stream. Commands that
 * run something embed `struct job_options` and JOB_OPTIONS. */
#ifndef SLUICE_CLI_JOB_H
#define SLUICE_CLI_JOB_H

#include <stdio.h>

#include "cli/command.h"
#include "config/config.h"
#include "sim/message.h"
#include "stream/stream.h"

struct job_options {
    const char *ptx, *launch, *trace;
    bool no_check;
};

#define JOB_OPTIONS(values, field) \
    {"--launch", "FILE", OPTION_TEXT, offsetof(struct values, field.launch), \
     "run your own kernels instead of a workload; the launch file (YAML, docs/launch-files.md) defines buffers and" \
     " their initial contents, launches and their arguments, expected results, and buffers to dump"}, \
        {"--ptx", "FILE", OPTION_TEXT, offsetof(struct values, field.ptx), \
         "use this PTX file instead of the one that the launch file names"}, \
    { \
        "--no-check", NULL, OPTION_FLAG, offsetof(struct values, field.no_check), \
            "skip the verification of the workload's results" \
    }

struct job {
    const char *name;
    char *owned;              /* `name` of a bundled workload, with the current name of its size; NULL otherwise */
    struct launch_file *file; /* NULL unless it is one */
    struct stream_source *source;
};

/* Whether the words and options name exactly one thing; complains if not. */
bool job_named(const struct command *command, const struct job_options *options, const struct arguments *arguments);
/* `workload` may be NULL if the options name something. What the device prints goes to `print`. */
bool job_open(struct job *job, const struct job_options *options, const char *workload, const struct config *config,
              FILE *print, struct error *err);
/* Writes the buffers that a launch file wants written out, if its program came to its end. */
bool job_dump(const struct job *job, struct error *err);
void job_close(struct job *job);

/* One program, or two side by side. */
struct jobs {
    char *name;  /* "mm:tiny + va:tiny" */
    char *names; /* that the jobs' are parts of */
    unsigned count;
    struct job job[PROGRAMS_MAX];
};

/* Whether the words and options name one thing, or two workloads with a + between them; complains if not. */
bool jobs_named(const struct command *command, const struct job_options *options, const struct arguments *arguments);
bool jobs_open(struct jobs *jobs, const struct job_options *options, const struct arguments *arguments,
               const struct config *config, FILE *print, struct error *err);
void jobs_close(struct jobs *jobs);
/* What the programs' checks say together: failed if one has, passed if one has and none failed. */
const char *jobs_check(const char *const *check, unsigned count);

/* Executes the program into a recording that is gone once it is closed, so that it can be simulated again and again;
 * *check is what the program says of its results, if it is asked. */
struct stream_source *job_record(const struct job *job, bool verify, const char **check, struct error *err);

/* Says on standard error if kernels wrote what they had loaded as read-only: no failure, but such loads are not to be
 * trusted by who replicates them. */
void job_warn(const struct stream_source *source);

/* Warp instructions from start to end; 0 if that is not known. */
uint64_t job_instructions(const struct job *job);

#endif
