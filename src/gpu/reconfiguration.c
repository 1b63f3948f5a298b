#include "gpu/reconfiguration.h"

#include "gpu/control_state.h"

bool reconfiguration_stops(const struct partition *partition) {
    return partition->wanted.is_private != partition->mode.is_private ||
           partition->wanted.bypass != partition->mode.bypass;
}

/* Whether a kernel is stopped; only then are the reconfiguration and its time counted. */
static bool stops_a_kernel(const struct control *control) {
    bool stops = false;
    for (unsigned i = 0; i < control->programs; i++)
        stops |= control->partition[i].stopped && control->partition[i].phase == KERNEL_RUNNING;
    return stops;
}

static bool in_background(const struct partition *partition) {
    return partition->phase == KERNEL_RUNNING && !partition->stopped;
}

/* MC-routers can be bypassed only while all programs want that. */
static bool bypass_wanted(const struct control *control, const struct partition *partition) {
    bool bypass = partition->wanted.bypass;
    for (unsigned i = 0; i < control->programs; i++)
        bypass &= partition == &control->partition[i] || control->partition[i].mode.bypass;
    return bypass;
}

/* The states: what entering each does. Each returns the first cycle in which the state may be left. */

static uint64_t enter_stopping(struct control *control, uint64_t now) {
    struct reconfiguration *r = &control->reconfiguration;
    bool bypass = bypass_wanted(control, r->partition);
    r->power = bypass != r->bypass;
    r->bypass = bypass;
    for (unsigned i = 0; i < control->programs; i++) {
        struct partition *partition = &control->partition[i];
        partition->stopped = partition == r->partition
                                 ? partition->phase == KERNEL_RUNNING && reconfiguration_stops(partition)
                                 : r->power;
        if (!partition->stopped) continue;
        r->awaited += partition->sms;
        control_command_partition(control, partition, (struct sm_command){.kind = COMMAND_STOP}, now);
    }
    control->stats.reconfigurations += stops_a_kernel(control);
    control->stats.background_flushes += in_background(r->partition);
    return now;
}

static uint64_t enter_settling(struct control *control, uint64_t now) {
    struct reconfiguration *r = &control->reconfiguration;
    r->awaited = stops_a_kernel(control) ? control->l1s : 0;
    for (unsigned l1 = 0; l1 < r->awaited; l1++)
        control_command_l1(control, l1, (struct l1_command){.kind = L1_COMMAND_REPORT}, now);
    return now;
}

static uint64_t enter_flushing(struct control *control, uint64_t now) {
    struct reconfiguration *r = &control->reconfiguration;
    const struct partition *partition = r->partition;
    struct slice_command flush = {
        .keep_lines = !partition->mode.is_private && !partition->mode.replicas,
        .keep_home = partition->mode.replicas && !partition->mode.invalidate_all,
        .keep_modified = partition->mode.copies,
        .background = in_background(partition),
        .write_through = partition->wanted.is_private,
        .program = partition->program,
    };
    r->awaited = control->slices;
    for (unsigned slice = 0; slice < control->slices; slice++)
        port_push(&control->slice_commands[slice], now, &flush, sizeof flush);
    return r->power ? now + r->quiet_cycles : now;
}

static uint64_t enter_switching(struct control *control, uint64_t now) {
    struct reconfiguration *r = &control->reconfiguration;
    if (!r->power) return now;
    struct network_command command = {.bypass = r->bypass};
    for (unsigned i = 0; i < COUNT_OF(control->network_commands); i++)
        port_push(&control->network_commands[i], now, &command, sizeof command);
    return now + r->gating_cycles;
}

static uint64_t enter_idle(struct control *control, uint64_t now) {
    struct reconfiguration *r = &control->reconfiguration;
    struct partition *changed = r->partition;
    for (unsigned i = 0; i < control->programs; i++) control_settle_partition(&control->partition[i], now);
    changed->mode = changed->wanted;
    changed->llc->mode.is_private = changed->wanted.is_private;
    changed->llc->mode.replicas = changed->wanted.replicas;
    changed->reconfigure = false;
    for (unsigned i = 0; i < control->programs; i++) {
        struct partition *partition = &control->partition[i];
        partition->llc->mode.bypass = r->bypass;
        if (partition->stopped)
            control_command_partition(control, partition, (struct sm_command){.kind = COMMAND_GO_ON}, now);
        partition->stopped = false;
        if (partition->reconfigure) control_wake(control, now + 1); /* it is next */
    }
    if (changed->phase == KERNEL_RUNNING) control_decide(control, changed, LLC_RECONFIGURED, now);
    return now;
}

static uint64_t (*const enter[RECONFIGURATION_STATES])(struct control *control,
                                                       uint64_t now) = {[RECONFIGURATION_IDLE] = enter_idle,
                                                                        [RECONFIGURATION_STOPPING] = enter_stopping,
                                                                        [RECONFIGURATION_SETTLING] = enter_settling,
                                                                        [RECONFIGURATION_FLUSHING] = enter_flushing,
                                                                        [RECONFIGURATION_SWITCHING] = enter_switching};

static void go_to(struct control *control, enum reconfiguration_state state, uint64_t now) {
    struct reconfiguration *r = &control->reconfiguration;
    r->state = state;
    r->since = now;
    r->until = enter[state](control, now);
    if (r->until > now) control_wake(control, r->until);
}

/* The counter for the time in a state. */
static uint64_t *time_of(struct control_stats *stats, enum reconfiguration_state state) {
    if (state == RECONFIGURATION_FLUSHING) return &stats->flush_cycles;
    return state == RECONFIGURATION_SWITCHING ? &stats->power_cycles : &stats->stop_cycles;
}

void reconfiguration_advance(struct control *control, uint64_t now) {
    struct reconfiguration *r = &control->reconfiguration;
    while (r->state != RECONFIGURATION_IDLE && !r->awaited && now >= r->until) {
        if (stops_a_kernel(control)) *time_of(&control->stats, r->state) += now - r->since;
        go_to(control, r->state == RECONFIGURATION_SWITCHING ? RECONFIGURATION_IDLE : r->state + 1, now);
    }
}

void reconfiguration_begin(struct control *control, struct partition *partition, uint64_t now) {
    if (!partition->reconfigure || control->reconfiguration.state != RECONFIGURATION_IDLE) return;
    control->reconfiguration.partition = partition;
    go_to(control, RECONFIGURATION_STOPPING, now);
    reconfiguration_advance(control, now);
}
