/* Records of unusual accesses: partly written sectors, atomics on shared memory, generic addresses. */
#include "emu/run_ptx.h"

/* The first record of a class with a space, of a CTA of one warp, and its touched blocks. */
static struct instr record_with(const char *text, enum op_class op, enum memory_space space, uint64_t touch[32]) {
    static struct run_stream stream;
    struct ptx_run run = {0};
    struct instr found = {.op = OP_COUNT};
    bool good = run_trace(&run, text, 1, 32, 0, 0, &stream);
    if (!good) printf("    %s\n", run.err.text);
    REQUIRE(good);
    for (unsigned i = stream.count; i-- > 0;)
        if (stream.instr[i].op == op && stream.instr[i].space == space) {
            found = stream.instr[i];
            memcpy(touch, stream.touch[i], sizeof stream.touch[i]);
        }
    REQUIRE(found.op == op);
    run_end(&run);
    return found;
}

/* The lanes below %r3 store a word at %rd2 + `offset`. */
#define STORE_BELOW(lanes, offset) \
    PTX_KERNEL("setp.lt.u32 %p1, %r0, " #lanes "; @%p1 st.global.u32 [%rd2+" #offset "], %r0;")

TEST("a store is partial if any of its sectors is, whether the first, an inner or the last one") {
    static const struct {
        const char *text;
        unsigned sectors;
        bool partial;
    } cases[] = {
        {STORE_BELOW(8, 0), 0x01, false},
        {STORE_BELOW(7, 0), 0x01, true},  /* the only one */
        {STORE_BELOW(9, 0), 0x03, true},  /* the last one */
        {STORE_BELOW(15, 0), 0x03, true}, /* the last one */
        {STORE_BELOW(15, 4), 0x03, true}, /* the first one */
        {STORE_BELOW(16, 0), 0x03, false},
        {PTX_KERNEL("setp.ne.u32 %p1, %r0, 12; @%p1 st.global.u32 [%rd2], %r0;"), 0x0F, true}, /* the second of four */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t touch[32];
        struct instr store = record_with(cases[i].text, OP_store, SPACE_GLOBAL, touch);
        CHECK_EQ(store.count, 1u);
        CHECK_EQ(touch_sectors(touch[0]), cases[i].sectors);
        CHECK_EQ((store.flags & INSTR_PARTIAL) != 0, cases[i].partial);
    }
}

TEST("lanes that store to one address fill it once") {
    uint64_t touch[32];
    /* Eight lanes on each of four words: half a sector. */
    struct instr store = record_with(PTX_KERNEL("and.b32 %r3, %r0, 3; mul.wide.u32 %rd3, %r3, 4;\n"
                                                "add.s64 %rd3, %rd0, %rd3; st.global.u32 [%rd3], %r0;"),
                                     OP_store, SPACE_GLOBAL, touch);
    CHECK(store.flags & INSTR_PARTIAL);
    CHECK_EQ(store.conflicts, 1u); /* only atomics wait for each other */
}

TEST("loads and atomics are never partial") {
    uint64_t touch[32];
    struct instr load = record_with(PTX_KERNEL("setp.eq.u32 %p1, %r0, 3; @%p1 ld.global.u32 %r3, [%rd2];"), OP_load,
                                    SPACE_GLOBAL, touch);
    CHECK(!(load.flags & INSTR_PARTIAL));
    CHECK_EQ(load.active, 8u);
    struct instr atomic = record_with(PTX_KERNEL("setp.eq.u32 %p1, %r0, 3; @%p1 red.global.add.u32 [%rd2], 1;"),
                                      OP_atomic, SPACE_GLOBAL, touch);
    CHECK(!(atomic.flags & INSTR_PARTIAL));
}

#define SHARED ".shared .align 16 .b32 s[2048]; mov.u32 %r3, s;"

TEST("an atomic on shared memory takes one pass per lane on a word, a load one per word of a bank") {
    static const struct {
        const char *text;
        enum op_class op;
        unsigned passes;
    } cases[] = {
        {PTX_KERNEL(SHARED "red.shared.add.u32 [%r3], 1;"), OP_atomic, 32},
        {PTX_KERNEL(SHARED "ld.shared.u32 %r5, [%r3];"), OP_load, 1},
        {PTX_KERNEL(SHARED "and.b32 %r4, %r0, 3; mad.lo.u32 %r4, %r4, 4, %r3; red.shared.add.u32 [%r4], 1;"), OP_atomic,
         8},
        {PTX_KERNEL(SHARED "and.b32 %r4, %r0, 3; mad.lo.u32 %r4, %r4, 4, %r3; ld.shared.u32 %r5, [%r4];"), OP_load, 1},
        /* Two lanes on each of 16 words, which are in two banks. */
        {PTX_KERNEL(SHARED "and.b32 %r4, %r0, 15; mad.lo.u32 %r4, %r4, 64, %r3; red.shared.add.u32 [%r4], 1;"),
         OP_atomic, 16},
        {PTX_KERNEL(SHARED "and.b32 %r4, %r0, 15; mad.lo.u32 %r4, %r4, 64, %r3; ld.shared.u32 %r5, [%r4];"), OP_load,
         8},
        {PTX_KERNEL(SHARED "mad.lo.u32 %r4, %r0, 4, %r3; red.shared.add.u32 [%r4], 1;"), OP_atomic, 1},
        /* Half a warp at a time; 8 lanes of a half on each of 2 words of 8 bytes. */
        {PTX_KERNEL(SHARED "and.b32 %r4, %r0, 1; mad.lo.u32 %r4, %r4, 8, %r3; red.shared.add.u64 [%r4], 1;"), OP_atomic,
         16},
        {PTX_KERNEL(SHARED "and.b32 %r4, %r0, 1; mad.lo.u32 %r4, %r4, 8, %r3; ld.shared.u64 %rd5, [%r4];"), OP_load, 2},
        /* Bytes of one word are one word. */
        {PTX_KERNEL(SHARED "and.b32 %r4, %r0, 3; add.u32 %r4, %r4, %r3; ld.shared.u8 %r5, [%r4];"), OP_load, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t touch[32];
        struct instr instr = record_with(cases[i].text, cases[i].op, SPACE_SHARED, touch);
        if (!CHECK_EQ(instr.conflicts, cases[i].passes)) printf("      case %zu\n", i);
    }
}

/* A generic load through `in`, which is marked read-only. The lanes for which the condition holds add the distance to
 * their word of shared memory. Its bits become predicates on the way, which the analysis of pointers does not follow. */
#define BALLOT(word, shift) \
    "add.u32 %r5, %r0, " #shift "; shr.u64 %rd4, %rd3, %r5; cvt.u32.u64 %r5, %rd4; and.b32 %r5, %r5, 1;\n" \
    "setp.ne.u32 %p2, %r5, 0; vote.sync.ballot.b32 %r6, %p2, -1; cvt.u64.u32 " word ", %r6;\n"
#define THROUGH_IN(condition) \
    PTX_KERNEL( \
        ".shared .align 4 .b32 s[32]; mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3; sub.s64 %rd3, %rd3, %rd1;\n" BALLOT( \
            "%rd7", 0) \
            BALLOT( \
                "%rd8", \
                32) "shl.b64 %rd8, %rd8, 32; or.b64 %rd3, %rd7, %rd8; setp." condition \
                    "; selp.b64 %rd4, %rd3, 0, %p1; mul.wide.u32 %rd5, %r0, 4;\n" \
                    "add.s64 %rd6, %rd1, %rd4; add.s64 %rd6, %rd6, %rd5; ld.u32 %r4, [%rd6]; st.global.u32 [%rd2], %r4;")

TEST("a load marked read-only keeps the mark in global memory and loses it in shared memory") {
    uint64_t touch[32];
    struct instr load = record_with(THROUGH_IN("gt.u32 %p1, %r0, 99"), OP_load, SPACE_GLOBAL, touch);
    CHECK(load.flags & INSTR_READ_ONLY);
    CHECK_EQ(touch_sectors(touch[0]), 0x0Fu);
    load = record_with(THROUGH_IN("lt.u32 %p1, %r0, 99"), OP_load, SPACE_SHARED, touch);
    CHECK(!(load.flags & INSTR_READ_ONLY));
    CHECK_EQ(load.count, 0u);
}

TEST("the space of a generic load is that of its active lanes") {
    uint64_t touch[32];
    struct instr load = record_with(
        PTX_KERNEL(
            ".shared .align 4 .b32 s[32]; mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3; setp.lt.u32 %p1, %r0, 5;\n"
            "selp.b64 %rd4, %rd3, %rd1, %p1; @%p1 ld.u32 %r4, [%rd4]; st.global.u32 [%rd2], %r4;"),
        OP_load, SPACE_SHARED, touch);
    CHECK_EQ(load.active, 0x1Fu);
    CHECK_EQ(load.conflicts, 1u);
}

TEST("a load of several spaces is a load of the lanes in global memory") {
    uint64_t touch[32];
    struct instr load = record_with(THROUGH_IN("gt.u32 %p1, %r0, 16"), OP_load, SPACE_GLOBAL, touch);
    CHECK(load.flags & INSTR_READ_ONLY);
    CHECK_EQ(load.count, 1u);
    CHECK_EQ(touch_sectors(touch[0]), 0x07u); /* lanes 0 to 16 */
    record_with(THROUGH_IN("lt.u32 %p1, %r0, 16"), OP_load, SPACE_GLOBAL, touch);
    CHECK_EQ(touch_sectors(touch[0]), 0x0Cu); /* lanes 16 to 31 */
}
