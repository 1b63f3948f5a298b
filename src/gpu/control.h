/* The control plane: decisions that concern the whole machine. It deals out CTAs, notices the end of a kernel and has
 * the L1s flushed there, and the LLC where its organisation asks for it, and referees SM dueling (duel.h). One component of the engine; it hears from
 * the SMs and speaks to them through ports only.
 */
#ifndef SLUICE_GPU_CONTROL_H
#define SLUICE_GPU_CONTROL_H

#include "llc/llc.h"
#include "sm/sm.h"

struct control;

struct control *control_create(const struct config *config, struct engine *engine);
void control_destroy(struct control *control);
/* Ports to and from SM `index`, made here because both ends must exist. */
void control_connect(struct control *control, struct sm *sm, unsigned index, struct l1 *l1,
                     const struct launch *launch);

/* Fills in the ports to and from slice `index`; for organisations whose slices are flushed. */
void control_connect_slice(struct control *control, unsigned index, unsigned component, struct slice_ports *ports);

/* Starts a kernel; engine->stop is set in the cycle in which its last CTA has ended and the caches that must be are
 * flushed. */
void control_begin(struct control *control, const struct launch *launch, uint64_t now);
/* No further CTA starts. */
void control_halt(struct control *control);

#endif
