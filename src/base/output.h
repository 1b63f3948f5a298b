/* A result file that appears under its name when it is complete, and never before: it is written beside its place and
 * renamed. "-" is standard output. */
#ifndef SLUICE_BASE_OUTPUT_H
#define SLUICE_BASE_OUTPUT_H

#include <stdio.h>

#include "base/error.h"

/* Whether a file could be written there, so that a long run does not end in a mistyped folder. Changes nothing. */
bool output_check(const char *path, struct error *err);

/* For what is written little by little. */
struct output {
    FILE *file;
    const char *path;
    char *draft; /* where it is written until it is complete; NULL if in place */
};
bool output_open(struct output *output, const char *path, struct error *err);
/* Gives the file its name, or with `keep` false leaves nothing behind. False with an error if anything went wrong. */
bool output_close(struct output *output, bool keep, struct error *err);

/* The two in one: calls `write` with the open file. False with an error if anything went wrong; then nothing is left behind and an
 * older file of the name is as it was. */
bool output_write(const char *path, void (*write)(FILE *out, const void *what), const void *what, struct error *err);

/* A file in memory, whose content is `*text` once it is closed; the caller frees it. NULL with an error if there is no
 * memory for it. */
FILE *text_open(char **text, size_t *length, struct error *err);
/* False with an error, and then *text is NULL, if any of what was written is missing. */
bool text_close(FILE *file, char **text, struct error *err);

#endif
