/* Insertion policies: which read misses allocate a line in the L1, and which bypass it. A policy is one file with one
 * `struct insertion_ops`, and one line in insertions.def.
 *
 * A policy is one object for all L1s of the machine, which may share state. All functions are optional. Without
 * `admit`, every read miss allocates and no function of this interface is called on accesses.
 *
 * Contract:
 *   1. `admit` is called for a read whose line is not present and must not change state: the access may still have a
 *      reservation failure and be replayed.
 *   2. `note` follows every accepted read that looked up the cache, with its outcome. A policy updates its state here.
 *      Writes, atomics and reads with `bypass` set are not reported.
 *   3. `evict` precedes the `note` of a read whose line replaces another. Lines also disappear without it: a store
 *      invalidates the line it hits. State about a line must be checked against the cache before use.
 */
#ifndef SLUICE_L1_INSERTION_H
#define SLUICE_L1_INSERTION_H

#include "cache/cache.h"
#include "l1/l1.h"

struct insertion_context {
    const struct config *config;
    struct stats *stats;
    unsigned l1s;
    unsigned homes; /* lines are interleaved over this many L1s; the set index excludes that part of the line number */
    struct cache **cache; /* [l1s] */
};

/* An accepted read. */
struct insertion_event {
    const struct cache_access *access;
    enum l1_outcome outcome;       /* hit, pending hit, miss or bypass */
    const struct cache_line *line; /* its line; NULL if not present */
    uint64_t now;
};

/* SM dueling: SM 0 uses the policy, SM 1 the plain cache; the other SMs, and if `contestants_follow` these two until the
 * next round, follow the better one. */
struct duel_rule {
    uint64_t interval_cycles;   /* between comparisons */
    unsigned threshold_percent; /* excess of the policy's miss rate up to which it is followed */
    unsigned least_reads;       /* of each leader, minimum for a decision */
    bool in_points;             /* the threshold is in percentage points, not relative to the plain cache's miss rate */
    bool contestants_follow;
    uint64_t
        round_cycles; /* with contestants that follow: from a verdict to the next round; 0: only kernels begin one */
};

/* The report of a leader to the control plane. */
struct duel_report {
    uint64_t interval;      /* number of the interval */
    uint32_t reads, misses; /* basis of the miss rate */
    uint32_t round;         /* of the last command that the leader received */
};

struct insertion_ops {
    struct policy policy;
    void *(*create)(const struct insertion_context *context, struct error *err);
    void (*destroy)(void *state);

    /* Whether a read miss allocates. */
    bool (*admit)(void *state, unsigned sm, const struct cache_access *access);
    /* The victim, if the policy selects it instead of the cache; NULL if there is none. Called only after `admit`
     * returned true. */
    struct cache_line *(*victim)(void *state, unsigned sm, unsigned set);
    void (*evict)(void *state, unsigned sm, const struct cache_line *line);
    void (*note)(void *state, unsigned sm, const struct insertion_event *event);
    /* All lines of the L1 were invalidated. */
    void (*flush)(void *state, unsigned sm);

    /* Additional lookup latency compared with the plain cache. */
    unsigned (*probe_cycles)(const struct config *config);

    /* Whether SM dueling is enabled, and its rule. `report_to` then sets the port to the control plane, for SM 0 and SM
     * 1, and `steer` applies a command of round `round`: the policy or the plain cache. */
    bool (*duel)(const struct config *config, struct duel_rule *rule);
    void (*report_to)(void *state, unsigned sm, struct port *port);
    void (*steer)(void *state, unsigned sm, bool plain, uint32_t round);

    /* The program's next kernel begins, numbered from 0; `finish` follows the last one. */
    void (*begin)(void *state, unsigned kernel);
    bool (*finish)(void *state, struct error *err);

    /* A stage in front of the L1s: replaces them towards the SMs and forwards requests to them. */
    struct l1 *(*before)(struct l1 *l1, const struct l1_context *context);
};

extern const struct family insertion_family;

#endif
