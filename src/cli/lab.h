/* Runs of experiments into a store, for `sluice lab run` and for commands that begin with it. */
#ifndef SLUICE_CLI_LAB_H
#define SLUICE_CLI_LAB_H

#include "cli/command.h"

#define DEFAULT_STORE "results.sqlite"

struct lab_request {
    const char *const *experiments; /* names or files */
    unsigned count;
    const char *store;  /* NULL: DEFAULT_STORE */
    const char *size;   /* of every workload instead of its own, or NULL */
    uint64_t processes; /* 0: one for each processor */
};

/* Makes the runs that the store does not have; says in one line how many, and what failed and why. */
enum status lab_make(const struct lab_request *request);

#endif
