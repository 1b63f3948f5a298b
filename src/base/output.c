#include "base/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

bool output_check(const char *path, struct error *err) {
    if (strcmp(path, "-") == 0) return true;
    if (path[0] == '\0') return error_set(err, "the name of the output file is empty");
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return error_set(err, "%s: is a directory; name a file in it", path);
    const char *slash = strrchr(path, '/');
    char *folder = slash == path ? mem_text("/")
                   : slash       ? text_format("%.*s", (int)(slash - path), path)
                                 : mem_text(".");
    bool good = true;
    if (stat(folder, &status) != 0)
        good = error_set(err, "%s: cannot access directory %s: %s", path, folder, strerror(errno));
    else if (!S_ISDIR(status.st_mode))
        good = error_set(err, "%s: %s is not a directory", path, folder);
    else if (access(folder, W_OK | X_OK) != 0)
        good = error_set(err, "%s: directory %s is not writable: %s", path, folder, strerror(errno));
    free(folder);
    return good;
}

/* Devices and pipes (/dev/null, a process substitution) cannot be replaced by rename and are written in place. */
static bool is_special(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

bool output_open(struct output *output, const char *path, struct error *err) {
    *output = (struct output){.path = path};
    if (strcmp(path, "-") == 0) {
        output->file = stdout;
        return true;
    }
    if (is_special(path)) {
        output->file = fopen(path, "w");
    } else {
        output->draft = text_format("%s.XXXXXX", path);
        draft_list(&output->listed, output->draft);
        int descriptor = mkstemp(output->draft);
        mode_t mask = umask(0); /* mkstemp creates the file with owner-only permissions */
        umask(mask);
        if (descriptor >= 0 && fchmod(descriptor, 0666 & ~mask) == 0) output->file = fdopen(descriptor, "w");
        int number = errno;
        if (!output->file && descriptor >= 0) {
            close(descriptor);
            unlink(output->draft);
        }
        errno = number;
    }
    if (output->file) return true;
    error_set(err, "%s: %s", path, strerror(errno));
    draft_unlist(&output->listed);
    free(output->draft);
    return false;
}

bool output_close(struct output *output, bool keep, struct error *err) {
    bool good = fflush(output->file) == 0 && !ferror(output->file);
    int number = errno;
    if (output->file != stdout && fclose(output->file) != 0 && good) good = false, number = errno;
    if (output->draft) {
        if (good && keep && rename(output->draft, output->path) != 0) good = false, number = errno;
        if (!good || !keep) unlink(output->draft);
        draft_unlist(&output->listed);
        free(output->draft);
    }
    return good ||
           error_set(err, "%s: %s", output->file == stdout ? "standard output" : output->path, strerror(number));
}

FILE *text_open(char **text, size_t *length, struct error *err) {
    *text = NULL;
    FILE *file = open_memstream(text, length);
    if (!file) error_set(err, "cannot open a file in memory: %s", strerror(errno));
    return file;
}

bool text_close(FILE *file, char **text, struct error *err) {
    bool good = fflush(file) == 0 && !ferror(file);
    int number = errno;
    if (fclose(file) != 0 && good) good = false, number = errno;
    if (good) return true;
    free(*text);
    *text = NULL;
    return error_set(err, "cannot write to a file in memory: %s", strerror(number));
}

bool output_write(const char *path, void (*write)(FILE *out, const void *what), const void *what, struct error *err) {
    struct output output;
    if (!output_open(&output, path, err)) return false;
    write(output.file, what);
    return output_close(&output, true, err);
}
