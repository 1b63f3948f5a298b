/* No read allocates: all reads bypass the L1 and transfer only the requested sectors ("BALL" in Locality-Driven Dynamic
 * GPU Cache Bypassing, ICS 2015, section 6.1). This includes thread-local memory. */
#include "l1/insertion.h"

static bool never_admit(void *state, unsigned sm, const struct cache_access *access) {
    (void)state, (void)sm, (void)access;
    return false;
}

const struct insertion_ops insertion_never = {
    .policy = {"never", "every read bypasses the L1", NULL},
    .admit = never_admit,
};
