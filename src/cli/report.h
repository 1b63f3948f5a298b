/* The result of a run, and its two outputs: a summary for people, JSON for programs. */
#ifndef SLUICE_CLI_REPORT_H
#define SLUICE_CLI_REPORT_H

#include <stdio.h>

#include "energy/energy.h"
#include "gpu/machine.h"
#include "sim/message.h"

/* Concurrent programs, and their IPC alone on the whole GPU. */
struct report_programs {
    unsigned count; /* 1: not reported */
    struct report_program {
        const char *workload, *check;
        struct program_stats stats;
        double alone_ipc; /* 0: unknown */
    } program[PROGRAMS_MAX];
};

struct run_report {
    const char *gpu, *design, *workload; /* as given on the command line */
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
/* As the values of the keys `programs`, and `stp` and `antt` if alone_ipc is known. `result` may be NULL: no
 * kernels. */
void report_put_programs(struct json *json, const struct report_programs *programs, const struct run_result *result);

/* 1234567 as "1,234,567", by value: one printf may use several. */
struct digits {
    char text[32];
};
struct digits grouped(uint64_t number);

/* a / b; 0 if b is not positive. */
static inline double ratio(double a, double b) { return b > 0 ? a / b : 0; }

static inline double report_program_ipc(const struct report_program *program) {
    return ratio((double)program->stats.thread_instructions, (double)program->stats.cycles);
}

/* System throughput, the sum over programs of IPC relative to IPC alone, and average normalised turnaround time, the
 * mean of the inverse ("System-Level Performance Metrics for Multiprogram Workloads", IEEE Micro 2008). 0 if an IPC
 * alone is unknown. */
double report_stp(const struct report_programs *programs);
double report_antt(const struct report_programs *programs);

#endif
