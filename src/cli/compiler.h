/* Compilers that commands start. */
#ifndef SLUICE_CLI_COMPILER_H
#define SLUICE_CLI_COMPILER_H

#include "base/error.h"

/* nvcc of $CUDA_HOME/bin or the PATH, to be freed; NULL if it is not installed. */
char *compiler_nvcc(void);
/* Runs a command line that NULL ends, and waits for it. Its messages go to standard error. */
bool compiler_run(const char *const *words, struct error *err);

#endif
