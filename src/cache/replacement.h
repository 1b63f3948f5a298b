/* Replacement policies: the victim in a full set. A policy is one file with one `struct replacement_ops`, and one line
 * in replacements.def; docs/extending.md adds one.
 *
 * Contract:
 *   1. `victim` is called only if no line of the set is invalid. It must not choose a reserved line; it returns -1 if
 *      all are reserved.
 *   2. `victim` may be called again without an `insert` in between (another reservation failed) and must then return
 *      the same way.
 *   3. `insert` follows the choice; `touch` follows every hit. `evict`, if present, precedes the `insert` that replaces
 *      a line. The policy is not notified of invalidations.
 *   4. `preferred`, if present, returns the way that `victim` chooses if it is not reserved, whichever others are.
 *   5. `check`, if present, rejects caches that the policy does not support, with the reason.
 */
#ifndef SLUICE_CACHE_REPLACEMENT_H
#define SLUICE_CACHE_REPLACEMENT_H

#include "config/config.h"

struct cache_access;
struct cache_line;

struct replacement_ops {
    struct policy policy;
    bool (*check)(const struct config *config, const struct section *owner, unsigned sets, struct error *err);
    /* `values`: the policy's own section, NULL if it has none. */
    void *(*create)(const void *values, unsigned sets, unsigned ways, uint64_t seed);
    void (*destroy)(void *state);
    void (*touch)(void *state, unsigned set, unsigned way, const struct cache_access *access);
    void (*insert)(void *state, unsigned set, unsigned way, const struct cache_access *access);
    void (*evict)(void *state, unsigned set, unsigned way);
    int (*victim)(void *state, unsigned set, const struct cache_line *lines);
    unsigned (*preferred)(void *state, unsigned set);
};

extern const struct family replacement_family;
extern const struct replacement_ops replacement_lru; /* for caches without a replacement parameter */

/* For the check of the section with the replacement parameter: whether the policy supports a cache with `sets` sets. */
bool replacement_check(const struct config *config, const struct section *owner, const struct policy *replacement,
                       unsigned sets, struct error *err);

#endif
