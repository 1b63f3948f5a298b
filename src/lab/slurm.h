/* Runs on a cluster, through Slurm's own commands: sbatch to submit job arrays, squeue to see how they are. Accounting is
 * not needed, and nothing runs on between one command of the user and the next.
 *
 * A submission is a file of tasks in STORE.work/slurm, N.tasks, each task a few runs; the job array's task I makes those of
 * task I (`sluice lab task N.tasks I`) and leaves a file for each, IDENTITY.json or IDENTITY.failed. N.job has the job's
 * number, N-I.log what a task said. Whatever is missing once a task has left the queue (failed, cancelled, pre-empted, out
 * of time, never heard of again) is submitted anew the next time.
 *
 * The folder has to be one that the cluster's machines see under the same name. */
#ifndef SLUICE_LAB_SLURM_H
#define SLUICE_LAB_SLURM_H

#include "lab/intake.h"

struct slurm_options {
    const char *program;          /* the sluice that tasks run */
    const char *partition, *time; /* as for sbatch; NULL: its defaults */
    uint64_t memory_mb;           /* of a task; 0: the default */
    uint64_t runs_per_task;       /* 0: as many as are expected to fill some minutes */
};

struct slurm_queue {
    unsigned jobs, waiting, running; /* arrays with tasks in the queue; tasks */
    unsigned runs;                   /* that those tasks are to make */
};

/* Looks at the queue, and marks runs of the batch (may be NULL) whose tasks are in it as running. */
bool slurm_look(const struct intake *intake, struct batch *batch, struct slurm_queue *queue, struct error *err);
/* Takes in what tasks have left, notes as failed what tasks that are gone have not made, and forgets submissions that are
 * over. */
bool slurm_gather(const struct intake *intake, struct store *store, uint64_t *taken, struct slurm_queue *queue,
                  struct error *err);
/* Submits the runs that are waiting; *tasks is how many tasks they came to, *jobs the numbers of their arrays. */
bool slurm_submit(const struct intake *intake, struct batch *batch, const struct slurm_options *options,
                  unsigned *tasks, char *jobs, size_t jobs_size, struct error *err);

/* The runs of one task of a file, which is named with its folder; NULL with an error. */
struct batch *slurm_task(const char *path, uint64_t index, struct error *err);
/* Beside the tasks' file: why a run of a task has no result. */
bool slurm_task_failed(const char *folder, const struct batch_run *run, struct error *err);

#endif
