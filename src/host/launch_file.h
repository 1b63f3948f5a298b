/* Launch files: YAML that says how to run the kernels of a PTX file, for who has no program for it: buffers and how they
 * are filled, launches in order, what to verify and to write out afterwards. docs/launch-files.md describes them. */
#ifndef SLUICE_HOST_LAUNCH_FILE_H
#define SLUICE_HOST_LAUNCH_FILE_H

#include "host/source.h"

struct launch_file;

/* Reads and checks everything: the file, what it names, the PTX and whether launches fit its kernels. `ptx` may be NULL if
 * the file names its own; what is given here wins. NULL with a located error. */
struct launch_file *launch_file_open(const char *path, const char *ptx, struct error *err);
void launch_file_close(struct launch_file *file);

const char *launch_file_name(const struct launch_file *file);
/* A source that runs it. The file must outlive the source. */
struct stream_source *launch_file_source(const struct launch_file *file);

/* Buffers to be written out, in order; false when there is no such one. The content is NULL until the source's program
 * has ended, and stays as long as the source. */
struct launch_dump {
    const char *path;
    uint64_t size_bytes;
    const void *content;
};
bool launch_file_dump(const struct launch_file *file, struct stream_source *source, unsigned index,
                      struct launch_dump *dump);

#endif
