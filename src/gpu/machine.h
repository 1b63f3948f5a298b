/* The machine: every room of a GPU, built from a configuration and connected, and the run of a program on it, or of two side
 * by side.
 *
 * Two programs have address spaces, SMs and kernels of their own and share all the rest. Each is run to its end, or its limit
 * of instructions, and what it took until then is its result; the one that is there first begins anew, so that the other
 * is not left alone, and the run ends with the last ("System-Level Performance Metrics for Multiprogram Workloads",
 * IEEE Micro 2008).
 *
 * Two machines can exist in one process; nothing here is global.
 */
#ifndef SLUICE_GPU_MACHINE_H
#define SLUICE_GPU_MACHINE_H

#include "config/config.h"
#include "stats/journal.h"
#include "stats/stats.h"
#include "stream/stream.h"

struct machine;
struct dram;
struct network_shape;

struct run_progress {
    uint64_t cycles, warp_instructions, thread_instructions;
};

struct run_options {
    bool no_skip;     /* tick every component in every cycle; same counters, for testing */
    uint64_t shuffle; /* not 0: seed of a random order of components within a cycle; same counters, for testing */
    uint64_t max_instructions; /* not 0: a program's limit; the run stops issuing once every program has issued this
                                        many thread instructions, seen every RUN_QUANTUM cycles */
    uint64_t sample_cycles;    /* not 0: a row of the time series every so many cycles */
    const char *const *sample_units; /* counters to sample for each of their units, too; NULL ends them; may be NULL */
    bool (*progress)(void *user, const struct run_progress *progress); /* called now and then; false interrupts */
    /* The program has come to its end and is about to begin anew: the last chance to look at what it left. May be NULL. */
    void (*restarts)(void *user, unsigned program);
    void *user;
};

enum { RUN_QUANTUM = 1024 };

enum run_status {
    RUN_DONE,
    RUN_INTERRUPTED, /* by `progress`; counters are those so far */
    RUN_REFUSED,     /* the program does not fit the machine: the input is wrong */
    RUN_FAILED,      /* a check did not hold, or nothing moved any more */
};

struct kernel_result {
    struct kernel kernel;
    unsigned program, ctas_per_sm;
    uint64_t cycles, warp_instructions, thread_instructions;
};

/* What each program took to its end or limit is counted as program.*, with a unit for each (machine_stats). */
#define PROGRAM_STATS(S) \
    S(SUM, cycles, "cycles", "until the program's end, or its limit of instructions") \
    S(SUM, thread_instructions, "instructions", "until then, counted by active lane") \
    S(SUM, warp_instructions, "instructions", "until then") \
    S(SUM, kernels, "kernels", "until then, the last one perhaps not to its end") \
    S(SUM, ends, "times", "the program came to its end: it begins anew while another has not") \
    S(SUM, read_only_violations, "lines", \
      "lines that a kernel loaded as read-only and wrote all the same, if the program is emulated")
STATS_STRUCT(program_stats, PROGRAM_STATS);

struct run_result {
    uint64_t cycles, warp_instructions, thread_instructions; /* of the whole run */
    unsigned kernel_count;
    struct kernel_result *kernels; /* of all programs, each to its end or limit, in the order in which they ended */
    struct series *series;         /* NULL without sample_cycles */
    char *diagnosis;               /* RUN_FAILED: who waits for whom; else NULL */
};

/* The configuration must have passed config_check and must outlive the machine. */
struct machine *machine_create(const struct config *config, struct error *err);
/* For so many programs, at most PROGRAMS_MAX. */
struct machine *machine_create_for(unsigned programs, const struct config *config, struct error *err);
void machine_destroy(struct machine *machine);

/* Runs the source's program from its first kernel to its last. A machine runs once in its life. */
enum run_status machine_run(struct machine *machine, struct stream_source *source, const struct run_options *options,
                            struct run_result *result, struct error *err);
/* Runs the programs that it was made for. */
enum run_status machine_run_all(struct machine *machine, struct stream_source *const *sources,
                                const struct run_options *options, struct run_result *result, struct error *err);
void run_result_release(struct run_result *result);

const struct program_stats *machine_program(const struct machine *machine, unsigned program);
const struct stats *machine_stats(const struct machine *machine);
/* Has the next decision on copies of lines made from outside, between two quanta of the run (`progress`): so many. Returns false if
 * the LLC's organisation does not take that. */
bool machine_order_degree(struct machine *machine, unsigned degree);
/* What was decided at run time. */
const struct journal *machine_journal(const struct machine *machine);
/* Of its networks. */
const struct network_shape *machine_shape(const struct machine *machine);
/* For its command log. */
struct dram *machine_dram(const struct machine *machine);

#endif
