/* A survey of a program's streams: which memory it touches, who touches the same, and what it only reads. CTAs are dealt to
 * SMs round robin, so that this depends on the program and the number of SMs only, not on time.
 *
 * Shared is a line that two SMs touch in the program's course (the footprints of Table 2 of Adaptive Memory-Side Last-Level
 * GPU Caching and Tables II and III of Selective Replication in Memory-Side GPU Caches); read-only one that no kernel
 * which reads it writes as well. Only global memory counts. */
#ifndef SLUICE_STREAM_SURVEY_H
#define SLUICE_STREAM_SURVEY_H

#include "stream/stream.h"

enum { SURVEY_LINE_BYTES = 128 };

struct survey {
    uint64_t kernels, ctas, warp_instructions, thread_instructions;
    uint64_t lines, shared_lines, shared_read_only_lines;
};

/* Reads the source to its end. */
void survey_take(struct stream_source *source, unsigned sms, struct survey *survey);

#endif
