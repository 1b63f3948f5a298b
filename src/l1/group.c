#include "l1/group.h"

#include "l1/l1.h"
#include "sim/gpu_config.h"

static const struct param params[] = {
    P_INT(struct group_config, count, 0, 0, 512, "groups", "groups of SMs that share their L1s; 0: gpu.clusters"),
    P_INT(struct group_config, nodes, 0, 0, GROUP_MEMBERS, "L1s", "L1 nodes per group; 0: one per SM of the group"),
    P_INT(struct group_config, channel_bytes, 32, 8, 256, "B", "channel width between SMs and nodes"),
    P_INT(struct group_config, switch_cycles, 1, 1, 32, "cycles", "crossbar switch latency per flit"),
    P_INT(struct group_config, link_cycles, 1, 1, 32, "cycles", "link latency behind the switch"),
    P_INT(struct group_config, injection_packets, 4, 1, 256, "packets", "injection queue of an SM"),
    P_INT(struct group_config, request_queue, 8, 1, 256, "packets", "request queue of a node (Q1)"),
    P_INT(struct group_config, reply_queue, 8, 1, 256, "packets", "reply queue of a node (Q4)"),
};

static struct group_shape shape_of(int64_t sms, int64_t clusters, const struct group_config *group) {
    int64_t groups = group->count ? group->count : clusters, each = sms / groups;
    return (struct group_shape){(unsigned)groups, (unsigned)each, (unsigned)(group->nodes ? group->nodes : each)};
}

struct group_shape group_shape(const struct config *config) {
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    return shape_of(gpu_sms(config), gpu->clusters, config_get(config, &group_section));
}

static bool check(const struct config *config, struct error *err) {
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    const struct group_config *group = config_get(config, &group_section);
    int64_t sms = gpu_sms(config);
    if (!l1_is_grouped(config)) return true;
    if (group->count && sms % group->count != 0)
        return config_error(config, "group.count", err, "%lld groups do not divide %lld SMs (sm.count) evenly",
                            (long long)group->count, (long long)sms);
    struct group_shape shape = group_shape(config);
    unsigned nodes = shape.groups * shape.nodes;
    if (nodes % (unsigned)gpu->clusters != 0)
        return config_error(config, "group.nodes", err,
                            "%u groups of %u nodes are %u L1s, not a multiple of %lld clusters (gpu.clusters)",
                            shape.groups, shape.nodes, nodes, (long long)gpu->clusters);
    if (shape.sms > GROUP_MEMBERS || shape.nodes > GROUP_MEMBERS)
        return config_error(config, "group.count", err, "a group has at most %d SMs and nodes, not %u and %u",
                            GROUP_MEMBERS, shape.sms, shape.nodes);
    return true;
}

const struct section group_section = {
    .path = "group",
    .help = "groups of SMs with shared L1s, for L1 organisations with groups",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct group_config),
    .check = check,
};
