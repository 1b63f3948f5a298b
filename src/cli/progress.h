/* The progress line of a run, its report to `sluice lab run`, and the signals that end a run. */
#ifndef SLUICE_CLI_PROGRESS_H
#define SLUICE_CLI_PROGRESS_H

#include "gpu/machine.h"

struct progress {
    const char *label;       /* before the numbers, or NULL */
    bool shown;              /* standard error is a terminal */
    bool drawn;              /* the line is on the terminal */
    int report;              /* file for a parent process (lab/process.h), or -1 */
    struct machine *machine; /* whose counters are reported, or NULL */
    struct program_extent extent[PROGRAMS_MAX];
    double started, next; /* seconds */
};

double progress_clock(void);
/* The most memory that this process has used. */
uint64_t peak_rss_bytes(void);
/* `extent` has an element per program; NULL: unknown. */
void progress_start(struct progress *progress, const char *label, const struct program_extent *extent,
                    unsigned programs);
/* For run_options: false after a signal. */
bool progress_step(void *user, const struct run_progress *now);
/* The same while one program is recorded. */
bool progress_record_step(void *user, const struct program_progress *now);
/* Removes the line, and reports the end of a run that executed this many instructions; 0: it did not end. */
void progress_end(struct progress *progress, uint64_t warp_instructions);

/* Share of the run that is done: that of the program that is furthest from its end; -1 if unknown. */
double progress_share(const struct progress *progress, const struct run_progress *now);
/* The text of the line after `seconds`. */
void progress_text(const struct progress *progress, const struct run_progress *now, double seconds, char *text,
                   size_t size);

/* From now on Ctrl-C, TERM and HUP make progress_step end the run; a second Ctrl-C ends the program immediately. */
void signals_catch(void);
/* Whether a signal has arrived. */
bool signals_caught(void);
/* The reverse, as `patience` of a source. */
bool not_interrupted(void *user);

#endif
