/* Buffered messages over a stream socket, for both sides of the protocol. Errors are sticky: after the first one, nothing
 * is sent, and zeros are received. */
#ifndef SLUICE_CUDA_WIRE_H
#define SLUICE_CUDA_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_BUFFER_BYTES = 1 << 16 };

struct wire {
    int socket;
    bool broken; /* the other side has gone, or `patience` has ended */
    /* If not NULL, called every 100 ms while waiting; false ends the connection. */
    bool (*patience)(void *user);
    void *user;
    size_t sending; /* bytes in `out` */
    uint8_t out[WIRE_BUFFER_BYTES];
};

void wire_open(struct wire *wire, int socket);
/* Sends at the latest with wire_flush. */
void wire_put(struct wire *wire, const void *bytes, size_t count);
void wire_flush(struct wire *wire);
/* False if the bytes cannot be received. */
bool wire_get(struct wire *wire, void *bytes, size_t count);
/* Receives bytes and drops them. */
void wire_skip(struct wire *wire, uint64_t count);

#endif
