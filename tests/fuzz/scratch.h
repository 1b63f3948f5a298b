/* A file for readers that take a path, in memory if the system has a file system there. */
#ifndef SLUICE_TESTS_FUZZ_SCRATCH_H
#define SLUICE_TESTS_FUZZ_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

/* The path of NAME in a directory of this process. The caller frees it. */
static inline char *scratch_path(const char *name) {
    return text_format("%s/sluice-fuzz-%ld-%s", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid(),
                       name);
}

static inline void scratch_write(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
}

#endif
