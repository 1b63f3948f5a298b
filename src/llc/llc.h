/* The last-level cache: slices in front of the memory controllers, and the organisation that maps lines to slices.
 *
 * Owns:   the slices (tags, MSHRs, replay queues, data ports) and the choice of slice.
 * Enters: requests from the request network; data and acknowledgements from memory; the control plane's flush commands.
 * Leaves: replies to the reply network; line reads, write-backs and write-throughs to memory; reports of flushes.
 *
 * Contract: every request gets exactly one reply, with the requester's tag unchanged. Requests to one line take effect
 * in order of arrival. Each slice is a component of the engine.
 *
 * An organisation (shared, private, ...) is one file and one line in organisations.def.
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
    int64_t slices_per_mc; /* first: declared by a lower module (sim/gpu_config.h) */
    const struct policy *organisation;
    int64_t partitions;
    const struct policy *replacement;
    int64_t slice_kb, ways, sets;
    int64_t latency_cycles;
    int64_t port_bytes;
    int64_t mshrs, mshr_merges, replay_queue;
    int64_t input_queue, reply_queue;
    bool input_gate;
    int64_t atomic_cycles;
    int64_t flush_lines;
    int64_t sharing_window;
    const struct policy *write_allocate;
    bool whole_write_backs;
    int64_t sector_bytes, fetch_bytes;
};

extern const struct section llc_section;
extern const struct family llc_organisation_family;
enum { ALLOCATE_THROUGH_ENTRIES = 3 };            /* requests to memory that such a write may issue at once */
extern const struct policy llc_allocate_through;  /* a write miss is also written through to memory */
extern const struct policy llc_allocate_validate; /* a write fetches nothing: sectored slices */

unsigned llc_sets(const struct config *config);
/* Tag bits of a line: its address without offset and set, including the bits that choose the slice. */
unsigned llc_tag_bits(const struct config *config);

#define LLC_STATS(S) \
    S(SUM, read_hits, "accesses", "read hits") \
    S(SUM, read_pending_hits, "accesses", "read pending hits: hits on a line being fetched") \
    S(SUM, read_misses, "accesses", "read misses") \
    S(SUM, write_hits, "accesses", "write hits, including pending hits") \
    S(SUM, write_misses, "accesses", "write misses") \
    S(SUM, atomic_hits, "accesses", "atomic hits, including pending hits") \
    S(SUM, atomic_misses, "accesses", "atomic misses") \
    S(SUM, atomics_forwarded, "accesses", \
      "atomics forwarded to the controller's atomics' LLC while the program's LLC is private") \
    S(SUM, evictions, "lines", "lines evicted") \
    S(SUM, write_backs, "lines", "modified lines written to memory") \
    S(SUM, writes_through, "accesses", "writes written through to memory") \
    S(SUM, replayed, "accesses", "requests sent to the replay queue at the MSHR merge limit") \
    S(SUM, flushes, "flushes", "flushes, summed over slices") \
    S(SUM, replicas_invalidated, "lines", "replicas (lines outside their home slice) invalidated by a flush") \
    S(SUM, flush_cycles, "cycles", "cycles spent flushing, summed over slices") \
    S(SUM, fills, "lines", "lines filled from memory") \
    S(SUM, replies, "packets", "replies sent") \
    S(SUM, data_replies, "packets", "replies that carry data") \
    S(SUM, data_port_cycles, "cycles", "busy cycles of the data port") \
    S(MAX, mshrs_peak, "MSHRs", "maximum of MSHRs in use")

STATS_STRUCT(llc_stats, LLC_STATS);

/* Cycles in which the oldest request was blocked, by the resource that it failed to reserve. */
#define LLC_RESERVATION_FAILS(S) \
    S(SUM, mshr, "cycles", "lookups blocked: every MSHR is in use") \
    S(SUM, mshr_merge, "cycles", "lookups blocked: the line's MSHR has reached its merge limit") \
    S(SUM, line, "cycles", "lookups blocked: every line of the set is reserved") \
    S(SUM, reply_queue, "cycles", "lookups blocked: the reply queue is full") \
    S(SUM, memory_queue, "cycles", "lookups blocked: the queue to memory is full")

STATS_STRUCT(llc_reservation_fail_stats, LLC_RESERVATION_FAILS);

struct llc_organisation;
struct slice;

/* Flush command of the control plane, sent when the program has nothing in flight: write the program's modified lines
 * to memory, and invalidate its lines unless they are kept. From then on its writes are written through, or back. */
struct slice_command {
    bool keep_lines;
    bool keep_home;     /* invalidate only replicas: lines whose home is another slice */
    bool keep_modified; /* modified lines are not written to memory */
    bool background; /* lines are kept and the program runs meanwhile: lines modified behind the flush stay modified */
    bool write_through;
    uint8_t program;
};
/* Sent when the flush is complete. */
struct slice_report {
    unsigned slice;
};

struct slice_ports {
    struct port *from_network, *to_network, *from_memory, *to_memory;
    struct port *commands, *reports;        /* NULL for a slice that is never flushed */
    struct port *to_atomics, *from_atomics; /* NULL: atomics are performed in this slice */
};

/* `organisation` is that of the first program. */
struct slice *slice_create(const struct config *config, struct llc_organisation *organisation, struct engine *engine,
                           struct stats *stats, unsigned index);
/* A slice of the atomics' LLC (atomics.h). */
struct slice *slice_create_for_atomics(const struct config *config, struct llc_organisation *organisation,
                                       struct engine *engine, struct stats *stats, unsigned index);
/* For what a slice copies of its mirror (bridge.h). */
struct slice *slice_create_for_copies(const struct config *config, struct llc_organisation *organisation,
                                      struct engine *engine, struct stats *stats, unsigned index);
void slice_destroy(struct slice *slice);
unsigned slice_component(const struct slice *slice);
/* To be called when the networks exist. `input_queue` requests can wait in addition to those in the access pipeline. */
void slice_connect(struct slice *slice, const struct slice_ports *ports, unsigned input_queue);

/* Events of a line in a slice, in the order in which they happen. In a sectored slice the message of a fetch, a fill and
 * a write to memory has only its sectors. */
enum slice_event {
    SLICE_FETCH,     /* the line is requested from memory */
    SLICE_FILL,      /* data from memory, read at that time or later, becomes the line */
    SLICE_READ,      /* the line supplies the reply to `message` */
    SLICE_WRITE,     /* `message` modifies the line */
    SLICE_TO_MEMORY, /* the line is written to memory */
    SLICE_THROUGH,   /* `message` is written through to memory, whether or not the line is present */
    SLICE_DROP,      /* the line is evicted or invalidated */
};
typedef void slice_observer(void *user, unsigned slice, enum slice_event event, uint64_t key,
                            const struct message *message, uint64_t now);
void slice_observe(struct slice *slice, slice_observer *observer, void *user);

#endif
