/* Livelocked kernels end with an error; kernels that only wait long do not. */
#include "emu/run_ptx.h"

#define SPIN "spin: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra spin;\n"

static void livelocked(const char *text, uint32_t blocks, uint32_t threads, const char *says) {
    struct ptx_run run = {0};
    REQUIRE(run_load(&run, text));
    CHECK(!run_loaded(&run, blocks, threads));
    CHECK_TEXT(run.err.text, "livelock: no thread can store, change memory by an atomic, arrive at a barrier or exit");
    CHECK_TEXT(run.err.text, says);
    run_end(&run);
}

TEST("a warp that polls while others wait at a barrier is a livelock: the error names both") {
    static const char text[] = PTX_KERNEL("setp.lt.u32 %p1, %r0, 32; @%p1 bra join;\n" SPIN "join:\nbar.sync 3;");
    livelocked(text, 1, 64,
               "test.ptx:11: `ld.volatile.global.u32 %r3, [%rd1]` in kernel k, block (0,0,0), thread (32,0,0)");
    livelocked(text, 1, 64, "block (0,0,0) warp 1 polls 4 bytes of global memory at 0xc0010000 (0x0) in line 11");
    livelocked(text, 1, 64, "block (0,0,0) warp 0 waits at barrier 3 in line 13");
    livelocked(text, 300, 64, "300 warps repeat a loop, 300 wait at barriers");
}

TEST("an unsuccessful compare-and-swap is a livelock") {
    livelocked(PTX_KERNEL("spin: atom.global.cas.b32 %r3, [%rd1], 1, 2; setp.ne.u32 %p2, %r3, 1; @%p2 bra spin;"), 1,
               32, "warp 0 polls 4 bytes of global memory at 0xc0010000 (0x0)");
}

TEST("a poll of shared memory with a pause is a livelock") {
    livelocked(
        PTX_KERNEL_WITH(".shared .align 4 .b32 flag[4];",
                        "spin: nanosleep.u32 100; ld.volatile.shared.u32 %r3, [flag+8]; setp.eq.u32 %p2, %r3, 0; "
                        "@%p2 bra spin;"),
        2, 1, "block (1,0,0) warp 0 polls 4 bytes of shared memory at 0x8 (0x0)");
}

TEST("a loop whose only stores are to local memory is a livelock") {
    livelocked(PTX_KERNEL(".local .align 4 .b32 l[1]; spin: ld.volatile.global.u32 %r3, [%rd1]; st.local.u32 [l], %r3; "
                          "ld.local.u32 %r4, [l]; setp.eq.u32 %p2, %r4, 0; @%p2 bra spin;"),
               1, 1, "polls 4 bytes of global memory");
}

TEST("an endless loop without loads is a livelock") {
    livelocked(PTX_KERNEL("spin: bra spin;"), 1, 1, "warp 0 loops without polling memory");
}

/* In 40,000 iterations, a warp executes 120,000 to 200,000 instructions. */
static void completes(const char *text, uint32_t blocks, uint32_t threads) {
    struct ptx_run run = {0};
    CHECK(run_ptx(&run, text, blocks, threads));
    CHECK_EQ((const char *)run.err.text, "");
    CHECK_EQ(run_u32(&run)[0], 9u);
    run_end(&run);
}

TEST("a poll that ends after a number of attempts, kept in a register or in local memory, is not a livelock") {
    completes(PTX_KERNEL("mov.u32 %r4, 0; spin: ld.volatile.global.u32 %r3, [%rd1]; add.u32 %r4, %r4, 1; "
                         "setp.lt.u32 %p2, %r4, 40000; @%p2 bra spin; st.global.u32 [%rd2], 9;"),
              1, 1);
    completes(PTX_KERNEL(".local .align 4 .b32 l[1]; st.local.u32 [l], 0; spin: ld.volatile.global.u32 %r3, [%rd1]; "
                         "ld.local.u32 %r4, [l]; add.u32 %r4, %r4, 1; st.local.u32 [l], %r4; "
                         "setp.lt.u32 %p2, %r4, 40000; @%p2 bra spin; st.global.u32 [%rd2], 9;"),
              1, 1);
}

TEST("a poll that ends by a clock is not a livelock") {
    completes(PTX_KERNEL("spin: ld.volatile.global.u32 %r3, [%rd1]; mov.u32 %r4, %clock; setp.lt.u32 %p2, %r4, 200000; "
                         "mov.u32 %r4, 0; @%p2 bra spin; st.global.u32 [%rd2], 9;"),
              1, 1);
}

TEST("warps that wait for a long computation of another warp are not livelocked") {
    completes(
        PTX_KERNEL(
            "setp.lt.u32 %p1, %r0, 32; @%p1 bra work;\n" SPIN
            "bra join; work: mov.u32 %r4, 0; loop: add.u32 %r4, %r4, 1; "
            "setp.lt.u32 %p2, %r4, 40000; @%p2 bra loop; st.volatile.global.u32 [%rd1], 1; join: bar.sync 0; st.global.u32 [%rd2], 9;"),
        3, 96);
}

TEST("polls while another warp stores to shared memory are not a livelock") {
    completes(
        PTX_KERNEL_WITH(
            ".shared .align 4 .b32 word[1];",
            "setp.lt.u32 %p1, %r0, 32; @%p1 bra work;\n" SPIN
            "bra join; work: mov.u32 %r4, 0; loop: st.shared.u32 [word], %r4; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, "
            "%r4, 40000; @%p2 bra loop; st.volatile.global.u32 [%rd1], 1; join: bar.sync 0; st.global.u32 [%rd2], 9;"),
        1, 64);
}

/* Runs a kernel that is to be judged after 50,000 warp instructions without progress. */
static bool ends_with_patience(struct ptx_run *run, const char *text, uint32_t threads) {
    if (!run_load(run, text)) return true;
    run->device.livelock_instructions = 50000;
    return run_loaded(run, 1, threads);
}

TEST("polls that count their attempts are taken for a livelock after a number of instructions") {
    static const char text[] = PTX_KERNEL(
        "setp.lt.u32 %p1, %r0, 32; @%p1 bra join; mov.u32 %r4, 0;\nspin: ld.volatile.global.u32 %r3, [%rd1]; "
        "add.u32 %r4, %r4, 1; setp.eq.u32 %p2, %r3, 0; @%p2 bra spin;\njoin:\nbar.sync 0;");
    struct ptx_run run;
    CHECK(!ends_with_patience(&run, text, 64));
    CHECK_TEXT(run.err.text, "livelock: no thread has stored, changed memory by an atomic, arrived at a barrier or "
                             "exited for 50000 warp instructions");
    CHECK_TEXT(run.err.text, "1 warps repeat a loop, 1 wait at barriers");
    CHECK_TEXT(run.err.text, "warp 1 polls 4 bytes of global memory at 0xc0010000 (0x0)");
    run_end(&run);
}

TEST("waits for a phase of an mbarrier that never completes, with a clock and pauses, are taken for a livelock") {
    static const char text[] = PTX_KERNEL(
        ".shared .align 8 .b64 bar; mov.u64 %rd5, %globaltimer; setp.ne.u32 %p1, %r0, 0; @%p1 bra ready; "
        "mbarrier.init.shared.b64 [bar], 65;\nready: bar.sync 0; mbarrier.arrive.shared.b64 %rd3, [bar];\n"
        "spin: mov.u64 %rd4, %globaltimer; sub.u64 %rd4, %rd4, %rd5; setp.lt.u64 %p1, %rd4, 1000; @%p1 bra test; "
        "nanosleep.u32 1000;\ntest: mbarrier.try_wait.shared.b64 %p2, [bar], %rd3; @!%p2 bra spin; "
        "st.global.u32 [%rd2], 9;");
    struct ptx_run run;
    CHECK(!ends_with_patience(&run, text, 64));
    CHECK_TEXT(run.err.text, "livelock: no thread has stored");
    CHECK_TEXT(run.err.text, "2 warps repeat a loop, 0 wait at barriers");
    CHECK_TEXT(run.err.text, "warp 1 polls 8 bytes of shared memory at 0x0 ");
    run_end(&run);
}

TEST("polls that end by a clock in time are not taken for a livelock") {
    struct ptx_run run;
    CHECK(ends_with_patience(&run,
                             PTX_KERNEL("spin: ld.volatile.global.u32 %r3, [%rd1]; mov.u32 %r4, %clock; "
                                        "setp.lt.u32 %p2, %r4, 40000; @%p2 bra spin; st.global.u32 [%rd2], 9;"),
                             1));
    CHECK_EQ(run_u32(&run)[0], 9u);
    run_end(&run);
    CHECK(!ends_with_patience(&run,
                              PTX_KERNEL("spin: ld.volatile.global.u32 %r3, [%rd1]; mov.u32 %r4, %clock; "
                                         "setp.lt.u32 %p2, %r4, 400000; @%p2 bra spin; st.global.u32 [%rd2], 9;"),
                              1));
    CHECK_TEXT(run.err.text, "livelock: no thread has stored");
    run_end(&run);
}

TEST("long computations are not taken for a livelock: without reads, or with reads of different words") {
    static const char *const texts[] = {
        PTX_KERNEL("mov.u32 %r4, 0; loop: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 100000; @%p2 bra loop; "
                   "st.global.u32 [%rd2], 9;"),
        PTX_KERNEL("mov.u32 %r4, 0; loop: and.b32 %r5, %r4, 1023; mul.wide.u32 %rd3, %r5, 4; add.u64 %rd3, %rd1, %rd3; "
                   "ld.global.u32 %r3, [%rd3]; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 60000; @%p2 bra loop; "
                   "st.global.u32 [%rd2], 9;"),
    };
    for (unsigned i = 0; i < COUNT_OF(texts); i++) {
        struct ptx_run run;
        CHECK(ends_with_patience(&run, texts[i], 1));
        CHECK_EQ((const char *)run.err.text, "");
        CHECK_EQ(run_u32(&run)[0], 9u);
        run_end(&run);
    }
}
