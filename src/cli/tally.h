/* The description of a program that `sluice trace info` prints: counts over all records of its streams. */
#ifndef SLUICE_CLI_TALLY_H
#define SLUICE_CLI_TALLY_H

#include <stdio.h>

#include "stream/stream.h"

enum { TALLY_SPACES = SPACE_CONST + 1 };

struct tally_kernel {
    struct kernel kernel;
    uint64_t stream; /* of a SASS trace */
    uint64_t warp_instructions, thread_instructions;
    uint64_t accesses[TALLY_SPACES]; /* memory instructions */
    uint64_t sectors[TALLY_SPACES];  /* that they touch, 32 bytes each */
};

struct tally {
    const char *name;
    const struct stream_source *trace; /* the SASS trace; NULL: a recording */
    struct tally_kernel *kernels;
    uint32_t kernel_count, room;
    uint64_t classes[OP_COUNT]; /* warp instructions */
};

/* Reads the source to its end. */
bool tally_take(struct tally *tally, struct stream_source *source, struct error *err);
void tally_release(struct tally *tally);
void tally_write_text(FILE *out, const struct tally *tally);
void tally_write_json(FILE *out, const void *tally);

#endif
