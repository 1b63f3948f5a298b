/* Reads all streams of a program, warp by warp, for those who need its records but no timing. */
#ifndef SLUICE_STREAM_READER_H
#define SLUICE_STREAM_READER_H

#include "stream/stream.h"

/* What is done with the records of a kernel. */
struct reader {
    void (*begin)(void *user, const struct kernel *kernel);
    /* The buffer of `warp` has records, at least one. */
    void (*take)(void *user, const struct warp_stream *warp);
    void *user;
};

/* Reads the source to its end. False with an error if the source fails, or if its `patience` returns false, which is
 * also called while records are available. */
bool reader_run(const struct reader *reader, struct stream_source *source, struct error *err);

#endif
