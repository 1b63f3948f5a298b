/* mbarriers: phases, arrivals, bytes of copies, waits, and what the stream records. */
#include "emu/run_ptx.h"

#define BARRIERS             ".shared .align 8 .b64 b[4]; setp.eq.u32 %p9, %r0, 0;"
#define INIT(count)          BARRIERS "@%p9 mbarrier.init.shared.b64 [b], " count "; bar.sync 0;"
#define AWAIT(label, parity) label ": mbarrier.try_wait.parity.shared.b64 %p8, [b], " parity "; @!%p8 bra " label ";"

TEST("threads arrive, and the phase completes with the last of them") {
    struct ptx_run run;
    /* Warps 0 to 2 store and arrive; warp 3 waits and reads what they have stored. */
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(
            INIT("96") ".shared .b32 s[96]; setp.gt.u32 %p1, %r0, 95; mov.u32 %r10, s;"
                       "@%p1 bra wait; mad.lo.u32 %r10, %r0, 4, %r10; st.shared.u32 [%r10], %r0;"
                       "mbarrier.arrive.shared.b64 %rd9, [b]; bra end;" AWAIT(
                           "wait", "0") "mov.u32 %r9, 0; mov.u32 %r4, 0;"
                                        "sum: ld.shared.u32 %r5, [%r10]; add.u32 %r9, %r9, %r5; add.u32 %r10, %r10, 4;"
                                        "add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 96; @%p2 bra sum;"
                                        "st.global.u32 [%rd2], %r9; end:"),
        1, 128));
    for (unsigned i = 96; i < 128; i++) CHECK_EQ(run_u32(&run)[i], 95u * 96 / 2);
    run_end(&run);
}

TEST("arrivals return the state before them, which test_wait and pending_count read") {
    struct ptx_run run;
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(INIT("3") "mbarrier.arrive.release.cta.shared::cta.b64 %rd5, [b];"
                             "mbarrier.pending_count.b64 %r3, %rd5; st.global.u32 [%rd0], %r3;"
                             "mbarrier.arrive.noComplete.shared.b64 %rd6, [b], 1;"
                             "mbarrier.pending_count.b64 %r3, %rd6; st.global.u32 [%rd0+4], %r3;"
                             "mbarrier.test_wait.shared.b64 %p1, [b], %rd5; selp.u32 %r3, 1, 0, %p1;"
                             "st.global.u32 [%rd0+8], %r3; mbarrier.arrive.shared.b64 _, [b];"
                             "mbarrier.test_wait.acquire.cta.shared.b64 %p1, [b], %rd5; selp.u32 %r3, 1, 0, %p1;"
                             "st.global.u32 [%rd0+12], %r3; mbarrier.arrive.shared.b64 %rd7, [b], 3;"
                             "mbarrier.pending_count.b64 %r3, %rd7; st.global.u32 [%rd0+16], %r3;"
                             "mbarrier.try_wait.shared.b64 %p1, [b], %rd7, 100; selp.u32 %r3, 1, 0, %p1;"
                             "st.global.u32 [%rd0+20], %r3;"),
        1, 1));
    static const uint32_t want[] = {3, 2, 0, 1, 3, 1};
    for (unsigned i = 0; i < COUNT_OF(want); i++) CHECK_EQ(run_u32(&run)[i], want[i]);
    run_end(&run);
}

TEST("parities alternate: a fresh mbarrier has completed the phase before its first one") {
    struct ptx_run run;
#define PROBE(parity, offset) \
    "mbarrier.test_wait.parity.shared.b64 %p1, [b], " parity "; selp.u32 %r3, 1, 0, %p1; st.global.u32 [%rd0+" offset \
    "], %r3;"
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(INIT("1") PROBE("0", "0") PROBE("1", "4") "mbarrier.arrive.shared.b64 _, [b];" PROBE("0", "8")
                       PROBE("1", "12") "mbarrier.arrive.shared.b64 _, [b];" PROBE("0", "16") PROBE("1", "20")),
        1, 1));
    static const uint32_t want[] = {0, 1, 1, 0, 0, 1};
    for (unsigned i = 0; i < COUNT_OF(want); i++) CHECK_EQ(run_u32(&run)[i], want[i]);
    run_end(&run);
}

TEST("arrive_drop lowers the count of the phases that follow") {
    struct ptx_run run;
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(INIT("3") "mbarrier.arrive_drop.shared.b64 %rd5, [b]; mbarrier.arrive.shared.b64 %rd5, [b], 2;"
                             "mbarrier.test_wait.parity.shared.b64 %p1, [b], 0; selp.u32 %r3, 1, 0, %p1;"
                             "st.global.u32 [%rd0], %r3; mbarrier.arrive.shared.b64 %rd5, [b], 2;"
                             "mbarrier.test_wait.parity.shared.b64 %p1, [b], 1; selp.u32 %r3, 1, 0, %p1;"
                             "st.global.u32 [%rd0+4], %r3;"),
        1, 1));
    CHECK_EQ(run_u32(&run)[0], 1u);
    CHECK_EQ(run_u32(&run)[1], 1u);
    run_end(&run);
}

TEST("expected bytes hold a phase until as many are complete") {
    struct ptx_run run;
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(INIT(
            "1") "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b], 16;"
                 "mbarrier.arrive.expect_tx.shared.b64 _, [b], 16;" PROBE("0", "0") "mbarrier.complete_tx.shared.b64 [b], 24;" PROBE(
                     "0", "4") "mbarrier.complete_tx.shared.b64 [b], 8;" PROBE("0", "8")),
        1, 1));
    static const uint32_t want[] = {0, 0, 1};
    for (unsigned i = 0; i < COUNT_OF(want); i++) CHECK_EQ(run_u32(&run)[i], want[i]);
    run_end(&run);
}

TEST("a bulk copy completes on its mbarrier, and its bytes are not visible before a test") {
    struct ptx_run run = {0};
    REQUIRE(run_load(
        &run,
        PTX_KERNEL(INIT("1") ".shared .align 16 .b8 s[512]; mov.u32 %r10, s; mad.lo.u32 %r10, %r0, 4, %r10;"
                             "@!%p9 bra wait; fence.mbarrier_init.release.cluster;"
                             "mbarrier.arrive.expect_tx.shared.b64 _, [b], 512;"
                             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 256, [b];"
                             "mov.u64 %rd9, 0;"
                             "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                             "[s+256], [%rd1+1024], 256, [b], %rd9;"
                             "ld.shared.u32 %r3, [s]; st.global.u32 [%rd0+2048], %r3;" AWAIT(
                                 "wait", "0") "ld.shared.u32 %r3, [%r10]; st.global.u32 [%rd2], %r3;")));
    for (unsigned i = 0; i < RUN_BUFFER_BYTES / 4; i++) run_input(&run)[i] = 1000 + i;
    REQUIRE(run_loaded(&run, 1, 128));
    for (unsigned i = 0; i < 128; i++) CHECK_EQ(run_u32(&run)[i], i < 64 ? 1000 + i : 1000 + 256 + i - 64);
    CHECK_EQ(run_u32(&run)[512], 0u);
    run_end(&run);
}

TEST("cp.async arrives on an mbarrier after the copies of its thread, with and without counting itself in") {
    static const char *const texts[] = {
        /* 64 threads are expected, once each, and arrive only through their copies. */
        PTX_KERNEL(INIT(
            "64") ".shared .align 256 .b8 s[512]; mov.u32 %r10, s; mad.lo.u32 %r10, %r0, 4, %r10;"
                  "mul.wide.u32 %rd10, %r0, 4; add.u64 %rd10, %rd1, %rd10;"
                  "cp.async.ca.shared.global [%r10], [%rd10], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [b];" AWAIT(
                      "wait", "0") "xor.b32 %r10, %r10, 128; ld.shared.u32 %r3, [%r10]; st.global.u32 [%rd2], %r3;"),
        /* The copies count themselves in, so that the threads arrive as well. */
        PTX_KERNEL(INIT(
            "64") ".shared .align 256 .b8 s[512]; mov.u32 %r10, s; mad.lo.u32 %r10, %r0, 4, %r10;"
                  "mul.wide.u32 %rd10, %r0, 4; add.u64 %rd10, %rd1, %rd10;"
                  "cp.async.ca.shared.global [%r10], [%rd10], 4; cp.async.mbarrier.arrive.shared::cta.b64 [b];"
                  "mbarrier.arrive.shared.b64 _, [b];" AWAIT(
                      "wait", "0") "xor.b32 %r10, %r10, 128; ld.shared.u32 %r3, [%r10]; st.global.u32 [%rd2], %r3;"),
    };
    for (size_t t = 0; t < COUNT_OF(texts); t++) {
        struct ptx_run run = {0};
        REQUIRE(run_load(&run, texts[t]));
        for (unsigned i = 0; i < 64; i++) run_input(&run)[i] = 1000 + i;
        REQUIRE(run_loaded(&run, 1, 64));
        for (unsigned i = 0; i < 64; i++) CHECK_EQ(run_u32(&run)[i], 1000 + (i ^ 32));
        run_end(&run);
    }
}

TEST("generic addresses of shared memory reach an mbarrier") {
    struct ptx_run run;
    REQUIRE(run_ptx(&run,
                    PTX_KERNEL(BARRIERS "mov.u32 %r3, b; cvt.u64.u32 %rd3, %r3; cvta.shared.u64 %rd3, %rd3;"
                                        "mbarrier.init.b64 [%rd3], 1; mbarrier.arrive.b64 _, [%rd3];"
                                        "mbarrier.test_wait.parity.b64 %p1, [%rd3], 0; selp.u32 %r3, 1, 0, %p1;"
                                        "st.global.u32 [%rd0], %r3; mbarrier.inval.b64 [%rd3];"),
                    1, 1));
    CHECK_EQ(run_u32(&run)[0], 1u);
    run_end(&run);
}

TEST("misuse of an mbarrier is a fault") {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {PTX_KERNEL(BARRIERS "mbarrier.arrive.shared.b64 _, [b];"), "there is no initialised mbarrier"},
        {PTX_KERNEL(INIT("1") "mbarrier.inval.shared.b64 [b]; mbarrier.arrive.shared.b64 _, [b];"),
         "there is no initialised mbarrier"},
        {PTX_KERNEL(INIT("2") "mbarrier.arrive.shared.b64 _, [b], 3;"),
         "3 arrivals on an mbarrier whose phase expects 2"},
        {PTX_KERNEL(INIT("1") "mbarrier.arrive.noComplete.shared.b64 %rd5, [b], 1;"), "has completed the phase"},
        {PTX_KERNEL(INIT("0")), "a count of 0"},
        {PTX_KERNEL(INIT("1048576")), "a count of 1048576"},
        {PTX_KERNEL(INIT("1") "mbarrier.expect_tx.shared.b64 [b], 1048576;"), "the limit is 1048575"},
        {PTX_KERNEL(BARRIERS "mbarrier.init.shared.b64 [b+4], 1;"), "misaligned"},
        {PTX_KERNEL(BARRIERS "mbarrier.init.b64 [%rd0], 1;"), "must be in shared memory"},
        {PTX_KERNEL(INIT("2") AWAIT("wait", "0")), "polls 8 bytes of shared memory"},
        {PTX_KERNEL(
             ".shared .align 8 .b8 s[4096]; mov.u32 %r3, s; add.u32 %r5, %r3, 4096;"
             "more: mbarrier.init.shared.b64 [%r3], 1; add.u32 %r3, %r3, 8; setp.lt.u32 %p1, %r3, %r5; @%p1 bra more;"),
         "more than 256 mbarriers"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ptx_run run = {0};
        CHECK(!run_ptx(&run, cases[i].text, 1, 1));
        if (!CHECK_TEXT(run.err.text, cases[i].says)) printf("      case %zu\n", i);
        run_end(&run);
    }
}

TEST("try_wait returns false in the end, so that a warp may do something else and arrive") {
    struct ptx_run run;
    REQUIRE(run_ptx(&run,
                    PTX_KERNEL(INIT("1") "mbarrier.try_wait.parity.shared.b64 %p1, [b], 0; selp.u32 %r3, 1, 2, %p1;"
                                         "st.global.u32 [%rd0], %r3; mbarrier.arrive.shared.b64 _, [b];" AWAIT(
                                             "wait", "0") "mov.u32 %r3, 3; st.global.u32 [%rd0+4], %r3;"),
                    1, 1));
    CHECK_EQ(run_u32(&run)[0], 2u);
    CHECK_EQ(run_u32(&run)[1], 3u);
    run_end(&run);
}

/* --- streams --- */

TEST("a try_wait that succeeds is one record that names the updates of its phase, however long it was suspended") {
    struct ptx_run run;
    struct run_stream *stream = calloc(1, sizeof *stream);
    /* Warp 1 arrives twice, in two phases, after many instructions each; warp 0 waits for both. */
    REQUIRE(run_trace(&run,
                      PTX_KERNEL(INIT("32") "setp.gt.u32 %p1, %r0, 31; @%p1 bra arrive;" AWAIT("first", "0") AWAIT(
                          "second", "1") "exit; arrive: mov.u32 %r5, 0;"
                                         "again: mov.u32 %r6, 0; spin: add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 3000;"
                                         "@%p2 bra spin; mbarrier.arrive.shared.b64 _, [b]; add.u32 %r5, %r5, 1;"
                                         "setp.lt.u32 %p3, %r5, 2; @%p3 bra again;"),
                      1, 64, 0, 0, stream));
    CHECK(stream->count < 40);
    for (unsigned i = 0; i < 2; i++) {
        const struct instr *wait = stream_find(stream, OP_barrier, 1 + i); /* after bar.sync */
        REQUIRE(wait);
        CHECK_EQ(wait->flags, INSTR_ASYNC);
        CHECK_EQ(wait->barrier, 0u);
        CHECK_EQ(instr_updates(wait), 1 + i);
    }
    CHECK(!stream_find(stream, OP_barrier, 3));
    free(stream);
    run_end(&run);
}

TEST("a failed test_wait is an access to shared memory, a successful one a wait") {
    struct ptx_run run;
    struct run_stream *stream = calloc(1, sizeof *stream);
    REQUIRE(run_trace(
        &run,
        PTX_KERNEL(INIT("1") "mbarrier.test_wait.parity.shared.b64 %p1, [b], 0; mbarrier.arrive.shared.b64 _, [b];"
                             "mbarrier.test_wait.parity.shared.b64 %p1, [b], 0;"),
        1, 1, 0, 0, stream));
    const struct instr *arrive = stream_find(stream, OP_barrier, 1), *wait = stream_find(stream, OP_barrier, 2);
    unsigned polls = 0;
    for (unsigned i = 0; i < stream->count; i++)
        polls += stream->instr[i].op == OP_load && stream->instr[i].space == SPACE_SHARED;
    CHECK_EQ(polls, 1u);
    REQUIRE(arrive && wait);
    CHECK_EQ(arrive->flags, INSTR_ASYNC | INSTR_ARRIVE);
    CHECK_EQ(instr_updates(wait), 1u);
    CHECK(wait->dst[0] != 0);
    free(stream);
    run_end(&run);
}

TEST("lanes with different mbarriers make a record for each of them") {
    struct ptx_run run;
    struct run_stream *stream = calloc(1, sizeof *stream);
    REQUIRE(run_trace(&run,
                      PTX_KERNEL(BARRIERS "mov.u32 %r10, b; and.b32 %r3, %r0, 3; mad.lo.u32 %r10, %r3, 8, %r10;"
                                          "setp.lt.u32 %p1, %r0, 4; @%p1 mbarrier.init.shared.b64 [%r10], 8;"
                                          "mbarrier.arrive.shared.b64 _, [%r10];"
                                          "wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0; @!%p2 bra wait;"),
                      1, 32, 0, 0, stream));
    unsigned seen[2][4] = {{0}};
    for (unsigned i = 0; i < stream->count; i++) {
        const struct instr *instr = &stream->instr[i];
        if (instr->op != OP_barrier) continue;
        REQUIRE(instr->barrier < 4);
        CHECK_EQ(instr->active, 0x11111111u << instr->barrier);
        seen[instr->flags & INSTR_ARRIVE ? 0 : 1][instr->barrier]++;
    }
    for (unsigned i = 0; i < 8; i++) CHECK_EQ(seen[i / 4][i % 4], 1u);
    free(stream);
    run_end(&run);
}

TEST("a lane that arrives after others of its warp wait releases them") {
    struct ptx_run run;
    REQUIRE(run_ptx(&run,
                    PTX_KERNEL(INIT("1") "@%p9 bra arrive;" AWAIT(
                        "wait", "0") "bra end;"
                                     "arrive: mov.u32 %r5, 0; spin: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 500;"
                                     "@%p1 bra spin; mbarrier.arrive.shared.b64 _, [b];"
                                     "end: mov.u32 %r9, 7; st.global.u32 [%rd2], %r9;"),
                    1, 32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], 7u);
    run_end(&run);
}
