/* What is known after a run, and the two ways in which it is told: a summary for a person, JSON for all else. */
#ifndef SLUICE_CLI_REPORT_H
#define SLUICE_CLI_REPORT_H

#include <stdio.h>

#include "energy/energy.h"
#include "gpu/machine.h"
#include "sim/message.h"

/* Programs that ran side by side, and how they fare against having the GPU to themselves. */
struct report_programs {
    unsigned count; /* 1: there is nothing to tell */
    struct report_program {
        const char *workload, *check;
        struct program_stats stats;
        double alone_ipc; /* 0: not known */
    } program[PROGRAMS_MAX];
};

struct run_report {
    const char *gpu, *design, *workload; /* as they were asked for */
    const struct config *config;
    const struct stats *stats;
    const struct journal *journal;
    const struct run_result *result;
    const struct energy_book *energy;
    const char *check; /* "passed", "failed" or "none" */
    struct report_programs programs;
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
/* As the values of the keys `programs`, and `stp` and `antt` if the programs alone are known. `result` may be NULL: without
 * kernels. */
void report_put_programs(struct json *json, const struct report_programs *programs, const struct run_result *result);

/* a / b, and 0 where that means nothing. */
static inline double ratio(double a, double b) { return b > 0 ? a / b : 0; }

static inline double report_program_ipc(const struct report_program *program) {
    return ratio((double)program->stats.thread_instructions, (double)program->stats.cycles);
}

/* System throughput, the sum of the programs' rates as parts of those that they have alone, and average normalised
 * turnaround time, the average of the inverse ("System-Level Performance Metrics for Multiprogram Workloads", IEEE Micro
 * 2008). 0 if a program alone is not known. */
double report_stp(const struct report_programs *programs);
double report_antt(const struct report_programs *programs);

#endif
