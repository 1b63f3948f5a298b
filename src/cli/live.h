/* The live view of a run (`sluice run --watch`): progress, and how IPC, stalls, hit rates and DRAM have developed. On a
 * terminal it is a page that is drawn again and again and removed at the end; elsewhere a line every ten seconds. */
#ifndef SLUICE_CLI_LIVE_H
#define SLUICE_CLI_LIVE_H

#include "cli/progress.h"

struct live;
/* Draws on standard error. `title` and the rest must outlive it. */
struct live *live_create(const char *title, const struct config *config, struct machine *machine);
/* To be called while the run progresses. */
void live_step(struct live *live, const struct progress *progress, const struct run_progress *now);
/* Removes the page. */
void live_destroy(struct live *live);

#endif
