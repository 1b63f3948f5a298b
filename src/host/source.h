/* Programs as sources of streams. A program is a function that does what the host's part of a GPU program does: it
 * allocates memory of the device, fills it, launches kernels one after the other and reads results back. It runs on a
 * thread of its own; each launch is emulated whole, into a trace that the machine may read from its first record on.
 *
 * Emulation leads timing by at most one kernel: a launch begins once the machine has begun the one before. What the
 * machine reads does not depend on who is faster, and neither does which failure is told: one that the machine never
 * comes to, because it stops before, is none.
 *
 *     static void run(void *user, struct host *host) {
 *         host_module(host, "saxpy.ptx", text, strlen(text));
 *         uint64_t x = host_alloc(host, bytes), y = host_alloc(host, bytes);
 *         host_write(host, x, data, bytes);
 *         HOST_LAUNCH(host, "saxpy", dim3(128, 1, 1), dim3(256, 1, 1), 0, HOST_U64(x), HOST_U64(y), HOST_F32(2));
 *     }
 *
 * Errors are sticky: after the first one everything is without effect, so a program need look at none; loops that may be
 * long ask host_failed.
 */
#ifndef SLUICE_HOST_SOURCE_H
#define SLUICE_HOST_SOURCE_H

#include "base/error.h"
#include "stream/stream.h"

struct host; /* the program's hand on the device */

struct host_program {
    const char *name;
    void (*run)(void *user, struct host *host);
    /* Whether what the program computed is right; if not, says through host_fail what was found instead of what. NULL: it
     * does not verify. */
    bool (*check)(void *user, struct host *host);
    /* Once the source is destroyed. May be NULL. */
    void (*release)(void *user);
    void *user;
};

/* Copies `program`, but not what it points to. */
struct stream_source *program_source_create(const struct host_program *program);
/* What device-side printf prints; called on the program's thread. Before the first kernel. */
void program_source_print(struct stream_source *source, void (*print)(void *user, const char *text, size_t bytes),
                          void *user);
/* The program's hand, once next_kernel has said that there are no more: to read what it left in memory. */
struct host *program_source_host(struct stream_source *source);

/* --- what a program does --- */

struct dim {
    uint32_t x, y, z;
};
static inline struct dim dim3(uint32_t x, uint32_t y, uint32_t z) { return (struct dim){x, y, z}; }

/* A kernel's argument: a value, or bytes of any number. */
struct host_argument {
    uint32_t size_bytes;
    const void *bytes; /* NULL: the value */
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        int32_t s32;
        int64_t s64;
        float f32;
        double f64;
    };
};
#define HOST_U32(x)                ((struct host_argument){.size_bytes = 4, .u32 = (x)})
#define HOST_S32(x)                ((struct host_argument){.size_bytes = 4, .s32 = (x)})
#define HOST_U64(x)                ((struct host_argument){.size_bytes = 8, .u64 = (x)})
#define HOST_S64(x)                ((struct host_argument){.size_bytes = 8, .s64 = (x)})
#define HOST_F32(x)                ((struct host_argument){.size_bytes = 4, .f32 = (x)})
#define HOST_F64(x)                ((struct host_argument){.size_bytes = 8, .f64 = (x)})
#define HOST_BYTES(pointer, count) ((struct host_argument){.size_bytes = (count), .bytes = (pointer)})

struct host_launch {
    const char *kernel;
    struct dim grid, block;
    uint32_t dynamic_shared_bytes;
    uint32_t registers; /* per thread, for occupancy; 0: as many as the kernel needs */
    const struct host_argument *arguments;
    unsigned argument_count;
};

/* Loads PTX; its kernels may be launched from here on, those of later modules first. `name` is for messages. */
void host_module(struct host *host, const char *name, const char *text, size_t bytes);
/* Zeroed memory; its address. */
uint64_t host_alloc(struct host *host, uint64_t bytes);
void host_place(struct host *host, uint64_t address, uint64_t bytes);
void host_write(struct host *host, uint64_t to, const void *from, uint64_t bytes);
/* The host's view of device memory, to fill or read in place; NULL (and a failure) if it is not in one allocation. */
void *host_memory(struct host *host, uint64_t address, uint64_t bytes);
/* Address and size of a variable at module scope; 0 (and a failure) if there is none. */
uint64_t host_symbol(struct host *host, const char *name, uint64_t *bytes);
/* Emulates the kernel to its end. */
void host_launch(struct host *host, const struct host_launch *launch);
#define HOST_LAUNCH(host, name, grid_, block_, shared, ...) \
    host_launch(host, &(struct host_launch){.kernel = (name), \
                                            .grid = (grid_), \
                                            .block = (block_), \
                                            .dynamic_shared_bytes = (shared), \
                                            .arguments = (const struct host_argument[]){__VA_ARGS__}, \
                                            .argument_count = sizeof((const struct host_argument[]){__VA_ARGS__}) / \
                                                              sizeof(struct host_argument)})

/* Ends the program with an error of its own. Always false. */
bool host_fail(struct host *host, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool host_failed(const struct host *host);

#endif
