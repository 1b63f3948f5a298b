/* Independent thread scheduling: lanes of a warp that wait for each other, and masks of .sync operations. */
#include "emu/run_ptx.h"

#define STORE "st.global.u32 [%rd2], %r9;"

/* The text of a module for another target. */
static const char *for_target(const char *text, const char *target) {
    static char buffer[8192];
    const char *at = strstr(text, "sm_90");
    snprintf(buffer, sizeof buffer, "%.*s%s%s", (int)(at - text), text, target, at + strlen("sm_90"));
    return buffer;
}

static void runs(struct ptx_run *run, const char *text, uint32_t blocks, uint32_t threads) {
    bool good = run_ptx(run, text, blocks, threads);
    if (!good) printf("    %s\n", run->err.text);
    REQUIRE(good);
}

static void fails(const char *text, uint32_t threads, const char *says) {
    struct ptx_run run = {0};
    CHECK(!run_ptx(&run, text, 1, threads));
    CHECK_TEXT(run.err.text, says);
    run_end(&run);
}

/* Each thread takes the lock in [in], reads and increments the word behind it without an atomic, and releases it. */
#define CRITICAL \
    "ld.volatile.global.u32 %r4, [%rd1+128]; add.u32 %r4, %r4, 1; st.volatile.global.u32 [%rd1+128], %r4; membar.gl;\n"
#define NAIVE_LOCK \
    "take: atom.global.cas.b32 %r3, [%rd1], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra take;\n" CRITICAL \
    "atom.global.exch.b32 %r5, [%rd1], 0; mov.u32 %r9, %r4;" STORE
#define CLASSIC_LOCK \
    "try: atom.global.cas.b32 %r3, [%rd1], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra next;\n" CRITICAL \
    "atom.global.exch.b32 %r5, [%rd1], 0; mov.u32 %r9, %r4; next: setp.eq.u32 %p2, %r9, 0; @%p2 bra try;" STORE

static void lock_holds(const char *text, uint32_t blocks, uint32_t threads) {
    struct ptx_run run = {0};
    runs(&run, text, blocks, threads);
    CHECK_EQ(run_input(&run)[32], blocks * threads);
    uint64_t sum = 0, all = (uint64_t)blocks * threads;
    for (unsigned i = 0; i < all; i++) sum += run_u32(&run)[i];
    CHECK_EQ(sum, all * (all + 1) / 2); /* every thread had its own turn */
    run_end(&run);
}

TEST("a spin lock that all lanes of a warp take in turn is released and taken 32 times") {
    lock_holds(PTX_KERNEL(NAIVE_LOCK), 1, 32);
    lock_holds(PTX_KERNEL(CLASSIC_LOCK), 1, 32);
}

TEST("threads of several warps and CTAs take a spin lock") {
    lock_holds(PTX_KERNEL(NAIVE_LOCK), 3, 70);
    lock_holds(PTX_KERNEL(CLASSIC_LOCK), 3, 70);
}

TEST("a spin lock with a pause that grows is taken by all lanes") {
    lock_holds(
        PTX_KERNEL("mov.u32 %r6, 8; bra take; back: nanosleep.u32 %r6; setp.lt.u32 %p2, %r6, 256; @%p2 shl.b32 "
                   "%r6, %r6, 1;\n"
                   "take: atom.global.cas.b32 %r3, [%rd1], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra back;\n" CRITICAL
                   "atom.global.exch.b32 %r5, [%rd1], 0; mov.u32 %r9, %r4;" STORE),
        2, 64);
}

TEST("lanes gather behind the release of a lock and continue together") {
    struct ptx_run run = {0};
    runs(&run, PTX_KERNEL(NAIVE_LOCK "activemask.b32 %r9;" STORE), 1, 32);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], UINT32_MAX);
    run_end(&run);
}

TEST("a spin lock that counts its attempts is taken by all lanes, after many of them") {
    lock_holds(PTX_KERNEL("mov.u32 %r6, 0; take: add.u32 %r6, %r6, 1; atom.global.cas.b32 %r3, [%rd1], 0, 1; "
                          "setp.ne.u32 %p1, %r3, 0; @%p1 bra take;\n" CRITICAL
                          "atom.global.exch.b32 %r5, [%rd1], 0; mov.u32 %r9, %r4;" STORE),
               1, 4);
}

/* Lane 0 waits for lane 1, which waits for lane 2, ...: each adds 1 to what it receives. */
#define CHAIN \
    "mov.u32 %r9, 1; setp.eq.u32 %p1, %r0, 31; @%p1 bra pass; add.u32 %r3, %r0, 1; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd3, %rd1, %rd3;\n" \
    "wait: ld.volatile.global.u32 %r4, [%rd3]; setp.eq.u32 %p2, %r4, 0; @%p2 bra wait; add.u32 %r9, %r4, 1;\n" \
    "pass: mul.wide.u32 %rd4, %r0, 4; add.s64 %rd4, %rd1, %rd4; st.volatile.global.u32 [%rd4], %r9;" STORE

TEST("a flag passes from lane to lane of a warp") {
    struct ptx_run run = {0};
    runs(&run, PTX_KERNEL(CHAIN), 1, 32);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], 32 - i);
    run_end(&run);
}

TEST("two lanes of a warp alternate through shared memory") {
    struct ptx_run run = {0};
    runs(
        &run,
        PTX_KERNEL_WITH(
            ".shared .align 4 .b32 turn[1];",
            "mov.u32 %r9, 0; again: ld.volatile.shared.u32 %r3, [turn]; and.b32 %r4, %r3, 1; setp.ne.u32 %p1, %r4, %r0; @%p1 bra again;\n"
            "add.u32 %r3, %r3, 1; st.volatile.shared.u32 [turn], %r3; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 20; @%p2 bra again;" STORE),
        1, 2);
    CHECK_EQ(run_u32(&run)[0], 20u);
    CHECK_EQ(run_u32(&run)[1], 20u);
    run_end(&run);
}

TEST("targets before sm_70 keep one SIMT stack: lanes of a warp that wait for each other are livelocked") {
    fails(for_target(PTX_KERNEL(NAIVE_LOCK), "sm_60"), 32, "livelock");
    fails(for_target(PTX_KERNEL(CHAIN), "sm_60"), 32, "livelock");
    lock_holds(for_target(PTX_KERNEL(CLASSIC_LOCK), "sm_60"), 1, 32);
    lock_holds(for_target(PTX_KERNEL(NAIVE_LOCK), "sm_70"), 1, 32);
}

TEST("a shuffle waits for the lanes of its mask that take another path") {
    struct ptx_run run = {0};
    /* Both paths execute a shuffle with the full mask, of different registers. */
    runs(&run,
         PTX_KERNEL("add.u32 %r3, %r0, 100; add.u32 %r4, %r0, 200; setp.lt.u32 %p1, %r0, 16; @%p1 bra low;\n"
                    "shfl.sync.bfly.b32 %r9, %r4, 16, 31, -1; bra both; low: add.u32 %r3, %r3, 1000;\n"
                    "shfl.sync.bfly.b32 %r9, %r3, 16, 31, -1; both:" STORE),
         1, 32);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], i < 16 ? 216 + i : 1084 + i);
    run_end(&run);
}

/* Odd and even lanes execute `op` at different places; the result is in %r9. */
#define APART(op) \
    PTX_KERNEL( \
        "and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0; setp.lt.u32 %p2, %r0, 5; setp.gt.u32 %p3, %r0, 40; shr.u32 %r5, %r0, 3; cvt.u64.u32 %rd5, %r5;\n" \
        "@%p1 bra even; " op "bra both; even: " op "both:" STORE)

TEST("votes, matches and reductions combine lanes that execute them at different places") {
    static const struct {
        const char *text;
        uint32_t first, last; /* of lanes 0 and 31 */
    } cases[] = {
        {APART("vote.sync.ballot.b32 %r9, %p2, -1; "), 31, 31},
        {APART("vote.sync.any.pred %p4, %p2, -1; selp.u32 %r9, 7, 8, %p4; "), 7, 7},
        {APART("vote.sync.all.pred %p4, %p2, -1; selp.u32 %r9, 7, 8, %p4; "), 8, 8},
        {APART("vote.sync.uni.pred %p4, %p3, -1; selp.u32 %r9, 7, 8, %p4; "), 7, 7},
        {APART("match.any.sync.b32 %r9, %r5, -1; "), 0xFF, 0xFF000000},
        {APART("match.any.sync.b64 %r9, %rd5, -1; "), 0xFF, 0xFF000000},
        {APART("match.all.sync.b64 %r9|%p4, %rd5, -1; "), 0, 0},
        {APART("redux.sync.add.u32 %r9, %r0, -1; "), 496, 496},
        {APART("elect.sync %r9|%p4, -1; "), 0, 0},
        {APART("bar.warp.sync -1; mov.u32 %r9, %r0; "), 0, 31},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ptx_run run = {0};
        runs(&run, cases[i].text, 1, 32);
        CHECK_EQ(run_u32(&run)[0], cases[i].first);
        CHECK_EQ(run_u32(&run)[31], cases[i].last);
        run_end(&run);
    }
}

TEST("bar.warp.sync orders stores and loads of lanes on different paths, and joins them") {
    struct ptx_run run = {0};
    runs(
        &run,
        PTX_KERNEL_WITH(
            ".shared .align 4 .b32 s[64];",
            "mov.u32 %r3, s; mad.lo.u32 %r4, %r0, 4, %r3; setp.lt.u32 %p1, %r0, 16; @%p1 bra low;\n"
            "st.shared.u32 [%r4], %r0; bra both; low: mul.lo.u32 %r5, %r0, %r0; st.shared.u32 [%r4], %r5;\n"
            "both: bar.warp.sync -1; xor.b32 %r6, %r0, 31; mad.lo.u32 %r6, %r6, 4, %r3; ld.shared.u32 %r9, [%r6]; activemask.b32 %r7; sub.u32 %r9, %r9, %r7;" STORE),
        1, 32);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], (i < 16 ? 31 - i : (31 - i) * (31 - i)) + 1);
    run_end(&run);
}

TEST("a mask waits for the other lanes although these poll what a lane of the mask stores before") {
    struct ptx_run run = {0};
    runs(&run,
         PTX_KERNEL("setp.eq.u32 %p1, %r0, 3; @%p1 bra give; wait: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.eq.u32 "
                    "%p2, %r3, 0; @%p2 bra wait; bra both;\n"
                    "give: st.release.gpu.global.u32 [%rd1], 5; mov.u32 %r3, 6; both: shfl.sync.idx.b32 %r9, %r3, 3, "
                    "31, -1;" STORE),
         1, 32);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], 6u);
    run_end(&run);
}

TEST("exited lanes of a mask are not waited for") {
    struct ptx_run run = {0};
    runs(&run, PTX_KERNEL("setp.gt.u32 %p1, %r0, 19; @%p1 exit; vote.sync.ballot.b32 %r9, 1, -1;" STORE), 1, 32);
    CHECK_EQ(run_u32(&run)[0], 0xFFFFFu);
    run_end(&run);
    /* They exit while the others wait. */
    runs(&run,
         PTX_KERNEL("setp.gt.u32 %p1, %r0, 19; setp.eq.u32 %p2, %r0, %r0; @%p1 bra leave; vote.sync.ballot.b32 %r9, "
                    "%p2, -1; bra both; leave: exit; both:" STORE),
         1, 32);
    CHECK_EQ(run_u32(&run)[0], 0xFFFFFu);
    run_end(&run);
}

TEST("a mask that cannot be met is a fault that names warp, lanes and lines") {
    fails(
        PTX_KERNEL("setp.lt.u32 %p1, %r0, 40; @%p1 bra low; vote.sync.ballot.b32 %r9, 1, -1; bra both;\n"
                   "low: shfl.sync.idx.b32 %r9, %r0, 0, 31, -1; both:" STORE),
        64,
        "deadlock in warp 1: no thread can continue; lanes 0-7 wait in line 11 for lanes 8-31; lanes 8-31 wait in line 10 for lanes 0-7");
    fails(PTX_KERNEL("setp.eq.u32 %p1, %r0, 5; @%p1 bra one; bar.warp.sync -1; bra both;\none: bar.warp.sync 32;\n"
                     "both: bar.sync 0;"),
          32, "lanes 0-4,6-31 wait in line 10 for lanes 5; lanes 5 wait in line 12 for lanes 0-4,6-31");
}

TEST("a matrix operation waits for lanes that arrive late, and each lane gets its part") {
    /* Lanes 16 to 31 wait at the end of the branch, and go on alone when the others take too long. */
    struct ptx_run run = {0};
    runs(&run,
         PTX_KERNEL("mov.u32 %r3, 0; setp.ge.u32 %p1, %r0, 16; @%p1 bra meet;\n"
                    "work: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 200000; @%p2 bra work;\n"
                    "meet: movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r0;" STORE),
         1, 32);
    for (unsigned lane = 0; lane < 32; lane++) {
        /* Lane 4 r + c / 2 holds columns c and c + 1 of row r: its number, then zero. */
        unsigned row = lane / 4, column = lane % 4 * 2;
        unsigned low = row % 2 ? 0 : 4 * column + row / 2, high = row % 2 ? 0 : 4 * (column + 1) + row / 2;
        CHECK_EQ(run_u32(&run)[lane], low | high << 16);
    }
    run_end(&run);
}

TEST("a barrier of the cluster waits for lanes that arrive late") {
    struct ptx_run run = {0};
    runs(&run,
         PTX_KERNEL("mov.u32 %r3, 0; mov.u32 %r9, 7; setp.ge.u32 %p1, %r0, 16; @%p1 bra meet;\n"
                    "work: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 200000; @%p2 bra work;\n"
                    "meet: barrier.cluster.arrive; barrier.cluster.wait;" STORE),
         1, 32);
    for (unsigned lane = 0; lane < 32; lane++) CHECK_EQ(run_u32(&run)[lane], 7u);
    run_end(&run);
    fails(PTX_KERNEL("setp.ge.u32 %p1, %r0, 16; @%p1 bra other;\n"
                     "barrier.cluster.arrive; barrier.cluster.wait; bra end;\n"
                     "other: barrier.cluster.arrive; barrier.cluster.wait;\n"
                     "end:" STORE),
          32, "lanes 0-15 wait in line 11 for lanes 16-31; lanes 16-31 wait in line 12 for lanes 0-15");
}

TEST("lanes that execute different matrix operations wait for each other: a fault that names them") {
    fails(PTX_KERNEL("setp.ge.u32 %p1, %r0, 16; @%p1 bra other;\n"
                     "movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r0; bra end;\n"
                     "other: movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r0;\n"
                     "end:" STORE),
          32, "lanes 0-15 wait in line 11 for lanes 16-31; lanes 16-31 wait in line 12 for lanes 0-15");
}

TEST("a barrier of the CTA waits for all lanes of a warp, at any place") {
    struct ptx_run run = {0};
    struct run_stream *stream = calloc(1, sizeof *stream);
    REQUIRE(run_trace(
        &run,
        PTX_KERNEL(
            "setp.lt.u32 %p1, %r0, 40; setp.lt.u32 %p2, %r0, 50; @%p1 bra low; barrier.red.popc.u32 %r9, 1, %p2; bra both;\n"
            "low: mov.u32 %r3, 0; loop: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, %r0; @%p3 bra loop; barrier.red.popc.u32 %r9, 1, %p2; add.u32 %r9, %r9, 100; both: barrier.sync 0;" STORE),
        1, 96, 0, 1, stream));
    for (unsigned i = 0; i < 96; i++) CHECK_EQ(run_u32(&run)[i], i < 40 ? 150u : 50u);
    unsigned barriers = 0;
    for (unsigned i = 0; i < stream->count; i++) barriers += stream->instr[i].op == OP_barrier;
    CHECK_EQ(barriers, 2u); /* the warp arrives once at each */
    free(stream);
    run_end(&run);
}

TEST("some lanes at a barrier and others that exit are one arrival") {
    struct ptx_run run = {0};
    runs(&run,
         PTX_KERNEL("and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra leave; bar.sync 0; mov.u32 %r9, 4;" STORE
                    "leave:"),
         1, 64);
    for (unsigned i = 0; i < 64; i++) CHECK_EQ(run_u32(&run)[i], i & 1 ? 4u : 0u);
    run_end(&run);
}

#define FUNCTIONS \
    ".func (.reg .b32 %o) hold(.reg .b64 %lock, .reg .b32 %x) {\n.reg .pred %p<3>; .reg .b32 %r<9>;\n" \
    "take: atom.global.cas.b32 %r1, [%lock], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra take;\n" \
    "ld.volatile.global.u32 %r2, [%lock+128]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%lock+128], %r2; atom.global.exch.b32 %r3, [%lock], 0; add.u32 %o, %x, %r2; ret; }\n" \
    ".func (.reg .b32 %o) twice(.reg .b64 %lock, .reg .b32 %x) {\n.reg .b32 %r<9>;\n" \
    "mul.lo.u32 %r1, %x, 1000; mul.lo.u32 %r4, %x, 5; call (%r2), hold, (%lock, %r1); shfl.sync.idx.b32 %r3, %r2, 4, 31, -1; add.u32 %r2, %r2, %r4; sub.u32 %o, %r2, %r4; ret; }\n"

TEST("lanes that hold a lock in a function called from different places keep their registers") {
    struct ptx_run run = {0};
    runs(
        &run,
        PTX_KERNEL_WITH(
            FUNCTIONS,
            "and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0; mul.lo.u32 %r5, %r0, 7; @%p1 bra even; mul.lo.u32 %r4, %r0, 1000; call (%r9), hold, (%rd1, %r4); shfl.sync.idx.b32 %r6, %r9, 4, 31, -1; add.u32 %r9, %r9, %r5; bra both;\n"
            "even: call (%r9), twice, (%rd1, %r0); add.u32 %r9, %r9, %r5; both: sub.u32 %r9, %r9, %r5;" STORE),
        1, 32);
    uint32_t seen = 0;
    for (unsigned i = 0; i < 32; i++) {
        uint32_t turn = run_u32(&run)[i] - 1000 * i;
        CHECK(turn >= 1 && turn <= 32);
        seen |= UINT32_C(1) << (turn - 1);
    }
    CHECK_EQ(seen, UINT32_MAX);
    run_end(&run);
}

TEST("a stream of lanes that split has all their records and one exit at the end") {
    struct ptx_run run = {0};
    struct run_stream *stream = calloc(1, sizeof *stream);
    REQUIRE(run_trace(&run, PTX_KERNEL(NAIVE_LOCK), 1, 32, 0, 0, stream));
    uint32_t released = 0;
    unsigned exits = 0, taken = 0, polls = 0;
    for (unsigned i = 0; i < stream->count; i++) {
        const struct instr *instr = &stream->instr[i];
        exits += instr->op == OP_exit;
        if (instr->op != OP_atomic) continue;
        if (instr->id == stream_find(stream, OP_atomic, 0)->id) {
            polls++;
        } else {
            CHECK_EQ(released & instr->active, 0u);
            released |= instr->active;
            taken++;
        }
    }
    CHECK_EQ(released, UINT32_MAX);
    CHECK_EQ(taken, 32u);
    CHECK(polls <= 32 * 4);
    CHECK_EQ(exits, 1u);
    CHECK_EQ(stream->instr[stream->count - 1].op, OP_exit);
    free(stream);
    run_end(&run);
}

TEST("the order of strands is the same in every run") {
    struct ptx_run first = {0}, second = {0};
    runs(&first, PTX_KERNEL(NAIVE_LOCK), 3, 70);
    runs(&second, PTX_KERNEL(NAIVE_LOCK), 3, 70);
    CHECK_EQ(first.counts.warp_instructions, second.counts.warp_instructions);
    CHECK(!memcmp(run_u32(&first), run_u32(&second), 4 * 210));
    run_end(&first);
    run_end(&second);
}
