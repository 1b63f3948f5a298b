#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

char *path_of_program(const char *name) {
    char *list = mem_text(getenv("PATH") ? getenv("PATH") : ""), *rest = list, *found = NULL;
    for (char *folder; !found && (folder = strsep(&rest, ":"));) {
        found = text_format("%s/%s", folder[0] ? folder : ".", name);
        if (access(found, X_OK) == 0) continue;
        free(found);
        found = NULL;
    }
    free(list);
    return found;
}
