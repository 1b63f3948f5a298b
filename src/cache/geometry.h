/* Size, associativity and number of sets of a cache as parameters.
 *
 * A description may state all three. If a later layer (a design, or --set) changes the size, the ways or the line size
 * alone, the number of sets follows; if one layer gives values that contradict each other, it is an error. */
#ifndef SLUICE_CACHE_GEOMETRY_H
#define SLUICE_CACHE_GEOMETRY_H

#include "config/config.h"

struct cache_params {
    const char *size_key, *ways_key, *sets_key; /* full names; sets_key is NULL if sets are not a parameter */
    int64_t size_kb, ways, sets;                /* sets 0: derived */
};

/* For section.derive: makes the sets follow from size and ways if one of these was given later. */
void cache_derive_sets(struct config *config, const struct cache_params *params);
/* For section.check: whether the cache consists of whole sets, as many as given. */
bool cache_check_size(const struct config *config, const struct cache_params *params, struct error *err);

#endif
