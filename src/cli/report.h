/* What is known after a run, and the two ways in which it is told: a summary for a person, JSON for all else. */
#ifndef SLUICE_CLI_REPORT_H
#define SLUICE_CLI_REPORT_H

#include <stdio.h>

#include "energy/energy.h"
#include "gpu/machine.h"

struct run_report {
    const char *gpu, *design, *workload; /* as they were asked for */
    const struct config *config;
    const struct stats *stats;
    const struct journal *journal;
    const struct run_result *result;
    const struct energy_book *energy;
    const char *check; /* "passed", "failed" or "none" */
    bool interrupted;
    double host_seconds;
    uint64_t host_peak_rss_bytes;
};

/* `what` is a const struct run_report *. */
void report_write_json(FILE *out, const void *what);
void report_write_summary(FILE *out, const struct run_report *report);

/* As the value of the key `energy`. */
struct json;
void report_put_energy(struct json *json, const struct energy_book *book);

/* a / b, and 0 where that means nothing. */
static inline double ratio(double a, double b) { return b > 0 ? a / b : 0; }

#endif
