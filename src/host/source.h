/* Host module: programs as sources of streams. A program is a function that does the host part of a GPU program: it
 * allocates and fills device memory, launches kernels in order and reads results back. It runs on its own thread; each
 * launch is emulated completely, into a trace that the machine can read from the first record on.
 *
 * Emulation is at most one kernel ahead of timing: a launch starts once the machine has started the previous one. The
 * records read and the failure reported do not depend on the relative speed of the threads: a failure that the machine
 * never reaches, because it stops before, is not reported.
 *     static void run(void *user, struct host *host) {
 *         host_module(host, "saxpy.ptx", text, strlen(text));
 *         uint64_t x = host_alloc(host, bytes), y = host_alloc(host, bytes);
 *         host_write(host, x, data, bytes);
 *         HOST_LAUNCH(host, "saxpy", dim3(128, 1, 1), dim3(256, 1, 1), 0, HOST_U64(x), HOST_U64(y), HOST_F32(2));
 *     }
 *
 * Errors are sticky: after the first one all operations have no effect, so a program need not check each; long loops
 * check host_failed.
 */
#ifndef SLUICE_HOST_SOURCE_H
#define SLUICE_HOST_SOURCE_H

#include "base/error.h"
#include "stream/stream.h"

struct host; /* the program's handle to the device */
struct device;
struct emu_counts;
struct program;

struct host_program {
    const char *name;
    void (*run)(void *user, struct host *host);
    /* Checks the results; on a mismatch reports expected and actual value through host_fail. NULL: no check. */
    bool (*check)(void *user, struct host *host);
    /* Called when the source is destroyed. May be NULL. */
    void (*release)(void *user);
    void *user;
};

/* Copies `program`, but not what it points to. */
struct stream_source *program_source_create(const struct host_program *program);
/* Receives the output of device-side printf; called on the program's thread. Set it before the first kernel. */
void program_source_print(struct stream_source *source, void (*print)(void *user, const char *text, size_t bytes),
                          void *user);
/* Records or restores the first launches (checkpoint.h), which are not passed on. Set it before the first kernel. Takes
 * ownership; false, without it, if the source is not a program. */
struct checkpoint;
bool program_source_checkpoint(struct stream_source *source, struct checkpoint *checkpoint);
/* Ends the program after so many thread instructions, in the order of emulation; streams end there, and the results are not
 * checked. 0: no limit. Set it before the first kernel; false if the source is not a program. */
bool program_source_budget(struct stream_source *source, uint64_t thread_instructions);
/* The program's handle, after next_kernel has returned false: to read the final contents of memory. */
struct host *program_source_host(struct stream_source *source);

/* --- host operations --- */

struct dim {
    uint32_t x, y, z;
};
static inline struct dim dim3(uint32_t x, uint32_t y, uint32_t z) { return (struct dim){x, y, z}; }

/* A kernel argument: a value, or any number of bytes. */
struct host_argument {
    uint32_t size_bytes;
    const void *bytes; /* NULL: use the value */
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
    struct dim cluster; /* CTAs; {0}: as the kernel requires, or none */
    uint32_t dynamic_shared_bytes;
    uint32_t registers; /* per thread, for occupancy; 0: as computed for the kernel */
    bool cooperative;   /* all CTAs must be resident at once, and can synchronise */
    const struct host_argument *arguments;
    unsigned argument_count;
    unsigned module;           /* number of the kernel's module; 0: the last one with a kernel of this name */
    bool untimed;              /* only executed: the machine does not see it */
    struct emu_counts *counts; /* if not NULL, receives what the launch executed */
};

/* Loads PTX; its kernels can be launched from here on and shadow those of earlier modules. `name` is for messages.
 * Returns the module's number, from 1; 0 on failure. */
unsigned host_module(struct host *host, const char *name, const char *text, size_t bytes);
/* The same with its variables in shared memory; `place` may be NULL. */
struct image_place;
unsigned host_module_at(struct host *host, const char *name, const char *text, size_t bytes,
                        const struct image_place *place);
/* Allocates zeroed memory; returns its address. */
uint64_t host_alloc(struct host *host, uint64_t bytes);
void host_place(struct host *host, uint64_t address, uint64_t bytes);
void host_write(struct host *host, uint64_t to, const void *from, uint64_t bytes);
/* Direct access to device memory, for filling or reading; NULL (and a failure) unless one allocation contains it. */
void *host_memory(struct host *host, uint64_t address, uint64_t bytes);
/* Address and size of a module-scope variable; 0 (and a failure) if there is none. */
uint64_t host_symbol(struct host *host, const char *name, uint64_t *bytes);
/* Texture and surface objects (emu/texture.h); return their handle, or 0 (and a failure). */
struct image;
struct sampler;
uint64_t host_texture(struct host *host, const struct image *image, const struct sampler *sampler);
uint64_t host_surface(struct host *host, const struct image *image);
/* Binds a handle to a .texref or .surfref variable. */
void host_bind(struct host *host, const char *name, uint64_t handle);
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

/* For programs that need more than the operations above: the device, and the program of a loaded module. */
struct device *host_device(struct host *host);
const struct program *host_program_of(const struct host *host, unsigned module);

/* Ends the program with the given error. Always returns false. */
bool host_fail(struct host *host, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool host_failed(const struct host *host);
/* Why; NULL if the program has not failed by itself. */
const char *host_failure(const struct host *host);

#endif
