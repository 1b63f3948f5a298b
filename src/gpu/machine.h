/* The machine: every room of a GPU, built from a configuration and connected, and the run of a program on it.
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
    uint64_t max_instructions;       /* not 0: stop issuing once this many thread instructions have issued, seen every
                                  RUN_QUANTUM cycles */
    uint64_t sample_cycles;          /* not 0: a row of the time series every so many cycles */
    const char *const *sample_units; /* counters to sample for each of their units, too; NULL ends them; may be NULL */
    bool (*progress)(void *user, const struct run_progress *progress); /* called now and then; false interrupts */
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
    unsigned ctas_per_sm;
    uint64_t cycles, warp_instructions, thread_instructions;
};

struct run_result {
    uint64_t cycles, warp_instructions, thread_instructions;
    unsigned kernel_count;
    struct kernel_result *kernels;
    struct series *series; /* NULL without sample_cycles */
    char *diagnosis;       /* RUN_FAILED: who waits for whom; else NULL */
};

/* The configuration must have passed config_check and must outlive the machine. */
struct machine *machine_create(const struct config *config, struct error *err);
void machine_destroy(struct machine *machine);

/* Runs the source's program from its first kernel to its last. A machine runs one program in its life. */
enum run_status machine_run(struct machine *machine, struct stream_source *source, const struct run_options *options,
                            struct run_result *result, struct error *err);
void run_result_release(struct run_result *result);

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
