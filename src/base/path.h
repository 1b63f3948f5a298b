/* Paths of files. */
#ifndef SLUICE_BASE_PATH_H
#define SLUICE_BASE_PATH_H

#include "base/error.h"

/* The absolute path without links, which the caller frees; NULL if there is no such file. */
char *path_real(const char *path);

/* Creates a directory and those above it, unless they exist. */
bool folder_make(const char *path, struct error *err);

/* The file of an executable program in the directories of PATH, as a shell finds it; NULL if there is none. The caller
 * frees it. */
char *path_of_program(const char *name);

#endif
