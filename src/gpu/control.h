/* The control plane: decisions that concern the whole machine. It deals out CTAs, notices the end of a kernel and has
 * the L1s flushed there, and the LLC where its organisation asks for it, and referees SM dueling (duel.h). One component
 * of the engine; it hears from the SMs and slices and speaks to them through ports only.
 *
 * Programs that run side by side are each dealt out to SMs of their own, begin and end their kernels independently, and have
 * an organisation of their own in the same slices of the LLC.
 *
 * It also switches the machine from one way of standing to another (struct llc_mode), where the LLC's organisation
 * decides so at run time, by one protocol: SMs stop issuing and say when nothing of theirs is under way, then L1s that are
 * components of their own say the same; slices write
 * modified lines to memory and, where copies would be left behind, forget all lines; once the networks have been quiet
 * for as long as a packet and its credits take, MC-routers are powered off or on; SMs go on. At a kernel's end, where
 * nothing is under way, the same begins with the slices. It is one program's SMs and lines that this is about; the other
 * one goes on, unless MC-routers are switched, which stops both. MC-routers are off while all programs want them to be. One
 * switch at a time.
 *
 * Replicas of lines that a kernel only reads (llc/replication.h) need no stop: before the first of a kernel, slices write modified lines
 * to memory, where replicas come from, while the program goes on; at its end they do so again and forget replicas.
 */
#ifndef SLUICE_GPU_CONTROL_H
#define SLUICE_GPU_CONTROL_H

#include "llc/llc.h"
#include "llc/organisation.h"
#include "noc/noc.h"
#include "sm/sm.h"

struct control;

#define CONTROL_STATS(S) \
    S(SUM, switches, "switches", "times the whole machine, or a program's part of it, was stopped to be switched") \
    S(SUM, stop_cycles, "cycles", "of these: until nothing was under way in any SM") \
    S(SUM, flush_cycles, "cycles", \
      "of these: until slices had written back or forgotten their lines, and networks were quiet") \
    S(SUM, power_cycles, "cycles", "of these: until MC-routers were off or on") \
    S(SUM, cleanings, "times", "slices wrote modified lines to memory while the program went on, before replicas")

STATS_STRUCT(control_stats, CONTROL_STATS);

/* `program_of` says of each SM whose it is; it must outlive the control plane. */
struct control *control_create(const struct config *config, unsigned programs, const uint8_t *program_of,
                               struct engine *engine, struct stats *stats);
void control_destroy(struct control *control);
/* Ports to and from SM `index`, made here because both ends must exist. `launch` is its program's. */
void control_connect(struct control *control, struct sm *sm, unsigned index, struct l1 *l1,
                     const struct launch *launch);

/* Ports to and from L1s that are components of their own; nothing if there are none. */
void control_connect_l1(struct control *control, struct l1 *l1);

/* The first program's. Before slices are connected. */
void control_connect_llc(struct control *control, struct llc_organisation *llc);
/* `quiet_cycles` after the last packet has come out, every credit is back. */
void control_connect_networks(struct control *control, struct network *request, struct network *reply,
                              uint64_t quiet_cycles);
/* Fills in the ports to and from slice `index`; for organisations whose slices are flushed. */
void control_connect_slice(struct control *control, unsigned index, unsigned component, struct slice_ports *ports);

/* Starts a kernel of launch->program; engine->stop is set in the cycle in which its last CTA has ended and the caches that must
 * be are flushed. */
void control_begin(struct control *control, const struct launch *launch, uint64_t now);
/* Whether no kernel of the program is running. */
bool control_idle(const struct control *control, unsigned program);
/* The organisations' next decision, made from outside (struct llc_organisation_ops, order). */
bool control_order(struct control *control, unsigned degree);
/* No further CTA starts. */
void control_halt(struct control *control);

#endif
