/* Coalescing: turns the sectors touched by a warp into accesses to lines. A rule is one file and one line in
 * coalescings.def.
 *
 * An access is packed into one word: the line address, and in its low bits the mask of transferred sectors.
 */
#ifndef SLUICE_SM_COALESCING_H
#define SLUICE_SM_COALESCING_H

#include "config/config.h"
#include "stream/stream.h"

enum { COALESCING_MAX = 256 }; /* per instruction: 32 touched blocks of 8 sectors */

struct coalescing_ops {
    struct policy policy;
    /* Writes the accesses for `count` touched blocks in issue order and returns their number. `bypass`: they bypass the
     * L1. */
    unsigned (*coalesce)(const uint64_t *touch, unsigned count, unsigned bytes_log2, unsigned line_log2, bool bypass,
                         uint64_t *access);
};

static inline uint64_t access_line(uint64_t access, uint64_t line_bytes) { return access & ~(line_bytes - 1); }
static inline uint8_t access_sectors(uint64_t access, uint64_t line_bytes) {
    return (uint8_t)(access & (line_bytes - 1));
}

#endif
