/* Recorded streams: all records of all warps of a program's kernels in one file, so that a program is emulated once and
 * simulated many times. Writing and reading need memory independent of the stream's length.
 *
 * File format; numbers are varints unless noted, every part is a zstd frame with a checksum:
 *     head       "sluice stream\n" and one byte: the version
 *     chunks     packed records (pack.h) of one warp, about CHUNK_BYTES before compression
 *     directory  one per kernel, after its chunks: name, grid, block, registers, shared memory, what the program uses
 *                (atomics, tensor instructions), the CTAs of a cluster, the static records, and the
 *                positions of every warp's chunks
 *     contents   workload, result of its check, totals, and the position of each directory
 *     foot       offset and size of the contents, 8 bytes each; then "stream end\n"
 * A truncated file has no foot, and a corrupted frame fails its checksum. */
#ifndef SLUICE_STREAM_RECORDING_H
#define SLUICE_STREAM_RECORDING_H

#include <stdio.h>

#include "base/error.h"
#include "stream/progress.h"

/* The version written, and the oldest one read. 4: asynchronous copies and mbarriers. 5: latencies and pipelines of
 * opcodes. */
enum { RECORDING_VERSION = 5, RECORDING_OLDEST = 3 };

/* Summary of a recording and of each kernel. */
struct recording_kernel {
    struct kernel kernel;
    uint64_t warp_instructions, thread_instructions;
    uint64_t memory_instructions; /* loads, stores and atomics, in warp instructions */
    uint64_t packed_bytes, stored_bytes;
};

struct recording_info {
    const char *workload, *check; /* "passed" or "none" */
    uint64_t file_bytes;
    uint32_t kernel_count;
    const struct recording_kernel *kernels;
    uint64_t warp_instructions, thread_instructions;
};

/* The result of the program's check of its output. */
struct recording_verdict {
    const char *check;  /* "passed", "failed" or "none" */
    struct error found; /* details if it failed */
};

/* Reads the source from the first kernel to the last and writes its streams. If `verdict` is not NULL, the program's
 * check runs and its result is recorded, to be reported when the recording is simulated. `step` (or NULL) is called
 * periodically; returning false aborts. */
bool recording_write(FILE *out, struct stream_source *source, const char *workload, struct recording_verdict *verdict,
                     bool (*step)(void *user, const struct program_progress *now), void *user, struct error *err);

/* A source that reads the file; NULL with an error that names the file and the position. */
struct stream_source *recording_open(const char *path, struct error *err);
const struct recording_info *recording_info(const struct stream_source *source);

#endif
