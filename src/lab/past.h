/* Earlier runs of a workload, to estimate the time of new ones. */
#ifndef SLUICE_LAB_PAST_H
#define SLUICE_LAB_PAST_H

#include <stdint.h>

#include "lab/kept.h"

struct past {
    double seconds;             /* mean; 0: no run is known */
    uint64_t warp_instructions; /* of the longest; 0: unknown */
};

/* The runs in the store, which may be NULL, or if there are none, kept results. `workload` as in results: "mm:small". */
struct past past_of(struct store *store, const struct kept_times *kept, const char *workload);

#endif
