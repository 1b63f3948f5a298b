/* Lowering: operations of instructions, rejected instructions and their errors, placement of variables. */
#include "ptx/compile.h"

#include "base/base.h"

/* Lowered forms: an instruction and a part of its line in the dump. */
static const struct {
    const char *ptx, *dump;
} lowered[] = {
    {"add.s32 %r1, %r2, -1;", "add s32 r0 <- r128 c0=0xffffffff ; int_add 1 <- 2"},
    {"add.sat.s32 %r1, %r2, %r3;", "add s32 sat"},
    {"addc.cc.u32 %r1, %r2, %r3;", "add u32 cc carry"},
    {"add.rz.ftz.f32 %f1, %f2, 0f3F800000;", "add f32 rz ftz r0 <- r128 c0=0x3f800000 ; f32_add"},
    {"add.f64 %g1, %g2, 0d3FF0000000000000;", "; f64_add"},
    {"mul.wide.u16 %r1, %h1, %h2;", "mul_wide u16 r0 <- r128 r192 ; int_mul"},
    {"mul.wide.s32 %d1, %r1, 4;", "mul_wide s32"},
    {"mad.lo.cc.u32 %r1, %r2, %r3, %r4;", "mad_lo u32 cc"},
    {"madc.hi.u32 %r1, %r2, %r3, %r4;", "mad_hi u32 carry"},
    {"fma.rn.f32 %f1, %f2, %f3, 2.5;", "c0=0x40200000 ; f32_fma"},
    {"div.full.f32 %f1, %f2, %f3;", "div f32 full"},
    {"div.rn.f64 %g1, %g2, %g3;", "div f64 rn r0 <- r256 r512 ; f64_div"},
    {"rem.u64 %d1, %d2, 7;", "rem u64 r0 <- r256 c0=0x7 ; int_div"},
    {"sqrt.approx.f32 %f1, %f2;", "sqrt f32 approx r0 <- r128 ; special"},
    {"min.NaN.f32 %f1, %f2, %f3;", "min f32 NaN r0 <- r128 r256 ; f32_minmax"},
    {"min.ftz.xorsign.abs.f32 %f1, %f2, %f3;", "min f32 ftz xorsign"},
    {"max.f32 %f1, %f2, %f3, %f4;", "max f32 three"},
    {"testp.subnormal.f32 %p1, %f1;", "testp f32 p1 <- r0"},
    {"and.pred %p1, %p2, !%p3;", "and pred p1 <- p2 !p3"},
    {"lop3.b32 %r1, %r2, %r3, %r4, 0xE8;", "#232"},
    {"shl.b64 %d1, %d2, 3;", "shl u64 r0 <- r256 c0=0x3"},
    {"shf.r.wrap.b32 %r1, %r2, %r3, 5;", "shf_r u32 wrap"},
    {"prmt.b32.rc16 %r1, %r2, %r3, %r4;", "prmt u32 mode=6"},
    {"popc.b64 %r1, %d1;", "popc u64 r0 <- r128"},
    {"setp.lt.and.s32 %p1|%p2, %r1, 9, !%p3;", "setp s32 compare=2 p2 p1 <- r0 c0=0x9 !p3"},
    {"set.gt.u32.f32 %r1, %f1, %f2;", "set f32/u32"},
    {"selp.b32 %r1, 1, 0, %p1;", "selp u32 r0 <- c0=0x1 c128=0x0 p1"},
    {"mov.u32 %r1, %tid.y;", "mov u32 r0 <- s128"},
    {"mov.u32 %r1, %clock;", "special u32"},
    {"mov.u16 %h1, %ctaid.x;", "cvt u16/u32"},
    {"mov.u32 %r1, %tid.w;", "<- c0=0x0"},
    {"mov.b64 %d1, {%r1, %r2};", "pack u64/u32 v2 r256 <- r0 r128"},
    {"mov.b32 {%h1, _}, %r1;", "unpack u32/u16 v2 r0 r64 <- r128"},
    {"mov.u64 %d1, own;", "mov_frame u64 local r0 <-"},
    {"mov.u32 %r1, tile;", "mov u32 r0 <- c0=0x0"},
    {"mov.pred %p1, -1;", "mov pred p1 <- p0"},
    {"cvt.rzi.s32.f32 %r1, %f1;", "cvt s32/f32 rzi"},
    {"cvt.u16.u32 %h1, %r1;", "cvt u16/u32"},
    {"cvt.rn.f16x2.f32 %r1, %f1, %f2;", "cvt f16x2/f32 rn r0 <- r128 r256"},
    {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;", "cvt e4m3x2/f32 rn"},
    {"cvt.rn.f16x2.e5m2x2 %r1, %h1;", "cvt f16x2/e5m2x2 rn"},
    {"createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %d1, 0.5;", "mov u64 r0 <- c"},
    {"createpolicy.range.global.L2::evict_last.b64 %d1, [%d2], 4096, 8192;", "mov u64 r0 <- c"},
    {"createpolicy.cvt.L2.b64 %d1, 0x10F0;", "mov u64 r0 <- c"},
    {"ld.global.L1::no_allocate.L2::cache_hint.L2::256B.b32 %r1, [%d1], %d2;",
     "ld u32/u64 global r0 <- r128 ; load 1 <- 2 3"},
    {"st.global.L2::cache_hint.b32 [%d1], %r1, %d2;", "st u32/u64 global"},
    {"movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;", "movmatrix u16"},
    {"cvta.to.shared.u64 %d1, %d2;", "cvta u64 shared to"},
    {"isspacep.shared %p1, %d1;", "isspacep u64/u32 shared p1 <- r0"},
    {"ld.param.u32 %r1, [n];", "ld u32/u64 param static r0 <- #8 ; load"},
    {"ld.param.v2.u32 {%r1, %r2}, [box+8];", "ld u32/u64 param v2 static r0 r128 <- #24"},
    {"ld.global.v4.f32 {%f1, %f2, _, %f3}, [%d1+16];", "ld f32/u64 global v4"},
    {"ld.global.v4.b32 %v1, [%d1];", "v4 r0 r128 r256 r384 <- r512"},
    {"ld.volatile.shared.s8 %r1, [%r2+3];", "ld s8/u32 shared r0 <- r128 #3 ; load"},
    {"ld.local.b32 %r1, [own+8];", "ld u32/u64 local frame static r0 <- #8"},
    {"ld.mmio.relaxed.sys.global.u32 %r1, [%d1];", "ld u32/u64 global r0 <- r128 ; load"},
    {"st.mmio.relaxed.sys.u8 [%d1], %r1;", "st u8/u64 <- r0 r256 ; store"},
    {"st.global.u8 [%d1], %r1;", "st u8/u64 global <- r0 r256"},
    {"st.shared.v2.f32 [tile+8], {%f1, 0f00000000};", "st f32/u64 shared v2 static"},
    {"atom.global.add.release.gpu.u32 %r1, [%d1], 1;", "atom u32/u64 global mode=5"},
    {"atom.cas.b64 %d1, [%d2], %d3, %d4;", "atom u64 mode=4"},
    {"red.shared.max.s32 [%r1], %r2;", "red s32/u32 shared mode=9"},
    {"bar.sync 0;", "bar_sync u32 sync <- c0=0x0 c0=0x0 ; barrier"},
    {"barrier.cta.arrive.aligned 3, 64;", "bar_arrive"},
    {"bar.red.or.pred %p1, 2, 64, !%p2;", "bar_red pred mode=2"},
    {"bar.warp.sync -1;", "warp_sync"},
    {"fence.acq_rel.gpu;", "fence"},
    {"fence.proxy.alias;", "fence"},
    {"membar.gl;", "; fence"},
    {"shfl.down.b32 %r1|%p1, %r2, 16, 31;", "shfl u32 mode=1"},
    {"shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;", "shfl u32 sync mode=2"},
    {"vote.sync.ballot.b32 %r1, %p1, -1;", "vote u32 sync mode=3"},
    {"vote.ballot.sync.b32 %r1, %p1, -1;", "vote u32 sync mode=3"},
    {"match.all.sync.b32 %r1|%p1, %r2, -1;", "match u32 sync all r0 p1 <-"},
    {"redux.sync.min.s32 %r1, %r2, -1;", "redux s32 sync mode=8"},
    {"elect.sync _|%p1, -1;", "elect u32 sync"},
    {"vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4;", "vabsdiff4 u32 accumulate"},
    {"nanosleep.u32 100;", "nanosleep"},
};

TEST("an instruction is lowered to the operation of its form") {
    for (unsigned i = 0; i < COUNT_OF(lowered); i++) {
        char body[256];
        snprintf(body, sizeof body, "%s\nret;", lowered[i].ptx);
        struct compiled c = compile_body(body);
        if (!CHECK(c.program)) {
            CHECK_EQ(c.err.text, lowered[i].ptx);
            continue;
        }
        char *dump = compiled_text(&c, 0);
        if (lowered[i].dump) CHECK_TEXT(dump, lowered[i].dump);
        free(dump);
        compiled_release(&c);
    }
}

/* Errors with location and fix. */
static const struct {
    const char *ptx, *error;
} mistakes[] = {
    {"add.s32 %r1, %r2;", "8:1: `add.s32` with 2 operands; expected 3"},
    {"add.sat.u32 %r1, %r2, %r3;", "8:8: there is no `add.sat.u32`: the type must be .s32, .f16, .f32 or .f16x2"},
    {"add.wide.u32 %r1, %r2, %r3;",
     "8:4: `add` does not accept .wide; possible here: .rn, .rz, .rm, .rp, .sat, .ftz or .cc"},
    {"redux.sync.add.f64 %g1, %g2, %r3;", "`redux` does not accept .f64; possible here: .u32"},
    {"shl.u32 %r1, %r2, 3;", "8:4: `shl` does not accept .u32; possible here: .b16, .b32 or .b64"},
    {"mul.u32 %r1, %r2, %r3;", "8:1: `mul.u32` is not complete: it needs .lo, .hi or .wide"},
    {"cvt.u32 %r1, %r2;", "`cvt.u32` is not complete: it needs .u8, .u16,"},
    {"bar.sync;", "`bar.sync` with 0 operands; expected 1 to 2"},
    {"ld.weak.mmio.u32 %r1, [%d1];", "8:8: there is no `ld.weak.mmio.u32`: .mmio is not possible here\n"},
    {"ld.mmio.u32 %r1, [%d1];", "8:1: `ld.mmio.u32` is not complete: it needs .relaxed and .sys\n"},
    {"redux.sync.add.f32 %f1, %f2, -1;",
     "8:15: there is no `redux.sync.add.f32`: the type must be .u32 or .s32; .f32 is possible with .min or .max\n"},
    {"ld.mmio.relaxed.gpu.u32 %r1, [%d1];",
     "8:16: there is no `ld.mmio.relaxed.gpu.u32`: .gpu is not possible here, but .global or .sys\n"},
    {"st.mmio.relaxed.sys.shared.u32 [%r1], %r1;", ".shared is not possible here, but .global\n"},
    {"ld.mmio.relaxed.sys.global.v2.u32 {%r1, %r2}, [%d1];", ".v2 is not possible here\n"},
    {"ld.wide.u32 %r1, [%d1];", "8:3: `ld` does not accept .wide\n"},
    {"add.f32 %f1, %r1, %d1;", "8:19: `%d1` is a .b64 register; expected .f32"},
    {"mad.lo.s32 %r1, %h1, %r2, %r3;", "8:17: `%h1` is a .b16 register"},
    {"add.s32 %r1, %r2, 4294967296;", "8:19: 4294967296 does not fit .s32"},
    {"add.s32 5, %r2, %r3;", "expected a register as the .s32 destination"},
    {"add.f32 %f1, %f2, 1;", "an integer cannot have type .f32"},
    {"add.s32 %r1, %r2, 1.5;", "a floating-point number cannot have type .s32"},
    {"setp.lo.s32 %p1, %r1, %r2;", "this comparison is not defined for .s32"},
    {"setp.lt.and.s32 %p1, %r1, %r2;", "a predicate operand requires .and, .or or .xor"},
    {"setp.eq.s32 %r1, %r1, %r2;", "expected .pred"},
    {"cvt.s32.f32 %r1, %f1;", "needs a rounding mode"},
    {"cvt.rn.f64.f32 %g1, %f1;", "does not support this rounding mode"},
    {"cvt.rzi.f32.s32 %f1, %r1;", "another kind of rounding"},
    {"ld.global.f32 %r1, [%r2];", "has 32 bits; an address has 64"},
    {"ld.global.u64 %r1, [%d1];", "expected .u64"},
    {"ld.global.v4.f32 {%f1, %f2}, [%d1];", "a vector of 4 elements"},
    {"ld.global.v8.f64 {%g1,%g2,%g3,%g4,%g1,%g2,%g3,%g4}, [%d1];", "at most 32 bytes"},
    {"st.param.u32 [n], %r1;", "this state space is read-only"},
    {"ld.shared.u32 %r1, [own];", "not in the state space of the instruction"},
    {"ld.shared.nc.u32 %r1, [%r2];", ".nc applies to .global only"},
    {"bar.sync 16;", "0 to 15"},
    {"bar.sync 1, 33;", "a multiple of 32"},
    {"not.b32 %r1, !%r2;", "only a predicate can be negated"},
    {"mov.b64 {%r1, %r2, %r3}, %d1;", "a vector must be moved as"},
    {"mov.b32 %r1, %v1;", "name one of its components"},
    {"mov.v2.b32 %v1, %v2;", "expected a vector of 2 elements"},
    {"mov.v4.b32 %r1, %v2;", "expected a vector of 4 elements"},
    {"add.u32 %r1+4, %r2, %r3;", "a destination is a register alone"},
    {"add.f32 %f1, %f2+4, %f3;", "`%f2` is a .f32 register; only integers have an offset"},
    {"selp.b32 %r1, %r2, %r3, %p1+1;", "a predicate has no offset"},
    {"p: .callprototype _ (.reg .b32 x); call %d1, (%r1), p;", "`p` has .reg parameters"},
};

TEST("an error is reported with its line and column") {
    for (unsigned i = 0; i < COUNT_OF(mistakes); i++) {
        char body[256];
        snprintf(body, sizeof body, "%s\nret;", mistakes[i].ptx);
        struct compiled c = compile_body(body);
        CHECK(!c.program);
        CHECK_TEXT(c.err.text, "test.ptx:8:");
        CHECK_TEXT(c.err.text, mistakes[i].error);
        compiled_release(&c);
    }
}

TEST("every instruction variant counted in public benchmark suites is accepted") {
    struct error err = {0};
    struct ptx_module *module = ptx_parse_file(SLUICE_SOURCE_DIR "/data/reference/ptx/variants.ptx", &err);
    REQUIRE(module);
    struct program *program = program_create(module, 0x10000, &err);
    CHECK_EQ(err.text, "");
    REQUIRE(program);
    const struct program_function *kernel = program_kernel(program, "variants");
    REQUIRE(kernel);
    CHECK(kernel->op_count >= 511);
    program_destroy(program);
    ptx_module_destroy(module);
}

static void count_found(void *user, const struct ptx_function *function, const struct ptx_instr *instr,
                        const char *text) {
    (void)function, (void)instr;
    CHECK(text[0] != '\0');
    ++*(unsigned *)user;
}

TEST("one error lists all unsupported instructions of a kernel") {
    struct compiled c = compile(PTX_KERNEL("  wgmma.fence.sync.aligned;\n"
                                           "add.s32 %r1, %r2, %r3;\n"
                                           "st.async.weak.shared::cluster.u32 [%r1], %r2, [%r3];\n"
                                           "glide.x %r1;\n"
                                           "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %p1;\n"
                                           "ret;"));
    CHECK(!c.program);
    CHECK_TEXT(c.err.text, "test.ptx:8:3: unsupported instruction `wgmma.fence.sync.aligned` in `k`;"
                           " 3 more on lines 10, 11, 12\n  wgmma.fence.sync.aligned;\n  ^");
    REQUIRE(c.module);
    unsigned found = 0;
    CHECK_EQ(program_unsupported(c.module, count_found, &found), 4u);
    CHECK_EQ(found, 4u);
    compiled_release(&c);
    c = compile(PTX_KERNEL("  add.s23 %r1, %r2;\nret;"));
    CHECK_TEXT(c.err.text, "test.ptx:8:6: in `k`: unknown modifier '.s23' of 'add'; did you mean '.s");
    compiled_release(&c);
}

TEST("a long list of unsupported instructions is shortened") {
    char text[4096];
    int used = snprintf(text, sizeof text, "%s", PTX_HEAD ".entry k() { .reg .b32 %r<9>;\n");
    for (unsigned i = 0; i < 12; i++) used += snprintf(text + used, sizeof text - (size_t)used, "glide;\n");
    snprintf(text + used, sizeof text - (size_t)used, "ret; }\n");
    struct compiled c = compile(text);
    CHECK(!c.program);
    CHECK_TEXT(c.err.text, "in `k`: unknown instruction 'glide'; 11 more on lines 6, 7, 8, 9, 10, 11, 12, 13, ...");
    compiled_release(&c);
}

/* Whether the kernel can be executed; if not, the message must contain `part`. */
static void expect_kernel(const struct program *program, const char *name, const char *part) {
    struct error err = {0};
    const struct program_function *kernel = program_kernel(program, name);
    REQUIRE(kernel);
    CHECK_EQ(program_executable(program, kernel, &err), !part);
    CHECK_EQ(err.set, part != NULL);
    if (part) CHECK_TEXT(err.text, part);
}

TEST("only kernels that may execute an unsupported instruction cannot be executed") {
    static const char text[] = PTX_HEAD ".extern .global .b32 elsewhere;\n\n"
                                        ".func bad() { glide.x [%r1], nothing; ret; }\n"
                                        ".func calls_bad() { call bad, (); ret; }\n"
                                        ".func good() { ret; }\n"
                                        ".func other() { tcgen05.wait; ret; }\n"
                                        ".entry a() { call good, (); ret; }\n"
                                        ".entry b() { call calls_bad, (); ret; }\n"
                                        ".entry c() { .reg .b32 %r; ld.global.b32 %r, [elsewhere]; ret; }\n"
                                        ".entry d() { .reg .b32 %r; add.s32 %r, %r; ret; }\n"
                                        ".entry e() { .shared .b8 s[300000]; .reg .b64 %r; mov.b64 %r, s; ret; }\n"
                                        ".entry f(.param .b8 p[32765]) { ret; }\n"
                                        ".entry g() { .local .b8 s[600000]; ret; }\n"
                                        ".entry h() { .reg .b32 %r; .shared .b8 a[4]; mov.b32 %r, %foo; x: bra x; }\n"
                                        ".entry i() .hint 1 { ret; }\n"
                                        ".entry j() { .shared .b8 a[4]; .reg .b64 %r; mov.b64 %r, a; x: ret; }\n"
                                        ".entry l() .blocksareclusters .reqnctapercluster 2 { ret; }\n";
    struct error err = {0};
    struct ptx_module *module = ptx_parse("test.ptx", text, strlen(text), &err);
    REQUIRE(module);
    struct program *program = program_create(module, 0x10000, &err);
    REQUIRE(program);
    expect_kernel(program, "a", NULL);
    expect_kernel(program, "b", "test.ptx:6:15: in `bad`: unknown instruction 'glide'\n.func bad()");
    expect_kernel(program, "b", "\nkernel `b` may call `bad`");
    expect_kernel(program, "c", "test.ptx:12:47: `elsewhere` is declared .extern but not defined in this module");
    expect_kernel(program, "d", "`add.s32` with 2 operands");
    expect_kernel(program, "e", "`e` needs 300000 bytes of shared memory");
    expect_kernel(program, "f", "`p` needs 32765 bytes of parameters");
    expect_kernel(program, "g", "`s` needs 600000 bytes of thread-local memory");
    expect_kernel(program, "h", "test.ptx:17:58: unknown register '%foo'");
    expect_kernel(program, "i", "test.ptx:18:12: unknown directive '.hint'");
    expect_kernel(program, "j", NULL);
    CHECK_EQ(program_kernel(program, "j")->shared_bytes, 4u);
    expect_kernel(program, "l", "test.ptx:20:8: kernel `l`: .blocksareclusters is not supported");
    program_destroy(program);
    ptx_module_destroy(module);
}

TEST("an indirect call may reach every function whose address is taken") {
    static const char
        head[] = PTX_HEAD ".func bad() { glide; ret; }\n.func good() { ret; }\n",
        tail[] = ".entry k() { .reg .b64 %d; mov.b64 %d, good; p: .callprototype _ (); call %d, (), p; ret; }\n"
                 ".entry other() { .reg .b64 %d; mov.b64 %d, $; ret; }\n";
    static const char *const taken[] = {"good", "bad"};
    for (unsigned i = 0; i < 2; i++) {
        char text[1024];
        struct error err = {0};
        snprintf(text, sizeof text, "%s%.*s%s; ret; }\n", head, (int)(strchr(tail, '$') - tail), tail, taken[i]);
        struct ptx_module *module = ptx_parse("test.ptx", text, strlen(text), &err);
        REQUIRE(module);
        struct program *program = program_create(module, 0x10000, &err);
        REQUIRE(program);
        expect_kernel(program, "k", i ? "kernel `k` may call `bad`" : NULL);
        expect_kernel(program, "other", NULL);
        program_destroy(program);
        ptx_module_destroy(module);
    }
}

TEST("records have class, space, cache operator, size and flags") {
    struct compiled c = compile(PTX_KERNEL("ld.param.u64 %d1, [buffer];\n"
                                           "ld.global.nc.v4.f32 {%f1,%f2,%f3,%f4}, [%d1];\n"
                                           "ld.global.ro.u8 %r1, [%d1];\n"
                                           "ld.cg.f64 %g1, [%d1];\n"
                                           "ld.volatile.shared.u32 %r2, [%r1];\n"
                                           "st.global.cs.f32 [%d1], %f1;\n"
                                           "bar.arrive 5, 64;\n"
                                           "ret;"));
    REQUIRE(c.program);
    const struct instr *r = c.program->functions[0].records;
    CHECK_EQ(r[0].space, SPACE_CONST);
    CHECK_EQ(r[0].bytes_log2, 3u);
    CHECK_EQ(r[1].bytes_log2, 4u);
    CHECK_EQ(r[1].flags, INSTR_NONCOHERENT | INSTR_READ_ONLY);
    CHECK(r[1].dst[3] && r[1].src[0]);
    CHECK_EQ(r[2].flags, INSTR_READ_ONLY);
    CHECK_EQ(r[2].bytes_log2, 0u);
    CHECK_EQ(r[3].cache, CACHE_GLOBAL);
    CHECK_EQ(r[3].space, SPACE_GLOBAL);
    CHECK_EQ(r[4].cache, CACHE_VOLATILE);
    CHECK_EQ(r[4].space, SPACE_SHARED);
    CHECK_EQ(r[5].cache, CACHE_STREAM);
    CHECK_EQ(r[5].op, OP_store);
    CHECK_EQ(r[6].barrier, 5u);
    CHECK_EQ(r[6].flags, INSTR_ARRIVE);
    CHECK_EQ(r[7].op, OP_exit);
    CHECK_EQ(r[7].id, 7u);
    compiled_release(&c);
}

TEST("a constant is stored once, replicated over the lanes") {
    struct compiled c = compile(PTX_KERNEL("add.s32 %r1, %r2, 7;\nxor.b32 %r1, %r1, 7;\nadd.s64 %d1, %d2, 7;\nret;"));
    REQUIRE(c.program);
    const struct program_function *f = &c.program->functions[0];
    CHECK_EQ(f->constant_bytes, 32u * 4 + 32 * 8);
    CHECK_EQ(f->ops[0].b, f->ops[1].b);
    const uint32_t *lanes = (const uint32_t *)(const void *)(f->constants + (f->ops[0].b & 0xFFFF));
    for (unsigned i = 0; i < WARP_LANES; i++) CHECK_EQ(lanes[i], 7u);
    CHECK_EQ((uintptr_t)f->constants % 64, 0u);
    compiled_release(&c);
}

TEST("only the used registers of a range take space") {
    struct compiled c = compile(PTX_HEAD ".entry k() { .reg .b32 %r<5000>; mov.u32 %r4999, %r7; ret; }");
    REQUIRE(c.program);
    CHECK_EQ(c.program->functions[0].window_bytes, 256u);
    compiled_release(&c);
}

TEST("module variables are placed in the image, initialisers with addresses first") {
    struct compiled c = compile(PTX_HEAD ".global .align 4 .b8 big[1000];\n"
                                         ".const .align 4 .u32 words[2] = {1, 2};\n"
                                         ".func f() { ret; }\n"
                                         ".visible .global .align 8 .u64 table[3] = {big, f, generic(words)+4};\n"
                                         ".extern .global .u32 elsewhere;\n"
                                         ".entry k() { .reg .b64 %d<3>; mov.u64 %d1, big; ret; }\n");
    REQUIRE(c.program);
    const struct program *p = c.program;
    CHECK_EQ(p->variable_count, 3u);
    CHECK_EQ(p->variables[0].name, "words");
    CHECK_EQ(p->variables[0].address, 0x10000u);
    CHECK_EQ(p->variables[1].name, "table");
    CHECK(p->variables[1].visible && !p->variables[0].visible);
    CHECK_EQ(p->initial_bytes, 32u);
    CHECK_EQ(p->image_bytes, 1032u);
    uint64_t table[3];
    memcpy(table, p->image + 8, sizeof table);
    CHECK_EQ(table[0], p->variables[2].address);
    CHECK_EQ(table[1], FUNCTION_ADDRESS);
    CHECK_EQ(table[2], p->variables[0].address + 4);
    CHECK_EQ(p->image[0] + p->image[4], 3);
    compiled_release(&c);
}

TEST("a variable or function that is not defined must not be used") {
    struct compiled c =
        compile(PTX_HEAD ".extern .global .u32 e;\n.entry k() { .reg .b32 %r<3>; ld.global.u32 %r1, [e]; ret; }\n");
    CHECK(!c.program);
    CHECK_TEXT(c.err.text, "`e` is declared .extern");
    compiled_release(&c);
    c = compile(PTX_HEAD ".extern .func g();\n.entry k() { call g; ret; }\n");
    CHECK(!c.program);
    CHECK_TEXT(c.err.text, "`g` is declared but not defined");
    compiled_release(&c);
}

static const char *const shared_text = PTX_HEAD
    ".shared .align 4 .b8 common[100]; .shared .align 16 .b8 other[64]; .extern .shared .align 16 .b8 more[];\n"
    ".func f() { .reg .b32 %r<3>; mov.u32 %r1, common; mov.u32 %r2, more; ret; }\n"
    ".entry caller() { .reg .b32 %r<3>; .shared .b32 mine[8]; mov.u32 %r1, mine; call f; ret; }\n"
    ".entry alone() { .reg .b32 %r<3>; mov.u32 %r1, other; ret; }\n"
    ".entry dynamic() { .reg .b32 %r<3>; .shared .b32 one; mov.u32 %r1, one; mov.u32 %r2, more; ret; }\n"
    ".entry inlined() { .reg .b32 %r<3>; mov.u32 %r1, common; mov.u32 %r2, more; ret; }\n" /* f is not called */
    ".entry largest() { .reg .b32 %r<3>; mov.u32 %r1, other; call f; ret; }\n";

TEST("shared variables of device functions have one address, kernels have only the variables they use") {
    struct compiled c = compile(shared_text);
    REQUIRE(c.program);
    const struct program *p = c.program;
    CHECK_EQ(program_kernel(p, "alone")->shared_bytes, 64u);
    /* common part at 0, followed by its own; unsized memory after the largest kernel that reaches f */
    CHECK_EQ(program_kernel(p, "largest")->shared_bytes, 176u);
    CHECK_EQ(program_kernel(p, "caller")->shared_bytes, 176u);
    CHECK_EQ(program_kernel(p, "dynamic")->shared_bytes, 16u);
    CHECK_EQ(program_kernel(p, "inlined")->shared_bytes, 112u);
    char *text = compiled_text(&c, ptx_find_function(c.module, "f"));
    CHECK_TEXT(text, "c0=0x0");
    CHECK_TEXT(text, "=0xb0");
    free(text);
    text = compiled_text(&c, ptx_find_function(c.module, "caller"));
    CHECK_TEXT(text, "=0x64");
    free(text);
    compiled_release(&c);
}

TEST("calls copy between the caller's frame and the callee's formals") {
    struct compiled c =
        compile(PTX_HEAD ".func (.param .b64 back) f(.param .b32 a, .param .align 8 .b8 s[16]) { ret; }\n"
                         ".extern .func (.param .b32 r) vprintf(.param .b64 x, .param .b64 y);\n"
                         ".entry k() { .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
                         "{ .param .b32 p0; .param .align 8 .b8 p1[16]; .param .b64 q;\n"
                         "st.param.b32 [p0], %r1; st.param.b64 [p1+8], %d1;\n"
                         "call.uni (q), f, (p0, p1); ld.param.b64 %d2, [q]; }\n"
                         "{ .param .b64 p0; .param .b64 p1; .param .b32 q; call.uni (q), vprintf, (p0, p1); }\n"
                         "ret; }\n");
    REQUIRE(c.program);
    const struct program *p = c.program;
    const struct program_function *k = program_kernel(p, "k"), *f = &p->functions[ptx_find_function(c.module, "f")];
    CHECK_EQ(f->parameter_bytes, 32u);
    CHECK_EQ(p->functions[ptx_find_function(c.module, "vprintf")].builtin, BUILTIN_VPRINTF);
    CHECK_EQ(k->call_count, 2u);
    CHECK_EQ(k->calls[0].argument_count, 2u);
    CHECK_EQ(k->calls[0].return_count, 1u);
    CHECK_EQ(k->arguments[0].callee, 0u);
    CHECK_EQ(k->arguments[1].callee, 8u);
    CHECK_EQ(k->arguments[1].bytes, 16u);
    CHECK_EQ(k->arguments[2].callee, 24u);
    CHECK_EQ(k->arguments[2].caller, 24u);
    CHECK(!k->arguments[0].caller_is_place && !k->arguments[0].callee_is_place);
    CHECK_EQ(k->records[0].op, OP_other); /* not a memory access: a passed value */
    compiled_release(&c);
}

TEST("the arguments of a call must match the parameters in number and size") {
    static const char *const head =
        PTX_HEAD ".func f(.param .b32 a) { ret; }\n.entry k() { .param .b64 p; .reg .b32 %%r<3>; %s ret; }\n";
    static const struct {
        const char *call, *error;
    } bad[] = {{"call f;", "takes 1 value, not 0"}, {"call f, (p);", "`p` has 8 bytes"}, {"call k;", "is a kernel"}};
    for (unsigned i = 0; i < COUNT_OF(bad); i++) {
        char text[512];
        snprintf(text, sizeof text, head, bad[i].call);
        struct compiled c = compile(text);
        CHECK(!c.program);
        CHECK_TEXT(c.err.text, bad[i].error);
        compiled_release(&c);
    }
}

TEST("formals may be registers") {
    struct compiled c =
        compile(PTX_HEAD ".func (.reg .b32 %out) f(.reg .b32 %a, .reg .b64 %b) { add.s32 %out, %a, 1; ret; }\n"
                         ".entry k() { .reg .b32 %r<3>; .reg .b64 %d<2>; call (%r1), f, (%r2, %d1); ret; }\n");
    CHECK_EQ(c.err.text, "");
    REQUIRE(c.program);
    const struct program_function *k = program_kernel(c.program, "k");
    CHECK(k->arguments[1].callee_is_place && k->arguments[1].caller_is_place);
    CHECK_EQ(k->arguments[1].callee, 128u);
    CHECK_EQ(k->arguments[2].callee, 128u + 256);
    compiled_release(&c);
}

TEST("a kernel's parameters have offsets in its parameter block") {
    struct compiled c = compile(PTX_KERNEL("ret;"));
    REQUIRE(c.program);
    const struct program_function *k = program_kernel(c.program, "k");
    struct program_parameter parameter;
    CHECK_EQ(k->parameter_bytes, 48u);
    CHECK(program_parameter(c.program, k, 2, &parameter));
    CHECK_EQ(parameter.name, "box");
    CHECK_EQ(parameter.offset, 16u);
    CHECK_EQ(parameter.size_bytes, 32u);
    CHECK(!program_parameter(c.program, k, 3, &parameter));
    compiled_release(&c);
}

TEST("a body without a return returns at its end") {
    struct compiled c = compile(PTX_HEAD ".entry k() { .reg .pred %p<2>; @%p1 bra done; done: }\n.func f() { }\n");
    REQUIRE(c.program);
    CHECK_EQ(c.program->functions[0].ops[1].operation, OPERATION_exit);
    CHECK_EQ(c.program->functions[0].ops[0].target, 1u);
    CHECK_EQ(c.program->functions[1].ops[0].operation, OPERATION_ret);
    compiled_release(&c);
}
