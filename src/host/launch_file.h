/* Launch files: YAML that describes how to run the kernels of a PTX file without a host program: buffers and their
 * contents, launches in order, results to verify and to write. See docs/launch-files.md. */
#ifndef SLUICE_HOST_LAUNCH_FILE_H
#define SLUICE_HOST_LAUNCH_FILE_H

#include "host/source.h"

struct launch_file;

/* Reads and checks the file, the files it names, the PTX and the fit of its launches. `ptx` overrides the PTX named in
 * the file; it may be NULL if the file names one. NULL with a located error. */
struct launch_file *launch_file_open(const char *path, const char *ptx, struct error *err);
void launch_file_close(struct launch_file *file);

const char *launch_file_name(const struct launch_file *file);
/* A located warning about the PTX (ptx_module.warning), or NULL. */
const char *launch_file_warning(const struct launch_file *file);
/* A source that runs the file, which must outlive the source. */
struct stream_source *launch_file_source(const struct launch_file *file);

/* Buffers to be written out, in order; false after the last. The content is NULL until the source's program has ended,
 * and is valid for the lifetime of the source. */
struct launch_dump {
    const char *path;
    uint64_t size_bytes;
    const void *content;
};
bool launch_file_dump(const struct launch_file *file, struct stream_source *source, unsigned index,
                      struct launch_dump *dump);

/* Threads of all launches. */
uint64_t launch_file_threads(const struct launch_file *file);

/* The contents of the launch file and of the files that it names: with them, a run depends on nothing else. False after
 * the last. */
struct launch_input {
    const void *content;
    uint64_t size_bytes;
};
bool launch_file_input(const struct launch_file *file, unsigned index, struct launch_input *input);

#endif
