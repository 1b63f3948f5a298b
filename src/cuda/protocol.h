/* The protocol between a CUDA program, in which Sluice's runtime library runs (src/cudart), and the process that holds
 * the device (server.h). They are connected by a stream socket. The program sends one request at a time, a `struct
 * request` and a payload, and waits for its reply: a `struct reply`, text that kernels have printed, and a payload.
 *
 * Pinned and managed memory is shared: a file of SHARED_BYTES that both processes have open. Its byte 0 is at
 * SHARED_ADDRESS in the program and on the device, so that a pointer is valid in both. The address is fixed so that
 * results do not depend on where the system maps memory; it is below all mappings of ordinary programs and within the
 * application memory of the address sanitizer. A page behind it holds a `struct link_state`, which the program can write also
 * without the connection. */
#ifndef SLUICE_CUDA_PROTOCOL_H
#define SLUICE_CUDA_PROTOCOL_H

#include <stdint.h>

/* The environment variable with version, socket and shared file: "2 5 6". A library of another version does not
 * connect. */
#define CUDA_LINK_VARIABLE "SLUICE_EXEC"
enum { CUDA_LINK_VERSION = 4 };

#define SHARED_ADDRESS UINT64_C(0x200000000000)
#define SHARED_BYTES   (UINT64_C(1) << 38)

enum { LINK_STATE_BYTES = 4096 }; /* of the file, behind the shared memory */
struct link_state {
    uint32_t closed; /* not 0: the program called the library after it had closed the connection */
};

enum request_kind {
    REQUEST_DEVICE,    /* -> payload: struct device_facts */
    REQUEST_MODULE,    /* payload: the containers of a fat binary -> number of the module, from 1 */
    REQUEST_MANAGED,   /* module, offset in the shared file: loads it with its variables there -> their bytes */
    REQUEST_FUNCTION,  /* module; payload: name -> payload: struct function_facts and its parameters */
    REQUEST_VARIABLE,  /* module; payload: name -> address, bytes */
    REQUEST_LAUNCH,    /* LAUNCH_*; payload: name, zero-terminated, and the arguments one after another */
    REQUEST_OCCUPANCY, /* LAUNCH_MODULE, LAUNCH_BLOCK, LAUNCH_SHARED; payload: name -> CTAs per SM */
    REQUEST_ALLOCATE,  /* bytes -> address */
    REQUEST_SHARE,     /* offset and bytes in the shared file */
    REQUEST_FREE,      /* address -> bytes */
    REQUEST_FIND,      /* address -> start and bytes of its allocation; error if there is none */
    REQUEST_WRITE,     /* box; payload: its rows */
    REQUEST_READ,      /* box -> payload: its rows */
    REQUEST_COPY,      /* box, and the box of the source */
    REQUEST_FILL,      /* box, byte */
    REQUEST_WAIT,      /* returns once all launches have been executed */
    REQUEST_TIME,      /* number of launches -> simulated nanoseconds at the end of the last of them */
    REQUEST_LIMIT,     /* bytes of the device's heap, 0: only ask -> its bytes */
    REQUEST_MEMORY,    /* -> bytes in use */
    REQUEST_TEXTURE,   /* payload: struct texture_facts -> handle of a texture or surface object */
    REQUEST_UNTEXTURE, /* handle */
    REQUEST_KINDS,
};

/* Values of requests: a box of bytes is `depth` slices of `height` rows of `width` bytes. */
enum { BOX_WIDTH, BOX_HEIGHT, BOX_DEPTH, BOX_ADDRESS, BOX_PITCH, BOX_SLICE, BOX_FROM, BOX_FROM_PITCH, BOX_FROM_SLICE };
enum { BOX_FILL = BOX_FROM };
enum {
    LAUNCH_MODULE,
    LAUNCH_GRID,
    LAUNCH_BLOCK = LAUNCH_GRID + 3,
    LAUNCH_SHARED = LAUNCH_BLOCK + 3,
    LAUNCH_COOPERATIVE, /* not 0: the CTAs may wait for each other */
    LAUNCH_CLUSTER,     /* CTAs of a cluster; {0}: as the kernel requires */
    REQUEST_VALUES = LAUNCH_CLUSTER + 3,
};

struct request {
    uint32_t kind; /* enum request_kind */
    uint32_t spare;
    uint64_t value[REQUEST_VALUES];
    uint64_t bytes; /* of the payload */
};

struct reply {
    int32_t error; /* cudaError_t, 0 = success */
    uint32_t spare;
    uint64_t value[2];
    uint64_t text_bytes; /* printed by kernels since the last reply; precedes the payload */
    uint64_t bytes;      /* of the payload */
};

/* The device, from its GPU description. */
struct device_facts {
    char name[256];
    uint64_t memory_bytes, shared_bytes_per_sm, l2_bytes, constant_bytes;
    uint32_t sms, threads_per_sm, ctas_per_sm, registers_per_sm, warp_threads;
    uint32_t core_khz, memory_khz, memory_bus_bits, capability; /* 75 */
};

struct function_facts {
    uint64_t shared_bytes, local_bytes, constant_bytes;
    uint32_t registers, max_threads, ptx_architecture /* 75 */, parameters;
};

struct parameter_facts {
    uint32_t offset, bytes;
};

/* An image and how it is read; the values are those of the runtime API. */
struct texture_facts {
    uint64_t address, pitch, slice;
    uint32_t width, height, depth, layers, dimensions; /* emu/texture.h */
    uint32_t bits, kind, channels;                     /* of a channel; enum cudaChannelFormatKind */
    uint32_t tiled, surface;
    uint32_t filter, address_mode[3], normalized_coordinates, normalized_values;
    float border[4];
};

/* The numbers of cudaError_t that a server sends. */
enum {
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_INVALID_CONFIGURATION = 9,
    CUDA_INVALID_SYMBOL = 13,
    CUDA_INVALID_FUNCTION = 98,
    CUDA_INVALID_IMAGE = 200,
    CUDA_NO_IMAGE = 209,
    CUDA_INVALID_PTX = 218,
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_TOO_MANY_RESOURCES = 701,
    CUDA_TIMEOUT = 702,
    CUDA_ASSERT = 710,
    CUDA_MISALIGNED = 716,
    CUDA_LAUNCH_FAILURE = 719,
    CUDA_NOT_SUPPORTED = 801,
    CUDA_INVALID_CLUSTER = 912,
    CUDA_UNKNOWN = 999,
};

#endif
