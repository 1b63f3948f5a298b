/* cp.async and cp.async.bulk: what is copied, when it can be seen, and what the stream records. */
#include "emu/run_ptx.h"

/* A CTA-wide shared buffer `s`; %r10 = its address for the thread's word, %rd10 = &in[thread]. */
#define WORDS \
    ".shared .align 128 .b8 s[16384]; mov.u32 %r10, s; mad.lo.u32 %r10, %r0, 4, %r10; mul.wide.u32 %rd10, %r2, 4;" \
    "add.u64 %rd10, %rd1, %rd10;"
#define COPY "cp.async.ca.shared.global [%r10], [%rd10], 4;"
#define SHOW "ld.shared.u32 %r9, [%r10]; st.global.u32 [%rd2], %r9;"

static void input_fill(struct ptx_run *run) {
    for (unsigned i = 0; i < RUN_BUFFER_BYTES / 4; i++) run_input(run)[i] = 1000 + i;
}

/* Runs the kernel on an input of 1000, 1001, ...; `threads` of one block. */
static bool run_copy(struct ptx_run *run, const char *text, uint32_t threads) {
    memset(run, 0, sizeof *run);
    if (!run_load(run, text)) return false;
    input_fill(run);
    return run_loaded(run, 1, threads);
}

TEST("copies are visible after wait_all, and after wait_group for the older groups only") {
    struct ptx_run run;
    REQUIRE(run_copy(&run, PTX_KERNEL(WORDS COPY "cp.async.wait_all;" SHOW), 64));
    for (unsigned i = 0; i < 64; i++) CHECK_EQ(run_u32(&run)[i], 1000 + i);
    run_end(&run);
    /* Two groups; after wait_group 1 the first one is there and the second is not. */
    REQUIRE(run_copy(&run,
                     PTX_KERNEL(WORDS COPY
                                "cp.async.commit_group;"
                                "cp.async.ca.shared::cta.global [%r10+4096], [%rd10+4], 4; cp.async.commit_group;"
                                "cp.async.wait_group 1; ld.shared.u32 %r3, [%r10]; ld.shared.u32 %r4, [%r10+4096];"
                                "cp.async.wait_group 0; ld.shared.u32 %r5, [%r10+4096];"
                                "st.global.u32 [%rd2], %r3; st.global.u32 [%rd2+1024], %r4;"
                                "st.global.u32 [%rd2+2048], %r5;"),
                     32));
    for (unsigned i = 0; i < 32; i++) {
        CHECK_EQ(run_u32(&run)[i], 1000 + i);
        CHECK_EQ(run_u32(&run)[256 + i], 0u);
        CHECK_EQ(run_u32(&run)[512 + i], 1001 + i);
    }
    run_end(&run);
}

TEST("a program without a wait reads old data, and one that overwrites the source too early copies the new data") {
    struct ptx_run run;
    REQUIRE(run_copy(&run, PTX_KERNEL(WORDS COPY "cp.async.commit_group;" SHOW), 32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], 0u);
    run_end(&run);
    REQUIRE(run_copy(&run, PTX_KERNEL(WORDS COPY "mov.u32 %r8, 7; st.global.u32 [%rd10], %r8; cp.async.wait_all;" SHOW),
                     32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], 7u);
    run_end(&run);
}

TEST("wait_group does not wait for copies that are not committed") {
    struct ptx_run run;
    REQUIRE(run_copy(&run, PTX_KERNEL(WORDS COPY "cp.async.wait_group 0;" SHOW), 32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], 0u);
    run_end(&run);
}

TEST("groups are those of a thread: lanes that commit apart wait apart") {
    struct ptx_run run;
    /* Odd lanes copy and commit twice, even ones once; after wait_group 1 odd lanes have their first copy. */
    REQUIRE(run_copy(
        &run,
        PTX_KERNEL(WORDS "and.b32 %r3, %r0, 1; setp.ne.u32 %p1, %r3, 0;" COPY "cp.async.commit_group;"
                         "@!%p1 bra join; cp.async.ca.shared.global [%r10+4096], [%rd10], 4; cp.async.commit_group;"
                         "join: cp.async.wait_group 1;" SHOW),
        32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], i % 2 ? 1000 + i : 0u);
    run_end(&run);
}

TEST("a source shorter than the copy is extended with zeros, and an ignored one is replaced by zeros") {
    struct ptx_run run;
    REQUIRE(run_copy(&run,
                     PTX_KERNEL(".shared .align 16 .b8 s[8192]; mov.u32 %r10, s; mad.lo.u32 %r10, %r0, 16, %r10;"
                                "mul.wide.u32 %rd10, %r0, 16; add.u64 %rd10, %rd1, %rd10; and.b32 %r3, %r0, 15;"
                                "mov.u32 %r8, -1; st.shared.v4.u32 [%r10], {%r8, %r8, %r8, %r8};"
                                "setp.eq.u32 %p1, %r0, 16; @%p1 mov.u32 %r3, 16;"
                                "cp.async.cg.shared.global.L2::128B [%r10], [%rd10], 16, %r3; cp.async.wait_all;"
                                "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r10]; mul.wide.u32 %rd11, %r0, 16;"
                                "add.u64 %rd11, %rd0, %rd11; st.global.v4.u32 [%rd11], {%r4, %r5, %r6, %r7};"),
                     17));
    for (unsigned i = 0; i < 17; i++) {
        uint8_t want[16] = {0};
        memcpy(want, run_input(&run) + 4 * i, i);
        CHECK(memcmp(run_u32(&run) + 4 * i, want, 16) == 0);
    }
    run_end(&run);
    REQUIRE(run_copy(&run,
                     PTX_KERNEL(WORDS "mov.u32 %r8, -1; st.shared.u32 [%r10], %r8; setp.lt.u32 %p1, %r0, 8;"
                                      "cp.async.ca.shared.global [%r10], [%rd10], 4, %p1; cp.async.wait_all;" SHOW),
                     32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[i], i < 8 ? 0u : 1000 + i);
    run_end(&run);
}

TEST("every size and hint is accepted, and variables may be named as addresses") {
    struct ptx_run run;
    REQUIRE(
        run_copy(&run,
                 PTX_KERNEL_WITH(".global .align 16 .b32 g[4] = {11, 22, 33, 44};",
                                 ".shared .align 16 .b8 s[64]; mov.u64 %rd9, 0;"
                                 "cp.async.ca.shared.global.L2::cache_hint [s], [g], 4, %rd9;"
                                 "cp.async.ca.shared::cta.global.L2::cache_hint.L2::64B [s+8], [g+8], 8, 8, %rd9;"
                                 "cp.async.cg.shared.global.L2::256B [s+16], [g], 16;"
                                 "cp.async.wait_all; ld.shared.u32 %r3, [s]; ld.shared.v2.u32 {%r4, %r5}, [s+8];"
                                 "ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [s+16];"
                                 "st.global.u32 [%rd0], %r3; st.global.u32 [%rd0+4], %r4; st.global.u32 [%rd0+8], %r5;"
                                 "st.global.u32 [%rd0+12], %r6; st.global.u32 [%rd0+16], %r9;"),
                 1));
    static const uint32_t want[] = {11, 33, 44, 11, 44};
    for (unsigned i = 0; i < COUNT_OF(want); i++) CHECK_EQ(run_u32(&run)[i], want[i]);
    run_end(&run);
}

TEST("a copy to or from an invalid address is a fault of the copy") {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {PTX_KERNEL(WORDS "cp.async.ca.shared.global [%r10+2], [%rd10], 4;"), "misaligned"},
        {PTX_KERNEL(WORDS "cp.async.ca.shared.global [%r10], [%rd10+2], 4;"), "misaligned"},
        {PTX_KERNEL(WORDS "cp.async.ca.shared.global [%r10+65536], [%rd10], 4;"), "outside the 16384 bytes"},
        {PTX_KERNEL(WORDS "cp.async.ca.shared.global [%r10], [%rd10+131072], 4;"), "global memory at"},
        {PTX_KERNEL(WORDS "mov.u32 %r3, 5; cp.async.ca.shared.global [%r10], [%rd10], 4, %r3;"),
         "a source of 5 bytes is larger than the copy, 4 bytes"},
        {PTX_KERNEL(".shared .align 128 .b8 s[64]; .shared .align 8 .b64 b; mbarrier.init.shared.b64 [b], 1;"
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+8], [%rd1], 16, [b];"),
         "must be multiples of 16"},
        {PTX_KERNEL(".shared .align 128 .b8 s[64]; .shared .align 8 .b64 b; mbarrier.init.shared.b64 [b], 1;"
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 128, [b];"),
         "a bulk copy of 128 bytes to shared memory at"},
        {PTX_KERNEL(".shared .align 128 .b8 s[64]; .shared .align 8 .b64 b;"
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 64, [b];"),
         "there is no initialised mbarrier"},
        {PTX_KERNEL(".shared .align 128 .b8 s[64]; cp.async.bulk.global.shared::cta.bulk_group [%rd0+65520], [s], 32;"),
         "a bulk copy of 32 bytes to global memory at"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ptx_run run;
        CHECK(!run_copy(&run, cases[i].text, 1));
        if (!CHECK_TEXT(run.err.text, cases[i].says)) printf("      case %zu\n", i);
        run_end(&run);
    }
}

TEST("forms that do not exist are errors, and tensor copies and reductions are rejected by name") {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {PTX_KERNEL(WORDS "cp.async.cg.shared.global [%r10], [%rd10], 8;"), "4, 8 or 16 bytes, and with .cg 16"},
        {PTX_KERNEL(WORDS "cp.async.ca.shared.global [%r10], [%rd10], 12;"), "4, 8 or 16 bytes"},
        {PTX_KERNEL(WORDS "cp.async.ca.shared.global [%r10], [%r10], 4;"), "has 32 bits; an address has 64"},
        {PTX_KERNEL(WORDS "cp.async.ca.shared.global [%rd10], [s], 4;"), "not in the state space"},
        {PTX_KERNEL(WORDS "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r10], "
                          "[%rd10, {%r0}], [%r10];"),
         "`cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier"},
        {PTX_KERNEL(WORDS "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd10], [%r10], 16;"),
         "`cp.reduce.async.bulk.global"},
        {PTX_KERNEL(WORDS "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r10], [%r10], 16;"),
         "`cp.async.bulk.shared::cluster.shared::cta.mbarrier"},
        {PTX_KERNEL(WORDS
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r10], "
                    "[%rd10], 16, [%r10], %h1;"),
         "multicast::cluster"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ptx_run run;
        CHECK(!run_load(&run, cases[i].text));
        if (!CHECK_TEXT(run.err.text, cases[i].says)) printf("      case %zu\n", i);
        run_end(&run);
    }
}

TEST("a warp performs its copies when it ends") {
    struct ptx_run run;
    /* Warp 1 reads after warp 0, which has not waited, has ended. */
    REQUIRE(run_copy(&run,
                     PTX_KERNEL(WORDS "setp.gt.u32 %p1, %r0, 31; @%p1 bra read;" COPY "exit;"
                                      "read: bar.sync 0; sub.u32 %r10, %r10, 128;" SHOW),
                     64));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u32(&run)[32 + i], 1000 + i);
    run_end(&run);
}

TEST("bulk stores are performed in a wait for them or for their sources, and at the end") {
    struct ptx_run run;
#define STORE_BULK(wait) \
    PTX_KERNEL(".shared .align 16 .b8 s[64]; mov.u32 %r3, 5; st.shared.u32 [s], %r3; fence.proxy.async.shared::cta;" \
               "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [s], 64; cp.async.bulk.commit_group;" wait \
               "mov.u32 %r3, 6; st.shared.u32 [s], %r3; ld.global.u32 %r4, [%rd0]; st.global.u32 [%rd0+128], %r4;")
    static const struct {
        const char *text;
        uint32_t stored, seen;
    } cases[] = {
        {STORE_BULK(""), 6, 0}, /* without a wait the source is overwritten before it is read */
        {STORE_BULK("cp.async.bulk.wait_group 0;"), 5, 5},
        {STORE_BULK("cp.async.bulk.wait_group.read 0;"), 5, 5},
        {STORE_BULK("cp.async.bulk.wait_group 1;"), 6, 0},
        {STORE_BULK("cp.async.wait_all;"), 6, 0}, /* other groups */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        REQUIRE(run_copy(&run, cases[i].text, 1));
        CHECK_EQ(run_u32(&run)[0], cases[i].stored);
        CHECK_EQ(run_u32(&run)[32], cases[i].seen);
        run_end(&run);
    }
}

/* --- streams --- */

TEST("a copy is recorded with its sectors, the cache operator and the bank passes of its write") {
    struct ptx_run run;
    struct run_stream *stream = calloc(1, sizeof *stream);
    REQUIRE(
        run_trace(&run,
                  PTX_KERNEL(".shared .align 128 .b8 s[16384]; mov.u32 %r10, s; mad.lo.u32 %r11, %r0, 128, %r10;"
                             "mad.lo.u32 %r10, %r0, 16, %r10; mul.wide.u32 %rd10, %r0, 16; add.u64 %rd10, %rd1, %rd10;"
                             "cp.async.cg.shared.global [%r10], [%rd10], 16;"
                             "cp.async.ca.shared.global [%r11], [%rd10], 4; cp.async.wait_all;"),
                  1, 32, 0, 0, stream));
    const struct instr *wide = NULL, *word = NULL;
    for (unsigned i = 0; i < stream->count; i++)
        if (stream->instr[i].flags & INSTR_ASYNC && stream->instr[i].op == OP_load)
            *(wide ? &word : &wide) = &stream->instr[i];
    REQUIRE(wide && word);
    CHECK_EQ(wide->space, SPACE_GLOBAL);
    CHECK_EQ(wide->cache, CACHE_GLOBAL);
    CHECK_EQ(wide->count, 2u);
    CHECK_EQ(wide->conflicts, 4u);
    CHECK_EQ(wide->bytes_log2, 4u);
    CHECK_EQ(wide->dst[0], 0u);
    CHECK_EQ(word->cache, CACHE_DEFAULT);
    CHECK_EQ(word->count, 2u);
    CHECK_EQ(word->conflicts, 32u); /* all lanes in one bank */
    const struct instr *wait = stream_find(stream, OP_fence, 0);
    REQUIRE(wait);
    CHECK_EQ(wait->flags, INSTR_ASYNC);
    CHECK_EQ(wait->count, 0u);
    free(stream);
    run_end(&run);
}

TEST("a wait records how many of the latest copies it leaves out") {
    struct ptx_run run;
    struct run_stream *stream = calloc(1, sizeof *stream);
    REQUIRE(run_trace(&run,
                      PTX_KERNEL(WORDS "cp.async.wait_group 0;" COPY COPY "cp.async.commit_group;" COPY COPY COPY
                                       "cp.async.commit_group;" COPY "cp.async.wait_group 1; cp.async.wait_group 0;"
                                       "cp.async.wait_all; cp.async.wait_all;"),
                      1, 32, 0, 0, stream));
    static const unsigned want[] = {0, 4, 1, 0, 6};
    for (unsigned i = 0; i < COUNT_OF(want); i++) {
        const struct instr *wait = stream_find(stream, OP_fence, i);
        REQUIRE(wait);
        CHECK_EQ(wait->count, want[i]);
    }
    free(stream);
    run_end(&run);
}

TEST("copies whose sources are ignored touch nothing, and lanes without a guard do not copy") {
    struct ptx_run run;
    struct run_stream *stream = calloc(1, sizeof *stream);
    REQUIRE(run_trace(&run,
                      PTX_KERNEL(WORDS "setp.ge.u32 %p1, %r0, 0; setp.lt.u32 %p2, %r0, 0;"
                                       "cp.async.ca.shared.global [%r10], [%rd10], 4, %p1;"
                                       "@%p2 cp.async.ca.shared.global [%r10], [%rd10], 4;"
                                       "@%p2 cp.async.wait_all;"),
                      1, 32, 0, 0, stream));
    unsigned copies = 0;
    for (unsigned i = 0; i < stream->count; i++) {
        const struct instr *instr = &stream->instr[i];
        if (!(instr->flags & INSTR_ASYNC) || instr->op == OP_other) continue;
        CHECK_EQ(instr->op, OP_load);
        CHECK_EQ(instr->count, 0u);
        copies++;
    }
    CHECK_EQ(copies, 1u);
    free(stream);
    run_end(&run);
}

TEST("a bulk copy is recorded in pieces of at most 8 KiB, of which the first has the thread") {
    struct ptx_run run;
    struct run_stream *stream = calloc(1, sizeof *stream);
    REQUIRE(run_trace(
        &run,
        PTX_KERNEL(".shared .align 128 .b8 s[20480]; .shared .align 8 .b64 b; setp.ne.u32 %p1, %r0, 5;"
                   "@%p1 exit; mbarrier.init.shared.b64 [b], 1;"
                   "mbarrier.arrive.expect_tx.shared.b64 _, [b], 20480;"
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1+16], 20480, [b];"
                   "wait: mbarrier.try_wait.parity.shared.b64 %p2, [b], 0; @!%p2 bra wait;"
                   "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [s], 16384; cp.async.bulk.commit_group;"
                   "cp.async.bulk.wait_group 0;"),
        1, 32, 0, 0, stream));
    unsigned loads = 0, stores = 0, blocks = 0;
    for (unsigned i = 0; i < stream->count; i++) {
        const struct instr *instr = &stream->instr[i];
        if (!(instr->flags & INSTR_BULK) || instr->op == OP_fence) continue;
        bool load = instr->op == OP_load;
        CHECK_EQ(instr->active, (load ? loads : stores) ? 0u : 32u);
        CHECK_EQ(instr->cache, load ? CACHE_GLOBAL : CACHE_DEFAULT);
        CHECK_EQ(instr->flags & INSTR_PARTIAL, 0u);
        *(load ? &loads : &stores) += 1;
        blocks += load ? instr->count : 0;
    }
    CHECK_EQ(loads, 3u);
    CHECK_EQ(stores, 2u);
    CHECK_EQ(blocks, 81u); /* 80 blocks and one more for the offset */
    const struct instr *wait = stream_find(stream, OP_barrier, 1);
    REQUIRE(wait);
    CHECK_EQ(wait->flags, INSTR_ASYNC);
    CHECK_EQ(instr_updates(wait), 4u); /* the arrival and three pieces */
    CHECK_EQ(stream_find(stream, OP_fence, 0)->count, 0u);
    free(stream);
    run_end(&run);
}
