/* CUDA programs as files: whether `sluice exec` can run an ELF executable, and if not, how to rebuild it. */
#ifndef SLUICE_CUDA_EXECUTABLE_H
#define SLUICE_CUDA_EXECUTABLE_H

#include "base/base.h"
#include "base/error.h"

struct cuda_executable {
    char runtime[64]; /* the runtime library it needs: libcudart.so.12 */
    bool rpath;       /* it has a DT_RPATH, which precedes LD_LIBRARY_PATH */
};

/* False with the reason and the remedy. `path` is for messages. */
bool cuda_executable_check(const char *path, const void *bytes, size_t size, struct cuda_executable *found,
                           struct error *err);
bool cuda_executable_read(const char *path, struct cuda_executable *found, struct error *err);

#endif
