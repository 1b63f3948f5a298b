/* The device side of a CUDA program: a host program (host/source.h) that executes the requests of another process
 * (protocol.h) until it closes the connection. Requests are executed in order, and each launch to its end, so all
 * streams of a program are ordered by the time of their calls.
 *
 * Time is simulated: the time of an event is the end of the last launch before it. Copies and fills take no time. */
#ifndef SLUICE_CUDA_SERVER_H
#define SLUICE_CUDA_SERVER_H

#include <pthread.h>

#include "config/config.h"
#include "cuda/protocol.h"
#include "host/source.h"

struct cuda_server;

/* A launch that has been executed. */
struct cuda_launch {
    char name[64];
    struct dim grid, block;
    bool timed;
    uint64_t warp_instructions, thread_instructions;
};

struct cuda_options {
    const char *name;            /* of the program, for messages */
    const struct config *config; /* the GPU, for its properties and for occupancy */
    const char *gpu;             /* its name */
    int socket, shared;          /* the server's end of the connection, and the shared file */
    bool functional;             /* launches are executed only: the source has no kernels */
    bool simulated;              /* cuda_server_kernel_ended is called for timed launches. Otherwise events get the time
                                    that the instructions would take at one warp instruction per SM and cycle. */
    uint64_t first, last;        /* launches to be timed, counted from 1; 0 and 0: all */
};

/* Copies the options, not what they point to. The socket and the file stay the caller's. */
struct cuda_server *cuda_server_create(const struct cuda_options *options);
/* The source that runs the program; owned by the server. */
struct stream_source *cuda_server_source(struct cuda_server *server);
void cuda_server_destroy(struct cuda_server *server);

/* For run_options.kernel_ended: a timed launch has ended in this cycle. */
void cuda_server_kernel_ended(struct cuda_server *server, uint64_t cycle);
/* No further launch will be timed: requests for its time fail from now on. */
void cuda_server_stop_timing(struct cuda_server *server);

/* After the source's last kernel. */
uint64_t cuda_server_launches(const struct cuda_server *server, const struct cuda_launch **launches);
/* Whether a launch has begun, also one that was stopped. */
bool cuda_server_launched(struct cuda_server *server);
/* Text that kernels printed and that the program has not received, because it ended before; NULL if there is none. */
const char *cuda_server_unprinted(const struct cuda_server *server, size_t *bytes);

#endif
