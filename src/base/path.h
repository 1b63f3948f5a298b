/* Paths of files. */
#ifndef SLUICE_BASE_PATH_H
#define SLUICE_BASE_PATH_H

/* The absolute path without links, which the caller frees; NULL if there is no such file. */
char *path_real(const char *path);

#endif
