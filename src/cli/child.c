#include "cli/child.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "cuda/protocol.h"

enum { POLL_MS = 10, GRACE_MS = 500 };

static void pause_ms(unsigned ms) { usleep(ms * 1000); }

/* Puts a word before the value of a list variable. */
static void prepend(const char *variable, const char *word) {
    const char *old = getenv(variable);
    char *list = old && old[0] ? text_format("%s:%s", word, old) : mem_text(word);
    setenv(variable, list, 1);
    free(list);
}

/* In the child: becomes the program, or reports through `failed` why not. */
static _Noreturn void become(const char *path, char *const *argv, const char *library, const char *preload,
                             pid_t parent, int socket, int shared, int failed) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* it has ended meanwhile */
    char link[64];
    snprintf(link, sizeof link, "%d %d %d", CUDA_LINK_VERSION, socket, shared);
    setenv(CUDA_LINK_VARIABLE, link, 1);
    prepend("LD_LIBRARY_PATH", library);
    if (preload) prepend("LD_PRELOAD", preload);
    fcntl(socket, F_SETFD, 0);
    fcntl(shared, F_SETFD, 0);
    execv(path, argv);
    int number = errno;
    if (write(failed, &number, sizeof number) != sizeof number) _exit(126);
    _exit(127);
}

bool child_start(struct child *child, const char *path, char *const *argv, const char *library, const char *preload,
                 struct error *err) {
    int pair[2] = {-1, -1}, failed[2] = {-1, -1}, number = 0;
    *child = (struct child){.socket = -1, .shared = memfd_create("sluice-shared", MFD_CLOEXEC)};
    bool good = child->shared >= 0 && ftruncate(child->shared, (off_t)(SHARED_BYTES + LINK_STATE_BYTES)) == 0 &&
                socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0 && pipe2(failed, O_CLOEXEC) == 0;
    pid_t parent = getpid();
    if (good) {
        prctl(PR_SET_CHILD_SUBREAPER, 1); /* processes that the program leaves become ours */
        child->pid = fork();
        if (child->pid == 0) become(path, argv, library, preload, parent, pair[1], child->shared, failed[1]);
        good = child->pid > 0;
    }
    if (!good) number = errno;
    if (pair[1] >= 0) close(pair[1]);
    if (failed[1] >= 0) close(failed[1]);
    child->socket = pair[0];
    if (good && read(failed[0], &number, sizeof number) == sizeof number) {
        waitpid(child->pid, NULL, 0);
        good = false;
    }
    if (failed[0] >= 0) close(failed[0]);
    if (good) return true;
    child_close(child);
    return error_set(err, "cannot start %s: %s", path, strerror(number));
}

bool child_closed_link(const struct child *child) {
    struct link_state state;
    return pread(child->shared, &state, sizeof state, (off_t)SHARED_BYTES) == sizeof state && state.closed;
}

void child_wait(struct child *child, bool (*hurry)(void)) {
    unsigned waited_ms = 0;
    bool asked = false;
    while (child->pid) {
        pid_t ended = waitpid(child->pid, &child->status, WNOHANG);
        if (ended == child->pid || (ended < 0 && errno != EINTR)) {
            child->pid = 0;
            return;
        }
        if (!asked && hurry()) {
            kill(child->pid, SIGTERM);
            asked = true;
        }
        if (asked && waited_ms >= GRACE_MS) kill(child->pid, SIGKILL);
        pause_ms(POLL_MS);
        if (asked) waited_ms += POLL_MS;
    }
}

/* The parent of a process, from "pid (name) state ppid ..."; the name may contain anything. */
static pid_t parent_of(const char *pid) {
    char path[300], text[512];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *end = strrchr(text, ')');
    int parent = 0;
    char state = 0;
    return end && sscanf(end + 1, " %c %d", &state, &parent) == 2 && state != 'Z' ? parent : 0;
}

/* Sends a signal to all living children; returns their number. */
static unsigned signal_children(int number) {
    DIR *folder = opendir("/proc");
    unsigned count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!isdigit((unsigned char)entry->d_name[0]) || parent_of(entry->d_name) != getpid()) continue;
        count++;
        kill((pid_t)strtol(entry->d_name, NULL, 10), number);
    }
    if (folder) closedir(folder);
    return count;
}

static void reap(void) {
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
}

unsigned child_end_others(void) {
    reap();
    unsigned count = signal_children(SIGTERM);
    for (unsigned waited_ms = 0; count && waited_ms < GRACE_MS; waited_ms += POLL_MS) {
        pause_ms(POLL_MS);
        reap();
        if (signal_children(0) == 0) return count;
    }
    while (count && signal_children(SIGKILL) > 0) { /* each may leave others */
        pause_ms(POLL_MS);
        reap();
    }
    return count;
}

void child_close(struct child *child) {
    if (child->socket >= 0) close(child->socket);
    if (child->shared >= 0) close(child->shared);
    child->socket = child->shared = -1;
}
