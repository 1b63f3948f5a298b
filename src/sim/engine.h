/* The engine: whose turn it is. It owns simulated time and knows nothing of GPUs.
 *
 * A component is ticked in a cycle only if somebody asked for it: itself (a time it knows of) or a port (something
 * arrives, a credit returns). When no component is due, time jumps to the next cycle in which one is. Two properties
 * carry everything:
 *   1. A tick with nothing to do changes nothing, counters included. So a superfluous wake is harmless, and polling
 *      every component in every cycle (`--no-skip`) gives the same counters to the last digit.
 *   2. Nothing that a component does in a cycle can be seen by another in the same cycle (ports have a latency of at
 *      least one), so the order of ticks within a cycle does not matter; a test shuffles it.
 * Counters that grow while a component sleeps (stall cycles) are added in bulk by its `settle`.
 *
 * Time is counted in core cycles. A component in another clock domain converts with `struct clock` (clock.h) and runs
 * its own cycles inside its tick.
 */
#ifndef SLUICE_SIM_ENGINE_H
#define SLUICE_SIM_ENGINE_H

#include <stdio.h>

#include "base/base.h"

struct port;

enum {
    ENGINE_WHEEL = 1024, /* cycles that the wheel looks ahead; later wakes are kept in a list until they are near */
    ENGINE_MAX_COMPONENTS = 1024,
    ENGINE_WORDS = ENGINE_MAX_COMPONENTS / 64,
};

struct component_ops {
    const char *kind; /* "sm", "slice" */
    void (*tick)(void *self, uint64_t now);
    /* Brings counters that depend on time up to the end of cycle now - 1. NULL if there are none. */
    void (*settle)(void *self, uint64_t now);
    /* Tells in a line or a few what it waits for; nothing if it is idle. For the dump when nothing moves. */
    void (*explain)(const void *self, uint64_t now, FILE *out);
    /* Whether anything is still inside. Checked at the end of a run. NULL means never. */
    bool (*busy)(const void *self);
};

struct far_wake {
    uint64_t at;
    unsigned id;
};

struct engine {
    uint64_t now;
    uint64_t progress; /* grows with what components do besides pushing into ports */
    unsigned components;
    unsigned words;                           /* of 64 components */
    bool poll;                                /* tick everything in every cycle */
    bool stop;                                /* set by a component: return to the caller at the end of this cycle */
    uint64_t shuffle;                         /* when not 0: seed of a random order of ticks within each cycle */
    uint64_t slot_used[ENGINE_WHEEL / 8];     /* a byte for each slot, the first the lowest: whether anything is due */
    uint64_t due[ENGINE_WHEEL][ENGINE_WORDS]; /* components, by slot */
    struct component {
        void (*tick)(void *self, uint64_t now); /* of ops */
        void *self;
        const struct component_ops *ops;
        unsigned index; /* among its kind */
    } component[ENGINE_MAX_COMPONENTS];
    struct far_wake *far; /* beyond the wheel, in no order */
    unsigned far_count;
    uint64_t far_until; /* when they are looked at again */
    struct port **ports;
    unsigned port_count;
};

struct engine *engine_create(void);
void engine_destroy(struct engine *engine);
/* Returns the component's id, which its ports and wakes use. Ids are given in order of calls. */
unsigned engine_add(struct engine *engine, const struct component_ops *ops, void *self, unsigned index);
void engine_add_port(struct engine *engine, struct port *port);

/* A component's place in the wheel, for those who wake it often: that in the first slot, and its bit. */
struct waker {
    uint64_t *first, bit;
};

static inline struct waker waker_of(struct engine *engine, unsigned id) {
    return (struct waker){&engine->due[0][id / 64], UINT64_C(1) << (id % 64)};
}

/* Rare, hence kept out of those that wake. */
void engine_wake_far(struct engine *engine, struct waker waker, uint64_t at) __attribute__((noinline, cold));

/* A wake that is known to be within the wheel. */
static inline void engine_wake_near(struct engine *engine, struct waker waker, uint64_t at) {
    assert(at - engine->now < ENGINE_WHEEL);
    uint64_t slot = at % ENGINE_WHEEL;
    waker.first[slot * ENGINE_WORDS] |= waker.bit;
    ((uint8_t *)engine->slot_used)[slot] = 1;
}

/* Asks that the component be ticked in cycle `at`, which must be later than the current cycle (or the current one
 * before the run starts). It will be, so nobody need ask twice. */
static inline void engine_wake_by(struct engine *engine, struct waker waker, uint64_t at) {
    if (UNLIKELY(at - engine->now >= ENGINE_WHEEL))
        engine_wake_far(engine, waker, at);
    else
        engine_wake_near(engine, waker, at);
}

static inline void engine_wake(struct engine *engine, unsigned id, uint64_t at) {
    engine_wake_by(engine, waker_of(engine, id), at);
}

enum engine_state {
    ENGINE_RUNNING, /* engine->now == until */
    ENGINE_STOPPED, /* a component asked to stop; engine->now is the cycle after */
    ENGINE_QUIET,   /* nothing is due any more: finished or stuck. Never while polling. */
};

/* Runs cycles from engine->now up to and including the one before `until`. */
enum engine_state engine_run_until(struct engine *engine, uint64_t until);
void engine_settle(struct engine *engine, uint64_t now);

/* Grows with every push and whatever else components call progress; a run in which it stops growing is stuck. */
uint64_t engine_progress(const struct engine *engine);

/* What every component waits for and every port that is not empty. */
void engine_explain(const struct engine *engine, FILE *out);
/* NULL if nothing is in flight anywhere; otherwise a sentence in `text` naming the first thing that is. */
const char *engine_in_flight(const struct engine *engine, char *text, size_t size);

#endif
