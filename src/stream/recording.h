/* Recorded streams: a program's kernels with all their warps' records in one file, so that what was emulated once can be
 * simulated a hundred times. Written and read with memory that does not grow with the stream.
 *
 * The file, all numbers varints unless said otherwise, every part a zstd frame with its checksum:
 *     head       "sluice stream\n" and a byte: the version
 *     chunks     packed records (pack.h) of one warp, about CHUNK_BYTES before compression
 *     directory  of each kernel, after its chunks: name, grid, block, registers, shared memory, whether its program has
 *                atomics, the static records, and for every warp its chunks' places
 *     contents   workload, what its check said, totals, and where each kernel's directory is
 *     foot       where the contents are: offset and size, 8 bytes each; then "stream end\n"
 * A file that was cut off lacks its foot, and a changed byte does not pass its frame's checksum. */
#ifndef SLUICE_STREAM_RECORDING_H
#define SLUICE_STREAM_RECORDING_H

#include <stdio.h>

#include "base/error.h"
#include "stream/stream.h"

enum { RECORDING_VERSION = 3 };

/* What a recording says of itself and of each kernel. */
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

/* What the program said of its results at the end. */
struct recording_verdict {
    const char *check;  /* "passed", "failed" or "none" */
    struct error found; /* instead of what */
};

/* Runs the source from its first kernel to its last and writes what it gives. With a `verdict` (NULL: without) the
 * program is asked for it, and the recording says the same of itself when it is simulated. `step` is asked now and then
 * with the warp instructions so far (NULL: never); false ends it. */
bool recording_write(FILE *out, struct stream_source *source, const char *workload, struct recording_verdict *verdict,
                     bool (*step)(void *user, uint64_t done), void *user, struct error *err);

/* A source that reads the file; NULL with an error that names file and place. */
struct stream_source *recording_open(const char *path, struct error *err);
const struct recording_info *recording_info(const struct stream_source *source);

#endif
