#include "base/path.h"

#include <errno.h>
#include <stdlib.h>

#include "base/base.h"

char *path_real(const char *path) {
    char *real = realpath(path, NULL);
    if (!real && errno == ENOMEM) mem_exhausted();
    return real;
}
