/* Runs on a cluster, through Slurm's commands: sbatch submits job arrays, squeue reports their states. No accounting
 * database and no daemon is needed.
 *
 * A submission is a task file in STORE.work/slurm, N.tasks; each task has a few runs. Task I of the job array
 * simulates the runs of task I (`sluice lab task N.tasks I`) and writes IDENTITY.json or IDENTITY.failed for each.
 * N.job has the job number, N-I.log the output of a task. Runs without a result when their task has left the queue
 * (failed, cancelled, preempted, timed out, lost) are submitted again by the next command.
 *
 * The compute nodes must see the directory under the same path. */
#ifndef SLUICE_LAB_SLURM_H
#define SLUICE_LAB_SLURM_H

#include "lab/intake.h"

struct slurm_options {
    const char *program;          /* the sluice that tasks run */
    const char *partition, *time; /* as for sbatch; NULL: its defaults */
    uint64_t memory_mb;           /* of a task; 0: the default */
    uint64_t runs_per_task;       /* 0: as many as are expected to take a few minutes */
};

struct slurm_queue {
    unsigned jobs, waiting, running; /* arrays with tasks in the queue; tasks */
    unsigned runs;                   /* of those tasks */
};

/* Reads the queue, and marks runs of the batch (may be NULL) whose tasks are in it as running. */
bool slurm_look(const struct intake *intake, struct batch *batch, struct slurm_queue *queue, struct error *err);
/* Imports the results of tasks, stores a failure for each run whose task ended without a result, and removes finished
 * submissions. */
bool slurm_gather(const struct intake *intake, struct store *store, uint64_t *taken, struct slurm_queue *queue,
                  struct error *err);
/* Submits the waiting runs; *tasks is the number of tasks, `jobs` lists the job numbers. */
bool slurm_submit(const struct intake *intake, struct batch *batch, const struct slurm_options *options,
                  unsigned *tasks, char *jobs, size_t jobs_size, struct error *err);

/* The runs of one task; `path` includes the directory. NULL with an error. */
struct batch *slurm_task(const char *path, uint64_t index, struct error *err);
/* Writes the error of a run next to the task file. */
bool slurm_task_failed(const char *folder, const struct batch_run *run, struct error *err);

#endif
