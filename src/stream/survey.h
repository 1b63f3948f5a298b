/* A survey of a program's streams: which memory it touches, who touches the same, and what it only reads. CTAs of every
 * launch are dealt to SMs round robin, so that this depends on the program and the number of SMs only, not on time.
 *
 * Touched by several is a line that two SMs access in the program's course. Shared data is such a line that somebody
 * reads: the footprints of Table 2 of Adaptive Memory-Side Last-Level GPU Caching and Tables II and III of Selective
 * Replication in Memory-Side GPU Caches; results that meet in a line which nobody reads are not data that SMs share.
 * Read-only is shared data that in some kernel several SMs read and nobody writes, so that it could be replicated there
 * (found by looking at lines: a matrix of which the kernel writes other lines counts). Only global memory counts. */
#ifndef SLUICE_STREAM_SURVEY_H
#define SLUICE_STREAM_SURVEY_H

#include "stream/stream.h"

enum { SURVEY_LINE_BYTES = 128 };

struct survey {
    uint64_t kernels, ctas, warp_instructions, thread_instructions;
    uint64_t lines, several_lines, shared_lines, read_only_lines;
};

/* Reads the source to its end. False with an error if the source failed before it. */
bool survey_take(struct stream_source *source, unsigned sms, struct survey *survey, struct error *err);

#endif
