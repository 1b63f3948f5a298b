/* Clusters: special registers, the barrier, distributed shared memory, and launches that do not fit. */
#include "emu/run_ptx.h"

/* Kernel `k` with directives before its body, as PTX_KERNEL_WITH; a shared array `tile`. */
#define CLUSTER_KERNEL(directives, body) \
    PTX_HEADER \
    ".visible .entry k(.param .u64 out, .param .u64 in) " directives " {\n" \
    ".reg .pred %p<10>; .reg .b32 %r<60>; .reg .b64 %rd<60>; .shared .align 8 .b32 tile[64];\n" \
    "ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [in]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n" \
    "mov.u32 %r2, %ntid.x; mad.lo.s32 %r2, %r1, %r2, %r0; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd0, %rd2;\n" body \
    "\nret;\n}\n"

TEST("special registers give the position in the cluster and of the cluster") {
    struct ptx_run run = {0};
    REQUIRE(run_load(
        &run,
        CLUSTER_KERNEL(
            ".reqnctapercluster 3, 2",
            "mov.u32 %r3, %ctaid.y; mov.u32 %r4, %nctaid.x; mad.lo.u32 %r5, %r3, %r4, %r1; mul.wide.u32 %rd3, %r5, 64; add.u64 %rd3, %rd0, %rd3;\n"
            "mov.u32 %r6, %cluster_ctaid.x; st.global.u32 [%rd3], %r6; mov.u32 %r6, %cluster_ctaid.y; st.global.u32 [%rd3+4], %r6;\n"
            "mov.u32 %r6, %cluster_nctaid.x; st.global.u32 [%rd3+8], %r6; mov.u32 %r6, %cluster_nctaid.y; st.global.u32 [%rd3+12], %r6;\n"
            "mov.u32 %r6, %clusterid.x; st.global.u32 [%rd3+16], %r6; mov.u32 %r6, %clusterid.y; st.global.u32 [%rd3+20], %r6;\n"
            "mov.u32 %r6, %nclusterid.x; st.global.u32 [%rd3+24], %r6; mov.u32 %r6, %nclusterid.y; st.global.u32 [%rd3+28], %r6;\n"
            "mov.u32 %r6, %cluster_ctarank; st.global.u32 [%rd3+32], %r6; mov.u32 %r6, %cluster_nctarank; st.global.u32 [%rd3+36], %r6;\n"
            "mov.pred %p1, %is_explicit_cluster; selp.u32 %r6, 1, 0, %p1; st.global.u32 [%rd3+40], %r6;")));
    uint64_t parameters[2] = {run.out, run.in};
    struct launch launch = run_launch_of(&run, 6, 1, parameters);
    launch.grid[1] = 4;
    REQUIRE(emu_run(&run.device, &launch, NULL, &run.counts, &run.err));
    for (uint32_t y = 0; y < 4; y++)
        for (uint32_t x = 0; x < 6; x++) {
            const uint32_t *found = run_u32(&run) + 16 * (y * 6 + x);
            const uint32_t wanted[] = {x % 3, y % 2, 3, 2, x / 3, y / 2, 2, 2, x % 3 + 3 * (y % 2), 6, 1};
            for (unsigned i = 0; i < COUNT_OF(wanted); i++) CHECK_EQ(found[i], wanted[i]);
        }
    run_end(&run);
}

TEST("CTAs of a cluster read, write and update each other's shared memory between barriers") {
    struct ptx_run run = {0};
    /* Each thread writes its tile; after the barrier, it adds to the tile of the next rank, stores to the one before,
     * and reads the result. 300 clusters take turns in the window. */
    REQUIRE(run_ptx(
        &run,
        CLUSTER_KERNEL(
            ".reqnctapercluster 4, 1, 1",
            "shl.b32 %r3, %r0, 2; mov.u32 %r4, tile; add.u32 %r4, %r4, %r3; st.shared.u32 [%r4], %r2; mov.u32 %r5, %cluster_ctarank;\n"
            "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
            "add.u32 %r6, %r5, 1; and.b32 %r6, %r6, 3; mapa.shared::cluster.u32 %r7, %r4, %r6; atom.shared::cluster.add.u32 %r8, [%r7], 1000000;\n"
            "cvta.shared.u64 %rd4, %rd3; cvt.u64.u32 %rd5, %r4; cvta.shared::cluster.u64 %rd5, %rd5; add.u32 %r9, %r5, 3; and.b32 %r9, %r9, 3; mapa.u64 %rd6, %rd5, %r9;\n"
            "st.u32 [%rd6+128], %r5; getctarank.u64 %r10, %rd6; getctarank.shared::cluster.u32 %r11, %r7; getctarank.u64 %r12, %rd5;\n"
            "isspacep.shared %p1, %rd5; isspacep.shared %p2, %rd6; isspacep.shared::cluster %p3, %rd6;\n"
            "barrier.cluster.arrive; barrier.cluster.wait;\n"
            "ld.shared::cluster.u32 %r13, [%r4]; ld.shared.u32 %r14, [%r4+128]; sub.u32 %r13, %r13, %r2; mad.lo.u32 %r13, %r14, 10, %r13; mad.lo.u32 %r13, %r10, 100, %r13; mad.lo.u32 %r13, %r11, 1000, %r13;\n"
            "mad.lo.u32 %r13, %r12, 10000, %r13; selp.u32 %r15, 100000, 0, %p1; add.u32 %r13, %r13, %r15; selp.u32 %r15, 0, 200000, %p2; add.u32 %r13, %r13, %r15; selp.u32 %r15, 400000, 0, %p3; add.u32 %r13, %r13, %r15;\n"
            "st.global.u32 [%rd2], %r13;"),
        400, 32));
    for (uint32_t i = 0; i < 400 * 32; i++) {
        uint32_t rank = i / 32 % 4, next = (rank + 1) % 4, before = (rank + 3) % 4;
        CHECK_EQ(run_u32(&run)[i], 1000000 + next * 10 + before * 100 + next * 1000 + rank * 10000 + 700000);
    }
    run_end(&run);
}

TEST("the barrier of the cluster does not wait for exited threads, and arrival is separate from waiting") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        CLUSTER_KERNEL(
            ".reqnctapercluster 2, 1, 1",
            "mov.u32 %r5, %cluster_ctarank; setp.eq.u32 %p1, %r5, 1; setp.gt.u32 %p2, %r0, 40; and.pred %p3, %p1, %p2; @%p3 exit;\n"
            "barrier.cluster.arrive; mov.u32 %r6, 5; barrier.cluster.wait; @%p1 exit; barrier.cluster.arrive.relaxed; barrier.cluster.wait; st.global.u32 [%rd2], %r6;"),
        2, 96));
    for (uint32_t i = 0; i < 96; i++) CHECK_EQ(run_u32(&run)[i], 5u);
    CHECK_EQ(run_u32(&run)[96], 0u);
    run_end(&run);
}

static void fails(const char *text, uint32_t grid, const uint32_t cluster[3], const char *message, int line) {
    struct test_place place = {__FILE__, line};
    struct ptx_run run = {0};
    REQUIRE(run_load(&run, text));
    uint64_t parameters[2] = {run.out, run.in};
    struct launch launch = run_launch_of(&run, grid, 64, parameters);
    for (unsigned i = 0; cluster && i < 3; i++) launch.cluster[i] = cluster[i];
    bool good = emu_run(&run.device, &launch, NULL, &run.counts, &run.err);
    test_check(place, "fails as expected", good == !*message);
    test_check_text(place, "err.text", run.err.text, message);
    run_end(&run);
}
#define FAILS(text, grid, cluster, message) fails(text, grid, (const uint32_t[3])cluster, message, __LINE__)
#define SIZE(x, y, z) \
    { x, y, z }

TEST("misuse of the barrier and of addresses is a fault") {
    FAILS(CLUSTER_KERNEL("", "barrier.cluster.wait;"), 2, SIZE(2, 1, 1), "waits at the barrier of the cluster without");
    FAILS(CLUSTER_KERNEL("", "barrier.cluster.arrive; barrier.cluster.arrive;"), 2, SIZE(2, 1, 1),
          "arrives at the barrier");
    FAILS(
        CLUSTER_KERNEL(
            "",
            "shr.u32 %r3, %r2, 5; setp.ne.u32 %p1, %r3, 2; @%p1 barrier.cluster.arrive; @%p1 barrier.cluster.wait; @!%p1 bar.sync 0, 64;"),
        2, SIZE(2, 1, 1), "deadlock at the barrier of the cluster: all live warps of its 2 CTAs wait");
    FAILS(CLUSTER_KERNEL("", "mapa.shared::cluster.u32 %r3, %r4, 2;"), 2, SIZE(2, 1, 1),
          "rank 2 of a cluster of 2 CTAs");
    FAILS(CLUSTER_KERNEL("", "mapa.u64 %rd3, %rd0, 1;"), 2, SIZE(2, 1, 1), "which is not a generic address of shared");
    FAILS(
        CLUSTER_KERNEL(
            "",
            "mov.u32 %r3, %cluster_ctarank; setp.eq.u32 %p1, %r3, 0; @%p1 exit; mov.u32 %r4, tile; mapa.shared::cluster.u32 %r4, %r4, 0; ld.shared::cluster.u32 %r5, [%r4];"),
        2, SIZE(2, 1, 1), "the cluster has no CTA of this rank, or it has ended");
    FAILS(CLUSTER_KERNEL(
              "", "mov.u32 %r4, tile; mapa.shared::cluster.u32 %r4, %r4, 1; ld.shared::cluster.u32 %r5, [%r4+65536];"),
          2, SIZE(2, 1, 1), "outside the 256 bytes available");
}

/* Rank `of` of an mbarrier in `tile`, as %r5. */
#define BARRIER_OF(of) \
    "mov.u32 %r4, tile; mov.u32 %r3, %cluster_ctarank; xor.b32 %r3, %r3, " of \
    "; mbarrier.init.shared.b64 [%r4], 64;\n" \
    "barrier.cluster.arrive; barrier.cluster.wait; mapa.shared::cluster.u32 %r5, %r4, %r3;\n"
#define REMOTE_ARRIVE "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];"

#define BULK(source) "cp.async.bulk.shared::cluster." source ".mbarrier::complete_tx::bytes "
#define SEND         BULK("shared::cta")
#define AWAIT(parity) \
    "wait" parity ": mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r4], " parity \
    "; @!%p1 bra wait" parity ";\n"
#define SYNC "barrier.cluster.arrive; barrier.cluster.wait;\n"

TEST("threads arrive on an mbarrier of another CTA, expect bytes there and complete them") {
    struct ptx_run run = {0};
    /* 64 arrivals: 32 of each CTA, on the mbarrier of the other one and on the own one under its rank. */
    REQUIRE(run_ptx(
        &run,
        CLUSTER_KERNEL(
            ".reqnctapercluster 2, 1, 1",
            BARRIER_OF("1") "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r5], 32;\n" REMOTE_ARRIVE
                            "mov.u32 %r6, %cluster_ctarank; mapa.shared::cluster.u32 %r7, %r4, %r6;\n"
                            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];\n" SYNC
                            "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r4], 0; selp.u32 %r8, 1, 0, %p2;\n" SYNC
                            "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r5], 32;\n" AWAIT(
                                "0") "add.u32 %r8, %r8, 10; st.global.u32 [%rd2], %r8;" SYNC),
        2, 32));
    for (unsigned i = 0; i < 64; i++) CHECK_EQ(run_u32(&run)[i], 10u);
    run_end(&run);
}

/* Thread 0 of each CTA copies 64 bytes to the other one; each thread reads what has arrived. */
#define EXCHANGE(copy) \
    CLUSTER_KERNEL( \
        ".reqnctapercluster 2, 1, 1", \
        ".shared .align 16 .b32 from[16]; .shared .align 16 .b32 to[16];\n" \
        "mov.u32 %r4, tile; mov.u32 %r3, %cluster_ctarank; xor.b32 %r3, %r3, 1; setp.eq.u32 %p2, %r0, 0;\n" \
        "@%p2 mbarrier.init.shared.b64 [%r4], 1; mov.u32 %r10, from; mad.lo.u32 %r10, %r0, 4, %r10;\n" \
        "st.shared.u32 [%r10], %r2; fence.proxy.async;\n" SYNC "@!%p2 bra wait0;\n" \
        "mapa.shared::cluster.u32 %r5, %r4, %r3; mov.u32 %r11, to; mapa.shared::cluster.u32 %r6, %r11, %r3;\n" \
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 64;\n" copy "ld.shared.u32 %r12, [to];\n" \
        "st.global.u32 [%rd0+1024], %r12;\n" AWAIT( \
            "0") "mov.u32 %r11, to; mad.lo.u32 %r11, %r0, 4, %r11; ld.shared.u32 %r12, [%r11];\n" \
                 "st.global.u32 [%rd2], %r12;\n" SYNC)

TEST("a bulk copy from shared or global memory lands in another CTA and completes on its mbarrier") {
    static const char *const texts[] = {EXCHANGE(SEND "[%r6], [from], 64, [%r5];\n"),
                                        EXCHANGE("mul.wide.u32 %rd4, %r1, 64; add.u64 %rd4, %rd1, %rd4;\n" BULK(
                                            "global") "[%r6], [%rd4], 64, [%r5];\n")};
    for (unsigned t = 0; t < 2; t++) {
        struct ptx_run run = {0};
        REQUIRE(run_load(&run, texts[t]));
        for (unsigned i = 0; i < 64; i++) run_input(&run)[i] = 1000 + i;
        REQUIRE(run_loaded(&run, 4, 16));
        for (unsigned i = 0; i < 64; i++) CHECK_EQ(run_u32(&run)[i], 1000 * t + (i ^ 16));
        CHECK_EQ(run_u32(&run)[256], 0u); /* not visible before a test */
        run_end(&run);
    }
}

TEST("a bulk copy to the own CTA under its rank is one within the CTA") {
    struct ptx_run run = {0};
    struct run_stream *stream = calloc(1, sizeof *stream);
    REQUIRE(run_trace(&run,
                      PTX_KERNEL(".shared .align 16 .b8 s[40960]; .shared .align 8 .b64 b; mov.u32 %r4, b;\n"
                                 "mov.u32 %r10, s; mad.lo.u32 %r10, %r0, 4, %r10; st.shared.u32 [%r10], %r0;\n"
                                 "setp.ne.u32 %p2, %r0, 0; @%p2 bra wait0; mbarrier.init.shared.b64 [b], 1;\n"
                                 "mbarrier.arrive.expect_tx.shared.b64 _, [b], 16400; mov.u32 %r5, s;\n"
                                 "mapa.shared::cluster.u32 %r5, %r5, 0; mapa.shared::cluster.u32 %r6, %r4, 0;\n" SEND
                                 "[%r5+16400], [s], 16400, [%r6];\n" AWAIT(
                                     "0") "ld.shared.u32 %r12, [%r10+16400]; st.global.u32 [%rd2], %r12;"),
                      1, 32, 0, 0, stream));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], i);
    unsigned pieces = 0, passes = 0;
    for (unsigned i = 0; i < stream->count; i++) {
        const struct instr *instr = &stream->instr[i];
        if (!(instr->flags & INSTR_BULK)) continue;
        CHECK_EQ(instr->op, OP_store);
        CHECK_EQ(instr->space, SPACE_SHARED);
        CHECK_EQ(instr->flags, INSTR_ASYNC | INSTR_BULK);
        CHECK_EQ(instr->active, pieces ? 0u : 1u);
        pieces++;
        passes += instr->conflicts;
    }
    CHECK_EQ(pieces, 3u);
    CHECK_EQ(passes, 64u + 64 + 1);
    free(stream);
    run_end(&run);
}

/* A kernel without its end, in which %r5 is the mbarrier in the other CTA. */
static const char MISUSE[] =
    PTX_HEADER ".visible .entry k(.param .u64 out, .param .u64 in) {\n"
               ".reg .pred %p<10>; .reg .b32 %r<60>; .reg .b64 %rd<60>; .shared .align 16 .b32 tile[64];\n"
               "ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [in]; mov.u32 %r0, %tid.x;\n" BARRIER_OF("1");

TEST("misuse of copies to and mbarriers in other CTAs is a fault") {
    static const struct {
        const char *body, *says;
    } cases[] = {
        {SEND "[%r5+24], [tile+16], 16, [%r5];", "must be multiples of 16"},
        {SEND "[%r5+16], [tile+8], 16, [%r5];", "must be multiples of 16"},
        {SEND "[%r5+16], [tile+32], 24, [%r5];", "must be multiples of 16"},
        {SEND "[%r5+16], [tile+32], 1024, [%r5];", "a bulk copy of 1024 bytes to shared memory at"},
        {SEND "[%r5+16], [tile+32], 16, [%r4];", "are in the shared memory of different blocks of the cluster"},
        {SEND "[%r4+16], [tile+32], 16, [%r5];", "are in the shared memory of different blocks of the cluster"},
        {BULK("global") "[%r5+16], [%rd1], 16, [%r4];", "are in the shared memory of different blocks of the cluster"},
        {SEND "[%r5+16], [%r5+32], 16, [%r5];", "the instruction requires an address in its own block"},
        {SEND "[%r5+16], [tile+32], 16, [%r5+8];", "there is no initialised mbarrier at"},
        {"cp.async.ca.shared.global [%r5], [%rd1], 4;", "the instruction requires an address in its own block"},
        {"cp.async.mbarrier.arrive.shared.b64 [%r5];", "the instruction requires an address in its own block"},
        {"mbarrier.init.shared.b64 [%r5], 1;", "the instruction requires an address in its own block"},
        {"mbarrier.try_wait.parity.shared.b64 %p1, [%r5], 0;", "the instruction requires an address in its own block"},
        {"mbarrier.arrive.shared::cluster.b64 %rd9, [%r5];", "the instruction requires an address in its own block"},
        {"mbarrier.arrive.noComplete.b64 %rd9, [%rd9], 1;", "an mbarrier must be in shared memory"},
        {"setp.eq.u32 %p1, %r3, 1; @%p1 exit; bar.sync 0; " SEND "[%r5+16], [tile+32], 16, [%r5];",
         "the cluster has no CTA of this rank, or it has ended"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[4096];
        snprintf(text, sizeof text, "%s%s\nret;\n}\n", MISUSE, cases[i].body);
        FAILS(text, 2, SIZE(2, 1, 1), cases[i].says);
    }
}

TEST("a launch has whole clusters of the size that the kernel requires") {
#define NOTHING(directives) CLUSTER_KERNEL(directives, "")
    FAILS(NOTHING(""), 6, SIZE(4, 1, 1), "a grid of 6x1x1 CTAs does not consist of clusters of 4x1x1");
    FAILS(NOTHING(""), 32, SIZE(32, 1, 1), "clusters of 32x1x1 CTAs; the limit is 16 CTAs");
    FAILS(NOTHING(".maxclusterrank 4"), 8, SIZE(8, 1, 1), "the limit is 4 CTAs");
    FAILS(NOTHING(".maxclusterrank 4"), 8, SIZE(4, 1, 1), "");
    FAILS(NOTHING(".reqnctapercluster 2"), 8, SIZE(4, 1, 1), "the kernel requires 2x1x1");
    FAILS(NOTHING(".reqnctapercluster 2"), 3, SIZE(0, 0, 0), "does not consist of clusters of 2x1x1");
    FAILS(NOTHING(".explicitcluster"), 4, SIZE(0, 0, 0), "the kernel requires a size of clusters (.explicitcluster)");
    FAILS(NOTHING(".explicitcluster"), 4, SIZE(2, 1, 1), "");
}
