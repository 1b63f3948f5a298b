/* Speed of the emulator alone: warp instructions per second of a few kernels, without timing simulation.
 *
 *     emulate                 all kernels
 *     emulate --trace         also records the streams, as a simulation would
 *     emulate --repeat 10     runs each 10 times (default 3) and reports the best
 *     emulate NAME...         only kernels whose name contains NAME
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emu/emu.h"
#include "stream/trace.h"

#define HEADER \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in) {\n" \
    ".reg .pred %p<10>; .reg .b32 %r<60>; .reg .b64 %rd<60>; .reg .f32 %f<60>;\n" \
    "ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [in]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;\n" \
    "mad.lo.s32 %r2, %r1, %r2, %r0; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; add.s64 %rd2, %rd0, %rd2; mov.u32 %r3, 0;\n"
#define FOOTER "\nret; }\n"

static const struct {
    const char *name, *text;
    uint32_t blocks, threads;
} kernels[] = {
    {"compute",
     HEADER
     "cvt.rn.f32.u32 %f0, %r2; mov.f32 %f1, 0f3F800001; mov.f32 %f2, 0f3F000000; mov.u32 %r4, %r2;\n"
     "loop: fma.rn.f32 %f0, %f0, %f1, %f2; fma.rn.f32 %f3, %f0, %f2, %f1; mul.f32 %f4, %f3, %f0; add.f32 %f5, %f4, %f2;\n"
     "mad.lo.u32 %r4, %r4, 1664525, 1013904223; xor.b32 %r5, %r4, %r3; shr.u32 %r5, %r5, 3; add.u32 %r6, %r5, %r4;\n"
     "add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 500; @%p1 bra loop; mov.b32 %r7, %f5; add.u32 %r6, %r6, %r7; st.global.u32 [%rd2], %r6;" FOOTER,
     64, 256},
    {"stream",
     HEADER
     "loop: ld.global.f32 %f0, [%rd3]; ld.global.f32 %f1, [%rd2]; fma.rn.f32 %f1, %f0, 0f40000000, %f1; st.global.f32 [%rd2], %f1;\n"
     "add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 500; @%p1 bra loop;" FOOTER,
     64, 256},
    {"gather",
     HEADER
     "mov.u32 %r4, %r2; loop: mad.lo.u32 %r4, %r4, 1664525, 1013904223; and.b32 %r5, %r4, 16383; mul.wide.u32 %rd4, %r5, 4; add.s64 %rd4, %rd1, %rd4;\n"
     "ld.global.u32 %r6, [%rd4]; add.u32 %r4, %r4, %r6; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 500; @%p1 bra loop; st.global.u32 [%rd2], %r4;" FOOTER,
     64, 256},
    {"shared",
     HEADER
     ".shared .b32 s[256]; mov.u32 %r4, s; mad.lo.u32 %r5, %r0, 4, %r4; xor.b32 %r6, %r0, 63; mad.lo.u32 %r6, %r6, 4, %r4;\n"
     "loop: st.shared.u32 [%r5], %r3; bar.sync 0; ld.shared.u32 %r7, [%r6]; add.u32 %r3, %r7, 1; bar.sync 0; setp.lt.u32 %p1, %r3, 500; @%p1 bra loop;" FOOTER,
     64, 256},
    {"tile",
     HEADER
     ".shared .b32 s[512]; mov.u32 %r4, s; shr.u32 %r5, %r0, 4; and.b32 %r6, %r0, 15; mad.lo.u32 %r5, %r5, 64, %r4; mad.lo.u32 %r6, %r6, 4, %r4;\n"
     "add.u32 %r7, %r5, %r6; sub.u32 %r7, %r7, %r4; mov.f32 %f0, 0f3F800000; st.shared.f32 [%r7], %f0; bar.sync 0;\n"
     "loop: ld.shared.f32 %f1, [%r5]; ld.shared.f32 %f2, [%r6]; fma.rn.f32 %f0, %f1, %f2, %f0; ld.shared.f32 %f1, [%r5+4]; ld.shared.f32 %f2, [%r6+64];\n"
     "fma.rn.f32 %f0, %f1, %f2, %f0; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 500; @%p1 bra loop; st.global.f32 [%rd2], %f0;" FOOTER,
     64, 256},
    {"diverge",
     HEADER
     "mov.u32 %r4, %r2; loop: mad.lo.u32 %r4, %r4, 1664525, 1013904223; shr.u32 %r5, %r4, 30; setp.eq.u32 %p2, %r5, 0; @%p2 bra a; setp.eq.u32 %p3, %r5, 1; @%p3 bra b;\n"
     "add.u32 %r6, %r6, 1; bra j; a: add.u32 %r6, %r6, 2; bra j; b: add.u32 %r6, %r6, 3; j: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 500; @%p1 bra loop; st.global.u32 [%rd2], %r6;" FOOTER,
     64, 256},
    {"atomic",
     HEADER
     "loop: red.global.add.u32 [%rd1], 1; atom.global.add.u32 %r4, [%rd3], 1; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 200; @%p1 bra loop;" FOOTER,
     64, 256},
};

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool measure(unsigned i, bool traced, unsigned repeat) {
    struct device device;
    struct error err = {0};
    device_init(&device);
    uint64_t parameters[2] = {memory_allocate(&device.memory, 1 << 20), memory_allocate(&device.memory, 1 << 20)};
    struct ptx_module *module = ptx_parse(kernels[i].name, kernels[i].text, strlen(kernels[i].text), &err);
    struct loaded_module *loaded = module ? device_load(&device, module, &err) : NULL;
    double best = 0;
    for (unsigned r = 0; loaded && !err.set && r < repeat; r++) {
        const struct program *program = loaded_program(loaded);
        struct launch launch = {.module = loaded,
                                .kernel = program_kernel(program, "k"),
                                .grid = {kernels[i].blocks, 1, 1},
                                .block = {kernels[i].threads, 1, 1},
                                .parameters = (const uint8_t *)parameters};
        struct kernel kernel = {.grid = {kernels[i].blocks, 1, 1}, .block = {kernels[i].threads, 1, 1}};
        struct trace *trace =
            traced ? trace_create(&kernel, program->records, program->record_count, TRACE_MEMORY_BYTES) : NULL;
        struct emu_counts counts = {0};
        double begin = seconds();
        emu_run(&device, &launch, trace, &counts, &err);
        double rate = (double)counts.warp_instructions / (seconds() - begin) / 1e6;
        if (trace) trace_finish(trace, !err.set), trace_destroy(trace);
        if (rate > best) best = rate;
    }
    if (err.set)
        fprintf(stderr, "%s: %s\n", kernels[i].name, err.text);
    else
        printf("%-10s %8.1f million warp instructions per second\n", kernels[i].name, best);
    if (loaded) device_unload(&device, loaded);
    device_release(&device);
    return !err.set;
}

int main(int argc, char **argv) {
    bool traced = false, good = true;
    unsigned repeat = 3;
    int names = argc;
    for (int a = 1; a < argc; a++) {
        if (!strcmp(argv[a], "--trace")) {
            traced = true;
        } else if (!strcmp(argv[a], "--repeat") && a + 1 < argc) {
            repeat = (unsigned)atoi(argv[++a]);
        } else {
            names = a;
            break;
        }
    }
    for (unsigned i = 0; i < COUNT_OF(kernels); i++) {
        bool wanted = names == argc;
        for (int a = names; a < argc; a++) wanted |= strstr(kernels[i].name, argv[a]) != NULL;
        if (wanted) good &= measure(i, traced, repeat);
    }
    return good ? 0 : 1;
}
