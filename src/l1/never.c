/* No read brings its line in: all of them go past the cache and move just the sectors that they need ("BALL" in
 * Locality-Driven Dynamic GPU Cache Bypassing, ICS 2015, section 6.1). Thread-local memory as well. */
#include "l1/insertion.h"

static bool never_admit(void *state, unsigned sm, const struct cache_access *access) {
    (void)state, (void)sm, (void)access;
    return false;
}

const struct insertion_ops insertion_never = {
    .policy = {"never", "every read goes past the cache", NULL},
    .admit = never_admit,
};
