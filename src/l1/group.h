/* Groups of SMs that share their L1s (l1.organisation clustered and those built on it): how many there are, how many
 * nodes each has, and the two crossbars of each between SMs and nodes.
 *
 * SM s belongs to group s / (SMs of a group). Nodes are numbered through the groups. A line has one home in every
 * group: its number modulo the group's nodes.
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

enum { GROUP_MEMBERS = 256 /* SMs of a group, and its nodes */ };

struct group_shape {
    unsigned groups, sms, nodes; /* SMs and nodes of one group */
};

struct group_shape group_shape(const struct config *config);

#endif
