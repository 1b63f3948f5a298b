/* A profile: how often each SM read each line in each kernel of a run. A text file, written by one run and read by
 * another:
 *
 *     sluice profile 1
 *     sms 15 line_bytes 128
 *     kernel 0 sm 0
 *     1f00 3                    line number in hexadecimal, reads
 *     …
 *
 * Sections come in the order of kernels, then SMs; an SM that read nothing has none.
 */
#ifndef SLUICE_L1_PROFILE_H
#define SLUICE_L1_PROFILE_H

#include "base/error.h"
#include "base/output.h"
#include "l1/tally.h"

struct profile_shape {
    unsigned sms, line_bytes;
};

/* What is known of one kernel. */
struct profile_kernel {
    struct tally *sm;   /* [sms] */
    struct tally whole; /* all SMs together */
};

struct profile {
    struct profile_shape shape;
    unsigned kernels;
    struct profile_kernel *kernel;
};

/* NULL with a located error if the file is no profile of a machine of this shape. */
struct profile *profile_read(const char *path, struct profile_shape shape, struct error *err);
void profile_destroy(struct profile *profile);

void profile_write_head(FILE *out, struct profile_shape shape);
void profile_write_section(FILE *out, unsigned kernel, unsigned sm, const struct tally *tally);

#endif
