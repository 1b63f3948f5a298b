/* Lowering of matrix instructions: fragments, forms that do not exist or are not executed, registers of the records. */
#include "ptx/compile.h"

static void fails(const char *body, const char *with) {
    struct compiled c = compile_body(body);
    CHECK(!c.program);
    CHECK_TEXT(c.err.text, with);
    compiled_release(&c);
}

TEST("a fragment has the number of registers of its shape and type") {
    fails(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3,%r4}, {%f1,%f2,%f3,%f4};",
        "expected a fragment of 4 registers, not 2");
    fails("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g1,%g2}, {%g3}, {%g4,%g5}, {%g1,%g2};",
          "expected a fragment of 1 register, not 2");
    fails("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g1,%g2}, {%r3}, {%g4}, {%g1,%g2};",
          "`%r3` is a .b32 register; expected .b64");
    fails("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2}, [%r3];", "expected a fragment of 4 registers");
    fails("wmma.load.a.sync.aligned.row.m8n32k16.global.s8 {%r1,%r2}, [%d1];", "expected a fragment of 1 register");
    fails("wmma.load.a.sync.aligned.row.m8n8k32.global.b1 {%r1}, [%d1];", ".b1 has the shape m8n8k128");
    fails("wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r1}, [%d1];", "there is no `wmma.load.a.sync.aligned.col");
}

TEST("combinations of shape, type and layout that PTX does not have are errors") {
    fails(
        "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};",
        ".row.col only");
    fails("mma.sync.aligned.m16n8k4.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r1}, {%r5}, {%f1,%f2,%f3,%f4};",
          "there is no `mma.sync");
    fails("mma.sync.aligned.m8n8k16.row.col.s32.s8.s4.s32 {%r1,%r2}, {%r3}, {%r4}, {%r1,%r2};",
          "there is no `mma.sync");
    fails("stmatrix.sync.aligned.m8n8.x3.shared.b16 [%r1], {%r2};", "unknown modifier '.x3'");
}

TEST("matrix instructions of later devices are listed as unsupported, by name") {
    struct compiled c = compile(PTX_KERNEL(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %d1, %d2, 1, 1, 1, 0, 0;\n"
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3,%r4}, {%f1,%f2,%f3,%f4}, %r5, 0x0;\n"
        "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};\n"
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1,%r2}, [%r3];\n"
        "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r3], {%r1};\n"
        "tcgen05.wait::ld.sync.aligned;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2, %r3}], [%r4];\n"
        "ret;"));
    CHECK(!c.program);
    CHECK_TEXT(c.err.text, "test.ptx:8:1: unsupported instruction `wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16`"
                           " in `k`; 6 more on lines 9, 10, 11, 12, 13, 14");
    compiled_release(&c);
}

static bool reads(const struct instr *reader, uint8_t number) {
    for (unsigned i = 0; i < INSTR_SRCS; i++)
        if (number && reader->src[i] == number) return true;
    return false;
}

TEST("every register of a fragment of eight waits for the instruction that wrote it") {
    struct compiled c = compile(
        PTX_KERNEL("ld.param.u64 %d1, [buffer];\n"
                   "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%d1];\n"
                   "add.u32 %r20, %r1, 1;\nadd.u32 %r21, %r2, 1;\nadd.u32 %r22, %r3, 1;\nadd.u32 %r23, %r4, 1;\n"
                   "add.u32 %r24, %r5, 1;\nadd.u32 %r25, %r6, 1;\nadd.u32 %r26, %r7, 1;\nadd.u32 %r27, %r8, 1;\n"
                   "ret;"));
    REQUIRE(c.program);
    const struct instr *r = c.program->functions[0].records;
    for (unsigned i = 0; i < 8; i++) {
        bool waits = false;
        for (unsigned k = 0; k < INSTR_DSTS; k++) waits |= reads(&r[2 + i], r[1].dst[k]);
        CHECK(waits);
    }
    CHECK(r[1].dst[0] != r[1].dst[1] && r[1].dst[2] != r[1].dst[3]);
    compiled_release(&c);
}

TEST("a product names one register of each instruction that wrote its operands, the latest first") {
    struct compiled c = compile(PTX_KERNEL(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [tile];\n"
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r5,%r6}, [tile];\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r11,%r12,%r13,%r14}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r15,%r16,%r17,%r18};\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r21,%r22,%r23,%r24}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r11,%r12,%r13,%r14};\n"
        "ret;"));
    REQUIRE(c.program);
    const struct instr *r = c.program->functions[0].records;
    CHECK_EQ(r[2].src[0], r[1].dst[0]); /* B, then A, then C from before */
    CHECK_EQ(r[2].src[1], r[0].dst[0]);
    for (unsigned i = 2; i < INSTR_SRCS; i++) CHECK(r[2].src[i] != 0);
    CHECK_EQ(r[3].src[0], r[2].dst[0]); /* C, of the product before */
    CHECK_EQ(r[3].src[1], r[1].dst[0]);
    CHECK_EQ(r[3].src[2], r[0].dst[0]);
    CHECK_EQ(r[3].src[3], 0u);
    CHECK_EQ(r[3].op, OP_tensor);
    compiled_release(&c);
}

TEST("the sources of a product with operands from many instructions are the latest six") {
    char body[4096];
    size_t used = 0;
    for (unsigned i = 1; i <= 10; i++)
        used += (size_t)snprintf(body + used, sizeof body - used, "ld.shared.u32 %%r%u, [tile+%u];\n", i, 4 * i);
    snprintf(
        body + used, sizeof body - used,
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%%r11,%%r12,%%r13,%%r14}, {%%r1,%%r2,%%r3,%%r4}, {%%r5,%%r6}, {%%r7,%%r8,%%r9,%%r10};\nret;");
    struct compiled c = compile_body(body);
    REQUIRE(c.program);
    const struct instr *r = c.program->functions[0].records;
    for (unsigned i = 0; i < INSTR_SRCS; i++) CHECK_EQ(r[10].src[i], r[9 - i].dst[0]);
    compiled_release(&c);
}
