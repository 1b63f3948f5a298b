/* Clock domains in integer arithmetic. Domain cycle k begins at core time k·core/domain. In its tick at core cycle
 * `now`, a component of the domain runs all of its cycles that have begun by then. */
#ifndef SLUICE_SIM_CLOCK_H
#define SLUICE_SIM_CLOCK_H

#include "base/base.h"

struct clock {
    uint64_t domain, core; /* ratio of the two frequencies, in lowest terms */
};

static inline struct clock clock_of(uint64_t domain_khz, uint64_t core_khz) {
    uint64_t a = domain_khz, b = core_khz;
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return (struct clock){domain_khz / a, core_khz / a};
}

/* The last domain cycle that has begun by the start of core cycle `now`. */
static inline uint64_t clock_domain_cycle(struct clock clock, uint64_t now) {
    if (clock.domain == clock.core) return now;
    return (uint64_t)((unsigned __int128)now * clock.domain / clock.core);
}

/* The first core cycle by whose start domain cycle `cycle` has begun: the smallest t with clock_domain_cycle(t) >=
 * cycle. */
static inline uint64_t clock_core_cycle(struct clock clock, uint64_t cycle) {
    if (clock.domain == clock.core) return cycle;
    return (uint64_t)(((unsigned __int128)cycle * clock.core + clock.domain - 1) / clock.domain);
}

/* A core cycle, the last domain cycle that has begun by its start, and the time since then, in units of which a domain
 * cycle has clock.core and a core cycle clock.domain. Differences from a known moment need no 128-bit arithmetic. */
struct moment {
    uint64_t core, cycle, fraction;
};

/* The moment of core cycle `core`, not before `from`. */
static inline struct moment clock_moment(struct clock clock, const struct moment *from, uint64_t core) {
    uint64_t ahead = from->fraction + (core - from->core) * clock.domain, cycles = ahead / clock.core;
    return (struct moment){core, from->cycle + cycles, ahead - cycles * clock.core};
}

/* The moment of the next core cycle. */
static inline struct moment clock_next(struct clock clock, struct moment moment) {
    moment.core++;
    moment.fraction += clock.domain;
    for (; moment.fraction >= clock.core; moment.fraction -= clock.core) moment.cycle++;
    return moment;
}

/* The first core cycle, not before `from`, by which domain cycle `cycle` has begun. */
static inline uint64_t clock_core_after(struct clock clock, const struct moment *from, uint64_t cycle) {
    if (cycle <= from->cycle) return from->core;
    uint64_t behind = (cycle - from->cycle) * clock.core - from->fraction;
    return from->core + (behind + clock.domain - 1) / clock.domain;
}

/* The moment of that core cycle. */
static inline struct moment clock_moment_after(struct clock clock, const struct moment *from, uint64_t cycle) {
    if (cycle <= from->cycle) return *from;
    uint64_t behind = (cycle - from->cycle) * clock.core - from->fraction;
    uint64_t steps = (behind + clock.domain - 1) / clock.domain;
    struct moment moment = {from->core + steps, cycle, steps * clock.domain - behind};
    for (; moment.fraction >= clock.core; moment.fraction -= clock.core) moment.cycle++;
    return moment;
}

#endif
