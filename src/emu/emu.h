/* The emulator: executes kernels exactly and says of every warp instruction what timing needs to know. It knows nothing
 * of time: the order in which warps take turns is a function of program and launch only (grid.c), so every design
 * simulates the same instructions.
 *
 * Enters: a program (ptx/program.h), a launch, the device's memory. Leaves: changed memory, printed text, and for each
 * warp a stream of records into a trace (stream/trace.h), if one is given. */
#ifndef SLUICE_EMU_EMU_H
#define SLUICE_EMU_EMU_H

#include <stdatomic.h>

#include "emu/memory.h"
#include "ptx/program.h"

struct trace;

struct device {
    struct memory memory;
    /* Device-side printf; NULL: the text is dropped. */
    void (*print)(void *user, const char *text, size_t bytes);
    void *print_user;
    uint64_t heap_bytes, heap_used; /* device-side malloc: limit and use */
    uint64_t launches;              /* so far: %gridid */
    const atomic_bool *stop;        /* not NULL: once true, emu_run fails soon, between two quanta */
};

void device_init(struct device *device);
void device_release(struct device *device);

/* A module on the device: its program, with the module's variables in device memory. NULL with a located error.
 * Owns the module from here on, also when it fails. */
struct loaded_module;
struct loaded_module *device_load(struct device *device, struct ptx_module *module, struct error *err);
void device_unload(struct device *device, struct loaded_module *loaded);
const struct program *loaded_program(const struct loaded_module *loaded);

struct launch {
    const struct loaded_module *module;
    const struct program_function *kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    const uint8_t *parameters; /* the parameter block, kernel->parameter_bytes long */
};

struct emu_counts {
    uint64_t warp_instructions, thread_instructions;
    /* Lines that the kernel loaded as read-only and also wrote: counted when there is a trace. */
    uint64_t read_only_violations;
    struct error violation; /* the first of them */
};

/* Runs the kernel to its end. False with an error that names kernel, line of PTX, block, thread and address when the
 * program does what it must not: an access outside of any allocation or misaligned, a trap, a failed assertion, a
 * barrier that can never be passed; or when the launch does not fit the kernel. */
bool emu_run(struct device *device, const struct launch *launch, struct trace *trace, struct emu_counts *counts,
             struct error *err);

#endif
