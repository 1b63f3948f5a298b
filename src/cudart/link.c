/* The connection to `sluice exec`. One request at a time: a lock orders those of several threads.
 *
 * A child of the program that calls fork has no connection, since both would write to one socket. The environment variable
 * is removed, and the files are closed on exec, so that programs that this one starts have none, either.
 *
 * A program may close all descriptors that it does not know, and then open files under their numbers. Therefore the library
 * looks before each request whether the socket is still the same one. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cudart/runtime.h"

static struct {
    pthread_mutex_t lock;
    enum { LINK_NONE, LINK_OPEN, LINK_OTHER_VERSION, LINK_FORKED, LINK_CLOSED } state;
    bool told; /* why there is no connection */
    int shared;
    ino_t socket_number;
    volatile struct link_state *seen; /* by `sluice exec`, also without the connection; NULL if it cannot be mapped */
    struct wire wire;
} connection = {.lock = PTHREAD_MUTEX_INITIALIZER, .shared = -1};

static void before_fork(void) { pthread_mutex_lock(&connection.lock); }
static void after_fork(void) { pthread_mutex_unlock(&connection.lock); }
static void in_child(void) {
    if (connection.state == LINK_OPEN) {
        close(connection.wire.socket);
        close(connection.shared);
        connection.state = LINK_FORKED;
        connection.shared = -1;
    }
    pthread_mutex_unlock(&connection.lock);
}

__attribute__((constructor)) static void connect_once(void) {
    const char *text = getenv(CUDA_LINK_VARIABLE);
    int version = 0, socket = -1, shared = -1;
    if (!text || sscanf(text, "%d %d %d", &version, &socket, &shared) != 3) return;
    unsetenv(CUDA_LINK_VARIABLE);
    connection.state = version == CUDA_LINK_VERSION ? LINK_OPEN : LINK_OTHER_VERSION;
    if (connection.state != LINK_OPEN) return;
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    fcntl(shared, F_SETFD, FD_CLOEXEC);
    connection.shared = shared;
    struct stat status;
    connection.socket_number = fstat(socket, &status) == 0 ? status.st_ino : 0;
    void *page = mmap(NULL, LINK_STATE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, shared, (off_t)SHARED_BYTES);
    connection.seen = page == MAP_FAILED ? NULL : page;
    wire_open(&connection.wire, socket);
    pthread_atfork(before_fork, after_fork, in_child);
}

static void tell_why(void) {
    if (connection.told) return;
    connection.told = true;
    if (connection.state == LINK_FORKED)
        complain("this process was forked from a CUDA program and has no device");
    else if (connection.state == LINK_OTHER_VERSION)
        complain("this runtime library and `sluice exec` are of different versions");
    else if (connection.state == LINK_CLOSED)
        complain(
            "the program has closed the connection to the simulator, descriptor %d; its CUDA calls fail from now on",
            connection.wire.socket);
    else if (connection.state == LINK_OPEN)
        complain("the simulator has ended");
    else
        complain("this runtime library works under the simulator only: sluice exec -- PROGRAM");
}

static bool still_connected(void) {
    struct stat status;
    return connection.state == LINK_OPEN && fstat(connection.wire.socket, &status) == 0 && S_ISSOCK(status.st_mode) &&
           status.st_ino == connection.socket_number;
}

bool connected(void) {
    pthread_mutex_lock(&connection.lock);
    bool is = still_connected();
    pthread_mutex_unlock(&connection.lock);
    return is;
}

struct wire *request_begin(const struct request *request, cudaError_t *error) {
    pthread_mutex_lock(&connection.lock);
    if (connection.state == LINK_OPEN && !still_connected()) {
        connection.state = LINK_CLOSED;
        if (connection.seen) connection.seen->closed = 1;
    }
    if (connection.state != LINK_OPEN) {
        tell_why();
        *error = cudaErrorInitializationError;
        pthread_mutex_unlock(&connection.lock);
        return NULL;
    }
    wire_put(&connection.wire, request, sizeof *request);
    return &connection.wire;
}

/* Prints what kernels have printed, in the order in which the program's own output would appear. */
static void print_text(struct wire *wire, uint64_t bytes) {
    char part[4096];
    for (; bytes > 0 && !wire->broken; bytes -= bytes < sizeof part ? bytes : sizeof part) {
        size_t count = bytes < sizeof part ? (size_t)bytes : sizeof part;
        if (wire_get(wire, part, count)) fwrite(part, 1, count, stdout);
    }
}

cudaError_t reply_begin(struct wire *wire, struct reply *reply) {
    wire_flush(wire);
    if (!wire_get(wire, reply, sizeof *reply)) {
        tell_why();
        *reply = (struct reply){0};
        return cudaErrorUnknown;
    }
    print_text(wire, reply->text_bytes);
    return (cudaError_t)reply->error;
}

void request_end(void) { pthread_mutex_unlock(&connection.lock); }

cudaError_t ask(const struct request *request, const void *payload, struct reply *reply, void *out, size_t room) {
    struct reply unused;
    cudaError_t error;
    struct wire *wire = request_begin(request, &error);
    if (!wire) return error;
    if (!reply) reply = &unused;
    wire_put(wire, payload, request->bytes);
    error = reply_begin(wire, reply);
    size_t kept = reply->bytes < room ? (size_t)reply->bytes : room;
    wire_get(wire, out, kept);
    wire_skip(wire, reply->bytes - kept);
    request_end();
    return error;
}

int shared_file(void) { return connection.shared; }

cudaError_t device_wait(void) { return ask(REQUEST(REQUEST_WAIT), NULL, NULL, NULL, 0); }

const struct device_facts *device_get(cudaError_t *error) {
    static struct device_facts facts;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    *error = cudaSuccess;
    if (!facts.sms) *error = ask(REQUEST(REQUEST_DEVICE), NULL, NULL, &facts, sizeof facts);
    pthread_mutex_unlock(&lock);
    return *error == cudaSuccess ? &facts : NULL;
}
