#include "gpu/dispatch.h"

#include "gpu/cluster.h"

static struct cta_view view_of(const struct control *control, const struct dispatch *dispatch) {
    return (struct cta_view){control->sms, control->clusters, dispatch->ctas, dispatch->ctas_per_sm,
                             dispatch->free_slots};
}

void dispatch_begin(struct control *control, struct partition *partition, const struct launch *launch) {
    struct dispatch *dispatch = &partition->dispatch;
    dispatch->started = dispatch->ended = 0;
    dispatch->ctas = kernel_ctas(&launch->kernel);
    dispatch->ctas_per_sm = launch->ctas_per_sm;
    cluster_begin(dispatch, &launch->kernel);
    for (unsigned sm = 0; sm < control->sms; sm++)
        dispatch->free_slots[sm] = control->program_of[sm] == partition->program ? launch->ctas_per_sm : 0;
    struct cta_view view = view_of(control, dispatch);
    control->scheduler->begin(dispatch->scheduler_state, &view);
}

void dispatch_tick(struct control *control, struct partition *partition, uint64_t now) {
    struct dispatch *dispatch = &partition->dispatch;
    if (dispatch->started == dispatch->ctas) return;
    if (dispatch->cluster_ctas > 1) {
        cluster_dispatch(control, partition, now);
        return;
    }
    struct cta_view view = view_of(control, dispatch);
    struct cta_choice choice;
    bool any = false;
    if (control->scheduler->cycle) control->scheduler->cycle(dispatch->scheduler_state);
    while (control->scheduler->choose(dispatch->scheduler_state, &view, &choice)) {
        control_command_sm(control, choice.sm, (struct sm_command){COMMAND_RUN_CTA, .cta = choice.cta}, now);
        dispatch->free_slots[choice.sm]--;
        dispatch->started++;
        any = true;
    }
    if (any && dispatch->started < dispatch->ctas) control_wake(control, now + 1);
}
