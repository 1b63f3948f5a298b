/* Insertion policies: which reads may bring their line into an L1, and which go past it. A policy is one file with one
 * `struct insertion_ops`, and one line in insertions.def.
 *
 * A policy is one object for all L1s of the machine, so that they may share what they know. All functions may be
 * left out. A policy without `admit` is never asked anything, and every line is inserted.
 *
 * Contract:
 *   1. `admit` is asked about a read whose line is not there, and changes nothing: the access may yet be refused and
 *      come again.
 *   2. `note` follows every read that looked at the cache and was accepted, with what became of it. This is where a
 *      policy learns. Writes, atomics and reads that are marked to go past the cache are not told.
 *   3. `evict` precedes the `note` of a read whose line replaces another. Lines also vanish without it: a store drops
 *      what it hits. What a policy remembers of a line must be compared with the cache before it is believed.
 */
#ifndef SLUICE_L1_INSERTION_H
#define SLUICE_L1_INSERTION_H

#include "cache/cache.h"
#include "l1/l1.h"

struct insertion_context {
    const struct config *config;
    struct stats *stats;
    unsigned l1s;
    unsigned homes;       /* lines are dealt out to so many L1s in turn, which their sets leave out of account */
    struct cache **cache; /* [l1s] */
};

/* A read that was accepted. */
struct insertion_event {
    const struct cache_access *access;
    enum l1_outcome outcome;       /* hit, hit-pending, miss or bypass */
    const struct cache_line *line; /* its line; NULL if it is not there */
    uint64_t now;
};

/* A trial of the policy on SM 0 against the plain cache on SM 1; the other SMs follow the better one. */
struct duel_rule {
    uint64_t interval_cycles;   /* the two are compared once in each */
    unsigned threshold_percent; /* by how much more the policy may miss and still be followed */
    unsigned least_reads;       /* of either, without which nothing is decided */
    bool in_points;             /* the threshold is one of points, not a share of the plain cache's miss rate */
};

/* What the two tell the control plane. */
struct duel_report {
    uint64_t interval;      /* its number */
    uint32_t reads, misses; /* by which to judge */
};

struct insertion_ops {
    struct policy policy;
    void *(*create)(const struct insertion_context *context, struct error *err);
    void (*destroy)(void *state);

    /* Whether a read whose line is not there may bring it in. */
    bool (*admit)(void *state, unsigned sm, const struct cache_access *access);
    /* Which line it may replace, if the policy does not leave that to the cache; NULL if none. Asked only after `admit`
     * has agreed. */
    struct cache_line *(*victim)(void *state, unsigned sm, unsigned set);
    void (*evict)(void *state, unsigned sm, unsigned set, const struct cache_line *line);
    void (*note)(void *state, unsigned sm, const struct insertion_event *event);
    /* The L1 has forgotten all lines. */
    void (*flush)(void *state, unsigned sm);

    /* By how many cycles a lookup takes longer than in the plain cache. */
    unsigned (*probe_cycles)(const struct config *config);

    /* Whether there is a duel, and its rule. Then `report_to` names the port to the control plane, for SM 0 and SM 1,
     * and `steer` brings its decision, for the others: the policy, or the plain cache. */
    bool (*duel)(const struct config *config, struct duel_rule *rule);
    void (*report_to)(void *state, unsigned sm, struct port *port);
    void (*steer)(void *state, unsigned sm, bool plain);

    /* The program's next kernel begins, counted from 0; and after the last one. */
    void (*begin)(void *state, unsigned kernel);
    bool (*finish)(void *state, struct error *err);

    /* A stage before the L1s: takes their place and passes on what it lets through. */
    struct l1 *(*before)(struct l1 *l1, const struct l1_context *context);
};

extern const struct family insertion_family;

#endif
