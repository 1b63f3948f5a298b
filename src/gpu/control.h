/* The control plane: decisions that concern the whole machine. One component of the engine, which receives reports from SMs, L1s and
 * slices and sends them commands, through ports only.
 *
 *   dispatch.h         which SM runs which CTA
 *   kernel.h           begin and end of a kernel, with the flushes at its end
 *   reconfiguration.h  from one mode of the LLC to another while programs run
 *   duel.h             SM dueling: which insertion policy the L1s use
 *
 * Programs that share the GPU have SMs, kernels and an LLC organisation of their own, in one `struct partition` each.
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
    S(SUM, reconfigurations, "times", "the machine, or a program's partition, was stopped for a change of mode") \
    S(SUM, stop_cycles, "cycles", "of reconfigurations: until no SM concerned had anything in flight") \
    S(SUM, flush_cycles, "cycles", \
      "of reconfigurations: until slices had written back or invalidated their lines and the networks were quiet") \
    S(SUM, power_cycles, "cycles", "of reconfigurations: until MC-routers were powered off or on") \
    S(SUM, background_flushes, "times", "slices wrote back modified lines while the program ran, before replicas")

STATS_STRUCT(control_stats, CONTROL_STATS);

/* `program_of` gives the program of each SM; it must outlive the control plane. */
struct control *control_create(const struct config *config, unsigned programs, const uint8_t *program_of,
                               struct engine *engine, struct stats *stats);
void control_destroy(struct control *control);

/* The organisation of the first program. Comes before the functions below. */
void control_connect_llc(struct control *control, struct llc_organisation *llc);
/* Ports to and from SM `index`, created here because both ends must exist. `launch` is its program's. */
void control_connect_sm(struct control *control, struct sm *sm, unsigned index, struct l1 *l1,
                        const struct launch *launch);
/* Ports to and from L1s that are components of their own; nothing if there are none. */
void control_connect_l1(struct control *control, struct l1 *l1);
/* The port by which each of the L1s' endpoints reports the requests that the LLC organisation counts; NULL if it counts none. */
struct port *control_request_reports(struct control *control, const struct l1 *l1);
/* `quiet_cycles` after the last packet has been ejected, every credit is back. */
void control_connect_networks(struct control *control, const struct config *config, struct network *request,
                              struct network *reply, uint64_t quiet_cycles);
/* Fills in the ports to and from slice `index`; for organisations whose slices are flushed. */
void control_connect_slice(struct control *control, unsigned index, unsigned component, struct slice_ports *ports);

/* Starts a kernel of launch->program; engine->stop is set in the cycle in which its last CTA has ended and the caches that must
 * be flushed are. */
void control_begin(struct control *control, const struct launch *launch, uint64_t now);
/* Whether no kernel of the program is running. */
bool control_idle(const struct control *control, unsigned program);
/* Makes the next decision of the organisations (struct llc_degree_ops). */
bool control_set_degree(struct control *control, unsigned degree);
/* No further CTA starts. */
void control_halt(struct control *control);

#endif
