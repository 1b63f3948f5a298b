/* The results store: one SQLite file in WAL mode with a row for each run by its identity, its counters and parameters as
 * rows of their own, and the run's whole JSON compressed. The schema, for whoever asks with SQL: docs/store.md.
 *
 * One process writes, and a lock beside the file says so; any number read meanwhile. JSON is taken apart by SQLite's own
 * functions. What tells of the host (`host`) is kept in columns of its own, so that two stores of the same runs are equal
 * in everything else. */
#ifndef SLUICE_LAB_STORE_H
#define SLUICE_LAB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct store;
enum store_access { STORE_READ, STORE_WRITE };

/* STORE_WRITE makes the store if there is none, and fails if another process writes. */
struct store *store_open(const char *path, enum store_access access, struct error *err);
void store_close(struct store *store);
const char *store_path(const struct store *store);

bool store_has(struct store *store, const char *identity);
/* `json` is what `sluice run --json` wrote. A run that is there already stays as it is. */
bool store_put(struct store *store, const char *identity, const char *json, size_t length, struct error *err);
bool store_put_failure(struct store *store, const char *identity, const char *what, const char *why, struct error *err);
/* Forgets that a run has failed, since it is tried again. */
bool store_forgive(struct store *store, const char *identity, struct error *err);
bool store_has_failure(struct store *store, const char *identity);
/* Whether this is the result of a run that came to its end and whose check, if it has one, passed; if not, why not. */
bool store_accepts(struct store *store, const char *json, size_t length, struct error *why);

/* One run as it is read back; NULL if it is not there. */
struct stored_run;
struct stored_run *stored_run_get(struct store *store, const char *identity);
void stored_run_free(struct stored_run *run);
/* A counter or one of cycles, ipc, thread_instructions, warp_instructions, energy.*, seconds (of the host); false if
 * there is none of the name. */
bool stored_run_value(const struct stored_run *run, const char *name, double *value);
/* Per unit (SM, slice, ...): count, and values; 0 if there is none. */
unsigned stored_run_units(struct stored_run *run, const char *name, const double **values);
/* The time series of a sampled run: number of samples, cycles of each and the counter's increase within each; 0 if
 * none. */
unsigned stored_run_series(struct stored_run *run, const char *name, const double **cycles, const double **values);
/* The same for each unit: values[sample * units + unit]; returns the number of samples. */
unsigned stored_run_unit_series(struct stored_run *run, const char *name, unsigned *units, const double **values);
/* The launches of a run of one program, in their order; returns how many. A launch's cycles go on to the next one's beginning. */
struct stored_launch {
    char *kernel; /* name, grid and block, as "vecadd [640,1,1] [256,1,1]" */
    double cycles, thread_instructions, warp_instructions;
};
unsigned stored_run_launches(struct stored_run *run, const struct stored_launch **launches);

/* Takes over from another store the runs that this one does not have. */
bool store_merge(struct store *into, const char *from_path, uint64_t *added, struct error *err);

/* Experiments that were run into this store, so that a report can be made of the store alone. */
bool store_put_experiment(struct store *store, const char *name, const char *size, const char *path, struct error *err);
/* Calls `visit` for each, by name; `size` is "" unless it replaced that of every workload. */
void store_each_experiment(struct store *store,
                           void (*visit)(void *user, const char *name, const char *size, const char *path), void *user);
/* Calls `visit` for each run that failed and has not been made since. */
void store_each_failure(struct store *store,
                        void (*visit)(void *user, const char *identity, const char *what, const char *why), void *user);

uint64_t store_run_count(struct store *store);
/* Mean seconds that earlier runs of the job took; 0 if there were none. */
double store_job_seconds(struct store *store, const char *job);

/* All runs, or only those that were chosen by store_choose(), by workload, GPU and design. CSV has a column for each
 * counter and for each parameter in which the runs differ; JSON is an array of the runs with `identity` first. False if
 * the store could not be read. */
void store_choose(struct store *store, const char *identity);
bool store_export_csv(struct store *store, FILE *out, struct error *err);
bool store_export_json(struct store *store, FILE *out, struct error *err);

#endif
