/* A result file that appears under its name when it is complete, and never before: it is written beside its place and
 * renamed. "-" is standard output. */
#ifndef SLUICE_CLI_OUTPUT_H
#define SLUICE_CLI_OUTPUT_H

#include <stdio.h>

#include "base/error.h"

/* Whether a file could be written there, so that a long run does not end in a mistyped folder. Changes nothing. */
bool output_check(const char *path, struct error *err);

/* Calls `write` with the open file. False with an error if anything went wrong; then nothing is left behind and an
 * older file of the name is as it was. */
bool output_write(const char *path, void (*write)(FILE *out, const void *what), const void *what, struct error *err);

#endif
