/* A child process and its output, for the runner and for Slurm's commands.
 *
 * The output arrives through one pipe, whose end of file marks the end of the child, so one poll() waits for many
 * children. The first megabyte of output is kept. A child is killed when its parent ends, for whatever reason.
 *
 * A child can report its progress in a file without a name, which both have open and which ends with them. */
#ifndef SLUICE_LAB_PROCESS_H
#define SLUICE_LAB_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Captured: standard error only; the same, and the child reports its progress; or both outputs. */
enum process_output { PROCESS_ERRORS, PROCESS_REPORTS, PROCESS_EVERYTHING };

struct process {
    pid_t pid;
    int pipe;   /* to poll for reading */
    int report; /* the file of its reports, or -1 */
    char *text;
    size_t length;
};

/* `words` ends with NULL; the first is a path or, without a slash, searched in the PATH. Runs in `folder`; NULL: the
 * current directory. */
bool process_start(struct process *process, char *const *words, const char *folder, enum process_output output,
                   struct error *err);
/* Reads available output; false at end of file. */
bool process_read(struct process *process);
/* Waits for the end and returns the status of waitpid(). process->text is valid until process_release(). */
int process_wait(struct process *process);
void process_kill(struct process *process);
void process_release(struct process *process);

/* Progress of a run, and its counters so far. */
struct process_report {
    double share; /* of the whole run, from 0 to 1; -1: unknown */
    uint64_t warp_instructions, thread_instructions, cycles;
    double issuing, l1_hits, llc_hits; /* in % of SM cycles and of reads; -1: unknown */
};
/* The last report of a child; false if there is none. */
bool process_last_report(const struct process *process, struct process_report *report);
/* In the child: the file of its reports, or -1 if its parent reads none. */
int process_report_file(void);
void process_report(int file, struct process_report report);

/* Start to end; status of waitpid(), with exit status 127 if the program does not exist. */
bool process_run(char *const *words, char **text, int *status, struct error *err);

#endif
