/* A kernel's streams between producer and consumer: the emulator appends each warp's records in its own order, the
 * machine reads each warp's records from the front, possibly on another thread while production continues. Records are
 * packed (a few bytes each); beyond a memory limit they go to an unnamed temporary file. Beyond a limit on unread records
 * (trace_limit) the writer pauses, but not while the reader waits: the record that it waits for may come after any
 * number of others. So neither waits for the other.
 *
 * Contract: one thread writes, one reads. Reading beyond what has been written waits for the writer. The records read
 * do not depend on the relative speed of the two. */
#ifndef SLUICE_STREAM_TRACE_H
#define SLUICE_STREAM_TRACE_H

#include "stream/stream.h"

struct trace;
struct trace_writer; /* of one warp */

/* `records` are the static instructions (records[i].id == i) and must outlive the trace; a written record stores only
 * its differences from them. At most `memory_bytes` of packed records stay in memory; the rest goes to the file. */
#define TRACE_MEMORY_BYTES (UINT64_C(128) << 20)
struct trace *trace_create(const struct kernel *kernel, const struct instr *records, uint32_t record_count,
                           uint64_t memory_bytes);
void trace_destroy(struct trace *trace);
/* The writer pauses while more than `bytes` of packed records, with their administration, are unread. Without a call
 * there is no limit, and one thread may write everything before it reads. */
#define TRACE_UNREAD_BYTES (UINT64_C(1) << 30)
void trace_limit(struct trace *trace, uint64_t bytes);
/* The reader needs no more records: the writer does not pause any more. */
void trace_abandon(struct trace *trace);

struct trace_use {
    uint64_t memory_bytes, peak_memory_bytes; /* of packed records in memory */
    uint64_t total_bytes;                     /* packed so far */
    uint64_t unread_bytes;                    /* in memory and file, with their administration */
};
struct trace_use trace_use(struct trace *trace);

/* Writing. A warp's last record is OP_exit; it releases the writer. */
struct trace_writer *trace_open_writer(struct trace *trace, uint64_t cta, uint32_t warp);
void trace_put(struct trace_writer *writer, const struct instr *record, const uint64_t *touches);
/* The same for a memory access, as pack_put_access. */
void trace_put_access(struct trace_writer *writer, const struct instr *record, const uint64_t *touches);
/* The same for `count` static records from `id` on, neither memory records nor OP_exit, with these lanes. */
void trace_put_static(struct trace_writer *writer, uint32_t id, uint32_t active, uint32_t count);
/* Lets the reader see the warp's records so far, which it otherwise sees in chunks. To be called at points that depend
 * only on what is written: no window of the reader goes beyond them. */
void trace_flush(struct trace_writer *writer);
/* Ends writing: the kernel has been emulated completely (`complete`) or has failed. */
void trace_finish(struct trace *trace, bool complete);

/* Reading: as stream_ops.open and refill, each warp once. If the kernel failed or the file cannot be read back, its
 * streams end with an exit after the records available. */
void trace_open(struct trace *trace, struct warp_stream *warp);
void trace_refill(struct trace *trace, struct warp_stream *warp);
/* Whether any stream read so far ended that way. */
bool trace_was_cut(const struct trace *trace);
/* Why streams could not be read back from the file; NULL if they could. */
const char *trace_failure(const struct trace *trace);
/* Called periodically while the reader waits; false ends all streams as if the kernel had failed. NULL: always true. */
typedef bool trace_patience(void *user);
void trace_set_patience(struct trace *trace, trace_patience *patience, void *user);

#endif
