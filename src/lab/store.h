/* The results store: an SQLite file in WAL mode with one row per run, keyed by identity, one row per counter and per
 * parameter, and the complete JSON of the run, compressed. docs/store.md documents the schema.
 *
 * One process writes at a time, enforced by a lock file next to the store; any number can read meanwhile. SQLite's JSON
 * functions parse results. `host` is stored in separate columns, so that two stores of the same runs are otherwise
 * equal. */
#ifndef SLUICE_LAB_STORE_H
#define SLUICE_LAB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct store;
enum store_access { STORE_READ, STORE_WRITE };

/* STORE_WRITE creates a missing store, and fails if another process is writing. A damaged store is not opened. */
struct store *store_open(const char *path, enum store_access access, struct error *err);
/* A store in memory with the runs of a damaged store that can still be read. */
struct store *store_salvage(const char *path, uint64_t *saved, uint64_t *lost, struct error *err);
/* An empty store in memory; `path` is its name in errors. */
struct store *store_open_memory(const char *path, struct error *err);
void store_close(struct store *store);
const char *store_path(const struct store *store);
/* False with the error if a function below that returns no error has failed to read the store. It then found nothing,
 * which must not be taken for an answer. */
bool store_readable(const struct store *store, struct error *err);

bool store_has(struct store *store, const char *identity);
/* `json` is the output of `sluice run --json`. A stored run is not replaced. */
bool store_put(struct store *store, const char *identity, const char *json, size_t length, struct error *err);
bool store_put_failure(struct store *store, const char *identity, const char *what, const char *why, struct error *err);
/* Removes the failure of a run that is submitted again. */
bool store_forgive(struct store *store, const char *identity, struct error *err);
bool store_has_failure(struct store *store, const char *identity);
/* Whether this is the result of a completed run whose check did not fail; if not, why. With `err` set, it is unknown. */
bool store_accepts(struct store *store, const char *json, size_t length, struct error *why, struct error *err);

/* A stored run; NULL if it is not in the store. */
struct stored_run;
struct stored_run *stored_run_get(struct store *store, const char *identity);
void stored_run_free(struct stored_run *run);
/* A counter, or cycles, ipc, thread_instructions, warp_instructions, energy.*, seconds (of the host); false for unknown
 * names. */
bool stored_run_value(const struct stored_run *run, const char *name, double *value);
/* The verdict of the workload's own check, "passed" or "none". */
const char *stored_run_check(const struct stored_run *run);
/* Values per unit (SM, slice, ...); returns their number, 0 if none. */
unsigned stored_run_units(struct stored_run *run, const char *name, const double **values);
/* The time series of a sampled run: the cycle at the end of each sample and the increase of the counter within it;
 * returns the number of samples, 0 if none. */
unsigned stored_run_series(struct stored_run *run, const char *name, const double **cycles, const double **values);
/* The same for each unit: values[sample * units + unit]; returns the number of samples. */
unsigned stored_run_unit_series(struct stored_run *run, const char *name, unsigned *units, const double **values);
/* The launches of a run of one program, in order; returns their number. A launch's cycles extend to the start of the
 * next. */
struct stored_launch {
    char *kernel; /* name, grid and block, as "vecadd [640,1,1] [256,1,1]" */
    double cycles, thread_instructions, warp_instructions;
};
unsigned stored_run_launches(struct stored_run *run, const struct stored_launch **launches);

/* Imports the runs of another store that are not in this one. */
bool store_merge(struct store *into, const char *from_path, uint64_t *added, struct error *err);

/* Records an experiment of this store, so that a report can be built from the store alone. */
bool store_put_experiment(struct store *store, const char *name, const char *size, const char *path, struct error *err);
/* Calls `visit` for each experiment, by name; `size` is "" unless it replaced the size of every workload. */
void store_each_experiment(struct store *store,
                           void (*visit)(void *user, const char *name, const char *size, const char *path), void *user);
/* Calls `visit` for each failed run that has not succeeded since. */
void store_each_failure(struct store *store,
                        void (*visit)(void *user, const char *identity, const char *what, const char *why), void *user);

uint64_t store_run_count(struct store *store);
/* Mean host seconds of the stored runs of the job; 0 if none. */
double store_job_seconds(struct store *store, const char *job);

/* Exports all runs, or only those selected by store_choose(), sorted by workload, GPU and design. CSV has one column
 * per counter and per parameter in which the runs differ; JSON is an array of the runs with `identity` first. False
 * if the store cannot be read. */
void store_choose(struct store *store, const char *identity);
bool store_export_csv(struct store *store, FILE *out, struct error *err);
bool store_export_json(struct store *store, FILE *out, struct error *err);

#endif
