/* The control plane makes the decisions that concern the whole machine. It is one component of the engine; it receives
 * reports from SMs, L1s and slices and sends commands to them and to the networks, through ports only.
 *
 *   dispatch.h         which SM runs which CTA
 *   cluster.h          clusters of CTAs: their dispatch and barriers
 *   kernel.h           begin and end of a kernel, with the flushes at its end
 *   reconfiguration.h  from one mode of the LLC to another while programs run
 *   duel.h             SM dueling: which insertion policy the L1s use
 *
 * Each program that shares the GPU has its own SMs, kernels and LLC organisation, in one `struct partition`.
 */
#ifndef SLUICE_GPU_CONTROL_H
#define SLUICE_GPU_CONTROL_H

#include "l1/l1.h"
#include "llc/llc.h"
#include "llc/organisation.h"
#include "noc/noc.h"
#include "sm/sm.h"

struct control;

#define CONTROL_STATS(S) \
    S(SUM, reconfigurations, "times", "stops of the machine or of one program's partition to change the LLC mode") \
    S(SUM, stop_cycles, "cycles", "reconfiguration time until the stopped SMs had nothing in flight") \
    S(SUM, flush_cycles, "cycles", \
      "reconfiguration time until slices had written back or invalidated their lines and the networks had drained") \
    S(SUM, power_cycles, "cycles", "reconfiguration time until MC-routers were powered off or on") \
    S(SUM, background_flushes, "times", \
      "flushes of modified lines to memory while the program runs, before the first replica")

STATS_STRUCT(control_stats, CONTROL_STATS);

/* A CTA is sent to an SM, or its end has been reported. */
struct cta_event {
    uint64_t cycle, cta;
    unsigned sm, program;
    bool ended;
};

/* `program_of` gives the program of each SM; it and the journal must outlive the control plane. */
struct control *control_create(const struct config *config, unsigned programs, const uint8_t *program_of,
                               struct engine *engine, struct stats *stats, struct journal *journal);
void control_destroy(struct control *control);

/* `llc` is the organisation of the first program. To be called before the functions below. */
void control_connect_llc(struct control *control, struct llc_organisation *llc);
/* Creates the ports to and from SM `index`. `launch` belongs to the SM's program. */
void control_connect_sm(struct control *control, struct sm *sm, unsigned index, struct l1 *l1,
                        const struct launch *launch);
/* Creates the ports to and from L1s that are separate components; does nothing if there are none. */
void control_connect_l1(struct control *control, struct l1 *l1);
/* The ports over which the L1s' endpoints report requests for the LLC organisation to count; NULL if it counts none. */
struct port *control_request_reports(struct control *control, const struct l1 *l1);
/* Every credit has returned at most `quiet_cycles` after the last packet was ejected. */
void control_connect_networks(struct control *control, const struct config *config, struct network *request,
                              struct network *reply, uint64_t quiet_cycles);
/* Sets the ports to and from slice `index`, for organisations whose slices are flushed. */
void control_connect_slice(struct control *control, unsigned index, unsigned component, struct slice_ports *ports);

/* Starts a kernel of launch->program. engine->stop is set in the cycle in which its last CTA has ended and the caches
 * are flushed. */
void control_begin(struct control *control, const struct launch *launch, uint64_t now);
/* Whether no kernel of the program is running. */
bool control_idle(const struct control *control, unsigned program);
/* CTAs of the program's kernel that have ended. */
uint64_t control_ended_ctas(const struct control *control, unsigned program);
/* Sets the replication degree that the organisations choose next (struct llc_degree_ops). */
bool control_set_degree(struct control *control, unsigned degree);
/* No further CTA starts. */
void control_halt(struct control *control);

/* Every event of a CTA is passed on from now on. */
void control_watch(struct control *control, void (*watch)(void *user, const struct cta_event *event), void *user);

#endif
