/* The state of a server, and the operations on memory (server_memory.c), for the files of the server only. */
#ifndef SLUICE_CUDA_SERVER_STATE_H
#define SLUICE_CUDA_SERVER_STATE_H

#include "cuda/server.h"
#include "cuda/wire.h"

enum { CAPABILITY = 75 };                 /* what nvcc 13 compiles for at the least */
#define MEMORY_BYTES (UINT64_C(16) << 30) /* GPU descriptions have no capacity */
enum { NAME_BYTES = 4096, CONSTANT_BYTES = 64 << 10 };

/* A registered fat binary; loaded when it is first used, so that code that Sluice cannot execute and that is never
 * launched does no harm. */
struct fat_image {
    uint8_t *bytes;
    uint64_t size;
    unsigned module; /* 0: not loaded */
};

struct cuda_server {
    struct cuda_options options;
    struct stream_source *source;
    struct host *host;
    struct wire wire;
    struct fat_image *images;
    unsigned image_count;
    struct cuda_launch *launches;
    uint64_t launch_count, launch_room;
    uint64_t memory_used;
    char *text; /* printed by kernels, and not sent yet */
    size_t text_bytes;

    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    uint64_t *ended; /* cycle of the end of each timed launch */
    uint64_t ended_count;
    bool over;     /* no further launch ends */
    bool launched; /* a launch has begun */
};

/* Replies without and with a payload, of which only the head is sent. */
void reply_to(struct cuda_server *server, int error, uint64_t first, uint64_t second);
void reply_head(struct cuda_server *server, struct reply *reply);
/* The CUDA error of a failed program; 0 if it has not failed. */
int failure_number(const struct cuda_server *server);

/* Executes a request on textures and surfaces; false if it is none. */
bool serve_textures(struct cuda_server *server, const struct request *request);
/* Executes a request on memory; false if it is none. */
bool serve_memory(struct cuda_server *server, const struct request *request);

#endif
