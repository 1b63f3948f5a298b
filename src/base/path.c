#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"

char *path_real(const char *path) {
    char *real = realpath(path, NULL);
    if (!real && errno == ENOMEM) mem_exhausted();
    return real;
}

bool folder_make(const char *path, struct error *err) {
    char *part = mem_text(path);
    bool good = true;
    for (char *slash = strchr(part + 1, '/'); good; slash = strchr(slash + 1, '/')) {
        if (slash) *slash = '\0';
        good = mkdir(part, 0777) == 0 || errno == EEXIST || error_set(err, "%s: %s", part, strerror(errno));
        if (!slash) break;
        *slash = '/';
    }
    free(part);
    return good;
}
