/* `sluice reproduce --verify`: reruns kept results and compares them. */
#ifndef SLUICE_CLI_VERIFY_H
#define SLUICE_CLI_VERIFY_H

#include "cli/command.h"

struct verify_request {
    const char *const *experiments; /* names, sets or files */
    unsigned count;
    const char *kept; /* directory of kept results; NULL: the bundled one */
    uint64_t rows;    /* to draw */
    uint64_t seed;
    uint64_t within;    /* seconds of earlier runs that the drawn rows may sum up to, the fastest rows first; 0: any */
    uint64_t processes; /* 0: one per processor */
};

/* Prints a line for each row, then the counts. STATUS_FAILED if a row differs or cannot be rerun. */
enum status verify(const struct verify_request *request);

#endif
