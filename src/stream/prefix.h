/* A source that passes on the first CTAs of each kernel of a program, as a grid of one dimension. */
#ifndef SLUICE_STREAM_PREFIX_H
#define SLUICE_STREAM_PREFIX_H

#include "stream/stream.h"

/* At most `ctas` CTAs of each kernel, or as many more as complete their cluster. `inner` is used until the prefix is
 * destroyed and not destroyed with it. */
struct stream_source *prefix_create(struct stream_source *inner, uint64_t ctas);
/* The size of the grid that is left. */
void prefix_grid(struct kernel *kernel, uint64_t ctas);

#endif
