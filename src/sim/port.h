/* A port: the only connection between modules. A FIFO with a latency, whose capacity is a number of credits held by the
 * sender.
 *
 *   - A message pushed in cycle t is visible to the receiver from t + latency on (latency >= 1).
 *   - The credit of a pop in cycle t reaches the sender in t + latency, so the fill level is not visible early either.
 *   - A push wakes the receiver when the message becomes visible; a pop wakes a sender that waits for a credit.
 * Neither side can therefore observe the order in which the two are ticked within a cycle.
 *
 * Full rate needs capacity >= messages per cycle × 2 × latency.
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
    uint64_t *time; /* per slot: when the receiver sees the message; after the pop, when the sender sees the credit */
    uint32_t mask;
    uint32_t capacity;
    uint32_t latency;                  /* of a credit */
    uint32_t reach;                    /* of a message: `latency` plus the receiver's delay */
    uint32_t gate;                     /* see port_gate; 0: none */
    uint32_t pushed, popped, credited; /* free-running */
    uint64_t head_visible;             /* when the oldest message becomes visible; NEVER if empty */
    uint64_t last_visible;             /* of the last message pushed by port_push_late */
    uint32_t sender, receiver;         /* components */
    bool sender_waits;
    uint64_t *credit_at;         /* see port_await_credit_at; else NULL */
    struct waker wakes, credits; /* of the receiver; of the sender */
    uint64_t *watch;             /* see port_watch; else NULL */
    uint64_t watch_bit;
    struct engine *engine;
    char name[40];
};

/* `sender` and `receiver` are component ids. */
void port_init(struct port *port, struct engine *engine, const char *name, unsigned sender, unsigned receiver,
               unsigned capacity, unsigned latency);
void port_release(struct port *port);
/* Called by the receiver before the run: adds a pipeline of `delay` cycles in front of the receiver, which holds `room`
 * messages. */
void port_lengthen(struct port *port, unsigned delay, unsigned room);

/* Called by the receiver before the run: the port is closed while `waiting` messages are visible and not popped. Senders
 * that respect it ask port_is_open(). */
static inline void port_gate(struct port *port, unsigned waiting) { port->gate = waiting; }

/* For a receiver of many ports: every push also sets bit `bit` of word[(t + 1) % 2], with t the cycle in which the
 * message becomes visible. The receiver polls only ports whose bit is set, and clears that word; the other one belongs
 * to the next cycle. */
static inline void port_watch(struct port *port, uint64_t word[2], unsigned bit) {
    port->watch = word;
    port->watch_bit = UINT64_C(1) << bit;
}

/* Credits return in order; usually the latest has arrived. */
static inline uint32_t port_credits(struct port *port, uint64_t now) {
    if (LIKELY(port->time[(port->popped - 1) & port->mask] <= now)) port->credited = port->popped;
    while (port->credited != port->popped && port->time[port->credited & port->mask] <= now) port->credited++;
    return port->capacity - (port->pushed - port->credited);
}

/* Whether the port is not closed by its gate, after port_credits(). A credit may open it, and wakes a sender that awaits
 * one. The sender sees a pop when its credit returns: a popped message counts until then. */
static inline bool port_is_open(const struct port *port, uint64_t now) {
    if (LIKELY(port->pushed - port->credited < port->gate || !port->gate)) return true;
    uint32_t last = port->credited + port->gate - 1;
    bool popped = port->popped - port->credited >= port->gate;
    return !popped && port->time[last & port->mask] > now;
}

/* Uncounted credits can only add, so they are counted only when the counted ones are used up. */
static inline bool port_can_push(struct port *port, uint64_t now) {
    return LIKELY(port->pushed - port->credited < port->capacity) || port_credits(port, now) > 0;
}

/* Called by a sender without credits: wakes it when one arrives. */
static inline void port_await_credit(struct port *port, uint64_t now) {
    (void)now;
    if (port->credited != port->popped)
        engine_wake_by(port->engine, port->credits, port->time[port->credited & port->mask]);
    else
        port->sender_waits = true;
}

/* The same; also lowers *at to the cycle in which the credit arrives, immediately or when it is known. */
static inline void port_await_credit_at(struct port *port, uint64_t now, uint64_t *at) {
    port->credit_at = at;
    if (port->credited != port->popped) *at = min_u64(*at, port->time[port->credited & port->mask]);
    port_await_credit(port, now);
}

/* The common part of all pushes, without the wake. Returns the message slot. */
static inline void *port_enter(struct port *port, uint64_t visible) {
    uint32_t slot = port->pushed & port->mask;
    if (port->pushed == port->popped) port->head_visible = visible;
    port->pushed++;
    port->time[slot] = visible;
    if (port->watch) port->watch[(visible + 1) % 2] |= port->watch_bit;
    return port->slot[slot].message;
}

/* Pushes a message that the caller writes into the returned slot immediately. */
static ALWAYS_INLINE void *port_push_place(struct port *port, uint64_t now) {
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

/* Pushes with `extra` cycles of latency (serialisation). Messages do not overtake each other, provided that all later
 * ones are pushed with this function too. */
static inline void port_push_late(struct port *port, uint64_t now, uint64_t extra, const void *message, size_t size) {
    assert(port_can_push(port, now) && size <= PORT_MESSAGE_MAX);
    port->last_visible = max_u64(now + port->reach + extra, port->last_visible);
    memcpy(port_enter(port, port->last_visible), message, size);
    engine_wake_by(port->engine, port->wakes, port->last_visible);
}

/* The oldest message if it is visible, else NULL. */
static inline const void *port_peek(const struct port *port, uint64_t now) {
    return port->head_visible <= now ? port->slot[port->popped & port->mask].message : NULL;
}

/* When the oldest message becomes visible; NEVER if the port is empty. */
static inline uint64_t port_next_visible(const struct port *port) { return port->head_visible; }

/* Not counted as progress: the push was, and so is what the receiver does with the message. */
static inline void port_pop(struct port *port, uint64_t now) {
    port->time[port->popped++ & port->mask] = now + port->latency;
    port->head_visible = port->pushed == port->popped ? NEVER : port->time[port->popped & port->mask];
    if (port->sender_waits) {
        port->sender_waits = false;
        engine_wake_by(port->engine, port->credits, now + port->latency);
        if (port->credit_at) *port->credit_at = min_u64(*port->credit_at, now + port->latency);
    }
}

/* Pops and returns the oldest message, which must be visible. It remains valid until the end of the cycle, because the
 * sender gets the credit later. */
static inline const void *port_take(struct port *port, uint64_t now) {
    assert(port->head_visible <= now);
    const void *message = port->slot[port->popped & port->mask].message;
    port_pop(port, now);
    return message;
}

#endif
