/* Polls: a warp that waits for memory to change is parked, and records a bounded number of polls. */
#include "emu/run_ptx.h"

#define WAIT "wait: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait;"

/* The loads of global memory in the stream of a warp. */
static unsigned polls_of(const char *text, uint32_t blocks, uint32_t threads, uint64_t cta, uint32_t warp) {
    struct ptx_run run = {0};
    struct run_stream *stream = calloc(1, sizeof *stream);
    bool good = run_trace(&run, text, blocks, threads, cta, warp, stream);
    if (!good) printf("    %s\n", run.err.text);
    REQUIRE(good);
    unsigned polls = 0;
    for (unsigned i = 0; i < stream->count; i++)
        polls += stream->instr[i].op == OP_load && stream->instr[i].space == SPACE_GLOBAL;
    free(stream);
    run_end(&run);
    return polls;
}

TEST("the number of polls recorded hardly depends on the length of the wait") {
    /* Warp 1 sets the flag after `n` iterations of three instructions. */
#define AFTER(n) \
    PTX_KERNEL("setp.gt.u32 %p1, %r0, 31; @%p1 bra set; " WAIT \
               " bra both; set: mov.u32 %r4, 0; loop: add.u32 %r4, %r4, 1;\n" \
               "setp.lt.u32 %p3, %r4, " #n "; @%p3 bra loop; st.release.gpu.global.u32 [%rd1], 1; both:")
    CHECK_EQ(polls_of(AFTER(100), 1, 64, 0, 0), 3u);
    CHECK_EQ(polls_of(AFTER(2000), 1, 64, 0, 0), 3u);
    unsigned longest = polls_of(AFTER(60000), 1, 64, 0, 0); /* 1,400 rounds: one or two polls every 64 */
    CHECK(longest > 20 && longest < 60);
}

/* Warp instructions of a kernel for another target. */
static uint64_t executed_for(const char *target, const char *kernel, uint32_t blocks) {
    struct ptx_run run = {0};
    char text[4096];
    snprintf(text, sizeof text, "%s", kernel);
    memcpy(strstr(text, "sm_90"), target, 5);
    REQUIRE(run_ptx(&run, text, blocks, 64));
    uint64_t executed = run.counts.warp_instructions;
    run_end(&run);
    return executed;
}

TEST("polls of targets before sm_50 are all recorded: the waiting warp executes as many instructions as the other") {
    CHECK(executed_for("sm_30", AFTER(2000), 1) > 2 * 3 * 2000);
}

TEST("polls of targets before sm_70 are executed once in a round") {
    uint64_t executed = executed_for("sm_60", AFTER(2000), 1), rounds = 3 * 2000 / 128;
    CHECK(executed > 3 * 2000 + 3 * rounds);
    CHECK(executed < 3 * 2000 + 6 * rounds);
}

TEST("polls of failed compare-and-swaps and with a pause are parked as well") {
    unsigned polls = polls_of(PTX_KERNEL("setp.gt.u32 %p1, %r0, 31; @%p1 bra set; mov.u32 %r5, 1; wait: nanosleep.u32 "
                                         "%r5; shl.b32 %r5, %r5, 1; min.u32 %r5, %r5, 64; ld.volatile.global.u32 %r3, "
                                         "[%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait; bra both;\n"
                                         "set: mov.u32 %r4, 0; loop: add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 2500; "
                                         "@%p3 bra loop; st.release.gpu.global.u32 [%rd1], 1; both:"),
                              1, 64, 0, 0);
    CHECK(polls > 6 && polls < 20);
}

#define GRID_BARRIER \
    "bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra past; mov.u32 %r4, %nctaid.x; atom.add.release.gpu.global.u32 %r5, [%rd1], 1;\n" \
    "wait: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.lt.u32 %p2, %r3, %r4; @%p2 bra wait; past: bar.sync 0;\n"

TEST("CTAs at a barrier of the grid record few polls, whatever their number") {
    static const uint32_t grids[] = {2, 80, 129, 320, 1000};
    for (size_t i = 0; i < COUNT_OF(grids); i++) {
        CHECK(polls_of(PTX_KERNEL(GRID_BARRIER), grids[i], 64, 0, 0) < 20);
        CHECK(polls_of(PTX_KERNEL(GRID_BARRIER), grids[i], 64, grids[i] / 2, 0) < 20);
    }
}

/* The same with a counter. */
#define COUNTED_BARRIER \
    "bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra past; mov.u32 %r4, %nctaid.x; mov.u32 %r6, 0; red.add.release.gpu.global.u32 [%rd1], 1;\n" \
    "wait: add.u32 %r6, %r6, 1; ld.volatile.global.u32 %r3, [%rd1]; setp.lt.u32 %p2, %r3, %r4; @%p2 bra wait; past: bar.sync 0;\n"

TEST("polls that count or are of targets before sm_70 are few at a barrier of the grid, too") {
    static const uint32_t grids[] = {2, 80, 129, 320, 1000};
    for (size_t i = 0; i < COUNT_OF(grids); i++) {
        CHECK(polls_of(PTX_KERNEL(COUNTED_BARRIER), grids[i], 64, 0, 0) < 60);
        CHECK(executed_for("sm_60", PTX_KERNEL(GRID_BARRIER), grids[i]) < 200 * grids[i]);
        CHECK(executed_for("sm_60", PTX_KERNEL(COUNTED_BARRIER), grids[i]) < 200 * grids[i]);
    }
}

TEST("no CTA passes a barrier of the grid before the last one arrives") {
    struct ptx_run run = {0};
    enum { CTAS = 256, THREADS = 64 }; /* as many words as the buffer has */
    /* Each thread reads what the last thread of the grid stored before the barrier. */
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(
            "add.u32 %r6, %r2, 1000; st.global.u32 [%rd2], %r6; membar.gl;\n" GRID_BARRIER
            "ld.global.u32 %r7, [%rd0+65532]; setp.ne.u32 %p3, %r2, 0; @%p3 ret; st.global.u32 [%rd1+128], %r7;"),
        CTAS, THREADS));
    CHECK_EQ(run_input(&run)[32], CTAS * THREADS - 1 + 1000u);
    run_end(&run);
}

TEST("a poll of two words ends when either changes") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(
            "shr.u32 %r6, %r0, 5; setp.eq.u32 %p1, %r6, 2; @%p1 bra set; mul.wide.u32 %rd3, %r6, 64; add.s64 %rd3, %rd1, %rd3;\n"
            "wait: ld.volatile.global.u32 %r3, [%rd1]; ld.volatile.global.u32 %r4, [%rd3+64]; or.b32 %r9, %r3, %r4; setp.eq.u32 %p2, %r9, 0; @%p2 bra wait; st.global.u32 [%rd2], %r9; ret;\n"
            "set: mov.u32 %r4, 0; loop: add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 300; @%p3 bra loop; st.volatile.global.u32 [%rd1+128], 7;\n"
            "mov.u32 %r4, 0; more: add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 300; @%p3 bra more; st.volatile.global.u32 [%rd1], 8;"),
        1, 96));
    CHECK_EQ(run_u32(&run)[0], 8u);
    CHECK_EQ(run_u32(&run)[32], 7u);
    run_end(&run);
}

TEST("a parked warp polls now and then while another one never ends, so that timing can go on") {
    struct ptx_run run = {0};
    REQUIRE(
        run_load(&run, PTX_KERNEL("setp.gt.u32 %p1, %r0, 31; @%p1 bra on;" WAIT "on: add.u32 %r4, %r4, 1; bra on;")));
    uint64_t parameters[2] = {run.out, run.in};
    struct launch launch = run_launch_of(&run, 1, 64, parameters);
    const struct program *program = loaded_program(run.loaded);
    struct kernel kernel = {.name = "k", .grid = {1, 1, 1}, .block = {64, 1, 1}};
    struct trace *trace = trace_create(&kernel, program->records, program->record_count, TRACE_MEMORY_BYTES);
    run.device.limit = 128 * 5000;
    REQUIRE(emu_run(&run.device, &launch, trace, &run.counts, &run.err));
    CHECK(run.counts.cut);
    trace_finish(trace, false);
    struct warp_stream window = {.cta = 0, .warp = 0};
    unsigned polls = 0;
    trace_open(trace, &window);
    for (trace_refill(trace, &window); window.count && !trace_was_cut(trace); trace_refill(trace, &window))
        for (unsigned i = 0; i < window.count; i++) polls += window.instr[i].op == OP_load;
    CHECK(polls > 5000 / 64);
    trace_destroy(trace);
    run_end(&run);
}

TEST_LONG("CTAs that wait for more CTAs than any GPU holds at once are an error") {
    struct ptx_run run = {0};
    CHECK(
        !run_ptx(&run,
                 PTX_KERNEL("mov.u32 %r4, %nctaid.x; sub.u32 %r4, %r4, 1; setp.eq.u32 %p1, %r1, %r4; @%p1 bra set;" WAIT
                            "ret; set: st.global.u32 [%rd1], 1;"),
                 4000, 1024));
    CHECK_TEXT(run.err.text, "livelock: CTAs that have not begun are waited for; 32768 warps repeat a loop");
    run_end(&run);
}
