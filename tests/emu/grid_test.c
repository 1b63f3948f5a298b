/* Launches and the order of emulation. */
#include <pthread.h>
#include <stdatomic.h>

#include "emu/run_ptx.h"

TEST("a CTA that spins on a flag of a much later CTA completes") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(
            "setp.eq.u32 %p1, %r1, 199; @%p1 bra set; wait: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait; bra both;\n"
            "set: st.volatile.global.u32 [%rd1], 1; both: st.global.u32 [%rd2], 9;"),
        200, 1));
    for (unsigned i = 0; i < 200; i++) CHECK_EQ(run_u32(&run)[i], 9u);
    run_end(&run);
}

TEST_LONG_SANITIZED("all CTAs of a large grid wait for the last one and complete") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(
            "setp.eq.u32 %p1, %r1, 8999; @%p1 bra set; wait: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait; bra both;\n"
            "set: st.volatile.global.u32 [%rd1], 1; both: st.global.u32 [%rd2], 9;"),
        9000, 1));
    unsigned done = 0;
    for (unsigned i = 0; i < 9000; i++) done += run_u32(&run)[i] == 9;
    CHECK_EQ(done, 9000u);
    run_end(&run);
}

TEST("threads and blocks of three dimensions are numbered x first") {
    struct ptx_run run = {0};
    REQUIRE(run_load(
        &run,
        PTX_KERNEL(
            "mov.u32 %r3, %tid.y; mov.u32 %r4, %tid.z; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z; mov.u32 %r7, %ntid.z; mov.u32 %r8, %nctaid.y;\n"
            "mad.lo.u32 %r9, %r4, 3, %r3; mad.lo.u32 %r9, %r9, 5, %r0; mad.lo.u32 %r10, %r6, %r8, %r5; mov.u32 %r11, %nctaid.x; mad.lo.u32 %r10, %r10, %r11, %r1;\n"
            "mad.lo.u32 %r12, %r10, 60, %r9; mul.wide.u32 %rd3, %r12, 4; add.s64 %rd3, %rd0, %rd3; mov.u32 %r13, %laneid; mov.u32 %r14, %warpid; mad.lo.u32 %r13, %r14, 32, %r13; add.u32 %r13, %r13, %r7; st.global.u32 [%rd3], %r13;")));
    uint64_t parameters[2] = {run.out, run.in};
    struct launch launch = run_launch_of(&run, 2, 5, parameters);
    launch.grid[1] = 3, launch.grid[2] = 2, launch.block[1] = 3, launch.block[2] = 4;
    REQUIRE(emu_run(&run.device, &launch, NULL, &run.counts, &run.err));
    for (unsigned i = 0; i < 12 * 60; i++) CHECK_EQ(run_u32(&run)[i], i % 60 + 4);
    run_end(&run);
}

TEST("a launch without clusters has clusters of one CTA, numbered as the grid") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(
            "mov.u32 %r3, %cluster_nctarank; mov.u32 %r4, %cluster_ctarank; mov.u32 %r5, %cluster_nctaid.x; mov.u32 %r6, %cluster_ctaid.x; mov.u32 %r7, %nclusterid.x; mov.u32 %r8, %clusterid.x;\n"
            "mad.lo.u32 %r3, %r3, 10, %r4; mad.lo.u32 %r3, %r3, 10, %r5; mad.lo.u32 %r3, %r3, 10, %r6; mad.lo.u32 %r3, %r3, 10, %r7; mad.lo.u32 %r3, %r3, 10, %r8; st.global.u32 [%rd2], %r3;"),
        3, 1));
    for (unsigned i = 0; i < 3; i++) CHECK_EQ(run_u32(&run)[i], 101030u + i);
    run_end(&run);
}

TEST("launches beyond the limits of the device or kernel are rejected with the reason") {
    struct ptx_run run = {0};
    REQUIRE(
        run_load(&run, PTX_HEADER ".visible .entry k(.param .u64 out, .param .u64 in) .maxntid 64, 1, 1 { ret; }\n"));
    uint64_t parameters[2] = {0};
    static const struct {
        uint32_t grid[3], block[3], shared;
        const char *says;
    } cases[] = {
        {{0, 1, 1}, {32, 1, 1}, 0, "a grid of 0x1x1"},
        {{1, 65536, 1}, {32, 1, 1}, 0, "a grid of 1x65536x1"},
        {{1, 1, 1}, {0, 1, 1}, 0, "a block of 0x1x1"},
        {{1, 1, 1}, {1, 1, 65}, 0, "a block of 1x1x65"},
        {{1, 1, 1}, {65, 1, 1}, 0, "has 65 threads; the limit is 64"},
        {{1, 1, 1}, {32, 1, 1}, 300000, "300000 of dynamic shared memory"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct launch launch = run_launch_of(&run, 1, 1, parameters);
        memcpy(launch.grid, cases[i].grid, sizeof launch.grid);
        memcpy(launch.block, cases[i].block, sizeof launch.block);
        launch.dynamic_shared_bytes = cases[i].shared;
        struct error err = {0};
        CHECK(!emu_run(&run.device, &launch, NULL, NULL, &err));
        CHECK_TEXT(err.text, cases[i].says);
    }
    run_end(&run);
}

TEST("dynamic shared memory has the size given by the launch") {
    struct ptx_run run = {0};
    REQUIRE(run_load(
        &run,
        PTX_KERNEL_WITH(
            ".extern .shared .align 16 .b8 dyn[];",
            "mov.u32 %r3, dyn; mad.lo.u32 %r4, %r0, 4, %r3; st.shared.u32 [%r4], %r0; mov.u32 %r5, %dynamic_smem_size; st.global.u32 [%rd2], %r5;")));
    uint64_t parameters[2] = {run.out, run.in};
    struct launch launch = run_launch_of(&run, 1, 32, parameters);
    launch.dynamic_shared_bytes = 128;
    CHECK(emu_run(&run.device, &launch, NULL, NULL, &run.err));
    CHECK_EQ(run_u32(&run)[5], 128u);
    launch.dynamic_shared_bytes = 124;
    CHECK(!emu_run(&run.device, &launch, NULL, NULL, &run.err));
    CHECK_TEXT(run.err.text, "thread (31,0,0): writes 4 bytes of shared memory at 0x7c: outside the 124 bytes");
    run_end(&run);
}

TEST_LONG_SANITIZED("CTAs that store while they wait for a later CTA do not delay it ever longer") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(
            "setp.eq.u32 %p1, %r1, 599; @%p1 bra set; wait: st.global.u32 [%rd2], %r3; ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait; bra both;\n"
            "set: st.volatile.global.u32 [%rd1], 1; both:"),
        600, 1));
    CHECK(run.counts.warp_instructions > 256 * 128 * (128 + 256 + 512));
    CHECK(run.counts.warp_instructions < 257 * 128 * (128 + 256 + 512 + 100));
    run_end(&run);
}

struct emulation {
    struct ptx_run run;
    struct launch launch;
    struct trace *trace;
    atomic_bool stop;
};

static void *emulate(void *user) {
    struct emulation *emulation = user;
    trace_finish(emulation->trace,
                 emu_run(&emulation->run.device, &emulation->launch, emulation->trace, NULL, &emulation->run.err));
    return NULL;
}

static bool ten_seconds(void *user) { return ++*(unsigned *)user < 200; }

TEST("the records of a warp at a barrier are read although another warp of the CTA spins forever") {
    struct emulation emulation = {.stop = false};
    struct ptx_run *run = &emulation.run;
    REQUIRE(run_load(run, PTX_KERNEL("setp.lt.u32 %p1, %r0, 32; @%p1 bra join;\n"
                                     "spin: add.u32 %r4, %r4, 1; bra spin; join: bar.sync 0;")));
    uint64_t parameters[2] = {run->out, run->in};
    emulation.launch = run_launch_of(run, 1, 64, parameters);
    run->device.stop = &emulation.stop;
    const struct program *program = loaded_program(run->loaded);
    struct kernel kernel = {.name = "k", .grid = {1, 1, 1}, .block = {64, 1, 1}};
    emulation.trace = trace_create(&kernel, program->records, program->record_count, TRACE_MEMORY_BYTES);
    trace_limit(emulation.trace, 1 << 20);
    unsigned patience = 0;
    trace_set_patience(emulation.trace, ten_seconds, &patience);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, emulate, &emulation) == 0);
    struct warp_stream stream = {.cta = 0, .warp = 0};
    trace_open(emulation.trace, &stream);
    unsigned records = 0;
    for (; !stream.pauses && patience < 200; records += stream.count) trace_refill(emulation.trace, &stream);
    CHECK_EQ(records, 11u);
    CHECK_EQ(stream.instr[stream.count - 1].op, OP_barrier);
    atomic_store(&emulation.stop, true);
    trace_abandon(emulation.trace);
    pthread_join(thread, NULL);
    CHECK_TEXT(run->err.text, "launch of k: stopped");
    trace_destroy(emulation.trace);
    run_end(run);
}

TEST("a kernel with races produces the same streams and memory every time") {
    static const char text[] = PTX_KERNEL(
        "mov.u32 %r5, 0; loop: atom.global.add.u32 %r3, [%rd1], 1; and.b32 %r4, %r3, 1023; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd3, %rd0, %rd3; st.global.u32 [%rd3], %r2;\n"
        "ld.global.u32 %r6, [%rd1+64]; add.u32 %r6, %r6, %r2; st.global.u32 [%rd1+64], %r6; and.b32 %r7, %r3, 7; add.u32 %r5, %r5, 1; add.u32 %r7, %r7, %r5; setp.lt.u32 %p1, %r7, 11; @%p1 bra loop;");
    static struct run_stream streams[2];
    uint32_t memory[2][1024];
    for (unsigned i = 0; i < 2; i++) {
        struct ptx_run run = {0};
        REQUIRE(run_trace(&run, text, 150, 64, 140, 1, &streams[i]));
        memcpy(memory[i], run_u32(&run), sizeof memory[i]);
        run_end(&run);
    }
    CHECK(!memcmp(memory[0], memory[1], sizeof memory[0]));
    CHECK_EQ(streams[0].count, streams[1].count);
    CHECK(!memcmp(streams[0].touch, streams[1].touch, sizeof streams[0].touch));
    for (unsigned i = 0; i < streams[0].count; i++) {
        CHECK_EQ(streams[0].instr[i].id, streams[1].instr[i].id);
        CHECK_EQ(streams[0].instr[i].active, streams[1].instr[i].active);
    }
}

TEST("trap ends the run") {
    struct ptx_run run = {0};
    CHECK(!run_ptx(&run, PTX_KERNEL("setp.eq.u32 %p1, %r2, 70; @%p1 trap;"), 2, 64));
    CHECK_TEXT(run.err.text, "block (1,0,0), thread (6,0,0): the program executed trap");
    run_end(&run);
}

TEST("the system's reserved shared memory is per CTA, apart from variables, and present only if used") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL_WITH(
            ".shared .align 4 .b8 tile[64];",
            "mov.u32 %r3, %reserved_smem_offset_begin; mov.u32 %r4, %reserved_smem_offset_1; mov.u32 %r5, %reserved_smem_offset_end; mov.u32 %r6, %reserved_smem_offset_cap;\n"
            "st.shared.u32 [tile], %r1; add.u32 %r7, %r1, 7; st.shared.u32 [%r4], %r7; ld.shared.u32 %r8, [%r4]; ld.shared.u32 %r9, [tile];\n"
            "sub.u32 %r5, %r5, %r3; add.u32 %r10, %r5, %r6; mad.lo.u32 %r8, %r8, 16, %r9; st.global.u32 [%rd2], %r8; st.global.u32 [%rd2+8], %r10;"),
        2, 1));
    CHECK_EQ(run_u32(&run)[0], 7u * 16);
    CHECK_EQ(run_u32(&run)[1], 8u * 16 + 1);
    CHECK_EQ(run_u32(&run)[2], 2048u);
    CHECK_EQ(program_kernel(loaded_program(run.loaded), "k")->shared_bytes % 128, 64u);
    CHECK(program_kernel(loaded_program(run.loaded), "k")->shared_bytes >= 1024 + 64);
    run_end(&run);
    REQUIRE(run_ptx(&run, PTX_KERNEL_WITH(".shared .align 4 .b8 tile[64];", "st.shared.u32 [tile], %r1;"), 1, 1));
    CHECK_EQ(program_kernel(loaded_program(run.loaded), "k")->shared_bytes, 64u);
    run_end(&run);
}
