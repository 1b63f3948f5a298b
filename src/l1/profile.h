/* A profile: the number of reads of each line, per kernel and SM of a run. A text file, written by one run and read by
 * another:
 *
 *     sluice profile 1
 *     sms 15 line_bytes 128
 *     kernel 0 sm 0
 *     1f00 3                    line number in hexadecimal, reads
 *     …
 *
 * Sections are ordered by kernel, then SM; an SM without reads has none.
 */
#ifndef SLUICE_L1_PROFILE_H
#define SLUICE_L1_PROFILE_H

#include <stdio.h>

#include "base/error.h"
#include "base/line_map.h"

struct profile_shape {
    unsigned sms, line_bytes;
};

/* The reads of one kernel. */
struct profile_kernel {
    struct line_map *sm;   /* [sms] value[0] is the number of reads of a line */
    struct line_map whole; /* sum over all SMs */
};

struct profile {
    struct profile_shape shape;
    unsigned kernels;
    struct profile_kernel *kernel;
};

/* NULL with a located error if the file is not a profile of a machine of this shape. */
struct profile *profile_read(const char *path, struct profile_shape shape, struct error *err);
void profile_destroy(struct profile *profile);

static inline void profile_count(struct line_map *counts, uint64_t line, uint64_t reads) {
    line_map_at(counts, line)->value[0] += reads;
}
static inline uint64_t profile_reads(const struct line_map *counts, uint64_t line) {
    const struct line_entry *entry = line_map_find(counts, line);
    return entry ? entry->value[0] : 0;
}

void profile_write_head(FILE *out, struct profile_shape shape);
void profile_write_section(FILE *out, unsigned kernel, unsigned sm, const struct line_map *counts);

#endif
