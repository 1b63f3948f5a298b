/* Runs a kernel given as PTX text: load, launch with 64-bit parameters, access to memory, printed text and streams. */
#ifndef SLUICE_TESTS_EMU_RUN_PTX_H
#define SLUICE_TESTS_EMU_RUN_PTX_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/emu.h"
#include "stream/trace.h"
#include "test.h"

#define PTX_HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"

/* A kernel `k` with two pointers. Its body has: %rd0 = out, %rd1 = in, %r0 = thread in block, %r1 = block, %r2 = thread
 * in grid, %rd2 = &out[%r2] (of 32 bits), and spare registers; `declarations` precede it. */
#define PTX_KERNEL_WITH(declarations, ...) \
    PTX_HEADER declarations \
        "\n.visible .entry k(.param .u64 out, .param .u64 in) {\n" \
        ".reg .pred %p<10>; .reg .b16 %h<20>; .reg .b32 %r<60>; .reg .b64 %rd<60>; .reg .f32 %f<20>; .reg .f64 %fd<20>;\n" \
        "ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [in];\n" \
        "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %r2, %r1, %r2, %r0;\n" \
        "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd0, %rd2;\n" __VA_ARGS__ "\nret;\n}\n"
#define PTX_KERNEL(...) PTX_KERNEL_WITH("", __VA_ARGS__)

struct ptx_run {
    struct device device;
    struct loaded_module *loaded;
    struct error err;
    struct emu_counts counts;
    uint64_t out, in; /* buffers of 64 KiB */
    char printed[4096];
};

enum { RUN_BUFFER_BYTES = 64 * 1024 };

static inline void run_print(void *user, const char *text, size_t bytes) {
    struct ptx_run *run = user;
    strncat(run->printed, text,
            bytes < sizeof run->printed - strlen(run->printed) ? bytes
                                                               : sizeof run->printed - strlen(run->printed) - 1);
}

static inline bool run_load(struct ptx_run *run, const char *text) {
    memset(run, 0, sizeof *run);
    device_init(&run->device);
    run->device.print = run_print;
    run->device.print_user = run;
    run->out = memory_allocate(&run->device.memory, RUN_BUFFER_BYTES);
    run->in = memory_allocate(&run->device.memory, RUN_BUFFER_BYTES);
    struct ptx_module *module = ptx_parse("test.ptx", text, strlen(text), &run->err);
    run->loaded = module ? device_load(&run->device, module, &run->err) : NULL;
    if (run->loaded) { /* all kernels must be executable */
        const struct program *program = loaded_program(run->loaded);
        for (uint32_t f = 0; f < program->function_count && !run->err.set; f++)
            program_executable(program, &program->functions[f], &run->err);
    }
    if (run->err.set) printf("    %s\n", run->err.text);
    return !run->err.set;
}

static inline struct launch run_launch_of(struct ptx_run *run, uint32_t blocks, uint32_t threads,
                                          const uint64_t parameters[2]) {
    return (struct launch){.module = run->loaded,
                           .kernel = program_kernel(loaded_program(run->loaded), "k"),
                           .grid = {blocks, 1, 1},
                           .block = {threads, 1, 1},
                           .parameters = (const uint8_t *)parameters};
}

/* Runs the loaded kernel to its end. */
static inline bool run_loaded(struct ptx_run *run, uint32_t blocks, uint32_t threads) {
    uint64_t parameters[2] = {run->out, run->in};
    struct launch launch = run_launch_of(run, blocks, threads, parameters);
    return emu_run(&run->device, &launch, NULL, &run->counts, &run->err);
}

static inline bool run_ptx(struct ptx_run *run, const char *text, uint32_t blocks, uint32_t threads) {
    return run_load(run, text) && run_loaded(run, blocks, threads);
}

/* `frame` with `part` in place of its "$". */
static inline void run_fill(char *text, size_t room, const char *frame, const char *part) {
    const char *at = strchr(frame, '$');
    snprintf(text, room, "%.*s%s%s", (int)(at - frame), frame, part, at + 1);
}

static inline uint32_t *run_u32(struct ptx_run *run) {
    return (uint32_t *)memory_at(&run->device.memory, run->out, RUN_BUFFER_BYTES);
}
static inline uint64_t *run_u64(struct ptx_run *run) {
    return (uint64_t *)memory_at(&run->device.memory, run->out, RUN_BUFFER_BYTES);
}
static inline uint32_t *run_input(struct ptx_run *run) {
    return (uint32_t *)memory_at(&run->device.memory, run->in, RUN_BUFFER_BYTES);
}

static inline void run_end(struct ptx_run *run) {
    device_unload(&run->device, run->loaded);
    device_release(&run->device);
}

/* The stream of one warp of a run, as the machine reads it. */
struct run_stream {
    struct instr instr[4096];
    uint64_t touch[4096][32];
    unsigned count;
};

static inline bool run_trace_loaded(struct ptx_run *run, uint32_t blocks, uint32_t threads, uint64_t cta, uint32_t warp,
                                    struct run_stream *stream) {
    uint64_t parameters[2] = {run->out, run->in};
    struct launch launch = run_launch_of(run, blocks, threads, parameters);
    const struct program *program = loaded_program(run->loaded);
    struct kernel kernel = {.name = "k", .grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
    struct trace *trace = trace_create(&kernel, program->records, program->record_count, TRACE_MEMORY_BYTES);
    bool good = emu_run(&run->device, &launch, trace, &run->counts, &run->err);
    trace_finish(trace, good);
    struct warp_stream window = {.cta = cta, .warp = warp};
    stream->count = 0;
    for (trace_open(trace, &window); good;) {
        trace_refill(trace, &window);
        if (!window.count) break;
        for (unsigned i = 0; i < window.count && stream->count < 4096; i++) {
            struct instr *instr = &window.instr[i];
            if (instr_is_memory(instr))
                memcpy(stream->touch[stream->count], &window.touch[instr->touches], instr->count * sizeof(uint64_t));
            stream->instr[stream->count++] = *instr;
        }
        if (stream->instr[stream->count - 1].op == OP_exit) break;
    }
    trace_destroy(trace);
    return good;
}

static inline bool run_trace(struct ptx_run *run, const char *text, uint32_t blocks, uint32_t threads, uint64_t cta,
                             uint32_t warp, struct run_stream *stream) {
    return run_load(run, text) && run_trace_loaded(run, blocks, threads, cta, warp, stream);
}

/* The records of one class. */
static inline const struct instr *stream_find(const struct run_stream *stream, enum op_class op, unsigned which) {
    for (unsigned i = 0; i < stream->count; i++)
        if (stream->instr[i].op == op && !which--) return &stream->instr[i];
    return NULL;
}

#endif
