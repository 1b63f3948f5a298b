/* A source that passes on some launches of a program. The others before the last of these are executed, so that their
 * results are there, but not read; those after it are neither. */
#ifndef SLUICE_STREAM_SELECTION_H
#define SLUICE_STREAM_SELECTION_H

#include "stream/stream.h"

/* Launches `first` to `last`, from 1; if `wanted` is not NULL, only those for which wanted[launch - first] holds. `inner`
 * does not pass on the `hidden` first launches of its program. It is used until the selection is destroyed and not
 * destroyed with it; `wanted` likewise. */
struct stream_source *selection_create(struct stream_source *inner, uint64_t hidden, uint64_t first, uint64_t last,
                                       const bool *wanted);
/* Launches of the program so far, passed on or not. */
uint64_t selection_launches(const struct stream_source *selection);

#endif
