/* The last-level cache: slices in front of the memory controllers, and the organisation that says which slice holds a
 * line.
 *
 * Owns: the slices (tags, MSHRs, pipelines), the choice of slice.
 * Enters: requests from the request network; replies from memory.
 * Leaves: replies to the reply network; line reads, writes and write-backs to memory.
 *
 * Each slice is a component of the engine. An organisation (shared, private, ...) is one file and one line in
 * organisations.def.
 */
#ifndef SLUICE_LLC_LLC_H
#define SLUICE_LLC_LLC_H

#include "config/config.h"
#include "dram/mapping.h"
#include "sim/engine.h"
#include "sim/message.h"
#include "sim/port.h"
#include "stats/stats.h"

struct llc_config {
    int64_t slices_per_mc; /* first: a lower module declares it (sim/gpu_config.h) */
    const struct policy *organisation;
    const struct policy *replacement;
    int64_t slice_kb, ways, sets;
    int64_t latency_cycles;
    int64_t port_bytes;
    int64_t mshrs, mshr_merges, replay_queue;
    int64_t input_queue, reply_queue;
    int64_t atomic_cycles;
    int64_t flush_lines;
    int64_t sharing_window;
    const struct policy *write_allocate;
    bool whole_write_backs;
};

extern const struct section llc_section;
extern const struct family llc_organisation_family;
enum { ALLOCATE_THROUGH_ENTRIES = 3 };           /* towards memory, that such a write may need at once */
extern const struct policy llc_allocate_through; /* a write that misses goes on to memory, too */

unsigned llc_sets(const struct config *config);
/* Of a line, its set taken away. What chooses the slice is in it. */
unsigned llc_tag_bits(const struct config *config);

#define LLC_STATS(S) \
    S(SUM, read_hits, "accesses", "reads that found their line") \
    S(SUM, read_pending_hits, "accesses", "reads that found their line on its way") \
    S(SUM, read_misses, "accesses", "reads that fetched their line from memory") \
    S(SUM, write_hits, "accesses", "writes that found their line, present or on its way") \
    S(SUM, write_misses, "accesses", "writes that allocated a line") \
    S(SUM, atomic_hits, "accesses", "atomics that found their line, present or on its way") \
    S(SUM, atomic_misses, "accesses", "atomics that fetched their line from memory") \
    S(SUM, atomics_forwarded, "accesses", \
      "atomics passed on to the atomics' LLC of the controller, while the program's LLC is private") \
    S(SUM, evictions, "lines", "lines replaced") \
    S(SUM, write_backs, "lines", "modified lines written to memory") \
    S(SUM, writes_through, "accesses", "writes sent on to memory at once") \
    S(SUM, replayed, "accesses", "requests set replay_queue because their line had no room for one more waiter") \
    S(SUM, flushes, "flushes", "times a slice was flushed") \
    S(SUM, replicas_invalidated, "lines", "lines forgotten by a flush because their home is another slice") \
    S(SUM, flush_cycles, "cycles", "cycles that slices spent flushing") \
    S(SUM, fills, "lines", "lines that arrived from memory") \
    S(SUM, replies, "packets", "replies sent") \
    S(SUM, data_replies, "packets", "replies sent that carry data") \
    S(SUM, data_port_cycles, "cycles", "cycles in which the data port was sending") \
    S(MAX, mshrs_peak, "MSHRs", "most MSHRs in use at once")

STATS_STRUCT(llc_stats, LLC_STATS);

/* Cycles in which the oldest request could not be served, by what it failed to reserve. */
#define LLC_RESERVATION_FAILS(S) \
    S(SUM, mshr, "cycles", "lookups blocked: every MSHR is in use") \
    S(SUM, mshr_merge, "cycles", "lookups blocked: the line's MSHR has reached its merge limit") \
    S(SUM, line, "cycles", "lookups blocked: every line of the set is reserved") \
    S(SUM, reply_queue, "cycles", "lookups blocked: the reply queue is full") \
    S(SUM, memory_queue, "cycles", "lookups blocked: the queue to memory is full")

STATS_STRUCT(llc_reservation_fail_stats, LLC_RESERVATION_FAILS);

struct llc_organisation;
struct slice;

/* From the control plane, when nothing of the program is under way: write its modified lines to memory, and forget all its
 * lines unless they are to be kept. From then on its writes go through or not. */
struct slice_command {
    bool keep_lines;
    bool keep_home; /* forget replicas only: lines whose home is another slice */
    bool
        background; /* lines are kept, and the program runs meanwhile: what it modifies behind the flush stays modified */
    bool write_through;
    uint8_t program;
};
/* To it, when that is done. */
struct slice_report {
    unsigned slice;
};

struct slice_ports {
    struct port *from_network, *to_network, *from_memory, *to_memory;
    struct port *commands, *reports;        /* NULL for a slice that is never flushed */
    struct port *to_atomics, *from_atomics; /* NULL: atomics are performed where they arrive */
};

/* `organisation` is the first program's. */
struct slice *slice_create(const struct config *config, struct llc_organisation *organisation, struct engine *engine,
                           struct stats *stats, unsigned index);
/* One of the atomics' LLC (atomics.h). */
struct slice *slice_create_for_atomics(const struct config *config, struct llc_organisation *organisation,
                                       struct engine *engine, struct stats *stats, unsigned index);
void slice_destroy(struct slice *slice);
unsigned slice_component(const struct slice *slice);
/* Once the networks exist. `input_queue` requests can wait beyond those in the access pipeline. */
void slice_connect(struct slice *slice, const struct slice_ports *ports, unsigned input_queue);

/* What happens to the copy of a line that a slice holds, in the order in which it happens. */
enum slice_event {
    SLICE_FETCH,     /* memory is asked for the line */
    SLICE_FILL,      /* what memory had, at that time or later, becomes the copy */
    SLICE_READ,      /* the copy answers `message` */
    SLICE_WRITE,     /* `message` changes the copy */
    SLICE_TO_MEMORY, /* the copy is written to memory */
    SLICE_THROUGH,   /* `message` goes on to memory, whether or not there is a copy */
    SLICE_DROP,      /* the copy is gone */
};
typedef void slice_observer(void *user, unsigned slice, enum slice_event event, uint64_t key,
                            const struct message *message, uint64_t now);
void slice_observe(struct slice *slice, slice_observer *observer, void *user);

#endif
