#include "cuda/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 100 };

void wire_open(struct wire *wire, int socket) {
    wire->socket = socket;
    wire->broken = false;
    wire->sending = 0;
}

/* Waits until the socket is ready; false if the other side has gone or patience has ended. */
static bool wire_await(struct wire *wire, short events) {
    while (wire->patience) {
        struct pollfd ready = {.fd = wire->socket, .events = events};
        int count = poll(&ready, 1, PATIENCE_MS);
        if (count > 0) break;
        if (count < 0 && errno != EINTR) return false;
        if (!wire->patience(wire->user)) return false;
    }
    return true;
}

static void wire_send(struct wire *wire, const uint8_t *bytes, size_t count) {
    while (count > 0 && !wire->broken) {
        ssize_t sent = wire_await(wire, POLLOUT) ? send(wire->socket, bytes, count, MSG_NOSIGNAL) : -1;
        if (sent < 0 && errno == EINTR) continue;
        wire->broken = sent <= 0;
        if (wire->broken) return;
        bytes += sent;
        count -= (size_t)sent;
    }
}

void wire_flush(struct wire *wire) {
    wire_send(wire, wire->out, wire->sending);
    wire->sending = 0;
}

void wire_put(struct wire *wire, const void *bytes, size_t count) {
    if (count == 0) return;
    if (count > sizeof wire->out - wire->sending) wire_flush(wire);
    if (count > sizeof wire->out) {
        wire_send(wire, bytes, count);
        return;
    }
    memcpy(wire->out + wire->sending, bytes, count);
    wire->sending += count;
}

bool wire_get(struct wire *wire, void *bytes, size_t count) {
    uint8_t *to = bytes;
    while (count > 0 && !wire->broken) {
        ssize_t got = wire_await(wire, POLLIN) ? recv(wire->socket, to, count, 0) : -1;
        if (got < 0 && errno == EINTR) continue;
        wire->broken = got <= 0;
        if (wire->broken) break;
        to += got;
        count -= (size_t)got;
    }
    if (count > 0) memset(to, 0, count);
    return !wire->broken;
}

void wire_skip(struct wire *wire, uint64_t count) {
    uint8_t dropped[4096];
    while (count > 0 && !wire->broken) {
        size_t part = count < sizeof dropped ? (size_t)count : sizeof dropped;
        wire_get(wire, dropped, part);
        count -= part;
    }
}
