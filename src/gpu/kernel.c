#include "gpu/kernel.h"

#include "gpu/dispatch.h"

void kernel_begin(struct control *control, struct partition *partition, const struct launch *launch, uint64_t now) {
    partition->phase = KERNEL_RUNNING;
    partition->start_at = now + control->launch_cycles;
    partition->llc->atomics = launch->kernel.atomics;
    dispatch_begin(control, partition, launch);
    control_decide(control, partition, LLC_KERNEL_BEGINS, partition->start_at);
    control_wake(control, partition->start_at);
}

static void flush_l1s(struct control *control, struct partition *partition, uint64_t now) {
    partition->phase = KERNEL_FLUSHING_L1;
    if (!control->flush_l1) return;
    partition->unflushed = partition->sms + control->l1s;
    control_command_partition(control, partition, (struct sm_command){.kind = COMMAND_FLUSH_L1}, now);
    for (unsigned l1 = 0; l1 < control->l1s; l1++)
        control_command_l1(control, l1, (struct l1_command){.kind = L1_COMMAND_FLUSH}, now);
}

static void begin_end(struct control *control, struct partition *partition, uint64_t now) {
    partition->phase = KERNEL_ENDING;
    partition->wanted = partition->mode;
    control_decide(control, partition, LLC_KERNEL_ENDS, now);
    partition->reconfigure = partition->mode.is_private || partition->mode.replicas || partition->wanted.replicas;
}

static void end(struct control *control, struct partition *partition, uint64_t now) {
    control_settle_partition(partition, now + 1); /* the next kernel, or the end of the run, continues from there */
    partition->phase = KERNEL_NONE;
    control->engine->stop = true;
}

void kernel_tick(struct control *control, struct partition *partition, uint64_t now) {
    if (partition->phase == KERNEL_NONE || partition->stopped) return;
    if (now < partition->start_at) {
        control_wake(control, partition->start_at);
        return;
    }
    if (partition->phase == KERNEL_RUNNING) {
        dispatch_tick(control, partition, now);
        if (dispatch_done(partition))
            flush_l1s(control, partition, now);
        else if (now >= partition->decide_at)
            control_decide(control, partition, LLC_TIMER, now);
    }
    /* Background write-backs must reach memory before the next kernel starts. */
    if (partition->phase == KERNEL_FLUSHING_L1 && partition->unflushed == 0 &&
        !reconfiguration_concerns(&control->reconfiguration, partition))
        begin_end(control, partition, now);
    if (partition->phase != KERNEL_FLUSHING_L1) reconfiguration_begin(control, partition, now);
    if (partition->phase == KERNEL_ENDING && !partition->reconfigure) end(control, partition, now);
}
