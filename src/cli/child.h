/* The CUDA program that `sluice exec` runs: a child process with a connection to the simulated device. It ends with this
 * process, however that ends, and so do the processes that it has started. */
#ifndef SLUICE_CLI_CHILD_H
#define SLUICE_CLI_CHILD_H

#include <sys/types.h>

#include "base/error.h"

struct child {
    pid_t pid;          /* 0: not running */
    int socket, shared; /* this side of the connection; the file of shared memory (cuda/protocol.h) */
    int status;         /* of waitpid, once it has ended */
};

/* Starts the program with the runtime library in directory `library`. With `preload`, the library takes precedence over
 * the program's own search path. */
bool child_start(struct child *child, const char *path, char *const *argv, const char *library, const char *preload,
                 struct error *err);
/* Waits for its end. Once `hurry` returns true, asks it to end, and half a second later ends it. */
void child_wait(struct child *child, bool (*hurry)(void));
/* Whether it has closed the connection and called the runtime library afterwards. */
bool child_closed_link(const struct child *child);
/* Ends all processes that it has left; returns their number. */
unsigned child_end_others(void);
void child_close(struct child *child);

#endif
