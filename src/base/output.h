/* Atomic result files: the content is written to a temporary file in the same directory and renamed when complete.
 * "-" is standard output. */
#ifndef SLUICE_BASE_OUTPUT_H
#define SLUICE_BASE_OUTPUT_H

#include <stdio.h>

#include "base/draft.h"
#include "base/error.h"

/* Whether a file can be created at the path, so that a long run does not fail at its end. Changes nothing. */
bool output_check(const char *path, struct error *err);

/* For incremental writing. Must not be moved while open. */
struct output {
    FILE *file;
    const char *path;
    char *draft; /* temporary file; NULL if written in place */
    struct draft listed;
};
bool output_open(struct output *output, const char *path, struct error *err);
/* Renames the file to its name, or removes it if `keep` is false. False with an error on failure. */
bool output_close(struct output *output, bool keep, struct error *err);

/* Opens, calls `write` and closes. False with an error on failure; nothing is left behind then, and an existing file of
 * the same name is unchanged. */
bool output_write(const char *path, void (*write)(FILE *out, const void *what), const void *what, struct error *err);

/* A file in memory whose content is `*text` after closing; the caller frees it. NULL with an error on failure. */
FILE *text_open(char **text, size_t *length, struct error *err);
/* False with an error, and *text NULL, if any write failed. */
bool text_close(FILE *file, char **text, struct error *err);

#endif
