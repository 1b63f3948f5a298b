/* A survey of a program's streams: the lines it touches, shares between SMs and only reads. CTAs of every launch are
 * assigned to SMs round robin, so the result depends on the program and the number of SMs only, not on timing.
 *
 * several:   two or more SMs access the line during the program.
 * shared:    several, and some SM reads it; lines that are only written are not shared data. These are the footprints
 *            of Table 2 of Adaptive Memory-Side Last-Level GPU Caching and Tables II and III of Selective Replication
 *            in Memory-Side GPU Caches.
 * read-only: in some kernel several SMs read the line and none writes it, so it could be replicated. The granularity is
 *            the line: a matrix with other lines written by the kernel counts.
 * Only global memory counts. */
#ifndef SLUICE_STREAM_SURVEY_H
#define SLUICE_STREAM_SURVEY_H

#include "stream/stream.h"

enum { SURVEY_LINE_BYTES = 128 };

struct survey {
    uint64_t kernels, ctas, warp_instructions, thread_instructions;
    uint64_t lines, several_lines, shared_lines, read_only_lines;
};

/* Reads the source to its end. False with an error if the source fails, or if its `patience` returns false, which is
 * also called while records are available. */
bool survey_take(struct stream_source *source, unsigned sms, struct survey *survey, struct error *err);

#endif
