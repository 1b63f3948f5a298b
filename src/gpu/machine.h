/* The machine: the modules of a GPU, built from a configuration and connected, and the run of one or two programs.
 *
 * Enters: a checked configuration, a stream source for each program, run options.
 * Leaves: the run's status and result (struct run_result), counters, the journal of run-time decisions, and if a run
 *         fails, a diagnosis of what waits for what.
 *
 * Two programs have their own address spaces, SMs and kernels and share everything else. Each runs to its end or its
 * instruction limit, and its result covers the time until then. The program that finishes first restarts, so that the
 * other still meets contention; the run ends when both have finished ("System-Level Performance Metrics for
 * Multiprogram Workloads", IEEE Micro 2008).
 *
 * Contract: a machine runs once. Two machines can exist in one process; there is no global state. A run that succeeds
 * has passed the conservation checks: every request answered, nothing in flight, every credit returned, every SM cycle
 * attributed.
 */
#ifndef SLUICE_GPU_MACHINE_H
#define SLUICE_GPU_MACHINE_H

#include "config/config.h"
#include "sim/message.h"
#include "stats/journal.h"
#include "stats/stats.h"
#include "stream/progress.h"

struct machine;
struct dram;
struct network_shape;
struct cta_event;

struct run_progress {
    uint64_t cycles, warp_instructions, thread_instructions;
    unsigned programs; /* 0 where only the totals are known */
    struct program_progress program[PROGRAMS_MAX];
};

struct run_options {
    bool no_skip;     /* tick every component in every cycle; same counters, for testing */
    uint64_t shuffle; /* not 0: seed of a random order of components within a cycle; same counters, for testing */
    uint64_t max_instructions;       /* not 0: per program; the run ends once every program has issued this many thread
                                        instructions, checked every RUN_QUANTUM cycles */
    bool kernel_stats;               /* all counters of every kernel; for one program */
    uint64_t sample_cycles;          /* not 0: interval of the time series */
    const char *const *sample_units; /* counters to sample per unit, too; NULL-terminated; may be NULL */
    unsigned timeline_rows;          /* not 0: a second series, of at most this many rows (even), for the whole run */
    const char *const *timeline_units;                                 /* as sample_units */
    bool (*progress)(void *user, const struct run_progress *progress); /* called periodically; false interrupts */
    /* The program has ended and is about to restart: the last chance to inspect its memory. May be NULL. */
    void (*restarts)(void *user, unsigned program);
    /* A kernel of the program has ended in this cycle. May be NULL. */
    void (*kernel_ended)(void *user, unsigned program, uint64_t cycle);
    /* A CTA starts or has ended. May be NULL. */
    void (*cta)(void *user, const struct cta_event *event);
    void *user;
};

enum { RUN_QUANTUM = 1024, TIMELINE_CYCLES = 256 /* first interval of a timeline, doubled as needed */ };

enum run_status {
    RUN_DONE,
    RUN_INTERRUPTED, /* by `progress`; the counters hold the values so far */
    RUN_REFUSED,     /* invalid input: the program does not fit the machine */
    RUN_FAILED,      /* a check failed, or the run deadlocked */
};

struct kernel_result {
    struct kernel kernel;
    unsigned program, ctas_per_sm;
    int carve_out_kb; /* shared memory in the array of the L1; -1: it is an array of its own */
    uint64_t begins;  /* cycle of the run */
    uint64_t cycles, warp_instructions, thread_instructions;
};

/* Progress of each program to its end or limit, counted as program.*, one unit per program (machine_stats). */
#define PROGRAM_STATS(S) \
    S(SUM, cycles, "cycles", "cycles until the program ends or reaches its instruction limit") \
    S(SUM, thread_instructions, "instructions", "thread instructions (one per active lane) issued until then") \
    S(SUM, warp_instructions, "instructions", "warp instructions issued until then") \
    S(SUM, kernels, "kernels", "kernels started until then; the last may be incomplete") \
    S(SUM, ends, "times", "completions of the program, which restarts while the other still runs") \
    S(SUM, read_only_violations, "lines", \
      "lines that a kernel loads as read-only and also writes (emulated programs only)")
STATS_STRUCT(program_stats, PROGRAM_STATS);

struct run_result {
    uint64_t cycles, warp_instructions, thread_instructions; /* of the whole run */
    unsigned kernel_count;
    struct kernel_result *kernels; /* of all programs, up to their end or limit, in order of completion */
    struct series *series;         /* NULL without sample_cycles */
    struct series
        *kernel_series;      /* a row for each of `kernels`; what is still under way at the end of a kernel counts in
                                      the next one, at the end of the run in the last. NULL without kernel_stats */
    struct series *timeline; /* NULL without timeline_rows */
    char *diagnosis;         /* RUN_FAILED: what waits for what; else NULL */
};

/* The configuration must have passed config_check and must outlive the machine. */
struct machine *machine_create(const struct config *config, struct error *err);
/* For up to PROGRAMS_MAX programs. */
struct machine *machine_create_for(unsigned programs, const struct config *config, struct error *err);
void machine_destroy(struct machine *machine);

/* Runs the source's program from its first kernel to its last. A machine runs only once. */
enum run_status machine_run(struct machine *machine, struct stream_source *source, const struct run_options *options,
                            struct run_result *result, struct error *err);
/* Runs as many programs as the machine was created for. */
enum run_status machine_run_all(struct machine *machine, struct stream_source *const *sources,
                                const struct run_options *options, struct run_result *result, struct error *err);
void run_result_release(struct run_result *result);

const struct program_stats *machine_program(const struct machine *machine, unsigned program);
const struct stats *machine_stats(const struct machine *machine);
/* Brings counters of time up to the present, between two quanta of the run (`progress`). */
void machine_settle(struct machine *machine);
/* Sets the replication degree of the next decision externally, between two quanta of the run (`progress`). Returns
 * false if the LLC organisation does not support it. */
bool machine_order_degree(struct machine *machine, unsigned degree);
/* The decisions made at run time. */
const struct journal *machine_journal(const struct machine *machine);
/* Shape of the networks. */
const struct network_shape *machine_shape(const struct machine *machine);
/* For its command log. */
struct dram *machine_dram(const struct machine *machine);

#endif
