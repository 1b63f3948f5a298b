/* The header of a kernel file: lines `-key = value` before the first thread block. Unknown keys are ignored, since
 * tracers add keys; those below are checked, since tracers also write values that they never set. */
#ifndef SLUICE_SASS_HEADER_H
#define SLUICE_SASS_HEADER_H

#include "sass/input.h"
#include "stream/stream.h"

enum { SASS_OLDEST = 3, SASS_NEWEST = 5 }; /* versions of the tracer */

struct sass_header {
    struct kernel kernel;
    unsigned version;        /* of the tracer */
    unsigned binary_version; /* compute capability times ten */
    bool line_info;          /* instruction lines begin with a line number of the source */
    uint64_t stream;
    uint64_t shared_base, local_base; /* of the windows of generic addresses; 0: unknown */
    uint32_t given;                   /* keys that occurred, a bit each */
};

/* Takes a line of the header. False with an error at its line and column if a known key has an invalid value. */
bool sass_header_line(struct sass_header *header, struct sass_text line, const char *path, unsigned number,
                      struct error *err);
/* To be called after the last line: whether all required keys occurred. */
bool sass_header_end(const struct sass_header *header, const char *path, unsigned number, struct error *err);

#endif
