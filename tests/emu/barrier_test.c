/* Barriers with a number of threads, and what their records say. */
#include "emu/run_ptx.h"

#define STORE "st.global.u32 [%rd2], %r9;"

TEST("a barrier for all threads of the CTA does not wait for warps that have exited") {
    struct ptx_run run = {0};
    struct run_stream *stream = calloc(1, sizeof *stream);
    REQUIRE(run_trace(&run, PTX_KERNEL("setp.gt.u32 %p1, %r0, 95; @%p1 exit; bar.sync 1, 128; mov.u32 %r9, 7;" STORE),
                      1, 128, 0, 0, stream));
    for (unsigned i = 0; i < 128; i++) CHECK_EQ(run_u32(&run)[i], i < 96 ? 7u : 0u);
    const struct instr *barrier = stream_find(stream, OP_barrier, 0);
    REQUIRE(barrier);
    CHECK_EQ(barrier->barrier, 1u);
    CHECK_EQ(barrier->count, 0u); /* the whole CTA */
    free(stream);
    run_end(&run);
}

TEST("a barrier for some of the CTA's warps counts arrivals: an exit does not replace one") {
    struct ptx_run run = {0};
    CHECK(!run_ptx(&run, PTX_KERNEL("setp.gt.u32 %p1, %r0, 31; @%p1 exit; bar.sync 1, 64; mov.u32 %r9, 7;" STORE), 1,
                   96));
    CHECK_TEXT(run.err.text, "deadlock at barrier 1: 1 of 2 warps have arrived");
    run_end(&run);
}

TEST("a barrier can be used again, and each use waits for its own arrivals") {
    struct ptx_run run = {0};
    /* Warp 1 is slow; warp 0 reads what it stored before each of two barriers. */
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(
            ".shared .b32 s; setp.gt.u32 %p1, %r0, 31; mov.u32 %r5, 0; mov.u32 %r9, 0;\n"
            "again: mov.u32 %r6, 0; @!%p1 bra wait; spin: add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 300; @%p2 bra spin;\n"
            "add.u32 %r7, %r5, 5; st.shared.u32 [s], %r7; wait: bar.sync 2, 64; ld.shared.u32 %r8, [s]; mad.lo.u32 %r9, %r9, 10, %r8;\n"
            "bar.sync 2; add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 3; @%p3 bra again;" STORE),
        1, 64));
    for (unsigned i = 0; i < 64; i++) CHECK_EQ(run_u32(&run)[i], 567u);
    run_end(&run);
}

TEST("barriers beyond 15 and thread counts that are no multiple of 32 are faults") {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {PTX_KERNEL("mov.u32 %r3, 16; bar.sync %r3;"), "barrier 16 with 0 threads"},
        {PTX_KERNEL("mov.u32 %r3, 33; bar.sync 0, %r3;"), "barrier 0 with 33 threads"},
        {PTX_KERNEL("mov.u32 %r3, 1056; bar.sync 0, %r3;"), "barrier 0 with 1056 threads"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ptx_run run = {0};
        CHECK(!run_ptx(&run, cases[i].text, 1, 32));
        CHECK_TEXT(run.err.text, cases[i].says);
        run_end(&run);
    }
    struct ptx_run run = {0};
    CHECK(run_ptx(&run, PTX_KERNEL("mov.u32 %r3, 15; mov.u32 %r4, 1024; bar.sync %r3, %r4;"), 1, 1024));
    run_end(&run);
}
