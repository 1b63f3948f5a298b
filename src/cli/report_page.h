/* The page of what experiments came to, for `sluice report` and for commands that end with it. */
#ifndef SLUICE_CLI_REPORT_PAGE_H
#define SLUICE_CLI_REPORT_PAGE_H

#include "cli/command.h"

struct report_request {
    const char *const *experiments; /* names, sets or files; none: those that were run into the store */
    unsigned count;
    const char *store;
    const char *size;   /* of every workload instead of its own, or NULL */
    const char *output; /* the page; plots go into a folder beside it */
    const char *title;  /* NULL: the paper's, or a general one */
};

/* Makes the page and the plots and says in one line what they hold. */
enum status report_make(const struct report_request *request);

#endif
