/* The live view of experiments (`sluice lab run --watch`): runs under way with their share done, IPC over time, issue and hit
 * rates, and the results of the last finished runs. On a terminal it is a page that is drawn again and again and removed at
 * the end; elsewhere a line per finished run, and one about the rest every ten seconds. */
#ifndef SLUICE_CLI_LAB_WATCH_H
#define SLUICE_CLI_LAB_WATCH_H

#include "lab/runner.h"

struct lab_watch;
/* Draws on standard error. */
struct lab_watch *lab_watch_create(unsigned processes);
/* A run has finished with the result in the file. */
void lab_watch_finished(struct lab_watch *watch, const struct batch_run *run, const char *path);
/* `text` is the line about all runs. */
void lab_watch_step(struct lab_watch *watch, const struct runner_progress *progress, const char *text);
/* Removes the page, so that other output can follow. */
void lab_watch_erase(struct lab_watch *watch);
/* Also removes the page. `watch` may be NULL. */
void lab_watch_destroy(struct lab_watch *watch);

#endif
