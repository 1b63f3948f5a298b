/* The result of a run, and its two outputs: a summary for people, JSON for programs. */
#ifndef SLUICE_CLI_REPORT_H
#define SLUICE_CLI_REPORT_H

#include <stdio.h>

#include "cli/launches.h"
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
    const struct energy_model *energy_model;
    const struct network_shape *shape;
    const struct launches *launches; /* NULL: all */
    const char *check;               /* "passed", "failed" or "none" */
    struct report_programs programs;
    bool kernel_table; /* in the summary */
    bool interrupted;
    bool cut; /* interrupted, or ended by a limit */
    double host_seconds;
    uint64_t host_peak_rss_bytes;
};

/* `what` is a const struct run_report *. */
void report_write_json(FILE *out, const void *what);
void report_write_summary(FILE *out, const struct run_report *report);
/* An empty line and the title of a part of the summary. */
void report_title(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As the value of the key `energy`. */
struct json;
void report_put_energy(struct json *json, const struct energy_book *book);
/* As the value of the key `host`. */
void report_put_host(struct json *json, uint64_t warp_instructions, double seconds, uint64_t peak_rss_bytes);
/* As the values of the keys `programs`, and `stp` and `antt` if alone_ipc is known. `report` may be NULL: no
 * kernels. */
void report_put_programs(struct json *json, const struct report_programs *programs, const struct run_report *report);

/* As the value of the key `kernels`: those of a program, or of all (PROGRAMS_MAX). */
void report_put_kernels(struct json *json, const struct run_report *report, unsigned program);
/* What representatives say about the program, with --sample-kernels: as the value of the key `sampling`. */
void report_put_sampling(struct json *json, const struct run_report *report);
void report_write_sampling(FILE *out, const struct run_report *report);
/* The counters of each kernel, or of the longest, with --kernel-stats. */
void report_write_kernels(FILE *out, const struct run_report *report);

/* The latency breakdown, from counters by full name; nothing if there is none. `title` may be NULL. */
void report_write_latency(FILE *out, const char *title, double (*count)(const void *from, const char *name),
                          const void *from);

/* 1234567 as "1,234,567", by value: one printf may use several. */
struct digits {
    char text[32];
};
struct digits grouped(uint64_t number);

/* Hits in % of the reads of a cache ("l1", "llc"), from counters by full name; -1 without a read. */
double report_read_hits(const char *cache, double (*count)(const void *from, const char *name), const void *from);

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
