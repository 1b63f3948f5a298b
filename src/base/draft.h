/* Temporary files of this process. They are listed so that a process that has to end early, because memory is
 * exhausted, can remove them. Removing the file in any other case is the owner's task. */
#ifndef SLUICE_BASE_DRAFT_H
#define SLUICE_BASE_DRAFT_H

#include <sys/types.h>

/* Must not be moved while listed. */
struct draft {
    const char *path; /* a file or an empty directory, existing or not; NULL: not listed */
    pid_t owner;
    struct draft *next, **link;
};

/* Before the file is created; the caller keeps the path. */
void draft_list(struct draft *draft, const char *path);
/* Before the path is freed. Does nothing if the draft is not listed. */
void draft_unlist(struct draft *draft);

/* Removes all listed files that this process created, the last one first. Allocates no memory. */
void drafts_remove(void);

#endif
