/* An SM cluster is what hardware calls a GPC: the CTAs of a cluster run there at the same time. A cluster starts when an
 * SM cluster has free slots for all of it; each of its CTAs goes to the SM with the most free slots. SM clusters take
 * turns.
 *
 * The barrier costs a report of each CTA and a command to each, one cycle each way. Updates of mbarriers of other CTAs
 * take the same way; their latency is in the message.
 *
 * Not modelled: GPCs of different sizes, and limits of hardware on the number of clusters. */
#include "gpu/cluster.h"

#include <stdlib.h>

/* CTAs that the program's SMs of an SM cluster hold. */
static unsigned group_slots(unsigned group, unsigned per_group, const uint8_t *program_of, unsigned program,
                            unsigned ctas_per_sm) {
    unsigned slots = 0;
    for (unsigned i = 0; i < per_group; i++) slots += program_of[group * per_group + i] == program ? ctas_per_sm : 0;
    return slots;
}

bool cluster_fits(const struct kernel *kernel, unsigned sms, unsigned groups, const uint8_t *program_of,
                  unsigned program, unsigned ctas_per_sm, struct error *err) {
    unsigned most = 0;
    for (unsigned group = 0; group < groups; group++) {
        unsigned slots = group_slots(group, sms / groups, program_of, program, ctas_per_sm);
        most = slots > most ? slots : most;
    }
    return kernel->cluster_ctas <= most ||
           error_set(err,
                     "kernel '%s' does not fit: a cluster has %u CTAs, the SMs of an SM cluster hold %u (gpu.clusters)",
                     kernel->name, kernel->cluster_ctas, most);
}

uint64_t cluster_resident(unsigned cluster_ctas, unsigned sms, unsigned groups, const uint8_t *program_of,
                          unsigned program, unsigned ctas_per_sm) {
    uint64_t ctas = 0;
    for (unsigned group = 0; group < groups; group++) {
        unsigned slots = group_slots(group, sms / groups, program_of, program, ctas_per_sm);
        ctas += slots - slots % cluster_ctas;
    }
    return ctas;
}

void cluster_begin(struct dispatch *dispatch, const struct kernel *kernel) {
    dispatch->cluster_ctas = kernel->cluster_ctas > 1 ? kernel->cluster_ctas : 1;
    dispatch->cluster_count = dispatch->parked_count = 0;
    dispatch->next_group = 0;
}

static void start(struct control *control, struct partition *partition, unsigned group, uint64_t now) {
    struct dispatch *dispatch = &partition->dispatch;
    unsigned per_group = control->sms / control->clusters, first = group * per_group;
    if (dispatch->cluster_count == dispatch->cluster_room) {
        dispatch->cluster_room = dispatch->cluster_room ? 2 * dispatch->cluster_room : 16;
        dispatch->clusters = mem_grow(dispatch->clusters, dispatch->cluster_room, sizeof *dispatch->clusters);
    }
    struct resident_cluster *cluster = &dispatch->clusters[dispatch->cluster_count++];
    *cluster = (struct resident_cluster){.first = dispatch->started};
    for (unsigned rank = 0; rank < dispatch->cluster_ctas; rank++) {
        unsigned best = first;
        for (unsigned sm = first; sm < first + per_group; sm++)
            if (dispatch->free_slots[sm] > dispatch->free_slots[best]) best = sm;
        cluster->sm[rank] = (uint16_t)best;
        dispatch->free_slots[best]--;
        control_command_sm(control, best, (struct sm_command){COMMAND_RUN_CTA, .cta = dispatch->started++}, now);
    }
}

void cluster_dispatch(struct control *control, struct partition *partition, uint64_t now) {
    struct dispatch *dispatch = &partition->dispatch;
    unsigned per_group = control->sms / control->clusters, from = dispatch->next_group;
    bool any = false;
    for (unsigned i = 0; i < control->clusters && dispatch->started < dispatch->ctas; i++) {
        unsigned group = (from + i) % control->clusters, slots = 0;
        for (unsigned k = 0; k < per_group; k++) slots += dispatch->free_slots[group * per_group + k];
        if (slots < dispatch->cluster_ctas) continue;
        start(control, partition, group, now);
        dispatch->next_group = (group + 1) % control->clusters;
        any = true;
    }
    if (any && dispatch->started < dispatch->ctas) control_wake(control, now + 1);
}

static struct resident_cluster *cluster_of(struct dispatch *dispatch, uint64_t cta) {
    uint64_t first = cta - cta % dispatch->cluster_ctas;
    for (unsigned i = 0; i < dispatch->cluster_count; i++)
        if (dispatch->clusters[i].first == first) return &dispatch->clusters[i];
    assert(!"the CTA is in no cluster");
    return NULL;
}

/* Releases the CTAs that wait once the others have arrived or ended. */
static void check(struct control *control, struct partition *partition, struct resident_cluster *cluster,
                  uint64_t now) {
    unsigned ctas = partition->dispatch.cluster_ctas;
    if (!(cluster->arrived & ~cluster->ended) || (cluster->arrived | cluster->ended) != low_mask(ctas)) return;
    for (unsigned rank = 0; rank < ctas; rank++)
        if (!(cluster->ended >> rank & 1))
            control_command_sm(control, cluster->sm[rank],
                               (struct sm_command){COMMAND_RELEASE_CLUSTER, .cta = cluster->first + rank}, now);
    cluster->arrived = 0;
}

void cluster_arrived(struct control *control, struct partition *partition, uint64_t cta, uint64_t now) {
    struct resident_cluster *cluster = cluster_of(&partition->dispatch, cta);
    cluster->arrived |= UINT32_C(1) << (cta - cluster->first);
    check(control, partition, cluster, now);
}

void cluster_ended(struct control *control, struct partition *partition, uint64_t cta, uint64_t now) {
    struct dispatch *dispatch = &partition->dispatch;
    if (dispatch->cluster_ctas == 1) return;
    struct resident_cluster *cluster = cluster_of(dispatch, cta);
    cluster->ended |= UINT32_C(1) << (cta - cluster->first);
    if (cluster->ended == low_mask(dispatch->cluster_ctas))
        *cluster = dispatch->clusters[--dispatch->cluster_count];
    else
        check(control, partition, cluster, now);
}

/* SMs may send more updates to one SM than its port takes in a cycle; the part of the port that other commands need
 * stays free. */
enum { COMMANDS_KEPT = 64 };

static bool forward(struct control *control, unsigned sm, struct sm_command command, uint64_t now) {
    if (port_credits(&control->sm_commands[sm], now) <= COMMANDS_KEPT) return false;
    control_command_sm(control, sm, command, now);
    return true;
}

void cluster_update(struct control *control, struct partition *partition, const struct sm_report *report,
                    uint64_t now) {
    struct dispatch *dispatch = &partition->dispatch;
    const struct resident_cluster *cluster = cluster_of(dispatch, report->cta);
    unsigned rank = (unsigned)(report->cta - cluster->first);
    if (cluster->ended >> rank & 1) return;
    struct sm_command command = {COMMAND_UPDATE_MBARRIER, .cta = report->cta, .at = report->at,
                                 .mbarrier = report->mbarrier};
    if (forward(control, cluster->sm[rank], command, now)) return;
    if (dispatch->parked_count == dispatch->parked_room) {
        dispatch->parked_room = dispatch->parked_room ? 2 * dispatch->parked_room : 64;
        dispatch->parked = mem_grow(dispatch->parked, dispatch->parked_room, sizeof *dispatch->parked);
    }
    dispatch->parked[dispatch->parked_count++] = (struct parked_update){cluster->sm[rank], command};
    control_wake(control, now + 1);
}

void cluster_forward_parked(struct control *control, struct partition *partition, uint64_t now) {
    struct dispatch *dispatch = &partition->dispatch;
    unsigned kept = 0;
    for (unsigned i = 0; i < dispatch->parked_count; i++)
        if (!forward(control, dispatch->parked[i].sm, dispatch->parked[i].command, now))
            dispatch->parked[kept++] = dispatch->parked[i];
    dispatch->parked_count = kept;
    if (kept) control_wake(control, now + 1);
}
