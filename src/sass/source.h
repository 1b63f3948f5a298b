/* SASS traces of Accel-Sim's tracer as a source of streams (docs/traces.md). Kernels run one after the other in the order
 * of the command list, whatever their CUDA streams.
 *
 * A kernel file is read once, from front to back, as far as the CTAs that the machine has opened. Its records are kept
 * packed (stream/trace.h) until they are read. A machine starts CTAs in ascending order; if the file has another order,
 * or a CTA is long, packed records wait in memory, and beyond SASS_PACKED_BYTES in an unnamed temporary file. Memory is
 * therefore independent of the length of the file.
 *
 * A machine has to know before the first kernel whether a program has atomics or tensor instructions, and loads of data
 * that a kernel does not write are marked (INSTR_READ_ONLY), so the files are scanned before. */
#ifndef SLUICE_SASS_SOURCE_H
#define SLUICE_SASS_SOURCE_H

#include "sass/header.h"
#include "sass/list.h"
#include "stream/stream.h"

#define SASS_WARNING      "unknown opcodes are timed as class "
#define SASS_PACKED_BYTES (UINT64_C(32) << 20)

/* Opens a trace: a directory, its kernelslist.g, or one kernel file. NULL with an error; errors in kernel files are
 * found when they are read. */
struct stream_source *sass_open(const char *path, struct error *err);

/* NULL if the source is not a SASS trace. */
const struct sass_list *sass_source_list(const struct stream_source *source);
/* Of the kernel being read. */
const struct sass_header *sass_source_header(const struct stream_source *source);
/* Decompressed text read so far. */
uint64_t sass_source_bytes(const struct stream_source *source);

/* Opcode `i` of those read so far that are not in opcodes.def; false if there are not so many. */
bool sass_source_unknown(const struct stream_source *source, unsigned i, const char **opcode, uint64_t *count);
/* A warning about them, with SASS_WARNING after the path; false if there are none, or the source is not a SASS trace. */
bool sass_source_warning(const struct stream_source *source, struct error *warning);

#endif
