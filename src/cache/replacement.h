/* Replacement policies: which line of a full set goes. A policy is one file with one `struct replacement_ops`, and one
 * line in replacements.def; docs/extending.md adds one.
 *
 * Contract:
 *   1. `victim` is asked only when no line of the set is invalid. It must not choose a reserved line; it returns -1 if
 *      all are reserved.
 *   2. `victim` may be asked again without an `insert` in between (the access was refused for another reason) and must
 *      then give the same answer.
 *   3. `insert` follows the choice; `touch` follows every hit. `evict`, if there is one, precedes the `insert` that
 *      replaces a line. A line that is dropped is not told of.
 *   4. `check`, if there is one, refuses caches that the policy cannot serve, with the reason.
 */
#ifndef SLUICE_CACHE_REPLACEMENT_H
#define SLUICE_CACHE_REPLACEMENT_H

#include "config/config.h"

struct cache_access;
struct cache_line;

struct replacement_ops {
    struct policy policy;
    bool (*check)(const struct config *config, const struct section *owner, unsigned sets, struct error *err);
    /* `values` are those of the policy's own section, NULL if it has none. */
    void *(*create)(const void *values, unsigned sets, unsigned ways, uint64_t seed);
    void (*destroy)(void *state);
    void (*touch)(void *state, unsigned set, unsigned way, const struct cache_access *access);
    void (*insert)(void *state, unsigned set, unsigned way, const struct cache_access *access);
    void (*evict)(void *state, unsigned set, unsigned way);
    int (*victim)(void *state, unsigned set, const struct cache_line *lines);
};

extern const struct family replacement_family;
extern const struct replacement_ops replacement_lru; /* for a cache that offers no choice */

/* For the check of the section that offers the choice: whether its cache of so many sets can have the policy. */
bool replacement_check(const struct config *config, const struct section *owner, const struct policy *replacement,
                       unsigned sets, struct error *err);

#endif
