/* Registers per thread, and the register numbers of records. */
#include "ptx/compile.h"

#include "base/base.h"

enum { ABI = 2 }; /* registers of every kernel beyond the live values */

static uint32_t registers_of(const char *text) {
    struct compiled c = compile(text);
    uint32_t registers = c.program ? program_kernel(c.program, "k")->registers : UINT32_MAX;
    CHECK_EQ(c.err.text, "");
    compiled_release(&c);
    return registers;
}

TEST("registers needed are the 32-bit units live at once: two for 64 bits, one for 16, none for predicates") {
    CHECK_EQ(registers_of(
                 PTX_KERNEL("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nadd.s32 %r3, %r1, %r2;\nst.global.u32 [0], %r3;\nret;")),
             2u + ABI);
    CHECK_EQ(registers_of(PTX_KERNEL("ld.param.u64 %d1, [buffer];\nmov.u16 %h1, 1;\nsetp.eq.s16 %p1, %h1, 2;\n"
                                     "@%p1 st.global.u16 [%d1], %h1;\nret;")),
             3u + ABI);
}

TEST("a value read after a loop is live throughout it") {
    CHECK_EQ(registers_of(PTX_KERNEL(
                 "ld.param.u64 %d1, [buffer];\nmov.u32 %r1, 0;\nmov.u32 %r2, 5;\n"
                 "again: add.s32 %r1, %r1, 1;\nmov.u32 %r3, %r1;\nsetp.lt.s32 %p1, %r3, 9;\n@%p1 bra again;\n"
                 "st.global.u32 [%d1], %r2;\nret;")),
             2u + 1 + 1 + 1 + ABI); /* d1, r2, r1, r3 */
}

TEST("a call needs the registers live across it and those of the callee; recursion counts once") {
    uint32_t n =
        registers_of(PTX_HEAD ".func f() { .reg .b32 %r<9>; mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3;\n"
                              "add.s32 %r1, %r1, %r2; add.s32 %r1, %r1, %r3; st.local.u32 [0], %r1; call f; ret; }\n"
                              ".entry k() { .reg .b64 %d<3>; .reg .b32 %r<3>; mov.u64 %d1, 1; mov.u32 %r1, 2; call f;\n"
                              "st.global.u32 [%d1], %r1; ret; }\n");
    CHECK_EQ(n, 3u + 3 + ABI);
}

TEST("values live at the same time have different numbers, and numbers are reused late") {
    char body[16384];
    size_t used = 0;
    for (unsigned i = 0; i < 90; i++)
        used += (size_t)snprintf(body + used, sizeof body - used, "mov.u32 %%r%u, %u;\nst.global.u32 [0], %%r%u;\n", i,
                                 i, i);
    snprintf(body + used, sizeof body - used, "ret;");
    struct compiled c = compile_body(body);
    REQUIRE(c.program);
    const struct instr *r = c.program->functions[0].records;
    for (unsigned i = 0; i < 90; i++) {
        CHECK_EQ(r[2 * i].dst[0], i + 1);
        CHECK_EQ(r[2 * i + 1].src[0], r[2 * i].dst[0]);
    }
    compiled_release(&c);
}

TEST("values beyond the available numbers share them") {
    char text[65536];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", PTX_HEAD ".entry k() { .reg .b32 %r<400>;\n");
    for (unsigned i = 0; i < 400; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "mov.u32 %%r%u, %u;\n", i, i);
    for (unsigned i = 0; i < 400; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "st.global.u32 [0], %%r%u;\n", i);
    snprintf(text + used, sizeof text - used, "ret; }\n");
    struct compiled c = compile(text);
    REQUIRE(c.program);
    const struct program_function *k = &c.program->functions[0];
    CHECK_EQ(k->registers, 400u + ABI);
    for (uint32_t i = 0; i < 800; i++) CHECK(i < 400 ? k->records[i].dst[0] : k->records[i].src[0]);
    compiled_release(&c);
}

TEST("a guard is a source; a guarded write keeps the old value live") {
    struct compiled c = compile(
        PTX_KERNEL("mov.u32 %r1, 1;\nsetp.eq.s32 %p1, %r1, 1;\n@%p1 mov.u32 %r1, 2;\nst.global.u32 [0], %r1;\nret;"));
    REQUIRE(c.program);
    const struct instr *r = c.program->functions[0].records;
    CHECK_EQ(r[2].src[0], r[1].dst[0]);
    CHECK_EQ(r[2].dst[0], r[0].dst[0]);
    compiled_release(&c);
}
