/* Reconvergence points of branches. */
#include "ptx/compile.h"

/* The reconvergence point of the n-th branch of a body. */
static uint32_t meets(const struct program_function *f, unsigned n) {
    for (uint32_t i = 0; i < f->op_count; i++)
        if ((f->ops[i].operation == OPERATION_bra || f->ops[i].operation == OPERATION_brx) && n-- == 0)
            return f->ops[i].reconverge;
    return UINT32_MAX;
}

TEST("the sides of an if reconverge after it") {
    struct compiled c = compile(PTX_KERNEL("@%p1 bra other;\nadd.s32 %r1, %r1, 1;\nbra end;\n"
                                           "other: add.s32 %r1, %r1, 2;\nend: add.s32 %r1, %r1, 3;\nret;"));
    REQUIRE(c.program);
    CHECK_EQ(meets(&c.program->functions[0], 0), 4u);
    CHECK_EQ(meets(&c.program->functions[0], 1), 4u);
    compiled_release(&c);
}

TEST("the lanes of a loop reconverge after the loop") {
    struct compiled c = compile(PTX_KERNEL("again: add.s32 %r1, %r1, 1;\n@%p1 bra inner;\nadd.s32 %r2, %r2, 1;\n"
                                           "inner: add.s32 %r3, %r3, 1;\n@%p2 bra again;\nadd.s32 %r1, %r1, 3;\nret;"));
    REQUIRE(c.program);
    CHECK_EQ(meets(&c.program->functions[0], 0), 3u);
    CHECK_EQ(meets(&c.program->functions[0], 1), 5u);
    compiled_release(&c);
}

TEST("paths that leave separately reconverge at the function's end") {
    struct compiled c = compile(PTX_KERNEL("@%p1 bra other;\nret;\nother: add.s32 %r1, %r1, 2;\nexit;"));
    REQUIRE(c.program);
    CHECK_EQ(meets(&c.program->functions[0], 0), 4u);
    compiled_release(&c);
}

TEST("a guarded exit in a loop does not change the reconvergence of the other lanes") {
    struct compiled c =
        compile(PTX_KERNEL("@%p1 bra skip;\n@%p2 exit;\nadd.s32 %r1, %r1, 1;\nskip: add.s32 %r1, %r1, 3;\nret;"));
    REQUIRE(c.program);
    /* one path never reaches `skip`: only the end is common to all */
    CHECK_EQ(meets(&c.program->functions[0], 0), 5u);
    compiled_release(&c);
}

TEST("an indexed branch reconverges after all its targets") {
    struct compiled c = compile(PTX_KERNEL("table: .branchtargets one, two, three;\nbrx.idx %r1, table;\n"
                                           "one: add.s32 %r1, %r1, 1;\nbra end;\ntwo: add.s32 %r1, %r1, 2;\nbra end;\n"
                                           "three: add.s32 %r1, %r1, 3;\nend: add.s32 %r1, %r1, 3;\nret;"));
    CHECK_EQ(c.err.text, "");
    REQUIRE(c.program);
    const struct program_function *f = &c.program->functions[0];
    CHECK_EQ(meets(f, 0), 6u);
    CHECK_EQ(f->targets[f->ops[0].target].count, 3u);
    CHECK_EQ(f->target_list[f->targets[f->ops[0].target].first + 2], 5u);
    compiled_release(&c);
}

TEST("a loop without an exit is analysed like any other") {
    struct compiled c = compile(PTX_KERNEL("again: @%p1 bra odd;\nadd.s32 %r1, %r1, 1;\nodd: add.s32 %r1, %r1, 2;\n"
                                           "bra again;\nunreached: bra unreached;"));
    REQUIRE(c.program);
    CHECK_EQ(meets(&c.program->functions[0], 0), 2u);
    compiled_release(&c);
}

/* Post-dominance by definition: b post-dominates a if no path from a reaches the end without b. */
static bool reaches_end(const struct program_function *f, uint32_t from, uint32_t without, uint8_t *seen) {
    if (from == f->op_count) return true;
    if (from == without || seen[from]) return false;
    seen[from] = 1;
    const struct op *op = &f->ops[from];
    bool leaves = op->operation == OPERATION_exit, jumps = op->operation == OPERATION_bra;
    if (leaves) return true;
    return (jumps && reaches_end(f, op->target, without, seen)) ||
           ((!jumps || op->guard) && reaches_end(f, from + 1, without, seen));
}

/* The definition does not cover loops without an exit. */
static bool all_reach_end(const struct program_function *f) {
    for (uint32_t i = 0; i < f->op_count; i++) {
        uint8_t seen[256] = {0};
        if (!reaches_end(f, i, UINT32_MAX, seen)) return false;
    }
    return true;
}

static bool post_dominates(const struct program_function *f, uint32_t b, uint32_t a) {
    uint8_t seen[256] = {0};
    return b == f->op_count || !reaches_end(f, a, b, seen);
}

TEST("random graphs: the reconvergence point is the nearest post-dominator of the branch") {
    uint64_t state = 12345;
    unsigned checked = 0;
    for (unsigned round = 0; round < 200; round++) {
        enum { LABELS = 12 };
        char body[4096];
        size_t used = 0;
        for (unsigned i = 0; i < LABELS; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            unsigned target = (unsigned)(state >> 33) % (LABELS + 1), kind = (unsigned)(state >> 50) % 4;
            used += (size_t)snprintf(body + used, sizeof body - used, "l%u: add.s32 %%r1, %%r1, 1;\n", i);
            if (kind)
                used +=
                    (size_t)snprintf(body + used, sizeof body - used, "%sbra l%u;\n", kind > 1 ? "@%p1 " : "", target);
        }
        snprintf(body + used, sizeof body - used, "l%u: ret;", LABELS);
        struct compiled c = compile_body(body);
        REQUIRE(c.program);
        const struct program_function *f = &c.program->functions[0];
        for (uint32_t i = 0; i < f->op_count && all_reach_end(f); i++) {
            if (f->ops[i].operation != OPERATION_bra || !f->ops[i].guard) continue;
            uint32_t meet = f->ops[i].reconverge;
            CHECK(post_dominates(f, meet, i) && meet != i);
            for (uint32_t b = 0; b < f->op_count; b++) /* any other post-dominator also post-dominates the nearest */
                if (b != i && b != meet && post_dominates(f, b, i))
                    CHECK(meet < f->op_count && post_dominates(f, b, meet));
            checked++;
        }
        compiled_release(&c);
    }
    CHECK(checked > 300);
}
