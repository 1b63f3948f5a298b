/* Replacement policies: which line of a full set goes. A policy is one file with one `struct replacement_ops`, and one
 * line in replacements.def; docs/extending.md adds one.
 *
 * Contract:
 *   1. `victim` is asked only when no line of the set is invalid. It must not choose a reserved line; it returns -1 if
 *      all are reserved.
 *   2. `victim` may be asked again without an `insert` in between (the access was refused for another reason) and must
 *      then give the same answer.
 *   3. `insert` follows the choice; `touch` follows every hit. `evict`, if there is one, precedes the `insert` that
 *      replaces a line.
 */
#ifndef SLUICE_CACHE_REPLACEMENT_H
#define SLUICE_CACHE_REPLACEMENT_H

#include "config/config.h"

struct cache_access;
struct cache_line;

struct replacement_ops {
    struct policy policy;
    void *(*create)(const struct config *config, unsigned sets, unsigned ways, uint64_t seed);
    void (*destroy)(void *state);
    void (*touch)(void *state, unsigned set, unsigned way, const struct cache_access *access);
    void (*insert)(void *state, unsigned set, unsigned way, const struct cache_access *access);
    void (*evict)(void *state, unsigned set, unsigned way);
    int (*victim)(void *state, unsigned set, const struct cache_line *lines);
};

extern const struct family replacement_family;

#endif
