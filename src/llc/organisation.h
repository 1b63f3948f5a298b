/* LLC organisations choose the slice that serves a request. An organisation is one file with one `struct
 * llc_organisation_ops`, and one line in organisations.def.
 *
 * Every organisation provides the first part of the ops: create, choose a slice, destroy. The rest are capabilities,
 * each a struct that other organisations leave NULL:
 *   profile   counts requests and lookups (adaptive, selrep)
 *   control   changes the LLC mode at run time (adaptive, static, selrep)
 *   degrees   accepts external replication degrees (selrep)
 *
 * Contract: `target` writes nothing. Its result depends on the request, the requester's cluster and the organisation's
 * state, which changes only in the control plane's tick, and only such that requesters in the same cycle see no
 * difference. The slice belongs to the controller that owns the line, or, in an LLC of two partitions, is the mirror of
 * such a slice, which fetches the line from there (bridge.h).
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
    /* The slice, numbered over the whole machine, that serves a message to an address of controller `mc`, whose home in
     * a shared LLC is slice `home` of that controller. Called in the cycle in which the message is sent. */
    unsigned (*target)(const struct llc_organisation *organisation, const struct message *message, unsigned mc,
                       unsigned home, unsigned cluster, uint64_t now);
    /* Rejects a machine that the organisation does not support. NULL: it supports all. */
    bool (*check)(const struct config *config, struct error *err);
    /* `target` is always the requester's own slice: at each controller the one with the number of its cluster.
     * noc.bypass requires this. */
    bool own_slice_only;
    /* Whether atomics may arrive while the LLC is private: the machine then has a shared LLC for them (atomics.h).
     * NULL: no. */
    bool (*private_atomics)(const struct config *config);
    const struct llc_profile_ops *profile;
    const struct llc_control_ops *control;
    const struct llc_degree_ops *degrees;
};

/* The mode of the LLC for one program. */
struct llc_mode {
    bool is_private; /* each cluster's slice may hold a replica of a line: writes are written through, and slices are
                        flushed with the L1s at a kernel's end */
    bool bypass;     /* MC-routers are bypassed and powered off */
    bool replicas; /* lines that a kernel only reads may have replicas outside their home slice, which serves all other
                      requests; at the kernel's end modified lines are written to memory, the source of replicas, and
                      replicas are invalidated */
    bool copies;   /* the source of replicas is their home slice: modified lines stay there at the kernel's end */
    bool invalidate_all; /* all other lines are invalidated together with replicas */
};

/* Profiles requests, as input to decisions. */
struct llc_profile_ops {
    /* Whether a request sent in cycle `now` is counted. Writes nothing: the sender calls it, and if true reports the
     * request to the control plane. */
    bool (*counts)(const struct llc_organisation *organisation, const struct message *message, unsigned mc,
                   uint64_t now);
    /* A counted request was sent in `cycle`. Called in the control plane's tick, in order of cycles; in any order
     * within one. */
    void (*sent)(struct llc_organisation *organisation, const struct message *message, unsigned mc, unsigned home,
                 uint64_t cycle);
    /* A slice has looked up `message`; `hit` includes pending hits. Called in the slice's tick; writes only state of
     * this slice. */
    void (*looked_up)(struct llc_organisation *organisation, unsigned slice, const struct message *message,
                      const struct cache_access *access, bool hit, uint64_t now);
};

/* The occasions on which an organisation decides at run time. */
enum llc_occasion {
    LLC_KERNEL_BEGINS,
    LLC_TIMER,        /* the cycle that it requested */
    LLC_RECONFIGURED, /* the machine has entered the requested mode */
    LLC_KERNEL_ENDS,  /* the caches are about to be flushed */
};

/* Decisions at run time. All functions are called by the control plane. */
struct llc_control_ops {
    /* Returns the mode that the machine should be in, and when to be called again (NEVER: not before the next
     * occasion). If the mode differs, the control plane reconfigures the machine (gpu/reconfiguration.h), sets `mode`,
     * and calls with LLC_RECONFIGURED. A change to replicas stops no SM: slices write back modified lines in the
     * background. After LLC_KERNEL_ENDS `mode` is the returned one; but MC-routers are bypassed only while all programs
     * want it. */
    struct llc_mode (*decide)(struct llc_organisation *organisation, enum llc_occasion occasion, uint64_t now,
                              uint64_t *again);
    /* Brings counters of time up to `now`. NULL: there are none. */
    void (*settle)(struct llc_organisation *organisation, uint64_t now);
};

/* Replication degrees set externally. */
struct llc_degree_ops {
    /* Sets the result of the next decision: `degree` replicas of a read-only line; 0: the organisation decides. Returns
     * false if that degree is not possible. */
    bool (*set)(struct llc_organisation *organisation, unsigned degree);
    /* The interval in cycles at which the machine finds the best degree by lookahead (gpu/lookahead.h); 0: never. */
    uint64_t (*look_ahead_cycles)(const struct llc_organisation *organisation);
};

/* The common part of every organisation. Programs that share the GPU have one each, over the same slices. */
struct llc_organisation {
    const struct llc_organisation_ops *ops;
    const struct address_map *map;
    struct llc_mode mode;
    unsigned program;
    bool atomics;                          /* the program uses atomics (struct kernel); known when a kernel starts */
    struct llc_organisation *next_program; /* in the first program's: that of the second; NULL if there is none */
};

static inline struct llc_organisation *llc_of_program(struct llc_organisation *first, unsigned program) {
    return LIKELY(program == 0) ? first : first->next_program;
}

/* Arguments of `create`. */
struct llc_context {
    const struct config *config;
    const struct address_map *map;
    struct stats *stats;
    struct journal *journal; /* records decisions at run time */
};

/* The check of organisations that need one slice per cluster at every controller. */
bool llc_private_check(const struct config *config, struct error *err);

struct llc_organisation *llc_organisation_create(const struct llc_context *context, struct error *err);

/* Chooses the slice that serves the message, by the organisation of its program, and writes the slice and the place in
 * its memory into the message. Returns whether the request must be reported to the control plane. */
static inline bool llc_route(struct llc_organisation *first, struct message *message, uint64_t now) {
    const struct llc_organisation *organisation = llc_of_program(first, message->program);
    const struct llc_organisation_ops *ops = organisation->ops;
    struct location location;
    address_map_locate(organisation->map, message_place_in_memory(message), &location);
    message->place = location.partition;
    message->target = (uint16_t)ops->target(organisation, message, location.mc, location.slice, message->cluster, now);
    return UNLIKELY(ops->profile != NULL) && ops->profile->counts(organisation, message, location.mc, now);
}

/* The control plane has received the report of a request sent in `cycle`. */
static inline void llc_count_sent(struct llc_organisation *first, const struct message *message, uint64_t cycle) {
    struct llc_organisation *organisation = llc_of_program(first, message->program);
    struct location location;
    address_map_locate(organisation->map, message_place_in_memory(message), &location);
    organisation->ops->profile->sent(organisation, message, location.mc, location.slice, cycle);
}

#endif
