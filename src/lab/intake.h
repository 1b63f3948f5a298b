/* The work directory next to the store, STORE.work, holds the output of runs until it is imported: `local` for runs
 * on this machine, `slurm` for those on a cluster, `files` for files that other runs read. A result appears as
 * IDENTITY.json when it is complete; IDENTITY.failed holds the error of a run without one. A command that opens the
 * store for writing imports these files first, so that neither a kill nor a full disk loses a finished run. */
#ifndef SLUICE_LAB_INTAKE_H
#define SLUICE_LAB_INTAKE_H

#include "lab/batch.h"

struct intake {
    char *folder, *local, *slurm, *files; /* absolute, if they exist */
    bool made;
};

/* Sets the paths, and with `make` creates the directories. */
bool intake_open(struct intake *intake, const char *store_path, bool make, struct error *err);
/* Removes the created directories that are empty. */
void intake_close(struct intake *intake);

/* Imports one result, or stores why it is unusable. */
bool intake_take(struct store *store, const char *identity, const char *title, const char *path, struct error *err);
/* Imports all results of a directory and adds their number to *taken. */
bool intake_take_all(struct store *store, const char *folder, uint64_t *taken, struct error *err);
/* Number of results in a directory. */
unsigned intake_waiting(const char *folder);
/* Removes all other files: drafts and streams of killed runs. */
void intake_sweep(const char *folder);
/* Removes the files that runs wrote for other runs. */
void intake_forget_files(const struct intake *intake);

/* The content of a file, terminated by a zero byte; NULL with an error. */
char *intake_read(const char *path, size_t *length, struct error *err);

#endif
