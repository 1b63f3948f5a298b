/* A child process and what it says, as the runner and Slurm's commands need it.
 *
 * What the child writes comes through one pipe; its end of file is the child's end, so that many children are waited for
 * with one poll(). The beginning of what it says is kept. A child dies with its parent, however that ends: nothing goes
 * on unseen after a kill. */
#ifndef SLUICE_LAB_PROCESS_H
#define SLUICE_LAB_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

enum process_output { PROCESS_ERRORS, PROCESS_EVERYTHING }; /* what is kept: standard error alone, or both */

struct process {
    pid_t pid;
    int pipe; /* to poll for reading */
    char *text;
    size_t length;
};

/* `words` ends with NULL; its first is a path or, without a slash, found in the PATH. In `folder`, or where the parent is
 * if that is NULL. */
bool process_start(struct process *process, char *const *words, const char *folder, enum process_output output,
                   struct error *err);
/* Takes what there is to read; false at the end of file. */
bool process_read(struct process *process);
/* Waits for the end, and gives the status of waitpid(). process->text stays until process_release(). */
int process_wait(struct process *process);
void process_kill(struct process *process);
void process_release(struct process *process);

/* From start to end; status as of waitpid(), 127 as the exit status if there is no such program. */
bool process_run(char *const *words, char **text, int *status, struct error *err);

#endif
