/* The command list of a trace directory, kernelslist.g: copies to the device and kernel launches, one a line. Lines of
 * other commands are ignored. A single kernel file is a list of one launch. */
#ifndef SLUICE_SASS_LIST_H
#define SLUICE_SASS_LIST_H

#include <stdint.h>

#include "base/error.h"

/* A copy to the device. */
struct sass_copy {
    uint64_t address, bytes;
    uint32_t launches; /* before it */
};

struct sass_list {
    char *path;
    char **kernels; /* paths of the kernel files, in the order of their launches */
    uint32_t count, room;
    struct sass_copy *copies;
    uint32_t copy_count, copy_room;
};

/* Whether the path is a trace by its name: *.g, *.traceg or *.traceg.EXTENSION. */
bool sass_is_trace_name(const char *path);
/* The same, or a directory. */
bool sass_is_trace(const char *path);
/* The name of its program in results, which the caller frees: that of the directory of a kernelslist.g, or that of any
 * other file without directory and extensions. */
char *sass_name(const char *path);
/* False with an error at its line if a command is invalid or a kernel file does not exist. */
bool sass_list_open(struct sass_list *list, const char *path, struct error *err);
void sass_list_close(struct sass_list *list);

/* Writes launches `first` to `last`, from 1, with the copies before them, as a trace directory of plain text. Of each
 * kernel the first `ctas` CTAs are written (0: all), as a grid of one dimension if others are left out. The directory
 * must be a new one; after a failure there is none. `goes_on` is called periodically; false ends the writing. */
struct sass_part {
    uint64_t first, last, ctas;
};
bool sass_cut(const struct sass_list *list, const struct sass_part *part, const char *folder,
              bool (*goes_on)(void *user), void *user, struct error *err);

#endif
