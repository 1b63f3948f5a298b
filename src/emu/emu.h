/* Emulator module: executes kernels and records for every warp instruction what timing needs. It has no notion of time:
 * the order in which warps execute depends on program and launch only (grid.c), so every design simulates the same
 * instructions.
 *
 * Enters: a program (ptx/program.h), a launch, the device's memory. Leaves: updated memory, printed text, and for each
 * warp a stream of records in a trace (stream/trace.h), if one is given. */
#ifndef SLUICE_EMU_EMU_H
#define SLUICE_EMU_EMU_H

#include <stdatomic.h>

#include "emu/memory.h"
#include "emu/texture.h"
#include "ptx/program.h"

struct trace;

struct device {
    struct memory memory;
    struct textures textures;
    /* Device-side printf; NULL: the text is discarded. */
    void (*print)(void *user, const char *text, size_t bytes);
    void *print_user;
    uint64_t heap_bytes, heap_used; /* device-side malloc: limit and bytes allocated */
    uint64_t launches;              /* so far: %gridid */
    const atomic_bool *stop;        /* if not NULL and true, emu_run fails at the end of the quantum */
    uint64_t limit;    /* if not 0, emu_run ends the streams of a kernel without a finished CTA while each of its warps
                       executes more instructions than this */
    uint64_t budget;   /* if not 0, emu_run ends the streams of the kernel after this many thread instructions */
    uint64_t patience; /* if not 0, emu_run fails if no CTA ends for this many warp instructions, and 65,536 of each
                          warp */
    uint64_t livelock_instructions; /* warp instructions without progress of any thread after which loops that read the
                                       same words are taken for a livelock; device_init sets it */
};

void device_init(struct device *device);
void device_release(struct device *device);

/* Loads a module: builds its program and places its variables in device memory. NULL with a located error. A module loads
 * even if some of its kernels cannot be executed (program_executable). Takes ownership of the module, also on failure. */
struct loaded_module;
struct loaded_module *device_load(struct device *device, struct ptx_module *module, struct error *err);
/* The same with its variables at an address, in a file that other processes may share (memory_share). */
struct image_place {
    uint64_t address;
    int file;
    uint64_t offset;
};
struct loaded_module *device_load_at(struct device *device, struct ptx_module *module, const struct image_place *place,
                                     struct error *err);
void device_unload(struct device *device, struct loaded_module *loaded);
const struct program *loaded_program(const struct loaded_module *loaded);

struct launch {
    const struct loaded_module *module;
    const struct program_function *kernel;
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* CTAs; {0}: as the kernel requires, or none */
    uint32_t dynamic_shared_bytes;
    const uint8_t *parameters; /* the parameter block, kernel->parameter_bytes long */
    uint64_t
        workspace; /* cooperative launches: memory for barriers of the grid, its address in %envreg1 (high) and 2 */
};

struct emu_counts {
    uint64_t warp_instructions, thread_instructions;
    /* Lines that the kernel loaded as read-only and also wrote; counted only with a trace. */
    uint64_t read_only_violations;
    struct error violation; /* describes the first one */
    bool cut;               /* ended by device.limit or device.budget */
};

/* The number of CTAs in a cluster of the launch; 0 with an error if it does not fit the kernel. */
uint32_t emu_cluster(const struct launch *launch, struct error *err);

/* Runs the kernel to its end. False if the kernel cannot be executed, the launch does not fit it, or the program faults: an access outside any
 * allocation or misaligned, a trap, a failed assertion, a barrier deadlock. The error gives kernel, line of PTX, block,
 * thread and address. */
bool emu_run(struct device *device, const struct launch *launch, struct trace *trace, struct emu_counts *counts,
             struct error *err);

#endif
