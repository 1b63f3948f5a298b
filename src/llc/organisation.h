/* LLC organisations: which slice answers a request. An organisation is one file with one `struct
 * llc_organisation_ops`, and one line in organisations.def.
 *
 * Contract: `target` is asked by the requester when it sends, and its answer depends on the request, the requester's
 * cluster and the organisation's state only. The slice is one of the controller that owns the line: a memory-side
 * cache never holds another controller's memory.
 */
#ifndef SLUICE_LLC_ORGANISATION_H
#define SLUICE_LLC_ORGANISATION_H

#include "config/config.h"
#include "dram/mapping.h"
#include "sim/message.h"
#include "stats/journal.h"
#include "stats/stats.h"

struct llc_organisation;
struct llc_site;
struct cache_access;

/* How the machine stands under an organisation. */
struct llc_mode {
    bool
        copies; /* lines may have copies in several slices: writes go through to memory, and slices are flushed with the
                    L1s at a kernel's end */
    bool bypass;     /* MC-routers are bypassed and powered off */
    bool replicas;   /* lines that a kernel only reads may have copies beside their home, to which all else goes: at its
                      end modified lines are written to memory, where replicas come from, and replicas forgotten */
    bool forget_all; /* where replicas are forgotten, all other lines are, too */
};

/* When an organisation that decides at run time is asked. */
enum llc_occasion {
    LLC_KERNEL_BEGINS,
    LLC_TIME_HAS_COME, /* that it asked for */
    LLC_SWITCHED,      /* the machine now stands as it wanted */
    LLC_KERNEL_ENDS,   /* the caches are about to be flushed */
};

struct llc_organisation_ops {
    struct policy policy;
    struct llc_organisation *(*create)(const struct llc_site *site, struct error *err);
    void (*destroy)(struct llc_organisation *organisation);
    /* With noc.bypass, `target` is always the requester's own slice: the one, of the slices of a controller, with the
     * number of its cluster. */
    bool own_slice_only;
    /* Whether atomics may come while lines have copies: the machine then has an LLC for them, at which they meet (atomics.h).
     * NULL: they may not. */
    bool (*private_atomics)(const struct config *config);
    /* Refuses a machine that the organisation does not fit. NULL if it fits all. */
    bool (*check)(const struct config *config, struct error *err);
    /* The slice, counted over the whole machine, for a message to an address of controller `mc` whose home, if a line
     * has one, is `slice` of that. Asked in the cycle in which the message is sent. */
    unsigned (*target)(struct llc_organisation *organisation, const struct message *message, unsigned mc,
                       unsigned slice, unsigned cluster, uint64_t now);

    /* Decisions at run time; all NULL where there are none. What `target` and `saw` are told they may count, but so that
     * neither the order of calls within a cycle nor that of `decide` among them matters: by time. */

    /* A slice has looked up `message`, and its line was there or on its way. Touches nothing that another slice would. */
    void (*saw)(struct llc_organisation *organisation, unsigned slice, const struct message *message,
                const struct cache_access *access, bool hit, uint64_t now);
    /* Says how the machine should stand and when to ask again (NEVER: not before the next occasion). If it does not stand
     * so, the control plane stops and drains it, has the slices write back or forget, switches the MC-routers, sets
     * `mode`, and asks with LLC_SWITCHED. For replicas nothing stops: slices write back what they have modified beside their
     * work. `mode` is as wanted when LLC_KERNEL_ENDS is over; but MC-routers are bypassed only while all programs want it. */
    struct llc_mode (*decide)(struct llc_organisation *organisation, enum llc_occasion occasion, uint64_t now,
                              uint64_t *again);
    /* Has the next decision made from outside: so many copies of a line that is only read, 0 for none of that. Returns false if
     * there cannot be so many. NULL where it is not a matter of copies. */
    bool (*order)(struct llc_organisation *organisation, unsigned degree);
    /* So often, in cycles, the machine is to find out by looking ahead which order to give (gpu/lookahead.h); 0: never. May be
     * NULL: never. */
    uint64_t (*look_ahead)(const struct llc_organisation *organisation);
    /* Brings counters of time up to `now`. */
    void (*settle)(struct llc_organisation *organisation, uint64_t now);
};

/* The head of every organisation. Each of the programs that run side by side has one of its own, in the same slices. */
struct llc_organisation {
    const struct llc_organisation_ops *ops;
    const struct address_map *map;
    struct llc_mode mode;
    unsigned program;
    bool atomics;                    /* the program has some (struct kernel): known when a kernel begins */
    struct llc_organisation *beside; /* of the first program: the second's; NULL if there is none */
};

static inline struct llc_organisation *llc_of_program(struct llc_organisation *first, unsigned program) {
    return LIKELY(program == 0) ? first : first->beside;
}

/* What an organisation is made for. */
struct llc_site {
    const struct config *config;
    const struct address_map *map;
    struct stats *stats;
    struct journal *journal; /* of what is decided at run time */
};

/* The check of organisations with a slice for each cluster at every controller. */
bool llc_private_check(const struct config *config, struct error *err);

struct llc_organisation *llc_organisation_create(const struct llc_site *site, struct error *err);

/* The slice that answers the message, by the organisation of its program. Where in that slice's memory it looks is written into the message. */
static inline unsigned llc_target(struct llc_organisation *first, struct message *message, unsigned cluster,
                                  uint64_t now) {
    struct llc_organisation *organisation = llc_of_program(first, message->program);
    struct location location;
    address_map_locate(organisation->map, message_place_in_memory(message), &location);
    message->place = location.partition;
    return organisation->ops->target(organisation, message, location.mc, location.slice, cluster, now);
}

#endif
