/* Functions of CUDA's device library, called like ordinary functions: vprintf, malloc, free, __assertfail. Lanes
 * execute in ascending order, so the order of printed text is deterministic.
 *
 * malloc allocates device memory, so accesses outside the block are detected; its limit is the device's heap. free of
 * any other address is a fault. vprintf returns the number of arguments used, as CUDA's does. */
#include "emu/cta.h"
#include "emu/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The values of a call in the frame: parameter `i` and the return value. */
struct builtin_call {
    struct warp_state *w;
    const struct op *op;
    const struct frame *frame;
    const struct op_argument *arguments;
    uint32_t argument_count, return_count;
};

static uint64_t parameter(const struct builtin_call *call, unsigned lane, uint32_t i) {
    uint64_t value = 0;
    if (i >= call->argument_count || call->arguments[i].callee_is_place) return 0;
    uint32_t bytes = (uint32_t)min_u64(call->arguments[i].bytes, sizeof value);
    local_copy(call->w, lane, call->frame->local_base + call->arguments[i].callee, &value, bytes, false);
    return value;
}

static void result(const struct builtin_call *call, unsigned lane, uint64_t value) {
    const struct op_argument *to = &call->arguments[call->argument_count];
    if (!call->return_count || to->callee_is_place) return;
    local_copy(call->w, lane, call->frame->local_base + to->callee, &value, (uint32_t)min_u64(to->bytes, sizeof value),
               true);
}

/* The memory at a generic address of the lane. */
static bool lane_read(struct warp_state *w, unsigned lane, uint64_t address, void *data, unsigned bytes) {
    if (w->run->loaded->module->address_bits == 32) address = address_widen(address);
    enum ptx_space space = space_resolve(PTX_SPACE_GENERIC, &address);
    return space_copy(w, lane, space, address, data, bytes, ACCESS_READ);
}

/* Copies a string, truncated to fit; false if it leaves memory before its end. */
static bool lane_text(struct warp_state *w, unsigned lane, uint64_t address, char *text, size_t room) {
    for (size_t i = 0; i + 1 < room; i++) {
        if (!lane_read(w, lane, address + i, &text[i], 1)) return false;
        if (!text[i]) return true;
    }
    text[room - 1] = 0;
    return true;
}

struct printing {
    struct warp_state *w;
    unsigned lane;
};

static bool printing_read(void *user, uint64_t address, void *data, unsigned bytes) {
    struct printing *p = user;
    return lane_read(p->w, p->lane, address, data, bytes);
}

static void run_vprintf(const struct builtin_call *call, unsigned lane) {
    struct warp_state *w = call->w;
    const struct device *device = w->run->device;
    struct printing printing = {w, lane};
    uint64_t format = parameter(call, lane, 0), bad = 0;
    char text[PRINT_TEXT_BYTES];
    int used = print_format(printing_read, &printing, format, parameter(call, lane, 1), text, &bad);
    if (used < 0) {
        fault_set(w, call->op, lane, "printf reads unallocated memory at 0x%" PRIx64, bad);
        return;
    }
    if (device->print) device->print(device->print_user, text, strlen(text));
    result(call, lane, (uint64_t)used);
}

static void run_malloc(const struct builtin_call *call, unsigned lane) {
    struct device *device = call->w->run->device;
    uint64_t bytes = parameter(call, lane, 0), address = 0;
    if (bytes && bytes <= device->heap_bytes - device->heap_used) {
        address = memory_allocate(&device->memory, bytes);
        if (address) device->heap_used += bytes;
    }
    result(call, lane, address);
}

static void run_free(const struct builtin_call *call, unsigned lane) {
    struct device *device = call->w->run->device;
    uint64_t address = parameter(call, lane, 0);
    if (!address) return;
    const struct allocation *found = memory_find(&device->memory, address, memory_user(address));
    if (!found || found->address != address || found->size_bytes > device->heap_used) {
        fault_set(call->w, call->op, lane, "free of 0x%" PRIx64 ", which malloc did not return", address);
        return;
    }
    device->heap_used -= found->size_bytes;
    memory_free(&device->memory, address);
}

static void run_assertfail(const struct builtin_call *call, unsigned lane) {
    char text[3][256];
    static const uint32_t texts[3] = {0, 1, 3}; /* message, file, function; the line is between them */
    for (unsigned i = 0; i < 3; i++)
        if (!lane_text(call->w, lane, parameter(call, lane, texts[i]), text[i], sizeof text[i])) strcpy(text[i], "?");
    fault_set(call->w, call->op, lane, "%s:%u: %s: assertion `%s` failed", text[1], (unsigned)parameter(call, lane, 2),
              text[2], text[0]);
}

void builtin_run(struct warp_state *w, const struct op *op, const struct frame *frame, uint32_t mask) {
    static void (*const runs[])(const struct builtin_call *, unsigned) = {
        [BUILTIN_VPRINTF] = run_vprintf,
        [BUILTIN_MALLOC] = run_malloc,
        [BUILTIN_FREE] = run_free,
        [BUILTIN_ASSERTFAIL] = run_assertfail,
    };
    const struct program_function *caller = (frame - 1)->code->function;
    const struct op_call *lists = &caller->calls[op->arguments];
    struct builtin_call call = {.w = w,
                                .op = op,
                                .frame = frame,
                                .arguments = &caller->arguments[lists->first],
                                .argument_count = lists->argument_count,
                                .return_count = lists->return_count};
    w->run->changed |= CHANGED_CONTROL;
    FOR_LANES (lane, mask)
        if (!w->run->failed) runs[frame->code->function->builtin](&call, lane);
}
