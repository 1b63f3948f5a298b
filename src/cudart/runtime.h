/* Sluice's CUDA runtime library: what a CUDA program links as libcudart.so. It has no device. Every call becomes a
 * request to the process that has it, `sluice exec` (cuda/protocol.h), so that a program that crashes, forks or is
 * interrupted leaves the simulation in a defined state.
 *
 * The library has global state, since its interface has: one device per process, and one last error per thread. */
#ifndef SLUICE_CUDART_RUNTIME_H
#define SLUICE_CUDART_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/protocol.h"
#include "cuda/wire.h"
#include "cudart/types.h"

#define GROUP(...)
#define API(name, parameters)     cudaError_t name parameters;
#define NOTHING(name, parameters) cudaError_t name parameters;
#define ALIAS(name, function)
#define INNER(name)
#define MISSING(name)
#include "cudart/api.def"
#undef MISSING
#undef INNER
#undef ALIAS
#undef NOTHING
#undef API
#undef GROUP

/* --- errors (errors.c) --- */

/* Keeps the error for cudaGetLastError; returns it. */
cudaError_t answer(cudaError_t error);
/* Names a function that is not implemented, once. */
cudaError_t missing(const char *name);
/* "sluice: " and the message on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- the connection (link.c) --- */

/* Sends a request with its payload and receives the reply; up to `room` bytes of its payload go to `out`. Prints what
 * kernels have printed. The error is the reply's, or that of the connection. `reply` may be NULL. */
cudaError_t ask(const struct request *request, const void *payload, struct reply *reply, void *out, size_t room);
/* The same for requests whose payload, or that of the reply, is not in one piece: begin, wire_put the payload, reply_begin,
 * wire_get the reply's payload, end. NULL with the error if there is no connection. */
struct wire *request_begin(const struct request *request, cudaError_t *error);
cudaError_t reply_begin(struct wire *wire, struct reply *reply);
void request_end(void);
/* Whether there is a connection; calls of the program without one are reported, those of the library's own are not made. */
bool connected(void);
/* The file of shared memory; -1 without a connection. */
int shared_file(void);

#define REQUEST(kind_, ...) (&(struct request){.kind = (kind_), .value = {__VA_ARGS__}})

/* Waits for the launches so far. */
cudaError_t device_wait(void);
/* The device; NULL with the error if there is no connection. */
const struct device_facts *device_get(cudaError_t *error);

/* --- kernels and variables (registry.c) --- */

struct function {
    const void *key; /* the host function */
    uint64_t module; /* 0: its fat binary could not be registered */
    const char *name;
    bool known; /* the facts below have been received */
    struct function_facts facts;
    struct parameter_facts *parameters;
    uint64_t shared_limit; /* dynamic shared memory; 0: default */
    struct function *next;
};

/* The kernel of a host function or handle, with its facts; NULL with the error. */
struct function *function_find(const void *key, cudaError_t *error);
/* Address and size of the variable of a host symbol. */
cudaError_t variable_find(const void *key, uint64_t *address, uint64_t *bytes);

/* Launches so far, for events. */
uint64_t launch_count(void);

/* --- memory (memory.c) --- */

enum { SHARED_BLOCK_BYTES = 48 << 10 }; /* shared memory of a CTA without cudaFuncSetAttribute */

/* Memory that the program and the device share. */
struct shared {
    uint64_t address, bytes;
    enum { SHARED_PINNED, SHARED_MANAGED, SHARED_REGISTERED } kind;
    unsigned flags;
};
/* Loads a module whose variables the program and the device share. */
cudaError_t shared_image(uint64_t module);
/* False if the address is not in shared memory. */
bool shared_find(const void *pointer, struct shared *found);

#endif
