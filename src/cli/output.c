#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

bool output_check(const char *path, struct error *err) {
    if (strcmp(path, "-") == 0) return true;
    if (path[0] == '\0') return error_set(err, "an output file needs a name");
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return error_set(err, "%s: is a folder; name a file in it", path);
    const char *slash = strrchr(path, '/');
    char *folder = slash == path ? mem_text("/")
                   : slash       ? text_format("%.*s", (int)(slash - path), path)
                                 : mem_text(".");
    bool good = true;
    if (stat(folder, &status) != 0)
        good = error_set(err, "%s: there is no folder %s: %s", path, folder, strerror(errno));
    else if (!S_ISDIR(status.st_mode))
        good = error_set(err, "%s: %s is no folder", path, folder);
    else if (access(folder, W_OK | X_OK) != 0)
        good = error_set(err, "%s: the folder %s cannot be written: %s", path, folder, strerror(errno));
    free(folder);
    return good;
}

/* Devices and pipes (/dev/null, a process substitution) cannot be renamed over: they are written as they are. */
static bool is_special(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static bool write_to(FILE *file, void (*write)(FILE *out, const void *what), const void *what) {
    write(file, what);
    return fflush(file) == 0 && !ferror(file);
}

bool output_write(const char *path, void (*write)(FILE *out, const void *what), const void *what, struct error *err) {
    if (strcmp(path, "-") == 0)
        return write_to(stdout, write, what) || error_set(err, "standard output: %s", strerror(errno));
    bool rename_it = !is_special(path);
    char *draft = rename_it ? text_format("%s.XXXXXX", path) : mem_text(path);
    int descriptor = rename_it ? mkstemp(draft) : -1;
    FILE *file = rename_it ? (descriptor >= 0 ? fdopen(descriptor, "w") : NULL) : fopen(draft, "w");
    bool good = file && write_to(file, write, what);
    if (file && rename_it && good) { /* mkstemp's file is for its owner only */
        mode_t mask = umask(0);
        umask(mask);
        good = fchmod(descriptor, 0666 & ~mask) == 0;
    }
    int number = errno;
    if (file && fclose(file) != 0 && good) good = false, number = errno;
    if (good && rename_it && rename(draft, path) != 0) good = false, number = errno;
    if (!good && rename_it && descriptor >= 0) unlink(draft);
    if (!good) error_set(err, "%s: %s", path, strerror(number));
    free(draft);
    return good;
}
