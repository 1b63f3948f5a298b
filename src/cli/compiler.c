#include "cli/compiler.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/path.h"

extern char **environ;

char *compiler_nvcc(void) {
    const char *home = getenv("CUDA_HOME");
    char *path = home && home[0] ? text_format("%s/bin/nvcc", home) : NULL;
    if (path && access(path, X_OK) == 0) return path;
    free(path);
    return path_of_program("nvcc");
}

bool compiler_run(const char *const *words, struct error *err) {
    pid_t pid;
    int status = 0, number = posix_spawn(&pid, words[0], NULL, NULL, (char *const *)words, environ);
    if (number) return error_set(err, "cannot run %s: %s", words[0], strerror(number));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    return error_set(err, "%s has failed; its messages are above", words[0]);
}
