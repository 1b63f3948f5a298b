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
#include "noc/message.h"

struct llc_organisation;

struct llc_organisation_ops {
    struct policy policy;
    struct llc_organisation *(*create)(const struct config *config, const struct address_map *map, struct error *err);
    void (*destroy)(struct llc_organisation *organisation);
    /* Lines may have copies in several slices: writes go through to memory, and slices are flushed with the L1s at a
     * kernel's end. */
    bool write_through;
    /* With noc.bypass, `target` is always the requester's own slice: the one, of the slices of a controller, with the
     * number of its cluster. */
    bool own_slice_only;
    /* Refuses a machine that the organisation does not fit. NULL if it fits all. */
    bool (*check)(const struct config *config, struct error *err);
    /* The slice, counted over the whole machine, for a message to an address of controller `mc` whose home, if a line
     * has one, is `slice` of that. */
    unsigned (*target)(const struct llc_organisation *organisation, const struct message *message, unsigned mc,
                       unsigned slice, unsigned cluster);
};

/* The head of every organisation. */
struct llc_organisation {
    const struct llc_organisation_ops *ops;
    const struct address_map *map;
};

struct llc_organisation *llc_organisation_create(const struct config *config, const struct address_map *map,
                                                 struct error *err);

/* The slice that answers the message. Where in that slice's memory it looks is written into the message. */
static inline unsigned llc_target(const struct llc_organisation *organisation, struct message *message,
                                  unsigned cluster) {
    struct location location;
    address_map_locate(organisation->map, message->address, &location);
    message->place = location.partition;
    return organisation->ops->target(organisation, message, location.mc, location.slice, cluster);
}

#endif
