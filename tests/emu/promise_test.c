/* Lines that a kernel loads as read-only and also writes. */
#include "emu/run_ptx.h"

/* Runs kernel k with the parameters `out` and `in` and keeps the counts. */
static bool promise_run(struct ptx_run *run, const char *text, uint64_t out_offset, bool alias) {
    if (!run_load(run, text)) return false;
    uint64_t parameters[2] = {run->out + out_offset, alias ? run->out : run->in};
    struct launch launch = run_launch_of(run, 1, 32, parameters);
    const struct program *program = loaded_program(run->loaded);
    struct kernel kernel = {.name = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct trace *trace = trace_create(&kernel, program->records, program->record_count, TRACE_MEMORY_BYTES);
    bool good = emu_run(&run->device, &launch, trace, &run->counts, &run->err);
    trace_finish(trace, good);
    trace_destroy(trace);
    return good;
}

/* Each thread copies a word. */
static const char copy[] = PTX_KERNEL("mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd1, %rd3;\n"
                                      "ld.global.u32 %r3, [%rd4];\nst.global.u32 [%rd2], %r3;");

TEST("a kernel that does not write read-only data has no violations") {
    struct ptx_run run;
    REQUIRE(promise_run(&run, copy, 0, false));
    CHECK_EQ(run.counts.read_only_violations, 0u);
    run_end(&run);
}

TEST("aliased parameters are detected when one is written") {
    struct ptx_run run;
    REQUIRE(promise_run(&run, copy, 0, true));
    CHECK_EQ(run.counts.read_only_violations, 1u);
    CHECK_TEXT(run.counts.violation.text, "line 12 of kernel `k` writes to the line at 0xc0000000");
    CHECK_TEXT(run.counts.violation.text, "; it is in the buffer of `out`, `in`");
    run_end(&run);
}

TEST("the granularity is the line: neighbours within one are a violation, those in the next are not") {
    struct ptx_run run;
    REQUIRE(promise_run(&run, copy, 64, true)); /* loads 128 bytes from 0, writes them from 64 */
    CHECK_EQ(run.counts.read_only_violations, 1u);
    run_end(&run);
    REQUIRE(promise_run(&run, copy, 128, true));
    CHECK_EQ(run.counts.read_only_violations, 0u);
    run_end(&run);
}

TEST("a load after the store is also a violation, and a line is counted once") {
    struct ptx_run run;
    REQUIRE(
        promise_run(&run,
                    PTX_KERNEL("st.global.u32 [%rd2], %r0;\nld.global.u32 %r3, [%rd1]; ld.global.u32 %r4, [%rd1+4];\n"
                               "red.global.add.u32 [%rd2], 1;"),
                    0, true));
    CHECK_EQ(run.counts.read_only_violations, 1u);
    CHECK_TEXT(run.counts.violation.text, "line 11 of kernel `k` loads as read-only from the line at 0xc0000000");
    run_end(&run);
}

TEST("ld.global.ro and ld.global.nc of written data are violations") {
    static const char *const loads[] = {"ld.global.ro.u32", "ld.global.nc.u32"};
    for (unsigned i = 0; i < 2; i++) {
        char text[2048];
        struct ptx_run run;
        run_fill(text, sizeof text, PTX_KERNEL("$ %r3, [%rd2];\nst.global.u32 [%rd2], %r0;"), loads[i]);
        REQUIRE(promise_run(&run, text, 0, false));
        CHECK_EQ(run.counts.read_only_violations, 1u);
        run_end(&run);
    }
}

TEST("the next kernel may write what the previous one only read") {
    struct ptx_run run;
    REQUIRE(promise_run(&run, copy, 0, false));
    uint64_t parameters[2] = {run.in, run.out};
    struct launch launch = run_launch_of(&run, 1, 32, parameters);
    const struct program *program = loaded_program(run.loaded);
    struct kernel kernel = {.name = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct trace *trace = trace_create(&kernel, program->records, program->record_count, TRACE_MEMORY_BYTES);
    CHECK(emu_run(&run.device, &launch, trace, &run.counts, &run.err));
    CHECK_EQ(run.counts.read_only_violations, 0u);
    trace_finish(trace, true);
    trace_destroy(trace);
    run_end(&run);
}

TEST("a generic load has the mark only if it reads global memory") {
    static struct run_stream stream;
    struct ptx_run run;
    REQUIRE(run_trace(
        &run,
        PTX_KERNEL_WITH(".shared .align 4 .b8 tile[256];",
                        "ld.u32 %r3, [%rd1];\nmov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5; ld.u32 %r4, [%rd6];\n"
                        "st.global.u32 [%rd2], %r3;"),
        1, 32, 0, 0, &stream));
    unsigned shared = 0, global = 0;
    for (unsigned i = 0; i < stream.count; i++) {
        if (stream.instr[i].op != OP_load) continue;
        bool mark = stream.instr[i].flags & INSTR_READ_ONLY;
        if (stream.instr[i].space == SPACE_SHARED) shared++, CHECK(!mark);
        if (stream.instr[i].space == SPACE_GLOBAL) global++, CHECK(mark);
    }
    CHECK_EQ(shared, 1u);
    CHECK_EQ(global, 1u);
    run_end(&run);
}

TEST("asynchronous copies are loads that promise, and bulk copies to global memory are stores") {
    static const char text[] =
        PTX_KERNEL(".shared .align 16 .b8 s[128]; setp.ne.u32 %p1, %r0, 0; @%p1 exit;"
                   "cp.async.cg.shared.global [s], [%rd1], 16; cp.async.wait_all;\n"
                   "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [s], 128; cp.async.bulk.commit_group;\n"
                   "cp.async.bulk.wait_group 0;");
    struct ptx_run run;
    REQUIRE(promise_run(&run, text, 0, true));
    CHECK_EQ(run.counts.read_only_violations, 1u);
    CHECK_TEXT(run.counts.violation.text, "writes to the line at 0xc0000000");
    run_end(&run);
    REQUIRE(promise_run(&run, text, 128, true));
    CHECK_EQ(run.counts.read_only_violations, 0u);
    run_end(&run);
}
