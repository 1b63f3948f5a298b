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

#endif
