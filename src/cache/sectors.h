/* Sectored lines: one tag per line; presence, modification and transfers per sector.
 *
 *     valid dirty
 *       0     0    absent
 *       1     0    present, as in the level below
 *       1     1    present and modified
 *       0     1    partial: some bytes were written (write-validate), the others are not present
 *
 * A read of a partial sector fetches it, and the written bytes are kept: the fill makes it present and modified. The
 * written bytes of a partial sector are written back under a mask. Streams record which sectors a store touches and
 * whether it leaves bytes of some of them unwritten (INSTR_PARTIAL), not the bytes. Two stores that together cover a
 * sector therefore leave it partial.
 */
#ifndef SLUICE_CACHE_SECTORS_H
#define SLUICE_CACHE_SECTORS_H

#include "cache/cache.h"

static inline unsigned sectors_count(uint8_t sectors) { return (unsigned)__builtin_popcount(sectors); }

/* Those of `sectors` that a read of the line would have to fetch, partial ones included. */
static inline uint8_t sectors_missing(const struct cache_line *line, uint8_t sectors) {
    return (uint8_t)(sectors & ~line->valid);
}

static inline uint8_t sectors_partial(const struct cache_line *line) { return (uint8_t)(line->dirty & ~line->valid); }

/* A write to a write-back cache, of all bytes of its sectors or of some. */
static inline void sectors_write(struct cache_line *line, uint8_t sectors, bool whole) {
    line->dirty |= sectors;
    if (whole) line->valid |= sectors;
}

/* The aligned groups of `granule` sectors, a power of two, that contain the sectors. */
static inline uint8_t sectors_widen(uint8_t sectors, unsigned granule) {
    uint8_t group = (uint8_t)low_mask(granule), wide = 0;
    for (unsigned first = 0; first < 8; first += granule)
        if (sectors >> first & group) wide |= (uint8_t)(group << first);
    return wide;
}

#endif
