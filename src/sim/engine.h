/* The engine schedules components in simulated time. It has no knowledge of GPUs.
 *
 * Owns: the current cycle, the components and ports, and the wheel of scheduled ticks.
 * Enters: wakes, from components for a time that they know, and from ports when a message becomes visible or a credit
 *         returns.
 * Leaves: ticks. A component is ticked only in cycles for which it was woken; if none is due, time advances to the next
 *         cycle in which one is.
 *
 * Contract:
 *   1. A tick with nothing to do changes no state, counters included. A superfluous wake is therefore harmless, and
 *      polling every component in every cycle (`--no-skip`) gives identical counters.
 *   2. What a component does in a cycle is invisible to the others in the same cycle, because the latency of a port is
 *      at least 1. The order of ticks within a cycle therefore does not matter; a test shuffles it.
 *   3. Counters that grow while a component sleeps (stall cycles) are added in bulk by `settle`.
 *
 * Time is measured in core cycles. A component in another clock domain converts with `struct clock` (clock.h) and runs
 * its own cycles inside its tick.
 */
#ifndef SLUICE_SIM_ENGINE_H
#define SLUICE_SIM_ENGINE_H

#include <stdio.h>

#include "base/base.h"

struct port;
struct latency;

enum {
    ENGINE_WHEEL = 1024, /* cycles covered by the wheel; later wakes are kept in a list */
    ENGINE_MAX_COMPONENTS = 1024,
    ENGINE_WORDS = ENGINE_MAX_COMPONENTS / 64,
};

struct component_ops {
    const char *kind; /* "sm", "slice" */
    void (*tick)(void *self, uint64_t now);
    /* Adds to time-dependent counters up to the end of cycle now - 1. NULL if there are none. */
    void (*settle)(void *self, uint64_t now);
    /* Prints what the component waits for, in one or a few lines; nothing if it is idle. For the deadlock dump. */
    void (*explain)(const void *self, uint64_t now, FILE *out);
    /* Whether anything is in flight inside. Checked at the end of a run. NULL: never. */
    bool (*busy)(const void *self);
};

struct far_wake {
    uint64_t at;
    unsigned id;
};

struct engine {
    uint64_t now;
    /* Nothing outside the components looks at them before this cycle begins; 0 while polling. A component may do work of
     * earlier cycles ahead of time if no other component can tell the difference. */
    uint64_t ahead_until;
    uint64_t progress; /* work done by components, apart from pushes into ports */
    unsigned components;
    unsigned words;                           /* bit-set words: components / 64, rounded up */
    bool poll;                                /* tick every component in every cycle */
    bool stop;                                /* set by a component: return to the caller at the end of this cycle */
    uint64_t shuffle;                         /* if not 0: seed of a random tick order within each cycle */
    uint64_t slot_used[ENGINE_WHEEL / 8];     /* one byte per slot, lowest first: whether a component is due */
    uint64_t due[ENGINE_WHEEL][ENGINE_WORDS]; /* bit set of components, per slot */
    struct component {
        void (*tick)(void *self, uint64_t now); /* ops->tick */
        void *self;
        const struct component_ops *ops;
        unsigned index; /* among components of its kind */
    } component[ENGINE_MAX_COMPONENTS];
    struct far_wake *far; /* wakes beyond the wheel, unordered */
    unsigned far_count;
    uint64_t far_until; /* when the list is scanned again; NEVER if it is empty */
    struct port **ports;
    unsigned port_count;
    struct latency *latency; /* observer (latency.h); NULL: none */
};

struct engine *engine_create(void);
void engine_destroy(struct engine *engine);
/* Returns the component's id, which ports and wakes use. Ids are assigned in order of the calls. */
unsigned engine_add(struct engine *engine, const struct component_ops *ops, void *self, unsigned index);
void engine_add_port(struct engine *engine, struct port *port);

/* A component's position in the wheel, precomputed for frequent wakes: its word in slot 0, and its bit. */
struct waker {
    uint64_t *first, bit;
};

static inline struct waker waker_of(struct engine *engine, unsigned id) {
    return (struct waker){&engine->due[0][id / 64], UINT64_C(1) << (id % 64)};
}

/* Rare, hence not inlined into the callers. */
void engine_wake_far(struct engine *engine, struct waker waker, uint64_t at) __attribute__((noinline, cold));

/* A wake that is known to be within the wheel. */
static inline void engine_wake_near(struct engine *engine, struct waker waker, uint64_t at) {
    assert(at - engine->now < ENGINE_WHEEL);
    uint64_t slot = at % ENGINE_WHEEL;
    waker.first[slot * ENGINE_WORDS] |= waker.bit;
    ((uint8_t *)engine->slot_used)[slot] = 1;
}

/* Schedules a tick of the component in cycle `at`, which must be later than the current cycle (or the current one
 * before the run starts). A repeated wake has no effect. */
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
    ENGINE_STOPPED, /* a component requested a stop; engine->now is the cycle after */
    ENGINE_QUIET,   /* no component is due: finished or deadlocked. Never while polling. */
};

/* Runs the cycles from engine->now up to, but excluding, `until`. */
enum engine_state engine_run_until(struct engine *engine, uint64_t until);
void engine_settle(struct engine *engine, uint64_t now);

/* Grows with every push and with all other work that components report. A run in which it stops growing is
 * deadlocked. */
uint64_t engine_progress(const struct engine *engine);

/* Prints what every component waits for, and every port that is not empty. */
void engine_explain(const struct engine *engine, FILE *out);
/* NULL if nothing is in flight; otherwise a sentence in `text` that names the first port or component that is not
 * empty. */
const char *engine_in_flight(const struct engine *engine, char *text, size_t size);

#endif
