/* The sectored slice (llc.sector_bytes): the lookups, fills and waiters that replace those of whole lines.
 *
 * A line has one tag, and valid and dirty bits per sector (cache/sectors.h). A request misses if a sector that it needs
 * is absent; it fetches the absent sectors that are not in flight, widened to aligned groups of llc.fetch_bytes, in one
 * request to memory. A miss on a line that is present or in flight is a sector miss and allocates no line.
 *
 *   - Needed are all sectors of a read and of an atomic. A write needs none with llc.write_allocate=validate: it
 *     allocates its line without fetching; sectors that it covers are valid, others partial, and a partial sector is
 *     fetched when it is read. With fetch, a write that leaves bytes of a sector unwritten needs its sectors.
 *   - Dirty sectors are written back, partial ones under a mask.
 *   - MSHRs. A line in flight has one MSHR with the mask of sectors in flight, and cannot be evicted. Requests that need
 *     sectors in flight wait in it, as do those that must not overtake one of its waiters: a write to a sector that a
 *     waiter accesses, a read of a sector that a waiter writes. Waiters take effect and are answered in order. Other
 *     requests to the line are hits.
 */
#ifndef SLUICE_LLC_SECTORED_H
#define SLUICE_LLC_SECTORED_H

#include "llc/slice_state.h"

#define LLC_SECTOR_STATS(S) \
    S(SUM, misses, "accesses", "sector misses: misses on a line that is present or in flight") \
    S(SUM, fetched, "sectors", "sectors fetched from memory") \
    S(SUM, merged, "sectors", "of these, sectors that had been written in part") \
    S(SUM, written_back, "sectors", "modified sectors written to memory, partial ones included") \
    S(SUM, read, "sectors", "sectors read by reads and atomics") \
    S(SUM, written, "sectors", "sectors written by writes and atomics") \
    S(SUM, partial, "sectors", "of these, sectors that became partial: written in part while absent")

STATS_STRUCT(llc_sector_stats, LLC_SECTOR_STATS);
extern const struct stat_table llc_sector_stat_table, copies_sector_stat_table, atomics_sector_stat_table;

/* The sectors in flight of an MSHR. */
struct slice_fetch {
    uint16_t applied;  /* waiters that have taken effect and can be answered */
    uint8_t in_flight; /* requested from memory, not yet arrived */
};

struct slice_sectors {
    unsigned granule; /* sectors fetched together */
    bool validates;
    struct slice_fetch *fetch; /* [MSHRs] */
    struct llc_sector_stats stats;
};

/* Returns NULL if the LLC is not sectored. */
struct slice_sectors *slice_sectors_create(const struct config *config, const struct stat_table *counters,
                                           struct stats *stats);
void slice_sectors_destroy(struct slice_sectors *sectors);
bool slice_sectors_check(const struct config *config, struct error *err);

/* The lookup of a request that is not written through; `line` has its tag, or is NULL. */
enum hold slice_sectored_look_up(struct slice *slice, const struct cache_access *access, const struct message *message,
                                 struct cache_line *line, uint64_t now);
void slice_sectored_fill(struct slice *slice, unsigned mshr, uint8_t arrived, uint64_t now);
/* Whether no waiter of the MSHR can be answered before more sectors arrive. */
static inline bool slice_sectored_drained(const struct slice *slice, unsigned mshr) {
    return slice->mshrs.mshr[mshr].drained == slice->sectors->fetch[mshr].applied;
}

#endif
