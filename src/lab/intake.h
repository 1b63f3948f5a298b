/* The folder beside the store, STORE.work, where runs leave what they make until it is taken in: `local` for runs of this
 * machine, `slurm` for those of a cluster, `files` for what runs write for others. Results have the name IDENTITY.json and
 * are complete as soon as they have it; IDENTITY.failed says why there is none. Whoever opens the store for writing takes
 * in what lies there first, so that neither a kill nor a full disk loses a finished run. */
#ifndef SLUICE_LAB_INTAKE_H
#define SLUICE_LAB_INTAKE_H

#include "lab/batch.h"

struct intake {
    char *folder, *local, *slurm, *files; /* absolute, if they are there */
    bool made;
};

/* Names the folders, and with `make` makes them. */
bool intake_open(struct intake *intake, const char *store_path, bool make, struct error *err);
/* Removes what it made and is empty. */
void intake_close(struct intake *intake);

/* Takes in one result, or why it is not one. */
bool intake_take(struct store *store, const char *identity, const char *title, const char *path, struct error *err);
/* Takes in all that lie in a folder; *taken grows by how many results there were. */
bool intake_take_all(struct store *store, const char *folder, uint64_t *taken, struct error *err);
/* Results that wait in a folder. */
unsigned intake_waiting(const char *folder);
/* Removes what is neither: drafts and streams of runs that were killed. */
void intake_sweep(const char *folder);
/* Removes files that were written for other runs. */
void intake_forget_files(const struct intake *intake);

/* A file's content with a zero byte after it; NULL with an error. */
char *intake_read(const char *path, size_t *length, struct error *err);

#endif
