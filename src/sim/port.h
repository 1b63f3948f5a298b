/* A port: the only way from one room to another. A FIFO with a latency, whose capacity is credits held by the sender.
 *
 *   - What is pushed in cycle t can be seen by the receiver from t + latency on (latency is at least 1).
 *   - The credit of a pop in cycle t reaches the sender in t + latency, so fullness, too, is never seen early.
 *   - A push wakes the receiver when the message becomes visible; a pop wakes a sender that has said it waits.
 * Hence neither side can tell in which order the two were ticked within a cycle.
 *
 * A port needs capacity >= messages per cycle × 2 × latency to run at full rate.
 */
#ifndef SLUICE_SIM_PORT_H
#define SLUICE_SIM_PORT_H

#include <string.h>

#include "sim/engine.h"

enum { PORT_MESSAGE_MAX = 32 };

struct port_slot {
    unsigned char message[PORT_MESSAGE_MAX];
};

struct port {
    struct port_slot *slot;
    uint64_t *time; /* of each slot: the first cycle in which the receiver sees its message; once that is popped and
                       until the slot is used again, the one in which the sender sees its credit */
    uint32_t mask;
    uint32_t capacity;
    uint32_t latency;                  /* of credits */
    uint32_t reach;                    /* of messages: the latency and what the receiver adds to it */
    uint32_t pushed, popped, credited; /* free-running */
    uint64_t head_visible;             /* when the oldest message can be seen; NEVER if there is none */
    uint64_t last_visible;             /* of the message that was pushed late last */
    uint32_t sender, receiver;         /* components */
    bool sender_waits;
    struct waker wakes; /* the receiver */
    uint64_t *watch;    /* set by port_watch, else NULL */
    uint64_t watch_bit;
    struct engine *engine;
    char name[40];
};

/* The receiver and the sender are component ids. */
void port_init(struct port *port, struct engine *engine, const char *name, unsigned sender, unsigned receiver,
               unsigned capacity, unsigned latency);
void port_release(struct port *port);
/* Before the run, by the receiver: messages are seen `delay` cycles later still, as if through a pipeline of the
 * receiver's, and there is room for `room` more. */
void port_lengthen(struct port *port, unsigned delay, unsigned room);

/* A receiver of many ports need not look at all of them: from now on every push also sets bit `bit` of word[0] or
 * word[1], the one that the receiver empties in the cycle in which the message becomes visible: word[(now + 1) % 2].
 * The other belongs to the cycle after. */
static inline void port_watch(struct port *port, uint64_t word[2], unsigned bit) {
    port->watch = word;
    port->watch_bit = UINT64_C(1) << bit;
}

/* Credits come back in order, and most often the last of them has come. */
static inline uint32_t port_credits(struct port *port, uint64_t now) {
    if (LIKELY(port->time[(port->popped - 1) & port->mask] <= now)) port->credited = port->popped;
    while (port->credited != port->popped && port->time[port->credited & port->mask] <= now) port->credited++;
    return port->capacity - (port->pushed - port->credited);
}

/* Credits that have arrived but not been counted can only add, so they are looked at when those counted are used up. */
static inline bool port_can_push(struct port *port, uint64_t now) {
    return LIKELY(port->pushed - port->credited < port->capacity) || port_credits(port, now) > 0;
}

/* The sender has found that it cannot push: wake it when a credit arrives. */
static inline void port_await_credit(struct port *port, uint64_t now) {
    (void)now;
    if (port->credited != port->popped)
        engine_wake(port->engine, port->sender, port->time[port->credited & port->mask]);
    else
        port->sender_waits = true;
}

/* What every push does but for the wake. Returns the place of the message. */
static inline void *port_enter(struct port *port, uint64_t visible) {
    uint32_t slot = port->pushed & port->mask;
    if (port->pushed == port->popped) port->head_visible = visible;
    port->pushed++;
    port->time[slot] = visible;
    if (port->watch) port->watch[(visible + 1) % 2] |= port->watch_bit;
    return port->slot[slot].message;
}

/* A push of a message that the caller writes to the place returned, at once. */
static inline void *port_push_place(struct port *port, uint64_t now) {
    uint64_t visible = now + port->reach;
    assert(port_can_push(port, now) && visible >= port->last_visible);
    if (LIKELY(port->reach < ENGINE_WHEEL))
        engine_wake_near(port->engine, port->wakes, visible);
    else
        engine_wake_far(port->engine, port->wakes, visible);
    return port_enter(port, visible);
}

static inline void port_push(struct port *port, uint64_t now, const void *message, size_t size) {
    assert(size <= PORT_MESSAGE_MAX);
    memcpy(port_push_place(port, now), message, size);
}

/* `extra` cycles are added to the latency (serialisation); messages never overtake each other, provided that all that
 * follow are pushed so. */
static inline void port_push_late(struct port *port, uint64_t now, uint64_t extra, const void *message, size_t size) {
    assert(port_can_push(port, now) && size <= PORT_MESSAGE_MAX);
    port->last_visible = max_u64(now + port->reach + extra, port->last_visible);
    memcpy(port_enter(port, port->last_visible), message, size);
    engine_wake_by(port->engine, port->wakes, port->last_visible);
}

/* The oldest message if it can be seen, else NULL. */
static inline const void *port_peek(const struct port *port, uint64_t now) {
    return port->head_visible <= now ? port->slot[port->popped & port->mask].message : NULL;
}

/* When the oldest message can be seen; NEVER if there is none. */
static inline uint64_t port_next_visible(const struct port *port) { return port->head_visible; }

/* No progress of its own: what was pushed counts, and so will what comes of it. */
static inline void port_pop(struct port *port, uint64_t now) {
    port->time[port->popped++ & port->mask] = now + port->latency;
    port->head_visible = port->pushed == port->popped ? NEVER : port->time[port->popped & port->mask];
    if (port->sender_waits) {
        port->sender_waits = false;
        engine_wake(port->engine, port->sender, now + port->latency);
    }
}

/* Pops the oldest message, which can be seen, and returns it: it stays where it is to the end of the cycle at least, since
 * the sender does not have the credit before. */
static inline const void *port_take(struct port *port, uint64_t now) {
    assert(port->head_visible <= now);
    const void *message = port->slot[port->popped & port->mask].message;
    port_pop(port, now);
    return message;
}

#endif
