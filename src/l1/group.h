/* Groups of SMs that share their L1s (l1.organisation `clustered` and those built on it): their number, the nodes of
 * each, and its two crossbars between SMs and nodes.
 *
 * SM s belongs to group s / (SMs per group). Nodes are numbered group by group. A line has one home node in each group:
 * its number modulo the nodes of the group.
 */
#ifndef SLUICE_L1_GROUP_H
#define SLUICE_L1_GROUP_H

#include "config/config.h"

struct group_config {
    int64_t count, nodes;
    int64_t channel_bytes, switch_cycles, link_cycles;
    int64_t injection_packets, request_queue, reply_queue;
};

extern const struct section group_section;

enum { GROUP_MEMBERS = 256 /* SMs per group, and nodes per group */ };

struct group_shape {
    unsigned groups, sms, nodes; /* SMs and nodes per group */
};

struct group_shape group_shape(const struct config *config);

#endif
