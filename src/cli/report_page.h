/* The HTML report of experiment results, for `sluice report` and `sluice reproduce`. */
#ifndef SLUICE_CLI_REPORT_PAGE_H
#define SLUICE_CLI_REPORT_PAGE_H

#include "cli/command.h"

struct report_request {
    const char *const *experiments; /* names, sets or files; none: all of the store */
    unsigned count;
    const char *store;
    const char *size;   /* replaces the size of every workload, or NULL */
    const char *output; /* the report; plots go to a directory next to it */
    const char *title;  /* NULL: the paper's, or a generic one */
    const char *kept;   /* directory of kept results instead of the store, or NULL */
    const char *json;   /* file of the figures as JSON instead of a report, or NULL */
};

/* Writes the report and the plots, and prints one line about them. */
enum status report_make(const struct report_request *request);

#endif
