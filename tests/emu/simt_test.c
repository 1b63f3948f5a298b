/* Divergence and reconvergence. */
#include "emu/run_ptx.h"

TEST("lanes that diverge at a branch reconverge after it") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(&run,
                    PTX_KERNEL("setp.lt.u32 %p1, %r0, 10; mov.u32 %r3, 1; @%p1 bra small; mov.u32 %r3, 2; small:\n"
                               "activemask.b32 %r4; xor.b32 %r4, %r4, %r3; st.global.u32 [%rd2], %r4;"),
                    1, 32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], UINT32_MAX ^ (i < 10 ? 1u : 2u));
    run_end(&run);
}

TEST("the group without the highest lane runs first") {
    struct ptx_run run = {0};
    REQUIRE(
        run_ptx(&run,
                PTX_KERNEL("setp.lt.u32 %p1, %r0, 16; @%p1 bra low; atom.global.add.u32 %r3, [%rd1], 1; bra.uni both;\n"
                           "low: atom.global.add.u32 %r3, [%rd1], 1; both: st.global.u32 [%rd2], %r3;"),
                1, 32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], i);
    run_end(&run);
}

TEST("a loop runs a different number of times per lane") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(&run,
                    PTX_KERNEL("mov.u32 %r3, 0; mov.u32 %r4, 0; again: add.u32 %r4, %r4, %r3; add.u32 %r3, %r3, 1;\n"
                               "setp.le.u32 %p1, %r3, %r0; @%p1 bra again; st.global.u32 [%rd2], %r4;"),
                    2, 48));
    for (unsigned i = 0; i < 96; i++) CHECK_EQ(run_u32(&run)[i], i % 48 * (i % 48 + 1) / 2);
    run_end(&run);
}

TEST("lanes that exit early are removed, the others continue") {
    struct ptx_run run = {0};
    struct run_stream *stream = calloc(1, sizeof *stream);
    REQUIRE(run_trace(&run,
                      PTX_KERNEL("mov.u32 %r3, 7; and.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 0; @%p1 exit;\n"
                                 "st.global.u32 [%rd2], %r3; activemask.b32 %r5; st.global.u32 [%rd2], %r5;"),
                      1, 64, 0, 1, stream));
    for (unsigned i = 0; i < 64; i++) CHECK_EQ(run_u32(&run)[i], i & 1 ? 0xAAAAAAAAu : 0u);
    unsigned exits = 0;
    for (unsigned i = 0; i < stream->count; i++) exits += stream->instr[i].op == OP_exit;
    CHECK_EQ(exits, 1u);
    CHECK_EQ(stream->instr[stream->count - 1].op, OP_exit);
    CHECK_EQ(stream->instr[stream->count - 1].active, 0xAAAAAAAAu);
    free(stream);
    run_end(&run);
}

TEST("nested branches and an early return inside them keep separate masks") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL("and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0; and.b32 %r4, %r0, 2; setp.eq.u32 %p2, %r4, 0;\n"
                   "mov.u32 %r5, 0; @%p1 bra even; add.u32 %r5, %r5, 1; @%p2 bra join; add.u32 %r5, %r5, 10;\n"
                   "setp.gt.u32 %p3, %r0, 20; @%p3 ret; bra join;\n"
                   "even: add.u32 %r5, %r5, 2; @!%p2 bra join; add.u32 %r5, %r5, 20;\n"
                   "join: add.u32 %r5, %r5, 100; st.global.u32 [%rd2], %r5;"),
        1, 32));
    for (unsigned i = 0; i < 32; i++) {
        unsigned expected = i & 1 ? (i & 2 ? 111u : 101u) : (i & 2 ? 102u : 122u);
        CHECK_EQ(run_u32(&run)[i], (i & 3) == 3 && i > 20 ? 0u : expected);
    }
    run_end(&run);
}

TEST("brx.idx executes in groups of equal targets") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL("and.b32 %r3, %r0, 3; ts: .branchtargets A, B, C, A;\nbrx.idx %r3, ts;\n"
                   "A: mov.u32 %r4, 5; bra end; B: mov.u32 %r4, 6; bra end; C: mov.u32 %r4, 7;\n"
                   "end: activemask.b32 %r5; not.b32 %r5, %r5; add.u32 %r4, %r4, %r5; st.global.u32 [%rd2], %r4;"),
        1, 32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], i % 4 == 1 ? 6u : i % 4 == 2 ? 7u : 5u);
    run_end(&run);
}

TEST("lanes whose guard is false continue after brx.idx") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(&run,
                    PTX_KERNEL("mov.u32 %r4, 1; mov.u32 %r3, 0; setp.lt.u32 %p1, %r0, 8; ts: .branchtargets A;\n"
                               "@%p1 brx.idx %r3, ts;\nadd.u32 %r4, %r4, 10; add.u32 %r4, %r4, 100;\n"
                               "A: st.global.u32 [%rd2], %r4;"),
                    1, 32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], i < 8 ? 1u : 111u);
    run_end(&run);
}

TEST("brx.idx with an index beyond its list is a fault") {
    struct ptx_run run = {0};
    CHECK(!run_ptx(&run, PTX_KERNEL("ts: .branchtargets A, B;\nbrx.idx %r0, ts; A: mov.u32 %r4, 5; B: mov.u32 %r4, 6;"),
                   1, 32));
    CHECK_TEXT(run.err.text, "index 2 is out of range: the list has 2 targets");
    CHECK_TEXT(run.err.text, "thread (2,0,0)");
    run_end(&run);
}

TEST("a guard masks the lanes for which it is false") {
    struct ptx_run run = {0};
    REQUIRE(
        run_ptx(&run,
                PTX_KERNEL("setp.gt.u32 %p1, %r0, 7; mov.u32 %r3, 1; @%p1 mov.u32 %r3, 2; @!%p1 add.u32 %r3, %r3, 8;\n"
                           "st.global.u32 [%rd2], %r3;"),
                1, 20));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], i >= 20 ? 0u : i > 7 ? 2u : 9u);
    CHECK_EQ(run.counts.warp_instructions, 14u);
    CHECK_EQ(run.counts.thread_instructions, 14u * 20 - 20);
    run_end(&run);
}
