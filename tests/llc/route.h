/* A request to the LLC as a requester sends it, with what the control plane then does for the organisation. */
#ifndef SLUICE_TESTS_LLC_ROUTE_H
#define SLUICE_TESTS_LLC_ROUTE_H

#include "llc/organisation.h"

/* The slice that serves the message of a requester of `cluster`; it is counted if the organisation counts it. */
static inline unsigned route(struct llc_organisation *llc, struct message *message, unsigned cluster, uint64_t now) {
    message->cluster = (uint8_t)cluster;
    if (llc_route(llc, message, now)) llc_count_sent(llc, message, now);
    return message->target;
}

#endif
