/* What a run is, as 128 bits: two runs of the same identity have the same result in everything but `host`, whoever asks,
 * wherever it is made, whatever it is called.
 *
 * Hashed are the model (the sources of every room that can change a counter, and the workloads: lab/model_digest.h, made
 * by the build), the effective configuration (every parameter in use, as canonical text), the job, and how long it runs
 * and how often it is sampled. A file that another run has written counts by that run's identity and never by its path;
 * parameters that name such files are left out of the configuration. */
#ifndef SLUICE_LAB_IDENTITY_H
#define SLUICE_LAB_IDENTITY_H

#include <stdint.h>

#include "config/config.h"

enum { IDENTITY_LENGTH = 32 }; /* 128 bits in hexadecimal */

/* `sample_units` may be NULL. `after` is the identity of the run whose file this one reads, or NULL. `job` as for `sluice run`. */
void identity_of(const struct config *effective, const char *job, uint64_t max_insts, uint64_t sample_cycles,
                 const char *sample_units, const char *after, char identity[IDENTITY_LENGTH + 1]);

/* Of the model that this program is built from, in hexadecimal. */
const char *identity_model(void);

/* Whether this is one: so many lower-case hexadecimal digits. */
bool identity_is(const char *text, size_t length);

#endif
