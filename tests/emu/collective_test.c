/* Operations across the lanes of a warp and the warps of a CTA. */
#include "emu/run_ptx.h"

#define STORE "st.global.u32 [%rd2], %r9;"

/* The 32 result words of a body. */
static void results(const char *text, uint32_t out[32]) {
    struct ptx_run run = {0};
    bool good = run_ptx(&run, text, 1, 32);
    if (!good) printf("    %s\n", run.err.text);
    REQUIRE(good);
    memcpy(out, run_u32(&run), 128);
    run_end(&run);
}

TEST("shuffles read the lane selected by their mode, within segments") {
    uint32_t out[32];
    results(PTX_KERNEL("mul.lo.u32 %r3, %r0, 3; shfl.sync.up.b32 %r9, %r3, 2, 0, -1;" STORE), out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], 3 * (i < 2 ? i : i - 2));
    results(
        PTX_KERNEL("mul.lo.u32 %r3, %r0, 3; shfl.sync.down.b32 %r9|%p1, %r3, 2, 31, -1; @!%p1 mov.u32 %r9, 999;" STORE),
        out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], i < 30 ? 3 * (i + 2) : 999);
    results(PTX_KERNEL("mul.lo.u32 %r3, %r0, 3; shfl.sync.bfly.b32 %r9, %r3, 5, 31, -1;" STORE), out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], 3 * (i ^ 5));
    results(PTX_KERNEL("shfl.sync.idx.b32 %r9, %r0, 3, 0x181F, -1;" STORE), out); /* segments of eight */
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], (i & 24) + 3);
    results(PTX_KERNEL("shfl.sync.down.b32 %r9|%p1, %r0, 3, 0x181F, -1; @%p1 add.u32 %r9, %r9, 100;" STORE), out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], i % 8 < 5 ? i + 103 : i);
    results(PTX_KERNEL(
                "setp.lt.u32 %p2, %r0, 16; mov.u32 %r9, 50; @%p2 shfl.sync.bfly.b32 %r9, %r0, 16, 31, 0xFFFF;" STORE),
            out);
    for (unsigned i = 0; i < 32; i++)
        CHECK_EQ(out[i], i < 16 ? i : 50); /* an inactive source lane yields the lane's own value */
}

TEST("votes count the participating lanes") {
    uint32_t out[32];
    results(PTX_KERNEL("setp.lt.u32 %p1, %r0, 5; vote.sync.ballot.b32 %r9, %p1, -1;" STORE), out);
    CHECK_EQ(out[9], 31u);
    results(PTX_KERNEL("setp.lt.u32 %p1, %r0, 5; vote.sync.ballot.b32 %r9, !%p1, 0xFF;" STORE), out);
    CHECK_EQ(out[9], 0xE0u);
    results(
        PTX_KERNEL(
            "setp.lt.u32 %p1, %r0, 5; vote.sync.all.pred %p2, %p1, -1; vote.sync.any.pred %p3, %p1, -1; vote.sync.uni.pred %p4, %p1, -1;\n"
            "vote.sync.all.pred %p5, %p1, 7; selp.u32 %r9, 1, 0, %p2; @%p3 add.u32 %r9, %r9, 2; @%p4 add.u32 %r9, %r9, 4; @%p5 add.u32 %r9, %r9, 8;" STORE),
        out);
    CHECK_EQ(out[0], 10u);
}

TEST("match finds equal values, redux combines, elect picks the lowest lane") {
    uint32_t out[32];
    results(PTX_KERNEL("and.b32 %r3, %r0, 3; match.any.sync.b32 %r9, %r3, -1;" STORE), out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], 0x11111111u << (i & 3));
    results(
        PTX_KERNEL(
            "cvt.u64.u32 %rd3, %r0; shr.u64 %rd3, %rd3, 5; match.all.sync.b64 %r9|%p1, %rd3, -1; @%p1 sub.u32 %r9, %r9, 1;" STORE),
        out);
    CHECK_EQ(out[3], 0xFFFFFFFEu);
    results(PTX_KERNEL("match.all.sync.b32 %r9|%p1, %r0, -1; @!%p1 add.u32 %r9, %r9, 5;" STORE), out);
    CHECK_EQ(out[3], 5u);
    results(PTX_KERNEL("redux.sync.add.u32 %r9, %r0, -1;" STORE), out);
    CHECK_EQ(out[7], 496u);
    results(
        PTX_KERNEL(
            "sub.s32 %r3, %r0, 7; redux.sync.min.s32 %r9, %r3, -1; redux.sync.max.u32 %r4, %r3, -1; xor.b32 %r9, %r9, %r4;" STORE),
        out);
    CHECK_EQ(out[7], (uint32_t)-7 ^ (uint32_t)-1);
    results(PTX_KERNEL("elect.sync %r9|%p1, 0xF0; @%p1 add.u32 %r9, %r9, 100;" STORE), out);
    CHECK_EQ(out[3], 4u);
    CHECK_EQ(out[4], 104u);
}

TEST("redux of floats takes the minimum or maximum of numbers, or NaN if asked") {
    uint32_t out[32];
    /* lane i has i - 7 as a float, lane 9 has NaN */
#define VALUES "sub.s32 %r3, %r0, 7; cvt.rn.f32.s32 %f1, %r3; setp.eq.u32 %p1, %r0, 9; @%p1 mov.b32 %f1, 0x7FC00001;"
#define RESULT "mov.b32 %r9, %f2;" STORE
    results(PTX_KERNEL(VALUES "redux.sync.min.f32 %f2, %f1, -1;" RESULT), out);
    CHECK_EQ(out[3], 0xC0E00000u); /* -7 */
    results(PTX_KERNEL(VALUES "redux.sync.max.f32 %f2, %f1, -1;" RESULT), out);
    CHECK_EQ(out[3], 0x41C00000u); /* 24 */
    results(PTX_KERNEL(VALUES "redux.sync.min.abs.f32 %f2, %f1, -1;" RESULT), out);
    CHECK_EQ(out[3], 0u);
    results(PTX_KERNEL(VALUES "redux.sync.max.abs.f32 %f2, %f1, 0x3F;" RESULT), out);
    CHECK_EQ(out[3], 0x40E00000u); /* 7 */
    results(PTX_KERNEL(VALUES "redux.sync.max.NaN.f32 %f2, %f1, -1;" RESULT), out);
    CHECK_EQ(out[3], 0x7FFFFFFFu);
    results(PTX_KERNEL(VALUES "redux.sync.max.f32 %f2, %f1, 0x200;" RESULT), out);
    CHECK_EQ(out[9], 0x7FFFFFFFu); /* no number at all */
    results(PTX_KERNEL(VALUES "redux.sync.min.abs.f32 %f2, %f1, 1;" RESULT), out);
    CHECK_EQ(out[0], 0x40E00000u); /* one lane alone */
#undef VALUES
#undef RESULT
}

TEST("lanes with different member masks form separate groups") {
    /* %r4: the mask of the eight lanes around a lane */
#define TILE \
    "and.b32 %r3, %r0, 24; shl.b32 %r4, 255, %r3; and.b32 %r5, %r0, 1; setp.ne.u32 %p1, %r5, 0; mul.lo.u32 %r6, %r0, %r0;"
    uint32_t out[32], sum[4] = {0};
    for (unsigned i = 0; i < 32; i++) sum[i / 8] += i * i;
    results(PTX_KERNEL(TILE "shfl.sync.bfly.b32 %r9, %r6, 3, 0x181F, %r4;" STORE), out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], (i ^ 3) * (i ^ 3));
    results(PTX_KERNEL(TILE "mov.u32 %r9, %r6; shfl.sync.idx.b32 %r9, %r9, 0, 0x181F, %r4;" STORE), out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], (i & 24) * (i & 24));
    results(PTX_KERNEL(TILE "vote.sync.ballot.b32 %r9, %p1, %r4;" STORE), out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], 0xAAu << (i & 24));
    results(PTX_KERNEL(TILE "redux.sync.add.u32 %r9, %r6, %r4;" STORE), out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], sum[i / 8]);
    results(PTX_KERNEL(TILE "match.any.sync.b32 %r9, %r5, %r4;" STORE), out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], (i % 2 ? 0xAAu : 0x55u) << (i & 24));
    results(PTX_KERNEL(TILE "elect.sync %r9|%p2, %r4; @%p2 add.u32 %r9, %r9, 100;" STORE), out);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(out[i], (i & 24) + (i % 8 ? 0 : 100));
#undef TILE
}

TEST("a barrier blocks until all warps have arrived") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(
            ".shared .b32 s[256]; mov.u32 %r3, s; mad.lo.u32 %r4, %r0, 4, %r3; mov.u32 %r5, 0; spin: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r0; @%p1 bra spin;\n"
            "st.shared.u32 [%r4], %r0; bar.sync 0; xor.b32 %r6, %r0, 255; mad.lo.u32 %r6, %r6, 4, %r3; ld.shared.u32 %r9, [%r6];" STORE),
        2, 256));
    for (unsigned i = 0; i < 512; i++) CHECK_EQ(run_u32(&run)[i], 255 - i % 256);
    run_end(&run);
}

TEST("bar.red counts and combines the predicates of the block") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(
            "setp.lt.u32 %p1, %r0, 70; bar.red.popc.u32 %r9, 0, %p1; bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, %p1; bar.red.and.pred %p4, 1, !%p6;\n"
            "@%p2 add.u32 %r9, %r9, 1000; @%p3 add.u32 %r9, %r9, 2000; @%p4 add.u32 %r9, %r9, 4000;" STORE),
        1, 100));
    for (unsigned i = 0; i < 100; i++) CHECK_EQ(run_u32(&run)[i], 6070u);
    run_end(&run);
}

TEST("a producer arrives, consumers wait; exited warps are not waited for") {
    struct ptx_run run = {0};
    struct run_stream *stream = calloc(1, sizeof *stream);
    REQUIRE(run_trace(
        &run,
        PTX_KERNEL(
            ".shared .b32 s; setp.gt.u32 %p1, %r0, 95; @%p1 exit; setp.lt.u32 %p2, %r0, 32; @%p2 bra producer; bar.sync 3, 96; ld.shared.u32 %r9, [s]; bra both;\n"
            "producer: mov.u32 %r5, 0; spin: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 500; @%p1 bra spin; mov.u32 %r9, 42; st.shared.u32 [s], 43; setp.gt.u32 %p3, %r0, 400; bar.arrive 3, 96; bra both;\n"
            "both: @%p2 bra last; setp.gt.u32 %p4, %r0, 63; @%p4 bra last; last: bar.sync 0;" STORE),
        1, 128, 0, 0, stream));
    CHECK_EQ(run_u32(&run)[0], 42u);
    CHECK_EQ(run_u32(&run)[40], 43u);
    const struct instr *arrive = stream_find(stream, OP_barrier, 0), *wait = stream_find(stream, OP_barrier, 1);
    REQUIRE(arrive && wait);
    CHECK(arrive->flags & INSTR_ARRIVE);
    CHECK_EQ(arrive->barrier, 3u);
    CHECK_EQ(arrive->count, 3u);
    CHECK_EQ(wait->barrier, 0u);
    CHECK_EQ(wait->count, 0u);
    free(stream);
    run_end(&run);
}

TEST("a barrier deadlock is a fault") {
    struct ptx_run run = {0};
    CHECK(!run_ptx(&run, PTX_KERNEL("setp.lt.u32 %p1, %r0, 32; @%p1 bar.sync 1, 64; @!%p1 bar.sync 2, 64;"), 1, 64));
    CHECK_TEXT(run.err.text, "deadlock at barrier 1: 1 of 2 warps have arrived");
    run_end(&run);
}

TEST("clocks count executed instructions and are the same in every run") {
    uint32_t out[32], again[32];
    const char *text = PTX_KERNEL(
        "mov.u32 %r3, %clock; mov.u32 %r4, %clock; sub.u32 %r9, %r4, %r3; mov.u64 %rd3, %clock64; mov.u64 %rd4, %globaltimer; st.global.u64 [%rd0+4096], %rd3;" STORE);
    results(text, out);
    results(text, again);
    CHECK_EQ(out[0], 1u);
    CHECK(!memcmp(out, again, sizeof out));
}
