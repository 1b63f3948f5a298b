/* The sectored L1 (l1.sector_bytes): the part of a controller that replaces its reads, stores and fills of whole lines.
 *
 * Models the L1 of Volta and later GPUs: a line has one tag and a valid bit per sector. A read hits if all its sectors
 * are valid. Otherwise it fetches the missing ones that are not in flight yet; with none of these it is a pending hit.
 * A read miss on a line that is present or in flight is a sector miss. Hits on the valid sectors of a line in flight
 * are hits.
 *
 *   - MSHRs. A line in flight has one MSHR with the mask of sectors in flight. A sector miss on it merges and sends
 *     another request, for the sectors that nobody has requested. Waiters are woken one per cycle, the oldest first
 *     whose sectors have arrived. The merge limit counts all accesses since the MSHR was allocated.
 *   - Allocation (l1.allocate_on). On a miss: the miss reserves its line, which cannot be evicted while sectors are in
 *     flight. On a fill: the miss reserves an MSHR only, which is found by the line's address; the first sectors that
 *     arrive evict a line. The number of misses in flight then does not depend on lines and ways.
 *   - Stores are written through, thread-local ones included; no line is ever modified. l1.write_allocate=none: a store
 *     invalidates the sectors it touches. validate: it updates or allocates its line without fetching; sectors that it
 *     covers become valid, and a sector that it covers in part stays as it is. A store never fails for want of a line:
 *     if all lines of its set are reserved, it allocates none.
 *   - Order. Sectors in flight when a store to them is sent are stale: they serve their waiters and do not become valid.
 *     Later reads of them bypass the cache, as they do in a cache of whole lines.
 *
 * Line events (struct l1_watch) are not reported: what observes them counts whole lines and is rejected by the
 * configuration's checks. */
#ifndef SLUICE_L1_SECTORED_H
#define SLUICE_L1_SECTORED_H

#include "l1/controller.h"

#define L1_SECTOR_STATS(S) \
    S(SUM, misses, "accesses", "sector misses: read misses on a line that is present or in flight") \
    S(SUM, fetched, "sectors", "sectors requested by read misses") \
    S(SUM, dropped, "sectors", "sectors not filled because of a store sent while they were in flight") \
    S(SUM, written, "sectors", "sectors written to lines of the cache by stores") \
    S(SUM, validated, "sectors", "sectors made valid by a store that covers them")

STATS_STRUCT(l1_sector_stats, L1_SECTOR_STATS);

/* The sectors in flight of an MSHR. */
struct l1_fetch {
    uint64_t key;
    uint32_t instr;    /* of the first miss, for the replacement policy */
    uint16_t next;     /* in the chain of its hash value */
    uint8_t in_flight; /* requested, not yet arrived */
    uint8_t stale;     /* of these, stored to since */
    bool arrived;      /* the MSHR is in the controller's ring of MSHRs with waiters to be woken */
};

struct l1_sectors {
    bool on_fill, validates;
    struct l1_fetch *fetch; /* [MSHRs] */
    uint16_t *chain;        /* MSHRs with sectors in flight, hashed by line; MSHR_NONE ends a chain */
    unsigned chain_bits;
    struct l1_sector_stats stats;
};

/* An access that waits for sectors. The token is first, as in MSHRs of whole lines. */
struct l1_sector_waiter {
    uint32_t token;
    uint8_t sectors; /* that have not arrived since the access */
};

/* Returns NULL if the L1 is not sectored. */
struct l1_sectors *l1_sectors_create(const struct config *config, struct stats *stats);
void l1_sectors_destroy(struct l1_sectors *sectors);
bool l1_sectors_check(const struct config *config, struct error *err);

/* `line` has the access's tag, or is NULL. */
enum l1_outcome l1_sectored_read(struct l1_controller *controller, const struct l1_request *request,
                                 struct cache_line *line, const struct cache_access *access, uint64_t now);
enum l1_outcome l1_sectored_store(struct l1_controller *controller, const struct l1_request *request,
                                  struct cache_line *line, const struct cache_access *access, uint64_t now);
void l1_sectored_fill(struct l1_controller *controller, unsigned mshr, uint8_t arrived);
/* Makes the oldest waiter whose sectors have arrived the next one to be answered. There must be one. Returns whether
 * there are others. */
bool l1_sectored_order_waiters(struct l1_controller *controller, unsigned mshr);
/* The MSHR has left the ring of MSHRs with waiters to be woken. */
void l1_sectored_left_ring(struct l1_controller *controller, unsigned mshr);

#endif
