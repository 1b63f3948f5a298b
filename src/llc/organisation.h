/* LLC organisations: which slice serves a request. An organisation is one file with one `struct llc_organisation_ops`, and
 * one line in organisations.def.
 *
 * Every organisation has the first part of the ops: it is created, it chooses a slice, it is destroyed. What only some do is
 * a capability, a struct of its own that others leave NULL:
 *   profile   counts requests and lookups (adaptive, selrep)
 *   control   changes the mode of the machine at run time (adaptive, static, selrep)
 *   degrees   takes replication degrees from outside (selrep)
 *
 * Contract: `target` writes nothing. Its answer depends on the request, the requester's cluster and the organisation's state, which
 * changes only in the control plane's tick and so that requesters of the same cycle cannot notice. The slice is one of the
 * controller that owns the line: a memory-side cache never holds another controller's memory.
 */
#ifndef SLUICE_LLC_ORGANISATION_H
#define SLUICE_LLC_ORGANISATION_H

#include "config/config.h"
#include "dram/mapping.h"
#include "sim/message.h"
#include "stats/journal.h"
#include "stats/stats.h"

struct llc_organisation;
struct llc_context;
struct llc_profile_ops;
struct llc_control_ops;
struct llc_degree_ops;
struct cache_access;

struct llc_organisation_ops {
    struct policy policy;
    struct llc_organisation *(*create)(const struct llc_context *context, struct error *err);
    void (*destroy)(struct llc_organisation *organisation);
    /* The slice, numbered over the whole machine, that serves a message to an address of controller `mc` whose home in a shared LLC
     * is `home` of that controller's slices. Called in the cycle in which the message is sent. */
    unsigned (*target)(const struct llc_organisation *organisation, const struct message *message, unsigned mc,
                       unsigned home, unsigned cluster, uint64_t now);
    /* Rejects a machine that the organisation does not fit. NULL: it fits all. */
    bool (*check)(const struct config *config, struct error *err);
    /* `target` is always the requester's own slice: at each controller the one with the number of its cluster. Only then can
     * noc.bypass be set. */
    bool own_slice_only;
    /* Whether atomics may arrive while the LLC is private: the machine then has a shared LLC for them (atomics.h). NULL: they may not. */
    bool (*private_atomics)(const struct config *config);
    const struct llc_profile_ops *profile;
    const struct llc_control_ops *control;
    const struct llc_degree_ops *degrees;
};

/* The mode of the LLC for one program. */
struct llc_mode {
    bool
        is_private; /* a line may be in one slice for each cluster: writes go through to memory, and slices are flushed with the
                        L1s at a kernel's end */
    bool bypass; /* MC-routers are bypassed and powered off */
    bool
        replicas; /* lines that a kernel only reads may have replicas in other slices than their home, to which everything else
                        goes: at its end modified lines are written to memory, where replicas come from, and replicas are
                        invalidated */
    bool invalidate_all; /* where replicas are invalidated, all other lines are, too */
};

/* Counting what requests do, to decide by it. */
struct llc_profile_ops {
    /* Whether a request that is sent in cycle `now` is to be counted. Writes nothing: the sender calls it, and reports the request to
     * the control plane if so. */
    bool (*counts)(const struct llc_organisation *organisation, const struct message *message, unsigned mc,
                   uint64_t now);
    /* A request that counts was sent in `cycle`. Called in the control plane's tick, in order of cycles; within one, in any order. */
    void (*sent)(struct llc_organisation *organisation, const struct message *message, unsigned mc, unsigned home,
                 uint64_t cycle);
    /* A slice has looked up `message`; its line was present or pending if `hit`. Called in the slice's tick, and writes only what no
     * other slice does. */
    void (*looked_up)(struct llc_organisation *organisation, unsigned slice, const struct message *message,
                      const struct cache_access *access, bool hit, uint64_t now);
};

/* When an organisation that decides at run time is called. */
enum llc_occasion {
    LLC_KERNEL_BEGINS,
    LLC_TIMER,        /* the cycle that it asked for */
    LLC_RECONFIGURED, /* the machine is now in the mode that it wanted */
    LLC_KERNEL_ENDS,  /* the caches are about to be flushed */
};

/* Deciding at run time. All functions are called by the control plane. */
struct llc_control_ops {
    /* The mode that the machine should be in, and when to be called again (NEVER: not before the next occasion). If the mode differs,
     * the control plane reconfigures the machine (gpu/reconfiguration.h), sets `mode`, and calls with LLC_RECONFIGURED. Replicas stop
     * nothing: slices write back modified lines while they work. `mode` is as wanted when LLC_KERNEL_ENDS is over; but MC-routers are
     * bypassed only while all programs want it. */
    struct llc_mode (*decide)(struct llc_organisation *organisation, enum llc_occasion occasion, uint64_t now,
                              uint64_t *again);
    /* Brings counters of time up to `now`. NULL: there are none. */
    void (*settle)(struct llc_organisation *organisation, uint64_t now);
};

/* Replication degrees from outside. */
struct llc_degree_ops {
    /* Makes the next decision: `degree` replicas of a line that is only read; 0: the organisation decides itself. Returns false if
     * there cannot be that many. */
    bool (*set)(struct llc_organisation *organisation, unsigned degree);
    /* The period in cycles with which the machine finds the best degree by looking ahead (gpu/lookahead.h); 0: never. */
    uint64_t (*look_ahead_cycles)(const struct llc_organisation *organisation);
};

/* The head of every organisation. Programs that share the GPU have one each, over the same slices. */
struct llc_organisation {
    const struct llc_organisation_ops *ops;
    const struct address_map *map;
    struct llc_mode mode;
    unsigned program;
    bool atomics;                          /* the program has atomics (struct kernel): known when a kernel begins */
    struct llc_organisation *next_program; /* of the first program: the second's; NULL if there is none */
};

static inline struct llc_organisation *llc_of_program(struct llc_organisation *first, unsigned program) {
    return LIKELY(program == 0) ? first : first->next_program;
}

/* What an organisation is created from. */
struct llc_context {
    const struct config *config;
    const struct address_map *map;
    struct stats *stats;
    struct journal *journal; /* of decisions at run time */
};

/* The check of organisations with a slice for each cluster at every controller. */
bool llc_private_check(const struct config *config, struct error *err);

struct llc_organisation *llc_organisation_create(const struct llc_context *context, struct error *err);

/* Chooses the slice that serves the message, by the organisation of its program, and writes it and the place in that slice's memory
 * into the message. Returns whether the request is to be reported to the control plane. */
static inline bool llc_route(struct llc_organisation *first, struct message *message, uint64_t now) {
    const struct llc_organisation *organisation = llc_of_program(first, message->program);
    const struct llc_organisation_ops *ops = organisation->ops;
    struct location location;
    address_map_locate(organisation->map, message_place_in_memory(message), &location);
    message->place = location.partition;
    message->target = (uint16_t)ops->target(organisation, message, location.mc, location.slice, message->cluster, now);
    return UNLIKELY(ops->profile != NULL) && ops->profile->counts(organisation, message, location.mc, now);
}

/* The control plane has received the report of a request that was sent in `cycle`. */
static inline void llc_count_sent(struct llc_organisation *first, const struct message *message, uint64_t cycle) {
    struct llc_organisation *organisation = llc_of_program(first, message->program);
    struct location location;
    address_map_locate(organisation->map, message_place_in_memory(message), &location);
    organisation->ops->profile->sent(organisation, message, location.mc, location.slice, cycle);
}

#endif
