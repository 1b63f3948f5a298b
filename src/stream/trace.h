/* A kernel's streams, kept between the one who makes them and the one who consumes them: the emulator appends each warp's
 * records in its own order, the machine reads each warp's from the front, possibly on another thread and possibly while
 * the rest is still being made. Records are packed (a few bytes each), and what is more than the memory allowed for it
 * goes to an unnamed temporary file.
 *
 * Contract: one thread writes, one reads. Reading a warp beyond what has been written waits for the writer. What is read
 * does not depend on who was faster. */
#ifndef SLUICE_STREAM_TRACE_H
#define SLUICE_STREAM_TRACE_H

#include "stream/stream.h"

struct trace;
struct trace_writer; /* of one warp */

/* `records` are the static instructions: records[i].id == i. What a written record shares with the one of its id is
 * not stored again. They must outlive the trace. Of packed records `memory_bytes` are kept in memory; the rest goes to the
 * file. */
#define TRACE_MEMORY_BYTES (UINT64_C(128) << 20)
struct trace *trace_create(const struct kernel *kernel, const struct instr *records, uint32_t record_count,
                           uint64_t memory_bytes);
void trace_destroy(struct trace *trace);

struct trace_use {
    uint64_t memory_bytes, peak_memory_bytes; /* of packed records in memory */
    uint64_t total_bytes;                     /* packed so far */
};
struct trace_use trace_use(struct trace *trace);

/* Writing. A warp's last record is OP_exit; after it its writer is gone. */
struct trace_writer *trace_open_writer(struct trace *trace, uint64_t cta, uint32_t warp);
void trace_put(struct trace_writer *writer, const struct instr *record, const uint64_t *touches);
/* No more will come: the kernel has been emulated whole (`complete`), or has failed. */
void trace_finish(struct trace *trace, bool complete);

/* Reading: as stream_ops.open and refill, each warp once. The streams of a kernel that failed, or that cannot be read
 * back from the file, end after what was written or read with an exit. */
void trace_open(struct trace *trace, struct warp_stream *warp);
void trace_refill(struct trace *trace, struct warp_stream *warp);
/* Whether any stream was read that ended so, its reader having had patience. */
bool trace_was_cut(const struct trace *trace);
/* Why streams could not be read back from the file; NULL if they could. */
const char *trace_failure(const struct trace *trace);
/* Asked now and then while the reader waits; false ends all streams as if the kernel had failed. NULL: always true. */
typedef bool trace_patience(void *user);
void trace_set_patience(struct trace *trace, trace_patience *patience, void *user);

#endif
